//! Names that may stand in a path.

use model::{Delivery, Fault, FaultClass};

/// The longest DNS subdomain.
const NAME_LIMIT: usize = 253;

/// Refuses what cannot be the name of an object. The client puts names into paths as they are, so another character could
/// lead to another resource.
pub(crate) fn check(of: &str, name: &str) -> Result<(), Fault> {
    if is_name(name) {
        return Ok(());
    }
    let detail = format!("`{}` cannot be the name of {of}", model::shortened(name));
    Err(Fault::new(FaultClass::Missing, Delivery::No, detail))
}

/// Whether this is a DNS subdomain.
fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    !name.is_empty() && name.len() <= NAME_LIMIT && name.chars().all(is_allowed) && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_dns_name_is_a_name() {
        for name in ["rack1compute01", "node-1.example.org"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "../pods", "a/b", "a?b", "A", ".", "é", &"x".repeat(254)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
