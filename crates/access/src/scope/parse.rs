//! The grammar of scopes:
//!
//!     scope    = "/" | [ subscription [ group ] ] { provider }
//!     provider = "/providers/" namespace 1*( "/" type "/" name )
//!
//! A provider after a resource is an extension of it: a lock, or a role assignment.

use super::{LEVELS_MAX, SCOPE_MAX};

/// Segments of a word and a name.
const PAIR: usize = 2;

/// Segments of `providers`, a namespace, a type and a name.
const PROVIDER_LEVEL: usize = 4;

/// Where each level ends, the outermost first, or what is wrong with the text.
pub(super) fn levels(text: &str) -> Result<Vec<usize>, &'static str> {
    if text.len() > SCOPE_MAX {
        return Err("it has more than 1024 characters");
    }
    let rest = text.strip_prefix('/').ok_or("it must begin with a slash")?;
    let segments = rest.split('/').map(checked).collect::<Result<Vec<&str>, _>>()?;
    let lengths = group_lengths(&segments)?;
    if lengths.len() >= LEVELS_MAX {
        return Err("it has more than 12 levels");
    }
    Ok(ends(&segments, &lengths))
}

/// A segment that can be read in one way only. Escapes are none: whoever has a path decodes it before it becomes a scope.
fn checked(segment: &str) -> Result<&str, &'static str> {
    if segment.is_empty() {
        return Err("a part of it is empty");
    }
    if segment.bytes().all(|byte| byte == b'.') {
        return Err("a part of it is only points");
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'(' | b')');
    if segment.bytes().all(is_allowed) {
        Ok(segment)
    } else {
        Err("only letters, digits, points, hyphens, underscores and parentheses are allowed in its parts")
    }
}

/// How many segments each level adds, the root aside.
fn group_lengths(segments: &[&str]) -> Result<Vec<usize>, &'static str> {
    let is = |at: usize, word: &str| segments.get(at).is_some_and(|segment| segment.eq_ignore_ascii_case(word));
    let mut lengths = Vec::new();
    let mut at = 0;
    let mut is_under_provider = false;
    while at < segments.len() {
        let length = match at {
            _ if is(at, "providers") => PROVIDER_LEVEL,
            0 if is(0, "subscriptions") => PAIR,
            2 if is(0, "subscriptions") && is(2, "resourceGroups") => PAIR,
            _ if is_under_provider => PAIR,
            _ => return Err("it must go on with a subscription, a resource group or a provider"),
        };
        is_under_provider |= length == PROVIDER_LEVEL;
        lengths.push(length);
        at += length;
    }
    if at == segments.len() { Ok(lengths) } else { Err("a name is missing at its end") }
}

fn ends(segments: &[&str], lengths: &[usize]) -> Vec<usize> {
    let mut ends = vec![0];
    let (mut at, mut end) = (0, 0);
    for length in lengths {
        end += segments[at..at + length].iter().map(|segment| segment.len() + 1).sum::<usize>();
        at += length;
        ends.push(end);
    }
    ends
}
