//! Reading Redfish documents as they are found rather than as they should be.
//!
//! Every function here is total: what is missing or odd becomes `None`, and only the caller knows whether that matters.

use model::Power;
use serde_json::Value;

/// How much of a BMC's own message is repeated in a fault, in characters: one line on a terminal.
const MESSAGE_LIMIT: usize = 160;

/// Where the service root is. The trailing slash is the standard's, and some BMCs know no other.
pub(crate) const ROOT: &str = "/redfish/v1/";

/// What the service root leads to; where it is silent, the places that the standard's examples and most vendors use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub systems: String,
    pub sessions: String,
    pub vendor: Option<String>,
}

/// The reset action of a System.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResetAction {
    pub target: String,
    /// The reset types that the System itself lists.
    pub offered: Option<Vec<String>>,
    /// Where else they may be listed.
    pub action_info: Option<String>,
}

/// A JSON object, or nothing.
pub(crate) fn parse(body: &[u8]) -> Option<Value> {
    serde_json::from_slice(body).ok().filter(Value::is_object)
}

impl Root {
    /// `Root::read(&Value::Null)` is a root that says nothing.
    pub fn read(document: &Value) -> Root {
        Root {
            systems: link(field(document, "Systems")).unwrap_or_else(|| "/redfish/v1/Systems".to_owned()),
            sessions: link(field(field(document, "Links"), "Sessions")).unwrap_or_else(|| "/redfish/v1/SessionService/Sessions".to_owned()),
            vendor: text(document, "Vendor"),
        }
    }
}

/// The members of a collection that have a usable link; one bad member does not lose the others.
pub(crate) fn members(document: &Value) -> Vec<String> {
    items(field(document, "Members")).filter_map(link).collect()
}

/// The first manager that says it manages this System.
pub(crate) fn first_manager(system: &Value) -> Option<String> {
    items(field(field(system, "Links"), "ManagedBy")).find_map(link)
}

/// The power of a System, or the words in which it fails to tell.
pub(crate) fn power(system: &Value) -> Result<Power, String> {
    let Some(state) = text(system, "PowerState") else {
        return Err("there is no PowerState".to_owned());
    };
    match state.to_ascii_lowercase().as_str() {
        // A paused machine has power; that it does not run is for others to notice.
        "on" | "paused" => Ok(Power::On),
        "off" => Ok(Power::Off),
        "poweringon" => Ok(Power::PoweringOn),
        "poweringoff" => Ok(Power::PoweringOff),
        _ => Err(format!("the PowerState is `{}`", shortened(&state))),
    }
}

/// The reset action of the System at `path`.
pub(crate) fn reset_action(path: &str, system: &Value) -> ResetAction {
    let action = field(field(system, "Actions"), "#ComputerSystem.Reset");
    let usual = || format!("{}/Actions/ComputerSystem.Reset", path.trim_end_matches('/'));
    ResetAction {
        target: field(action, "target").as_str().and_then(local_path).unwrap_or_else(usual),
        offered: texts(field(action, "ResetType@Redfish.AllowableValues")),
        action_info: link(field(action, "@Redfish.ActionInfo")),
    }
}

/// The reset types that an ActionInfo document lists.
pub(crate) fn reset_types_of_action_info(document: &Value) -> Option<Vec<String>> {
    let parameter =
        items(field(document, "Parameters")).find(|parameter| field(parameter, "Name").as_str().is_some_and(|name| name == "ResetType"))?;
    texts(field(parameter, "AllowableValues"))
}

/// The first message of an error answer, on one line and not too long.
pub(crate) fn first_message(body: &[u8]) -> Option<String> {
    let document = parse(body)?;
    let error = field(&document, "error");
    let extended = items(field(error, "@Message.ExtendedInfo")).find_map(|entry| text(entry, "Message"));
    extended.or_else(|| text(error, "message")).map(|message| shortened(&message))
}

/// A field with some text in it.
pub(crate) fn text(document: &Value, name: &str) -> Option<String> {
    let text = field(document, name).as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The path of a link on this same service.
///
/// A host in the link is ignored: behind a port forward BMCs name hosts that do not exist, and a malicious one must
/// not lure our credentials elsewhere.
pub(crate) fn local_path(link: &str) -> Option<String> {
    let uri: http::Uri = link.trim().parse().ok()?;
    let path = uri.path_and_query()?.as_str();
    // A bare authority parses too, with `/` or nothing for its path.
    (path.len() > 1 && path.starts_with('/')).then(|| path.to_owned())
}

/// A field by name, in whatever case; `Null` if there is none.
fn field<'a>(document: &'a Value, name: &str) -> &'a Value {
    let Some(object) = document.as_object() else {
        return &Value::Null;
    };
    let exact = object.get(name);
    exact.or_else(|| object.iter().find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))).unwrap_or(&Value::Null)
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The texts of a list. A list without any says as little as no list.
fn texts(list: &Value) -> Option<Vec<String>> {
    let texts: Vec<String> = items(list).filter_map(Value::as_str).map(|text| text.trim().to_owned()).collect();
    (!texts.is_empty()).then_some(texts)
}

/// A link, whether wrapped as `{"@odata.id": …}` or bare.
fn link(value: &Value) -> Option<String> {
    value.as_str().or_else(|| field(value, "@odata.id").as_str()).and_then(local_path)
}

fn shortened(message: &str) -> String {
    let one_line: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let one_line: String = one_line.chars().filter(|c| !c.is_control()).collect();
    if one_line.chars().count() <= MESSAGE_LIMIT {
        return one_line;
    }
    let kept: String = one_line.chars().take(MESSAGE_LIMIT - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn power_is_read_in_any_case_and_anything_else_is_not_guessed() {
        let cases = [
            (json!({"PowerState": "On"}), Ok(Power::On)),
            (json!({"PowerState": "OFF"}), Ok(Power::Off)),
            (json!({"PowerState": " poweringOn "}), Ok(Power::PoweringOn)),
            (json!({"powerState": "PoweringOff"}), Ok(Power::PoweringOff)),
            (json!({"PowerState": "Paused"}), Ok(Power::On)),
            (json!({"PowerState": "Reset"}), Err("the PowerState is `Reset`")),
            (json!({"PowerState": null}), Err("there is no PowerState")),
            (json!({"PowerState": 1}), Err("there is no PowerState")),
            (json!({}), Err("there is no PowerState")),
        ];
        for (document, expected) in cases {
            assert_eq!(power(&document), expected.map_err(str::to_owned), "{document}");
        }
    }

    #[test]
    fn one_bad_member_does_not_lose_the_others() {
        let collection = json!({"Members": [{}, null, {"@odata.id": 7}, "/redfish/v1/Systems/A", {"@odata.id": "/redfish/v1/Systems/B"}]});
        assert_eq!(members(&collection), ["/redfish/v1/Systems/A", "/redfish/v1/Systems/B"]);
        assert_eq!(members(&json!({"Members": "none"})), Vec::<String>::new());
    }

    #[test]
    fn a_link_never_leads_to_another_host() {
        assert_eq!(local_path("http://evil.example/redfish/v1/Systems/1").as_deref(), Some("/redfish/v1/Systems/1"));
        assert_eq!(local_path("/redfish/v1/Systems?$skip=1").as_deref(), Some("/redfish/v1/Systems?$skip=1"));
        for odd in ["", "evil.example", "http://evil.example", "Systems/1", "not a link"] {
            assert_eq!(local_path(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_silent_root_leads_to_the_usual_places() {
        let usual = Root { systems: "/redfish/v1/Systems".into(), sessions: "/redfish/v1/SessionService/Sessions".into(), vendor: None };
        assert_eq!(Root::read(&Value::Null), usual);
        let told =
            json!({"Vendor": "Dell", "Systems": {"@odata.id": "/redfish/v1/S"}, "Links": {"Sessions": {"@odata.id": "/redfish/v1/L"}}});
        assert_eq!(
            Root::read(&told),
            Root { systems: "/redfish/v1/S".into(), sessions: "/redfish/v1/L".into(), vendor: Some("Dell".into()) }
        );
    }

    #[test]
    fn the_reset_action_is_found_or_assumed() {
        let assumed = ResetAction { target: "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset".into(), offered: None, action_info: None };
        assert_eq!(reset_action("/redfish/v1/Systems/1", &json!({})), assumed);
        assert_eq!(reset_action("/redfish/v1/Systems/1/", &json!({"Actions": []})), assumed);
        let told = json!({"Actions": {"#ComputerSystem.Reset": {
            "target": "/redfish/v1/Systems/1/Actions/Power",
            "ResetType@Redfish.AllowableValues": ["On", 5, "ForceOff"],
            "@Redfish.ActionInfo": "/redfish/v1/Systems/1/ResetActionInfo",
        }}});
        let found = ResetAction {
            target: "/redfish/v1/Systems/1/Actions/Power".into(),
            offered: Some(vec!["On".into(), "ForceOff".into()]),
            action_info: Some("/redfish/v1/Systems/1/ResetActionInfo".into()),
        };
        assert_eq!(reset_action("/redfish/v1/Systems/1", &told), found);
    }

    #[test]
    fn the_first_message_is_one_short_line() {
        let extended = json!({"error": {"message": "See ExtendedInfo.", "@Message.ExtendedInfo": [{}, {"Message": "Busy\r\n  now."}]}});
        assert_eq!(first_message(extended.to_string().as_bytes()).as_deref(), Some("Busy now."));
        let plain = json!({"error": {"message": "General failure."}});
        assert_eq!(first_message(plain.to_string().as_bytes()).as_deref(), Some("General failure."));
        assert_eq!(first_message(b"<html>"), None);
        let long = json!({"error": {"message": "x".repeat(1000)}});
        assert_eq!(first_message(long.to_string().as_bytes()).map(|message| message.chars().count()), Some(MESSAGE_LIMIT));
    }
}
