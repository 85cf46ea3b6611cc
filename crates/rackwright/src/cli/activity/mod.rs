//! `rackwright activity-log …`: what was asked, decided, refused and done, by whom, and what came of it.

mod cursor;
#[cfg(test)]
mod tests;
mod window;

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use super::answer::{field, text_of};
use super::args::{GlobalArgs, parse_name};
use super::client::Target;
use super::follow::interrupted;
use super::render::{Clock, activity_line, activity_sheet, activity_table};
use super::screen::Screen;
use super::session::{Kind, Session};
use super::trouble::{Exit, Trouble};
use cursor::Cursor;
use window::{Condition, Moment, Offset, Window, filter};

/// How often a follower asks for what is new.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// Entries shown unless told otherwise, as in `az`.
const EVENTS_DEFAULT: usize = 50;

#[derive(Debug, Subcommand)]
pub enum ActivityCommand {
    /// What happened, the latest first: requests, decisions, refusals, and what was asked of devices.
    ///
    /// Shows the last six hours unless told otherwise. Changes nothing.
    ///
    /// Example: rackwright activity-log list --machine rack1compute01 --offset 2h
    List(ListArgs),
    /// One entry: who asked for what, what came of it, and the error with its rule if it was refused.
    ///
    /// Example: rackwright activity-log show 0b0f8a52-6f3c-4a43-9c0e-2f2f4b8d9f10
    Show {
        /// The entry's id, as the list shows it.
        #[arg(value_name = "ID", value_parser = parse_name)]
        id: String,
    },
}

/// What became of what was asked, as Azure's log spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
enum Status {
    Started,
    Accepted,
    InProgress,
    Succeeded,
    Failed,
    Canceled,
}

impl Status {
    fn word(self) -> String {
        format!("{self:?}")
    }
}

#[derive(Args, Debug)]
pub struct ListArgs {
    /// Only what happened to this machine.
    #[arg(long, value_name = "NAME", value_parser = parse_name, conflicts_with = "resource_id")]
    machine: Option<String>,

    /// Only what happened to the resource with this id.
    #[arg(long, value_name = "ID")]
    resource_id: Option<String>,

    /// Only what belongs to the request with this correlation id.
    #[arg(long, value_name = "ID")]
    correlation_id: Option<String>,

    /// Only entries with this status.
    #[arg(long, value_enum, ignore_case = true)]
    status: Option<Status>,

    /// Only what this person or program asked for.
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,

    /// From when on, such as `2026-11-15T14:00:00Z` or `2026-11-15`; UTC.
    #[arg(long, value_name = "TIME")]
    start_time: Option<Moment>,

    /// Until when.
    #[arg(long, value_name = "TIME", conflicts_with = "follow")]
    end_time: Option<Moment>,

    /// How far back, such as `90m`, `6h` or `1d12h`; with `--start-time` how far on from it. Without any of them six hours.
    #[arg(long, value_name = "SPAN")]
    offset: Option<Offset>,

    /// At most this many, the latest ones.
    #[arg(long, value_name = "N", default_value_t = EVENTS_DEFAULT, value_parser = parse_count)]
    max_events: usize,

    /// Go on showing what happens, the oldest first, until Ctrl-C. With `-o json` each entry is a line.
    #[arg(long, short)]
    follow: bool,
}

impl ListArgs {
    /// What was asked for beside the time, as it was typed.
    fn wanted(&self, global: &GlobalArgs) -> String {
        let status = self.status.map(Status::word);
        let typed = [
            ("--machine", &self.machine),
            ("--resource-id", &self.resource_id),
            ("--resource-group", &global.resource_group),
            ("--correlation-id", &self.correlation_id),
            ("--status", &status),
            ("--caller", &self.caller),
        ];
        let typed = typed.into_iter().filter_map(|(option, value)| Some(format!("{option} {}", text_of(value.as_ref()?))));
        typed.collect::<Vec<_>>().join(" ")
    }
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("it must be a whole number from 1 on".to_owned()),
    }
}

pub async fn run(session: &Session, global: &GlobalArgs, screen: &mut Screen, command: ActivityCommand) -> Result<(), Trouble> {
    match command {
        ActivityCommand::Show { id } => show(session, screen, &id).await,
        ActivityCommand::List(args) => {
            let window = Window::of(args.start_time, args.end_time, args.offset, Clock::of_process().now())?;
            let log = Log { session, conditions: conditions(session, global, &args).await?, wanted: args.wanted(global) };
            if args.follow {
                tokio::select! {
                    ended = log.follow(screen, window, args.max_events) => ended,
                    // It has no other end, so this one is good.
                    () = interrupted() => Ok(()),
                }
            } else {
                log.list(screen, window, args.max_events).await
            }
        }
    }
}

async fn show(session: &Session, screen: &mut Screen, id: &str) -> Result<(), Trouble> {
    let entry = session.client.get(&Target::own(["activity", id])).await.map_err(|trouble| match trouble {
        Trouble { exit: Exit::NotFound, hint: None, .. } => trouble.hint("`rackwright activity-log list` names the latest"),
        other => other,
    })?;
    let clock = Clock::of_process();
    session.showing.one(screen, &entry, || activity_sheet(&entry, clock), || activity_table(std::slice::from_ref(&entry), clock))
}

/// A machine is named by its id there, so one that does not exist is found here.
async fn conditions(session: &Session, global: &GlobalArgs, args: &ListArgs) -> Result<Vec<Condition>, Trouble> {
    let resource_id = match &args.machine {
        Some(machine) => field(&session.get(Kind::Machine, machine).await?, "/id"),
        None => args.resource_id.clone(),
    };
    let named = [
        ("resourceId", resource_id),
        ("resourceGroupName", global.resource_group.clone()),
        ("correlationId", args.correlation_id.clone()),
        ("status", args.status.map(Status::word)),
        ("caller", args.caller.clone()),
    ];
    Ok(named.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

/// The part of the log that was asked for.
struct Log<'a> {
    session: &'a Session,
    conditions: Vec<Condition>,
    /// The conditions as they were typed.
    wanted: String,
}

impl Log<'_> {
    async fn entries(&self, window: Window, max: usize) -> Result<Vec<Value>, Trouble> {
        let subscription = self.session.subscription().await?;
        let path = ["subscriptions", &subscription, "providers", "Microsoft.Insights", "eventtypes", "management", "values"];
        self.session.client.list_up_to(&Target::arm(path).with("$filter", filter(window, &self.conditions)), max).await
    }

    async fn list(&self, screen: &mut Screen, window: Window, max: usize) -> Result<(), Trouble> {
        let mut entries = self.entries(window, max.saturating_add(1)).await?;
        let more = entries.len() > max;
        entries.truncate(max);
        let showing = &self.session.showing;
        if entries.is_empty() && showing.is_for_people() {
            let that = if self.wanted.is_empty() { String::new() } else { format!(" that matches {}", self.wanted) };
            screen.say(&format!("nothing{that} happened {window}; `--offset` looks further back"));
            return Ok(());
        }
        let clock = Clock::of_process();
        showing.list(screen, &Value::from(entries.as_slice()), || activity_table(&entries, clock))?;
        if more && showing.is_for_people() {
            screen.hint(&format!("there is more; `--max-events {}` shows it", max.saturating_mul(4)));
        }
        Ok(())
    }

    /// Shows each entry once, however often the server is asked, and misses none, however late it is written.
    async fn follow(&self, screen: &mut Screen, window: Window, max: usize) -> Result<(), Trouble> {
        let mut cursor = Cursor::new(window.start);
        let mut away = false;
        let mut first = true;
        loop {
            match self.entries(Window { start: cursor.start(), end: None }, usize::MAX).await {
                Ok(entries) => {
                    away = false;
                    let new = cursor.take(entries);
                    let skipped = if first { new.len().saturating_sub(max) } else { 0 };
                    first = false;
                    for entry in &new[skipped..] {
                        self.tell(screen, entry)?;
                    }
                }
                Err(trouble) if trouble.exit == Exit::Unreachable => {
                    if !away {
                        screen.say("the server does not answer; trying again");
                    }
                    away = true;
                }
                Err(trouble) => return Err(trouble),
            }
            if screen.reader_has_gone() {
                return Ok(());
            }
            tokio::time::sleep(POLL_EVERY).await;
        }
    }

    fn tell(&self, screen: &mut Screen, entry: &Value) -> Result<(), Trouble> {
        let clock = Clock::of_process();
        let row = || activity_table(std::slice::from_ref(entry), clock);
        self.session.showing.record(screen, entry, || activity_line(entry, clock), row)
    }
}
