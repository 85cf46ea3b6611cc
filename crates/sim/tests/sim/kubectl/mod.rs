//! kubectl, which others wrote, against the site: Debian's 1.20, and whichever the machine has.

mod nodes;
mod objects;
mod pods;
mod tenants;

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use sim::{Pace, Site};
use store::{MemoryStore, SharedStore, SystemClock};
use tokio_util::sync::CancellationToken;

use crate::harness::spec;
use crate::peers::peer;

/// A site that is served, and a person with one kubectl in front of it.
pub struct Desk {
    program: PathBuf,
    home: tempfile::TempDir,
}

/// What a command printed.
pub struct Printed {
    pub out: String,
    pub err: String,
}

/// Debian's kubectl, and another one if there is one on the path.
fn clients() -> Vec<PathBuf> {
    let mut clients = vec![peer("kubectl-1.20/usr/bin/kubectl")];
    let is_another = Command::new("kubectl").args(["version", "--client"]).output().is_ok_and(|found| found.status.success());
    if is_another {
        clients.push(PathBuf::from("kubectl"));
    }
    clients
}

/// Tells the story once for each kubectl, each time with a site of its own. Hardware and pods take no time.
pub async fn with_each_client(story: impl AsyncFn(&Desk)) {
    let clients = tokio::task::spawn_blocking(clients).await.unwrap();
    for program in clients {
        let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
        let site = Site::open(spec().with_pace(Pace::instant()), store, Arc::new(SystemClock)).await.unwrap();
        let endpoints = site.listen(IpAddr::V4(Ipv4Addr::LOCALHOST)).await.unwrap();
        let shutdown = CancellationToken::new();
        let (running, until) = (site.clone(), shutdown.clone());
        let task = tokio::spawn(async move { running.run(until).await.unwrap() });
        let desk = Desk { program, home: tempfile::tempdir().unwrap() };
        std::fs::write(desk.kubeconfig(), site.kubeconfig(&endpoints)).unwrap();
        story(&desk).await;
        shutdown.cancel();
        task.await.unwrap();
    }
}

impl Desk {
    fn kubeconfig(&self) -> PathBuf {
        self.home.path().join("kubeconfig")
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--kubeconfig").arg(self.kubeconfig()).args(arguments.split(' '));
        command.env("HOME", self.home.path()).current_dir(self.home.path()).stdin(Stdio::null());
        command
    }

    async fn run(&self, arguments: &str) -> (bool, Printed) {
        let mut command = self.command(arguments);
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().expect("kubectl starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), Printed { out: text(&output.stdout), err: text(&output.stderr) })
    }

    /// What a command prints that must succeed.
    pub async fn ok(&self, arguments: &str) -> String {
        let (succeeded, printed) = self.run(arguments).await;
        assert!(succeeded, "{} {arguments}\n{}{}", self.program.display(), printed.out, printed.err);
        printed.out
    }

    /// What a command prints that must fail.
    pub async fn fails(&self, arguments: &str) -> Printed {
        let (succeeded, printed) = self.run(arguments).await;
        assert!(!succeeded, "{} {arguments}\n{}{}", self.program.display(), printed.out, printed.err);
        printed
    }

    /// A command that goes on until it is killed.
    pub fn begin(&self, arguments: &str) -> Child {
        self.command(arguments).stdout(Stdio::piped()).spawn().unwrap()
    }

    /// A file beside the kubeconfig, where commands run.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.home.path().join(name), text).unwrap();
    }
}

/// The words of the line that starts with `name`.
pub fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let line = table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in\n{table}"));
    line.split_whitespace().collect()
}
