//! `$filter` of the activity log: conditions joined by `and`. Names and values are compared without case.

use std::fmt;

use model::{Activity, PartKind, Timestamp, labels};

use super::render;
use crate::reply::{Refused, shortened};

/// Longest filter that is read, in bytes: every key there is, each with the longest id, fits twice.
pub const FILTER_MAX: usize = 4_096;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    clauses: Vec<Clause>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Clause {
    Time { comparison: Comparison, at: Timestamp },
    Is { key: Key, value: String },
}

/// Makes the words of the language and their list from one table.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum $name {
            $($variant,)*
        }

        impl $name {
            const ALL: &[$name] = &[$($name::$variant),*];

            fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }

            fn parse(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|known| known.word().eq_ignore_ascii_case(word))
            }

            /// `a, b and c`.
            fn list() -> String {
                let words: Vec<&str> = $name::ALL.iter().map(|known| known.word()).collect();
                let (last, others) = words.split_last().expect("a table has rows");
                format!("{} and {last}", others.join(", "))
            }
        }
    };
}

words! {
    /// How instants are compared.
    Comparison {
        NotBefore "ge",
        After "gt",
        NotAfter "le",
        Before "lt",
    }
}

words! {
    /// What an entry must be equal in.
    Key {
        ResourceId "resourceId",
        ResourceUri "resourceUri",
        ResourceGroupName "resourceGroupName",
        CorrelationId "correlationId",
        Status "status",
        Caller "caller",
        ResourceProvider "resourceProvider",
        Levels "levels",
    }
}

const TIME: &str = "eventTimestamp";

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// Something in quotes.
    Text(String),
}

fn refused(message: String) -> Refused {
    Refused::bad_content(message).target("$filter")
}

fn tokens(text: &str) -> Result<Vec<Token>, Refused> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(&next) = rest.peek() {
        if next.is_whitespace() {
            rest.next();
        } else if next == '\'' {
            rest.next();
            tokens.push(Token::Text(quoted(&mut rest)?));
        } else {
            let mut word = String::new();
            while let Some(letter) = rest.next_if(|letter| !letter.is_whitespace() && *letter != '\'') {
                word.push(letter);
            }
            tokens.push(Token::Word(word));
        }
    }
    Ok(tokens)
}

/// What stands before the closing quote. Two quotes in a row are one that is meant.
fn quoted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, Refused> {
    let mut text = String::new();
    loop {
        match rest.next() {
            Some('\'') if rest.next_if_eq(&'\'').is_some() => text.push('\''),
            Some('\'') => return Ok(text),
            Some(letter) => text.push(letter),
            None => return Err(refused(format!("`$filter` has a quote that is not closed: `'{}`", shortened(&text)))),
        }
    }
}

impl Filter {
    pub fn parse(text: &str) -> Result<Filter, Refused> {
        if text.len() > FILTER_MAX {
            return Err(refused(format!("`$filter` is longer than {FILTER_MAX} bytes")));
        }
        let mut tokens = tokens(text)?.into_iter();
        let mut clauses = Vec::new();
        let mut next = tokens.next();
        while let Some(key) = next {
            clauses.push(clause(key, tokens.next(), tokens.next())?);
            next = match tokens.next() {
                None => None,
                Some(Token::Word(word)) if word.eq_ignore_ascii_case("and") => match tokens.next() {
                    Some(key) => Some(key),
                    None => return Err(refused("`$filter` ends with `and`; another condition must follow".to_owned())),
                },
                Some(Token::Word(other) | Token::Text(other)) => {
                    return Err(refused(format!("conditions of `$filter` are joined by `and`, not by `{}`", shortened(&other))));
                }
            };
        }
        Ok(Filter { clauses })
    }

    /// The first and the last instant that can pass.
    pub fn range(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let step = model::Span::millis(1);
        let (mut from, mut to) = (None::<Timestamp>, None::<Timestamp>);
        for clause in &self.clauses {
            let Clause::Time { comparison, at } = clause else { continue };
            match comparison {
                Comparison::NotBefore => from = from.max(Some(*at)),
                Comparison::After => from = from.max(Some(*at + step)),
                Comparison::NotAfter => to = Some(to.map_or(*at, |to| to.min(*at))),
                Comparison::Before => to = Some(to.map_or(*at - step, |to| to.min(*at - step))),
            }
        }
        (from, to)
    }

    /// The label of the log that leaves the least to look through.
    pub fn label(&self, subscription: &str) -> String {
        let of = |wanted: &[Key]| {
            self.clauses.iter().find_map(|clause| match clause {
                Clause::Is { key, value } if wanted.contains(key) => Some(value.as_str()),
                _ => None,
            })
        };
        let resource = || of(&[Key::ResourceId, Key::ResourceUri]).and_then(resource_label);
        let failed = || of(&[Key::Status]).filter(|status| status.eq_ignore_ascii_case("Failed")).map(|_| labels::failed(subscription));
        let correlation = of(&[Key::CorrelationId]).map(labels::correlation);
        correlation.or_else(resource).or_else(failed).unwrap_or_else(|| labels::subscription(subscription))
    }

    /// Whether an entry passes. Its time is judged by whoever reads the log.
    pub fn passes(&self, entry: &Activity) -> bool {
        self.clauses.iter().all(|clause| match clause {
            Clause::Time { .. } => true,
            Clause::Is { key, value } => {
                let is = |text: &str| text.eq_ignore_ascii_case(value);
                match key {
                    Key::ResourceId | Key::ResourceUri => is(&render::resource_id(&entry.subject)),
                    Key::ResourceGroupName => is(&entry.subject.resource_group),
                    Key::CorrelationId => is(entry.correlation_id.as_str()),
                    Key::Status => is(render::status(entry.status)),
                    Key::Caller => is(&entry.caller),
                    Key::ResourceProvider => is(crate::links::PROVIDER),
                    Key::Levels => value.split(',').any(|level| level.trim().eq_ignore_ascii_case(render::level(entry))),
                }
            }
        })
    }
}

fn clause(key: Token, operator: Option<Token>, value: Option<Token>) -> Result<Clause, Refused> {
    let Token::Word(key) = key else {
        return Err(refused(format!("a condition of `$filter` begins with a name; {TIME}, {} are known", Key::list())));
    };
    let known = Key::parse(&key);
    if known.is_none() && !key.eq_ignore_ascii_case(TIME) {
        return Err(refused(format!("`$filter` knows no `{}`; {TIME}, {} are known", shortened(&key), Key::list())));
    }
    let Some(Token::Word(operator)) = operator else {
        return Err(refused(format!("`{key}` in `$filter` is compared with nothing")));
    };
    let Some(Token::Word(value) | Token::Text(value)) = value else {
        return Err(refused(format!("`{key} {}` in `$filter` lacks its value", shortened(&operator))));
    };
    match (known, Comparison::parse(&operator)) {
        (Some(key), _) if operator.eq_ignore_ascii_case("eq") => Ok(Clause::Is { key, value }),
        (Some(_), _) => Err(refused(format!("`{key}` in `$filter` can be compared with eq, not with `{}`", shortened(&operator)))),
        (None, Some(comparison)) => Ok(Clause::Time { comparison, at: time(&value)? }),
        (None, None) => {
            let can = Comparison::list();
            Err(refused(format!("`{TIME}` in `$filter` can be compared with {can}, not with `{}`", shortened(&operator))))
        }
    }
}

/// An instant, with or without its zone: Azure's own clients leave it out and mean UTC.
fn time(text: &str) -> Result<Timestamp, Refused> {
    let as_utc = || Timestamp::parse(&format!("{text}Z"));
    let midnight = || Timestamp::parse(&format!("{text}T00:00:00Z"));
    Timestamp::parse(text)
        .or_else(as_utc)
        .or_else(midnight)
        .ok_or_else(|| refused(format!("`{}` in `$filter` is not a time; 2026-11-15T14:00:00Z is", shortened(text))))
}

/// The label of a resource by its id; nothing, if no entry can be about it.
fn resource_label(id: &str) -> Option<String> {
    let segments: Vec<&str> = id.split('/').filter(|segment| !segment.is_empty()).collect();
    let [subscriptions, subscription, groups, group, providers, provider, kind, name] = segments[..] else { return None };
    let literals =
        [(subscriptions, "subscriptions"), (groups, "resourceGroups"), (providers, "providers"), (provider, crate::links::PROVIDER)];
    let kind =
        [PartKind::Cluster, PartKind::Rack, PartKind::Machine].into_iter().find(|part| render::arm_type(*part).eq_ignore_ascii_case(kind));
    let fits = literals.iter().all(|(found, expected)| found.eq_ignore_ascii_case(expected));
    kind.filter(|_| fits).map(|kind| labels::resource(subscription, group, kind, name))
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, clause) in self.clauses.iter().enumerate() {
            if n > 0 {
                f.write_str(" and ")?;
            }
            match clause {
                Clause::Time { comparison, at } => write!(f, "{TIME} {} '{at}'", comparison.word())?,
                Clause::Is { key, value } => write!(f, "{} eq '{}'", key.word(), value.replace('\'', "''"))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
