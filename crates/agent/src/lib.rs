//! The installing agent: a small program that runs on a machine while it gets its operating system.
//!
//! It was started over the network, with its configuration beside it. It trades its token for a session, tells what hardware it
//! finds, writes one image to one disk, reads it back, puts the first-boot configuration beside it, and is done. What it may write to
//! is decided in `choice.rs` from what the disks say of themselves; [`disk::Disk`] is the only way to a disk's contents.
//!
//! It keeps no state: an agent that was killed is a new agent, with another nonce, and the control plane tells them apart.

pub mod choice;
pub mod clock;
pub mod configuration;
pub mod disk;
pub mod download;
pub mod home;
pub mod http;
pub mod inventory;
pub mod life;
pub mod log;
pub mod network;
pub mod seed;
pub mod trouble;
pub mod wipe;
pub mod wire;
pub mod write;
