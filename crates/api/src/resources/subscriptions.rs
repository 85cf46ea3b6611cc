//! Subscriptions, the top of every id, and the one tenant that they belong to.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use crate::cache::View;
use crate::codes::Code;
use crate::reply::{Refused, json_response, shortened};

/// The tenant of everything here. Azure's clients want one, and it must be a GUID.
pub(crate) const TENANT: &str = "00000000-0000-4000-8000-0000000000aa";

pub(crate) fn tenants() -> Response {
    let tenant = json!({
        "id": format!("/tenants/{TENANT}"),
        "tenantId": TENANT,
        "displayName": "Rackwright",
        "tenantCategory": "Home",
        "tenantType": "AAD",
    });
    json_response(StatusCode::OK, &json!({ "value": [tenant] }))
}

fn render(subscription: &str) -> Value {
    json!({
        "id": format!("/subscriptions/{subscription}"),
        "subscriptionId": subscription,
        "tenantId": TENANT,
        "displayName": "Rackwright",
        "state": "Enabled",
    })
}

pub(crate) fn list(view: &View) -> Response {
    let value: Vec<Value> = view.subscriptions().iter().map(|subscription| render(subscription)).collect();
    json_response(StatusCode::OK, &json!({ "value": value }))
}

pub(crate) fn show(view: &View, subscription: &str) -> Result<Response, Refused> {
    let known = view.subscriptions().into_iter().find(|known| known.eq_ignore_ascii_case(subscription));
    match known {
        Some(known) => Ok(json_response(StatusCode::OK, &render(&known))),
        None => Err(Refused::new(Code::SubscriptionNotFound, format!("there is no subscription `{}`", shortened(subscription)))),
    }
}
