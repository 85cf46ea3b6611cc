//! Tenants in a tiny language beside the one for machines, and what is previewed of it.
//!
//! ```text
//! vm firewallvnf on rack1compute01        running; `off rack1compute01` for one that is stopped there
//! node naks-01/n1 on rack1compute01 4cpu 8Gi [cordoned|cordoned-by-us|unknown|notready] [taint=key:effect] [label=k=v] [pods=2] [control-plane]
//! pod naks-01/n1 web/web-1 ReplicaSet 500m 256Mi [app=web] [unready|ending|done|pending|guess] [apart=app=web] [with=app=web] [needs=k=v]
//! budget naks-01 web/web app=web 0/2/2 [uncounted] [spares-unready]      allowed, healthy, needed
//! policy naks-01 force                    · silent naks-01 (its API) · unlisted naks-01
//! evacuated rack1compute01 vm=… node=naks-01/n1
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::Expect;
use model::{
    Action, Amount, Ask, BudgetSeen, CordonedNode, Delivery, DrainPolicy, Evacuate, Evacuated, Fault, FaultClass, InstancePhase,
    InstanceSeen, LabelSelector, Neighbourhood, NodeOf, NodeRole, OperationId, Outage, PodDemands, PodOwner, PodPhase, PodRef, PodSeen,
    Preview, Readiness, RunStrategy, Settings, Shutdown, Span, StoppedVm, Taint, TenantCluster, TenantClusterName, TenantClusterSeen,
    TenantMachineSeen, TenantNodeSeen, Termination, Timestamp, Toleration, Verdict, Vm, VmName, VmProvisioning, VmRef, VmSeen, VmSpec,
    VmState,
};
use plan::{Inside, Visit};

use super::told::told;
use crate::desk;
use crate::script::Play;

const TENANTS: [&str; 8] = ["vm ", "node ", "pod ", "budget ", "policy ", "silent ", "unlisted ", "evacuated "];

/// Plays a script's machines and tenants, previews what its last line asks for, and compares.
#[expect(clippy::needless_pass_by_value, reason = "a case reads best as a script and what it comes to")]
pub fn check(script: &str, expected: Expect) {
    expected.assert_eq(&told(&preview_of(&stage(script), script)));
}

/// The site of a script with its tenants, after its story.
pub fn stage(script: &str) -> Play {
    let lines = || script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("> preview"));
    let is_tenant = |line: &&str| TENANTS.iter().any(|word| line.starts_with(word));
    let site: Vec<&str> = lines().filter(|line| !is_tenant(line)).collect();
    let mut play = Play::of(&site.join("\n"));
    play.run();
    play.desk.snapshot.tenants.listed_at = Some(play.desk.now);
    for line in lines().filter(is_tenant) {
        read(&mut play, line);
    }
    play
}

/// The preview that the script's last line asks for: `> preview restart rack1compute01 [skip-shutdown] [evacuate] [force] [accept-outage]`.
pub fn preview_of(play: &Play, script: &str) -> Preview {
    let asked = script.lines().map(str::trim).find_map(|line| line.strip_prefix("> preview ")).expect("a preview to ask for");
    let words: Vec<&str> = asked.split_whitespace().collect();
    let has = |flag: &str| words.contains(&flag);
    let action = match words[0] {
        "power-off" if has("skip-shutdown") => Action::PowerOff { shutdown: Shutdown::Skip },
        "power-off" => Action::PowerOff { shutdown: Shutdown::Graceful },
        "start" => Action::Start,
        "restart" => Action::Restart,
        "uncordon" => Action::Uncordon,
        "cordon" if has("force") => Action::Cordon { evacuate: Evacuate::Forced },
        "cordon" if has("evacuate") => Action::Cordon { evacuate: Evacuate::Yes },
        "cordon" => Action::Cordon { evacuate: Evacuate::No },
        other => panic!("`{other}` is no action"),
    };
    let outage = if has("accept-outage") { Outage::Accepted } else { Outage::Refused };
    let mut desk_snapshot = play.desk.snapshot.clone();
    let ask = Ask::Preview { machine: desk::name(words[1]), action, outage, replacement: None };
    let request = crate::desk::request_at(&desk_snapshot, play.desk.now, ask);
    let id = request.id.clone();
    desk_snapshot.set_request(request);
    let plan = plan::plan(&desk_snapshot, &Visit::Only(plan::Visited::default()), play.desk.now);
    let others = plan::Changes { requests: BTreeMap::new(), ..plan.changes.clone() };
    assert_eq!(others, plan::Changes::default(), "a preview changes nothing");
    assert!(plan.steps.is_empty() && plan.errands.is_empty(), "a preview asks for nothing");
    match plan.changes.requests[&id].verdict.clone() {
        Some(Verdict::Previewed { preview }) => *preview,
        other => panic!("{other:?}"),
    }
}

fn read(play: &mut Play, line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let now = play.desk.now;
    match words.as_slice() {
        ["vm", name, place @ ("on" | "off"), machine] => read_vm(play, name, *place == "on", machine, None),
        ["node", of, "on", machine, cpu, memory, rest @ ..] => {
            let (cluster, node) = of.split_once('/').expect("a cluster and its node");
            read_vm(play, node, true, machine, Some(cluster));
            add_machine(play, cluster, node, rest.contains(&"control-plane"));
            inside(play, cluster).nodes.insert(node.to_owned(), Arc::new(parse_node((node, machine), cpu, memory, rest)));
        }
        ["pod", of, pod, kind, cpu, memory, rest @ ..] => {
            let (cluster, node) = of.split_once('/').expect("a cluster and its node");
            inside(play, cluster).set_pod(parse_pod(pod, node, kind, cpu, memory, rest, now));
        }
        ["budget", cluster, budget, label, counts, rest @ ..] => {
            let budget = parse_budget(budget, label, counts, rest);
            inside(play, cluster).budgets.insert((budget.namespace.clone(), budget.name.clone()), Arc::new(budget));
        }
        ["policy", cluster, policy] => set_policy(play, cluster, policy),
        ["silent", cluster] => {
            let fault = Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused");
            inside(play, cluster).contact.failed(now, fault);
        }
        ["unlisted", cluster] => inside(play, cluster).listed_at = None,
        ["evacuated", machine, rest @ ..] => set_evacuated(play, machine, rest),
        _ => panic!("`{line}` is nothing of tenants"),
    }
}

fn tenant(name: &str) -> TenantClusterName {
    TenantClusterName::new(name).unwrap()
}

fn inside<'a>(play: &'a mut Play, cluster: &str) -> &'a mut Inside {
    let now = play.desk.now;
    let inside = play.desk.snapshot.tenants.insides.entry(tenant(cluster)).or_default();
    inside.listed_at.get_or_insert(now);
    inside
}

fn read_vm(play: &mut Play, name: &str, runs: bool, machine: &str, cluster: Option<&str>) {
    let name = VmName::new(name).unwrap();
    let instance = InstanceSeen {
        uid: "i1".into(),
        node: Some(machine.to_owned()),
        phase: InstancePhase::Running,
        ready: Readiness::True,
        is_ending: false,
    };
    play.desk.snapshot.tenants.set_vm(VmSeen {
        name: name.clone(),
        uid: format!("uid-{name}"),
        run: if runs { RunStrategy::Always } else { RunStrategy::Halted },
        state: if runs { VmState::Running } else { VmState::Stopped },
        message: None,
        instance: runs.then_some(instance),
        cpu_cores: 4,
        memory_bytes: 8 << 30,
        grace: Span::seconds(180),
        node_of: cluster.map(|cluster| NodeOf { cluster: tenant(cluster), pool: None }),
        created_at: None,
        os_disk: None,
    });
    if cluster.is_none() {
        play.desk.snapshot.vms.insert(name.clone(), Arc::new(stored_vm(play, name, machine)));
    }
}

fn stored_vm(play: &Play, name: VmName, machine: &str) -> Vm {
    Vm {
        name,
        cluster: play.desk.snapshot.cluster.name.clone(),
        spec: VmSpec::default(),
        tags: BTreeMap::new(),
        created_at: play.desk.now,
        edition: 1,
        modified: None,
        provisioning: VmProvisioning::Succeeded,
        uid: None,
        last_seen: None,
        machine: Some(desk::name(machine)),
        waits: Vec::new(),
    }
}

fn parse_amount(cpu: &str, memory: &str) -> Amount {
    let cpu_millis = match (cpu.strip_suffix("cpu"), cpu.strip_suffix('m')) {
        (Some(cores), _) => cores.parse::<u64>().unwrap() * 1_000,
        (None, Some(millis)) => millis.parse().unwrap(),
        _ => panic!("`{cpu}` is no amount of CPU"),
    };
    let memory_bytes = match (memory.strip_suffix("Gi"), memory.strip_suffix("Mi")) {
        (Some(gib), _) => gib.parse::<u64>().unwrap() << 30,
        (None, Some(mib)) => mib.parse::<u64>().unwrap() << 20,
        _ => panic!("`{memory}` is no amount of memory"),
    };
    Amount { cpu_millis, memory_bytes }
}

fn label(text: &str) -> BTreeMap<String, String> {
    let (key, value) = text.split_once('=').expect("a label");
    [(key.to_owned(), value.to_owned())].into()
}

fn parse_node((name, machine): (&str, &str), cpu: &str, memory: &str, rest: &[&str]) -> TenantNodeSeen {
    let mut node = TenantNodeSeen {
        name: name.to_owned(),
        uid: format!("uid-{name}"),
        ready: Readiness::True,
        ready_since: None,
        is_unschedulable: false,
        is_cordoned_by_us: false,
        is_out_of_service: false,
        version: "v1.33.1".into(),
        boot_id: "b".into(),
        machine: Some(machine.to_owned()),
        allocatable: parse_amount(cpu, memory),
        pod_limit: 110,
        taints: Vec::new(),
        labels: Arc::default(),
    };
    for word in rest {
        match word.split_once('=') {
            None if *word == "control-plane" => {}
            None if *word == "unknown" => node.ready = Readiness::Unknown,
            None if *word == "notready" => node.ready = Readiness::False,
            None if word.starts_with("cordoned") => {
                node.is_unschedulable = true;
                node.is_cordoned_by_us = *word == "cordoned-by-us";
            }
            Some(("taint", taint)) => {
                let (key, effect) = taint.split_once(':').expect("a key and an effect");
                node.taints.push(Taint { key: key.to_owned(), value: String::new(), effect: effect.to_owned() });
            }
            Some(("label", text)) => Arc::make_mut(&mut node.labels).extend(label(text)),
            Some(("pods", limit)) => node.pod_limit = limit.parse().unwrap(),
            _ => panic!("`{word}` is nothing of a node"),
        }
    }
    node
}

fn parse_pod(pod: &str, node: &str, kind: &str, cpu: &str, memory: &str, rest: &[&str], now: Timestamp) -> PodSeen {
    let (namespace, name) = pod.split_once('/').expect("a namespace and a name");
    let mut seen = PodSeen {
        pod: PodRef { namespace: namespace.to_owned(), name: name.to_owned(), uid: format!("uid-{name}") },
        phase: PodPhase::Running,
        ready: Readiness::True,
        owner: (kind != "bare" && kind != "mirror").then(|| PodOwner { kind: kind.to_owned(), name: "owner".into() }),
        is_mirror: kind == "mirror",
        has_local_storage: false,
        termination: None,
        grace: Span::seconds(30),
        node: Some(node.to_owned()),
        has_finalizers: false,
        requests: parse_amount(cpu, memory),
        labels: Arc::default(),
        demands: Arc::default(),
    };
    let mut demands = PodDemands::default();
    let near = |text: &str| Neighbourhood {
        selector: LabelSelector { equal: label(text), ..LabelSelector::default() },
        topology_key: "kubernetes.io/hostname".into(),
    };
    for word in rest {
        match word.split_once('=') {
            None if *word == "unready" => seen.ready = Readiness::False,
            None if *word == "ending" => seen.termination = Some(Termination { since: now, until: now + Span::seconds(30) }),
            None if *word == "done" => seen.phase = PodPhase::Succeeded,
            None if *word == "pending" => seen.phase = PodPhase::Pending,
            None if *word == "guess" => demands.has_more = true,
            Some(("apart", text)) => demands.apart_from.push(near(text)),
            Some(("with", text)) => demands.together_with.push(near(text)),
            Some(("needs", text)) => demands.node_labels.extend(label(text)),
            Some(("bears", key)) => demands.tolerations.push(Toleration { key: Some(key.to_owned()), value: None, effect: None }),
            Some(("grace", seconds)) => seen.grace = Span::seconds(seconds.parse().unwrap()),
            Some(_) => Arc::make_mut(&mut seen.labels).extend(label(word)),
            None => panic!("`{word}` is nothing of a pod"),
        }
    }
    seen.demands = Arc::new(demands);
    seen
}

fn parse_budget(budget: &str, means: &str, counts: &str, rest: &[&str]) -> BudgetSeen {
    let (namespace, name) = budget.split_once('/').expect("a namespace and a name");
    let counts: Vec<u32> = counts.split('/').map(|count| count.parse().unwrap()).collect();
    BudgetSeen {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        selector: LabelSelector { equal: label(means), ..LabelSelector::default() },
        allowed: counts[0],
        healthy: counts[1],
        needed: counts[2],
        is_counted: !rest.contains(&"uncounted"),
        spares_unready: rest.contains(&"spares-unready"),
    }
}

fn cluster_seen(name: &TenantClusterName) -> TenantClusterSeen {
    TenantClusterSeen {
        name: name.clone(),
        uid: "u".into(),
        phase: "Provisioned".into(),
        version: "v1.33.1".into(),
        pools: Vec::new(),
        machines: Vec::new(),
        created_at: None,
    }
}

/// Cluster API's own Machine for a node.
fn add_machine(play: &mut Play, cluster: &str, node: &str, is_control_plane: bool) {
    let name = tenant(cluster);
    let seen = play.desk.snapshot.tenants.clusters.entry(name.clone()).or_insert_with(|| Arc::new(cluster_seen(&name)));
    Arc::make_mut(seen).machines.push(TenantMachineSeen {
        name: node.to_owned(),
        uid: "m".into(),
        role: if is_control_plane { NodeRole::ControlPlane } else { NodeRole::Worker },
        pool: None,
        version: "v1.33.1".into(),
        is_skipped: false,
    });
}

fn set_policy(play: &mut Play, cluster: &str, policy: &str) {
    let policy = DrainPolicy::ALL.into_iter().find(|known| known.as_str() == policy).expect("a drain policy");
    let name = tenant(cluster);
    let last_seen = cluster_seen(&name);
    let stored = TenantCluster {
        name: name.clone(),
        cluster: play.desk.snapshot.cluster.name.clone(),
        settings: Settings { drain_policy: Some(policy), ..Settings::default() },
        pools: BTreeMap::new(),
        created_at: play.desk.now,
        last_seen,
        nodes: BTreeMap::new(),
        fault: None,
    };
    play.desk.snapshot.tenant_clusters.insert(name, Arc::new(stored));
}

fn set_evacuated(play: &mut Play, machine: &str, words: &[&str]) {
    let mut evacuated = Evacuated { by: OperationId::new("op0"), since: play.desk.now, vms: Vec::new(), nodes: Vec::new() };
    for word in words {
        match word.split_once('=').expect("a vm or a node") {
            ("vm", name) => evacuated.vms.push(StoppedVm {
                vm: VmRef { name: VmName::new(name).unwrap(), uid: format!("uid-{name}") },
                ran_as: RunStrategy::Always,
                node_of: None,
                was_seen_stopped: true,
                start_asked_at: None,
                start_attempts: 0,
                force_asked_at: None,
                force_attempts: 0,
            }),
            ("node", of) => {
                let (cluster, node) = of.split_once('/').expect("a cluster and its node");
                evacuated.nodes.push(CordonedNode {
                    cluster: tenant(cluster),
                    node: node.to_owned(),
                    is_skipped: true,
                    is_out_of_service: false,
                    uncordon_asked_at: None,
                    uncordon_attempts: 0,
                });
            }
            other => panic!("{other:?}"),
        }
    }
    let mut machine = (*play.desk.snapshot.machines[&desk::name(machine)]).clone();
    machine.evacuated = Some(evacuated);
    play.desk.snapshot.set_machine(machine);
}
