//! The API server of a tenant cluster, which is away when none of its control-plane nodes runs, and which may show a wrong
//! certificate, know nobody's token, or fail at evictions.

use std::io;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{Method, Request, StatusCode};
use serde_json::json;
use tower::ServiceExt;
use world::{FaultKind, FaultTarget, World};

use super::cut::{Cut, until_cut};
use super::refused;
use crate::site::Site;

/// The faults that one request meets.
struct Met {
    is_reachable: bool,
    is_untrusted: bool,
    knows_nobody: bool,
    fails_evictions: bool,
}

impl Met {
    fn of(world: &World, name: &str) -> Met {
        let has = |kind| world.active_fault(kind, FaultTarget::Tenant(name.to_owned())).is_some();
        Met {
            is_reachable: world.is_tenant_reachable(name),
            is_untrusted: is_untrusted(world, name),
            knows_nobody: has(FaultKind::TenantTokenExpired),
            fails_evictions: has(FaultKind::TenantEvictionError),
        }
    }
}

/// Whether the API server shows a certificate that its kubeconfig does not trust.
pub(crate) fn is_untrusted(world: &World, name: &str) -> bool {
    world.active_fault(FaultKind::TenantApiTls, FaultTarget::Tenant(name.to_owned())).is_some()
}

pub(super) async fn answer(site: &Site, name: String, router: Router, request: Request<Body>) -> io::Result<Response> {
    let met = site.look(|world| Met::of(world, &name));
    if !met.is_reachable {
        return Err(refused());
    }
    if met.is_untrusted {
        return Err(untrusted());
    }
    let is_eviction = request.method() == Method::POST && request.uri().path().ends_with("/eviction");
    let response = if met.knows_nobody {
        failure(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    } else if met.fails_evictions && is_eviction {
        failure(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "Internal error occurred: etcdserver: request timed out")
    } else {
        match router.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    };
    // Whoever is listened to no longer is also heard no longer.
    let cut = move |world: &World| {
        let met = Met::of(world, &name);
        (!met.is_reachable || met.is_untrusted || met.knows_nobody).then_some(Cut::Hard)
    };
    if response.status() != StatusCode::OK {
        return Ok(response);
    }
    Ok(response.map(|body| until_cut(body, site.clone(), cut)))
}

/// What a client's TLS says of a certificate that it does not trust.
fn untrusted() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer))
}

fn failure(code: StatusCode, reason: &str, message: &str) -> Response {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    });
    (code, [(CONTENT_TYPE, "application/json")], status.to_string()).into_response()
}
