//! Watching: a stream of changes as JSON lines, until its time is up, the API goes away, or the site stops.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use tokio::sync::watch::Receiver;
use tokio::time::Instant;
use world::{Change, ChangeKind, Expired, Kube, Resource};

use super::selector::Selector;
use super::status::Failure;
use super::target::Target;
use super::{Call, Server, table};
use crate::site::Pulse;

/// How long a watch lasts when the client does not say: kube-apiserver's `--min-request-timeout`.
const WATCH_TIMEOUT: Duration = Duration::from_secs(1_800);

/// How often a client that asked for bookmarks gets one, as kube-apiserver does.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// Where a watch starts.
enum Start {
    /// With the present objects as if they had just been added.
    Everything,
    /// With what changed after this version.
    After(u64),
}

struct Watching {
    server: Server,
    resource: &'static Resource,
    selector: Selector,
    call: Call,
    columns: table::Columns,
    wants_table: bool,
    version: u64,
    lines: VecDeque<Value>,
    pulse: Receiver<Pulse>,
    ends_at: Instant,
    bookmark_at: Option<Instant>,
    is_over: bool,
}

pub(super) async fn start(server: &Server, call: &Call, target: &Target) -> Result<Response, Failure> {
    let selector = Selector::of(call, target)?;
    let begin = match call.parameter("resourceVersion") {
        None | Some("0") => Start::Everything,
        Some(_) if call.is_set("sendInitialEvents") => Start::Everything,
        Some(version) => {
            Start::After(version.parse().map_err(|_| Failure::bad_request(format!("Invalid value: \"{version}\" for resourceVersion")))?)
        }
    };
    let timeout = match call.parameter("timeoutSeconds").map(str::parse) {
        None | Some(Ok(0)) => WATCH_TIMEOUT,
        Some(Ok(seconds)) => Duration::from_secs(seconds),
        Some(Err(_)) => return Err(Failure::bad_request("timeoutSeconds is not a number")),
    };
    let now = Instant::now();
    let mut watching = Watching {
        server: server.clone(),
        resource: target.resource,
        selector,
        wants_table: table::wanted(&call.headers),
        call: Call {
            method: call.method.clone(),
            path: String::new(),
            query: call.query.clone(),
            headers: call.headers.clone(),
            body: Bytes::new(),
        },
        columns: table::Columns::Shown,
        version: 0,
        lines: VecDeque::new(),
        pulse: server.site.pulse(&server.cluster).ok_or_else(Failure::unavailable)?,
        ends_at: now + timeout,
        bookmark_at: call.is_set("allowWatchBookmarks").then_some(now + BOOKMARK_EVERY),
        is_over: false,
    };
    server.look(|kube| watching.begin(kube, &begin))??;
    server.settle().await?;
    let lines = stream::unfold(watching, |mut watching| async move {
        let chunk = watching.next_chunk().await?;
        Some((Ok::<_, Infallible>(chunk), watching))
    });
    Ok(([(CONTENT_TYPE, "application/json")], Body::from_stream(lines)).into_response())
}

impl Watching {
    fn begin(&mut self, kube: &Kube, begin: &Start) -> Result<(), Failure> {
        let current = kube.objects().version();
        match *begin {
            Start::After(version) if version > current => return Err(Failure::too_new(version, current)),
            Start::After(version) => self.version = version,
            Start::Everything => {
                self.version = current;
                let present = kube.objects().list(self.resource, self.selector.namespace());
                let meant: Vec<Arc<Value>> =
                    present.filter(|(key, object)| self.selector.admits(key, object)).map(|(_, object)| object.clone()).collect();
                meant.iter().for_each(|object| self.push("ADDED", object));
                if self.call.is_set("sendInitialEvents") && self.call.is_set("allowWatchBookmarks") {
                    let mut bookmark = self.bookmark();
                    bookmark["object"]["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
                    self.lines.push_back(bookmark);
                }
            }
        }
        Ok(())
    }

    /// The next lines, or nothing when the watch is over.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        loop {
            if !self.lines.is_empty() {
                let text: String = self.lines.drain(..).map(|line| format!("{line}\n")).collect();
                return Some(Bytes::from(text));
            }
            if self.is_over {
                return None;
            }
            self.pulse.mark_unchanged();
            self.look();
            // Watchers, too, are told only what is saved.
            self.server.settle().await.ok()?;
            if self.lines.is_empty() && !self.is_over {
                self.wait().await;
            }
        }
    }

    async fn wait(&mut self) {
        let site = self.server.site.clone();
        let bookmark = async {
            match self.bookmark_at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let is_bookmark_due = tokio::select! {
            biased;
            () = site.inner.stopping.cancelled() => { self.is_over = true; false }
            () = tokio::time::sleep_until(self.ends_at) => { self.is_over = true; false }
            changed = self.pulse.changed() => { self.is_over = changed.is_err(); false }
            () = bookmark => true,
        };
        if is_bookmark_due {
            // What changed since the last look is told before the bookmark that covers it.
            self.look();
            self.lines.push_back(self.bookmark());
            self.bookmark_at = Some(Instant::now() + BOOKMARK_EVERY);
        }
    }

    /// Takes what changed since the last look; a cluster that is gone ends the watch.
    fn look(&mut self) {
        let server = self.server.clone();
        if server.look(|kube| self.collect(kube)).is_err() {
            self.is_over = true;
        }
    }

    fn collect(&mut self, kube: &Kube) {
        if !kube.is_available() {
            self.is_over = true;
            return;
        }
        match kube.objects().changes_after(self.resource, self.version) {
            Ok(changes) => changes.for_each(|change| self.push_change(change)),
            Err(expired) => self.expire(expired),
        }
        self.version = kube.objects().version();
    }

    fn expire(&mut self, expired: Expired) {
        self.lines.push_back(json!({"type": "ERROR", "object": Failure::expired(expired).to_value()}));
        self.is_over = true;
    }

    /// An object that leaves the selection is deleted for this watcher, and one that enters it is added.
    fn push_change(&mut self, change: &Change) {
        let was_in = change.previous.as_ref().is_some_and(|previous| self.selector.admits(&change.key, previous));
        let is_in = change.kind != ChangeKind::Deleted && self.selector.admits(&change.key, &change.object);
        match (was_in, is_in) {
            (false, true) => self.push("ADDED", &change.object),
            (true, true) => self.push("MODIFIED", &change.object),
            (true, false) => self.push("DELETED", &change.object),
            (false, false) => {}
        }
    }

    fn push(&mut self, kind: &str, object: &Value) {
        let object = if self.wants_table {
            let columns = std::mem::replace(&mut self.columns, table::Columns::Hidden);
            table::of(self.resource, &self.call, &[object], self.server.now(), columns, &object["metadata"]["resourceVersion"])
        } else {
            object.clone()
        };
        self.lines.push_back(json!({"type": kind, "object": object}));
    }

    fn bookmark(&self) -> Value {
        json!({
            "type": "BOOKMARK",
            "object": {
                "kind": self.resource.kind,
                "apiVersion": self.resource.api_version(),
                "metadata": {"resourceVersion": self.version.to_string(), "creationTimestamp": null},
            },
        })
    }
}
