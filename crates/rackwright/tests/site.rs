//! A site file as a person uses it: checked before anything starts, kept, and changed while it is kept.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use redfish::Fingerprint;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use toml::Table;

/// Long enough for two looks at a file on a busy computer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that does not outlive the test, with what it has said so far.
struct Process {
    child: Child,
    said: Arc<Mutex<String>>,
}

impl Process {
    fn start(home: &Path, arguments: &[&str]) -> Process {
        let mut child = command(home).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let said = Arc::new(Mutex::new(String::new()));
        let (out, err) = (child.stdout.take().expect("stdout is piped"), child.stderr.take().expect("stderr is piped"));
        for stream in [Box::new(out) as Box<dyn Read + Send>, Box::new(err)] {
            let said = said.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let mut said = said.lock().expect("nobody panicked");
                    said.push_str(&line);
                    said.push('\n');
                }
            });
        }
        Process { child, said }
    }

    fn said(&self) -> String {
        self.said.lock().expect("nobody panicked").clone()
    }

    #[track_caller]
    fn until_said(&self, text: &str) {
        until(text, || self.said().contains(text).then_some(()), || self.said());
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill is there").success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn until<T>(what: &str, f: impl Fn() -> Option<T>, else_show: impl Fn() -> String) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = f() {
            return value;
        }
        assert!(Instant::now() < end, "gave up waiting for {what}:\n{}", else_show());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rackwright"));
    command.env("RACKWRIGHT_HOME", home).env("USER", "alice").env("RUST_LOG", "error,kube_client=off");
    command
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    command(home).args(arguments).output().expect("the binary starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A simulated site of twelve machines, and a copy of its files that a test may change.
struct Site {
    directory: tempfile::TempDir,
    _world: Process,
}

impl Site {
    fn start() -> Site {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let world = ["sim", "serve", "--machines-per-rack", "3", "--speed", "600"];
        let world = Process::start(directory.path(), &world);
        world.until_said("serve --config ");
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
        until("power", || self.machine(machine).filter(power), || format!("{:#?}", self.machine(machine)));
    }
}

#[test]
fn a_check_names_every_deviation_and_leaves_no_session_behind() {
    let site = Site::start();
    let well = site.check(&[]);
    assert_eq!(well.status.code(), Some(0), "{well:?}");
    assert!(text(&well.stdout).ends_with(&format!("site1: all 12 machines are as {} describes them\n", site.config())), "{well:?}");

    site.set_password("rack1compute01", "Hunter2");
    site.change_machine("rack2compute01", "bmc", "http://127.0.0.1:1");
    site.change_machine("rack3compute01", "serial-number", "OTHER");
    let bad = site.check(&[]);
    assert_eq!(bad.status.code(), Some(1), "{bad:?}");
    let (out, err) = (text(&bad.stdout), text(&bad.stderr));
    let row = |machine: &str| out.lines().find(|line| line.starts_with(machine)).unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    assert_eq!(row("rack1compute01")[2..4], ["answers", "refused"], "{out}");
    assert_eq!(row("rack2compute01")[2..4], ["unreachable", "-"], "{out}");
    assert!(row("rack3compute01").contains(&"is") && row("rack4compute01").contains(&"matches"), "{out}");
    assert!(out.contains("its serial number is ") && out.contains(", not OTHER"), "{out}");
    assert!(out.ends_with("site1: 3 problems\n") && err == "error: the site is not as its file describes it\n", "{out}{err}");
    assert!(!out.contains("Hunter2") && !err.contains("Hunter2"));

    let report: Value = serde_json::from_slice(&site.check(&["-o", "json"]).stdout).expect("it is JSON");
    assert_eq!((&report["sites"][0]["ok"], report["sites"][0]["problems"].as_array().map(Vec::len)), (&Value::Bool(false), Some(3)));

    site.change("site1.toml", |file| {
        file["cluster"].as_table_mut().expect("a table").insert("kubeconfig-context".to_owned(), "nowhere".into());
    });
    let out = text(&site.check(&[]).stdout);
    assert!(out.contains("problem: the undercloud does not answer: ") && out.contains("nowhere"), "{out}");
    site.change("site1.toml", |file| file["cluster"]["kubeconfig"] = "nowhere.yaml".into());
    let refused = site.check(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("nowhere.yaml cannot be read"), "{refused:?}");
    assert_eq!(open_sessions(&site), 0, "the looks have logged out");
}

/// Sessions that the BMC of a machine with a right login has open.
fn open_sessions(site: &Site) -> u64 {
    let (file, logins) = (site.read("site1.toml"), site.read("site1-bmc-credentials.toml"));
    let machine =
        file["machine"].as_array().and_then(|machines| machines.iter().find(|entry| entry["name"].as_str() == Some("rack4compute01")));
    let address = machine.and_then(|machine| machine["bmc"].as_str()).expect("an address");
    let login = &logins["rack4compute01"];
    let request = reqwest::Client::new()
        .get(format!("{address}/redfish/v1/SessionService/Sessions"))
        .basic_auth(login["user"].as_str().expect("a user"), login["password"].as_str());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let sessions: Value = runtime.block_on(async { request.send().await.expect("the BMC answers").json().await.expect("JSON") });
    sessions["Members@odata.count"].as_u64().expect("a count")
}

#[test]
fn a_changed_file_is_taken_over_while_its_site_is_kept() {
    let site = Site::start();
    let right = site.password("rack1compute01");
    site.set_password("rack1compute01", "Hunter2");
    let (machine, login) = site.take_out("rack4compute01");
    let serve = Process::start(site.home(), &["serve", "--config", &site.config(), "--listen", "127.0.0.1:0"]);
    serve.until_said("Rackwright keeps site1 (11 machines)");
    assert_eq!(run(site.home(), &["bmm", "show", "rack4compute01"]).status.code(), Some(3), "it is not described");

    let is_denied = |machine: &Value| machine["rackwright"]["bmcFault"].is_string() || machine["rackwright"]["bmcFault"].is_object();
    until("the refused login", || site.machine("rack1compute01").filter(is_denied), || serve.said());
    site.set_password("rack1compute01", &right);
    serve.until_said("~ machine rack1compute01: BMC password");
    site.until_power_is_seen("rack1compute01");

    site.change("site1-bmc-credentials.toml", |logins| drop(logins.insert("rack4compute01".to_owned(), login)));
    serve.until_said("[rack4compute01] is no machine of the site");
    site.change("site1.toml", |file| file["machine"].as_array_mut().expect("machines").push(machine));
    serve.until_said("+ machine rack4compute01: compute in rack4 slot 3");
    site.until_power_is_seen("rack4compute01");
    let restart = run(site.home(), &["bmm", "restart", "rack4compute01"]);
    assert_eq!(restart.status.code(), Some(0), "its node is known too: {restart:?}");
    assert!(!serve.said().contains("Hunter2") && !serve.said().contains(&right));
}

#[test]
fn a_file_that_cannot_be_used_changes_nothing() {
    let site = Site::start();
    let serve = Process::start(site.home(), &["serve", "--config", &site.config(), "--listen", "127.0.0.1:0"]);
    serve.until_said("Rackwright keeps site1 (12 machines)");
    let before = std::fs::read_to_string(site.path("site1.toml")).expect("the file is there");

    std::fs::write(site.path("site1.toml"), before.replacen("role = \"compute\"", "role = \"worker\"", 1))
        .expect("the file can be written");
    serve.until_said("`worker` is no role");
    serve.until_said("hint: `site1` is kept as it was described before");
    let refused = || text(&run(site.home(), &["status", "-o", "json", "--query", "clusters[0].siteFileRefused.problem"]).stdout);
    assert!(refused().contains("`worker` is no role"), "{}", refused());
    std::fs::write(site.path("site1.toml"), before.replacen("name = \"site1\"", "name = \"site2\"", 1)).expect("the file can be written");
    serve.signal("-HUP");
    serve.until_said("site1.toml:4: cluster `site1` cannot be renamed to `site2` while it is kept");
    std::fs::write(site.path("site1.toml"), &before).expect("the file can be written");
    let (_, login) = site.take_out("rack1control01");
    serve.until_said("site1.toml: `rack1control01` cannot be taken out: it is in the control plane");
    let machines = text(&run(site.home(), &["bmm", "list"]).stdout);
    assert_eq!(machines.lines().count(), 1 + 12, "{machines}");
    std::fs::write(site.path("site1.toml"), &before).expect("the file can be written");
    site.change("site1-bmc-credentials.toml", |logins| drop(logins.insert("rack1control01".to_owned(), login)));
    serve.until_said("site1.toml was written anew and says the same");
    assert_eq!(refused().trim(), "null", "what was wrong is mended");
    serve.signal("-HUP");
    serve.until_said("site1.toml says what it said before");
}

#[test]
fn a_machine_is_not_taken_out_while_it_is_cordoned_and_goes_by_itself_when_it_is_not() {
    let site = Site::start();
    let serve = Process::start(site.home(), &["serve", "--config", &site.config(), "--listen", "127.0.0.1:0"]);
    serve.until_said("Rackwright keeps site1 (12 machines)");
    assert_eq!(run(site.home(), &["bmm", "cordon", "rack2compute01"]).status.code(), Some(0));
    site.take_out("rack2compute01");
    serve.until_said("`rack2compute01` cannot be taken out: it is cordoned; `rackwright bmm uncordon rack2compute01` first");
    serve.until_said("hint: `site1` is kept as it was described before");
    assert!(site.machine("rack2compute01").is_some());
    assert!(!serve.said().contains("taken over"), "{}", serve.said());
    assert_eq!(run(site.home(), &["bmm", "uncordon", "rack2compute01"]).status.code(), Some(0));
    serve.until_said("1 difference was taken over:\n  - machine rack2compute01");
    assert_eq!(run(site.home(), &["bmm", "show", "rack2compute01"]).status.code(), Some(3), "it is gone when that is said");
}

#[test]
fn what_is_edited_while_nobody_keeps_the_site_is_refused_or_said_at_the_start() {
    let site = Site::start();
    let config = site.config();
    let serve = ["serve", "--config", &config, "--listen", "127.0.0.1:0"];
    let first = Process::start(site.home(), &serve);
    first.until_said("Rackwright keeps site1 (12 machines)");
    assert_eq!(run(site.home(), &["bmm", "cordon", "rack2compute01"]).status.code(), Some(0));
    drop(first);
    let before = std::fs::read_to_string(site.path("site1.toml")).expect("the file is there");
    let line = before.lines().position(|line| line.starts_with("resource-group")).expect("a group is described") + 1;
    let edited = before.replacen("resource-group = \"", "resource-group = \"other-", 1);
    std::fs::write(site.path("site1.toml"), edited).expect("the file can be written");
    let refused = run(site.home(), &serve);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(text(&refused.stderr).contains(&format!("site1.toml:{line}: the resource group cannot change")), "{refused:?}");
    std::fs::write(site.path("site1.toml"), &before).expect("the file can be written");

    site.take_out("rack2compute01");
    let second = Process::start(site.home(), &serve);
    second.until_said("site1: machine rack2compute01 is not described any more, but it is cordoned: it stays");
    second.until_said("Rackwright keeps site1 (11 machines)");
    // Until the keeper has planned for the first time, the machine is shown as it was left.
    let said = |machine: &Value| machine.to_string().contains("no longer described in the site file");
    until("it to be said", || site.machine("rack2compute01").filter(&said), || second.said());
    let refused = run(site.home(), &["bmm", "uncordon", "rack2compute01"]);
    assert!(text(&refused.stderr).contains("put it back into the site file"), "{refused:?}");
}

#[test]
fn a_bmc_of_another_site_is_refused_by_a_check_and_while_both_are_kept() {
    let site = Site::start();
    let config = site.config();
    let serve = ["serve", "--config", &config, "--listen", "127.0.0.1:0"];
    // A second site with one machine, at an address that nobody has.
    let mut second = site.read("site1.toml");
    second["cluster"]["name"] = "site2".into();
    second["cluster"]["resource-group"] = "site2".into();
    let address = second["machine"][0]["bmc"].as_str().expect("an address").replace("127.0.0.1", "localhost");
    let machine = second["machine"].as_array_mut().expect("machines");
    machine.truncate(1);
    machine[0]["bmc"] = "http://127.0.0.1:1".into();
    let name = machine[0]["name"].as_str().expect("a name").to_owned();
    let mut logins = site.read("site1-bmc-credentials.toml");
    logins.retain(|key, _| *key == name);
    second["cluster"]["bmc-credentials"] = "site2-bmc-credentials.toml".into();
    std::fs::copy(site.path("site1-bmc-credentials.toml"), site.path("site2-bmc-credentials.toml")).expect("the file can be copied");
    site.change("site2-bmc-credentials.toml", |table| *table = logins);
    let write = |table: &Table| std::fs::write(site.path("site2.toml"), table.to_string()).expect("the file can be written");
    write(&second);
    let other = site.path("site2.toml").to_str().expect("the path is text").to_owned();
    let process = Process::start(site.home(), &[&serve[..], &["--config", &other]].concat());
    process.until_said("Rackwright keeps site1 (12 machines), site2 (1 machines)");

    second["machine"][0]["bmc"] = address.clone().into();
    write(&second);
    process.until_said(&format!("BMC {address} is in two sites"));
    process.until_said("hint: `site2` is kept as it was described before");
    let checked = site.check(&["--config", &other]);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    assert!(text(&checked.stderr).contains(&format!("BMC {address} is in two sites")), "{checked:?}");
}

/// A line of TLS in front of a simulated BMC, which speaks plain http here; returns its address.
fn encrypt(runtime: &tokio::runtime::Runtime, bmc: &str, certificate: &rcgen::Certificate, key: &KeyPair) -> String {
    let bmc = bmc.strip_prefix("http://").expect("the simulator speaks http").to_owned();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key))
        .expect("the certificate and its key fit");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
    let address = format!("https://{}", listener.local_addr().expect("it listens"));
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, bmc) = (acceptor.clone(), bmc.clone());
            tokio::spawn(async move {
                // A client that does not trust us hangs up, which is what the test is about.
                let (Ok(mut near), Ok(mut far)) = (acceptor.accept(stream).await, TcpStream::connect(bmc).await) else { return };
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    address
}

#[test]
fn a_bmc_on_https_is_recognized_by_its_ca_or_by_its_fingerprint() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let site = Site::start();
    let mut params = CertificateParams::new(Vec::new()).expect("no names are fine");
    params.distinguished_name.push(DnType::CommonName, "the CA of the site");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("a CA");
    std::fs::write(site.path("ca.pem"), ca.pem()).expect("the file can be written");
    let params = || CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    let (one, two) = (KeyPair::generate().expect("a key"), KeyPair::generate().expect("a key"));
    let signed = params().signed_by(&one, &ca).expect("a certificate");
    let own = params().self_signed(&two).expect("a certificate");
    let print = Fingerprint::of(own.der()).to_string();
    for (machine, certificate, key) in [("rack1compute01", &signed, &one), ("rack2compute01", &own, &two)] {
        let file = site.read("site1.toml");
        let machines = file["machine"].as_array().expect("machines");
        let described = machines.iter().find(|entry| entry["name"].as_str() == Some(machine)).expect("the machine is described");
        let address = encrypt(&runtime, described["bmc"].as_str().expect("an address"), certificate, key);
        site.change_machine(machine, "bmc", &address);
    }
    let refused = site.check(&[]);
    assert!(text(&refused.stderr).contains("cannot be used: 2 problems"), "nothing says whom to trust: {refused:?}");

    site.change("site1.toml", |file| drop(file["cluster"].as_table_mut().expect("a table").insert("bmc-ca".to_owned(), "ca.pem".into())));
    let untrusted = site.check(&[]);
    let out = text(&untrusted.stdout);
    assert_eq!(untrusted.status.code(), Some(1), "{untrusted:?}");
    let problems: Vec<&str> = out.lines().filter(|line| line.starts_with("problem: ")).collect();
    assert!(matches!(problems[..], [one] if one.contains("`rack2compute01`") && one.contains("not signed by the CA")), "{out}");

    site.change_machine("rack2compute01", "bmc-fingerprint", &"00".repeat(32));
    let out = text(&site.check(&[]).stdout);
    assert!(out.contains("untrusted") && out.contains(&format!("its fingerprint is {print}, not 00:00:")), "{out}");
    site.change_machine("rack2compute01", "bmc-fingerprint", &print);
    let well = site.check(&[]);
    assert_eq!(well.status.code(), Some(0), "{well:?}");
}
