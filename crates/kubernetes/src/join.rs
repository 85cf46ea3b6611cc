//! Bootstrap tokens: by one, a machine that was just installed joins the undercloud as a node.

use std::collections::BTreeMap;
use std::fmt;

use kube::api::DeleteParams;
use model::{Fault, Timestamp};
use zeroize::Zeroizing;

use crate::fault::Purpose;
use crate::secret::{SecretData, SecretWanted, wipe};
use crate::undercloud::{Undercloud, within};
use crate::vm_object::MANAGED_BY;

/// Where Kubernetes looks for bootstrap tokens, and by what it knows them.
const NAMESPACE: &str = "kube-system";
const KIND: &str = "bootstrap.kubernetes.io/token";

/// The group that kubeadm lets ask for a node's certificate.
const GROUP: &str = "system:bootstrappers:kubeadm:default-node-token";

/// A token as it is to be known to the undercloud.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinToken {
    /// Six characters of `[a-z0-9]`; it is part of the name of what holds the token.
    pub id: String,
    /// Sixteen of them.
    pub secret: Zeroizing<String>,
    /// For whom it is, for whoever finds it.
    pub description: String,
    pub expires_at: Timestamp,
}

impl JoinToken {
    fn secret_name(id: &str) -> String {
        format!("bootstrap-token-{id}")
    }
}

impl fmt::Debug for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinToken").field("id", &self.id).field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

impl Undercloud {
    /// Asks that this token be good until its end. Asking twice is the same as asking once, with the later end.
    pub async fn request_join_token(&self, token: &JoinToken) -> Result<(), Fault> {
        let data = SecretData::default()
            .with("token-id", token.id.as_str())
            .with("token-secret", token.secret.as_str())
            .with("expiration", token.expires_at.to_string())
            .with("description", token.description.as_str())
            .with("usage-bootstrap-authentication", "true")
            .with("usage-bootstrap-signing", "true")
            .with("auth-extra-groups", GROUP);
        let wanted = SecretWanted {
            namespace: NAMESPACE.to_owned(),
            name: JoinToken::secret_name(&token.id),
            kind: KIND.to_owned(),
            labels: BTreeMap::from([(MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned())]),
            data,
        };
        self.request_secret(&wanted).await
    }

    /// Asks that a token be good no more. That there is none is what was asked for.
    pub async fn request_join_token_end(&self, id: &str) -> Result<(), Fault> {
        let name = JoinToken::secret_name(id);
        let secrets = self.secrets(NAMESPACE, &name)?;
        let call = async {
            match secrets.delete(&name, &DeleteParams::default()).await {
                Ok(answer) => {
                    // What is deleted may be sent along.
                    if let Some(mut deleted) = answer.left() {
                        wipe(&mut deleted);
                    }
                    Ok(())
                }
                Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
                Err(error) => Err(error),
            }
        };
        within(&format!("DELETE secret {NAMESPACE}/{name}"), Purpose::Request, call).await
    }
}
