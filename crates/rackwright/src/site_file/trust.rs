//! By which certificate each BMC is recognized.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use model::MachineName;
use redfish::{CaBundle, Fingerprint, Transport, Trust, TrustError};

use super::address::Scheme;
use super::page::{Located, Page, Problems};
use super::tables::{ClusterTable, MachineTable};

/// How the line to one BMC is secured.
#[derive(Clone, Debug)]
pub enum BmcTrust {
    /// Nothing is proved: plain http.
    Plain,
    Ca {
        path: PathBuf,
        pem: String,
        bundle: CaBundle,
    },
    Fingerprint(Fingerprint),
}

impl PartialEq for BmcTrust {
    fn eq(&self, other: &BmcTrust) -> bool {
        match (self, other) {
            (BmcTrust::Plain, BmcTrust::Plain) => true,
            (BmcTrust::Ca { path, pem, .. }, BmcTrust::Ca { path: other_path, pem: other_pem, .. }) => {
                path == other_path && pem == other_pem
            }
            (BmcTrust::Fingerprint(print), BmcTrust::Fingerprint(other)) => print == other,
            _ => false,
        }
    }
}

impl fmt::Display for BmcTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BmcTrust::Plain => f.write_str("plain http"),
            BmcTrust::Ca { path, .. } => write!(f, "CA {}", path.display()),
            BmcTrust::Fingerprint(print) => write!(f, "fingerprint {print}"),
        }
    }
}

impl BmcTrust {
    pub fn transport(&self) -> Result<Transport, TrustError> {
        match self {
            BmcTrust::Plain => Ok(Transport::tcp()),
            BmcTrust::Ca { bundle, .. } => Transport::tls(&Trust::Ca(bundle.clone())),
            BmcTrust::Fingerprint(print) => Transport::tls(&Trust::Fingerprint(*print)),
        }
    }
}

/// Reads the CA files. What was opened is added to `opened`.
pub fn resolve(
    page: &Page,
    cluster: &ClusterTable,
    machines: &[MachineTable],
    opened: &mut Vec<PathBuf>,
    problems: &mut Problems,
) -> BTreeMap<MachineName, BmcTrust> {
    let shared = cluster.access.ca.as_ref().map(|ca| open_ca(page, ca, opened, problems));
    let mut trusts = BTreeMap::new();
    for machine in machines {
        let Some(bmc) = &machine.bmc else { continue };
        let trust = match (bmc.value.scheme, &machine.access.fingerprint, &machine.access.ca) {
            (Scheme::Http, ..) => Some(BmcTrust::Plain),
            (Scheme::Https, Some(print), _) => Some(BmcTrust::Fingerprint(print.value)),
            (Scheme::Https, None, Some(ca)) => open_ca(page, ca, opened, problems),
            (Scheme::Https, None, None) => shared.clone().flatten(),
        };
        if let Some(trust) = trust {
            trusts.insert(machine.name.value.clone(), trust);
        }
    }
    trusts
}

fn open_ca(page: &Page, ca: &Located<String>, opened: &mut Vec<PathBuf>, problems: &mut Problems) -> Option<BmcTrust> {
    let path = page.beside(&ca.value);
    opened.push(path.clone());
    let pem = match std::fs::read_to_string(&path) {
        Ok(pem) => pem,
        Err(error) => {
            problems.note(page, ca.line, format!("{} cannot be read: {error}", path.display()));
            return None;
        }
    };
    match CaBundle::from_pem(pem.as_bytes()) {
        Ok(bundle) => Some(BmcTrust::Ca { path, pem, bundle }),
        Err(error) => {
            problems.note(page, ca.line, format!("{}: {error}", path.display()));
            None
        }
    }
}
