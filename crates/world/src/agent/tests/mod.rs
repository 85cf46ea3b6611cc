//! A machine that is installed, step by step: the test plays whoever it calls.

mod disks;
mod faults;
mod installing;
mod parts;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::fault::{FaultOrder, FaultTarget};
use crate::hardware::{
    BootEnabled, BootOverride, BootTarget, Contents, InsertedMedia, Join, MediaSlot, MediaWrites, NewVolume, RaidLevel, Setup, Swap,
};
use crate::layout::Layout;
use crate::machine::{PowerState, ResetType};
use crate::objects::{NODES, ObjectError, ObjectKey, Part, SECRETS};
use crate::pace::Pace;
use crate::persist::Record;
use crate::site::World;
use crate::time::{Instant, Span};
use crate::{FaultKind, HardwarePart, node};

const START: Instant = Instant(1_800_000_000_000);
const NAME: &str = "rack1compute01";
const DIGEST: &str = "1f2e";
const TOKEN: &str = "abcdef.0123456789abcdef";

struct Bench {
    world: World,
    machine: usize,
    now: Instant,
    saved: BTreeMap<String, Value>,
}

fn bench() -> Bench {
    let world = World::new(Layout::new("east", 4, 4, 1).unwrap(), Pace::REAL, START);
    let machine = world.layout().index_of(NAME).unwrap();
    Bench { world, machine, now: START, saved: BTreeMap::new() }
}

fn config() -> AgentConfig {
    AgentConfig {
        url: "http://control".to_owned(),
        ca: None,
        cluster: "east".to_owned(),
        machine: NAME.to_owned(),
        operation: "op1".to_owned(),
        round: 1,
        token: "agent-token".to_owned(),
    }
}

fn grant(os_disk: WantedDisk) -> Outcome {
    let image = WantedImage { url: "http://images/os.img".to_owned(), sha256: DIGEST.to_owned(), bytes: 100 };
    Outcome::Granted(Box::new(Grant { session: "session".to_owned(), image, os_disk, hostname: NAME.to_owned(), wipe: Vec::new() }))
}

fn image() -> Outcome {
    let release = Release { os_name: "Linux 9".to_owned(), kubernetes_version: "v1.32.1".to_owned() };
    Outcome::Image { bytes: 100, sha256: DIGEST.to_owned(), release: Some(release) }
}

fn seed(token: &str) -> Outcome {
    let phone_home = PhoneHome { url: "http://control/phone-home".to_owned(), token: "system-token".to_owned() };
    let join = Join { api_url: "http://kubernetes".to_owned(), token: token.to_owned() };
    Outcome::Seed(Box::new(FirstBoot { phone_home: Some(phone_home), join: Some(join), etcd: None, ca: None }))
}

fn silence() -> Outcome {
    Outcome::Silence { why: "nobody answers".to_owned() }
}

impl Bench {
    fn pass(&mut self, seconds: i64) {
        self.now = self.now + Span::seconds(seconds);
        self.world.advance(self.now);
    }

    fn fault(&mut self, kind: FaultKind, setting: Option<u32>) {
        let target = FaultTarget::Machine(self.machine);
        let order = FaultOrder { kind, target, after: Span::ZERO, lasting: None, setting };
        self.world.add_faults(&[order], self.now).unwrap();
    }

    /// Power off, the agent's image in the drive, and on again until it wants something.
    fn boot_agent(&mut self) {
        self.world.reset(self.machine, ResetType::ForceOff, self.now);
        self.pass(10);
        let media = InsertedMedia { image: "http://control/agent.iso".to_owned(), writes: MediaWrites::Protected, user: None };
        self.world.insert_media(self.machine, MediaSlot::Cd, media, self.now).unwrap();
        let boot = BootOverride { enabled: BootEnabled::Once, target: BootTarget::Cd, ..BootOverride::default() };
        self.world.set_boot_override(self.machine, boot, self.now);
        self.world.reset(self.machine, ResetType::On, self.now);
        self.pass(300);
    }

    fn boot_disk(&mut self) {
        self.world.reset(self.machine, ResetType::ForceOff, self.now);
        self.pass(10);
        self.world.eject_media(self.machine, MediaSlot::Cd, self.now);
        self.world.reset(self.machine, ResetType::On, self.now);
        self.pass(290);
    }

    /// The one question that is asked now. What is told beside is heard, and not looked at.
    fn asked(&mut self) -> Call {
        loop {
            let call = self.told_or_asked();
            if !is_told_beside(&call.errand) {
                return call;
            }
            self.world.finish_errand(call.machine, call.number, Outcome::Done, self.now);
        }
    }

    fn told_or_asked(&mut self) -> Call {
        let mut calls = self.world.take_errands();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls.remove(0)
    }

    /// What is asked now, answered.
    fn answer(&mut self, outcome: Outcome) -> String {
        let call = self.asked();
        self.world.finish_errand(call.machine, call.number, outcome, self.now);
        brief(&call.errand)
    }

    fn is_quiet(&mut self) -> bool {
        self.world.take_errands().is_empty()
    }

    fn install(&mut self, token: &str) {
        self.boot_agent();
        assert_eq!(self.answer(Outcome::Media(Box::new(config()))), "media http://control/agent.iso");
        assert_eq!(self.answer(grant(WantedDisk::default())), "exchange as rack1compute01");
        assert_eq!(self.answer(image()), "image");
        for percent in [25, 50, 75] {
            assert!(self.is_quiet());
            self.pass(60);
            assert_eq!(self.answer(Outcome::Done), format!("progress {percent}"));
        }
        self.pass(60);
        assert_eq!(self.answer(seed(token)), "seed");
        assert_eq!(self.answer(Outcome::Done), "written 1f2e");
        assert!(self.is_quiet());
    }

    fn mint(&mut self, fields: &Value) {
        let secret = json!({"metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token", "stringData": fields});
        self.world.create_object(&SECRETS, "kube-system", secret, self.now).unwrap();
    }

    fn node(&self) -> Value {
        Value::clone(self.world.objects().get(&NODES, &ObjectKey::cluster(NAME)).unwrap())
    }

    fn setup(&self) -> Setup {
        self.world.hardware(self.machine).volumes.system().unwrap().setup.clone()
    }

    fn digests(&self) -> Vec<String> {
        self.world.volume_digests(self.machine).into_iter().map(|(name, digest)| format!("{name}: {digest}")).collect()
    }

    /// Stops the simulator and goes on some hours later.
    fn reopen(&mut self) {
        self.world.mark_progress();
        for Record { key, value } in self.world.take_records() {
            match value {
                Some(value) => self.saved.insert(key, value),
                None => self.saved.remove(&key),
            };
        }
        self.now = self.now + Span::minutes(600);
        self.world = World::restore(self.world.layout().clone(), Pace::REAL, self.saved.clone(), self.now).unwrap();
    }
}

fn token_fields() -> Value {
    json!({"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true"})
}

fn is_told_beside(errand: &Errand) -> bool {
    matches!(errand, Errand::SendLog { .. } | Errand::SendInventory { .. })
}

fn brief(errand: &Errand) -> String {
    match errand {
        Errand::FetchMedia { source: BootSource::Cd { image } } => format!("media {image}"),
        Errand::FetchMedia { source } => format!("media {source:?}"),
        Errand::Exchange { machine, .. } => format!("exchange as {machine}"),
        Errand::FetchImage { is_spoiled: true, .. } => "spoiled image".to_owned(),
        Errand::FetchImage { .. } => "image".to_owned(),
        Errand::Report { report: AgentReport::Progress { percent }, .. } => format!("progress {percent}"),
        Errand::Report { report: AgentReport::Written { sha256 }, .. } => format!("written {sha256}"),
        Errand::Report { report: AgentReport::Failed { trouble, detail }, .. } => format!("failed {trouble:?}: {detail}"),
        Errand::SendInventory { found, .. } => format!("inventory of {} disks", found.disks.len()),
        Errand::SendLog { log, .. } => format!("log: {}", log.lines().last().unwrap_or_default()),
        Errand::FetchSeed { .. } => "seed".to_owned(),
        Errand::PhoneHome { home, .. } => format!("phone home to {}", home.url),
    }
}
