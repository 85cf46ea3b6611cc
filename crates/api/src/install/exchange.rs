//! The exchange: the agent trades the token that it found in its image for a session, once. A second trade, or one by another
//! machine, shows that the token is in other hands too, and ends the attempt.
//!
//! An answer can be lost, as when we die before it is sent. So the agent draws a nonce when it starts: who comes with the nonce of
//! the trade that was made is the same agent, and gets the same answer. Only its digest is kept, for journals are read by many.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use model::{Digest, InstallTrouble, MachineName, MachineReport, OS_VOLUME, OsImage, OsTarget};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use ticket::Purpose;

use super::InstallFace;
use super::attempt::{Installing, Known, Named};
use super::door::{Declined, bearer, read};
use crate::reply::json_response;
use crate::submit::submit_report;

/// How long an agent's nonce is, in bytes: enough that nobody guesses it, and no more than is needed for that.
pub const NONCE_MIN: usize = 16;
pub const NONCE_MAX: usize = 128;

#[derive(Deserialize)]
struct Wish {
    /// Who the agent believes to be.
    machine: String,
    /// What it drew when it started.
    #[serde(default)]
    nonce: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Session<'a> {
    session: &'a str,
    /// It comes from us, wherever we have it from.
    image: OsImage,
    os_disk: OsTarget,
    /// Data disks that are wiped before anything is written.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    wipe: &'a [String],
    hostname: &'a MachineName,
}

pub(super) async fn exchange(
    State(face): State<InstallFace>,
    Path(named): Path<Named>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Declined> {
    let token = bearer(&headers)?;
    let view = face.api.cache.view();
    let known = named.find(&view).ok_or_else(Declined::over)?;
    let installing = known.current();
    if !face.verifies(Purpose::Agent, &known.attempt, token) {
        if let (Some(_), Some(other)) = (installing, face.owner_of(&known, token)) {
            face.keep_pace(&known)?;
            face.tell_misuse(&known, format!("the agent came with the token of `{other}`")).await;
        }
        return Err(Declined::wrong_token());
    }
    let installing = installing.ok_or_else(Declined::over)?;
    // A token is tried by whoever has it, and each try is a request to the keeper.
    face.keep_pace(&known)?;
    let wish: Wish = read(body).await?;
    if !wish.machine.eq_ignore_ascii_case(known.attempt.machine.as_str()) {
        let other = model::cleaned(&wish.machine, model::NAME_MAX);
        face.tell_misuse(&known, format!("the token was used by a machine that calls itself `{other}`")).await;
        return Err(Declined::wrong_token());
    }
    let nonce = digest_of(&wish.nonce)?;
    let bundle = face.bundle(&known, installing).ok_or_else(|| Declined::unknown_runtime(installing.version))?;
    let session = face.key_of(&known.attempt.cluster).ok_or_else(Declined::over)?.token(Purpose::Session, &known.attempt);
    submit_report(&face.api, &known.operation, known.attempt.clone(), MachineReport::Exchange { nonce }).await?;
    tracing::info!(machine = %known.attempt.machine, operation = %known.attempt.operation, "an agent has begun its session");
    let (os_disk, wipe) = disks(&known);
    let image = OsImage { url: format!("{}{}", face.url, ticket::image_path(&known.attempt)), ..bundle.os_image.clone() };
    let answer = Session { session: &session, image, os_disk, wipe, hostname: &known.attempt.machine };
    Ok(json_response(StatusCode::OK, &answer))
}

fn digest_of(nonce: &str) -> Result<Digest, Declined> {
    if !(NONCE_MIN..=NONCE_MAX).contains(&nonce.len()) {
        let message = format!("`nonce` has {} bytes; {NONCE_MIN} to {NONCE_MAX} are meant, drawn when the agent starts", nonce.len());
        return Err(Declined::new(StatusCode::BAD_REQUEST, message));
    }
    let digits: String = Sha256::digest(nonce).iter().map(|byte| format!("{byte:02x}")).collect();
    Digest::parse(&digits).map_err(|_| Declined::new(StatusCode::INTERNAL_SERVER_ERROR, "a digest cannot be made"))
}

/// Where the operating system goes: it was settled before anything was touched. A keeper of before wrote down nothing, and meant this.
fn disks(known: &Known) -> (OsTarget, &[String]) {
    known.operation.disks().map_or_else(|| (OsTarget::volume(OS_VOLUME), &[][..]), |(disk, wipe)| (disk.clone(), wipe))
}

impl InstallFace {
    /// The machine whose attempt of the same cluster this token belongs to, if it is another's.
    fn owner_of(&self, known: &Known, token: &str) -> Option<MachineName> {
        let view = self.api.cache.view();
        let mut others = view.operations.values().filter(|operation| operation.cluster == known.attempt.cluster);
        others.find_map(|operation| {
            let round = Installing::of(operation)?.round;
            let named = Named { cluster: operation.cluster.to_string(), operation: operation.id.to_string(), round };
            let other = named.find(&view)?;
            self.verifies(Purpose::Agent, &other.attempt, token).then_some(other.attempt.machine)
        })
    }

    async fn tell_misuse(&self, known: &Known, detail: String) {
        tracing::warn!(machine = %known.attempt.machine, operation = %known.attempt.operation, detail, "a token was misused");
        let report = MachineReport::Failed { trouble: InstallTrouble::TokenMisused, detail };
        if let Err(refused) = submit_report(&self.api, &known.operation, known.attempt.clone(), report).await {
            tracing::warn!(machine = %known.attempt.machine, code = refused.code(), "an installation cannot be ended");
        }
    }
}
