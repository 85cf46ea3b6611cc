//! `$filter` of what is administered at scopes: `atScope()`, `atExactScope()`, `assignedTo('…')`, `principalId eq '…'`, `roleName eq '…'`
//! and `type eq '…'`, joined by `and`. The functions are Azure's, which no other list has.

use access::Scope;

use crate::call::Call;
use crate::odata::FILTER_MAX;
use crate::reply::{Refused, shortened};

/// How far from its scope a list looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reach {
    /// Around it, at it and below it.
    #[default]
    Everything,
    /// At it and below it.
    Inward,
    /// At it and around it: what holds for all of it.
    Outward,
    Exact,
}

impl Reach {
    pub fn admits(self, scope: &Scope, its: &Scope) -> bool {
        match self {
            Reach::Everything => scope.contains(its) || its.contains(scope),
            Reach::Inward => scope.contains(its),
            Reach::Outward => its.contains(scope),
            Reach::Exact => scope == its,
        }
    }
}

/// What a filter wants. What is `None` is not asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub reach: Option<Reach>,
    pub principal: Option<String>,
    pub role_name: Option<String>,
    pub kind: Option<String>,
}

/// What can be asked of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    Places,
    Principals,
    Roles,
}

impl Words {
    fn possible(self) -> &'static str {
        match self {
            Words::Places => "atScope() and atExactScope()",
            Words::Principals => "atScope(), principalId eq '…' and assignedTo('…')",
            Words::Roles => "roleName eq '…' and type eq '…'",
        }
    }
}

pub(super) fn read(call: &Call, words: Words) -> Result<Wanted, Refused> {
    parse(call.query("$filter").unwrap_or_default(), words)
}

fn parse(text: &str, words: Words) -> Result<Wanted, Refused> {
    let refused = |message: String| Refused::bad_content(message).target("$filter");
    if text.len() > FILTER_MAX {
        return Err(refused(format!("`$filter` is longer than {FILTER_MAX} bytes")));
    }
    let mut wanted = Wanted::default();
    for condition in conditions(text) {
        let not_understood = || refused(format!("`$filter`: `{}` is not understood; {} are", shortened(condition), words.possible()));
        let (name, value) = split(condition).ok_or_else(not_understood)?;
        match (name.to_ascii_lowercase().as_str(), words) {
            ("atscope()", Words::Places | Words::Principals) => wanted.reach = Some(Reach::Outward),
            ("atexactscope()", Words::Places) => wanted.reach = Some(Reach::Exact),
            ("principalid" | "assignedto", Words::Principals) => wanted.principal = Some(value),
            ("rolename", Words::Roles) => wanted.role_name = Some(value),
            ("type", Words::Roles) => wanted.kind = Some(value),
            _ => return Err(not_understood()),
        }
    }
    Ok(wanted)
}

/// The text at each `and` that stands outside of quotes.
fn conditions(text: &str) -> Vec<&str> {
    const AND: &str = " and ";
    let (mut found, mut begin, mut is_quoted) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        is_quoted ^= letter == '\'';
        let is_and = text.get(at..at + AND.len()).is_some_and(|word| word.eq_ignore_ascii_case(AND));
        if is_and && !is_quoted && at >= begin {
            found.push(text[begin..at].trim());
            begin = at + AND.len();
        }
    }
    found.push(text[begin..].trim());
    // No text is no condition; an empty one beside another is a mistake.
    if text.trim().is_empty() { Vec::new() } else { found }
}

/// A condition's name and value: of a function with nothing in its brackets, the value is empty.
fn split(condition: &str) -> Option<(&str, String)> {
    if let Some((name, rest)) = condition.split_once('(').filter(|(name, _)| !name.contains(' ')) {
        let inner = rest.strip_suffix(')')?;
        return if inner.is_empty() { Some((condition, String::new())) } else { Some((name, unquoted(inner)?)) };
    }
    let mut words = condition.splitn(3, ' ').filter(|word| !word.is_empty());
    let (name, operator, value) = (words.next()?, words.next()?, words.next()?);
    operator.eq_ignore_ascii_case("eq").then_some(())?;
    Some((name, unquoted(value.trim())?))
}

/// What is in the quotes, or the word as it is; two quotes in a row are one that is meant.
fn unquoted(text: &str) -> Option<String> {
    match text.strip_prefix('\'') {
        Some(rest) => Some(rest.strip_suffix('\'')?.replace("''", "'")),
        None => (!text.is_empty() && !text.contains(['\'', ' '])).then(|| text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_azures_clients_send_is_understood() {
        let of = |text: &str, words| parse(text, words).unwrap();
        assert_eq!(of("  ", Words::Places), Wanted::default());
        assert_eq!(of("atScope()", Words::Principals).reach, Some(Reach::Outward));
        assert_eq!(of("atExactScope()", Words::Places).reach, Some(Reach::Exact));
        let both = of("atScope() and assignedTo('p1')", Words::Principals);
        assert_eq!((both.reach, both.principal.as_deref()), (Some(Reach::Outward), Some("p1")));
        assert_eq!(of("principalId eq p1", Words::Principals).principal.as_deref(), Some("p1"));
        assert_eq!(of("roleName eq 'Salt and ''Pepper'''", Words::Roles).role_name.as_deref(), Some("Salt and 'Pepper'"));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for text in
            ["colour eq 'red'", "atScope() and", "roleName eq 'x'", "atScope", "principalId ne 'x'", "assignedTo('x", "principalId eq"]
        {
            let refused = parse(text, Words::Principals).unwrap_err();
            assert_eq!(
                (refused.code(), &refused.body()["error"]["target"]),
                ("InvalidRequestContent", &serde_json::json!("$filter")),
                "{text}"
            );
        }
        assert!(parse(&"x".repeat(FILTER_MAX + 1), Words::Roles).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_stumble(text in "[a-z'( )]{0,40}|.{0,40}|(atScope\\(\\) and ){0,3}.{0,6}") {
            let _ = parse(&text, Words::Principals);
        }

        #[test]
        fn any_name_in_quotes_is_found_again(name in "[^\\p{C}]{0,40}") {
            let written = format!("roleName eq '{}'", name.replace('\'', "''"));
            let found = parse(&written, Words::Roles).expect("a quoted value is understood").role_name;
            prop_assert_eq!(found, Some(name));
        }
    }
}
