//! The simulated site from outside: over its two protocols, in process on virtual time, over sockets, and with kubectl.

mod accounts;
mod boot;
mod control;
mod durability;
mod etags;
mod etcd;
mod events;
mod evictions;
mod faults;
mod firmware;
mod harness;
mod kubectl;
mod kubernetes;
mod parts;
mod peers;
mod protocol_validator;
mod redfish;
mod redfishtool;
mod service_validator;
mod sockets;
mod storage;
mod vendors;
mod virtual_machines;
mod watch;
