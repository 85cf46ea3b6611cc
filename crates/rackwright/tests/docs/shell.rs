//! The computer of the person who reads the page: a home directory, a shell, and the binary on its path.
//!
//! The page's own words are kept: what it calls `/home/alice` is a temporary directory, the places of an installed server are
//! in it too, and what it says of the API at `127.0.0.1:7225` is true of the port that was free. The directory in which
//! commands run has the repository's `examples`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::environment;
use crate::matching::Ids;
use crate::pages;

/// What the pages call the home directory, and where the API is.
const HOME: &str = "/home/alice";
const API: &str = "127.0.0.1:7225";

/// Where a page says that an API listens for everybody.
const EVERYWHERE: &str = "0.0.0.0:7225";

/// Where the pages say that an installed server and its backups lie. Nothing of the real computer is touched.
const PLACES: [&str; 4] = ["/etc/rackwright/", "/var/lib/rackwright", "/backup/", "/safe/"];

/// No command of a page takes longer, in seconds.
const PATIENCE: &str = "60";

static COMPUTERS: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
pub struct Shell {
    home: tempfile::TempDir,
    /// Variables that were set, as commands that set them.
    variables: String,
    /// The loopback address that only this computer's API listens on: a port that it has left is then nobody's.
    address: String,
    /// Where the API really is.
    pub api: Option<String>,
    /// The run's id for each of the page's.
    ids: BTreeMap<String, String>,
}

impl Shell {
    pub fn new() -> Shell {
        let home = tempfile::tempdir().expect("a temporary directory");
        let address = format!("127.0.1.{}", COMPUTERS.fetch_add(1, Ordering::Relaxed) % 250 + 1);
        let shell = Shell { home, variables: String::new(), address, api: None, ids: BTreeMap::new() };
        fs::create_dir(shell.folder()).expect("the directory is new");
        for place in PLACES {
            fs::create_dir_all(shell.place(place)).expect("the directory is new");
        }
        let examples = pages::root().join("examples").canonicalize().expect("there are examples");
        std::os::unix::fs::symlink(examples, shell.folder().join("examples")).expect("the directory is new");
        shell
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Where commands run.
    pub fn folder(&self) -> PathBuf {
        self.home().join("rackwright")
    }

    fn place(&self, place: &str) -> String {
        format!("{}{place}", self.home().display())
    }

    /// Takes a command that only sets a variable: it holds for all that follow.
    pub fn set_variable(&mut self, command: &str) -> bool {
        let name = command.split_once('=').map_or("", |(name, _)| name);
        let sets = !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_') && !command.contains(' ');
        if sets {
            self.variables += &format!("export {}\n", self.localize(command));
        }
        sets
    }

    /// Runs a command to its end; returns all it said, and its exit code.
    pub fn run(&self, command: &str) -> (Vec<String>, i32) {
        let mut bash = Command::new("timeout");
        bash.args([PATIENCE, "bash", "-c", &format!("exec 2>&1\n{}{}", self.variables, self.localize(command))]);
        let output = self.equip(bash).output().expect("timeout and bash are there");
        let said = String::from_utf8_lossy(&output.stdout);
        (said.lines().map(str::to_owned).collect(), output.status.code().unwrap_or(-1))
    }

    /// A shell that becomes the server that a command starts, on any free port.
    pub fn server(&self, command: &str) -> Command {
        let listens = !command.contains(" sim serve") && !command.contains("--listen");
        let anywhere = if listens { format!(" --listen {}:0", self.address) } else { String::new() };
        let command = self.localize(command).replacen("rackwright ", "exec rackwright ", 1).replace(EVERYWHERE, "0.0.0.0:0");
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("exec 2>&1\n{}{command}{anywhere}", self.variables)]);
        self.equip(bash)
    }

    fn equip(&self, mut command: Command) -> Command {
        let binary = Path::new(env!("CARGO_BIN_EXE_rackwright"));
        let folders = [binary.parent().unwrap_or(binary).display().to_string(), std::env::var("PATH").unwrap_or_default()];
        environment::settle(&mut command);
        command.current_dir(self.folder()).env("HOME", self.home()).env("PATH", folders.join(":"));
        command
    }

    /// The page's words as the run's.
    fn localize(&self, command: &str) -> String {
        let places = PLACES.iter().fold(command.to_owned(), |command, place| command.replace(place, &self.place(place)));
        let mut command = places.replace(HOME, &self.home().display().to_string());
        if let Some(api) = &self.api {
            command = command.replace(API, api);
        }
        self.ids.iter().fold(command, |command, (ours, theirs)| command.replace(ours, theirs))
    }

    /// The run's words as the page's, but for its ids.
    pub fn generalize(&self, said: &[String]) -> Vec<String> {
        let home = self.home().display().to_string();
        let generalize = |line: &String| {
            let line = PLACES.iter().fold(line.clone(), |line, place| line.replace(&self.place(place), place));
            let line = line.replace(&home, HOME);
            self.api.iter().fold(line, |line, api| line.replace(api, API))
        };
        said.iter().map(generalize).collect()
    }

    /// The same lines with the page's ids, where they are known.
    pub fn with_ids_of_the_page(&self, said: &[String]) -> Vec<String> {
        said.iter().map(|line| self.ids.iter().fold(line.clone(), |line, (ours, theirs)| line.replace(theirs, ours))).collect()
    }

    /// Lets an id of the page stand for this one from now on.
    pub fn name(&mut self, ours: &str, theirs: &str) {
        self.ids.insert(ours.to_owned(), theirs.to_owned());
    }

    /// Runs a command on a terminal, where somebody types these keys; returns all it showed, and its exit code.
    pub fn type_keys(&self, command: &str, keys: &str) -> (Vec<String>, i32) {
        let mut terminal = Command::new("timeout");
        let line = format!("stty rows 24 cols 80; {}{}", self.variables, self.localize(command));
        terminal.args([PATIENCE, "script", "-qfec", &line, "/dev/null"]).env("TERM", "xterm").env("SHELL", "/bin/bash");
        let mut child = self.equip(terminal).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("timeout and script are there");
        // The keyboard stays plugged in until the program ends: `script` would take its end for Ctrl-D.
        let mut keyboard = child.stdin.take().expect("stdin is piped");
        keyboard.write_all(keys.as_bytes()).and_then(|()| keyboard.flush()).expect("the terminal takes keys");
        let output = child.wait_with_output().expect("it ends");
        drop(keyboard);
        (String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect(), output.status.code().unwrap_or(-1))
    }

    /// Remembers which id stands for which; one that stands for two is a mistake of the page.
    pub fn learn(&mut self, ids: Ids) -> Result<(), String> {
        for (ours, theirs) in ids {
            match self.ids.insert(ours.clone(), theirs.clone()) {
                Some(other) if other != theirs => return Err(format!("the page uses the id {ours} for two things")),
                _ => {}
            }
        }
        Ok(())
    }
}
