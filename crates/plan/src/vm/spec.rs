//! What can be asked of a new virtual machine, and what cannot be changed of one that there is.

use std::collections::BTreeSet;

use model::{HintExecution, HintKind, HintScope, HintTarget, IpAllocation, NetworkAttachment, Refusal, Rule, Vm, VmSpec, is_unprintable};

/// Cores of a virtual machine; an even number, since they come in pairs of threads.
pub const VM_CORES_MIN: u32 = 2;
pub const VM_CORES_MAX: u32 = 46;

/// Memory of a virtual machine: what fits beside the platform on one processor of the smallest server.
pub const VM_MEMORY_GB_MIN: u32 = 1;
pub const VM_MEMORY_GB_MAX: u32 = 224;

/// Characters of an administrator's name, as Linux has them.
const USERNAME_MAX: usize = 32;

/// Characters of the name of a network attachment: Linux takes no longer name of an interface.
const ATTACHMENT_NAME_MAX: usize = 15;

/// Why a virtual machine cannot be made: the field of the body that it is about, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecFlaw {
    pub field: String,
    pub message: String,
}

/// Everything that speaks against a description of a virtual machine by itself, without regard to what there is.
pub fn check_vm_spec(spec: &VmSpec) -> Vec<SpecFlaw> {
    let mut flaws = Flaws::default();
    check_size(spec, &mut flaws);
    check_login(spec, &mut flaws);
    check_networks(spec, &mut flaws);
    check_hints(spec, &mut flaws);
    flaws.0
}

#[derive(Default)]
struct Flaws(Vec<SpecFlaw>);

impl Flaws {
    fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(SpecFlaw { field: format!("properties.{}", field.into()), message: message.into() });
    }

    fn add_if(&mut self, is_flawed: bool, field: &str, message: impl FnOnce() -> String) {
        if is_flawed {
            self.add(field, message());
        }
    }
}

fn check_size(spec: &VmSpec, flaws: &mut Flaws) {
    let cores = spec.cpu_cores;
    let fits = (VM_CORES_MIN..=VM_CORES_MAX).contains(&cores) && cores.is_multiple_of(2);
    flaws.add_if(!fits, "cpuCores", || format!("{cores} cores; an even number from {VM_CORES_MIN} to {VM_CORES_MAX} is possible"));
    let memory = spec.memory_gb;
    let fits = (VM_MEMORY_GB_MIN..=VM_MEMORY_GB_MAX).contains(&memory);
    flaws.add_if(!fits, "memorySizeGB", || format!("{memory} GB; {VM_MEMORY_GB_MIN} to {VM_MEMORY_GB_MAX} are possible"));
    flaws.add_if(spec.os_disk.size_gb == 0, "storageProfile.osDisk.diskSizeGB", || "a disk has at least 1 GB".into());
    let image = spec.image.as_str();
    let is_unfit = image.trim().is_empty() || image.chars().any(is_unprintable);
    flaws.add_if(is_unfit, "vmImage", || "the image is named by a line of text".into());
}

fn check_login(spec: &VmSpec, flaws: &mut Flaws) {
    let name = spec.admin_username.as_str();
    let is_first = |c: char| c.is_ascii_lowercase() || c == '_';
    let is_name = name.len() <= USERNAME_MAX && name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit());
    flaws.add_if(!is_name, "adminUsername", || format!("at most {USERNAME_MAX} of a-z, 0-9 and _ are possible, and the first is no digit"));
    for (n, key) in spec.ssh_public_keys.iter().enumerate() {
        let is_unfit = key.trim().is_empty() || key.chars().any(is_unprintable);
        flaws.add_if(is_unfit, &format!("sshPublicKeys[{n}].keyData"), || "a key is a line of text".into());
    }
}

/// The cloud services network counts as one of the attachments: their names and the gateway are one machine's.
fn check_networks(spec: &VmSpec, flaws: &mut Flaws) {
    let cloud = spec.cloud_services_network.iter().map(|attachment| ("cloudServicesNetworkAttachment".to_owned(), attachment));
    let others = spec.networks.iter().enumerate().map(|(n, attachment)| (format!("networkAttachments[{n}]"), attachment));
    let mut names = BTreeSet::new();
    let mut gateway: Option<String> = None;
    for (field, attachment) in cloud.chain(others) {
        check_attachment(&field, attachment, flaws);
        if let Some(name) = &attachment.name
            && !names.insert(name.clone())
        {
            flaws.add(format!("{field}.networkAttachmentName"), format!("there is another attachment `{name}`"));
        }
        if attachment.default_gateway == Some(true) {
            match &gateway {
                Some(first) => {
                    let message = format!("`properties.{first}` is the default gateway already; there is one at most");
                    flaws.add(format!("{field}.defaultGateway"), message);
                }
                None => gateway = Some(field),
            }
        }
    }
}

fn check_attachment(field: &str, attachment: &NetworkAttachment, flaws: &mut Flaws) {
    let NetworkAttachment { network_id, ip_allocation, ipv4_address, ipv6_address, name, .. } = attachment;
    flaws.add_if(network_id.trim().is_empty(), &format!("{field}.attachedNetworkId"), || "it names no network".into());
    if let Some(name) = name {
        let is_unfit = name.is_empty() || name.chars().count() > ATTACHMENT_NAME_MAX || name.chars().any(|c| c.is_whitespace() || c == '/');
        flaws.add_if(is_unfit, &format!("{field}.networkAttachmentName"), || {
            format!("the name of an interface has 1 to {ATTACHMENT_NAME_MAX} characters, without spaces and slashes")
        });
    }
    for (address, of) in [(ipv4_address, "ipv4Address"), (ipv6_address, "ipv6Address")] {
        let field = format!("{field}.{of}");
        match address {
            Some(_) if *ip_allocation != IpAllocation::Static => {
                flaws.add(field, "an address is given only where ipAllocationMethod is Static");
            }
            Some(address) if !is_address(address, of) => flaws.add(field, format!("it is no {} address", &of[..4].replace("ip", "IP"))),
            _ => {}
        }
    }
}

fn is_address(text: &str, of: &str) -> bool {
    let text = text.split_once('/').map_or(text, |(address, _)| address);
    if of == "ipv4Address" { text.parse::<std::net::Ipv4Addr>().is_ok() } else { text.parse::<std::net::Ipv6Addr>().is_ok() }
}

fn check_hints(spec: &VmSpec, flaws: &mut Flaws) {
    let mut bound: Option<(usize, &HintTarget)> = None;
    for (n, hint) in spec.placement_hints.iter().enumerate() {
        let wanted = match &hint.target {
            HintTarget::Vm(_) => None,
            HintTarget::Machine(_) => Some((HintScope::Machine, "Machine", "a machine")),
            HintTarget::Rack(_) => Some((HintScope::Rack, "Rack", "a rack")),
        };
        if let Some((scope, name, target)) = wanted
            && hint.scope != scope
        {
            flaws.add(format!("placementHints[{n}].scope"), format!("a hint to {target} has the scope {name}"));
        }
        let binds = hint.kind == HintKind::Affinity && hint.execution == HintExecution::Hard;
        if binds && matches!(hint.target, HintTarget::Rack(_)) {
            match bound {
                Some((first, other)) if *other != hint.target => {
                    let message = format!("`properties.placementHints[{first}]` binds it to another rack already");
                    flaws.add(format!("placementHints[{n}].resourceId"), message);
                }
                Some(_) => {}
                None => bound = Some((n, &hint.target)),
            }
        }
    }
}

/// Of a virtual machine that there is only the tags can be written. What is not known of one that was made past us is not
/// compared; nor is what lies in the vault, which nobody can read back.
pub(super) fn check_unchanged(vm: &Vm, asked: &VmSpec) -> Result<(), Refusal> {
    let known = &vm.spec;
    let is_adopted = known.image.is_empty();
    let fields = [
        ("cpuCores", known.cpu_cores == asked.cpu_cores),
        ("memorySizeGB", known.memory_gb == asked.memory_gb),
        ("vmImage", is_adopted || known.image == asked.image),
        ("adminUsername", is_adopted || known.admin_username == asked.admin_username),
        ("bootMethod", is_adopted || known.boot_method == asked.boot_method),
        ("vmDeviceModel", is_adopted || known.device_model == asked.device_model),
        ("virtioInterface", is_adopted || known.virtio_interface == asked.virtio_interface),
        ("isolateEmulatorThread", is_adopted || known.isolate_emulator_thread == asked.isolate_emulator_thread),
        ("storageProfile.osDisk", is_adopted || known.os_disk == asked.os_disk),
        ("storageProfile.volumeAttachments", is_adopted || known.volume_attachments == asked.volume_attachments),
        ("cloudServicesNetworkAttachment", is_adopted || known.cloud_services_network == asked.cloud_services_network),
        ("networkAttachments", is_adopted || known.networks == asked.networks),
        ("placementHints", is_adopted || known.placement_hints == asked.placement_hints),
        ("sshPublicKeys", is_adopted || known.ssh_public_keys == asked.ssh_public_keys),
    ];
    let changed: Vec<String> = fields.iter().filter(|(_, is_same)| !is_same).map(|(field, _)| format!("`properties.{field}`")).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let name = &vm.name;
    Err(Refusal {
        rule: Rule::VmImmutable,
        message: format!("`{name}` was not changed"),
        evidence: vec![format!("{} cannot be changed once a virtual machine is made", changed.join(", "))],
        remedy: format!("send what `rackwright vm show {name} -o json` says, or delete it and create it anew"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use model::{MachineName, OsDisk, PlacementHint, RackName};

    fn sound() -> VmSpec {
        VmSpec {
            cpu_cores: 2,
            memory_gb: 8,
            image: "registry.invalid/fw:1".into(),
            admin_username: "admin".into(),
            os_disk: OsDisk { size_gb: 20, ..OsDisk::default() },
            cloud_services_network: Some(attachment("csn")),
            networks: vec![attachment("l3")],
            ..VmSpec::default()
        }
    }

    fn attachment(network: &str) -> NetworkAttachment {
        NetworkAttachment {
            network_id: network.into(),
            ip_allocation: IpAllocation::Dynamic,
            default_gateway: None,
            ipv4_address: None,
            ipv6_address: None,
            name: None,
        }
    }

    fn hint(target: HintTarget, scope: HintScope) -> PlacementHint {
        PlacementHint { kind: HintKind::Affinity, execution: HintExecution::Hard, scope, target }
    }

    #[expect(clippy::needless_pass_by_value, reason = "a case reads best with what it comes to")]
    fn check(change: impl FnOnce(&mut VmSpec), expected: Expect) {
        let mut spec = sound();
        change(&mut spec);
        let flaws: Vec<String> = check_vm_spec(&spec).iter().map(|flaw| format!("{}: {}\n", flaw.field, flaw.message)).collect();
        expected.assert_eq(&flaws.concat());
    }

    #[test]
    fn a_sound_description_has_no_flaw_at_either_limit() {
        check(|_| {}, expect![[""]]);
        check(|spec| (spec.cpu_cores, spec.memory_gb) = (VM_CORES_MAX, VM_MEMORY_GB_MAX), expect![[""]]);
        check(|spec| (spec.cpu_cores, spec.memory_gb) = (VM_CORES_MIN, VM_MEMORY_GB_MIN), expect![[""]]);
        check(|spec| spec.admin_username = format!("_{}", "a".repeat(USERNAME_MAX - 1)), expect![[""]]);
        check(|spec| spec.networks[0].name = Some("x".repeat(ATTACHMENT_NAME_MAX)), expect![[""]]);
    }

    #[test]
    fn every_limit_of_its_size_has_a_message() {
        for (cores, memory) in [(0, 0), (3, 225), (48, 1_000)] {
            let mut spec = sound();
            (spec.cpu_cores, spec.memory_gb) = (cores, memory);
            let flaws = check_vm_spec(&spec);
            assert_eq!(
                flaws.iter().map(|flaw| flaw.field.as_str()).collect::<Vec<_>>(),
                ["properties.cpuCores", "properties.memorySizeGB"]
            );
        }
        check(
            |spec| {
                (spec.cpu_cores, spec.memory_gb, spec.os_disk.size_gb) = (3, 225, 0);
                spec.image = "a\nb".into();
            },
            expect![[r#"
                properties.cpuCores: 3 cores; an even number from 2 to 46 is possible
                properties.memorySizeGB: 225 GB; 1 to 224 are possible
                properties.storageProfile.osDisk.diskSizeGB: a disk has at least 1 GB
                properties.vmImage: the image is named by a line of text
            "#]],
        );
    }

    #[test]
    fn logins_are_those_of_linux() {
        for name in ["", "1st", "Admin", "a-b", &"a".repeat(USERNAME_MAX + 1)] {
            let mut spec = sound();
            spec.admin_username = name.into();
            assert_eq!(check_vm_spec(&spec)[0].field, "properties.adminUsername", "{name}");
        }
        check(
            |spec| spec.ssh_public_keys = vec!["ssh-ed25519 AAAA".into(), " ".into()],
            expect![[r#"
            properties.sshPublicKeys[1].keyData: a key is a line of text
        "#]],
        );
    }

    #[test]
    fn of_networks_one_is_the_gateway_and_names_are_short_and_unlike() {
        check(
            |spec| {
                let named = |name: &str| NetworkAttachment { default_gateway: Some(true), name: Some(name.into()), ..attachment("l3") };
                spec.networks = vec![named("eth1"), named("eth1"), named(&"x".repeat(ATTACHMENT_NAME_MAX + 1)), attachment(" ")];
            },
            expect![[r#"
                properties.networkAttachments[1].networkAttachmentName: there is another attachment `eth1`
                properties.networkAttachments[1].defaultGateway: `properties.networkAttachments[0]` is the default gateway already; there is one at most
                properties.networkAttachments[2].networkAttachmentName: the name of an interface has 1 to 15 characters, without spaces and slashes
                properties.networkAttachments[2].defaultGateway: `properties.networkAttachments[0]` is the default gateway already; there is one at most
                properties.networkAttachments[3].attachedNetworkId: it names no network
            "#]],
        );
    }

    #[test]
    fn an_address_is_given_only_where_it_is_static() {
        check(
            |spec| {
                spec.networks[0].ipv4_address = Some("10.0.0.4".into());
                let mut other = NetworkAttachment { ip_allocation: IpAllocation::Static, ..attachment("l3") };
                other.ipv4_address = Some("10.0.0.4".into());
                other.ipv6_address = Some("10.0.0.4".into());
                spec.networks.push(other);
            },
            expect![[r#"
                properties.networkAttachments[0].ipv4Address: an address is given only where ipAllocationMethod is Static
                properties.networkAttachments[1].ipv6Address: it is no IPv6 address
            "#]],
        );
    }

    #[test]
    fn hints_have_the_scope_of_what_they_name_and_bind_to_one_rack() {
        let machine = HintTarget::Machine(MachineName::new("rack1compute01").unwrap());
        let rack = |name: &str| HintTarget::Rack(RackName::new(name).unwrap());
        check(
            |spec| {
                spec.placement_hints = vec![
                    hint(machine, HintScope::Rack),
                    hint(rack("rack1"), HintScope::Rack),
                    hint(rack("rack1"), HintScope::Machine),
                    hint(rack("rack2"), HintScope::Rack),
                ];
            },
            expect![[r#"
                properties.placementHints[0].scope: a hint to a machine has the scope Machine
                properties.placementHints[2].scope: a hint to a rack has the scope Rack
                properties.placementHints[3].resourceId: `properties.placementHints[1]` binds it to another rack already
            "#]],
        );
    }
}
