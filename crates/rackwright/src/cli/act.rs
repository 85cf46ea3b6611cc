//! Sending an action: asking first where it disrupts, then following what comes of it.

use clap::Args;
use serde_json::Value;

use super::answer::{command_of, items, short_id, text_of};
use super::follow::{follow, how_to_follow, interrupted};
use super::operation::target;
use super::outcome::{Wanted, conclude};
use super::render::{Clock, operation_table};
use super::screen::Screen;
use super::session::Session;
use super::trouble::{Exit, Trouble};

/// Options of every action that becomes an operation.
#[derive(Args, Clone, Copy, Debug)]
pub struct FollowArgs {
    /// Do not follow the operation to its end.
    #[arg(long)]
    pub no_wait: bool,

    #[command(flatten)]
    pub consent: ConsentArgs,
}

#[derive(Args, Clone, Copy, Debug)]
pub struct ConsentArgs {
    /// Ask nothing. Without a terminal nothing is asked anyway.
    #[arg(long, short)]
    pub yes: bool,
}

/// What is asked of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    pub machine: String,
    /// The verb of the API's path.
    pub verb: &'static str,
    pub body: Value,
    /// Asked on a terminal before anything is sent, if the action disrupts.
    pub question: Option<String>,
    pub accepts_outage: bool,
}

impl Action {
    pub(super) fn query(&self) -> Vec<(&'static str, &'static str)> {
        self.accepts_outage.then_some(("acceptControlPlaneOutage", "true")).into_iter().collect()
    }

    /// Sends it, and returns what the server answered.
    pub async fn send(&self, session: &Session, screen: &mut Screen, consent: ConsentArgs) -> Result<Value, Trouble> {
        if let Some(question) = &self.question
            && screen.can_ask()
            && !consent.yes
        {
            self.confirm(session, screen, question).await?;
        }
        let query = self.query();
        tokio::select! {
            answer = session.act(&self.machine, self.verb, &query, &self.body) => answer,
            () = interrupted() => Err(Trouble::new(Exit::Interrupted, "interrupted while the server was being asked")
                .hint("`rackwright operation list` tells whether it was accepted")),
        }
    }

    /// Sends it, and follows its operation unless told otherwise.
    pub async fn run(&self, session: &Session, screen: &mut Screen, args: FollowArgs) -> Result<(), Trouble> {
        let accepted = self.send(session, screen, args.consent).await?;
        for warning in items(&accepted, "/properties/warnings").iter().filter_map(Value::as_str) {
            screen.warn(&text_of(warning));
        }
        see_through(session, screen, accepted["name"].as_str(), &self.machine, command_of(self.verb), args).await
    }
}

/// Follows an operation that was accepted to its end, or says where to.
pub async fn see_through(
    session: &Session,
    screen: &mut Screen,
    operation: Option<&str>,
    about: &str,
    command: &str,
    args: FollowArgs,
) -> Result<(), Trouble> {
    let Some(id) = operation else {
        return Err(Trouble::failed("the server accepted it, but named no operation").hint("`rackwright operation list` names them"));
    };
    if !args.no_wait {
        let ended = follow(session, screen, id).await?;
        return conclude(session, screen, &ended, Wanted::Success);
    }
    if session.showing.is_for_people() {
        screen.data(&format!("`{about}`: {command} accepted as operation {}", short_id(id)))?;
        screen.hint(&how_to_follow(id));
        return Ok(());
    }
    // The same shape as with waiting, so that a script reads one.
    let operation = session.client.get(&target(id)).await?;
    session.showing.list(screen, &operation, || operation_table(std::slice::from_ref(&operation), Clock::of_process()))
}
