//! The API server of a tenant cluster, which is away when none of its control-plane nodes runs.

use std::io;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
use tower::ServiceExt;

use super::cut::{Cut, until_cut};
use super::refused;
use crate::site::Site;

pub(super) async fn answer(site: &Site, name: String, router: Router, request: Request<Body>) -> io::Result<Response> {
    if !site.look(|world| world.is_tenant_reachable(&name)) {
        return Err(refused());
    }
    let response = match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let cut = move |world: &world::World| (!world.is_tenant_reachable(&name)).then_some(Cut::Hard);
    Ok(response.map(|body| until_cut(body, site.clone(), cut)))
}
