//! A machine is installed over HTTP, from the BMC's virtual drive to its node.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use sim::{Pace, Site, Switchboard, Vendor, images};
use store::{MemoryStore, SharedStore, SystemClock};
use tokio_util::sync::CancellationToken;

use crate::boot::cd_path;
use crate::harness::{Harness, pass, spec};
use crate::stand_in::StandIn;

/// What a machine that is installed without trouble asks, in order.
pub const WHOLE: [&str; 11] = [
    "media",
    "exchange as MACHINE",
    "log of 2 lines",
    "inventory of 3 disks and 4 ports",
    "progress 25",
    "progress 50",
    "progress 75",
    "seed",
    "log of 4 lines",
    "written as wanted",
    "phone home",
];

/// A site whose machines can reach a stand-in and the images, and the machine that is installed: one of Dell's.
pub struct Installing {
    pub harness: Harness,
    pub face: StandIn,
    pub machine: String,
    pub net: Switchboard,
}

impl Installing {
    pub async fn start() -> Installing {
        let harness = Harness::start().await;
        let machine = harness.of(Vendor::Dell);
        let face = StandIn::new(&machine, &harness.machine(&machine).boot_mac);
        let net = Switchboard::default();
        net.connect("control", face.router());
        net.connect("images", images::router());
        harness.site.plug(Arc::new(net.clone()));
        Installing { harness, face, machine, net }
    }

    /// The simulator dies, and comes back later with the same network.
    pub async fn crash(self) -> Installing {
        let Installing { harness, face, machine, net } = self;
        let harness = harness.crash_and_reopen(Duration::from_secs(3_600)).await;
        harness.site.plug(Arc::new(net.clone()));
        Installing { harness, face, machine, net }
    }

    pub async fn power(&self, reset: &str) {
        assert_eq!(self.harness.reset(&self.machine, reset).await, StatusCode::NO_CONTENT);
        pass(30).await;
    }

    pub async fn insert(&self) -> StatusCode {
        let path = format!("{}/Actions/VirtualMedia.InsertMedia", cd_path(Vendor::Dell));
        self.harness.post(&self.machine, &path, &json!({"Image": self.face.media_url()})).await.status
    }

    pub async fn boot_from(&self, boot: &Value) {
        let path = self.harness.system_path(&self.machine).await;
        assert_eq!(self.harness.patch(&self.machine, &path, &json!({ "Boot": boot })).await.status, StatusCode::OK);
    }

    /// Off, the agent's image in the drive, and on; until the agent has done what it can.
    pub async fn boot_agent(&self) {
        self.power("ForceOff").await;
        assert_eq!(self.insert().await, StatusCode::NO_CONTENT);
        self.boot_from(&json!({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Cd"})).await;
        self.power("On").await;
    }

    pub async fn boot_disk(&self) {
        self.power("ForceOff").await;
        let path = format!("{}/Actions/VirtualMedia.EjectMedia", cd_path(Vendor::Dell));
        assert_eq!(self.harness.post(&self.machine, &path, &json!({})).await.status, StatusCode::NO_CONTENT);
        self.boot_from(&json!({"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "Hdd"})).await;
        self.power("On").await;
    }

    pub async fn mint(&self) {
        let fields = json!({"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
            "expiration": "2026-11-16T09:00:00Z"});
        let secret = json!({"metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token", "stringData": fields});
        let made = self.harness.kube("POST", "/api/v1/namespaces/kube-system/secrets", "application/json", &secret.to_string()).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
    }

    pub fn transcript(&self) -> Vec<String> {
        self.face.transcript().iter().map(|line| line.replace(&self.machine, "MACHINE")).collect()
    }

    pub fn system(&self) -> String {
        self.harness.site.volumes(&self.machine).unwrap()[0].1.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn a_machine_is_installed_from_virtual_media_and_its_tenants_data_stays_as_it_is() {
    let installing = Installing::start().await;
    let Installing { harness, machine, .. } = &installing;
    harness
        .merge_patch(&format!("/api/v1/nodes/{machine}"), r#"{"spec":{"unschedulable":true},"metadata":{"labels":{"mine":"kept"}}}"#)
        .await;
    let (node, volumes) = (harness.node(machine).await, harness.site.volumes(machine).unwrap());
    installing.boot_agent().await;
    pass(300 + 240).await;
    assert_eq!(installing.transcript(), WHOLE[..10]);
    assert_eq!(harness.ready(machine).await, "Unknown", "no kubelet runs beside the agent");
    let runtime = images::runtime("4.4.3");
    let written = harness.site.volumes(machine).unwrap();
    assert_eq!(written[0].1, format!("system {}", runtime.os.sha256));
    assert_eq!(written[1..], volumes[1..], "byte for byte");
    installing.mint().await;
    installing.boot_disk().await;
    pass(300 + 60).await;
    assert_eq!(installing.transcript(), WHOLE);
    let after = harness.node(machine).await;
    assert_eq!(harness.ready(machine).await, "True");
    assert_eq!((&after["spec"]["unschedulable"], &after["metadata"]["labels"]["mine"]), (&json!(true), &json!("kept")));
    assert_eq!(after["metadata"]["uid"], node["metadata"]["uid"]);
    let info = &after["status"]["nodeInfo"];
    assert_eq!((&info["osImage"], &info["kubeletVersion"]), (&json!(runtime.os_name), &json!(runtime.kubernetes_version)));
    assert_ne!(info["bootID"], node["status"]["nodeInfo"]["bootID"]);
}

#[tokio::test(start_paused = true)]
async fn uefi_http_and_pxe_start_the_same_agent() {
    for (target, first) in [("UefiHttp", "http"), ("Pxe", "pxe own mac")] {
        let installing = Installing::start().await;
        installing.harness.site.set_pxe_server(installing.face.url.clone());
        installing.power("ForceOff").await;
        let uri = installing.face.http_url();
        installing.boot_from(&json!({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": target, "HttpBootUri": uri})).await;
        installing.power("On").await;
        pass(300 + 240).await;
        let transcript = installing.transcript();
        assert_eq!((transcript[0].as_str(), &transcript[1..]), (first, &WHOLE.map(str::to_owned)[1..10]));
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_starts_over_pxe_where_nobody_answers_starts_its_disk() {
    let installing = Installing::start().await;
    installing.boot_from(&json!({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"})).await;
    installing.power("ForceOff").await;
    installing.power("On").await;
    pass(600).await;
    assert_eq!(installing.harness.ready(&installing.machine).await, "True");
    assert!(installing.transcript().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_same_installation_twice_is_the_same_to_the_millisecond() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let installing = Installing::start().await;
        installing.mint().await;
        installing.boot_agent().await;
        pass(540).await;
        installing.boot_disk().await;
        pass(360).await;
        let node = installing.harness.node(&installing.machine).await;
        let log = installing.harness.site.witness(&installing.machine).unwrap();
        runs.push((node, log, installing.harness.site.volumes(&installing.machine), installing.transcript()));
    }
    assert_eq!(runs[0], runs[1]);
}

/// The instants are between two things that the machine does; what it has asked and not heard, it would ask again.
#[tokio::test(start_paused = true)]
async fn a_simulator_that_crashes_in_mid_install_goes_on() {
    for moment in [100, 300, 380, 440, 500, 560] {
        let installing = Installing::start().await;
        installing.boot_agent().await;
        pass(moment).await;
        let installing = installing.crash().await;
        pass(300 + 240).await;
        assert_eq!(installing.transcript(), WHOLE[..10], "after {moment} s");
        installing.mint().await;
        installing.boot_disk().await;
        pass(moment).await;
        let installing = installing.crash().await;
        pass(300 + 60).await;
        assert_eq!(installing.transcript(), WHOLE, "after {moment} s");
        assert_eq!(installing.harness.ready(&installing.machine).await, "True");
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_join_token_keeps_the_machine_outside() {
    let installing = Installing::start().await;
    installing.boot_agent().await;
    pass(540).await;
    installing.mint().await;
    pass(24 * 3_600).await;
    installing.boot_disk().await;
    pass(3_600).await;
    assert_eq!(installing.transcript(), WHOLE);
    assert_eq!(installing.harness.ready(&installing.machine).await, "Unknown");
    let why = installing.harness.site.turned_away(&installing.machine).unwrap();
    assert_eq!(why, "kube-system/bootstrap-token-abcdef expired at 2026-11-16T09:00:00Z");
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_that_is_away_for_a_while_is_called_again() {
    let installing = Installing::start().await;
    installing.boot_agent().await;
    pass(330).await;
    installing.net.disconnect("control");
    pass(300).await;
    assert!(!installing.transcript().contains(&"seed".to_owned()));
    installing.net.connect("control", installing.face.router());
    pass(60).await;
    let transcript = installing.transcript();
    assert_eq!(transcript[transcript.len() - 2..], WHOLE[8..10]);
}

/// The whole of it over sockets, in wall time.
#[tokio::test]
async fn a_listening_site_is_installed_over_sockets() {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let site = Site::open(spec().with_pace(Pace::instant()), store, Arc::new(SystemClock)).await.unwrap();
    let endpoints = site.listen(loopback).await.unwrap();
    let shutdown = CancellationToken::new();
    let running = tokio::spawn({
        let (site, shutdown) = (site.clone(), shutdown.clone());
        async move { site.run(shutdown).await.unwrap() }
    });
    let machine = site.layout().machines().iter().find(|machine| machine.vendor == Vendor::Dell).unwrap().clone();
    let listener = tokio::net::TcpListener::bind((loopback, 0)).await.unwrap();
    let face = StandIn {
        url: format!("http://{}", listener.local_addr().unwrap()),
        images: format!("http://{}", endpoints.images),
        ..StandIn::new(&machine.name, &machine.boot_mac)
    };
    let router = face.router();
    let served = tokio::spawn(async move { axum::serve(listener, router).await });
    let bmc = async |path: &str, body: Value| {
        let headers = [("authorization", format!("Basic {}", login(&machine)))];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        crate::harness::send(site.redfish(&machine.name).unwrap(), "POST", path, &headers, &body.to_string()).await.status
    };
    let reset = "/redfish/v1/Systems/System.Embedded.1/Actions/ComputerSystem.Reset";
    bmc(reset, json!({"ResetType": "ForceOff"})).await;
    bmc(&format!("{}/Actions/VirtualMedia.InsertMedia", cd_path(Vendor::Dell)), json!({"Image": face.media_url()})).await;
    let patched = crate::harness::send(
        site.redfish(&machine.name).unwrap(),
        "PATCH",
        "/redfish/v1/Systems/System.Embedded.1",
        &[("authorization", &format!("Basic {}", login(&machine)))],
        &json!({"Boot": {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Cd"}}).to_string(),
    )
    .await;
    assert_eq!(patched.status, StatusCode::OK);
    assert_eq!(bmc(reset, json!({"ResetType": "On"})).await, StatusCode::NO_CONTENT);
    let is_written = async || {
        while !face.transcript().contains(&"written as wanted".to_owned()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), is_written()).await.expect("it is written in time");
    assert_eq!(site.volumes(&machine.name).unwrap()[0].1, format!("system {}", images::runtime("4.4.3").os.sha256));
    served.abort();
    shutdown.cancel();
    running.await.unwrap();
}

fn login(machine: &sim::MachineSpec) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", machine.bmc_user, machine.bmc_password))
}
