//! A server with a simulated site, and Azure's clients with a profile that `rackwright az-env` wrote for them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::environment;
use crate::said::Said;

/// How long a server may take to say where it is.
const PATIENCE: Duration = Duration::from_secs(60);

pub const SUBSCRIPTION: &str = "00000000-0000-4000-8000-000000000001";
pub const TENANT: &str = "00000000-0000-4000-8000-0000000000aa";

/// What Azure's clients would take from this computer's environment.
const OF_THE_COMPUTER: [&str; 5] = ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "PYTHONPATH"];

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// A program of those that `tools/azure-clients` installs, which it does if they are not there.
pub fn client(program: &str) -> PathBuf {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| {
        let output = Command::new(repository("tools/azure-clients")).stderr(Stdio::inherit()).output().expect("tools/azure-clients runs");
        assert!(output.status.success(), "tools/azure-clients failed");
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    });
    installed.join(program)
}

/// Where the extension `networkcloud` is, if there is one.
pub fn extensions() -> Option<PathBuf> {
    Some(client("extensions")).filter(|folder| folder.exists())
}

/// A process that does not outlive the test, and a home for it and its clients.
pub struct House {
    server: Child,
    pub home: tempfile::TempDir,
    /// `https://127.0.0.1:4711`.
    pub address: String,
    /// What `az-env` said to export.
    exports: Vec<(String, String)>,
}

impl House {
    pub fn open() -> House {
        House::open_at("600")
    }

    /// A house whose time passes so many times faster than ours.
    pub fn open_at(speed: &str) -> House {
        let home = tempfile::tempdir().expect("a temporary directory");
        let mut command = rackwright(home.path());
        command.args(["up", "--listen", "127.0.0.1:0", "--speed", speed, "--machines-per-rack", "3"]);
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
        let out = BufReader::new(server.stdout.take().expect("stdout is piped"));
        let end = Instant::now() + PATIENCE;
        let mut said = String::new();
        let mut lines = out.lines();
        while !said.contains("Ctrl-C stops it") {
            assert!(Instant::now() < end, "gave up waiting for the server: {said}");
            said += &lines.next().expect("it goes on").expect("it is text");
            said.push('\n');
        }
        let address = said.split("  API ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("it told its address").to_owned();
        let mut house = House { server, home, address, exports: Vec::new() };
        house.exports = house.evaluated();
        house
    }

    /// Has a shell evaluate what `az-env` prints, as people do.
    fn evaluated(&self) -> Vec<(String, String)> {
        let names = ["AZURE_CONFIG_DIR", "REQUESTS_CA_BUNDLE", "AZURE_EXTENSION_DIR"];
        let script = r#"set -eu; eval "$("$0" az-env)"; for name; do eval "printf '%s\n' \"\$$name\""; done"#;
        let mut shell = Command::new("sh");
        settle(&mut shell, self.home.path());
        let said = Said::of(shell.args(["-c", script, env!("CARGO_BIN_EXE_rackwright")]).args(names));
        let values = said.fine().lines().map(str::to_owned).collect::<Vec<_>>();
        names.map(str::to_owned).into_iter().zip(values).collect()
    }

    pub fn profile(&self) -> PathBuf {
        PathBuf::from(&self.exports[0].1)
    }

    pub fn rackwright(&self, line: &str) -> Said {
        Said::of(rackwright(self.home.path()).args(line.split_whitespace()))
    }

    /// Azure's command line with the profile that `az-env` wrote.
    pub fn az(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(&client("venv/bin/az")).args(arguments))
    }

    /// The same of one line, in which a shell would need no quotes but single ones.
    pub fn az_line(&self, line: &str) -> Said {
        self.az(&words(line).iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A program with what a shell would have after `eval "$(rackwright az-env)"`.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        settle(&mut command, self.home.path());
        command.envs(self.exports.iter().map(|(name, value)| (name, value)));
        if let Some(extensions) = extensions() {
            command.env("AZURE_EXTENSION_DIR", extensions);
        }
        command
    }

    /// Azure's command line with a profile in which nobody has logged in yet.
    pub fn fresh_az(&self, profile: &Path, line: &str) -> Said {
        let mut command = self.command(&client("venv/bin/az"));
        Said::of(command.env("AZURE_CONFIG_DIR", profile).args(words(line)))
    }

    /// Who the context logs in as: client id and secret.
    pub fn login(&self) -> (String, String) {
        let file = self.profile().join("service_principal_entries.json");
        let entries: Value = serde_json::from_str(&fs::read_to_string(file).expect("the profile has logins")).expect("it is JSON");
        let field = |name: &str| entries[0][name].as_str().expect("it is a text").to_owned();
        (field("client_id"), field("client_secret"))
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn rackwright(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rackwright"));
    settle(&mut command, home);
    command
}

/// Nothing of whoever runs the tests is read or written: not their logins, their profile, nor their proxies.
fn settle(command: &mut Command, home: &Path) {
    environment::settle(command);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_uppercase();
        if text.starts_with("AZURE_") || text.starts_with("ARM_") || text.ends_with("_PROXY") || OF_THE_COMPUTER.contains(&text.as_str()) {
            command.env_remove(&name);
        }
    }
    command.env("RACKWRIGHT_HOME", home.join("rackwright")).env("HOME", home).env("AZURE_CORE_NO_COLOR", "yes");
}

/// The words of a line, as a shell would have them: single quotes keep spaces together.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), None::<String>, false);
    for sign in line.chars() {
        match sign {
            '\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ' ' | '\n' if !is_quoted => words.extend(word.take()),
            sign => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    words
}
