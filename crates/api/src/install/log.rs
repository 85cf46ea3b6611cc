//! The agent's log: what it did, in its own words, for whoever looks for the reason of a failure.
//!
//! No decision reads it, so it goes to the store without asking the keeper, beside the operation and not in it. The keeper deletes it
//! with its operation.

use axum::body::Body;
use axum::extract::{Path, State};
use http::{HeaderMap, StatusCode};
use model::{Span, keys};
use store::Commit;
use ticket::{InstallKey, Purpose};
use zeroize::Zeroizing;

use super::InstallFace;
use super::attempt::{Known, Named};
use super::door::{Declined, bearer, read_bytes};

/// The longest log. Its beginning is what an agent leaves out of a longer one.
pub const LOG_MAX: usize = 256 * 1024;

/// Logs of one attempt that may come at once: each is a document of its own in the store's history.
pub const LOGS_BURST: u32 = 6;

/// After them, one more for each of these.
pub const LOGS_EVERY: Span = Span::seconds(30);

/// What stands in a log where a secret stood.
const HIDDEN: &str = "[hidden]";

pub(super) async fn take(
    State(face): State<InstallFace>,
    Path(named): Path<Named>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Declined> {
    let (known, _) = face.admit(&named, Purpose::Session, bearer(&headers)?).await?;
    if !known.is_exchanged() {
        return Err(Declined::over());
    }
    if !face.log_pace.allows(&known.attempt, face.api.clock.now()) {
        return Err(Declined::later(StatusCode::TOO_MANY_REQUESTS, "this machine sends its log too often"));
    }
    let sent = read_bytes(body, LOG_MAX).await?;
    let key = face.key_of(&known.attempt.cluster).ok_or_else(Declined::over)?;
    let log = without_secrets(&printable(&String::from_utf8_lossy(&sent)), key, &known);
    save(&face, &known, log).await
}

/// Each log replaces the one before it, so that one that comes twice changes nothing.
async fn save(face: &InstallFace, known: &Known, log: String) -> Result<StatusCode, Declined> {
    let attempt = &known.attempt;
    let commit = Commit::default().put(keys::install_log(&attempt.cluster, &attempt.operation, attempt.round), log);
    face.api.store.commit(commit).await.map_err(|problem| {
        tracing::error!(machine = %attempt.machine, operation = %attempt.operation, error = %problem, "an agent's log cannot be kept");
        Declined::later(StatusCode::SERVICE_UNAVAILABLE, "the log cannot be kept now")
    })?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lines as they are, without what would colour or turn a terminal. An agent that cuts a long log may cut a letter in two.
fn printable(log: &str) -> String {
    log.chars().filter(|c| matches!(c, '\n' | '\t') || !model::is_unprintable(*c)).collect()
}

/// No agent writes its tokens down; but a log is read by many, and so this is seen to here once more.
fn without_secrets(log: &str, key: &InstallKey, known: &Known) -> String {
    let tokens = Purpose::ALL.into_iter().map(|purpose| key.token(purpose, &known.attempt));
    let join = Zeroizing::new(key.join_token(&known.attempt).text().to_string());
    tokens.chain([join]).fold(log.to_owned(), |log, secret| if log.contains(&**secret) { log.replace(&**secret, HIDDEN) } else { log })
}
