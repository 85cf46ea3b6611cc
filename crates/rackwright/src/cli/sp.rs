//! `rackwright sp …`: service principals, which programs log in as.

use std::path::{Path, PathBuf};
use std::slice;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::answer::{field, field_or_dash};
use super::args::parse_name;
use super::client::Target;
use super::did_you_mean::nearest_hint;
use super::render::{principal_sheet, principal_table, secret_sheet, secret_table};
use super::screen::{Screen, Sheet, Tone};
use super::session::Session;
use super::trouble::{Exit, Trouble};

const PRINCIPALS: &str = "principals";

#[derive(Debug, Subcommand)]
pub enum SpCommand {
    /// Every service principal. Changes nothing.
    ///
    /// Example: rackwright sp list
    List,
    /// Make a service principal with a secret, which is printed once. It has no role yet.
    ///
    /// `rackwright role assign` gives it one.
    ///
    /// Example: rackwright sp create pipeline --days 90
    Create {
        /// What it is called. The activity log names it so.
        #[arg(value_name = "NAME", value_parser = parse_name)]
        name: String,

        #[command(flatten)]
        life: LifeArgs,

        /// Make no secret: it will log in with a certificate.
        #[arg(long, conflicts_with = "days")]
        no_secret: bool,
    },
    /// One service principal: its ids, its secrets and certificates. Nothing secret is shown.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright sp show pipeline
    Show(WhoArgs),
    /// Remove a service principal with all its roles. Its tokens are good for nothing from then on.
    ///
    /// Example: rackwright sp delete pipeline
    Delete(WhoArgs),
    /// Give a service principal another secret, which is printed once.
    ///
    /// Example: rackwright sp add-secret pipeline --days 90
    AddSecret {
        #[command(flatten)]
        who: WhoArgs,

        #[command(flatten)]
        life: LifeArgs,

        /// What the secret is called.
        #[arg(long, value_name = "NAME")]
        display_name: Option<String>,
    },
    /// Take a secret away. Whoever logged in with it is logged out at once.
    ///
    /// Example: rackwright sp remove-secret pipeline 5e9f1c58-7f3e-4d0b-8b5a-0d6b4e1f2a33
    RemoveSecret {
        #[command(flatten)]
        who: WhoArgs,

        /// The secret's id; `sp show` tells it.
        #[arg(value_name = "SECRET_ID", value_parser = parse_name)]
        secret: String,
    },
    /// Let a service principal log in with the key of a certificate.
    ///
    /// Only the certificate is sent, though the file may have its private key too.
    ///
    /// Example: rackwright sp add-certificate pipeline --certificate pipeline.pem
    AddCertificate {
        #[command(flatten)]
        who: WhoArgs,

        /// A file with the certificate, in PEM.
        #[arg(long, value_name = "FILE")]
        certificate: PathBuf,
    },
    /// Take a certificate away.
    ///
    /// Example: rackwright sp remove-certificate pipeline Tc1fDAqrupUysx6geVL4KCy-ou7e9o3HTpgzEFwg1Ag
    RemoveCertificate {
        #[command(flatten)]
        who: WhoArgs,

        /// The certificate's SHA-256; `sp show` tells it.
        #[arg(value_name = "THUMBPRINT", value_parser = parse_name)]
        thumbprint: String,
    },
    /// Let a service principal do nothing from now on. It keeps its roles.
    ///
    /// Example: rackwright sp disable pipeline
    Disable(WhoArgs),
    /// Let a service principal in again.
    ///
    /// Example: rackwright sp enable pipeline
    Enable(WhoArgs),
}

#[derive(Args, Clone, Debug)]
pub struct WhoArgs {
    /// Its name, its object id or its client id.
    #[arg(value_name = "PRINCIPAL", value_parser = parse_name)]
    who: String,
}

#[derive(Args, Clone, Debug)]
pub struct LifeArgs {
    /// How many days the secret is good, at most two years, which it is unless this says otherwise.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    days: Option<u32>,
}

impl LifeArgs {
    fn body(&self, display_name: Option<&str>) -> Value {
        let mut body = json!({});
        if let Some(days) = self.days {
            body["days"] = json!(days);
        }
        if let Some(name) = display_name {
            body["displayName"] = json!(name);
        }
        body
    }
}

pub async fn run(session: &Session, screen: &mut Screen, command: SpCommand) -> Result<(), Trouble> {
    match command {
        SpCommand::List => {
            let all = list(session).await?;
            session.showing.list(screen, &Value::from(all.as_slice()), || principal_table(&all))
        }
        SpCommand::Create { name, life, no_secret } => {
            let look =
                format!("`rackwright sp show {name}` tells whether it was made; if it was, `rackwright sp add-secret {name}` goes on");
            let made = session.client.post_once(&Target::own([PRINCIPALS]), &json!({ "displayName": name }), &look).await?;
            if no_secret {
                return shown(session, screen, &made);
            }
            add_secret(session, screen, &made, &life.body(None)).await
        }
        SpCommand::Show(WhoArgs { who }) => shown(session, screen, &find(session, &who).await?),
        SpCommand::Delete(WhoArgs { who }) => {
            let found = find(session, &who).await?;
            session.client.delete(&of(&found, &[])).await?;
            screen.say(&format!("service principal `{}` is removed with its roles", field_or_dash(&found, "/displayName")));
            Ok(())
        }
        SpCommand::AddSecret { who, life, display_name } => {
            let found = find(session, &who.who).await?;
            add_secret(session, screen, &found, &life.body(display_name.as_deref())).await
        }
        SpCommand::RemoveSecret { who, secret } => {
            let found = find(session, &who.who).await?;
            shown(session, screen, &session.client.delete(&of(&found, &["secrets", &secret])).await?)
        }
        SpCommand::AddCertificate { who, certificate } => {
            let body = json!({ "pem": certificate_in(&certificate)? });
            let found = find(session, &who.who).await?;
            shown(session, screen, &session.client.post(&of(&found, &["certificates"]), &body).await?)
        }
        SpCommand::RemoveCertificate { who, thumbprint } => {
            let found = find(session, &who.who).await?;
            shown(session, screen, &session.client.delete(&of(&found, &["certificates", &thumbprint])).await?)
        }
        SpCommand::Disable(WhoArgs { who }) => switch(session, screen, &who, "disable").await,
        SpCommand::Enable(WhoArgs { who }) => switch(session, screen, &who, "enable").await,
    }
}

async fn add_secret(session: &Session, screen: &mut Screen, principal: &Value, body: &Value) -> Result<(), Trouble> {
    let name = field_or_dash(principal, "/displayName");
    // A secret that was made and never seen would stay good for as long as any other.
    let look = format!(
        "it may have made a secret that nobody saw: `rackwright sp show {name}` lists them, and `rackwright sp remove-secret` takes one away; then ask again"
    );
    let secret = session.client.post_once(&of(principal, &["secrets"]), body, &look).await?;
    session.showing.one(screen, &secret, || secret_sheet(&secret), || secret_table(&secret))?;
    if session.showing.is_for_people() {
        screen.hint("nobody can read the secret again; keep it where only its program can read it");
    }
    Ok(())
}

async fn switch(session: &Session, screen: &mut Screen, who: &str, verb: &str) -> Result<(), Trouble> {
    let found = find(session, who).await?;
    let changed = session.client.post(&of(&found, &[verb]), &json!({})).await?;
    let said = || Sheet::of(Tone::Plain, format!("service principal `{}` is {verb}d", field_or_dash(&changed, "/displayName")));
    session.showing.one(screen, &changed, said, || principal_table(slice::from_ref(&changed)))
}

fn shown(session: &Session, screen: &mut Screen, principal: &Value) -> Result<(), Trouble> {
    session.showing.one(screen, principal, || principal_sheet(principal), || principal_table(slice::from_ref(principal)))
}

fn of(principal: &Value, rest: &[&str]) -> Target {
    let id = field(principal, "/id").unwrap_or_default();
    Target::own([PRINCIPALS, id.as_str()].into_iter().chain(rest.iter().copied()))
}

async fn list(session: &Session) -> Result<Vec<Value>, Trouble> {
    session.client.list(&Target::own([PRINCIPALS])).await
}

/// The one that is meant by a name or an id.
pub async fn find(session: &Session, who: &str) -> Result<Value, Trouble> {
    let all = list(session).await?;
    let is_meant = |one: &&Value| ["/displayName", "/id", "/clientId"].iter().any(|at| field_or_dash(one, at).eq_ignore_ascii_case(who));
    match all.iter().find(is_meant) {
        Some(found) => Ok(found.clone()),
        None => {
            let names: Vec<String> = all.iter().filter_map(|one| field(one, "/displayName")).collect();
            let hint = nearest_hint(who, names.iter().map(String::as_str), "rackwright sp list");
            Err(Trouble::new(Exit::NotFound, format!("there is no service principal `{who}`")).hint(hint))
        }
    }
}

/// The first certificate of a file, and nothing else of it: a private key stays where it is.
fn certificate_in(file: &Path) -> Result<String, Trouble> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let wrong = |problem: String| Trouble::new(Exit::Usage, format!("`{}` {problem}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|problem| wrong(format!("cannot be read: {problem}")))?;
    let begin = text.find(BEGIN).ok_or_else(|| wrong("has no certificate in PEM".to_owned()))?;
    let length = text[begin..].find(END).ok_or_else(|| wrong("has a certificate without an end".to_owned()))?;
    Ok(format!("{}\n", &text[begin..begin + length + END.len()]))
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::captured;
    use super::super::session_tests::{Reply, Rote};
    use super::*;

    async fn ended(replies: Vec<Reply>, command: SpCommand) -> (Trouble, usize) {
        let rote = Rote::with(replies, None).await;
        let (mut screen, _, _) = captured();
        let trouble = run(&rote.session, &mut screen, command).await.unwrap_err();
        (trouble, rote.paths().len())
    }

    fn pipeline() -> Value {
        json!({ "id": "5e9f1c58", "displayName": "pipeline" })
    }

    #[tokio::test]
    async fn a_secret_is_never_asked_for_twice_and_it_is_said_where_to_look() {
        let add = || SpCommand::AddSecret { who: WhoArgs { who: "pipeline".into() }, life: LifeArgs { days: None }, display_name: None };
        let second = Reply::Json(201, json!({ "secret": "s" }));
        let (trouble, sent) = ended(vec![Reply::Json(200, json!({ "value": [pipeline()] })), Reply::HangUp, second], add()).await;
        assert_eq!((trouble.exit, sent), (Exit::Unreachable, 2));
        let hint = trouble.hint.unwrap();
        assert!(hint.contains("`rackwright sp show pipeline`") && hint.contains("`rackwright sp remove-secret`"), "{hint}");
    }

    #[tokio::test]
    async fn a_principal_is_never_made_twice_and_it_is_said_how_to_go_on() {
        let create = || SpCommand::Create { name: "pipeline".into(), life: LifeArgs { days: None }, no_secret: false };
        let (trouble, sent) = ended(vec![Reply::HangUp, Reply::Json(201, pipeline())], create()).await;
        assert_eq!((trouble.exit, sent), (Exit::Unreachable, 1));
        assert!(trouble.hint.unwrap().contains("`rackwright sp add-secret pipeline`"));
        let (trouble, sent) = ended(vec![Reply::Json(201, pipeline()), Reply::HangUp, Reply::HangUp], create()).await;
        assert_eq!((trouble.exit, sent), (Exit::Unreachable, 2));
        assert!(trouble.hint.unwrap().contains("`rackwright sp remove-secret`"));
    }

    #[test]
    fn a_private_key_stays_where_it_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        std::fs::write(file.path(), format!("-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n{certificate}rest")).unwrap();
        assert_eq!(certificate_in(file.path()).unwrap(), certificate);
        std::fs::write(file.path(), "-----BEGIN CERTIFICATE-----\nAAAA").unwrap();
        assert_eq!(certificate_in(file.path()).unwrap_err().exit, Exit::Usage);
    }
}
