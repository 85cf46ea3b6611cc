//! Whether a BMC belongs to the machine that is meant, by the numbers that it tells.

/// What makers leave in boards that nobody gave a number.
const PLACEHOLDERS: [&str; 10] = [
    "0",
    "0123456789",
    "default string",
    "n/a",
    "na",
    "none",
    "not specified",
    "system serial number",
    "to be filled by o.e.m.",
    "unknown",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SerialMatch {
    Same,
    /// It tells another machine's number.
    Other {
        found: String,
    },
    /// It tells nothing that could be compared.
    Untold,
}

/// Compares what a System tells with the number on the machine that is meant.
///
/// A SKU can only speak for a machine: Dell shows the number on the chassis there, the service tag, while its board has a
/// serial number of its own; with others it is an order number.
pub fn compare_serial(serial: Option<&str>, sku: Option<&str>, meant: &str) -> SerialMatch {
    let is_meant = |told: &str| told.trim().eq_ignore_ascii_case(meant.trim());
    if [serial, sku].into_iter().flatten().any(is_meant) {
        return SerialMatch::Same;
    }
    let is_number = |told: &&str| !told.is_empty() && !PLACEHOLDERS.iter().any(|placeholder| told.eq_ignore_ascii_case(placeholder));
    match serial.map(str::trim).filter(is_number) {
        Some(found) => SerialMatch::Other { found: found.to_owned() },
        None => SerialMatch::Untold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_serial_number_of_its_own_makes_a_machine_another_one() {
        let other = || SerialMatch::Other { found: "W6T5002".to_owned() };
        for (serial, sku, expected) in [
            (Some("57QP003"), None, SerialMatch::Same),
            (Some(" 57qp003 "), None, SerialMatch::Same),
            (Some("CN0X"), Some("57QP003"), SerialMatch::Same),
            (Some("W6T5002"), None, other()),
            (Some("W6T5002"), Some("P52562-B21"), other()),
            (None, Some("P52562-B21"), SerialMatch::Untold),
            (Some(""), Some("P52562-B21"), SerialMatch::Untold),
            (Some("To be filled by O.E.M."), Some("Default string"), SerialMatch::Untold),
            (Some("0123456789"), None, SerialMatch::Untold),
            (None, None, SerialMatch::Untold),
        ] {
            assert_eq!(compare_serial(serial, sku, " 57QP003"), expected, "{serial:?} {sku:?}");
        }
    }
}
