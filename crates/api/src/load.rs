//! What is being answered, and who still comes in. An answer counts until it was sent, or until its client is gone.
//!
//! Events and backups are not counted: they last by their nature, and have limits of their own.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use access::PrincipalId;
use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use http::Method;
use hyper::body::{Frame, SizeHint};
use plan::{Effort, Load, may_enter};

use crate::call::Call;
use crate::codes::Code;
use crate::meters;
use crate::reply::{RETRY_AFTER, Refused};
use crate::route::Route;
use crate::route::authorization::Errand;

/// The answers under way.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    answering: usize,
    lists: usize,
    by_caller: BTreeMap<PrincipalId, usize>,
}

/// One answer's place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    answers: Arc<Answers>,
    list_of: Option<PrincipalId>,
    is_list: bool,
}

impl Answers {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for the answer to a request, unless there is too much to do for what it takes.
    pub fn enter(self: &Arc<Self>, call: &Call, route: &Route) -> Result<Option<Place>, Refused> {
        let Some(effort) = effort_of(&call.method, route) else { return Ok(None) };
        let caller = call.sight().ok().map(|sight| sight.caller().principal);
        let is_list = effort == Effort::List;
        let list_of = caller.filter(|_| is_list);
        let mut counts = self.counts();
        let lists_of_caller = list_of.and_then(|caller| counts.by_caller.get(&caller)).copied().unwrap_or_default();
        let load = Load { answering: counts.answering, lists: counts.lists, lists_of_caller };
        may_enter(effort, &load).map_err(|shed| {
            meters::count_shed(route.kind_name());
            Refused::new(Code::ServerBusy, shed.to_string()).retry_after(RETRY_AFTER)
        })?;
        counts.answering += 1;
        counts.lists += usize::from(is_list);
        if let Some(caller) = list_of {
            *counts.by_caller.entry(caller).or_default() += 1;
        }
        drop(counts);
        Ok(Some(Place { answers: self.clone(), list_of, is_list }))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.answers.counts();
        counts.answering -= 1;
        counts.lists -= usize::from(self.is_list);
        let Some(caller) = self.list_of else { return };
        if let Some(lists) = counts.by_caller.get_mut(&caller) {
            *lists -= 1;
            if *lists == 0 {
                counts.by_caller.remove(&caller);
            }
        }
    }
}

/// What a request takes; nothing for what is not counted.
fn effort_of(method: &Method, route: &Route) -> Option<Effort> {
    match route {
        Route::Events | Route::Backup => None,
        Route::List { .. } | Route::Resources { .. } | Route::Operations | Route::ActivityLog { .. } => Some(Effort::List),
        Route::Pools { .. } | Route::Runtimes { .. } | Route::KeySets { .. } | Route::Principals => Some(Effort::List),
        Route::Authorization { errand: Errand::List, .. } => Some(Effort::List),
        Route::OperationStatus { .. } | Route::OperationResult { .. } | Route::Operation { .. } => Some(Effort::Act),
        Route::Health | Route::Ready | Route::Metrics => Some(Effort::Act),
        _ if matches!(*method, Method::GET | Method::HEAD) => Some(Effort::Read),
        _ => Some(Effort::Act),
    }
}

/// The answer, which keeps its place until it was sent.
pub(crate) fn hold(response: Response, place: Option<Place>) -> Response {
    match place {
        Some(place) => response.map(|body| Body::new(Held { body, _place: place })),
        None => response,
    }
}

struct Held {
    body: Body,
    _place: Place,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        HttpBody::size_hint(&self.body)
    }
}

#[cfg(test)]
mod tests;
