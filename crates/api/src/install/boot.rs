//! What a machine is started from: its bundle's image, with the agent's configuration in it. HEAD, parts and parallel reads are
//! those of the image with the configuration.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode};
use model::{AgentNetwork, Artefact, BootWay, Bundle, MachineReport, Timestamp};
use serde::Serialize;
use ticket::Purpose;
use zeroize::Zeroizing;

use super::InstallFace;
use super::attempt::{Installing, Known, Named};
use super::depot::Unusable;
use super::door::{Declined, Place};
use super::sending::{Content, Reader};
use crate::cache::View;
use crate::submit::submit_report;

/// Cluster, operation, round, and the secret without which there is nothing here.
type Hidden = (String, String, u32, String);

/// What the agent finds in its image.
#[derive(Serialize)]
struct Configuration<'a> {
    url: &'a str,
    ca: Option<&'a str>,
    cluster: &'a str,
    machine: &'a str,
    operation: &'a str,
    round: u32,
    token: &'a str,
    /// When the attempt began: an agent whose clock is far from it cannot judge our certificate.
    time: Timestamp,
    /// Nothing if it asks for its network by DHCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<&'a AgentNetwork>,
}

pub(super) async fn send_media(
    State(face): State<InstallFace>,
    Path(hidden): Path<Hidden>,
    Extension(place): Extension<Place>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Declined> {
    let (known, installing) = face.find_hidden(hidden, BootWay::VirtualMedia).await?;
    face.send_image(&known, installing, Reader { method, headers, place }).await
}

pub(super) async fn send_http(
    State(face): State<InstallFace>,
    Path(hidden): Path<Hidden>,
    Extension(place): Extension<Place>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Declined> {
    let (known, installing) = face.find_hidden(hidden, BootWay::UefiHttp).await?;
    face.send_image(&known, installing, Reader { method, headers, place }).await
}

/// Firmware that boots over PXE can be told no secret, so that anybody on its network who knows its MAC is sent the same.
pub(super) async fn send_pxe(
    State(face): State<InstallFace>,
    Path(mac): Path<String>,
    Extension(place): Extension<Place>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Declined> {
    let (known, installing) = find_by_mac(&face.api.cache.view(), &mac).ok_or_else(Declined::no_such_image)?;
    face.send_image(&known, installing, Reader { method, headers, place }).await
}

impl InstallFace {
    async fn find_hidden(&self, hidden: Hidden, way: BootWay) -> Result<(Known, Installing), Declined> {
        let (cluster, operation, round, secret) = hidden;
        let (named, secret) = (Named { cluster, operation, round }, Zeroizing::new(secret));
        let found = self.admit(&named, Purpose::Media, &secret).await.ok();
        found.filter(|(_, installing)| installing.way == way).ok_or_else(Declined::no_such_image)
    }

    async fn send_image(&self, known: &Known, installing: Installing, reader: Reader) -> Result<Response, Declined> {
        let bundle = self.bundle(known, installing);
        let bundle = bundle.as_deref().ok_or_else(Declined::no_such_image)?;
        let artefact = artefact_of(bundle, installing.way).ok_or_else(Declined::no_such_image)?;
        // What is to be installed comes while the machine starts.
        self.images.begin(&bundle.os_image.file(), &|| self.needed());
        let base = match self.images.get(artefact, &|| self.needed()).await {
            Ok(base) => base,
            Err(unusable) => return Err(self.give_up(known, "the image that machines are started from", unusable).await),
        };
        let configuration = self.configuration(known).ok_or_else(Declined::no_such_image)?;
        let spliced = base.with(&configuration).map_err(|problem| {
            tracing::error!(machine = %known.attempt.machine, %problem, "an agent cannot be configured");
            Declined::new(StatusCode::INTERNAL_SERVER_ERROR, "the agent cannot be configured")
        })?;
        let etag = format!("\"{}-{}-{}\"", artefact.sha256.short(), known.attempt.operation, known.attempt.round);
        Ok(self.send(&known.attempt, Content::Spliced(spliced), &etag, reader))
    }

    fn configuration(&self, known: &Known) -> Option<Zeroizing<Vec<u8>>> {
        let attempt = &known.attempt;
        let token = self.key_of(&attempt.cluster)?.token(Purpose::Agent, attempt);
        // Of the journal, so that it is the same in whichever part of the image is read, and whenever.
        let installing = known.operation.installing()?;
        let configuration = Configuration {
            url: &self.url,
            ca: self.ca.as_deref(),
            cluster: attempt.cluster.as_str(),
            machine: attempt.machine.as_str(),
            operation: attempt.operation.as_str(),
            round: attempt.round,
            token: &token,
            time: installing.began_at,
            network: installing.network,
        };
        Some(Zeroizing::new(serde_json::to_vec(&configuration).expect("texts and a number are JSON")))
    }

    /// An image that cannot be had ends the attempt with its reason. A BMC would only say that it could not fetch something.
    pub(super) async fn give_up(&self, known: &Known, what: &str, Unusable { trouble, detail }: Unusable) -> Declined {
        let words = format!("{what} cannot be used: {detail}");
        let report = MachineReport::Failed { trouble, detail: model::shortened(&words) };
        if let Err(refused) = submit_report(&self.api, &known.operation, known.attempt.clone(), report).await {
            tracing::warn!(machine = %known.attempt.machine, code = refused.code(), "an installation cannot be ended");
        }
        Declined::later(StatusCode::BAD_GATEWAY, words)
    }
}

fn artefact_of(bundle: &Bundle, way: BootWay) -> Option<&Artefact> {
    match way {
        BootWay::VirtualMedia => Some(&bundle.boot.agent_image),
        BootWay::UefiHttp => bundle.boot.http.as_ref(),
        BootWay::Pxe => bundle.boot.pxe.as_ref(),
    }
}

/// The machine that is being installed over PXE and boots with this MAC. A replacement's own MAC counts while it is put in.
fn find_by_mac(view: &View, mac: &str) -> Option<(Known, Installing)> {
    let wanted = mac.replace('-', ":");
    view.operations.values().find_map(|operation| {
        let installing = Installing::of(operation).filter(|installing| installing.way == BootWay::Pxe)?;
        let machine = view.machine(&operation.cluster, operation.machine()?)?;
        let replacement = operation.replacement.as_ref().and_then(|replacement| replacement.boot_mac.as_deref());
        let boot_mac = replacement.unwrap_or(&machine.document.hardware.boot_mac).replace('-', ":");
        if !boot_mac.eq_ignore_ascii_case(&wanted) {
            return None;
        }
        let named = Named { cluster: operation.cluster.to_string(), operation: operation.id.to_string(), round: installing.round };
        Some((named.find(view)?, installing))
    })
}
