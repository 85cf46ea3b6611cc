//! The whole system in one process on virtual time: a simulated site behind its real protocols, the keeper, the API.
//!
//! A story is a text of commands with a golden transcript; `story` tells the language.

mod asking;
mod foreseen;
mod house;
mod installing;
mod log;
mod mortal;
mod peers;
mod repairs;
mod story;
mod tenancy;
mod tenants;
mod wiring;

pub use house::{CALLER, House, Reply, machine_path, resource_path};
pub use installing::{IMAGES_URL, INSTALL_URL, VERSIONS, connect, desk, network, plug, runtime};
pub use log::{about, line, refusals};
pub use mortal::{Moment, Mortal};
pub use peers::peer;
pub use story::tell;
pub use tenancy::tenancy_of;
pub use wiring::{SUBSCRIPTION, authorized_kubernetes, definition_of, door_of, equipment_of, etcd_of};
