//! Key sets for machines: in force where a machine was installed with them.

use std::collections::BTreeMap;

use expect_test::expect;
use model::{KeySetKind, Role, Span};

use super::stage::{key_set_name, put, set, told};
use crate::install::stage::{reimage, site_of, target};

#[test]
fn a_machine_that_was_installed_with_a_key_set_has_it() {
    let mut rig = site_of(Role::Compute);
    put(&mut rig, set(KeySetKind::Machine, "ops", &["alice"]));
    let mut story = told(&rig, KeySetKind::Machine, "ops");
    // What the seed was rendered with is told by the system that read it.
    rig.device(&target(Role::Compute)).board.key_sets = BTreeMap::from([(key_set_name("ops"), 1)]);
    reimage(&mut rig, Role::Compute);
    story.push_str(&told(&rig, KeySetKind::Machine, "ops"));
    put(&mut rig, set(KeySetKind::Machine, "ops", &["alice", "bob"]));
    story.push_str(&told(&rig, KeySetKind::Machine, "ops"));
    rig.run_for(Span::hours(25));
    story.push_str(&told(&rig, KeySetKind::Machine, "ops"));
    expect![[r#"
        Validating: 0 of 1 machines have it as it is now; the others get it when they are reimaged or replaced
          alice -: 0 of 1 machines have it as it is now
        AllActive: 1 of 1 machines have it as it is now; membership of the group is not checked
          alice Active: 1 of 1 machines have it as it is now
        Validating: 0 of 1 machines have it as it is now; the others get it when they are reimaged or replaced
          alice -: 0 of 1 machines have it as it is now
          bob -: 0 of 1 machines have it as it is now
        AllInvalid: it expired at 2026-11-16T10:00:00.000Z
          alice Invalid: it expired at 2026-11-16T10:00:00.000Z
          bob Invalid: it expired at 2026-11-16T10:00:00.000Z
    "#]]
    .assert_eq(&story);
}

#[test]
fn key_sets_are_checked_every_four_hours_when_they_change_and_when_they_expire() {
    let mut rig = super::stage::site();
    let checked = |rig: &crate::rig::Rig| {
        let set = &rig.desk.snapshot.key_sets[&(KeySetKind::Machine, key_set_name("ops"))];
        set.validated_at.expect("it was checked").clock()
    };
    let mut story = Vec::new();
    put(&mut rig, set(KeySetKind::Machine, "ops", &["alice"]));
    story.push(checked(&rig));
    rig.run_for(Span::hours(1));
    let expires_at = rig.desk.now + Span::hours(6);
    put(&mut rig, model::KeySet { expires_at, ..set(KeySetKind::Machine, "ops", &["bob"]) });
    story.push(checked(&rig));
    for _ in 0..3 {
        rig.run_for(Span::hours(3));
        story.push(checked(&rig));
    }
    expect!["10:01:00Z 11:01:00Z 11:01:00Z 17:01:00Z 17:01:00Z"].assert_eq(&story.join(" "));
}
