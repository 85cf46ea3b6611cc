//! What a BMC says when it does not do what it was asked: messages of DMTF's Base registry.

use http::{Method, StatusCode};
use serde_json::json;

use super::answer::Answer;

const REGISTRY: &str = "Base.1.18";

fn error(status: StatusCode, id: &str, text: &str, arguments: &[&str], resolution: &str) -> Answer {
    let id = format!("{REGISTRY}.{id}");
    let document = json!({
        "error": {
            "code": id,
            "message": text,
            "@Message.ExtendedInfo": [{
                "@odata.type": "#Message.v1_1_2.Message",
                "MessageId": id,
                "Message": text,
                "MessageArgs": arguments,
                "MessageSeverity": "Critical",
                "Resolution": resolution,
            }],
        },
    });
    Answer::of(status, &document)
}

pub(super) fn unauthorized() -> Answer {
    let text = "There is no valid session established with the implementation.";
    error(StatusCode::UNAUTHORIZED, "NoValidSession", text, &[], "Establish a session before attempting any operations.")
        .with_header("www-authenticate", "Basic realm=\"RedfishService\"")
}

pub(super) fn bad_login(path: &str) -> Answer {
    let text =
        format!("While accessing the resource at '{path}', the service received an authorization error 'invalid user name or password'.");
    let resolution = "Ensure that the appropriate access is provided for the service in order for it to access the URI.";
    error(StatusCode::UNAUTHORIZED, "ResourceAtUriUnauthorized", &text, &[path, "invalid user name or password"], resolution)
        .with_header("www-authenticate", "Basic realm=\"RedfishService\"")
}

pub(super) fn missing(path: &str) -> Answer {
    let text = format!("The resource at the URI '{path}' was not found.");
    let resolution = "Place a valid resource at the URI or correct the URI and resubmit the request.";
    error(StatusCode::NOT_FOUND, "ResourceMissingAtURI", &text, &[path], resolution)
}

pub(super) fn method_not_allowed(method: &Method) -> Answer {
    let text = format!("The HTTP method {method} is not allowed on this resource.");
    error(StatusCode::METHOD_NOT_ALLOWED, "OperationNotAllowed", &text, &[], "Use one of the methods in the Allow header.")
}

pub(super) fn malformed() -> Answer {
    let text = "The request body submitted was malformed JSON and could not be parsed by the receiving service.";
    let resolution = "Ensure that the request body is valid JSON and resubmit the request.";
    error(StatusCode::BAD_REQUEST, "MalformedJSON", text, &[], resolution)
}

pub(super) fn missing_property(property: &str) -> Answer {
    let text = format!("The property {property} is a required property and must be included in the request.");
    let resolution = "Ensure that the property is in the request body and has a valid value and resubmit the request.";
    error(StatusCode::BAD_REQUEST, "PropertyMissing", &text, &[property], resolution)
}

pub(super) fn missing_parameter(action: &str, parameter: &str) -> Answer {
    let text = format!("The action {action} requires the parameter {parameter} to be present in the request body.");
    let resolution = "Supply the action with the required parameter in the request body when the request is resubmitted.";
    error(StatusCode::BAD_REQUEST, "ActionParameterMissing", &text, &[action, parameter], resolution)
}

pub(super) fn value_not_in_list(value: &str, parameter: &str, action: &str) -> Answer {
    let text = format!("The value '{value}' for the parameter {parameter} in the action {action} is not in the list of acceptable values.");
    let resolution = "Choose a value from the enumeration list that the implementation can support and resubmit the request.";
    error(StatusCode::BAD_REQUEST, "ActionParameterValueNotInList", &text, &[value, parameter, action], resolution)
}

pub(super) fn in_transition() -> Answer {
    let text = "The change to the requested resource failed because the resource is in use or in transition.";
    error(StatusCode::CONFLICT, "ResourceInUse", text, &[], "Remove the condition and resubmit the request if the operation failed.")
}

pub(super) fn not_on(action: &str) -> Answer {
    let text = format!("The action {action} is not supported by the resource.");
    let resolution = "The system is not powered on; power it on and resubmit the request.";
    error(StatusCode::CONFLICT, "ActionNotSupported", &text, &[action], resolution)
}

pub(super) fn wrong_odata_version() -> Answer {
    let text = "Header 'OData-Version' has an invalid value; the service speaks 4.0.";
    error(StatusCode::PRECONDITION_FAILED, "HeaderInvalid", text, &["OData-Version"], "Send OData-Version: 4.0 or leave it out.")
}

pub(super) fn internal() -> Answer {
    let text = "The request failed due to an internal service error. The service is still operational.";
    error(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", text, &[], "Resubmit the request.")
}

pub(super) fn shutting_down() -> Answer {
    let text = "The operation failed because the service is shutting down and can no longer take incoming requests.";
    error(StatusCode::SERVICE_UNAVAILABLE, "ServiceShuttingDown", text, &[], "When the service becomes available, resubmit the request.")
}
