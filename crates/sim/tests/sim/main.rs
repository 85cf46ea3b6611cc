//! The simulated site from outside: over its two protocols, in process on virtual time, over sockets, and with kubectl.

mod control;
mod durability;
mod faults;
mod harness;
mod kubectl;
mod kubernetes;
mod redfish;
mod sockets;
mod watch;
