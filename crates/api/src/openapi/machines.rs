//! The descriptions of what is asked about a machine that is not well, and of a cluster's hardware.

use http::Method;

use super::described::Content::One;
use super::described::{Described, Place, Query, get};
use super::paths::{GROUP, KEEPER, NETWORK_CLOUD, REQUEST_ID, SITES};
use crate::resources::cluster_actions::CLUSTER_VERBS;
use crate::schema;

const SYMPTOM: Query = Query {
    name: "symptom",
    place: Place::Query,
    kind: "string",
    required: false,
    about: "What is wrong: unresponsive, os-corruption, hardware, security or stuck-provisioning. Without it, what is observed counts.",
};
const REPAIRED: Query =
    Query { name: "repaired", about: "Parts that were repaired or exchanged, with commas between, such as `ssd,nic`.", ..SYMPTOM };

pub(super) fn all() -> Vec<Described> {
    let machine = |what: &str| format!("{GROUP}{NETWORK_CLOUD}/bareMetalMachines/{{bareMetalMachineName}}/{what}");
    let mut all = vec![
        get(SITES, "getHardwareValidation", machine("hardwareValidation"), "The latest validation of a machine.", One(&schema::VALIDATION))
            .refused(&[404]),
        get(SITES, "adviseBareMetalMachine", machine("advise"), "What to do about a machine that is not well.", One(&schema::ADVICE))
            .queries(&[SYMPTOM, REPAIRED])
            .refused(&[400, 404, 429, 503]),
        get(SITES, "verifyBareMetalMachine", machine("verify"), "Whether a machine is as it was before.", One(&schema::VERIFICATION))
            .refused(&[404, 429, 503]),
    ];
    all.extend(CLUSTER_VERBS.iter().map(|verb| {
        let path = format!("{GROUP}{NETWORK_CLOUD}/clusters/{{clusterName}}/{}", verb.name);
        Described::new(Method::POST, SITES, &format!("{}Cluster", verb.name), path, verb.about)
            .queries(&[REQUEST_ID])
            .body(verb.body, false)
            .answered(202, "Accepted; `Azure-AsyncOperation` and `Location` lead to what becomes of it.", One(&schema::OPERATION_STATUS))
            .refused(&KEEPER)
    }));
    all
}
