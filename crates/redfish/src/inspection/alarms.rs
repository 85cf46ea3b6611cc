//! What the BMC's own logs call critical or a warning, and how far that can be relied on.
//!
//! No standard says in which order a log is listed: some have the latest first, others the oldest. A log is therefore followed page
//! by page until a whole day of it is known to have been read, and what is left unread is counted, so that it is not taken for none.

use model::{AlarmSeen, Fault, LogSeen, PartHealth, Span, Timestamp, shortened};
use serde_json::Value;

use crate::bmc::{Bmc, System};
use crate::document::{self, field, flag, items, link, text};
use crate::line::Deadline;
use crate::listing::{Listing, is_absence};

/// Alarms that are kept, the latest first. A machine that has more has one trouble that repeats itself.
const MAX_ALARMS: usize = 50;

/// Entries that are read of a log which lists them as links: each is a request.
const MAX_LINKED_ENTRIES: usize = 50;

/// Pages that are read of a log. With fifty entries each, as is usual, that is a thousand; and each is a request that a slow BMC
/// takes seconds for.
const MAX_PAGES: usize = 20;

/// How far back a log is read that has the latest first.
const LOG_DEPTH: Span = Span::hours(24);

impl Bmc {
    pub(super) async fn inspect_alarms(&self, system: &System) -> Result<Option<(Vec<AlarmSeen>, LogSeen)>, Fault> {
        let deadline = Deadline::of_call();
        let mut owners = vec![system.document().clone()];
        for path in self.managers(system, deadline).await? {
            owners.extend(self.read_if_there(&path, deadline).await?);
        }
        let mut log = LogSeen { clock: owners.iter().find_map(|owner| text(owner, "DateTime")), unread: 0 };
        let mut alarms: Option<Vec<AlarmSeen>> = None;
        for services in owners.iter().filter_map(|owner| document::linked(owner, "LogServices")) {
            let services = match self.list(&services, deadline).await {
                Ok(services) => services,
                Err(fault) if is_absence(&fault) => continue,
                Err(fault) => return Err(fault),
            };
            log.unread += services.unread;
            for service in services.members.iter().filter(|service| flag(&service.document, "ServiceEnabled") != Some(false)) {
                let Some(entries) = document::linked(&service.document, "Entries") else { continue };
                let Some(page) = self.read_if_there(&entries, Deadline::of_call()).await? else { continue };
                let entries = self.read_log(page).await?;
                log.unread += entries.unread;
                alarms.get_or_insert_default().extend(entries.members.iter().filter_map(read_alarm));
            }
        }
        Ok(alarms.map(|alarms| (latest(alarms), log)))
    }

    /// The entries of a log from its first page on.
    async fn read_log(&self, first: Value) -> Result<Listing<Value>, Fault> {
        let (mut page, mut listed, mut unread) = (first, Vec::new(), 0);
        for number in 1..=MAX_PAGES {
            let before = listed.len();
            listed.extend(items(field(&page, "Members")).cloned());
            let next = text(&page, "Members@odata.nextLink").as_deref().and_then(document::local_path);
            let Some(next) = next.filter(|_| listed.len() > before && !is_read_deep_enough(&listed)) else { break };
            let following = if number < MAX_PAGES { self.read_if_answered(&next, Deadline::of_call()).await? } else { None };
            let Some(following) = following else {
                unread += 1;
                break;
            };
            page = following;
        }
        let (mut members, linked): (Vec<Value>, Vec<Value>) = listed.into_iter().partition(is_whole);
        unread += self.read_linked(&linked, &mut members).await?;
        Ok(Listing { members, unread })
    }

    /// Reads the latest of entries that are listed as links; returns how many were left.
    async fn read_linked(&self, linked: &[Value], members: &mut Vec<Value>) -> Result<usize, Fault> {
        let mut listing = Listing::default();
        let mut chosen = linked;
        if linked.len() > MAX_LINKED_ENTRIES {
            let (first, last) = (&linked[..1], &linked[linked.len() - 1..]);
            self.read_members(&[first, last].concat(), &mut listing, Deadline::of_call()).await?;
            let ends: Vec<Value> = listing.members.drain(..).map(|member| member.document).collect();
            listing.unread = 0;
            chosen = if is_latest_first(&ends) { &linked[..MAX_LINKED_ENTRIES] } else { &linked[linked.len() - MAX_LINKED_ENTRIES..] };
        }
        self.read_members(chosen, &mut listing, Deadline::of_call()).await?;
        let read: Vec<Value> = listing.members.into_iter().map(|member| member.document).collect();
        let left = if spans_depth(&read) { 0 } else { linked.len() - chosen.len() };
        members.extend(read);
        Ok(listing.unread + left)
    }
}

/// Whether an entry stands in its log in full rather than as a link.
fn is_whole(entry: &Value) -> bool {
    entry.as_object().is_some_and(|entry| entry.keys().any(|key| !key.starts_with('@'))) || link(entry).is_none()
}

/// Whether the pages that follow can have nothing that is still of interest.
fn is_read_deep_enough(entries: &[Value]) -> bool {
    is_latest_first(entries) && spans_depth(entries)
}

fn written_at(entries: &[Value]) -> impl DoubleEndedIterator<Item = Timestamp> + '_ {
    entries.iter().filter_map(|entry| Timestamp::parse(&text(entry, "Created")?))
}

fn is_latest_first(entries: &[Value]) -> bool {
    matches!((written_at(entries).next(), written_at(entries).next_back()), (Some(first), Some(last)) if first > last)
}

fn spans_depth(entries: &[Value]) -> bool {
    matches!((written_at(entries).min(), written_at(entries).max()), (Some(oldest), Some(latest)) if latest > oldest + LOG_DEPTH)
}

fn read_alarm(entry: &Value) -> Option<AlarmSeen> {
    let told = text(entry, "Severity").or_else(|| text(entry, "MessageSeverity"))?;
    let health = match told.to_ascii_lowercase().as_str() {
        "critical" => PartHealth::Critical,
        "warning" => PartHealth::Warning,
        _ => return None,
    };
    let message = text(entry, "Message").or_else(|| text(entry, "MessageId")).unwrap_or_else(|| "without a message".to_owned());
    // One that was dealt with says nothing of how the machine is.
    (flag(entry, "Resolved") != Some(true)).then(|| AlarmSeen { health, message: shortened(&message), created: text(entry, "Created") })
}

/// By when they were written, as the BMC writes it; those that do not tell come last. No warning takes the place of what is critical.
fn latest(mut alarms: Vec<AlarmSeen>) -> Vec<AlarmSeen> {
    alarms.sort_by(|a, b| (b.health, &b.created).cmp(&(a.health, &a.created)));
    alarms.truncate(MAX_ALARMS);
    alarms.sort_by(|a, b| b.created.cmp(&a.created));
    alarms
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_alarm_is_critical_or_a_warning_and_not_resolved() {
        let read = |entry: Value| read_alarm(&entry).map(|alarm| (alarm.health, alarm.message));
        let fan = || "Fan 1 failed.".to_owned();
        assert_eq!(read(json!({"Severity": "Critical", "Message": "Fan 1 failed."})), Some((PartHealth::Critical, fan())));
        assert_eq!(read(json!({"MessageSeverity": "warning", "Message": "Fan 1 failed."})), Some((PartHealth::Warning, fan())));
        assert_eq!(read(json!({"Severity": "Critical", "Resolved": true, "Message": "Fan 1 failed."})), None);
        assert_eq!(read(json!({"Severity": "OK", "Message": "Fan 1 is back."})), None);
        assert_eq!(read(json!({"Message": "Fan 1 failed."})), None);
    }

    #[test]
    fn the_latest_alarms_are_kept() {
        let alarm = |n: usize| AlarmSeen { health: PartHealth::Warning, message: String::new(), created: Some(format!("2026-11-{n:03}")) };
        let kept = latest((0..MAX_ALARMS + 5).map(alarm).collect());
        assert_eq!((kept.len(), kept[0].created.as_deref()), (MAX_ALARMS, Some("2026-11-054")));
        let critical = AlarmSeen { health: PartHealth::Critical, created: Some("2026-11-000".into()), message: String::new() };
        let kept = latest((0..MAX_ALARMS + 5).map(alarm).chain([critical.clone()]).collect());
        assert_eq!((kept.len(), kept.last()), (MAX_ALARMS, Some(&critical)));
    }

    #[test]
    fn a_log_is_read_deep_enough_when_its_latest_come_first_and_a_day_has_been_read() {
        let log = |dates: &[&str]| dates.iter().map(|date| json!({ "Created": date })).collect::<Vec<_>>();
        assert!(is_read_deep_enough(&log(&["2026-11-15T10:00:00Z", "2026-11-14T09:00:00Z"])));
        assert!(!is_read_deep_enough(&log(&["2026-11-15T10:00:00Z", "2026-11-15T09:00:00Z"])));
        assert!(!is_read_deep_enough(&log(&["2026-11-14T09:00:00Z", "2026-11-15T10:00:00Z"])));
        assert!(!is_read_deep_enough(&log(&["yesterday", "now"])));
    }
}
