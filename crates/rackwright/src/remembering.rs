//! What a server that has started leaves for the command line: the context to reach it by, and where its simulation can be
//! broken.
//!
//! Both are written when everything runs, so that a start that fails changes nothing, and never over those of another
//! server that still answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::access::{Access, Login};
use crate::cli::context::{Context, Home};
use crate::cli::simulator::Simulator;
use crate::cli::trouble::Trouble;
use crate::serve::ControlPlane;

/// The context of the server on this computer; of the first, if there are several.
const LOCAL: &str = "local";

/// How long another server may take to show that it runs. It is on this computer, or near, and may be busy; where none is, that is known
/// at once.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// How the next command finds a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    name: String,
    file: PathBuf,
}

impl Remembered {
    /// The line of the greeting.
    pub fn line(&self) -> String {
        let others = if self.is_usual() { "" } else { "; `local` is another server, which runs" };
        format!("  Context  {}, in {}{others}", self.name, self.file.display())
    }

    /// What a command must say besides, to reach this server.
    pub fn option(&self) -> String {
        if self.is_usual() { String::new() } else { format!(" --context {}", self.name) }
    }

    fn is_usual(&self) -> bool {
        self.name == LOCAL
    }
}

/// Makes the next command need no flags, or, beside another server, only the name of a context.
pub async fn remember(plane: &ControlPlane) -> Result<Remembered, Trouble> {
    let Some(first) = plane.sites.first() else { return Err(Trouble::failed("no site is described")) };
    let home = Home::of_process()?;
    let context = Context {
        server: plane.url(),
        subscription: first.home.subscription.clone(),
        // With several sites a name alone does not tell which is meant, so no group is assumed.
        resource_group: (plane.sites.len() == 1).then(|| first.home.resource_group.clone()),
        authority: Some(plane.authority.clone()),
        login: login(plane, &home)?,
        person: None,
    };
    loop {
        let known = home.load()?.contexts;
        let name = free_name(&known, &context.server).await;
        if take_name(&home, &name, known.get(&name), &context)? {
            return Ok(Remembered { name, file: home.contexts_file() });
        }
    }
}

/// Writes a context of this name, unless another server has written one since it was looked at: two that start at once must not each
/// take the other's place, and with it the only copy of its administrator's secret.
fn take_name(home: &Home, name: &str, seen: Option<&Context>, context: &Context) -> Result<bool, Trouble> {
    home.change(|contexts| {
        if contexts.contexts.get(name) != seen {
            return Ok(false);
        }
        let former = contexts.contexts.insert(name.to_owned(), context.clone()).filter(|other| other.authority != context.authority);
        if let Some((other, ours)) = former.zip(former_name(&contexts.contexts, name, context)) {
            contexts.contexts.insert(ours, other);
        }
        if name == LOCAL {
            contexts.current = Some(name.to_owned());
        }
        Ok(true)
    })
}

/// Another name that a server of this authority had, into which goes what it takes a name from: that server may only not have started yet,
/// and the login in it may be written nowhere else.
fn former_name(contexts: &BTreeMap<String, Context>, taken: &str, context: &Context) -> Option<String> {
    let is_ours = |(name, known): &(&String, &Context)| {
        *name != taken && name.starts_with(LOCAL) && known.authority.is_some() && known.authority == context.authority
    };
    contexts.iter().find(is_ours).map(|(name, _)| name.clone())
}

/// The administrator who was made just now, or whoever logged in to this server before, wherever it listened then.
fn login(plane: &ControlPlane, home: &Home) -> Result<Option<Login>, Trouble> {
    if let Some(administrator) = &plane.administrator {
        return Ok(Some(administrator.clone()));
    }
    Ok(known_login(&home.load()?.contexts, &plane.authority))
}

/// A login with a server of this authority. First that of a context which a server wrote itself: it is the administrator's, and may be
/// written nowhere else; people name theirs as they like.
fn known_login(contexts: &BTreeMap<String, Context>, authority: &str) -> Option<Login> {
    let (own, others): (Vec<_>, Vec<_>) = contexts.iter().partition(|(name, _)| name.starts_with(LOCAL));
    let same = own.into_iter().chain(others).map(|(_, context)| context).filter(|context| context.authority.as_deref() == Some(authority));
    same.filter_map(|context| context.login.clone()).next()
}

/// The first of `local`, `local-2`, … that no other running server has.
async fn free_name(known: &BTreeMap<String, Context>, server: &str) -> String {
    let mut name = LOCAL.to_owned();
    let mut number = 1;
    while let Some(context) = known.get(&name) {
        if context.server == server || !answers(context).await {
            break;
        }
        number += 1;
        name = format!("{LOCAL}-{number}");
    }
    name
}

async fn answers(context: &Context) -> bool {
    let Ok(tls) = (Access { authority: context.authority.clone(), pass: None }).tls() else { return false };
    let http = reqwest::Client::builder().no_proxy().timeout(ANSWER_TIMEOUT).tls_backend_preconfigured(tls).build();
    let Ok(http) = http else { return false };
    let answer = http.get(format!("{}/healthz", context.server.trim_end_matches('/'))).send().await;
    answer.is_ok_and(|answer| answer.status().is_success())
}

/// Tells `rackwright sim` where to go; if another simulation runs, in a file in `dir`, which is returned. Of two that start in one instant
/// neither sees the other, and `sim` goes to the later.
pub async fn remember_simulator(simulator: &Simulator, dir: &Path) -> Result<Option<PathBuf>, Trouble> {
    let usual = Simulator::file(&Home::of_process()?);
    match Simulator::load(&usual) {
        Ok(other) if other.answers(ANSWER_TIMEOUT).await => {
            let own = dir.join("simulator.toml");
            simulator.save(&own)?;
            Ok(Some(own))
        }
        _ => simulator.save(&usual).map(|()| None),
    }
}

/// The line of the greeting for a simulation that is not the usual one.
pub fn simulator_line(own: &Path) -> String {
    format!("  Faults   `sim fault --simulator {}`; another simulation runs, which `sim fault` means otherwise", own.display())
}

#[cfg(test)]
mod tests {
    use crate::cli::access::Secret;

    use super::*;

    fn of(authority: &str, client: &str) -> Context {
        Context {
            server: "https://127.0.0.1:8443".to_owned(),
            subscription: "s".to_owned(),
            resource_group: None,
            authority: Some(authority.to_owned()),
            login: Some(Login { client_id: client.to_owned(), client_secret: Secret::new("x") }),
            person: None,
        }
    }

    #[test]
    fn of_two_servers_that_start_at_once_neither_takes_the_others_name() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path());
        let (first, second) = (of("a", "administrator"), of("b", "other"));
        assert!(take_name(&home, LOCAL, None, &first).unwrap());
        assert!(!take_name(&home, LOCAL, None, &second).unwrap(), "both saw that nobody had it");
        assert_eq!(home.load().unwrap().contexts[LOCAL], first);
        assert!(take_name(&home, "local-2", None, &second).unwrap());
        let known = home.load().unwrap();
        assert_eq!((known.contexts["local-2"].clone(), known.current.as_deref()), (second.clone(), Some(LOCAL)));
        assert!(take_name(&home, LOCAL, Some(&first), &second).unwrap(), "that of a server that has ended is taken over");
        let known = home.load().unwrap().contexts;
        assert_eq!((&known[LOCAL], &known["local-2"]), (&second, &first), "and its login is kept where there is a place for it");
    }

    #[test]
    fn a_server_that_starts_again_keeps_its_administrator_whoever_else_logged_in() {
        let named = |entries: &[(&str, Context)]| entries.iter().map(|(name, context)| ((*name).to_owned(), context.clone())).collect();
        let client = |contexts: &BTreeMap<String, Context>| known_login(contexts, "a").map(|login| login.client_id);
        let mut contexts: BTreeMap<String, Context> =
            named(&[("dev", of("a", "tenant")), ("local", of("a", "administrator")), ("local-2", of("b", "other"))]);
        assert_eq!(client(&contexts).as_deref(), Some("administrator"));
        contexts.remove("local");
        assert_eq!(client(&contexts).as_deref(), Some("tenant"), "who has only that can do something at least");
        contexts.remove("dev");
        assert_eq!(client(&contexts), None, "a login of another server is of no use");
    }
}
