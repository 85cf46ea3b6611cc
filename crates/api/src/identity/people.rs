//! Tokens for people: whom another issuer vouches for, and whose device somebody said was theirs.

use access::ClientId;
use access::token::{Bearer, Minted};
use axum::body::Body;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gate::{DEVICE_CODE_LIFE, DEVICE_POLL_EVERY, DeviceError, DeviceState, LoginError};
use http::StatusCode;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::form::Form;
use super::grant::{Denied, check_audience, denied};
use super::uncached;
use crate::Api;
use crate::audit::Grounds;
use crate::call::Call;
use crate::codes::Code;
use crate::reply::{Refused, json_response, shortened};

/// The grants that people's programs ask for, each in the spelling of its standard and of Active Directory Federation Services.
const BY_ISSUER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const BY_DEVICE: [&str; 2] = ["urn:ietf:params:oauth:grant-type:device_code", "device_code"];
const BY_SESSION: &str = "refresh_token";

/// Nothing if it is another's grant.
pub(super) async fn grant(api: &Api, call: &Call, form: &Form) -> Option<Result<Response, Denied>> {
    let kind = form.get("grant_type")?;
    if kind == BY_ISSUER {
        return Some(by_issuer(api, call, form).await);
    }
    if BY_DEVICE.contains(&kind) {
        return Some(by_device(api, call, form));
    }
    (kind == BY_SESSION).then(|| by_session(api, call, form))
}

async fn by_issuer(api: &Api, call: &Call, form: &Form) -> Result<Response, Denied> {
    check_audience(call, form)?;
    let Some(assertion) = form.get("assertion") else { return Err(Denied::bad_request("`assertion` is missing, or there twice")) };
    let (bearer, minted) = api.gate.log_in_with(assertion, call.peer()).await.map_err(|problem| not_granted(call, &problem))?;
    answer(api, call, form, &bearer, &minted)
}

fn by_device(api: &Api, call: &Call, form: &Form) -> Result<Response, Denied> {
    let refused = |error: &'static str, why: &str| Denied::new(StatusCode::BAD_REQUEST, error, why);
    let code = form.get("device_code").or_else(|| form.get("code"));
    let Some(code) = code else { return Err(Denied::bad_request("`device_code` is missing, or there twice")) };
    match api.gate.ask_device(code) {
        DeviceState::Hasty => Err(refused("slow_down", "a device asks every two seconds at most")),
        DeviceState::Waiting => Err(refused("authorization_pending", "nobody has said yet whose device this is")),
        DeviceState::Gone => {
            call.deny(Grounds::Words { reason: "LoginFailed", words: "a device shows a code that is not known, or no more".to_owned() });
            Err(refused("expired_token", "the code has expired, or was used; begin again"))
        }
        DeviceState::Approved(bearer) => {
            let minted = api.gate.hand_out_to(&bearer).map_err(|problem| not_granted(call, &problem))?;
            answer(api, call, form, &bearer, &minted)
        }
    }
}

/// What was shown is no client's, so it is the grant that is not good: Azure's clients then ask the person to log in again.
fn not_granted(call: &Call, problem: &LoginError) -> Denied {
    let denied = denied(call, problem);
    match problem {
        LoginError::Rejected(rejection) => Denied::new(StatusCode::BAD_REQUEST, "invalid_grant", rejection.to_string()),
        _ => denied,
    }
}

fn by_session(api: &Api, call: &Call, form: &Form) -> Result<Response, Denied> {
    check_audience(call, form)?;
    let Some(session) = form.get("refresh_token") else { return Err(Denied::bad_request("`refresh_token` is missing, or there twice")) };
    let bearer = api.gate.resume_session(session, call.peer()).map_err(|problem| not_granted(call, &problem))?;
    let minted = api.gate.hand_out_to(&bearer).map_err(|problem| not_granted(call, &problem))?;
    answer(api, call, form, &bearer, &minted)
}

/// A token, and what a person's program needs besides: who it is, and something to get the next token with.
fn answer(api: &Api, call: &Call, form: &Form, bearer: &Bearer, minted: &Minted) -> Result<Response, Denied> {
    let told = |problem: LoginError| denied(call, &problem);
    let expires_in = minted.expires_at.since(api.clock.now()).as_millis() / 1_000;
    let mut body = json!({
        "token_type": "Bearer",
        "expires_in": expires_in,
        "access_token": minted.text.as_str(),
        "client_info": client_info(bearer),
    });
    if let Some(scope) = form.get("scope") {
        body["scope"] = json!(scope);
    }
    // Only a program that is one, so that what describes a person is never taken for a token of ours.
    if let Some(client) = form.get("client_id").filter(|client| ClientId::parse(client).is_ok()) {
        body["id_token"] = json!(api.gate.describe(bearer, client).map_err(told)?.text.as_str());
    }
    // A session that is used up is not prolonged by being used.
    let session = match form.get("refresh_token") {
        Some(same) => Zeroizing::new(same.to_owned()),
        None => api.gate.begin_session(bearer).map_err(told)?.text,
    };
    body["refresh_token"] = json!(session.as_str());
    Ok(uncached(StatusCode::OK, &body))
}

/// By which Azure's clients tell one account from another.
fn client_info(bearer: &Bearer) -> String {
    URL_SAFE_NO_PAD.encode(json!({ "uid": bearer.principal, "utid": bearer.tenant }).to_string())
}

/// Begins the login of a device.
pub(crate) async fn device_code(api: &Api, call: &Call, body: Body) -> Result<Response, Refused> {
    call.read_form(body, &api.process.stopping).await?;
    let code = api.gate.begin_device(call.peer()).map_err(|problem| no_code(call, &problem))?;
    let seconds = |span: model::Span| span.as_millis() / 1_000;
    let body: Value = json!({
        "device_code": code.device,
        "user_code": code.user,
        "verification_uri": format!("{}/rackwright/v1/deviceLogins/{}/approve", call.origin(), code.user),
        "expires_in": seconds(DEVICE_CODE_LIFE),
        "interval": seconds(DEVICE_POLL_EVERY),
        "message": format!("To log in, run `rackwright approve {}` where you are logged in already. The device will be you.", code.user),
    });
    Ok(uncached(StatusCode::OK, &body))
}

fn no_code(call: &Call, problem: &DeviceError) -> Refused {
    let retry_after = match problem {
        DeviceError::TooMany => DEVICE_CODE_LIFE,
        DeviceError::TooManyFromThere(span) => *span,
        DeviceError::Gate(problem) => {
            tracing::error!(error = %problem, "no code could be made for a device");
            return Refused::internal();
        }
    };
    call.deny(Grounds::Words { reason: "LoginLimited", words: problem.to_string() });
    Refused::new(Code::TooManyRequests, problem.to_string()).retry_after(retry_after)
}

/// The caller says that a device is theirs.
pub(crate) fn approve_device(api: &Api, call: &Call, user_code: &str) -> Result<Response, Refused> {
    let caller = call.sight()?.caller();
    if !api.gate.approve_device(caller, user_code) {
        return Err(Refused::not_found("device that shows the code", &shortened(user_code)));
    }
    tracing::info!(target: "audit", caller = caller.name, principal = %caller.principal, from = %call.peer(), "a device was approved");
    Ok(json_response(StatusCode::OK, &json!({ "approved": true, "caller": caller.name })))
}
