//! `rackwright subscription …`: which there are, and whether one may be changed.

use clap::Subcommand;
use serde_json::{Value, json};

use super::answer::items;
use super::client::Target;
use super::render::{subscription_state_table, subscription_table};
use super::screen::{Screen, Sheet, Tone};
use super::session::Session;
use super::trouble::Trouble;

/// The provider that a subscription can leave; it has the others by being one.
const PROVIDER: &str = "Microsoft.NetworkCloud";

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum SubscriptionCommand {
    /// The subscriptions that you see something of, and whether they are disabled. Changes nothing.
    ///
    /// Example: rackwright subscription list
    List,
    /// Let a subscription only be read. What runs in it goes on.
    ///
    /// It is the one of `--subscription`, or else the context's. Whoever owns it cannot undo this; an owner of everything can, with
    /// `subscription enable`.
    ///
    /// Example: rackwright subscription disable
    Disable,
    /// Let a subscription be changed again.
    ///
    /// Example: rackwright subscription enable
    Enable,
    /// Let a subscription take nothing of Microsoft.NetworkCloud: what it has can be read and not changed.
    ///
    /// Example: rackwright subscription unregister
    Unregister,
    /// Let a subscription have machines, virtual machines and clusters of Microsoft.NetworkCloud again.
    ///
    /// Example: rackwright subscription register
    Register,
}

pub async fn run(session: &Session, screen: &mut Screen, command: SubscriptionCommand) -> Result<(), Trouble> {
    let (verb, outcome) = match command {
        SubscriptionCommand::List => return list(session, screen).await,
        SubscriptionCommand::Disable => ("disable", "can only be read; `rackwright subscription enable` opens it again"),
        SubscriptionCommand::Enable => ("enable", "can be changed"),
        SubscriptionCommand::Register => ("register", "is registered with Microsoft.NetworkCloud"),
        SubscriptionCommand::Unregister => ("unregister", "is not registered with Microsoft.NetworkCloud any more"),
    };
    let subscription = session.subscription().await?;
    let target = match command {
        SubscriptionCommand::Register | SubscriptionCommand::Unregister => {
            Target::arm(["subscriptions", subscription.as_str(), "providers", PROVIDER, verb])
        }
        _ => Target::own(["subscriptions", subscription.as_str(), verb]),
    };
    let changed = session.client.post(&target, &json!({})).await?;
    let said = || Sheet::of(Tone::Plain, format!("subscription `{subscription}` {outcome}"));
    session.showing.one(screen, &changed, said, || subscription_state_table(&subscription, &changed))
}

async fn list(session: &Session, screen: &mut Screen) -> Result<(), Trouble> {
    let known = session.client.get(&Target::arm(["subscriptions"])).await?;
    let all = items(&known, "/value");
    if all.is_empty() && session.showing.is_for_people() {
        screen.hint("you see nothing of any subscription; somebody must assign a role to you: `rackwright role assign`");
    }
    session.showing.list(screen, &Value::from(all), || subscription_table(all))
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::captured;
    use super::super::session_tests::{Reply, Rote};
    use super::*;

    #[tokio::test]
    async fn each_command_asks_where_it_is_decided() {
        let own = "/rackwright/v1/subscriptions/s1";
        let provider = "/subscriptions/s1/providers/Microsoft.NetworkCloud";
        for (command, path) in [
            (SubscriptionCommand::Disable, format!("{own}/disable")),
            (SubscriptionCommand::Enable, format!("{own}/enable")),
            (SubscriptionCommand::Register, format!("{provider}/register")),
            (SubscriptionCommand::Unregister, format!("{provider}/unregister")),
            (SubscriptionCommand::List, "/subscriptions".to_owned()),
        ] {
            let rote = Rote::with(vec![Reply::Json(200, json!({ "value": [] }))], None).await;
            let (mut screen, _, _) = captured();
            run(&rote.session, &mut screen, command).await.unwrap();
            assert_eq!(rote.paths()[0].split('?').next(), Some(path.as_str()), "{command:?}");
        }
    }
}
