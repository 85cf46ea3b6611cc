//! A stand-in for the face that machines are installed by: the least of it, and strict about what it is asked.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sim::images::{self, CONFIG_AREA, CONFIG_LINE};
use tower::ServiceExt;

pub const CONTROL: &str = "http://control";
pub const JOIN_TOKEN: &str = "abcdef.0123456789abcdef";

/// One attempt at installing one machine.
#[derive(Clone)]
pub struct StandIn {
    /// Where it is reached, and where the images are.
    pub url: String,
    pub images: String,
    pub machine: String,
    pub boot_mac: String,
    pub version: String,
    pub os_disk: Value,
    pub said: Arc<Mutex<Said>>,
}

#[derive(Default)]
pub struct Said {
    transcript: Vec<String>,
    /// Of the agent that has traded its token.
    nonce: Option<String>,
    is_over: bool,
}

impl StandIn {
    pub fn new(machine: &str, boot_mac: &str) -> StandIn {
        StandIn {
            url: CONTROL.to_owned(),
            images: "http://images".to_owned(),
            machine: machine.to_owned(),
            boot_mac: boot_mac.to_ascii_lowercase(),
            version: "4.4.3".to_owned(),
            os_disk: json!({"volume": "OS"}),
            said: Arc::default(),
        }
    }

    /// What machines have asked, in order.
    pub fn transcript(&self) -> Vec<String> {
        self.said.lock().unwrap().transcript.clone()
    }

    fn note(&self, line: impl Into<String>) {
        self.said.lock().unwrap().transcript.push(line.into());
    }

    pub fn media_url(&self) -> String {
        format!("{}/install/v1/media/east/op1/1/media-secret/agent.iso", self.url)
    }

    pub fn http_url(&self) -> String {
        format!("{}/install/v1/http/east/op1/1/media-secret/boot.efi", self.url)
    }

    pub fn router(&self) -> Router {
        Router::new()
            .route("/install/v1/media/{cluster}/{operation}/{round}/{secret}/agent.iso", get(media))
            .route("/install/v1/http/{cluster}/{operation}/{round}/{secret}/boot.efi", get(http_image))
            .route("/install/v1/pxe/{mac}", get(pxe))
            .route("/install/v1/attempts/east/op1/1/exchange", post(exchange))
            .route("/install/v1/attempts/east/op1/1/report", post(report))
            .route("/install/v1/attempts/east/op1/1/inventory", post(inventory))
            .route("/install/v1/attempts/east/op1/1/log", post(log))
            .route("/install/v1/attempts/east/op1/1/seed", get(seed))
            .route("/install/v1/attempts/east/op1/1/phone-home", post(phone_home))
            .with_state(self.clone())
    }

    async fn spliced(&self, path: &str) -> Response {
        if self.said.lock().unwrap().is_over {
            return StatusCode::NOT_FOUND.into_response();
        }
        let mut image = fetch(path).await;
        let config = json!({"url": self.url, "ca": null, "cluster": "east", "machine": self.machine, "operation": "op1", "round": 1,
            "token": "agent-token"});
        let at = image.windows(CONFIG_LINE.len()).position(|window| window == CONFIG_LINE).unwrap();
        let area = &mut image[at..at + CONFIG_AREA];
        area.fill(b'\n');
        let text = [CONFIG_LINE, config.to_string().as_bytes()].concat();
        area[..text.len()].copy_from_slice(&text);
        image.into_response()
    }

    /// Whether the bearer is this one; whoever is not is noted.
    fn knows(&self, headers: &HeaderMap, token: &str, what: &str) -> bool {
        let is_known = headers.get("authorization").is_some_and(|value| value == &format!("Bearer {token}"));
        self.note(if is_known { what.to_owned() } else { format!("stranger: {what}") });
        is_known && !self.said.lock().unwrap().is_over
    }
}

/// An image as the image server gives it.
pub async fn fetch(path: &str) -> Vec<u8> {
    let response = images::router().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    response.into_body().collect().await.unwrap().to_bytes().to_vec()
}

async fn media(State(face): State<StandIn>, Path(path): Path<[String; 4]>) -> Response {
    assert_eq!(path, ["east", "op1", "1", "media-secret"].map(str::to_owned));
    face.note("media");
    face.spliced(&images::runtime(&face.version).agent.path).await
}

async fn http_image(State(face): State<StandIn>, Path(path): Path<[String; 4]>) -> Response {
    assert_eq!(path, ["east", "op1", "1", "media-secret"].map(str::to_owned));
    face.note("http");
    face.spliced(&images::runtime(&face.version).http.path).await
}

async fn pxe(State(face): State<StandIn>, Path(mac): Path<String>) -> Response {
    face.note(format!("pxe {}", if mac == face.boot_mac { "own mac" } else { "other mac" }));
    face.spliced(&images::runtime(&face.version).pxe.path).await
}

async fn exchange(State(face): State<StandIn>, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let machine = body["machine"].as_str().unwrap();
    let nonce = body["nonce"].as_str().filter(|nonce| nonce.len() >= 16).unwrap().to_owned();
    assert_eq!(body.as_object().unwrap().len(), 2);
    if !face.knows(&headers, "agent-token", &format!("exchange as {machine}")) || machine != face.machine {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let mut said = face.said.lock().unwrap();
    if said.nonce.get_or_insert_with(|| nonce.clone()) != &nonce {
        said.is_over = true;
        return StatusCode::CONFLICT.into_response();
    }
    let os = images::runtime(&face.version).os;
    let image = json!({"url": format!("{}{}", face.images, os.path), "sha256": os.sha256, "bytes": os.bytes});
    axum::Json(json!({"session": "session-token", "image": image, "osDisk": face.os_disk, "hostname": face.machine})).into_response()
}

async fn report(State(face): State<StandIn>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let line = match (body["kind"].as_str().unwrap(), body.as_object().unwrap().len()) {
        ("progress", 2) => format!("progress {}", body["percent"].as_u64().unwrap()),
        ("written", 2) if body["sha256"] == images::runtime(&face.version).os.sha256 => "written as wanted".to_owned(),
        ("written", 2) => "written otherwise".to_owned(),
        ("failed", 3) => format!("failed {}: {}", body["trouble"].as_str().unwrap(), body["detail"].as_str().unwrap()),
        other => panic!("{other:?} is no report: {body}"),
    };
    if face.knows(&headers, "session-token", &line) { StatusCode::NO_CONTENT } else { StatusCode::UNAUTHORIZED }
}

async fn inventory(State(face): State<StandIn>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let count = |part: &str| body[part].as_array().unwrap().len();
    let line = format!("inventory of {} disks and {} ports", count("disks"), count("nics"));
    if face.knows(&headers, "session-token", &line) { StatusCode::NO_CONTENT } else { StatusCode::UNAUTHORIZED }
}

async fn log(State(face): State<StandIn>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let log = std::str::from_utf8(&body).unwrap();
    assert!(!log.contains("-token"), "{log}");
    let line = format!("log of {} lines", log.lines().count());
    if face.knows(&headers, "session-token", &line) { StatusCode::NO_CONTENT } else { StatusCode::UNAUTHORIZED }
}

async fn seed(State(face): State<StandIn>, headers: HeaderMap) -> Response {
    if !face.knows(&headers, "session-token", "seed") {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let user_data = format!(
        "#cloud-config\nhostname: {}\nphone_home:\n  url: {}/install/v1/attempts/east/op1/1/phone-home\n  token: system-token\n\
         join:\n  api_url: http://kubernetes\n  token: {JOIN_TOKEN}\n",
        face.machine, face.url
    );
    axum::Json(json!({"userData": user_data, "metaData": "instance-id: op1\n"})).into_response()
}

async fn phone_home(State(face): State<StandIn>, headers: HeaderMap) -> StatusCode {
    if face.knows(&headers, "system-token", "phone home") { StatusCode::NO_CONTENT } else { StatusCode::UNAUTHORIZED }
}
