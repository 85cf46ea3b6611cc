"""Drives a running Rackwright with Azure's own SDK for Microsoft.NetworkCloud, and fails if anything is not as it should be.

usage: azure_sdk.py http://127.0.0.1:PORT SUBSCRIPTION GROUP
"""

import sys
import time
import typing

from azure.core import MatchConditions
from azure.core.credentials import AccessToken
from azure.core.exceptions import (
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
)
from azure.core.rest import HttpRequest
from azure.mgmt.networkcloud import NetworkCloudMgmtClient
from azure.mgmt.networkcloud.models import BareMetalMachine, BareMetalMachinePatchParameters, BareMetalMachineProperties

BASE, SUBSCRIPTION, GROUP = sys.argv[1:]

# The SDK sends tokens over https only, unless each call says otherwise.
HTTP = {"enforce_https": False}

# Ours, and beside the model on purpose: Azure's model has no field for them.
MACHINES_BESIDE_THE_MODEL = {"BareMetalMachine.rackwright", "ActionState.result"}
BESIDE_THE_MODEL = MACHINES_BESIDE_THE_MODEL | {
    "VirtualMachine.rackwright",
    "KubernetesCluster.rackwright",
    "KubernetesClusterProperties.drainPolicy",
    "AgentPool.rackwright",
    "AgentPoolProperties.drainPolicy",
}

# Required when a resource is created, and not answered: a secret, and parts of Azure that a site has no need of.
REQUIRED_OF_CREATORS = {
    "BareMetalMachineProperties.bmcCredentials",
    "BareMetalMachineConfigurationData.bmcCredentials",
    "ClusterProperties.aggregatorOrSingleRackDefinition",
    "ClusterProperties.networkFabricId",
    "VirtualMachineProperties.cloudServicesNetworkAttachment",
    "ImageRepositoryCredentials.password",
    "KubernetesClusterProperties.networkConfiguration",
    "ControlPlaneNodeConfiguration.vmSkuName",
    "InitialAgentPoolConfiguration.mode",
    "InitialAgentPoolConfiguration.vmSkuName",
    "AgentPoolProperties.mode",
    "AgentPoolProperties.vmSkuName",
}


class AnyToken:
    """There is no authentication yet: any token will do."""

    def get_token(self, *_scopes, **_options):
        return AccessToken("any", int(time.time()) + 3600)


def fields_of(model):
    return {field._rest_name: field for field in type(model)._attr_to_rest_field.values()}


def is_model(value):
    return hasattr(type(value), "_attr_to_rest_field")


def is_required(kind, attribute):
    hints = [base.__annotations__[attribute] for base in kind.__mro__ if attribute in getattr(base, "__annotations__", {})]
    return bool(hints) and type(None) not in typing.get_args(hints[0])


def inspect(model, unknown, missing):
    """Collects fields that the SDK does not know, and required ones that are not there, in a model and all it contains."""
    kind, fields = type(model).__name__, fields_of(model)
    unknown.update(f"{kind}.{name}" for name in model.keys() if name not in fields)
    for attribute, field in type(model)._attr_to_rest_field.items():
        if is_required(type(model), attribute) and model.get(field._rest_name) is None:
            missing.add(f"{kind}.{field._rest_name}")
        value = getattr(model, attribute)
        for inner in value if isinstance(value, list) else [value]:
            if is_model(inner):
                inspect(inner, unknown, missing)


def expect(exception, status, code, call):
    """The exception that a call must end with."""
    try:
        call()
    except exception as problem:
        found = (problem.status_code, problem.error.code)
        assert found == (status, code), f"{found} instead of {(status, code)}"
        return problem
    raise AssertionError(f"{code} was expected")


client = NetworkCloudMgmtClient(AnyToken(), SUBSCRIPTION, base_url=BASE, polling_interval=1, retry_total=0)
machines, racks, clusters = client.bare_metal_machines, client.racks, client.clusters

# Reading: lists by subscription and by group, a page at a time, and each by its name.
for operations, expected in [(clusters, 1), (racks, 4), (machines, 12)]:
    by_subscription = list(operations.list_by_subscription(**HTTP))
    by_group = list(operations.list_by_resource_group(GROUP, **HTTP))
    in_pages = list(operations.list_by_subscription(top=5, **HTTP))
    assert [one.id for one in by_subscription] == [one.id for one in by_group] == [one.id for one in in_pages]
    assert len(by_subscription) == expected, len(by_subscription)
    unknown, missing = set(), set()
    for one in by_subscription:
        shown = operations.get(GROUP, one.name, **HTTP)
        assert shown.id == one.id and shown.type == one.type
        inspect(shown, unknown, missing)
    assert unknown <= BESIDE_THE_MODEL, unknown - BESIDE_THE_MODEL
    assert missing <= REQUIRED_OF_CREATORS, missing - REQUIRED_OF_CREATORS
    print(f"{type(operations).__name__}: {expected} read; beside the model {sorted(unknown)}; left out {sorted(missing)}")

cluster = clusters.get(GROUP, "site1", **HTTP)
assert (cluster.detailed_status, cluster.cluster_connection_status) == ("Running", "Connected")
names = [operation.name for operation in client.operations.list(**HTTP)]
assert "Microsoft.NetworkCloud/bareMetalMachines/restart/action" in names, names

# Tenants' virtual machines, clusters and pools, as many as there are.
vms, tenants, pools = client.virtual_machines, client.kubernetes_clusters, client.agent_pools
unknown, missing, read = set(), set(), 0
for operations in (vms, tenants):
    by_subscription = list(operations.list_by_subscription(**HTTP))
    by_group = list(operations.list_by_resource_group(GROUP, top=2, **HTTP))
    assert [one.id for one in by_subscription] == [one.id for one in by_group]
    for one in by_subscription:
        inspect(operations.get(GROUP, one.name, **HTTP), unknown, missing)
        read += 1
for tenant in tenants.list_by_resource_group(GROUP, **HTTP):
    for pool in pools.list_by_kubernetes_cluster(GROUP, tenant.name, **HTTP):
        inspect(pools.get(GROUP, tenant.name, pool.name, **HTTP), unknown, missing)
        read += 1
assert unknown <= BESIDE_THE_MODEL and missing <= REQUIRED_OF_CREATORS, (unknown, missing)
expect(ResourceNotFoundError, 404, "ResourceNotFound", lambda: vms.get(GROUP, "nobody", **HTTP))
expect(ResourceNotFoundError, 404, "ResourceNotFound", lambda: vms.begin_power_off(GROUP, "nobody", **HTTP))
expect(ResourceNotFoundError, 404, "ResourceNotFound", lambda: pools.get(GROUP, "nobody", "nothing", **HTTP))
print(f"tenants: {read} read; beside the model {sorted(unknown)}; left out {sorted(missing)}")

# Writing, with the ETag that was read.
before = machines.get(GROUP, "rack1compute01", **HTTP)
guard = {"etag": before.etag, "match_condition": MatchConditions.IfNotModified, **HTTP}
update = BareMetalMachinePatchParameters(tags={"row": "7"}, machine_details="slow fan")
written = machines.begin_update(GROUP, "rack1compute01", update, **guard).result()
assert (written.tags, written.machine_details) == ({"row": "7"}, "slow fan"), written
assert written.etag != before.etag
assert written.system_data.last_modified_at is not None
expect(
    ResourceModifiedError,
    412,
    "PreconditionFailed",
    lambda: machines.begin_update(GROUP, "rack1compute01", BareMetalMachinePatchParameters(tags={}), **guard),
)
# The whole machine, sent back as it was read.
written.tags["row"] = "8"
replaced = machines.begin_create_or_update(GROUP, "rack1compute01", written, **HTTP).result()
assert replaced.tags == {"row": "8"}, replaced.tags
replaced.rack_slot = 99
problem = expect(
    HttpResponseError,
    400,
    "PropertyChangeNotAllowed",
    lambda: machines.begin_create_or_update(GROUP, "rack1compute01", replaced, **HTTP),
)
assert problem.error.target == "properties.rackSlot", problem.error.target
print("written:", written.etag, replaced.etag)

# What the model calls read-only is ignored whatever it says; the rest of what only the site file can say is refused.
def patched(body):
    url = f"{before.id}?api-version=2026-07-01"
    answer = client.send_request(HttpRequest("PATCH", url, json=body), **HTTP)
    return answer.status_code, answer.json().get("error", {}).get("code")


WRITABLE = {"tags", "machineDetails"}
for model, wrap in [(BareMetalMachine, lambda body: body), (BareMetalMachineProperties, lambda body: {"properties": body})]:
    for field in model._attr_to_rest_field.values():
        if field._rest_name in WRITABLE or field._rest_name in ("properties", "extendedLocation"):
            continue
        answer = patched(wrap({field._rest_name: 12345 if field._rest_name == "rackSlot" else "nonsense"}))
        expected = (200, None) if field._visibility == ["read"] else (400, "PropertyChangeNotAllowed")
        assert answer == expected, f"{field._rest_name}: {answer} instead of {expected}"
assert machines.get(GROUP, "rack1compute01", **HTTP).etag == replaced.etag

# What is refused.
expect(ResourceNotFoundError, 404, "ResourceNotFound", lambda: machines.get(GROUP, "nobody", **HTTP))
expect(ResourceExistsError, 409, "OperationNotAllowed", lambda: machines.begin_delete(GROUP, "rack1compute01", **HTTP))
refused = expect(
    ResourceExistsError, 409, "MachineProvisioned", lambda: machines.begin_start(GROUP, "rack4control01", **HTTP)
)
assert [part.code for part in refused.error.details][-1] == "Remedy", refused.error.details
print("refused:", refused.error.message)

# A restart, polled to its end.
poller = machines.begin_restart(GROUP, "rack1compute01", **HTTP)
result = poller.result(timeout=120)
assert poller.done() and poller.status() == "Succeeded", poller.status()
assert result.status == "Succeeded" and result.resource_id.endswith("/bareMetalMachines/rack1compute01"), result
after = machines.get(GROUP, "rack1compute01", **HTTP)
unknown, missing = set(), set()
inspect(after, unknown, missing)
inspect(result, unknown, missing)
assert unknown == MACHINES_BESIDE_THE_MODEL and missing <= REQUIRED_OF_CREATORS, (unknown, missing)
state = after.action_states[0]
assert state.status == "Completed", state
assert (after.power_state, after.ready_state, after.etag) == ("On", "True", replaced.etag)
print("restarted:", [step.step_name for step in state.step_states])
