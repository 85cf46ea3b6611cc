//! What is advised about a machine of which somebody who should tell is silent: a blind eye proves nothing.

use expect_test::expect;
use model::{Action, Delivery, Fault, FaultClass, Role, Span, Symptom};

use super::advice::told;
use super::stage::{ask, site, target};
use crate::rig::Rig;

/// A validation that a silent BMC let come to nothing. The machine serves all the time, and its BMC is back.
fn silent_while_validated(rig: &mut Rig) {
    let machine = target(Role::Compute);
    rig.device(&machine).bmc_fault = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "no route"));
    ask(rig, &machine, Action::Validate, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    rig.device(&machine).bmc_fault = None;
    rig.run_for(Span::minutes(5));
}

#[test]
fn a_bmc_that_was_silent_is_no_reason_to_replace_its_machine() {
    let mut rig = site();
    silent_while_validated(&mut rig);
    expect![[r#"
        nothing (nothing wrong); then nothing
        because its BMC was silent at 10:06:00Z, so that its hardware could not be validated: rackwright bmm validate rack1compute01
    "#]]
    .assert_eq(&told(&rig, &target(Role::Compute), None, &[]));
}

#[test]
fn hardware_that_was_seen_to_be_wrong_is_not_forgotten_over_a_silent_bmc() {
    let mut rig = site();
    let machine = target(Role::Compute);
    rig.device(&machine).board.parts.drives = 0;
    ask(&mut rig, &machine, Action::Validate, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    let before = told(&rig, &machine, None, &[]);
    assert!(before.starts_with("replace (hardware)"), "{before}");
    silent_while_validated(&mut rig);
    assert_eq!(told(&rig, &machine, None, &[]), before);
}

#[test]
fn the_safeguard_is_not_advised_away_while_nobody_sees_the_machine() {
    let mut rig = site();
    rig.undercloud_fault = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "no route"));
    rig.run_for(Span::minutes(1));
    expect![[r#"
        replace (hardware); then contact support
        because nothing is seen to be wrong with it
        storage Preserve: whose disks are on it is not known: nothing is heard of virtual machines now
        warning: repair all failed parts first: one replace after all repairs; and no reimage right after it
        $ rackwright bmm cordon rack1compute01 --evacuate
        $ repair or exchange what has failed; see that its firmware is what the runtime asks for
        $ rackwright bmm replace rack1compute01 --storage-policy Preserve --bmc-credentials username=<USER> password=<PASSWORD> --bmc-mac-address <BMC_MAC> --serial-number <SERIAL> --boot-mac-address <BOOT_MAC>
        $ rackwright bmm verify rack1compute01
        $ rackwright bmm uncordon rack1compute01
        against: `rack1compute01` cannot be replaced: rule machine-healthy: whether `rack1compute01` is healthy cannot be told: the undercloud does not answer (unreachable: no route), and nothing was wrong with it when it was last seen
    "#]].assert_eq(&told(&rig, &target(Role::Compute), Some(Symptom::Hardware), &[]));
}
