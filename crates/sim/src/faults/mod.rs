//! Faults at the faces of a site: what a caller sees of a BMC or an API server that is away, slow, broken or forgetful.
//!
//! What a fault does to machines and nodes is `world`'s. The faces themselves know nothing of faults: a [`Wire`] stands
//! before each, over sockets and in this process alike.

mod api_wire;
mod bmc_wire;
mod cut;
mod etcd_wire;
mod orders;
mod tenant_wire;

use std::io;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::Request;
use tokio::sync::watch;
use tower::{BoxError, Service, ServiceExt};
use world::{ClusterName, World};

use crate::site::Site;
use crate::{etcd, images, kubernetes, redfish};

pub(crate) use bmc_wire::Memory;
pub use orders::{FaultRefused, FaultSeen, parse_order, parse_script, parse_span};
pub(crate) use tenant_wire::is_untrusted;

/// What a wire leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Bmc(usize),
    Kubernetes,
    /// The Kubernetes API of a tenant cluster.
    Tenant(String),
    /// The server of operating systems' images.
    Images,
    /// The member of etcd that runs on a machine; of the machine that a request's address names, if none is given.
    Etcd(Option<usize>),
}

/// Whether anybody is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    There,
    Away,
}

impl Face {
    fn reach(&self, world: &World) -> Reach {
        let is_there = match self {
            Face::Bmc(index) => world.is_bmc_reachable(*index),
            Face::Kubernetes => !world.is_api_down(),
            Face::Tenant(name) => world.is_tenant_reachable(name),
            Face::Images => true,
            Face::Etcd(Some(machine)) => world.is_etcd_reachable(*machine),
            Face::Etcd(None) => (0..world.layout().machines().len()).any(|machine| world.is_etcd_reachable(machine)),
        };
        if is_there { Reach::There } else { Reach::Away }
    }
}

/// The way to one service of the site: an HTTP service that fails with an [`io::Error`] when nobody is there.
#[derive(Clone, Debug)]
pub struct Wire {
    site: Site,
    face: Face,
    router: Router,
}

impl Wire {
    pub(crate) fn new(site: Site, face: Face) -> Wire {
        let router = match &face {
            Face::Bmc(index) => redfish::router(site.clone(), *index),
            Face::Kubernetes => kubernetes::router(site.clone(), ClusterName::Undercloud),
            Face::Tenant(name) => kubernetes::router(site.clone(), ClusterName::Tenant(name.clone())),
            Face::Images => images::router(),
            Face::Etcd(_) => etcd::router(site.clone()),
        };
        Wire { site, face, router }
    }

    fn reach(&self) -> Reach {
        self.site.look(|world| self.face.reach(world))
    }

    /// Waits until the service has gone away, or has come back.
    pub(crate) async fn until(&self, reach: Reach, changes: &mut watch::Receiver<u64>) {
        loop {
            changes.mark_unchanged();
            if self.reach() == reach {
                return;
            }
            // The sender lives as long as the site does, and `self` holds the site.
            let _ = changes.changed().await;
        }
    }
}

impl<B> Service<Request<B>> for Wire
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response;
    type Error = io::Error;
    type Future = BoxFuture<'static, Result<Response, io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Wire { site, face, router } = self.clone();
        let request = request.map(Body::new);
        Box::pin(async move {
            match face {
                Face::Bmc(index) => bmc_wire::answer(&site, index, router, request).await,
                Face::Kubernetes => api_wire::answer(&site, router, request).await,
                Face::Tenant(name) => tenant_wire::answer(&site, name, router, request).await,
                Face::Images => match router.oneshot(request).await {
                    Ok(response) => Ok(response),
                    Err(never) => match never {},
                },
                Face::Etcd(machine) => etcd_wire::answer(&site, machine, router, request).await,
            }
        })
    }
}

fn refused() -> io::Error {
    io::ErrorKind::ConnectionRefused.into()
}

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}
