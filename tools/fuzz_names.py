"""Prints what there is on the site that `tools/fuzz` starts, by the names that the OpenAPI document gives to parts of a path."""

import json
import os

import requests

SUBSCRIPTION = "00000000-0000-4000-8000-000000000001"
SITE = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/site1/providers/Microsoft.NetworkCloud"
# What a run may make and delete as it likes.
OWN = "fuzzed"


def get(path):
    head = {"Authorization": "Bearer " + os.environ["FUZZ_TOKEN"]}
    answer = requests.get(os.environ["FUZZ_URL"] + path, {"api-version": "1"}, headers=head, verify=os.environ["FUZZ_CA"], timeout=30)
    answer.raise_for_status()
    return answer.json()["value"]


def named(path, field="name"):
    found = [one[field] for one in get(path)]
    assert found, f"there is nothing at {path}"
    return found


def names():
    authorization = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization"
    log = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values"
    machines = named(f"{SITE}/bareMetalMachines")
    return {
        "subscriptionId": [SUBSCRIPTION],
        "resourceGroupName": ["site1"],
        "clusterName": named(f"{SITE}/clusters"),
        "rackName": named(f"{SITE}/racks"),
        "bareMetalMachineName": machines,
        "virtualMachineName": [*named(f"{SITE}/virtualMachines"), OWN],
        "kubernetesClusterName": named(f"{SITE}/kubernetesClusters"),
        "agentPoolName": named(f"{SITE}/kubernetesClusters/naks-01/agentPools"),
        "version": named(f"{SITE}/clusters/site1/runtimes"),
        "keySetName": [OWN],
        "operationId": named("/rackwright/v1/operations", "id"),
        "eventDataId": named(log, "eventDataId")[:4],
        "location": ["local"],
        "namespace": ["Microsoft.NetworkCloud"],
        "resourceProviderNamespace": ["Microsoft.NetworkCloud"],
        "resourceType": ["bareMetalMachines"],
        "resourceName": machines,
        "lockName": [OWN],
        "policyAssignmentName": [OWN],
        "roleAssignmentName": named(f"{authorization}/roleAssignments"),
        "roleDefinitionId": named(f"{authorization}/roleDefinitions"),
        "principalId": named("/rackwright/v1/principals", "id"),
        "issuerName": [OWN],
    }


if __name__ == "__main__":
    print(json.dumps(names(), indent=1))
