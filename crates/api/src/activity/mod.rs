//! The activity log: `Microsoft.Insights/eventtypes/management/values`, and one entry by its id.
//!
//! Keepers write the log with what they change; `rejections` adds what was refused before a keeper saw it.

mod filter;
pub(crate) mod rejections;
mod render;

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use model::{ACTIVITY_FORMAT, Activity};
use serde_json::Value;
use store::{LogOrder, LogQuery, Record, RecordPlace, Revision, StoreError};
use tokio::sync::{Semaphore, SemaphorePermit};
use tracing::error;

use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::entry::{Sight, unseen_log_of};
use crate::paging::{PAGE_DEFAULT, Page, Paging};
use crate::reply::{RETRY_AFTER, Refused, json_response};
use crate::resources::check_place;
use filter::Filter;

/// Entries that are looked through for one page at most. What a rare filter finds later comes with the next pages, so
/// that no request keeps the store from others for long.
pub const SCAN_MAX: usize = 5_000;

/// Entries that are read at once.
const SCAN_STEP: usize = 500;

/// Queries of the log that are answered at a time. They take turns at the store, so that more would only wait longer: the
/// last of these has its answer in a few seconds, even if each looks through all that it may.
pub const MAX_LOG_READERS: usize = 32;

/// Those who read the log just now.
#[derive(Clone, Debug)]
pub struct LogReaders(Arc<Semaphore>);

impl Default for LogReaders {
    fn default() -> Self {
        LogReaders(Arc::new(Semaphore::new(MAX_LOG_READERS)))
    }
}

impl LogReaders {
    /// A place among them, kept until it is dropped.
    fn enter(&self) -> Result<SemaphorePermit<'_>, Refused> {
        self.0.try_acquire().map_err(|_| {
            let message = format!("{MAX_LOG_READERS} queries of the activity log are being answered");
            Refused::new(Code::TooManyRequests, message).retry_after(RETRY_AFTER)
        })
    }
}

/// Newest first.
pub(crate) async fn list(api: &Api, call: &Call, subscription: &str) -> Result<Response, Refused> {
    let paging = Paging::of(call, PAGE_DEFAULT)?;
    let after = paging.after(parse_place)?;
    let filter = call.query("$filter").map(Filter::parse).transpose()?.unwrap_or_default();
    let _place = api.process.log_readers.enter()?;
    let Found { events, next } =
        scan(api, call.sight()?, subscription, &filter, after, paging.top()).await.map_err(|problem| unreadable(&problem))?;
    if events.is_empty() && next.is_none() {
        // A subscription whose last cluster is gone still has its log; one that never was is a typing mistake.
        check_place(&api.cache.view(), subscription, None)?;
    }
    let next_link = next.map(|place| paging.next_link(call, &print_place(place)));
    Ok(json_response(StatusCode::OK, &Page { next_link, value: events }))
}

pub(crate) async fn show(api: &Api, call: &Call, id: &str) -> Result<Response, Refused> {
    let unknown = || Refused::not_found("activity log entry", id);
    let place = render::place_of(id).ok_or_else(unknown)?;
    let _reading = api.process.log_readers.enter()?;
    let query = LogQuery { after: Some(place.predecessor()), order: LogOrder::OldestFirst, limit: 1, ..LogQuery::default() };
    let found = api.store.read_log(query).await.map_err(|problem| unreadable(&problem))?;
    let record = found.first().filter(|record| record.place == place).ok_or_else(unknown)?;
    let entry = decode(record).ok_or_else(unknown)?;
    // Ids can be counted up: whoever may not read an entry is not told what it is about.
    let resource = render::resource_id(&entry.subject);
    if !call.sight()?.sees_log_of(&resource) {
        call.deny(unseen_log_of(&resource));
        return Err(unknown());
    }
    Ok(json_response(StatusCode::OK, &render::event(place, record.at, &entry)))
}

/// What is on a page, and the place behind which the next one begins, if there may be one.
struct Found {
    events: Vec<Value>,
    next: Option<RecordPlace>,
}

async fn scan(
    api: &Api,
    sight: &Sight,
    subscription: &str,
    filter: &Filter,
    after: Option<RecordPlace>,
    top: usize,
) -> Result<Found, StoreError> {
    let (from, to) = filter.range();
    let label = Some(filter.label(subscription));
    let mut page = Found { events: Vec::new(), next: after };
    for _ in 0..SCAN_MAX / SCAN_STEP {
        let query = LogQuery { label: label.clone(), from, to, after: page.next, order: LogOrder::NewestFirst, limit: SCAN_STEP };
        let records = api.store.read_log(query).await?;
        let is_last = records.len() < SCAN_STEP;
        for record in &records {
            if page.events.len() == top {
                return Ok(page);
            }
            page.next = Some(record.place);
            let entry = decode(record)
                .filter(|entry| entry.subject.subscription.eq_ignore_ascii_case(subscription) && filter.passes(entry))
                .filter(|entry| sight.sees_log_of(&render::resource_id(&entry.subject)));
            page.events.extend(entry.map(|entry| render::event(record.place, record.at, &entry)));
        }
        if is_last {
            return Ok(Found { next: None, ..page });
        }
    }
    Ok(page)
}

/// The entry of a record, unless a newer version wrote it in a way that this one does not know.
fn decode(record: &Record) -> Option<Activity> {
    match serde_json::from_slice::<Activity>(&record.value) {
        Ok(entry) => Some(entry).filter(|entry| entry.format <= ACTIVITY_FORMAT),
        Err(problem) => {
            error!(place = ?record.place, error = %problem, "an entry of the activity log cannot be read and is not shown");
            None
        }
    }
}

fn print_place(place: RecordPlace) -> String {
    format!("{}/{}", place.revision.0, place.position)
}

fn parse_place(token: &str) -> Option<RecordPlace> {
    let (revision, position) = token.split_once('/')?;
    Some(RecordPlace { revision: Revision(revision.parse().ok()?), position: position.parse().ok()? })
}

fn unreadable(problem: &StoreError) -> Refused {
    error!(error = %problem, "the activity log cannot be read");
    Refused::new(Code::StoreUnavailable, "the activity log cannot be read just now").retry_after(RETRY_AFTER)
}

#[cfg(test)]
mod tests;
