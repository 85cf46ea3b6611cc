//! `rackwright bmm …`: looking at bare-metal machines, and acting on them.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::act::{Action, ConsentArgs};
use super::advice::{self, AdviseArgs};
use super::args::{NameArgs, ShowArgs, Truth};
use super::holds;
use super::preview::ActArgs;
use super::render::{Clock, doubts, machine_sheet, machine_table};
use super::replace::ReplaceArgs;
use super::screen::{Screen, Sheet, Tone};
use super::session::{Kind, Session};
use super::trouble::Trouble;
use super::update::{self, UpdateArgs};
use super::validation;
use super::workload::show_several;

#[derive(Debug, Subcommand)]
pub enum BmmCommand {
    /// Every machine: rack, role, power, readiness, cordon, and what is being done to it.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright bmm list --query "[?properties.powerState=='Off'].name" -o tsv
    List,
    /// One machine: what it is, what is on it, who holds it, and what it waits for. Or several, by their ids.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright bmm show rack1compute01
    Show(ShowArgs),
    /// Who keeps a machine cordoned, and the tenant nodes on it: the owner, the reason, since when.
    ///
    /// Changes nothing. Holds of people, conditions and evacuations are lifted by `uncordon`; those of an operation end with it.
    ///
    /// Example: rackwright bmm holds rack1compute01
    Holds {
        #[command(flatten)]
        name: NameArgs,
    },
    /// Switch a machine off. Disruptive.
    ///
    /// The node is cordoned, the operating system is asked to shut down, and the power is cut if that takes too long.
    /// The machine stays cordoned until it is back: `start` brings it, or whoever switches it on. A control-plane machine
    /// is refused while that would endanger the others' quorum.
    ///
    /// Example: rackwright bmm power-off rack1compute01
    #[command(name = "power-off")]
    PowerOff {
        #[command(flatten)]
        name: NameArgs,

        /// Cut the power at once, without asking the operating system.
        #[arg(long, value_name = "True|False", num_args = 0..=1, default_value_t = Truth::False, default_missing_value = "True", hide_default_value = true)]
        skip_shutdown: Truth,

        #[command(flatten)]
        outage: OutageArgs,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Switch a machine on and wait until its node is ready. Not disruptive.
    ///
    /// Lifts the cordon that `power-off` left. Allowed while the cluster is not connected.
    ///
    /// Example: rackwright bmm start rack1compute01
    Start {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Switch a machine off and on again and wait until its node has rejoined. Disruptive.
    ///
    /// Cordons the node first and lifts its own cordon at the end; cordons of others stay. A control-plane machine is
    /// refused while that would endanger the others' quorum.
    ///
    /// Example: rackwright bmm restart rack1compute01
    Restart {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        outage: OutageArgs,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Keep new workloads away from a machine. Not disruptive, unless it evacuates.
    ///
    /// What runs on the machine goes on running. Lifted by `uncordon`. With `--evacuate` tenant nodes are drained and virtual
    /// machines are shut down, and what ran comes back with `uncordon`; `--preview` shows what that means.
    ///
    /// Example: rackwright bmm cordon rack1compute01
    Cordon {
        #[command(flatten)]
        name: NameArgs,

        /// Move or stop what runs on it, too. Disruptive.
        #[arg(long, value_name = "True|False", num_args = 0..=1, default_value_t = Truth::False, default_missing_value = "True", hide_default_value = true)]
        evacuate: Truth,

        /// With `--evacuate`: let the pods of tenant nodes go that are proven to be down, so that they move. Refused without proof.
        #[arg(long)]
        force: bool,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Let new workloads onto a machine again. Not disruptive.
    ///
    /// Refused while an operation holds the machine.
    ///
    /// Example: rackwright bmm uncordon rack1compute01
    Uncordon {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Install a machine's operating system anew. Disruptive.
    ///
    /// Its system disk is written from the image of its runtime; the other volumes, and what tenants keep there, stay byte for
    /// byte. It keeps its name and its addresses, and stays cordoned afterwards: `verify` it, then `uncordon`. Workloads must be off
    /// it first (`cordon --evacuate`), or `--safeguard-mode None` shuts them down.
    ///
    /// Example: rackwright bmm reimage rack1compute01
    Reimage {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        safeguard: SafeguardArgs,

        #[command(flatten)]
        outage: OutageArgs,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Take a machine into service again after a repair. Disruptive.
    ///
    /// Its hardware is validated with the new login and identifiers, its volumes are deleted or left as they are, and its system is
    /// installed. What is not named is as it was. It keeps its name, and stays cordoned afterwards. Refused for a machine that is
    /// well, unless `--safeguard-mode None`.
    ///
    /// Example: rackwright bmm replace rack1compute01 --storage-policy Preserve --safeguard-mode None
    Replace(Box<ReplaceArgs>),
    /// Compare a machine's hardware with what it should be. Not disruptive.
    ///
    /// Shows what was compared, and exits with 1 if something is not as its SKU and its runtime ask for.
    ///
    /// Example: rackwright bmm validate rack1compute01
    Validate {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        act: ActArgs,
    },
    /// The latest validation of a machine's hardware, field by field.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright bmm validation rack1compute01
    Validation {
        #[command(flatten)]
        name: NameArgs,
    },
    /// What to do about a machine that is not well: the next action, why, and the commands.
    ///
    /// Changes nothing. It goes by what is observed, or by the symptom that is named, and by what was tried already: restart, then
    /// reimage, then replace, then support. For repaired parts it tells whether a replace is needed, and what becomes of data.
    ///
    /// Example: rackwright bmm advise rack1compute01 --symptom hardware --repaired ssd,nic
    Advise(AdviseArgs),
    /// Whether a machine, and what was on it, is as it was before the latest action.
    ///
    /// Changes nothing. Exits with 0 if all is as it was, or comes back with the command that is named, such as the uncordon after a
    /// reimage; with 1 if something differs or cannot be told, and names it; and with 7 if something is still on its way by itself, so
    /// that asking again later helps.
    ///
    /// Example: rackwright bmm verify rack1compute01
    Verify {
        #[command(flatten)]
        name: NameArgs,
    },
    /// Send nothing to a machine until it is managed again. Not disruptive.
    ///
    /// It is still observed. For whoever works on it by hand.
    ///
    /// Example: rackwright bmm unmanage rack1compute01 --reason 'replacing a fan'
    Unmanage(ManagementArgs),
    /// Change the tags or the details that are written on a machine. Not disruptive.
    ///
    /// `--tags` replaces all tags, as in `az`; `--add-tags` and `--remove-tags` change some. What is not named stays as it
    /// is. Nothing is sent to the machine itself.
    ///
    /// Example: rackwright bmm update rack1compute01 --add-tags owner=core-team asset=4711
    Update(UpdateArgs),
    /// Let a machine be managed again. Not disruptive.
    ///
    /// Ends what `unmanage` began. Nothing is switched by it.
    ///
    /// Example: rackwright bmm manage rack1compute01 --reason 'fan replaced'
    Manage(ManagementArgs),
}

#[derive(Args, Clone, Copy, Debug)]
pub struct OutageArgs {
    /// Go on even if this machine has the control plane's only vote: the undercloud's API is down meanwhile.
    #[arg(long)]
    accept_control_plane_outage: bool,
}

impl OutageArgs {
    pub fn is_accepted(self) -> bool {
        self.accept_control_plane_outage
    }
}

#[derive(Args, Clone, Debug)]
pub struct SafeguardArgs {
    /// Whether it is refused where it could do harm, or shuts workloads down by itself and goes on.
    #[arg(long, value_name = "All|None", value_parser = ["All", "None"], default_value = "All")]
    safeguard_mode: String,
}

impl SafeguardArgs {
    pub fn mode(&self) -> &str {
        &self.safeguard_mode
    }
}

#[derive(Args, Clone, Debug)]
pub struct ManagementArgs {
    #[command(flatten)]
    name: NameArgs,

    /// Why, for whoever is on call next.
    #[arg(long, value_name = "TEXT")]
    reason: String,

    #[command(flatten)]
    consent: ConsentArgs,
}

pub async fn run(session: &Session, screen: &mut Screen, command: BmmCommand) -> Result<(), Trouble> {
    match command {
        BmmCommand::List => list(session, screen).await,
        BmmCommand::Show(args) => show(session, screen, &args).await,
        BmmCommand::Holds { name } => holds::run(session, screen, name.get()).await,
        BmmCommand::PowerOff { name, skip_shutdown, outage, act } => {
            power_off(name.get(), skip_shutdown.is_true(), outage).preview_or_run(session, screen, act).await
        }
        BmmCommand::Start { name, act } => harmless(name.get(), "start").preview_or_run(session, screen, act).await,
        BmmCommand::Restart { name, outage, act } => restart(name.get(), outage).preview_or_run(session, screen, act).await,
        BmmCommand::Cordon { name, evacuate, force, act } => {
            cordon(name.get(), evacuate.is_true(), force).preview_or_run(session, screen, act).await
        }
        BmmCommand::Uncordon { name, act } => harmless(name.get(), "uncordon").preview_or_run(session, screen, act).await,
        BmmCommand::Reimage { name, safeguard, outage, act } => {
            reimage(name.get(), &safeguard, outage).preview_or_run(session, screen, act).await
        }
        BmmCommand::Replace(args) => args.action(screen)?.preview_or_run(session, screen, args.act).await,
        BmmCommand::Validate { name, act } => validation::validate(session, screen, &harmless(name.get(), "validateHardware"), act).await,
        BmmCommand::Validation { name } => validation::show(session, screen, name.get()).await.map(drop),
        BmmCommand::Advise(args) => advice::advise(session, screen, &args).await,
        BmmCommand::Verify { name } => advice::verify(session, screen, name.get()).await,
        BmmCommand::Update(args) => update::run(session, screen, &args).await,
        BmmCommand::Unmanage(args) => {
            let said = format!("`{}` is unmanaged: it is observed, but nothing is sent to it", args.name.get());
            set_management(session, screen, "unmanage", &args, &said).await
        }
        BmmCommand::Manage(args) => {
            let said = format!("`{}` is managed again", args.name.get());
            set_management(session, screen, "manage", &args, &said).await
        }
    }
}

async fn list(session: &Session, screen: &mut Screen) -> Result<(), Trouble> {
    let machines = session.list(Kind::Machine).await?;
    let running = running_beside(session).await?;
    session.showing.list(screen, &Value::from(machines.as_slice()), || machine_table(&machines, &running))?;
    if let Some(doubts) = doubts(&machines).filter(|_| session.showing.is_for_people()) {
        screen.hint(&doubts);
    }
    Ok(())
}

async fn show(session: &Session, screen: &mut Screen, args: &ShowArgs) -> Result<(), Trouble> {
    let found = match args.name() {
        Some(name) => vec![session.get(Kind::Machine, name).await?],
        None => session.get_by_ids(Kind::Machine, args.ids()).await?,
    };
    let running = running_beside(session).await?;
    let sheet = |machine: &Value| machine_sheet(machine, &running, Clock::of_process());
    show_several(session, screen, &found, sheet, |machines| machine_table(machines, &running))
}

/// JSON is the API's answer alone; the operations beside it stand in our own columns.
async fn running_beside(session: &Session) -> Result<Vec<Value>, Trouble> {
    if session.showing.has_our_columns() { session.running_operations().await } else { Ok(Vec::new()) }
}

fn show_one(
    session: &Session,
    screen: &mut Screen,
    machine: &Value,
    sheet: impl FnOnce() -> Sheet,
    running: &[Value],
) -> Result<(), Trouble> {
    session.showing.one(screen, machine, sheet, || machine_table(std::slice::from_ref(machine), running))
}

fn power_off(machine: &str, skip_shutdown: bool, outage: OutageArgs) -> Action {
    let question = if skip_shutdown { format!("Cut the power of {machine}?") } else { format!("Power off {machine}?") };
    Action {
        machine: machine.to_owned(),
        verb: "powerOff",
        body: json!({ "skipShutdown": flag(skip_shutdown) }),
        question: Some(question),
        accepts_outage: outage.accept_control_plane_outage,
    }
}

fn restart(machine: &str, outage: OutageArgs) -> Action {
    Action {
        question: Some(format!("Restart {machine}?")),
        accepts_outage: outage.accept_control_plane_outage,
        ..harmless(machine, "restart")
    }
}

fn reimage(machine: &str, safeguard: &SafeguardArgs, outage: OutageArgs) -> Action {
    Action {
        body: json!({ "safeguardMode": safeguard.mode() }),
        question: Some(format!("Reimage {machine}? What is on its system's disk is lost.")),
        accepts_outage: outage.is_accepted(),
        ..harmless(machine, "reimage")
    }
}

fn cordon(machine: &str, evacuate: bool, force: bool) -> Action {
    let force = force.then(|| ("force", flag(true)));
    Action {
        body: [("evacuate", flag(evacuate))].into_iter().chain(force).collect(),
        question: evacuate.then(|| format!("Cordon and evacuate {machine}?")),
        ..harmless(machine, "cordon")
    }
}

/// An action that nobody needs to be asked about.
fn harmless(machine: &str, verb: &'static str) -> Action {
    Action { machine: machine.to_owned(), verb, body: json!({}), question: None, accepts_outage: false }
}

/// The API writes its truths as words.
fn flag(truth: bool) -> &'static str {
    if truth { "True" } else { "False" }
}

async fn set_management(
    session: &Session,
    screen: &mut Screen,
    verb: &'static str,
    args: &ManagementArgs,
    said: &str,
) -> Result<(), Trouble> {
    let action = Action { body: json!({ "reason": args.reason }), ..harmless(args.name.get(), verb) };
    let machine = action.send(session, screen, args.consent).await?;
    show_one(session, screen, &machine, || Sheet::of(Tone::Plain, said), &[])
}
