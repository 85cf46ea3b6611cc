//! Running it: what those who operate Rackwright see, on the real binary: health, metrics, log, traces, stop, backup, and the
//! files under `deploy/`.

mod backup;
mod deploy;
mod logs;
mod metrics;
mod server;
mod stopping;
mod traces;
