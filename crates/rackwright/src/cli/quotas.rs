//! `rackwright quota …`: how much a subscription may have.

use clap::Subcommand;
use serde_json::{Value, json};

use super::client::Target;
use super::render::{quota_sheet, quota_table};
use super::screen::Screen;
use super::session::Session;
use super::trouble::{Exit, Trouble};

#[derive(Debug, Subcommand)]
pub enum QuotaCommand {
    /// The limits of the subscription, and what it has. Changes nothing.
    ///
    /// Example: rackwright quota show
    Show,
    /// Set limits of the subscription. What is not named stays; `none` takes a limit away.
    ///
    /// What there is already stays, also beyond a limit. Virtual machines and their cores count, and each network that one is attached to, once.
    ///
    /// Example: rackwright quota set --cores 64 --virtual-machines 8
    Set {
        /// Cores of all virtual machines together.
        #[arg(long, value_name = "NUMBER|none", value_parser = parse_limit)]
        cores: Option<Limit>,

        /// Virtual machines.
        #[arg(long, value_name = "NUMBER|none", value_parser = parse_limit)]
        virtual_machines: Option<Limit>,

        /// Networks that virtual machines are attached to.
        #[arg(long, value_name = "NUMBER|none", value_parser = parse_limit)]
        networks: Option<Limit>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    AtMost(u64),
    None,
}

fn parse_limit(text: &str) -> Result<Limit, String> {
    match text {
        "none" => Ok(Limit::None),
        number => number.parse().map(Limit::AtMost).map_err(|_| "it is a whole number from 0 on, or `none`".to_owned()),
    }
}

pub async fn run(session: &Session, screen: &mut Screen, command: QuotaCommand) -> Result<(), Trouble> {
    let subscription = session.subscription().await?;
    let target = Target::own(["subscriptions", subscription.as_str(), "quotas"]);
    let known = session.client.get(&target).await?;
    let quota = match command {
        QuotaCommand::Show => known,
        QuotaCommand::Set { cores, virtual_machines, networks } => {
            let wanted = [("cores", cores), ("virtualMachines", virtual_machines), ("networks", networks)];
            if wanted.iter().all(|(_, limit)| limit.is_none()) {
                return Err(Trouble::new(Exit::Usage, "no limit is named").hint("name `--cores`, `--virtual-machines` or `--networks`"));
            }
            session.client.put(&target, &json!({ "limits": limits(&known["limits"], &wanted) })).await?.0
        }
    };
    session.showing.one(screen, &quota, || quota_sheet(&quota), || quota_table(&quota))
}

/// The limits that there are, with those that were typed in their place.
fn limits(known: &Value, wanted: &[(&str, Option<Limit>)]) -> Value {
    let mut limits = known.as_object().cloned().unwrap_or_default();
    for (name, limit) in wanted {
        match limit {
            Some(Limit::AtMost(number)) => drop(limits.insert((*name).to_owned(), json!(number))),
            Some(Limit::None) => drop(limits.remove(*name)),
            None => {}
        }
    }
    Value::Object(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_typed_stays() {
        let known = json!({ "cores": 8, "networks": 1 });
        let wanted = [("cores", None), ("virtualMachines", Some(Limit::AtMost(2))), ("networks", Some(Limit::None))];
        assert_eq!(limits(&known, &wanted), json!({ "cores": 8, "virtualMachines": 2 }));
        assert_eq!((parse_limit("none"), parse_limit("0")), (Ok(Limit::None), Ok(Limit::AtMost(0))));
        assert!(parse_limit("-1").is_err() && parse_limit("some").is_err());
    }
}
