//! The commands of an advice, in their order, as they are typed.

use model::{AdvisedCommand, DataRisk, Machine, Remedy, RepairedPart, Safeguard, StoragePolicy};

use super::Manner;
use super::parts::worst;
use crate::disks;
use crate::snapshot::Snapshot;

struct Writer<'a> {
    snapshot: &'a Snapshot,
    machine: &'a Machine,
    manner: Manner,
    commands: Vec<AdvisedCommand>,
}

pub(super) fn of(snapshot: &Snapshot, machine: &Machine, next: Remedy, manner: Manner, repaired: &[RepairedPart]) -> Vec<AdvisedCommand> {
    let mut writer = Writer { snapshot, machine, manner, commands: Vec::new() };
    match next {
        Remedy::Nothing if repaired.is_empty() => {}
        Remedy::Nothing => writer.own("compare the hardware with what it should be", "validate"),
        Remedy::Wait => writer.wait(),
        Remedy::Start => {
            writer.both("switch it on", "start", "start", "");
            writer.own("see whether all is back", "verify");
        }
        Remedy::Restart => {
            writer.both("restart it", "restart", "restart", "");
            writer.own("see whether all is back", "verify");
        }
        Remedy::Reimage => {
            writer.evacuate();
            writer.both("make its system anew; tenants' data stays", "reimage", "reimage", writer.safeguard());
            writer.afterwards();
        }
        Remedy::Replace => writer.replace(repaired),
        Remedy::Support => writer.by_hand("contact support, and tell them what was tried"),
    }
    writer.commands
}

impl Writer<'_> {
    fn push(&mut self, why: &str, command: Option<String>, az: Option<String>) {
        self.commands.push(AdvisedCommand { why: why.to_owned(), command, az });
    }

    fn by_hand(&mut self, why: &str) {
        self.push(why, None, None);
    }

    fn own(&mut self, why: &str, verb: &str) {
        self.push(why, Some(format!("rackwright bmm {verb} {}", self.machine.name)), None);
    }

    fn both(&mut self, why: &str, verb: &str, az_verb: &str, options: &str) {
        let name = &self.machine.name;
        let home = &self.snapshot.cluster.home;
        let own = format!("rackwright bmm {verb} {name}{options}");
        let az = format!(
            "az networkcloud baremetalmachine {az_verb} --name {name} --resource-group {} --subscription {}{options}",
            home.resource_group, home.subscription
        );
        self.push(why, Some(own), Some(az));
    }

    fn wait(&mut self) {
        let running = self.snapshot.running_on(&self.machine.name);
        let command = running.map(|running| format!("rackwright operation wait {}", running.id.short()));
        self.push("wait until it has ended, then ask again", command, None);
    }

    fn safeguard(&self) -> &'static str {
        match self.manner.safeguard {
            Safeguard::All => "",
            Safeguard::None => " --safeguard-mode None",
        }
    }

    fn evacuate(&mut self) {
        if !self.manner.evacuates {
            return;
        }
        let name = &self.machine.name;
        let home = &self.snapshot.cluster.home;
        let az = format!(
            "az networkcloud baremetalmachine cordon --evacuate \"True\" --name {name} --resource-group {} --subscription {}",
            home.resource_group, home.subscription
        );
        self.push(
            "shut its workloads down, and drain the nodes of tenants",
            Some(format!("rackwright bmm cordon {name} --evacuate")),
            Some(az),
        );
    }

    /// Nothing moves the disks of virtual machines: whoever wants to keep what is about to be lost makes it anew elsewhere.
    fn recreate(&mut self, repaired: &[RepairedPart]) {
        let owners = disks::owners(self.snapshot, self.machine);
        let deletes = self.manner.storage == StoragePolicy::DiscardAll;
        let names = disks::named(&owners);
        match (worst(repaired), disks::unseen(self.snapshot)) {
            (_, Some(why)) if deletes => {
                let known = if owners.is_empty() { String::new() } else { format!(", {names} among them") };
                self.by_hand(&format!(
                    "find out which virtual machines have disks on it{known} ({why}): delete those and recreate them on another machine, for a replace that discards deletes them"
                ));
            }
            _ if owners.is_empty() => {}
            _ if deletes => {
                self.by_hand(&format!("delete and recreate on another machine, for a replace that discards deletes their disks: {names}"));
            }
            (DataRisk::Safe, _) => {}
            (DataRisk::IfSeveral, _) => self.by_hand(&format!(
                "if the drive was not part of a redundant volume: delete and recreate on another machine those that had disks on it, of {names}"
            )),
            (DataRisk::MayBeLost, _) => {
                self.by_hand(&format!("delete and recreate on another machine those that had disks on the exchanged drives, of {names}"));
            }
        }
    }

    fn replace(&mut self, repaired: &[RepairedPart]) {
        self.evacuate();
        self.recreate(repaired);
        if repaired.is_empty() {
            self.by_hand("repair or exchange what has failed; see that its firmware is what the runtime asks for");
        }
        let is_other = |parts: &[RepairedPart]| repaired.is_empty() || repaired.iter().any(|part| parts.contains(part));
        let mut options = format!(" --storage-policy {:?}{}", self.manner.storage, self.safeguard());
        if is_other(&[RepairedPart::SystemBoard]) {
            options.push_str(" --bmc-credentials username=<USER> password=<PASSWORD> --bmc-mac-address <BMC_MAC> --serial-number <SERIAL>");
        }
        if is_other(&[RepairedPart::SystemBoard, RepairedPart::Nic]) {
            options.push_str(" --boot-mac-address <BOOT_MAC>");
        }
        self.both("bring it back; leave out what has not changed", "replace", "replace", &options);
        self.afterwards();
    }

    fn afterwards(&mut self) {
        self.own("see whether all is back", "verify");
        self.both("let workloads on it again", "uncordon", "uncordon", "");
    }
}
