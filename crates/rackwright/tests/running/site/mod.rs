//! A site file as a person uses it: checked before anything starts, kept, and changed while it is kept.

mod check;
mod keeping;
mod tls;

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use toml::Table;

use crate::server::{Server, command, run, until};

/// Starts a server that logs nothing but errors: what it says of the file is what a test is about.
fn start(home: &Path, arguments: &[&str]) -> Server {
    let mut server = command(home);
    server.args(arguments).env("RUST_LOG", "error,kube_client=off");
    Server::start(server)
}

/// A simulated site of twelve machines, and a copy of its files that a test may change.
struct Site {
    directory: tempfile::TempDir,
    _world: Server,
}

impl Site {
    fn start() -> Site {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let world = start(directory.path(), &["sim", "serve", "--machines-per-rack", "3", "--speed", "600"]);
        let site = Site { directory, _world: world };
        std::fs::create_dir(site.path("")).expect("the directory is new");
        for name in ["site1.toml", "site1-bmc-credentials.toml", "site1-kubeconfig.yaml"] {
            std::fs::copy(site.home().join("data/sim").join(name), site.path(name)).expect("the simulator wrote its files");
        }
        site
    }

    fn home(&self) -> &Path {
        self.directory.path()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home().join("files").join(name)
    }

    fn config(&self) -> String {
        self.path("site1.toml").to_str().expect("the path is text").to_owned()
    }

    fn read(&self, name: &str) -> Table {
        std::fs::read_to_string(self.path(name)).expect("the file is there").parse().expect("the file is TOML")
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Table)) {
        let mut table = self.read(name);
        change(&mut table);
        std::fs::write(self.path(name), toml::to_string(&table).expect("a table is TOML")).expect("the file can be written");
    }

    fn change_machine(&self, machine: &str, key: &str, value: &str) {
        self.change("site1.toml", |site| {
            let machines = site["machine"].as_array_mut().expect("a site has machines");
            let found = machines.iter_mut().find(|entry| entry["name"].as_str() == Some(machine)).expect("the machine is described");
            found.as_table_mut().expect("a machine is a table").insert(key.to_owned(), value.into());
        });
    }

    fn set_password(&self, machine: &str, password: &str) {
        self.change("site1-bmc-credentials.toml", |logins| logins[machine]["password"] = password.into());
    }

    fn password(&self, machine: &str) -> String {
        self.read("site1-bmc-credentials.toml")[machine]["password"].as_str().expect("a password").to_owned()
    }

    /// Takes a machine out of the description; returns its tables.
    fn take_out(&self, machine: &str) -> (toml::Value, toml::Value) {
        let mut taken = (toml::Value::Boolean(false), toml::Value::Boolean(false));
        self.change("site1.toml", |site| {
            let machines = site["machine"].as_array_mut().expect("a site has machines");
            let place = machines.iter().position(|entry| entry["name"].as_str() == Some(machine)).expect("the machine is described");
            taken.0 = machines.remove(place);
        });
        self.change("site1-bmc-credentials.toml", |logins| taken.1 = logins.remove(machine).expect("the machine has a login"));
        taken
    }

    fn check(&self, more: &[&str]) -> Output {
        run(self.home(), &[&["serve", "--config", &self.config(), "--check"], more].concat())
    }

    fn machine(&self, name: &str) -> Option<Value> {
        serde_json::from_slice(&run(self.home(), &["bmm", "show", name, "-o", "json"]).stdout).ok()
    }

    #[track_caller]
    fn until_power_is_seen(&self, machine: &str) {
        let power = |machine: &Value| machine["rackwright"]["powerSeenAt"].is_string() && machine["rackwright"]["bmcFault"].is_null();
        until("power", || self.machine(machine).filter(power));
    }
}
