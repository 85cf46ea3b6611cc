//! What each failure means: the one table from statuses and client errors to faults, and the words for them.

use std::error::Error as StdError;
use std::io;

use hyper_util::client::legacy::Error as ClientError;
use kube::client::AuthError;
use model::{Delivery, Fault, FaultClass, Span, shortened};

/// Whether the request would change the cluster. It decides what a lost answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Observe,
    Request,
}

/// What a status of the API server means, other than success.
pub fn classify_status(code: u16, purpose: Purpose) -> (FaultClass, Delivery) {
    match code {
        401 | 403 => (FaultClass::Denied, Delivery::No),
        404 | 410 => (FaultClass::Missing, Delivery::No),
        409 | 429 | 503 => (FaultClass::Busy, Delivery::No),
        400..=499 | 501 => (FaultClass::Unsupported, Delivery::No),
        500..=599 => (FaultClass::Garbled, unless_observing(purpose)),
        // A status without a code, or with one that is no failure.
        _ => (FaultClass::Garbled, unless_observing(purpose)),
    }
}

/// What an error of the client means.
pub fn classify_error(error: &kube::Error, purpose: Purpose) -> (FaultClass, Delivery) {
    match error {
        kube::Error::Api(status) => classify_status(status.code, purpose),
        // The client has no token to send: that is our side, and nothing was asked.
        kube::Error::Auth(_) => (FaultClass::NoLogin, Delivery::No),
        // Only a handshake tells that a server is not the one that is meant, and the client has many errors for it.
        error if tls_error(error).is_some() => classify_transport(error, purpose),
        kube::Error::HyperError(_) | kube::Error::Service(_) | kube::Error::ReadEvents(_) => classify_transport(error, purpose),
        kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) | kube::Error::LinesCodecMaxLineLengthExceeded => {
            (FaultClass::Garbled, unless_observing(purpose))
        }
        // What remains is said before anything is sent: a request or a configuration that the client cannot handle.
        _ => (FaultClass::Unsupported, Delivery::No),
    }
}

fn classify_transport(error: &kube::Error, purpose: Purpose) -> (FaultClass, Delivery) {
    if let Some(tls) = tls_error(error) {
        // A handshake that fails has sent nothing.
        classify_tls(tls)
    } else if chain(error).any(|error| error.is::<AuthError>()) {
        (FaultClass::NoLogin, Delivery::No)
    } else if chain(error).any(is_unsent) {
        (FaultClass::Unreachable, Delivery::No)
    } else {
        (FaultClass::Unreachable, unless_observing(purpose))
    }
}

/// What a failed handshake says: that we do not trust the server, or that it does not trust us.
fn classify_tls(error: &rustls::Error) -> (FaultClass, Delivery) {
    use rustls::{AlertDescription as Alert, Error};
    let class = match error {
        Error::InvalidCertificate(_) | Error::InvalidCertRevocationList(_) | Error::NoCertificatesPresented => FaultClass::Untrusted,
        Error::AlertReceived(
            Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::CertificateRequired,
        ) => FaultClass::Denied,
        _ => FaultClass::Unreachable,
    };
    (class, Delivery::No)
}

/// The error of the handshake, if that is what failed. An I/O error that wraps another gives that one's cause as its own, so that
/// what it wraps is looked at instead.
fn tls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    let inner = |error: &'a (dyn StdError + 'static)| -> Option<&'a (dyn StdError + 'static)> {
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        }
    };
    std::iter::successors(Some(error), |error| inner(*error)).find_map(|error| error.downcast_ref())
}

/// Whether this error says that there was no connection to send anything on.
fn is_unsent(error: &(dyn StdError + 'static)) -> bool {
    use io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable};
    let is_connect = error.downcast_ref::<ClientError>().is_some_and(ClientError::is_connect);
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    is_connect || matches!(kind, Some(ConnectionRefused | HostUnreachable | NetworkUnreachable | NetworkDown | AddrNotAvailable))
}

fn unless_observing(purpose: Purpose) -> Delivery {
    match purpose {
        Purpose::Observe => Delivery::No,
        Purpose::Request => Delivery::Maybe,
    }
}

fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| StdError::source(*error))
}

/// The fault of a call that ended in an error; the error itself goes to the log.
pub(crate) fn failed(asked: &str, purpose: Purpose, error: &kube::Error) -> Fault {
    let (class, delivery) = classify_error(error, purpose);
    tracing::debug!(asked, error = error as &dyn StdError, "an API server gave no good answer");
    let detail = match error {
        kube::Error::Api(status) if status.message.is_empty() => format!("{asked} answered {}", status.code),
        kube::Error::Api(status) => format!("{asked} answered {}: {}", status.code, shortened(&status.message)),
        kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => format!("{asked}: the answer cannot be read"),
        _ => format!("{asked}: {}", cause(error)),
    };
    Fault::new(class, delivery, detail)
}

/// The fault of a call whose request held a secret: what the server or the client says about it may quote it, so that
/// neither the fault nor the log repeats it.
pub(crate) fn withheld(asked: &str, purpose: Purpose, error: &kube::Error) -> Fault {
    let (class, delivery) = classify_error(error, purpose);
    let detail = match error {
        kube::Error::Api(status) => format!("{asked} answered {}", status.code),
        kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => format!("{asked}: the answer cannot be read"),
        _ => format!("{asked}: {}", cause(error)),
    };
    Fault::new(class, delivery, detail)
}

/// The fault of a call that got no answer in time.
pub(crate) fn silent(asked: &str, purpose: Purpose, waited: Span) -> Fault {
    Fault::new(FaultClass::Unreachable, unless_observing(purpose), format!("{asked}: no answer in {waited}"))
}

/// The root of the trouble in a few words: `connection refused`.
fn cause(error: &kube::Error) -> String {
    if let Some(tls) = tls_error(error) {
        return shortened(&tls.to_string());
    }
    let innermost = chain(error).last().unwrap_or(error);
    match innermost.downcast_ref::<io::Error>().map(io::Error::kind) {
        // An error of no kind, such as that of a name lookup, says more in its own words.
        None | Some(io::ErrorKind::Other) => shortened(&innermost.to_string()),
        Some(kind) if kind.to_string().starts_with("uncategorized") => shortened(&innermost.to_string()),
        Some(kind) => kind.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use kube::core::Status;

    use super::*;

    fn row(name: &str, classify: impl Fn(Purpose) -> (FaultClass, Delivery)) -> String {
        let (class, observing) = classify(Purpose::Observe);
        let (same, requesting) = classify(Purpose::Request);
        assert_eq!(class, same, "the purpose changes the delivery only");
        format!("{name}: {class}, delivered {observing:?}/{requesting:?}\n")
    }

    #[test]
    fn each_status_has_one_meaning() {
        let codes = [0, 400, 401, 403, 404, 405, 409, 410, 422, 429, 500, 501, 502, 503, 504];
        let table: String = codes.iter().map(|code| row(&code.to_string(), |purpose| classify_status(*code, purpose))).collect();
        expect![[r#"
            0: garbled, delivered No/Maybe
            400: unsupported, delivered No/No
            401: denied, delivered No/No
            403: denied, delivered No/No
            404: missing, delivered No/No
            405: unsupported, delivered No/No
            409: busy, delivered No/No
            410: missing, delivered No/No
            422: unsupported, delivered No/No
            429: busy, delivered No/No
            500: garbled, delivered No/Maybe
            501: unsupported, delivered No/No
            502: garbled, delivered No/Maybe
            503: busy, delivered No/No
            504: garbled, delivered No/Maybe
        "#]]
        .assert_eq(&table);
    }

    fn handshake(error: rustls::Error) -> kube::Error {
        kube::Error::Service(Box::new(io::Error::other(io::Error::new(io::ErrorKind::InvalidData, error))))
    }

    #[test]
    fn each_client_error_has_one_meaning() {
        let broken = serde_json::from_str::<()>("{").unwrap_err();
        let errors = [
            kube::Error::Api(Status::failure("x", "y").with_code(404).boxed()),
            kube::Error::Service(Box::new(io::Error::from(io::ErrorKind::ConnectionRefused))),
            kube::Error::Service(Box::new(io::Error::from(io::ErrorKind::ConnectionReset))),
            kube::Error::Service(Box::new(AuthError::UnrefreshableTokenResponse)),
            kube::Error::ReadEvents(io::Error::from(io::ErrorKind::BrokenPipe)),
            kube::Error::Auth(AuthError::UnrefreshableTokenResponse),
            kube::Error::SerdeError(broken),
            kube::Error::TlsRequired,
            handshake(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)),
            handshake(rustls::Error::AlertReceived(rustls::AlertDescription::CertificateExpired)),
            handshake(rustls::Error::HandshakeNotComplete),
        ];
        let table: String = errors
            .iter()
            .map(|error| row(&failed("x", Purpose::Observe, error).detail, |purpose| classify_error(error, purpose)))
            .collect();
        expect![[r#"
            x answered 404: x: missing, delivered No/No
            x: connection refused: unreachable, delivered No/No
            x: connection reset: unreachable, delivered No/Maybe
            x: tried to refresh a token and got a non-refreshable token response: no login, delivered No/No
            x: broken pipe: unreachable, delivered No/Maybe
            x: tried to refresh a token and got a non-refreshable token response: no login, delivered No/No
            x: the answer cannot be read: garbled, delivered No/Maybe
            x: TLS required but no TLS stack selected: unsupported, delivered No/No
            x: invalid peer certificate: UnknownIssuer: untrusted, delivered No/No
            x: received fatal alert: CertificateExpired: denied, delivered No/No
            x: handshake not complete: unreachable, delivered No/No
        "#]]
        .assert_eq(&table);
    }
}
