//! Two machines, and key sets in few words.

use std::collections::BTreeMap;

use model::{
    Ask, ClusterName, Conditions, KeySet, KeySetKind, KeySetName, KeySetUser, MachineName, Power, Privilege, Provisioning, RequestId, Role,
    Span, Timestamp,
};
use plan::{KeySetStatus, UserStanding};

use crate::desk;
use crate::rig::Rig;

/// `ssh-keygen -t ed25519`, without the secret half.
pub const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvqyFZzF9gQZ7u0x3mRrT1yZ0Jb3uK7n2mR2uDk0l6J";
pub const OTHER_KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

pub fn site() -> Rig {
    let mut rig = Rig::new();
    let now = rig.desk.now;
    for name in ["rack1compute01", "rack1compute02"] {
        rig.add(desk::machine(name, Role::Compute, Provisioning::Provisioned, now), Power::On);
    }
    rig.run_for(Span::minutes(1));
    rig
}

pub fn first() -> MachineName {
    desk::name("rack1compute01")
}

pub fn second() -> MachineName {
    desk::name("rack1compute02")
}

pub fn key_set_name(name: &str) -> KeySetName {
    KeySetName::new(name).unwrap()
}

pub fn user(name: &str) -> KeySetUser {
    KeySetUser {
        azure_user_name: name.into(),
        description: String::new(),
        user_principal_name: Some(format!("{name}@example.com")),
        ssh_public_key: KEY.into(),
    }
}

pub fn set(kind: KeySetKind, name: &str, users: &[&str]) -> KeySet {
    KeySet {
        name: key_set_name(name),
        kind,
        cluster: ClusterName::new("site1").unwrap(),
        tags: BTreeMap::new(),
        created_at: Timestamp::EPOCH,
        edition: 1,
        users_edition: 1,
        modified: None,
        azure_group_id: "group".into(),
        // A day is long enough for every story here.
        expires_at: desk::morning() + Span::hours(24),
        privilege: if kind == KeySetKind::Bmc { Privilege::ReadOnly } else { Privilege::Standard },
        jump_hosts: Vec::new(),
        os_group: None,
        users: users.iter().map(|name| user(name)).collect(),
        validated_at: None,
        applied: BTreeMap::new(),
    }
}

pub fn put(rig: &mut Rig, set: KeySet) -> RequestId {
    let id = rig.desk.request("alice", Ask::PutKeySet { key_set: Box::new(set), conditions: Conditions::default() }, None);
    rig.run_for(Span::millis(1));
    id
}

pub fn delete(rig: &mut Rig, kind: KeySetKind, name: &str) -> RequestId {
    let ask = Ask::DeleteKeySet { set: kind, name: key_set_name(name), conditions: Conditions::default() };
    let id = rig.desk.request("alice", ask, None);
    rig.run_for(Span::millis(1));
    id
}

pub fn status(rig: &Rig, kind: KeySetKind, name: &str) -> KeySetStatus {
    let snapshot = &rig.desk.snapshot;
    let set = &snapshot.key_sets[&(kind, key_set_name(name))];
    plan::key_set_status(set, snapshot.machines.values().map(AsRef::as_ref), rig.desk.now)
}

/// What is said of a key set, one line for it and one for each user.
pub fn told(rig: &Rig, kind: KeySetKind, name: &str) -> String {
    let KeySetStatus { detail, message, users } = status(rig, kind, name);
    let mut told = format!("{detail:?}: {message}\n");
    for user in users {
        let standing = match user.standing {
            Some(UserStanding::Active) => "Active",
            Some(UserStanding::Invalid) => "Invalid",
            None => "-",
        };
        told.push_str(&format!("  {} {standing}: {}\n", user.user, user.message));
    }
    told
}

/// Who may log in to a BMC: `root, alice ReadOnly`.
pub fn on_bmc(rig: &mut Rig, machine: &MachineName) -> String {
    let users = &rig.device(machine).board.accounts.users;
    let users: Vec<String> = users.iter().map(|(user, (role, keys))| format!("{user} {role} {}", keys.len())).collect();
    users.join(", ")
}
