//! The tests of the decisions. One crate, so that the script language and the rig are compiled once.

mod crash;
mod desk;
mod guard_cases;
mod guard_control_plane;
mod guard_table;
mod laws;
mod operations;
mod properties;
mod rig;
mod script;
