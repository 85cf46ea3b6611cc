//! What was done to a machine counts only if it did its work, and against the trouble that the machine is in.

use model::{
    Action, Delivery, DeviceAsk, Fact, Failure, Fault, FaultClass, InstallTrouble, MachineReport, Provisioning, Remedy, Role, Span,
    Symptom, Timestamp,
};
use plan::advise;

use super::advice::{REPLACED, change_machine, silent, tried_at, written};
use super::stage::{site, target};
use crate::install::stage::REIMAGE;
use crate::rig::Rig;

fn next(rig: &Rig, symptom: Option<Symptom>) -> Remedy {
    advise(&rig.desk.snapshot, &target(Role::Compute), symptom, &[], rig.desk.now).unwrap().next
}

/// What comes next for a machine that is silent, after what was done so long ago.
fn after(action: Action, failure: Option<Failure>, ago: Span, facts: Vec<Fact>) -> Remedy {
    let mut rig = site();
    silent(&mut rig);
    let at = rig.desk.now - ago;
    tried_at(&mut rig, Action::Restart, None, at, Vec::new());
    if action != Action::Restart {
        tried_at(&mut rig, action, failure, at, facts);
    }
    next(&rig, None)
}

#[test]
fn what_has_helped_for_long_is_not_held_against_it() {
    let days = |days: u64| Span::hours(24 * days);
    assert_eq!(after(Action::Restart, None, days(6), Vec::new()), Remedy::Reimage);
    assert_eq!(after(Action::Restart, None, days(240), Vec::new()), Remedy::Restart);
    assert_eq!(after(REPLACED, None, days(240), Vec::new()), Remedy::Restart);
}

#[test]
fn trouble_that_has_lasted_since_is_the_same_trouble() {
    let mut rig = site();
    silent(&mut rig);
    let at = rig.desk.now;
    tried_at(&mut rig, Action::Restart, None, at, Vec::new());
    rig.desk.now = at + Span::hours(24 * 30);
    assert_eq!(next(&rig, None), Remedy::Reimage);
    // What a person says of a machine that looks well began just now.
    let mut rig = site();
    tried_at(&mut rig, REIMAGE, None, at, Vec::new());
    assert_eq!(next(&rig, Some(Symptom::Security)), Remedy::Replace);
    rig.desk.now = at + Span::hours(24 * 30);
    assert_eq!(next(&rig, Some(Symptom::Security)), Remedy::Reimage);
}

#[test]
fn a_machine_without_a_system_has_been_so_since_its_installation_failed() {
    let mut rig = site();
    let at = rig.desk.now;
    change_machine(&mut rig, |machine| machine.provisioning = Provisioning::Error);
    tried_at(&mut rig, REIMAGE, Some(Failure::DeadlineExceeded), at, written());
    rig.desk.now = at + Span::hours(24 * 30);
    assert_eq!(next(&rig, None), Remedy::Support);
}

#[test]
fn an_installation_that_wrote_nothing_says_nothing_of_whether_it_helps() {
    let now = Span::ZERO;
    let failed = |facts| after(REIMAGE, Some(Failure::InstallFailed), now, facts);
    let told = |trouble| vec![Fact::Reported { round: 1, report: MachineReport::Failed { trouble, detail: String::new() } }];
    assert_eq!(failed(Vec::new()), Remedy::Reimage, "a firmware job, say");
    assert_eq!(failed(told(InstallTrouble::ImageUnreachable)), Remedy::Reimage);
    assert_eq!(failed(told(InstallTrouble::MissingDisk)), Remedy::Replace, "no reimage mends a disk");
    assert_eq!(failed(written()), Remedy::Replace);
    assert_eq!(after(REIMAGE, Some(Failure::DeadlineExceeded), now, Vec::new()), Remedy::Reimage);
    assert_eq!(after(REIMAGE, Some(Failure::DeviceUnsupported), now, Vec::new()), Remedy::Replace);
}

#[test]
fn a_restart_that_no_bmc_heard_of_says_nothing_either() {
    let asked = Fact::Asked { ask: DeviceAsk::PowerOn, attempt: 1 };
    let fault = Fault::new(FaultClass::Unreachable, Delivery::No, "no route");
    let unheard = Fact::Faulted { ask: DeviceAsk::PowerOn, attempt: 1, fault };
    let restarted = |facts: Vec<Fact>| {
        let mut rig = site();
        silent(&mut rig);
        let at: Timestamp = rig.desk.now;
        tried_at(&mut rig, Action::Restart, Some(Failure::DeadlineExceeded), at, facts);
        next(&rig, None)
    };
    assert_eq!(restarted(vec![asked.clone()]), Remedy::Reimage);
    assert_eq!(restarted(vec![asked, unheard]), Remedy::Restart);
}
