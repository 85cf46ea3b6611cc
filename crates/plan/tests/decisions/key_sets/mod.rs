//! Key sets: what may be written, what is said of them, and how accounts of BMCs follow them.

mod accounts;
mod crash;
mod machines;
mod stage;
mod writing;
