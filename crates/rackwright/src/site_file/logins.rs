//! Who logs in to each BMC: found in a file of logins, a password file or the environment, never in the site file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::MachineName;
use redfish::Login;
use toml::de::DeTable;
use zeroize::{Zeroize, Zeroizing};

use super::page::{Page, Problems, Quote};
use super::section::kind;
use super::tables::{AccessKeys, ClusterTable, MachineTable};

/// The table of a file of logins that serves every machine without a table of its own.
pub const DEFAULT: &str = "default";

/// The variables of the process, or a test's.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads the login of every machine. What was opened is added to `opened`.
pub fn resolve(
    page: &Page,
    cluster: &ClusterTable,
    machines: &[MachineTable],
    environment: Environment<'_>,
    opened: &mut Vec<PathBuf>,
    problems: &mut Problems,
) -> BTreeMap<MachineName, Login> {
    let mut desk = Desk { page, environment, opened, problems };
    let file = cluster.bmc_credentials.as_ref().and_then(|path| desk.file_of_logins(&page.beside(&path.value), path.line, machines));
    let shared = desk.password(&cluster.access);
    let mut logins = BTreeMap::new();
    for machine in machines {
        let name = &machine.name.value;
        let of_file = file.as_ref().and_then(|file| file.get(&name.key()).or_else(|| file.get(DEFAULT)));
        let own = desk.password(&machine.access);
        let user = machine.access.user.as_ref().or(cluster.access.user.as_ref()).map(|user| user.value.clone());
        let user = user.or_else(|| of_file.map(|login| login.user.clone()));
        let password = match (own, &shared) {
            (Password::Failed, _) => continue,
            (Password::Known(password), _) => Some(password),
            (Password::NotGiven, Password::Failed) => continue,
            (Password::NotGiven, Password::Known(password)) => Some(password.clone()),
            (Password::NotGiven, Password::NotGiven) => of_file.map(|login| login.password.clone()),
        };
        match (user, password) {
            (Some(user), Some(password)) => {
                logins.insert(name.clone(), Login { user, password });
            }
            // What could not be opened was complained about.
            (_, None) if cluster.bmc_credentials.is_some() && file.is_none() => {}
            (user, _) => desk.no_login(machine, user.is_none(), cluster),
        }
    }
    logins
}

enum Password {
    Known(Zeroizing<String>),
    NotGiven,
    /// It was meant to be somewhere and is not; that has been noted.
    Failed,
}

struct Desk<'a> {
    page: &'a Page,
    environment: Environment<'a>,
    opened: &'a mut Vec<PathBuf>,
    problems: &'a mut Problems,
}

impl Desk<'_> {
    fn password(&mut self, keys: &AccessKeys) -> Password {
        if let Some(name) = &keys.password_env {
            return match (self.environment)(&name.value).filter(|value| !value.is_empty()) {
                Some(password) => Password::Known(Zeroizing::new(password)),
                None => {
                    self.problems.note(self.page, name.line, format!("the environment variable `{}` is not set", name.value));
                    Password::Failed
                }
            };
        }
        let Some(path) = &keys.password_file else { return Password::NotGiven };
        let Some(text) = self.open(&self.page.beside(&path.value), path.line) else { return Password::Failed };
        match text.trim_end_matches(['\r', '\n']) {
            "" => {
                self.problems.note(self.page, path.line, format!("{} is empty", self.page.beside(&path.value).display()));
                Password::Failed
            }
            password => Password::Known(Zeroizing::new(password.to_owned())),
        }
    }

    /// A file with secrets: its owner's alone.
    fn open(&mut self, path: &Path, line: usize) -> Option<Zeroizing<String>> {
        self.opened.push(path.to_owned());
        match read_private(path) {
            Ok(text) => Some(Zeroizing::new(text)),
            Err((message, remedy)) => {
                self.problems.note_quoting(self.page, line, Quote::Line, message, remedy);
                None
            }
        }
    }

    /// Tables of `user` and `password`, by machine. No line of this file is ever shown.
    fn file_of_logins(&mut self, path: &Path, line: usize, machines: &[MachineTable]) -> Option<BTreeMap<String, Login>> {
        let mut text = self.open(path, line)?;
        let mut page = Page::new(path, std::mem::take(&mut *text));
        let logins = self.logins_on(&page, machines);
        page.text.zeroize();
        logins
    }

    fn logins_on(&mut self, page: &Page, machines: &[MachineTable]) -> Option<BTreeMap<String, Login>> {
        let mut note = |line: usize, message: String| self.problems.note_quoting(page, line, Quote::Nothing, message, None);
        let root = match DeTable::parse(&page.text) {
            Ok(root) => root,
            Err(error) => {
                note(error.span().map_or(1, |span| page.line_of(&span)), "this is not TOML".to_owned());
                return None;
            }
        };
        let mut logins = BTreeMap::new();
        for (name, value) in root.get_ref().iter() {
            let (line, name) = (page.line_of(&name.span()), name.get_ref().as_ref());
            let Some(table) = value.get_ref().as_table() else {
                note(line, format!("a login is a table, [{name}] with `user` and `password`, not {}", kind(value)));
                continue;
            };
            if name != DEFAULT && !machines.iter().any(|machine| machine.name.value.as_str().eq_ignore_ascii_case(name)) {
                note(line, format!("[{name}] is no machine of the site"));
            }
            for (key, _) in table.iter().filter(|(key, _)| !matches!(key.get_ref().as_ref(), "user" | "password")) {
                note(page.line_of(&key.span()), format!("[{name}] has `user` and `password`, and no `{}`", key.get_ref()));
            }
            let text = |key: &str| table.get(key).and_then(|value| value.get_ref().as_str()).filter(|text| !text.is_empty());
            match (text("user").filter(|user| !user.contains('\n')), text("password")) {
                (Some(user), Some(password)) => {
                    logins.insert(name.to_ascii_lowercase(), Login::new(user, password));
                }
                (None, _) => note(line, format!("[{name}] lacks a `user` in quotes")),
                (_, None) => note(line, format!("[{name}] lacks a `password` in quotes")),
            }
        }
        Some(logins)
    }

    fn no_login(&mut self, machine: &MachineTable, lacks_user: bool, cluster: &ClusterTable) {
        let name = &machine.name.value;
        let has_password = machine.access.password_env.is_some() || machine.access.password_file.is_some();
        if lacks_user && (has_password || cluster.access.password_env.is_some() || cluster.access.password_file.is_some()) {
            self.problems.note(self.page, machine.name.line, format!("the BMC of `{name}` has a password, but no `bmc-user`"));
            return;
        }
        let message = format!("there is no login for the BMC of `{name}`");
        let remedy = match &cluster.bmc_credentials {
            Some(path) => {
                format!("write [{name}] or [{DEFAULT}] with `user` and `password` into {}", self.page.beside(&path.value).display())
            }
            None => "give `bmc-credentials`, or `bmc-user` with `bmc-password-env` or `bmc-password-file`".to_owned(),
        };
        self.problems.note_with_remedy(self.page, machine.name.line, message, remedy);
    }
}

/// The text of a file that only its owner may read; or what is wrong, and the remedy.
pub fn read_private(path: &Path) -> Result<String, (String, Option<String>)> {
    use std::os::unix::fs::PermissionsExt;
    let unreadable = |error: std::io::Error| (format!("{} cannot be read: {error}", path.display()), None);
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        let message = format!("{} holds secrets and can be read by others", path.display());
        return Err((message, Some(format!("chmod 600 {}", path.display()))));
    }
    std::fs::read_to_string(path).map_err(unreadable)
}
