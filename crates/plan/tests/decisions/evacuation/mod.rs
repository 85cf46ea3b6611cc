//! Machines with workloads: emptied, filled again, restarted, and found dead.

mod cancelled;
mod crash;
mod dead;
mod drain;
mod evacuate;
mod failed;
mod homecoming;
mod meanwhile;
mod moved;
mod passed_over;
mod power;
mod properties;
mod time;
mod unheard;
