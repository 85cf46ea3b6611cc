//! The BMC driver: it reads what a BMC reports and passes on what it is asked to do, over Redfish.
//!
//! Every call looks or asks once. Waiting for an effect, trying again and choosing what to ask are the keeper's
//! and `plan`'s. The one repetition here is logging in again when the BMC has forgotten our session, because
//! the refused request provably had no effect and the caller never learns that sessions exist.
//!
//! Documents are read leniently as raw JSON: a missing or odd field costs the value it carries, never the rest.
//! The HTTP service is injected ([`Transport`]), so that a simulated BMC in the same process and a real one
//! behind a socket take the same path.

mod bmc;
mod credentials;
mod document;
mod fault;
mod line;
mod reset;
mod transport;
mod trust;

pub use bmc::{Bmc, Identity};
pub use credentials::{Credentials, Login};
pub use fault::{Purpose, classify_status, classify_transport};
pub use line::CALL_TIMEOUT;
pub use transport::{ANSWER_TIMEOUT, CONNECT_TIMEOUT, MAX_ANSWER_BYTES, Transport, TransportError};
pub use trust::{CaBundle, Fingerprint, Trust, TrustError};
