//! `rackwright issuer …` and `rackwright approve`: people, whom others know, and their devices.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value, json};

use super::answer::{field_or_dash, items};
use super::args::parse_name;
use super::client::Target;
use super::render::Table;
use super::screen::{Screen, Sheet, Tone};
use super::session::Session;
use super::trouble::{Exit, Trouble};

#[derive(Debug, Subcommand)]
pub enum IssuerCommand {
    /// The issuers that are trusted to know people.
    ///
    /// Example: rackwright issuer list
    List,
    /// Trust an issuer of OpenID Connect to know people.
    ///
    /// Whoever has a token of its for one of the audiences gets one of ours for it. They may do what roles are assigned to them, which
    /// without any is nothing. Its keys are fetched from where it publishes them, unless they are given.
    ///
    /// Example: rackwright issuer put corporate --issuer https://login.example.com --audience rackwright
    Put {
        /// What to call it here
        #[arg(value_parser = parse_name)]
        name: String,
        /// As its tokens say it in `iss`
        #[arg(long, value_name = "URL")]
        issuer: String,
        /// What it calls us; once for each
        #[arg(long = "audience", value_name = "AUDIENCE", required = true)]
        audiences: Vec<String>,
        /// A file with its keys, as a JWKS, if they are not to be fetched. Only what is public of them is sent
        #[arg(long, value_name = "FILE")]
        keys: Option<PathBuf>,
    },
    /// Trust an issuer no more. The logins of all its people end at once.
    ///
    /// Example: rackwright issuer delete corporate
    Delete {
        /// Its name
        #[arg(value_parser = parse_name)]
        name: String,
    },
}

pub async fn run(session: &Session, screen: &mut Screen, command: IssuerCommand) -> Result<(), Trouble> {
    match command {
        IssuerCommand::List => {
            let answer = session.client.get(&Target::own(["issuers"])).await?;
            let all = answer.get("value").cloned().unwrap_or_default();
            session.showing.list(screen, &all, || table(items(&answer, "/value")))
        }
        IssuerCommand::Put { name, issuer, audiences, keys } => {
            let mut body = json!({ "issuer": issuer, "audiences": audiences });
            if let Some(file) = keys {
                let wrong = |why: String| Trouble::new(Exit::Usage, format!("--keys {}: {why}", file.display()));
                let text = std::fs::read_to_string(&file).map_err(|problem| wrong(problem.to_string()))?;
                let mut keys = serde_json::from_str(&text).map_err(|problem| wrong(format!("it is no JSON: {problem}")))?;
                forget_private_parts(&mut keys);
                body["keys"] = keys;
            }
            let (shown, _) = session.client.put(&Target::own(["issuers", &name]), &body).await?;
            let sheet = || Sheet::of(Tone::Plain, format!("`{name}` is trusted, with {} keys", shown["keyCount"]));
            session.showing.one(screen, &shown, sheet, || table(std::slice::from_ref(&shown)))
        }
        IssuerCommand::Delete { name } => {
            session.client.delete(&Target::own(["issuers", &name])).await?;
            let sheet = || Sheet::of(Tone::Plain, format!("`{name}` is trusted no more"));
            session.showing.one(screen, &json!({ "name": name }), sheet, || table(&[]))
        }
    }
}

/// What of a JSON Web Key is private, whatever its kind: RFC 7518, section 6, and RFC 8037.
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// A private key stays where it is, also when the file has it by mistake.
fn forget_private_parts(keys: &mut Value) {
    let Some(keys) = keys.get_mut("keys").and_then(Value::as_array_mut) else { return };
    for key in keys.iter_mut().filter_map(Value::as_object_mut) {
        key.retain(|name, _| !PRIVATE.contains(&name.as_str()));
    }
}

/// Says that the device which shows a code is one's own.
pub async fn approve(session: &Session, screen: &mut Screen, code: &str) -> Result<(), Trouble> {
    let answer = session.client.post(&Target::own(["deviceLogins", code, "approve"]), &json!({})).await?;
    let caller = field_or_dash(&answer, "/caller");
    let row = || {
        let mut table = Table::new(&["CODE", "CALLER"]);
        table.row(Tone::Plain, [code.to_owned(), caller.clone()]);
        table
    };
    session.showing.one(screen, &answer, || Sheet::of(Tone::Plain, format!("the device is logged in as `{caller}`")), row)
}

fn table(issuers: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "ISSUER", "KEYS", "FETCHED"]);
    for issuer in issuers {
        let text = |pointer| field_or_dash(issuer, pointer);
        table.row(Tone::Plain, [text("/name"), text("/issuer"), text("/keyCount"), text("/keysAt")]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_key_stays_where_it_is() {
        let mut keys = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": "public", "d": "private" }, { "kty": "oct", "k": "shared" }] });
        forget_private_parts(&mut keys);
        assert_eq!(keys, json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": "public" }, { "kty": "oct" }] }));
        let mut odd = json!("no keys");
        forget_private_parts(&mut odd);
        assert_eq!(odd, json!("no keys"));
    }
}
