//! What each failure means: the one table from statuses and transport errors to faults, and the words for them.

use std::error::Error as StdError;
use std::fmt;

use http::{Method, StatusCode};
use model::{Delivery, Fault, FaultClass, shortened};

use crate::content::{Words, without_paths};
use crate::document;
use crate::message::classify_message;
use crate::transport::{Answer, TransportError};

/// Whether the request would change the machine.
///
/// It decides what a lost answer means. Opening a session is an observation in this sense: if it happened unseen,
/// the machine is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Observe,
    Request,
}

/// What an HTTP status other than success means.
pub fn classify_status(status: StatusCode, purpose: Purpose) -> (FaultClass, Delivery) {
    match status.as_u16() {
        401 | 403 => (FaultClass::Denied, Delivery::No),
        404 | 410 => (FaultClass::Missing, Delivery::No),
        // A precondition or a lock is a conflict with somebody else's doing, and passes; so does being too slow for it.
        408 | 409 | 412 | 423 | 425 | 428 | 429 | 503 => (FaultClass::Busy, Delivery::No),
        405 | 501 => (FaultClass::Unsupported, Delivery::No),
        // What is refused without a reason may be taken a moment later: BMCs say so while the machine starts, or is in the
        // wrong state. Only what is known never to work is worth giving up, or a gentler way.
        400..=499 => (refused_without_reason(purpose), Delivery::No),
        // The BMC broke while at it, or a gateway lost its answer.
        500..=599 => (FaultClass::Garbled, unless_observing(purpose)),
        // A redirect is not followed, because it would carry our credentials elsewhere.
        _ => (FaultClass::Garbled, Delivery::No),
    }
}

/// What a refusal means by its status and its messages. The delivery is the status's alone: a BMC that broke may well have
/// obeyed first, whatever it says about it.
pub fn classify_refusal(status: StatusCode, message_ids: &[String], purpose: Purpose) -> (FaultClass, Delivery) {
    let (class, delivery) = classify_status(status, purpose);
    // These are what services send for want of a better one. Every other status is meant.
    let is_vague = matches!(status.as_u16(), 400 | 406 | 409 | 411 | 416 | 417 | 422 | 500);
    let told = message_ids.iter().find_map(|id| classify_message(id)).filter(|_| is_vague);
    (told.unwrap_or(class), delivery)
}

/// What the absence of an answer means.
pub fn classify_transport(error: &TransportError, purpose: Purpose) -> (FaultClass, Delivery) {
    match error {
        TransportError::Connect(_) => (FaultClass::Unreachable, Delivery::No),
        TransportError::Untrusted(_) => (FaultClass::Untrusted, Delivery::No),
        TransportError::Lost(_) | TransportError::Silent => (FaultClass::Unreachable, unless_observing(purpose)),
        TransportError::TooLong => (FaultClass::Garbled, unless_observing(purpose)),
    }
}

/// A document that is refused is not served, and most can be done without.
fn refused_without_reason(purpose: Purpose) -> FaultClass {
    match purpose {
        Purpose::Observe => FaultClass::Unsupported,
        Purpose::Request => FaultClass::Busy,
    }
}

fn unless_observing(purpose: Purpose) -> Delivery {
    match purpose {
        Purpose::Observe => Delivery::No,
        Purpose::Request => Delivery::Maybe,
    }
}

/// What a fault that came before the request proper says about that request: nothing lasting.
pub(crate) fn not_yet(fault: Fault) -> Fault {
    match fault.class {
        FaultClass::Missing | FaultClass::Unsupported => Fault { class: FaultClass::Busy, ..fault },
        FaultClass::Unreachable
        | FaultClass::Busy
        | FaultClass::Denied
        | FaultClass::Untrusted
        | FaultClass::OtherMachine
        | FaultClass::NoLogin
        | FaultClass::Garbled => fault,
    }
}

/// What was asked, as the sentence about a fault names it: `GET /redfish/v1/Systems/1`.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub method: Method,
    pub path: String,
    pub purpose: Purpose,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl Asked {
    pub fn refused(&self, answer: &Answer, words: Words) -> Fault {
        let (class, delivery) = classify_refusal(answer.status, &document::message_keys(&answer.body), self.purpose);
        let status = answer.status.as_u16();
        let message = match words {
            Words::Repeat => document::first_message(&answer.body),
            // Before it is cut to length, which could leave a part of a secret that no longer looks like one.
            Words::WithoutPaths => document::first_words(&answer.body).map(|words| shortened(&without_paths(&words))),
            Words::Withhold => None,
        };
        match message {
            Some(message) => Fault::new(class, delivery, format!("{self} answered {status}: {message}")),
            None => Fault::new(class, delivery, format!("{self} answered {status}")),
        }
    }

    pub fn unanswered(&self, error: &TransportError) -> Fault {
        let (class, delivery) = classify_transport(error, self.purpose);
        tracing::debug!(asked = %self, error = error as &dyn StdError, "a BMC gave no answer");
        let cause = error.cause();
        match error {
            TransportError::Silent | TransportError::TooLong => Fault::new(class, delivery, format!("{self}: {error}")),
            TransportError::Connect(_) | TransportError::Untrusted(_) | TransportError::Lost(_) => {
                Fault::new(class, delivery, format!("{self}: {error} ({cause})"))
            }
        }
    }

    /// The answer came, but does not say what was asked for.
    pub fn garbled(&self, what: &str) -> Fault {
        Fault::new(FaultClass::Garbled, Delivery::No, format!("{self}: {what}"))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn row(name: &dyn fmt::Display, classify: impl Fn(Purpose) -> (FaultClass, Delivery)) -> String {
        let (class, observing) = classify(Purpose::Observe);
        let (requested, requesting) = classify(Purpose::Request);
        let class = if class == requested { class.to_string() } else { format!("{class}/{requested}") };
        format!("{name}: {class}, delivered {observing:?}/{requesting:?}\n")
    }

    #[test]
    fn each_status_has_one_meaning() {
        let statuses = [304, 400, 401, 403, 404, 405, 408, 409, 410, 412, 415, 422, 423, 429, 500, 501, 502, 503, 504, 507];
        let table: String = statuses
            .iter()
            .map(|status| {
                let status = StatusCode::from_u16(*status).unwrap();
                row(&status.as_u16(), |purpose| classify_status(status, purpose))
            })
            .collect();
        expect![[r#"
            304: garbled, delivered No/No
            400: unsupported/busy, delivered No/No
            401: denied, delivered No/No
            403: denied, delivered No/No
            404: missing, delivered No/No
            405: unsupported, delivered No/No
            408: busy, delivered No/No
            409: busy, delivered No/No
            410: missing, delivered No/No
            412: busy, delivered No/No
            415: unsupported/busy, delivered No/No
            422: unsupported/busy, delivered No/No
            423: busy, delivered No/No
            429: busy, delivered No/No
            500: garbled, delivered No/Maybe
            501: unsupported, delivered No/No
            502: garbled, delivered No/Maybe
            503: busy, delivered No/No
            504: garbled, delivered No/Maybe
            507: garbled, delivered No/Maybe
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn a_message_corrects_a_vague_status_and_no_other() {
        let cases = [
            (400, "Base.1.8.NoValidSession", FaultClass::Denied),
            (400, "Base.1.8.ResourceInUse", FaultClass::Busy),
            (400, "Base.1.8.GeneralError", FaultClass::Busy),
            (400, "Base.1.8.ActionParameterValueNotInList", FaultClass::Unsupported),
            (409, "Base.1.8.ActionNotSupported", FaultClass::Unsupported),
            (409, "Base.1.8.GeneralError", FaultClass::Busy),
            (500, "Base.1.8.SessionLimitExceeded", FaultClass::Busy),
            (404, "Base.1.8.ResourceInUse", FaultClass::Missing),
            (503, "Base.1.8.ActionNotSupported", FaultClass::Busy),
        ];
        for (status, message_id, expected) in cases {
            let status = StatusCode::from_u16(status).unwrap();
            let (class, delivery) = classify_refusal(status, &[message_id.to_owned()], Purpose::Request);
            assert_eq!(class, expected, "{status} {message_id}");
            assert_eq!(delivery, classify_status(status, Purpose::Request).1, "the message does not tell whether it was obeyed");
        }
    }

    #[test]
    fn each_transport_error_has_one_meaning() {
        let errors = [
            TransportError::Connect("x".into()),
            TransportError::Untrusted(rustls::CertificateError::Expired),
            TransportError::Lost("x".into()),
            TransportError::Silent,
            TransportError::TooLong,
        ];
        let table: String = errors.iter().map(|error| row(error, |purpose| classify_transport(error, purpose))).collect();
        expect![[r#"
            no connection: unreachable, delivered No/No
            the certificate is not trusted: untrusted, delivered No/No
            connection lost: unreachable, delivered No/Maybe
            no answer in time: unreachable, delivered No/Maybe
            the answer is longer than 2097152 bytes: garbled, delivered No/Maybe
        "#]]
        .assert_eq(&table);
    }
}
