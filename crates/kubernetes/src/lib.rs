//! The Kubernetes driver of a site's undercloud and of the tenants' clusters in it: it reports nodes, pods, disruption budgets,
//! virtual machines, clusters, namespaces and secrets, and passes on what is asked of them.
//!
//! Every call looks or asks once, under a timeout. Waiting for an effect, trying again and choosing what to ask are
//! the keeper's and `plan`'s. The client's own retries are switched off, because they would hide a busy API server
//! for minutes. The watches alone go on by themselves: resuming a watch is reading, not deciding.
//!
//! The HTTP service is injected, so that a simulated API server in the same process and a real one take the same path.

mod budget;
mod capi;
mod demands;
mod door;
mod eviction;
mod fault;
mod hints;
mod inside;
mod join;
mod lines;
mod name;
mod namespace;
mod node;
mod nodes;
mod os_disk;
mod pod;
mod quantity;
mod secret;
mod selector;
mod source;
mod tenant_cluster;
mod tenant_node;
mod tenants;
mod undercloud;
mod vm_calls;
mod vm_object;
mod vm_seen;
mod watch;

pub use budget::budget_seen;
pub use door::{Door, InProcessDoor, NetworkDoor};
pub use eviction::classify_eviction;
pub use fault::{Purpose, classify_error, classify_status};
pub use inside::{InsideEvent, MOST_BUDGETS, MOST_NODES, MOST_PODS};
pub use join::JoinToken;
pub use namespace::{NamespacePhase, NamespaceSeen};
pub use node::{CORDONED, MACHINE, node_seen};
pub use nodes::NodeEvent;
pub use pod::pod_seen;
pub use secret::{SecretData, SecretSeen, SecretWanted};
pub use tenant_cluster::TenantCluster;
pub use tenant_node::{OUT_OF_SERVICE, tenant_node_seen};
pub use tenants::{MOST_DISKS, MOST_VMS, TenantsEvent};
pub use undercloud::{CALL_TIMEOUT, CONNECT_TIMEOUT, TENANT_NAMESPACE, Undercloud};
pub use vm_calls::VmSecrets;
pub use vm_object::MANAGED_BY;
pub use watch::{ABSENT_PAUSE, LIST_TIMEOUT, WATCH_SILENCE_TIMEOUT, WATCH_TIMEOUT};
