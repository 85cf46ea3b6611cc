//! What is said of a key set: whether its users are in force, and on how many machines.

use model::{BmcUser, KeySet, KeySetKind, KeySetUser, Machine, Management, Provisioning, Timestamp};

use super::board_of;

/// `detailedStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySetDetail {
    AllActive,
    SomeInvalid,
    AllInvalid,
    /// Not every machine has it as it is now.
    Validating,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySetStatus {
    pub detail: KeySetDetail,
    pub message: String,
    pub users: Vec<UserStatus>,
}

/// One of `userListStatus`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserStatus {
    pub user: String,
    /// Nothing while it is not known: the user is not on every machine yet.
    pub standing: Option<UserStanding>,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserStanding {
    Active,
    Invalid,
}

/// Machines that a message names.
const NAMED_MAX: usize = 3;

/// Whether its users are let in at all.
pub fn is_key_set_valid(set: &KeySet, now: Timestamp) -> bool {
    invalid_because(set, now).is_none()
}

fn invalid_because(set: &KeySet, now: Timestamp) -> Option<String> {
    if set.expires_at <= now {
        return Some(format!("it expired at {}", set.expires_at));
    }
    let nameless = |user: &&KeySetUser| user.user_principal_name.as_deref().is_none_or(|name| name.trim().is_empty());
    let user = set.users.iter().find(nameless)?;
    Some(format!("`{}` has no userPrincipalName, and without it nobody of the key set is let in", user.azure_user_name))
}

/// What is said of a key set of the cluster that these machines are of.
pub fn key_set_status<'a>(set: &KeySet, machines: impl Iterator<Item = &'a Machine>, now: Timestamp) -> KeySetStatus {
    if let Some(because) = invalid_because(set, now) {
        let users = set.users.iter().map(|user| status(user, Some(UserStanding::Invalid), &because));
        return KeySetStatus { detail: KeySetDetail::AllInvalid, users: users.collect(), message: because };
    }
    match set.kind {
        KeySetKind::Machine => status_on_machines(set, machines),
        KeySetKind::Bmc => status_on_bmcs(set, machines),
    }
}

fn status(user: &KeySetUser, standing: Option<UserStanding>, message: &str) -> UserStatus {
    UserStatus { user: user.azure_user_name.clone(), standing, message: message.to_owned() }
}

/// What is known of nobody: there is no directory to ask.
const UNCHECKED: &str = "membership of the group is not checked";

fn status_on_machines<'a>(set: &KeySet, machines: impl Iterator<Item = &'a Machine>) -> KeySetStatus {
    let installed: Vec<&Machine> = machines.filter(|machine| machine.provisioning == Provisioning::Provisioned).collect();
    let have = installed.iter().filter(|machine| set.applied.get(&machine.name) == Some(&set.users_edition)).count();
    let counted = format!("{have} of {} machines have it as it is now", installed.len());
    let (detail, standing, message) = if have < installed.len() {
        (KeySetDetail::Validating, None, format!("{counted}; the others get it when they are reimaged or replaced"))
    } else {
        (KeySetDetail::AllActive, Some(UserStanding::Active), format!("{counted}; {UNCHECKED}"))
    };
    let users = set.users.iter().map(|user| status(user, standing, &counted)).collect();
    KeySetStatus { detail, message, users }
}

/// What a BMC has of a user.
enum OnBmc<'a> {
    Right,
    Troubled(&'a str),
    NotYet,
}

fn on_bmc<'a>(machine: &'a Machine, set: &KeySet, user: &KeySetUser) -> OnBmc<'a> {
    let accounts = machine.accounts.as_ref().filter(|accounts| accounts.board == board_of(machine));
    let known: Option<&BmcUser> = accounts.and_then(|accounts| accounts.users.get(&user.azure_user_name));
    let is_right = |known: &BmcUser| {
        known.applied.as_ref().is_some_and(|applied| (&applied.key_set, applied.edition) == (&set.name, set.users_edition))
    };
    match known {
        Some(known) if is_right(known) => OnBmc::Right,
        Some(BmcUser { trouble: Some(trouble), .. }) => OnBmc::Troubled(trouble),
        _ => OnBmc::NotYet,
    }
}

fn status_on_bmcs<'a>(set: &KeySet, machines: impl Iterator<Item = &'a Machine>) -> KeySetStatus {
    let machines: Vec<&Machine> = machines.collect();
    let users: Vec<UserStatus> = set.users.iter().map(|user| user_on_bmcs(set, user, &machines)).collect();
    let is_late = |machine: &&&Machine| set.users.iter().any(|user| matches!(on_bmc(machine, set, user), OnBmc::NotYet));
    let late: Vec<&Machine> = machines.iter().filter(is_late).copied().collect();
    let invalid = users.iter().filter(|user| user.standing == Some(UserStanding::Invalid)).count();
    let (detail, message) = match (late.first(), invalid) {
        (Some(first), _) => (KeySetDetail::Validating, late_in_words(first, late.len(), machines.len())),
        (None, 0) => (KeySetDetail::AllActive, format!("every user is on the BMCs of {} machines; {UNCHECKED}", machines.len())),
        (None, invalid) if invalid == users.len() => (KeySetDetail::AllInvalid, "no user is on every BMC".to_owned()),
        (None, invalid) => (KeySetDetail::SomeInvalid, format!("{invalid} of {} users are not on every BMC", users.len())),
    };
    KeySetStatus { detail, message, users }
}

fn late_in_words(first: &Machine, late: usize, of: usize) -> String {
    let why = match (&first.management, &first.last_seen.bmc_fault) {
        (Management::Unmanaged { .. }, _) => ", which is not managed",
        (_, Some(_)) => ", whose BMC does not answer",
        _ => "",
    };
    let more = if late > 1 { format!(" and {} more", late - 1) } else { String::new() };
    format!("{} of {of} BMCs have it as it is now; it is yet to be seen on that of `{}`{why}{more}", of - late, first.name)
}

fn user_on_bmcs(set: &KeySet, user: &KeySetUser, machines: &[&Machine]) -> UserStatus {
    let mut right = 0_usize;
    let mut troubled = Vec::new();
    for machine in machines {
        match on_bmc(machine, set, user) {
            OnBmc::Right => right += 1,
            OnBmc::Troubled(trouble) => troubled.push(format!("`{}`: {trouble}", machine.name)),
            OnBmc::NotYet => {}
        }
    }
    if !troubled.is_empty() {
        let more = troubled.len().saturating_sub(NAMED_MAX);
        let mut message = format!("not on the BMC of {}", troubled[..troubled.len() - more].join("; "));
        if more > 0 {
            message.push_str(&format!("; and of {more} more"));
        }
        return status(user, Some(UserStanding::Invalid), &message);
    }
    let standing = (right == machines.len()).then_some(UserStanding::Active);
    status(user, standing, &format!("on {right} of {} BMCs", machines.len()))
}
