//! Machines with workloads: emptied, filled again, restarted, and found dead.

mod drain;
mod evacuate;
