//! The control plane dies at every commit of every operation that moves tenants' workloads, before the commit is durable or
//! after it, and starts again: the operation ends the same, and tenants have what they had.
//!
//! Operations that undo each other are played in a ring on one site, each dying at the same position, so that a ring ends
//! where it began.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use scenarios::{House, Moment, Mortal, machine_path, resource_path, tenancy_of};
use serde_json::{Value, json};
use tokio::sync::Notify;

const MACHINE: &str = "rack1compute01";

/// Two of `big` do not fit on one node, so that what is evicted waits, and is on its node again after the return: every ring
/// drains anew.
const TENANTS: &str = "
    vm web1 on rack1compute01 2cpu 4g
    vm spare on rack1compute01 2cpu 4g stopped
    tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack1compute02
    deployment big x2 in naks-01 5000m 256Mi pdb 1
";

/// Enough for nodes to boot, and for pods to be placed.
const TO_SETTLE: Duration = Duration::from_secs(180);

#[derive(Clone, Copy, Debug)]
enum Kind {
    Evacuate,
    Return,
    Restart,
    PowerOff,
    Start,
    CreateVm,
    PowerOffVm,
    StartVm,
    RestartVm,
    ReimageVm,
    DeleteVm,
    RestartNode,
}

const MACHINES: [&[Kind]; 3] = [&[Kind::Evacuate, Kind::Return], &[Kind::Restart], &[Kind::PowerOff, Kind::Start]];

const VMS: [&[Kind]; 1] =
    [&[Kind::CreateVm, Kind::PowerOffVm, Kind::StartVm, Kind::RestartVm, Kind::ReimageVm, Kind::RestartNode, Kind::DeleteVm]];

impl Kind {
    fn request(self) -> (Method, String, Value) {
        let machine = |verb: &str| format!("{}/{verb}", machine_path(MACHINE));
        let vm = |verb: &str| format!("{}/{verb}", resource_path("virtualMachines", "web9"));
        match self {
            Kind::Evacuate => (Method::POST, machine("cordon"), json!({ "evacuate": "True" })),
            Kind::Return => (Method::POST, machine("uncordon"), json!({})),
            Kind::Restart => (Method::POST, machine("restart"), json!({})),
            Kind::PowerOff => (Method::POST, machine("powerOff"), json!({})),
            Kind::Start => (Method::POST, machine("start"), json!({})),
            Kind::CreateVm => (Method::PUT, resource_path("virtualMachines", "web9"), described()),
            Kind::PowerOffVm => (Method::POST, vm("powerOff"), json!({})),
            Kind::StartVm => (Method::POST, vm("start"), json!({})),
            Kind::RestartVm => (Method::POST, vm("restart"), json!({})),
            Kind::ReimageVm => (Method::POST, vm("reimage"), json!({})),
            Kind::DeleteVm => (Method::DELETE, resource_path("virtualMachines", "web9"), Value::Null),
            Kind::RestartNode => {
                (Method::POST, format!("{}/restartNode", resource_path("kubernetesClusters", "naks-01")), json!({ "nodeName": "a" }))
            }
        }
    }
}

fn described() -> Value {
    json!({
        "properties": {
            "adminUsername": "azureuser", "cpuCores": 2, "memorySizeGB": 4, "vmImage": "registry/app:1", "networkAttachments": [],
            "storageProfile": { "osDisk": { "diskSizeGB": 20, "createOption": "Persistent" } },
            "placementHints": [{
                "hintType": "AntiAffinity", "schedulingExecution": "Hard", "scope": "Machine",
                "resourceId": resource_path("virtualMachines", "web1"),
            }],
        },
    })
}

/// What must be the same whether or not there was a crash.
#[derive(Debug, PartialEq)]
struct Ending {
    status: String,
    message: String,
    machine: String,
    vms: String,
    nodes: String,
    pods: String,
}

async fn operations(house: &House) -> Vec<Value> {
    house.pages("/rackwright/v1/operations").await
}

/// Sends the request, and sends it again with the same id if the control plane dies. Returns whether it died.
async fn carry_out(house: &mut House, kind: Kind, id: &str, crash: Option<(i64, Moment)>) -> bool {
    let died = Arc::new(Notify::new());
    if let Some((position, moment)) = crash {
        house.crash().await;
        house.start_control_plane_on(Arc::new(Mortal::new(house.store.clone(), position, moment, died.clone()))).await;
        house.settle().await;
    }
    let known = operations(house).await.len();
    let is_over = async {
        ask(house, kind, id).await;
        until_idle(house).await;
    };
    let has_died = tokio::select! {
        biased;
        () = died.notified() => true,
        () = is_over => false,
    };
    if crash.is_some() {
        house.crash().await;
        house.settle().await;
        house.start_control_plane().await;
        house.settle().await;
    }
    if has_died {
        ask(house, kind, id).await;
        until_idle(house).await;
    }
    assert_eq!(operations(house).await.len(), known + 1, "{kind:?}, crashed at {crash:?}, is one operation");
    has_died
}

async fn ask(house: &House, kind: Kind, id: &str) {
    let (method, path, body) = kind.request();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let reply = house.call_with(method, &format!("{path}?api-version=1"), &[("x-ms-client-request-id", id)], &body).await;
    assert!(reply.status.is_success(), "{kind:?}: {} {}", reply.status, reply.body);
}

async fn until_idle(house: &House) {
    for operation in operations(house).await.iter().filter(|operation| operation["status"] == "InProgress") {
        house.until_ended(operation["id"].as_str().expect("an operation has an id")).await;
    }
}

async fn ending(house: &House) -> Ending {
    tokio::time::sleep(TO_SETTLE).await;
    let latest = operations(house).await.into_iter().max_by_key(|operation| operation["acceptedAt"].to_string()).expect("there is one");
    let machine = house.machine(MACHINE).await;
    let (properties, ours) = (&machine["properties"], &machine["rackwright"]);
    let holds: Vec<&Value> = ours["holds"].as_array().into_iter().flatten().map(|hold| &hold["kind"]).collect();
    Ending {
        status: latest["status"].to_string(),
        message: latest["message"].to_string(),
        machine: format!(
            "{} {} {} held by {holds:?}, remembers {} {}",
            properties["powerState"],
            properties["readyState"],
            properties["cordonStatus"],
            ours["evacuated"]["virtualMachines"],
            ours["evacuated"]["nodes"]
        ),
        vms: house.vms().await,
        nodes: house.tenant_nodes("naks-01").await,
        pods: house.tenant_pods("naks-01").await,
    }
}

async fn every_position(rings: &[&[Kind]], moment: Moment) {
    for ring in rings {
        let mut house = House::build_with(1, 6, tenancy_of(TENANTS)).await;
        play(&mut house, ring, moment).await;
        house.check_log().await;
        house.close().await;
    }
}

/// Plays a ring again and again, each time with the deaths one commit later, until nobody dies any more.
async fn play(house: &mut House, ring: &[Kind], moment: Moment) {
    let mut undisturbed = Vec::new();
    for kind in ring {
        carry_out(house, *kind, &format!("{kind:?}"), None).await;
        undisturbed.push(ending(house).await);
    }
    let mut deaths = vec![0; ring.len()];
    for position in 1.. {
        let before: usize = deaths.iter().sum();
        for (nth, kind) in ring.iter().enumerate() {
            // Who outlived this position outlives every later one.
            let crash = (deaths[nth] + 1 == position).then_some((position as i64, moment));
            let died = carry_out(house, *kind, &format!("{kind:?} {position}"), crash).await;
            deaths[nth] += usize::from(died);
            assert_eq!(ending(house).await, undisturbed[nth], "{kind:?} crashed {moment:?} commit {position}");
        }
        if deaths.iter().sum::<usize>() == before {
            break;
        }
    }
    assert!(deaths.iter().all(|deaths| *deaths >= 3), "{ring:?} died only so often: {deaths:?}");
}

#[tokio::test(start_paused = true)]
async fn a_machine_is_emptied_and_filled_the_same_if_the_control_plane_dies_before_a_commit() {
    every_position(&MACHINES, Moment::Before).await;
}

#[tokio::test(start_paused = true)]
async fn a_machine_is_emptied_and_filled_the_same_if_the_control_plane_dies_after_a_commit() {
    every_position(&MACHINES, Moment::After).await;
}

#[tokio::test(start_paused = true)]
async fn virtual_machines_and_nodes_end_the_same_if_the_control_plane_dies_before_a_commit() {
    every_position(&VMS, Moment::Before).await;
}

#[tokio::test(start_paused = true)]
async fn virtual_machines_and_nodes_end_the_same_if_the_control_plane_dies_after_a_commit() {
    every_position(&VMS, Moment::After).await;
}
