//! What can be typed: the grammar of the command line. Each noun's verbs live in a file of their own.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::bmm::BmmCommand;
use super::contexts::ContextCommand;
use super::fault::FaultArgs;
use super::operation::OperationCommand;
use super::resources::{ClusterCommand, RackCommand};
use crate::restore::RestoreArgs;
use crate::serve::ServeArgs;
use crate::sim_serve::SimServeArgs;
use crate::up::UpArgs;

const AFTER_HELP: &str = "\
Examples:
  rackwright up                                 start everything, with a simulated site
  rackwright status                             what runs and what waits, and why
  rackwright bmm list                           every machine
  rackwright bmm restart rack1compute01         restart one and follow it to the end
  rackwright operation list                     what is running now

Exit codes:
  0    done
  1    failed: the operation, the server or this computer
  2    wrong usage
  3    there is nothing of that name
  4    refused by a rule; the message names it, its evidence and the remedy
  5    no server can be reached
  6    the operation was cancelled
  130  interrupted

Environment:
  RACKWRIGHT_HOME  where contexts are kept, instead of the configuration directory
  NO_COLOR         if set, nothing is coloured";

/// A control plane for bare-metal sites.
///
/// Data goes to stdout, talk and progress to stderr. Without a terminal nothing is asked and nothing is coloured.
#[derive(Debug, Parser)]
#[command(name = "rackwright", version, after_help = AFTER_HELP, arg_required_else_help = true, max_term_width = 120)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// Options that every command understands.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// How results are shown: for people, or exactly as the API answers.
    #[arg(long, short, global = true, value_enum, default_value_t = Output::Table, value_name = "FORMAT")]
    pub output: Output,

    /// The resource group to look in, instead of the context's.
    #[arg(long, short = 'g', global = true, value_name = "GROUP", value_parser = parse_name)]
    pub resource_group: Option<String>,

    /// The subscription, instead of the context's.
    #[arg(long, global = true, value_name = "ID", value_parser = parse_name)]
    pub subscription: Option<String>,

    /// The server to talk to, without any context.
    #[arg(long, global = true, value_name = "URL", conflicts_with = "context")]
    pub server: Option<String>,

    /// The context to use, instead of the current one.
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    Table,
    Json,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start the control plane and a simulated site, and make them the current context.
    ///
    /// Everything runs in this process until Ctrl-C; starting it again continues, the simulated world included.
    ///
    /// Example: rackwright up --racks 4 --speed 60
    Up(UpArgs),
    /// Start the control plane for the sites that files describe.
    ///
    /// Example: rackwright serve --config site.toml
    Serve(ServeArgs),
    /// The simulated site.
    #[command(subcommand)]
    Sim(SimCommand),
    /// What runs, what waits, and what ends each wait.
    ///
    /// Shows each cluster with its control plane, its machines, its running operations, and everything that is being
    /// waited for: since when, what ends it, and whether it is late.
    Status,
    /// Bare-metal machines: look at them, and act on them.
    #[command(subcommand, visible_alias = "baremetalmachine")]
    Bmm(BmmCommand),
    /// Clusters.
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Racks.
    #[command(subcommand)]
    Rack(RackCommand),
    /// Operations: what is being done, what was done, and stopping it.
    #[command(subcommand)]
    Operation(OperationCommand),
    /// Contexts: which server commands talk to.
    #[command(subcommand)]
    Context(ContextCommand),
    /// Copy what a running server knows to a file, while it goes on.
    ///
    /// The file has everything that the server has stored: sites, machines, operations, and BMC logins in encrypted form. It
    /// does not have the key that opens the logins: that is `vault.key` in the server's data directory, and belongs in another
    /// safe place. Of `rackwright up` only the control plane is copied; the simulated world keeps its own file.
    ///
    /// Example: rackwright backup /backup/rackwright-monday.db
    Backup {
        /// The file to make; one that exists is not overwritten.
        file: PathBuf,
    },
    /// Put a backup into a data directory, before a server is started on it.
    ///
    /// The backup is checked first, and a wrong one changes nothing. Operations that were under way when it was made go on when
    /// the server starts, which looks at each device before it asks anything of it; `operation cancel` stops one that is not
    /// wanted any more.
    ///
    /// Example: rackwright restore /backup/rackwright-monday.db --data-dir /var/lib/rackwright
    Restore(RestoreArgs),
}

#[derive(Debug, Subcommand)]
pub enum SimCommand {
    /// Run the simulated site as a process of its own, and write the site files for `rackwright serve`.
    Serve(SimServeArgs),
    /// Faults: break things in the simulated site, and mend them.
    Fault(FaultArgs),
}

/// A name, with or without its flag.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub struct NameArgs {
    /// Its name.
    #[arg(value_name = "NAME", value_parser = parse_name)]
    positional: Option<String>,

    /// The same, as a flag.
    #[arg(long = "name", short = 'n', value_name = "NAME", value_parser = parse_name)]
    flag: Option<String>,
}

impl NameArgs {
    pub fn get(&self) -> &str {
        self.positional.as_deref().or(self.flag.as_deref()).unwrap_or_default()
    }
}

/// A name becomes one segment of a path; these would become none, or several.
pub fn parse_name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("it is empty".to_owned()),
        "." | ".." => Err("it is not a name".to_owned()),
        text if text.contains('/') || text.chars().any(char::is_control) => Err("a name has no slashes or control characters".to_owned()),
        text => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use expect_test::expect;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split_whitespace())
    }

    fn name(line: &str) -> String {
        match parse(line).unwrap().command {
            Command::Bmm(BmmCommand::Show { name }) => name.get().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    fn without_trailing_blanks(text: &str) -> String {
        text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    #[test]
    fn the_grammar_contradicts_itself_nowhere() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_name_is_given_with_or_without_its_flag_but_once() {
        assert_eq!(name("rackwright bmm show m1"), "m1");
        assert_eq!(name("rackwright bmm show -n m1"), "m1");
        assert_eq!(name("rackwright baremetalmachine show --name m1 --resource-group g"), "m1");
        for wrong in ["rackwright bmm show", "rackwright bmm show m1 -n m2", "rackwright bmm show ..", "rackwright bmm show a/b"] {
            assert_eq!(parse(wrong).unwrap_err().exit_code(), 2, "{wrong}");
        }
    }

    #[test]
    fn global_options_stand_anywhere_and_a_server_needs_no_context() {
        let cli = parse("rackwright -o json bmm list -g site1").unwrap();
        assert_eq!((cli.global.output, cli.global.resource_group.as_deref()), (Output::Json, Some("site1")));
        assert!(parse("rackwright bmm list --server http://127.0.0.1:1 --context lab").is_err());
    }

    #[test]
    fn every_action_takes_yes() {
        for line in [
            "bmm power-off m",
            "bmm start m",
            "bmm restart m",
            "bmm cordon m",
            "bmm uncordon m",
            "bmm manage m --reason r",
            "bmm unmanage m --reason r",
            "operation cancel 8f3c",
        ] {
            assert!(parse(&format!("rackwright {line} --yes")).is_ok(), "{line}");
        }
    }

    #[test]
    fn the_help_teaches_commands_and_exit_codes() {
        let help = Cli::command().term_width(100).render_help().to_string();
        expect![[r#"
            A control plane for bare-metal sites

            Usage: rackwright [OPTIONS] <COMMAND>

            Commands:
              up         Start the control plane and a simulated site, and make them the current context
              serve      Start the control plane for the sites that files describe
              sim        The simulated site
              status     What runs, what waits, and what ends each wait
              bmm        Bare-metal machines: look at them, and act on them [alias: baremetalmachine]
              cluster    Clusters
              rack       Racks
              operation  Operations: what is being done, what was done, and stopping it
              context    Contexts: which server commands talk to
              backup     Copy what a running server knows to a file, while it goes on
              restore    Put a backup into a data directory, before a server is started on it
              help       Print this message or the help of the given subcommand(s)

            Options:
              -h, --help     Print help (see more with '--help')
              -V, --version  Print version

            Global options:
              -o, --output <FORMAT>         How results are shown: for people, or exactly as the API answers
                                            [default: table] [possible values: table, json]
              -g, --resource-group <GROUP>  The resource group to look in, instead of the context's
                  --subscription <ID>       The subscription, instead of the context's
                  --server <URL>            The server to talk to, without any context
                  --context <NAME>          The context to use, instead of the current one

            Examples:
              rackwright up                                 start everything, with a simulated site
              rackwright status                             what runs and what waits, and why
              rackwright bmm list                           every machine
              rackwright bmm restart rack1compute01         restart one and follow it to the end
              rackwright operation list                     what is running now

            Exit codes:
              0    done
              1    failed: the operation, the server or this computer
              2    wrong usage
              3    there is nothing of that name
              4    refused by a rule; the message names it, its evidence and the remedy
              5    no server can be reached
              6    the operation was cancelled
              130  interrupted

            Environment:
              RACKWRIGHT_HOME  where contexts are kept, instead of the configuration directory
              NO_COLOR         if set, nothing is coloured
        "#]]
        .assert_eq(&help);
    }

    #[test]
    fn an_action_says_whether_it_disrupts_and_shows_an_example() {
        let mut root = Cli::command();
        root.build();
        let restart = root.find_subcommand_mut("bmm").and_then(|bmm| bmm.find_subcommand_mut("restart")).unwrap();
        expect![[r#"
            Switch a machine off and on again and wait until its node has rejoined. Disruptive.

            Cordons the node first and lifts its own cordon at the end; cordons of others stay. A control-plane
            machine is refused while that would endanger the others' quorum.

            Example: rackwright bmm restart rack1compute01

            Usage: rackwright bmm restart [OPTIONS] <NAME|--name <NAME>>

            Arguments:
              [NAME]
                      Its name

            Options:
              -n, --name <NAME>
                      The same, as a flag

                  --accept-control-plane-outage
                      Go on even if this machine has the control plane's only vote: the undercloud's API is down
                      meanwhile

                  --no-wait
                      Do not follow the operation to its end

              -y, --yes
                      Ask nothing. Without a terminal nothing is asked anyway

              -h, --help
                      Print help (see a summary with '-h')

            Global options:
              -o, --output <FORMAT>
                      How results are shown: for people, or exactly as the API answers
          
                      [default: table]
                      [possible values: table, json]

              -g, --resource-group <GROUP>
                      The resource group to look in, instead of the context's

                  --subscription <ID>
                      The subscription, instead of the context's

                  --server <URL>
                      The server to talk to, without any context

                  --context <NAME>
                      The context to use, instead of the current one
        "#]]
        .assert_eq(&without_trailing_blanks(&restart.clone().term_width(100).render_long_help().to_string()));
    }
}
