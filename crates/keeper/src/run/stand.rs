//! A loop on a test stand: one machine, BMCs that answer from a list, and nobody who turns the loop but the test.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use kubernetes::{NetworkDoor, Undercloud};
use model::{Fault, Footing, Hardware, MachineName, SecretRef};
use redfish::{Bmc, Credentials, Login, Transport};
use serde_json::{Value, json};
use store::{MemoryStore, TokioClock, Vault};
use ticket::InstallKey;

use super::*;
use crate::books::tests::{machine, name, site, store_of};
use crate::{BmcMaker, Equipment, InstallDesk, InstallUrls, Rota, VaultSecrets};

pub const SYSTEM: &str = "/redfish/v1/Systems/1";
const SESSION: &str = "/redfish/v1/SessionService/Sessions/1";

/// A BMC that knows its System, and answers 404 to all else but for what it is told to.
#[derive(Clone, Debug, Default)]
pub struct FakeBmc {
    replies: Arc<Mutex<BTreeMap<String, (u16, Value)>>>,
    log: Arc<Mutex<Vec<String>>>,
}

#[derive(Debug)]
struct Root;

#[async_trait]
impl Credentials for Root {
    async fn login(&self) -> Result<Login, Fault> {
        Ok(Login::new("root", "calvin"))
    }
}

impl FakeBmc {
    pub fn of(serial: &str) -> FakeBmc {
        let fake = FakeBmc::default();
        let link = |path: &str| json!({"@odata.id": path});
        fake.on(
            "GET /redfish/v1/",
            200,
            &json!({"Systems": link("/redfish/v1/Systems"), "Links": {"Sessions": link("/redfish/v1/SessionService/Sessions")}}),
        );
        fake.on("GET /redfish/v1/Systems", 200, &json!({"Members": [link(SYSTEM)]}));
        let boot = json!({"BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Hdd"]});
        fake.on(&format!("GET {SYSTEM}"), 200, &json!({"PowerState": "On", "SerialNumber": serial, "Boot": boot}));
        fake
    }

    pub fn on(&self, request: &str, status: u16, body: &Value) {
        self.replies.lock().unwrap().insert(request.to_owned(), (status, body.clone()));
    }

    /// What was asked since the last time, sessions included.
    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }

    pub fn driver(&self, serial: &str) -> Bmc {
        let fake = self.clone();
        let transport = Transport::in_process(tower::service_fn(move |request| fake.clone().answer(request)));
        Bmc::of_machine(transport, "http://bmc.invalid".parse().unwrap(), Arc::new(Root), serial)
    }

    async fn answer(self, request: Request<Full<Bytes>>) -> io::Result<Response<Full<Bytes>>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap_or_else(|never: Infallible| match never {}).to_bytes();
        let asked = format!("{} {}", head.method, head.uri.path());
        self.log.lock().unwrap().push(format!("{asked} {}", String::from_utf8_lossy(&body)).trim().to_owned());
        if asked == "POST /redfish/v1/SessionService/Sessions" {
            let answer = Response::builder().status(201).header("x-auth-token", "t").header("location", SESSION);
            return Ok(answer.body(Full::from("{}")).unwrap());
        }
        let reply = self.replies.lock().unwrap().get(&asked).cloned();
        let (status, body) = reply.unwrap_or((if head.method == "DELETE" { 204 } else { 404 }, json!({})));
        Ok(Response::builder().status(status).body(Full::from(body.to_string())).unwrap())
    }
}

/// Makes drivers to one BMC, and remembers for which hardware.
#[derive(Clone, Debug)]
pub struct FakeMaker {
    pub bmc: FakeBmc,
    pub made_for: Arc<Mutex<Vec<Hardware>>>,
}

impl BmcMaker for FakeMaker {
    fn make(&self, _machine: &MachineName, hardware: &Hardware) -> Result<Bmc, Fault> {
        self.made_for.lock().unwrap().push(hardware.clone());
        Ok(self.bmc.driver(&hardware.serial_number))
    }
}

pub struct Stand {
    pub the_loop: Loop,
    pub inbox: mpsc::Receiver<Event>,
    /// What the site file describes, and what stands there after it was exchanged.
    pub described: FakeBmc,
    pub other: FakeBmc,
    pub made_for: Arc<Mutex<Vec<Hardware>>>,
    pub vault: Arc<Vault>,
}

impl Stand {
    pub async fn build() -> Stand {
        let site = site(vec![machine(1)]);
        let (store, _) = store_of(&site).await;
        store.release_lease(&store.acquire_lease("keeper/site1", "test", Span::minutes(1)).await.unwrap()).await.unwrap();
        let footing = watch::Sender::new(Footing::default());
        let tenure = Tenure::begin(&store, &site.cluster, "stand", &footing).await.unwrap();
        let clock: Arc<dyn model::Clock> = Arc::new(TokioClock::starting_at(Timestamp::from_millis(1_000_000)));
        let now = clock.now();
        let (books, _) = Books::open(&store, &site.cluster, tenure.fence(), now).await.unwrap();
        let (described, other) = (FakeBmc::of("S1"), FakeBmc::of("S9"));
        let made_for = Arc::new(Mutex::new(Vec::new()));
        let vault = Arc::new(Vault::ephemeral(Arc::new(MemoryStore::new(clock.clone()))));
        let keeper = Keeper {
            cluster: site.cluster.clone(),
            holder: "stand".to_owned(),
            store,
            clock,
            bmcs: BTreeMap::from([(name(1), described.driver("S1"))]),
            maker: Arc::new(FakeMaker { bmc: other.clone(), made_for: made_for.clone() }),
            undercloud: nowhere(),
            etcd: None,
            door: Arc::new(NetworkDoor),
            secrets: Arc::new(VaultSecrets::new(vault.clone())),
            install: Some(InstallDesk { key: key(), urls: InstallUrls::all("http://10.0.0.1:8080") }),
            offers: watch::channel(None).1,
            rota: Rota::default(),
            taken_over: watch::Sender::new(None),
            state: watch::Sender::new(KeeperState::Starting),
            footing,
        };
        let (events, inbox) = mpsc::channel(EVENT_QUEUE);
        Stand { the_loop: Loop::new(keeper, books, tenure, events, now), inbox, described, other, made_for, vault }
    }

    /// Lets what was begun end, and takes it in.
    pub async fn take_one(&mut self) {
        let event = self.inbox.recv().await.expect("the loop is there");
        self.the_loop.take_event(event);
    }

    pub fn observation(&self) -> model::Observation {
        self.the_loop.books.snapshot.observation(&name(1))
    }

    /// The ways of the same description as it stands, as a file that was read again brings them.
    pub fn equipment(&self, bmc: Bmc) -> Arc<Equipment> {
        let maker = self.the_loop.keeper.maker.clone();
        Arc::new(Equipment { bmcs: BTreeMap::from([(name(1), bmc)]), maker, undercloud: nowhere(), etcd: None })
    }
}

pub fn key() -> InstallKey {
    InstallKey::from_bytes(&[7; ticket::KEY_BYTES]).unwrap()
}

pub fn new_login() -> SecretRef {
    SecretRef::new("bmc/site1/rack1compute01/new")
}

fn nowhere() -> Undercloud {
    Undercloud::in_process(tower::service_fn(|_: Request<kube::client::Body>| async {
        Err::<Response<Full<Bytes>>, _>(io::Error::from(io::ErrorKind::ConnectionRefused))
    }))
}
