//! A simulated site that speaks real protocols: one Redfish service per BMC, one Kubernetes API, and one etcd per machine of the
//! control plane, over `world`'s physics.
//!
//! Its machines are installed over HTTP, as real ones are: `errands` is what they ask, `net` how they reach others.
//! What a request changes is saved before it is answered, and nothing unsaved is ever told. The drivers cannot tell the
//! site from hardware; this crate shares no type with them.

mod control;
mod errands;
mod error;
mod etcd;
mod faults;
pub mod images;
mod journal;
mod kubeconfig;
mod kubernetes;
mod listen;
mod machines;
mod net;
mod parts;
mod redfish;
mod run;
mod site;
mod spec;
mod tls;

pub use control::{Control, control};
pub use error::SimError;
pub use faults::{FaultRefused, FaultSeen, Wire, parse_order, parse_script, parse_span};
pub use listen::{BmcScheme, Endpoints, TenantEndpoint};
pub use machines::{KnownAccount, SwapRefused, parse_swap};
pub use net::{Net, SocketNet, Switchboard, TrustedCa};
pub use parts::Parts;
pub use redfish::Quirk;
pub use site::{Site, saved_sites};
pub use spec::SiteSpec;
pub use tls::BmcTrust;
pub use world::{
    Aim, BmcLog, ClusterNode, Counters, DescribedMachine, FaultKind, FaultOrder, HardwarePart, Identity, Layout, LayoutError, LogEntry,
    Logged, MachineSpec, Pace, Role, Swap, SwapRefusal, Tenancy, TenancyError, TenantCluster, TenantVm, Vendor, VmDisk, VmManner, VmPower,
    Workload, WorkloadKind, check_tenant_name,
};
