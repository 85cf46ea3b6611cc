//! `If-Match` and `If-None-Match` on writes, as RFC 9110 has them, over the editions of a machine.
//!
//! Here it is found out which editions a write is meant for. Whether the machine is at one of them is judged by the keeper,
//! in the same commit as the write: our copy may lag behind, and of two with the same ETag only one can win.

use model::{Conditions, Editions};

use crate::call::Call;
use crate::reply::{Refused, shortened};

/// What one of the two headers says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tags {
    Any,
    Listed(Vec<Tag>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Tag {
    weak: bool,
    text: String,
}

impl Tag {
    /// The edition that it names. No other text is one of ours, nor is a number with zeros in front.
    fn edition(&self) -> Option<u64> {
        self.text.parse::<u64>().ok().filter(|edition| edition.to_string() == self.text)
    }
}

/// What a write asks of the machine that it is meant for.
pub(crate) fn conditions(call: &Call) -> Result<Conditions, Refused> {
    Ok(conditions_of(read(call, "If-Match")?.as_ref(), read(call, "If-None-Match")?.as_ref()))
}

fn conditions_of(if_match: Option<&Tags>, if_none_match: Option<&Tags>) -> Conditions {
    let editions = |tags: &Tags, counts: &dyn Fn(&&Tag) -> bool| match tags {
        Tags::Any => Editions::Any,
        Tags::Listed(tags) => Editions::Listed(tags.iter().filter(counts).filter_map(Tag::edition).collect()),
    };
    Conditions {
        // Weak tags never match here, and always there.
        expected: if_match.map(|tags| editions(tags, &|tag| !tag.weak)),
        excluded: if_none_match.map(|tags| editions(tags, &|_| true)),
    }
}

fn read(call: &Call, name: &str) -> Result<Option<Tags>, Refused> {
    let lines: Option<Vec<&str>> = call.header_lines(name).collect();
    let tags = match lines {
        Some(lines) if lines.is_empty() => return Ok(None),
        Some(lines) => parse(&lines.join(",")).ok_or_else(|| lines.join(",")),
        None => Err("what is not text".to_owned()),
    };
    tags.map(Some).map_err(|found| {
        let message = format!("`{name}` must be `*` or ETags in quotes, such as \"3\", not `{}`", shortened(&found));
        Refused::bad_content(message).target(name)
    })
}

/// `*`, or tags with commas between them.
fn parse(text: &str) -> Option<Tags> {
    if text.trim() == "*" {
        return Some(Tags::Any);
    }
    let mut tags = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(',') {
            rest = after.trim_start();
            continue;
        }
        let weak = rest.starts_with("W/");
        let quoted = rest.strip_prefix("W/").unwrap_or(rest).strip_prefix('"')?;
        let (text, after) = quoted.split_once('"')?;
        if text.contains(|c: char| c == ' ' || c.is_control()) {
            return None;
        }
        tags.push(Tag { weak, text: text.to_owned() });
        rest = after.trim_start();
        if !rest.is_empty() && !rest.starts_with(',') {
            return None;
        }
    }
    (!tags.is_empty()).then_some(Tags::Listed(tags))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn editions_of(if_match: &str, if_none_match: &str) -> (Option<Editions>, Option<Editions>) {
        let tags = |text: &str| (!text.is_empty()).then(|| parse(text).expect("a header as it should be"));
        let Conditions { expected, excluded } = conditions_of(tags(if_match).as_ref(), tags(if_none_match).as_ref());
        (expected, excluded)
    }

    fn listed(editions: &[u64]) -> Option<Editions> {
        Some(Editions::Listed(editions.to_vec()))
    }

    #[test]
    fn if_match_names_editions_by_strong_tags_only() {
        assert_eq!(editions_of("", ""), (None, None));
        assert_eq!(editions_of("*", ""), (Some(Editions::Any), None));
        assert_eq!(editions_of("\"1\", \"3\" ,\"9\"", ""), (listed(&[1, 3, 9]), None));
        for nothing in ["W/\"3\"", "\"03\"", "\"\"", "\"x,y\""] {
            assert_eq!(editions_of(nothing, ""), (listed(&[]), None), "{nothing}");
        }
    }

    #[test]
    fn if_none_match_names_editions_by_weak_tags_too() {
        assert_eq!(editions_of("", "*"), (None, Some(Editions::Any)));
        assert_eq!(editions_of("\"3\"", "\"2\", W/\"4\""), (listed(&[3]), listed(&[2, 4])));
        assert_eq!(editions_of("", "\"x\""), (None, listed(&[])));
    }

    #[test]
    fn what_is_no_list_of_tags_is_not_guessed_at() {
        for nonsense in ["3", "\"3", "3\"", "\"3\" \"4\"", "w/\"3\"", "*,\"3\"", ",", "\"a b\"", "'3'", "W/3"] {
            assert_eq!(parse(nonsense), None, "{nonsense}");
        }
    }

    proptest! {
        #[test]
        fn any_list_of_tags_is_read_as_it_was_written_and_any_text_without_a_panic(
            tags in prop::collection::vec((any::<bool>(), "[!#-~]{0,12}"), 1..6),
            gap in "( |,| , |,,){1}",
            text in ".{0,40}",
        ) {
            let written: Vec<String> = tags.iter().map(|(weak, text)| format!("{}\"{text}\"", if *weak { "W/" } else { "" })).collect();
            let expected: Vec<Tag> = tags.into_iter().map(|(weak, text)| Tag { weak, text }).collect();
            prop_assert_eq!(parse(&written.join(if gap.contains(',') { &gap } else { "," })), Some(Tags::Listed(expected)));
            let _ = parse(&text);
        }
    }
}
