//! Random people, random devices, random crashes. What must always be so is checked by the desk after every plan.

use model::{
    Action, Ask, Conditions, Delivery, Editions, Evacuate, Fault, FaultClass, MachineName, OperationId, Outage, Power, Provisioning,
    Readiness, Role, Shutdown, Span,
};
use proptest::prelude::*;

use crate::desk;
use crate::rig::{Habits, Rig};

/// As many as take about ten seconds without optimization.
const CASES: u32 = 160;

/// Longer than any deadline, and than all that may be asked again before it.
const PATIENCE: Span = Span::hours(3);

const NAMES: [&str; 6] = ["rack1control01", "rack2control01", "rack3control01", "rack4control01", "rack1compute01", "rack2compute01"];

/// How many of the control-plane machines are active; the next one is the spare, and further ones are management.
#[derive(Clone, Copy, Debug)]
struct Site {
    active: usize,
}

#[derive(Clone, Debug)]
enum Deed {
    Act { caller: &'static str, machine: usize, action: Action, outage: Outage, key: Option<&'static str> },
    Cancel { operation: u32 },
    Manage { machine: usize, managed: bool },
    Update { machine: usize, details: &'static str, editions: Option<Vec<u64>> },
    Switch { machine: usize, power: Power },
    Node { machine: usize, ready: Option<Readiness> },
    Cordon { machine: usize, cordoned: bool },
    Bmc { machine: usize, fault: Option<Fault> },
    Requests { machine: usize, fault: Option<Fault> },
    Undercloud { fault: Option<Fault> },
    Habits { machine: usize, habits: Habits },
    Wait(Span),
    Crash { down_for: Span },
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        2 => Just(Action::PowerOff { shutdown: Shutdown::Graceful }),
        1 => Just(Action::PowerOff { shutdown: Shutdown::Skip }),
        3 => Just(Action::Start),
        4 => Just(Action::Restart),
        1 => Just(Action::Cordon { evacuate: Evacuate::No }),
        1 => Just(Action::Cordon { evacuate: Evacuate::Yes }),
        1 => Just(Action::Uncordon),
    ]
}

fn fault() -> impl Strategy<Value = Option<Fault>> {
    let class = prop::sample::select(vec![
        FaultClass::Unreachable,
        FaultClass::Busy,
        FaultClass::Denied,
        FaultClass::Untrusted,
        FaultClass::NoLogin,
        FaultClass::Unsupported,
        FaultClass::Missing,
        FaultClass::Garbled,
    ]);
    let delivery = prop::sample::select(vec![Delivery::No, Delivery::Maybe]);
    prop::option::of((class, delivery).prop_map(|(class, delivery)| Fault::new(class, delivery, "random")))
}

fn habits() -> impl Strategy<Value = Habits> {
    (prop::option::of(5_u64..700), 1_u64..115, 1_u64..115, 10_u64..900).prop_map(|(shutdown, off, on, boot)| Habits {
        shutdown_takes: shutdown.map(Span::seconds),
        off_after: Span::seconds(off),
        on_after: Span::seconds(on),
        boot_takes: Span::seconds(boot),
    })
}

fn deed() -> impl Strategy<Value = Deed> {
    let machine = 0..NAMES.len();
    let caller = prop::sample::select(vec!["alice", "bob", "upgrade"]);
    let outage = prop::sample::select(vec![Outage::Refused, Outage::Accepted]);
    let key = prop::option::of(prop::sample::select(vec!["k1", "k2", "k3"]));
    let power = prop::sample::select(vec![Power::On, Power::Off]);
    let ready = prop::option::of(prop::sample::select(vec![Readiness::True, Readiness::False, Readiness::Unknown]));
    let act = (caller, machine.clone(), action(), outage, key);
    prop_oneof![
        12 => act.prop_map(|(caller, machine, action, outage, key)| Deed::Act { caller, machine, action, outage, key }),
        2 => (1_u32..12).prop_map(|operation| Deed::Cancel { operation }),
        1 => (machine.clone(), any::<bool>()).prop_map(|(machine, managed)| Deed::Manage { machine, managed }),
        1 => (machine.clone(), prop::sample::select(vec!["a", "b"]), prop::option::of(prop::collection::vec(1_u64..4, 0..3)))
            .prop_map(|(machine, details, editions)| Deed::Update { machine, details, editions }),
        2 => (machine.clone(), power).prop_map(|(machine, power)| Deed::Switch { machine, power }),
        2 => (machine.clone(), ready).prop_map(|(machine, ready)| Deed::Node { machine, ready }),
        1 => (machine.clone(), any::<bool>()).prop_map(|(machine, cordoned)| Deed::Cordon { machine, cordoned }),
        2 => (machine.clone(), fault()).prop_map(|(machine, fault)| Deed::Bmc { machine, fault }),
        2 => (machine.clone(), fault()).prop_map(|(machine, fault)| Deed::Requests { machine, fault }),
        1 => fault().prop_map(|fault| Deed::Undercloud { fault }),
        2 => (machine, habits()).prop_map(|(machine, habits)| Deed::Habits { machine, habits }),
        8 => prop_oneof![0_u64..60, 60_u64..900].prop_map(|seconds| Deed::Wait(Span::seconds(seconds))),
        3 => prop_oneof![Just(0_u64), 1_u64..10, 100_u64..30_000].prop_map(|seconds| Deed::Crash { down_for: Span::seconds(seconds) }),
    ]
}

fn name(machine: usize) -> MachineName {
    desk::name(NAMES[machine])
}

fn build(site: Site) -> Rig {
    let mut rig = Rig::new();
    for (n, name) in NAMES.iter().enumerate() {
        let (role, provisioning, power) = match n {
            n if n >= 4 => (Role::Compute, Provisioning::Provisioned, Power::On),
            n if n < site.active => (Role::ControlPlane, Provisioning::Provisioned, Power::On),
            n if n == site.active => (Role::ControlPlane, Provisioning::Available, Power::Off),
            _ => (Role::Management, Provisioning::Provisioned, Power::On),
        };
        rig.add(desk::machine(name, role, provisioning, rig.desk.now), power);
    }
    rig.run_for(Span::seconds(1));
    rig
}

fn happen(rig: &mut Rig, deed: &Deed) {
    let now = rig.desk.now;
    match deed.clone() {
        Deed::Act { caller, machine, action, outage, key } => {
            rig.desk.request(caller, Ask::Act { machine: name(machine), action, outage, replacement: None }, key);
        }
        Deed::Cancel { operation } => {
            rig.desk.request("bob", Ask::Cancel { operation: OperationId::new(format!("op{operation}")) }, None);
        }
        Deed::Manage { machine, managed: true } => {
            rig.desk.request("bob", Ask::Manage { machine: name(machine), reason: "mended".into() }, None);
        }
        Deed::Manage { machine, managed: false } => {
            rig.desk.request("bob", Ask::Unmanage { machine: name(machine), reason: "broken".into() }, None);
        }
        Deed::Update { machine, details, editions } => {
            let conditions = Conditions { expected: editions.map(Editions::Listed), excluded: None };
            rig.desk.request("bob", Ask::Update { machine: name(machine), tags: None, details: Some(details.into()), conditions }, None);
        }
        Deed::Switch { machine, power } => rig.device(&name(machine)).switch(power, now),
        Deed::Node { machine, ready } => set_node(rig, machine, ready),
        Deed::Cordon { machine, cordoned } => {
            if let Some(node) = &mut rig.device(&name(machine)).node {
                node.unschedulable = cordoned;
            }
        }
        Deed::Bmc { machine, fault } => rig.device(&name(machine)).bmc_fault = fault,
        Deed::Requests { machine, fault } => rig.device(&name(machine)).refuses = fault,
        Deed::Undercloud { fault } => rig.undercloud_fault = fault,
        Deed::Habits { machine, habits } => rig.device(&name(machine)).habits = habits,
        Deed::Wait(span) => rig.run_for(span),
        Deed::Crash { down_for } => {
            rig.down_for = down_for;
            rig.die();
        }
    }
    if !matches!(deed, Deed::Crash { .. }) {
        rig.run_for(Span::ZERO);
    }
}

fn set_node(rig: &mut Rig, machine: usize, ready: Option<Readiness>) {
    let device = rig.device(&name(machine));
    match (ready, &mut device.node) {
        (None, node) => *node = None,
        (Some(ready), Some(node)) => node.ready = ready,
        (Some(ready), None) => device.register(NAMES[machine], ready),
    }
}

/// Nodes that were deleted register again, and whoever is on comes up.
fn heal(rig: &mut Rig) {
    for (n, machine) in NAMES.iter().enumerate() {
        let is_spare = rig.desk.snapshot.machines[&name(n)].is_spare();
        let device = rig.device(&name(n));
        if device.node.is_none() && !is_spare {
            device.register(machine, Readiness::Unknown);
        }
    }
    rig.heal();
}

/// Once the world behaves, a held machine is cordoned and no cordon of ours is left without a hold.
fn nodes_follow_their_holds(rig: &Rig) {
    for (machine, device) in &rig.devices {
        let document = &rig.desk.snapshot.machines[machine];
        let Some(node) = &device.node else { continue };
        if document.management != model::Management::Managed {
            continue;
        }
        assert!(document.holds.is_empty() || node.unschedulable, "{machine} is held, but not cordoned");
        assert!(!document.holds.is_empty() || !node.unschedulable || !node.cordoned_by_us, "{machine} is cordoned by us for nobody");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_laws_hold_and_every_operation_ends(
        active in 1_usize..4,
        deeds in prop::collection::vec(deed(), 1..40),
    ) {
        let mut rig = build(Site { active });
        for deed in &deeds {
            happen(&mut rig, deed);
        }
        heal(&mut rig);
        prop_assert!(rig.run_until_idle(PATIENCE), "operations are still running long after the world behaves");
        // Longer than the longest pause between two tries, which begins anew with a restart.
        rig.run_for(Span::minutes(40));
        nodes_follow_their_holds(&rig);
        rig.check_log();
    }
}
