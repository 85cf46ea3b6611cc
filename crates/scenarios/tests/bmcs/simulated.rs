//! Every simulated make of BMC, in this process and on virtual time.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use base64::Engine;
use http::Request;
use http_body_util::BodyExt;
use model::{Clock, Timestamp};
use redfish::{Drive, Inventory, JobSeen, Part, Transport};
use serde_json::Value;
use sim::{MachineSpec, Quirk, Role, Site, SiteSpec, Vendor};
use store::{MemoryStore, SharedStore, TokioClock};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::peer::{Ability, Peer};
use crate::{parts, suite};

const SESSIONS: &str = "/redfish/v1/SessionService/Sessions";

/// A site with a machine of each make.
struct Simulation {
    site: Site,
    running: JoinHandle<()>,
    stop: CancellationToken,
}

impl Simulation {
    async fn start() -> Simulation {
        let beginning = Timestamp::parse("2026-11-15T14:00:00Z").unwrap();
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::starting_at(beginning));
        let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        let site = Site::open(SiteSpec::new("site1", 4, 4, 1), store, clock).await.unwrap();
        let (running, stop) = (site.clone(), CancellationToken::new());
        let until = stop.clone();
        let running = tokio::spawn(async move { running.run(until).await.unwrap() });
        Simulation { site, running, stop }
    }

    /// A compute machine of this make; a spare has no operating system that could shut down.
    fn machine(&self, vendor: Vendor) -> MachineSpec {
        let machines = self.site.layout().machines();
        machines.iter().find(|machine| machine.vendor == vendor && machine.role == Role::Compute).expect("a machine of each make").clone()
    }

    fn peer(&self, vendor: Vendor, lacks: &'static [Ability]) -> Peer {
        let spec = self.machine(vendor);
        let router = self.site.redfish(&spec.name).unwrap();
        let service = router.map_request(|request: Request<_>| request.map(Body::new));
        Peer {
            transport: Transport::in_process(service),
            base: "http://bmc".into(),
            user: spec.bmc_user,
            password: spec.bmc_password,
            image: "http://10.0.0.9/agent.iso".parse().unwrap(),
            patience: Duration::from_secs(3600),
            boot_time: Duration::from_secs(900),
            lacks,
        }
    }

    /// What the BMC of `vendor` has at `path`, asked without the driver.
    async fn read(&self, vendor: Vendor, path: &str) -> Value {
        let spec = self.machine(vendor);
        let login = base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", spec.bmc_user, spec.bmc_password));
        let request = Request::get(path).header("authorization", format!("Basic {login}")).body(Body::empty()).unwrap();
        let response = self.site.redfish(&spec.name).unwrap().oneshot(request).await.unwrap();
        serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
    }

    async fn stop(self) {
        self.stop.cancel();
        self.running.await.unwrap();
    }
}

async fn check(vendor: Vendor, lacks: &'static [Ability]) {
    let simulation = Simulation::start().await;
    suite::check(&simulation.peer(vendor, lacks)).await;
    let sessions = simulation.read(vendor, SESSIONS).await;
    assert_eq!(sessions["Members@odata.count"], 0, "closing leaves no session behind: {sessions}");
    simulation.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_dell_passes() {
    check(Vendor::Dell, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn an_hpe_passes_but_for_events_and_a_license() {
    check(Vendor::Hpe, &[Ability::License, Ability::Events]).await;
}

#[tokio::test(start_paused = true)]
async fn a_lenovo_passes_but_for_a_license() {
    check(Vendor::Lenovo, &[Ability::License]).await;
}

#[tokio::test(start_paused = true)]
async fn a_supermicro_passes_but_for_events_booting_once_and_what_it_boots_from() {
    check(Vendor::Supermicro, &[Ability::BootOnce, Ability::BootOptions, Ability::License, Ability::Events]).await;
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_updates_itself_may_forget_the_job_but_not_the_firmware() {
    for (vendor, is_forgotten) in [(Vendor::Dell, false), (Vendor::Hpe, true)] {
        let simulation = Simulation::start().await;
        let peer = simulation.peer(vendor, &[]);
        let bmc = peer.bmc();
        let ending = parts::update(&peer, &bmc, "BMC").await;
        assert_eq!(ending == Some(JobSeen::Gone), is_forgotten, "{vendor:?}: {ending:?}");
        simulation.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_garbles_its_documents_loses_what_is_garbled_and_no_more() {
    let simulation = Simulation::start().await;
    let name = simulation.machine(Vendor::Dell).name;
    let bmc = simulation.peer(Vendor::Dell, &[]).bmc();
    let well = bmc.observe_inventory().await.unwrap();
    simulation.site.set_quirks(&name, &[Quirk::DeadLinks, Quirk::MalformedNumbers, Quirk::MalformedDates]).unwrap();
    let garbled = bmc.observe_inventory().await.unwrap();
    assert_eq!((&garbled.processors, &garbled.memory), (&Part::NotOffered, &Part::NotOffered));
    assert_eq!((&garbled.nics, &garbled.health), (&well.nics, &well.health));
    let drives = |inventory: &Inventory| inventory.storage.read().unwrap().members[0].drives.members.clone();
    let expected: Vec<Drive> = drives(&well).into_iter().map(|drive| Drive { capacity_bytes: None, ..drive }).collect();
    assert_eq!(drives(&garbled), expected);
    simulation.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_expired_is_renewed_and_not_doubled() {
    let simulation = Simulation::start().await;
    let bmc = simulation.peer(Vendor::Dell, &[]).bmc();
    let service = simulation.read(Vendor::Dell, "/redfish/v1/SessionService").await;
    let timeout = Duration::from_secs(service["SessionTimeout"].as_u64().unwrap());
    for _ in 0..2 {
        bmc.observe_power().await.unwrap();
        assert_eq!(simulation.read(Vendor::Dell, SESSIONS).await["Members@odata.count"], 1);
        tokio::time::sleep(timeout + Duration::from_secs(1)).await;
        assert_eq!(simulation.read(Vendor::Dell, SESSIONS).await["Members@odata.count"], 0);
    }
    simulation.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_is_full_of_sessions_that_others_left_behind_still_lets_us_in() {
    let simulation = Simulation::start().await;
    let peer = simulation.peer(Vendor::Supermicro, &[]);
    let count = async || simulation.read(Vendor::Supermicro, SESSIONS).await["Members@odata.count"].as_u64().unwrap();
    // Each is dropped without closing its session, as by a crash.
    let mut before = 0;
    loop {
        peer.bmc().observe_power().await.unwrap();
        let now = count().await;
        if now == before {
            break;
        }
        assert!(now < 100, "it is never full");
        before = now;
    }
    assert!(before > 1, "there is room for some");
    peer.bmc().observe_power().await.unwrap();
    simulation.stop().await;
}
