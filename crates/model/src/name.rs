//! Names and ids as types. Names keep the case they were given in and compare without it, as Azure does.
//!
//! Each stands in many maps, of every machine and of every operation that is kept, so a clone shares its text.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Longest name of a cluster, rack or machine.
///
/// 64 fits a DNS label plus one, which is what the machine-name pattern of the public model comes to.
pub const NAME_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a valid name: {problem}")]
pub struct InvalidName {
    pub name: String,
    pub problem: &'static str,
}

/// Longest name of a key set, as in Azure.
pub const KEY_SET_NAME_MAX: usize = 30;

fn check_key_set_name(name: &str) -> Result<(), InvalidName> {
    let invalid = |problem| Err(InvalidName { name: name.chars().take(NAME_MAX + 1).collect(), problem });
    if name.len() < 2 || name.len() > KEY_SET_NAME_MAX {
        return invalid("it must have 2 to 30 characters");
    }
    if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
        return invalid("only letters, digits, hyphens and underscores are allowed");
    }
    let is_end = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
    if !is_end(name.bytes().next()) || !is_end(name.bytes().last()) {
        return invalid("it must begin and end with a letter or a digit");
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), InvalidName> {
    let invalid = |problem| Err(InvalidName { name: name.chars().take(NAME_MAX + 1).collect(), problem });
    if name.is_empty() {
        return invalid("it is empty");
    }
    if name.len() > NAME_MAX {
        return invalid("it is longer than 64 characters");
    }
    if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return invalid("only letters, digits and hyphens are allowed");
    }
    if name.starts_with('-') || name.ends_with('-') {
        return invalid("it must begin and end with a letter or a digit");
    }
    Ok(())
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        name_type!($(#[$doc])* $name, check_name);
    };
    ($(#[$doc:meta])* $name:ident, $check:ident) => {
        $(#[$doc])*
        #[derive(Clone, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(name: impl Into<String>) -> Result<Self, InvalidName> {
                let name: String = name.into();
                $check(&name)?;
                Ok($name(name.into()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The form used in store keys, where equal names must be equal bytes.
            pub fn key(&self) -> String {
                self.0.to_ascii_lowercase()
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;
            fn try_from(name: String) -> Result<Self, InvalidName> {
                $name::new(name)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0.as_ref().to_owned()
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0.eq_ignore_ascii_case(&other.0)
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                natural_cmp(&self.0, &other.0)
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                for byte in self.0.bytes() {
                    state.write_u8(byte.to_ascii_lowercase());
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name_type!(
    /// A cluster: one site with its undercloud.
    ClusterName
);
name_type!(
    /// A rack of one cluster.
    RackName
);
name_type!(
    /// A bare-metal machine of one cluster, and the value of its node's `topology.kubernetes.io/baremetalmachine` label.
    MachineName
);
name_type!(
    /// A virtual machine of one cluster; the name of its KubeVirt object is the same in lower case.
    VmName
);
name_type!(
    /// A tenant's Kubernetes cluster; the name of its Cluster API object is the same in lower case.
    TenantClusterName
);
name_type!(
    /// A pool of worker nodes of a tenant's Kubernetes cluster.
    PoolName
);
name_type!(
    /// A key set of one cluster. Its two kinds have names of their own.
    KeySetName,
    check_key_set_name
);

/// Natural order: `rack2` before `rack10`, letters without case, and never equal unless the names are.
pub fn natural_cmp(a: &str, b: &str) -> Ordering {
    // Whoever looks something up ends here.
    if a == b {
        return Ordering::Equal;
    }
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    loop {
        match (left.first(), right.first()) {
            (None, None) => return leading_zeros_decide(a, b),
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (m, rest_left) = take_number(left);
                let (n, rest_right) = take_number(right);
                let order = m.len().cmp(&n.len()).then_with(|| m.cmp(n));
                if order != Ordering::Equal {
                    return order;
                }
                (left, right) = (rest_left, rest_right);
            }
            (Some(x), Some(y)) => {
                let order = x.to_ascii_lowercase().cmp(&y.to_ascii_lowercase());
                if order != Ordering::Equal {
                    return order;
                }
                (left, right) = (&left[1..], &right[1..]);
            }
        }
    }
}

/// `rack1` and `rack01` read the same as numbers, but are two names.
fn leading_zeros_decide(a: &str, b: &str) -> Ordering {
    a.bytes().map(|byte| byte.to_ascii_lowercase()).cmp(b.bytes().map(|byte| byte.to_ascii_lowercase()))
}

fn take_number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let first = digits.iter().position(|b| *b != b'0').unwrap_or(digits.len().saturating_sub(1));
    (&digits[first..], rest)
}

macro_rules! opaque_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(id: impl Into<String>) -> Self {
                let id: String = id.into();
                $name(id.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

opaque_id!(
    /// One long-running operation.
    OperationId
);
opaque_id!(
    /// One request as it lies in the store, waiting for its verdict.
    RequestId
);
opaque_id!(
    /// Ties what one request caused together, in the activity log and in `actionStates`.
    CorrelationId
);
opaque_id!(
    /// Equal for requests that are the same one sent twice: same caller, client request id, target and body.
    RequestKey
);

impl OperationId {
    /// Enough of the id to name the operation on a screen.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn racks_sort_as_people_count() {
        let mut names: Vec<RackName> = ["rack10", "Rack2", "rack1", "rack02"].iter().map(|n| RackName::new(*n).unwrap()).collect();
        names.sort();
        assert_eq!(format!("{names:?}"), "[rack1, rack02, Rack2, rack10]");
    }

    #[test]
    fn names_compare_without_case_but_keep_it() {
        let name = MachineName::new("Rack1Compute01").unwrap();
        assert_eq!(name, MachineName::new("rack1compute01").unwrap());
        assert_eq!(name.to_string(), "Rack1Compute01");
        assert_eq!(name.key(), "rack1compute01");
    }

    #[test]
    fn bad_names_say_what_is_wrong() {
        let problem = |name: &str| MachineName::new(name).unwrap_err().problem;
        assert_eq!(problem(""), "it is empty");
        assert_eq!(problem("a_b"), "only letters, digits and hyphens are allowed");
        assert_eq!(problem("-ab"), "it must begin and end with a letter or a digit");
        assert_eq!(problem(&"a".repeat(65)), "it is longer than 64 characters");
    }

    #[test]
    fn names_of_key_sets_are_as_azure_has_them() {
        for name in ["ab", "Ops_1", "a-b", &"a".repeat(KEY_SET_NAME_MAX)] {
            assert!(KeySetName::new(name).is_ok(), "{name}");
        }
        let problem = |name: &str| KeySetName::new(name).unwrap_err().problem;
        assert_eq!(problem("a"), "it must have 2 to 30 characters");
        assert_eq!(problem(&"a".repeat(KEY_SET_NAME_MAX + 1)), "it must have 2 to 30 characters");
        assert_eq!(problem("a.b"), "only letters, digits, hyphens and underscores are allowed");
        assert_eq!(problem("ab_"), "it must begin and end with a letter or a digit");
    }

    proptest::proptest! {
        #[test]
        fn natural_order_is_total(a in "[a-c0-2]{1,5}", b in "[a-c0-2]{1,5}", c in "[a-c0-2]{1,5}") {
            proptest::prop_assert_eq!(natural_cmp(&a, &b), natural_cmp(&b, &a).reverse());
            proptest::prop_assert_eq!(natural_cmp(&a, &b) == Ordering::Equal, a == b);
            if natural_cmp(&a, &b).is_le() && natural_cmp(&b, &c).is_le() {
                proptest::prop_assert!(natural_cmp(&a, &c).is_le());
            }
        }
    }
}
