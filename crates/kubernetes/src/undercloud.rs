//! The client of one undercloud, and the single calls on it.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::Stream;
use http::{Request, Response, Uri};
use hyper::body::Body;
use k8s_openapi::api::core::v1::Node;
use kube::api::ListParams;
use kube::config::KubeconfigError;
use kube::{Api, Client};
use model::{Delivery, Fault, FaultClass, Span};
use serde_json::Value;
use tokio::time::timeout;
use tower::{BoxError, Service};

use crate::fault::{self, Purpose};
use crate::nodes::{self, NodeEvent};
use crate::{door, node};

/// How long the API server may take to accept a connection.
pub const CONNECT_TIMEOUT: Span = Span::seconds(5);

/// How long a single call may take in all.
///
/// An API server sheds load within seconds; one that needs longer than ten is not answering.
pub const CALL_TIMEOUT: Span = Span::seconds(10);

/// Who we are in the API server's record of who owns which field.
pub(crate) const FIELD_MANAGER: &str = "rackwright";

/// The namespace of the undercloud in which tenants' virtual machines and clusters lie.
pub const TENANT_NAMESPACE: &str = "tenants";

/// The Kubernetes cluster of a site. Clones are cheap and share connections.
#[derive(Clone)]
pub struct Undercloud {
    pub(crate) client: Client,
    nodes: Api<Node>,
    /// Where tenants' virtual machines and clusters lie.
    pub(crate) tenant_namespace: Arc<str>,
}

impl Undercloud {
    /// Connects, at the first call, to the current context of a kubeconfig.
    ///
    /// The context's own `proxy-url` is not supported and refused; a proxy from the environment is not used, since
    /// the API server of a site is not behind a proxy for web browsing. Must be called inside a tokio runtime.
    pub async fn from_kubeconfig(yaml: &str) -> Result<Self, Fault> {
        Undercloud::from_kubeconfig_context(yaml, None).await
    }

    /// The same for a context that is named, where a kubeconfig knows several clusters.
    pub async fn from_kubeconfig_context(yaml: &str, context: Option<&str>) -> Result<Self, Fault> {
        let client = door::client(door::read(yaml)?, context).await?;
        Ok(Undercloud::new(client))
    }

    /// An API server in this process, such as an `axum::Router`. Must be called inside a tokio runtime.
    ///
    /// A service that wants to seem unreachable fails with an [`std::io::Error`] of kind `ConnectionRefused`.
    pub fn in_process<S, B>(service: S) -> Self
    where
        S: Service<Request<kube::client::Body>, Response = Response<B>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Undercloud::new(Client::new(service, "default"))
    }

    fn new(client: Client) -> Self {
        Undercloud { nodes: Api::all(client.clone()), client, tenant_namespace: TENANT_NAMESPACE.into() }
    }

    /// The same undercloud with tenants in another namespace.
    #[must_use]
    pub fn with_tenants_in(self, namespace: &str) -> Undercloud {
        Undercloud { tenant_namespace: namespace.into(), ..self }
    }

    /// Whether the API server answers us.
    ///
    /// It reads one node rather than `/version`, which is open to strangers: only a read of what we need shows that
    /// our credentials still work, and that etcd behind the server does.
    pub async fn observe_contact(&self) -> Result<(), Fault> {
        let one = ListParams::default().limit(1);
        within("GET nodes", Purpose::Observe, self.nodes.list(&one)).await.map(drop)
    }

    /// The nodes now and their changes from now on, for as long as the stream is polled.
    ///
    /// The stream never ends. When the line breaks it says [`NodeEvent::Lost`], waits a little longer each time, and
    /// goes on from where it was, or lists anew if the server no longer knows that place.
    pub fn watch_nodes(&self) -> impl Stream<Item = NodeEvent> + Send + use<> {
        nodes::watch(self.nodes.clone())
    }

    /// Keeps new pods off a node, and marks the cordon as ours. Asking twice is the same as asking once.
    pub async fn request_cordon(&self, node: &str, reason: &str) -> Result<(), Fault> {
        self.request_patch(node, &node::cordon_patch(reason)).await
    }

    /// Lets pods onto a node again, whoever cordoned it: whether the cordon is ours to lift is decided by the caller.
    pub async fn request_uncordon(&self, node: &str) -> Result<(), Fault> {
        self.request_patch(node, &node::uncordon_patch()).await
    }

    async fn request_patch(&self, node: &str, patch: &Value) -> Result<(), Fault> {
        node::request_patch(&self.nodes, node, patch).await
    }
}

impl fmt::Debug for Undercloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Undercloud").finish_non_exhaustive()
    }
}

pub(crate) async fn within<T>(asked: &str, purpose: Purpose, call: impl Future<Output = kube::Result<T>>) -> Result<T, Fault> {
    match timeout(CALL_TIMEOUT.to_std(), call).await {
        Ok(outcome) => outcome.map_err(|error| fault::failed(asked, purpose, &error)),
        Err(_) => Err(fault::silent(asked, purpose, CALL_TIMEOUT)),
    }
}

/// An address without the user and the password that kubectl would take from it. They are not sent anyway, and the libraries
/// below log whom they call.
pub(crate) fn without_login(url: Uri) -> Uri {
    let mut parts = url.clone().into_parts();
    let bare = parts.authority.as_ref().and_then(|authority| authority.as_str().rsplit_once('@')?.1.parse().ok());
    if bare.is_some() {
        parts.authority = bare;
    }
    Uri::from_parts(parts).unwrap_or(url)
}

/// A kubeconfig that leads nowhere. A parser's own words are left out: they quote the text, which holds keys and tokens.
pub(crate) fn unusable(error: &KubeconfigError) -> Fault {
    let what = match error {
        KubeconfigError::Parse(error) => match error.location() {
            Some(location) => format!("line {} is not that of a kubeconfig", location.line()),
            None => "it is not a kubeconfig".to_owned(),
        },
        error => model::shortened(&error.to_string()),
    };
    Fault::new(FaultClass::Unsupported, Delivery::No, format!("kubeconfig: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_in_an_address_is_left_out() {
        let bare = |url: &str| without_login(url.parse().unwrap()).to_string();
        assert_eq!(bare("http://kubectl:s3cret@127.0.0.1:6443/base?x=1"), "http://127.0.0.1:6443/base?x=1");
        assert_eq!(bare("https://user@api.example"), "https://api.example/");
        assert_eq!(bare("https://[::1]:6443"), "https://[::1]:6443/");
    }
}
