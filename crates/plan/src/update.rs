//! Writing what clients can write of a machine: its tags and its details. Notes of people; nothing is sent to a device
//! for them, and so they may be written whatever the machine is doing, and whoever manages it.

use std::collections::{BTreeMap, BTreeSet};

use model::{Conditions, Editions, Machine, Modified, Refusal, Request, Rule, Timestamp, is_unprintable};

/// Tags of one machine, as in Azure.
pub const TAGS_MAX: usize = 50;

/// Characters of a tag's name, as in Azure.
pub const TAG_NAME_MAX: usize = 512;

/// Characters of a tag's value, as in Azure.
pub const TAG_VALUE_MAX: usize = 256;

/// Characters of `machineDetails`, as in Azure.
pub const DETAILS_MAX: usize = 256;

/// What Azure keeps out of the names of tags.
const NOT_IN_TAG_NAMES: [char; 7] = ['<', '>', '%', '&', '\\', '?', '/'];

/// Longest part of a name that a message repeats.
const ECHO_MAX: usize = 40;

/// Editions that a message repeats at most, of those that a request is meant for.
const EDITIONS_NAMED: usize = 5;

/// Why something cannot be written: a sentence, and the name of the tag that it is about, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    pub tag: Option<String>,
    pub message: String,
}

/// Whether these can be a machine's tags.
pub fn check_tags(tags: &BTreeMap<String, String>) -> Result<(), Flaw> {
    if tags.len() > TAGS_MAX {
        return Err(Flaw { tag: None, message: format!("there are {} tags; a machine has at most {TAGS_MAX}", tags.len()) });
    }
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (name, value) in tags {
        if let Some(message) = flaw_of_name(name).or_else(|| flaw_of_value(value)) {
            return Err(Flaw { tag: Some(begin_of(name)), message });
        }
        if !known.insert(name.to_lowercase()) {
            let message = "there is another tag of that name; upper and lower case are the same".to_owned();
            return Err(Flaw { tag: Some(begin_of(name)), message });
        }
    }
    Ok(())
}

fn flaw_of_name(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some("the name of a tag is empty".to_owned());
    }
    let length = name.chars().count();
    if length > TAG_NAME_MAX {
        return Some(format!("the name of a tag has {length} characters; at most {TAG_NAME_MAX} are possible"));
    }
    match name.chars().find(|c| is_unprintable(*c) || NOT_IN_TAG_NAMES.contains(c)) {
        Some(c) if is_unprintable(c) => Some("the name of a tag has a line break or another control character".to_owned()),
        Some(c) => Some(format!("the name of a tag has a `{c}`; none of {} is possible", NOT_IN_TAG_NAMES.map(String::from).join(" "))),
        None => None,
    }
}

fn flaw_of_value(value: &str) -> Option<String> {
    let length = value.chars().count();
    if length > TAG_VALUE_MAX {
        return Some(format!("the value of the tag has {length} characters; at most {TAG_VALUE_MAX} are possible"));
    }
    value.chars().any(is_unprintable).then(|| "the value of the tag has a line break or another control character".to_owned())
}

/// Whether this can be a machine's details. They are shown on terminals and written to logs, where a control character
/// could pass for something that we say.
pub fn check_details(details: &str) -> Result<(), Flaw> {
    let length = details.chars().count();
    if length > DETAILS_MAX {
        return Err(Flaw { tag: None, message: format!("it has {length} characters; at most {DETAILS_MAX} are possible") });
    }
    if details.chars().any(is_unprintable) {
        return Err(Flaw { tag: None, message: "it has a line break or another control character".to_owned() });
    }
    Ok(())
}

fn begin_of(name: &str) -> String {
    let safe = name.chars().map(|c| if is_unprintable(c) { '�' } else { c });
    let begin: String = safe.take(ECHO_MAX).collect();
    if name.chars().count() > ECHO_MAX { format!("{begin}…") } else { begin }
}

/// The machine as the request leaves it. The same request sent again finds itself, and changes nothing more.
pub(crate) fn update(
    mut machine: Machine,
    request: &Request,
    tags: Option<&BTreeMap<String, String>>,
    details: Option<&str>,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<Machine, Refusal> {
    let written_by = machine.modified.as_ref().and_then(|modified| modified.request_key.as_ref());
    if written_by.is_some() && written_by == request.key.as_ref() {
        return Ok(machine);
    }
    check_conditions(&machine, conditions)?;
    let tags = tags.unwrap_or(&machine.tags).clone();
    let details = details.unwrap_or(&machine.details).to_owned();
    if (&tags, &details) == (&machine.tags, &machine.details) {
        // Whoever changed nothing wrote nothing. Sent again it changes nothing either, and so the request that did write is
        // the one to remember.
        return Ok(machine);
    }
    machine.edition += 1;
    machine.tags = tags;
    machine.details = details;
    machine.modified = Some(Modified { by: request.caller.clone(), at: now, request_key: request.key.clone() });
    Ok(machine)
}

/// Whether a request that is meant for some editions of a machine is meant for this one.
pub fn check_conditions(machine: &Machine, conditions: &Conditions) -> Result<(), Refusal> {
    let edited = Edited {
        noun: "machine",
        name: machine.name.to_string(),
        edition: machine.edition,
        modified: machine.modified.as_ref(),
        show: format!("rackwright bmm show {}", machine.name),
    };
    check_editions(&edited, conditions)
}

/// Something that clients write, as far as its editions go.
pub(crate) struct Edited<'a> {
    /// What it is: `machine`.
    pub noun: &'static str,
    pub name: String,
    pub edition: u64,
    pub modified: Option<&'a Modified>,
    /// The command that shows it.
    pub show: String,
}

impl Edited<'_> {
    /// Whether this very request wrote it: sent again it changes nothing more.
    pub fn was_written_by(&self, request: &Request) -> bool {
        let written_by = self.modified.and_then(|modified| modified.request_key.as_ref());
        written_by.is_some() && written_by == request.key.as_ref()
    }
}

/// Whether a request that is meant for some editions of something is meant for this one.
pub(crate) fn check_editions(of: &Edited<'_>, conditions: &Conditions) -> Result<(), Refusal> {
    if let Some(expected @ Editions::Listed(editions)) = &conditions.expected
        && !expected.contain(of.edition)
    {
        let wanted = match &editions[..] {
            [] => "the request is meant for no etag that there can be".to_owned(),
            editions => format!("the request is meant for the etag {}", named(editions)),
        };
        return Err(precondition_failed(of, &wanted));
    }
    match &conditions.excluded {
        Some(Editions::Any) => Err(precondition_failed(of, &format!("the request is meant for a {} that is not there", of.noun))),
        Some(excluded) if excluded.contain(of.edition) => {
            Err(precondition_failed(of, &format!("the request is meant for any etag but \"{}\"", of.edition)))
        }
        _ => Ok(()),
    }
}

/// `"1", "2" or "3"`; of many only the first.
fn named(editions: &[u64]) -> String {
    let mut quoted: Vec<String> = editions.iter().take(EDITIONS_NAMED).map(|edition| format!("\"{edition}\"")).collect();
    if editions.len() > EDITIONS_NAMED {
        return format!("{} and so on", quoted.join(", "));
    }
    match (quoted.pop(), quoted.is_empty()) {
        (Some(last), false) => format!("{} or {last}", quoted.join(", ")),
        (last, _) => last.unwrap_or_default(),
    }
}

/// The refusal of a request that is meant for another edition.
fn precondition_failed(of: &Edited<'_>, wanted: &str) -> Refusal {
    let written = match of.modified {
        Some(modified) => format!(", written by {} at {}", modified.by, modified.at.clock()),
        None => String::new(),
    };
    Refusal {
        rule: Rule::PreconditionFailed,
        message: format!("`{}` was not changed", of.name),
        evidence: vec![format!("{wanted}, and the {}'s is \"{}\"{written}", of.noun, of.edition)],
        remedy: format!(
            "read the {} again, and send what you want to change with its etag: `{} --query etag -o tsv` tells it",
            of.noun, of.show
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_editions_only_the_first_are_repeated() {
        assert_eq!(named(&[3]), "\"3\"");
        assert_eq!(named(&[1, 3]), "\"1\" or \"3\"");
        assert_eq!(named(&[1, 2, 3, 4, 5]), "\"1\", \"2\", \"3\", \"4\" or \"5\"");
        assert_eq!(named(&[1, 2, 3, 4, 5, 6]), "\"1\", \"2\", \"3\", \"4\", \"5\" and so on");
    }

    fn flaw_of(name: &str, value: &str) -> Option<String> {
        check_tags(&BTreeMap::from([(name.to_owned(), value.to_owned())])).err().map(|flaw| flaw.message)
    }

    #[test]
    fn fifty_tags_are_possible_and_one_more_is_not() {
        let tags = |n: usize| (0..n).map(|n| (format!("t{n}"), String::new())).collect::<BTreeMap<_, _>>();
        assert_eq!(check_tags(&tags(TAGS_MAX)), Ok(()));
        assert_eq!(check_tags(&tags(TAGS_MAX + 1)).unwrap_err().message, "there are 51 tags; a machine has at most 50");
    }

    #[test]
    fn the_longest_name_and_value_are_possible_and_one_character_more_is_not() {
        assert_eq!(flaw_of(&"ü".repeat(TAG_NAME_MAX), &"ü".repeat(TAG_VALUE_MAX)), None);
        let name = flaw_of(&"ü".repeat(TAG_NAME_MAX + 1), "");
        assert_eq!(name.as_deref(), Some("the name of a tag has 513 characters; at most 512 are possible"));
        let value = flaw_of("row", &"ü".repeat(TAG_VALUE_MAX + 1));
        assert_eq!(value.as_deref(), Some("the value of the tag has 257 characters; at most 256 are possible"));
    }

    #[test]
    fn characters_that_azure_keeps_out_are_kept_out() {
        for c in NOT_IN_TAG_NAMES {
            let message = flaw_of(&format!("a{c}b"), "").unwrap_or_else(|| panic!("`{c}` is possible"));
            assert_eq!(message, format!("the name of a tag has a `{c}`; none of < > % & \\ ? / is possible"));
        }
        assert_eq!(flaw_of("a\nb", "").as_deref(), Some("the name of a tag has a line break or another control character"));
        assert_eq!(flaw_of("a", "b\u{1b}").as_deref(), Some("the value of the tag has a line break or another control character"));
        let turned = "7\u{202e}lennon";
        assert_eq!(flaw_of(turned, "").as_deref(), Some("the name of a tag has a line break or another control character"));
        assert_eq!(flaw_of("a", turned).as_deref(), Some("the value of the tag has a line break or another control character"));
        assert_eq!(flaw_of(" ", "").as_deref(), Some("the name of a tag is empty"));
    }

    #[test]
    fn two_names_that_differ_in_case_are_one() {
        let tags = BTreeMap::from([("Row".to_owned(), "7".to_owned()), ("row".to_owned(), "8".to_owned())]);
        assert_eq!(check_tags(&tags).unwrap_err().tag.as_deref(), Some("row"));
    }

    #[test]
    fn details_are_a_line_of_at_most_256_characters() {
        assert_eq!(check_details(&"ü".repeat(DETAILS_MAX)), Ok(()));
        assert_eq!(check_details(&"x".repeat(DETAILS_MAX + 1)).unwrap_err().message, "it has 257 characters; at most 256 are possible");
        for unprintable in ["a\nb", "a\u{2028}b", "a\u{202e}b", "a\u{2066}b"] {
            assert_eq!(check_details(unprintable).unwrap_err().message, "it has a line break or another control character");
        }
    }
}
