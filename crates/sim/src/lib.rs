//! A simulated site that speaks real protocols: one Redfish service per BMC and one Kubernetes API, over `world`'s physics.
//!
//! What a request changes is saved before it is answered, and nothing unsaved is ever told. The drivers cannot tell the
//! site from hardware; this crate shares no type with them.

mod error;
mod journal;
mod kubeconfig;
mod kubernetes;
mod listen;
mod redfish;
mod run;
mod site;
mod spec;

pub use error::SimError;
pub use listen::Endpoints;
pub use site::{Site, saved_sites};
pub use spec::SiteSpec;
pub use world::{BmcLog, Counters, DescribedMachine, Layout, LayoutError, LogEntry, Logged, MachineSpec, Pace, Role, Vendor};
