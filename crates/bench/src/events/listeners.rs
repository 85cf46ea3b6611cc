//! Clients that listen to events, each on a connection of its own, and note when they heard of which revision.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::runtime::Runtime;

use crate::changes::{Committed, now_micros};
use crate::client::Client;
use crate::door::Door;

/// How long nothing may be heard before what is missing counts as lost.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Listeners {
    count: usize,
    heard: Receiver<Heard>,
    /// They listen as long as this is there.
    _runtime: Runtime,
}

/// Events that one listener read at once.
struct Heard {
    at: u64,
    /// The ids of the events, in the order in which they came.
    revisions: Vec<u64>,
}

/// What all listeners heard of some commits.
pub struct Hearing {
    /// When the last listener heard of each commit.
    pub last_at: Vec<u64>,
    /// Events that were heard in all, each listener's own.
    pub events: usize,
}

impl Listeners {
    pub fn sit_down(door: &Door, count: usize) -> io::Result<Listeners> {
        // One thread, so that the process that tells them has a core to itself.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (told, heard) = mpsc::channel();
        for number in 0..count {
            let stream = runtime.block_on(begin(&door.of_caller(number / api::MAX_LISTENERS_OF_CALLER)))?;
            runtime.spawn(listen(stream, told.clone()));
        }
        Ok(Listeners { count, heard, _runtime: runtime })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Waits until every listener has heard of every commit, or nothing more comes.
    pub fn hear(&self, committed: &[Committed]) -> io::Result<Hearing> {
        let first = committed.first().map_or(0, |commit| commit.revision);
        let mut hearing = Hearing { last_at: vec![0; committed.len()], events: 0 };
        while hearing.events < committed.len() * self.count {
            let Ok(Heard { at, revisions }) = self.heard.recv_timeout(PATIENCE) else { break };
            for revision in revisions {
                let index = revision.checked_sub(first).and_then(|index| usize::try_from(index).ok());
                let known = index.filter(|index| committed.get(*index).is_some_and(|commit| commit.revision == revision));
                let index = known.ok_or_else(|| io::Error::other(format!("revision {revision} was told, but not committed")))?;
                hearing.last_at[index] = hearing.last_at[index].max(at);
                hearing.events += 1;
            }
        }
        Ok(hearing)
    }
}

/// A stream whose greeting was read.
async fn begin(door: &Door) -> io::Result<(Client, Incoming)> {
    let mut client = Client::connect(door).await?;
    let response = client.open(Method::GET, "/rackwright/v1/events?types=machines", Bytes::new()).await?;
    if response.status() != StatusCode::OK {
        return Err(io::Error::other(format!("a listener is answered {}", response.status())));
    }
    let mut stream = response.into_body();
    stream.frame().await.transpose().map_err(io::Error::other)?;
    Ok((client, stream))
}

/// Reads until the stream ends. An event that does not follow the one before it ends the stream too, so that what came out
/// of order or twice counts as lost.
async fn listen((_client, mut stream): (Client, Incoming), told: Sender<Heard>) {
    let (mut rest, mut last) = (Vec::new(), 0);
    while let Some(Ok(frame)) = stream.frame().await {
        let Some(bytes) = frame.data_ref() else { continue };
        let at = now_micros();
        let revisions = ids(&mut rest, bytes);
        if !revisions.iter().all(|revision| std::mem::replace(&mut last, *revision) < *revision) {
            return;
        }
        if told.send(Heard { at, revisions }).is_err() {
            return;
        }
    }
}

/// The ids of the events that end in these bytes; what has not ended stays in `rest`.
fn ids(rest: &mut Vec<u8>, bytes: &[u8]) -> Vec<u64> {
    rest.extend_from_slice(bytes);
    // An empty line ends an event.
    let Some(end) = rest.windows(2).rposition(|pair| pair == b"\n\n") else { return Vec::new() };
    let whole: Vec<u8> = rest.drain(..=end).collect();
    let mut is_event = false;
    let mut ids = Vec::new();
    for line in whole.split(|byte| *byte == b'\n') {
        is_event |= line.starts_with(b"event: resource");
        let id = line.strip_prefix(b"id: ").and_then(|id| std::str::from_utf8(id).ok()?.parse::<u64>().ok());
        if let Some(id) = id {
            // A heartbeat has an id, and tells of nothing.
            ids.extend(is_event.then_some(id));
            is_event = false;
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_counts_once_when_its_id_is_there_and_a_heartbeat_does_not() {
        let stream = b"event: resource\ndata: {}\nid: 7\n\n: still here\nid: 8\n\nevent: resource\ndata: {}\nid: 9\n\n";
        for cut in 0..stream.len() {
            let mut rest = Vec::new();
            let told = [ids(&mut rest, &stream[..cut]), ids(&mut rest, &stream[cut..])].concat();
            assert_eq!(told, [7, 9], "cut at {cut}");
        }
    }
}
