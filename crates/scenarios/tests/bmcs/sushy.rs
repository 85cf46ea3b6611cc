//! sushy-emulator, which OpenStack wrote: as it comes, with a password, and behind TLS.

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use model::FaultClass;
use rcgen::{CertificateParams, KeyPair};
use redfish::{Fingerprint, Transport, Trust};
use tempfile::TempDir;

use crate::peer::{Ability, Peer};
use crate::suite;

/// The fake driver's only System.
const SYSTEM: &str = "27946b59-9e44-4fa7-8e91-f3527a1ef094";

const USER: &str = "admin";
const PASSWORD: &str = "secret";
/// `secret` as bcrypt has it, which is what the emulator wants; made with `htpasswd -nbB admin secret`.
const PASSWORD_FILE: &str = include_str!("sushy.htpasswd");

/// What its documents do not have, as its own source says. Power comes late, and "Once" is ignored.
const LACKS: &[Ability] = &[
    Ability::BootOnce,
    Ability::BootHttp,
    Ability::Processors,
    Ability::Memory,
    Ability::Volumes,
    Ability::FirmwareInventory,
    Ability::FirmwareUpdate,
    Ability::Jobs,
    Ability::StorageReset,
    Ability::OsVolume,
    Ability::Sums,
    Ability::PowerSupplies,
    Ability::Logs,
    Ability::BootOptions,
    Ability::License,
    Ability::Accounts,
    Ability::BmcReset,
    Ability::Events,
];

/// A running emulator. It ends with the test.
struct Emulator {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Emulator {
    /// Starts one with `settings`, lines of its configuration in which `{folder}` stands for its folder.
    async fn start(settings: &str) -> Emulator {
        let program = tokio::task::spawn_blocking(|| scenarios::peer("venv/bin/sushy-emulator")).await.unwrap();
        let folder = TempDir::new().unwrap();
        let config = folder.path().join("sushy.conf");
        let state = format!("SUSHY_EMULATOR_STATE_DIR = '{{folder}}'\n{settings}");
        fs::write(&config, state.replace("{folder}", folder.path().to_str().unwrap())).unwrap();
        fs::write(folder.path().join("htpasswd"), PASSWORD_FILE).unwrap();
        // Between here and there another process may take the port; then the emulator ends at once and the test says so.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let child = Command::new(program)
            .args(["--fake", "-i", "127.0.0.1", "-p", &port.to_string(), "--config"])
            .arg(&config)
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .expect("sushy-emulator starts");
        let mut emulator = Emulator { child, port, folder };
        emulator.await_port().await;
        emulator
    }

    async fn await_port(&mut self) {
        while tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("sushy-emulator ended with {status}: {}", fs::read_to_string(self.folder.path().join("log")).unwrap());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn peer(&self, scheme: &str, transport: Transport) -> Peer {
        Peer {
            transport,
            base: format!("{scheme}://127.0.0.1:{}", self.port),
            user: USER.into(),
            password: PASSWORD.into(),
            image: serve_image().await,
            patience: Duration::from_secs(30),
            boot_time: Duration::ZERO,
            lacks: LACKS,
        }
    }
}

/// Serves a small image, because the emulator fetches what is inserted.
async fn serve_image() -> http::Uri {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/agent.iso", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/agent.iso", get(|| async { "an image" }))).await });
    uri.parse().unwrap()
}

/// Storage, which the emulator has only if it is configured. Without libvirt it answers 501 where the volume would be.
fn storage() -> String {
    format!(
        "SUSHY_EMULATOR_STORAGE = {{'{SYSTEM}': [{{'Id': '1', 'Name': 'Local Storage', 'StorageControllers': [], 'Drives': ['d1']}}]}}\n\
         SUSHY_EMULATOR_DRIVES = {{('{SYSTEM}', '1'): [{{'Id': 'd1', 'Name': 'Drive', 'Model': 'C123', 'Revision': '1', 'CapacityBytes': 899527000000, \
         'FailurePredicted': False, 'Status': {{'State': 'Enabled', 'Health': 'OK'}}, 'Manufacturer': 'Contoso', 'SerialNumber': '1234570', \
         'IndicatorLED': 'Lit', 'Identifiers': [{{'DurableNameFormat': 'UUID', 'DurableName': 'x'}}], 'MediaType': 'HDD', \
         'PredictedMediaLifeLeftPercent': 100, 'Protocol': 'SAS'}}]}}\n\
         SUSHY_EMULATOR_VOLUMES = {{('{SYSTEM}', '1'): [{{'libvirtVolName': 'v', 'Id': '1', 'Name': 'Sample Volume', 'VolumeType': 'Mirrored', \
         'CapacityBytes': 23748}}]}}\n"
    )
}

fn guarded() -> String {
    "SUSHY_EMULATOR_AUTH_FILE = '{folder}/htpasswd'\n".to_owned() + &storage()
}

#[tokio::test]
async fn sushy_emulator_passes_but_for_what_it_does_not_have() {
    let emulator = Emulator::start(&guarded()).await;
    suite::check(&emulator.peer("http", Transport::tcp()).await).await;
}

#[tokio::test]
async fn sushy_emulator_is_reached_over_tls_by_its_fingerprint() {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["bmc.example".to_owned()]).unwrap().self_signed(&key).unwrap();
    let pems = TempDir::new().unwrap();
    let (certificate_file, key_file) = (pems.path().join("cert.pem"), pems.path().join("key.pem"));
    fs::write(&certificate_file, certificate.pem()).unwrap();
    fs::write(&key_file, key.serialize_pem()).unwrap();
    let tls = format!("SUSHY_EMULATOR_SSL_CERT = '{}'\nSUSHY_EMULATOR_SSL_KEY = '{}'\n", certificate_file.display(), key_file.display());
    let emulator = Emulator::start(&(guarded() + &tls)).await;
    let pinned = Trust::Fingerprint(Fingerprint::of(certificate.der()));
    let peer = emulator.peer("https", Transport::tls(&pinned).unwrap()).await;
    peer.bmc().observe_power().await.unwrap();
    let wrong = Trust::Fingerprint(Fingerprint::of(b"another certificate"));
    let peer = emulator.peer("https", Transport::tls(&wrong).unwrap()).await;
    let fault = peer.bmc().observe_power().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Untrusted, "{fault}");
    assert!(fault.detail.contains(&Fingerprint::of(certificate.der()).to_string()), "{fault}");
}
