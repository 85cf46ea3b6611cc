//! The Kubernetes driver of a site's undercloud: it reports nodes, pods, namespaces and secrets, and passes on cordons,
//! evictions and new secrets.
//!
//! Every call looks or asks once, under a timeout. Waiting for an effect, trying again and choosing what to ask are
//! the keeper's and `plan`'s. The client's own retries are switched off, because they would hide a busy API server
//! for minutes. [`Undercloud::watch_nodes`] alone goes on by itself: resuming a watch is reading, not deciding.
//!
//! The HTTP service is injected, so that a simulated API server in the same process and a real one take the same path.

mod eviction;
mod fault;
mod name;
mod namespace;
mod node;
mod pod;
mod secret;
mod undercloud;
mod watch;

pub use eviction::classify_eviction;
pub use fault::{Purpose, classify_error, classify_status};
pub use namespace::{NamespacePhase, NamespaceSeen};
pub use node::{CORDONED, MACHINE, node_seen};
pub use pod::pod_seen;
pub use secret::{SecretData, SecretSeen, SecretWanted};
pub use undercloud::{CALL_TIMEOUT, CONNECT_TIMEOUT, Undercloud};
pub use watch::{LIST_TIMEOUT, NodeEvent, WATCH_SILENCE_TIMEOUT, WATCH_TIMEOUT};
