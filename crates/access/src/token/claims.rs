//! What a token of ours says, in the words that Azure's clients read.

use model::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::envelope::instant;
use super::mint::Bearer;
use crate::guid::{ClientId, PrincipalId, TenantId};

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
    #[serde(rename = "iat")]
    issued: i64,
    #[serde(rename = "nbf")]
    pub(super) not_before: i64,
    #[serde(rename = "exp")]
    pub(super) expires: i64,
    #[serde(rename = "jti")]
    pub id: Uuid,
}

impl Claims {
    pub fn issued_at(&self) -> Timestamp {
        instant(self.issued)
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
            issued: from,
            not_before: from,
            expires: to,
            id,
        }
    }
}
