//! Waits: what is waited for, since when, what ends it, and whether it is late.

use serde_json::Value;

use super::clock::Clock;
use super::layout::Fact;
use crate::cli::answer::{field_or_dash, is_true};
use crate::cli::screen::Tone;

pub fn is_late(wait: &Value) -> bool {
    is_true(wait, "/late")
}

pub fn tone(wait: &Value) -> Tone {
    if is_late(wait) { Tone::Alarm } else { Tone::Plain }
}

/// `LATE`, with when it should have been over; or when it is expected to be; or nothing, where only a person ends it.
pub fn lateness(wait: &Value, clock: Clock) -> String {
    match (is_late(wait), wait["expectedBy"].is_string()) {
        (true, true) => format!("LATE, expected by {}", clock.time(wait, "/expectedBy")),
        (true, false) => "LATE".to_owned(),
        (false, true) => format!("expected by {}", clock.time(wait, "/expectedBy")),
        (false, false) => String::new(),
    }
}

/// A wait on two lines: what and since when, then what ends it.
pub fn wait_facts(wait: &Value, clock: Clock) -> [Fact<'static>; 2] {
    let lateness = lateness(wait, clock);
    let comma = if lateness.is_empty() { "" } else { ", " };
    let what = format!("{}, since {}{comma}{lateness}", field_or_dash(wait, "/what"), clock.time(wait, "/since"));
    [(tone(wait), "waits for", what), (Tone::Plain, "", format!("ends when {}", field_or_dash(wait, "/endsWhen")))]
}
