//! For real: the running control plane is killed with SIGKILL fifty times in the middle of two hundred restarts, on SQLite,
//! against a simulated world in a process of its own. The BMCs' own logs are the witness, and the activity log agrees.

#[path = "support/door.rs"]
mod door;
#[path = "support/environment.rs"]
mod environment;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use door::Door;
use serde_json::Value;

const KILLS: usize = 50;
const RESTARTS_PER_ROUND: usize = 4;
/// Four racks with fifty compute machines each: every restart is of another machine.
const MACHINES_PER_RACK: usize = 52;
/// Fast enough for a test, slow enough that a restart spans several kills.
const SPEED: &str = "60";
const PATIENCE: Duration = Duration::from_secs(180);

/// A process that does not outlive the test.
struct Process(Child);

impl Process {
    fn start(home: &Path, arguments: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rackwright"));
        environment::settle(&mut command);
        let child = command
            .args(arguments)
            .env("RACKWRIGHT_HOME", home)
            .env("RUST_LOG", "error,kube_client=off")
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary starts");
        Process(child)
    }

    /// SIGKILL: nothing is put away.
    fn kill(&mut self) {
        self.0.kill().expect("the process can be killed");
        self.0.wait().expect("the process is reaped");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port is free").port()
}

async fn until<T>(what: &str, mut f: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = f().await {
            return value;
        }
        assert!(Instant::now() < end, "gave up waiting for {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

struct Site {
    /// For BMCs, which are spoken to in the clear.
    client: reqwest::Client,
    home: PathBuf,
    /// `127.0.0.1:4711`.
    address: String,
    door: OnceLock<Door>,
    sim_dir: PathBuf,
}

impl Site {
    async fn get(&self, path: &str) -> Option<Value> {
        let (_, body) = self.call("GET", path, "")?;
        serde_json::from_str(&body).ok()
    }

    /// `None` while there is no server, or no answer.
    fn call(&self, method: &str, path: &str, headers: &str) -> Option<(u16, String)> {
        tokio::task::block_in_place(|| {
            if self.door.get().is_none() {
                let _ = self.door.set(Door::of(&self.home, &self.address)?);
            }
            self.door.get()?.call(method, path, headers, "")
        })
    }

    async fn until_connected(&self) {
        until("the control plane to be connected", async || {
            let status = self.get("/rackwright/v1/status").await?;
            (status["clusters"][0]["connection"] == "Connected").then_some(())
        })
        .await;
    }

    /// Asks for a restart. `None` if there was no answer: the same request is sent again later.
    async fn restart(&self, machine: &str) -> Option<String> {
        let subscription = "00000000-0000-4000-8000-000000000001";
        let path =
            format!("/subscriptions/{subscription}/resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/{machine}");
        let (path, headers) = (format!("{path}/restart?api-version=1"), format!("x-ms-client-request-id: {machine}\r\n"));
        let (status, body) = self.call("POST", &path, &headers)?;
        let body: Value = serde_json::from_str(&body).ok()?;
        assert!(status == 202 || body["error"]["code"] == "KeeperUnavailable", "{machine}: {body}");
        body["name"].as_str().map(str::to_owned)
    }

    /// What the BMC itself has written down: requests with their times, and power transitions.
    async fn witness(&self, machine: &str) -> Vec<Value> {
        let site: toml::Table = read_toml(&self.sim_dir.join("site1.toml"));
        let logins: toml::Table = read_toml(&self.sim_dir.join("site1-bmc-credentials.toml"));
        let machines = site["machine"].as_array().expect("a site has machines");
        let described = machines.iter().find(|entry| entry["name"].as_str() == Some(machine)).expect("the machine is described");
        let (origin, login) = (described["bmc"].as_str().expect("an address"), &logins[machine]);
        let get = async |path: &str| -> Value {
            let request = self.client.get(format!("{origin}{path}"));
            let request = request.basic_auth(login["user"].as_str().expect("a user"), login["password"].as_str());
            request.send().await.expect("the BMC answers").json().await.expect("Redfish answers JSON")
        };
        let member = |collection: &Value| collection["Members"][0]["@odata.id"].as_str().expect("a member").to_owned();
        let manager = member(&get("/redfish/v1/Managers").await);
        let service = member(&get(&format!("{manager}/LogServices")).await);
        let entries = get(&format!("{service}/Entries")).await;
        entries["Members"].as_array().expect("a log has entries").clone()
    }
}

fn read_toml(path: &Path) -> toml::Table {
    std::fs::read_to_string(path).expect("the file is there").parse().expect("the file is TOML")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_kills_in_the_middle_of_two_hundred_restarts_lose_and_double_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let (sim_dir, control_dir) = (home.join("sim"), home.join("control"));
    let text = |path: &Path| path.to_str().expect("the path is text").to_owned();
    let per_rack = MACHINES_PER_RACK.to_string();
    let (sim_path, control_path, site_path) = (text(&sim_dir), text(&control_dir), text(&sim_dir.join("site1.toml")));
    let _world = Process::start(home, &["sim", "serve", "--data-dir", &sim_path, "--machines-per-rack", &per_rack, "--speed", SPEED]);
    until("the simulated site", async || sim_dir.join("site1.toml").exists().then_some(())).await;

    let listen = format!("127.0.0.1:{}", free_port());
    let serve = ["serve", "--config", &site_path, "--data-dir", &control_path, "--listen", &listen];
    rustls::crypto::ring::default_provider().install_default().expect("nobody else has installed one");
    let client = reqwest::Client::builder().timeout(Duration::from_secs(10)).build().expect("a client");
    let site = Site { client, home: home.to_owned(), address: listen.clone(), door: OnceLock::new(), sim_dir };
    let machines: Vec<String> =
        (1..=4).flat_map(|rack| (1..=MACHINES_PER_RACK - 2).map(move |n| format!("rack{rack}compute{n:02}"))).collect();
    assert_eq!(machines.len(), KILLS * RESTARTS_PER_ROUND);

    let mut operations: BTreeMap<String, String> = BTreeMap::new();
    let mut kills: Vec<String> = Vec::new();
    for round in 0..=KILLS {
        let mut plane = Process::start(home, &serve);
        site.until_connected().await;
        // This round's machines, and whoever got no answer before.
        for machine in machines.iter().take((round + 1) * RESTARTS_PER_ROUND) {
            if !operations.contains_key(machine)
                && let Some(id) = site.restart(machine).await
            {
                operations.insert(machine.clone(), id);
            }
        }
        if round == KILLS {
            finish_and_judge(&site, &operations, &kills).await;
            return;
        }
        // Uneven on purpose, so that kills fall into every part of a restart.
        tokio::time::sleep(Duration::from_millis(50 + (round as u64 * 137) % 700)).await;
        let status = site.get("/rackwright/v1/status").await.expect("the control plane answers");
        kills.push(status["at"].as_str().expect("a time").to_owned());
        plane.kill();
    }
}

async fn finish_and_judge(site: &Site, operations: &BTreeMap<String, String>, kills: &[String]) {
    assert_eq!(operations.len(), KILLS * RESTARTS_PER_ROUND, "every restart was accepted");
    let all = until("every restart to end", async || {
        let all = site.get("/rackwright/v1/operations").await?["value"].as_array()?.clone();
        all.iter().all(|operation| operation["status"] != "InProgress").then_some(all)
    })
    .await;
    assert_eq!(all.len(), operations.len(), "every restart is one operation");
    let mut interrupted = 0;
    for operation in &all {
        assert_eq!(operation["status"], "Succeeded", "{operation:#}");
        let machine = operation["machine"].as_str().expect("a machine");
        assert_eq!(operation["id"].as_str(), operations.get(machine).map(String::as_str));
        let span = operation["acceptedAt"].as_str().expect("a time")..=operation["endedAt"].as_str().expect("a time");
        let crashes = kills.iter().filter(|kill| span.contains(&kill.as_str())).count();
        interrupted += usize::from(crashes > 0);
        judge_witness(machine, &site.witness(machine).await, crashes);
    }
    judge_log(site, operations).await;
    assert!(interrupted >= 100, "only {interrupted} restarts were interrupted: the test tests too little");
}

/// The activity log, written with each commit, has every end once, however often the writer was killed.
async fn judge_log(site: &Site, operations: &BTreeMap<String, String>) {
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let path = "/subscriptions/00000000-0000-4000-8000-000000000001/providers/Microsoft.Insights/eventtypes/management/values";
    let mut next = format!("{path}?api-version=1&$top=1000&$filter=caller%20eq%20'administrator'%20and%20status%20eq%20'Succeeded'");
    loop {
        let page = site.get(&next).await.expect("the log is read");
        for event in page["value"].as_array().expect("a page has entries") {
            *ends.entry(event["operationId"].as_str().expect("an id").to_owned()).or_default() += 1;
        }
        let Some(link) = page["nextLink"].as_str() else { break };
        next = link.strip_prefix("https://localhost").expect("a link leads back").to_owned();
    }
    let expected: BTreeMap<String, usize> = operations.values().map(|id| (id.clone(), 1)).collect();
    assert_eq!(ends, expected);
}

/// Exactly one power cycle, and at most one repeated request per crash.
fn judge_witness(machine: &str, log: &[Value], crashes: usize) {
    let count = |id: &str| log.iter().filter(|entry| entry["MessageId"].as_str().is_some_and(|message| message.ends_with(id))).count();
    assert_eq!((count("PoweredOff"), count("PoweredOn")), (1, 1), "{machine}: {log:#?}");
    let needed = 2;
    let repeated = count("ResetRequested") - needed;
    assert!(repeated <= crashes, "{machine}: {repeated} repeated requests for {crashes} crashes: {log:#?}");
}
