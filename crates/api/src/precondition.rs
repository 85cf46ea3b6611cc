//! `If-Match` and `If-None-Match` on writes, as RFC 9110 has them, over the editions of a machine.
//!
//! Here it is found out which edition a write is meant for; whether the machine is at it is judged by the keeper, in the
//! same commit as the write, so that of two with the same ETag only one can win.

use model::{Machine, Refusal};

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Preconditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
}

impl Preconditions {
    pub fn of(call: &Call) -> Result<Preconditions, Refused> {
        Ok(Preconditions { if_match: read(call, "If-Match")?, if_none_match: read(call, "If-None-Match")? })
    }

    /// The edition that the machine must be at, if there is one; or the refusal, if there can be none.
    pub fn edition_for(&self, machine: &Machine) -> Result<Option<u64>, Refusal> {
        let matching = match &self.if_match {
            None | Some(Tags::Any) => None,
            Some(Tags::Listed(tags)) => {
                // Weak tags never match here. Our copy may lag behind: an edition that it has not yet seen is not our
                // business, but the keeper's.
                let editions: Vec<u64> = tags.iter().filter(|tag| !tag.weak).filter_map(Tag::edition).collect();
                let wanted = editions.iter().find(|edition| **edition == machine.edition).or(editions.iter().max());
                Some(*wanted.ok_or_else(|| plan::precondition_failed(machine, "`If-Match` names no etag of it"))?)
            }
        };
        match &self.if_none_match {
            None => Ok(matching),
            Some(Tags::Any) => Err(plan::precondition_failed(machine, "`If-None-Match: *` asks that it be absent")),
            Some(Tags::Listed(tags)) if tags.iter().any(|tag| tag.edition() == Some(machine.edition)) => {
                Err(plan::precondition_failed(machine, "`If-None-Match` names the etag that it has"))
            }
            // It holds for the edition that we see, and so the write is meant for that one.
            Some(Tags::Listed(_)) => Ok(matching.or(Some(machine.edition))),
        }
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
    use crate::fixtures;

    /// What the headers come to for a machine at edition 3.
    fn check(if_match: &str, if_none_match: &str, expected: Result<Option<u64>, &str>) {
        let mut machine = fixtures::machine("site", "rack1", "m1");
        machine.edition = 3;
        let tags = |text: &str| (!text.is_empty()).then(|| parse(text).expect("a header as it should be"));
        let conditions = Preconditions { if_match: tags(if_match), if_none_match: tags(if_none_match) };
        let edition = conditions.edition_for(&machine).map_err(|refusal| refusal.evidence.join("; "));
        assert_eq!(edition.as_ref().map_err(String::as_str), expected.as_ref().map_err(|text| *text), "{if_match} / {if_none_match}");
    }

    #[test]
    fn if_match_compares_strongly() {
        check("", "", Ok(None));
        check("*", "", Ok(None));
        check("\"3\"", "", Ok(Some(3)));
        check("\"1\", \"3\" ,\"9\"", "", Ok(Some(3)));
        check("\"2\"", "", Ok(Some(2)));
        for nothing in ["W/\"3\"", "\"03\"", "\"\"", "\"x,y\""] {
            check(nothing, "", Err("`If-Match` names no etag of it, and the machine's is \"3\""));
        }
    }

    #[test]
    fn if_none_match_compares_weakly() {
        check("", "\"2\"", Ok(Some(3)));
        check("\"3\"", "\"2\"", Ok(Some(3)));
        check("", "*", Err("`If-None-Match: *` asks that it be absent, and the machine's is \"3\""));
        for same in ["\"3\"", "W/\"3\"", "\"1\",W/\"3\""] {
            check("", same, Err("`If-None-Match` names the etag that it has, and the machine's is \"3\""));
        }
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
