//! Logins: a secret or a certificate for a token.

use std::net::IpAddr;

use access::attempts::TooMany;
use access::principal::{CredentialId, LoginRefused, ServicePrincipal};
use access::token::{Assertion, AssertionAudience, Bearer, MintError, Minted, Rejection};
use access::{ClientId, TenantId};

use crate::{AUDIENCE, Gate, GateError, TENANT, lock, random_id};

/// What a client shows to prove who it is.
#[derive(Clone, Copy)]
pub enum Shown<'a> {
    Secret {
        client: &'a str,
        secret: &'a str,
    },
    /// Signed with the key of a certificate that the principal has, and addressed to one of these.
    Assertion {
        token: &'a str,
        audience: &'a AssertionAudience,
    },
}

/// Why nobody is logged in. Clients read only whether they should try again: which part was wrong helps only who guesses.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error(transparent)]
    TooMany(#[from] TooMany),
    #[error("there is no service principal with this client id")]
    UnknownClient,
    #[error(transparent)]
    Refused(#[from] LoginRefused),
    #[error("the assertion is not good: {0}")]
    Rejected(#[from] Rejection),
    #[error(transparent)]
    Mint(MintError),
    #[error(transparent)]
    Gate(#[from] GateError),
}

impl From<MintError> for LoginError {
    /// A login that is over is its bearer's affair, and no trouble of ours.
    fn from(problem: MintError) -> Self {
        match problem {
            MintError::LoginOver => LoginError::Rejected(Rejection::Expired),
            other => LoginError::Mint(other),
        }
    }
}

impl std::fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Shown::Secret { .. } => "Secret",
            Shown::Assertion { .. } => "Assertion",
        })
    }
}

impl Gate {
    /// A token for whoever shows that they are a service principal. `from` is where the request comes from.
    pub fn log_in(&self, shown: Shown<'_>, from: IpAddr) -> Result<Minted, LoginError> {
        let now = self.now();
        let assertion = match shown {
            Shown::Assertion { token, .. } => match Assertion::read(token) {
                Ok(assertion) => Some(assertion),
                Err(rejection) => {
                    lock(&self.logins).begin_as_nobody(from, now)?;
                    return Err(rejection.into());
                }
            },
            Shown::Secret { .. } => None,
        };
        let name = match (&assertion, shown) {
            (Some(assertion), _) => assertion.client().to_string(),
            (None, Shown::Secret { client, .. }) => client.to_owned(),
            (None, Shown::Assertion { .. }) => return Err(LoginError::UnknownClient),
        };
        lock(&self.logins).begin(&name, from, now)?;
        let client = ClientId::parse(&name).map_err(|_| LoginError::UnknownClient)?;
        let principal = self.directory().client(client).cloned().ok_or(LoginError::UnknownClient)?;
        let credential = match (&assertion, shown) {
            (Some(assertion), Shown::Assertion { audience, .. }) => {
                if principal.disabled_at.is_some() {
                    return Err(LoginRefused::Disabled.into());
                }
                let proven = assertion.check(&principal, audience, now)?;
                let credential = proven.credential.clone();
                lock(&self.shown).show(proven, from, now)?;
                credential
            }
            (_, Shown::Secret { secret, .. }) => principal.find_secret(&self.secret_key, secret, now)?.into(),
            (None, Shown::Assertion { .. }) => return Err(LoginError::UnknownClient),
        };
        let minted = self.hand_out_to(&self.bearer(&principal, Some(credential)))?;
        lock(&self.logins).succeed(&name, from, now);
        Ok(minted)
    }

    /// A token for a service principal that this process itself acts as.
    pub fn hand_out(&self, principal: &ServicePrincipal) -> Result<Minted, LoginError> {
        self.hand_out_to(&self.bearer(principal, None))
    }

    fn bearer(&self, principal: &ServicePrincipal, credential: Option<CredentialId>) -> Bearer {
        Bearer {
            principal: principal.id,
            client: Some(principal.client_id),
            tenant: tenant(principal),
            name: principal.display_name.clone(),
            logged_in_at: self.now(),
            credential,
            vouched_by: None,
        }
    }

    /// A token for somebody who was found to be who they are.
    pub fn hand_out_to(&self, bearer: &Bearer) -> Result<Minted, LoginError> {
        let minted = self.mint().mint(bearer, AUDIENCE, random_id()?, self.now())?;
        // So that it is known when it is first shown: a login may take its time, a request should not. If that fails it is verified then.
        let _ = self.verify(&minted.text);
        Ok(minted)
    }
}

fn tenant(principal: &ServicePrincipal) -> TenantId {
    debug_assert_eq!(principal.tenant, TENANT);
    principal.tenant
}
