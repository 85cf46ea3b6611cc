//! A site as a TOML file: racks, machines, where their BMCs are and where the undercloud's kubeconfig lies.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{ClusterName, Hardware, Home, Limits, MachineName, RackName, Role, SecretRef, Site, SiteMachine, SiteRack, Standing};
use serde::{Deserialize, Serialize};

use crate::cli::trouble::Trouble;

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SiteFile {
    pub cluster: ClusterTable,
    #[serde(rename = "rack")]
    pub racks: Vec<RackTable>,
    #[serde(rename = "machine")]
    pub machines: Vec<MachineTable>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClusterTable {
    pub name: ClusterName,
    pub subscription: String,
    pub resource_group: String,
    pub location: String,
    pub version: String,
    /// The undercloud's kubeconfig; relative to this file.
    pub kubeconfig: PathBuf,
    /// A TOML file of `[machine-name] user = …, password = …`; relative to this file, and readable by its owner only.
    pub bmc_credentials: PathBuf,
    /// How much faster than ours the site's world runs. 1 for hardware.
    #[serde(default = "real_speed")]
    pub speed: f64,
}

fn real_speed() -> f64 {
    1.0
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RackTable {
    pub name: RackName,
    pub availability_zone: String,
    pub location: String,
    pub serial_number: String,
    pub sku: String,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MachineTable {
    pub name: MachineName,
    pub rack: RackName,
    pub slot: u32,
    pub role: RoleWord,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spare: bool,
    pub sku: String,
    pub serial_number: String,
    /// Where the BMC's Redfish service is, e.g. `http://10.0.1.17`.
    pub bmc: String,
    pub bmc_mac: String,
    pub boot_mac: String,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoleWord {
    ControlPlane,
    Management,
    Compute,
}

/// A BMC's login, as the credentials file holds it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LoginTable {
    pub user: String,
    pub password: String,
}

/// A site file with everything it points to.
pub struct Loaded {
    pub site: Site,
    pub kubeconfig: String,
    pub logins: BTreeMap<MachineName, LoginTable>,
}

impl SiteFile {
    pub fn load(path: &Path) -> Result<Loaded, Trouble> {
        let file: SiteFile = read_toml(path)?;
        file.check(path)?;
        let beside = |other: &Path| path.parent().unwrap_or(Path::new(".")).join(other);
        let kubeconfig = read_text(&beside(&file.cluster.kubeconfig))?;
        let credentials = beside(&file.cluster.bmc_credentials);
        refuse_exposed(&credentials)?;
        let logins = read_logins(&credentials)?;
        if let Some(machine) = file.machines.iter().find(|machine| !logins.contains_key(&machine.name)) {
            return Err(Trouble::failed(format!("{}: there is no login for `{}`", credentials.display(), machine.name)));
        }
        Ok(Loaded { site: file.into_site(), kubeconfig, logins })
    }

    /// What TOML's own types cannot say.
    fn check(&self, path: &Path) -> Result<(), Trouble> {
        let at = path.display();
        if !(self.cluster.speed.is_finite() && self.cluster.speed > 0.0) {
            return Err(Trouble::failed(format!("{at}: `speed` must be above 0, not {}", self.cluster.speed)));
        }
        let mut seen = BTreeMap::new();
        for machine in &self.machines {
            if !self.racks.iter().any(|rack| rack.name == machine.rack) {
                return Err(Trouble::failed(format!("{at}: `{}` stands in rack `{}`, which is not described", machine.name, machine.rack)));
            }
            if machine.spare && !matches!(machine.role, RoleWord::ControlPlane) {
                return Err(Trouble::failed(format!("{at}: `{}` is a spare, but not a control-plane machine", machine.name)));
            }
            if seen.insert(machine.name.clone(), ()).is_some() {
                return Err(Trouble::failed(format!("{at}: `{}` is described twice", machine.name)));
            }
            match machine.bmc.parse::<http::Uri>().ok().and_then(|uri| uri.scheme_str().map(str::to_owned)).as_deref() {
                Some("http") => {}
                Some("https") => {
                    return Err(Trouble::failed(format!(
                        "{at}: `{}` has a BMC on https, which this version cannot speak yet",
                        machine.name
                    )));
                }
                _ => {
                    return Err(Trouble::failed(format!(
                        "{at}: `{}` has a BMC address that is no http URL: {}",
                        machine.name, machine.bmc
                    )));
                }
            }
        }
        Ok(())
    }

    fn into_site(self) -> Site {
        let cluster = self.cluster;
        let secret = |machine: &MachineName| SecretRef::new(format!("bmc/{}/{}", cluster.name.key(), machine.key()));
        let machines = self
            .machines
            .into_iter()
            .map(|machine| SiteMachine {
                role: match machine.role {
                    RoleWord::ControlPlane => Role::ControlPlane,
                    RoleWord::Management => Role::Management,
                    RoleWord::Compute => Role::Compute,
                },
                standing: if machine.spare { Standing::Spare } else { Standing::Provisioned },
                hardware: Hardware {
                    credentials: secret(&machine.name),
                    rack: machine.rack,
                    slot: machine.slot,
                    sku: machine.sku,
                    serial_number: machine.serial_number,
                    bmc_address: machine.bmc,
                    bmc_mac: machine.bmc_mac,
                    boot_mac: machine.boot_mac,
                },
                name: machine.name,
            })
            .collect();
        let racks = self
            .racks
            .into_iter()
            .map(|rack| SiteRack {
                name: rack.name,
                availability_zone: rack.availability_zone,
                location: rack.location,
                serial_number: rack.serial_number,
                sku: rack.sku,
            })
            .collect();
        Site {
            home: Home { subscription: cluster.subscription, resource_group: cluster.resource_group, location: cluster.location },
            version: cluster.version,
            limits: Limits::default().scaled(cluster.speed),
            cluster: cluster.name,
            racks,
            machines,
        }
    }
}

fn read_text(path: &Path) -> Result<String, Trouble> {
    std::fs::read_to_string(path).map_err(|error| Trouble::failed(format!("{} cannot be read: {error}", path.display())))
}

/// TOML's own message names the line and shows it.
fn read_toml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Trouble> {
    toml::from_str(&read_text(path)?).map_err(|error| Trouble::failed(format!("{}: {}", path.display(), error.to_string().trim_end())))
}

/// TOML's own message would show the line, and the password in it.
fn read_logins(path: &Path) -> Result<BTreeMap<MachineName, LoginTable>, Trouble> {
    let text = read_text(path)?;
    toml::from_str(&text).map_err(|error: toml::de::Error| {
        let line = error.span().map(|span| text[..span.start.min(text.len())].lines().count().max(1));
        let at = line.map_or_else(|| path.display().to_string(), |line| format!("{}, line {line}", path.display()));
        Trouble::failed(format!("{at}: this is not a table of logins"))
            .hint("each machine has a table of its own: [rack1compute01], user = \"…\", password = \"…\"")
    })
}

fn refuse_exposed(path: &Path) -> Result<(), Trouble> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(path).map_err(|error| Trouble::failed(format!("{} cannot be read: {error}", path.display())))?;
    if metadata.permissions().mode() & 0o077 != 0 {
        let problem = format!("{} holds passwords and can be read by others", path.display());
        return Err(Trouble::failed(problem).hint(format!("chmod 600 {}", path.display())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const LOGIN: &str = "[rack1compute01]\nuser = \"root\"\npassword = \"secret\"\n";

    fn site(bmc: &str, rack: &str) -> String {
        format!(
            r#"
            [cluster]
            name = "site1"
            subscription = "s"
            resource-group = "site1"
            location = "local"
            version = "4.9.2"
            kubeconfig = "kubeconfig.yaml"
            bmc-credentials = "credentials.toml"

            [[rack]]
            name = "rack1"
            availability-zone = "1"
            location = "row 1"
            serial-number = "R1"
            sku = "any"

            [[machine]]
            name = "rack1compute01"
            rack = "{rack}"
            slot = 1
            role = "compute"
            sku = "any"
            serial-number = "S1"
            bmc = "{bmc}"
            bmc-mac = "00:00:00:00:00:01"
            boot-mac = "00:00:00:00:00:02"
            "#
        )
    }

    /// What loading comes to, as one text.
    fn load(site: &str, credentials: &str, mode: u32) -> Result<Loaded, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("site.toml"), site).unwrap();
        std::fs::write(path("kubeconfig.yaml"), "").unwrap();
        std::fs::write(path("credentials.toml"), credentials).unwrap();
        std::fs::set_permissions(path("credentials.toml"), std::fs::Permissions::from_mode(mode)).unwrap();
        SiteFile::load(&path("site.toml")).map_err(|trouble| format!("{} {:?} {:?}", trouble.message, trouble.details, trouble.hint))
    }

    #[test]
    fn a_described_site_is_loaded_at_real_speed() {
        let loaded = load(&site("http://10.0.1.17", "rack1"), LOGIN, 0o600).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(loaded.site.limits, Limits::default());
        assert_eq!(loaded.site.machines.len(), 1);
    }

    #[test]
    fn a_broken_credentials_file_names_the_line_and_shows_no_password() {
        let broken = LOGIN.replace("\"secret\"", "Hunter2");
        let problem = load(&site("http://10.0.1.17", "rack1"), &broken, 0o600).err().unwrap();
        assert!(problem.contains("line 3") && !problem.contains("Hunter2"), "{problem}");
    }

    #[test]
    fn credentials_that_others_can_read_are_refused() {
        let problem = load(&site("http://10.0.1.17", "rack1"), LOGIN, 0o640).err().unwrap();
        assert!(problem.contains("chmod 600"), "{problem}");
    }

    #[test]
    fn what_cannot_work_is_refused_by_name() {
        for (bmc, rack, expected) in [
            ("https://10.0.1.17", "rack1", "`rack1compute01` has a BMC on https"),
            ("10.0.1.17", "rack1", "no http URL"),
            ("http://10.0.1.17", "rack9", "rack `rack9`, which is not described"),
        ] {
            let problem = load(&site(bmc, rack), LOGIN, 0o600).err().unwrap();
            assert!(problem.contains(expected), "{problem}");
        }
        let unknown = site("http://10.0.1.17", "rack1").replace("slot = 1", "slot = 1\n            speed = 2");
        let problem = load(&unknown, LOGIN, 0o600).err().unwrap();
        assert!(problem.contains("unknown field `speed`"), "{problem}");
    }
}
