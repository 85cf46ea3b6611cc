//! `rackwright sim swap …`: a technician exchanges parts of a simulated machine.

use std::path::PathBuf;

use clap::Args;

use super::args::{GlobalArgs, parse_name};
use super::context::Home;
use super::fault::{only_site, parse_word};
use super::render::swap_table;
use super::screen::Screen;
use super::simulator::Simulator;
use super::trouble::Trouble;

#[derive(Args, Debug)]
pub struct SwapArgs {
    /// The machine.
    #[arg(value_parser = parse_word)]
    machine: String,

    /// What is exchanged: `system-board`, `nic`, `drives`, `memory` or `machine`; more than once for several.
    #[arg(long = "part", value_name = "PART", value_parser = parse_word)]
    parts: Vec<String>,

    /// The new serial number; one is made up for a new system board.
    #[arg(long, value_name = "SERIAL", value_parser = parse_word)]
    serial: Option<String>,

    /// The new MAC address of the BMC.
    #[arg(long, value_name = "MAC", value_parser = parse_word)]
    bmc_mac: Option<String>,

    /// The new MAC address of the port that the machine starts from.
    #[arg(long, value_name = "MAC", value_parser = parse_word)]
    boot_mac: Option<String>,

    /// The password that the new BMC comes with.
    #[arg(long, value_name = "PASSWORD", value_parser = parse_word)]
    bmc_password: Option<String>,

    /// The file that says where the simulation is, instead of the one beside the contexts.
    #[arg(long, value_name = "FILE")]
    simulator: Option<PathBuf>,

    /// The simulated site that is meant, if there are several.
    #[arg(long, value_name = "SITE", value_parser = parse_name)]
    site: Option<String>,
}

impl SwapArgs {
    /// The phrase that the simulation understands.
    fn phrase(&self) -> String {
        let parts = (!self.parts.is_empty()).then(|| format!("part={}", self.parts.join(",")));
        let named = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name}={value}"));
        let words = [
            Some(self.machine.clone()),
            parts,
            named("serial", &self.serial),
            named("bmc-mac", &self.bmc_mac),
            named("boot-mac", &self.boot_mac),
            named("bmc-password", &self.bmc_password),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

pub async fn run(home: &Home, global: &GlobalArgs, screen: &mut Screen, args: SwapArgs) -> Result<(), Trouble> {
    let phrase = args.phrase();
    let simulator = Simulator::load(&args.simulator.unwrap_or_else(|| Simulator::file(home)))?;
    // A simulated site is in a resource group of its own name.
    let site = only_site(&simulator, args.site.or_else(|| global.resource_group.clone())).await?;
    let done = simulator.post(&["sites", &site, "swap"], phrase).await?;
    global.showing()?.list(screen, &done, || swap_table(&done))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exchanged_is_said_in_the_simulations_words() {
        let args = SwapArgs {
            machine: "rack1compute01".to_owned(),
            parts: vec!["system-board".to_owned(), "drives".to_owned()],
            serial: Some("ABC123".to_owned()),
            bmc_mac: None,
            boot_mac: Some("02:00:00:00:00:01".to_owned()),
            bmc_password: None,
            simulator: None,
            site: None,
        };
        assert_eq!(args.phrase(), "rack1compute01 part=system-board,drives serial=ABC123 boot-mac=02:00:00:00:00:01");
    }
}
