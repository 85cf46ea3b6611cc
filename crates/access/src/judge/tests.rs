mod naive;

use uuid::Uuid;

use super::*;
use crate::assignment::tests::assignment;

const GROUP: &str = "/subscriptions/S1/resourceGroups/Tenants";
const VM: &str = "/subscriptions/s1/resourcegroups/tenants/providers/Microsoft.NetworkCloud/virtualMachines/web1";
const READ: &str = "Microsoft.NetworkCloud/virtualMachines/read";
const WRITE: &str = "Microsoft.NetworkCloud/virtualMachines/write";

fn principal(number: u128) -> PrincipalId {
    PrincipalId::new(Uuid::from_u128(number))
}

fn permission(text: &str) -> Permission {
    Permission::new(text).unwrap()
}

fn scope(text: &str) -> Scope {
    Scope::parse(text).unwrap()
}

fn may(judge: &Judge, who: u128, what: &str, at: &str) -> bool {
    judge.may(principal(who), &permission(what), &scope(at)).is_ok()
}

/// 1 owns everything, 2 reads a subscription, 3 runs virtual machines in a group, 4 reads one virtual machine.
fn judge() -> Judge {
    Judge::new([
        assignment(1, principal(1), "Owner", "/"),
        assignment(2, principal(2), "Reader", "/subscriptions/s1"),
        assignment(3, principal(3), "Tenant Virtual Machine Contributor", GROUP),
        assignment(4, principal(4), "Tenant Reader", VM),
    ])
    .unwrap()
}

#[test]
fn a_role_counts_at_its_scope_and_below_and_for_its_principal_alone() {
    let judge = judge();
    let other_vm = VM.replace("web1", "web2");
    let other_group = VM.replace("tenants", "tenants2");
    let table = [
        (READ, VM, [true, true, true, true, false]),
        (WRITE, VM, [true, false, true, false, false]),
        (READ, other_vm.as_str(), [true, true, true, false, false]),
        (WRITE, other_group.as_str(), [true, false, false, false, false]),
        (READ, GROUP, [true, true, true, false, false]),
        (READ, "/subscriptions/s1", [true, true, false, false, false]),
        (READ, "/subscriptions/s2", [true, false, false, false, false]),
        (READ, "/", [true, false, false, false, false]),
        ("Microsoft.NetworkCloud/bareMetalMachines/reimage/action", VM, [true, false, false, false, false]),
    ];
    for (what, at, expected) in table {
        let found: Vec<bool> = (1..=5).map(|who| may(&judge, who, what, at)).collect();
        assert_eq!(found, expected, "{what} {at}");
    }
}

#[test]
fn a_refusal_says_which_permission_is_missing_where() {
    let missing = judge().may(principal(4), &permission(WRITE), &scope(VM)).unwrap_err();
    assert_eq!(missing, Missing { principal: principal(4), permission: permission(WRITE), scope: scope(VM) });
    assert_eq!(
        missing.to_string(),
        format!(
            "00000000-0000-0000-0000-000000000004 may not perform `{WRITE}` at `{VM}`; a role that grants it must be assigned there or around it"
        )
    );
}

#[test]
fn what_one_role_excepts_another_may_grant() {
    const RUN: &str = "Microsoft.NetworkCloud/bareMetalMachines/runCommand/action";
    let mut judge = Judge::new([assignment(1, principal(1), "Operator Nexus Compute Contributor", "/subscriptions/s1")]).unwrap();
    assert!(!may(&judge, 1, RUN, GROUP));
    judge.put(assignment(2, principal(1), "Owner", GROUP));
    assert!(may(&judge, 1, RUN, GROUP));
    assert!(!may(&judge, 1, RUN, "/subscriptions/s1"));
}

#[test]
fn an_assignment_that_comes_or_goes_counts_at_once() {
    let mut judge = judge();
    assert!(!may(&judge, 2, WRITE, VM));
    judge.put(assignment(5, principal(2), "Owner", "/subscriptions/s1"));
    assert!(may(&judge, 2, WRITE, VM), "what was judged before does not outlive it");
    judge.remove(AssignmentId::new(Uuid::from_u128(5)));
    assert!(!may(&judge, 2, WRITE, VM) && may(&judge, 2, READ, VM));
    judge.put(assignment(3, principal(3), "Tenant Reader", VM));
    assert!(!may(&judge, 3, WRITE, VM), "an assignment with the same id is replaced");
    assert!(may(&judge, 3, READ, VM));
    judge.remove(AssignmentId::new(Uuid::from_u128(3)));
    judge.remove(AssignmentId::new(Uuid::from_u128(99)));
    assert!(!may(&judge, 3, READ, VM));
    assert!(may(&judge, 4, READ, VM), "others stay");
}

#[test]
fn cedar_is_asked_once_for_all_that_is_below_a_role() {
    let judge = judge();
    for number in 0..100 {
        let at = VM.replace("web1", &format!("web{number}"));
        assert!(may(&judge, 3, WRITE, &at) && !may(&judge, 2, WRITE, &at) && !may(&judge, 5, READ, &at));
    }
    assert_eq!(judge.memory.len(), 2, "of the one who may and the one who may not; nobody is asked of those who have no role");
    assert!(may(&judge, 3, WRITE, GROUP) && !may(&judge, 3, WRITE, "/subscriptions/s1"), "above it the role does not count");
}

#[test]
fn a_list_shows_what_may_be_seen() {
    let mut judge = judge();
    let visible = |judge: &Judge, who| judge.visible(principal(who), &permission(READ));
    let scopes = |visible: &Visible| visible.scopes().map(Scope::to_string).collect::<Vec<String>>();
    assert!(visible(&judge, 1).is_everything());
    assert!(visible(&judge, 5).is_nothing());
    let of_tenant = visible(&judge, 4);
    assert_eq!(scopes(&of_tenant), [VM]);
    assert!(of_tenant.contains(&scope(VM)) && !of_tenant.contains(&scope(GROUP)));
    assert!(of_tenant.reaches(&scope("/subscriptions/s1")) && !of_tenant.reaches(&scope("/subscriptions/s2")));
    judge.put(assignment(5, principal(4), "Tenant Virtual Machine Contributor", GROUP));
    judge.put(assignment(6, principal(4), "Operator Nexus Keyset Administrator", "/"));
    assert_eq!(scopes(&visible(&judge, 4)), [GROUP], "what is inside another is not told, and what grants nothing neither");
}

#[test]
fn an_assignment_is_refused_beside_its_like_and_over_the_limits() {
    let mut judge = judge();
    let again = assignment(7, principal(2), "reader", "/SUBSCRIPTIONS/S1");
    let existing = AssignmentId::new(Uuid::from_u128(2));
    assert_eq!(judge.check(&again), Err(InvalidAssignment::Exists { principal: principal(2), existing }));
    assert_eq!(judge.check(&assignment(2, principal(2), "Reader", "/subscriptions/s1")), Ok(()), "it may be written again");
    assert_eq!(judge.check(&assignment(2, principal(2), "Owner", "/")), Err(InvalidAssignment::Immutable(existing)));
    for number in 0..ASSIGNMENTS_OF_ONE_MAX as u128 {
        judge.put(assignment(1_000 + number, principal(9), "Reader", &format!("/subscriptions/s{number}")));
    }
    assert_eq!(judge.check(&assignment(8, principal(9), "Owner", "/")), Err(InvalidAssignment::TooManyOfOne(principal(9))));
    assert_eq!(judge.check(&assignment(8, principal(8), "Owner", "/")), Ok(()));
}

#[test]
fn an_assignment_that_nobody_understands_grants_nothing() {
    let unknown = RoleAssignment { role: RoleId::new(Uuid::nil()), ..assignment(1, principal(1), "Owner", "/") };
    let judge = Judge::new([unknown]).unwrap();
    assert!(!may(&judge, 1, READ, "/"));
    assert_eq!(judge.list(&Scope::root()).count(), 0);
}

#[test]
fn assignments_are_listed_below_a_scope() {
    let found = |at: &str| judge().list(&scope(at)).count();
    assert_eq!((found("/"), found("/subscriptions/S1"), found(GROUP), found(VM)), (4, 3, 2, 1));
}
