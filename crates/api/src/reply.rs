//! Answers in the ARM dialect: bodies, headers and the error envelope. Error codes and their statuses are in `codes.rs`.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use model::{ActivityError, Refusal, Rule, Span};
use serde::Serialize;
use serde_json::{Value, json};

use crate::codes::{Code, status_of};
use crate::resources::resource::Resource;

/// There is nothing to say.
pub(crate) fn no_content() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// An error as the client reads it.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    status: StatusCode,
    code: &'static str,
    message: Box<str>,
    target: Option<Box<str>>,
    /// Boxed, because most errors have none.
    refusal: Option<Box<Refusal>>,
    /// ARM's `additionalInfo`, of what is no refusal by a rule.
    more: Option<Box<Value>>,
    retry_after: Option<Span>,
    allow: Option<Box<str>>,
    www_authenticate: Option<Box<str>>,
    /// Whether the activity log tells of the request: a keeper's verdict is there before it is answered.
    is_logged: bool,
}

impl Refused {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refused::with(code.status(), code.name(), message.into())
    }

    /// Private, so that every code is either in the table of codes or a rule's.
    fn with(status: StatusCode, code: &'static str, message: String) -> Self {
        Refused {
            status,
            code,
            message: message.into_boxed_str(),
            target: None,
            refusal: None,
            more: None,
            retry_after: None,
            allow: None,
            www_authenticate: None,
            is_logged: false,
        }
    }

    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into().into_boxed_str());
        self
    }

    pub fn with_target(self, target: Option<String>) -> Self {
        Refused { target: target.map(String::into_boxed_str), ..self }
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// This is, or comes with, an entry of the activity log.
    pub fn in_log(self) -> Self {
        Refused { is_logged: true, ..self }
    }

    pub fn is_logged(&self) -> bool {
        self.is_logged
    }

    /// The same as the activity log keeps it.
    pub fn logged(&self) -> ActivityError {
        match &self.refusal {
            Some(refusal) => ActivityError::Refused { refusal: (**refusal).clone() },
            None => ActivityError::rejected(self.code, &self.message, self.target.as_deref()),
        }
    }

    pub fn retry_after(mut self, span: Span) -> Self {
        self.retry_after = Some(span);
        self
    }

    /// Adds what programs read of it: `kind` says what it is.
    pub fn additional_info(self, kind: &str, info: &Value) -> Self {
        Refused { more: Some(Box::new(json!([{ "type": kind, "info": info }]))), ..self }
    }

    /// How a client that was not let in can come in.
    pub fn www_authenticate(self, challenge: String) -> Self {
        Refused { www_authenticate: Some(challenge.into_boxed_str()), ..self }
    }

    pub fn code(&self) -> &'static str {
        self.code
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn no_such_path(path: &str) -> Self {
        Refused::new(Code::InvalidResourceType, format!("there is nothing at `{}`", shortened(path)))
    }

    pub fn method_not_allowed(method: &Method, allowed: &[&Method]) -> Self {
        let possible = allowed.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(", ");
        let message = format!("{method} is not possible here; {possible} {}", if allowed.len() == 1 { "is" } else { "are" });
        Refused { allow: Some(allow_list(allowed).into_boxed_str()), ..Refused::new(Code::MethodNotAllowed, message) }
    }

    pub fn not_found(what: &str, name: &str) -> Self {
        Refused::new(Code::ResourceNotFound, format!("there is no {what} `{}`", shortened(name))).target(shortened(name))
    }

    pub fn bad_content(message: impl Into<String>) -> Self {
        Refused::new(Code::InvalidRequestContent, message)
    }

    /// For what went wrong on our side and cannot be told: the log has it, under the id of the request.
    pub fn internal() -> Self {
        Refused::new(Code::InternalError, "something went wrong in the server; its log tells more under the id in `x-ms-request-id`")
    }

    pub fn missing_api_version() -> Self {
        let message = "the query parameter `api-version` is missing; any value will do, e.g. api-version=2026-07-01";
        Refused::new(Code::MissingApiVersionParameter, message).target("api-version")
    }

    /// A refusal with its rule, evidence and remedy, whoever judged it.
    pub fn by_rule(refusal: Refusal) -> Self {
        let message = format!("{}: {}", refusal.message, refusal.evidence.join("; "));
        let rule = refusal.rule;
        Refused {
            refusal: Some(Box::new(refusal)),
            retry_after: matches!(rule, Rule::RequestExpired | Rule::QueueFull).then_some(RETRY_AFTER),
            ..Refused::with(status_of(rule), rule.code(), message).target(rule.name())
        }
    }

    pub fn body(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(target) = &self.target {
            error["target"] = json!(target);
        }
        if let Some(refusal) = &self.refusal {
            error["details"] = details(refusal);
            error["additionalInfo"] = json!([{ "type": "Refusal", "info": info(refusal) }]);
        }
        if let Some(more) = &self.more {
            error["additionalInfo"] = (**more).clone();
        }
        json!({ "error": error })
    }

    pub fn into_response(self) -> Response {
        let mut response = json_response(self.status, &self.body());
        if let Some(span) = self.retry_after {
            set_retry_after(response.headers_mut(), span);
        }
        if let Some(allow) = self.allow.as_deref().and_then(|allow| HeaderValue::from_str(allow).ok()) {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        if let Some(challenge) = self.www_authenticate.as_deref().and_then(|challenge| HeaderValue::from_str(challenge).ok()) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        // Azure's clients read the code from here when they cannot read the body.
        response.headers_mut().insert("x-ms-error-code", HeaderValue::from_static(self.code));
        response
    }
}

/// For clients that know ARM's envelope only.
fn details(refusal: &Refusal) -> Value {
    let evidence = refusal.evidence.iter().map(|fact| json!({ "code": "Evidence", "message": fact }));
    evidence.chain([json!({ "code": "Remedy", "message": refusal.remedy })]).collect()
}

/// The same for clients that know ours.
fn info(refusal: &Refusal) -> Value {
    json!({
        "rule": refusal.rule.name(),
        "subject": refusal.message,
        "evidence": refusal.evidence,
        "remedy": refusal.remedy,
    })
}

/// How long a client should wait before it asks again. Absent or zero makes Azure's clients sleep for half a minute.
pub(crate) const RETRY_AFTER: Span = Span::seconds(1);

pub(crate) fn json_response(status: StatusCode, body: &impl Serialize) -> Response {
    let text = serde_json::to_vec(body).expect("an answer has string keys and no failing serializers");
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response
}

/// A resource, with its `etag` as the header too.
pub(crate) fn resource_response(status: StatusCode, resource: &Resource<'_, impl Serialize, impl Serialize>) -> Response {
    let mut response = json_response(status, resource);
    if let Ok(etag) = HeaderValue::from_str(&resource.etag) {
        response.headers_mut().insert(header::ETAG, etag);
    }
    response
}

/// What a path is there for, as the answer to OPTIONS.
pub(crate) fn allow_response(methods: &[&Method]) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    if let Ok(allow) = HeaderValue::from_str(&allow_list(methods)) {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
}

/// Methods with those that come along: whatever can be read has a head, and every path has options.
fn allow_list(methods: &[&Method]) -> String {
    let mut names: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
    if names.contains(&"GET") && !names.contains(&"HEAD") {
        names.push("HEAD");
    }
    names.push("OPTIONS");
    names.join(", ")
}

pub(crate) fn set_retry_after(headers: &mut HeaderMap, span: Span) {
    // Whoever came back a moment early would be refused again.
    let seconds = span.as_millis().div_ceil(1_000).max(1);
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
}

/// What a client sent, cut to a length that is safe to send back.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST_ECHO: usize = 200;
    let mut short: String = text.chars().take(LONGEST_ECHO).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
