//! The descriptions of runtimes.

use http::Method;

use super::described::Content::{Nothing, One, Page};
use super::described::{Described, get};
use super::paths::{GROUP, KEEPER, NETWORK_CLOUD, PAGES, REQUEST_ID, SITES};
use crate::schema;

pub(super) fn all() -> Vec<Described> {
    let list = format!("{GROUP}{NETWORK_CLOUD}/clusters/{{clusterName}}/runtimes");
    let one = format!("{list}/{{version}}");
    let put = "Make a runtime known to the cluster. What it is is settled then; the same description again changes nothing.";
    vec![
        get(SITES, "listRuntimes", list, "The runtimes that a cluster knows, the oldest first.", Page(&schema::RUNTIME))
            .queries(&PAGES)
            .refused(&[400, 404]),
        get(SITES, "getRuntime", one.clone(), "A runtime.", One(&schema::RUNTIME)).refused(&[404]),
        Described::new(Method::PUT, SITES, "importRuntime", one.clone(), put)
            .queries(&[REQUEST_ID])
            .body(&schema::RUNTIME, true)
            .answered(200, "It was known already, and is as described.", One(&schema::RUNTIME))
            .answered(201, "It is known.", One(&schema::RUNTIME))
            .refused(&KEEPER),
        Described::new(Method::DELETE, SITES, "forgetRuntime", one, "Let the cluster forget a runtime that nothing uses.")
            .queries(&[REQUEST_ID])
            .answered(204, "It is forgotten.", Nothing)
            .refused(&KEEPER),
    ]
}
