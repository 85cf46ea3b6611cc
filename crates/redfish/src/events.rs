//! Events: what a BMC tells by itself, for as long as somebody listens.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::stream::{self, BoxStream, Stream};
use http_body_util::BodyExt;
use model::{Delivery, Fault, FaultClass, Span, Timestamp, shortened};
use serde_json::Value;
use tokio::time::timeout;

use crate::bmc::Bmc;
use crate::document::{self, field, flag, items, link, text};
use crate::line::Deadline;
use crate::sse::{MAX_EVENT_BYTES, Parser, Signal};
use crate::transport::Content;

/// How long a stream that has shown signs of life may be silent.
///
/// Servers that send comments to show that they live do so at least every minute; three missed ones are no accident. A BMC
/// that never sends any may rightly be silent for days, so this holds only for one that did; the others are left to TCP.
pub const KEEP_ALIVE_TIMEOUT: Span = Span::seconds(180);

/// Something that a BMC reports. It is a reason to look, never a fact by itself: events are lost, late and doubled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BmcEvent {
    /// `ResourceEvent.1.3.PowerStateChanged` or the like.
    pub message_id: Option<String>,
    pub message: Option<String>,
    /// `OK`, `Warning` or `Critical`.
    pub severity: Option<String>,
    /// Where the resource is that it is about.
    pub origin: Option<String>,
    pub at: Option<Timestamp>,
}

/// The events of one BMC. It ends when the BMC ends it; a fault is its last item.
pub struct EventStream(BoxStream<'static, Result<BmcEvent, Fault>>);

impl Bmc {
    /// Listens to the BMC's events; nothing if it offers no stream of them.
    pub async fn watch_events(&self) -> Result<Option<EventStream>, Fault> {
        let deadline = Deadline::of_call();
        let Some(service) = self.line().root(deadline).await?.events else { return Ok(None) };
        let Some(service) = self.read_if_there(&service, deadline).await? else { return Ok(None) };
        let is_enabled = flag(&service, "ServiceEnabled").unwrap_or(true);
        let Some(path) = document::linked(&service, "ServerSentEventUri").filter(|_| is_enabled) else { return Ok(None) };
        let content = self.line().stream(&path, deadline).await?;
        Ok(Some(EventStream::over(path, content)))
    }
}

/// A stream that is being read.
struct Ear {
    path: String,
    content: Content,
    parser: Parser,
    /// Read but not yet given.
    heard: VecDeque<BmcEvent>,
    pulse: Pulse,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pulse {
    /// This BMC has sent keep-alives.
    Shown,
    Unknown,
    /// The stream is over.
    Ended,
}

impl EventStream {
    fn over(path: String, content: Content) -> EventStream {
        let ear = Ear { path, content, parser: Parser::default(), heard: VecDeque::new(), pulse: Pulse::Unknown };
        EventStream(Box::pin(stream::unfold(ear, |mut ear| async move { ear.next().await.map(|item| (item, ear)) })))
    }
}

impl Ear {
    async fn next(&mut self) -> Option<Result<BmcEvent, Fault>> {
        loop {
            if let Some(event) = self.heard.pop_front() {
                return Some(Ok(event));
            }
            let frame = match self.pulse {
                Pulse::Ended => return None,
                Pulse::Unknown => self.content.frame().await,
                Pulse::Shown => match timeout(KEEP_ALIVE_TIMEOUT.to_std(), self.content.frame()).await {
                    Ok(frame) => frame,
                    Err(_) => return Some(Err(self.end(FaultClass::Unreachable, "the event stream fell silent"))),
                },
            };
            let bytes = match frame {
                None => return None,
                Some(Err(error)) => {
                    tracing::debug!(path = self.path, error = &error as &dyn std::error::Error, "an event stream broke");
                    return Some(Err(self.end(FaultClass::Unreachable, "the event stream broke")));
                }
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            };
            let Ok(signals) = self.parser.feed(&bytes) else {
                return Some(Err(self.end(FaultClass::Garbled, &format!("an event is longer than {MAX_EVENT_BYTES} bytes"))));
            };
            for signal in signals {
                match signal {
                    Signal::KeepAlive => self.pulse = Pulse::Shown,
                    Signal::Message(data) => self.heard.extend(read_events(&data)),
                }
            }
        }
    }

    fn end(&mut self, class: FaultClass, what: &str) -> Fault {
        self.pulse = Pulse::Ended;
        Fault::new(class, Delivery::No, format!("GET {}: {what}", self.path))
    }
}

/// The events of one message, which is a document with several records. One that cannot be read is left out.
fn read_events(data: &str) -> Vec<BmcEvent> {
    let Some(document) = document::parse(data.as_bytes()) else { return Vec::new() };
    items(field(&document, "Events")).filter(|record| record.is_object()).map(read_event).collect()
}

fn read_event(record: &Value) -> BmcEvent {
    BmcEvent {
        message_id: text(record, "MessageId"),
        message: text(record, "Message").map(|message| shortened(&message)),
        severity: text(record, "MessageSeverity").or_else(|| text(record, "Severity")),
        origin: link(field(record, "OriginOfCondition")),
        at: text(record, "EventTimestamp").and_then(|at| Timestamp::parse(&at)),
    }
}

impl Stream for EventStream {
    type Item = Result<BmcEvent, Fault>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}
