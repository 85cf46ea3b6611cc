//! What each failure means: the one table from etcd's codes, statuses and transport errors to faults, and the words for them.

use std::error::Error as StdError;
use std::fmt;

use http::StatusCode;
use model::{Delivery, Fault, FaultClass, shortened};

use crate::document::Refusal;
use crate::endpoint::Endpoint;
use crate::transport::{Answer, TransportError};

/// Whether the request would change the membership. It decides what a lost answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Observe,
    Request,
}

/// What a member says that is still learning: it takes part in nothing, and another one has to be asked.
pub(crate) const LEARNER: &str = "etcdserver: rpc not supported for learner";

/// What etcd says before it takes a change up. With every other "unavailable" the change may be on its way to the others.
const REFUSED_BEFOREHAND: [&str; 2] = [LEARNER, "etcdserver: unhealthy cluster"];

/// What etcd says to whoever shows no certificate and no token where it wants one, under the code of a wrong argument.
const NOBODY: &str = "etcdserver: user name is empty";

/// What an answer other than success means. The code is that of gRPC, which the gateway passes on in its answer; a proxy in
/// between has none.
pub fn classify_answer(status: StatusCode, code: Option<u64>, words: &str, purpose: Purpose) -> (FaultClass, Delivery) {
    match (code, status.as_u16()) {
        (Some(3), _) if words == NOBODY => (FaultClass::Denied, Delivery::No),
        (Some(3 | 12), _) => (FaultClass::Unsupported, Delivery::No),
        (Some(5), _) => (FaultClass::Missing, Delivery::No),
        (Some(7 | 16), _) => (FaultClass::Denied, Delivery::No),
        // What stands against it passes: a learner catches up, a member is started, another learner is promoted.
        (Some(8 | 9), _) => (FaultClass::Busy, Delivery::No),
        (Some(14), _) if REFUSED_BEFOREHAND.contains(&words) => (FaultClass::Busy, Delivery::No),
        // It has no leader, or the others did not answer it in time.
        (Some(1 | 4 | 14), _) => (FaultClass::Busy, unless_observing(purpose)),
        (Some(_), _) => (FaultClass::Garbled, unless_observing(purpose)),
        (None, 401 | 403) => (FaultClass::Denied, Delivery::No),
        // The gateway is switched off, or this is not etcd.
        (None, 404 | 405 | 501) => (FaultClass::Unsupported, Delivery::No),
        (None, 429) => (FaultClass::Busy, Delivery::No),
        (None, 503) => (FaultClass::Busy, unless_observing(purpose)),
        (None, 400..=499) => (FaultClass::Unsupported, Delivery::No),
        (None, _) => (FaultClass::Garbled, unless_observing(purpose)),
    }
}

/// What the absence of an answer means.
pub fn classify_transport(error: &TransportError, purpose: Purpose) -> (FaultClass, Delivery) {
    match error {
        TransportError::Connect(_) => (FaultClass::Unreachable, Delivery::No),
        TransportError::Untrusted(_) => (FaultClass::Untrusted, Delivery::No),
        TransportError::Refused(_) => (FaultClass::Denied, Delivery::No),
        TransportError::Lost(_) | TransportError::Silent => (FaultClass::Unreachable, unless_observing(purpose)),
        TransportError::TooLong => (FaultClass::Garbled, unless_observing(purpose)),
    }
}

fn unless_observing(purpose: Purpose) -> Delivery {
    match purpose {
        Purpose::Observe => Delivery::No,
        Purpose::Request => Delivery::Maybe,
    }
}

/// What was asked, and of whom, as the sentence about a fault names it: `POST /v3/cluster/member/list at 10.1.0.4:2379`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub method: &'static str,
    pub path: &'static str,
    pub endpoint: &'a Endpoint,
    pub purpose: Purpose,
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at {}", self.method, self.path, self.endpoint.authority())
    }
}

impl Asked<'_> {
    pub fn refused(&self, answer: &Answer, refusal: &Refusal) -> Fault {
        let (class, delivery) = classify_answer(answer.status, refusal.code, &refusal.words, self.purpose);
        let status = answer.status.as_u16();
        match refusal.words.as_str() {
            "" => Fault::new(class, delivery, format!("{self} answered {status}")),
            words => Fault::new(class, delivery, format!("{self} answered {status}: {}", shortened(words))),
        }
    }

    pub fn unanswered(&self, error: &TransportError) -> Fault {
        let (class, delivery) = classify_transport(error, self.purpose);
        tracing::debug!(asked = %self, error = error as &dyn StdError, "a member of etcd gave no answer");
        match error {
            TransportError::Silent | TransportError::TooLong => Fault::new(class, delivery, format!("{self}: {error}")),
            _ => Fault::new(class, delivery, format!("{self}: {error} ({})", error.cause())),
        }
    }

    pub fn garbled(&self, what: &str) -> Fault {
        Fault::new(FaultClass::Garbled, unless_observing(self.purpose), format!("{self}: {what}"))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn row(name: impl fmt::Display, classify: impl Fn(Purpose) -> (FaultClass, Delivery)) -> String {
        let (class, observing) = classify(Purpose::Observe);
        let (same, requesting) = classify(Purpose::Request);
        assert_eq!(class, same, "the purpose changes the delivery only");
        format!("{name}: {class}, delivered {observing:?}/{requesting:?}\n")
    }

    #[test]
    fn each_answer_has_one_meaning() {
        // Statuses, codes and words as etcd 3.5.1 gives them; 3.4.23 answers 412 where 3.5.1 answers 400 with code 9.
        let answers = [
            (400, Some(3), "etcdserver: given member URLs are invalid"),
            (400, Some(3), "etcdserver: user name is empty"),
            (404, Some(5), "etcdserver: member not found"),
            (403, Some(7), "etcdserver: permission denied"),
            (401, Some(16), "etcdserver: invalid auth token"),
            (400, Some(9), "etcdserver: too many learner members in cluster"),
            (412, Some(9), "etcdserver: re-configuration failed due to not enough started members"),
            (503, Some(14), "etcdserver: unhealthy cluster"),
            (503, Some(14), "etcdserver: rpc not supported for learner"),
            (503, Some(14), "etcdserver: request timed out"),
            (500, Some(13), "grpc: internal"),
            (401, None, ""),
            (404, None, "Not Found"),
            (429, None, ""),
            (502, None, "Bad Gateway"),
            (503, None, ""),
            (302, None, ""),
        ];
        let table: String = answers
            .iter()
            .map(|(status, code, words)| {
                let status = StatusCode::from_u16(*status).unwrap();
                row(format!("{status} {code:?} {words}"), |purpose| classify_answer(status, *code, words, purpose))
            })
            .collect();
        expect![[r#"
            400 Bad Request Some(3) etcdserver: given member URLs are invalid: unsupported, delivered No/No
            400 Bad Request Some(3) etcdserver: user name is empty: denied, delivered No/No
            404 Not Found Some(5) etcdserver: member not found: missing, delivered No/No
            403 Forbidden Some(7) etcdserver: permission denied: denied, delivered No/No
            401 Unauthorized Some(16) etcdserver: invalid auth token: denied, delivered No/No
            400 Bad Request Some(9) etcdserver: too many learner members in cluster: busy, delivered No/No
            412 Precondition Failed Some(9) etcdserver: re-configuration failed due to not enough started members: busy, delivered No/No
            503 Service Unavailable Some(14) etcdserver: unhealthy cluster: busy, delivered No/No
            503 Service Unavailable Some(14) etcdserver: rpc not supported for learner: busy, delivered No/No
            503 Service Unavailable Some(14) etcdserver: request timed out: busy, delivered No/Maybe
            500 Internal Server Error Some(13) grpc: internal: garbled, delivered No/Maybe
            401 Unauthorized None : denied, delivered No/No
            404 Not Found None Not Found: unsupported, delivered No/No
            429 Too Many Requests None : busy, delivered No/No
            502 Bad Gateway None Bad Gateway: garbled, delivered No/Maybe
            503 Service Unavailable None : busy, delivered No/Maybe
            302 Found None : garbled, delivered No/Maybe
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn each_transport_error_has_one_meaning() {
        let errors = [
            TransportError::Connect("x".into()),
            TransportError::Untrusted(rustls::CertificateError::Expired),
            TransportError::Refused(rustls::AlertDescription::CertificateRequired),
            TransportError::Lost("x".into()),
            TransportError::Silent,
            TransportError::TooLong,
        ];
        let table: String = errors.iter().map(|error| row(error, |purpose| classify_transport(error, purpose))).collect();
        expect![[r#"
            no connection: unreachable, delivered No/No
            the certificate is not trusted: untrusted, delivered No/No
            our certificate is refused: denied, delivered No/No
            connection lost: unreachable, delivered No/Maybe
            no answer in time: unreachable, delivered No/Maybe
            the answer is longer than 262144 bytes: garbled, delivered No/Maybe
        "#]]
        .assert_eq(&table);
    }
}
