//! BMCs that do not let us in: when that is told, and what is kept of it.

use expect_test::{Expect, expect};
use model::{Action, Delivery, Fault, FaultClass, Role, Span};

use super::stage::{REPLACE, ask, ending, identity, latest, new_board, site, target, verdict};
use crate::install::stage::REIMAGE;

/// How an action ends on a machine whose BMC answers so, after how long, and what is kept as its validation.
#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
fn check(action: Action, class: FaultClass, expected: Expect) {
    let mut rig = site();
    let machine = target(Role::Compute);
    rig.device(&machine).bmc_fault = Some(Fault::new(class, Delivery::No, "as it says"));
    let replacement = matches!(action, Action::Replace { .. }).then(new_board);
    let id = ask(&mut rig, &machine, action, replacement);
    assert_eq!(verdict(&rig, &id), "accepted");
    assert!(rig.run_until_idle(Span::hours(5)), "it does not end");
    let operation = latest(&rig);
    let took = operation.ended.as_ref().expect("an end").at.since(operation.accepted_at);
    let kept: Vec<String> =
        rig.desk.validations.iter().flat_map(|validation| &validation.categories).map(|category| format!("{category:?}\n")).collect();
    expected.assert_eq(&format!("{}after {took}\n{}{}", ending(&operation), identity(&rig, &machine), kept.concat()));
}

#[test]
fn a_certificate_that_is_not_trusted_is_told_at_once() {
    check(
        REPLACE,
        FaultClass::Untrusted,
        expect![[r#"
            Failed (BmcLoginFailed): replace failed: BMC login unsuccessful: untrusted: as it says; a new board has a certificate of its own: put its `bmc-fingerprint` into the site file; nothing was touched. Left behind: power unknown, the BMC's certificate is not trusted; holds none
            next: rackwright bmm show rack1compute01
            after 200ms
            serial sn, login bmc/x, described as never; validated never; unhealthy: no
            CategoryResult { category: DeviceLogin, result: Fail, fields: [FieldResult { name: "device_login", comparison: Fail, expected: "Success", fetched: "Fail - Untrusted" }], log: ["untrusted: as it says"] }
        "#]],
    );
}

#[test]
fn a_reimage_does_not_wait_for_a_login_that_is_refused() {
    check(
        REIMAGE,
        FaultClass::Denied,
        expect![[r#"
        Failed (BmcLoginFailed): reimage failed: BMC login unsuccessful: Fail - Unauthorized (denied: as it says); nothing was touched. Left behind: power unknown, the BMC refuses our credentials; holds none
        next: rackwright bmm show rack1compute01
        after 200ms
        serial sn, login bmc/x, described as never; validated never; unhealthy: no
    "#]],
    );
}

#[test]
fn a_validation_keeps_that_it_was_not_let_in_and_a_refused_login_fails_no_machine() {
    check(
        Action::Validate,
        FaultClass::Denied,
        expect![[r#"
        Failed (BmcLoginFailed): validate failed: BMC login unsuccessful: Fail - Unauthorized (denied: as it says). Left behind: power unknown, the BMC refuses our credentials; holds none
        next: rackwright bmm show rack1compute01
        after 200ms
        serial sn, login bmc/x, described as never; validated never; unhealthy: no
        CategoryResult { category: DeviceLogin, result: Fail, fields: [FieldResult { name: "device_login", comparison: Fail, expected: "Success", fetched: "Fail - Unauthorized" }], log: ["denied: as it says"] }
    "#]],
    );
    check(
        Action::Validate,
        FaultClass::Unreachable,
        expect![[r#"
        Failed (BmcLoginFailed): validate failed: BMC login unsuccessful: Fail - Unreachable (unreachable: as it says). Left behind: power unknown, the BMC is unreachable; holds none
        next: rackwright bmm show rack1compute01
        after 5m 00s
        serial sn, login bmc/x, described as never; validated Fail; unhealthy: no
        CategoryResult { category: DeviceLogin, result: Fail, fields: [FieldResult { name: "device_login", comparison: Fail, expected: "Success", fetched: "Fail - Unreachable" }], log: ["unreachable: as it says"] }
    "#]],
    );
}
