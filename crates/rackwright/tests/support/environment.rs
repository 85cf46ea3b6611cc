//! What a program of ours inherits in a test: nothing that would make it behave as only this computer does.

use std::process::Command;

/// Variables that begin with one of these are ours, or of what we are made of.
const PREFIXES: [&str; 4] = ["RACKWRIGHT_", "OTEL_", "XDG_", "CLICOLOR"];
const NAMES: [&str; 6] = ["RUST_LOG", "NO_COLOR", "KUBECONFIG", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// Takes away what the computer's owner has set, and gives the user a name.
pub fn settle(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if NAMES.contains(&text.as_ref()) || PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command.env("USER", "alice");
}
