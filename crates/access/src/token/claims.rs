//! What a token of ours says, in the words that Azure's clients read.

use model::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::envelope::{Times, instant, seconds};
use super::mint::Bearer;
use super::rejection::Rejection;
use crate::guid::{ClientId, PrincipalId, TenantId};
use crate::principal::CredentialId;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    #[serde(rename = "iss")]
    pub issuer: String,
    #[serde(rename = "aud")]
    pub audience: String,
    /// The same as `oid`: our subjects are the same for every client.
    #[serde(rename = "sub")]
    pub subject: PrincipalId,
    #[serde(rename = "oid")]
    pub principal: PrincipalId,
    /// The client that it was given to; a service principal's own, or the program that a person uses.
    #[serde(rename = "appid", default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
    #[serde(rename = "tid")]
    pub tenant: TenantId,
    pub name: String,
    /// When they logged in; of a token that does not say so, when it was made.
    #[serde(rename = "auth_time", default, skip_serializing_if = "Option::is_none")]
    logged_in: Option<i64>,
    #[serde(rename = "cred", default, skip_serializing_if = "Option::is_none")]
    credential: Option<CredentialId>,
    /// The issuer that vouches for a person, under Azure's name for it.
    #[serde(rename = "idp", default, skip_serializing_if = "Option::is_none")]
    pub vouched_by: Option<String>,
    /// The name, as Azure's clients look for it.
    #[serde(default)]
    upn: String,
    #[serde(rename = "iat")]
    issued: i64,
    #[serde(rename = "nbf")]
    not_before: i64,
    #[serde(rename = "exp")]
    expires: i64,
    #[serde(rename = "jti")]
    pub id: Uuid,
}

impl Claims {
    /// Who has it.
    pub fn bearer(self) -> Bearer {
        let logged_in_at = instant(self.logged_in.unwrap_or(self.issued));
        let Claims { principal, client, tenant, name, credential, vouched_by, .. } = self;
        Bearer { principal, client, tenant, name, logged_in_at, credential, vouched_by }
    }

    /// Whether it is good now.
    pub(super) fn check_times(&self, now: Timestamp) -> Result<(), Rejection> {
        Times { not_before: Some(self.not_before), expires: self.expires }.check(now)
    }

    pub fn expires_at(&self) -> Timestamp {
        instant(self.expires)
    }

    /// From and to are in seconds.
    pub(super) fn new(bearer: &Bearer, issuer: &str, audience: &str, id: Uuid, (from, to): (i64, i64)) -> Claims {
        Claims {
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            subject: bearer.principal,
            principal: bearer.principal,
            client: bearer.client,
            tenant: bearer.tenant,
            name: bearer.name.clone(),
            upn: bearer.name.clone(),
            logged_in: Some(seconds(bearer.logged_in_at)),
            credential: bearer.credential.clone(),
            vouched_by: bearer.vouched_by.clone(),
            issued: from,
            not_before: from,
            expires: to,
            id,
        }
    }
}
