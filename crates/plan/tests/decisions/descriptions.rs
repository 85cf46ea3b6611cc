//! How a description becomes documents, what a later one changes, and where a described control plane is weak.

use expect_test::{Expect, expect};
use model::{
    ClusterName, Delivery, DesiredPower, DeviceAsk, Evacuated, Fault, FaultClass, Hardware, Hold, HoldOwner, Home, Limits, MachineName,
    NodeAsk, OperationId, Power, RackName, Role, SecretRef, Seen, Site, SiteMachine, SiteRack, Standing, Unhealthy,
};
use plan::{Enrolment, Stored, enroll, redescribe, weaknesses};

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
        skus: Vec::new(),
        join: None,
        new_logins: std::collections::BTreeSet::new(),
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
        install: model::InstallSettings::default(),
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
    let differences = redescribe(&before, &after);
    expected.assert_eq(&differences.iter().map(|difference| format!("{difference}\n")).collect::<String>());
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

/// The documents of `SITE` after it was enrolled and kept.
fn kept() -> Stored {
    let Enrolment { cluster, racks, machines, .. } = enroll(&Stored::default(), &site(SITE), desk::morning()).unwrap();
    let described = machines.keys().cloned().collect();
    Stored { cluster, racks, machines, described, ..Stored::default() }
}

/// What becomes of the documents under another description, or what speaks against it.
#[track_caller]
fn check_enrolment(stored: &Stored, after: &Site, expected: &Expect) {
    expected.assert_eq(&enrolment_text(stored, after));
}

fn enrolment_text(stored: &Stored, after: &Site) -> String {
    match enroll(stored, after, desk::morning()) {
        Ok(second) => {
            let written = second.racks.keys().map(ToString::to_string).chain(second.machines.keys().map(ToString::to_string));
            let forgotten = second.forgotten_racks.iter().map(ToString::to_string);
            let forgotten = forgotten.chain(second.forgotten_machines.iter().map(ToString::to_string));
            let lines = written.map(|name| format!("+ {name}\n")).chain(forgotten.map(|name| format!("- {name}\n")));
            lines.chain(second.undescribed.iter().map(|(name, busy)| format!("= {name}: {busy}\n"))).collect::<String>()
        }
        Err(objections) => objections.iter().map(|objection| format!("refused: {objection}\n")).collect(),
    }
}

fn c1() -> MachineName {
    MachineName::new("c1").unwrap()
}

fn restarted() -> Stored {
    let mut stored = kept();
    stored.running.insert(c1(), OperationId::new("8f3c"));
    stored
}

fn changed(change: impl FnOnce(&mut Site)) -> Site {
    let mut site = site(SITE);
    change(&mut site);
    site
}

#[test]
fn what_a_description_cannot_change_is_refused() {
    check_enrolment(
        &kept(),
        &changed(|site| {
            site.cluster = ClusterName::new("other").unwrap();
            site.home.subscription = "t".into();
            site.home.resource_group = "h".into();
        }),
        &expect![[r#"
            refused: cluster `site1` cannot be renamed to `other` while it is kept
            refused: the subscription cannot change from `s` to `t`
            refused: the resource group cannot change from `g` to `h`
        "#]],
    );
    check_enrolment(
        &kept(),
        &changed(|site| {
            site.machines[4].role = Role::Management;
            site.machines[3].standing = Standing::Provisioned;
            site.machines.remove(0);
        }),
        &expect![[r#"
            refused: `c1` is compute and does not become management by being called so
            refused: `k1` cannot be taken out: it is in the control plane; a control-plane machine has to stay
            refused: `sp` is the spare and does not become control plane by being called so
        "#]],
    );
}

#[test]
fn what_was_edited_while_nobody_kept_the_site_is_refused_alike() {
    let stored = Stored { described: Default::default(), ..kept() };
    check_enrolment(
        &stored,
        &changed(|site| {
            site.home.resource_group = "h".into();
            site.machines[3].standing = Standing::Provisioned;
        }),
        &expect![[r#"
            refused: the resource group cannot change from `g` to `h`
            refused: `sp` is the spare and does not become control plane by being called so
        "#]],
    );
}

#[test]
fn a_machine_that_is_no_longer_described_is_forgotten_with_its_rack() {
    check_enrolment(&kept(), &site(SITE), &expect![""]);
    check_enrolment(
        &kept(),
        &site("k1=kcp@r1/1 k2=kcp@r2/1 k3=kcp@r3/1 c2=compute@r5/2"),
        &expect![[r#"
            + r5
            + c2
            - r4
            - c1
            - sp
        "#]],
    );
}

const WITHOUT_R4: &str = "k1=kcp@r1/1 k2=kcp@r2/1 k3=kcp@r3/1";

#[test]
fn a_machine_that_something_is_being_done_for_cannot_be_taken_out() {
    check_enrolment(
        &restarted(),
        &site(WITHOUT_R4),
        &expect![[r#"
            refused: `c1` cannot be taken out: operation 8f3c is at work on it; wait for it with `rackwright operation wait 8f3c`, or stop it with `rackwright operation cancel 8f3c`
        "#]],
    );
    let mut cordoned = kept();
    let hold = |owner| Hold { owner, reason: "fan".into(), since: desk::morning() };
    cordoned.machines.get_mut(&c1()).unwrap().holds.push(hold(HoldOwner::User { caller: "bob".into() }));
    check_enrolment(
        &cordoned,
        &site(WITHOUT_R4),
        &expect![[r#"
            refused: `c1` cannot be taken out: it is cordoned; `rackwright bmm uncordon c1` first
        "#]],
    );
    let mut off = kept();
    off.machines.get_mut(&c1()).unwrap().holds.push(hold(HoldOwner::PoweredOff { by: OperationId::new("8f3c") }));
    check_enrolment(
        &off,
        &site(WITHOUT_R4),
        &expect![[r#"
            refused: `c1` cannot be taken out: it was powered off, and its node is held until it is back; `rackwright bmm start c1` first
        "#]],
    );
    off.machines.get_mut(&c1()).unwrap().last_seen.power = Some(Seen { what: Power::Off, at: desk::morning() });
    check_enrolment(
        &off,
        &site(WITHOUT_R4),
        &expect![[r#"
            refused: `c1` cannot be taken out: it was powered off, and its node is held until it is back; `rackwright bmm start c1` first
        "#]],
    );
    // Dead with its BMC, or off as it should be: nobody could start it, or nobody means to.
    let gone = "- r4\n- c1\n- sp\n";
    let mut dead = off.clone();
    let fault = Fault::new(FaultClass::Unreachable, Delivery::No, "no route");
    dead.machines.get_mut(&c1()).unwrap().last_seen.bmc_fault = Some(Seen { what: fault, at: desk::morning() });
    assert_eq!(enrolment_text(&dead, &site(WITHOUT_R4)), gone);
    off.machines.get_mut(&c1()).unwrap().desired_power = DesiredPower::Off;
    assert_eq!(enrolment_text(&off, &site(WITHOUT_R4)), gone);
    let mut asked = kept();
    let lost = NodeAsk { ask: DeviceAsk::Cordon, attempt: 1, at: desk::morning(), fault: None };
    asked.machines.get_mut(&c1()).unwrap().node_ask = Some(lost);
    check_enrolment(
        &asked,
        &site(WITHOUT_R4),
        &expect![[r#"
            refused: `c1` cannot be taken out: its node was asked for something that has not shown yet; wait until it has shown
        "#]],
    );
}

#[test]
fn a_machine_that_was_given_up_can_be_taken_out_once_it_is_off() {
    let mut lost = kept();
    let machine = lost.machines.get_mut(&c1()).unwrap();
    machine.unhealthy = Some(Unhealthy { since: desk::morning(), because: "a drive is missing".into() });
    let owner = HoldOwner::Reinstalled { by: OperationId::new("8f3c"), caller: "bob".into() };
    machine.holds.push(Hold { owner, reason: "its hardware validation failed".into(), since: desk::morning() });
    let refused = "refused: `c1` cannot be taken out: it is on, though it was given up or its installation failed; \
        `rackwright bmm power-off c1` first\n";
    assert_eq!(enrolment_text(&lost, &site(WITHOUT_R4)), refused);
    let machine = lost.machines.get_mut(&c1()).unwrap();
    machine.last_seen.power = Some(Seen { what: Power::Off, at: desk::morning() });
    machine.desired_power = DesiredPower::Off;
    assert_eq!(enrolment_text(&lost, &site(WITHOUT_R4)), "- r4\n- c1\n- sp\n");
}

#[test]
fn a_machine_whose_workloads_have_not_come_back_cannot_be_taken_out() {
    let mut emptied = kept();
    let machine = emptied.machines.get_mut(&c1()).unwrap();
    machine.evacuated = Some(Evacuated { by: OperationId::new("8f3c"), since: desk::morning(), vms: Vec::new(), nodes: Vec::new() });
    let refused = "refused: `c1` cannot be taken out: what ran on it was stopped, and has not been brought back; \
        bring it back first (`rackwright bmm show c1` names it), or start or delete it, and its tenant nodes, elsewhere\n";
    assert_eq!(enrolment_text(&emptied, &site(WITHOUT_R4)), refused);
    // Not even one that is off for good: nobody else remembers what ran on it.
    let machine = emptied.machines.get_mut(&c1()).unwrap();
    let owner = HoldOwner::PoweredOff { by: OperationId::new("8f3c") };
    machine.holds.push(Hold { owner, reason: "powered off".into(), since: desk::morning() });
    machine.last_seen.power = Some(Seen { what: Power::Off, at: desk::morning() });
    machine.desired_power = DesiredPower::Off;
    assert_eq!(enrolment_text(&emptied, &site(WITHOUT_R4)), refused);
}

#[test]
fn a_machine_is_not_renamed_in_the_middle_of_its_restart() {
    let renamed = changed(|site| site.machines[4].name = MachineName::new("c9").unwrap());
    check_enrolment(
        &restarted(),
        &renamed,
        &expect![[r#"
            refused: `c1` cannot be taken out: operation 8f3c is at work on it; wait for it with `rackwright operation wait 8f3c`, or stop it with `rackwright operation cancel 8f3c`
        "#]],
    );
    check_enrolment(
        &kept(),
        &renamed,
        &expect![[r#"
            + c9
            - c1
        "#]],
    );
}

#[test]
fn a_busy_machine_may_move_to_a_new_address_but_not_to_another_machines_bmc() {
    check_enrolment(
        &restarted(),
        &changed(|site| site.machines[4].hardware.bmc_address = "https://new".into()),
        &expect![[r#"
        + c1
    "#]],
    );
    let swapped = changed(|site| {
        site.machines[4].hardware.bmc_address = "https://SP:443".into();
        site.machines[3].hardware.bmc_address = "https://c1".into();
    });
    check_enrolment(
        &restarted(),
        &swapped,
        &expect![[r#"
            refused: `c1` cannot get the BMC of `sp`: operation 8f3c is at work on it; wait for it with `rackwright operation wait 8f3c`, or stop it with `rackwright operation cancel 8f3c`
        "#]],
    );
    check_enrolment(
        &kept(),
        &swapped,
        &expect![[r#"
        + c1
        + sp
    "#]],
    );
    let pushed_out = changed(|site| {
        site.machines[4].hardware.bmc_address = "https://new".into();
        site.machines[3].hardware.bmc_address = "https://c1".into();
    });
    check_enrolment(
        &restarted(),
        &pushed_out,
        &expect![[r#"
            refused: `sp` cannot get the BMC that `c1` has: operation 8f3c is at work on it; wait for it with `rackwright operation wait 8f3c`, or stop it with `rackwright operation cancel 8f3c`
        "#]],
    );
}

#[test]
fn a_busy_machine_that_was_taken_out_while_nobody_kept_the_site_stays_undescribed() {
    let stored = Stored { described: Default::default(), ..restarted() };
    check_enrolment(
        &stored,
        &site(WITHOUT_R4),
        &expect![[r#"
            - sp
            = c1: operation 8f3c is at work on it
        "#]],
    );
    let takes = |change: fn(&mut Hardware)| {
        let mut site = site("k1=kcp@r1/1 k2=kcp@r2/1 k3=kcp@r3/1 c9=compute@r4/9");
        change(&mut site.machines[3].hardware);
        site
    };
    check_enrolment(
        &stored,
        &takes(|hardware| hardware.bmc_address = "https://C1:443".into()),
        &expect![[r#"
            refused: `c9` cannot have BMC https://C1:443: it is that of `c1`, which is still kept; put `c1` back under its name
        "#]],
    );
    check_enrolment(
        &stored,
        &takes(|hardware| hardware.serial_number = "sc1".into()),
        &expect![[r#"
            refused: `c9` cannot have serial number sc1: it is that of `c1`, which is still kept; put `c1` back under its name
        "#]],
    );
    check_enrolment(
        &stored,
        &takes(|hardware| hardware.slot = 2),
        &expect![[r#"
            refused: `c9` cannot have slot 2 of rack r4: it is that of `c1`, which is still kept; put `c1` back under its name
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
