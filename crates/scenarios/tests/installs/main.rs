//! Reimage, replace and validation as an operator meets them: over the API, with the real drivers, against the simulated site.

mod agents;
mod away;
mod hand;
mod hardware;
mod named_disks;
mod repairs;
mod repeats;
mod told;
mod ways;
