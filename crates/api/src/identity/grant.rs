//! The token endpoint: a grant of OAuth 2.0 for a token. Its errors are OAuth's, which the clients show to people.

use access::ClientId;
use access::token::{Assertion, AssertionAudience};
use axum::body::Body;
use axum::response::Response;
use base64::Engine;
use gate::{LoginError, Shown};
use http::{HeaderValue, StatusCode, header};
use serde_json::json;
use zeroize::Zeroizing;

use super::form::{Form, decoded};
use super::{LOGIN, people, uncached};
use crate::Api;
use crate::audit::Grounds;
use crate::call::Call;
use crate::reply::{Refused, set_retry_after};

/// What Azure's SDK asks a token for unless it is told otherwise. It gets one for us, which is good nowhere else.
const AZURE: &str = "https://management.azure.com/";

const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Why there is no token, in OAuth's words.
pub(super) struct Denied {
    status: StatusCode,
    error: &'static str,
    description: String,
    retry_after: Option<model::Span>,
}

impl Denied {
    pub(super) fn new(status: StatusCode, error: &'static str, description: impl Into<String>) -> Denied {
        Denied { status, error, description: description.into(), retry_after: None }
    }

    pub(super) fn bad_request(description: impl Into<String>) -> Denied {
        Denied::new(StatusCode::BAD_REQUEST, "invalid_request", description)
    }

    fn into_response(self, call: &Call) -> Response {
        let body = json!({
            "error": self.error,
            "error_description": self.description,
            "correlation_id": call.correlation_id.as_str(),
        });
        let mut response = uncached(self.status, &body);
        if let Some(span) = self.retry_after {
            set_retry_after(response.headers_mut(), span);
        }
        if self.status == StatusCode::UNAUTHORIZED && call.headers().contains_key(header::AUTHORIZATION) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"rackwright\""));
        }
        response
    }
}

pub(crate) async fn token(api: &Api, call: &Call, body: Body) -> Result<Response, Refused> {
    let body = call.read_form(body, &api.process.stopping).await?;
    let granted = match Form::parse(&body) {
        None => Err(Denied::bad_request("the body is no form in UTF-8")),
        Some(form) => match people::grant(api, call, &form).await {
            Some(granted) => granted,
            None => grant(api, call, &form),
        },
    };
    Ok(granted.unwrap_or_else(|denied| denied.into_response(call)))
}

/// A service principal's.
fn grant(api: &Api, call: &Call, form: &Form) -> Result<Response, Denied> {
    match form.get("grant_type") {
        Some("client_credentials") => {}
        Some(other) => {
            let message = format!("`{}` is not granted here; the OpenID configuration names what is", model::cleaned(other, 64));
            return Err(Denied::new(StatusCode::BAD_REQUEST, "unsupported_grant_type", message));
        }
        None => return Err(Denied::bad_request("`grant_type` is missing, or there twice")),
    }
    check_audience(call, form)?;
    let audience = assertion_audience(api, call);
    let basic = basic_credentials(call)?;
    let shown = match (form.get("client_assertion"), form.get("client_id"), form.get("client_secret"), &basic) {
        (Some(token), _, None, None) if form.get("client_assertion_type") == Some(JWT_BEARER) => {
            Shown::Assertion { token, audience: &audience }
        }
        (Some(_), ..) => return Err(Denied::bad_request(format!("`client_assertion_type` must be {JWT_BEARER}, and no secret beside it"))),
        (None, Some(client), Some(secret), None) => Shown::Secret { client, secret },
        (None, _, None, Some((client, secret))) => Shown::Secret { client, secret },
        _ => return Err(Denied::bad_request("a client id and either a client secret or a client assertion are needed, once")),
    };
    match api.gate.log_in(shown, call.peer()) {
        Ok(minted) => {
            let expires_in = minted.expires_at.since(api.clock.now()).as_millis() / 1_000;
            let body = json!({
                "token_type": "Bearer",
                "expires_in": expires_in,
                "ext_expires_in": expires_in,
                "access_token": minted.text.as_str(),
            });
            Ok(uncached(StatusCode::OK, &body))
        }
        Err(problem) => Err(denied_as(call, claimed(shown), &problem)),
    }
}

/// What a client calls us in an assertion: by what we are called, or by an address, if it is one of ours. What the request itself says of
/// where it goes proves nothing, since whoever got hold of an assertion that was meant for them could say anything.
fn assertion_audience(api: &Api, call: &Call) -> AssertionAudience {
    let origin = call.origin();
    let authority = origin.rsplit('/').next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, port)| if port.ends_with(']') { authority } else { host });
    let mut names = vec![gate::issuer()];
    if api.gate.is_host(host) {
        let login = format!("{origin}{LOGIN}");
        names.extend([format!("{login}/oauth2/token"), format!("{login}/oauth2/v2.0/token"), login]);
    }
    AssertionAudience(names)
}

pub(super) fn denied(call: &Call, problem: &LoginError) -> Denied {
    denied_as(call, None, problem)
}

/// Whoever guesses learns nothing from the answer; whoever keeps the log learns all.
fn denied_as(call: &Call, client: Option<ClientId>, problem: &LoginError) -> Denied {
    let client = client.map(|client| format!(" (client {client})")).unwrap_or_default();
    let because = |reason| call.deny(Grounds::Words { reason, words: format!("{problem}{client}") });
    match problem {
        LoginError::TooMany(too_many) => {
            because("LoginLimited");
            let message = too_many.to_string();
            let denied = Denied::new(StatusCode::TOO_MANY_REQUESTS, "temporarily_unavailable", message);
            Denied { retry_after: Some(too_many.retry_after), ..denied }
        }
        LoginError::Mint(_) | LoginError::Gate(_) => {
            tracing::error!(error = %problem, correlation_id = %call.correlation_id, "a token could not be made");
            Denied::new(StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable", "no token can be made just now")
        }
        LoginError::UnknownClient | LoginError::Refused(_) | LoginError::Rejected(_) => {
            because("LoginFailed");
            let id = &call.correlation_id;
            let message = format!(
                "the client id, its secret or its assertion is not right; if they should be, the server's log tells more under the correlation id {id}"
            );
            Denied::new(StatusCode::UNAUTHORIZED, "invalid_client", message)
        }
    }
}

/// Whom somebody claims to be. What is no id at all may be a secret in the wrong field, which belongs into no log.
fn claimed(shown: Shown<'_>) -> Option<ClientId> {
    match shown {
        Shown::Secret { client, .. } => ClientId::parse(client).ok(),
        Shown::Assertion { token, .. } => Assertion::read(token).ok().map(|assertion| assertion.client()),
    }
}

/// Tokens are given for this service alone, which clients know by its address or by its name, or take for Azure's. `az` puts two
/// slashes between an address and `.default`.
pub(super) fn check_audience(call: &Call, form: &Form) -> Result<(), Denied> {
    let asked = form.get("resource").or_else(|| form.get("scope")?.split(' ').find(|scope| scope.contains("://")));
    let Some(asked) = asked else { return Ok(()) };
    let bare = asked.strip_suffix(".default").unwrap_or(asked).trim_end_matches('/');
    let is_ours = [gate::AUDIENCE, AZURE, &call.origin()].iter().any(|known| known.trim_end_matches('/').eq_ignore_ascii_case(bare));
    if is_ours {
        Ok(())
    } else {
        let message = format!("tokens are given for {} only, not for `{}`", gate::AUDIENCE, model::cleaned(asked, 128));
        Err(Denied::new(StatusCode::BAD_REQUEST, "invalid_target", message))
    }
}

type Credentials = (Zeroizing<String>, Zeroizing<String>);

/// Client id and secret in the header, as RFC 6749 has them by preference.
fn basic_credentials(call: &Call) -> Result<Option<Credentials>, Denied> {
    let Some(line) = call.headers().get(header::AUTHORIZATION) else { return Ok(None) };
    let wrong = || Denied::bad_request("the header `Authorization` is not a client id and a secret in the form Basic");
    let text = line.to_str().ok().and_then(|text| text.strip_prefix("Basic ")).ok_or_else(wrong)?;
    let bytes = Zeroizing::new(base64::engine::general_purpose::STANDARD.decode(text.trim()).map_err(|_| wrong())?);
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong())?;
    let (client, secret) = text.split_once(':').ok_or_else(wrong)?;
    Ok(Some((decoded(client).ok_or_else(wrong)?, decoded(secret).ok_or_else(wrong)?)))
}
