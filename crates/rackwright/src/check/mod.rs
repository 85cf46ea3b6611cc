//! `rackwright serve --check`: looks at everything that a site file names, changes nothing, and says what is not as
//! described. Sessions that it opens are ended.

mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kubernetes::NodeEvent;
use model::{EtcdSeen, Fault, MachineName, NodeSeen, Power, SiteMachine};
use redfish::{Bmc, Credentials, Identity, Login};
use serde_json::json;
use tokio::time::Instant;

use crate::cli::output::Showing;
use crate::cli::screen::Screen;
use crate::cli::trouble::Trouble;
use crate::equip::{self, Transports};
use crate::site_file::{Loaded, neighbours};
use report::SiteReport;

/// BMCs that are looked at at once: enough for a large site in a minute, few enough for a small management network.
const PROBES_AT_ONCE: usize = 32;

/// When looks of one site no longer begin. What was not looked at by then is said. One that has begun is not cut off: its
/// calls have their own timeouts, and the session that it has opened must be ended.
const LAST_LOOK_AFTER: Duration = Duration::from_secs(120);

/// How long the undercloud may take to list its nodes.
const NODES_TIMEOUT: Duration = Duration::from_secs(15);

/// How long ending a session may take. One that stays open runs out by itself.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// What a look at one BMC came to.
#[derive(Debug)]
enum Probe {
    Seen {
        identity: Identity,
        power: Result<Power, Fault>,
    },
    Failed(Fault),
    /// The time for all looks was over first.
    OutOfTime,
}

pub async fn run(paths: &[PathBuf], showing: &Showing, screen: &mut Screen) -> Result<(), Trouble> {
    let mut sites: Vec<Loaded> = Vec::new();
    for path in paths {
        let read = Loaded::read(path).and_then(|next| neighbours::check(&sites.iter().collect::<Vec<_>>(), &next).map(|()| next));
        match read {
            Ok(loaded) => sites.push(loaded),
            Err(trouble) => screen.trouble(&trouble),
        }
    }
    let unusable = paths.len() - sites.len();
    let mut reports = Vec::new();
    for loaded in &sites {
        reports.push(check(loaded).await?);
    }
    if showing.is_for_people() {
        for report in &reports {
            screen.sheet(&report.sheet())?;
        }
    } else {
        let sites: Vec<_> = reports.iter().map(SiteReport::json).collect();
        showing.list(screen, &json!({"sites": sites}), || report::table(&reports))?;
    }
    let failed = reports.iter().filter(|report| !report.problems.is_empty()).count() + unusable;
    match failed {
        0 => Ok(()),
        _ if reports.is_empty() => Err(Trouble::failed("nothing was looked at")),
        1 if paths.len() == 1 => Err(Trouble::failed("the site is not as its file describes it")),
        count => Err(Trouble::failed(format!("{count} of {} sites are not as their files describe them", paths.len()))),
    }
}

async fn check(loaded: &Loaded) -> Result<SiteReport, Trouble> {
    let (probes, nodes, etcd) = tokio::join!(probe_all(loaded), nodes_of(loaded), members_of(loaded));
    Ok(SiteReport::new(loaded, &probes?, &nodes).with_etcd(loaded, nodes.as_deref().unwrap_or_default(), etcd.as_ref()))
}

/// A login that is held for the length of a check, and not in the vault.
struct Held(Login);

#[async_trait::async_trait]
impl Credentials for Held {
    async fn login(&self) -> Result<Login, Fault> {
        Ok(self.0.clone())
    }
}

async fn probe_all(loaded: &Loaded) -> Result<BTreeMap<MachineName, Probe>, Trouble> {
    let mut transports = Transports::default();
    let mut bmcs = Vec::new();
    for SiteMachine { name, hardware, .. } in &loaded.site().machines {
        let Some(login) = loaded.logins.get(name) else { continue };
        let address = hardware.bmc_address.parse().map_err(|error| Trouble::caused("a BMC address is no URL", &error))?;
        let transport = transports.to(loaded.trusts.get(name))?;
        bmcs.push((name.clone(), Bmc::new(transport, address, Arc::new(Held(login.clone())))));
    }
    Ok(look_at_all(bmcs).await)
}

async fn look_at_all(bmcs: Vec<(MachineName, Bmc)>) -> BTreeMap<MachineName, Probe> {
    let last_look_at = Instant::now() + LAST_LOOK_AFTER;
    let looks = bmcs.into_iter().map(|(name, bmc)| async move {
        let probe = if Instant::now() < last_look_at { probe(&bmc).await } else { Probe::OutOfTime };
        (name, probe)
    });
    futures::stream::iter(looks).buffer_unordered(PROBES_AT_ONCE).collect().await
}

async fn probe(bmc: &Bmc) -> Probe {
    let probe = match bmc.observe_identity().await {
        Ok(identity) => Probe::Seen { identity, power: bmc.observe_power().await },
        Err(fault) => Probe::Failed(fault),
    };
    // BMCs have few places for sessions, and the control plane will want one soon.
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, bmc.close()).await;
    probe
}

/// The members of the undercloud's etcd, or why they are not known; nothing if the file names no etcd.
async fn members_of(loaded: &Loaded) -> Option<Result<EtcdSeen, Fault>> {
    let etcd = loaded.etcd.as_ref()?.cluster();
    Some(etcd.observe_members().await)
}

/// The undercloud's nodes, or in words why they are not known.
async fn nodes_of(loaded: &Loaded) -> Result<Vec<NodeSeen>, String> {
    let undercloud = equip::undercloud(loaded).await.map_err(|trouble| trouble.details.join(": "))?;
    let mut events = Box::pin(undercloud.watch_nodes());
    match tokio::time::timeout(NODES_TIMEOUT, events.next()).await {
        Ok(Some(NodeEvent::Listed(nodes))) => Ok(nodes),
        Ok(Some(NodeEvent::Lost(fault))) => Err(fault.to_string()),
        Ok(_) => Err("it told something else before its nodes".to_owned()),
        Err(_) => Err(format!("it did not list its nodes within {} s", NODES_TIMEOUT.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::{delete, get, post};
    use redfish::Transport;

    use super::*;

    /// A BMC that lets us in, and then says nothing more.
    fn mute(opened: &Arc<AtomicUsize>, closed: &Arc<AtomicUsize>) -> Router {
        let root = json!({"Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}}});
        let (opened, closed) = (opened.clone(), closed.clone());
        let open = move || async move {
            opened.fetch_add(1, Ordering::Relaxed);
            (StatusCode::CREATED, [("x-auth-token", "t"), ("location", "/redfish/v1/SessionService/Sessions/1")], "{}")
        };
        let close = move || async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            closed.fetch_add(1, Ordering::Relaxed);
            StatusCode::NO_CONTENT
        };
        Router::new()
            .route("/redfish/v1/", get(async move || axum::Json(root)))
            .route("/redfish/v1/SessionService/Sessions", post(open))
            .route("/redfish/v1/SessionService/Sessions/1", delete(close))
            .fallback(std::future::pending::<StatusCode>)
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_runs_out_of_time_ends_every_session_that_it_has_opened() {
        let (opened, closed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let bmcs = (0..16 * PROBES_AT_ONCE).map(|number| {
            let transport = Transport::in_process(mute(&opened, &closed));
            let address = "http://bmc.invalid".parse().expect("a constant address");
            let name = MachineName::new(format!("m{number}")).expect("a constant name");
            (name, Bmc::new(transport, address, Arc::new(Held(Login::new("u", "p")))))
        });
        let probes = look_at_all(bmcs.collect()).await;
        assert!(probes.values().any(|probe| matches!(probe, Probe::OutOfTime)), "there was time for all: {:?}", probes.values().next());
        let opened = opened.load(Ordering::Relaxed);
        assert!(opened >= PROBES_AT_ONCE, "{opened} sessions were opened");
        assert_eq!(closed.load(Ordering::Relaxed), opened);
    }
}
