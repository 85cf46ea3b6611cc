//! Texts of people and devices that are shown on terminals and written to logs, where they must not pass for ours.

/// A character that is not seen and changes how others are: a control character, which can colour a terminal or forge a
/// line of a log; a separator of lines or paragraphs; or one that turns the direction of writing, so that a line reads
/// otherwise than it is.
pub fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line without unprintable characters, at most `limit` characters long.
pub fn cleaned(words: &str, limit: usize) -> String {
    let one_line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let one_line: String = one_line.chars().filter(|c| !is_unprintable(*c)).collect();
    if one_line.chars().count() <= limit {
        return one_line;
    }
    let kept: String = one_line.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_or_breaks_a_line_is_unprintable_and_letters_of_every_script_are_not() {
        for c in ['\n', '\u{0}', '\u{1b}', '\u{7f}', '\u{85}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'] {
            assert!(is_unprintable(c), "{c:?}");
        }
        for c in ['a', ' ', 'ü', 'א', 'ع', '漢', '😀', '\u{2027}', '\u{202f}', '\u{2065}', '\u{206a}'] {
            assert!(!is_unprintable(c), "{c:?}");
        }
    }

    #[test]
    fn a_cleaned_text_is_one_line_of_what_can_be_seen() {
        assert_eq!(cleaned("a\u{202e}b\n c\u{2029}d", 10), "ab c d");
        assert_eq!(cleaned("abcdef", 4), "abc…");
    }
}
