//! What clients need before they have a token: where to get one, and getting it.
//!
//! The login endpoint is called as Active Directory Federation Services call theirs, because Azure's clients then ask nobody else.

mod form;
mod grant;
pub(crate) mod issuers;
mod people;

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use crate::Api;
use crate::call::Call;
use crate::reply::json_response;

pub(crate) use grant::token;
pub(crate) use people::{approve_device, device_code};

/// Where clients log in, below our address.
const LOGIN: &str = "/adfs";

/// What Azure's clients ask when they are told of a cloud. The newer form is a list; `az cloud register` reads one.
pub(crate) fn metadata(call: &Call) -> Response {
    let origin = call.origin();
    json_response(
        StatusCode::OK,
        &json!({
            "name": "Rackwright",
            "resourceManager": format!("{origin}/"),
            "portal": format!("{origin}/"),
            // `az role assignment` does nothing where no directory is named.
            "microsoftGraphResourceId": format!("{origin}/"),
            "authentication": {
                "loginEndpoint": format!("{origin}{LOGIN}"),
                "audiences": [gate::AUDIENCE],
                "tenant": "adfs",
                "identityProvider": "ADFS",
            },
            "suffixes": {},
        }),
    )
}

pub(crate) fn openid_configuration(call: &Call) -> Response {
    let login = format!("{}{LOGIN}", call.origin());
    json_response(
        StatusCode::OK,
        &json!({
            "issuer": gate::issuer(),
            "authorization_endpoint": format!("{login}/oauth2/authorize"),
            "token_endpoint": format!("{login}/oauth2/token"),
            "device_authorization_endpoint": format!("{login}/oauth2/devicecode"),
            "jwks_uri": format!("{login}/discovery/keys"),
            "response_types_supported": ["token"],
            "grant_types_supported": [
                "client_credentials",
                "refresh_token",
                "urn:ietf:params:oauth:grant-type:device_code",
                "urn:ietf:params:oauth:grant-type:jwt-bearer",
            ],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic", "private_key_jwt"],
            "token_endpoint_auth_signing_alg_values_supported": ["RS256", "PS256"],
        }),
    )
}

pub(crate) fn signing_keys(api: &Api) -> Response {
    json_response(StatusCode::OK, &api.gate.jwks())
}

/// An answer that nobody may keep: it is, or is about, a credential.
fn uncached(status: StatusCode, body: &Value) -> Response {
    let mut response = json_response(status, body);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

#[cfg(test)]
mod audience_tests;
#[cfg(test)]
mod login_tests;
#[cfg(test)]
mod people_tests;
#[cfg(test)]
mod tests;
