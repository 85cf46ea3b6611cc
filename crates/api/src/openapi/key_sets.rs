//! The descriptions of key sets.

use http::Method;
use model::KeySetKind;

use super::described::Content::{Nothing, One, Page};
use super::described::{Described, get};
use super::paths::{CONDITIONS, GROUP, NETWORK_CLOUD, PAGES, REQUEST_ID, SITES};
use crate::resources::key_sets::{arm_type, model_of};

/// What stands against a write that may be meant for one edition only.
const WRITING: [u16; 6] = [400, 404, 409, 412, 429, 503];

pub(super) fn all() -> Vec<Described> {
    [of(KeySetKind::Machine, "BareMetalMachineKeySet"), of(KeySetKind::Bmc, "BmcKeySet")].concat()
}

fn of(kind: KeySetKind, noun: &str) -> Vec<Described> {
    let model = model_of(kind);
    let list = format!("{GROUP}{NETWORK_CLOUD}/clusters/{{clusterName}}/{}", arm_type(kind));
    let one = format!("{list}/{{keySetName}}");
    let (all, gone) = match kind {
        KeySetKind::Machine => {
            ("The key sets for the machines of a cluster.", "It is deleted, or was: no machine that is installed from now on has it.")
        }
        KeySetKind::Bmc => {
            ("The key sets for the BMCs of a cluster.", "It is deleted, or was: its accounts are removed from the BMCs, as they answer.")
        }
    };
    let write = |method, id: String, about| {
        Described::new(method, SITES, &id, one.clone(), about).queries(&CONDITIONS).queries(&[REQUEST_ID]).refused(&WRITING)
    };
    let put = "Make a key set, or write all of it anew. What its users may do is settled when it is made.";
    let patch = "Write what is named of a key set; a list of users takes the place of the one before.";
    vec![
        get(SITES, &format!("list{noun}s"), list, all, Page(model)).queries(&PAGES).refused(&[400, 404]),
        get(SITES, &format!("get{noun}"), one.clone(), "A key set.", One(model)).refused(&[404]),
        write(Method::PUT, format!("write{noun}"), put)
            .body(model, true)
            .answered(200, "Written; the key set as it is now.", One(model))
            .answered(201, "It is made.", One(model)),
        write(Method::PATCH, format!("update{noun}"), patch).change(model).answered(200, "Written; the key set as it is now.", One(model)),
        write(Method::DELETE, format!("delete{noun}"), "Delete a key set.").answered(204, gone, Nothing),
    ]
}
