//! Emptying a machine and filling it again.

mod memory;

pub(crate) use memory::forget_vm;
