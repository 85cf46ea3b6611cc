"""Lists, pages and single resources of every kind, and what is not there."""

from azure.core.exceptions import ResourceNotFoundError

from checks import SUBSCRIPTION

# As few on a page as leave more than one page of machines and of racks.
TOP = 2


def run(checks):
    client, group = checks.client, checks.group
    # How many there are; what tenants have may change.
    kinds = {"clusters": 1, "racks": 4, "bare_metal_machines": 12, "virtual_machines": None, "kubernetes_clusters": None}
    for name, expected in kinds.items():
        operations = getattr(client, name)

        def lists():
            by_subscription = list(operations.list_by_subscription())
            by_group = list(operations.list_by_resource_group(group))
            sizes = [len(list(page)) for page in operations.list_by_subscription(top=TOP).by_page()]
            in_pages = list(operations.list_by_resource_group(group, top=TOP))
            ids = [one.id for one in by_subscription]
            assert ids == [one.id for one in by_group] == [one.id for one in in_pages], "the lists differ"
            assert len(set(ids)) == len(ids) and ids, "ids must differ, and there must be some"
            assert expected in (None, len(ids)), len(ids)
            assert max(sizes) <= TOP and sum(sizes) == len(ids), f"{len(ids)} came in pages of {sizes}"
            assert len(sizes) > 1 or len(ids) <= TOP, f"{len(ids)} came on one page"
            return f"{len(ids)} in {len(sizes)} pages"

        def gets():
            for one in operations.list_by_subscription():
                shown = operations.get(group, one.name)
                assert (shown.id, shown.type, shown.name) == (one.id, one.type, one.name)
                assert shown.as_dict()["properties"].keys() >= one.as_dict()["properties"].keys()
            upper = operations.get(group.upper(), one.name.upper())
            assert upper.id == one.id, "case matters"

        checks.check(f"{name}: lists by subscription, by group and in pages", lists)
        checks.check(f"{name}: each by its name", gets)
        checks.refused(
            f"{name}: one that is not there", ResourceNotFoundError, 404, "ResourceNotFound",
            lambda: operations.get(group, "nobody"),
        )
    checks.refused(
        "a group that is not there", ResourceNotFoundError, 404, "ResourceGroupNotFound",
        lambda: client.racks.get("nowhere", "rack1"),
    )
    stranger = checks.make_client(subscription=SUBSCRIPTION[:-1] + "9")
    checks.refused(
        "a subscription that is not there", ResourceNotFoundError, 404, "SubscriptionNotFound",
        lambda: list(stranger.racks.list_by_subscription()),
    )

    def pools():
        found = 0
        for tenant in client.kubernetes_clusters.list_by_resource_group(group):
            for pool in client.agent_pools.list_by_kubernetes_cluster(group, tenant.name, top=1):
                shown = client.agent_pools.get(group, tenant.name, pool.name)
                assert shown.id == pool.id
                nodes = [node for node in tenant.nodes if node.agent_pool_id == pool.id]
                assert len(nodes) == pool.count, (len(nodes), pool.count)
                found += 1
        assert found
        return f"{found} pools"

    checks.check("agent_pools: lists, and each by its name", pools)
    checks.check("operations: every action has its name", lambda: action_names(checks))


def action_names(checks):
    names = {operation.name.lower() for operation in checks.client.operations.list()}
    wanted = {
        "bareMetalMachines": "read write powerOff/action start/action restart/action cordon/action uncordon/action "
        "reimage/action replace/action",
        "virtualMachines": "read write delete powerOff/action start/action restart/action reimage/action",
        "kubernetesClusters": "read write restartNode/action",
        "kubernetesClusters/agentPools": "read write",
        "clusters": "read inspect/action",
        "racks": "read",
        "clusters/bareMetalMachineKeySets": "read write delete",
        "clusters/bmcKeySets": "read write delete",
    }
    missing = [f"{kind}/{what}" for kind, all_of in wanted.items() for what in all_of.split()
               if f"microsoft.networkcloud/{kind}/{what}".lower() not in names]
    assert not missing, f"not told: {missing}"
