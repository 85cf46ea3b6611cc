//! The agent's program: what it does around the installation itself. It is started by `/init` of the agent's image, which switches the
//! machine off when it ends.
//!
//! It installs whatever machine it runs on, so it does nothing unless it is told to in so many words.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use agent::clock::{Clock, MachineClock};
use agent::configuration::{Configuration, find_configuration};
use agent::home::{Home, Pauses};
use agent::http::{Client, Timeouts};
use agent::life::{Ending, Machine, Settling, draw_nonce, install};
use agent::log::Log;
use agent::network;

const USAGE: &str = "usage: rackwright-agent install-this-machine\n\nIt overwrites a disk of the machine that it runs on.\n";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words != ["install-this-machine"] {
        let _ = std::io::stderr().write_all(USAGE.as_bytes());
        return ExitCode::from(2);
    }
    let root = Path::new("/");
    let log = Arc::new(Log::on_consoles(root));
    log.say(format_args!("rackwright-agent {}", env!("CARGO_PKG_VERSION")));
    let Some(configuration) = find_configuration(root, &log) else { return ExitCode::FAILURE };
    match run(root, &configuration, &log) {
        Ok(Ending::Written) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            log.say(format_args!("the agent cannot begin: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path, configuration: &Configuration, log: &Arc<Log>) -> std::io::Result<Ending> {
    log.say(format_args!("for {}", configuration.machine));
    let mut machine = Machine::observe(root, Settling::default());
    network::bring_up(root, configuration.network.as_ref(), log);
    let clock = Arc::new(Clock::new(MachineClock::Settable));
    if let Some((was, is)) = configuration.time.and_then(|told| clock.heed(told)) {
        log.say(format_args!("the clock was {was} and is {is}"));
    }
    let client = Client::new(configuration.ca.as_deref(), clock, Timeouts::default())?;
    let mut home = Home::new(client, log.clone(), Pauses::default(), configuration);
    Ok(install(&mut machine, &mut home, &draw_nonce()?))
}
