//! Who is asking, and what they may. Pure: no I/O, no clock, no randomness; `now` and random bytes are arguments.
//!
//! A caller is known by a token of ours ([`token`]), which a principal ([`principal`]) gets for a secret, a certificate or the token of
//! another issuer. What a caller may is said by roles that are assigned at scopes ([`judge`]); what nobody may, by policies ([`deny`]) and
//! locks ([`lock`]); how much of a thing there may be, by quotas ([`quota`]); and whether a subscription takes anything at all, by its state
//! ([`subscription`]). How often one may try is bounded ([`attempts`]).
//!
//! Which permission a route needs, and what is answered to whom it lacks, is not decided here.

pub mod assignment;
pub mod attempts;
mod cedar;
pub mod deny;
mod guid;
pub mod judge;
pub mod lock;
mod pattern;
pub mod permission;
pub mod principal;
pub mod quota;
pub mod roles;
pub mod scope;
pub mod subscription;
pub mod token;

pub use assignment::RoleAssignment;
pub use guid::{AssignmentId, ClientId, InvalidGuid, PrincipalId, RoleId, SecretId, TenantId};
pub use judge::{Judge, Missing};
pub use pattern::Pattern;
pub use permission::Permission;
pub use scope::Scope;
