//! Events: what the BMC writes into its log, pushed to whoever holds a stream open.
//!
//! An event's id is the number of its log entry, so a client that comes back says what it saw last and misses nothing
//! that the log still has.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use serde_json::{Value, json};
use world::LogEntry;

use super::answer::Answer;
use super::call::Call;
use super::document;
use super::{Bmc, logs};

const STREAM_PATH: &str = "/redfish/v1/EventService/SSE";

/// How often a quiet stream shows that it is alive, so that both sides notice a dead connection.
const ALIVE_EVERY: Duration = Duration::from_secs(30);

pub(super) fn service(call: &Call<'_>) -> Result<Answer, Answer> {
    let mut document = json!({
        "@odata.id": call.path,
        "@odata.type": "#EventService.v1_10_0.EventService",
        "Id": "EventService",
        "Name": "Event Service",
        "ServiceEnabled": true,
        "EventFormatTypes": ["Event"],
        "RegistryPrefixes": [logs::REGISTRY_PREFIX],
        "ResourceTypes": ["ComputerSystem", "Manager", "Task"],
        "Status": document::enabled(),
    });
    if call.bmc.profile().offers_events {
        document["ServerSentEventUri"] = json!(STREAM_PATH);
    }
    Ok(Answer::ok(&document))
}

struct Streaming {
    bmc: Bmc,
    /// The number of the last entry that was told.
    told: u64,
    /// The start of the BMC that the stream belongs to.
    restarts: u32,
    has_greeted: bool,
}

pub(super) fn stream(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc.clone();
    let (last, restarts) = bmc.site.look(|world| (world.bmc_log(bmc.index).last_number(), world.bmc_restarts(bmc.index)));
    let seen = call.headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(|id| id.trim().parse().ok());
    let streaming = Streaming { bmc, told: seen.unwrap_or(last).min(last), restarts, has_greeted: false };
    let chunks = stream::unfold(streaming, |mut streaming| async move {
        let chunk = streaming.next_chunk().await?;
        Some((Ok::<_, Infallible>(chunk), streaming))
    });
    Ok(Answer::events(Body::from_stream(chunks)))
}

impl Streaming {
    /// The next bytes to send; nothing when the site stops or the BMC has restarted.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        // A client knows that it is connected when something comes.
        if !std::mem::replace(&mut self.has_greeted, true) {
            return Some(Bytes::from_static(b": stream open\n\n"));
        }
        let site = self.bmc.site.clone();
        loop {
            let woken = site.log_written(self.bmc.index);
            let mut woken = std::pin::pin!(woken);
            woken.as_mut().enable();
            let (entries, is_same) = site.look(|world| {
                let new = world.bmc_log(self.bmc.index).entries().filter(|entry| entry.number > self.told).cloned();
                let is_same = world.bmc_restarts(self.bmc.index) == self.restarts && world.is_bmc_up(self.bmc.index);
                (new.collect::<Vec<LogEntry>>(), is_same)
            });
            // Nobody is told what could still be lost.
            if !is_same || site.settle().await.is_err() {
                return None;
            }
            if let Some(last) = entries.last() {
                self.told = last.number;
                return Some(Bytes::from(entries.iter().map(|entry| frame(&self.bmc, entry)).collect::<String>()));
            }
            tokio::select! {
                biased;
                () = site.inner.stopping.cancelled() => return None,
                () = woken => {}
                () = tokio::time::sleep(ALIVE_EVERY) => return Some(Bytes::from_static(b": alive\n\n")),
            }
        }
    }
}

fn frame(bmc: &Bmc, entry: &LogEntry) -> String {
    format!("id: {}\ndata: {}\n\n", entry.number, event(bmc, entry))
}

fn event(bmc: &Bmc, entry: &LogEntry) -> Value {
    let told = logs::tell(bmc, entry);
    json!({
        "@odata.type": "#Event.v1_8_0.Event",
        "Id": entry.number.to_string(),
        "Name": "Event Array",
        "Events": [{
            "EventId": entry.number.to_string(),
            "MemberId": "0",
            "EventType": told.event_type,
            "EventTimestamp": entry.at.to_seconds_text(),
            "MessageId": told.message_id,
            "Message": told.message,
            "MessageArgs": told.arguments,
            "MessageSeverity": told.severity,
            "OriginOfCondition": {"@odata.id": told.origin},
            "LogEntry": {"@odata.id": logs::entry_path(bmc, entry.number)},
        }],
    })
}
