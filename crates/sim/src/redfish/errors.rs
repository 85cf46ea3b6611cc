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

pub(super) fn too_large() -> Answer {
    let text = "The request body is longer than this service takes.";
    error(StatusCode::PAYLOAD_TOO_LARGE, "GeneralError", text, &[], "Resubmit the request with a shorter body.")
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

pub(super) fn forbidden() -> Answer {
    let text = "There are insufficient privileges for the account or credentials associated with the current session.";
    let resolution = "Either abandon the operation or change the associated access rights and resubmit the request.";
    error(StatusCode::FORBIDDEN, "InsufficientPrivilege", text, &[], resolution)
}

pub(super) fn not_writable(property: &str) -> Answer {
    let text = format!("The property {property} is a read-only property and cannot be assigned a value.");
    let resolution = "Remove the property from the request body and resubmit the request.";
    error(StatusCode::BAD_REQUEST, "PropertyNotWritable", &text, &[property], resolution)
}

pub(super) fn unknown_property(property: &str) -> Answer {
    let text = format!("The property {property} is not in the list of valid properties for the resource.");
    let resolution = "Remove the unknown property from the request body and resubmit the request.";
    error(StatusCode::BAD_REQUEST, "PropertyUnknown", &text, &[property], resolution)
}

pub(super) fn no_operation() -> Answer {
    let text = "The request body submitted contain no data to act upon and no changes to the resource took place.";
    error(StatusCode::BAD_REQUEST, "NoOperation", text, &[], "Add properties in the JSON object and resubmit the request.")
}

pub(super) fn wrong_type(value: &str, property: &str) -> Answer {
    let text = format!("The value '{value}' for the property {property} is not a type that the property can accept.");
    let resolution = "Correct the value for the property in the request body and resubmit the request.";
    error(StatusCode::BAD_REQUEST, "PropertyValueTypeError", &text, &[value, property], resolution)
}

pub(super) fn property_not_in_list(value: &str, property: &str) -> Answer {
    let text = format!("The value '{value}' for the property {property} is not in the list of acceptable values.");
    let resolution = "Choose a value from the enumeration list that the implementation can support and resubmit the request.";
    error(StatusCode::BAD_REQUEST, "PropertyValueNotInList", &text, &[value, property], resolution)
}

pub(super) fn property_out_of_range(value: &str, property: &str) -> Answer {
    let text = format!("The value '{value}' for the property {property} is not in the supported range of acceptable values.");
    let resolution = "Correct the value for the property in the request body and resubmit the request.";
    error(StatusCode::BAD_REQUEST, "PropertyValueOutOfRange", &text, &[value, property], resolution)
}

pub(super) fn property_format(value: &str, property: &str, rule: &str) -> Answer {
    let text = format!("The value '{value}' for the property {property} is not a format that the property can accept: {rule}.");
    let resolution = "Correct the value for the property in the request body and resubmit the request.";
    error(StatusCode::BAD_REQUEST, "PropertyValueFormatError", &text, &[value, property], resolution)
}

pub(super) fn already_exists(kind: &str, property: &str, value: &str) -> Answer {
    let text = format!("The requested resource of type {kind} with the property {property} with the value '{value}' already exists.");
    let resolution = "Do not repeat the create operation as the resource has already been created.";
    error(StatusCode::BAD_REQUEST, "ResourceAlreadyExists", &text, &[kind, property, value], resolution)
}

pub(super) fn too_many(text: &str) -> Answer {
    let resolution = "Reduce the number of existing resources before creating the resource or increase the limit if supported.";
    error(StatusCode::BAD_REQUEST, "CreateLimitReachedForResource", text, &[], resolution)
}

pub(super) fn too_many_sessions() -> Answer {
    let text = "The session establishment failed due to the number of simultaneous sessions exceeding the limit of the implementation.";
    let resolution = "Reduce the number of other sessions before trying to establish the session.";
    error(StatusCode::SERVICE_UNAVAILABLE, "SessionLimitExceeded", text, &[], resolution)
}

pub(super) fn update_in_progress() -> Answer {
    let text = "An update is in progress.";
    error(StatusCode::SERVICE_UNAVAILABLE, "UpdateInProgress", text, &[], "Wait for the current update operation to complete.")
        .with_header("retry-after", "30")
}

/// A refusal for which the registry has no better words.
pub(super) fn general(text: &str) -> Answer {
    error(StatusCode::BAD_REQUEST, "GeneralError", text, &[], "Correct the request as the message says and resubmit it.")
}

pub(super) fn not_implemented() -> Answer {
    let text = "The operation is not implemented by the service.";
    error(StatusCode::NOT_IMPLEMENTED, "OperationNotAllowed", text, &[], "None.")
}

pub(super) fn query_not_supported() -> Answer {
    let text = "Querying is not supported by the implementation.";
    error(StatusCode::NOT_IMPLEMENTED, "QueryNotSupported", text, &[], "Remove the query parameters and resubmit the request.")
}

pub(super) fn precondition_failed() -> Answer {
    let text = "The ETag supplied did not match the ETag required to change this resource.";
    error(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", text, &[], "Try the operation again using the appropriate ETag.")
}

pub(super) fn precondition_required() -> Answer {
    let text = "A precondition header or annotation is required to change this resource.";
    let resolution = "Try the operation again using an If-Match header and the appropriate ETag.";
    error(StatusCode::PRECONDITION_REQUIRED, "PreconditionRequired", text, &[], resolution)
}
