//! Contexts: which server commands talk to, remembered in `contexts.toml` under the home directory.
//!
//! The home is `RACKWRIGHT_HOME`, or the platform's configuration directory. Nothing else is read, so two homes
//! never meet.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::access::{Login, Pass, Person};
use super::did_you_mean::nearest_hint;
use super::trouble::{Exit, Trouble};
use crate::private_file;

/// Larger files are not ours: a thousand contexts fit into a tenth of it.
const FILE_MAX: u64 = 1024 * 1024;

/// A server, and where on it a person works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    pub server: String,
    pub subscription: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_group: Option<String>,
    /// Who signed the server's certificate, in PEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<String>,
    /// Who commands log in as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
    /// Who is logged in, instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Person>,
}

impl Context {
    pub fn pass(&self) -> Option<Pass> {
        let of_person = self.person.clone().map(Pass::Person);
        of_person.or_else(|| self.login.clone().map(Pass::Login))
    }

    /// As whom it comes in.
    pub fn who(&self) -> Option<&str> {
        let of_person = self.person.as_ref().map(|person| person.name.as_str());
        of_person.or_else(|| self.login.as_ref().map(|login| login.client_id.as_str()))
    }
}

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contexts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contexts: BTreeMap<String, Context>,
}

impl Contexts {
    /// The context of that name, or the current one.
    pub fn select(&self, name: Option<&str>) -> Result<(&str, &Context), Trouble> {
        let Some(name) = name.or(self.current.as_deref()) else {
            return Err(Trouble::new(Exit::Unreachable, "no context is in use, so no server is known")
                .hint("start one with `rackwright serve --config FILE`, or `rackwright up` for a simulated site, choose one with `rackwright context use`, or name one that runs already with `--server` or RACKWRIGHT_SERVER"));
        };
        match self.contexts.get_key_value(name) {
            Some((name, context)) => Ok((name, context)),
            None => Err(Trouble::new(Exit::NotFound, format!("there is no context `{name}`")).hint(nearest_hint(
                name,
                self.contexts.keys().map(String::as_str),
                "rackwright context list",
            ))),
        }
    }

    /// What is known of a server that was named itself: the current context if it is one of it, or else the first that is.
    pub fn of_server(&self, server: &str) -> Option<&Context> {
        let is_of = |context: &&Context| context.server.trim_end_matches('/') == server.trim_end_matches('/');
        let current = self.current.as_ref().and_then(|name| self.contexts.get(name));
        current.filter(is_of).or_else(|| self.contexts.values().find(is_of))
    }
}

/// The directory that this person's settings live in.
#[derive(Clone, Debug)]
pub struct Home(PathBuf);

impl Home {
    pub fn new(path: impl Into<PathBuf>) -> Home {
        Home(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn of_process() -> Result<Home, Trouble> {
        if let Some(home) = std::env::var_os("RACKWRIGHT_HOME").filter(|home| !home.is_empty()) {
            return Ok(Home::new(home));
        }
        match directories::ProjectDirs::from("", "", "rackwright") {
            Some(directories) => Ok(Home::new(directories.config_dir())),
            None => Err(Trouble::failed("there is no home directory to keep contexts in").hint("set `RACKWRIGHT_HOME` to a directory")),
        }
    }

    pub fn contexts_file(&self) -> PathBuf {
        self.0.join("contexts.toml")
    }

    /// What the file says; an absent file says nothing.
    pub fn load(&self) -> Result<Contexts, Trouble> {
        let path = self.contexts_file();
        match fs::metadata(&path) {
            Ok(file) if file.len() > FILE_MAX => return Err(broken(&path, &format!("it is larger than {FILE_MAX} bytes"))),
            _ => {}
        }
        match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|problem| broken(&path, problem.to_string().trim_end())),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(Contexts::default()),
            Err(problem) if problem.kind() == io::ErrorKind::InvalidData => Err(broken(&path, "it is not text")),
            Err(problem) => Err(Trouble::failed(format!("`{}` cannot be read: {problem}", path.display()))),
        }
    }

    /// Reads, changes and replaces the file as one step: two commands at once lose neither's change.
    pub fn change<T>(&self, change: impl FnOnce(&mut Contexts) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let path = self.contexts_file();
        let cannot_write = |problem: io::Error| Trouble::failed(format!("`{}` cannot be written: {problem}", path.display()));
        private_file::create_directory(&self.0).map_err(cannot_write)?;
        // The lock is a file of its own, because the other one is replaced.
        let lock = private_file::private(OpenOptions::new().write(true).create(true).truncate(false))
            .open(self.0.join("contexts.lock"))
            .map_err(cannot_write)?;
        lock.lock().map_err(cannot_write)?;
        let mut contexts = self.load()?;
        let result = change(&mut contexts)?;
        let text = toml::to_string(&contexts).expect("contexts are tables of strings");
        private_file::replace(&path, &text).map_err(cannot_write)?;
        Ok(result)
    }
}

/// Saves a context of that name and makes it the current one. Returns the file.
pub fn save_current(home: &Home, name: &str, context: Context) -> Result<PathBuf, Trouble> {
    home.change(|contexts| {
        contexts.contexts.insert(name.to_owned(), context);
        contexts.current = Some(name.to_owned());
        Ok(())
    })?;
    Ok(home.contexts_file())
}

fn broken(path: &Path, problem: &str) -> Trouble {
    let mut trouble = Trouble::failed(format!("the contexts file `{}` is broken", path.display()));
    trouble.details = problem.lines().map(str::to_owned).collect();
    trouble.hint("mend it, or move it away and run `rackwright up` again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn save_lab(home: &Home, name: &str, server: &str, subscription: &str, group: Option<&str>) -> Result<PathBuf, Trouble> {
        let (server, subscription, resource_group) = (server.to_owned(), subscription.to_owned(), group.map(str::to_owned));
        save_current(home, name, Context { server, subscription, resource_group, authority: None, login: None, person: None })
    }

    fn home() -> (tempfile::TempDir, Home) {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("rackwright"));
        (directory, home)
    }

    #[test]
    fn a_saved_context_is_the_current_one() {
        let (_directory, home) = home();
        save_lab(&home, "lab", "https://127.0.0.1:7101", "s1", Some("site1")).unwrap();
        let path = save_lab(&home, "other", "http://127.0.0.1:7102", "s2", None).unwrap();
        expect![[r#"
            current = "other"

            [contexts.lab]
            server = "https://127.0.0.1:7101"
            subscription = "s1"
            resource_group = "site1"

            [contexts.other]
            server = "http://127.0.0.1:7102"
            subscription = "s2"
        "#]]
        .assert_eq(&fs::read_to_string(path).unwrap());
        let contexts = home.load().unwrap();
        assert_eq!(contexts.select(None).unwrap().1.server, "http://127.0.0.1:7102");
        assert_eq!(contexts.select(Some("lab")).unwrap().1.subscription, "s1");
    }

    #[test]
    fn of_several_contexts_of_a_server_the_current_one_is_meant() {
        let (_directory, home) = home();
        for name in ["admin", "tenant", "zoe"] {
            save_lab(&home, name, "https://127.0.0.1:7101", name, None).unwrap();
        }
        let mut contexts = home.load().unwrap();
        contexts.current = Some("tenant".to_owned());
        assert_eq!(contexts.of_server("https://127.0.0.1:7101/").unwrap().subscription, "tenant");
        contexts.current = None;
        assert_eq!(contexts.of_server("https://127.0.0.1:7101").unwrap().subscription, "admin");
        assert!(contexts.of_server("https://127.0.0.1:7102").is_none());
    }

    #[test]
    fn two_homes_do_not_meet() {
        let (_first, one) = home();
        let (_second, two) = home();
        save_lab(&one, "lab", "https://127.0.0.1:7101", "s1", None).unwrap();
        let trouble = two.load().unwrap().select(None).unwrap_err();
        assert_eq!(trouble.exit, Exit::Unreachable);
        assert!(trouble.hint.unwrap().contains("rackwright up"));
    }

    #[test]
    fn a_broken_file_is_named_and_not_overwritten() {
        let (_directory, home) = home();
        let path = save_lab(&home, "lab", "https://127.0.0.1:7101", "s1", None).unwrap();
        fs::write(&path, "current = [").unwrap();
        let trouble = save_lab(&home, "lab", "https://127.0.0.1:7101", "s1", None).unwrap_err();
        assert!(trouble.message.contains(&path.display().to_string()), "{trouble:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "current = [");
    }

    #[test]
    fn writers_at_once_lose_nothing_and_leave_nothing_behind() {
        let (_directory, home) = home();
        std::thread::scope(|scope| {
            for n in 0..8 {
                let home = &home;
                scope.spawn(move || save_lab(home, &format!("lab{n}"), "https://127.0.0.1:7101", "s1", None).unwrap());
            }
        });
        assert_eq!(home.load().unwrap().contexts.len(), 8);
        assert_eq!(fs::read_dir(&home.0).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (_directory, home) = home();
        let path = save_lab(&home, "lab", "https://127.0.0.1:7101", "s1", None).unwrap();
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_unknown_context_suggests_a_known_one() {
        let (_directory, home) = home();
        save_lab(&home, "production", "https://127.0.0.1:7101", "s1", None).unwrap();
        let trouble = home.load().unwrap().select(Some("producton")).unwrap_err();
        assert_eq!(trouble.hint.as_deref(), Some("did you mean `production`?"));
    }
}
