//! The state of a subscription: whether anything may be changed in it, and which providers it is registered with.

use std::collections::BTreeSet;

use model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::permission::{Kind, Permission};

/// What is kept of a subscription. One of which nothing is kept is enabled, and registered with every provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    pub id: String,
    /// Since when it is read-only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<Timestamp>,
    /// Namespaces of the providers that it is not registered with, in lower case.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unregistered: BTreeSet<String>,
}

/// Why a subscription takes nothing. The words are Azure's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    #[error(
        "The subscription '{0}' is disabled and therefore marked as read only. You cannot perform any write actions on this subscription until it is re-enabled."
    )]
    Disabled(String),
    #[error("The subscription is not registered to use namespace '{0}'")]
    Unregistered(String),
}

impl Subscription {
    pub fn is_registered(&self, namespace: &str) -> bool {
        !self.unregistered.contains(&namespace.to_ascii_lowercase())
    }

    /// Whether it keeps somebody from using a permission in it. What is only read, and the registration itself, it never does.
    pub fn admit(&self, permission: &Permission) -> Result<(), Closed> {
        let (namespace, what) = permission.as_str().split_once('/').unwrap_or((permission.as_str(), ""));
        let is_registration = ["register/action", "unregister/action"].iter().any(|own| own.eq_ignore_ascii_case(what));
        if permission.kind() == Kind::Read {
            return Ok(());
        }
        if self.disabled_at.is_some() {
            return Err(Closed::Disabled(self.id.clone()));
        }
        if is_registration || self.is_registered(namespace) { Ok(()) } else { Err(Closed::Unregistered(namespace.to_owned())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_subscription_is_only_read() {
        let open = Subscription { id: "s".into(), ..Subscription::default() };
        let disabled = Subscription { disabled_at: Some(Timestamp::EPOCH), ..open.clone() };
        let unregistered = Subscription { unregistered: ["microsoft.networkcloud".to_owned()].into(), ..open.clone() };
        // What each of the three says: nothing, `d`isabled or `u`nregistered.
        let table = [
            ("Microsoft.NetworkCloud/virtualMachines/read", "---"),
            ("Microsoft.NetworkCloud/virtualMachines/write", "-du"),
            ("microsoft.networkcloud/bareMetalMachines/restart/action", "-du"),
            ("Microsoft.NetworkCloud/virtualMachines/delete", "-du"),
            ("Microsoft.NetworkCloud/register/action", "-d-"),
            ("Microsoft.NetworkCloud/machines/register/action", "-du"),
            ("Microsoft.Authorization/locks/write", "-d-"),
        ];
        for (permission, expected) in table {
            let permission = Permission::new(permission).unwrap();
            let said = [&open, &disabled, &unregistered].map(|subscription| match subscription.admit(&permission) {
                Ok(()) => '-',
                Err(Closed::Disabled(_)) => 'd',
                Err(Closed::Unregistered(_)) => 'u',
            });
            assert_eq!(said.iter().collect::<String>(), expected, "{permission}");
        }
        let said = unregistered.admit(&Permission::new("Microsoft.NetworkCloud/racks/write").unwrap()).unwrap_err();
        assert_eq!(said.to_string(), "The subscription is not registered to use namespace 'Microsoft.NetworkCloud'");
    }

    #[test]
    fn only_what_differs_is_stored() {
        let open = Subscription { id: "s".into(), ..Subscription::default() };
        assert_eq!(serde_json::to_value(&open).unwrap(), serde_json::json!({ "id": "s" }));
        assert_eq!(serde_json::from_value::<Subscription>(serde_json::json!({ "id": "s" })).unwrap(), open);
    }
}
