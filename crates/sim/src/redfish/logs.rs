//! The BMC's log over HTTP: every reset it received, every change of power it saw, and what it did itself.

use serde_json::{Value, json};
use world::{LogEntry, Logged};

use super::Bmc;
use super::answer::Answer;
use super::call::Call;
use super::document::{self, link};

/// The registry that our entries' message ids belong to.
pub(super) const REGISTRY_PREFIX: &str = "RackwrightSim";
const REGISTRY_VERSION: &str = "1.0";

pub(super) fn services(call: &Call<'_>) -> Result<Answer, Answer> {
    let profile = call.bmc.profile();
    let path = format!("{}/LogServices", profile.manager_path());
    Ok(document::collection(&path, "LogService", "Log Service Collection", [profile.log_path()]))
}

pub(super) fn service(call: &Call<'_>) -> Result<Answer, Answer> {
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    Ok(Answer::ok(&json!({
        "@odata.id": profile.log_path(),
        "@odata.type": "#LogService.v1_4_0.LogService",
        "Id": profile.log_id,
        "Name": profile.log_name,
        "LogEntryType": "Event",
        "OverWritePolicy": "WrapsWhenFull",
        "ServiceEnabled": true,
        "DateTime": bmc.date(bmc.site.now()),
        "DateTimeLocalOffset": "+00:00",
        "Status": document::enabled(),
        "Entries": link(format!("{}/Entries", profile.log_path())),
    })))
}

pub(super) fn entries(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let entries: Vec<LogEntry> = bmc.site.look(|world| world.bmc_log(bmc.index).entries().cloned().collect());
    let members: Vec<Value> = entries.iter().map(|entry| document(bmc, entry)).collect();
    Ok(Answer::ok(&json!({
        "@odata.id": format!("{}/Entries", bmc.profile().log_path()),
        "@odata.type": "#LogEntryCollection.LogEntryCollection",
        "Name": "Log Entry Collection",
        "Members@odata.count": members.len(),
        "Members": members,
    })))
}

pub(super) fn entry(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let number = document::numbered("", call.id).map(u64::from);
    let found = bmc.site.look(|world| world.bmc_log(bmc.index).entries().find(|entry| Some(entry.number) == number).cloned());
    found.map(|entry| Answer::ok(&document(bmc, &entry))).ok_or_else(|| call.missing())
}

pub(super) fn entry_path(bmc: &Bmc, number: u64) -> String {
    format!("{}/Entries/{number}", bmc.profile().log_path())
}

/// An entry in Redfish's words.
pub(super) struct Told {
    pub message_id: String,
    pub message: String,
    pub arguments: Vec<String>,
    pub severity: &'static str,
    /// The resource that it happened to.
    pub origin: String,
    pub event_type: &'static str,
}

pub(super) fn tell(bmc: &Bmc, entry: &LogEntry) -> Told {
    let (system, manager) = (bmc.profile().system_path(), bmc.profile().manager_path());
    let told = |id: &str, message: String, arguments: Vec<String>, origin: String| Told {
        message_id: format!("{REGISTRY_PREFIX}.{REGISTRY_VERSION}.{id}"),
        message,
        arguments,
        severity: "OK",
        origin,
        event_type: "StatusChange",
    };
    match &entry.logged {
        Logged::ResetRequested { reset, status } => {
            let message = format!("Reset {reset} was requested and answered with {status}.");
            let told = told("ResetRequested", message, vec![reset.clone(), status.to_string()], system);
            Told { event_type: "Alert", ..told }
        }
        Logged::PoweredOn => told("PoweredOn", "The system powered on.".to_owned(), Vec::new(), system),
        Logged::PoweredOff => told("PoweredOff", "The system powered off.".to_owned(), Vec::new(), system),
        Logged::BmcRestarted => told("BmcRestarted", "The BMC restarted.".to_owned(), Vec::new(), manager),
        Logged::TaskEnded { task, has_succeeded } => {
            let id = format!("{}{task}", bmc.profile().task_prefix);
            let (word, outcome, severity) =
                if *has_succeeded { ("TaskCompleted", "completed", "OK") } else { ("TaskFailed", "failed", "Critical") };
            let origin = format!("/redfish/v1/TaskService/Tasks/{id}");
            Told { severity, ..told(word, format!("Task {id} {outcome}."), vec![id], origin) }
        }
        Logged::MediaInserted { image } => told("MediaInserted", format!("Media {image} was inserted."), vec![image.clone()], manager),
        Logged::MediaEjected { image } => told("MediaEjected", format!("Media {image} was ejected."), vec![image.clone()], manager),
        Logged::BiosSettingsApplied => {
            told("BiosSettingsApplied", "Pending BIOS settings were applied.".to_owned(), Vec::new(), format!("{system}/Bios"))
        }
    }
}

fn document(bmc: &Bmc, entry: &LogEntry) -> Value {
    let told = tell(bmc, entry);
    json!({
        "@odata.id": entry_path(bmc, entry.number),
        "@odata.type": "#LogEntry.v1_14_0.LogEntry",
        "Id": entry.number.to_string(),
        "Name": format!("Log Entry {}", entry.number),
        "EntryType": "Event",
        "Severity": told.severity,
        "Created": bmc.date(entry.at),
        "Message": told.message,
        "MessageId": told.message_id,
        "MessageArgs": told.arguments,
    })
}
