//! Failures as the API server words them: `Status` objects.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Value, json};
use world::{Expired, ObjectError, Resource};

use super::json_response;

#[derive(Debug)]
pub(super) struct Failure {
    pub code: StatusCode,
    reason: &'static str,
    message: String,
    details: Value,
}

impl Failure {
    fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Failure {
        Failure { code, reason, message: message.into(), details: Value::Null }
    }

    pub fn bad_request(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "BadRequest", message)
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
        failure.details =
            json!({"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}], "retryAfterSeconds": 1});
        failure
    }

    pub fn not_found(resource: &Resource, name: &str) -> Failure {
        Failure::of(ObjectError::NotFound, resource, name)
    }

    /// What the object table refused, about which object.
    pub fn of(error: ObjectError, resource: &Resource, name: &str) -> Failure {
        let plural = if resource.group.is_empty() { resource.plural.to_owned() } else { format!("{}.{}", resource.plural, resource.group) };
        let failure = match error {
            ObjectError::NotFound => Failure::new(StatusCode::NOT_FOUND, "NotFound", format!("{plural} \"{name}\" not found")),
            ObjectError::AlreadyExists => {
                Failure::new(StatusCode::CONFLICT, "AlreadyExists", format!("{plural} \"{name}\" already exists"))
            }
            ObjectError::Conflict | ObjectError::UidMismatch => {
                let message = format!("Operation cannot be fulfilled on {plural} \"{name}\": {error}");
                Failure::new(StatusCode::CONFLICT, "Conflict", message)
            }
            ObjectError::Invalid(why) => return Failure::bad_request(why),
        };
        failure.about(resource, name)
    }

    fn about(mut self, resource: &Resource, name: &str) -> Failure {
        self.details = json!({"name": name, "kind": resource.plural});
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
            "reason": self.reason,
            "code": self.code.as_u16(),
        });
        if !self.details.is_null() {
            status["details"] = self.details.clone();
        }
        status
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        json_response(self.code, &self.to_value())
    }
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
