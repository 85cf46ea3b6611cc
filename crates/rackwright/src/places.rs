//! What `up`, `serve` and `sim serve` share: where data lies, what is said at the start, how it ends.

use std::future::Future;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use model::{Cluster, Connection, keys};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::cli::trouble::Trouble;
use crate::notify::{self, Word};
use crate::private_file;
use crate::serve::ControlPlane;

/// How long a start waits for the undercloud before it says that it is up anyway.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// How long a stop may take before it is cut short: the last answers, the keepers' own patience with devices and sessions,
/// and some more.
const STOP_PATIENCE: Duration = Duration::from_secs(20);

/// The directory given, or one under the home, made if it is absent.
pub fn data_dir(given: Option<PathBuf>, purpose: &str) -> Result<PathBuf, Trouble> {
    let dir = match given {
        Some(dir) => dir,
        None => data_home()?.join(purpose),
    };
    private_file::create_directory(&dir).map_err(|error| Trouble::caused(&format!("{} cannot be made", dir.display()), &error))?;
    std::path::absolute(&dir).map_err(|error| Trouble::caused(&format!("{} cannot be used", dir.display()), &error))
}

/// Beside the contexts if a home is set, so that two homes do not meet in their data either.
fn data_home() -> Result<PathBuf, Trouble> {
    if let Some(home) = std::env::var_os("RACKWRIGHT_HOME").filter(|home| !home.is_empty()) {
        return Ok(PathBuf::from(home).join("data"));
    }
    directories::ProjectDirs::from("", "", "rackwright")
        .map(|directories| directories.data_local_dir().to_owned())
        .ok_or_else(|| Trouble::failed("there is no home directory to keep data in").hint("give one with `--data-dir`"))
}

/// Waits until every site's undercloud has been heard from, but not for ever.
pub async fn until_connected(plane: &ControlPlane) {
    let connected = async {
        for site in &plane.sites {
            let key = keys::cluster(&site.cluster);
            while !is_connected(plane, &key).await {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    };
    // Being late is not an error: `rackwright status` shows what is missing.
    let _ = tokio::time::timeout(CONNECT_PATIENCE, connected).await;
}

async fn is_connected(plane: &ControlPlane, key: &str) -> bool {
    match plane.store.get(key).await {
        Ok(Some(document)) => {
            serde_json::from_slice::<Cluster>(&document.value).is_ok_and(|cluster| cluster.connection == Connection::Connected)
        }
        Ok(None) | Err(_) => false,
    }
}

/// How this program was called, so that a printed command can be typed as it stands.
pub fn own_command() -> String {
    std::env::args().next().filter(|name| name.contains('/')).unwrap_or_else(|| "rackwright".to_owned())
}

pub fn announce(lines: &[String]) {
    let mut out = std::io::stdout().lock();
    for line in lines {
        // Nobody is listening, which is no reason to stop.
        let _ = writeln!(out, "{line}");
    }
    let _ = out.flush();
}

/// What people and service managers send to stop us. Listened for from the start, so that none is lost.
pub struct Signals {
    streams: Vec<Signal>,
}

impl Signals {
    pub fn listen() -> Result<Signals, Trouble> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        let streams = kinds.into_iter().map(signal).collect::<std::io::Result<Vec<Signal>>>();
        Ok(Signals { streams: streams.map_err(|error| Trouble::caused("signals cannot be heard", &error))? })
    }

    async fn next(&mut self) {
        futures::future::select_all(self.streams.iter_mut().map(|stream| Box::pin(stream.recv()))).await;
    }

    /// Runs until a signal comes, then lets `ended` come to its end, which begins after `delay`; a second signal cuts it short.
    pub async fn until_told_to_stop(
        mut self,
        shutdown: &CancellationToken,
        delay: Duration,
        ended: impl Future<Output = Result<(), Trouble>>,
    ) -> Result<(), Trouble> {
        tokio::pin!(ended);
        tokio::select! {
            result = &mut ended => return result,
            () = self.next() => {}
        }
        announce(&["stopping …".to_owned()]);
        notify::tell(Word::Stopping);
        shutdown.cancel();
        tokio::select! {
            result = &mut ended => result,
            () = self.next() => Err(Trouble::failed("stopped before everything was put away; nothing is lost")),
            () = tokio::time::sleep(STOP_PATIENCE + delay) => Err(Trouble::failed("stopping took too long and was cut short; nothing is lost")),
        }
    }
}
