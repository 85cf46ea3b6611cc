//! The site's addresses: one port per BMC, per member of etcd and per Kubernetes API, the same ones at every start where possible.
//!
//! A service that is away has no listener: connections to it are refused, and open ones break.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use world::Record;

use crate::error::SimError;
use crate::faults::{Face, Reach, Wire, is_untrusted};
use crate::net::SocketNet;
use crate::site::{PORTS_KEY, Site, parse};
use crate::tls::BmcTrust;

/// How long a connection may finish what it is doing when the site stops. Streams end by themselves before that.
const LINGER: Duration = Duration::from_secs(2);

/// How long a connection may finish what it is doing when its service goes away: a BMC that is told to restart still says
/// that it will.
const LAST_WORD: Duration = Duration::from_millis(200);

/// How long a client may take for its part of the TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections that wait to be accepted.
const BACKLOG: u32 = 128;

/// The pause after a listener failed to accept or to come back, such as for want of file descriptors.
const LISTEN_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// How the BMCs are spoken to. The undercloud's Kubernetes API and etcd are always plain HTTP, those of tenants are always HTTPS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BmcScheme {
    #[default]
    Http,
    Https,
}

impl BmcScheme {
    pub fn as_str(self) -> &'static str {
        match self {
            BmcScheme::Http => "http",
            BmcScheme::Https => "https",
        }
    }
}

/// Where a listening site is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoints {
    pub kubernetes: SocketAddr,
    /// The bearer token of the Kubernetes API.
    pub token: String,
    /// By machine name.
    pub bmcs: BTreeMap<String, SocketAddr>,
    /// The members of etcd, by machine name.
    pub etcd: BTreeMap<String, SocketAddr>,
    /// What to trust, if the BMCs speak HTTPS.
    pub trust: Option<BmcTrust>,
    /// By tenant cluster.
    pub tenants: BTreeMap<String, TenantEndpoint>,
    /// The server of images, always plain HTTP.
    pub images: SocketAddr,
}

/// Where a tenant cluster is reached, and the file that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantEndpoint {
    pub address: SocketAddr,
    pub kubeconfig: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Ports {
    kubernetes: u16,
    bmcs: BTreeMap<String, u16>,
    #[serde(default)]
    etcd: BTreeMap<String, u16>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tenants: BTreeMap<String, u16>,
    #[serde(default)]
    images: u16,
}

/// How a service proves who it is.
#[derive(Clone)]
struct Proof {
    usual: TlsAcceptor,
    /// For a tenant cluster: what it shows while a fault makes it show something else.
    stray: Option<(String, TlsAcceptor)>,
}

impl Proof {
    fn now(&self, site: &Site) -> &TlsAcceptor {
        match &self.stray {
            Some((cluster, stray)) if site.look(|world| is_untrusted(world, cluster)) => stray,
            _ => &self.usual,
        }
    }
}

/// One service on its port.
struct Listening {
    listener: TcpListener,
    wire: Wire,
    tls: Option<Proof>,
}

impl Site {
    /// Listens on `ip`, in plain HTTP, until `run` ends.
    pub async fn listen(&self, ip: IpAddr) -> Result<Endpoints, SimError> {
        self.listen_with(ip, BmcScheme::Http).await
    }

    /// Listens on `ip` until `run` ends. A remembered port that somebody else took is replaced by a free one.
    pub async fn listen_with(&self, ip: IpAddr, scheme: BmcScheme) -> Result<Endpoints, SimError> {
        let remembered: Ports = match self.inner.journal.load(PORTS_KEY).await? {
            Some(bytes) => parse(PORTS_KEY, &bytes)?,
            None => Ports::default(),
        };
        let certificates = match scheme {
            BmcScheme::Http => None,
            BmcScheme::Https => Some(self.certificates(ip).await?),
        };
        let (listener, kubernetes) = bind(ip, remembered.kubernetes).await?;
        let mut faces = vec![Listening { listener, wire: self.kubernetes(), tls: None }];
        let mut bmcs = BTreeMap::new();
        for machine in self.layout().machines() {
            let port = remembered.bmcs.get(&machine.name).copied().unwrap_or(0);
            let (listener, address) = bind(ip, port).await?;
            if let Some(wire) = self.redfish(&machine.name) {
                let acceptor = certificates.as_ref().and_then(|certificates| certificates.acceptors.get(&machine.name));
                let tls = acceptor.map(|usual| Proof { usual: usual.clone(), stray: None });
                faces.push(Listening { listener, wire, tls });
                bmcs.insert(machine.name.clone(), address);
            }
        }
        let (listener, images) = bind(ip, remembered.images).await?;
        faces.push(Listening { listener, wire: Wire::new(self.clone(), Face::Images), tls: None });
        let etcd = self.listen_for_etcd(ip, &remembered, &mut faces).await?;
        let tenants = self.listen_for_tenants(ip, &remembered, &mut faces).await?;
        let ports = Ports {
            kubernetes: kubernetes.port(),
            bmcs: bmcs.iter().map(|(name, address)| (name.clone(), address.port())).collect(),
            etcd: etcd.iter().map(|(name, address)| (name.clone(), address.port())).collect(),
            tenants: tenants.iter().map(|(name, endpoint)| (name.clone(), endpoint.address.port())).collect(),
            images: images.port(),
        };
        if ports != remembered {
            self.save_with(vec![Record { key: PORTS_KEY.to_owned(), value: Some(json!(ports)) }]).await?;
        }
        // A site with sockets has machines with sockets.
        self.plug_if_loose(|| Arc::new(SocketNet::default()));
        for face in faces {
            let site = self.clone();
            self.inner.listeners.spawn(async move { site.serve_face(face).await });
        }
        let trust = certificates.map(|certificates| certificates.trust);
        Ok(Endpoints { kubernetes, token: self.layout().kubernetes_token(), bmcs, etcd, trust, tenants, images })
    }

    /// Opens a port for each machine that a member of etcd may run on. While none runs there, nobody listens.
    async fn listen_for_etcd(
        &self,
        ip: IpAddr,
        remembered: &Ports,
        faces: &mut Vec<Listening>,
    ) -> Result<BTreeMap<String, SocketAddr>, SimError> {
        let mut addresses = BTreeMap::new();
        for machine in self.etcd_machines() {
            let Some(wire) = self.etcd_of(&machine.name) else { continue };
            let (listener, address) = bind(ip, remembered.etcd.get(&machine.name).copied().unwrap_or(0)).await?;
            faces.push(Listening { listener, wire, tls: None });
            addresses.insert(machine.name.clone(), address);
        }
        Ok(addresses)
    }

    /// Opens a port for each tenant cluster, and writes down where it is where Cluster API keeps that.
    async fn listen_for_tenants(
        &self,
        ip: IpAddr,
        remembered: &Ports,
        faces: &mut Vec<Listening>,
    ) -> Result<BTreeMap<String, TenantEndpoint>, SimError> {
        let clusters: Vec<String> = self.look(|world| world.tenants().map(|(name, _)| name.to_owned()).collect());
        let mut tenants = BTreeMap::new();
        if clusters.is_empty() {
            return Ok(tenants);
        }
        let certificates = self.tenant_certificates(ip, &clusters).await?;
        let ca_data = STANDARD.encode(&certificates.ca_pem);
        for cluster in clusters {
            let port = remembered.tenants.get(&cluster).copied().unwrap_or(0);
            let (listener, address) = bind(ip, port).await?;
            let (Some(wire), Some(usual)) = (self.tenant_kubernetes(&cluster), certificates.acceptors.get(&cluster)) else { continue };
            let stray = Some((cluster.clone(), certificates.stray.clone()));
            faces.push(Listening { listener, wire, tls: Some(Proof { usual: usual.clone(), stray }) });
            let token = self.layout().token_of(&world::ClusterName::Tenant(cluster.clone()));
            let kubeconfig = world::tenant_kubeconfig(&cluster, &format!("https://{address}"), Some(&ca_data), &token);
            let written = self.change(|world, now| world.set_tenant_kubeconfig(&cluster, &kubeconfig, now));
            written.map_err(|source| SimError::Kubeconfig { cluster: cluster.clone(), source })?;
            tenants.insert(cluster, TenantEndpoint { address, kubeconfig });
        }
        self.settle().await?;
        Ok(tenants)
    }

    /// Serves one face until the site stops, with no listener while it is away.
    async fn serve_face(&self, face: Listening) {
        let Listening { mut listener, wire, tls } = face;
        let stopping = self.inner.stopping.clone();
        let connections = TaskTracker::new();
        let mut changes = self.inner.fault_revision.subscribe();
        loop {
            let away = CancellationToken::new();
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                () = wire.until(Reach::Away, &mut changes) => {}
                () = accept(self, &listener, &wire, tls.as_ref(), &connections, [&away, &stopping]) => {}
            }
            away.cancel();
            let Ok(address) = listener.local_addr() else { break };
            drop(listener);
            let held = hold_port(address);
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                () = wire.until(Reach::There, &mut changes) => {}
            }
            let back = tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                back = listen_again(held, address) => back,
            };
            listener = back;
        }
        connections.close();
        // Connections end by themselves within their time.
        connections.wait().await;
    }
}

/// Accepts for ever.
async fn accept(
    site: &Site,
    listener: &TcpListener,
    wire: &Wire,
    tls: Option<&Proof>,
    connections: &TaskTracker,
    [away, stopping]: [&CancellationToken; 2],
) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(LISTEN_AGAIN_AFTER).await;
            continue;
        };
        // Answers are small, and waiting to fill a packet would only delay them. A socket that refuses still works.
        let _ = stream.set_nodelay(true);
        let (away, stopping) = (away.clone(), stopping.clone());
        let (wire, tls) = (wire.clone(), tls.map(|proof| proof.now(site).clone()));
        connections.spawn(async move { converse(stream, wire, tls, [&away, &stopping]).await });
    }
}

async fn converse(stream: TcpStream, wire: Wire, tls: Option<TlsAcceptor>, ends: [&CancellationToken; 2]) {
    let Some(tls) = tls else { return serve_connection(stream, wire, ends).await };
    let handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream));
    tokio::select! {
        biased;
        () = ends[0].cancelled() => {}
        () = ends[1].cancelled() => {}
        // Whoever does not trust us, or does not speak TLS, knows it already.
        stream = handshake => if let Ok(Ok(stream)) = stream {
            serve_connection(stream, wire, ends).await;
        },
    }
}

async fn serve_connection(stream: impl AsyncRead + AsyncWrite + Unpin, wire: Wire, [away, stopping]: [&CancellationToken; 2]) {
    let service = TowerToHyperService::new(wire);
    let connection = http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    // How a connection ends is its client's business, and a broken one is part of what is simulated.
    let may_linger = tokio::select! {
        biased;
        _ = &mut connection => return,
        () = away.cancelled() => LAST_WORD,
        () = stopping.cancelled() => LINGER,
    };
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(may_linger, connection).await;
}

/// A socket that has the port but does not listen: nobody else takes it, and connections are refused.
fn hold_port(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// The port again; a port that could not be held is tried for until whoever took it has gone.
async fn listen_again(held: io::Result<TcpSocket>, address: SocketAddr) -> TcpListener {
    let mut attempt = held.and_then(|socket| socket.listen(BACKLOG));
    loop {
        match attempt {
            Ok(listener) => return listener,
            Err(error) => {
                tracing::warn!(%address, error = &error as &dyn std::error::Error, "a simulated service cannot listen again yet");
                tokio::time::sleep(LISTEN_AGAIN_AFTER).await;
            }
        }
        attempt = hold_port(address).and_then(|socket| socket.listen(BACKLOG));
    }
}

async fn bind(ip: IpAddr, port: u16) -> Result<(TcpListener, SocketAddr), SimError> {
    let listen = |source| SimError::Listen { ip, source };
    let listener = match TcpListener::bind((ip, port)).await {
        Ok(listener) => listener,
        Err(_) if port != 0 => TcpListener::bind((ip, 0)).await.map_err(listen)?,
        Err(source) => return Err(listen(source)),
    };
    let address = listener.local_addr().map_err(listen)?;
    Ok((listener, address))
}
