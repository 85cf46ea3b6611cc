//! The undercloud's kubeconfig with the files that it names: certificates, keys and tokens, relative to itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kube::config::Kubeconfig;

/// What a driver of the undercloud is made from. It holds keys and tokens, and is never printed.
#[derive(Default, PartialEq, Eq)]
pub struct ClusterAccess {
    pub text: String,
    /// The files that it names, with what they held when it was read; `None` for one that cannot be read, which the
    /// driver complains about if it needs it.
    pub files: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl ClusterAccess {
    /// `text` is what stands in `path`. One that is no kubeconfig is left for the driver to complain about.
    pub fn new(path: &Path, text: String) -> ClusterAccess {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // A driver that is given the bare text would look for the files in the working directory.
        let Ok(config) = Kubeconfig::read_from(&absolute) else { return ClusterAccess { text, files: BTreeMap::new() } };
        let clusters = config.clusters.iter().filter_map(|named| named.cluster.as_ref());
        let authorities = clusters.filter_map(|cluster| cluster.certificate_authority.as_ref());
        let users = config.auth_infos.iter().filter_map(|named| named.auth_info.as_ref());
        let keys = users.flat_map(|user| [&user.client_certificate, &user.client_key, &user.token_file].into_iter().flatten());
        let files = authorities.chain(keys).map(|file| (PathBuf::from(file), std::fs::read(file).ok())).collect();
        // JSON is YAML too.
        ClusterAccess { text: serde_json::to_string(&config).unwrap_or(text), files }
    }
}
