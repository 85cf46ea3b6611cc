//! Where the services of a BMC are: what its root says, and the usual places where the root may not be read.

use serde_json::Value;

use crate::document::{field, flag, link, linked, text};

/// Where the service root is. The trailing slash is the standard's, and some BMCs know no other.
pub(crate) const ROOT: &str = "/redfish/v1/";

/// What the service root leads to. A service that it does not name is not offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub systems: String,
    pub managers: String,
    pub sessions: Sessions,
    pub tasks: Option<String>,
    pub updates: Option<String>,
    pub accounts: Option<String>,
    pub events: Option<String>,
    pub licenses: Option<String>,
    pub vendor: Option<String>,
    pub expand: Expand,
}

/// Where sessions are opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sessions {
    /// The root says so.
    Told(String),
    /// The root does not say, so they are looked for in the usual place, and there may be none.
    Assumed(String),
}

/// Whether a collection can be read together with its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expand {
    Offered,
    NotOffered,
}

impl Root {
    pub fn read(document: &Value) -> Root {
        let told = |name| linked(document, name);
        let query = field(field(document, "ProtocolFeaturesSupported"), "ExpandQuery");
        let expand = match (flag(query, "NoLinks"), flag(query, "Levels")) {
            (Some(true), Some(true)) => Expand::Offered,
            _ => Expand::NotOffered,
        };
        Root {
            systems: told("Systems").unwrap_or_else(|| usual("Systems")),
            managers: told("Managers").unwrap_or_else(|| usual("Managers")),
            sessions: match link(field(field(document, "Links"), "Sessions")) {
                Some(told) => Sessions::Told(told),
                None => Sessions::Assumed(usual("SessionService/Sessions")),
            },
            tasks: told("Tasks"),
            updates: told("UpdateService"),
            accounts: told("AccountService"),
            events: told("EventService"),
            licenses: told("LicenseService"),
            vendor: text(document, "Vendor"),
            expand,
        }
    }

    /// A root that nobody may read: the services are looked for where the standard's examples and most vendors have them.
    pub fn guarded() -> Root {
        Root {
            tasks: Some(usual("TaskService")),
            updates: Some(usual("UpdateService")),
            accounts: Some(usual("AccountService")),
            events: Some(usual("EventService")),
            ..Root::read(&Value::Null)
        }
    }
}

fn usual(place: &str) -> String {
    format!("{ROOT}{place}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_root_does_not_name_is_not_offered_but_for_what_every_bmc_has() {
        let silent = Root::read(&json!({}));
        assert_eq!(silent.systems, "/redfish/v1/Systems");
        assert_eq!(silent.sessions, Sessions::Assumed("/redfish/v1/SessionService/Sessions".into()));
        assert_eq!((silent.tasks, silent.updates, silent.accounts, silent.events), (None, None, None, None));
        let told = json!({"Vendor": "Dell", "Systems": {"@odata.id": "/redfish/v1/S"}, "Links": {"Sessions": {"@odata.id": "/redfish/v1/L"}},
            "Tasks": {"@odata.id": "/redfish/v1/T"}, "ProtocolFeaturesSupported": {"ExpandQuery": {"NoLinks": true, "Levels": true}}});
        let told = Root::read(&told);
        assert_eq!((told.systems.as_str(), told.sessions), ("/redfish/v1/S", Sessions::Told("/redfish/v1/L".into())));
        assert_eq!((told.tasks.as_deref(), told.vendor.as_deref(), told.expand), (Some("/redfish/v1/T"), Some("Dell"), Expand::Offered));
    }

    #[test]
    fn behind_a_guarded_root_the_services_are_looked_for_in_the_usual_places() {
        assert_eq!(Root::guarded().updates.as_deref(), Some("/redfish/v1/UpdateService"));
    }
}
