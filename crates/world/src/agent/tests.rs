//! A machine that is installed, step by step: the test plays whoever it calls.

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
    Outcome::Granted(Box::new(Grant { session: "session".to_owned(), image, os_disk, hostname: NAME.to_owned() }))
}

fn image() -> Outcome {
    let release = Release { os_name: "Linux 9".to_owned(), kubernetes_version: "v1.32.1".to_owned() };
    Outcome::Image { bytes: 100, sha256: DIGEST.to_owned(), release: Some(release) }
}

fn seed(token: &str) -> Outcome {
    let phone_home = PhoneHome { url: "http://control/phone-home".to_owned(), token: "system-token".to_owned() };
    let join = Join { api_url: "http://kubernetes".to_owned(), token: token.to_owned() };
    Outcome::Seed(FirstBoot { phone_home: Some(phone_home), join: Some(join), ca: None })
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

    /// The one question that is asked now.
    fn asked(&mut self) -> Call {
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
        Errand::FetchSeed { .. } => "seed".to_owned(),
        Errand::PhoneHome { home, .. } => format!("phone home to {}", home.url),
    }
}

#[test]
fn an_installed_machine_takes_up_its_node_again_and_its_tenants_data_is_as_before() {
    let mut bench = bench();
    bench
        .world
        .modify_object(&NODES, &ObjectKey::cluster(NAME), Part::Main, START, |node: &Value| {
            let mut node = node.clone();
            node["spec"]["unschedulable"] = json!(true);
            node["metadata"]["labels"]["mine"] = json!("kept");
            Ok::<_, ObjectError>(node)
        })
        .unwrap();
    let (before, data) = (bench.node(), bench.digests());
    bench.install(TOKEN);
    assert_eq!(node::ready_status(&bench.node()), Some("Unknown"), "no kubelet runs beside the agent");
    assert!(!bench.world.is_host_up(bench.machine));
    bench.mint(&token_fields());
    bench.boot_disk();
    assert!(bench.world.is_host_up(bench.machine) && bench.is_quiet());
    bench.pass(60);
    assert_eq!(bench.answer(Outcome::Done), "phone home to http://control/phone-home");
    assert_eq!(bench.setup(), Setup::Joined);
    let node = bench.node();
    assert_eq!(node::ready_status(&node), Some("True"));
    assert_eq!((&node["spec"]["unschedulable"], &node["metadata"]["labels"]["mine"]), (&json!(true), &json!("kept")));
    assert_eq!(node["metadata"]["uid"], before["metadata"]["uid"]);
    let info = &node["status"]["nodeInfo"];
    assert_eq!((&info["osImage"], &info["kubeletVersion"]), (&json!("Linux 9"), &json!("v1.32.1")));
    assert_ne!(info["bootID"], before["status"]["nodeInfo"]["bootID"]);
    assert_eq!(bench.digests()[0], "OS: system 1f2e");
    assert_eq!(bench.digests()[1..], data[1..]);
    assert!(data[1].starts_with("Data1: data "), "{data:?}");

    // The next boot is like any other, and nothing is configured twice.
    bench.world.reset(bench.machine, ResetType::ForceRestart, bench.now);
    bench.pass(300);
    assert_eq!(node::ready_status(&bench.node()), Some("True"));
    assert!(bench.is_quiet());
}

#[test]
fn whoever_is_turned_away_by_the_cluster_stays_outside() {
    let expired = json!({"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
        "expiration": START.to_seconds_text()});
    let other = json!({"token-id": "abcdef", "token-secret": "fedcba9876543210", "usage-bootstrap-authentication": "true"});
    let unfit = json!({"token-id": "abcdef", "token-secret": "0123456789abcdef"});
    let cases = [
        (None, "there is no secret kube-system/bootstrap-token-abcdef"),
        (Some(expired), "kube-system/bootstrap-token-abcdef expired at 2027-01-15T08:00:00Z"),
        (Some(other), "the bootstrap token is not that of kube-system/bootstrap-token-abcdef"),
        (Some(unfit), "kube-system/bootstrap-token-abcdef is not for authentication"),
    ];
    for (fields, why) in cases {
        let mut bench = bench();
        bench.install(TOKEN);
        if let Some(fields) = fields {
            bench.mint(&fields);
        }
        bench.boot_disk();
        bench.pass(60);
        bench.answer(Outcome::Done);
        assert_eq!(bench.setup(), Setup::Outside { why: why.to_owned() });
        bench.pass(3_600);
        assert_eq!(node::ready_status(&bench.node()), Some("Unknown"));
        bench.world.reset(bench.machine, ResetType::ForceRestart, bench.now);
        bench.pass(3_600);
        assert_eq!(node::ready_status(&bench.node()), Some("Unknown"), "not after another boot either");
    }
}

#[test]
fn a_simulator_that_was_stopped_goes_on_with_every_step_of_an_installation() {
    let mut bench = bench();
    bench.boot_agent();
    bench.reopen();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.reopen();
    assert_eq!(bench.answer(grant(WantedDisk::default())), "exchange as rack1compute01");
    bench.reopen();
    assert_eq!(bench.answer(image()), "image");
    bench.reopen();
    assert!(bench.is_quiet(), "the disk is written no faster than before");
    bench.pass(60);
    assert_eq!(bench.answer(Outcome::Done), "progress 25");
    bench.pass(60);
    bench.reopen();
    assert_eq!(bench.answer(Outcome::Done), "progress 50");
    bench.pass(60);
    bench.answer(Outcome::Done);
    bench.pass(60);
    bench.reopen();
    assert_eq!(bench.answer(seed(TOKEN)), "seed");
    bench.reopen();
    assert_eq!(bench.answer(Outcome::Done), "written 1f2e");
    bench.reopen();
    assert!(bench.is_quiet());
    bench.mint(&token_fields());
    bench.boot_disk();
    bench.reopen();
    bench.pass(60);
    bench.reopen();
    bench.answer(Outcome::Done);
    assert_eq!(bench.setup(), Setup::Joined);
    bench.reopen();
    assert_eq!(bench.node()["status"]["nodeInfo"]["osImage"], "Linux 9");
}

#[test]
fn what_cannot_be_fetched_is_passed_over_for_the_old_system() {
    for outcome in [silence(), Outcome::Refused { status: 404 }] {
        let mut bench = bench();
        bench.boot_agent();
        bench.answer(outcome);
        bench.pass(300);
        assert!(bench.world.is_host_up(bench.machine));
        assert_eq!(node::ready_status(&bench.node()), Some("True"));
        assert_eq!(bench.digests()[0], "OS: system as delivered");
        assert!(bench.is_quiet());
    }
}

#[test]
fn a_machine_without_power_hears_no_answer_and_a_half_written_disk_starts_nothing() {
    let mut bench = bench();
    bench.boot_agent();
    let call = bench.asked();
    bench.world.reset(bench.machine, ResetType::ForceOff, bench.now);
    bench.pass(10);
    bench.world.finish_errand(call.machine, call.number, Outcome::Media(Box::new(config())), bench.now);
    assert_eq!(bench.world.power_state(bench.machine), PowerState::Off);
    assert!(bench.is_quiet());

    bench.world.set_boot_override(
        bench.machine,
        BootOverride { enabled: BootEnabled::Once, target: BootTarget::Cd, ..BootOverride::default() },
        bench.now,
    );
    bench.world.reset(bench.machine, ResetType::On, bench.now);
    bench.pass(300);
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(grant(WantedDisk::default()));
    bench.answer(image());
    bench.pass(30);
    bench.boot_disk();
    bench.pass(3_600);
    assert!(!bench.world.is_host_up(bench.machine));
    assert_eq!(bench.digests()[0], "OS: nothing");
}

#[test]
fn an_override_that_holds_once_is_used_up_and_one_that_stays_starts_the_agent_again() {
    let mut bench = bench();
    bench.boot_agent();
    bench.asked();
    bench.world.reset(bench.machine, ResetType::ForceRestart, bench.now);
    bench.pass(300);
    assert!(bench.is_quiet() && bench.world.is_host_up(bench.machine));
    let boot = BootOverride { enabled: BootEnabled::Continuous, target: BootTarget::Pxe, ..BootOverride::default() };
    bench.world.set_boot_override(bench.machine, boot, bench.now);
    for _ in 0..2 {
        bench.world.reset(bench.machine, ResetType::ForceRestart, bench.now);
        bench.pass(300);
        assert_eq!(brief(&bench.asked().errand), "media Pxe");
    }
}

#[test]
fn a_disk_is_found_by_what_it_is_called_and_never_guessed() {
    let bench = bench();
    let inventory = bench.world.inventory(bench.machine);
    let volumes: Vec<_> = bench.world.hardware(bench.machine).volumes.iter().cloned().collect();
    let wanted = [
        (WantedDisk { volume: Some("OS".to_owned()), ..WantedDisk::default() }, "image"),
        (WantedDisk { wwn: Some(volumes[0].wwn(&inventory).to_uppercase()), ..WantedDisk::default() }, "image"),
        (WantedDisk { serial: Some(inventory.drives[1].serial_number.clone()), ..WantedDisk::default() }, "image"),
        (WantedDisk { volume: Some("Data9".to_owned()), ..WantedDisk::default() }, "failed MissingDisk: no disk has volume Data9"),
    ];
    for (disk, next) in wanted {
        let mut bench = self::bench();
        bench.boot_agent();
        bench.answer(Outcome::Media(Box::new(config())));
        bench.answer(grant(disk));
        assert_eq!(brief(&bench.asked().errand), next);
    }
}

#[test]
fn tenants_data_is_no_disk_to_install_on() {
    let mut bench = bench();
    let data = bench.digests()[1..].to_vec();
    bench.world.delete_volume(bench.machine, 1, bench.now).unwrap();
    bench.pass(120);
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(grant(WantedDisk::default()));
    assert_eq!(bench.answer(Outcome::Done), "failed MissingDisk: the controller shows no volume for it");
    assert_eq!(bench.digests(), data);
}

#[test]
fn bare_drives_are_no_disk_and_a_new_volume_is_an_empty_one() {
    let mut bench = bench();
    bench.world.reset_storage(bench.machine, bench.now).unwrap();
    bench.pass(120);
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(grant(WantedDisk::default()));
    assert_eq!(bench.answer(Outcome::Done), "failed MissingDisk: the controller shows no volume for it");
    let wanted = NewVolume { name: "OS".to_owned(), level: RaidLevel::Raid1, bays: vec![0, 1] };
    bench.world.create_volume(bench.machine, wanted, bench.now).unwrap();
    bench.pass(120);
    assert_eq!(bench.digests(), ["OS: nothing"]);
}

#[test]
fn an_agent_asks_again_where_nobody_answers_and_gives_up_on_an_image_that_never_comes() {
    let mut bench = bench();
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(silence());
    assert!(bench.is_quiet());
    bench.pass(10);
    bench.answer(grant(WantedDisk::default()));
    for _ in 0..3 {
        assert_eq!(bench.answer(silence()), "image");
        bench.pass(10);
    }
    assert_eq!(bench.answer(Outcome::Done), "failed ImageUnreachable: http://images/os.img: nobody answers");
    bench.pass(3_600);
    assert!(bench.is_quiet());
    assert_eq!(bench.digests()[0], "OS: system as delivered", "nothing was written");
}

#[test]
fn an_agent_whose_attempt_is_over_does_nothing_more() {
    let mut bench = bench();
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(Outcome::Refused { status: 409 });
    bench.pass(3_600);
    assert!(bench.is_quiet());
}

#[test]
fn each_fault_of_an_installation_is_met_where_it_strikes() {
    let cases: [(FaultKind, &[&str]); 7] = [
        (FaultKind::BootsOldDisk, &[]),
        (FaultKind::AgentNeverCalls, &["media"]),
        (FaultKind::DiskMissing, &["media", "exchange as rack1compute01", "failed MissingDisk: the controller shows no volume for it"]),
        (FaultKind::ImageWrong, &["media", "exchange as rack1compute01", "spoiled image"]),
        (
            FaultKind::ImageUnreachable,
            &["media", "exchange as rack1compute01", "failed ImageUnreachable: http://images/os.img: no route to host"],
        ),
        (FaultKind::TokenUsedTwice, &["media", "exchange as rack1compute01", "exchange as rack1compute01", "image"]),
        (FaultKind::TokenStolen, &["media", "exchange as rack1compute02", "exchange as rack1compute01", "image"]),
    ];
    for (kind, expected) in cases {
        let mut bench = bench();
        bench.fault(kind, None);
        bench.boot_agent();
        let mut asked = Vec::new();
        for _ in 0..12 {
            for call in bench.world.take_errands() {
                let outcome = match &call.errand {
                    Errand::FetchMedia { .. } => Outcome::Media(Box::new(config())),
                    Errand::Exchange { machine, .. } if machine != NAME => Outcome::Refused { status: 401 },
                    Errand::Exchange { .. } => grant(WantedDisk::default()),
                    _ => Outcome::Refused { status: 404 },
                };
                asked.push(brief(&call.errand).replace("media http://control/agent.iso", "media"));
                bench.world.finish_errand(call.machine, call.number, outcome, bench.now);
            }
            bench.pass(5);
        }
        asked.dedup_by(|a, b| a == b && a.ends_with("image"));
        asked.retain(|text| !text.starts_with("failed ImageUnreachable: http://images/os.img: it answers"));
        assert_eq!(asked, expected, "{kind}");
    }
}

#[test]
fn other_bytes_than_the_images_are_told_and_leave_nothing_to_start() {
    let mut bench = bench();
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(grant(WantedDisk::default()));
    bench.answer(Outcome::Image { bytes: 100, sha256: "beef".to_owned(), release: None });
    let told = bench.answer(Outcome::Done);
    assert_eq!(told, "failed WrongDigest: http://images/os.img: 100 bytes with sha256 1f2e were expected, and 100 with beef came");
    assert_eq!(bench.digests()[0], "OS: nothing");
}

#[test]
fn a_system_that_never_phones_home_does_so_when_the_fault_has_gone() {
    let mut bench = bench();
    bench.install(TOKEN);
    bench.mint(&token_fields());
    bench.fault(FaultKind::NeverPhonesHome, None);
    bench.boot_disk();
    bench.pass(3_600);
    assert!(bench.is_quiet());
    assert_eq!(node::ready_status(&bench.node()), Some("Unknown"));
    let ids: Vec<_> = bench.world.faults().iter().map(|fault| fault.id).collect();
    bench.world.clear_faults(&ids, bench.now);
    bench.pass(10);
    assert_eq!(bench.answer(Outcome::Refused { status: 404 }), "phone home to http://control/phone-home");
    assert_eq!(bench.setup(), Setup::Joined, "who is sent away at home still joins");
}

#[test]
fn a_deletion_of_volumes_fails_as_often_as_it_is_told_to() {
    let mut bench = bench();
    bench.fault(FaultKind::RaidDeletionFails, Some(2));
    let before = bench.digests();
    for _ in 0..2 {
        bench.world.reset_storage(bench.machine, bench.now).unwrap();
        bench.pass(120);
        assert_eq!(bench.digests(), before);
        bench.reopen();
    }
    assert!(bench.world.faults().is_empty());
    bench.world.reset_storage(bench.machine, bench.now).unwrap();
    bench.pass(120);
    assert!(bench.digests().is_empty());
}

#[test]
fn a_stuck_firmware_job_stays_until_its_fault_ends() {
    let mut bench = bench();
    bench.fault(FaultKind::FirmwareJobStuck, None);
    let running = |bench: &Bench| bench.world.hardware(bench.machine).tasks.iter().filter(|task| task.is_running()).count();
    bench.pass(86_400);
    bench.reopen();
    assert_eq!(running(&bench), 1);
    assert!(bench.world.update_firmware(bench.machine, "bios-2.bin", None, crate::AfterRestart::Remembered, bench.now).is_err());
    let ids: Vec<_> = bench.world.faults().iter().map(|fault| fault.id).collect();
    bench.world.clear_faults(&ids, bench.now);
    assert_eq!(running(&bench), 0);
}

#[test]
fn parts_that_are_not_there_are_not_told_of() {
    let mut bench = bench();
    for (kind, setting) in [(FaultKind::MemoryMissing, 4), (FaultKind::NicMissing, 3), (FaultKind::DriveMissing, 5)] {
        bench.fault(kind, Some(setting));
    }
    let inventory = bench.world.inventory(bench.machine);
    assert_eq!((inventory.dimms.len(), bench.world.memory_gib(bench.machine)), (12, 384));
    assert_eq!(inventory.nics.iter().map(|nic| nic.port).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!(inventory.drives.iter().map(|drive| drive.bay).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_swap_cuts_the_power_and_only_the_new_part_is_another() {
    let mut bench = bench();
    let (before, parts) = (bench.world.identity(bench.machine), bench.world.inventory(bench.machine));
    let swap = Swap { parts: vec![HardwarePart::SystemBoard], bmc_password: Some("new-password".to_owned()), ..Swap::default() };
    let after = bench.world.swap(bench.machine, &swap, bench.now).unwrap();
    assert_eq!(bench.world.power_state(bench.machine), PowerState::Off);
    assert_ne!((&before.serial_number, &before.bmc_mac), (&after.serial_number, &after.bmc_mac));
    assert_eq!(before.boot_mac, after.boot_mac);
    assert_eq!(parts, bench.world.inventory(bench.machine));
    assert!(bench.digests()[0].starts_with("OS: system"));
    let user = &bench.world.layout().machines()[bench.machine].bmc_user;
    assert!(bench.world.hardware(bench.machine).accounts.log_in(user, "new-password").is_some());

    let swap = Swap { parts: vec![HardwarePart::Drives, HardwarePart::Nic], ..Swap::default() };
    bench.world.swap(bench.machine, &swap, bench.now).unwrap();
    bench.reopen();
    let new = bench.world.inventory(bench.machine);
    assert!(bench.digests().is_empty());
    assert!(parts.drives.iter().zip(&new.drives).all(|(old, new)| old.serial_number != new.serial_number && old.wwn != new.wwn));
    assert!(parts.nics.iter().zip(&new.nics).all(|(old, new)| old.mac != new.mac));
    assert_eq!(parts.dimms, new.dimms);
}

#[test]
fn a_swap_that_makes_no_sense_changes_nothing() {
    let mut bench = bench();
    let before = bench.world.identity(bench.machine);
    let text = |text: &str| Some(text.to_owned());
    let cases = [
        (Swap::default(), "nothing is exchanged"),
        (Swap { serial_number: text(""), ..Swap::default() }, "a serial number"),
        (Swap { serial_number: text("A B"), ..Swap::default() }, "a serial number"),
        (Swap { bmc_mac: text("02:00"), ..Swap::default() }, "`bmc-mac`"),
        (Swap { boot_mac: text("02:00:00:00:00:0g"), ..Swap::default() }, "`boot-mac`"),
        (Swap { bmc_password: text("short"), ..Swap::default() }, "a password"),
    ];
    for (swap, why) in cases {
        let refusal = bench.world.swap(bench.machine, &swap, bench.now).unwrap_err().to_string();
        assert!(refusal.starts_with(why), "{refusal}");
    }
    assert_eq!(bench.world.identity(bench.machine), before);
    assert_eq!(bench.world.power_state(bench.machine), PowerState::On);
}

#[test]
fn nothing_that_a_machine_knows_shows_its_tokens() {
    let mut bench = bench();
    bench.install(TOKEN);
    let shown = format!("{:?} {:?}", bench.world.states[bench.machine], bench.world.hardware(bench.machine).volumes);
    for secret in ["agent-token", "system-token", TOKEN, "\"session\""] {
        assert!(!shown.contains(secret), "{secret}");
    }
    assert!(matches!(bench.world.hardware(bench.machine).volumes.iter().next().unwrap().contents, Contents::System(_)));
}
