//! `rackwright vm …`: tenants' virtual machines.

use std::slice;

use clap::Subcommand;
use serde_json::{Value, json};

use super::args::{NameArgs, ShowArgs, Truth};
use super::preview::ActArgs;
use super::render::{Clock, vm_sheet, vm_table};
use super::screen::{Screen, Sheet, Tone};
use super::session::{Kind, Session};
use super::trouble::Trouble;
use super::update::TagsArgs;
use super::vm_create::CreateArgs;
use super::workload::{Asking, How, show_several};

#[derive(Debug, Subcommand)]
pub enum VmCommand {
    /// Every virtual machine: where it runs, how it is, and what is being done to it.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright vm list --query "[?properties.powerState=='Off'].name" -o tsv
    List,
    /// One virtual machine, or several by their ids.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright vm show firewallvnf
    Show(ShowArgs),
    /// Make a virtual machine. Not disruptive.
    ///
    /// What it is like is settled then. The same command again changes nothing but its tags.
    ///
    /// Example: rackwright vm create web1 --cpu-cores 4 --memory-size 8 --vm-image registry/web:1 --os-disk-size 20
    Create(Box<CreateArgs>),
    /// Delete a virtual machine with its disks. Disruptive.
    ///
    /// Example: rackwright vm delete web1
    Delete {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Start a virtual machine. Not disruptive.
    ///
    /// Example: rackwright vm start firewallvnf
    Start {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Shut a virtual machine down. Disruptive.
    ///
    /// Its system is asked to shut down, and is switched off if that takes too long.
    ///
    /// Example: rackwright vm power-off firewallvnf
    #[command(name = "power-off")]
    PowerOff {
        #[command(flatten)]
        name: NameArgs,

        /// Switch it off at once, without asking its system.
        #[arg(long, value_name = "True|False", num_args = 0..=1, default_value_t = Truth::False, default_missing_value = "True", hide_default_value = true)]
        skip_shutdown: Truth,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Shut a virtual machine down and start it again. Disruptive.
    ///
    /// Example: rackwright vm restart firewallvnf
    Restart {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Make the disk of its system anew from its image; what is on it is lost. Disruptive.
    ///
    /// Example: rackwright vm reimage firewallvnf
    Reimage {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Change its tags. Not disruptive.
    ///
    /// Example: rackwright vm update firewallvnf --tags owner=core-team
    Update {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        tags: TagsArgs,
    },
}

pub async fn run(session: &Session, screen: &mut Screen, command: VmCommand) -> Result<(), Trouble> {
    match command {
        VmCommand::List => {
            let vms = session.list(Kind::Vm).await?;
            session.showing.list(screen, &Value::from(vms.as_slice()), || vm_table(&vms))
        }
        VmCommand::Show(args) => show(session, screen, &args).await,
        VmCommand::Create(args) => {
            let asking = asking(args.name.get(), "create", None, How::Put(args.body()?));
            asking.run(session, screen, args.follow).await
        }
        VmCommand::Delete { name, act: args } => {
            let question = format!("Delete {} with its disks?", name.get());
            asking(name.get(), "delete", Some(question), How::Delete).preview_or_run(session, screen, args).await
        }
        VmCommand::Start { name, act: args } => act(name.get(), "start", None, json!({})).preview_or_run(session, screen, args).await,
        VmCommand::PowerOff { name, skip_shutdown, act: args } => {
            let verb = if skip_shutdown.is_true() { "Switch off" } else { "Shut down" };
            let body = json!({ "skipShutdown": skip_shutdown.to_string() });
            act(name.get(), "powerOff", Some(format!("{verb} {}?", name.get())), body).preview_or_run(session, screen, args).await
        }
        VmCommand::Restart { name, act: args } => {
            act(name.get(), "restart", Some(format!("Restart {}?", name.get())), json!({})).preview_or_run(session, screen, args).await
        }
        VmCommand::Reimage { name, act: args } => {
            let question = format!("Reimage {}? What is on its system's disk is lost.", name.get());
            act(name.get(), "reimage", Some(question), json!({})).preview_or_run(session, screen, args).await
        }
        VmCommand::Update { name, tags } => {
            let vm = session.patch(Kind::Vm, name.get(), &[], &json!({ "tags": tags.by_key()? })).await?;
            let said = || Sheet::of(Tone::Plain, format!("`{}` is changed", name.get()));
            session.showing.one(screen, &vm, said, || vm_table(slice::from_ref(&vm)))
        }
    }
}

async fn show(session: &Session, screen: &mut Screen, args: &ShowArgs) -> Result<(), Trouble> {
    match args.name() {
        Some(name) => {
            let vm = session.get(Kind::Vm, name).await?;
            session.showing.one(screen, &vm, || vm_sheet(&vm, Clock::of_process()), || vm_table(slice::from_ref(&vm)))
        }
        None => {
            let found = session.get_by_ids(Kind::Vm, args.ids()).await?;
            show_several(session, screen, &found, |vm| vm_sheet(vm, Clock::of_process()), vm_table)
        }
    }
}

fn act(name: &str, verb: &'static str, question: Option<String>, body: Value) -> Asking {
    asking(name, verb, question, How::Post(verb, body))
}

fn asking(name: &str, verb: &'static str, question: Option<String>, how: How) -> Asking {
    Asking { kind: Kind::Vm, name: name.to_owned(), about: name.to_owned(), verb, question, how }
}
