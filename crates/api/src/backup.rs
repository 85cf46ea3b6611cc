//! `POST /rackwright/v1/backup`: the whole store as it is at one revision, as one file.
//!
//! What the file is, is the store's matter. The vault's key is never part of it, so whoever has a backup has no secret.

use std::io::{self, Read};
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::stream::try_unfold;
use http::{HeaderMap, HeaderValue, header};
use model::Span;
use store::{StoreCopy, StoreError};
use tokio::sync::Mutex;
use tokio_util::task::AbortOnDropHandle;
use tracing::info;

use crate::Api;
use crate::codes::Code;
use crate::reply::{RETRY_AFTER, Refused};

/// Where the answer tells the revision of the copy, and the checksum of the file.
pub const REVISION_HEADER: &str = "x-rackwright-revision";
pub const CHECKSUM_HEADER: &str = "x-rackwright-sha256";

const CHUNK: usize = 64 * 1_024;

/// A client that has not read the copy by then has stalled; meanwhile nobody else gets one.
const BACKUP_TIMEOUT: Span = Span::minutes(10);

pub(crate) async fn send(api: &Api) -> Result<Response, Refused> {
    let copy = api.store.copy().await.map_err(|problem| match problem {
        StoreError::Unsupported => Refused::new(Code::BackupUnavailable, "this store is not copied through the API; use its own means"),
        StoreError::CopyBusy => {
            Refused::new(Code::BackupRunning, "a backup is being made already; one is made at a time").retry_after(RETRY_AFTER)
        }
        problem => {
            tracing::error!(error = %problem, "a backup could not be made");
            Refused::new(Code::StoreUnavailable, format!("the store cannot be copied: {problem}")).retry_after(RETRY_AFTER)
        }
    })?;
    info!(revision = copy.revision.0, bytes = copy.bytes, "a backup is taken");
    let mut response = Response::new(Body::empty());
    describe(&copy, response.headers_mut());
    *response.body_mut() = stream(api, copy);
    Ok(response)
}

fn describe(copy: &StoreCopy, headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/vnd.sqlite3"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(copy.bytes));
    headers.insert(REVISION_HEADER, HeaderValue::from(copy.revision.0));
    if let Ok(checksum) = HeaderValue::from_str(&copy.sha256) {
        headers.insert(CHECKSUM_HEADER, checksum);
    }
}

/// The copy's bytes. A stop of the process waits for them as for any answer.
fn stream(api: &Api, copy: StoreCopy) -> Body {
    let answering = api.process.answering.token();
    let held = Arc::new(Mutex::new(Some(copy)));
    // Nobody asks for the next bytes on behalf of a client that has stalled, so its time is watched from outside.
    let late = Arc::downgrade(&held);
    let watch = AbortOnDropHandle::new(tokio::spawn(async move {
        tokio::time::sleep(BACKUP_TIMEOUT.to_std()).await;
        if let Some(held) = late.upgrade() {
            held.lock().await.take();
        }
    }));
    Body::from_stream(try_unfold((held, watch, answering), |(held, watch, answering)| async move {
        let chunk = read_chunk(&held).await?;
        Ok::<_, io::Error>((!chunk.is_empty()).then_some((chunk, (held, watch, answering))))
    }))
}

async fn read_chunk(held: &Mutex<Option<StoreCopy>>) -> io::Result<Bytes> {
    let mut held = held.lock().await;
    let copy = held.take().ok_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "the client was too slow for its backup"))?;
    let read = tokio::task::spawn_blocking(move || {
        let mut chunk = vec![0; CHUNK];
        let read = (&copy.file).read(&mut chunk)?;
        chunk.truncate(read);
        Ok::<_, io::Error>((copy, Bytes::from(chunk)))
    });
    let (copy, chunk) = read.await.map_err(io::Error::other)??;
    *held = Some(copy);
    Ok(chunk)
}

#[cfg(test)]
mod tests {
    use http::{Method, Request, StatusCode};
    use http_body_util::BodyExt;
    use store::{Commit, SharedStore, SqliteStore, SystemClock};

    use super::*;
    use crate::fixtures::Documents;
    use crate::{Cache, Process};

    async fn take(api: &Api) -> Response {
        let request = Request::builder().method(Method::POST).uri("/rackwright/v1/backup").header("host", "localhost");
        let token = gate::OpenHouse::around(api.gate.clone()).token("anonymous");
        let request = request.header("authorization", format!("Bearer {token}"));
        crate::answer(axum::extract::State(api.clone()), request.body(Body::empty()).unwrap()).await
    }

    fn code(response: &Response) -> (StatusCode, &str) {
        (response.status(), response.headers()["x-ms-error-code"].to_str().unwrap())
    }

    async fn stored(directory: &std::path::Path) -> Api {
        let store: SharedStore = Arc::new(SqliteStore::open(directory, Arc::new(SystemClock)).unwrap());
        store.commit(Commit::default().put("anything", vec![7; 200_000])).await.unwrap();
        let cache = Cache::load(&store).await.unwrap();
        let gate = gate::OpenHouse::open(Arc::new(SystemClock)).await.gate();
        Api::new(store, Arc::new(SystemClock), cache, Arc::default(), Process::default(), gate)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stalls_does_not_keep_others_from_their_backup() {
        let directory = tempfile::tempdir().unwrap();
        let api = stored(directory.path()).await;
        let stalled = take(&api).await;
        assert_eq!(code(&take(&api).await), (StatusCode::CONFLICT, "BackupRunning"));
        tokio::time::sleep((BACKUP_TIMEOUT + Span::seconds(1)).to_std()).await;
        assert_eq!(take(&api).await.status(), StatusCode::OK);
        stalled.into_body().collect().await.unwrap_err();
    }

    #[tokio::test]
    async fn a_store_is_sent_whole_and_to_one_client_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let api = stored(directory.path()).await;
        let first = take(&api).await;
        assert_eq!((first.status(), &first.headers()[REVISION_HEADER]), (StatusCode::OK, &HeaderValue::from(1)));
        assert_eq!(code(&take(&api).await), (StatusCode::CONFLICT, "BackupRunning"));
        let length = first.headers()[header::CONTENT_LENGTH].to_str().unwrap().parse::<usize>().unwrap();
        let bytes = first.into_body().collect().await.unwrap().to_bytes();
        assert_eq!((bytes.len(), &bytes[..15]), (length, &b"SQLite format 3"[..]));
        assert_eq!(take(&api).await.status(), StatusCode::OK, "the first is read, so the next has its turn");
    }

    #[tokio::test]
    async fn a_store_that_cannot_be_copied_says_so() {
        let api = Documents::default().serve().await;
        assert_eq!(code(&take(&api).await), (StatusCode::NOT_IMPLEMENTED, "BackupUnavailable"));
    }
}
