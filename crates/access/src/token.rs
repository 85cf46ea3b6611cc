//! Tokens: our own access tokens, the assertions by which service principals log in, and the tokens of other issuers. All are JWTs.
//!
//! Ours are for us alone, and are signed with a secret; those that tell other programs who somebody is, with Ed25519. Neither needs a random
//! number, so the same claims give the same token. A token is good until it expires and cannot be called back, so it lives shortly. That a
//! token's principal still may anything is judged at each request.
//!
//! The library that reads JWTs would look at the system's clock, and would take any algorithm of a key's family. So it checks signatures
//! alone, and all else is checked here, with `now` as an argument.

mod assertion;
mod claims;
mod envelope;
mod foreign;
mod keys;
mod mint;
mod rejection;
mod shown;
mod signatures;
mod verified;

use model::Span;

pub use assertion::{ASSERTION_LIFE_MAX, Assertion, AssertionAudience};
pub use claims::Claims;
pub use foreign::{BadKeys, ForeignClaims, ForeignIssuer, JWKS_KEYS_MAX, JWKS_MAX};
pub use keys::{SEED_BYTES, SIGNED_LIFE_MAX, SigningKey, SigningKeys};
pub use mint::{Bearer, Mint, MintError, Minted};
pub use rejection::Rejection;
pub use shown::{Proven, SHOWN_MAX, ShownAssertions};
pub use verified::{VERIFIED_MAX, Verified};

/// How long a token of ours is good. Azure's are good for about an hour, and its clients renew them by themselves.
pub const TOKEN_LIFE: Span = Span::hours(1);

/// How far two clocks may differ. With NTP they differ by less than a second; without it two minutes are days of drift.
pub const CLOCK_SKEW: Span = Span::minutes(2);

/// Bytes of a token. Entra's with many groups have about 6 KiB; what is longer is not even decoded.
pub const TOKEN_MAX: usize = 16 * 1024;

#[cfg(test)]
mod tests;
