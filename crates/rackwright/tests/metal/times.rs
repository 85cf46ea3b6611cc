//! How long an installation took, as its journal has it: `bench metal` reads these lines.

use model::Timestamp;
use serde_json::Value;

/// What was told at the end of each part, as the journal names it.
const ENDS: [(&str, &str); 3] =
    [("until the agent calls", "exchange"), ("until the image is written", "written"), ("until the system calls", "phonedHome")];

/// One line for each part of it, and one for the whole.
pub fn tell(machine: &str, operation: &Value) {
    let asked = time(&operation["acceptedAt"]);
    let mut began = asked;
    for (part, report) in ENDS {
        let told = operation["journal"].as_array().into_iter().flatten().find(|entry| entry["fact"]["report"]["kind"] == report);
        let ended = told.map(|entry| time(&entry["at"])).expect("an installation that ended well has told of all of it");
        tell_part(machine, part, began, ended);
        began = ended;
    }
    tell_part(machine, "until its node is ready and all is done", began, time(&operation["endedAt"]));
    tell_part(machine, "all of it", asked, time(&operation["endedAt"]));
}

fn tell_part(machine: &str, part: &str, began: Timestamp, ended: Timestamp) {
    println!("took\t{machine}\t{part}\t{}", ended.since(began).to_std().as_secs_f64());
}

fn time(value: &Value) -> Timestamp {
    serde_json::from_value(value.clone()).expect("it is a time")
}
