//! The pieces that many documents share.

use serde_json::{Value, json};
use world::PowerState;

use super::answer::Answer;

pub(super) fn link(path: impl Into<String>) -> Value {
    json!({"@odata.id": path.into()})
}

/// A collection resource. `kind` is the schema without `Collection`.
pub(super) fn collection(path: &str, kind: &str, name: &str, members: impl IntoIterator<Item = String>) -> Answer {
    let members: Vec<Value> = members.into_iter().map(link).collect();
    Answer::ok(&json!({
        "@odata.id": path,
        "@odata.type": format!("#{kind}Collection.{kind}Collection"),
        "Name": name,
        "Members@odata.count": members.len(),
        "Members": members,
    }))
}

pub(super) fn enabled() -> Value {
    json!({"State": "Enabled", "Health": "OK"})
}

/// The status of a part that lives and dies with the system's power.
pub(super) fn powered(power: PowerState) -> Value {
    match power {
        PowerState::On => enabled(),
        _ => json!({"State": "StandbyOffline", "Health": "OK"}),
    }
}

/// An id such as `CPU.Socket.2`: a vendor's prefix and a number, spelled in the one way that the service spells it.
pub(super) fn numbered(prefix: &str, id: &str) -> Option<u32> {
    let digits = id.strip_prefix(prefix)?;
    digits.parse().ok().filter(|number: &u32| number.to_string() == digits)
}
