//! Secrets of the undercloud: read, and put there. Their content is wiped from memory and shown nowhere.
//!
//! The buffers of the client and of TLS beneath are not ours to wipe.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use model::Fault;
use serde_json::json;
use tokio::time::{Instant, timeout_at};
use zeroize::{Zeroize, Zeroizing};

use crate::fault::{self, Purpose};
use crate::name;
use crate::undercloud::{CALL_TIMEOUT, FIELD_MANAGER, Undercloud, within};

/// The entries of a secret. What it shows of itself is their names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretData(BTreeMap<String, Zeroizing<Vec<u8>>>);

impl SecretData {
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> SecretData {
        self.0.insert(key.into(), Zeroizing::new(value.into()));
        self
    }

    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.0.get(key).map(|value| value.as_slice())
    }
}

impl fmt::Debug for SecretData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A secret as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretSeen {
    pub uid: String,
    /// Such as `Opaque` or `bootstrap.kubernetes.io/token`.
    pub kind: String,
    pub data: SecretData,
}

/// A secret as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretWanted {
    pub namespace: String,
    pub name: String,
    /// It cannot be changed later.
    pub kind: String,
    pub labels: BTreeMap<String, String>,
    pub data: SecretData,
}

impl Undercloud {
    /// A secret, or nothing if there is none of that name.
    pub async fn observe_secret(&self, namespace: &str, name: &str) -> Result<Option<SecretSeen>, Fault> {
        let secrets = self.secrets(namespace, name)?;
        let found = within(&format!("GET secret {namespace}/{name}"), Purpose::Observe, secrets.get_opt(name)).await?;
        Ok(found.map(|secret| SecretSeen {
            uid: secret.metadata.uid.unwrap_or_default(),
            kind: secret.type_.unwrap_or_default(),
            data: SecretData(secret.data.into_iter().flatten().map(|(key, value)| (key, Zeroizing::new(value.0))).collect()),
        }))
    }

    /// A secret that lies beside tenants' virtual machines and clusters, or nothing if there is none of that name.
    pub async fn observe_tenant_secret(&self, name: &str) -> Result<Option<SecretSeen>, Fault> {
        self.observe_secret(&self.tenant_namespace, name).await
    }

    /// Puts a secret there, whether or not there was one of that name. Asking twice is the same as asking once.
    ///
    /// The API has no one request for that: it is created, and replaced if it was there already.
    pub async fn request_secret(&self, wanted: &SecretWanted) -> Result<(), Fault> {
        let SecretWanted { namespace, name, .. } = wanted;
        let secrets = self.secrets(namespace, name)?;
        let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let mut document = document(wanted);
        let ends_at = Instant::now() + CALL_TIMEOUT.to_std();
        let created = quietly(&format!("POST secret {namespace}/{name}"), ends_at, secrets.create(&params, &document)).await;
        let outcome = match created {
            Ok(Outcome::There) => {
                quietly(&format!("PUT secret {namespace}/{name}"), ends_at, secrets.replace(name, &params, &document)).await
            }
            other => other,
        };
        wipe(&mut document);
        outcome.map(drop)
    }

    /// Lets a secret go with an object when that is deleted: Kubernetes collects it then.
    pub(crate) async fn request_secret_owner(&self, secret: &SecretWanted, owner: &OwnerReference) -> Result<(), Fault> {
        let SecretWanted { namespace, name, .. } = secret;
        let secrets = self.secrets(namespace, name)?;
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let patch = Patch::Merge(json!({"metadata": {"ownerReferences": [owner]}}));
        let ends_at = Instant::now() + CALL_TIMEOUT.to_std();
        quietly(&format!("PATCH secret {namespace}/{name}"), ends_at, secrets.patch(name, &params, &patch)).await.map(drop)
    }

    pub(crate) fn secrets(&self, namespace: &str, name: &str) -> Result<Api<Secret>, Fault> {
        name::check("a namespace", namespace)?;
        name::check("a secret", name)?;
        Ok(Api::namespaced(self.client.clone(), namespace))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    /// There is one of that name already.
    There,
}

/// One request that holds a secret, of a call that ends then: a failure of it is told without the words of either side.
async fn quietly(asked: &str, ends_at: Instant, call: impl Future<Output = kube::Result<Secret>>) -> Result<Outcome, Fault> {
    match timeout_at(ends_at, call).await {
        Ok(Ok(mut answer)) => {
            wipe(&mut answer);
            Ok(Outcome::Done)
        }
        Ok(Err(kube::Error::Api(status))) if status.is_already_exists() => Ok(Outcome::There),
        Ok(Err(error)) => Err(fault::withheld(asked, Purpose::Request, &error)),
        Err(_) => Err(fault::silent(asked, Purpose::Request, CALL_TIMEOUT)),
    }
}

fn document(wanted: &SecretWanted) -> Secret {
    let data = wanted.data.0.iter().map(|(key, value)| (key.clone(), ByteString(value.to_vec()))).collect();
    Secret {
        metadata: ObjectMeta {
            name: Some(wanted.name.clone()),
            namespace: Some(wanted.namespace.clone()),
            labels: (!wanted.labels.is_empty()).then(|| wanted.labels.clone()),
            ..ObjectMeta::default()
        },
        type_: Some(wanted.kind.clone()),
        data: Some(data),
        ..Secret::default()
    }
}

pub(crate) fn wipe(secret: &mut Secret) {
    secret.data.iter_mut().flat_map(BTreeMap::values_mut).for_each(|value| value.0.zeroize());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_the_names_of_its_entries_only() {
        let data = SecretData::default().with("password", "hunter2");
        assert_eq!(format!("{data:?}"), r#"{"password"}"#);
        assert_eq!(data.get("password"), Some(&b"hunter2"[..]));
    }

    #[test]
    fn a_wiped_document_holds_nothing() {
        let data = SecretData::default().with("password", "hunter2");
        let wanted = SecretWanted { namespace: "n".into(), name: "s".into(), kind: "Opaque".into(), labels: BTreeMap::new(), data };
        let mut document = document(&wanted);
        wipe(&mut document);
        assert_eq!(document.data.unwrap()["password"].0, b"");
    }
}
