//! Kubernetes quantities, such as `250m` or `1.5Gi`, read exactly and rounded up as the API server does.

use model::Amount;

/// The largest power of ten that an exponent may name: more than any machine has of anything.
const EXPONENT_LIMIT: i32 = 24;

/// Thousandths of a quantity of processor time.
pub(crate) fn cpu_millis(text: &str) -> Option<u64> {
    scaled(text, 1_000)
}

/// A quantity of memory in bytes, or a plain count.
pub(crate) fn whole(text: &str) -> Option<u64> {
    scaled(text, 1)
}

/// What a list of resources has of the two that matter; what is absent or cannot be read is none.
pub(crate) fn amount<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Amount {
    Amount {
        cpu_millis: get("cpu").and_then(cpu_millis).unwrap_or_default(),
        memory_bytes: get("memory").and_then(whole).unwrap_or_default(),
    }
}

fn scaled(text: &str, unit: u128) -> Option<u64> {
    let number_ends = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+'))).unwrap_or(text.len());
    let (number, suffix) = text.split_at(number_ends);
    let (multiplier, divisor) = factor(suffix)?;
    let number = number.strip_prefix('+').unwrap_or(number);
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{integer}{fraction}");
    let decimals = u32::try_from(fraction.len()).ok()?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mantissa: u128 = digits.parse().ok()?;
    let numerator = mantissa.checked_mul(multiplier)?.checked_mul(unit)?;
    let denominator = divisor.checked_mul(10u128.checked_pow(decimals)?)?;
    u64::try_from(numerator.div_ceil(denominator)).ok()
}

/// What a suffix multiplies and divides by.
fn factor(suffix: &str) -> Option<(u128, u128)> {
    let binary = |power: u32| Some((1u128 << (10 * power), 1));
    match suffix {
        "n" => Some((1, 1_000_000_000)),
        "u" => Some((1, 1_000_000)),
        "m" => Some((1, 1_000)),
        "" => Some((1, 1)),
        "k" => Some((1_000, 1)),
        "M" => Some((1_000_000, 1)),
        "G" => Some((1_000_000_000, 1)),
        "T" => Some((10u128.pow(12), 1)),
        "P" => Some((10u128.pow(15), 1)),
        "E" => Some((10u128.pow(18), 1)),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        exponent => {
            let power: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            let size = 10u128.checked_pow(power.unsigned_abs()).filter(|_| power.abs() <= EXPONENT_LIMIT)?;
            Some(if power < 0 { (1, size) } else { (size, 1) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_quantity_is_read_exactly_and_rounded_up() {
        for (text, millis, bytes) in [
            ("0", 0, 0),
            ("1", 1_000, 1),
            ("250m", 250, 1),
            ("0.5", 500, 1),
            (".5", 500, 1),
            ("1.", 1_000, 1),
            ("+2", 2_000, 2),
            ("100u", 1, 1),
            ("1n", 1, 1),
            ("2k", 2_000_000, 2_000),
            ("1e3", 1_000_000, 1_000),
            ("5E-1", 500, 1),
            ("128Ki", 131_072_000, 131_072),
            ("1.5Gi", 1_610_612_736_000, 1_610_612_736),
            ("129M", 129_000_000_000, 129_000_000),
            ("1E", 1_000_000_000_000_000_000_000_u128.try_into().unwrap_or(0), 1_000_000_000_000_000_000),
        ] {
            assert_eq!(whole(text), Some(bytes), "{text}");
            if millis > 0 || bytes == 0 {
                assert_eq!(cpu_millis(text), Some(millis), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_quantity_is_not_guessed() {
        for text in ["", "m", "-1", "1.2.3", "1 Gi", "1gi", "1e99", "1e", "abc", "99999999999E", "１"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
