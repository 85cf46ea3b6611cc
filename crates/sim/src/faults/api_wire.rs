//! An API server that is down, slow, or forgets who watches.

use std::io;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{Request, StatusCode, Uri};
use serde_json::json;
use tower::ServiceExt;
use world::{FaultKind, FaultTarget, World};

use super::cut::{Cut, until_cut};
use super::{refused, reset};
use crate::site::Site;

pub(super) async fn answer(site: &Site, router: Router, request: Request<Body>) -> io::Result<Response> {
    let watch = Watch::of(request.uri());
    let (is_down, late_by, forgets) = site.look(|world| (world.is_api_down(), late_by(world), forgets_watches(world)));
    if is_down {
        return Err(refused());
    }
    let response = if forgets && watch == Watch::Resumed {
        gone()
    } else {
        match router.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    };
    if let Some(late_by) = late_by {
        // What was asked has been done; only the answer is late.
        tokio::time::sleep(late_by).await;
        if site.look(World::is_api_down) {
            return Err(reset());
        }
    }
    if watch == Watch::None || response.status() != StatusCode::OK {
        return Ok(response);
    }
    Ok(response.map(|body| until_cut(body, site.clone(), cut)))
}

/// Whether a request is a watch, and whether it goes on from somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    None,
    Begun,
    Resumed,
}

impl Watch {
    fn of(uri: &Uri) -> Watch {
        let parameter = |name: &str| {
            let pairs = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).next().unwrap_or_default()
        };
        match (parameter("watch").as_str(), parameter("resourceVersion").as_str()) {
            ("true" | "1", "" | "0") => Watch::Begun,
            ("true" | "1", _) => Watch::Resumed,
            _ => Watch::None,
        }
    }
}

fn late_by(world: &World) -> Option<Duration> {
    let slow = world.active_fault(FaultKind::ApiSlow, FaultTarget::Api)?;
    Some(Duration::from_millis(u64::from(slow.setting)))
}

fn forgets_watches(world: &World) -> bool {
    world.active_fault(FaultKind::ApiForgetsWatches, FaultTarget::Api).is_some()
}

fn cut(world: &World) -> Option<Cut> {
    if world.is_api_down() {
        return Some(Cut::Hard);
    }
    forgets_watches(world).then_some(Cut::Silently)
}

/// What a server says that no longer has the changes since the version that a client knows.
fn gone() -> Response {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version", "reason": "Expired", "code": 410,
    });
    (StatusCode::GONE, [(CONTENT_TYPE, "application/json")], status.to_string()).into_response()
}
