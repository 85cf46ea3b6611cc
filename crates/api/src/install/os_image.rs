//! The image of the operating system, as it is written to a machine's disk: sent from our own disk to the agent that has a session.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode};
use model::{Bundle, Digest, InstallTrouble, MachineReport};
use ticket::Purpose;

use super::InstallFace;
use super::attempt::{Installing, Known, Named};
use super::door::{Declined, Place, bearer};
use super::sending::{Content, Reader};

/// How long an agent that asks for an image which is still on its way is kept waiting before it is told to come back.
///
/// An agent gives up after a number of tries that brought it nothing, so that one that is answered at once would not wait for long.
pub const IMAGE_HOLD: Duration = Duration::from_secs(20);

pub(super) async fn send(
    State(face): State<InstallFace>,
    Path(named): Path<Named>,
    Extension(place): Extension<Place>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Declined> {
    let (known, installing) = face.admit(&named, Purpose::Session, bearer(&headers)?).await?;
    if !known.is_exchanged() {
        return Err(Declined::over());
    }
    let bundle = face.bundle(&known, installing).ok_or_else(|| Declined::unknown_runtime(installing.version))?;
    let file = bundle.os_image.file();
    let needed = || face.needed();
    let got = tokio::select! {
        biased;
        got = face.images.file(&file, &needed) => Some(got),
        () = tokio::time::sleep(IMAGE_HOLD) => None,
        // Whoever is told to come back finds us again; whoever waits would keep us from going.
        () = face.api.process.stopping.cancelled() => None,
    };
    let kept = match got {
        Some(Ok(kept)) => kept,
        Some(Err(unusable)) => return Err(face.give_up(&known, "the image of the operating system", unusable).await),
        None => return Err(Declined::later(StatusCode::SERVICE_UNAVAILABLE, "the image is still on its way to us")),
    };
    let etag = format!("\"{}\"", file.sha256);
    Ok(face.send(&known.attempt, Content::File(kept), &etag, Reader { method, headers, place }))
}

impl InstallFace {
    /// What an attempt installs.
    pub(super) fn bundle(&self, known: &Known, installing: Installing) -> Option<Arc<Bundle>> {
        self.api.cache.view().runtime(&known.cluster.name, installing.version).map(|bundle| bundle.document.clone())
    }

    /// The digests of all images that somebody is being installed with.
    pub(super) fn needed(&self) -> BTreeSet<Digest> {
        let view = self.api.cache.view();
        let bundles = view.operations.values().filter_map(|operation| {
            let version = Installing::of(operation)?.version;
            Some(view.runtime(&operation.cluster, version)?.document.clone())
        });
        let digests = |bundle: Arc<Bundle>| {
            let boot = [Some(&bundle.boot.agent_image), bundle.boot.http.as_ref(), bundle.boot.pxe.as_ref()];
            let boot = boot.into_iter().flatten().map(|artefact| artefact.sha256.clone());
            boot.chain([bundle.os_image.file().sha256]).collect::<Vec<_>>()
        };
        bundles.flat_map(digests).collect()
    }

    /// A machine that found something else than was meant may have been sent a damaged image.
    pub(super) fn hear_of_damage(&self, known: &Known, installing: Installing, report: &MachineReport) {
        use InstallTrouble::{ImageMisfit, WrongDigest};
        let is_doubtful = matches!(report, MachineReport::Failed { trouble: WrongDigest | ImageMisfit, .. });
        if let Some(bundle) = self.bundle(known, installing).filter(|_| is_doubtful) {
            self.images.doubt(&bundle.os_image.file().sha256);
        }
    }
}
