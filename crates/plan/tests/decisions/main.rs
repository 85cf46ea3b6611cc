//! The tests of the decisions. One crate, so that the script language and the rig are compiled once.

mod boots;
mod chronicle;
mod crash;
mod descriptions;
mod desk;
mod evacuation;
mod guard_cases;
mod guard_control_plane;
mod guard_one_at_a_time;
mod guard_table;
mod install;
mod key_sets;
mod laws;
mod lodging;
mod operations;
mod preview;
mod properties;
mod replace;
mod rig;
mod script;
mod storing;
mod two_members;
mod vms;
