//! The keeper dies at every commit while accounts are made, changed and removed. It must end the same.

use model::{KeySetKind, Span};

use super::stage::{OTHER_KEY, first, on_bmc, put, second, set, site, told};
use crate::rig::{Death, Rig};

#[derive(Debug, PartialEq)]
struct Outcome {
    accounts: [String; 2],
    /// How often an account was made on each BMC.
    made: [u32; 2],
    told: String,
}

fn write(rig: &mut Rig, users: &[&str], change: fn(&mut model::KeySet)) {
    let mut ops = set(KeySetKind::Bmc, "ops", users);
    change(&mut ops);
    put(rig, ops);
    rig.run_for(Span::minutes(3));
}

fn run(death: Option<(u32, Death)>) -> (Outcome, u32) {
    let mut rig = site();
    rig.commits = 0;
    rig.death = death;
    write(&mut rig, &["alice", "bob"], |_| ());
    write(&mut rig, &["bob", "carol"], |set| set.users[0].ssh_public_key = OTHER_KEY.into());
    let commits = rig.commits;
    rig.run_for(Span::minutes(5));
    let accounts = [on_bmc(&mut rig, &first()), on_bmc(&mut rig, &second())];
    let made = [first(), second()].map(|machine| rig.device(&machine).board.accounts.made);
    (Outcome { accounts, made, told: told(&rig, KeySetKind::Bmc, "ops") }, commits)
}

#[test]
fn accounts_end_the_same_wherever_the_keeper_dies() {
    let (calm, commits) = run(None);
    assert_eq!(calm.accounts[0], "bob ReadOnly 1, carol ReadOnly 1, root Administrator 0");
    assert_eq!(calm.made, [3, 3]);
    assert!(commits > 10, "{commits} commits");
    for commit in 1..=commits {
        for death in [Death::Uncommitted, Death::Unsent, Death::Unanswered] {
            let (crashed, _) = run(Some((commit, death)));
            assert_eq!(crashed, calm, "died at commit {commit}, {death:?}");
        }
    }
}
