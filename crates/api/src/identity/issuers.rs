//! The issuers that we trust to know people, as a resource of ours.

use axum::response::Response;
use gate::{Issuer, IssuerError};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::json::not_understood;
use crate::reply::{RETRY_AFTER, Refused, json_response, no_content};
use crate::resources::authorization::administered;

/// As a client writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    issuer: String,
    audiences: Vec<String>,
    /// Its keys, if they are not to be fetched.
    #[serde(default)]
    keys: Option<Value>,
}

pub(crate) fn list(api: &Api) -> Response {
    let value: Vec<Value> = api.gate.directory().issuers().map(render).collect();
    json_response(StatusCode::OK, &json!({ "value": value }))
}

pub(crate) async fn put(api: &Api, call: &Call, name: &str, body: &[u8]) -> Result<Response, Refused> {
    let written: Written = serde_json::from_slice(body).map_err(|problem| not_understood(&problem))?;
    let keys = written.keys.map(|keys| keys.to_string());
    let issuer = Issuer {
        name: name.to_owned(),
        issuer: written.issuer,
        audiences: written.audiences,
        keys_given: keys.is_some(),
        keys_at: keys.is_some().then(|| api.clock.now()),
        keys,
    };
    let gate = api.gate.clone();
    let put = async move { gate.put_issuer(issuer).await.map_err(|problem| refused(&problem)) };
    administered(api, call, "issuer", |issuer| Some(issuer.issuer.clone()), put).await?;
    api.gate.refresh_issuers().await;
    let shown = api.gate.directory().issuer(name).map(render);
    Ok(json_response(StatusCode::OK, &shown))
}

pub(crate) async fn delete(api: &Api, call: &Call, name: &str) -> Result<Response, Refused> {
    let (gate, removed, about) = (api.gate.clone(), name.to_owned(), name.to_owned());
    let remove = async move { gate.remove_issuer(&removed).await.map_err(|problem| refused(&problem)) };
    administered(api, call, "no issuer", |()| Some(about), remove).await?;
    Ok(no_content())
}

fn render(issuer: &Issuer) -> Value {
    let keys = issuer.keys.as_deref().and_then(|keys| serde_json::from_str::<Value>(keys).ok());
    json!({
        "name": issuer.name,
        "issuer": issuer.issuer,
        "audiences": issuer.audiences,
        "keysGiven": issuer.keys_given,
        "keysAt": issuer.keys_at,
        "keyCount": keys.and_then(|keys| keys["keys"].as_array().map(Vec::len)).unwrap_or(0),
    })
}

fn refused(problem: &IssuerError) -> Refused {
    match problem {
        IssuerError::Unknown(name) => Refused::not_found("issuer", name),
        IssuerError::Gate(cause) => {
            tracing::error!(error = %cause, "an issuer could not be stored");
            Refused::new(Code::StoreUnavailable, "it could not be stored just now").retry_after(RETRY_AFTER)
        }
        other => Refused::bad_content(other.to_string()),
    }
}
