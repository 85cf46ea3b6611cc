//! What may be written.

use expect_test::expect;
use model::{Ask, BMC_USERS_MAX, Conditions, Editions, KEY_SETS_MAX, KeySetChange, KeySetKind, MACHINE_USERS_MAX, Privilege, Span};

use super::stage::{OTHER_KEY, delete, key_set_name, put, set, site, told, user};
use crate::install::stage::verdict;

#[test]
fn a_key_set_is_made_written_anew_and_deleted() {
    let mut rig = site();
    let mut story = String::new();
    let ops = set(KeySetKind::Machine, "ops", &["alice"]);
    let mut more = ops.clone();
    more.users.push(user("bob"));
    let mut tagged = more.clone();
    tagged.tags.insert("team".into(), "blue".into());
    for wanted in [&ops, &ops, &more, &tagged] {
        let id = put(&mut rig, wanted.clone());
        let stored = &rig.desk.snapshot.key_sets[&(KeySetKind::Machine, key_set_name("OPS"))];
        story.push_str(&format!("put: {}, edition {}, of users {}\n", verdict(&rig, &id), stored.edition, stored.users_edition));
    }
    for name in ["ops", "ops"] {
        let id = delete(&mut rig, KeySetKind::Machine, name);
        story.push_str(&format!("delete: {}\n", verdict(&rig, &id)));
    }
    expect![[r#"
        put: done, edition 1, of users 1
        put: done, edition 1, of users 1
        put: done, edition 2, of users 2
        put: done, edition 3, of users 2
        delete: done
        delete: there is no key set for machines `ops`: rule key-set-exists: cluster `site1` has none of that name
        remedy: `rackwright cluster baremetalmachinekeyset list` names them
    "#]]
    .assert_eq(&story);
}

#[test]
fn what_users_may_do_is_settled_when_the_key_set_is_made() {
    let mut rig = site();
    let ops = set(KeySetKind::Machine, "ops", &["alice"]);
    put(&mut rig, ops.clone());
    let mut other = ops;
    other.privilege = Privilege::Superuser;
    other.azure_group_id = "others".into();
    other.os_group = Some("wheel".into());
    let id = put(&mut rig, other);
    expect![[r#"
        key set `ops` cannot be changed: rule key-set-immutable: its azureGroupId is group; its privilegeLevel is Standard; it has no osGroupName
        remedy: delete it, and make it anew"#]]
    .assert_eq(&verdict(&rig, &id));
}

#[test]
fn a_bmc_has_room_for_ten_users_of_all_key_sets() {
    let mut rig = site();
    let names: Vec<String> = (0..=BMC_USERS_MAX).map(|n| format!("user{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let eight = set(KeySetKind::Bmc, "first", &names[..8]);
    let two = set(KeySetKind::Bmc, "second", &names[8..10]);
    let three = set(KeySetKind::Bmc, "second", &names[8..]);
    let taken = set(KeySetKind::Bmc, "third", &["USER0"]);
    let mut story = String::new();
    for wanted in [eight, two, three, taken] {
        let id = put(&mut rig, wanted);
        story.push_str(&format!("{}\n", verdict(&rig, &id)));
    }
    expect![[r#"
        done
        done
        key set `second` cannot be written: rule key-set-limit: the key sets of the cluster would have 11 users of this kind; a BMC has room for 10
        remedy: take users out of this key set or of another
        key set `third` cannot be written: rule key-set-user-taken: `USER0` is a user of key set `first`
        remedy: take the user out of one of the two
    "#]]
    .assert_eq(&story);
}

#[test]
fn machines_have_room_for_so_many_users_and_keys() {
    let mut rig = site();
    let names: Vec<String> = (0..=MACHINE_USERS_MAX).map(|n| format!("user{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = set(KeySetKind::Machine, "all", &names);
    let fitting = set(KeySetKind::Machine, "all", &names[1..]);
    let mut long = set(KeySetKind::Machine, "all", &names[..10]);
    for user in &mut long.users {
        user.ssh_public_key = format!("{OTHER_KEY} {}", "x".repeat(3_900));
    }
    let mut story = String::new();
    for wanted in [all, fitting, long] {
        let id = put(&mut rig, wanted);
        story.push_str(&format!("{}\n", verdict(&rig, &id)));
    }
    expect![[r#"
        key set `all` cannot be written: rule key-set-limit: the key sets of the cluster would have 101 users of this kind; a first-boot configuration has room for 100
        remedy: take users out of this key set or of another
        done
        key set `all` cannot be written: rule key-set-limit: the keys of all users would have 39810 bytes; a first-boot configuration has room for 32768
        remedy: take users out of this key set or of another
    "#]]
    .assert_eq(&story);
}

#[test]
fn a_cluster_has_so_many_key_sets_of_a_kind() {
    let mut rig = site();
    for n in 0..KEY_SETS_MAX {
        let id = put(&mut rig, set(KeySetKind::Machine, &format!("set{n}"), &[]));
        assert_eq!(verdict(&rig, &id), "done");
    }
    let id = put(&mut rig, set(KeySetKind::Machine, "onemore", &[]));
    expect![[r#"
        key set `onemore` cannot be written: rule key-set-limit: the cluster has 50 of its kind; at most 50 are possible
        remedy: delete one that is no longer needed"#]]
    .assert_eq(&verdict(&rig, &id));
    let id = put(&mut rig, set(KeySetKind::Bmc, "onemore", &[]));
    assert_eq!(verdict(&rig, &id), "done");
}

#[test]
fn of_two_writers_with_the_same_etag_one_wins() {
    let mut rig = site();
    put(&mut rig, set(KeySetKind::Machine, "ops", &["alice"]));
    let expected = Conditions { expected: Some(Editions::Listed(vec![1])), excluded: None };
    let mut story = String::new();
    for name in ["bob", "carol"] {
        let change = Box::new(KeySetChange { users: Some(vec![user(name)]), ..KeySetChange::default() });
        let ask = Ask::UpdateKeySet { set: KeySetKind::Machine, name: key_set_name("ops"), change, conditions: expected.clone() };
        let id = rig.desk.request(name, ask, None);
        rig.run_for(Span::millis(1));
        story.push_str(&format!("{}\n", verdict(&rig, &id)));
    }
    expect![[r#"
        done
        `ops` was not changed: rule precondition-failed: the request is meant for the etag "1", and the key set's is "2", written by bob at 10:01:00Z
        remedy: read the key set again, and send what you want to change with its etag: `rackwright cluster baremetalmachinekeyset show --name ops --query etag -o tsv` tells it
    "#]]
    .assert_eq(&story);
    let stored = &rig.desk.snapshot.key_sets[&(KeySetKind::Machine, key_set_name("ops"))];
    assert_eq!(stored.users[0].azure_user_name, "bob");
}

#[test]
fn a_user_without_a_principal_name_makes_the_whole_key_set_invalid() {
    let mut rig = site();
    let mut ops = set(KeySetKind::Bmc, "ops", &["alice", "bob"]);
    ops.users[1].user_principal_name = None;
    put(&mut rig, ops);
    rig.run_for(Span::minutes(5));
    expect![[r#"
        AllInvalid: `bob` has no userPrincipalName, and without it nobody of the key set is let in
          alice Invalid: `bob` has no userPrincipalName, and without it nobody of the key set is let in
          bob Invalid: `bob` has no userPrincipalName, and without it nobody of the key set is let in
    "#]]
    .assert_eq(&told(&rig, KeySetKind::Bmc, "ops"));
}
