//! `rackwright login` and `rackwright token`: being known to a server.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::access::{Access, Login, Pass, Person, Secret};
use super::answer::{field, items};
use super::args::GlobalArgs;
use super::client::{Client, Target};
use super::context::{self, Context, Home};
use super::render::facts;
use super::screen::{Screen, Tone};
use super::session::Session;
use super::tokens::{Grant, name_in};
use super::trouble::{Exit, Trouble};

const SECRET_VARIABLE: &str = "RACKWRIGHT_CLIENT_SECRET";

#[derive(Args, Clone, Debug)]
pub struct LoginArgs {
    /// The server, for example https://rackwright.example:7225
    pub server: String,
    /// Who to log in as: the client id of a service principal
    #[arg(long, value_name = "ID", required_unless_present = "assertion_file")]
    pub client_id: Option<String>,
    /// A file with its secret; without it, RACKWRIGHT_CLIENT_SECRET, or it is asked for
    #[arg(long, value_name = "FILE", requires = "client_id")]
    pub secret_file: Option<PathBuf>,
    /// For a person: a file with a token of an issuer that the server trusts to know people. It is shown once and not kept
    #[arg(long, value_name = "FILE", conflicts_with_all = ["client_id", "secret_file"])]
    pub assertion_file: Option<PathBuf>,
    /// Who signed the server's certificate, in PEM: `rackwright context authority` prints it where the server runs. Without it, those
    /// whom this computer trusts
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// What to call the context
    #[arg(long, value_name = "NAME", default_value = "remote")]
    pub name: String,
}

pub async fn login(home: &Home, global: &GlobalArgs, screen: &mut Screen, args: LoginArgs) -> Result<(), Trouble> {
    let authority = args.ca.as_deref().map(read).transpose()?;
    let shown = shown(screen, &args, authority.as_deref()).await?;
    let client = Client::new(&args.server, &Access { authority: authority.clone(), pass: Some(shown.pass) })?;
    let known = client.get(&Target::arm(["subscriptions"])).await?;
    let subscription = match &global.subscription {
        Some(named) => named.clone(),
        None => items(&known, "/value").iter().find_map(|one| field(one, "/subscriptionId")).ok_or_else(|| {
            Trouble::new(Exit::Refused, "the login is good, but nothing is to be seen with it")
                .hint("somebody must assign a role to it first: `rackwright role assign`")
        })?,
    };
    let context = Context {
        server: client.name().to_owned(),
        subscription,
        resource_group: global.resource_group.clone(),
        authority,
        login: shown.login,
        person: shown.person,
    };
    let told = as_json(&args.name, &context);
    let sheet = || {
        facts(&[
            (Tone::Strong, "logged in", context.server.clone()),
            (Tone::Plain, "as", context.who().unwrap_or_default().to_owned()),
            (Tone::Plain, "context", format!("{}, which commands use from now on", args.name)),
        ])
    };
    let table = || super::contexts::table([(args.name.as_str(), &context, true)]);
    context::save_current(home, &args.name, context.clone())?;
    global.showing()?.one(screen, &told, sheet, table)
}

/// What is shown to the server now, and what is kept for later.
struct Shown {
    pass: Pass,
    login: Option<Login>,
    person: Option<Person>,
}

async fn shown(screen: &mut Screen, args: &LoginArgs, authority: Option<&str>) -> Result<Shown, Trouble> {
    let Some(file) = &args.assertion_file else {
        let secret = secret(screen, args.secret_file.as_deref())?;
        let client_id = args.client_id.clone().unwrap_or_default();
        let login = Login { client_id, client_secret: Secret::new(secret.trim()) };
        return Ok(Shown { pass: Pass::Login(login.clone()), login: Some(login), person: None });
    };
    let text = Zeroizing::new(read(file)?);
    let nobody = Client::new(&args.server, &Access { authority: authority.map(str::to_owned), pass: None })?;
    let granted = nobody.grant(Grant::Assertion(&Secret::new(text.trim()))).await?;
    let refresh_token = granted.refresh_token.ok_or_else(|| {
        Trouble::failed(format!("{} gave a token and nothing to get the next one with, so nobody would stay logged in", nobody.name()))
    })?;
    let name = name_in(&granted.token).unwrap_or_else(|| "somebody".to_owned());
    Ok(Shown { pass: Pass::Token(granted.token), login: None, person: Some(Person { name, refresh_token }) })
}

/// Prints a token that programs can show the server for an hour.
pub async fn token(session: &Session, screen: &mut Screen) -> Result<(), Trouble> {
    match session.client.token().await? {
        Some(token) => screen.data(token.text()),
        None => Err(Trouble::new(Exit::Refused, "this context logs in as nobody").hint("`rackwright login` makes one that does")),
    }
}

fn secret(screen: &mut Screen, file: Option<&Path>) -> Result<Zeroizing<String>, Trouble> {
    if let Some(file) = file {
        return read(file).map(Zeroizing::new);
    }
    if let Some(secret) = std::env::var(SECRET_VARIABLE).ok().filter(|secret| !secret.is_empty()) {
        return Ok(Zeroizing::new(secret));
    }
    screen.ask_secret("Client secret: ").map(Zeroizing::new).ok_or_else(|| {
        Trouble::new(Exit::Usage, "the client secret is not known").hint(format!("give it with --secret-file or {SECRET_VARIABLE}"))
    })
}

fn read(file: &Path) -> Result<String, Trouble> {
    std::fs::read_to_string(file).map_err(|problem| Trouble::new(Exit::Usage, format!("{} cannot be read: {problem}", file.display())))
}

fn as_json(name: &str, context: &Context) -> Value {
    json!({
        "context": name,
        "server": context.server,
        "subscription": context.subscription,
        "clientId": context.login.as_ref().map(|login| &login.client_id),
        "person": context.person.as_ref().map(|person| &person.name),
    })
}
