//! What the benchmarks and the counts share.

pub mod fleet;
