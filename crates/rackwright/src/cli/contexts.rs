//! `rackwright context …`: which server commands talk to. No server is asked.

use clap::Subcommand;
use serde_json::{Value, json};

use super::args::GlobalArgs;
use super::context::{Context, Home};
use super::output::Showing;
use super::render::{Table, facts};
use super::screen::{Screen, Sheet, Tone};
use super::trouble::{Exit, Trouble};

#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// Every context; a star marks the current one.
    ///
    /// No server is asked.
    ///
    /// Example: rackwright context list
    List,
    /// The context that commands use now.
    ///
    /// No server is asked.
    ///
    /// Example: rackwright context show
    Show,
    /// Who signed the server's certificate, in PEM, for programs that must know it.
    ///
    /// No server is asked.
    ///
    /// Example: rackwright context authority > ca.pem
    Authority,
    /// Use this context from now on.
    ///
    /// It is remembered on this computer; no server is asked.
    ///
    /// Example: rackwright context use lab
    Use {
        /// Its name.
        name: String,
    },
}

pub fn run(home: &Home, global: &GlobalArgs, screen: &mut Screen, command: ContextCommand) -> Result<(), Trouble> {
    match command {
        ContextCommand::List => list(home, &global.showing()?, screen),
        ContextCommand::Show => show(home, global, screen),
        ContextCommand::Authority => authority(home, global, screen),
        ContextCommand::Use { name } => {
            home.change(|contexts| {
                contexts.select(Some(&name))?;
                contexts.current = Some(name.clone());
                Ok(())
            })?;
            match global.showing()?.is_for_people() {
                true => screen.data(&format!("commands use context `{name}` from now on")),
                false => show(home, global, screen),
            }
        }
    }
}

fn authority(home: &Home, global: &GlobalArgs, screen: &mut Screen) -> Result<(), Trouble> {
    let contexts = home.load()?;
    let (name, context) = contexts.select(global.context.as_deref())?;
    match &context.authority {
        Some(pem) => screen.data(pem.trim_end()),
        None => Err(Trouble::new(Exit::NotFound, format!("context `{name}` trusts whom this computer trusts, and nobody of its own"))),
    }
}

fn list(home: &Home, showing: &Showing, screen: &mut Screen) -> Result<(), Trouble> {
    let contexts = home.load()?;
    let is_current = |name: &str| contexts.current.as_deref() == Some(name);
    if !showing.is_for_people() {
        let all: Vec<Value> = contexts.contexts.iter().map(|(name, context)| as_json(name, context, is_current(name))).collect();
        let rows = || contexts.contexts.iter().map(|(name, context)| (name.as_str(), context, is_current(name)));
        return showing.list(screen, &Value::from(all), || table(rows()));
    }
    let mut sheet = Sheet::default();
    let width = contexts.contexts.keys().map(String::len).max().unwrap_or(0);
    for (name, context) in &contexts.contexts {
        let (star, tone) = if is_current(name) { ("*", Tone::Strong) } else { (" ", Tone::Plain) };
        sheet.line(tone, format!("{star} {name:width$}  {}", context.server));
    }
    if contexts.contexts.is_empty() {
        screen.hint("there is no context yet; `rackwright up` makes one");
    }
    screen.sheet(&sheet)
}

fn show(home: &Home, global: &GlobalArgs, screen: &mut Screen) -> Result<(), Trouble> {
    let contexts = home.load()?;
    let (name, context) = contexts.select(global.context.as_deref())?;
    let is_current = contexts.current.as_deref() == Some(name);
    let plain = |name, text: &str| (Tone::Plain, name, text.to_owned());
    let sheet = || {
        facts(&[
            (Tone::Strong, "context", name.to_owned()),
            plain("server", &context.server),
            plain("subscription", &context.subscription),
            plain("resource group", context.resource_group.as_deref().unwrap_or("any")),
            plain("logs in as", context.who().unwrap_or("nobody")),
            plain("file", &home.contexts_file().display().to_string()),
        ])
    };
    global.showing()?.one(screen, &as_json(name, context, is_current), sheet, || table([(name, context, is_current)]))
}

pub(super) fn table<'a>(contexts: impl IntoIterator<Item = (&'a str, &'a Context, bool)>) -> Table {
    let mut table = Table::new(&["NAME", "SERVER", "SUBSCRIPTION", "GROUP", "CURRENT"]);
    for (name, context, current) in contexts {
        let group = context.resource_group.as_deref().unwrap_or("-");
        table
            .row(Tone::Plain, [name, &context.server, &context.subscription, group, if current { "yes" } else { "no" }].map(str::to_owned));
    }
    table
}

fn as_json(name: &str, context: &Context, current: bool) -> Value {
    json!({
        "name": name,
        "server": context.server,
        "subscription": context.subscription,
        "resourceGroup": context.resource_group,
        "clientId": context.login.as_ref().map(|login| &login.client_id),
        "person": context.person.as_ref().map(|person| &person.name),
        "current": current,
    })
}
