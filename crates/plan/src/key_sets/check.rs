//! Whether a key set can be one, whatever else there is: its fields, one by one, with the name of each that is wrong.

use std::collections::BTreeSet;
use std::net::IpAddr;

use model::{
    BMC_EXPIRATION_MAX, JUMP_HOSTS_MAX, KEY_SET_TEXT_MAX, KEY_SET_USER_MAX, KeySet, KeySetChange, KeySetKind, KeySetUser, OS_GROUP_MAX,
    Privilege, Timestamp, is_unprintable,
};

use super::ssh_key;

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySetFlaw {
    /// As the API calls it: `properties.userList[0].azureUserName`.
    pub field: String,
    pub message: String,
}

fn flaw(field: impl Into<String>, message: impl Into<String>) -> KeySetFlaw {
    KeySetFlaw { field: field.into(), message: message.into() }
}

/// What is wrong with a key set, field by field.
pub fn check_key_set(set: &KeySet, now: Timestamp) -> Vec<KeySetFlaw> {
    let mut flaws = Vec::new();
    flaws.extend(flaw_of_text(&set.azure_group_id, Needed::Yes).map(|message| flaw("properties.azureGroupId", message)));
    if let Privilege::Other { name } = &set.privilege {
        flaws.extend(flaw_of_text(name, Needed::Yes).map(|message| flaw("properties.privilegeLevelName", message)));
    }
    flaws.extend(set.os_group.as_deref().and_then(flaw_of_group).map(|message| flaw("properties.osGroupName", message)));
    flaws.extend(flaws_of_parts(set.kind, Some(set.expires_at), Some(&set.jump_hosts), Some(&set.users), now));
    flaws
}

/// What is wrong with a change of a key set.
pub fn check_key_set_change(kind: KeySetKind, change: &KeySetChange, now: Timestamp) -> Vec<KeySetFlaw> {
    flaws_of_parts(kind, change.expires_at, change.jump_hosts.as_deref(), change.users.as_deref(), now)
}

fn flaws_of_parts(
    kind: KeySetKind,
    expires_at: Option<Timestamp>,
    jump_hosts: Option<&[String]>,
    users: Option<&[KeySetUser]>,
    now: Timestamp,
) -> Vec<KeySetFlaw> {
    let mut flaws = Vec::new();
    if kind == KeySetKind::Bmc && expires_at.is_some_and(|at| at > now + BMC_EXPIRATION_MAX) {
        flaws.push(flaw("properties.expiration", "it must be at most one year ahead"));
    }
    flaws.extend(flaws_of_jump_hosts(jump_hosts.unwrap_or_default()));
    let mut names = BTreeSet::new();
    for (n, user) in users.unwrap_or_default().iter().enumerate() {
        let path = format!("properties.userList[{n}]");
        if !names.insert(user.azure_user_name.to_ascii_lowercase()) {
            let message = format!("`{}` is there twice; upper and lower case are the same", user.azure_user_name);
            flaws.push(flaw(format!("{path}.azureUserName"), message));
        }
        flaws.extend(flaws_of_user(kind, user, &path));
    }
    flaws
}

fn flaws_of_user(kind: KeySetKind, user: &KeySetUser, path: &str) -> Vec<KeySetFlaw> {
    let mut flaws = Vec::new();
    flaws.extend(flaw_of_user_name(&user.azure_user_name).map(|message| flaw(format!("{path}.azureUserName"), message)));
    flaws.extend(flaw_of_text(&user.description, Needed::No).map(|message| flaw(format!("{path}.description"), message)));
    let upn = user.user_principal_name.as_deref().and_then(|name| flaw_of_text(name, Needed::No));
    flaws.extend(upn.map(|message| flaw(format!("{path}.userPrincipalName"), message)));
    let key = match ssh_key::read(&user.ssh_public_key) {
        // The account would be open from anywhere, against what the key says.
        Ok(key) if kind == KeySetKind::Bmc && key.from.is_some() => Some("a BMC cannot keep to `from=`".to_owned()),
        Ok(_) => None,
        Err(message) => Some(message),
    };
    flaws.extend(key.map(|message| flaw(format!("{path}.sshPublicKey.keyData"), message)));
    flaws
}

/// A name that Linux, BMCs, and the configuration of `sshd` take for a name and nothing else.
fn flaw_of_user_name(name: &str) -> Option<String> {
    let is_begin = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let length = name.chars().count();
    if length == 0 || length > KEY_SET_USER_MAX {
        return Some(format!("it must have 1 to {KEY_SET_USER_MAX} characters"));
    }
    let fits = name.starts_with(is_begin) && name.chars().all(is_part);
    (!fits).then(|| "it must begin with a letter or an underscore, and have only letters, digits, and `_`, `.`, `-`".to_owned())
}

fn flaw_of_group(name: &str) -> Option<String> {
    if name.is_empty() || name.len() > OS_GROUP_MAX {
        return Some(format!("it must have 1 to {OS_GROUP_MAX} characters"));
    }
    let fits = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric());
    (!fits).then(|| "it must begin with a letter, and have only letters and digits".to_owned())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Needed {
    Yes,
    No,
}

fn flaw_of_text(text: &str, needed: Needed) -> Option<String> {
    if needed == Needed::Yes && text.trim().is_empty() {
        return Some("it is empty".to_owned());
    }
    let length = text.chars().count();
    if length > KEY_SET_TEXT_MAX {
        return Some(format!("it has {length} characters; at most {KEY_SET_TEXT_MAX} are possible"));
    }
    text.chars().any(is_unprintable).then(|| "it has a line break or another control character".to_owned())
}

fn flaws_of_jump_hosts(hosts: &[String]) -> Vec<KeySetFlaw> {
    const FIELD: &str = "properties.jumpHostsAllowed";
    if hosts.len() > JUMP_HOSTS_MAX {
        return vec![flaw(FIELD, format!("there are {} of them; at most {JUMP_HOSTS_MAX} are possible", hosts.len()))];
    }
    let flaws = hosts.iter().enumerate().filter_map(|(n, host)| Some(flaw(format!("{FIELD}[{n}]"), flaw_of_host(host)?)));
    flaws.collect()
}

/// An address, or a network whose host part is zero: `sshd` takes no other.
fn flaw_of_host(host: &str) -> Option<String> {
    let neither = || Some("it must be an IP address, or a network such as `10.0.0.0/24`".to_owned());
    let (address, prefix) = match host.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (host, None),
    };
    let Ok(address) = address.parse::<IpAddr>() else { return neither() };
    let prefix = prefix?;
    let (bits, width) = match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let is_plain = prefix.bytes().all(|b| b.is_ascii_digit());
    let Some(prefix) = prefix.parse::<u32>().ok().filter(|prefix| is_plain && *prefix <= width) else { return neither() };
    let host_part = 1_u128.checked_shl(width - prefix).map_or(bits, |size| bits & (size - 1));
    (host_part != 0).then(|| format!("its address is none of a network of {prefix} bits: what follows them must be zero"))
}

#[cfg(test)]
mod tests;
