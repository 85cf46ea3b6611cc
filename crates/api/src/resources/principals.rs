//! `rackwright/v1/principals`: who logs in with a secret or a certificate. Digests never leave the store, and a secret is told once.

use access::principal::{Certificate, ClientSecret, InvalidPrincipal, ServicePrincipal};
use access::{PrincipalId, SecretId};
use axum::body::Body;
use axum::response::Response;
use gate::PrincipalError;
use http::{HeaderValue, StatusCode, header};
use model::Span;
use serde_json::{Value, json};

use super::authorization::administered;
use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::entry;
use crate::fields;
use crate::paging::{PAGE_DEFAULT, Paging};
use crate::reply::{RETRY_AFTER, Refused, json_response, no_content};
use crate::route::Route;
use crate::schema;

/// Answers whatever concerns principals, and the keys that their tokens are signed with.
pub(crate) async fn answer(api: &Api, call: &Call, route: Route, body: Body) -> Result<Response, Refused> {
    let body = entry::read_body(api, call, body).await?;
    match route {
        Route::Principals => list(api, call),
        Route::CreatePrincipal => create(api, call, &body).await,
        Route::Principal { id } => {
            let id = id_of(&id)?;
            let known = api.gate.directory().principal(id).map(render);
            known.map(|known| json_response(StatusCode::OK, &known)).ok_or_else(|| refused(PrincipalError::Unknown(id)))
        }
        Route::DeletePrincipal { id } => {
            let (gate, id) = (api.gate.clone(), id_of(&id)?);
            let remove = async move { gate.remove_principal(id).await.map_err(refused) };
            administered(api, call, "no principal", move |()| Some(id.to_string()), remove).await?;
            Ok(no_content())
        }
        Route::AddSecret { id } => add_secret(api, call, id_of(&id)?, &body).await,
        Route::RemoveSecret { id, secret } => {
            let secret = SecretId::parse(&secret).map_err(|_| Refused::not_found("secret", &secret))?;
            let (gate, id) = (api.gate.clone(), id_of(&id)?);
            change(api, call, "no secret", async move { gate.remove_secret(id, secret).await }).await
        }
        Route::AddCertificate { id } => add_certificate(api, call, id_of(&id)?, &body).await,
        Route::RemoveCertificate { id, thumbprint } => {
            let (gate, id) = (api.gate.clone(), id_of(&id)?);
            change(api, call, "no certificate", async move { gate.remove_certificate(id, &thumbprint).await }).await
        }
        Route::DisablePrincipal { id } => set_disabled(api, call, "disable", id_of(&id)?, true).await,
        Route::EnablePrincipal { id } => set_disabled(api, call, "enable", id_of(&id)?, false).await,
        Route::RotateSigningKeys => {
            let gate = api.gate.clone();
            let rotate = async move { gate.rotate_signing_key().await.map_err(|problem| refused(PrincipalError::Gate(problem))) };
            administered(api, call, "rotate", |()| Some("signing keys".to_owned()), rotate).await?;
            Ok(json_response(StatusCode::OK, &api.gate.jwks()))
        }
        _ => Err(Refused::internal()),
    }
}

fn list(api: &Api, call: &Call) -> Result<Response, Refused> {
    let paging = Paging::of(call, PAGE_DEFAULT)?;
    let after = paging.after(|token| PrincipalId::parse(token).ok())?;
    let directory = api.gate.directory();
    let rest = directory.principals().filter(|principal| after.is_none_or(|after| principal.id > after));
    Ok(json_response(StatusCode::OK, &paging.page(call, rest, |principal| principal.id.to_string(), |principal| render(principal))))
}

async fn create(api: &Api, call: &Call, body: &[u8]) -> Result<Response, Refused> {
    let described = fields::described(&schema::NEW_PRINCIPAL, body)?;
    let (gate, name) = (api.gate.clone(), described["displayName"].as_str().unwrap_or_default().to_owned());
    let create = async move { gate.create_principal(&name).await.map_err(refused) };
    let principal = administered(api, call, "principal", |principal| Some(principal.id.to_string()), create).await?;
    Ok(json_response(StatusCode::CREATED, &render(&principal)))
}

async fn add_secret(api: &Api, call: &Call, id: PrincipalId, body: &[u8]) -> Result<Response, Refused> {
    let described = fields::described(&schema::NEW_SECRET, body)?;
    let life = match described.get("days") {
        Some(days) => Some(days.as_i64().and_then(life_of).ok_or_else(|| refused(PrincipalError::Life))?),
        None => None,
    };
    let name = described["displayName"].as_str().map(str::to_owned);
    let gate = api.gate.clone();
    let add = async move { gate.add_secret(id, life, name).await.map_err(refused) };
    let (principal, secret) = administered(api, call, "secret", |(principal, _)| Some(principal.id.to_string()), add).await?;
    Ok(shown(&principal, &secret))
}

/// Days as a span; nothing for so many, or so few, that they cannot be counted.
fn life_of(days: i64) -> Option<Span> {
    u32::try_from(days).ok().map(|days| Span::hours(u64::from(days) * 24))
}

/// The only answer that holds a secret. Nobody on its way may keep it.
fn shown(principal: &ServicePrincipal, secret: &ClientSecret) -> Response {
    let stored = principal.secrets.last();
    let body = json!({
        "clientId": principal.client_id,
        "tenantId": principal.tenant,
        "displayName": principal.display_name,
        "secretId": stored.map(|stored| stored.id),
        "secret": secret.text(),
        "expiresAt": stored.map(|stored| stored.expires_at),
    });
    let mut response = json_response(StatusCode::CREATED, &body);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn add_certificate(api: &Api, call: &Call, id: PrincipalId, body: &[u8]) -> Result<Response, Refused> {
    let described = fields::described(&schema::NEW_CERTIFICATE, body)?;
    let pem = described["pem"].as_str().unwrap_or_default();
    let certificate = Certificate::from_pem(pem.as_bytes())
        .map_err(|problem| Refused::bad_content(format!("`pem` is not possible: {problem}")).target("pem"))?;
    // One that is good only later may be known before.
    if api.clock.now() >= certificate.not_after {
        let message = format!("`pem` is not possible: the certificate was good until {}", certificate.not_after);
        return Err(Refused::bad_content(message).target("pem"));
    }
    let gate = api.gate.clone();
    change(api, call, "certificate", async move { gate.add_certificate(id, certificate).await }).await
}

async fn set_disabled(api: &Api, call: &Call, what: &'static str, id: PrincipalId, disabled: bool) -> Result<Response, Refused> {
    let gate = api.gate.clone();
    change(api, call, what, async move { gate.set_disabled(id, disabled).await }).await
}

/// Changes a principal, and shows how it is then.
async fn change(
    api: &Api,
    call: &Call,
    what: &'static str,
    change: impl Future<Output = Result<ServicePrincipal, PrincipalError>> + Send + 'static,
) -> Result<Response, Refused> {
    let change = async move { change.await.map_err(refused) };
    let principal = administered(api, call, what, |principal| Some(principal.id.to_string()), change).await?;
    Ok(json_response(StatusCode::OK, &render(&principal)))
}

fn id_of(text: &str) -> Result<PrincipalId, Refused> {
    PrincipalId::parse(text).map_err(|_| Refused::not_found("service principal", text))
}

fn refused(problem: PrincipalError) -> Refused {
    let message = problem.to_string();
    let code = match problem {
        PrincipalError::Unknown(_) | PrincipalError::UnknownSecret(_) | PrincipalError::UnknownCertificate(_) => Code::ResourceNotFound,
        PrincipalError::Invalid(InvalidPrincipal::DisplayName | InvalidPrincipal::SecretName) | PrincipalError::Life => {
            Code::InvalidRequestContent
        }
        PrincipalError::NameTaken(_)
        | PrincipalError::TooMany
        | PrincipalError::CertificateTaken
        | PrincipalError::LastOwner
        | PrincipalError::Conflict
        | PrincipalError::Invalid(InvalidPrincipal::Secrets | InvalidPrincipal::Certificates) => Code::OperationNotAllowed,
        PrincipalError::Gate(problem) => {
            tracing::error!(error = %problem, "a principal could not be stored");
            let message = "the store or the vault cannot be written; nothing was changed";
            return Refused::new(Code::StoreUnavailable, message).retry_after(RETRY_AFTER);
        }
    };
    Refused::new(code, message)
}

fn render(principal: &ServicePrincipal) -> Value {
    let secrets = principal.secrets.iter().map(|secret| {
        let mut shown = json!({ "id": secret.id, "hint": secret.hint, "createdAt": secret.created_at, "expiresAt": secret.expires_at });
        if let Some(name) = &secret.display_name {
            shown["displayName"] = json!(name);
        }
        shown
    });
    let certificates = principal.certificates.iter().map(|certificate| {
        json!({
            "sha1": certificate.sha1, "sha256": certificate.sha256,
            "notBefore": certificate.not_before, "notAfter": certificate.not_after,
        })
    });
    let mut shown = json!({
        "id": principal.id,
        "clientId": principal.client_id,
        "tenantId": principal.tenant,
        "displayName": principal.display_name,
        "enabled": principal.disabled_at.is_none(),
        "createdAt": principal.created_at,
        "secrets": secrets.collect::<Vec<_>>(),
        "certificates": certificates.collect::<Vec<_>>(),
    });
    if let Some(at) = principal.disabled_at {
        shown["disabledAt"] = json!(at);
    }
    shown
}

#[cfg(test)]
mod tests;
