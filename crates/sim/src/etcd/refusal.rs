//! etcd's refusals in its own words, with gRPC's code and the status that the gateway makes of it.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use world::EtcdRefusal;

/// An answer other than success.
#[derive(Debug)]
pub(super) enum Refused {
    Etcd { code: u32, words: &'static str },
    NoSuchPath,
}

const INVALID_ARGUMENT: u32 = 3;
const NOT_FOUND: u32 = 5;
const FAILED_PRECONDITION: u32 = 9;
const UNAVAILABLE: u32 = 14;

impl Refused {
    pub fn of(refusal: EtcdRefusal) -> Refused {
        let (code, words) = match refusal {
            EtcdRefusal::NoQuorum => (UNAVAILABLE, "etcdserver: request timed out"),
            EtcdRefusal::MemberNotFound => (NOT_FOUND, "etcdserver: member not found"),
            EtcdRefusal::PeerUrlExists => (FAILED_PRECONDITION, "etcdserver: Peer URLs already exists"),
            EtcdRefusal::InvalidUrl => (INVALID_ARGUMENT, "etcdserver: given member URLs are invalid"),
            EtcdRefusal::TooManyLearners => (FAILED_PRECONDITION, "etcdserver: too many learner members in cluster"),
            EtcdRefusal::Unhealthy => (UNAVAILABLE, "etcdserver: unhealthy cluster"),
            EtcdRefusal::NotEnoughStarted => (FAILED_PRECONDITION, "etcdserver: re-configuration failed due to not enough started members"),
            EtcdRefusal::NotLearner => (FAILED_PRECONDITION, "etcdserver: can only promote a learner member"),
            EtcdRefusal::NotInSync => (FAILED_PRECONDITION, "etcdserver: can only promote a learner member which is in sync with leader"),
        };
        Refused::Etcd { code, words }
    }

    pub fn learner() -> Refused {
        Refused::Etcd { code: UNAVAILABLE, words: "etcdserver: rpc not supported for learner" }
    }

    pub fn stopped() -> Refused {
        Refused::Etcd { code: UNAVAILABLE, words: "etcdserver: server stopped" }
    }

    pub fn unreadable() -> Refused {
        Refused::Etcd { code: INVALID_ARGUMENT, words: "invalid character looking for beginning of value" }
    }

    pub fn no_such_path() -> Refused {
        Refused::NoSuchPath
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Refused::Etcd { code, words } = self else { return (StatusCode::NOT_FOUND, "Not Found\n").into_response() };
        let status = match code {
            NOT_FOUND => StatusCode::NOT_FOUND,
            UNAVAILABLE => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        };
        (status, Json(json!({ "error": words, "code": code, "message": words }))).into_response()
    }
}
