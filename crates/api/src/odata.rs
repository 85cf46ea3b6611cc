//! `$filter`: conditions joined by `and`, such as `status eq 'Failed' and eventTimestamp ge 2026-11-15T14:00:00Z`.
//!
//! Here is the language. Which names a list knows, and what they mean, is the list's own table. Names and operators are
//! read without case; a value stands in quotes, or is a word.

use crate::reply::{Refused, shortened};

/// Longest filter that is read, in bytes: every name of the longest table, each with the longest id, fits twice.
pub const FILTER_MAX: usize = 4_096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotBefore,
    After,
    NotAfter,
    Before,
}

impl Operator {
    pub fn word(self) -> &'static str {
        match self {
            Operator::Equal => "eq",
            Operator::NotBefore => "ge",
            Operator::After => "gt",
            Operator::NotAfter => "le",
            Operator::Before => "lt",
        }
    }
}

/// A name that a list knows, what it means there, and what can be done with it.
pub(crate) struct Name<K: 'static> {
    pub word: &'static str,
    pub key: K,
    pub operators: &'static [Operator],
}

/// A name that can only be compared with `eq`.
pub(crate) const fn equal<K>(word: &'static str, key: K) -> Name<K> {
    Name { word, key, operators: &[Operator::Equal] }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition<K> {
    pub key: K,
    pub operator: Operator,
    pub value: String,
    /// The place of the value in the filter, for whoever cannot make sense of it.
    pub at: Place,
}

/// The number of a character, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(usize);

impl Place {
    pub fn refused(self, what: &str) -> Refused {
        refused(&format!("`$filter`, character {}: {what}", self.0))
    }
}

fn refused(message: &str) -> Refused {
    Refused::bad_content(message).target("$filter")
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// Something in quotes.
    Text(String),
}

impl Token {
    fn into_text(self) -> String {
        match self {
            Token::Word(text) | Token::Text(text) => text,
        }
    }
}

/// All conditions of a filter, in its order. No text is no condition.
pub(crate) fn conditions<K: Copy>(text: &str, names: &'static [Name<K>]) -> Result<Vec<Condition<K>>, Refused> {
    if text.len() > FILTER_MAX {
        return Err(refused(&format!("`$filter` is longer than {FILTER_MAX} bytes")));
    }
    let end = Place(text.chars().count() + 1);
    let mut tokens = tokens(text)?.into_iter();
    let mut conditions = Vec::new();
    let mut next = tokens.next();
    while let Some((begin, name)) = next {
        conditions.push(condition(names, begin, name, tokens.next(), tokens.next())?);
        next = match tokens.next() {
            None => None,
            Some((_, Token::Word(word))) if word.eq_ignore_ascii_case("and") => {
                Some(tokens.next().ok_or_else(|| end.refused("another condition must follow `and`"))?)
            }
            Some((at, other)) => {
                return Err(at.refused(&format!("conditions are joined by `and`, not by `{}`", shortened(&other.into_text()))));
            }
        };
    }
    Ok(conditions)
}

fn condition<K: Copy>(
    names: &'static [Name<K>],
    begin: Place,
    name: Token,
    operator: Option<(Place, Token)>,
    value: Option<(Place, Token)>,
) -> Result<Condition<K>, Refused> {
    let known = || list(names.iter().map(|name| name.word));
    let Token::Word(name) = name else {
        return Err(begin.refused(&format!("a condition begins with a name; {} are known", known())));
    };
    let Some(found) = names.iter().find(|known| known.word.eq_ignore_ascii_case(&name)) else {
        return Err(begin.refused(&format!("there is no `{}`; {} are known", shortened(&name), known())));
    };
    let Some((place, Token::Word(operator))) = operator else {
        return Err(begin.refused(&format!("`{}` is compared with nothing", found.word)));
    };
    let Some(operator) = found.operators.iter().copied().find(|known| known.word().eq_ignore_ascii_case(&operator)) else {
        let possible = list(found.operators.iter().map(|known| known.word()));
        return Err(place.refused(&format!("`{}` can be compared with {possible}, not with `{}`", found.word, shortened(&operator))));
    };
    let Some((at, value)) = value else {
        return Err(begin.refused(&format!("`{} {}` lacks its value", found.word, operator.word())));
    };
    Ok(Condition { key: found.key, operator, value: value.into_text(), at })
}

/// `a, b and c`.
fn list(words: impl Iterator<Item = &'static str>) -> String {
    let words: Vec<&str> = words.collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => words.concat(),
    }
}

type Letters<'a> = std::iter::Peekable<std::iter::Enumerate<std::str::Chars<'a>>>;

fn tokens(text: &str) -> Result<Vec<(Place, Token)>, Refused> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().enumerate().peekable();
    while let Some((at, first)) = rest.next() {
        let place = Place(at + 1);
        if first == '\'' {
            tokens.push((place, Token::Text(quoted(&mut rest, place)?)));
        } else if !first.is_whitespace() {
            let mut word = String::from(first);
            while let Some((_, letter)) = rest.next_if(|(_, letter)| !letter.is_whitespace() && *letter != '\'') {
                word.push(letter);
            }
            tokens.push((place, Token::Word(word)));
        }
    }
    Ok(tokens)
}

/// What stands before the closing quote. Two quotes in a row are one that is meant.
fn quoted(rest: &mut Letters<'_>, begin: Place) -> Result<String, Refused> {
    let mut text = String::new();
    loop {
        match rest.next() {
            Some((_, '\'')) if rest.next_if(|(_, letter)| *letter == '\'').is_some() => text.push('\''),
            Some((_, '\'')) => return Ok(text),
            Some((_, letter)) => text.push(letter),
            None => return Err(begin.refused(&format!("a quote is not closed: `'{}`", shortened(&text)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIMES: &[Operator] = &[Operator::NotBefore, Operator::After, Operator::NotAfter, Operator::Before];
    const NAMES: &[Name<u8>] = &[equal("status", 1), Name { word: "eventTimestamp", key: 2, operators: TIMES }, equal("tagName", 3)];

    fn problem(text: &str) -> String {
        let refused = conditions(text, NAMES).expect_err("this is no filter");
        assert_eq!(refused.body()["error"]["target"], "$filter");
        refused.body()["error"]["message"].as_str().expect("an error has a message").to_owned()
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_place() {
        let known = "status, eventTimestamp and tagName are known";
        let cases = [
            ("  colour eq 'red'", format!("3: there is no `colour`; {known}")),
            ("and", format!("1: there is no `and`; {known}")),
            ("'status' eq 'Failed'", format!("1: a condition begins with a name; {known}")),
            ("ünknown eq 1", format!("1: there is no `ünknown`; {known}")),
            ("status ne 'Failed'", "8: `status` can be compared with eq, not with `ne`".to_owned()),
            ("eventTimestamp eq x", "16: `eventTimestamp` can be compared with ge, gt, le and lt, not with `eq`".to_owned()),
            ("status eq 'ü' and tagName eq 'b", "30: a quote is not closed: `'b`".to_owned()),
            ("status", "1: `status` is compared with nothing".to_owned()),
            ("status'x'", "1: `status` is compared with nothing".to_owned()),
            ("STATUS eq", "1: `status eq` lacks its value".to_owned()),
            ("status eq a or status eq b", "13: conditions are joined by `and`, not by `or`".to_owned()),
            ("status eq 'a' 'b'", "15: conditions are joined by `and`, not by `b`".to_owned()),
            ("status eq a and", "16: another condition must follow `and`".to_owned()),
        ];
        for (text, expected) in cases {
            assert_eq!(problem(text), format!("`$filter`, character {expected}"));
        }
    }

    #[test]
    fn the_longest_filter_is_read_and_one_byte_more_is_not() {
        let filter = |bytes: usize| format!("status eq '{}'", "x".repeat(bytes - "status eq ''".len()));
        assert_eq!(conditions(&filter(FILTER_MAX), NAMES).map(|found| found.len()).ok(), Some(1));
        assert_eq!(problem(&filter(FILTER_MAX + 1)), "`$filter` is longer than 4096 bytes");
        assert!(problem(&"x".repeat(FILTER_MAX)).len() < 500, "an echo is cut");
    }

    #[test]
    fn a_word_and_a_text_in_quotes_are_values_alike() {
        let found = conditions(" STATUS  EQ  'o''brien'  AND  tagname eq Row ", NAMES).expect("a filter");
        let read: Vec<(u8, &str)> = found.iter().map(|condition| (condition.key, condition.value.as_str())).collect();
        assert_eq!(read, [(1, "o'brien"), (3, "Row")]);
        assert_eq!(conditions("  ", NAMES).expect("no condition"), []);
    }

    /// Texts that are nearly filters, and texts that are anything.
    fn any_text() -> impl Strategy<Value = String> {
        let pieces = ["status", "eventTimestamp", "eq", "ge", "and", "or", "'", "''", " ", "(", "\u{2028}", "ü", "x"];
        let near = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|pieces| pieces.concat());
        prop_oneof![near, ".{0,200}"]
    }

    proptest! {
        #[test]
        fn any_value_in_quotes_is_found_again(values in prop::collection::vec(".{0,40}", 0..6)) {
            let written: Vec<String> = values.iter().map(|value| format!("status eq '{}'", value.replace('\'', "''"))).collect();
            let found = conditions(&written.join(" and "), NAMES).expect("a quoted value is understood");
            prop_assert_eq!(found.into_iter().map(|condition| condition.value).collect::<Vec<_>>(), values);
        }

        #[test]
        fn no_text_makes_the_parser_stumble(text in any_text()) {
            if let Err(refused) = conditions(&text, NAMES) {
                prop_assert_eq!(&refused.body()["error"]["target"], "$filter");
            }
        }
    }
}
