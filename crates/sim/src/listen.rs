//! The site's addresses: one port per BMC and one for the Kubernetes API, the same ones at every start where possible.

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::net::TcpListener;
use world::Record;

use crate::error::SimError;
use crate::site::{PORTS_KEY, Site, parse};

/// How long a connection may finish what it is doing when the site stops. Streams end by themselves before that.
const LINGER: Duration = Duration::from_secs(2);

/// Where a listening site is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoints {
    pub kubernetes: SocketAddr,
    /// The bearer token of the Kubernetes API.
    pub token: String,
    /// By machine name.
    pub bmcs: BTreeMap<String, SocketAddr>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Ports {
    kubernetes: u16,
    bmcs: BTreeMap<String, u16>,
}

impl Site {
    /// Listens on `ip` until `run` ends. A remembered port that somebody else took is replaced by a free one.
    pub async fn listen(&self, ip: IpAddr) -> Result<Endpoints, SimError> {
        let remembered: Ports = match self.inner.journal.load(PORTS_KEY).await? {
            Some(bytes) => parse(PORTS_KEY, &bytes)?,
            None => Ports::default(),
        };
        let (listener, kubernetes) = bind(ip, remembered.kubernetes).await?;
        let mut faces = vec![(listener, self.kubernetes())];
        let mut bmcs = BTreeMap::new();
        for machine in self.layout().machines() {
            let port = remembered.bmcs.get(&machine.name).copied().unwrap_or(0);
            let (listener, address) = bind(ip, port).await?;
            if let Some(router) = self.redfish(&machine.name) {
                faces.push((listener, router));
                bmcs.insert(machine.name.clone(), address);
            }
        }
        let ports =
            Ports { kubernetes: kubernetes.port(), bmcs: bmcs.iter().map(|(name, address)| (name.clone(), address.port())).collect() };
        if ports != remembered {
            self.save_with(vec![Record { key: PORTS_KEY.to_owned(), value: Some(json!(ports)) }]).await?;
        }
        for (listener, router) in faces {
            self.spawn_face(listener, router);
        }
        Ok(Endpoints { kubernetes, token: self.layout().kubernetes_token(), bmcs })
    }

    fn spawn_face(&self, listener: TcpListener, router: Router) {
        let stopping = self.inner.stopping.clone();
        self.inner.listeners.spawn(async move {
            // Answers are small, and waiting to fill a packet would only delay them. A socket that refuses still works.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            let serving = axum::serve(listener, router).with_graceful_shutdown(stopping.clone().cancelled_owned());
            let cut = async {
                stopping.cancelled().await;
                tokio::time::sleep(LINGER).await;
            };
            tokio::select! {
                result = serving.into_future() => {
                    if let Err(error) = result {
                        tracing::error!(error = &error as &dyn std::error::Error, "a simulated service stopped listening");
                    }
                }
                () = cut => {}
            }
        });
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
