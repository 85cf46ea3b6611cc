//! What the service manager is told, if there is one that wants to know: sd_notify(3), a datagram a word.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// What a service manager understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Ready,
    Reloading,
    Stopping,
    Alive,
}

impl Word {
    fn text(self) -> &'static str {
        match self {
            Word::Ready => "READY=1\n",
            Word::Reloading => "RELOADING=1\n",
            Word::Stopping => "STOPPING=1\n",
            Word::Alive => "WATCHDOG=1\n",
        }
    }
}

/// Tells the service manager. Nobody listening is the usual case, and no error is worth stopping for.
pub fn tell(word: Word) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET").and_then(|socket| socket.into_string().ok()) else { return };
    if let Err(error) = send(&socket, word.text()) {
        tracing::warn!(%socket, ?word, %error, "the service manager cannot be told");
    }
}

fn send(socket: &str, text: &str) -> std::io::Result<()> {
    let address = match socket.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(text.as_bytes(), &address).map(|_| ())
}

/// Shows that the process is alive as often as the service manager wants it, which restarts it otherwise.
pub async fn stay_alive(shutdown: CancellationToken) {
    let variable = |name: &str| std::env::var(name).ok();
    let Some(every) = beat(variable("WATCHDOG_USEC").as_deref(), variable("WATCHDOG_PID").as_deref(), std::process::id()) else { return };
    loop {
        tell(Word::Alive);
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
    }
}

/// Twice as often as asked for, as systemd advises; `None` if nobody asks, or not us.
fn beat(microseconds: Option<&str>, pid: Option<&str>, own_pid: u32) -> Option<Duration> {
    let limit: u64 = microseconds?.parse().ok().filter(|limit| *limit > 0)?;
    let is_for_us = pid.is_none_or(|pid| pid.parse() == Ok(own_pid));
    is_for_us.then(|| Duration::from_micros(limit) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watchdog_is_fed_twice_as_often_as_asked_for_and_only_if_it_is_ours() {
        assert_eq!(beat(Some("30000000"), None, 7), Some(Duration::from_secs(15)));
        assert_eq!(beat(Some("30000000"), Some("7"), 7), Some(Duration::from_secs(15)));
        for (limit, pid) in [(None, None), (Some("0"), None), (Some("x"), None), (Some("30000000"), Some("8"))] {
            assert_eq!(beat(limit, pid, 7), None);
        }
    }

    #[test]
    fn a_socket_is_found_by_its_path_or_by_its_abstract_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let name = format!("rackwright-test-{}", std::process::id());
        let sockets = [
            (UnixDatagram::bind(&path).unwrap(), path.to_str().unwrap().to_owned()),
            (UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap(), format!("@{name}")),
        ];
        for (socket, address) in sockets {
            send(&address, Word::Ready.text()).unwrap();
            let mut heard = [0; 64];
            let length = socket.recv(&mut heard).unwrap();
            assert_eq!(&heard[..length], b"READY=1\n");
        }
        assert!(send("/nowhere/at/all", "READY=1").is_err());
    }
}
