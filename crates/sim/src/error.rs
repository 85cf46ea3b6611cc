//! Why a simulated site cannot be opened, run or served.

use std::net::IpAddr;

use store::StoreError;
use world::{LayoutError, ObjectError, RestoreError, TenancyError};

#[derive(Debug, thiserror::Error)]
pub enum SimError {
    #[error("the site cannot be laid out")]
    Layout(#[from] LayoutError),
    #[error("the site cannot have such tenants")]
    Tenancy(#[from] TenancyError),
    #[error("the way into the tenant cluster `{cluster}` cannot be written down: {source}")]
    Kubeconfig { cluster: String, source: ObjectError },
    /// Going on with another layout would lose the machines that were there.
    #[error("the simulated site `{site}` was made with {found}, not with {asked}; start it as it was made, or use another data directory")]
    DifferentLayout { site: String, found: String, asked: String },
    #[error("the saved state of the simulated site `{site}` cannot be used")]
    Damaged {
        site: String,
        #[source]
        source: RestoreError,
    },
    #[error("the document `{key}` of the simulated site is not what this version writes")]
    Unreadable {
        key: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("the simulated site's state cannot be stored")]
    Store(#[from] StoreError),
    #[error("certificates for the simulated BMCs cannot be made or read: {why}")]
    Certificates { why: String },
    #[error("no port of {ip} can be listened on")]
    Listen {
        ip: IpAddr,
        #[source]
        source: std::io::Error,
    },
}
