//! The BMC driver: it reads what a BMC reports and passes on what it is asked to do, over Redfish.
//!
//! Every call looks or asks once. Waiting for an effect, trying again and choosing what to ask are the keeper's
//! and `plan`'s. The one repetition here is logging in again when the BMC has forgotten our session, because
//! the refused request provably had no effect and the caller never learns that sessions exist.
//!
//! Documents are read leniently as raw JSON: a missing or odd field costs the value it carries, never the rest.
//! The HTTP service is injected ([`Transport`]), so that a simulated BMC in the same process and a real one
//! behind a socket take the same path.

mod access;
mod account_keys;
mod accounts;
mod ask;
mod bmc;
mod boot;
mod content;
mod credentials;
mod document;
mod events;
mod fault;
mod firmware;
mod identity;
mod inspection;
mod inventory;
mod jobs;
mod line;
mod listing;
mod manager;
mod media;
mod message;
mod power;
mod quirks;
mod reset;
mod root;
mod serial;
mod sse;
mod storage_reset;
mod stream;
mod survey;
mod transport;
mod trust;
mod volumes;

pub use account_keys::WantedAccount;
pub use accounts::{Account, NewAccount, Role};
pub use bmc::Bmc;
pub use boot::{BootSeen, BootSource, BootTarget, Persistence};
pub use credentials::{Credentials, Login};
pub use events::{BmcEvent, EventStream, KEEP_ALIVE_TIMEOUT};
pub use fault::{Purpose, classify_refusal, classify_status, classify_transport};
pub use firmware::Firmware;
pub use identity::Identity;
pub use inventory::{Controller, Dimm, Drive, DriveKind, Health, Inventory, LinkState, Nic, Processor, Volume};
pub use jobs::{Job, JobRef, JobSeen, JobState};
pub use line::CALL_TIMEOUT;
pub use listing::{Listing, MAX_MEMBERS, Part};
pub use media::MediaSeen;
pub use serial::{SerialMatch, compare_serial};
pub use sse::MAX_EVENT_BYTES;
pub use storage_reset::StorageReset;
pub use transport::{ANSWER_TIMEOUT, CONNECT_TIMEOUT, MAX_ANSWER_BYTES, Transport, TransportError};
pub use trust::{CaBundle, Fingerprint, Trust, TrustError};
