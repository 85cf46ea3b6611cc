//! What a machine is started from: its bundle's image, with the agent's configuration in it. HEAD, parts and parallel reads are
//! those of the image with the configuration.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use futures::stream;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use model::{AgentNetwork, Artefact, BootWay, Bundle, MachineReport, Timestamp};
use serde::Serialize;
use ticket::Purpose;
use zeroize::Zeroizing;

use super::InstallFace;
use super::attempt::{Installing, Known, Named};
use super::door::{Declined, Place};
use super::images::Unusable;
use super::range::Wanted;
use super::splice::Spliced;
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
    let (known, installing) = face.find_hidden(hidden, BootWay::VirtualMedia)?;
    face.send_image(&known, installing, &Reader { method, headers, place }).await
}

pub(super) async fn send_http(
    State(face): State<InstallFace>,
    Path(hidden): Path<Hidden>,
    Extension(place): Extension<Place>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Declined> {
    let (known, installing) = face.find_hidden(hidden, BootWay::UefiHttp)?;
    face.send_image(&known, installing, &Reader { method, headers, place }).await
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
    face.send_image(&known, installing, &Reader { method, headers, place }).await
}

/// Who reads an image, and what of it.
struct Reader {
    method: Method,
    headers: HeaderMap,
    place: Place,
}

impl InstallFace {
    fn find_hidden(&self, hidden: Hidden, way: BootWay) -> Result<(Known, Installing), Declined> {
        let (cluster, operation, round, secret) = hidden;
        let (named, secret) = (Named { cluster, operation, round }, Zeroizing::new(secret));
        let found = self.admit(&named, Purpose::Media, &secret).ok();
        found.filter(|(_, installing)| installing.way == way).ok_or_else(Declined::no_such_image)
    }

    async fn send_image(&self, known: &Known, installing: Installing, reader: &Reader) -> Result<Response, Declined> {
        let bundle = self.api.cache.view().runtime(&known.cluster.name, installing.version).map(|bundle| bundle.document.clone());
        let artefact = bundle.as_deref().and_then(|bundle| artefact_of(bundle, installing.way)).ok_or_else(Declined::no_such_image)?;
        let base = match self.images.get(artefact).await {
            Ok(base) => base,
            Err(unusable) => return Err(self.give_up(known, unusable).await),
        };
        let configuration = self.configuration(known).ok_or_else(Declined::no_such_image)?;
        let spliced = base.with(&configuration).map_err(|problem| {
            tracing::error!(machine = %known.attempt.machine, %problem, "an agent cannot be configured");
            Declined::new(StatusCode::INTERNAL_SERVER_ERROR, "the agent cannot be configured")
        })?;
        let etag = format!("\"{}-{}-{}\"", artefact.sha256.short(), known.attempt.operation, known.attempt.round);
        Ok(respond(spliced, &etag, reader))
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
    async fn give_up(&self, known: &Known, Unusable { trouble, detail }: Unusable) -> Declined {
        let words = format!("the image that machines are started from cannot be used: {detail}");
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

fn respond(image: Spliced, etag: &str, reader: &Reader) -> Response {
    let length = image.len();
    let text = |name: header::HeaderName| reader.headers.get(name).and_then(|value| value.to_str().ok());
    // A part of something else than was asked for before would not fit to it.
    let is_same = text(header::IF_RANGE).is_none_or(|known| known == etag);
    let wanted = Wanted::of(text(header::RANGE).filter(|_| is_same), length);
    let (status, from, to) = match wanted {
        Wanted::Whole => (StatusCode::OK, 0, length),
        Wanted::Part(from, to) => (StatusCode::PARTIAL_CONTENT, from, to),
        Wanted::Nowhere => (StatusCode::RANGE_NOT_SATISFIABLE, 0, 0),
    };
    let body = match reader.method {
        Method::HEAD => Body::empty(),
        _ => {
            let (pieces, place) = (image.pieces(from, to), Arc::clone(&reader.place));
            Body::from_stream(stream::iter(pieces.map(move |piece| {
                let _kept_until_sent = &place;
                Ok::<_, std::convert::Infallible>(piece)
            })))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(to - from));
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(header::ETAG, etag);
    }
    let place = match wanted {
        Wanted::Whole => None,
        Wanted::Part(from, to) => Some(format!("bytes {from}-{}/{length}", to - 1)),
        Wanted::Nowhere => Some(format!("bytes */{length}")),
    };
    if let Some(place) = place.and_then(|place| HeaderValue::from_str(&place).ok()) {
        headers.insert(header::CONTENT_RANGE, place);
    }
    response
}
