//! The description of a virtual machine as a client sends it, and the secrets in it, which part from it here.

use base64::Engine;
use model::{
    BootMethod, Cluster, DeviceModel, DiskStorage, HintExecution, HintKind, HintScope, HintTarget, IpAllocation, MachineName,
    NetworkAttachment, OsDisk, PlacementHint, RackName, Registry, SecretRef, VirtioInterface, Vm, VmName, VmSpec,
};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::call::Call;
use crate::codes::Code;
use crate::entry::unseen;
use crate::fields;
use crate::links::{self, PROVIDER};
use crate::reply::{Refused, shortened};
use crate::schema;

use super::{Place, Tags};

const PASSWORD: &str = "properties.vmImageRepositoryCredentials.password";

/// What a body says, with its secrets apart.
#[derive(Debug)]
pub(super) struct Described {
    pub spec: VmSpec,
    pub tags: Tags,
    pub secrets: Vec<Secret>,
    /// `extendedLocation.name`, which says which cluster is meant.
    pub custom_location: Option<String>,
    pub location: Option<String>,
}

/// A secret on its way to the vault.
pub(super) struct Secret {
    pub name: SecretRef,
    pub text: Zeroizing<String>,
}

/// A secret is never printed.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads a body for what is to be at `place`. `shelf` is where its secrets will lie: `vm/site1/fw/3f…`. Of a virtual machine that there is,
/// clients send back what they were told: what was not told is as it was.
pub(super) fn read(body: &[u8], place: &Place, shelf: &str, known: Option<&Vm>) -> Result<Described, Refused> {
    let mut body = match known {
        Some(vm) => fields::described_of(&schema::VM, completed(fields::object(body)?, vm))?,
        None => fields::described(&schema::VM, body)?,
    };
    let read = take_apart(&body, place, shelf, known);
    fields::wipe(&mut body);
    read
}

fn take_apart(body: &Value, place: &Place, shelf: &str, known: Option<&Vm>) -> Result<Described, Refused> {
    let properties = &body["properties"];
    let mut secrets = Vec::new();
    let mut keep = |path: &str, what: &str, text: &str| {
        if text.is_empty() {
            return Err(Refused::bad_content(format!("`{path}` is empty")).target(path));
        }
        let name = SecretRef::new(format!("{shelf}/{what}"));
        secrets.push(Secret { name: name.clone(), text: Zeroizing::new(text.to_owned()) });
        Ok(name)
    };
    let mut cloud_init = |old: &str, new: &str| -> Result<Option<SecretRef>, Refused> {
        let (path, text) = match (properties[old].as_str(), properties[new].as_str()) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => {
                let message = format!("`properties.{old}` and `properties.{new}` mean the same: give one of them");
                return Err(Refused::bad_content(message).target(format!("properties.{old}")));
            }
            (Some(text), None) => (format!("properties.{old}"), text),
            (None, Some(text)) => (format!("properties.{new}"), text),
        };
        if base64::engine::general_purpose::STANDARD.decode(text).map(Zeroizing::new).is_err() {
            return Err(Refused::bad_content(format!("`{path}` is not Base64")).target(path));
        }
        keep(&path, old, text).map(Some)
    };
    let user_data = cloud_init("userData", "userDataContent")?;
    let network_data = cloud_init("networkData", "networkDataContent")?;
    let registry = match &properties["vmImageRepositoryCredentials"] {
        Value::Null => None,
        given => {
            let (url, username) = (text(given, "registryUrl"), text(given, "username"));
            // A password is for whom it was given: whoever names another registry would be sent it.
            let kept = known.and_then(|vm| vm.spec.registry.as_ref()).filter(|kept| kept.url == url && kept.username == username);
            let password = match (given["password"].as_str(), kept) {
                (Some(password), _) => keep(PASSWORD, "registryPassword", password)?,
                (None, Some(kept)) => kept.password.clone(),
                (None, None) => return Err(Refused::bad_content(format!("`{PASSWORD}` is missing")).target(PASSWORD)),
            };
            Some(Registry { url, username, password })
        }
    };
    let spec = VmSpec { user_data, network_data, registry, ..spec_of(properties, place)? };
    Ok(Described {
        spec,
        tags: texts(&body["tags"]),
        secrets,
        custom_location: body["extendedLocation"]["name"].as_str().map(str::to_owned),
        location: body["location"].as_str().map(str::to_owned),
    })
}

/// A body with what is not known of a virtual machine that was made past us, and so cannot be sent.
fn completed(mut body: Map<String, Value>, vm: &Vm) -> Map<String, Value> {
    let spec = &vm.spec;
    if let Some(Value::Object(properties)) = body.get_mut("properties") {
        if spec.admin_username.is_empty() {
            properties.entry("adminUsername").or_insert_with(|| Value::from(""));
        }
        if spec.image.is_empty() {
            properties.entry("vmImage").or_insert_with(|| Value::from(""));
        }
        if let (0, Some(Value::Object(disk))) =
            (spec.os_disk.size_gb, properties.get_mut("storageProfile").and_then(|of| of.get_mut("osDisk")))
        {
            disk.entry("diskSizeGB").or_insert_with(|| Value::from(0));
        }
    }
    body
}

/// What is no secret. Its shape has been checked, so that what is absent here was left out.
fn spec_of(properties: &Value, place: &Place) -> Result<VmSpec, Refused> {
    let disk = &properties["storageProfile"]["osDisk"];
    Ok(VmSpec {
        cpu_cores: whole(&properties["cpuCores"], "properties.cpuCores")?,
        memory_gb: whole(&properties["memorySizeGB"], "properties.memorySizeGB")?,
        image: text(properties, "vmImage"),
        admin_username: text(properties, "adminUsername"),
        boot_method: properties["bootMethod"].as_str().map(|word| if word == "BIOS" { BootMethod::Bios } else { BootMethod::Uefi }),
        device_model: properties["vmDeviceModel"].as_str().map(|word| match word {
            "T1" => DeviceModel::T1,
            "T2" => DeviceModel::T2,
            _ => DeviceModel::T3,
        }),
        virtio_interface: properties["virtioInterface"].as_str().map(|word| match word {
            "Modern" => VirtioInterface::Modern,
            _ => VirtioInterface::Transitional,
        }),
        isolate_emulator_thread: properties["isolateEmulatorThread"].as_str().map(|word| word == "True"),
        os_disk: OsDisk {
            size_gb: whole(&disk["diskSizeGB"], "properties.storageProfile.osDisk.diskSizeGB")?,
            storage: if disk["createOption"] == "Ephemeral" { DiskStorage::Ephemeral } else { DiskStorage::Persistent },
        },
        volume_attachments: items(&properties["storageProfile"]["volumeAttachments"])
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        cloud_services_network: Some(&properties["cloudServicesNetworkAttachment"]).filter(|given| !given.is_null()).map(network),
        networks: items(&properties["networkAttachments"]).map(network).collect(),
        placement_hints: items(&properties["placementHints"])
            .enumerate()
            .map(|(n, given)| hint(place, n, given))
            .collect::<Result<_, _>>()?,
        ssh_public_keys: items(&properties["sshPublicKeys"]).map(|key| text(key, "keyData")).collect(),
        ..VmSpec::default()
    })
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(object: &Value, name: &str) -> String {
    object[name].as_str().unwrap_or_default().to_owned()
}

fn texts(object: &Value) -> Tags {
    let pairs = object.as_object().into_iter().flatten();
    pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn whole(value: &Value, path: &str) -> Result<u32, Refused> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| Refused::bad_content(format!("`{path}` must be from 0 to {}, not {value}", u32::MAX)).target(path))
}

fn network(given: &Value) -> NetworkAttachment {
    let maybe = |name: &str| given[name].as_str().map(str::to_owned);
    NetworkAttachment {
        network_id: text(given, "attachedNetworkId"),
        ip_allocation: match given["ipAllocationMethod"].as_str() {
            Some("Static") => IpAllocation::Static,
            Some("Disabled") => IpAllocation::Disabled,
            _ => IpAllocation::Dynamic,
        },
        default_gateway: given["defaultGateway"].as_str().map(|word| word == "True"),
        ipv4_address: maybe("ipv4Address"),
        ipv6_address: maybe("ipv6Address"),
        name: maybe("networkAttachmentName"),
    }
}

fn hint(place: &Place, n: usize, given: &Value) -> Result<PlacementHint, Refused> {
    let id = text(given, "resourceId");
    let target = hint_target(place, &id).ok_or_else(|| {
        let path = hint_path(n);
        let message = format!(
            "`{path}` must be the id of a virtual machine, a bare-metal machine or a rack of this resource group, not `{}`",
            shortened(&id)
        );
        Refused::bad_content(message).target(path)
    })?;
    Ok(PlacementHint {
        kind: if given["hintType"] == "Affinity" { HintKind::Affinity } else { HintKind::AntiAffinity },
        execution: if given["schedulingExecution"] == "Hard" { HintExecution::Hard } else { HintExecution::Soft },
        scope: if given["scope"] == "Machine" { HintScope::Machine } else { HintScope::Rack },
        target,
    })
}

fn hint_path(n: usize) -> String {
    format!("properties.placementHints[{n}].resourceId")
}

/// What an id of the place's resource group names. Upper and lower case are the same in it, as in all ids.
fn hint_target(place: &Place, id: &str) -> Option<HintTarget> {
    let segments: Vec<&str> = id.split('/').filter(|segment| !segment.is_empty()).collect();
    let [subscriptions, subscription, groups, group, providers, provider, kind, name] = segments[..] else { return None };
    let expected = [
        (subscriptions, "subscriptions"),
        (subscription, &place.subscription),
        (groups, "resourceGroups"),
        (group, &place.group),
        (providers, "providers"),
        (provider, PROVIDER),
    ];
    if !expected.iter().all(|(given, expected)| given.eq_ignore_ascii_case(expected)) {
        return None;
    }
    let name = name.to_ascii_lowercase();
    match kind.to_ascii_lowercase().as_str() {
        "virtualmachines" => VmName::new(name).ok().map(HintTarget::Vm),
        "baremetalmachines" => MachineName::new(name).ok().map(HintTarget::Machine),
        "racks" => RackName::new(name).ok().map(HintTarget::Rack),
        _ => None,
    }
}

/// Refuses hints to what the caller may not read, whether or not it is there: what is refused, and what is placed where, would tell of it.
/// Hints that the virtual machine has already are only sent back.
pub(super) fn check_hints(call: &Call, cluster: &Cluster, hints: &[PlacementHint], known: Option<&Vm>) -> Result<(), Refused> {
    let sight = call.sight()?;
    let had = known.map_or(&[][..], |vm| &vm.spec.placement_hints);
    for (n, hint) in hints.iter().enumerate().filter(|(_, hint)| !had.contains(hint)) {
        let (id, kind, name) = match &hint.target {
            HintTarget::Vm(name) => (links::vm_id(cluster, name), "virtual machine", name.as_str()),
            HintTarget::Machine(name) => (links::machine_id(cluster, name), "machine", name.as_str()),
            HintTarget::Rack(name) => (links::rack_id(cluster, name), "rack", name.as_str()),
        };
        if !sight.sees(&id) {
            call.deny(unseen(&id));
            let path = hint_path(n);
            let message = format!("`{path}` names `{name}`, and there is no such {kind} that you may read");
            return Err(Refused::new(Code::ResourceNotFound, message).target(path));
        }
    }
    Ok(())
}

/// Whether a custom location is a cluster's: its last part is the cluster's name.
pub(super) fn is_at(custom_location: &str, cluster: &Cluster) -> bool {
    custom_location.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(cluster.name.as_str()))
}
