//! The physics of a simulated bare-metal site: what its BMCs, hosts, kubelets and control plane do as time passes.
//!
//! Pure and synchronous: `now` is an argument, and the only randomness is drawn from the site's seed. HTTP, sockets and
//! disks are `sim`'s. The nouns are this crate's own, so that a wrong belief of the drivers about Redfish or Kubernetes
//! shows as a failing test and not as two agreeing mistakes.

mod bmc;
mod control_plane;
mod events;
mod kubelet;
mod layout;
mod machine;
mod node;
mod objects;
mod pace;
mod persist;
mod random;
mod site;
mod time;

pub use bmc::{BmcLog, Counters, LogEntry, Logged};
pub use layout::{DescribedMachine, Layout, LayoutError, MachineSpec, Role, Vendor};
pub use machine::{PowerState, ResetAnswer, ResetType};
pub use objects::{
    Change, ChangeKind, Durability, EVENTS, Expired, Generation, LEASES, NAMESPACES, NODES, ObjectError, ObjectKey, ObjectTable, PODS,
    Part, Preconditions, RESOURCES, Resource, Scope, StatusPart,
};
pub use pace::Pace;
pub use persist::{Record, RestoreError};
pub use random::{Random, hash_text};
pub use site::World;
pub use time::{Instant, Span};

/// The version every kubelet and the API server of the site report.
pub const KUBERNETES_VERSION: &str = "v1.33.7";
