//! What goes wrong on our side: the client gets an answer with an id, the log has the same id, and everybody else goes on.
//!
//! In a process of its own, because what is logged is collected for the whole of it.

use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use model::{Clock, Timestamp};
use serde_json::Value;
use store::{MemoryStore, SharedStore, SystemClock, TokioClock};
use tower::ServiceExt;

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
    fn holds(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.0.lock().unwrap()).contains(text)
    }

    fn lines_with(&self, text: &str) -> Vec<String> {
        let log = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        log.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
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

/// The status, the request id and the body of an answer.
async fn get(api: &api::Api, token: &str, path: &str) -> (StatusCode, String, Value) {
    let request =
        Request::get(path).header("host", "localhost").header("authorization", format!("Bearer {token}")).body(Body::empty()).unwrap();
    let (parts, body) = api::router(api.clone()).oneshot(request).await.unwrap().into_parts();
    let id = parts.headers["x-ms-request-id"].to_str().unwrap().to_owned();
    (parts.status, id, serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap())
}

#[tokio::test]
async fn a_panic_is_answered_logged_under_its_id_and_hurts_nobody_else() {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).init();
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(TokioClock::starting_at(Timestamp::EPOCH))));
    let cache = api::Cache::load(&store).await.unwrap();
    let house = gate::OpenHouse::open(Arc::new(SystemClock)).await;
    let token = house.token("anybody");
    let api = api::Api::new(store, Arc::new(BrokenClock), cache, Arc::default(), api::Process::default(), house.gate());

    let (status, id, body) = get(&api, &token, "/rackwright/v1/status").await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::INTERNAL_SERVER_ERROR, &Value::from("InternalError")));
    assert!(!body.to_string().contains("hands"), "what went wrong inside is not told to clients");
    let lines = log.lines_with(&id);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("the clock has no hands"), "{lines:?}");
    assert!(lines[1].contains("/rackwright/v1/status") && lines[1].contains("InternalError"), "{lines:?}");

    // A panic says where and why, and never with what: neither the token nor what was sent.
    let heard = log.clone();
    std::panic::set_hook(Box::new(move |panic| drop(writeln!(heard.clone(), "{panic}"))));
    let sent = Request::get("/rackwright/v1/status?note=MARKER-in-a-query").header("host", "localhost");
    let sent = sent.header("authorization", format!("Bearer {token}")).body(Body::from("MARKER-in-a-body")).unwrap();
    let status = api::router(api.clone()).oneshot(sent).await.unwrap().status();
    drop(std::panic::take_hook());
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(log.holds("server_errors.rs"), "the panic was written");
    for secret in [token.as_str(), "MARKER"] {
        assert!(!log.holds(secret), "the log has a secret");
    }

    assert_eq!(get(&api, &token, "/healthz").await.0, StatusCode::OK);
    let (status, id, _) = get(&api, &token, "/nowhere").await;
    assert_eq!((status, log.lines_with(&id)), (StatusCode::NOT_FOUND, vec![]), "a client's mistake is not the server's");
}
