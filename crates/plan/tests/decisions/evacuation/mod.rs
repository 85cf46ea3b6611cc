//! Machines with workloads: emptied, filled again, restarted, and found dead.

mod crash;
mod dead;
mod drain;
mod evacuate;
mod homecoming;
mod moved;
mod passed_over;
mod power;
mod properties;
