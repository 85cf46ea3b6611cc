//! Failures as the API server words them: `Status` objects.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::RETRY_AFTER;
use serde_json::{Value, json};
use world::{Expired, NAMESPACES, ObjectError, Resource};

use super::json_response;

#[derive(Debug)]
pub(super) struct Failure {
    pub code: StatusCode,
    reason: &'static str,
    message: String,
    /// Apart, so that what may fail stays small.
    details: Box<Value>,
    retry_after_seconds: Option<u32>,
}

impl Failure {
    /// A failure; `reason` is empty where the API server gives none.
    pub fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Failure {
        Failure { code, reason, message: message.into(), details: Box::default(), retry_after_seconds: None }
    }

    pub fn bad_request(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub fn too_large() -> Failure {
        Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", "the body is longer than this server takes")
    }

    pub fn unauthorized() -> Failure {
        Failure::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    pub fn no_such_path() -> Failure {
        Failure::new(StatusCode::NOT_FOUND, "NotFound", "the server could not find the requested resource")
    }

    pub fn method_not_allowed() -> Failure {
        Failure::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    }

    /// The kind is known, and there never is one of it.
    pub fn not_offered(resource: &Resource) -> Failure {
        let message = format!("this cluster offers no {}: they can be listed but not created", resource.plural);
        Failure::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
    }

    pub fn unsupported_media_type(what: &str) -> Failure {
        let message = format!("the body of the request was in an unknown format - {what}");
        Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    }

    pub fn unavailable() -> Failure {
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", "the server is currently unable to handle the request")
    }

    pub fn not_saved() -> Failure {
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "Internal error occurred: the change could not be stored")
    }

    pub fn expired(expired: Expired) -> Failure {
        Failure::new(StatusCode::GONE, "Expired", expired.to_string())
    }

    /// A client that has seen a newer version than the server must wait or list again.
    pub fn too_new(asked: u64, current: u64) -> Failure {
        let message = format!("Too large resource version: {asked}, current: {current}");
        let mut failure = Failure::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message);
        *failure.details =
            json!({"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}], "retryAfterSeconds": 1});
        failure
    }

    pub fn not_found(resource: &Resource, name: &str) -> Failure {
        Failure::of(ObjectError::NotFound, resource, name)
    }

    /// What the object table refused, about which object.
    pub fn of(error: ObjectError, resource: &Resource, name: &str) -> Failure {
        let plural = resource.qualified_plural();
        let failure = match error.clone() {
            ObjectError::NotFound => Failure::new(StatusCode::NOT_FOUND, "NotFound", format!("{plural} \"{name}\" not found")),
            ObjectError::AlreadyExists => {
                Failure::new(StatusCode::CONFLICT, "AlreadyExists", format!("{plural} \"{name}\" already exists"))
            }
            ObjectError::Conflict | ObjectError::UidMismatch { .. } => {
                let message = format!("Operation cannot be fulfilled on {plural} \"{name}\": {error}");
                Failure::new(StatusCode::CONFLICT, "Conflict", message)
            }
            ObjectError::Invalid(why) => return Failure::invalid(resource, name, &why),
            ObjectError::NoNamespace { namespace } => return Failure::not_found(&NAMESPACES, &namespace),
            ObjectError::Forbidden(_) | ObjectError::NamespaceTerminating { .. } => {
                Failure::new(StatusCode::FORBIDDEN, "Forbidden", format!("{plural} \"{name}\" is forbidden: {error}"))
            }
        };
        let failure = failure.about(resource, name);
        match error {
            ObjectError::NamespaceTerminating { namespace } => {
                let message = format!("namespace {namespace} is being terminated");
                failure.because(&json!({"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"}))
            }
            _ => failure,
        }
    }

    /// Adds the one cause that clients look for.
    pub fn because(mut self, cause: &Value) -> Failure {
        if self.details.is_null() {
            *self.details = json!({});
        }
        self.details["causes"] = json!([cause]);
        self
    }

    /// Says when to try again, in the body and in the header.
    pub fn retry_after(mut self, seconds: u32) -> Failure {
        if self.details.is_null() {
            *self.details = json!({});
        }
        self.details["retryAfterSeconds"] = json!(seconds);
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// A refusal by `field: why`. kubectl prints the cause and not the message.
    fn invalid(resource: &Resource, name: &str, why: &str) -> Failure {
        let (field, complaint) = why.split_once(": ").unwrap_or(("", why));
        let reason = match complaint {
            _ if complaint.starts_with("Required value") => "FieldValueRequired",
            _ if complaint.starts_with("Forbidden") => "FieldValueForbidden",
            _ => "FieldValueInvalid",
        };
        let kind = if resource.group.is_empty() { resource.kind.to_owned() } else { format!("{}.{}", resource.kind, resource.group) };
        let message = format!("{kind} \"{name}\" is invalid: {why}");
        let mut failure = Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message).about(resource, name);
        failure.details["kind"] = json!(resource.kind);
        failure.because(&json!({"reason": reason, "message": complaint, "field": field}))
    }

    fn about(mut self, resource: &Resource, name: &str) -> Failure {
        *self.details = json!({"name": name, "kind": resource.plural});
        if !resource.group.is_empty() {
            self.details["group"] = json!(resource.group);
        }
        self
    }

    /// The `Status` object, as an answer's body or as the last event of a watch.
    pub fn to_value(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code.as_u16(),
        });
        if !self.reason.is_empty() {
            status["reason"] = json!(self.reason);
        }
        if !self.details.is_null() {
            status["details"] = (*self.details).clone();
        }
        status
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = json_response(self.code, &self.to_value());
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// The body of a success that has nothing else to say.
pub(super) fn success(code: StatusCode) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code.as_u16()})
}

/// The body of a successful deletion.
pub(super) fn deleted(resource: &Resource, object: &Value) -> Value {
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": object["metadata"]["name"], "group": resource.group, "kind": resource.plural, "uid": object["metadata"]["uid"]},
    })
}
