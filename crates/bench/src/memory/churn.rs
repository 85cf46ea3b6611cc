//! Whether memory grows with what happens: hours of a site's life in which its machines are restarted again and again, written
//! to, listed and listened to.
//!
//! What is kept of the past has bounds, and filling up to a bound is no leak. So the store begins with as many ended operations
//! and logged changes as it ever keeps, and what has its bound in memory alone is filled in an hour that does not count.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::try_join_all;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use model::{
    Action, Clock, ClusterName, CorrelationId, DeviceAsk, Ended, Entry, Fact, MachineName, OPERATION_FORMAT, Operation, OperationId,
    OperationResult, Span, StepKind, Timestamp, keys,
};
use store::{Commit, SharedStore, SqliteStore, SystemClock};
use tokio::time::{Instant, sleep, timeout_at};

use super::stand::{Bmcs, Shape, Stand, runtime};
use crate::client::Client;
use crate::door::Door;
use crate::figure::{Figure, Report, Size, Unit};
use crate::fleet::SUBSCRIPTION;

/// As many ended operations as a cluster keeps.
const KEPT_OPERATIONS: u64 = 10_000;

/// As many commits as the store's log keeps; operations are written again and again until there are so many.
const KEPT_COMMITS: u64 = 100_000;

/// Sixty times life: an hour of the site is a minute of ours.
const SPEED: &str = "60";
const HOUR: Duration = Duration::from_secs(60);

/// Hours that are measured, after one that is not.
const HOURS: u32 = 2;

/// Between two requests of one client. Four clients at this pace leave the cores to the control plane.
const PAUSE: Duration = Duration::from_millis(40);

/// How long a listener stays.
const LISTENS_FOR: Duration = Duration::from_millis(500);

pub fn measure(size: Size) -> io::Result<Report> {
    let per_rack = size.pick(16, 4);
    let shape = Shape { clusters: 1, racks: size.pick(8, 1), machines_per_rack: per_rack, speed: SPEED, bmcs: Bmcs::Http };
    let (operations, commits) = size.pick((KEPT_OPERATIONS, KEPT_COMMITS), (100, 200));
    let stand = Stand::start(shape, |data| runtime()?.block_on(fill(data, operations, commits)))?;
    stand.until_called("listen", shape.machines())?;
    let hour = size.pick(HOUR, Duration::from_secs(2));
    let runtime = runtime()?;
    runtime.block_on(churn(&stand.door, hour))?;
    let before = stand.plane.memory()?;
    let restarts = runtime.block_on(churn(&stand.door, hour * HOURS))?;
    let after = stand.plane.memory()?;
    if restarts == 0 {
        return Err(io::Error::other("no restart was accepted, so nothing happened"));
    }
    let grown = (after as f64 - before as f64) / 1e6 / f64::from(HOURS);
    Ok(Report {
        figures: vec![
            Figure::new(
                "growth of memory in an hour of churn",
                grown,
                Unit::Megabytes,
                "what is kept of the past has bounds, and is at them",
            )
            .under(1.0),
            Figure::new(
                "memory after it, with 10,000 ended operations kept",
                after as f64 / 1e6,
                Unit::Megabytes,
                "the operations, in the store, with the keeper and in the API's cache",
            ),
            Figure::new(
                "restarts that were accepted in such an hour",
                restarts as f64 / f64::from(HOURS),
                Unit::Count,
                "the pace of the benchmark's clients, and 128 machines that take some minutes for a restart",
            ),
        ],
        ..Report::default()
    })
}

/// Restarts, writes, lists and listens for a while; gives how many restarts were accepted.
async fn churn(door: &Door, lasts: Duration) -> io::Result<u64> {
    let until = Instant::now() + lasts;
    let machines = names(door).await?;
    let (restarts, (), (), ()) =
        tokio::try_join!(restart(door, &machines, until), tag(door, &machines, until), list(door, until), listen(door, until))?;
    Ok(restarts)
}

/// Each machine in turn. One that is busy, or that the others need, refuses, and is asked again when its turn comes.
async fn restart(door: &Door, machines: &[String], until: Instant) -> io::Result<u64> {
    let mut client = Client::connect(door).await?;
    let mut accepted = 0;
    for name in machines.iter().cycle() {
        if Instant::now() >= until {
            break;
        }
        let (status, _) = client.post(&path(&format!("/{name}/restart")), Bytes::new()).await?;
        match status {
            StatusCode::ACCEPTED => accepted += 1,
            refused if refused.is_client_error() => {}
            other => return Err(io::Error::other(format!("a restart of {name} answers {other}"))),
        }
        sleep(PAUSE).await;
    }
    Ok(accepted)
}

async fn tag(door: &Door, machines: &[String], until: Instant) -> io::Result<()> {
    let mut client = Client::connect(door).await?;
    for (round, name) in machines.iter().cycle().enumerate() {
        if Instant::now() >= until {
            break;
        }
        let body = format!(r#"{{"tags":{{"round":"{:06}"}}}}"#, round / machines.len());
        let response = client.open(Method::PATCH, &path(&format!("/{name}")), Bytes::from(body)).await?;
        expect(response.status(), "a tag")?;
        response.into_body().collect().await.map_err(io::Error::other)?;
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn list(door: &Door, until: Instant) -> io::Result<()> {
    while Instant::now() < until {
        // A connection of its own for each, as a script has.
        let (status, _) = Client::connect(door).await?.get(&path("")).await?;
        expect(status, "a list")?;
        sleep(PAUSE).await;
    }
    Ok(())
}

/// Listeners that come, hear what there is, and hang up in the middle of it.
async fn listen(door: &Door, until: Instant) -> io::Result<()> {
    while Instant::now() < until {
        let mut client = Client::connect(door).await?;
        let response = client.open(Method::GET, "/rackwright/v1/events", Bytes::new()).await?;
        expect(response.status(), "a listener")?;
        let mut events = response.into_body();
        let leaves_at = Instant::now() + LISTENS_FOR;
        while let Ok(Some(event)) = timeout_at(leaves_at, events.frame()).await {
            event.map_err(io::Error::other)?;
        }
    }
    Ok(())
}

fn expect(status: StatusCode, what: &str) -> io::Result<()> {
    if status.is_success() { Ok(()) } else { Err(io::Error::other(format!("{what} is answered with {status}"))) }
}

async fn names(door: &Door) -> io::Result<Vec<String>> {
    let (_, listed) = Client::connect(door).await?.get(&path("")).await?;
    let listed: serde_json::Value = serde_json::from_slice(&listed).map_err(io::Error::other)?;
    let machines = listed["value"].as_array().into_iter().flatten();
    Ok(machines.filter_map(|machine| Some(machine["name"].as_str()?.to_owned())).collect())
}

fn path(rest: &str) -> String {
    format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines{rest}?api-version=2026-07-01"
    )
}

/// A store with a long past: operations that ended within the last hours, and a log that is full of them.
async fn fill(data: &Path, operations: u64, commits: u64) -> io::Result<()> {
    let clock = Arc::new(SystemClock);
    let store: SharedStore = Arc::new(SqliteStore::open(data, clock.clone()).map_err(io::Error::other)?);
    let ended_at = clock.now() - Span::hours(1);
    let writes = (0..commits).map(|n| {
        let operation = ended_operation(n % operations, ended_at);
        let key = keys::operation(&operation.cluster, &operation.id);
        let store = store.clone();
        async move { store.commit(Commit::default().put(key, serde_json::to_vec(&operation)?)).await.map_err(io::Error::other) }
    });
    // Together, so that many share one sync of the disk.
    try_join_all(writes).await.map(|_| ())
}

/// A restart as its keeper leaves it.
fn ended_operation(number: u64, ended_at: Timestamp) -> Operation {
    let asked = |ask| Fact::Asked { ask, attempt: 1 };
    let seen = |step| Fact::Seen { step };
    let facts = [
        Fact::Found { boot_id: Some("5f1d0c66-6a2b-4c1e-9d3e-000000000000".to_owned()), provisioning: None },
        asked(DeviceAsk::Cordon),
        seen(StepKind::Cordon),
        asked(DeviceAsk::GracefulOff),
        seen(StepKind::PowerOff),
        asked(DeviceAsk::PowerOn),
        seen(StepKind::PowerOn),
        seen(StepKind::Rejoin),
        asked(DeviceAsk::Uncordon),
        seen(StepKind::Uncordon),
    ];
    Operation {
        format: OPERATION_FORMAT,
        id: OperationId::new(format!("00000000-0000-4000-8000-{number:012}")),
        cluster: ClusterName::new("site1").expect("a constant"),
        target: model::Target::Machine(
            MachineName::new(format!("rack{}compute{:02}", number / 13 % 8 + 1, number % 13 + 3)).expect("a constant shape"),
        ),
        action: Action::Restart,
        caller: "anonymous".to_owned(),
        correlation_id: CorrelationId::new(format!("00000000-0000-4000-8001-{number:012}")),
        request_key: None,
        accepted_at: ended_at - Span::minutes(1),
        deadline_at: ended_at + Span::minutes(40),
        journal: facts.into_iter().map(|fact| Entry { at: ended_at, fact }).collect(),
        cancel: None,
        ended: Some(Ended { at: ended_at, result: OperationResult::Succeeded, message: "restarted".to_owned(), next: None, failure: None }),
        wait: None,
        replacement: None,
    }
}
