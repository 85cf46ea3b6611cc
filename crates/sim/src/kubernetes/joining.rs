//! What a machine outside may do that joins: it comes with a bootstrap token, registers one node, and may do to that node and its lease what
//! a kubelet does, and nothing else.
//!
//! A real kubelet trades its token for a certificate of its node. This API speaks plain HTTP, so that the token itself stays the proof of
//! being the one node that it was first used for, also once it has been deleted, for as long as the simulator runs. It lets nobody in anew.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use http::{Method, StatusCode};
use world::{LEASES, NODES, Part};

use super::status::Failure;
use super::target::{Name, Target};
use super::{Call, Server, write};

/// Where kubelets keep their leases.
const LEASE_NAMESPACE: &str = "kube-node-lease";

/// The node that each bootstrap token was first used for.
#[derive(Default)]
pub(crate) struct Claims(Mutex<BTreeMap<String, String>>);

impl Claims {
    fn node_of(&self, token: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    fn claim(&self, token: &str, node: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(token.to_owned()).or_insert_with(|| node.to_owned());
    }
}

/// Whoever came with a bootstrap token.
pub(super) struct Joiner {
    token: String,
    /// The node that it is, if it has registered one.
    node: Option<String>,
}

impl Joiner {
    /// A token that is good now, or was when its node registered.
    pub fn recognize(server: &Server, token: &str) -> Option<Joiner> {
        let node = server.site.inner.claims.node_of(token);
        let is_good = || server.site.look(|world| world.check_bootstrap_token(token, server.now())).is_ok();
        (node.is_some() || is_good()).then(|| Joiner { token: token.to_owned(), node })
    }

    fn user(&self) -> String {
        match &self.node {
            Some(node) => format!("system:node:{node}"),
            None => format!("system:bootstrap:{}", self.token.split('.').next().unwrap_or_default()),
        }
    }

    /// Lets a request pass that a kubelet makes of its own node or lease.
    pub fn admit(&self, server: &Server, call: &Call, target: &Target) -> Result<(), Failure> {
        let Some(node) = node_meant(call, target)? else { return Err(self.forbidden(call, target)) };
        let registers = target.resource == &NODES && call.method == Method::POST;
        match &self.node {
            Some(own) if *own == node => Ok(()),
            None if registers => {
                server.site.inner.claims.claim(&self.token, &node);
                Ok(())
            }
            _ => Err(self.forbidden(call, target)),
        }
    }

    pub fn forbidden(&self, call: &Call, target: &Target) -> Failure {
        let (user, verb, kind) = (self.user(), call.method.as_str().to_lowercase(), target.resource.qualified_plural());
        let message =
            format!("{kind} is forbidden: User \"{user}\" cannot {verb} this resource: a host that joins speaks for its own node");
        Failure::new(StatusCode::FORBIDDEN, "Forbidden", message)
    }
}

/// The node that a request is about, of those that a kubelet makes; nothing for any other.
fn node_meant(call: &Call, target: &Target) -> Result<Option<String>, Failure> {
    let is_lease = target.resource == &LEASES && target.namespace.as_deref() == Some(LEASE_NAMESPACE);
    let is_node = target.resource == &NODES;
    let is_watch = call.is_set("watch");
    Ok(match (&call.method, &target.name) {
        (&Method::POST, Name::All) if is_node || is_lease => write::object_body(call)?["metadata"]["name"].as_str().map(str::to_owned),
        (&Method::GET, Name::One { key, .. }) if (is_node || is_lease) && !is_watch => Some(key.name.clone()),
        (&Method::PUT | &Method::PATCH, Name::One { key, part }) if is_lease || (is_node && *part == Part::Status) => {
            Some(key.name.clone())
        }
        _ => None,
    })
}
