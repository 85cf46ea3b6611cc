//! Images sent from our disk to many machines at once, and what clients of the API notice of it.

mod serving;

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use futures::future::try_join_all;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use model::{Artefact, Attempt, BootArtefacts, Bundle, Clock, Digest, Operation, RuntimeVersion, Site, keys};
use sha2::{Digest as _, Sha256};
use store::{Commit, SharedStore, SqliteStore, SystemClock};
use ticket::Purpose;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::client::Client;
use crate::figure::{Bench, Figure, Report, Size, Unit};
use crate::fleet::{self, SUBSCRIPTION};
use crate::stats::{Times, milliseconds};
use crate::table;
pub use serving::serve_if_asked;
use serving::{Served, key};

pub const BENCH: Bench = Bench { name: "images", what: "images sent to many machines at once, and reads meanwhile", measure };

/// How long the image is. It stays in the cache of the disk, as that of a rack that is installed at once does.
const IMAGE_BYTES: usize = 256 << 20;

/// Machines that are sent it at once.
const MACHINES: [usize; 3] = [1, 16, 64];

/// What all machines together are sent with a rate: less than this machine could.
const TOTAL_RATE: u64 = 200 << 20;

/// How long the API is read at rest, and while images are sent at a rate.
const READ_FOR: Duration = Duration::from_secs(10);

const CORES: &str = "both cores, of which the machines that read take more than a half";
const COPIES: &str = "copies: from the cache of the disk, and into the socket";
const SHARED: &str = "the cores, which clients, machines and both faces share";

fn measure(size: Size) -> io::Result<Report> {
    let runtime = Runtime::new()?;
    let bytes = size.pick(IMAGE_BYTES, 1 << 20);
    let image: Bytes = (0..bytes).map(|at| (at % 251) as u8).collect();
    let directory = tempfile::tempdir()?;
    let stage = runtime.block_on(Stage::set(directory.path(), image))?;
    let mut figures = Vec::new();
    {
        let served = Served::start(directory.path(), None)?;
        runtime.block_on(stage.send(&served, 1))?;
        let at_rest = runtime.block_on(read_for(&served, &stage, size.pick(READ_FOR, Duration::from_millis(50))))?;
        for machines in size.pick(&MACHINES[..], &[2]) {
            figures.extend(runtime.block_on(sent_to(&stage, &served, *machines))?);
        }
        figures.push(reads("at rest", &at_rest));
    }
    let rate = NonZeroU64::new(TOTAL_RATE);
    let served = Served::start(directory.path(), rate)?;
    let crowd = size.pick(MACHINES[2], 2);
    let (took, times) = runtime.block_on(stage.send_and_read(&served, crowd))?;
    let sent = (bytes * crowd) as f64 / 1e6 / took.as_secs_f64();
    let what = format!("{crowd} machines at once with a total rate of {} MB/s, all together", Unit::Count.show(TOTAL_RATE as f64 / 1e6));
    figures.push(Figure::new(what, sent, Unit::MegabytesPerSecond, "the rate"));
    figures.push(reads("meanwhile", &times));
    Ok(Report { figures, curves: Vec::new() })
}

/// What so many machines get, what that costs, and what a client of the API notices.
async fn sent_to(stage: &Stage, served: &Served, machines: usize) -> io::Result<Vec<Figure>> {
    let (cpu, memory) = (served.process.cpu_time()?, served.process.memory()? as f64);
    served.process.forget_peak()?;
    let (took, times) = stage.send_and_read(served, machines).await?;
    let bytes = (stage.bytes() * machines) as f64;
    let spent = (served.process.cpu_time()? - cpu).as_secs_f64() / (bytes / 1e9);
    let added = (served.process.peak_memory()? as f64 - memory).max(0.0) / 1024.0 / machines as f64;
    let crowd = if machines == 1 { "1 machine".to_owned() } else { format!("{machines} machines at once, all together") };
    let speed = bytes / 1e6 / took.as_secs_f64();
    table::say(&format!("  {crowd}: {speed:.0} MB/s, {spent:.2} s of processor time for a GB"));
    Ok(vec![
        Figure::new(crowd, speed, Unit::MegabytesPerSecond, CORES),
        Figure::new("processor time of the control plane for a GB, the reads included", spent, Unit::Seconds, COPIES),
        Figure::new("memory that each adds", added, Unit::Kibibytes, "a piece that is read, one that is sent, and the socket's"),
        reads("meanwhile", &times),
    ])
}

fn reads(when: &str, times: &Times) -> Figure {
    let what = format!("a single read of the API {when}, 99 of 100");
    Figure::new(what, milliseconds(times.percentile(99.0)), Unit::Milliseconds, SHARED)
}

/// Machines that are being installed, and the origin of their image.
struct Stage {
    image: Bytes,
    site: Site,
    operations: Vec<Operation>,
}

impl Stage {
    async fn set(directory: &Path, image: Bytes) -> io::Result<Stage> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store: SharedStore = Arc::new(SqliteStore::open(directory, clock.clone()).map_err(io::Error::other)?);
        let site = fleet::site(1, fleet::CLUSTER_SIZE);
        fleet::settle(&store, clock.as_ref(), std::slice::from_ref(&site)).await?;
        let bundle = bundle(&serve_origin(image.clone()).await?, &image)?;
        let mut commit = Commit::default().put(keys::runtime(&site.cluster, bundle.version), serde_json::to_vec(&bundle)?);
        let mut operations = Vec::new();
        for machine in &site.machines {
            let operation = fleet::installation(&site, &machine.name, &bundle, clock.now());
            commit = commit.put(keys::operation(&site.cluster, &operation.id), serde_json::to_vec(&operation)?);
            operations.push(operation);
        }
        store.commit(commit).await.map_err(io::Error::other)?;
        Ok(Stage { image, site, operations })
    }

    fn bytes(&self) -> usize {
        self.image.len()
    }

    /// Sends the image to so many machines at once, and waits until the last has it.
    async fn send(&self, served: &Served, machines: usize) -> io::Result<()> {
        let agents = self.operations.iter().take(machines).map(|operation| fetch(served, operation, self.bytes()));
        try_join_all(agents.collect::<Vec<_>>()).await.map(drop)
    }

    /// The same while a client reads from the API, one machine after the other.
    async fn send_and_read(&self, served: &Served, machines: usize) -> io::Result<(Duration, Times)> {
        let began = Instant::now();
        let mut times = Vec::new();
        tokio::select! {
            sent = self.send(served, machines) => sent?,
            problem = self.read_on(served, &mut times) => problem?,
        }
        Ok((began.elapsed(), Times::new(times)))
    }

    /// Ends only if it cannot go on.
    async fn read_on(&self, served: &Served, times: &mut Vec<Duration>) -> io::Result<()> {
        let mut client = Client::connect(&served.api).await?;
        loop {
            times.push(self.read(&mut client, times.len()).await?);
        }
    }

    async fn read(&self, client: &mut Client, nth: usize) -> io::Result<Duration> {
        let (group, machine) = (&self.site.home.resource_group, &self.site.machines[nth % self.site.machines.len()].name);
        let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}");
        let path = format!("{group}/providers/Microsoft.NetworkCloud/bareMetalMachines/{machine}?api-version=2026-07-01");
        let asked = Instant::now();
        let (status, _) = client.get(&path).await?;
        if status.is_success() { Ok(asked.elapsed()) } else { Err(io::Error::other(format!("{path} answers {status}"))) }
    }
}

async fn read_for(served: &Served, stage: &Stage, span: Duration) -> io::Result<Times> {
    let (began, mut client, mut times) = (Instant::now(), Client::connect(&served.api).await?, Vec::new());
    while began.elapsed() < span {
        times.push(stage.read(&mut client, times.len()).await?);
    }
    Ok(Times::new(times))
}

/// As an agent does it, on a thread's task of its own.
fn fetch(served: &Served, operation: &Operation, bytes: usize) -> impl Future<Output = io::Result<()>> + use<> {
    let (address, operation) = (served.install, operation.clone());
    let fetching = tokio::spawn(async move {
        let machine = operation.machine().ok_or_else(|| io::Error::other("no machine is installed"))?.clone();
        let attempt = Attempt { cluster: operation.cluster.clone(), machine, operation: operation.id.clone(), round: 1 };
        let session = key()?.token(Purpose::Session, &attempt);
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(TcpStream::connect(address).await?)).await.map_err(io::Error::other)?;
        tokio::spawn(connection);
        let request =
            Request::get(ticket::image_path(&attempt)).header("host", "x").header("authorization", format!("Bearer {}", *session));
        let response =
            sender.send_request(request.body(Empty::<Bytes>::new()).map_err(io::Error::other)?).await.map_err(io::Error::other)?;
        let (status, mut body, mut got) = (response.status(), response.into_body(), 0);
        while let Some(frame) = body.frame().await {
            got += frame.map_err(io::Error::other)?.data_ref().map_or(0, Bytes::len);
        }
        if got == bytes { Ok(()) } else { Err(io::Error::other(format!("an agent was sent {got} bytes with {status}"))) }
    });
    async move { fetching.await.map_err(io::Error::other)? }
}

/// Serves the image for as long as this process runs.
async fn serve_origin(image: Bytes) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/os.img", listener.local_addr()?);
    let router = Router::new().route("/os.img", get(move || std::future::ready(image.clone())));
    tokio::spawn(std::future::IntoFuture::into_future(axum::serve(listener, router)));
    Ok(url)
}

fn bundle(url: &str, image: &[u8]) -> io::Result<Bundle> {
    let digits: String = Sha256::digest(image).iter().map(|byte| format!("{byte:02x}")).collect();
    let sha256 = Digest::parse(&digits).map_err(io::Error::other)?;
    let artefact = Artefact { url: url.to_owned(), sha256, bytes: image.len() as u64 };
    Ok(Bundle {
        version: RuntimeVersion::parse("4.9.2").map_err(io::Error::other)?,
        os_name: "Linux".to_owned(),
        os_image: artefact.clone().into(),
        kubernetes_version: "v1.33.7".to_owned(),
        boot: BootArtefacts { agent_image: artefact, http: None, pxe: None },
        firmware: Vec::new(),
        user_data: BTreeMap::new(),
    })
}
