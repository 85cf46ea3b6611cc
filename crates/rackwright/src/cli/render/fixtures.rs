//! Answers of the API as the tests of the renderers need them.

use serde_json::{Value, json};

pub const NOW: &str = "2026-11-15T14:03:00Z";

const OPERATION: &str = "8f3c1a2b-0000-4000-8000-000000000001";

pub fn machine(group: &str, name: &str, plane: &str) -> Value {
    let home = format!("/subscriptions/s1/resourceGroups/{group}/providers/Microsoft.NetworkCloud");
    json!({
        "id": format!("{home}/bareMetalMachines/{name}"),
        "name": name,
        "properties": {
            "actionStates": [],
            "bmcConnectionString": "redfish+http://127.0.0.1:7201",
            "clusterId": format!("{home}/clusters/cluster1"),
            "cordonStatus": "Uncordoned",
            "detailedStatus": "Provisioned",
            "detailedStatusMessage": "The OS is provisioned to the machine.",
            "kubernetesNodeName": name,
            "kubernetesVersion": "v1.33.1",
            "machineRoles": [format!("platform.afo-nc.microsoft.com/{plane}=true")],
            "machineSkuId": "Dell-R750",
            "oamIpv4Address": "10.0.1.11",
            "powerState": "On",
            "rackId": format!("{home}/racks/rack1"),
            "rackSlot": 4,
            "readyState": "True",
            "serialNumber": "SN0104",
        },
        "rackwright": {
            "managed": true, "unmanagedReason": null, "managedAgain": null, "holds": [], "waits": [], "bmcFault": null,
            "bmcAnsweredAt": null, "undercloudFault": null, "powerSeenAt": "2026-11-14T09:00:00.000Z", "spare": false,
        },
    })
}

pub fn machine_under_restart() -> Value {
    let mut machine = machine("site1", "rack1compute01", "compute-plane");
    machine["properties"]["cordonStatus"] = json!("Cordoned");
    machine["properties"]["actionStates"] = json!([
        {
            "actionType": "Microsoft.NetworkCloud/bareMetalMachines/restart/action",
            "status": "InProgress", "startTime": "2026-11-15T14:02:10.000Z", "endTime": null, "message": "",
        },
        {
            "actionType": "Microsoft.NetworkCloud/bareMetalMachines/powerOff/action",
            "status": "Failed", "startTime": "2026-11-15T13:00:00.000Z", "endTime": "2026-11-15T13:40:00.000Z",
            "message": "power-off failed: Power Off did not end in time",
        },
    ]);
    machine["rackwright"]["holds"] = json!([
        { "owner": "operation 8f3c1a2b", "reason": "being restarted", "since": "2026-11-15T14:02:10.000Z" },
        { "owner": "alice", "reason": "cordoned by a person", "since": "2026-11-15T12:00:00.000Z" },
    ]);
    machine["rackwright"]["waits"] = json!([late_wait()]);
    machine
}

pub fn managed_again() -> Value {
    let mut machine = machine("site1", "rack1compute02", "compute-plane");
    machine["rackwright"]["managedAgain"] = json!({ "by": "bob", "reason": "fan replaced", "at": "2026-11-15T12:30:00.000Z" });
    machine
}

pub fn unmanaged() -> Value {
    let mut machine = machine("site1", "rack1compute02", "compute-plane");
    machine["rackwright"]["managed"] = json!(false);
    machine["rackwright"]["unmanagedReason"] = json!({ "by": "bob", "reason": "firmware by hand", "since": "2026-11-15T11:00:00.000Z" });
    machine["rackwright"]["bmcFault"] = json!({
        "class": "unreachable", "fault": "unreachable: GET /redfish/v1/Systems/1: no connection (connection refused)",
        "since": "2026-11-15T11:05:00.000Z",
    });
    machine["rackwright"]["bmcAnsweredAt"] = json!("2026-11-15T11:04:50.000Z");
    machine["rackwright"]["waits"] = json!([{
        "code": "Unmanaged", "what": "a person: unmanaged", "since": "2026-11-15T11:00:00.000Z",
        "endsWhen": "a person lets it be managed again", "expectedBy": null, "late": false,
    }]);
    machine
}

pub fn spare(group: &str, name: &str) -> Value {
    let mut machine = machine(group, name, "control-plane");
    machine["properties"]["detailedStatus"] = json!("Available");
    machine["properties"]["detailedStatusMessage"] = json!("Available to participate in the cluster.");
    machine["properties"]["readyState"] = json!("False");
    for absent in ["powerState", "kubernetesNodeName", "kubernetesVersion", "oamIpv4Address"] {
        machine["properties"].as_object_mut().unwrap().remove(absent);
    }
    machine["rackwright"]["powerSeenAt"] = Value::Null;
    machine["rackwright"]["spare"] = json!(true);
    machine
}

fn late_wait() -> Value {
    json!({
        "code": "Effect", "what": "the effect of the graceful shutdown",
        "brief": "the effect of the graceful shutdown", "since": "2026-11-15T14:02:12.000Z",
        "endsWhen": "the machine is seen off; its power is cut if the shutdown takes too long",
        "expectedBy": "2026-11-15T14:02:52.000Z", "late": true,
    })
}

fn step(name: &str, status: &str, started_at: Option<&str>, ended_at: Option<&str>, message: &str) -> Value {
    json!({ "name": name, "status": status, "startedAt": started_at, "endedAt": ended_at, "message": message })
}

pub fn running_restart() -> Value {
    let cordoned_at = Some("2026-11-15T14:02:12.000Z");
    json!({
        "id": OPERATION, "cluster": "cluster1", "machine": "rack1compute01", "action": "restart", "caller": "alice",
        "correlationId": "c1", "status": "InProgress", "percentComplete": 30,
        "acceptedAt": "2026-11-15T14:02:10.000Z", "deadlineAt": "2026-11-15T14:42:10.000Z", "endedAt": null,
        "message": null, "next": null, "cancelRequestedBy": null,
        "steps": [
            step("Cordon", "Completed", Some("2026-11-15T14:02:10.000Z"), cordoned_at, ""),
            step("Power Off", "InProgress", cordoned_at, None, "waiting for the effect of the graceful shutdown"),
            step("Power On", "NotStarted", None, None, ""),
            step("Rejoin", "NotStarted", None, None, ""),
            step("Uncordon", "NotStarted", None, None, ""),
        ],
        "wait": late_wait(),
        "journal": [
            { "at": "2026-11-15T14:02:10.000Z", "fact": { "kind": "found", "boot_id": "b0-1" } },
            { "at": "2026-11-15T14:02:10.000Z", "fact": { "kind": "asked", "ask": "cordon", "attempt": 1 } },
            { "at": "2026-11-15T14:02:12.000Z", "fact": { "kind": "seen", "step": "cordon" } },
            { "at": "2026-11-15T14:02:12.000Z", "fact": { "kind": "asked", "ask": "gracefulOff", "attempt": 1 } },
        ],
    })
}

pub fn failed_power_off() -> Value {
    let mut operation = running_restart();
    operation["id"] = json!("0a1b2c3d-0000-4000-8000-000000000002");
    operation["action"] = json!("power-off");
    operation["status"] = json!("Failed");
    operation["percentComplete"] = json!(75);
    operation["acceptedAt"] = json!("2026-11-15T13:00:00.000Z");
    operation["endedAt"] = json!("2026-11-15T13:40:00.000Z");
    operation["wait"] = Value::Null;
    operation["message"] = json!(
        "power-off failed: Power Off did not end in time; it waited for the BMC (unreachable: connection refused). \
         Left behind: power unknown, the BMC is unreachable; holds none"
    );
    operation["next"] = json!("rackwright bmm show rack1compute01");
    operation["steps"] = json!([
        step("Cordon", "Skipped", Some("2026-11-15T13:00:00.000Z"), Some("2026-11-15T13:00:01.000Z"), "left out: the machine has no node"),
        step("Power Off", "Failed", Some("2026-11-15T13:00:01.000Z"), Some("2026-11-15T13:40:00.000Z"), "power-off failed: …"),
    ]);
    let fault = json!({ "class": "unreachable", "delivery": "maybe", "detail": "connection reset" });
    operation["journal"] = json!([
        { "at": "2026-11-15T13:00:00.000Z", "fact": { "kind": "found", "boot_id": null } },
        { "at": "2026-11-15T13:00:01.000Z", "fact": { "kind": "skipped", "step": "cordon", "reason": "the machine has no node" } },
        { "at": "2026-11-15T13:00:01.000Z", "fact": { "kind": "asked", "ask": "gracefulOff", "attempt": 2 } },
        { "at": "2026-11-15T13:00:02.000Z", "fact": { "kind": "faulted", "ask": "gracefulOff", "attempt": 2, "fault": fault } },
        { "at": "2026-11-15T13:00:03.000Z", "fact": { "kind": "dreamt" } },
    ]);
    operation
}

pub fn quiet_status() -> Value {
    json!({ "at": NOW, "clusters": [{
        "name": "cluster1", "resourceGroup": "site1", "detailedStatus": "Running",
        "connection": "Connected", "connectionSince": "2026-11-15T13:00:02.000Z", "clusterWaits": [],
        "machines": { "total": 40, "ready": 39, "off": 0, "notReady": 0, "cordoned": 0, "spare": 1, "unmanaged": 0, "bmcUnreachable": 0,
            "bmcTroubled": 0 },
        "controlPlane": [
            { "machine": "rack1control01", "spare": false, "ready": true },
            { "machine": "rack2control01", "spare": false, "ready": true },
            { "machine": "rack4control01", "spare": true, "ready": false },
        ],
        "undercloudFault": null, "operationCount": 0, "operations": [], "failedCount": 0, "failed": [], "waitCount": 0, "waits": [],
    }] })
}

pub fn busy_status() -> Value {
    let mut status = quiet_status();
    let cluster = &mut status["clusters"][0];
    cluster["controlPlane"][1]["ready"] = json!(false);
    cluster["undercloudFault"] = json!({
        "class": "unreachable", "fault": "unreachable: connection refused", "since": "2026-11-15T14:01:00.000Z",
    });
    cluster["failedCount"] = json!(1);
    cluster["failed"] = json!([failed_power_off()]);
    cluster["machines"]["ready"] = json!(37);
    cluster["machines"]["off"] = json!(1);
    cluster["machines"]["notReady"] = json!(1);
    cluster["machines"]["cordoned"] = json!(1);
    cluster["machines"]["bmcUnreachable"] = json!(1);
    cluster["machines"]["bmcTroubled"] = json!(2);
    cluster["operationCount"] = json!(1);
    cluster["operations"] = json!([running_restart()]);
    cluster["clusterWaits"] = json!([{
        "code": "Device", "what": "the undercloud (unreachable: GET /api/v1/nodes: no connection (connection refused))",
        "brief": "the undercloud (unreachable: connection refused)", "since": "2026-11-15T14:01:00.000Z",
        "endsWhen": "the undercloud answers; next try at 14:03:05", "expectedBy": null, "late": false,
    }]);
    let mut wait = late_wait();
    wait["machine"] = json!("rack1compute01");
    cluster["waitCount"] = json!(1);
    cluster["waits"] = json!([wait]);
    status
}

pub fn accepted_restart() -> Value {
    let id = machine("site1", "rack1control01", "control-plane")["id"].clone();
    json!({
        "eventDataId": "0b0f8a52-6f3c-4a43-9c0e-2f2f4b8d9f10", "eventTimestamp": "2026-11-15T14:02:10.120Z",
        "correlationId": "c1d2", "operationId": OPERATION, "level": "Informational", "caller": "alice",
        "description": "restart of `rack1control01` accepted",
        "operationName": { "value": "Microsoft.NetworkCloud/bareMetalMachines/restart/action", "localizedValue": "Restart" },
        "status": { "value": "Accepted", "localizedValue": "Accepted" },
        "subStatus": { "value": "Accepted", "localizedValue": "Accepted (HTTP Status Code: 202)" },
        "resourceId": id, "resourceGroupName": "site1", "properties": { "statusCode": "Accepted" },
    })
}

pub fn refused_restart() -> Value {
    let error = json!({ "error": {
        "code": "KcpOneAtATime", "message": "`rack2control01` cannot be restarted: `rack1control01` is being restarted", "details": [],
        "additionalInfo": [{ "type": "Refusal", "info": {
            "rule": "kcp-one-at-a-time", "subject": "`rack2control01` cannot be restarted",
            "evidence": ["`rack1control01` is being restarted since 14:02:10 (operation 8f3c1a2b)"],
            "remedy": "wait with `rackwright operation wait 8f3c1a2b`",
        } }],
    } });
    let mut entry = accepted_restart();
    entry["eventDataId"] = json!("1c1f8a52-6f3c-4a43-9c0e-2f2f4b8d9f11");
    entry["eventTimestamp"] = json!("2026-11-15T14:02:40.000Z");
    entry["level"] = json!("Error");
    entry["status"] = json!({ "value": "Failed", "localizedValue": "Failed" });
    entry["subStatus"] = json!({ "value": "Conflict", "localizedValue": "Conflict (HTTP Status Code: 409)" });
    entry["resourceId"] = machine("site1", "rack2control01", "control-plane")["id"].clone();
    entry["properties"] = json!({ "statusCode": "Conflict", "statusMessage": error.to_string() });
    entry
}

fn tenant_resource(kind: &str, name: &str) -> Value {
    let provider = "/subscriptions/s1/resourceGroups/site1/providers/Microsoft.NetworkCloud";
    json!({
        "id": format!("{provider}/{kind}/{name}"),
        "name": name,
        "tags": { "owner": "net" },
        "properties": { "clusterId": format!("{provider}/clusters/cluster1") },
    })
}

/// A virtual machine that runs and is being restarted.
pub fn vm(name: &str) -> Value {
    let mut vm = tenant_resource("virtualMachines", name);
    let machine = "/subscriptions/s1/resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/rack1compute01";
    let properties = json!({
        "bareMetalMachineId": machine, "clusterId": vm["properties"]["clusterId"], "cpuCores": 4, "memorySizeGB": 8,
        "detailedStatus": "Running", "detailedStatusMessage": "running", "powerState": "On", "provisioningState": "Succeeded",
        "vmImage": "registry/fw:1", "storageProfile": { "osDisk": { "createOption": "Persistent", "diskSizeGB": 20 } },
        "placementHints": [{
            "hintType": "AntiAffinity", "schedulingExecution": "Hard", "scope": "Rack", "resourceId": machine.replace("rack1", "rack2"),
        }],
    });
    vm["properties"] = properties;
    vm["rackwright"] = json!({
        "seenAt": "2026-11-14T14:00:00.000Z",
        "operation": { "id": "8f3c1a2b-0000", "action": "restart", "caller": "alice", "since": "2026-11-14T14:02:10.000Z" },
        "waits": [],
    });
    vm
}

/// A tenant's cluster with a node of the control plane, and one of a pool that is cordoned.
pub fn tenant_cluster() -> Value {
    let mut cluster = tenant_resource("kubernetesClusters", "naks-01");
    let (control, worker) = ("naks-01-control-plane-x7k2p", "naks-01-agentpool1-md-tjr8k-4qqx4");
    cluster["properties"] = json!({
        "clusterId": cluster["properties"]["clusterId"], "kubernetesVersion": "v1.31.4", "detailedStatus": "Available",
        "detailedStatusMessage": "provisioned", "drainPolicy": "wait",
        "nodes": [
            { "name": control, "role": "ControlPlane", "powerState": "On" },
            { "name": worker, "role": "Worker", "powerState": "On" },
        ],
    });
    let node = |name: &str, pool: Value, machine: &str, cordoned: bool| {
        json!({
            "name": name, "pool": pool, "machine": machine, "ready": "True", "cordoned": cordoned,
            "since": "2026-11-14T14:00:00.000Z", "operation": null,
        })
    };
    cluster["rackwright"] = json!({
        "apiFault": null, "drainPolicyFrom": "default",
        "nodes": [node(control, Value::Null, "rack1compute01", false), node(worker, "agentpool1".into(), "rack1compute02", true)],
    });
    cluster
}

pub fn pool() -> Value {
    let mut pool = tenant_resource("kubernetesClusters/naks-01/agentPools", "agentpool1");
    pool["properties"] = json!({
        "count": 2, "kubernetesVersion": "v1.31.4", "detailedStatus": "Available", "detailedStatusMessage": "2 of 2 nodes ready",
        "drainPolicy": "hold",
    });
    pool["rackwright"] = json!({ "drainPolicyFrom": "cluster", "readyNodes": 2 });
    pool
}
