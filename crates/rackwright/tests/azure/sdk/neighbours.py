"""What `az group`, `az resource`, `az account` and `az monitor` stand on."""

import datetime

from azure.mgmt.monitor import MonitorManagementClient
from azure.mgmt.resource.resources import ResourceManagementClient

from checks import API_VERSION


def run(checks):
    from azure.mgmt.monitor import MonitorManagementClient
    from azure.mgmt.resource.resources import ResourceManagementClient

    resources = checks.make_client(ResourceManagementClient)
    monitor = checks.make_client(MonitorManagementClient)

    def groups():
        assert [group.name for group in resources.resource_groups.list()] == [checks.group]
        assert resources.resource_groups.check_existence(checks.group)
        assert not resources.resource_groups.check_existence("nowhere")

    def everything():
        found = list(resources.resources.list())
        paged = list(resources.resources.list(top=5))
        assert [one.id for one in found] == [one.id for one in paged]
        racks = list(resources.resources.list(filter="resourceType eq 'Microsoft.NetworkCloud/racks'"))
        assert len(racks) == 4, len(racks)
        for one in found:
            assert resources.resources.get_by_id(one.id, API_VERSION).type == one.type
        expanded = list(resources.resources.list(expand="createdTime,changedTime,provisioningState"))
        assert all(one.created_time and one.provisioning_state for one in expanded), "$expand is not followed"

    def providers():
        ours = resources.providers.get("Microsoft.NetworkCloud")
        named = {kind.resource_type.lower() for kind in ours.resource_types}
        types_of_resources = {one.type.split("/", 1)[1].lower() for one in resources.resources.list()}
        more = {"kubernetesclusters/agentpools", "clusters/baremetalmachinekeysets", "clusters/bmckeysets"}
        assert named >= types_of_resources | more, f"not told: {sorted((types_of_resources | more) - named)}"

    def log():
        begin = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=6)).strftime("%Y-%m-%dT%H:%M:%SZ")
        entries = list(monitor.activity_logs.list(filter=f"eventTimestamp ge '{begin}'"))
        assert entries, "nothing was done yet: run another part first"
        for one in entries:
            assert one.event_timestamp and one.submission_timestamp and one.operation_name.value and one.status.value
            assert one.level in ("Critical", "Error", "Warning", "Informational", "Verbose"), one.level
            assert not one.additional_properties, one.additional_properties
        return f"{len(entries)} entries"

    checks.check("resource groups: list and existence", groups)
    checks.check("resources: list, pages, filter, expand, and each by its id", everything)
    checks.check("providers: every type is told", providers)
    checks.check("activity log: list", log)
