//! The judge against a model of it that looks at every assignment and knows neither Cedar nor an index.

use super::*;
use crate::roles::{BUILT_IN, find};

const ASSIGNMENTS: u64 = 10_000;
const QUESTIONS: u64 = 2_000;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

const PERMISSIONS: [&str; 8] = [
    READ,
    WRITE,
    "Microsoft.NetworkCloud/bareMetalMachines/reimage/action",
    "Microsoft.NetworkCloud/bareMetalMachines/runCommand/action",
    "Microsoft.NetworkCloud/clusters/bmcKeySets/write",
    "Microsoft.NetworkCloud/kubernetesClusters/agentPools/write",
    "Microsoft.Authorization/locks/write",
    "Microsoft.Resources/subscriptions/resourceGroups/read",
];

/// Of 4 subscriptions with 20 groups of 20 virtual machines each; wider scopes are rarer.
fn any_scope(dice: &mut Dice) -> Scope {
    let group = format!("/subscriptions/s{}/resourceGroups/g{}", dice.below(4), dice.below(20));
    let text = match dice.below(100) {
        0 => "/".to_owned(),
        1..=3 => format!("/subscriptions/S{}", dice.below(4)),
        4..=20 => group,
        _ => format!("{group}/providers/Microsoft.NetworkCloud/virtualMachines/Vm{}", dice.below(20)),
    };
    scope(&text)
}

fn any_assignments(dice: &mut Dice) -> Vec<RoleAssignment> {
    let one = |number: u64| {
        let (who, role, scope) = (principal(u128::from(dice.below(500))), dice.pick(&BUILT_IN).id, any_scope(dice));
        RoleAssignment { role, scope, ..assignment(u128::from(number), who, "Reader", "/") }
    };
    (0..ASSIGNMENTS).map(one).collect()
}

/// By texts alone, and by each assignment.
fn naively_may(assignments: &[RoleAssignment], who: PrincipalId, what: &Permission, at: &Scope) -> bool {
    let with_slash = |scope: &Scope| format!("{}/", scope.as_str().trim_end_matches('/').to_lowercase());
    let at = with_slash(at);
    let mut held = assignments.iter().filter(|assignment| assignment.principal == who);
    held.any(|assignment| at.starts_with(&with_slash(&assignment.scope)) && find(assignment.role).is_some_and(|role| role.grants(what)))
}

#[test]
fn ten_thousand_assignments_are_judged_as_by_looking_at_each() {
    let mut dice = Dice(1);
    let mut assignments = any_assignments(&mut dice);
    let mut judge = Judge::new(assignments.clone()).unwrap();
    for id in (0..ASSIGNMENTS).step_by(7) {
        judge.remove(AssignmentId::new(Uuid::from_u128(u128::from(id))));
    }
    let mut number = 0;
    assignments.retain(|_| {
        number += 1;
        (number - 1) % 7 != 0
    });
    let mut permitted = 0;
    for _ in 0..QUESTIONS {
        let (who, what, at) = (principal(u128::from(dice.below(510))), permission(dice.pick(&PERMISSIONS)), any_scope(&mut dice));
        let expected = naively_may(&assignments, who, &what, &at);
        assert_eq!(judge.may(who, &what, &at).is_ok(), expected, "{who} {what} {at}");
        permitted += u64::from(expected);
    }
    assert!((QUESTIONS / 50..QUESTIONS).contains(&permitted), "both answers are met: {permitted}");
}

/// The same question is asked again and again, between assignments that come and go.
#[test]
fn what_was_judged_does_not_outlive_what_it_was_judged_from() {
    let mut dice = Dice(3);
    let mut assignments = any_assignments(&mut dice);
    assignments.truncate(200);
    let mut judge = Judge::new(assignments.clone()).unwrap();
    let questions: Vec<_> = assignments.iter().step_by(10).map(|held| (held.principal, held.scope.clone())).collect();
    let mut permitted = 0;
    for round in 0..200_u64 {
        for (who, at) in &questions {
            let what = permission(READ);
            let expected = naively_may(&assignments, *who, &what, at);
            assert_eq!(judge.may(*who, &what, at).is_ok(), expected, "round {round}: {who} {at}");
            permitted += usize::from(expected);
        }
        if dice.below(3) == 0 {
            let (who, at) = questions[dice.below(questions.len() as u64) as usize].clone();
            let new = RoleAssignment { scope: at, ..assignment(u128::from(ASSIGNMENTS + round), who, "Reader", "/") };
            judge.put(new.clone());
            assignments.push(new);
        } else {
            let gone = assignments.swap_remove(dice.below(assignments.len() as u64) as usize);
            judge.remove(gone.id);
        }
    }
    assert!((1..200 * questions.len()).contains(&permitted), "both answers are met: {permitted}");
}

#[test]
fn what_is_visible_is_what_may_be_read() {
    let mut dice = Dice(2);
    let judge = Judge::new(any_assignments(&mut dice)).unwrap();
    let read = permission(READ);
    for who in (0..50).map(principal) {
        let visible = judge.visible(who, &read);
        for _ in 0..20 {
            let at = any_scope(&mut dice);
            assert_eq!(visible.contains(&at), judge.may(who, &read, &at).is_ok(), "{who} {at}");
        }
    }
}
