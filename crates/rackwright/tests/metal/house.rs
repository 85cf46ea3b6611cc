//! The control plane of an emulated machine: `rackwright serve` with a site file that describes it, beside the simulated machines whose
//! undercloud it joins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use toml::Table;

use crate::hall::{hall, repository};
use crate::machine::{Firmware, Machine, Wanted, digest, free_port};
use crate::origin;
use crate::server::{Server, command, run, text, until};
use crate::wire::Wire;

/// How a guest calls the loopback of the computer that it is emulated on.
const HOST: &str = "10.0.2.2";

/// How much shorter the control plane's patience is than at a site of metal: an emulated machine is up in seconds, and a test waits for
/// what it gives up on.
const SPEED: f64 = 10.0;

/// The longest that an installation may take here.
const PATIENCE: Duration = Duration::from_secs(240);

/// What the operating system is sent as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    Raw,
    Packed,
}

/// What a test wants beside the usual.
pub struct Plan {
    pub name: &'static str,
    pub firmware: Firmware,
    pub sent: Sent,
    pub clock: Option<i64>,
    pub serials: [&'static str; 2],
    /// What the site file says that the system goes to.
    pub os_disk: &'static str,
    /// The digest that the runtime claims of the raw image, if not the right one.
    pub claimed_digest: Option<String>,
    /// The image with the agent has lost what it starts from.
    pub agent_is_damaged: bool,
}

impl Plan {
    /// A machine as it should be.
    pub fn usual(name: &'static str, firmware: Firmware) -> Plan {
        let sent = if firmware == Firmware::Uefi { Sent::Raw } else { Sent::Packed };
        Plan {
            name,
            firmware,
            sent,
            clock: None,
            serials: ["TENANT-1", "SYSTEM-1"],
            os_disk: "SYSTEM-1",
            claimed_digest: None,
            agent_is_damaged: false,
        }
    }
}

pub struct House {
    pub machine: Machine,
    pub wire: Wire,
    home: TempDir,
    install_port: u16,
    serve: Option<Server>,
    _world: Server,
}

impl House {
    pub fn build(plan: &Plan) -> House {
        let home = tempfile::tempdir().expect("a temporary directory");
        let install_port = free_port();
        let wire = Wire::to(install_port);
        let mut sim = command(home.path());
        sim.args(["sim", "serve", "--racks", "1", "--machines-per-rack", "4", "--without-tenants", "--speed", "1"]);
        let world = Server::start(sim);
        let machine = Machine::make(&Wanted { name: plan.name, firmware: plan.firmware, serials: plan.serials, clock: plan.clock });
        let mut house = House { machine, wire, home, install_port, serve: None, _world: world };
        house.describe_site(plan);
        house.start();
        house.import_runtime(plan);
        house
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("data/sim").join(name)
    }

    fn read(&self, name: &str) -> Table {
        fs::read_to_string(self.path(name)).expect("the simulator wrote it").parse().expect("it is TOML")
    }

    fn write(&self, name: &str, content: &str) {
        use std::os::unix::fs::PermissionsExt;
        fs::write(self.path(name), content).expect("the folder is ours");
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).expect("the file is ours");
    }

    /// Adds the machine to the simulated site's own file.
    fn describe_site(&self, plan: &Plan) {
        let Machine { name, bmc_port, mac, .. } = &self.machine;
        let mut site = self.read("site1.toml");
        site["cluster"].as_table_mut().expect("a table").insert("speed".to_owned(), SPEED.into());
        let rack = site["rack"][0]["name"].as_str().expect("a rack").to_owned();
        let machine = format!(
            "name = '{name}'\nrack = '{rack}'\nslot = 20\nrole = 'compute'\nsku = 'QEMU'\nserial-number = '{name}-serial'\n\
             bmc = 'http://127.0.0.1:{bmc_port}'\nbmc-mac = '52:54:00:00:00:01'\nboot-mac = '{mac}'\nos-disk = '{os_disk}'\n",
            os_disk = plan.os_disk,
        );
        let machine: Table = machine.parse().expect("it is TOML");
        site["machine"].as_array_mut().expect("machines").push(machine.into());
        self.write("metal.toml", &site.to_string());
        let mut logins = self.read("site1-bmc-credentials.toml");
        logins.insert((*name).to_owned(), "user = 'admin'\npassword = 'secret'\n".parse::<Table>().expect("it is TOML").into());
        self.write("site1-bmc-credentials.toml", &logins.to_string());
    }

    /// Starts the control plane, or starts it again.
    pub fn start(&mut self) {
        let mut serve = command(self.home.path());
        serve.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(self.path("metal.toml"));
        serve.args(["--install-listen", &format!("127.0.0.1:{}", self.install_port)]);
        // A machine and its BMC reach us by different addresses, as at many sites: the BMC runs beside us.
        serve.args(["--install-url", &format!("https://{HOST}:{}", self.wire.port)]);
        serve.args(["--install-media-url", &format!("http://127.0.0.1:{}", self.install_port)]);
        let serve = Server::start(serve);
        serve.until_ready();
        self.serve = Some(serve);
    }

    /// Kills the control plane, so that it can save nothing.
    pub fn kill(&mut self) {
        // What is dropped is killed.
        self.serve = None;
    }

    fn import_runtime(&self, plan: &Plan) {
        let images = &hall().images;
        let agent = if plan.agent_is_damaged { self.damaged(&images.agent) } else { images.agent.clone() };
        let origin = origin::serve(vec![("os.img", images.os.clone()), ("os.img.zst", images.packed_os.clone()), ("agent.iso", agent)]);
        let bytes = |path: &PathBuf| fs::metadata(path).expect("it was made").len();
        let (name, packed) = match plan.sent {
            Sent::Raw => ("os.img", String::new()),
            Sent::Packed => {
                let file = &images.packed_os;
                ("os.img.zst", format!("packed = {{ format = 'zstd', sha256 = '{}', bytes = {} }}\n", digest(file), bytes(file)))
            }
        };
        let user_data = repository("tools/tiny/user-data.sh").canonicalize().expect("it is in the repository");
        let role = |role: &str| format!("{role} = '{}'\n", user_data.display());
        let runtime = format!(
            "version = '{version}'\nos-name = 'Rackwright Tiny OS 1'\nkubernetes-version = 'v1.33.7'\n\
             [os-image]\nurl = 'http://127.0.0.1:{origin}/{name}'\nsha256 = '{sha256}'\nbytes = {bytes}\n{packed}\
             [boot.agent-image]\nurl = 'http://127.0.0.1:{origin}/agent.iso'\nsha256 = '{agent}'\nbytes = {agent_bytes}\n\
             [user-data-files]\n{}{}{}",
            role("control-plane"),
            role("management"),
            role("compute"),
            version = self.read("metal.toml")["cluster"]["version"].as_str().expect("a version"),
            sha256 = plan.claimed_digest.clone().unwrap_or_else(|| digest(&images.os)),
            bytes = bytes(&images.os),
            agent = digest(&images.agent),
            agent_bytes = bytes(&images.agent),
        );
        self.write("runtime.toml", &runtime);
        let file = self.path("runtime.toml");
        let imported = self.run(&["runtime", "import", file.to_str().expect("the path is text")]);
        assert!(imported.status.success(), "{}", text(&imported.stderr));
    }

    /// The same image, with nothing in its middle.
    fn damaged(&self, image: &Path) -> PathBuf {
        let mut bytes = fs::read(image).expect("it was made");
        let third = bytes.len() / 3;
        bytes[third..2 * third].fill(0);
        let damaged = self.path("damaged.iso");
        fs::write(&damaged, bytes).expect("the folder is ours");
        damaged
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        run(self.home.path(), arguments)
    }

    /// Asks for a reimage, and says by which operation it is done.
    #[track_caller]
    pub fn reimage(&self) -> String {
        let power = || self.json(&["bmm", "show", self.machine.name])["properties"]["powerState"].as_str().map(str::to_owned);
        until("the power to be seen", || power().filter(|power| !power.is_empty()));
        let asked = self.run(&["bmm", "reimage", self.machine.name, "--no-wait", "-o", "json"]);
        assert!(asked.status.success(), "{}{}", text(&asked.stdout), text(&asked.stderr));
        let answer: Value = serde_json::from_slice(&asked.stdout).expect("it is JSON");
        answer["id"].as_str().expect("an operation has an id").to_owned()
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["-o", "json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    /// An operation as the API tells it; nothing while nobody answers.
    pub fn operation(&self, id: &str) -> Value {
        let answer = self.serve.as_ref().and_then(|serve| serve.call("GET", &format!("/rackwright/v1/operations/{id}"), ""));
        answer.and_then(|(_, body)| serde_json::from_str(&body).ok()).unwrap_or_default()
    }

    /// Looks at the operation until something is so, and gives it back as it was then.
    #[track_caller]
    pub fn until(&self, id: &str, what: &str, mut is_so: impl FnMut(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let operation = self.operation(id);
            if is_so(&operation) {
                return operation;
            }
            let is_over = operation["endedAt"].is_string();
            assert!(!is_over && Instant::now() < end, "gave up waiting for {what}: {operation:#}\n{}", self.said());
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// Follows the operation to its end; says how it ended, and what it was seen waiting for on the way.
    #[track_caller]
    pub fn follow(&self, id: &str) -> (Value, Vec<String>) {
        let mut waits: Vec<String> = Vec::new();
        let ended = self.until(id, "its end", |operation| {
            let wait = operation["wait"]["brief"].as_str().unwrap_or_default();
            if waits.last().is_none_or(|last| last != wait) {
                println!("{}: {wait}", self.machine.name);
                waits.push(wait.to_owned());
            }
            operation["endedAt"].is_string()
        });
        (ended, waits)
    }

    /// What the control plane has said to whoever started it.
    pub fn said(&self) -> String {
        self.serve.as_ref().map(|serve| crate::machine::tail(&serve.said())).unwrap_or_default()
    }

    /// The node of the machine, as the undercloud's API tells it.
    pub fn node(&self) -> Value {
        let output = Command::new("kubectl")
            .args(["--kubeconfig", self.path("site1-kubeconfig.yaml").to_str().expect("the path is text")])
            .args(["get", "node", self.machine.name, "-o", "json"])
            .output()
            .expect("kubectl is there");
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }
}
