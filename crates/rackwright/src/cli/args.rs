//! What can be typed: the grammar of the command line. Each noun's verbs live in a file of their own.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::activity::ActivityCommand;
use super::az_env::AzEnvArgs;
use super::bmm::BmmCommand;
use super::contexts::ContextCommand;
use super::fault::FaultArgs;
use super::issuers::IssuerCommand;
use super::locks::LockCommand;
use super::login::LoginArgs;
use super::operation::OperationCommand;
use super::output::{Output, Showing};
use super::policies::PolicyCommand;
use super::quotas::QuotaCommand;
use super::resources::{ClusterCommand, RackCommand};
use super::rest::RestArgs;
use super::roles::RoleCommand;
use super::runtime::RuntimeCommand;
use super::signing_keys::SigningKeyCommand;
use super::sp::SpCommand;
use super::subscriptions::SubscriptionCommand;
use super::swap::SwapArgs;
use super::tenants::{PoolCommand, TenantClusterCommand};
use super::top::TopArgs;
use super::trouble::Trouble;
use super::vm::VmCommand;
use crate::init::InitArgs;
use crate::restore::RestoreArgs;
use crate::serve::ServeArgs;
use crate::sim_serve::SimServeArgs;
use crate::up::UpArgs;
use crate::vault_keys::VaultCommand;

pub const AFTER_HELP: &str = "\
Examples:
  rackwright up                                 start everything, with a simulated site
  rackwright status                             what runs and what waits, and why
  rackwright bmm list                           every machine
  rackwright bmm restart rack1compute01         restart one and follow it to the end
  rackwright bmm restart NAME --preview         what it would stop and move, and nothing is done
  rackwright vm list                            what tenants run, and on which machine
  rackwright operation list                     what is running now
  rackwright activity-log list --follow         who asked for what, and what came of it, as it happens
  rackwright top                                all of it, live

Exit codes:
  0    done
  1    failed: the operation, the server or this computer
  2    wrong usage
  3    there is nothing of that name
  4    refused by a rule; the message names it, its evidence and the remedy
  5    no server can be reached
  6    the operation was cancelled
  7    not yet: what is asked about is still on its way (bmm verify)
  130  interrupted

Environment:
  RACKWRIGHT_HOME    where contexts and data are kept, instead of the configuration and data directories
  RACKWRIGHT_SERVER  the server to talk to, for an account without contexts
  RACKWRIGHT_CA_FILE who signed its certificate, in PEM
  RACKWRIGHT_CLIENT_ID, RACKWRIGHT_CLIENT_SECRET
                     who to log in as, instead of what the context says
  RACKWRIGHT_TOKEN   a token to show the server, instead of a login
  RACKWRIGHT_MASTER_KEY
                     the master key of a server's secrets, in base64, instead of a key file
  NO_COLOR           if set, nothing is coloured
  CLICOLOR_FORCE     if set and not 0, colours without a terminal too";

/// A control plane for bare-metal sites.
///
/// Data goes to stdout, talk and progress to stderr. Without a terminal nothing is asked and nothing is coloured.
#[derive(Debug, Parser)]
#[command(name = "rackwright", version, after_help = AFTER_HELP, max_term_width = 120)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options that every command understands.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// How results are shown.
    #[arg(long, short, global = true, value_enum, default_value_t = Output::Table, value_name = "FORMAT")]
    pub output: Output,

    /// Which part of the result, as a JMESPath expression, such as `[].name`. As in `az`, it sees the JSON of `-o json`.
    #[arg(long, global = true, value_name = "EXPRESSION")]
    pub query: Option<String>,

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
    /// From then on it looks at their machines, and acts on them when somebody asks. With `--check` it only looks, says
    /// what is not as described, and ends.
    ///
    /// Example: rackwright serve --config site.toml
    Serve(ServeArgs),
    /// The simulated site: run it alone, and break things in it.
    #[command(subcommand)]
    Sim(SimCommand),
    /// What runs, what waits, and what ends each wait.
    ///
    /// Shows each cluster with its control plane, its machines, its running operations, and everything that is being
    /// waited for: since when, what ends it, and whether it is late. Changes nothing.
    ///
    /// Example: rackwright status
    Status,
    /// A live view of racks, machines, operations and waits. Changes nothing.
    ///
    /// Tab and the arrows scroll, `?` explains the marks, `q` quits. A server that goes away is waited for. Without a
    /// terminal one picture is printed.
    ///
    /// Example: rackwright top
    Top(TopArgs),
    /// Bare-metal machines: look at them, and act on them.
    #[command(subcommand, visible_alias = "baremetalmachine")]
    Bmm(BmmCommand),
    /// Clusters: the sites that are kept.
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Racks: where the machines of a site stand.
    #[command(subcommand)]
    Rack(RackCommand),
    /// Runtimes: which versions a cluster can install on its machines.
    #[command(subcommand)]
    Runtime(RuntimeCommand),
    /// Virtual machines of tenants: look at them, make them, and act on them.
    #[command(subcommand, visible_alias = "virtualmachine")]
    Vm(VmCommand),
    /// Kubernetes clusters of tenants: their nodes, the machines that these are on, and how they are drained.
    #[command(subcommand, name = "kubernetescluster")]
    TenantCluster(TenantClusterCommand),
    /// Pools of tenants' Kubernetes clusters: worker nodes that are alike.
    #[command(subcommand, name = "agentpool")]
    Pool(PoolCommand),
    /// Operations: what is being done, what was done, and stopping it.
    #[command(subcommand)]
    Operation(OperationCommand),
    /// The activity log: what was asked, decided, refused and done, and by whom.
    #[command(subcommand, name = "activity-log")]
    ActivityLog(ActivityCommand),
    /// Service principals: who programs log in as, with secrets or certificates.
    #[command(subcommand)]
    Sp(SpCommand),
    /// Roles: which there are, and who has which.
    #[command(subcommand)]
    Role(RoleCommand),
    /// Locks: what keeps even an owner from deleting or changing something by mistake.
    #[command(subcommand)]
    Lock(LockCommand),
    /// Policies: what nobody may make or do, whatever role they have.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Quotas: how much a subscription may have.
    #[command(subcommand)]
    Quota(QuotaCommand),
    /// Subscriptions: which there are, and whether one may be changed.
    #[command(subcommand)]
    Subscription(SubscriptionCommand),
    /// The keys that the server signs tokens with.
    #[command(subcommand, name = "signing-key")]
    SigningKey(SigningKeyCommand),
    /// The script that lets a shell complete our commands with the tab key. Changes nothing.
    ///
    /// Where it belongs is said beside it. The directory must be there: `mkdir -p ~/.local/share/bash-completion/completions`
    /// makes bash's.
    ///
    /// Example: rackwright completions bash > ~/.local/share/bash-completion/completions/rackwright
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Log in to a server, and make it the current context.
    ///
    /// Commands then log in by themselves. A program's secret is kept in the contexts file, which only you can read; of a person only what
    /// the server gave for the issuer's token, which keeps them logged in for a while.
    ///
    /// Example: rackwright login https://rackwright.example:7225 --client-id 3f0c1b62-7a55-4d0e-9a43-2f1f6a1c5d10 --ca ca.pem
    ///
    /// Example: rackwright login https://rackwright.example:7225 --assertion-file token.jwt
    Login(LoginArgs),
    /// Print a token that other programs can show the server for an hour.
    ///
    /// Whoever has it may do what you may, so it belongs into no log.
    ///
    /// Example: rackwright token
    Token,
    /// Say that a device which shows a code is yours, so that it is logged in as you.
    ///
    /// `az login --use-device-code` shows one. Whoever holds the device may then do what you may, until your own login ends: approve only
    /// what you have begun yourself.
    ///
    /// Example: rackwright approve BCDF-GHJK
    Approve {
        /// The code.
        #[arg(value_parser = parse_name)]
        code: String,
    },
    /// Issuers: who else is trusted to know people.
    #[command(subcommand)]
    Issuer(IssuerCommand),
    /// Write a profile for Azure's command line that knows this server, and print what a shell must export to use it.
    ///
    /// `az` then works as it is, as whoever the context logs in as; your own profile in ~/.azure is left alone. The profile holds the
    /// client secret, in files that only you can read. `eval "$(rackwright az-env)"` sets a shell up for it.
    ///
    /// Example: rackwright az-env
    AzEnv(AzEnvArgs),
    /// Send any request to the server, as yourself, and show the answer as it comes.
    ///
    /// The path is sent as it is: those of Azure need their `api-version`. The answer is shown as it came, that of an error too.
    ///
    /// Example: rackwright rest /rackwright/v1/status
    ///
    /// Example: rackwright rest --include '/subscriptions?api-version=2026-07-01'
    Rest(RestArgs),
    /// Make a data directory with its first administrator, before a server is started on it.
    ///
    /// The administrator's secret is printed once. With --new-secret, one that was lost is replaced. `rackwright up` and
    /// `rackwright serve` do the same by themselves where there is no administrator yet.
    ///
    /// Example: rackwright init --data-dir /var/lib/rackwright
    Init(InitArgs),
    /// Contexts: which server commands talk to.
    #[command(subcommand)]
    Context(ContextCommand),
    /// Copy what a running server knows to a file, while it goes on.
    ///
    /// The file has everything that the server has stored: sites, machines, operations, and BMC logins in encrypted form. It
    /// does not have the master key that opens the logins: unless the server was told otherwise, that is `vault.key` in its data
    /// directory, and belongs in another safe place. Of `rackwright up` only the control plane is copied; the simulated world keeps its own file.
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
    /// The keys of a server's secrets: which there are, and new ones for them.
    #[command(subcommand)]
    Vault(VaultCommand),
}

#[derive(Debug, Subcommand)]
pub enum SimCommand {
    /// Run the simulated site as a process of its own, and write the site files for `rackwright serve`.
    ///
    /// It runs until Ctrl-C; starting it again continues. No real machine is touched.
    ///
    /// Example: rackwright sim serve --racks 2 --speed 60
    Serve(SimServeArgs),
    /// Faults: break things in the simulated site, and mend them.
    Fault(FaultArgs),
    /// Exchange parts of a simulated machine, as a technician does. Its power is cut for that, and stays off.
    ///
    /// Example: rackwright sim swap rack1compute01 --part system-board --serial ABC123
    Swap(SwapArgs),
}

impl GlobalArgs {
    /// Wrong queries are found here, before anything is sent.
    pub fn showing(&self) -> Result<Showing, Trouble> {
        Showing::new(self.output, self.query.as_deref())
    }
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

/// A name, with or without its flag, or ids.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub struct ShowArgs {
    /// Its name.
    #[arg(value_name = "NAME", value_parser = parse_name)]
    positional: Option<String>,

    /// The same, as a flag.
    #[arg(long = "name", short = 'n', value_name = "NAME", value_parser = parse_name)]
    flag: Option<String>,

    /// Whole ids instead of a name, one or several, as other answers name them.
    #[arg(long, value_name = "ID", num_args = 1..)]
    ids: Vec<String>,
}

impl ShowArgs {
    pub fn name(&self) -> Option<&str> {
        self.positional.as_deref().or(self.flag.as_deref())
    }

    pub fn ids(&self) -> &[String] {
        &self.ids
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

/// Azure's command line writes its truths as words; a flag alone says yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Truth {
    #[value(name = "True", alias = "true")]
    True,
    #[value(name = "False", alias = "false")]
    False,
}

impl Truth {
    pub fn is_true(self) -> bool {
        self == Truth::True
    }
}

impl std::fmt::Display for Truth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_true() { "True" } else { "False" })
    }
}
