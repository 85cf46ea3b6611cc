//! The install face: what a machine that is being installed fetches from us, and what it tells us of itself.
//!
//! It has a listener of its own, because machines must not reach the API, and nothing here can do what the API can. Every request
//! carries a token that is good for one purpose of one attempt; what a machine tells becomes a request to its keeper like any
//! other, and the keeper's plan judges it. No token, and no URL with a secret in it, is logged.

mod attempt;
mod boot;
mod depot;
mod door;
mod exchange;
mod images;
mod inventory;
mod log;
mod os_image;
mod pace;
mod range;
mod rate;
mod reports;
mod seed;
mod sending;
mod splice;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use model::{ClusterName, Span};
use ticket::InstallKey;
use tokio::sync::Semaphore;

pub use depot::{Coming, Depot, FETCH_IDLE_TIMEOUT, Fetch, Rest, Unfetched};
pub use exchange::{NONCE_MAX, NONCE_MIN};
pub use images::{BOOT_IMAGE_MAX, IMAGES_MAX, Images};
pub use inventory::INVENTORY_MAX;
pub use log::{LOG_MAX, LOGS_BURST, LOGS_EVERY};
pub use os_image::IMAGE_HOLD;
pub use pace::{REPORTS_BURST, REPORTS_EVERY};
pub use rate::Rates;
pub use splice::{AREA_BYTES, MARKER};

use crate::Api;
use crate::hygiene::Transport;
use pace::Pace;
use rate::Pacing;

/// The largest body of a machine's request. The longest there is is a failure with its words.
pub const REPORT_BODY_MAX: usize = 8 * 1024;

/// How long a machine may take to send it.
pub const REPORT_BODY_TIMEOUT: Span = Span::seconds(10);

/// Requests that are answered at once, images that are being sent included. More are told to come back.
///
/// A rack's machines together are a few dozen; this is a large site all at once.
pub const MAX_IN_FLIGHT: usize = 2_048;

/// What the install face works with.
#[derive(Clone, Debug)]
pub struct InstallFace {
    api: Api,
    keys: Arc<BTreeMap<ClusterName, InstallKey>>,
    images: Images,
    /// What machines are told to call us by, without a slash at its end.
    url: Arc<str>,
    /// Who signed our certificate, if we have one.
    ca: Option<Arc<str>>,
    pace: Arc<Pace>,
    /// The same for logs, which are kept whole.
    log_pace: Arc<Pace>,
    pacing: Arc<Pacing>,
    /// How many may read from the disk at once.
    reads: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

impl InstallFace {
    /// `url` is what machines are told to call the face by.
    pub fn new(api: Api, keys: BTreeMap<ClusterName, InstallKey>, images: Images, url: &str) -> InstallFace {
        InstallFace {
            api,
            keys: Arc::new(keys),
            images,
            url: url.trim_end_matches('/').into(),
            ca: None,
            pace: Arc::new(Pace::new(REPORTS_BURST, REPORTS_EVERY)),
            log_pace: Arc::new(Pace::new(LOGS_BURST, LOGS_EVERY)),
            pacing: Arc::default(),
            reads: Arc::new(Semaphore::new(sending::READ_AT_ONCE)),
            places: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
        }
    }

    /// How fast images are sent; without this as fast as it goes.
    #[must_use]
    pub fn with_rates(self, rates: Rates) -> InstallFace {
        InstallFace { pacing: Arc::new(Pacing::new(rates)), ..self }
    }

    /// The certificate of whoever signed the face's own, for agents that would not know it otherwise.
    #[must_use]
    pub fn with_ca(self, ca_pem: &str) -> InstallFace {
        InstallFace { ca: Some(ca_pem.into()), ..self }
    }
}

/// The whole face as one service.
pub fn install_router(face: InstallFace) -> Router {
    let exchange = Router::new()
        .route("/install/v1/attempts/{cluster}/{operation}/{round}/exchange", post(exchange::exchange))
        .route("/install/v1/attempts/{cluster}/{operation}/{round}/image", get(os_image::send))
        .route("/install/v1/attempts/{cluster}/{operation}/{round}/report", post(reports::report))
        .route("/install/v1/attempts/{cluster}/{operation}/{round}/inventory", post(inventory::take))
        .route("/install/v1/attempts/{cluster}/{operation}/{round}/log", post(log::take))
        .route("/install/v1/attempts/{cluster}/{operation}/{round}/seed", get(seed::send))
        .route("/install/v1/attempts/{cluster}/{operation}/{round}/phone-home", post(reports::phone_home));
    // Whether machines hear us through TLS is in what they are told to call us by, also where a proxy speaks it for us.
    let transport = if face.url.starts_with("https://") { Transport::Tls } else { Transport::Clear };
    whole(face, transport, boot_routes().merge(exchange).fallback(door::nothing_here))
}

/// What is sent in the clear where the rest is not: BMCs and firmware cannot be given our certificate, and what they fetch is for
/// whoever knows its address.
pub fn boot_router(face: InstallFace) -> Router {
    whole(face, Transport::Clear, boot_routes().fallback(door::only_with_tls))
}

fn boot_routes() -> Router<InstallFace> {
    Router::new()
        .route("/install/v1/media/{cluster}/{operation}/{round}/{secret}/agent.iso", get(boot::send_media))
        .route("/install/v1/http/{cluster}/{operation}/{round}/{secret}/boot.efi", get(boot::send_http))
        .route("/install/v1/pxe/{mac}", get(boot::send_pxe))
}

fn whole(face: InstallFace, transport: Transport, routes: Router<InstallFace>) -> Router {
    routes.layer(from_fn_with_state((face.clone(), transport), door::limited)).with_state(face)
}
