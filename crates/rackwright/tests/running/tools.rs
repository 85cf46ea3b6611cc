//! Files of the repository, and the other programs that ours is held against.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::server::text;

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// A program of those that `tools/peers` installs, which it does if they are not there.
pub fn peer(program: &str) -> PathBuf {
    let peers = Command::new(repository("tools/peers")).stderr(Stdio::inherit()).output().expect("tools/peers runs");
    assert!(peers.status.success(), "tools/peers failed");
    PathBuf::from(text(&peers.stdout).trim()).join(program)
}
