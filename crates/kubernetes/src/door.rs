//! Ways into tenant clusters: from a kubeconfig to a client, over the network or inside this process.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Body;
use kube::client::ConfigExt;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use model::{Delivery, Fault, FaultClass};
use tower::{BoxError, Layer, Service, ServiceExt};

use crate::fault::{self, Purpose};
use crate::tenant_cluster::TenantCluster;
use crate::undercloud::{CONNECT_TIMEOUT, unusable, without_login};

/// Opens tenant clusters.
#[async_trait]
pub trait Door: Send + Sync + fmt::Debug {
    /// A client for the current context of a kubeconfig. Nobody is called yet.
    async fn open(&self, kubeconfig: &str) -> Result<TenantCluster, Fault>;
}

/// Connects to where the kubeconfig says.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkDoor;

#[async_trait]
impl Door for NetworkDoor {
    async fn open(&self, kubeconfig: &str) -> Result<TenantCluster, Fault> {
        let kubeconfig = read(kubeconfig)?;
        refuse_local_means(&kubeconfig)?;
        client(kubeconfig, None).await.map(TenantCluster::new)
    }
}

/// A kubeconfig that a tenant's cluster brought must not make us run programs or read our own files.
fn refuse_local_means(kubeconfig: &Kubeconfig) -> Result<(), Fault> {
    let mut users = kubeconfig.auth_infos.iter().filter_map(|named| named.auth_info.as_ref());
    let mut clusters = kubeconfig.clusters.iter().filter_map(|named| named.cluster.as_ref());
    let runs = |user: &kube::config::AuthInfo| user.exec.is_some() || user.auth_provider.is_some();
    let reads = |user: &kube::config::AuthInfo| user.token_file.is_some() || user.client_certificate.is_some() || user.client_key.is_some();
    let is_local = users.any(|user| runs(user) || reads(user)) || clusters.any(|cluster| cluster.certificate_authority.is_some());
    if is_local {
        let detail = "kubeconfig: it names a program or a file; only what it holds itself is used";
        return Err(Fault::new(FaultClass::Unsupported, Delivery::No, detail));
    }
    Ok(())
}

pub(crate) fn read(yaml: &str) -> Result<Kubeconfig, Fault> {
    Kubeconfig::from_yaml(yaml).map_err(|error| unusable(&error))
}

/// A client as every driver here needs it: with a timeout for connecting, and without retries of its own.
pub(crate) async fn client(kubeconfig: Kubeconfig, context: Option<&str>) -> Result<Client, Fault> {
    let names_proxy = kubeconfig.clusters.iter().filter_map(|named| named.cluster.as_ref()).any(|cluster| cluster.proxy_url.is_some());
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| unusable(&error))?;
    if !names_proxy {
        config.proxy_url = None;
    }
    config.cluster_url = without_login(config.cluster_url);
    config.connect_timeout = Some(CONNECT_TIMEOUT.to_std());
    // Every call and every watch has a timeout of its own around it. One on the connection would also count the
    // time that it lies idle in the pool.
    config.read_timeout = None;
    // Built in, it would repeat a 429 for minutes while the caller thinks that one request is under way.
    config.default_retry = false;
    Client::try_from(config).map_err(|error| fault::failed("kubeconfig", Purpose::Observe, &error))
}

/// Leads to API servers in this process, each found by the host in its kubeconfig. The token is sent as it would be.
pub struct InProcessDoor<F> {
    find: F,
}

impl<F, S, B> InProcessDoor<F>
where
    F: Fn(&str) -> Option<S> + Send + Sync,
    S: Service<Request<kube::client::Body>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    /// `find` gives the API server of a host, or nothing if nobody listens there.
    pub fn new(find: F) -> Self {
        InProcessDoor { find }
    }
}

#[async_trait]
impl<F, S, B> Door for InProcessDoor<F>
where
    F: Fn(&str) -> Option<S> + Send + Sync,
    S: Service<Request<kube::client::Body>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    async fn open(&self, kubeconfig: &str) -> Result<TenantCluster, Fault> {
        let config = Config::from_custom_kubeconfig(read(kubeconfig)?, &KubeConfigOptions::default()).await;
        let config = config.map_err(|error| unusable(&error))?;
        let host = config.cluster_url.host().unwrap_or_default();
        let nobody = || Fault::new(FaultClass::Unreachable, Delivery::No, format!("kubeconfig: nobody listens at `{host}`"));
        let service = (self.find)(host).ok_or_else(nobody)?.map_err(Into::<BoxError>::into);
        let login = config.auth_layer().map_err(|error| fault::failed("kubeconfig", Purpose::Observe, &error))?;
        let client = match login {
            Some(login) => Client::new(login.layer(service), "default"),
            None => Client::new(service, "default"),
        };
        Ok(TenantCluster::new(client))
    }
}

impl<F> fmt::Debug for InProcessDoor<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcessDoor").finish_non_exhaustive()
    }
}
