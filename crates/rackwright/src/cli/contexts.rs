//! `rackwright context …`: which server commands talk to. No server is asked.

use clap::Subcommand;
use serde_json::{Value, json};

use super::args::{GlobalArgs, Output};
use super::context::{Context, Home};
use super::render::facts;
use super::screen::{Screen, Sheet, Tone};
use super::trouble::Trouble;

#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// Every context; a star marks the current one.
    List,
    /// The context that commands use now.
    Show,
    /// Use this context from now on.
    ///
    /// Example: rackwright context use lab
    Use { name: String },
}

pub fn run(home: &Home, global: &GlobalArgs, screen: &mut Screen, command: ContextCommand) -> Result<(), Trouble> {
    match command {
        ContextCommand::List => list(home, global.output, screen),
        ContextCommand::Show => show(home, global, screen),
        ContextCommand::Use { name } => {
            home.change(|contexts| {
                contexts.select(Some(&name))?;
                contexts.current = Some(name.clone());
                Ok(())
            })?;
            match global.output {
                Output::Json => show(home, global, screen),
                Output::Table => screen.data(&format!("commands use context `{name}` from now on")),
            }
        }
    }
}

fn list(home: &Home, output: Output, screen: &mut Screen) -> Result<(), Trouble> {
    let contexts = home.load()?;
    let is_current = |name: &str| contexts.current.as_deref() == Some(name);
    if output == Output::Json {
        let all: Vec<Value> = contexts.contexts.iter().map(|(name, context)| as_json(name, context, is_current(name))).collect();
        return screen.data(&format!("{:#}", Value::from(all)));
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
    if global.output == Output::Json {
        let is_current = contexts.current.as_deref() == Some(name);
        return screen.data(&format!("{:#}", as_json(name, context, is_current)));
    }
    let plain = |name, text: &str| (Tone::Plain, name, text.to_owned());
    screen.sheet(&facts(&[
        (Tone::Strong, "context", name.to_owned()),
        plain("server", &context.server),
        plain("subscription", &context.subscription),
        plain("resource group", context.resource_group.as_deref().unwrap_or("any")),
        plain("file", &home.contexts_file().display().to_string()),
    ]))
}

fn as_json(name: &str, context: &Context, current: bool) -> Value {
    json!({
        "name": name,
        "server": context.server,
        "subscription": context.subscription,
        "resourceGroup": context.resource_group,
        "current": current,
    })
}
