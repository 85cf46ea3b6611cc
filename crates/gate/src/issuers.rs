//! Other issuers that we trust to know people, and their keys.
//!
//! An issuer's keys are given with it, or fetched from where it publishes them. They are part of its document, so that a start does not
//! depend on whether the issuer answers just then.

use access::PrincipalId;
use access::principal::User;
use access::token::{BadKeys, ForeignClaims, ForeignIssuer, Minted, Rejection};
use model::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use store::{Commit, StoreError};
use tracing::warn;

use crate::administrator::encode;
use crate::{Caller, Gate, GateError, LoginError, TENANT, documents, lock};

/// Issuers in all.
pub const ISSUERS_MAX: usize = 16;

/// Characters of an issuer's name and of its address.
pub const ISSUER_NAME_MAX: usize = 64;
pub const ISSUER_URL_MAX: usize = 512;

/// What an issuer may call us by.
pub const AUDIENCES_MAX: usize = 8;

/// How often the keys of an issuer are fetched, and how soon again when a token's key is not known.
pub const KEYS_REFRESH_EVERY: Span = Span::hours(1);
pub const KEYS_REFRESH_AT_ONCE: Span = Span::minutes(1);

/// An issuer, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Issuer {
    pub name: String,
    /// As its tokens say it, and where it publishes its keys, unless they were given.
    pub issuer: String,
    pub audiences: Vec<String>,
    /// Its keys as they were given or last fetched: a JWKS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
    /// Whether they were given, and are never fetched.
    #[serde(default)]
    pub keys_given: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_at: Option<Timestamp>,
}

#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    #[error("`{0}` cannot be an issuer's name: 1 to {ISSUER_NAME_MAX} letters, digits and hyphens are meant")]
    Name(String),
    #[error("an issuer is an https address of at most {ISSUER_URL_MAX} characters, as its tokens say it in `iss`")]
    Url,
    #[error("an issuer knows us by 1 to {AUDIENCES_MAX} audiences")]
    Audiences,
    #[error("there are {ISSUERS_MAX} issuers already, which is the most")]
    TooMany,
    #[error("issuer `{0}` is known already by the name `{1}`")]
    Taken(String, String),
    #[error("there is no issuer `{0}`")]
    Unknown(String),
    #[error(transparent)]
    Keys(#[from] BadKeys),
    #[error(transparent)]
    Gate(#[from] GateError),
}

impl From<StoreError> for IssuerError {
    fn from(problem: StoreError) -> Self {
        IssuerError::Gate(problem.into())
    }
}

impl Issuer {
    fn check(&self) -> Result<(), IssuerError> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !(1..=ISSUER_NAME_MAX).contains(&self.name.len()) || !self.name.bytes().all(is_name) {
            return Err(IssuerError::Name(model::cleaned(&self.name, ISSUER_NAME_MAX)));
        }
        let is_plain = self.issuer.bytes().all(|byte| byte.is_ascii_graphic());
        if !self.issuer.starts_with("https://") || self.issuer.len() > ISSUER_URL_MAX || !is_plain {
            return Err(IssuerError::Url);
        }
        let is_audience = |audience: &String| (1..=ISSUER_URL_MAX).contains(&audience.len());
        if !(1..=AUDIENCES_MAX).contains(&self.audiences.len()) || !self.audiences.iter().all(is_audience) {
            return Err(IssuerError::Audiences);
        }
        if let Some(keys) = &self.keys {
            self.foreign(keys)?;
        }
        Ok(())
    }

    fn foreign(&self, keys: &str) -> Result<ForeignIssuer, BadKeys> {
        ForeignIssuer::new(self.issuer.clone(), self.audiences.clone(), TENANT, keys)
    }

    /// Whether its keys should be fetched: they are old, or `urgently` wanted and were not fetched just now.
    fn is_due(&self, now: Timestamp, urgently: bool) -> bool {
        let patience = if urgently { KEYS_REFRESH_AT_ONCE } else { KEYS_REFRESH_EVERY };
        !self.keys_given && self.keys_at.is_none_or(|at| now >= at + patience)
    }
}

/// Somebody who can ask issuers for their keys.
#[async_trait::async_trait]
pub trait KeyFetcher: Send + Sync {
    /// The JWKS of an issuer, by its discovery document.
    async fn fetch(&self, issuer: &str) -> Result<String, String>;
}

/// How often it is looked whether keys are due.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_secs(60);

/// Keeps the keys of all issuers fresh, for ever.
pub(crate) async fn refresh(gate: &Gate) {
    loop {
        gate.refresh_issuers().await;
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// An issuer whose keys are being fetched, until this is dropped.
struct Fetching<'a> {
    gate: &'a Gate,
    name: String,
}

impl<'a> Fetching<'a> {
    fn begin(gate: &'a Gate, name: &str) -> Option<Fetching<'a>> {
        let is_first = lock(&gate.fetching).insert(name.to_owned());
        is_first.then(|| Fetching { gate, name: name.to_owned() })
    }
}

impl Drop for Fetching<'_> {
    fn drop(&mut self) {
        lock(&self.gate.fetching).remove(&self.name);
    }
}

impl Gate {
    pub async fn put_issuer(&self, issuer: Issuer) -> Result<Issuer, IssuerError> {
        issuer.check()?;
        let _alone = self.writing.lock().await;
        let known: Vec<Issuer> = self.directory().issuers().cloned().collect();
        if let Some(other) = known.iter().find(|other| other.issuer == issuer.issuer && other.name != issuer.name) {
            return Err(IssuerError::Taken(issuer.issuer, other.name.clone()));
        }
        if known.len() >= ISSUERS_MAX && !known.iter().any(|other| other.name == issuer.name) {
            return Err(IssuerError::TooMany);
        }
        self.write(Commit::default().put(documents::issuer(&issuer.name), encode(&issuer))).await?;
        Ok(issuer)
    }

    pub async fn remove_issuer(&self, name: &str) -> Result<(), IssuerError> {
        let _alone = self.writing.lock().await;
        if self.directory().issuer(name).is_none() {
            return Err(IssuerError::Unknown(name.to_owned()));
        }
        Ok(self.write(Commit::default().delete(documents::issuer(name))).await?)
    }

    /// A token of ours for somebody whom an issuer vouches for. Their roles are theirs by issuer and subject.
    pub async fn log_in_with(&self, token: &str, from: std::net::IpAddr) -> Result<(Caller, Minted), LoginError> {
        let now = self.now();
        // Who it is, is not known before the issuer's word was checked: one bucket for all people would let anybody keep them out.
        lock(&self.logins).begin_as_nobody(from, now)?;
        let claims = match self.judge_foreign(token) {
            Err(Rejection::UnknownKey) => {
                self.refresh_issuer_of(token).await;
                self.judge_foreign(token)?
            }
            judged => judged?,
        };
        lock(&self.logins).succeed_as_nobody(from, now);
        let User { name, issuer, .. } = &claims.user;
        let bearer = Caller {
            principal: claims.user.id(),
            client: None,
            tenant: TENANT,
            name: name.clone(),
            logged_in_at: now,
            credential: None,
            vouched_by: Some(issuer.clone()),
        };
        let minted = self.hand_out_to(&bearer)?;
        Ok((bearer, minted))
    }

    /// Only the issuer that a token names is asked: another's key may have the same id.
    fn judge_foreign(&self, token: &str) -> Result<ForeignClaims, Rejection> {
        let named = ForeignIssuer::claimed_by(token)?;
        let issuer = self.directory().issuers().find(|known| known.issuer == named).cloned().ok_or(Rejection::WrongIssuer)?;
        let keys = issuer.keys.as_deref().ok_or(Rejection::UnknownKey)?;
        issuer.foreign(keys).map_err(|_| Rejection::UnknownKey)?.check(token, self.now())
    }

    /// Fetches the keys of the issuer that a token names, if they are not fresh.
    async fn refresh_issuer_of(&self, token: &str) {
        let Ok(named) = ForeignIssuer::claimed_by(token) else { return };
        let known = self.directory().issuers().find(|known| known.issuer == named && known.is_due(self.now(), true)).cloned();
        if let Some(issuer) = known {
            self.refresh_issuer(issuer).await;
        }
    }

    /// Fetches keys that are due. One issuer that does not answer keeps no other from it, and its old keys stay.
    pub async fn refresh_issuers(&self) {
        let due: Vec<Issuer> = self.directory().issuers().filter(|issuer| issuer.is_due(self.now(), false)).cloned().collect();
        for issuer in due {
            self.refresh_issuer(issuer).await;
        }
    }

    /// Once at a time for each issuer: whoever comes meanwhile is told that the key is not known, and comes again.
    async fn refresh_issuer(&self, issuer: Issuer) {
        let Some(_alone) = Fetching::begin(self, &issuer.name) else { return };
        let fetched = match &self.fetcher {
            Some(fetcher) => fetcher.fetch(&issuer.issuer).await,
            None => Err("this process fetches no keys".to_owned()),
        };
        let keys = fetched.and_then(|keys| issuer.foreign(&keys).map(|_| keys).map_err(|problem| problem.to_string()));
        let keys = keys.inspect_err(|problem| {
            warn!(issuer = issuer.name, %problem, "an issuer's keys could not be fetched, and those known stay");
        });
        if let Err(problem) = self.keep_keys(&issuer, keys.ok()).await {
            warn!(issuer = issuer.name, %problem, "an issuer's keys could not be stored");
        }
    }

    /// Notes when they were fetched also after a failure: who does not answer is not asked at every login. What somebody changed of the
    /// issuer meanwhile stays.
    async fn keep_keys(&self, asked: &Issuer, keys: Option<String>) -> Result<(), StoreError> {
        let _alone = self.writing.lock().await;
        let Some(mut issuer) = self.directory().issuer(&asked.name).cloned() else { return Ok(()) };
        if issuer.issuer != asked.issuer || issuer.keys_given {
            return Ok(());
        }
        issuer.keys = keys.or(issuer.keys);
        issuer.keys_at = Some(self.now());
        self.write(Commit::default().put(documents::issuer(&issuer.name), encode(&issuer))).await
    }

    /// Who a person of an issuer is here, so that a role can be assigned before they first come.
    pub fn person(issuer: &str, subject: &str) -> PrincipalId {
        access::principal::User { issuer: issuer.to_owned(), subject: subject.to_owned(), name: String::new(), tenant: TENANT }.id()
    }
}
