//! The token by which a new node proves to the undercloud that it may join: a bootstrap token, as Kubernetes calls it.

use std::fmt;

use zeroize::Zeroizing;

/// The lengths of the two parts, as Kubernetes wants them.
const ID_CHARACTERS: usize = 6;
const SECRET_CHARACTERS: usize = 16;

/// Five bits of a digest's byte make a character, each as likely as any other. Kubernetes takes `[a-z0-9]`.
const CHARACTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

#[derive(Clone, PartialEq, Eq)]
pub struct JoinToken {
    /// Names the token, and is no secret.
    pub id: String,
    pub secret: Zeroizing<String>,
}

impl JoinToken {
    pub(crate) fn from_digest(digest: &[u8; 32]) -> JoinToken {
        let character = |byte: &u8| char::from(CHARACTERS[usize::from(byte & 31)]);
        let (id, rest) = digest.split_at(ID_CHARACTERS);
        JoinToken {
            id: id.iter().map(character).collect(),
            secret: Zeroizing::new(rest[..SECRET_CHARACTERS].iter().map(character).collect()),
        }
    }

    /// As a joining node sends it.
    pub fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{}.{}", self.id, *self.secret))
    }
}

impl fmt::Debug for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinToken").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use model::Attempt;

    use crate::key::tests::{attempt, key};

    #[test]
    fn a_join_token_is_what_kubernetes_takes_for_one() {
        let token = key().join_token(&attempt());
        let text = token.text();
        let (id, secret) = text.split_once('.').unwrap();
        assert_eq!((id.len(), secret.len()), (6, 16));
        assert!(
            id.chars().chain(secret.chars()).all(|character| character.is_ascii_lowercase() || character.is_ascii_digit()),
            "{}",
            *text
        );
        assert_eq!((id, secret), (token.id.as_str(), token.secret.as_str()));
    }

    #[test]
    fn each_attempt_has_its_own_and_debug_shows_its_id_alone() {
        let (first, second) = (key().join_token(&attempt()), key().join_token(&Attempt { round: 2, ..attempt() }));
        assert_ne!(first.id, second.id);
        assert_ne!(first.secret, second.secret);
        assert_eq!(format!("{first:?}"), format!("JoinToken {{ id: {:?}, .. }}", first.id));
    }
}
