//! Random people, random virtual machines, random faults and crashes. What must always be so is checked by the rig after every plan.

use model::{Action, Ask, Conditions, Delivery, Fault, FaultClass, OperationId, Shutdown, Span, TenantClusterName, VmSpec};
use proptest::prelude::*;

use super::kubevirt::Habits;
use super::rig::{Reply, Rig};
use super::script::{play, vm_name};

/// As many as take about ten seconds without optimization.
const CASES: u32 = 96;

const NAMES: [&str; 3] = ["fw", "db", "web"];
const NODE: &str = "naks-01-agentpool1-a";

const SITE: &str = "
    machine rack1compute01
    machine rack1compute02
    vm fw running rack1compute01
    vm db stopped rack1compute02
    node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
";

#[derive(Clone, Debug)]
enum Deed {
    Act { vm: usize, action: Action },
    Create { vm: usize, cores: u32 },
    Tag { vm: usize, value: &'static str },
    RestartNode,
    Cancel { operation: u32 },
    Run { vm: usize },
    Stop { vm: usize },
    Vanish { vm: usize },
    MakeAnew { vm: usize },
    Habits { vm: usize, habits: Habits },
    Machine { machine: usize, ready: bool },
    Reply(Reply),
    Silence(Option<Fault>),
    Wait(Span),
    Crash { down_for: Span },
}

fn fault() -> impl Strategy<Value = Fault> {
    let delivery = prop::sample::select(vec![Delivery::No, Delivery::Maybe]);
    (prop::sample::select(FaultClass::ALL.to_vec()), delivery).prop_map(|(class, delivery)| Fault::new(class, delivery, "random"))
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        Just(Action::PowerOff { shutdown: Shutdown::Graceful }),
        Just(Action::PowerOff { shutdown: Shutdown::Skip }),
        Just(Action::Start),
        Just(Action::Restart),
        Just(Action::Reimage { safeguard: model::Safeguard::All }),
        Just(Action::Delete),
    ]
}

fn habits() -> impl Strategy<Value = Habits> {
    (prop::option::of(1_u64..900), 1_u64..300, prop::option::of(Just("full".to_owned()))).prop_map(|(shutdown, start, unschedulable)| {
        Habits { shutdown_takes: shutdown.map(Span::seconds), start_takes: Span::seconds(start), unschedulable, keeps_disk: false }
    })
}

fn deed() -> impl Strategy<Value = Deed> {
    let vm = 0..NAMES.len();
    prop_oneof![
        10 => (vm.clone(), action()).prop_map(|(vm, action)| Deed::Act { vm, action }),
        3 => (vm.clone(), prop::sample::select(vec![2_u32, 4])).prop_map(|(vm, cores)| Deed::Create { vm, cores }),
        1 => (vm.clone(), prop::sample::select(vec!["a", "b"])).prop_map(|(vm, value)| Deed::Tag { vm, value }),
        2 => Just(Deed::RestartNode),
        2 => (1_u32..12).prop_map(|operation| Deed::Cancel { operation }),
        1 => vm.clone().prop_map(|vm| Deed::Run { vm }),
        1 => vm.clone().prop_map(|vm| Deed::Stop { vm }),
        1 => (0..NAMES.len() + 1).prop_map(|vm| Deed::Vanish { vm }),
        1 => vm.clone().prop_map(|vm| Deed::MakeAnew { vm }),
        2 => (vm, habits()).prop_map(|(vm, habits)| Deed::Habits { vm, habits }),
        1 => (1_usize..3, any::<bool>()).prop_map(|(machine, ready)| Deed::Machine { machine, ready }),
        3 => prop_oneof![2 => Just(Reply::Obey), 2 => fault().prop_map(Reply::Refuse), 1 => Just(Reply::Hang)].prop_map(Deed::Reply),
        1 => prop::option::of(fault()).prop_map(Deed::Silence),
        8 => prop_oneof![0_u64..60, 60_u64..900].prop_map(|seconds| Deed::Wait(Span::seconds(seconds))),
        3 => prop_oneof![Just(0_u64), 1_u64..10, 100_u64..30_000].prop_map(|seconds| Deed::Crash { down_for: Span::seconds(seconds) }),
    ]
}

fn happen(rig: &mut Rig, deed: &Deed) {
    let name = |vm: usize| NAMES.get(vm).copied().unwrap_or(NODE);
    let change = |rig: &mut Rig, vm: usize, change: &dyn Fn(&mut super::kubevirt::Body)| {
        if let Some(body) = rig.kubevirt.vms.get_mut(&vm_name(name(vm))) {
            change(body);
        }
    };
    match deed.clone() {
        Deed::Act { vm, action } => {
            rig.request("alice", Ask::ActOnVm { vm: vm_name(name(vm)), action, conditions: Conditions::default() }, None);
        }
        Deed::Create { vm, cores } => {
            let spec = VmSpec { cpu_cores: cores, memory_gb: 8, image: "fw:1".into(), ..VmSpec::default() };
            let vm = vm_name(name(vm));
            rig.request("bob", Ask::PutVm { vm, spec: Box::new(spec), tags: [].into(), conditions: Conditions::default() }, None);
        }
        Deed::Tag { vm, value } => {
            let tags = Some([("row".to_owned(), value.to_owned())].into());
            rig.request("bob", Ask::UpdateVm { vm: vm_name(name(vm)), tags, conditions: Conditions::default() }, None);
        }
        Deed::RestartNode => {
            let cluster = TenantClusterName::new("naks-01").unwrap();
            rig.request("bob", Ask::RestartNode { cluster, node: NODE.into() }, None);
        }
        Deed::Cancel { operation } => {
            rig.request("bob", Ask::Cancel { operation: OperationId::new(format!("op{operation}")) }, None);
        }
        Deed::Run { vm } => change(rig, vm, &|body| body.run()),
        Deed::Stop { vm } => change(rig, vm, &|body| body.halt()),
        Deed::Vanish { vm } => drop(rig.kubevirt.vms.remove(&vm_name(name(vm)))),
        Deed::MakeAnew { vm } => rig.kubevirt.add(name(vm), "rack1compute02", true, None),
        Deed::Habits { vm, habits } => change(rig, vm, &|body| body.habits = habits.clone()),
        Deed::Machine { machine, ready } => rig.see_machine(&format!("rack1compute0{machine}"), ready),
        Deed::Reply(reply) => {
            rig.reply = reply;
            rig.answer(&Ok(()));
        }
        Deed::Silence(fault) => rig.silence = fault,
        Deed::Wait(span) => rig.run_for(span, &mut |_, _, _, _| {}),
        Deed::Crash { down_for } => rig.crash(down_for),
    }
    rig.work(&mut |_, _, _, _| {});
}

/// Every virtual machine of the undercloud that is no tenant's node has a document of that very object; and what has none there
/// was never made.
fn documents_agree(rig: &Rig) {
    for (name, body) in rig.kubevirt.vms.iter().filter(|(_, body)| body.seen.node_of.is_none()) {
        let vm = rig.snapshot.vms.get(name).unwrap_or_else(|| panic!("{name} has no document"));
        assert_eq!(vm.uid.as_ref(), Some(&body.seen.uid), "{name} is another");
        assert_eq!(vm.last_seen.as_ref().map(|seen| &seen.what), Some(&body.seen));
    }
    for (name, vm) in rig.snapshot.vms.iter().filter(|(name, _)| !rig.kubevirt.vms.contains_key(*name)) {
        assert_eq!(vm.uid, None, "{name} is gone, and its document is not");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, max_shrink_iters: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_laws_hold_and_every_operation_ends(deeds in prop::collection::vec(deed(), 1..40)) {
        let (mut rig, _) = play(SITE);
        for deed in &deeds {
            happen(&mut rig, deed);
        }
        (rig.reply, rig.silence) = (Reply::Obey, None);
        rig.answer(&Ok(()));
        prop_assert!(rig.run_until_idle(Span::hours(2)), "operations are still running long after the world behaves");
        rig.run_for(Span::minutes(20), &mut |_, _, _, _| {});
        documents_agree(&rig);
        crate::laws::the_log_agrees_with_the_journals(&rig.snapshot, &rig.log);
    }
}
