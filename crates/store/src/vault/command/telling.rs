//! What is told of a failed command's complaint.

/// A key has 43 characters in base64 and 64 in hexadecimal; a run that is nearly as long may be one, or a part of one.
const LONGEST_WORD: usize = 39;

const WITHHELD: &str = "[withheld]";

/// The complaint, a line each, to be put after a message; nothing if there is none.
///
/// A script that prints what it does prints the key as well, so whatever could be one is left out, and so are control characters.
pub(super) fn of(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(|line| withhold_keys(line.trim_end())).filter(|line| !line.is_empty());
    lines.map(|line| format!("\n  {line}")).collect()
}

fn withhold_keys(line: &str) -> String {
    let mut told = String::new();
    let mut word = String::new();
    for character in line.chars().filter(|character| !character.is_control()) {
        if is_of_a_key(character) {
            word.push(character);
        } else {
            end_word(&mut told, &mut word);
            told.push(character);
        }
    }
    end_word(&mut told, &mut word);
    told
}

fn end_word(told: &mut String, word: &mut String) {
    told.push_str(if word.len() > LONGEST_WORD { WITHHELD } else { word });
    zeroize::Zeroize::zeroize(word);
}

/// Both alphabets of base64.
fn is_of_a_key(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '-' | '_' | '=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_a_key_is_withheld_and_the_rest_is_told() {
        let key = "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=";
        let said = of(format!("+ echo {key}\n\nexpired: arn:aws:kms:eu-central-1:key/0b0f8a52-6f3c-4a43\x1b[2J\n").as_bytes());
        assert_eq!(said, "\n  + echo [withheld]\n  expired: arn:aws:kms:eu-central-1:key/0b0f8a52-6f3c-4a43[2J");
        assert_eq!(of("ab".repeat(32).as_bytes()), "\n  [withheld]", "hexadecimal");
        assert_eq!(of(b" \n"), "");
    }
}
