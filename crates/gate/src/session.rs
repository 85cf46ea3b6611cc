//! What lets a device that somebody logged in stay logged in for a while: a token for tokens.

use std::net::IpAddr;

use access::token::{Bearer, Minted};
use model::Span;

use crate::{Gate, LoginError, lock, random_id};

/// What it is for: for nothing at the API.
const AUDIENCE: &str = "https://management.rackwright/session";

/// How long a login lasts, with all that is made of it: a working day. Then a person must show anew who they are.
pub const SESSION_LIFE: Span = access::token::SIGNED_LIFE_MAX;

impl Gate {
    /// Who somebody is, for a program of theirs: an id token of OpenID Connect.
    pub fn describe(&self, bearer: &Bearer, program: &str) -> Result<Minted, LoginError> {
        Ok(self.mint().apart(program, access::token::TOKEN_LIFE).for_anybody().mint(bearer, program, random_id()?, self.now())?)
    }

    /// Something to get the next token with.
    pub fn begin_session(&self, bearer: &Bearer) -> Result<Minted, LoginError> {
        Ok(self.mint().apart(AUDIENCE, SESSION_LIFE).mint(bearer, AUDIENCE, random_id()?, self.now())?)
    }

    /// Whose it is. A service principal may have been disabled, removed, or lost what it logged in with meanwhile, and an issuer may be
    /// trusted no more; that a person has left is known to their issuer alone. `from` is where it is shown.
    pub fn resume_session(&self, session: &str, from: IpAddr) -> Result<Bearer, LoginError> {
        let now = self.now();
        lock(&self.logins).begin_as_nobody(from, now)?;
        let bearer = self.mint().apart(AUDIENCE, SESSION_LIFE).check(session, now)?.bearer();
        self.check_still_there(&bearer)?;
        lock(&self.logins).succeed_as_nobody(from, now);
        Ok(bearer)
    }
}
