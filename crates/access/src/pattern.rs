//! Patterns of roles and policies: `*` stands for any text, also for none and also for `/`. Case makes no difference.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Characters of a pattern. The longest permission of Azure has about 130.
pub const PATTERN_MAX: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no pattern: {problem}")]
pub struct InvalidPattern {
    pub pattern: String,
    pub problem: &'static str,
}

/// Kept in lower case.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(String);

impl Pattern {
    pub fn new(text: &str) -> Result<Pattern, InvalidPattern> {
        let invalid = |problem| Err(InvalidPattern { pattern: model::cleaned(text, PATTERN_MAX), problem });
        if text.is_empty() {
            return invalid("it is empty");
        }
        if text.chars().count() > PATTERN_MAX {
            return invalid("it has more than 256 characters");
        }
        if text.chars().any(model::is_unprintable) {
            return invalid("it has a character that cannot be seen");
        }
        Ok(Pattern(text.to_lowercase()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a pattern covers a text. Both are compared byte by byte without the case of ASCII letters.
///
/// Only the last `*` is ever tried again, so the work is bounded by the product of both lengths.
pub(crate) fn covers(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, read));
            at += 1;
        } else if pattern.get(at).is_some_and(|byte| byte.eq_ignore_ascii_case(&text[read])) {
            at += 1;
            read += 1;
        } else if let Some((star_at, star_read)) = star {
            star = Some((star_at, star_read + 1));
            at = star_at + 1;
            read = star_read + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

impl TryFrom<String> for Pattern {
    type Error = InvalidPattern;
    fn try_from(text: String) -> Result<Self, InvalidPattern> {
        Pattern::new(&text)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.0
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let table = [
            ("*", "", true),
            ("*", "a/b", true),
            ("", "", true),
            ("", "a", false),
            ("a", "A", true),
            ("a/*", "a/", true),
            ("a/*", "a", false),
            ("*/read", "Microsoft.NetworkCloud/racks/read", true),
            ("*/read", "Microsoft.NetworkCloud/racks/reads", false),
            ("*/read", "read", false),
            ("a*b*c", "axxbyybzzc", true),
            ("a*b*c", "axxbyybzz", false),
            ("**a", "xa", true),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(covers(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn patterns_have_limits() {
        assert!(Pattern::new(&"a".repeat(PATTERN_MAX)).is_ok());
        for bad in ["", "a\nb", &"a".repeat(PATTERN_MAX + 1)] {
            assert!(Pattern::new(bad).is_err(), "{bad:?}");
        }
    }

    /// By its definition: what is before the first star must be there, and some rest must fit the rest.
    fn covers_by_definition(pattern: &[u8], text: &[u8]) -> bool {
        match pattern {
            [] => text.is_empty(),
            [b'*', rest @ ..] => (0..=text.len()).any(|skipped| covers_by_definition(rest, &text[skipped..])),
            [first, rest @ ..] => text.first().is_some_and(|byte| byte == first) && covers_by_definition(rest, &text[1..]),
        }
    }

    proptest::proptest! {
        #[test]
        fn covering_is_what_its_definition_says(pattern in "[ab*]{0,6}", text in "[ab]{0,8}") {
            proptest::prop_assert_eq!(covers(&pattern, &text), covers_by_definition(pattern.as_bytes(), text.as_bytes()));
        }
    }
}
