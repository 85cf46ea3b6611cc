//! A running server, with what it has said, and clients for it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::door::Door;
use crate::environment;

/// Long enough for a busy computer.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The path of a machine's resource on a simulated site.
pub const MACHINES: &str =
    "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines";

/// A process that does not outlive the test.
pub struct Server {
    child: Child,
    out: Arc<Mutex<String>>,
    err: Arc<Mutex<String>>,
    home: PathBuf,
    /// `127.0.0.1:4711`.
    pub address: String,
    door: OnceLock<Door>,
}

pub fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rackwright"));
    environment::settle(&mut command);
    command.env("RACKWRIGHT_HOME", home);
    command
}

pub fn run(home: &Path, arguments: &[&str]) -> Output {
    command(home).args(arguments).output().expect("the binary starts")
}

/// Runs a line of words without quotes.
pub fn run_line(home: &Path, line: &str) -> Output {
    run(home, &line.split_whitespace().collect::<Vec<_>>())
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Asks again and again until there is an answer.
#[track_caller]
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let mut answer = None;
    let is_answered = || {
        answer = ask();
        answer.is_some()
    };
    assert!(within_patience(is_answered), "gave up waiting for {what}");
    answer.expect("it was awaited")
}

fn within_patience(mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Server {
    /// A small simulated site and its control plane.
    pub fn up(home: &Path, arguments: &[&str]) -> Server {
        Server::up_at(home, "600", arguments)
    }

    /// The same at another speed.
    pub fn up_at(home: &Path, speed: &str, arguments: &[&str]) -> Server {
        let mut command = command(home);
        command.args(["up", "--listen", "127.0.0.1:0", "--speed", speed, "--racks", "4", "--machines-per-rack", "3"]).args(arguments);
        Server::start(command)
    }

    /// Starts any server of ours, and waits until it has told its address, if it has one.
    pub fn start(mut command: Command) -> Server {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let out = collect(child.stdout.take().expect("stdout is piped"));
        let err = collect(child.stderr.take().expect("stderr is piped"));
        let home = command.get_envs().find(|(name, _)| *name == "RACKWRIGHT_HOME").and_then(|(_, home)| home);
        let home = PathBuf::from(home.expect("a server of a test has a home"));
        let mut server = Server { child, out, err, home, address: String::new(), door: OnceLock::new() };
        server.address = until("the server's address", || {
            let said = server.out();
            let api = said.split("https://").nth(1).and_then(|rest| rest.split_whitespace().next()).map(str::to_owned);
            let is_complete = said.contains("Ctrl-C stops it") || said.contains("  Files ");
            assert!(server.child.try_wait().expect("the process is ours").is_none(), "it ended early: {said}{}", server.err());
            api.filter(|_| is_complete).or_else(|| said.contains("A control plane for them").then(String::new))
        });
        server
    }

    pub fn out(&self) -> String {
        self.out.lock().expect("nobody panicked").clone()
    }

    pub fn err(&self) -> String {
        self.err.lock().expect("nobody panicked").clone()
    }

    /// Everything it has said, to whomever.
    pub fn said(&self) -> String {
        self.out() + &self.err()
    }

    #[track_caller]
    pub fn until_said(&self, text: &str) {
        let is_said = || self.said().contains(text);
        assert!(within_patience(is_said), "gave up waiting for `{text}` in:\n{}", self.said());
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill is there").success());
    }

    /// SIGTERM, and the exit code that follows it.
    pub fn stop(mut self) -> Option<i32> {
        self.signal("-TERM");
        self.ended()
    }

    /// Ctrl-C, and the exit code that follows it.
    pub fn interrupt(mut self) -> Option<i32> {
        self.signal("-INT");
        self.ended()
    }

    pub fn ended(&mut self) -> Option<i32> {
        until("the server to end", || self.child.try_wait().expect("the process is ours")).code()
    }

    /// The status and the body of an answer; `None` if there is none.
    pub fn call(&self, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
        self.door().call(method, path, "", body)
    }

    /// How to come in.
    pub fn door(&self) -> &Door {
        self.door.get_or_init(|| Door::of(&self.home, &self.address).expect("a context tells of the server"))
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        self.call("GET", path, "").expect("the server answers")
    }

    pub fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.get(path).1).expect("the answer is JSON")
    }

    pub fn until_ready(&self) {
        until("readiness", || self.call("GET", "/readyz", "").filter(|(status, _)| *status == 200));
    }
}

fn collect(stream: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let said = Arc::new(Mutex::new(String::new()));
    let heard = said.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut heard = heard.lock().expect("nobody panicked");
            heard.push_str(&line);
            heard.push('\n');
        }
    });
    said
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
