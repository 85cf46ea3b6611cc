//! Following an operation to its end, and what is said when the follower has to leave first.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::answer::short_id;
use super::operation::target;
use super::progress::Progress;
use super::screen::Screen;
use super::session::Session;
use super::trouble::{Exit, Trouble};

/// While a person looks on, steps of a second should be seen.
const POLL_EVERY_AT_FIRST: Duration = Duration::from_millis(250);

/// After this, a step takes its time.
const AT_FIRST: Duration = Duration::from_secs(15);

const POLL_EVERY: Duration = Duration::from_secs(1);

/// How long a server may be away before its follower gives up: longer than it takes to restart one by hand.
const AWAY_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the operation as it ended. Ctrl-C leaves the operation alone and says so.
pub async fn follow(session: &Session, screen: &mut Screen, id: &str) -> Result<Value, Trouble> {
    tokio::select! {
        ended = poll_to_end(session, screen, id) => ended,
        () = interrupted() => {
            let message = format!("interrupted; operation {} goes on", short_id(id));
            Err(Trouble::new(Exit::Interrupted, message).hint(how_to_follow(id)))
        }
    }
}

pub fn how_to_follow(id: &str) -> String {
    let id = short_id(id);
    format!("follow it with `rackwright operation wait {id}`, or stop it with `rackwright operation cancel {id}`")
}

/// Resolves when the person presses Ctrl-C.
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // No signal can be waited for here: then none comes.
        std::future::pending::<()>().await;
    }
}

async fn poll_to_end(session: &Session, screen: &mut Screen, id: &str) -> Result<Value, Trouble> {
    let began = Instant::now();
    let mut away_since: Option<Instant> = None;
    let mut progress = Progress::begin(screen);
    let operation = target(id);
    loop {
        match session.client.get(&operation).await {
            Ok(seen) if seen["status"] != "InProgress" => return Ok(seen),
            Ok(seen) => {
                away_since = None;
                progress.update(screen, &seen);
            }
            Err(trouble) if trouble.exit == Exit::Unreachable => {
                if away_since.get_or_insert_with(Instant::now).elapsed() >= AWAY_TIMEOUT {
                    return Err(trouble.detail(format!("operation {} goes on when it is back", short_id(id))).hint(how_to_follow(id)));
                }
                progress.note(screen, "the server does not answer; trying again");
            }
            Err(trouble) => return Err(trouble),
        }
        tokio::time::sleep(if began.elapsed() < AT_FIRST { POLL_EVERY_AT_FIRST } else { POLL_EVERY }).await;
    }
}
