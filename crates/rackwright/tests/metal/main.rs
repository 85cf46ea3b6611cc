//! An operating system is installed on an emulated machine, from the call to the node that joins: QEMU behind libvirt, sushy-emulator as its
//! BMC, the agent as it is shipped, and the real binary. Nothing of it is ours but what is tested.
//!
//! It takes minutes, and programs that most people do not have: `./test` runs it as a stage of its own, and
//! `cargo test -p rackwright --test metal` by itself.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "whoever runs it for minutes sees how far it is, and `bench metal` reads it"
)]

mod disk;
#[path = "../support/door.rs"]
mod door;
#[path = "../support/environment.rs"]
mod environment;
mod faults;
mod hall;
mod house;
mod installs;
mod machine;
mod origin;
#[path = "../running/server.rs"]
#[expect(dead_code, reason = "the other tests of the binary use the rest of it")]
mod server;
mod times;
mod wire;
