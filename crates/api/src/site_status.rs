//! The whole picture in one answer: clusters, their control planes, what runs and what waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use model::{
    Cluster, ClusterName, FaultClass, Machine, Management, Operation, OperationResult, Power, Readiness, Span, TenantClusterName,
    Timestamp, Vm, VmProvisioning, VmState, Wait, WaitKind,
};
use serde_json::{Value, json};

use crate::cache::View;
use crate::call::Call;
use crate::entry::Sight;
use crate::health;
use crate::links;
use crate::operations;
use crate::reply::{Refused, json_response};
use crate::resources::machines::{render_evacuated, render_fault, render_wait};
use crate::route::Kind;
use crate::{KeeperWatch, Keepers};

pub(crate) fn show(view: &View, call: &Call, keepers: &Keepers, now: Timestamp) -> Result<Response, Refused> {
    let sight = call.sight()?;
    let mut doings = doings(view, sight, now);
    let clusters: Vec<Value> = view
        .clusters
        .values()
        .filter(|cluster| sight.sees(&links::cluster_id(&cluster.document)))
        .map(|cluster| {
            let doings = doings.remove(&cluster.document.name).unwrap_or_default();
            let mut rendered = render(view, sight, &cluster.document, &doings, now);
            let keeper = keepers.get(&cluster.document.name);
            rendered["keeper"] = render_keeper(keeper);
            // How old what is shown may be.
            if let Some(keeper) = keeper {
                rendered["lastKnown"] = health::render_looks(&keeper.footing.borrow().looks, now);
                if let Some(refused) = &*keeper.site_file.borrow() {
                    rendered["siteFileRefused"] = json!(refused);
                }
            }
            rendered
        })
        .collect();
    Ok(json_response(StatusCode::OK, &json!({ "at": now, "clusters": clusters })))
}

/// Without a keeper at work, what is shown of a cluster is what was last written, however old.
fn render_keeper(keeper: Option<&KeeperWatch>) -> Value {
    match keeper {
        Some(keeper) => json!(*keeper.state.borrow()),
        None => json!({ "state": "Absent" }),
    }
}

/// Waits of machines that are shown of one cluster. More than these nobody reads; `waitCount` tells how many there are.
const STATUS_WAITS_MAX: usize = 200;

/// Running operations that are shown of one cluster; `operationCount` tells how many there are.
const STATUS_OPERATIONS_MAX: usize = 200;

/// How long a failed operation is shown: whoever comes on call should see what went wrong just before.
const FAILED_SHOWN: Span = Span::hours(1);

/// Failed operations that are shown of one cluster, the latest; `failedCount` tells how many there are.
const STATUS_FAILED_MAX: usize = 20;

/// What is told of a cluster, and counted of it, is what the caller may see: whoever may read a cluster may not therefore read what is on it.
fn render(view: &View, sight: &Sight, cluster: &Cluster, Doings { running, failed }: &Doings<'_>, now: Timestamp) -> Value {
    let machines = view.machines_of(&cluster.name).map(|machine| machine.document.as_ref());
    let eyes = sight.of_type(Kind::Machines.full_type());
    let machines: Vec<&Machine> = machines.filter(|machine| eyes.see(|| links::machine_id(cluster, &machine.name))).collect();
    let mut waits: Vec<(&Machine, &Wait)> =
        machines.iter().flat_map(|machine| machine.waits.iter().map(move |wait| (*machine, wait))).collect();
    // Just after a start every machine waits for its first look; a count says as much, unless it takes too long.
    waits.retain(|(_, wait)| !is_first_look(wait) || wait.is_late(now));
    // The late ones first, so that they are never among those left out.
    waits.sort_by_key(|(_, wait)| !wait.is_late(now));
    let control_plane: Vec<Value> = machines
        .iter()
        .filter(|machine| machine.is_kcp())
        .map(|machine| json!({ "machine": machine.name, "spare": machine.is_spare(), "ready": machine.is_ready() }))
        .collect();
    json!({
        "name": cluster.name,
        "resourceGroup": cluster.home.resource_group,
        "detailedStatus": cluster.detailed_status,
        "connection": cluster.connection,
        "connectionSince": cluster.connection_since,
        "undercloudFault": plan::known_silence(cluster).as_ref().map(render_fault),
        "clusterWaits": cluster.waits.iter().map(|wait| render_wait(wait, now)).collect::<Vec<_>>(),
        "machines": counts(&machines),
        "controlPlane": control_plane,
        "workloads": workloads(view, sight, cluster),
        "evacuated": evacuated(&machines),
        "degraded": degraded(&machines),
        "operationCount": running.len(),
        "operations": running.iter().take(STATUS_OPERATIONS_MAX).map(|operation| operations::render(operation, now)).collect::<Vec<_>>(),
        "failedCount": failed.len(),
        "failed": failed.iter().take(STATUS_FAILED_MAX).map(|operation| operations::render(operation, now)).collect::<Vec<_>>(),
        "waitCount": waits.len(),
        "waits": waits.iter().take(STATUS_WAITS_MAX).map(|(machine, wait)| render_wait_of(machine, wait, now)).collect::<Vec<_>>(),
    })
}

/// The operations of one cluster that are shown.
#[derive(Default)]
struct Doings<'a> {
    /// The latest accepted first.
    running: Vec<&'a Arc<Operation>>,
    /// The latest ended first.
    failed: Vec<&'a Arc<Operation>>,
}

/// What the caller may see of what goes on in each cluster. All operations are looked at once, however many clusters there are.
fn doings<'a>(view: &'a View, sight: &Sight, now: Timestamp) -> BTreeMap<&'a ClusterName, Doings<'a>> {
    let failed_at =
        |operation: &Operation| operation.ended.as_ref().filter(|ended| ended.result == OperationResult::Failed).map(|ended| ended.at);
    let is_shown = |operation: &Operation| operation.is_running() || failed_at(operation).is_some_and(|at| now.since(at) < FAILED_SHOWN);
    let mut doings: BTreeMap<&ClusterName, Doings> = BTreeMap::new();
    for operation in view.operations_after(None).filter(|operation| is_shown(operation) && operations::is_seen(view, sight, operation)) {
        let of_cluster = doings.entry(&operation.cluster).or_default();
        if operation.is_running() {
            of_cluster.running.push(operation);
        } else {
            of_cluster.failed.push(operation);
        }
    }
    for of_cluster in doings.values_mut() {
        of_cluster.failed.sort_by_key(|operation| std::cmp::Reverse(failed_at(operation)));
    }
    doings
}

/// The spare is no machine that went off: it is kept in reserve, on or off.
fn is_off(machine: &Machine) -> bool {
    !machine.is_spare() && machine.last_seen.power.as_ref().is_some_and(|power| power.what == Power::Off)
}

fn is_first_look(wait: &Wait) -> bool {
    matches!(wait.kind, WaitKind::FirstLook { .. })
}

fn counts(machines: &[&Machine]) -> Value {
    let count = |is: &dyn Fn(&Machine) -> bool| machines.iter().filter(|machine| is(machine)).count();
    json!({
        "total": machines.len(),
        "ready": count(&Machine::is_ready),
        "off": count(&is_off),
        "spare": count(&Machine::is_spare),
        "notReady": count(&|machine| !machine.is_ready() && !is_off(machine) && !machine.is_spare()),
        "cordoned": count(&Machine::is_cordoned),
        "unmanaged": count(&|machine| !matches!(machine.management, Management::Managed)),
        "notLookedAt": count(&|machine| machine.waits.iter().any(is_first_look)),
        "degraded": count(&|machine| !plan::problems(machine).is_empty()),
        "bmcUnreachable": count(&|machine| bmc_fault(machine) == Some(FaultClass::Unreachable)),
        // It answers, but not so that the machine could be looked at.
        "bmcTroubled": count(&|machine| bmc_fault(machine).is_some_and(|class| class != FaultClass::Unreachable)),
    })
}

/// How many virtual machines, tenant clusters and nodes of theirs there are, and how they are.
fn workloads(view: &View, sight: &Sight, cluster: &Cluster) -> Value {
    let mut vms = BTreeMap::from(VM_KINDS.map(|kind| (kind, 0_usize)));
    let eyes = sight.of_type(Kind::Vms.full_type());
    for vm in view.vms_of(&cluster.name).filter(|vm| eyes.see(|| links::vm_id(cluster, &vm.document.name))) {
        *vms.entry(vm_kind(&vm.document)).or_default() += 1;
    }
    let (mut clusters, mut silent, mut nodes, mut ready) = (0, 0, 0, 0);
    let eyes = sight.of_type(Kind::TenantClusters.full_type());
    let is_seen = |name: &TenantClusterName| eyes.see(|| links::tenant_cluster_id(cluster, name));
    for tenant in view.tenant_clusters_of(&cluster.name).filter(|tenant| is_seen(&tenant.document.name)) {
        clusters += 1;
        silent += usize::from(tenant.document.fault.is_some());
        nodes += tenant.document.nodes.len();
        ready += tenant.document.nodes.values().filter(|node| node.ready == Readiness::True).count();
    }
    let mut counts = json!({
        "virtualMachines": vms.values().sum::<usize>(),
        "kubernetesClusters": clusters,
        "silentClusters": silent,
        "nodes": nodes,
        "readyNodes": ready,
    });
    for (kind, count) in vms {
        counts[kind] = json!(count);
    }
    counts
}

/// Each virtual machine is counted as one of these.
const VM_KINDS: [&str; 6] = ["running", "stopped", "starting", "stopping", "failing", "unknown"];

fn vm_kind(vm: &Vm) -> &'static str {
    match (vm.last_seen.as_ref().map(|seen| seen.what.state), vm.provisioning) {
        (Some(VmState::Running | VmState::Paused | VmState::Migrating), _) => "running",
        (Some(VmState::Stopped), _) => "stopped",
        (Some(VmState::Provisioning | VmState::Starting), _) => "starting",
        (Some(VmState::Stopping | VmState::Terminating), _) => "stopping",
        (Some(VmState::Unschedulable | VmState::Failing), _) => "failing",
        // One that was never seen is yet to be made, or its creation came to nothing.
        (None, VmProvisioning::Accepted | VmProvisioning::Provisioning) => "starting",
        (None, VmProvisioning::Failed | VmProvisioning::Canceled) => "failing",
        (Some(VmState::Unknown), _) | (None, VmProvisioning::Succeeded) => "unknown",
    }
}

/// Machines that were emptied, with what waits to come back.
fn evacuated(machines: &[&Machine]) -> Vec<Value> {
    let emptied = machines.iter().filter_map(|machine| Some((machine, machine.evacuated.as_ref()?)));
    emptied
        .take(STATUS_WAITS_MAX)
        .map(|(machine, evacuated)| {
            let mut rendered = render_evacuated(evacuated);
            rendered["machine"] = json!(machine.name);
            rendered
        })
        .collect()
}

/// The machines of which their nodes tell something wrong, and what.
fn degraded(machines: &[&Machine]) -> Vec<Value> {
    let problems = |machine: &Machine| plan::problems(machine).iter().map(|problem| problem.message.clone()).collect::<Vec<_>>();
    let degraded = machines.iter().filter(|machine| !plan::problems(machine).is_empty());
    degraded.take(STATUS_WAITS_MAX).map(|machine| json!({ "machine": machine.name, "problems": problems(machine) })).collect()
}

fn bmc_fault(machine: &Machine) -> Option<FaultClass> {
    machine.last_seen.bmc_fault.as_ref().map(|fault| fault.what.class)
}

fn render_wait_of(machine: &Machine, wait: &Wait, now: Timestamp) -> Value {
    let mut rendered = render_wait(wait, now);
    rendered["machine"] = json!(machine.name);
    rendered
}

#[cfg(test)]
mod tests {
    use http::Method;
    use model::{Delivery, Fault, Seen, Span, WaitKind};

    use super::*;
    use crate::fixtures::{Documents, NOW, cluster, machine, operation, send, send_with, tenant_cluster, vm};

    #[tokio::test(start_paused = true)]
    async fn a_bmc_that_answers_is_not_counted_as_one_that_does_not() {
        let begin = Timestamp::parse(NOW).unwrap();
        let classes = [FaultClass::Unreachable, FaultClass::Denied, FaultClass::Untrusted, FaultClass::Garbled];
        let mut documents = Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "well"));
        for (n, class) in classes.into_iter().enumerate() {
            let mut troubled = machine("site", "rack1", &format!("m{n}"));
            troubled.last_seen.bmc_fault = Some(Seen { what: Fault::new(class, Delivery::No, "x"), at: begin });
            documents = documents.machine(&troubled);
        }
        let (_, status) = send(&documents.serve().await, Method::GET, "/rackwright/v1/status", "").await;
        let machines = &status["clusters"][0]["machines"];
        assert_eq!((&machines["bmcUnreachable"], &machines["bmcTroubled"]), (&json!(1), &json!(3)));
    }

    #[tokio::test(start_paused = true)]
    async fn each_machine_is_counted_as_one_of_four() {
        let begin = Timestamp::parse(NOW).unwrap();
        let seen = |power| Some(Seen { what: power, at: begin });
        let mut documents = Documents::default().cluster(&cluster("site"));
        for (name, power, spare) in [("on", Power::On, false), ("off", Power::Off, false), ("spare", Power::Off, true)] {
            let mut machine = machine("site", "rack1", name);
            machine.last_seen.power = seen(power);
            if spare {
                machine.role = model::Role::ControlPlane;
                machine.provisioning = model::Provisioning::Available;
            }
            documents = documents.machine(&machine);
        }
        let (_, status) = send(&documents.serve().await, Method::GET, "/rackwright/v1/status", "").await;
        let counts = &status["clusters"][0]["machines"];
        let parts = ["ready", "off", "spare", "notReady"].map(|key| counts[key].as_u64().unwrap());
        assert_eq!((parts, counts["total"].as_u64()), ([0, 1, 1, 1], Some(3)));
    }

    #[tokio::test(start_paused = true)]
    async fn each_virtual_machine_is_counted_as_one_of_six() {
        let states = [
            VmState::Stopped,
            VmState::Provisioning,
            VmState::Starting,
            VmState::Running,
            VmState::Paused,
            VmState::Migrating,
            VmState::Stopping,
            VmState::Terminating,
            VmState::Unschedulable,
            VmState::Failing,
            VmState::Unknown,
        ];
        let seen = states.map(|state| (Some(state), VmProvisioning::Succeeded));
        let unseen = [VmProvisioning::Accepted, VmProvisioning::Failed, VmProvisioning::Succeeded].map(|known| (None, known));
        let mut documents = Documents::default().cluster(&cluster("site"));
        for (n, (state, provisioning)) in seen.into_iter().chain(unseen).enumerate() {
            let mut vm = vm("site", &format!("vm{n}"), "m");
            vm.provisioning = provisioning;
            match (state, &mut vm.last_seen) {
                (Some(state), Some(seen)) => seen.what.state = state,
                _ => vm.last_seen = None,
            }
            documents = documents.vm(&vm);
        }
        let (_, status) = send(&documents.serve().await, Method::GET, "/rackwright/v1/status", "").await;
        let counts = &status["clusters"][0]["workloads"];
        let parts = VM_KINDS.map(|kind| counts[kind].as_u64().unwrap());
        assert_eq!(parts, [3, 1, 3, 2, 3, 2]);
        assert_eq!(counts["virtualMachines"].as_u64(), Some(parts.iter().sum()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_failed_within_the_hour_is_shown_the_latest_first() {
        let now = Timestamp::parse(NOW).unwrap();
        let failed = |id: &str, ago: Span, result| {
            let mut operation = operation(id, "site", "m", now - ago);
            operation.ended = Some(model::Ended { at: now - ago, result, message: "x".into(), next: None, failure: None });
            operation
        };
        let documents = Documents::default()
            .cluster(&cluster("site"))
            .machine(&machine("site", "rack1", "m"))
            .operation(&failed("older", Span::minutes(59), OperationResult::Failed))
            .operation(&failed("newer", Span::minutes(1), OperationResult::Failed))
            .operation(&failed("too-old", Span::minutes(60), OperationResult::Failed))
            .operation(&failed("well", Span::minutes(1), OperationResult::Succeeded));
        let (_, status) = send(&documents.serve().await, Method::GET, "/rackwright/v1/status", "").await;
        let cluster = &status["clusters"][0];
        let ids: Vec<&str> = cluster["failed"].as_array().unwrap().iter().filter_map(|failed| failed["id"].as_str()).collect();
        assert_eq!((ids, &cluster["failedCount"]), (vec!["newer", "older"], &json!(2)));
    }

    /// A cluster is no place that machines are in: they stand beside it in the resource group.
    #[tokio::test(start_paused = true)]
    async fn whoever_sees_a_cluster_sees_only_what_they_may_read_of_what_is_on_it() {
        let now = Timestamp::parse(NOW).unwrap();
        let mut documents = Documents::default().cluster(&cluster("site")).vm(&vm("site", "vm1", "mine"));
        documents = documents.tenant_cluster(&tenant_cluster("site", "k1", &["mine"]));
        for (name, id) in [("mine", "aaaaaaaa"), ("theirs", "bbbbbbbb")] {
            let mut waiting = machine("site", "rack1", name);
            waiting.waits = vec![Wait { kind: WaitKind::Rejoin, since: now, expected_by: None }];
            let mut failed = operation(&format!("{}-failed", &id[..1]), "site", name, now);
            failed.ended = Some(model::Ended { at: now, result: OperationResult::Failed, message: "x".into(), next: None, failure: None });
            documents = documents.machine(&waiting).operation(&operation(id, "site", name, now)).operation(&failed);
        }
        let api = documents.serve().await;
        let house = gate::OpenHouse::around(api.gate.clone());
        let site = cluster("site");
        let somebody = |number| access::PrincipalId::new(uuid::Uuid::from_u128(number));
        for (number, id) in [
            (71, links::cluster_id(&site)),
            (72, links::cluster_id(&site)),
            (72, links::machine_id(&site, &model::MachineName::new("mine").unwrap())),
            (73, "/subscriptions/s1".to_owned()),
        ] {
            house.assign(somebody(number), access::roles::READER.id, access::Scope::parse(&id).unwrap()).await;
        }
        for (number, machines, workloads) in [(71, 0, 0), (72, 1, 0), (73, 2, 1)] {
            let token = format!("Bearer {}", house.token_of(somebody(number), "somebody"));
            let (_, status) = send_with(&api, Method::GET, "/rackwright/v1/status", "", &[("authorization", &token)]).await;
            let seen = &status["clusters"][0];
            let counts = ["operationCount", "failedCount", "waitCount"].map(|field| seen[field].as_u64().unwrap());
            assert_eq!((counts, seen["machines"]["total"].as_u64()), ([machines; 3], Some(machines)), "{seen:#}");
            let workloads_seen = ["virtualMachines", "kubernetesClusters"].map(|field| seen["workloads"][field].as_u64().unwrap());
            assert_eq!(workloads_seen, [workloads; 2]);
            assert_eq!(status.to_string().contains("theirs"), machines == 2, "{seen:#}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_site_where_everything_waits_is_shown_in_part_with_its_counts_and_what_is_late() {
        let begin = Timestamp::parse(NOW).unwrap();
        let mut documents = Documents::default().cluster(&cluster("site"));
        for n in 0..STATUS_WAITS_MAX + 50 {
            let name = format!("m{n}");
            let mut waiting = machine("site", "rack1", &name);
            let expected_by = if n == STATUS_WAITS_MAX + 49 { begin - Span::seconds(1) } else { begin + Span::hours(1) };
            waiting.waits = vec![Wait { kind: WaitKind::Rejoin, since: begin, expected_by: Some(expected_by) }];
            documents = documents.machine(&waiting).operation(&operation(&format!("{n:08}"), "site", &name, begin));
        }
        let api = documents.serve().await;
        let (_, status) = send(&api, Method::GET, "/rackwright/v1/status", "").await;
        let cluster = &status["clusters"][0];
        let length = |field: &str| cluster[field].as_array().map_or(0, Vec::len);
        assert_eq!((length("waits"), cluster["waitCount"].as_u64()), (200, Some(250)));
        assert_eq!((length("operations"), cluster["operationCount"].as_u64()), (200, Some(250)));
        assert_eq!((&cluster["waits"][0]["machine"], &cluster["waits"][0]["late"]), (&json!("m249"), &json!(true)));
        assert!(cluster["operations"][0].get("journal").is_none());
    }
}
