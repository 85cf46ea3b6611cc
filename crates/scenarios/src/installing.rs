//! Installations inside this process: the install face and the simulator's image server at addresses of their own, to which the
//! simulated machines are plugged in, and the runtimes that a site can be given.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::{Api, Coming, Fetch, Images, InstallFace, Rest, Unfetched};
use axum::body::Body;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::Request;
use keeper::{InstallDesk, InstallUrls, load_install_key};
use model::{ClusterName, Site};
use serde_json::{Value, json};
use sim::images;
use store::Vault;
use tower::ServiceExt;

/// Where machines find the install face, and the images.
pub const INSTALL_URL: &str = "http://install.invalid";
pub const IMAGES_URL: &str = "http://images.invalid";

/// Whoever answers at [`INSTALL_URL`].
pub const AUTHORITY: &str = "install.invalid";

/// The versions that houses can be given: two older ones, the one that they run, and a newer one.
pub const VERSIONS: [&str; 4] = ["4.1.6", "4.4.3", "4.9.2", "4.11.1"];

/// A network with the simulator's images in it.
pub fn network() -> sim::Switchboard {
    let net = sim::Switchboard::default();
    net.connect("images.invalid", images::router());
    net
}

/// Plugs the machines of a site into a network.
pub fn plug(site: &sim::Site, net: &sim::Switchboard) {
    site.plug(Arc::new(net.clone()));
    site.set_pxe_server(INSTALL_URL);
}

/// Lets the install face of this API answer the machines of these clusters.
pub async fn connect(net: &sim::Switchboard, api: Api, vault: &Vault, clusters: impl IntoIterator<Item = &ClusterName>) {
    let mut keys = BTreeMap::new();
    for cluster in clusters {
        keys.insert(cluster.clone(), load_install_key(vault, cluster).await.expect("the vault has, or makes, a key"));
    }
    let face = InstallFace::new(api, keys, Images::new(Arc::new(Shelf)), INSTALL_URL);
    net.connect(AUTHORITY, api::install_router(face));
}

/// What a keeper installs machines with.
pub async fn desk(vault: &Vault, site: &Site) -> InstallDesk {
    let key = load_install_key(vault, &site.cluster).await.expect("the vault has, or makes, a key");
    InstallDesk { key, urls: InstallUrls::all(INSTALL_URL) }
}

/// Fetches from the simulator's image server, without a socket.
struct Shelf;

impl Fetch for Shelf {
    fn open<'a>(&'a self, url: &'a str, rest: &'a Rest) -> BoxFuture<'a, Result<Coming, Unfetched>> {
        async move {
            let path = url.strip_prefix(IMAGES_URL).ok_or_else(|| Unfetched("nobody answers there".to_owned()))?;
            let mut request = Request::get(path);
            for (name, value) in rest.headers() {
                request = request.header(name, value);
            }
            let request = request.body(Body::empty()).map_err(|error| Unfetched(error.to_string()))?;
            let response = images::router().oneshot(request).await.map_err(|error| Unfetched(error.to_string()))?;
            Coming::of(response, rest)
        }
        .boxed()
    }
}

/// A runtime with the simulator's images, as it is imported.
pub fn runtime(version: &str) -> Value {
    let runtime = images::runtime(version);
    let artefact =
        |image: &images::Image| json!({ "url": format!("{IMAGES_URL}{}", image.path), "sha256": image.sha256, "bytes": image.bytes });
    json!({ "properties": {
        "osName": runtime.os_name,
        "kubernetesVersion": runtime.kubernetes_version,
        "osImage": artefact(&runtime.os),
        "boot": { "agentImage": artefact(&runtime.agent), "http": artefact(&runtime.http), "pxe": artefact(&runtime.pxe) },
        "firmware": [{ "model": "PowerEdge R750", "component": "BIOS", "minimum": "1.10.2" }],
        "userData": {
            "ControlPlane": include_str!("../../../examples/runtimes/simulated/control-plane.yaml"),
            "Management": include_str!("../../../examples/runtimes/simulated/management.yaml"),
            "Compute": include_str!("../../../examples/runtimes/simulated/compute.yaml"),
        },
    } })
}
