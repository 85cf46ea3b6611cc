//! Public keys of SSH as key sets take them: a type, its key, and a comment; before them `from="…"` and no other option.
//!
//! Any other option could run a command or open a port for whoever has the key, and an operator who reads a key set would not see it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::{SSH_KEY_MAX, is_unprintable};

/// What OpenSSH signs with. DSA is gone, and certificates are no keys.
const TYPES: [&str; 7] = [
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

/// What is said of a key, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SshKey<'a> {
    pub from: Option<&'a str>,
    pub kind: &'a str,
    pub key: &'a str,
}

/// Reads a key, or says what is wrong with it.
pub(super) fn read(text: &str) -> Result<SshKey<'_>, String> {
    if text.len() > SSH_KEY_MAX {
        return Err(format!("it has {} bytes; at most {SSH_KEY_MAX} are possible", text.len()));
    }
    if text.chars().any(is_unprintable) {
        return Err("it has a line break or another control character".to_owned());
    }
    let (from, rest) = match text.strip_prefix("from=") {
        Some(rest) => {
            let (from, rest) = read_from(rest)?;
            (Some(from), rest)
        }
        None => (None, text),
    };
    let mut words = rest.split(' ').filter(|word| !word.is_empty());
    let kind = words.next().ok_or("it is empty")?;
    if !TYPES.contains(&kind) {
        let is_option = kind.contains('=') || kind.contains(',') || kind.contains('"');
        return Err(if is_option {
            "only `from=\"…\"` may stand before a key".to_owned()
        } else {
            format!("it must begin with the type of a key, one of {}", TYPES.join(", "))
        });
    }
    let key = words.next().ok_or_else(|| format!("there is no key after `{kind}`"))?;
    let blob = STANDARD.decode(key).map_err(|_| format!("what follows `{kind}` is not Base64"))?;
    if named_type(&blob) != Some(kind.as_bytes()) {
        return Err(format!("what follows `{kind}` is not a key of that type"));
    }
    Ok(SshKey { from, kind, key })
}

/// `"10.0.0.0/8,!10.0.0.1" rest`: patterns of addresses and names, and no quote within.
fn read_from(text: &str) -> Result<(&str, &str), String> {
    let (from, rest) =
        text.strip_prefix('"').and_then(|text| text.split_once('"')).ok_or("`from=` must be followed by patterns in double quotes")?;
    let is_pattern = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '/' | '*' | '?' | '!' | ',' | '_' | '-');
    if from.is_empty() || !from.chars().all(is_pattern) {
        return Err("`from=` must have patterns of addresses or names, with commas between".to_owned());
    }
    let rest = rest.strip_prefix(' ').ok_or("only `from=\"…\"` may stand before a key")?;
    Ok((from, rest))
}

/// The first text in a key: four bytes of length, and as many bytes.
fn named_type(blob: &[u8]) -> Option<&[u8]> {
    let (length, rest) = blob.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    // Something must follow the type.
    rest.split_at_checked(length).filter(|(_, key)| !key.is_empty()).map(|(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIBvqyFZzF9gQZ7u0x3mRrT1yZ0Jb3uK7n2mR2uDk0l6J";

    fn flaw(text: &str) -> String {
        read(text).expect_err("this is no key")
    }

    #[test]
    fn a_key_has_a_type_and_may_have_a_comment_and_a_from() {
        let key = SshKey { from: None, kind: "ssh-ed25519", key: KEY };
        assert_eq!(read(&format!("ssh-ed25519 {KEY}")), Ok(key));
        assert_eq!(read(&format!("ssh-ed25519 {KEY} alice@example.com, at home")), Ok(key));
        assert_eq!(
            read(&format!("from=\"10.0.0.0/8,!10.0.0.1\" ssh-ed25519 {KEY}")),
            Ok(SshKey { from: Some("10.0.0.0/8,!10.0.0.1"), ..key })
        );
    }

    #[test]
    fn no_other_option_stands_before_a_key() {
        let only = "only `from=\"…\"` may stand before a key";
        assert_eq!(flaw(&format!("command=\"sh\" ssh-ed25519 {KEY}")), only);
        assert_eq!(flaw(&format!("no-pty,from=\"10.0.0.1\" ssh-ed25519 {KEY}")), only);
        assert_eq!(flaw(&format!("from=\"10.0.0.1\",command=\"sh\" ssh-ed25519 {KEY}")), only);
        assert_eq!(flaw(&format!("from=10.0.0.1 ssh-ed25519 {KEY}")), "`from=` must be followed by patterns in double quotes");
        let patterns = "`from=` must have patterns of addresses or names, with commas between";
        assert_eq!(flaw(&format!("from=\"a b\" ssh-ed25519 {KEY}")), patterns);
        assert_eq!(flaw(&format!("from=\"\" ssh-ed25519 {KEY}")), patterns);
    }

    #[test]
    fn a_key_is_what_its_type_says() {
        assert_eq!(flaw(&format!("ssh-rsa {KEY}")), "what follows `ssh-rsa` is not a key of that type");
        assert_eq!(flaw("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5"), "what follows `ssh-ed25519` is not a key of that type");
        assert_eq!(flaw("ssh-ed25519 AAAA"), "what follows `ssh-ed25519` is not a key of that type");
        assert_eq!(flaw("ssh-ed25519 ?"), "what follows `ssh-ed25519` is not Base64");
        assert_eq!(flaw("ssh-ed25519"), "there is no key after `ssh-ed25519`");
        assert_eq!(flaw(""), "it is empty");
        assert!(flaw("-----BEGIN OPENSSH PRIVATE KEY-----").starts_with("it must begin with the type of a key, one of ssh-ed25519, "));
        assert_eq!(flaw(&format!("ssh-ed25519 {KEY}\nssh-rsa x")), "it has a line break or another control character");
    }

    #[test]
    fn a_key_with_its_comment_has_a_longest_length() {
        let begin = format!("ssh-ed25519 {KEY} ");
        assert!(read(&format!("{begin}{}", "x".repeat(SSH_KEY_MAX - begin.len()))).is_ok());
        let longer = format!("{begin}{}", "x".repeat(SSH_KEY_MAX - begin.len() + 1));
        assert_eq!(flaw(&longer), "it has 4097 bytes; at most 4096 are possible");
    }
}
