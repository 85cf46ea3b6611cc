//! What the BMC's own logs call critical or a warning.

use model::{AlarmSeen, Fault, PartHealth, shortened};
use serde_json::Value;

use crate::bmc::{Bmc, System};
use crate::document::{self, field, flag, items, link, text};
use crate::line::Deadline;
use crate::listing::{Listing, is_absence};

/// Alarms that are kept, the latest first. A machine that has more has one trouble that repeats itself.
const MAX_ALARMS: usize = 50;

/// Entries that are read of a log which lists them as links: each is a request.
const MAX_LINKED_ENTRIES: usize = 50;

impl Bmc {
    pub(super) async fn inspect_alarms(&self, system: &System) -> Result<Option<Vec<AlarmSeen>>, Fault> {
        let deadline = Deadline::of_call();
        let mut owners = vec![system.document().clone()];
        for path in self.managers(system, deadline).await? {
            owners.extend(self.read_if_there(&path, deadline).await?);
        }
        let mut alarms: Option<Vec<AlarmSeen>> = None;
        for services in owners.iter().filter_map(|owner| document::linked(owner, "LogServices")) {
            let services = match self.list(&services, deadline).await {
                Ok(services) => services,
                Err(fault) if is_absence(&fault) => continue,
                Err(fault) => return Err(fault),
            };
            for service in services.members.iter().filter(|service| flag(&service.document, "ServiceEnabled") != Some(false)) {
                let Some(entries) = document::linked(&service.document, "Entries") else { continue };
                let Some(page) = self.read_if_there(&entries, Deadline::of_call()).await? else { continue };
                let entries = self.read_entries(&page).await?;
                alarms.get_or_insert_default().extend(entries.iter().filter_map(read_alarm));
            }
        }
        Ok(alarms.map(latest))
    }

    /// The entries of a log's first page: it has the latest, and those before them say what was.
    async fn read_entries(&self, page: &Value) -> Result<Vec<Value>, Fault> {
        let is_whole = |entry: &Value| entry.as_object().is_some_and(|entry| entry.keys().any(|key| !key.starts_with('@')));
        let (mut whole, linked): (Vec<Value>, Vec<Value>) = items(field(page, "Members")).cloned().partition(is_whole);
        let linked: Vec<Value> = linked.into_iter().filter(|entry| link(entry).is_some()).take(MAX_LINKED_ENTRIES).collect();
        let mut listing = Listing::default();
        self.read_members(&linked, &mut listing, Deadline::of_call()).await?;
        whole.extend(listing.members.into_iter().map(|member| member.document));
        Ok(whole)
    }
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

/// By when they were written, as the BMC writes it; those that do not tell come last.
fn latest(mut alarms: Vec<AlarmSeen>) -> Vec<AlarmSeen> {
    alarms.sort_by(|a, b| b.created.cmp(&a.created));
    alarms.truncate(MAX_ALARMS);
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
    }
}
