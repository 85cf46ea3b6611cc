//! `rackwright serve --check`: looks at everything that a site file names, changes nothing, and says what is not as
//! described. Sessions that it opens are ended.

mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kubernetes::NodeEvent;
use model::{Fault, MachineName, NodeSeen, Power, SiteMachine};
use redfish::{Bmc, Credentials, Identity, Login};
use serde_json::json;

use crate::cli::args::Output;
use crate::cli::screen::Screen;
use crate::cli::trouble::Trouble;
use crate::equip::{self, Transports};
use crate::site_file::Loaded;
use report::SiteReport;

/// BMCs that are looked at at once: enough for a large site in a minute, few enough for a small management network.
const PROBES_AT_ONCE: usize = 32;

/// How long all looks of one site may take. What was not looked at by then is said.
const PROBE_TIMEOUT: Duration = Duration::from_secs(120);

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

pub async fn run(paths: &[PathBuf], output: Output, screen: &mut Screen) -> Result<(), Trouble> {
    let mut reports = Vec::new();
    let mut unusable = 0;
    for path in paths {
        match Loaded::read(path) {
            Ok(loaded) => reports.push(check(&loaded).await?),
            Err(trouble) => {
                screen.trouble(&trouble);
                unusable += 1;
            }
        }
    }
    match output {
        Output::Json => {
            let sites: Vec<_> = reports.iter().map(SiteReport::json).collect();
            screen.data(&format!("{:#}", json!({"sites": sites})))?;
        }
        Output::Table => {
            for report in &reports {
                screen.sheet(&report.sheet())?;
            }
        }
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
    let (probes, nodes) = tokio::join!(probe_all(loaded), nodes_of(loaded));
    Ok(SiteReport::new(loaded, &probes?, &nodes))
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
    let mut probes: BTreeMap<MachineName, Probe> = bmcs.iter().map(|(name, _)| (name.clone(), Probe::OutOfTime)).collect();
    let looks = bmcs.into_iter().map(|(name, bmc)| async move { (name, probe(&bmc).await) });
    let mut looks = futures::stream::iter(looks).buffer_unordered(PROBES_AT_ONCE);
    let all = async {
        while let Some((name, probe)) = looks.next().await {
            probes.insert(name, probe);
        }
    };
    // What is missing then says so in the report.
    let _ = tokio::time::timeout(PROBE_TIMEOUT, all).await;
    drop(looks);
    Ok(probes)
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
