//! Programs that others wrote, which ours is held against.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program of those that `tools/peers` installs, which it does if they are not there.
pub fn peer(program: &str) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/peers");
    let output = Command::new(script).stderr(Stdio::inherit()).output().expect("tools/peers runs");
    assert!(output.status.success(), "tools/peers failed");
    PathBuf::from(String::from_utf8(output.stdout).expect("a path is text").trim()).join(program)
}
