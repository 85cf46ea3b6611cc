//! Kubernetes quantities (`500m`, `8Gi`) as whole numbers: thousandths for processors, bytes for memory.

use serde_json::Value;

/// Powers of two and of ten that may follow a number.
const SUFFIXES: [(&str, i64); 12] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("Pi", 1 << 50),
    ("Ei", 1 << 60),
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("P", 1_000_000_000_000_000),
    ("E", 1_000_000_000_000_000_000),
];

/// Processors in thousandths. What is no quantity counts as nothing.
pub(crate) fn millis(value: &Value) -> i64 {
    i64::try_from(parse(value, 1_000)).unwrap_or(i64::MAX)
}

/// Bytes, or pods, or whatever is counted in ones. What is no quantity counts as nothing.
pub(crate) fn ones(value: &Value) -> i64 {
    i64::try_from(parse(value, 1)).unwrap_or(i64::MAX)
}

/// The quantity in parts of `1/scale`, rounded up as the API server rounds.
fn parse(value: &Value, scale: i128) -> i128 {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return 0,
    };
    let (number, (numerator, denominator)) = match text.strip_suffix('m') {
        Some(number) => (number, (scale, 1_000)),
        None => match SUFFIXES.iter().find(|(suffix, _)| text.ends_with(suffix)) {
            Some((suffix, factor)) => (&text[..text.len() - suffix.len()], (scale * i128::from(*factor), 1)),
            None => (text.as_str(), (scale, 1)),
        },
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    let Ok(digits) = digits.parse::<u64>() else { return 0 };
    // A fraction with more digits than that is below anything that is counted.
    let Some(shift) = u32::try_from(fraction.len()).ok().and_then(|length| 10_i128.checked_pow(length)) else { return 0 };
    let by = denominator * shift;
    (i128::from(digits) * numerator + by - 1) / by
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quantities_are_read_as_kubernetes_reads_them() {
        for (written, expected) in
            [(json!("500m"), 500), (json!("2"), 2_000), (json!(2), 2_000), (json!("0.25"), 250), (json!("1.5k"), 1_500_000)]
        {
            assert_eq!(millis(&written), expected, "{written}");
        }
        for (written, expected) in [
            (json!("528280960Ki"), 528_280_960 << 10),
            (json!("8Gi"), 8 << 30),
            (json!("1.5Gi"), 3 << 29),
            (json!("128M"), 128_000_000),
            (json!("110"), 110),
            (json!("100m"), 1),
            (json!("much"), 0),
            (Value::Null, 0),
        ] {
            assert_eq!(ones(&written), expected, "{written}");
        }
    }
}
