//! A BMC that answers what a simulated one answered before, so that a look costs what the driver does and nothing else.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use model::{Fault, Power, Timestamp};
use redfish::{Bmc, Credentials, Login, Transport};
use sim::{MachineSpec, Site, SiteSpec, Wire};
use store::MemoryStore;
use tower::ServiceExt;

use crate::Still;

/// The layout of the simulated site, and with it every text in the BMC's documents, follows from this.
const SEED: u64 = 1;

pub struct Device(Bmc);

/// Answers by request line.
type Answers = Arc<Mutex<BTreeMap<String, Response<Bytes>>>>;

struct Known(Login);

#[async_trait]
impl Credentials for Known {
    async fn login(&self) -> Result<Login, Fault> {
        Ok(self.0.clone())
    }
}

impl Device {
    /// A BMC that was looked at once: the session is open, and the System is known.
    pub async fn open() -> io::Result<Device> {
        let clock = Arc::new(Still(Timestamp::EPOCH));
        let spec = SiteSpec::new("site1", 1, 4, SEED);
        let site = Site::open(spec, Arc::new(MemoryStore::new(clock.clone())), clock).await.map_err(io::Error::other)?;
        let machine: MachineSpec = site.layout().machines()[0].clone();
        let wire = site.redfish(&machine.name).ok_or_else(|| io::Error::other("the machine has no BMC"))?;
        let answers = Answers::default();
        let service = tower::service_fn(move |request| answer(answers.clone(), wire.clone(), request));
        let login = Login::new(&machine.bmc_user, &machine.bmc_password);
        let base = "http://10.0.0.1".parse().map_err(io::Error::other)?;
        let device = Device(Bmc::of_machine(Transport::in_process(service), base, Arc::new(Known(login)), &machine.serial_number));
        device.look().await;
        Ok(device)
    }

    pub async fn look(&self) -> Power {
        self.0.observe_power().await.expect("the BMC answers")
    }
}

async fn answer(answers: Answers, wire: Wire, request: Request<Full<Bytes>>) -> io::Result<Response<Full<Bytes>>> {
    let line = format!("{} {}", request.method(), request.uri().path());
    let known = answers.lock().unwrap_or_else(PoisonError::into_inner).get(&line).cloned();
    if let Some(known) = known {
        return Ok(known.map(Full::new));
    }
    let (head, body) = wire.oneshot(request).await?.into_parts();
    let answer = Response::from_parts(head, body.collect().await.map_err(io::Error::other)?.to_bytes());
    answers.lock().unwrap_or_else(PoisonError::into_inner).insert(line, answer.clone());
    Ok(answer.map(Full::new))
}
