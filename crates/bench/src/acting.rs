//! Clients that ask for actions and wait for each to end, as a script would: one after the other, many clients at once.

use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::try_join_all;
use http::{Method, StatusCode};
use serde_json::Value;

use crate::client::Client;
use crate::fleet::SUBSCRIPTION;
use crate::stats::Times;

/// What simulated clusters run.
const VERSION: &str = "4.9.2";

/// A control plane that has just started looks at all its machines first.
const IMPORTED_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// A way to the API.
pub trait Caller: Send + 'static {
    fn call(&mut self, method: Method, path: &str, body: Bytes) -> impl Future<Output = io::Result<(StatusCode, Bytes)>> + Send;
}

impl Caller for Client {
    async fn call(&mut self, method: Method, path: &str, body: Bytes) -> io::Result<(StatusCode, Bytes)> {
        self.send(method, path, body).await
    }
}

/// What is asked of a machine, and how often its client looks whether it has ended.
#[derive(Clone, Copy)]
pub struct Wish {
    pub verb: &'static str,
    pub body: &'static str,
    pub look_every: Duration,
}

/// Where a machine of a simulated site is found.
pub fn machine_path(site: &str, machine: &str) -> String {
    resource_path(site, "bareMetalMachines", machine)
}

pub fn resource_path(site: &str, kind: &str, name: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{site}/providers/Microsoft.NetworkCloud/{kind}/{name}")
}

/// Asks, and waits until the operation has ended. One that does not succeed ends the measurement.
pub async fn act(caller: &mut impl Caller, machine: &str, wish: Wish) -> io::Result<Duration> {
    let asked_at = Instant::now();
    let operation = ask(caller, machine, wish).await?;
    tokio::time::sleep(wish.look_every).await;
    until_ended(caller, &operation, wish).await?;
    Ok(asked_at.elapsed())
}

/// Asks, and gives where its operation is found.
async fn ask(caller: &mut impl Caller, machine: &str, wish: Wish) -> io::Result<String> {
    let path = format!("{machine}/{}?api-version=1", wish.verb);
    let body = until_taken(caller, Method::POST, &path, Bytes::from_static(wish.body.as_bytes()), wish.look_every).await?;
    let accepted: Value = serde_json::from_slice(&body)?;
    Ok(format!("{}?api-version=1", accepted["id"].as_str().unwrap_or_default()))
}

/// Sends a request again for as long as the control plane has too much to do for it.
async fn until_taken(caller: &mut impl Caller, method: Method, path: &str, body: Bytes, pause: Duration) -> io::Result<Bytes> {
    loop {
        let (status, answer) = caller.call(method.clone(), path, body.clone()).await?;
        match status {
            taken if taken.is_success() => return Ok(answer),
            StatusCode::SERVICE_UNAVAILABLE => tokio::time::sleep(pause).await,
            _ => return Err(unexpected(path, status, &answer)),
        }
    }
}

async fn until_ended(caller: &mut impl Caller, operation: &str, wish: Wish) -> io::Result<()> {
    loop {
        let (status, body) = caller.call(Method::GET, operation, Bytes::new()).await?;
        let seen: Value = serde_json::from_slice(&body)?;
        match seen["status"].as_str() {
            Some("Succeeded") => return Ok(()),
            Some("InProgress") => tokio::time::sleep(wish.look_every).await,
            _ => return Err(unexpected(operation, status, &body)),
        }
    }
}

/// Makes the version that the simulated sites run known to one of them, with the images that are served at this address.
pub async fn import_runtime(caller: &mut impl Caller, site: &str, images: &str) -> io::Result<()> {
    let path = format!("{}/runtimes/{VERSION}?api-version=1", resource_path(site, "clusters", site));
    let body = scenarios::runtime(VERSION).to_string().replace(scenarios::IMAGES_URL, images);
    until_taken(caller, Method::PUT, &path, Bytes::from(body), IMPORTED_AGAIN_AFTER).await.map(drop)
}

fn unexpected(path: &str, status: StatusCode, body: &[u8]) -> io::Error {
    io::Error::other(format!("{path} answers {status}: {}", String::from_utf8_lossy(body)))
}

/// How many actions ended within a time, and how long each took.
pub struct Ended {
    pub times: Times,
    pub span: Duration,
}

impl Ended {
    pub fn per_second(&self) -> f64 {
        self.times.count() as f64 / self.span.as_secs_f64()
    }
}

/// Each caller asks for its share of the machines, round after round, until `span` is over. What ends later is waited for,
/// so that nothing is left behind, and is not counted.
pub async fn keep_acting<C: Caller>(callers: Vec<C>, machines: &[String], wish: Wish, span: Duration) -> io::Result<Ended> {
    let until = Instant::now() + span;
    let count = callers.len();
    let tasks = callers.into_iter().enumerate().map(|(index, mut caller)| {
        let share: Vec<String> = machines.iter().skip(index).step_by(count).cloned().collect();
        tokio::spawn(async move {
            let mut times = Vec::new();
            for machine in share.iter().cycle() {
                let time = act(&mut caller, machine, wish).await?;
                if Instant::now() >= until {
                    break;
                }
                times.push(time);
            }
            Ok(times)
        })
    });
    collect(try_join_all(tasks).await?, span)
}

/// Every machine once, shared out among the callers; how long all took together.
pub async fn act_once<C: Caller>(callers: Vec<C>, machines: &[String], wish: Wish) -> io::Result<Ended> {
    let began = Instant::now();
    let count = callers.len();
    let tasks = callers.into_iter().enumerate().map(|(index, mut caller)| {
        let share: Vec<String> = machines.iter().skip(index).step_by(count).cloned().collect();
        tokio::spawn(async move {
            let mut times = Vec::new();
            for machine in &share {
                times.push(act(&mut caller, machine, wish).await?);
            }
            Ok(times)
        })
    });
    let times = try_join_all(tasks).await?;
    collect(times, began.elapsed())
}

/// Asks for every machine, each caller for its share, and only then waits until all have ended; how long all took together. The callers
/// come back.
pub async fn act_at_once<C: Caller>(callers: Vec<C>, machines: &[String], wish: Wish) -> io::Result<(Duration, Vec<C>)> {
    let began = Instant::now();
    let count = callers.len();
    let tasks = callers.into_iter().enumerate().map(|(index, mut caller)| {
        let share: Vec<String> = machines.iter().skip(index).step_by(count).cloned().collect();
        tokio::spawn(async move {
            let mut operations = Vec::new();
            for machine in &share {
                operations.push(ask(&mut caller, machine, wish).await?);
            }
            for operation in &operations {
                until_ended(&mut caller, operation, wish).await?;
            }
            Ok::<C, io::Error>(caller)
        })
    });
    let callers = try_join_all(tasks).await?.into_iter().collect::<io::Result<Vec<C>>>()?;
    Ok((began.elapsed(), callers))
}

fn collect(times: Vec<io::Result<Vec<Duration>>>, span: Duration) -> io::Result<Ended> {
    let times: Vec<Vec<Duration>> = times.into_iter().collect::<io::Result<_>>()?;
    Ok(Ended { times: Times::new(times.concat()), span })
}
