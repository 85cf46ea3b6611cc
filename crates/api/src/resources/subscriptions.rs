//! Subscriptions: the top of every id.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use crate::cache::View;
use crate::codes::Code;
use crate::reply::{Refused, json_response, shortened};

fn render(subscription: &str) -> Value {
    json!({
        "id": format!("/subscriptions/{subscription}"),
        "subscriptionId": subscription,
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
