//! Whether a namespace is there, and whether it is staying.

use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use model::Fault;

use crate::fault::Purpose;
use crate::name;
use crate::undercloud::{Undercloud, within};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceSeen {
    pub name: String,
    pub uid: String,
    pub phase: NamespacePhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespacePhase {
    Active,
    /// It is being deleted, and all that is in it.
    Terminating,
}

impl Undercloud {
    /// A namespace, or nothing if there is none of that name.
    pub async fn observe_namespace(&self, name: &str) -> Result<Option<NamespaceSeen>, Fault> {
        name::check("a namespace", name)?;
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let found = within(&format!("GET namespace {name}"), Purpose::Observe, namespaces.get_opt(name)).await?;
        Ok(found.map(|namespace| NamespaceSeen {
            name: name.to_owned(),
            phase: phase(&namespace),
            uid: namespace.metadata.uid.unwrap_or_default(),
        }))
    }
}

fn phase(namespace: &Namespace) -> NamespacePhase {
    let named = namespace.status.as_ref().and_then(|status| status.phase.as_deref());
    if named == Some("Terminating") || namespace.metadata.deletion_timestamp.is_some() {
        NamespacePhase::Terminating
    } else {
        NamespacePhase::Active
    }
}
