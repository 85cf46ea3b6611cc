//! The tables of a site file: `[cluster]`, `[[rack]]` and `[[machine]]`, each judged by itself.
//!
//! Whether they agree with each other is `consistency`'s; what they point to is opened by `logins` and `trust`.

use model::{ClusterName, MachineName, RackName, Role};
use redfish::Fingerprint;

use super::address::{BmcUrl, Mac, RoleWord, VendorWord, Version};
use super::etcd::{self, EtcdTable};
use super::install::{self, InstallKeys};
use super::page::Located;
use super::section::Section;

/// Slots are numbered from the bottom, up to what the public model allows.
const SLOT_MAX: u32 = 256;

/// The longest availability zone, as the public model has it.
const ZONE_MAX: usize = 10;

/// How fast a site may run. A site that is not simulated runs at 1.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.1..=10_000.0;

#[derive(Debug, Default)]
pub struct ClusterTable {
    pub line: usize,
    pub name: Option<Located<ClusterName>>,
    pub subscription: Located<String>,
    pub resource_group: Located<String>,
    pub location: Located<String>,
    pub version: Located<String>,
    pub kubeconfig: Located<String>,
    pub kubeconfig_context: Option<Located<String>>,
    pub etcd: Option<EtcdTable>,
    pub bmc_credentials: Option<Located<String>>,
    pub access: AccessKeys,
    pub plain_http: PlainHttp,
    pub speed: f64,
}

/// Whether passwords may travel unencrypted to an address that is not this computer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlainHttp {
    Allowed,
    #[default]
    Refused,
}

/// How a BMC is logged in to and recognized: for all machines, or for one.
#[derive(Debug, Default)]
pub struct AccessKeys {
    pub user: Option<Located<String>>,
    pub password_env: Option<Located<String>>,
    pub password_file: Option<Located<String>>,
    pub ca: Option<Located<String>>,
    pub fingerprint: Option<Located<Fingerprint>>,
    /// The line that says how the BMC is recognized, even if it says it wrongly.
    pub trust_line: Option<usize>,
}

#[derive(Debug)]
pub struct RackTable {
    pub name: Located<RackName>,
    pub availability_zone: String,
    pub location: String,
    pub serial_number: Located<String>,
    pub sku: String,
}

#[derive(Debug)]
pub struct MachineTable {
    pub name: Located<MachineName>,
    pub rack: Option<Located<RackName>>,
    pub slot: Option<Located<u32>>,
    pub role: Located<Role>,
    pub spare: Option<Located<bool>>,
    pub sku: String,
    pub serial_number: Located<String>,
    pub bmc: Option<Located<BmcUrl>>,
    pub bmc_mac: Option<Located<Mac>>,
    pub boot_mac: Option<Located<Mac>>,
    pub vendor: Option<Located<VendorWord>>,
    pub install: InstallKeys,
    pub access: AccessKeys,
}

/// A table with a problem is still read to its end, with something empty in the problem's place: nobody uses it then.
pub fn cluster(mut section: Section<'_>) -> ClusterTable {
    let plain_http = match section.flag("allow-plain-http") {
        Some(flag) if flag.value => PlainHttp::Allowed,
        _ => PlainHttp::Refused,
    };
    let table = ClusterTable {
        line: section.line,
        name: section.name("name"),
        subscription: segment(&mut section, "subscription"),
        resource_group: segment(&mut section, "resource-group"),
        location: section.text("location").unwrap_or_default(),
        version: section.parsed::<Version>("version").unwrap_or_default().map(|version| version.0),
        kubeconfig: section.text("kubeconfig").unwrap_or_default(),
        kubeconfig_context: section.text_if_given("kubeconfig-context"),
        etcd: section.table_if_given("etcd", "`etcd` in [cluster]", |section| etcd::table(section, plain_http)),
        bmc_credentials: section.text_if_given("bmc-credentials"),
        access: access(&mut section),
        plain_http,
        speed: speed(&mut section),
    };
    if let Some(fingerprint) = &table.access.fingerprint {
        section.problem(fingerprint.line, "`bmc-fingerprint` belongs to one [[machine]]: no two BMCs have the same certificate");
    }
    let ways = [&table.bmc_credentials, &table.access.password_env, &table.access.password_file];
    let given: Vec<&Located<String>> = ways.into_iter().flatten().collect();
    if let [_, second, ..] = given[..] {
        section.problem(second.line, "choose one of `bmc-credentials`, `bmc-password-env` and `bmc-password-file`");
    }
    section.finish();
    table
}

pub fn rack(mut section: Section<'_>) -> Option<RackTable> {
    let zone = section.text("availability-zone").unwrap_or_default();
    if zone.value.len() > ZONE_MAX || !zone.value.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        section.problem(zone.line, format!("`availability-zone` has 1 to {ZONE_MAX} letters and digits"));
    }
    let name = section.name("name");
    let location = section.text("location").unwrap_or_default().value;
    let serial_number = section.text("serial-number").unwrap_or_default();
    let sku = section.text("sku").unwrap_or_default().value;
    section.finish();
    Some(RackTable { name: name?, availability_zone: zone.value, location, serial_number, sku })
}

pub fn machine(mut section: Section<'_>) -> Option<MachineTable> {
    let name: Option<Located<MachineName>> = section.name("name");
    if let Some(name) = name.as_ref().filter(|name| name.value.key() == super::logins::DEFAULT) {
        section.problem(name.line, "`default` is no name for a machine: in a file of logins it stands for all others");
    }
    let rack = section.name("rack");
    let slot = section.number("slot", 1, SLOT_MAX);
    let role = section.parsed::<RoleWord>("role");
    let spare = section.flag("spare");
    if let (Some(role), Some(spare)) = (&role, &spare)
        && spare.value
        && role.value.0 != Role::ControlPlane
    {
        section.problem(spare.line, "only a control-plane machine can be a spare");
    }
    let sku = section.text("sku").unwrap_or_default().value;
    let serial_number = section.text("serial-number").unwrap_or_default();
    let bmc = bmc(&mut section);
    let bmc_mac = section.parsed("bmc-mac");
    let boot_mac = section.parsed("boot-mac");
    let vendor = section.parsed_if_given("vendor");
    let install = install::keys(&mut section);
    let access = access(&mut section);
    section.finish();
    let role = role.map_or(Located { value: Role::Compute, line: 0 }, |role| role.map(|role| role.0));
    Some(MachineTable { name: name?, rack, slot, role, spare, sku, serial_number, bmc, bmc_mac, boot_mac, vendor, install, access })
}

/// An address in which somebody wrote a password must not be shown.
fn bmc(section: &mut Section<'_>) -> Option<Located<BmcUrl>> {
    let text = section.text("bmc")?;
    match text.value.parse::<BmcUrl>() {
        Ok(value) => Some(Located { value, line: text.line }),
        Err(problem @ super::address::BmcUrlError::Login) => {
            section.secret_problem(text.line, format!("`bmc`: {problem}"));
            None
        }
        Err(problem) => {
            section.problem(text.line, format!("`bmc`: {problem}"));
            None
        }
    }
}

fn access(section: &mut Section<'_>) -> AccessKeys {
    let trust_line = section.line_of_key("bmc-fingerprint").or_else(|| section.line_of_key("bmc-ca"));
    let keys = AccessKeys {
        trust_line,
        user: section.text_if_given("bmc-user"),
        password_env: section.text_if_given("bmc-password-env"),
        password_file: section.text_if_given("bmc-password-file"),
        ca: section.text_if_given("bmc-ca"),
        fingerprint: section.parsed_if_given("bmc-fingerprint"),
    };
    if let (Some(_), Some(file)) = (&keys.password_env, &keys.password_file) {
        section.problem(file.line, "choose one of `bmc-password-env` and `bmc-password-file`");
    }
    if let (Some(_), Some(fingerprint)) = (&keys.ca, &keys.fingerprint) {
        section.problem(fingerprint.line, "choose one of `bmc-ca` and `bmc-fingerprint`");
    }
    keys
}

/// What becomes one segment of a resource's path, and of the scopes that roles, locks and policies hold for.
fn segment(section: &mut Section<'_>, key: &'static str) -> Located<String> {
    let Some(text) = section.text(key) else { return Located::default() };
    if text.value.contains('/') || access::Scope::subscription(&text.value).is_err() {
        let allowed = "letters, digits, points, hyphens, underscores and parentheses";
        section.problem(text.line, format!("`{key}` becomes part of an address and has only {allowed}"));
    }
    text
}

fn speed(section: &mut Section<'_>) -> f64 {
    let Some(speed) = section.fraction("speed") else { return 1.0 };
    if !SPEEDS.contains(&speed.value) {
        section.problem(speed.line, format!("`speed` must be from {} to {}", SPEEDS.start(), SPEEDS.end()));
    }
    speed.value
}
