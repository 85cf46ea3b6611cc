//! How a description becomes documents, what a later one changes, and where a described control plane is weak.

use expect_test::{Expect, expect};
use model::{
    ClusterName, Hardware, Hold, HoldOwner, Home, Limits, MachineName, OperationId, RackName, Role, SecretRef, Site, SiteMachine, SiteRack,
    Standing,
};
use plan::{Stored, enroll, redescribe, weaknesses};

use crate::desk;

/// One word a machine: `name=kind@rack/slot`; the racks follow from them.
fn site(machines: &str) -> Site {
    let machines: Vec<SiteMachine> = machines.split_whitespace().map(machine).collect();
    let mut racks: Vec<RackName> = machines.iter().map(|machine| machine.hardware.rack.clone()).collect();
    racks.dedup();
    let rack = |name: RackName| SiteRack {
        availability_zone: "1".into(),
        location: "row 1".into(),
        serial_number: format!("serial of {name}"),
        sku: "any".into(),
        name,
    };
    Site {
        cluster: ClusterName::new("site1").unwrap(),
        home: Home { subscription: "s".into(), resource_group: "g".into(), location: "here".into() },
        version: "4.9.2".into(),
        limits: Limits::default(),
        racks: racks.into_iter().map(rack).collect(),
        machines,
    }
}

fn machine(text: &str) -> SiteMachine {
    let (name, rest) = text.split_once('=').unwrap();
    let (kind, place) = rest.split_once('@').unwrap();
    let (rack, slot) = place.split_once('/').unwrap();
    let (role, standing) = match kind {
        "kcp" => (Role::ControlPlane, Standing::Provisioned),
        "spare" => (Role::ControlPlane, Standing::Spare),
        "mgmt" => (Role::Management, Standing::Provisioned),
        "compute" => (Role::Compute, Standing::Provisioned),
        other => panic!("`{other}` is no kind of machine"),
    };
    SiteMachine {
        name: MachineName::new(name).unwrap(),
        role,
        standing,
        hardware: Hardware {
            rack: RackName::new(rack).unwrap(),
            slot: slot.parse().unwrap(),
            sku: "any".into(),
            serial_number: format!("S{name}"),
            bmc_address: format!("https://{name}"),
            bmc_mac: format!("bmc {name}"),
            boot_mac: format!("boot {name}"),
            credentials: SecretRef::new(name),
        },
    }
}

const SITE: &str = "k1=kcp@r1/1 k2=kcp@r2/1 k3=kcp@r3/1 sp=spare@r4/1 c1=compute@r4/2";

#[track_caller]
fn check_change(change: impl FnOnce(&mut Site), expected: &Expect) {
    let (before, mut after) = (site(SITE), site(SITE));
    change(&mut after);
    let change = redescribe(&before, &after);
    let differences = change.differences.iter().map(|difference| format!("{difference}\n"));
    let refused = change.refused.iter().map(|refused| format!("refused: {refused}\n"));
    expected.assert_eq(&differences.chain(refused).collect::<String>());
}

#[test]
fn a_new_description_is_compared_in_words() {
    check_change(|_| {}, &expect![""]);
    check_change(
        |site| {
            site.machines.push(machine("c2=compute@r4/3"));
            site.machines[4].hardware.bmc_address = "https://elsewhere".into();
            site.machines.remove(3);
            site.racks[0].location = "row 2".into();
            site.version = "4.9.3".into();
            site.limits = Limits::default().scaled(60.0);
        },
        &expect![[r#"
            ~ version 4.9.2 → 4.9.3
            ~ limits: as before → those of another speed
            ~ rack r1: location row 1 → row 2
            ~ machine c1: bmc https://c1 → https://elsewhere
            + machine c2: compute in r4 slot 3, BMC https://c2
            - machine sp
        "#]],
    );
}

#[test]
fn what_a_description_cannot_change_is_refused() {
    check_change(
        |site| {
            site.cluster = ClusterName::new("other").unwrap();
            site.home.subscription = "t".into();
            site.home.resource_group = "h".into();
        },
        &expect![[r#"
            refused: cluster `site1` cannot be renamed to `other` while it is kept
            refused: the subscription cannot change from `s` to `t`
            refused: the resource group cannot change from `g` to `h`
        "#]],
    );
    check_change(
        |site| {
            site.machines[4].role = Role::Management;
            site.machines[3].standing = Standing::Provisioned;
            site.machines.remove(0);
        },
        &expect![[r#"
            - machine k1
            refused: `c1` is compute and does not become management by being called so
            refused: `sp` is the spare and does not become control plane by being called so
            refused: `k1` is in the control plane and cannot be taken out of the file
        "#]],
    );
}

/// The documents of `SITE` after it was enrolled, and what then becomes of them under another description.
#[track_caller]
fn check_enrolment(prepare: impl FnOnce(&mut Stored), after: &str, expected: &Expect) {
    let now = desk::morning();
    let first = enroll(&Stored::default(), &site(SITE), now);
    let mut stored = Stored { cluster: first.cluster, racks: first.racks, machines: first.machines, running: Default::default() };
    prepare(&mut stored);
    let second = enroll(&stored, &site(after), now);
    let written = second.racks.keys().map(|name| format!("+ {name}\n")).chain(second.machines.keys().map(|name| format!("+ {name}\n")));
    let forgotten = second.forgotten_racks.iter().map(|name| format!("- {name}\n"));
    let forgotten = forgotten.chain(second.forgotten_machines.iter().map(|name| format!("- {name}\n")));
    let kept = second.kept.iter().map(|(name, why)| format!("= {name}: {why}\n"));
    expected.assert_eq(&written.chain(forgotten).chain(kept).collect::<String>());
}

#[test]
fn a_machine_that_is_no_longer_described_is_forgotten_with_its_rack() {
    check_enrolment(|_| {}, SITE, &expect![""]);
    check_enrolment(
        |_| {},
        "k1=kcp@r1/1 k2=kcp@r2/1 k3=kcp@r3/1 c2=compute@r5/2",
        &expect![[r#"
            + r5
            + c2
            - r4
            - c1
            - sp
        "#]],
    );
}

#[test]
fn a_machine_is_kept_while_something_is_still_to_be_done_for_it() {
    let without_r4 = "k1=kcp@r1/1 k2=kcp@r2/1 k3=kcp@r3/1";
    let c1 = || MachineName::new("c1").unwrap();
    check_enrolment(
        |stored| {
            stored.running.insert(c1(), OperationId::new("8f3c"));
        },
        without_r4,
        &expect![[r#"
            - sp
            = c1: operation 8f3c is at work on it; it goes when that has ended
        "#]],
    );
    check_enrolment(
        |stored| {
            let hold = Hold { owner: HoldOwner::User { caller: "bob".into() }, reason: "fan".into(), since: desk::morning() };
            stored.machines.get_mut(&c1()).unwrap().holds.push(hold);
        },
        without_r4,
        &expect![[r#"
            - sp
            = c1: it is cordoned; it goes when it is uncordoned
        "#]],
    );
    check_enrolment(
        |_| {},
        "k1=kcp@r1/1 k2=kcp@r2/1 sp=spare@r4/1 c1=compute@r4/2",
        &expect![[r#"
            = k3: it is in the control plane
        "#]],
    );
}

#[test]
fn a_control_plane_is_told_which_single_failure_it_does_not_survive() {
    let said = |text: &str| weaknesses(&site(text)).iter().map(|weakness| format!("{weakness}\n")).collect::<String>();
    expect![""].assert_eq(&said(SITE));
    expect![[r#"
        no control-plane machine is described: nothing here serves the undercloud's API
    "#]]
    .assert_eq(&said("c1=compute@r1/1"));
    expect![[r#"
        the failure of `k1` alone takes the control plane away: it is the only member
    "#]]
    .assert_eq(&said("k1=kcp@r1/1 s=spare@r2/1"));
    expect![[r#"
        the failure of `k1` or `k2` alone takes the control plane away: 2 members tolerate none
        there is no spare: a control-plane machine that fails is not replaced until a person does it
    "#]]
    .assert_eq(&said("k1=kcp@r1/1 k2=kcp@r2/1"));
    expect![[r#"
        the failure of rack `r1` alone takes the control plane away: 2 of its 3 members stand there
    "#]]
    .assert_eq(&said("k1=kcp@r1/1 k2=kcp@r1/2 k3=kcp@r2/1 s=spare@r3/1"));
}
