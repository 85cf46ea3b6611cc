//! Ids that are GUIDs, as Azure's clients want them: `az` refuses a tenant that is none.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A text that should be a GUID and is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no GUID; 8-4-4-4-12 hexadecimal digits are meant")]
pub struct InvalidGuid(String);

/// How much of a text that is no GUID is repeated.
const SHOWN: usize = 64;

/// `8e3af657-a8ff-443c-a75c-2fe8c4bcb635`. Other ways to write one are not taken, so that one id has one text.
fn parse(text: &str) -> Result<Uuid, InvalidGuid> {
    let is_plain = text.len() == uuid::fmt::Hyphenated::LENGTH;
    let parsed = Uuid::try_parse(text).ok().filter(|_| is_plain);
    parsed.ok_or_else(|| InvalidGuid(model::cleaned(text, SHOWN)))
}

macro_rules! guid_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Uuid);

        impl $name {
            pub const fn new(id: Uuid) -> Self {
                $name(id)
            }

            pub fn parse(text: &str) -> Result<Self, InvalidGuid> {
                parse(text).map($name)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidGuid;
            fn try_from(text: String) -> Result<Self, InvalidGuid> {
                $name::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

guid_type!(
    /// Whoever can be given a role: Azure's object id.
    PrincipalId
);
guid_type!(
    /// What a service principal logs in with: Azure's application id.
    ClientId
);
guid_type!(
    /// The directory that a principal is in.
    TenantId
);
guid_type!(RoleId);
guid_type!(AssignmentId);
guid_type!(
    /// A secret of a service principal: Azure's key id.
    SecretId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_has_one_text() {
        let id = PrincipalId::parse("8E3AF657-a8ff-443c-a75c-2fe8c4bcb635").unwrap();
        assert_eq!(id.to_string(), "8e3af657-a8ff-443c-a75c-2fe8c4bcb635");
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"8e3af657-a8ff-443c-a75c-2fe8c4bcb635\"");
        for bad in
            ["", "x", "8e3af657a8ff443ca75c2fe8c4bcb635", "{8e3af657-a8ff-443c-a75c-2fe8c4bcb635}", "8e3af657-a8ff-443c-a75c-2fe8c4bcb63g"]
        {
            assert!(PrincipalId::parse(bad).is_err(), "{bad}");
            assert!(serde_json::from_value::<PrincipalId>(bad.into()).is_err(), "{bad}");
        }
    }
}
