//! The control plane dies at the commits of a reimage and of a replace, each at a machine of one role, before the commit is durable or
//! after it, and starts again: the machine is installed the same, once, and nothing else was written.
//!
//! Each ring is played on one site, again and again, each time with the death a few commits later: the machine is installed,
//! uncordoned, and is then where it began.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use scenarios::{House, Moment, Mortal, etcd_of, machine_path, tenancy_of};
use serde_json::{Value, json};
use sim::{Pace, Swap};
use tokio::sync::Notify;

/// Hardware this fast is installed within a minute or two, so that there is time to die everywhere. It boots for longer than we
/// are away: a firmware that fetches its image meanwhile goes on to the disk.
const SPEED: f64 = 20.0;

/// Enough for a node that was uncordoned to be told so, for a virtual machine to start, and for a BMC.
const TO_SETTLE: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Reimage,
    /// Another board, with another login, and the volumes as they were.
    Preserve,
    /// The same, and every volume goes.
    DiscardAll,
}

struct Ring {
    kind: Kind,
    machine: &'static str,
    racks: u32,
    per_rack: u32,
    tenants: &'static str,
}

const COMPUTE: Ring =
    Ring { kind: Kind::Reimage, machine: "rack1compute01", racks: 1, per_rack: 4, tenants: "vm web1 on rack1compute01 2cpu 4g" };
const CONTROL_PLANE: Ring = Ring { kind: Kind::Reimage, machine: "rack1control02", racks: 1, per_rack: 4, tenants: "" };
const MANAGEMENT: Ring = Ring { kind: Kind::Reimage, machine: "rack1control02", racks: 2, per_rack: 3, tenants: "" };

/// What must be the same whether or not there was a crash.
#[derive(Clone, Debug, PartialEq)]
struct Ending {
    operation: String,
    machine: String,
    holds: String,
    volumes: Vec<(String, String)>,
    voters: Vec<String>,
    identity: String,
    power_cycles: (u64, u64),
    vms: String,
}

/// Heartbeats are as rare as ever: each costs time, and none is what this is about.
fn pace() -> Pace {
    let Pace { lease_every, node_grace, report_every, .. } = Pace::REAL;
    Pace { lease_every, node_grace, report_every, ..Pace::REAL.scaled(SPEED) }
}

struct Played {
    house: House,
    ring: Ring,
    /// How often the ring was played.
    round: u32,
}

impl Played {
    async fn begin(ring: Ring) -> Played {
        let house = House::build_at(pace(), ring.racks, ring.per_rack, tenancy_of(ring.tenants)).await;
        house.import_runtimes().await;
        tokio::time::sleep(TO_SETTLE).await;
        Played { house, ring, round: 0 }
    }

    fn body(&self) -> Value {
        let round = self.round;
        let policy = match self.ring.kind {
            Kind::Reimage => return json!({ "safeguardMode": "None" }),
            Kind::Preserve => "Preserve",
            Kind::DiscardAll => "DiscardAll",
        };
        json!({
            "serialNumber": format!("BOARD{round}"), "bmcMacAddress": mac("aa", round), "bootMacAddress": mac("bb", round),
            "bmcCredentials": { "username": self.user(), "password": password(round) },
            "storagePolicy": policy, "safeguardMode": "None",
        })
    }

    fn user(&self) -> String {
        let machines = self.house.site.layout().machines();
        machines.iter().find(|machine| machine.name == self.ring.machine).expect("the machine is there").bmc_user.clone()
    }

    /// Somebody exchanges the board, and with it the BMC.
    async fn swap(&self) {
        if self.ring.kind == Kind::Reimage {
            return;
        }
        let round = self.round;
        let swap = Swap {
            parts: Vec::new(),
            serial_number: Some(format!("BOARD{round}")),
            bmc_mac: Some(mac("aa", round)),
            boot_mac: Some(mac("bb", round)),
            bmc_password: Some(password(round)),
        };
        self.house.site.swap(self.ring.machine, &swap).await.expect("a board can be exchanged");
        // The BMC starts anew, and everybody has seen that the machine is off.
        tokio::time::sleep(TO_SETTLE).await;
    }

    /// Sends the request, which is the same each time it is sent within a round; returns its operation.
    async fn ask(&self) -> String {
        let verb = if self.ring.kind == Kind::Reimage { "reimage" } else { "replace" };
        let path = format!("{}/{verb}?api-version=1", machine_path(self.ring.machine));
        let id = format!("round {}", self.round);
        let reply = self.house.call_with(Method::POST, &path, &[("x-ms-client-request-id", &id)], &self.body().to_string()).await;
        assert_eq!(reply.status, 202, "{}", reply.body);
        reply.body["name"].as_str().expect("an operation has an id").to_owned()
    }

    async fn until_ended(&self, id: &str) {
        while self.house.operation(id).await["status"] == "InProgress" {
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }

    /// Plays the ring once. Returns how it ended, and whether the control plane died in the course of it.
    async fn play(&mut self, crash: Option<(i64, Moment)>) -> (Ending, bool) {
        self.round += 1;
        self.swap().await;
        let before = self.house.site.witness(self.ring.machine).expect("the machine is there").counters();
        let died = Arc::new(Notify::new());
        if let Some((position, moment)) = crash {
            self.house.crash().await;
            let mortal = Mortal::new(self.house.store.clone(), position, moment, died.clone());
            self.house.start_control_plane_on(Arc::new(mortal)).await;
            self.house.settle().await;
        }
        let whole = async {
            let id = self.ask().await;
            self.until_ended(&id).await;
            id
        };
        let finished = tokio::select! {
            biased;
            () = died.notified() => None,
            id = whole => Some(id),
        };
        if crash.is_some() {
            self.house.crash().await;
            self.house.settle().await;
            self.house.start_control_plane().await;
            self.house.settle().await;
        }
        let has_died = finished.is_none();
        // Who lost the answer asks again, and it is the same operation.
        let id = match finished {
            Some(id) => id,
            None => self.ask().await,
        };
        self.until_ended(&id).await;
        let after = self.house.site.witness(self.ring.machine).expect("the machine is there").counters();
        let cycles = (after.powered_off - before.powered_off, after.powered_on - before.powered_on);
        let ending = self.ending(&id, cycles).await;
        (ending, has_died)
    }

    async fn ending(&self, id: &str, power_cycles: (u64, u64)) -> Ending {
        self.house.settle().await;
        let name = self.ring.machine;
        let (operation, machine) = (self.house.operation(id).await, self.house.machine(name).await);
        let properties = &machine["properties"];
        let text = |value: &Value| value.to_string().replace(id, "op").replace(&id[..8], "op");
        let told = ["powerState", "readyState", "cordonStatus", "detailedStatus", "detailedStatusMessage", "provisioningState"];
        let told = told.map(|field| text(&properties[field])).join(" ");
        let holds = machine["rackwright"]["holds"].as_array().into_iter().flatten().map(|hold| text(&hold["kind"])).collect();
        let seen = etcd_of(&self.house.site).observe_members().await.expect("etcd has quorum");
        let mut voters: Vec<String> = seen.members.into_iter().map(|member| format!("{} {}", member.name, member.is_learner)).collect();
        voters.sort();
        let uncordon = format!("{}/uncordon?api-version=1", machine_path(name));
        let reply = self.house.call(Method::POST, &uncordon, "alice", "").await;
        self.until_ended(reply.body["name"].as_str().unwrap_or_else(|| panic!("not uncordoned: {}", reply.body))).await;
        tokio::time::sleep(TO_SETTLE).await;
        Ending {
            operation: format!("{} {}", text(&operation["status"]), text(&operation["message"])),
            machine: told,
            holds,
            volumes: self.house.site.volumes(name).expect("the machine is there"),
            voters,
            identity: self.identity(properties),
            power_cycles,
            vms: self.house.vms().await,
        }
    }

    /// Whether the site and we agree on who the machine is.
    fn identity(&self, properties: &Value) -> String {
        let own = self.house.site.identity(self.ring.machine).expect("the machine is there");
        let same =
            |ours: &Value, theirs: &str| if ours.as_str().is_some_and(|ours| ours.eq_ignore_ascii_case(theirs)) { "same" } else { "other" };
        let serial = same(&properties["serialNumber"], &own.serial_number);
        let (bmc, boot) = (same(&properties["bmcMacAddress"], &own.bmc_mac), same(&properties["bootMacAddress"], &own.boot_mac));
        format!("{serial} serial number, {bmc} BMC, {boot} boot port")
    }
}

fn mac(first: &str, round: u32) -> String {
    format!("{first}:00:00:00:{:02x}:{:02x}", round / 256, round % 256)
}

fn password(round: u32) -> String {
    format!("board-password-{round}")
}

/// How many commits are between one death and the next. Those between are the other roles': what is decided at each position of each is
/// tried without a house around it, where that costs next to nothing.
const STRIDE: usize = 3;

/// Plays a ring with the deaths three commits later each time, before a commit and after one in turn, until nobody dies any more.
async fn everywhere(ring: Ring, kind: Kind, first: i64) {
    let ring = Ring { kind, ..ring };
    let name = format!("{:?} of {}", ring.kind, ring.machine);
    let mut played = Played::begin(ring).await;
    // The first time differs from the later ones: the machine has the system that it was delivered with, and its own volumes.
    played.play(None).await;
    let (undisturbed, _) = played.play(None).await;
    assert!(undisturbed.operation.starts_with("\"Succeeded\""), "{name}: {undisturbed:#?}");
    let mut deaths = 0;
    for (position, moment) in (first..).step_by(STRIDE).zip([Moment::Before, Moment::After].into_iter().cycle()) {
        let (ending, has_died) = played.play(Some((position, moment))).await;
        assert_eq!(ending, undisturbed, "{name} crashed {moment:?} commit {position}");
        if !has_died {
            break;
        }
        deaths += 1;
    }
    assert!(deaths >= 20 / STRIDE, "{name} died only {deaths} times");
    played.house.check_log().await;
    played.house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_compute_machine_is_reimaged_the_same_wherever_the_control_plane_dies() {
    everywhere(COMPUTE, Kind::Reimage, 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_management_machine_is_reimaged_the_same_wherever_the_control_plane_dies() {
    everywhere(MANAGEMENT, Kind::Reimage, 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_machine_is_reimaged_the_same_wherever_the_control_plane_dies() {
    everywhere(CONTROL_PLANE, Kind::Reimage, 3).await;
}

#[tokio::test(start_paused = true)]
async fn a_compute_machine_is_replaced_the_same_wherever_the_control_plane_dies() {
    everywhere(COMPUTE, Kind::Preserve, 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_management_machine_is_replaced_the_same_wherever_the_control_plane_dies() {
    everywhere(MANAGEMENT, Kind::DiscardAll, 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_machine_is_replaced_the_same_wherever_the_control_plane_dies() {
    everywhere(CONTROL_PLANE, Kind::DiscardAll, 3).await;
}
