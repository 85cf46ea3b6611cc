//! How an operation ended, in words and in the exit code.

use serde_json::Value;

use super::answer::{field, field_or_dash, items, short_id, target_of};
use super::render::{Clock, operation_table};
use super::screen::Screen;
use super::session::Session;
use super::trouble::{Exit, Trouble};

/// What the person who follows an operation hopes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Success,
    /// It was asked to stop.
    Cancel,
}

/// Shows the end on stdout; an end that was not wanted is trouble.
pub fn conclude(session: &Session, screen: &mut Screen, ended: &Value, wanted: Wanted) -> Result<(), Trouble> {
    if !session.showing.is_for_people() {
        let shown = session.showing.list(screen, ended, || operation_table(std::slice::from_ref(ended), Clock::of_process()));
        // A query that does not fit must not hide what was done.
        shown.map_err(|trouble| trouble.detail(format!("the operation itself ended as {}", field_or_dash(ended, "/status"))))?;
    }
    judge(ended, wanted)?;
    if session.showing.is_for_people() {
        screen.data(&field(ended, "/message").unwrap_or_else(|| "done".to_owned()))?;
        if let Some(next) = field(ended, "/next") {
            screen.hint(&next_hint(&next));
        }
    }
    Ok(())
}

fn judge(ended: &Value, wanted: Wanted) -> Result<(), Trouble> {
    let id = field_or_dash(ended, "/id");
    let id = short_id(&id);
    let machine = target_of(ended);
    let (exit, subject) = match (ended["status"].as_str(), wanted) {
        (Some("Succeeded"), Wanted::Success) | (Some("Canceled"), Wanted::Cancel) => return Ok(()),
        (Some("Canceled"), Wanted::Success) => (Exit::Canceled, format!("operation {id} on `{machine}` was cancelled")),
        (Some("Failed"), Wanted::Success) => {
            let what = if is_half_emptied(ended) {
                "was cordoned, but not emptied".to_owned()
            } else {
                format!("was not {}", participle(&field_or_dash(ended, "/action")))
            };
            (Exit::Failed, format!("`{machine}` {what}"))
        }
        (_, Wanted::Cancel) => (Exit::Failed, format!("operation {id} on `{machine}` ended before it could be cancelled")),
        (_, Wanted::Success) => (Exit::Failed, format!("operation {id} on `{machine}` ended as {}", field_or_dash(ended, "/status"))),
    };
    let mut trouble = Trouble::new(exit, subject);
    trouble.details = field(ended, "/message").map(|message| told(&message)).unwrap_or_default();
    trouble.hint = Some(match field(ended, "/next") {
        Some(next) => next_hint(&next),
        None => format!("`rackwright operation show {id}` tells what happened"),
    });
    Err(trouble)
}

/// Whether it is an evacuation that failed after the cordon, which stays.
fn is_half_emptied(ended: &Value) -> bool {
    let is_cordoned = |step: &Value| step["name"] == "Cordon" && matches!(step["status"].as_str(), Some("Completed" | "Skipped"));
    ended["action"] == "cordon" && items(ended, "/steps").iter().any(is_cordoned)
}

/// What happened and what it left behind are two facts, and so two lines.
pub fn told(message: &str) -> Vec<String> {
    match message.split_once(". Left behind: ") {
        Some((happened, left)) => vec![happened.to_owned(), format!("left behind: {left}")],
        None => vec![message.to_owned()],
    }
}

fn next_hint(next: &str) -> String {
    format!("next: `{next}`")
}

fn participle(action: &str) -> String {
    match action {
        "power-off" => "powered off".to_owned(),
        "start" => "started".to_owned(),
        "restart" => "restarted".to_owned(),
        "cordon" => "cordoned".to_owned(),
        "uncordon" => "uncordoned".to_owned(),
        "create" => "created".to_owned(),
        "delete" => "deleted".to_owned(),
        "reimage" => "reimaged".to_owned(),
        "restart-node" => "restarted".to_owned(),
        other => format!("changed by {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::captured;
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    fn ended(status: &str, message: &str, next: Option<&str>) -> Value {
        json!({
            "id": "8f3c1a2b-0000-4000-8000-000000000001", "machine": "rack1compute01", "action": "power-off",
            "status": status, "message": message, "next": next,
        })
    }

    #[expect(clippy::needless_pass_by_value, reason = "an inline snapshot reads best by value")]
    fn check(ended: Value, wanted: Wanted, exit: Exit, expected: Expect) {
        let trouble = judge(&ended, wanted).unwrap_err();
        assert_eq!(trouble.exit, exit);
        let (mut screen, _, err) = captured();
        screen.trouble(&trouble);
        expected.assert_eq(&err.text());
    }

    #[test]
    fn a_failure_tells_what_is_left_behind_and_what_to_type_next() {
        let message = "power-off failed: Power Off did not end in time; it waited for the effect of the graceful shutdown. \
                       Left behind: power On; holds none";
        check(
            ended("Failed", message, Some("rackwright bmm power-off rack1compute01 --skip-shutdown")),
            Wanted::Success,
            Exit::Failed,
            expect![[r#"
                error: `rack1compute01` was not powered off
                  power-off failed: Power Off did not end in time; it waited for the effect of the graceful shutdown
                  left behind: power On; holds none
                hint: next: `rackwright bmm power-off rack1compute01 --skip-shutdown`
            "#]],
        );
    }

    #[test]
    fn a_machine_that_could_not_be_emptied_is_cordoned_all_the_same() {
        let message = "evacuation failed: pods of node `n1` of `naks-01` could not be evicted, and its drain policy is hold. \
                       Left behind: power On; holds evacuation by alice, operation 8f3c1a2b; to be brought back: 1 tenant node";
        let mut ended = ended("Failed", message, Some("rackwright bmm uncordon rack1compute01"));
        ended["action"] = json!("cordon");
        ended["steps"] = json!([{ "name": "Cordon", "status": "Completed" }, { "name": "Drain", "status": "Failed" }]);
        check(
            ended.clone(),
            Wanted::Success,
            Exit::Failed,
            expect![[r#"
                error: `rack1compute01` was cordoned, but not emptied
                  evacuation failed: pods of node `n1` of `naks-01` could not be evicted, and its drain policy is hold
                  left behind: power On; holds evacuation by alice, operation 8f3c1a2b; to be brought back: 1 tenant node
                hint: next: `rackwright bmm uncordon rack1compute01`
            "#]],
        );
        ended["steps"][0]["status"] = json!("Failed");
        assert_eq!(judge(&ended, Wanted::Success).unwrap_err().message, "`rack1compute01` was not cordoned");
    }

    #[test]
    fn a_cancelled_operation_is_no_success_unless_it_was_to_be_cancelled() {
        let message = "cancelled by bob during Power Off. Left behind: power On; holds none.";
        check(
            ended("Canceled", message, Some("rackwright bmm show rack1compute01")),
            Wanted::Success,
            Exit::Canceled,
            expect![[r#"
            error: operation 8f3c1a2b on `rack1compute01` was cancelled
              cancelled by bob during Power Off
              left behind: power On; holds none.
            hint: next: `rackwright bmm show rack1compute01`
        "#]],
        );
        assert_eq!(judge(&ended("Canceled", message, None), Wanted::Cancel), Ok(()));
    }

    #[test]
    fn an_operation_that_ends_before_its_cancel_says_so() {
        check(
            ended("Succeeded", "`rack1compute01` was powered off", None),
            Wanted::Cancel,
            Exit::Failed,
            expect![[r#"
            error: operation 8f3c1a2b on `rack1compute01` ended before it could be cancelled
              `rack1compute01` was powered off
            hint: `rackwright operation show 8f3c1a2b` tells what happened
        "#]],
        );
        assert_eq!(judge(&ended("Succeeded", "fine", None), Wanted::Success), Ok(()));
    }
}
