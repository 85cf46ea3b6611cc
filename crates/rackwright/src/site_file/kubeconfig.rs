//! The undercloud's kubeconfig with the files that it names: certificates, keys and tokens, relative to itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube::config::{Cluster, Kubeconfig};
use model::JoinFacts;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::ParsedCertificate;
use sha2::{Digest, Sha256};

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

    /// What a new node is told of the undercloud; nothing if the kubeconfig names no server.
    pub fn join_facts(&self, context: Option<&str>) -> Option<JoinFacts> {
        let config = Kubeconfig::from_yaml(&self.text).ok()?;
        let context = context.or(config.current_context.as_deref())?;
        let named = config.contexts.iter().find(|named| named.name == context)?.context.as_ref()?;
        let cluster = config.clusters.iter().find(|cluster| cluster.name == named.cluster)?.cluster.as_ref()?;
        Some(JoinFacts {
            api_url: without_login(cluster.server.as_ref()?),
            ca_hash: self.authority(cluster).and_then(|pem| key_hash(&pem)),
        })
    }

    /// The certificate of whoever signs the server's, if one is named.
    fn authority(&self, cluster: &Cluster) -> Option<Vec<u8>> {
        let inline = cluster.certificate_authority_data.as_ref().and_then(|data| STANDARD.decode(data).ok());
        let file = || self.files.get(Path::new(cluster.certificate_authority.as_ref()?))?.clone();
        inline.or_else(file)
    }
}

/// An address without the login that may stand in it: what a new node is told is stored, and is no secret.
fn without_login(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// The digest of a certificate's public key, as `kubeadm join --discovery-token-ca-cert-hash` takes it.
fn key_hash(pem: &[u8]) -> Option<String> {
    let certificate = CertificateDer::from_pem_slice(pem).ok()?;
    let parsed = ParsedCertificate::try_from(&certificate).ok()?;
    let digest = Sha256::digest(parsed.subject_public_key_info());
    Some(format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use rcgen::PublicKeyData;

    use super::*;

    fn access(cluster: &str) -> ClusterAccess {
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
             contexts: [{{name: a, context: {{cluster: one, user: u}}}}, {{name: b, context: {{cluster: gone, user: u}}}}]\n\
             clusters: [{{name: one, cluster: {cluster}}}]\n"
        );
        ClusterAccess { text, files: BTreeMap::new() }
    }

    #[test]
    fn a_node_is_told_of_the_server_of_the_context_that_is_used() {
        let facts = access("{server: http://127.0.0.1:1}").join_facts(None).unwrap();
        assert_eq!(facts, JoinFacts { api_url: "http://127.0.0.1:1".to_owned(), ca_hash: None });
        let facts = access("{server: 'http://kubectl:p@ss@127.0.0.1:1/a@b'}").join_facts(None).unwrap();
        assert_eq!(facts.api_url, "http://127.0.0.1:1/a@b", "the login in it is ours alone");
        assert_eq!(access("{server: http://127.0.0.1:1}").join_facts(Some("b")), None);
        assert_eq!(access("{}").join_facts(None), None);
        assert_eq!(ClusterAccess::default().join_facts(None), None);
    }

    #[test]
    fn the_authority_is_known_by_the_digest_of_its_key() {
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = rcgen::CertificateParams::new(vec!["undercloud".to_owned()]).unwrap().self_signed(&key).unwrap();
        let pem = certificate.pem();
        let inline = access(&format!("{{server: https://a, certificate-authority-data: {}}}", STANDARD.encode(&pem)));
        let mut named = access("{server: https://a, certificate-authority: /ca.pem}");
        named.files.insert(PathBuf::from("/ca.pem"), Some(pem.into_bytes()));
        let expected: String = Sha256::digest(key.subject_public_key_info()).iter().map(|byte| format!("{byte:02x}")).collect();
        for access in [inline, named] {
            assert_eq!(access.join_facts(None).unwrap().ca_hash, Some(format!("sha256:{expected}")));
        }
    }
}
