//! A client that writes all the time, as an API server does: it asks whichever member answers, and remembers what was acknowledged.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// How long one member is waited for before another is asked.
const ASK_TIMEOUT: Duration = Duration::from_secs(1);

const WRITE_EVERY: Duration = Duration::from_millis(5);

/// What was written.
#[derive(Debug, Default)]
pub struct Written {
    /// Writes that were acknowledged, numbered from 0.
    pub count: u64,
    /// The longest time that one of them took.
    pub longest: Duration,
}

/// Writes until it is told to stop.
pub async fn write(ports: Vec<u16>, stop: watch::Receiver<bool>) -> Written {
    let mut written = Written::default();
    let mut turn = 0;
    while !*stop.borrow() {
        let began = Instant::now();
        let number = written.count.to_string();
        let body = json!({ "key": STANDARD.encode(key(written.count)), "value": STANDARD.encode(number) });
        while !is_written(ports[turn % ports.len()], &body).await {
            turn += 1;
            assert!(began.elapsed() < Duration::from_secs(30), "nobody takes a write");
        }
        written.longest = written.longest.max(began.elapsed());
        written.count += 1;
        tokio::time::sleep(WRITE_EVERY).await;
    }
    written
}

fn key(number: u64) -> String {
    format!("written/{number:08}")
}

async fn is_written(port: u16, body: &Value) -> bool {
    let answer = timeout(ASK_TIMEOUT, post(port, "/v3/kv/put", body)).await;
    answer.ok().flatten().is_some_and(|answer| answer["header"]["revision"].is_string())
}

/// What one member has by itself, without asking the others.
pub async fn read(port: u16) -> Vec<String> {
    let body = json!({ "key": STANDARD.encode("written/"), "range_end": STANDARD.encode("written0"), "serializable": true });
    let answer = post(port, "/v3/kv/range", &body).await.expect("a member that votes answers");
    let text = |value: &Value| String::from_utf8(STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap();
    answer["kvs"].as_array().unwrap().iter().map(|kv| text(&kv["value"])).collect()
}

/// One request over one connection.
async fn post(port: u16, path: &str, body: &Value) -> Option<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let body = body.to_string();
    let head = format!("POST {path} HTTP/1.0\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if !head.contains(" 200 ") { None } else { serde_json::from_str(body).ok() }
}
