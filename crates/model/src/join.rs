//! How a new node finds the undercloud's API, and knows it for the right one.

use serde::{Deserialize, Serialize};

/// What the first-boot configuration tells of the undercloud. None of it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JoinFacts {
    /// The undercloud's API as its kubeconfig names it.
    pub api_url: String,
    /// `sha256:` and the digest of the public key of whoever signs the API's certificate, as kubeadm wants it; nothing where the
    /// API has no certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_hash: Option<String>,
}
