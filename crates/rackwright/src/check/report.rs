//! What a check found, as a table for people and as JSON for scripts. Every deviation from the description is a problem.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{EtcdSeen, Fault, FaultClass, MachineName, NodeSeen, Power, Readiness, SiteMachine, Sku, Standing};
use plan::Voteless;
use redfish::{Identity, SerialMatch, compare_serial};
use serde_json::{Value, json};

use super::Probe;
use crate::cli::render::Table;
use crate::cli::screen::{Sheet, Tone};
use crate::site_file::{Loaded, Place};

/// Every machine of the sites, a row each.
pub fn table(reports: &[SiteReport]) -> Table {
    let mut table = Table::new(&["MACHINE", "ADDRESS", "BMC", "LOGIN", "POWER", "MODEL", "SERIAL", "NODE"]);
    for row in reports.iter().flat_map(|report| &report.rows) {
        let cells = [&row.machine, &row.address, &row.bmc, &row.login, &row.power, &row.model, &row.serial, &row.node];
        let tone = if row.problems.is_empty() { Tone::Plain } else { Tone::Alarm };
        table.row(tone, cells.into_iter().cloned());
    }
    table
}

#[derive(Debug)]
pub struct SiteReport {
    cluster: String,
    file: PathBuf,
    rows: Vec<Row>,
    /// `None` if it answers; else why not.
    undercloud: Option<String>,
    node_count: usize,
    /// What etcd's members are like, or why they are not known; nothing if the file names no etcd.
    etcd: Option<Result<String, String>>,
    weaknesses: Vec<String>,
    pub problems: Vec<String>,
}

/// Most machines that one note names.
const NAMED_MAX: usize = 5;

/// What hardware validation would have nothing to compare with.
fn undescribed_skus(skus: &[Sku], machines: &[SiteMachine]) -> Vec<String> {
    let mut undescribed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for machine in machines.iter().filter(|machine| !skus.iter().any(|sku| sku.name == machine.hardware.sku)) {
        undescribed.entry(&machine.hardware.sku).or_default().push(machine.name.as_str());
    }
    let note = |(sku, machines): (&str, Vec<&str>)| {
        let mut named = machines[..machines.len().min(NAMED_MAX)].join(", ");
        if machines.len() > NAMED_MAX {
            named += &format!(" and {} more", machines.len() - NAMED_MAX);
        }
        format!("SKU `{sku}` is not described: hardware validation knows nothing of what {named} should be made of")
    };
    undescribed.into_iter().map(note).collect()
}

/// One machine. A dash stands for what could not be seen.
#[derive(Debug)]
struct Row {
    machine: String,
    address: String,
    bmc: String,
    login: String,
    power: String,
    model: String,
    serial: String,
    node: String,
    problems: Vec<String>,
}

const DASH: &str = "-";

impl SiteReport {
    pub fn new(loaded: &Loaded, probes: &BTreeMap<MachineName, Probe>, nodes: &Result<Vec<NodeSeen>, String>) -> SiteReport {
        let site = loaded.site();
        let mut rows = Vec::new();
        for machine in &site.machines {
            let mut row = Row::new(machine, probes.get(&machine.name).unwrap_or(&Probe::OutOfTime));
            row.note_node(machine, nodes.as_deref().ok());
            let at = loaded.described.locate(Place::Machine(&machine.name));
            row.problems = row.problems.iter().map(|problem| format!("{at}: `{}`: {problem}", machine.name)).collect();
            rows.push(row);
        }
        let mut problems: Vec<String> = rows.iter().flat_map(|row| row.problems.clone()).collect();
        if let Err(why) = nodes {
            problems.push(format!("the undercloud does not answer: {why}"));
        }
        for node in nodes.iter().flatten() {
            if !site.machines.iter().any(|machine| machine.name.as_str().eq_ignore_ascii_case(&node.machine)) {
                problems.push(format!("node `{}` runs on `{}`, which the file does not describe", node.name, node.machine));
            }
        }
        SiteReport {
            cluster: site.cluster.to_string(),
            file: loaded.described.path().to_owned(),
            rows,
            undercloud: nodes.as_ref().err().cloned(),
            node_count: nodes.as_ref().map_or(0, Vec::len),
            etcd: None,
            weaknesses: plan::weaknesses(site)
                .iter()
                .map(ToString::to_string)
                .chain(undescribed_skus(&site.skus, &site.machines))
                .collect(),
            problems,
        }
    }

    /// The same with what etcd tells. Every active machine of the control plane should have a member with a vote; that none can be told to
    /// be its own is only noted.
    pub fn with_etcd(mut self, loaded: &Loaded, nodes: &[NodeSeen], seen: Option<&Result<EtcdSeen, Fault>>) -> SiteReport {
        let at = loaded.described.locate(Place::Etcd);
        match seen {
            None => {}
            Some(Err(fault)) => {
                self.problems.push(format!("{at}: etcd does not tell its members: {fault}"));
                self.etcd = Some(Err(fault.to_string()));
            }
            Some(Ok(seen)) => {
                for Voteless { machine, doubt } in plan::voteless(loaded.site(), nodes, seen) {
                    match doubt {
                        Some(doubt) => self.weaknesses.push(doubt),
                        None => self.problems.push(format!("{at}: `{machine}` has no member of etcd that votes")),
                    }
                }
                self.etcd = Some(Ok(format!("{} members, of which {} vote", seen.members.len(), seen.voters())));
            }
        }
        self
    }

    pub fn sheet(&self) -> Sheet {
        let mut sheet = table(std::slice::from_ref(self)).into_sheet();
        sheet.gap();
        match &self.undercloud {
            None => sheet.line(Tone::Plain, format!("undercloud: answers, {} nodes", self.node_count)),
            Some(why) => sheet.line(Tone::Alarm, format!("undercloud: {why}")),
        }
        match &self.etcd {
            None => {}
            Some(Ok(told)) => sheet.line(Tone::Plain, format!("etcd: {told}")),
            Some(Err(why)) => sheet.line(Tone::Alarm, format!("etcd: {why}")),
        }
        for weakness in &self.weaknesses {
            sheet.line(Tone::Notice, format!("note: {weakness}"));
        }
        for problem in &self.problems {
            sheet.line(Tone::Alarm, format!("problem: {problem}"));
        }
        let machines = self.rows.len();
        let verdict = match self.problems.len() {
            0 => format!("{}: all {machines} machines are as {} describes them", self.cluster, self.file.display()),
            1 => format!("{}: 1 problem", self.cluster),
            count => format!("{}: {count} problems", self.cluster),
        };
        sheet.line(Tone::Strong, verdict);
        sheet
    }

    pub fn json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "name": row.machine, "address": row.address, "bmc": row.bmc, "login": row.login, "power": row.power,
                "model": row.model, "serialNumber": row.serial, "node": row.node, "problems": row.problems,
            })
        };
        json!({
            "cluster": self.cluster,
            "file": self.file,
            "ok": self.problems.is_empty(),
            "machines": self.rows.iter().map(row).collect::<Vec<Value>>(),
            "undercloud": {"ok": self.undercloud.is_none(), "nodes": self.node_count, "fault": self.undercloud},
            "etcd": self.etcd.as_ref().map(|etcd| json!({"ok": etcd.is_ok(), "told": etcd.as_ref().ok(), "fault": etcd.as_ref().err()})),
            "weaknesses": self.weaknesses,
            "problems": self.problems,
        })
    }
}

impl Row {
    fn new(machine: &SiteMachine, probe: &Probe) -> Row {
        let mut row = Row {
            machine: machine.name.to_string(),
            address: machine.hardware.bmc_address.clone(),
            bmc: DASH.to_owned(),
            login: DASH.to_owned(),
            power: DASH.to_owned(),
            model: DASH.to_owned(),
            serial: DASH.to_owned(),
            node: DASH.to_owned(),
            problems: Vec::new(),
        };
        match probe {
            Probe::Seen { identity, power } => row.note_seen(machine, identity, power),
            Probe::Failed(fault) => row.note_fault(fault),
            Probe::OutOfTime => {
                row.bmc = "no time".to_owned();
                row.problems.push("there was no time left to look at its BMC".to_owned());
            }
        }
        row
    }

    fn note_seen(&mut self, machine: &SiteMachine, identity: &Identity, power: &Result<Power, Fault>) {
        self.bmc = "answers".to_owned();
        self.login = "ok".to_owned();
        self.model = identity.model.clone().unwrap_or_else(|| DASH.to_owned());
        match power {
            Ok(power) => self.power = power_word(*power).to_owned(),
            Err(fault) => self.problems.push(format!("its power cannot be read: {fault}")),
        }
        let described = &machine.hardware.serial_number;
        self.serial = match compare_serial(identity.serial.as_deref(), identity.sku.as_deref(), described) {
            SerialMatch::Same => "matches".to_owned(),
            SerialMatch::Untold => "not told".to_owned(),
            SerialMatch::Other { found } => {
                let other = format!("its serial number is {found}, not {described}: another machine answers at {}", self.address);
                self.problems.push(other);
                format!("is {found}")
            }
        };
    }

    fn note_fault(&mut self, fault: &Fault) {
        (self.bmc, self.login) = match fault.class {
            FaultClass::Unreachable => ("unreachable".to_owned(), DASH.to_owned()),
            FaultClass::Untrusted => ("untrusted".to_owned(), DASH.to_owned()),
            FaultClass::OtherMachine => ("another's".to_owned(), DASH.to_owned()),
            FaultClass::Denied => ("answers".to_owned(), "refused".to_owned()),
            FaultClass::NoLogin => (DASH.to_owned(), "unread".to_owned()),
            FaultClass::Busy => ("busy".to_owned(), DASH.to_owned()),
            FaultClass::Unsupported | FaultClass::Missing | FaultClass::Garbled => ("no Redfish".to_owned(), DASH.to_owned()),
        };
        self.problems.push(fault.to_string());
    }

    fn note_node(&mut self, machine: &SiteMachine, nodes: Option<&[NodeSeen]>) {
        let Some(nodes) = nodes else { return };
        let node = nodes.iter().find(|node| node.machine.eq_ignore_ascii_case(machine.name.as_str()));
        self.node = match (node, machine.standing) {
            (Some(node), Standing::Provisioned) => match node.ready {
                Readiness::True => "ready".to_owned(),
                Readiness::False => "not ready".to_owned(),
                Readiness::Unknown => "unknown".to_owned(),
            },
            (None, Standing::Spare) => "none, a spare".to_owned(),
            (Some(_), Standing::Spare) => {
                self.problems.push("it has a node, but is described as the spare".to_owned());
                "there".to_owned()
            }
            (None, Standing::Provisioned) => {
                self.problems.push("the undercloud has no node of this machine".to_owned());
                "missing".to_owned()
            }
        };
    }
}

fn power_word(power: Power) -> &'static str {
    match power {
        Power::On => "on",
        Power::Off => "off",
        Power::PoweringOn => "powering on",
        Power::PoweringOff => "powering off",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_that_validation_knows_nothing_of_are_noted() {
        let machine = |number: u32, sku: &str| SiteMachine {
            name: MachineName::new(format!("m{number}")).unwrap(),
            role: model::Role::Compute,
            standing: Standing::Provisioned,
            install: model::InstallSettings::default(),
            hardware: model::Hardware {
                rack: model::RackName::new("rack1").unwrap(),
                slot: number,
                sku: sku.to_owned(),
                serial_number: format!("S{number}"),
                bmc_address: "http://bmc.invalid".into(),
                bmc_mac: "00:00:00:00:00:01".into(),
                boot_mac: "00:00:00:00:00:02".into(),
                credentials: model::SecretRef::new("bmc/site1/m"),
            },
        };
        let known = model::Sku { name: "known".into(), ..model::Sku::default() };
        let machines = (1..=7).map(|number| machine(number, "many")).chain([machine(8, "one"), machine(9, "known")]);
        let notes = undescribed_skus(&[known], &machines.collect::<Vec<_>>());
        let words = "is not described: hardware validation knows nothing of what";
        let expected = [
            format!("SKU `many` {words} m1, m2, m3, m4, m5 and 2 more should be made of"),
            format!("SKU `one` {words} m8 should be made of"),
        ];
        assert_eq!(notes, expected);
    }
}
