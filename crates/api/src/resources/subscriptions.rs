//! Subscriptions, the top of every id, and the one tenant that they belong to.

use axum::response::Response;
use gate::TENANT;
use http::StatusCode;
use serde_json::{Value, json};

use crate::Api;
use crate::cache::View;
use crate::call::Call;
use crate::codes::Code;
use crate::entry::scope_of;
use crate::reply::{Refused, json_response, shortened};

pub(crate) fn tenants() -> Response {
    let tenant = json!({
        "id": format!("/tenants/{TENANT}"),
        "tenantId": TENANT.to_string(),
        "displayName": "Rackwright",
        "tenantCategory": "Home",
        "tenantType": "AAD",
    });
    json_response(StatusCode::OK, &json!({ "value": [tenant] }))
}

fn render(api: &Api, subscription: &str) -> Value {
    let is_disabled = api.gate.directory().restraints().subscription(subscription).disabled_at.is_some();
    json!({
        "id": format!("/subscriptions/{subscription}"),
        "subscriptionId": subscription,
        "tenantId": TENANT.to_string(),
        "displayName": "Rackwright",
        "state": if is_disabled { "Disabled" } else { "Enabled" },
    })
}

pub(crate) fn list(api: &Api, view: &View, call: &Call) -> Result<Response, Refused> {
    let sight = call.sight()?;
    let seen =
        view.subscriptions().into_iter().filter(|subscription| sight.sees_into(&scope_of(&format!("/subscriptions/{subscription}"))));
    let value: Vec<Value> = seen.map(|subscription| render(api, &subscription)).collect();
    Ok(json_response(StatusCode::OK, &json!({ "value": value })))
}

pub(crate) fn show(api: &Api, view: &View, subscription: &str) -> Result<Response, Refused> {
    let known = view.subscriptions().into_iter().find(|known| known.eq_ignore_ascii_case(subscription));
    match known {
        Some(known) => Ok(json_response(StatusCode::OK, &render(api, &known))),
        None => Err(Refused::new(Code::SubscriptionNotFound, format!("there is no subscription `{}`", shortened(subscription)))),
    }
}
