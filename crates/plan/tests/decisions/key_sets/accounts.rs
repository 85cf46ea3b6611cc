//! Accounts of BMCs follow the key sets for BMCs.

use expect_test::expect;
use model::{Delivery, DeviceAsk, Fault, FaultClass, KeySetKind, Privilege, Span};

use super::stage::{KEY, OTHER_KEY, delete, first, on_bmc, put, second, set, site, told, user};
use crate::install::stage::verdict;

#[test]
fn accounts_are_made_changed_and_removed() {
    let mut rig = site();
    let mut story = String::new();
    put(&mut rig, set(KeySetKind::Bmc, "ops", &["alice", "bob"]));
    story.push_str(&told(&rig, KeySetKind::Bmc, "ops"));
    rig.run_for(Span::minutes(1));
    story.push_str(&format!("{}{}\n", told(&rig, KeySetKind::Bmc, "ops"), on_bmc(&mut rig, &first())));
    let mut changed = set(KeySetKind::Bmc, "ops", &["bob"]);
    changed.users[0].ssh_public_key = OTHER_KEY.into();
    put(&mut rig, changed);
    rig.run_for(Span::minutes(1));
    story.push_str(&format!("{}{}\n", told(&rig, KeySetKind::Bmc, "ops"), on_bmc(&mut rig, &first())));
    let requests: Vec<DeviceAsk> = rig.device(&second()).requests.clone();
    delete(&mut rig, KeySetKind::Bmc, "ops");
    rig.run_for(Span::minutes(1));
    story.push_str(&format!("{}\n{requests:?}\n", on_bmc(&mut rig, &first())));
    assert!(rig.desk.snapshot.machines.values().all(|machine| machine.accounts.is_none() && machine.waits.is_empty()));
    expect![[r#"
        Validating: 0 of 2 BMCs have it as it is now; it is yet to be seen on that of `rack1compute01` and 1 more
          alice -: on 0 of 2 BMCs
          bob -: on 0 of 2 BMCs
        AllActive: every user is on the BMCs of 2 machines; membership of the group is not checked
          alice Active: on 2 of 2 BMCs
          bob Active: on 2 of 2 BMCs
        alice ReadOnly 1, bob ReadOnly 1, root Administrator 0
        AllActive: every user is on the BMCs of 2 machines; membership of the group is not checked
          bob Active: on 2 of 2 BMCs
        bob ReadOnly 1, root Administrator 0
        root Administrator 0
        [WriteAccount, WriteAccount, DropAccount, WriteAccount]
    "#]]
    .assert_eq(&story);
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let mut rig = site();
    let mut story = String::new();
    put(&mut rig, set(KeySetKind::Bmc, "ops", &["root", "alice"]));
    rig.run_for(Span::minutes(1));
    story.push_str(&format!("{}{}\n", told(&rig, KeySetKind::Bmc, "ops"), on_bmc(&mut rig, &first())));
    delete(&mut rig, KeySetKind::Bmc, "ops");
    rig.run_for(Span::minutes(1));
    story.push_str(&on_bmc(&mut rig, &first()));
    expect![[r#"
        SomeInvalid: 1 of 2 users are not on every BMC
          root Invalid: not on the BMC of `rack1compute01`: its BMC has an account of that name which is not of a key set; `rack1compute02`: its BMC has an account of that name which is not of a key set
          alice Active: on 2 of 2 BMCs
        alice ReadOnly 1, root Administrator 0
        root Administrator 0"#]].assert_eq(&story);
}

#[test]
fn a_bmc_without_room_or_without_keys_says_so_and_the_others_have_the_user() {
    let mut rig = site();
    rig.device(&first()).board.accounts.slots = 2;
    rig.device(&second()).board.accounts.has_keys = false;
    put(&mut rig, set(KeySetKind::Bmc, "ops", &["alice", "bob"]));
    rig.run_for(Span::minutes(10));
    let (full, keyless) = (on_bmc(&mut rig, &first()), on_bmc(&mut rig, &second()));
    let mut story = format!("{}{full}\n{keyless}\n", told(&rig, KeySetKind::Bmc, "ops"));
    rig.device(&first()).board.accounts.slots = 16;
    rig.device(&second()).board.accounts.has_keys = true;
    rig.run_for(Span::hours(4));
    story.push_str(&told(&rig, KeySetKind::Bmc, "ops"));
    expect![[r#"
        AllInvalid: no user is on every BMC
          alice Invalid: not on the BMC of `rack1compute02`: its BMC offers no SSH keys for accounts
          bob Invalid: not on the BMC of `rack1compute01`: its BMC does not take the account: it has no empty slot for another account; `rack1compute02`: its BMC offers no SSH keys for accounts
        alice ReadOnly 1, root Administrator 0
        root Administrator 0
        AllActive: every user is on the BMCs of 2 machines; membership of the group is not checked
          alice Active: on 2 of 2 BMCs
          bob Active: on 2 of 2 BMCs
    "#]].assert_eq(&story);
}

#[test]
fn a_silent_bmc_is_waited_for_and_tried_again() {
    let mut rig = site();
    rig.device(&first()).bmc_fault = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "no route"));
    rig.run_for(Span::minutes(1));
    put(&mut rig, set(KeySetKind::Bmc, "ops", &["alice"]));
    rig.run_for(Span::hours(1));
    let mut story = told(&rig, KeySetKind::Bmc, "ops");
    rig.heal();
    rig.run_for(Span::minutes(2));
    story.push_str(&told(&rig, KeySetKind::Bmc, "ops"));
    expect![[r#"
        Validating: 1 of 2 BMCs have it as it is now; it is yet to be seen on that of `rack1compute01`, whose BMC does not answer
          alice -: on 1 of 2 BMCs
        AllActive: every user is on the BMCs of 2 machines; membership of the group is not checked
          alice Active: on 2 of 2 BMCs
    "#]]
    .assert_eq(&story);
}

#[test]
fn a_bmc_that_says_yes_and_does_nothing_is_told_and_asked_rarely() {
    let mut rig = site();
    rig.device(&first()).board.ignored.insert(DeviceAsk::WriteAccount);
    put(&mut rig, set(KeySetKind::Bmc, "ops", &["alice"]));
    rig.run_for(Span::hours(3));
    let asked = rig.device(&first()).requests.len();
    assert!((5..20).contains(&asked), "{asked} times");
    expect![[r#"
        AllInvalid: no user is on every BMC
          alice Invalid: not on the BMC of `rack1compute01`: its BMC took the account 11 times, and does not show it
    "#]]
    .assert_eq(&told(&rig, KeySetKind::Bmc, "ops"));
}

#[test]
fn what_somebody_changes_on_a_bmc_is_set_right_within_four_hours() {
    let mut rig = site();
    put(&mut rig, set(KeySetKind::Bmc, "ops", &["alice", "bob"]));
    rig.run_for(Span::minutes(1));
    let users = &mut rig.device(&first()).board.accounts.users;
    users.get_mut("alice").unwrap().0 = "Administrator".into();
    users.remove("bob");
    rig.run_for(Span::hours(4));
    expect!["alice ReadOnly 1, bob ReadOnly 1, root Administrator 0"].assert_eq(&on_bmc(&mut rig, &first()));
}

#[test]
fn users_go_when_their_key_set_expires() {
    let mut rig = site();
    let expires_at = rig.desk.now + Span::hours(1);
    put(&mut rig, model::KeySet { expires_at, ..set(KeySetKind::Bmc, "ops", &["alice"]) });
    rig.run_for(Span::minutes(59));
    let mut story = format!("{}\n", on_bmc(&mut rig, &first()));
    rig.run_for(Span::minutes(2));
    story.push_str(&format!("{}{}\n", told(&rig, KeySetKind::Bmc, "ops"), on_bmc(&mut rig, &first())));
    expect![[r#"
        alice ReadOnly 1, root Administrator 0
        AllInvalid: it expired at 2026-11-15T11:01:00.000Z
          alice Invalid: it expired at 2026-11-15T11:01:00.000Z
        root Administrator 0
    "#]]
    .assert_eq(&story);
}

#[test]
fn another_board_gets_the_users_and_has_none_of_ours() {
    let mut rig = site();
    put(&mut rig, set(KeySetKind::Bmc, "ops", &["alice", "bob"]));
    rig.run_for(Span::minutes(1));
    // The board was exchanged: it comes with an account of somebody else's that has a user's name.
    let mut machine = (*rig.desk.snapshot.machines[&first()]).clone();
    machine.hardware.serial_number = "other".into();
    rig.desk.add(machine);
    let accounts = &mut rig.device(&first()).board.accounts;
    *accounts = crate::rig::accounts::Accounts::default();
    accounts.users.insert("bob".into(), ("Operator".into(), vec![KEY.into()]));
    let mut observation = rig.desk.snapshot.observation(&first());
    observation.looked.clear();
    rig.desk.snapshot.observations.insert(first(), std::sync::Arc::new(observation));
    rig.run_for(Span::minutes(1));
    expect![[r#"
        SomeInvalid: 1 of 2 users are not on every BMC
          alice Active: on 2 of 2 BMCs
          bob Invalid: not on the BMC of `rack1compute01`: its BMC has an account of that name which is not of a key set
        alice ReadOnly 1, bob Operator 1, root Administrator 0"#]]
    .assert_eq(&format!("{}{}", told(&rig, KeySetKind::Bmc, "ops"), on_bmc(&mut rig, &first())));
}

#[test]
fn nothing_is_sent_to_an_unmanaged_machine() {
    let mut rig = site();
    let ask = model::Ask::Unmanage { machine: first(), reason: "cabling".into() };
    rig.desk.request("alice", ask, None);
    rig.run_for(Span::seconds(1));
    let mut ops = set(KeySetKind::Bmc, "ops", &["alice"]);
    ops.privilege = Privilege::Administrator;
    ops.users.push(user("bob"));
    let id = put(&mut rig, ops);
    assert_eq!(verdict(&rig, &id), "done");
    rig.run_for(Span::minutes(5));
    assert_eq!(rig.device(&first()).requests, []);
    expect![[r#"
        Validating: 1 of 2 BMCs have it as it is now; it is yet to be seen on that of `rack1compute01`, which is not managed
          alice -: on 1 of 2 BMCs
          bob -: on 1 of 2 BMCs
        alice Administrator 1, bob Administrator 1, root Administrator 0"#]]
    .assert_eq(&format!("{}{}", told(&rig, KeySetKind::Bmc, "ops"), on_bmc(&mut rig, &second())));
}
