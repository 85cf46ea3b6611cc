use std::collections::BTreeMap;

use model::{ClusterName, KeySetName, Span};

use super::*;

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvqyFZzF9gQZ7u0x3mRrT1yZ0Jb3uK7n2mR2uDk0l6J";

fn now() -> Timestamp {
    Timestamp::parse("2026-11-16T10:00:00Z").unwrap()
}

fn user(name: &str) -> KeySetUser {
    KeySetUser {
        azure_user_name: name.into(),
        description: String::new(),
        user_principal_name: Some(format!("{name}@example.com")),
        ssh_public_key: KEY.into(),
    }
}

fn set(kind: KeySetKind) -> KeySet {
    KeySet {
        name: KeySetName::new("ops").unwrap(),
        kind,
        cluster: ClusterName::new("site1").unwrap(),
        tags: BTreeMap::new(),
        created_at: now(),
        edition: 1,
        users_edition: 1,
        modified: None,
        azure_group_id: "f110271b-XXXX-4163-9b99-214d91660f0e".into(),
        expires_at: now() + Span::hours(24),
        privilege: if kind == KeySetKind::Bmc { Privilege::ReadOnly } else { Privilege::Standard },
        jump_hosts: Vec::new(),
        os_group: None,
        users: vec![user("alice")],
        validated_at: None,
        applied: BTreeMap::new(),
    }
}

/// The first flaw after a change: `field: message`.
fn flaw_after(kind: KeySetKind, change: impl FnOnce(&mut KeySet)) -> String {
    let mut set = set(kind);
    change(&mut set);
    let flaws = check_key_set(&set, now());
    flaws.first().map_or_else(|| "none".to_owned(), |flaw| format!("{}: {}", flaw.field, flaw.message))
}

fn of_machine(change: impl FnOnce(&mut KeySet)) -> String {
    flaw_after(KeySetKind::Machine, change)
}

#[test]
fn an_ordinary_key_set_has_no_flaw() {
    assert_eq!(of_machine(|_| ()), "none");
    assert_eq!(flaw_after(KeySetKind::Bmc, |_| ()), "none");
}

#[test]
fn every_flaw_names_its_field() {
    assert_eq!(of_machine(|set| set.azure_group_id = " ".into()), "properties.azureGroupId: it is empty");
    let nameless = of_machine(|set| set.privilege = Privilege::Other { name: String::new() });
    assert_eq!(nameless, "properties.privilegeLevelName: it is empty");
    let group = of_machine(|set| set.os_group = Some("my group".into()));
    assert_eq!(group, "properties.osGroupName: it must begin with a letter, and have only letters and digits");
    let twice = of_machine(|set| set.users.push(user("Alice")));
    assert_eq!(twice, "properties.userList[1].azureUserName: `Alice` is there twice; upper and lower case are the same");
    let key = of_machine(|set| set.users[0].ssh_public_key = "ssh-rsa".into());
    assert_eq!(key, "properties.userList[0].sshPublicKey.keyData: there is no key after `ssh-rsa`");
    let upn = of_machine(|set| set.users[0].user_principal_name = Some("a\nb".into()));
    assert_eq!(upn, "properties.userList[0].userPrincipalName: it has a line break or another control character");
    for name in ["1alice", "alice@example.com", "alice smith", "../x", "*"] {
        let named = of_machine(|set| set.users[0].azure_user_name = name.into());
        assert!(named.starts_with("properties.userList[0].azureUserName: it must begin with a letter"), "{name}: {named}");
    }
}

#[test]
fn lengths_have_a_longest_that_is_possible() {
    let group = |n: usize| of_machine(|set| set.os_group = Some("g".repeat(n)));
    assert_eq!(
        (group(OS_GROUP_MAX).as_str(), group(OS_GROUP_MAX + 1).as_str()),
        ("none", "properties.osGroupName: it must have 1 to 32 characters")
    );
    let name = |n: usize| of_machine(|set| set.users[0].azure_user_name = "u".repeat(n));
    assert_eq!(name(KEY_SET_USER_MAX), "none");
    assert_eq!(name(KEY_SET_USER_MAX + 1), "properties.userList[0].azureUserName: it must have 1 to 32 characters");
    let text = |n: usize| of_machine(|set| set.users[0].description = "ü".repeat(n));
    assert_eq!(text(KEY_SET_TEXT_MAX), "none");
    assert_eq!(text(KEY_SET_TEXT_MAX + 1), "properties.userList[0].description: it has 257 characters; at most 256 are possible");
    let hosts = |n: usize| of_machine(|set| set.jump_hosts = vec!["10.0.0.1".into(); n]);
    assert_eq!(hosts(JUMP_HOSTS_MAX), "none");
    assert_eq!(hosts(JUMP_HOSTS_MAX + 1), "properties.jumpHostsAllowed: there are 65 of them; at most 64 are possible");
}

#[test]
fn jump_hosts_are_addresses_or_networks() {
    for host in ["10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "10.0.0.1/32", "fd00::1", "fd00::/64", "::/0"] {
        assert_eq!(flaw_of_host(host), None, "{host}");
    }
    for host in ["", "jump.example.com", "10.0.0.1/33", "10.0.0.0/+8", "10.0.0/8", "fd00::/129", "10.0.0.1 ", "/8"] {
        assert_eq!(flaw_of_host(host).unwrap(), "it must be an IP address, or a network such as `10.0.0.0/24`", "{host}");
    }
    let inexact = "its address is none of a network of 24 bits: what follows them must be zero";
    assert_eq!(flaw_of_host("10.0.0.1/24").unwrap(), inexact);
}

#[test]
fn users_of_bmcs_expire_within_a_year_and_have_plain_keys() {
    let of_bmc = |change: fn(&mut KeySet)| flaw_after(KeySetKind::Bmc, change);
    assert_eq!(of_bmc(|set| set.expires_at = now() + BMC_EXPIRATION_MAX), "none");
    let late = of_bmc(|set| set.expires_at = now() + BMC_EXPIRATION_MAX + Span::millis(1));
    assert_eq!(late, "properties.expiration: it must be at most one year ahead");
    assert_eq!(of_machine(|set| set.expires_at = now() + BMC_EXPIRATION_MAX.times(9)), "none");
    let from: fn(&mut KeySet) = |set| set.users[0].ssh_public_key = format!("from=\"10.0.0.1\" {KEY}");
    assert_eq!(of_bmc(from), "properties.userList[0].sshPublicKey.keyData: a BMC cannot keep to `from=`");
    assert_eq!(of_machine(from), "none");
}
