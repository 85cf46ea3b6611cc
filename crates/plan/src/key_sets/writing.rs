//! Making, changing and deleting key sets. Their fields were checked by whoever took the request; what depends on other key sets,
//! or on what there is already, is judged here.

use model::{
    BMC_USERS_MAX, Conditions, Editions, FIRST_EDITION, KEY_SETS_MAX, KeySet, KeySetChange, KeySetKind, KeySetName, KeySetUser,
    MACHINE_KEYS_MAX, MACHINE_USERS_MAX, MachineName, Modified, Refusal, Request, Rule, Timestamp,
};

use crate::draft::Draft;
use crate::snapshot::Snapshot;
use crate::update::{Edited, check_editions};

/// The machines whose BMCs are concerned.
type Concerned = Vec<MachineName>;

pub(crate) fn put(
    draft: &mut Draft,
    request: &Request,
    wanted: &KeySet,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<Concerned, Refusal> {
    let Some(known) = draft.after.key_sets.get(&(wanted.kind, wanted.name.clone())).cloned() else {
        if conditions.expected.is_some() {
            return Err(nothing_to_match(wanted, conditions));
        }
        fits(&draft.after, wanted)?;
        let modified = Some(Modified { by: request.caller.clone(), at: now, request_key: request.key.clone() });
        let cluster = draft.after.cluster.name.clone();
        let made = KeySet { cluster, created_at: now, edition: FIRST_EDITION, users_edition: FIRST_EDITION, modified, ..wanted.clone() };
        draft.save_key_set(KeySet { validated_at: None, applied: std::collections::BTreeMap::new(), ..made });
        return Ok(concerned(&draft.after, wanted.kind));
    };
    if edited(&known).was_written_by(request) {
        return Ok(Vec::new());
    }
    check_editions(&edited(&known), conditions)?;
    unchanged(&known, wanted)?;
    let change = KeySetChange {
        tags: Some(wanted.tags.clone()),
        expires_at: Some(wanted.expires_at),
        jump_hosts: Some(wanted.jump_hosts.clone()),
        users: Some(wanted.users.clone()),
    };
    write(draft, request, &known, change, now)
}

pub(crate) fn update(
    draft: &mut Draft,
    request: &Request,
    (kind, name): (KeySetKind, &KeySetName),
    change: &KeySetChange,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<Concerned, Refusal> {
    let known = find(&draft.after, kind, name)?;
    if edited(&known).was_written_by(request) {
        return Ok(Vec::new());
    }
    check_editions(&edited(&known), conditions)?;
    write(draft, request, &known, change.clone(), now)
}

pub(crate) fn delete(draft: &mut Draft, kind: KeySetKind, name: &KeySetName, conditions: &Conditions) -> Result<Concerned, Refusal> {
    let known = find(&draft.after, kind, name)?;
    check_editions(&edited(&known), conditions)?;
    draft.forget_key_set(kind, &known.name);
    Ok(concerned(&draft.after, kind))
}

fn find(snapshot: &Snapshot, kind: KeySetKind, name: &KeySetName) -> Result<KeySet, Refusal> {
    snapshot.key_sets.get(&(kind, name.clone())).map(|set| (**set).clone()).ok_or_else(|| Refusal {
        rule: Rule::KeySetExists,
        message: format!("there is no {} `{name}`", kind.in_words()),
        evidence: vec![format!("cluster `{}` has none of that name", snapshot.cluster.name)],
        remedy: format!("`rackwright {} list` names them", kind.command()),
    })
}

/// The key set as the change leaves it. A change that changes nothing writes nothing.
fn write(draft: &mut Draft, request: &Request, known: &KeySet, change: KeySetChange, now: Timestamp) -> Result<Concerned, Refusal> {
    let KeySetChange { tags, expires_at, jump_hosts, users } = change;
    let mut set = known.clone();
    set.tags = tags.unwrap_or(set.tags);
    set.expires_at = expires_at.unwrap_or(set.expires_at);
    set.jump_hosts = jump_hosts.unwrap_or(set.jump_hosts);
    set.users = users.unwrap_or(set.users);
    if set == *known {
        return Ok(Vec::new());
    }
    fits(&draft.after, &set)?;
    set.edition += 1;
    set.modified = Some(Modified { by: request.caller.clone(), at: now, request_key: request.key.clone() });
    let is_of_users = (&set.users, &set.jump_hosts, set.expires_at) != (&known.users, &known.jump_hosts, known.expires_at);
    if is_of_users {
        set.users_edition = set.edition;
    }
    let kind = set.kind;
    draft.save_key_set(set);
    Ok(concerned(&draft.after, kind))
}

/// Accounts of BMCs follow at once; machines follow when they are installed.
fn concerned(snapshot: &Snapshot, kind: KeySetKind) -> Concerned {
    match kind {
        KeySetKind::Bmc => snapshot.machines.keys().cloned().collect(),
        KeySetKind::Machine => Vec::new(),
    }
}

fn edited(set: &KeySet) -> Edited<'_> {
    Edited {
        noun: "key set",
        name: set.name.to_string(),
        edition: set.edition,
        modified: set.modified.as_ref(),
        show: format!("rackwright {} show --name {}", set.kind.command(), set.name),
    }
}

fn nothing_to_match(set: &KeySet, conditions: &Conditions) -> Refusal {
    let wanted = match &conditions.expected {
        Some(Editions::Listed(_)) => "the request is meant for an etag of it",
        _ => "the request is meant for one that is there",
    };
    Refusal {
        rule: Rule::PreconditionFailed,
        message: format!("`{}` was not created", set.name),
        evidence: vec![format!("{wanted}, and there is no {} `{}`", set.kind.in_words(), set.name)],
        remedy: "send it without If-Match to create it".into(),
    }
}

/// What its users may do is settled when it is made.
fn unchanged(known: &KeySet, wanted: &KeySet) -> Result<(), Refusal> {
    let mut evidence = Vec::new();
    if !known.azure_group_id.eq_ignore_ascii_case(&wanted.azure_group_id) {
        evidence.push(format!("its azureGroupId is {}", known.azure_group_id));
    }
    if known.privilege != wanted.privilege {
        evidence.push(match &known.privilege {
            model::Privilege::Other { name } => format!("its privilegeLevel is Other, and its privilegeLevelName {name}"),
            other => format!("its privilegeLevel is {}", other.level()),
        });
    }
    if known.os_group != wanted.os_group {
        evidence.push(match &known.os_group {
            Some(group) => format!("its osGroupName is {group}"),
            None => "it has no osGroupName".to_owned(),
        });
    }
    if evidence.is_empty() {
        return Ok(());
    }
    Err(Refusal {
        rule: Rule::KeySetImmutable,
        message: format!("key set `{}` cannot be changed", known.name),
        evidence,
        remedy: "delete it, and make it anew".into(),
    })
}

/// Whether there is room for it beside the others of its kind, and none of its users is in another.
fn fits(snapshot: &Snapshot, set: &KeySet) -> Result<(), Refusal> {
    let others: Vec<&KeySet> =
        snapshot.key_sets.values().map(AsRef::as_ref).filter(|other| other.kind == set.kind && other.name != set.name).collect();
    let refuse = |rule, evidence: String, remedy: &str| {
        let message = format!("key set `{}` cannot be written", set.name);
        Err(Refusal { rule, message, evidence: vec![evidence], remedy: remedy.to_owned() })
    };
    let is_same = |a: &KeySetUser, b: &KeySetUser| a.azure_user_name.eq_ignore_ascii_case(&b.azure_user_name);
    for other in &others {
        if let Some(user) = set.users.iter().find(|user| other.users.iter().any(|theirs| is_same(user, theirs))) {
            let evidence = format!("`{}` is a user of key set `{}`", user.azure_user_name, other.name);
            return refuse(Rule::KeySetUserTaken, evidence, "take the user out of one of the two");
        }
    }
    if others.len() >= KEY_SETS_MAX {
        let evidence = format!("the cluster has {} of its kind; at most {KEY_SETS_MAX} are possible", others.len());
        return refuse(Rule::KeySetLimit, evidence, "delete one that is no longer needed");
    }
    let all = || others.iter().flat_map(|other| &other.users).chain(&set.users);
    let (count, most, room) = match set.kind {
        KeySetKind::Bmc => (all().count(), BMC_USERS_MAX, format!("a BMC has room for {BMC_USERS_MAX}")),
        KeySetKind::Machine => (all().count(), MACHINE_USERS_MAX, format!("a first-boot configuration has room for {MACHINE_USERS_MAX}")),
    };
    const FEWER: &str = "take users out of this key set or of another";
    if count > most {
        let evidence = format!("the key sets of the cluster would have {count} users of this kind; {room}");
        return refuse(Rule::KeySetLimit, evidence, FEWER);
    }
    let bytes: usize = all().map(|user| user.ssh_public_key.len()).sum();
    if set.kind == KeySetKind::Machine && bytes > MACHINE_KEYS_MAX {
        let evidence =
            format!("the keys of all users would have {bytes} bytes; a first-boot configuration has room for {MACHINE_KEYS_MAX}");
        return refuse(Rule::KeySetLimit, evidence, FEWER);
    }
    Ok(())
}
