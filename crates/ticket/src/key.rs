//! The key, and the tokens that are made with it.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use model::{Attempt, ClusterName, SecretRef};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::join::JoinToken;

/// As long as the digest that it keys: a longer one would be no safer.
pub const KEY_BYTES: usize = 32;

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Fetching what the machine is started from. It is part of a URL.
    Media,
    /// The agent's, which it exchanges once.
    Agent,
    /// What it gets for it.
    Session,
    /// The installed system's, with which it phones home.
    System,
    /// Joining the undercloud.
    Join,
}

impl Purpose {
    pub const ALL: [Purpose; 5] = [Purpose::Media, Purpose::Agent, Purpose::Session, Purpose::System, Purpose::Join];

    fn name(self) -> &'static str {
        match self {
            Purpose::Media => "media",
            Purpose::Agent => "agent",
            Purpose::Session => "session",
            Purpose::System => "system",
            Purpose::Join => "join",
        }
    }
}

/// The key of a cluster's installations. Clones are wiped as well.
#[derive(Clone)]
pub struct InstallKey(Zeroizing<[u8; KEY_BYTES]>);

impl InstallKey {
    /// Nothing if it is not [`KEY_BYTES`] long.
    pub fn from_bytes(bytes: &[u8]) -> Option<InstallKey> {
        Some(InstallKey(Zeroizing::new(bytes.try_into().ok()?)))
    }

    /// Where the vault keeps a cluster's key.
    pub fn secret_of(cluster: &ClusterName) -> SecretRef {
        SecretRef::new(format!("install/{}", cluster.key()))
    }

    pub fn token(&self, purpose: Purpose, attempt: &Attempt) -> Zeroizing<String> {
        let digest = Zeroizing::new(<[u8; 32]>::from(self.mac(purpose, attempt).finalize().into_bytes()));
        Zeroizing::new(URL_SAFE_NO_PAD.encode(digest.as_slice()))
    }

    /// Whether this is the token of that purpose and attempt. It takes as long whatever is wrong with it.
    pub fn verify(&self, purpose: Purpose, attempt: &Attempt, token: &str) -> bool {
        let Ok(digest) = URL_SAFE_NO_PAD.decode(token) else { return false };
        self.mac(purpose, attempt).verify_slice(&Zeroizing::new(digest)).is_ok()
    }

    /// The token by which the installed machine joins the undercloud.
    pub fn join_token(&self, attempt: &Attempt) -> JoinToken {
        let digest = Zeroizing::new(<[u8; 32]>::from(self.mac(Purpose::Join, attempt).finalize().into_bytes()));
        JoinToken::from_digest(&digest)
    }

    /// Names are equal in any case, so what stands for them is.
    fn mac(&self, purpose: Purpose, attempt: &Attempt) -> Hmac<Sha256> {
        let Attempt { cluster, machine, operation, round } = attempt;
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_slice()).expect("a MAC takes a key of any length");
        mac.update(format!("{}\n{}\n{}\n{operation}\n{round}", purpose.name(), cluster.key(), machine.key()).as_bytes());
        mac
    }
}

impl fmt::Debug for InstallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstallKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use model::{MachineName, OperationId};

    use super::*;

    pub(crate) fn key() -> InstallKey {
        InstallKey::from_bytes(&[7; KEY_BYTES]).unwrap()
    }

    pub(crate) fn attempt() -> Attempt {
        Attempt {
            cluster: ClusterName::new("Site1").unwrap(),
            machine: MachineName::new("rack1compute01").unwrap(),
            operation: OperationId::new("8f3c"),
            round: 1,
        }
    }

    #[test]
    fn a_token_is_good_for_its_purpose_and_attempt_alone() {
        let (key, attempt) = (key(), attempt());
        let others = [
            Attempt { cluster: ClusterName::new("site2").unwrap(), ..attempt.clone() },
            Attempt { machine: MachineName::new("rack1compute02").unwrap(), ..attempt.clone() },
            Attempt { operation: OperationId::new("8f3d"), ..attempt.clone() },
            Attempt { round: 2, ..attempt.clone() },
        ];
        let mut tokens = BTreeSet::new();
        for purpose in Purpose::ALL {
            let token = key.token(purpose, &attempt);
            assert!(key.verify(purpose, &attempt, &token));
            for other in Purpose::ALL.into_iter().filter(|other| *other != purpose) {
                assert!(!key.verify(other, &attempt, &token), "{purpose:?} as {other:?}");
            }
            for other in &others {
                assert!(!key.verify(purpose, other, &token), "{purpose:?} for {other:?}");
                tokens.insert(key.token(purpose, other).to_string());
            }
            tokens.insert(token.to_string());
        }
        assert_eq!(tokens.len(), Purpose::ALL.len() * (1 + others.len()));
    }

    #[test]
    fn a_token_is_the_mac_that_others_compute() {
        // printf 'agent\nsite1\nrack1compute01\n8f3c\n1' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…07 -binary | base64
        let token = key().token(Purpose::Agent, &attempt());
        assert_eq!(token.as_str(), "Fn7haSfLUpc3X6127QZGy4-C8ArnpZ2w3jQhniQZw6U");
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let (key, attempt) = (key(), attempt());
        let token = key.token(Purpose::Agent, &attempt);
        let cut = &token[..token.len() - 1];
        for bad in ["", "x", cut, &format!("{}=", *token), &format!("{}A", *token), &token.to_ascii_lowercase(), "ä"] {
            assert!(!key.verify(Purpose::Agent, &attempt, bad), "{bad}");
        }
        let other = InstallKey::from_bytes(&[8; KEY_BYTES]).unwrap();
        assert!(!other.verify(Purpose::Agent, &attempt, &token));
    }

    #[test]
    fn the_case_of_names_makes_no_other_token() {
        let louder = Attempt { machine: MachineName::new("RACK1COMPUTE01").unwrap(), ..attempt() };
        assert_eq!(key().token(Purpose::Media, &attempt()), key().token(Purpose::Media, &louder));
    }

    #[test]
    fn a_key_has_one_length_and_shows_nothing_of_itself() {
        assert!(InstallKey::from_bytes(&[0; KEY_BYTES - 1]).is_none());
        assert!(InstallKey::from_bytes(&[0; KEY_BYTES + 1]).is_none());
        assert_eq!(format!("{:?}", key()), "InstallKey { .. }");
        assert_eq!(InstallKey::secret_of(&attempt().cluster).as_str(), "install/site1");
    }
}
