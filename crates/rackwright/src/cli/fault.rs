//! `rackwright sim fault …`: what is broken in the simulated site, breaking it, and mending it.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::answer::{field_or_dash, items};
use super::args::{GlobalArgs, parse_name};
use super::context::Home;
use super::output::Showing;
use super::render::{Clock, fault_kind_table, fault_table};
use super::screen::Screen;
use super::simulator::Simulator;
use super::trouble::{Exit, Trouble};

/// A longer script is refused by the simulation; this much is read so that it can say so.
const SCRIPT_MAX: u64 = 1024 * 1024;

#[derive(Args, Debug)]
pub struct FaultArgs {
    /// The file that says where the simulation is, instead of the one beside the contexts.
    #[arg(long, global = true, value_name = "FILE")]
    simulator: Option<PathBuf>,

    /// The simulated site that is meant, if there are several.
    #[arg(long, global = true, value_name = "SITE", value_parser = parse_name)]
    site: Option<String>,

    #[command(subcommand)]
    command: FaultCommand,
}

#[derive(Debug, Subcommand)]
enum FaultCommand {
    /// What is broken now and what is planned.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright sim fault list --kinds
    List {
        /// What can be broken, and what each fault does.
        #[arg(long)]
        kinds: bool,
    },
    /// Break something: a machine, every machine of a rack, the API server (`api`), or what a tenant has.
    ///
    /// Spans are in the site's own time: at 60 times the speed, ten minutes pass in ten seconds.
    ///
    /// Example: rackwright sim fault add bmc-unreachable rack1compute01 --for 10m
    Add(AddArgs),
    /// Mend what is broken, and forget what is planned.
    ///
    /// Example: rackwright sim fault clear rack1compute01
    Clear {
        /// A fault's id, or what it was added to.
        #[arg(value_name = "ID|TARGET", value_parser = parse_target, required_unless_present = "all", conflicts_with = "all")]
        what: Option<String>,

        /// Only faults of this kind.
        #[arg(long, value_parser = parse_name)]
        kind: Option<String>,

        /// Everything.
        #[arg(long)]
        all: bool,
    },
    /// Play a file of faults: lines such as `after 5m bmc-unreachable rack1compute01 for 10m`.
    ///
    /// The lines count from now, in the site's own time. A line that cannot be understood is named, and nothing is done.
    ///
    /// Example: rackwright sim fault script night.txt
    Script {
        /// The file.
        file: PathBuf,
    },
}

#[derive(Args, Debug)]
struct AddArgs {
    /// What goes wrong; `rackwright sim fault list --kinds` tells what there is.
    #[arg(value_parser = parse_word)]
    kind: String,

    /// A machine, a rack, `api`, a tenant's cluster, a pod of one as `CLUSTER/POD`, or a virtual machine.
    #[arg(value_parser = parse_target)]
    target: String,

    /// How long, such as `90s`, `10m` or `2h`; without it until it is cleared.
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_word)]
    lasting: Option<String>,

    #[command(flatten)]
    number: NumberArgs,
}

/// The number that some faults take; each kind knows one of these.
#[derive(Args, Debug)]
#[group(multiple = false)]
struct NumberArgs {
    /// How late answers are, in milliseconds of wall time.
    #[arg(long)]
    ms: Option<u32>,
    /// The HTTP status of every answer.
    #[arg(long)]
    status: Option<u32>,
    /// At every how many requests, or every how many seconds.
    #[arg(long)]
    every: Option<u32>,
    /// How many times as long.
    #[arg(long)]
    factor: Option<u32>,
    /// Which port of the network card.
    #[arg(long)]
    port: Option<u32>,
    /// How many times.
    #[arg(long)]
    times: Option<u32>,
    /// How many modules of memory.
    #[arg(long)]
    dimms: Option<u32>,
    /// Which bay for a drive, counted from 0.
    #[arg(long)]
    bay: Option<u32>,
}

impl NumberArgs {
    fn words(&self) -> Option<String> {
        let named = [
            ("ms", self.ms),
            ("status", self.status),
            ("every", self.every),
            ("factor", self.factor),
            ("port", self.port),
            ("times", self.times),
            ("dimms", self.dimms),
            ("bay", self.bay),
        ];
        named.into_iter().find_map(|(name, number)| number.map(|number| format!("{name}={number}")))
    }
}

/// A word of a phrase: what is more than one could be understood as something else.
pub(super) fn parse_word(text: &str) -> Result<String, String> {
    if text.contains(char::is_whitespace) { Err("it is more than one word".to_owned()) } else { parse_name(text) }
}

/// A pod is named with its cluster, and may be with its namespace too.
fn parse_target(text: &str) -> Result<String, String> {
    text.split('/').try_for_each(|part| parse_word(part).map(drop)).map(|()| text.to_owned())
}

impl AddArgs {
    /// The phrase that the simulation understands.
    fn phrase(&self) -> String {
        let lasting = self.lasting.as_ref().map(|span| format!("for {span}"));
        [Some(self.kind.clone()), Some(self.target.clone()), lasting, self.number.words()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }
}

pub async fn run(home: &Home, global: &GlobalArgs, screen: &mut Screen, args: FaultArgs) -> Result<(), Trouble> {
    let simulator = Simulator::load(&args.simulator.unwrap_or_else(|| Simulator::file(home)))?;
    // A simulated site is in a resource group of its own name.
    let site = args.site.or_else(|| global.resource_group.clone());
    let showing = &global.showing()?;
    match args.command {
        FaultCommand::List { kinds: true } => {
            let kinds = simulator.get(&["kinds"], &[]).await?;
            showing.list(screen, &kinds["value"], || fault_kind_table(items(&kinds, "/value")))
        }
        FaultCommand::List { kinds: false } => {
            let query: Vec<(&str, &str)> = site.iter().map(|site| ("site", site.as_str())).collect();
            let faults = simulator.get(&["faults"], &query).await?;
            if items(&faults, "/value").is_empty() && showing.is_for_people() {
                screen.hint("nothing is broken; `rackwright sim fault list --kinds` tells what could be");
                return Ok(());
            }
            showing.list(screen, &faults["value"], || fault_table(items(&faults, "/value"), Clock::of_process()))
        }
        FaultCommand::Add(add) => {
            let site = only_site(&simulator, site).await?;
            let faults = simulator.post(&["sites", &site, "faults"], add.phrase()).await?;
            show_added(screen, showing, &faults)
        }
        FaultCommand::Script { file } => {
            let script = read_script(&file)?;
            let site = only_site(&simulator, site).await?;
            let faults = simulator.post(&["sites", &site, "script"], script).await?;
            show_added(screen, showing, &faults)
        }
        FaultCommand::Clear { what, kind, all } => {
            let mut query: Vec<(&str, &str)> = site.iter().map(|site| ("site", site.as_str())).collect();
            let name = if what.as_deref().is_some_and(is_id) { "id" } else { "target" };
            query.extend(what.as_deref().map(|what| (name, what)));
            query.extend(kind.as_deref().map(|kind| ("kind", kind)));
            query.extend(all.then_some(("all", "true")));
            let cleared = simulator.delete(&["faults"], &query).await?;
            show_cleared(screen, showing, &cleared, what.as_deref())
        }
    }
}

fn show_added(screen: &mut Screen, showing: &Showing, added: &Value) -> Result<(), Trouble> {
    // A panic is over when the answer comes, so there is nothing to list.
    if items(added, "/value").is_empty() && showing.is_for_people() {
        return screen.data("it has happened");
    }
    showing.list(screen, &added["value"], || fault_table(items(added, "/value"), Clock::of_process()))
}

fn show_cleared(screen: &mut Screen, showing: &Showing, cleared: &Value, what: Option<&str>) -> Result<(), Trouble> {
    let faults = items(cleared, "/value");
    if let (true, Some(what)) = (faults.is_empty(), what) {
        let trouble = Trouble::new(Exit::NotFound, format!("nothing is broken that `{what}` means"));
        return Err(trouble.hint("`rackwright sim fault list` tells what is"));
    }
    if !showing.is_for_people() {
        return showing.list(screen, &cleared["value"], || fault_table(faults, Clock::of_process()));
    }
    for fault in faults {
        let told = ["/id", "/kind", "/target"].map(|pointer| field_or_dash(fault, pointer)).join(" ");
        screen.data(&format!("{told} cleared"))?;
    }
    if faults.is_empty() {
        screen.hint("nothing was broken");
    }
    Ok(())
}

/// `f12`. No machine is called so: their names say their rack.
fn is_id(text: &str) -> bool {
    text.strip_prefix('f').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The site that was named, or the only one.
pub(super) async fn only_site(simulator: &Simulator, named: Option<String>) -> Result<String, Trouble> {
    if let Some(site) = named {
        return Ok(site);
    }
    let sites = simulator.get(&["sites"], &[]).await?;
    let names: Vec<String> = items(&sites, "/value").iter().map(|site| field_or_dash(site, "/name")).collect();
    match names.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Trouble::failed("the simulation has no site")),
        several => Err(Trouble::new(Exit::Usage, "several sites are simulated")
            .detail(several.join(", "))
            .hint(format!("choose one with `--site`, for example `--site {}`", several[0]))),
    }
}

fn read_script(file: &std::path::Path) -> Result<String, Trouble> {
    let cannot = |why: String| Trouble::failed(format!("`{}` cannot be read: {why}", file.display()));
    let length = std::fs::metadata(file).map_err(|problem| cannot(problem.to_string()))?.len();
    if length > SCRIPT_MAX {
        return Err(cannot(format!("it is larger than {SCRIPT_MAX} bytes")));
    }
    std::fs::read_to_string(file).map_err(|problem| cannot(problem.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_a_target_and_what_could_be_understood_otherwise_is_not() {
        for target in ["rack1compute01", "naks-01", "naks-01/db-0", "naks-01/shop/web-1"] {
            assert_eq!(parse_target(target).as_deref(), Ok(target));
        }
        for target in ["", "naks-01/", "naks-01//db-0", "/db-0", "naks-01/..", "naks-01/db 0"] {
            assert!(parse_target(target).is_err(), "{target}");
        }
    }
}
