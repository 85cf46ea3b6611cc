//! Reading Redfish documents as they are found rather than as they should be.
//!
//! Every function here is total: what is missing or odd becomes `None`, and only the caller knows whether that matters.

use model::shortened;
use serde_json::Value;

/// A JSON object, or nothing.
pub(crate) fn parse(body: &[u8]) -> Option<Value> {
    serde_json::from_slice(body).ok().filter(Value::is_object)
}

/// The members of a collection that have a usable link; one bad member does not lose the others.
pub(crate) fn members(document: &Value) -> Vec<String> {
    items(field(document, "Members")).filter_map(link).collect()
}

/// An action that a resource offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Action<'a> {
    pub target: String,
    offer: &'a Value,
}

impl Action<'_> {
    /// The values that the resource itself lists for a parameter.
    pub fn allowed(&self, parameter: &str) -> Option<Vec<String>> {
        texts(field(self.offer, &format!("{parameter}@Redfish.AllowableValues")))
    }

    /// Where else they may be listed.
    pub fn info(&self) -> Option<String> {
        link(field(self.offer, "@Redfish.ActionInfo"))
    }
}

/// The action `name` (`ComputerSystem.Reset`) of the resource at `path`; nothing if it does not offer it.
pub(crate) fn action<'a>(path: &str, document: &'a Value, name: &str) -> Option<Action<'a>> {
    let offer = field(field(document, "Actions"), &format!("#{name}"));
    let told = || field(offer, "target").as_str().and_then(local_path);
    offer.is_object().then(|| Action { target: told().unwrap_or_else(|| usual_target(path, name)), offer })
}

/// Where the standard puts the action `name` of the resource at `path`.
pub(crate) fn usual_target(path: &str, name: &str) -> String {
    format!("{}/Actions/{name}", path.trim_end_matches('/'))
}

/// The values that an ActionInfo document lists for a parameter.
pub(crate) fn allowed_by_action_info(document: &Value, name: &str) -> Option<Vec<String>> {
    let parameter =
        items(field(document, "Parameters")).find(|parameter| field(parameter, "Name").as_str().is_some_and(|told| told == name))?;
    texts(field(parameter, "AllowableValues"))
}

/// Whether a document is a Task, which an answer to a request may hold.
pub(crate) fn is_task(document: &Value) -> bool {
    let kind = text(document, "@odata.type").unwrap_or_default();
    kind.starts_with("#Task.") || (kind.is_empty() && text(document, "TaskState").is_some())
}

/// The messages of an answer by the last part of their ids, e.g. `NoValidSession`.
pub(crate) fn message_keys(body: &[u8]) -> Vec<String> {
    let Some(document) = parse(body) else { return Vec::new() };
    let error = field(&document, "error");
    let ids = items(field(error, "@Message.ExtendedInfo")).filter_map(|entry| text(entry, "MessageId")).chain(text(error, "code"));
    ids.map(|id| id.rsplit('.').next().unwrap_or_default().to_owned()).collect()
}

/// The first message of an error answer, on one line and not too long.
pub(crate) fn first_message(body: &[u8]) -> Option<String> {
    first_words(body).map(|message| shortened(&message))
}

/// The same as the BMC wrote it.
pub(crate) fn first_words(body: &[u8]) -> Option<String> {
    let document = parse(body)?;
    let error = field(&document, "error");
    let extended = items(field(error, "@Message.ExtendedInfo")).find_map(|entry| text(entry, "Message"));
    extended.or_else(|| text(error, "message"))
}

/// A field with some text in it.
pub(crate) fn text(document: &Value, name: &str) -> Option<String> {
    let text = field(document, name).as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A whole number. Some BMCs write it as a text or with a fraction.
pub(crate) fn number(document: &Value, name: &str) -> Option<u64> {
    /// The largest number of which every smaller whole one has a floating form.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = field(document, name);
    let float = || value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|float| (0.0..EXACT).contains(float));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked, and a fraction is dropped")]
    let rounded = || float().map(|float| float as u64);
    value.as_u64().or_else(rounded)
}

/// A yes or no.
pub(crate) fn flag(document: &Value, name: &str) -> Option<bool> {
    let value = field(document, name);
    value.as_bool().or_else(|| match value.as_str()?.trim().to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    })
}

/// What `name` links to.
pub(crate) fn linked(document: &Value, name: &str) -> Option<String> {
    link(field(document, name))
}

/// All that the list `name` links to.
pub(crate) fn all_linked(document: &Value, name: &str) -> Vec<String> {
    items(field(document, name)).filter_map(link).collect()
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
pub(crate) fn field<'a>(document: &'a Value, name: &str) -> &'a Value {
    let Some(object) = document.as_object() else {
        return &Value::Null;
    };
    let exact = object.get(name);
    exact.or_else(|| object.iter().find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))).unwrap_or(&Value::Null)
}

pub(crate) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The texts of a list. A list without any says as little as no list.
pub(crate) fn texts(list: &Value) -> Option<Vec<String>> {
    let texts: Vec<String> = items(list).filter_map(Value::as_str).map(|text| text.trim().to_owned()).collect();
    (!texts.is_empty()).then_some(texts)
}

/// A link, whether wrapped as `{"@odata.id": …}` or bare.
pub(crate) fn link(value: &Value) -> Option<String> {
    value.as_str().or_else(|| field(value, "@odata.id").as_str()).and_then(local_path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
    fn the_first_message_is_one_short_line() {
        let extended = json!({"error": {"message": "See ExtendedInfo.", "@Message.ExtendedInfo": [{}, {"Message": "Busy\r\n  now."}]}});
        assert_eq!(first_message(extended.to_string().as_bytes()).as_deref(), Some("Busy now."));
        let plain = json!({"error": {"message": "General failure."}});
        assert_eq!(first_message(plain.to_string().as_bytes()).as_deref(), Some("General failure."));
        assert_eq!(first_message(b"<html>"), None);
        let long = json!({"error": {"message": "x".repeat(1000)}});
        assert_eq!(first_message(long.to_string().as_bytes()).map(|message| message.chars().count()), Some(model::MESSAGE_LIMIT));
    }

    #[test]
    fn messages_are_known_by_the_last_part_of_their_ids() {
        let body =
            json!({"error": {"code": "Base.1.8.GeneralError", "@Message.ExtendedInfo": [{"MessageId": "Base.1.8.ResourceInUse"}, 7]}});
        assert_eq!(message_keys(body.to_string().as_bytes()), ["ResourceInUse", "GeneralError"]);
        assert_eq!(message_keys(b"<html>"), Vec::<String>::new());
    }

    #[test]
    fn numbers_and_flags_are_read_as_they_are_written() {
        let document = json!({"a": 5, "b": "6", "c": 7.9, "d": -1, "e": "x", "f": null, "g": true, "h": "False", "i": 1e300});
        let numbers: Vec<Option<u64>> = ["a", "b", "c", "d", "e", "f", "i"].iter().map(|name| number(&document, name)).collect();
        assert_eq!(numbers, [Some(5), Some(6), Some(7), None, None, None, None]);
        assert_eq!((flag(&document, "g"), flag(&document, "h"), flag(&document, "a")), (Some(true), Some(false), None));
    }

    #[test]
    fn an_action_is_offered_only_if_the_resource_says_so() {
        assert_eq!(action("/m", &json!({"Actions": []}), "Manager.Reset"), None);
        let bare = json!({"Actions": {"#Manager.Reset": {}}});
        assert_eq!(action("/m/", &bare, "Manager.Reset").unwrap().target, "/m/Actions/Manager.Reset");
        let told = json!({"Actions": {"#Manager.Reset": {"target": "/x/y", "ResetType@Redfish.AllowableValues": ["On", 5]}}});
        let action = action("/m", &told, "Manager.Reset").unwrap();
        assert_eq!((action.target.as_str(), action.allowed("ResetType")), ("/x/y", Some(vec!["On".to_owned()])));
    }
}
