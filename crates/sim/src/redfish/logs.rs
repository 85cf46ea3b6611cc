//! The BMC's log over HTTP: every reset it received and every change of power it saw.

use serde_json::{Value, json};
use world::{LogEntry, Logged};

use super::answer::Answer;
use super::{Bmc, errors};

/// The registry that our entries' message ids belong to.
const REGISTRY: &str = "RackwrightSim.1.0";

pub(super) fn services(bmc: &Bmc) -> Answer {
    let profile = bmc.profile();
    Answer::ok(&json!({
        "@odata.id": format!("{}/LogServices", profile.manager_path()),
        "@odata.type": "#LogServiceCollection.LogServiceCollection",
        "Name": "Log Service Collection",
        "Members@odata.count": 1,
        "Members": [{"@odata.id": profile.log_path()}],
    }))
}

pub(super) fn service(bmc: &Bmc) -> Answer {
    let profile = bmc.profile();
    Answer::ok(&json!({
        "@odata.id": profile.log_path(),
        "@odata.type": "#LogService.v1_4_0.LogService",
        "Id": profile.log_id,
        "Name": profile.log_name,
        "LogEntryType": "Event",
        "OverWritePolicy": "WrapsWhenFull",
        "ServiceEnabled": true,
        "DateTime": bmc.site.now().to_seconds_text(),
        "DateTimeLocalOffset": "+00:00",
        "Status": {"State": "Enabled", "Health": "OK"},
        "Entries": {"@odata.id": format!("{}/Entries", profile.log_path())},
    }))
}

pub(super) fn entries(bmc: &Bmc) -> Answer {
    let members: Vec<Value> = bmc.site.look(|world| world.bmc_log(bmc.index).entries().map(|entry| document(bmc, entry)).collect());
    Answer::ok(&json!({
        "@odata.id": format!("{}/Entries", bmc.profile().log_path()),
        "@odata.type": "#LogEntryCollection.LogEntryCollection",
        "Name": "Log Entry Collection",
        "Members@odata.count": members.len(),
        "Members": members,
    }))
}

pub(super) fn entry(bmc: &Bmc, number: u64) -> Result<Answer, Answer> {
    let found = bmc.site.look(|world| world.bmc_log(bmc.index).entries().find(|entry| entry.number == number).cloned());
    match found {
        Some(entry) => Ok(Answer::ok(&document(bmc, &entry))),
        None => Err(errors::missing(&format!("{}/Entries/{number}", bmc.profile().log_path()))),
    }
}

fn document(bmc: &Bmc, entry: &LogEntry) -> Value {
    let (id, message, arguments) = match &entry.logged {
        Logged::ResetRequested { reset, status } => {
            let message = format!("Reset {reset} was requested and answered with {status}.");
            ("ResetRequested", message, vec![reset.clone(), status.to_string()])
        }
        Logged::PoweredOn => ("PoweredOn", "The system powered on.".to_owned(), Vec::new()),
        Logged::PoweredOff => ("PoweredOff", "The system powered off.".to_owned(), Vec::new()),
    };
    json!({
        "@odata.id": format!("{}/Entries/{}", bmc.profile().log_path(), entry.number),
        "@odata.type": "#LogEntry.v1_14_0.LogEntry",
        "Id": entry.number.to_string(),
        "Name": format!("Log Entry {}", entry.number),
        "EntryType": "Event",
        "Severity": "OK",
        "Created": entry.at.to_seconds_text(),
        "Message": message,
        "MessageId": format!("{REGISTRY}.{id}"),
        "MessageArgs": arguments,
    })
}
