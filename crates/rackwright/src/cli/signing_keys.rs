//! `rackwright signing-key …`: the keys that the server signs tokens with.

use clap::Subcommand;
use serde_json::{Value, json};

use super::answer::{field_or_dash, items};
use super::client::Target;
use super::render::Table;
use super::screen::{Screen, Sheet, Tone};
use super::session::Session;
use super::trouble::Trouble;

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum SigningKeyCommand {
    /// Sign tokens with a new key from now on. The server does so by itself every 30 days.
    ///
    /// Nobody is logged out: what the keys of before have signed stays good until it expires.
    ///
    /// Example: rackwright signing-key rotate
    Rotate,
}

pub async fn run(session: &Session, screen: &mut Screen, command: SigningKeyCommand) -> Result<(), Trouble> {
    let SigningKeyCommand::Rotate = command;
    let answer = session.client.post(&Target::own(["signingKeys", "rotate"]), &json!({})).await?;
    let keys = items(&answer, "/keys");
    let said = || Sheet::of(Tone::Plain, format!("tokens are signed with a new key; {} keys check those that there are", keys.len()));
    session.showing.one(screen, &answer, said, || table(keys))
}

fn table(keys: &[Value]) -> Table {
    let mut table = Table::new(&["ID", "ALGORITHM"]);
    for key in keys {
        table.row(Tone::Plain, [field_or_dash(key, "/kid"), field_or_dash(key, "/alg")]);
    }
    table
}
