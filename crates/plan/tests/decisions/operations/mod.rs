//! Stories of each action, with their golden transcripts.

mod cancel;
mod control_plane;
mod cordon;
mod deadlines;
mod denied;
mod faults;
mod power_off;
mod refusals;
mod restart;
mod start;
mod undercloud_faults;
mod undescribed;
mod update;
