//! Reading the server's answers: the error envelope, and fields of JSON that go to a terminal.

use serde_json::Value;

use super::trouble::{Exit, Trouble};

/// Text from elsewhere, made safe for a terminal: it cannot move the cursor, change colours or break a line.
pub fn text_of(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The string at a path like `/properties/rackSlot`; numbers and truths as they are written; nothing if absent.
pub fn field(value: &Value, pointer: &str) -> Option<String> {
    match value.pointer(pointer)? {
        Value::String(text) => Some(text_of(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The same, or a dash for the eye.
pub fn field_or_dash(value: &Value, pointer: &str) -> String {
    field(value, pointer).filter(|text| !text.is_empty()).unwrap_or_else(|| "-".to_owned())
}

pub fn is_true(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or(false)
}

pub fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The last segment of a resource id: its name.
pub fn name_in_id(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

/// The segment of a resource id that follows `key`.
pub fn segment_after<'a>(id: &'a str, key: &str) -> Option<&'a str> {
    let mut segments = id.split('/').skip_while(|segment| !segment.eq_ignore_ascii_case(key));
    segments.nth(1)
}

/// As much of an operation's id as people type.
pub fn short_id(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// What an operation is at work on. A server of before there was anything but machines names only those.
pub fn target_of(operation: &Value) -> String {
    field(operation, "/target").unwrap_or_else(|| field_or_dash(operation, "/machine"))
}

/// An action's verb as it is typed here.
pub fn command_of(verb: &str) -> &str {
    match verb {
        "powerOff" => "power-off",
        "restartNode" => "restart-node",
        "validateHardware" => "validate",
        other => other,
    }
}

/// Codes of what was administered: the same request may be carried out when somebody has changed that.
const STANDING: [&str; 4] = ["MissingSubscriptionRegistration", "QuotaExceeded", "ReadOnlyDisabledSubscription", "ScopeLocked"];

/// An error envelope as a person reads it: a refusal with its rule, its evidence and its remedy, or a plain message.
pub fn trouble_of(status: u16, envelope: &Value) -> Trouble {
    let refusal = items(envelope, "/error/additionalInfo")
        .iter()
        .find(|info| info["type"] == "Refusal")
        .and_then(|info| info.get("info"))
        .filter(|info| info.is_object());
    let exit = match (status, refusal) {
        (404, _) => Exit::NotFound,
        (401 | 403, _) => Exit::Refused,
        (400 | 409 | 429, Some(_)) => Exit::Refused,
        // It is no longer as the request supposes.
        (412, _) => Exit::Refused,
        (_, None) if STANDING.contains(&field_or_dash(envelope, "/error/code").as_str()) => Exit::Refused,
        // The request as it was typed can never be carried out.
        (400 | 409 | 413, None) => Exit::Usage,
        _ => Exit::Failed,
    };
    match refusal {
        Some(refusal) => refused(exit, refusal),
        None => {
            let message = field(envelope, "/error/message").unwrap_or_else(|| format!("the server answered {status}"));
            let trouble = Trouble::new(exit, message);
            if status == 401 { trouble.hint("`rackwright login` makes a context that the server knows") } else { trouble }
        }
    }
}

pub fn refused(exit: Exit, refusal: &Value) -> Trouble {
    let subject = field(refusal, "/subject").unwrap_or_else(|| "this cannot be done".to_owned());
    let rule = field_or_dash(refusal, "/rule");
    let mut trouble = Trouble::new(exit, subject);
    let evidence: Vec<String> = items(refusal, "/evidence").iter().filter_map(|fact| field(fact, "")).collect();
    match evidence.split_first() {
        None => trouble = trouble.detail(format!("rule {rule}")),
        Some((first, rest)) => {
            trouble = trouble.detail(format!("rule {rule}: {first}"));
            trouble.details.extend(rest.iter().map(|fact| format!("  {fact}")));
        }
    }
    trouble.hint = field(refusal, "/remedy").filter(|remedy| !remedy.is_empty());
    trouble
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::captured;
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    #[expect(clippy::needless_pass_by_value, reason = "an inline snapshot reads best by value")]
    fn check(status: u16, envelope: Value, exit: Exit, expected: Expect) {
        let trouble = trouble_of(status, &envelope);
        assert_eq!(trouble.exit, exit);
        let (mut screen, _, err) = captured();
        screen.trouble(&trouble);
        expected.assert_eq(&err.text());
    }

    fn refusal(rule: &str, subject: &str, evidence: &[&str], remedy: &str) -> Value {
        let info = json!({ "rule": rule, "subject": subject, "evidence": evidence, "remedy": remedy });
        json!({ "error": { "code": "X", "message": "for other clients", "additionalInfo": [{ "type": "Refusal", "info": info }] } })
    }

    #[test]
    fn what_was_administered_stands_in_the_way_and_is_no_wrong_usage() {
        let envelope = json!({ "error": { "code": "ScopeLocked", "message": "it is locked" } });
        assert_eq!(trouble_of(409, &envelope).exit, Exit::Refused);
        let envelope = json!({ "error": { "code": "OperationNotAllowed", "message": "never" } });
        assert_eq!(trouble_of(409, &envelope).exit, Exit::Usage);
    }

    #[test]
    fn a_refusal_shows_its_rule_its_evidence_and_its_remedy() {
        check(
            409,
            refusal(
                "kcp-one-at-a-time",
                "`rack2control01` cannot be restarted",
                &["`rack1control01` is being restarted since 14:02:10 (operation 8f3c1a2b)"],
                "wait with `rackwright operation wait 8f3c1a2b`, or stop it with `rackwright operation cancel 8f3c1a2b`",
            ),
            Exit::Refused,
            expect![[r#"
                error: `rack2control01` cannot be restarted
                  rule kcp-one-at-a-time: `rack1control01` is being restarted since 14:02:10 (operation 8f3c1a2b)
                hint: wait with `rackwright operation wait 8f3c1a2b`, or stop it with `rackwright operation cancel 8f3c1a2b`
            "#]],
        );
    }

    #[test]
    fn each_piece_of_evidence_has_its_own_line() {
        check(
            409,
            refusal(
                "kcp-others-healthy",
                "`rack2control01` cannot be powered off",
                &["`rack1control01` is off", "votes: 2 of 3 now, 1 of 3 after"],
                "bring the other control-plane machines back first: `rackwright status` names them",
            ),
            Exit::Refused,
            expect![[r#"
                error: `rack2control01` cannot be powered off
                  rule kcp-others-healthy: `rack1control01` is off
                    votes: 2 of 3 now, 1 of 3 after
                hint: bring the other control-plane machines back first: `rackwright status` names them
            "#]],
        );
    }

    #[test]
    fn an_error_without_a_rule_shows_its_message() {
        let envelope = json!({ "error": { "code": "KeeperUnavailable", "message": "no keeper of cluster `c` answered in time" } });
        check(
            503,
            envelope,
            Exit::Failed,
            expect![[r#"
            error: no keeper of cluster `c` answered in time
        "#]],
        );
        let envelope = json!({ "error": { "code": "ResourceNotFound", "message": "there is no operation `8f3c`" } });
        check(
            404,
            envelope,
            Exit::NotFound,
            expect![[r#"
            error: there is no operation `8f3c`
        "#]],
        );
    }

    #[test]
    fn what_the_server_says_cannot_steer_the_terminal() {
        let envelope = json!({ "error": { "code": "X", "message": "a\u{1b}[2Jb\nc" } });
        check(
            500,
            envelope,
            Exit::Failed,
            expect![[r#"
            error: a�[2Jb�c
        "#]],
        );
    }

    #[test]
    fn a_resource_id_gives_its_parts() {
        let id = "/subscriptions/s/resourceGroups/site1/providers/Microsoft.NetworkCloud/racks/rack1";
        assert_eq!(name_in_id(id), "rack1");
        assert_eq!(segment_after(id, "resourcegroups"), Some("site1"));
        assert_eq!(segment_after(id, "clusters"), None);
    }
}
