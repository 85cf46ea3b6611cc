//! `GET /rackwright/v1/events`: what changes, as server-sent events.
//!
//! An event is sent only when a read already shows what it tells. Its id is the revision of the store, and comes with the
//! last event of a commit; `Last-Event-ID` goes on after it.

mod feed;
mod listener;
mod render;
mod seats;
#[cfg(test)]
mod tests;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};
use store::Revision;

pub(crate) use feed::Feed;
use feed::{News, Subject};
pub use feed::{TAIL_BYTES_MAX, TAIL_EVENTS_MAX};
pub use listener::HEARTBEAT_EVERY;
pub(crate) use render::news_of;
pub use seats::{MAX_LISTENERS, MAX_LISTENERS_OF_CALLER};

use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::entry::Badge;
use crate::reply::{RETRY_AFTER, Refused, shortened};

/// The names of what can be listened to; Azure's name for machines and ours for its virtual
/// machines are understood too.
const SUBJECTS: [(&str, Subject); 8] = [
    ("clusters", Subject::Clusters),
    ("racks", Subject::Racks),
    ("machines", Subject::Machines),
    ("virtualMachines", Subject::Vms),
    ("kubernetesClusters", Subject::TenantClusters),
    ("operations", Subject::Operations),
    ("vms", Subject::Vms),
    ("bareMetalMachines", Subject::Machines),
];

/// Which events a listener wants; without a word from it, all.
#[derive(Clone, Debug, Default)]
struct Filter {
    subjects: Option<Vec<Subject>>,
    resource_id: Option<String>,
}

impl Filter {
    fn of(call: &Call) -> Result<Filter, Refused> {
        let subjects = call.query("types").map(parse_subjects).transpose()?;
        let resource_id = call.query("resourceId").map(str::to_owned);
        if let Some(id) = resource_id.as_deref().filter(|id| !id.to_ascii_lowercase().starts_with("/subscriptions/")) {
            let message = format!("`resourceId` must be a resource's whole id, from /subscriptions/ on, not `{}`", shortened(id));
            return Err(Refused::bad_content(message).target("resourceId"));
        }
        Ok(Filter { subjects, resource_id })
    }

    fn takes(&self, news: &News) -> bool {
        self.subjects.as_ref().is_none_or(|subjects| subjects.contains(&news.subject))
            && self.resource_id.as_ref().is_none_or(|id| id.eq_ignore_ascii_case(&news.resource_id))
    }
}

fn parse_subjects(text: &str) -> Result<Vec<Subject>, Refused> {
    let names = text.split(',').map(str::trim);
    names
        .map(|name| match SUBJECTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, subject)) => Ok(*subject),
            None => {
                let known = "clusters, racks, machines, virtualMachines, kubernetesClusters and operations";
                let message = format!("`types` has no `{}`; {known} can be listened to", shortened(name));
                Err(Refused::bad_content(message).target("types"))
            }
        })
        .collect()
}

/// The revision that the client has seen last. Browsers send it as a header when they connect again.
fn last_seen(call: &Call) -> Result<Option<Revision>, Refused> {
    let Some(text) = call.header("last-event-id").or_else(|| call.query("lastEventId").map(str::to_owned)) else { return Ok(None) };
    match text.parse::<u64>() {
        Ok(number) => Ok(Some(Revision(number))),
        Err(_) => {
            let message = format!("`Last-Event-ID` must be the id of an event, which is a number, not `{}`", shortened(&text));
            Err(Refused::bad_content(message).target("Last-Event-ID"))
        }
    }
}

pub(crate) fn listen(api: &Api, call: &Call) -> Result<Response, Refused> {
    let filter = Filter::of(call)?;
    let last_seen = last_seen(call)?;
    let listening = (call.sight()?.afresh(), Badge::of(api, call)?);
    let seat = api.cache.feed().sit_down(call.sight()?.caller().principal, last_seen);
    let seat = seat.map_err(|full| Refused::new(Code::TooManyRequests, full.to_string()).retry_after(RETRY_AFTER))?;
    let mut response = Response::new(Body::from_stream(listener::stream(api.cache.clone(), filter, listening, seat)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A proxy that collects an answer before it passes it on would keep the events to itself.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}
