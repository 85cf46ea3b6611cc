//! Whole installations: a real server, real files for disks, and everything that can go wrong between them.

mod control_plane;
mod disks;
mod endings;
mod machine;
mod transfer;
mod trust;
mod whole;
