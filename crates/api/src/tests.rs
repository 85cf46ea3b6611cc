//! What goes wrong on our side: the client gets an answer with an id, the log has the same id, and everybody else goes on.

use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use model::{Clock, Timestamp};
use serde_json::Value;
use tower::ServiceExt;

use crate::fixtures::{Documents, cluster, machine, send};
use crate::{Api, router};

/// A clock whose reading is a mistake of ours.
#[derive(Debug)]
struct BrokenClock;

impl Clock for BrokenClock {
    fn now(&self) -> Timestamp {
        panic!("the clock has no hands");
    }
}

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn lines_with(&self, text: &str) -> Vec<String> {
        let log = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        log.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }

    /// Collects what this thread logs until the guard is dropped.
    fn collect(&self) -> tracing::subscriber::DefaultGuard {
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || log.clone()).finish();
        tracing::subscriber::set_default(subscriber)
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn site() -> Api {
    Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1")).serve().await
}

/// The status, the request id and the body of an answer.
async fn ask(api: &Api, method: Method, path: &str) -> (StatusCode, String, Value) {
    let request = Request::builder().method(method).uri(path).header("host", "localhost").body(Body::empty()).unwrap();
    let (parts, body) = router(api.clone()).oneshot(request).await.unwrap().into_parts();
    let id = parts.headers["x-ms-request-id"].to_str().unwrap().to_owned();
    (parts.status, id, serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap())
}

#[tokio::test]
async fn a_panic_is_answered_logged_under_its_id_and_hurts_nobody_else() {
    let log = Log::default();
    let _collecting = log.collect();
    let api = Api { clock: Arc::new(BrokenClock), ..site().await };
    let (status, id, body) = ask(&api, Method::GET, "/rackwright/v1/status").await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::INTERNAL_SERVER_ERROR, &Value::from("InternalError")));
    assert!(!body.to_string().contains("hands"), "what went wrong inside is not told to clients");
    let lines = log.lines_with(&id);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("the clock has no hands"), "{lines:?}");
    assert!(lines[1].contains("/rackwright/v1/status") && lines[1].contains("InternalError"), "{lines:?}");
    assert_eq!(send(&api, Method::GET, "/healthz", "").await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_panic_while_a_request_is_filed_gives_its_place_in_the_queue_back() {
    let api = Api { clock: Arc::new(BrokenClock), ..site().await };
    let path = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1/restart?api-version=1";
    for _ in 0..=crate::MAX_PENDING {
        assert_eq!(send(&api, Method::POST, path, "").await.0, StatusCode::INTERNAL_SERVER_ERROR);
    }
}

#[tokio::test(start_paused = true)]
async fn every_server_error_is_logged_under_its_id() {
    let log = Log::default();
    let _collecting = log.collect();
    let path = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1/restart?api-version=1";
    let (status, id, _) = ask(&site().await, Method::POST, path).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let lines = log.lines_with(&id);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("KeeperUnavailable") && lines[0].contains("m1/restart"), "{lines:?}");
    let (status, id, _) = ask(&site().await, Method::GET, "/nowhere").await;
    assert_eq!((status, log.lines_with(&id)), (StatusCode::NOT_FOUND, vec![]), "a client's mistake is not the server's");
}
