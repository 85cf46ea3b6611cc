//! One request to a BMC: who asks, what about, and what the body says.

use http::HeaderMap;
use serde_json::{Map, Value};
use world::AccountRole;

use super::answer::Answer;
use super::{Bmc, errors};

/// Redfish's privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Privilege {
    Login,
    ConfigureSelf,
    ConfigureComponents,
    ConfigureManager,
    ConfigureUsers,
}

impl Privilege {
    pub fn as_str(self) -> &'static str {
        match self {
            Privilege::Login => "Login",
            Privilege::ConfigureSelf => "ConfigureSelf",
            Privilege::ConfigureComponents => "ConfigureComponents",
            Privilege::ConfigureManager => "ConfigureManager",
            Privilege::ConfigureUsers => "ConfigureUsers",
        }
    }

    /// What the standard gives to its predefined roles.
    pub fn of(role: AccountRole) -> &'static [Privilege] {
        match role {
            AccountRole::Administrator => &[
                Privilege::Login,
                Privilege::ConfigureManager,
                Privilege::ConfigureUsers,
                Privilege::ConfigureComponents,
                Privilege::ConfigureSelf,
            ],
            AccountRole::Operator => &[Privilege::Login, Privilege::ConfigureComponents, Privilege::ConfigureSelf],
            AccountRole::ReadOnly => &[Privilege::Login, Privilege::ConfigureSelf],
        }
    }
}

/// Somebody who has logged in.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub user: String,
    pub role: AccountRole,
}

impl Caller {
    /// Whoever asks for what is open to everybody.
    pub fn anybody() -> Caller {
        Caller { user: String::new(), role: AccountRole::ReadOnly }
    }

    pub fn may(&self, privilege: Privilege) -> bool {
        Privilege::of(self.role).contains(&privilege)
    }
}

pub(super) struct Call<'a> {
    pub bmc: &'a Bmc,
    pub caller: &'a Caller,
    /// Without a trailing slash.
    pub path: &'a str,
    /// What stood in the place of the route's `{}`.
    pub id: &'a str,
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

impl Call<'_> {
    /// The body as an object. Actions without parameters may come without a body.
    pub fn parameters(&self) -> Result<Map<String, Value>, Answer> {
        if self.body.is_empty() {
            return Ok(Map::new());
        }
        match serde_json::from_slice(self.body) {
            Ok(Value::Object(fields)) => Ok(fields),
            _ => Err(errors::malformed()),
        }
    }

    /// The body of a PATCH: only properties that can be written here, and at least one.
    pub fn changes(&self, writable: &[&str]) -> Result<Map<String, Value>, Answer> {
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(self.body) else {
            return Err(errors::malformed());
        };
        fields.retain(|name, _| !name.starts_with("@odata."));
        if let Some(name) = fields.keys().find(|name| !writable.contains(&name.as_str())) {
            return Err(errors::not_writable(name));
        }
        if fields.is_empty() { Err(errors::no_operation()) } else { Ok(fields) }
    }

    /// The resource does not exist.
    pub fn missing(&self) -> Answer {
        errors::missing(self.path)
    }
}

/// A property that is text if it is there.
pub(super) fn text<'v>(fields: &'v Map<String, Value>, name: &str) -> Result<Option<&'v str>, Answer> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(errors::wrong_type(&other.to_string(), name)),
    }
}

/// A property that is true or false if it is there.
pub(super) fn flag(fields: &Map<String, Value>, name: &str) -> Result<Option<bool>, Answer> {
    match fields.get(name) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(other) => Err(errors::wrong_type(&other.to_string(), name)),
    }
}

/// A property that is one of a list's values if it is there.
pub(super) fn one_of<T: std::str::FromStr>(fields: &Map<String, Value>, name: &str) -> Result<Option<T>, Answer> {
    let Some(asked) = text(fields, name)? else { return Ok(None) };
    asked.parse().map(Some).map_err(|_| errors::property_not_in_list(asked, name))
}
