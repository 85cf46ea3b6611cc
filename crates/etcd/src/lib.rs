//! The driver of an undercloud's etcd: who its members are, and the three changes of membership that an installation needs.
//!
//! It speaks etcd's own JSON gateway. Every call looks or asks once; waiting for an effect, trying again and choosing what to
//! ask are the keeper's and `plan`'s. Each call goes to one member of the cluster at a time, and to the next one only if the
//! one before provably took nothing up, so that no change is asked for twice. What is asked for is harmless to repeat: removing
//! a member that is gone, adding one that is listed and promoting one that votes are done already.
//!
//! The HTTP service is injected ([`Transport`]), so that a simulated etcd in the same process and a real one behind TLS take
//! the same path.

mod cluster;
mod document;
mod endpoint;
mod fault;
mod status;
mod transport;
mod trust;

pub use cluster::{CALL_TIMEOUT, EtcdCluster, OLDEST_VERSION};
pub use endpoint::{ENDPOINTS_MAX, Endpoint, EndpointError};
pub use fault::{Purpose, classify_answer, classify_transport};
pub use status::MemberStatus;
pub use transport::{ANSWER_TIMEOUT, CONNECT_TIMEOUT, MAX_ANSWER_BYTES, Transport, TransportError};
pub use trust::{Tls, TlsError};
