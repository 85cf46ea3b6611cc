//! `rackwright az-env`: a profile for Azure's command line that knows this server, apart from the user's own.

mod profile;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::access::{Access, Login, Pass};
use super::answer::{field, items};
use super::args::GlobalArgs;
use super::client::Target;
use super::context::Home;
use super::render::Table;
use super::screen::{Screen, Tone};
use super::session::Session;
use super::trouble::{Exit, Trouble};
use profile::{Profile, Subscription};

#[derive(Args, Clone, Debug)]
pub struct AzEnvArgs {
    /// Where the profile is written, instead of `azure` under RACKWRIGHT_HOME or beside the contexts. It is made if it is absent
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

pub async fn run(home: &Home, global: &GlobalArgs, screen: &mut Screen, args: AzEnvArgs) -> Result<(), Trouble> {
    let session = Session::open(global, home)?;
    let profile = profile_of(&session, session.access.clone()).await?;
    let dir = args.dir.unwrap_or_else(|| home.path().join("azure"));
    let dir = std::path::absolute(&dir).map_err(|problem| Trouble::failed(format!("`{}` cannot be used: {problem}", dir.display())))?;
    profile.write(&dir)?;
    let exports = exports(&dir, profile.authority.is_some(), &variable);
    let showing = global.showing()?;
    if showing.is_for_people() {
        return screen.data(&exports.iter().map(|(name, value)| format!("export {name}={}", quoted(value))).collect::<Vec<_>>().join("\n"));
    }
    let told = Value::Object(exports.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect());
    let table = || {
        let mut table = Table::new(&["NAME", "VALUE"]);
        for (name, value) in &exports {
            table.row(Tone::Plain, [(*name).to_owned(), value.clone()]);
        }
        table
    };
    showing.list(screen, &told, table)
}

/// Asks the server what it tells Azure's clients, and whether it lets this login in.
async fn profile_of(session: &Session, access: Access) -> Result<Profile, Trouble> {
    let login = login_of(access.pass)?;
    let metadata = session.client.get(&Target::arm(["metadata", "endpoints"])).await?;
    let told = |path: &str| field(&metadata, path).ok_or_else(|| Trouble::failed(format!("the server's metadata has no `{}`", &path[1..])));
    let known = session.client.get(&Target::arm(["subscriptions"])).await?;
    let subscriptions: Vec<Subscription> = items(&known, "/value").iter().filter_map(Subscription::of).collect();
    let default = session.subscription().await?;
    if !subscriptions.iter().any(|one| one.id.eq_ignore_ascii_case(&default)) {
        return Err(Trouble::new(Exit::Refused, format!("nothing of the subscription `{default}` is to be seen with this login"))
            .hint("choose another with `--subscription`, or have a role assigned to it"));
    }
    Ok(Profile {
        server: session.client.name().to_owned(),
        login_endpoint: told("/authentication/loginEndpoint")?,
        audience: told("/authentication/audiences/0")?,
        directory: told("/microsoftGraphResourceId")?,
        subscriptions,
        default,
        login,
        authority: access.authority,
    })
}

fn login_of(pass: Option<Pass>) -> Result<Login, Trouble> {
    match pass {
        Some(Pass::Login(login)) => Ok(login),
        Some(Pass::Token(_)) => Err(Trouble::new(Exit::Usage, "a token is no login: Azure's command line gets its tokens itself")
            .hint("unset RACKWRIGHT_TOKEN, or set RACKWRIGHT_CLIENT_ID and RACKWRIGHT_CLIENT_SECRET instead")),
        Some(Pass::Person(person)) => {
            Err(Trouble::new(Exit::Usage, format!("`{}` is a person, whom Azure's command line logs in itself", person.name)).hint(
                "tell it of this server with `az cloud register`; then `az login --use-device-code` and `rackwright approve` log you in",
            ))
        }
        None => Err(Trouble::new(Exit::Refused, "this context logs in as nobody").hint("`rackwright login` makes one that does")),
    }
}

/// What the shell must have. A profile of its own hides the extensions that are installed unless it is said where they are.
fn exports(dir: &Path, has_authority: bool, variable: &dyn Fn(&str) -> Option<String>) -> Vec<(&'static str, String)> {
    let mut exports = vec![("AZURE_CONFIG_DIR", dir.display().to_string())];
    if has_authority {
        exports.push(("REQUESTS_CA_BUNDLE", dir.join(profile::AUTHORITY).display().to_string()));
    }
    let of_user = || variable("HOME").map(|home| Path::new(&home).join(".azure/cliextensions").display().to_string());
    exports.extend(variable("AZURE_EXTENSION_DIR").or_else(of_user).map(|extensions| ("AZURE_EXTENSION_DIR", extensions)));
    exports
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// As a word of any shell of the family of `sh`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exported_leaves_the_users_extensions_in_sight_and_is_a_word_of_a_shell() {
        let of = |known: &'static [(&str, &str)], has_authority| {
            let variable = move |name: &str| known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            exports(Path::new("/it's here"), has_authority, &variable)
        };
        let own = ("AZURE_CONFIG_DIR", "/it's here".to_owned());
        let trust = ("REQUESTS_CA_BUNDLE", "/it's here/ca.pem".to_owned());
        let extensions = |place: &str| ("AZURE_EXTENSION_DIR", place.to_owned());
        assert_eq!(of(&[("HOME", "/home/a")], true), [own.clone(), trust, extensions("/home/a/.azure/cliextensions")]);
        assert_eq!(of(&[("HOME", "/home/a"), ("AZURE_EXTENSION_DIR", "/x")], false), [own.clone(), extensions("/x")]);
        assert_eq!(of(&[], false), [own]);
        assert_eq!(quoted("/it's $HOME"), r"'/it'\''s $HOME'");
    }

    #[test]
    fn only_a_login_can_be_handed_on() {
        use super::super::access::{Person, Secret};
        let login = Login { client_id: "c".to_owned(), client_secret: Secret::new("s") };
        assert_eq!(login_of(Some(Pass::Login(login.clone()))).unwrap(), login);
        assert_eq!(login_of(Some(Pass::Token(Secret::new("t")))).unwrap_err().exit, Exit::Usage);
        let person = Person { name: "ada".to_owned(), refresh_token: Secret::new("r") };
        assert_eq!(login_of(Some(Pass::Person(person))).unwrap_err().exit, Exit::Usage);
        assert_eq!(login_of(None).unwrap_err().exit, Exit::Refused);
    }
}
