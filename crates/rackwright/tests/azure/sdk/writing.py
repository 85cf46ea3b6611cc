"""Tags and details of machines and of tenants' clusters: ETags, and what cannot be written."""

import time

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError
from azure.mgmt.networkcloud import models


def run(checks):
    machines, group, name = checks.client.bare_metal_machines, checks.group, "rack1compute01"
    at = lambda etag: {"etag": etag, "match_condition": MatchConditions.IfNotModified}
    patch = models.BareMetalMachinePatchParameters

    def update():
        before = machines.get(group, name)
        written = machines.begin_update(group, name, patch(tags={"row": "7"}, machine_details="slow fan"), **at(before.etag)).result()
        assert (written.tags, written.machine_details) == ({"row": "7"}, "slow fan")
        assert written.etag != before.etag and written.system_data.last_modified_at
        checks.stale = before.etag

    checks.check("machine: PATCH with If-Match", update)
    checks.refused(
        "machine: PATCH with an ETag of before", ResourceModifiedError, 412, "PreconditionFailed",
        lambda: machines.begin_update(group, name, patch(tags={}), **at(checks.stale)),
    )
    checks.refused(
        "machine: PUT with If-None-Match: * of one that is there", ResourceExistsError, 412, "PreconditionFailed",
        lambda: machines.begin_create_or_update(
            group, name, machines.get(group, name), match_condition=MatchConditions.IfMissing
        ),
    )

    def whole():
        read = machines.get(group, name)
        read.tags = {"row": "8"}
        written = machines.begin_create_or_update(group, name, read, **at(read.etag)).result()
        assert (written.tags, written.machine_details) == ({"row": "8"}, "slow fan")

    checks.check("machine: PUT of what was read", whole)

    def slot(number):
        read = machines.get(group, name)
        read.rack_slot = number
        return machines.begin_create_or_update(group, name, read)

    checks.refused("machine: PUT of another slot", HttpResponseError, 400, "PropertyChangeNotAllowed", lambda: slot(99))
    checks.refused(
        "machine: PATCH of a field that does not exist", HttpResponseError, 400, "InvalidRequestContent",
        lambda: machines.begin_update(group, name, {"properties": {"colour": "red"}}),
    )
    checks.refused(
        "machine: PATCH of a tag that is no text", HttpResponseError, 400, "InvalidRequestContent",
        lambda: machines.begin_update(group, name, {"tags": {"row": 7}}),
    )
    checks.refused(
        "machine: DELETE", ResourceExistsError, 409, "OperationNotAllowed", lambda: machines.begin_delete(group, name)
    )
    tenants, pools = checks.client.kubernetes_clusters, checks.client.agent_pools

    def tenant():
        now = str(time.time_ns())
        one = next(iter(tenants.list_by_resource_group(group)))
        tagged = tenants.begin_update(
            group, one.name, models.KubernetesClusterPatchParameters(tags={"at": now}), **at(one.etag)
        ).result()
        assert tagged.tags == {"at": now} and tagged.etag != one.etag
        pool = next(iter(pools.list_by_kubernetes_cluster(group, one.name)))
        tagged = pools.begin_update(
            group, one.name, pool.name, models.AgentPoolPatchParameters(tags={"at": now}), **at(pool.etag)
        ).result()
        assert tagged.tags == {"at": now}, tagged.tags
        assert tagged.etag != pool.etag

    checks.check("tenant's cluster and pool: PATCH of tags", tenant)
    checks.refused(
        "cluster: DELETE", HttpResponseError, 405, "MethodNotAllowed",
        lambda: checks.client.clusters.begin_delete(group, "site1"),
    )
