//! Members of etcd that are away: because their hosts are, because they were removed, or because nobody gets through to them.

use std::io;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
use tower::ServiceExt;

use super::refused;
use crate::etcd::AskedOf;
use crate::site::Site;

pub(super) async fn answer(site: &Site, machine: Option<usize>, router: Router, mut request: Request<Body>) -> io::Result<Response> {
    let machine = machine.or_else(|| addressee(site, &request)).ok_or_else(refused)?;
    if !site.look(|world| world.is_etcd_reachable(machine)) {
        return Err(refused());
    }
    request.extensions_mut().insert(AskedOf(machine));
    match router.oneshot(request).await {
        Ok(response) => Ok(response),
        Err(never) => match never {},
    }
}

/// The machine that a URL leads to, inside this process.
fn addressee(site: &Site, request: &Request<Body>) -> Option<usize> {
    let host = request.uri().host()?;
    site.layout().machines().iter().position(|machine| machine.host_address.to_string() == host)
}
