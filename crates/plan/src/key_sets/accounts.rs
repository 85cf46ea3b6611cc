//! The accounts of a machine's BMC follow the key sets for BMCs: made, changed and removed one at a time, and each time seen.
//!
//! Only an account that was made here, or is about to be, is touched: what stands on the BMC under the same name without our memory of
//! it is somebody else's, our own login among them. A look decides; what was asked since the look is not asked again before the next.

use std::collections::BTreeMap;

use model::{
    AccountAsk, AccountSeen, AppliedUser, BmcAccounts, BmcUser, Delivery, DeviceAsk, Fault, FaultClass, Found, KeySet, KeySetKind, Limits,
    LookAt, Looked, Machine, Observation, Privilege, Timestamp, Wait, WaitKind,
};

use super::ssh_key;
use super::status::is_key_set_valid;
use crate::cadence::backoff;
use crate::draft::{Draft, LookStep, Step, With};
use crate::fault::{Reaction, react};
use crate::operate::{settle_of, step_for};
use crate::snapshot::Snapshot;

/// Asked so often without coming to anything, a user is told as in trouble. It is tried on, but rarely.
const TRIES_TOLD: u32 = 3;

/// How much rarer than usual it is tried then: after half an hour instead of a minute in the end.
const HOPELESS_PAUSE: u32 = 30;

/// A user as a key set wants it on every BMC.
struct Wanted<'a> {
    set: &'a KeySet,
    privilege: &'a Privilege,
    key: &'a str,
}

/// Which board a machine has. Another one has none of the accounts that this one had.
pub(crate) fn board_of(machine: &Machine) -> String {
    format!("{}/{}", machine.hardware.serial_number, machine.hardware.bmc_mac.to_ascii_lowercase())
}

/// Returns when to look again if nothing else happens.
pub(crate) fn converge(
    draft: &mut Draft,
    machine: &mut Machine,
    observation: &Observation,
    now: Timestamp,
    waits: &mut Vec<Wait>,
) -> Option<Timestamp> {
    let snapshot = draft.after.clone();
    let wanted = wanted(&snapshot, now);
    if wanted.is_empty() && machine.accounts.is_none() {
        return None;
    }
    let board = board_of(machine);
    let known = machine.accounts.take().filter(|accounts| accounts.board == board);
    let mut accounts = known.map_or_else(|| BmcAccounts { board, ..BmcAccounts::default() }, |known| *known);
    accounts.users.retain(|user, known| known.is_ours || wanted.contains_key(user.as_str()));
    note_answer(&mut accounts, observation);
    let limits = &snapshot.cluster.limits;
    let written_at = snapshot.key_sets.values().filter(|set| set.kind == KeySetKind::Bmc).map(|set| set.changed_at()).max();
    let mut desk = Desk { wanted, accounts, observation, limits, written_at: written_at.unwrap_or_default(), now };
    let next = desk.decide();
    let expiry = desk.wanted.values().map(|wanted| wanted.set.expires_at).min();
    // The wait of a machine whose accounts are right would be no news, and a keeper's restart would write all of them.
    let is_pending = desk.is_pending();
    let Desk { mut accounts, .. } = desk;
    let until = match next {
        Next::Ask { user, ask, with } if machine.node_ask.is_none() => {
            Some(ask_for(draft, machine, &mut accounts, (&user, ask, with), now))
        }
        // Its node is asked first; one request at a time.
        Next::Ask { .. } => None,
        Next::Look => {
            draft.plan.looks.insert(LookStep { machine: Some(machine.name.clone()), at: LookAt::Accounts });
            None
        }
        Next::Wait { until } => until,
    };
    if is_pending {
        waits.push(Wait { kind: WaitKind::Accounts, since: now, expected_by: Some(now + limits.expected_power_on) });
    }
    accounts.users.retain(|_, known| *known != BmcUser::default());
    if accounts.users.is_empty() && expiry.is_none() {
        return None;
    }
    machine.accounts = (!accounts.users.is_empty()).then(|| Box::new(accounts));
    [until, expiry].into_iter().flatten().filter(|at| *at > now).min()
}

/// The users of the key sets that are in force.
fn wanted(snapshot: &Snapshot, now: Timestamp) -> BTreeMap<&str, Wanted<'_>> {
    let sets = snapshot.key_sets.values().map(AsRef::as_ref).filter(|set| set.kind == KeySetKind::Bmc && is_key_set_valid(set, now));
    let users = sets.flat_map(|set| {
        set.users
            .iter()
            .map(move |user| (user.azure_user_name.as_str(), Wanted { set, privilege: &set.privilege, key: user.ssh_public_key.as_str() }))
    });
    users.collect()
}

/// Remembers the fault that answered what was asked last: the next answer takes its place.
fn note_answer(accounts: &mut BmcAccounts, observation: &Observation) {
    let Some(answer) = observation.answer.as_ref().filter(|answer| answer.operation.is_none()) else { return };
    for known in accounts.users.values_mut() {
        if let Some(asked) = known.ask.as_mut().filter(|asked| (asked.ask, asked.attempt) == (answer.ask, answer.attempt)) {
            asked.fault = Some(answer.fault.clone());
        }
    }
}

/// Writes the intent down and sends the request. Returns when its answer is given up.
fn ask_for(
    draft: &mut Draft,
    machine: &Machine,
    accounts: &mut BmcAccounts,
    (user, ask, with): (&str, DeviceAsk, With),
    now: Timestamp,
) -> Timestamp {
    accounts.asks = accounts.asks.saturating_add(1);
    let known = accounts.users.entry(user.to_owned()).or_default();
    let tries = known.ask.as_ref().filter(|earlier| earlier.ask == ask).map_or(1, |earlier| earlier.tries.saturating_add(1));
    known.ask = Some(AccountAsk { ask, attempt: accounts.asks, tries, at: now, fault: None });
    known.is_ours = true;
    let step = step_for(machine, None, ask, accounts.asks);
    draft.plan.steps.push(Step { with, reason: String::new(), ..step });
    now + settle_of(ask, &draft.after.cluster.limits)
}

/// What there is to do about the accounts of one BMC, and what to decide it by.
struct Desk<'a> {
    wanted: BTreeMap<&'a str, Wanted<'a>>,
    accounts: BmcAccounts,
    observation: &'a Observation,
    limits: &'a Limits,
    /// When a key set for BMCs was written last.
    written_at: Timestamp,
    now: Timestamp,
}

enum Next {
    Ask { user: String, ask: DeviceAsk, with: With },
    Look,
    Wait { until: Option<Timestamp> },
}

impl Desk<'_> {
    /// A BMC that is not heard is left to whoever looks at its power; it wakes us when it is back.
    fn decide(&mut self) -> Next {
        if self.observation.power.is_none() || self.observation.bmc.fault.is_some() {
            return Next::Wait { until: None };
        }
        let Some((looked, seen)) = self.look() else { return self.look_again() };
        if let Some(until) = self.awaits_answer(&looked) {
            return Next::Wait { until: Some(until) };
        }
        if let Some(next) = self.compare(&looked, &seen) {
            return next;
        }
        let asked = self.accounts.users.values().filter_map(|known| known.ask.as_ref());
        let unseen = asked.filter(|asked| asked.at >= looked.began_at).map(|asked| self.look_due_at(asked)).max();
        match unseen {
            Some(at) if at > self.now => Next::Wait { until: Some(at) },
            Some(_) => self.begin_look(),
            None => Next::Wait { until: Some(looked.began_at + self.limits.key_sets_every) },
        }
    }

    /// The latest look, if it counts: it began after what is wanted was written, and is not too old.
    fn look(&self) -> Option<(std::sync::Arc<Looked>, Vec<AccountSeen>)> {
        let looked = self.observation.looked.get(&LookAt::Accounts)?;
        let is_young = looked.began_at >= self.written_at && self.now < looked.began_at + self.limits.key_sets_every;
        match &looked.found {
            Ok(Found::Accounts(seen)) if is_young => Some((looked.clone(), seen.clone())),
            _ => None,
        }
    }

    fn begin_look(&self) -> Next {
        if self.observation.looking.contains(&LookAt::Accounts) { Next::Wait { until: None } } else { Next::Look }
    }

    fn look_again(&mut self) -> Next {
        let latest = self.observation.looked.get(&LookAt::Accounts).cloned();
        if let Some(looked) = latest.filter(|looked| looked.began_at >= self.written_at)
            && let Err(fault) = &looked.found
        {
            let pause = if self.note_not_offered(fault) { self.limits.key_sets_every } else { self.limits.last_retry };
            if self.now < looked.ended_at + pause {
                return Next::Wait { until: Some(looked.ended_at + pause) };
            }
        }
        self.begin_look()
    }

    /// Whether the BMC has no accounts to offer. Then no user can be on it.
    fn note_not_offered(&mut self, fault: &Fault) -> bool {
        let is_final = matches!(fault.class, FaultClass::Unsupported | FaultClass::Missing);
        if is_final {
            for user in self.wanted.keys() {
                let known = self.accounts.users.entry((*user).to_owned()).or_default();
                known.trouble = Some(format!("its BMC offers no accounts ({})", fault.detail));
            }
        }
        is_final
    }

    /// Until when an answer is still to come to what was asked last.
    fn awaits_answer(&self, looked: &Looked) -> Option<Timestamp> {
        let is_latest = |asked: &&AccountAsk| asked.attempt == self.accounts.asks && asked.at >= looked.began_at;
        let asked = self.accounts.users.values().filter_map(|known| known.ask.as_ref()).find(is_latest)?;
        let obeyed = self.observation.obeyed.as_ref();
        let is_obeyed =
            obeyed.is_some_and(|obeyed| obeyed.operation.is_none() && (obeyed.ask, obeyed.attempt) == (asked.ask, asked.attempt));
        let until = asked.at + settle_of(asked.ask, self.limits);
        (asked.fault.is_none() && !is_obeyed && self.now < until).then_some(until)
    }

    /// When it is looked whether an ask has come to something. The first time at once; what does not come is waited for.
    fn look_due_at(&self, asked: &AccountAsk) -> Timestamp {
        let pause = backoff(asked.tries, self.limits);
        match &asked.fault {
            _ if asked.tries > TRIES_TOLD => asked.at + pause.times(HOPELESS_PAUSE),
            None if asked.tries == 1 => self.now,
            Some(Fault { delivery: Delivery::Maybe, .. }) => asked.at + pause.max(settle_of(asked.ask, self.limits)),
            None | Some(_) => asked.at + pause,
        }
    }

    /// Holds what was seen against what is wanted, and notes it. Returns the first thing to ask for: removals first, since they
    /// make room.
    fn compare(&mut self, looked: &Looked, seen: &[AccountSeen]) -> Option<Next> {
        let find = |user: &str| seen.iter().find(|account| account.user == user);
        let users: Vec<String> = self.accounts.users.keys().cloned().collect();
        let mut first = None;
        for user in users.into_iter().filter(|user| !self.wanted.contains_key(user.as_str())) {
            if self.was_asked_since(&user, DeviceAsk::DropAccount, looked) {
                continue;
            }
            match find(&user) {
                Some(account) => {
                    let with = With::Account { user: user.clone(), path: Some(account.slot.clone()), privilege: None, key: None };
                    first.get_or_insert(Next::Ask { user, ask: DeviceAsk::DropAccount, with });
                }
                None => drop(self.accounts.users.remove(&user)),
            }
        }
        let has_keys = seen.iter().any(|account| account.keys.is_some());
        let wanted = std::mem::take(&mut self.wanted);
        for (user, wanted) in &wanted {
            let is_asked = self.was_asked_since(user, DeviceAsk::WriteAccount, looked);
            let known = self.accounts.users.entry((*user).to_owned()).or_default();
            if is_asked {
                note_hopeless(known);
            } else if let Some(with) = due(known, wanted, find(user), has_keys, user) {
                first.get_or_insert(Next::Ask { user: (*user).to_owned(), ask: DeviceAsk::WriteAccount, with });
            }
        }
        self.wanted = wanted;
        first
    }

    fn was_asked_since(&self, user: &str, ask: DeviceAsk, looked: &Looked) -> bool {
        let asked = self.accounts.users.get(user).and_then(|known| known.ask.as_ref());
        asked.is_some_and(|asked| asked.ask == ask && asked.at >= looked.began_at)
    }

    /// Whether something is yet to become so that may.
    fn is_pending(&self) -> bool {
        let lacks = self.wanted.iter().any(|(user, wanted)| {
            let known = self.accounts.users.get(*user);
            known.is_none_or(|known| known.trouble.is_none() && known.applied != Some(as_applied(wanted)))
        });
        lacks || self.accounts.users.keys().any(|user| !self.wanted.contains_key(user.as_str()))
    }
}

fn as_applied(wanted: &Wanted<'_>) -> AppliedUser {
    AppliedUser { key_set: wanted.set.name.clone(), edition: wanted.set.users_edition }
}

/// What no repetition can help is told, and so is what was tried often.
fn note_hopeless(known: &mut BmcUser) {
    let Some(asked) = &known.ask else { return };
    match &asked.fault {
        Some(fault) if matches!(react(asked.ask, fault), Reaction::GiveUp(_)) || asked.tries >= TRIES_TOLD => {
            known.trouble = Some(format!("its BMC does not take the account: {}", fault.detail));
        }
        None if asked.tries > TRIES_TOLD => {
            known.trouble = Some(format!("its BMC took the account {} times, and does not show it", asked.tries));
        }
        _ => {}
    }
}

/// What is to be asked so that the account becomes what is wanted; nothing if it is, or cannot become so.
fn due(known: &mut BmcUser, wanted: &Wanted<'_>, seen: Option<&AccountSeen>, has_keys: bool, user: &str) -> Option<With> {
    let trouble = match seen {
        Some(_) if !known.is_ours => Some("its BMC has an account of that name which is not of a key set"),
        // An account that nobody could log in to would only be one more door.
        _ if !has_keys => Some("its BMC offers no SSH keys for accounts"),
        _ => None,
    };
    if let Some(trouble) = trouble {
        known.trouble = Some(trouble.to_owned());
        known.applied = None;
        return None;
    }
    if seen.is_some_and(|account| is_as_wanted(account, wanted)) {
        *known = BmcUser { is_ours: true, ask: None, applied: Some(as_applied(wanted)), trouble: None };
        return None;
    }
    known.applied = None;
    // What the BMC refused to make is not ours: whoever has an account of that name later made it themselves.
    let was_refused = known.ask.as_ref().and_then(|asked| asked.fault.as_ref()).is_some_and(|fault| fault.delivery == Delivery::No);
    if seen.is_none() && was_refused {
        known.is_ours = false;
    }
    let path = seen.map(|account| account.slot.clone());
    Some(With::Account { user: user.to_owned(), path, privilege: Some(wanted.privilege.clone()), key: Some(wanted.key.to_owned()) })
}

fn is_as_wanted(account: &AccountSeen, wanted: &Wanted<'_>) -> bool {
    let is_key = |text: &String| match (ssh_key::read(text.trim()), ssh_key::read(wanted.key)) {
        (Ok(seen), Ok(wanted)) => (seen.kind, seen.key) == (wanted.kind, wanted.key),
        _ => false,
    };
    let has_key = account.keys.as_ref().is_some_and(|keys| keys.len() == 1 && keys.iter().all(is_key));
    account.enabled && account.role.eq_ignore_ascii_case(wanted.privilege.level()) && has_key
}
