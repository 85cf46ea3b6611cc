//! `Microsoft.NetworkCloud/virtualMachines`: reading.

use axum::response::Response;
use http::StatusCode;
use model::{
    BootMethod, Cluster, DeviceModel, DiskStorage, HintExecution, HintKind, HintScope, HintTarget, IpAllocation, MachineName,
    NetworkAttachment, Operation, PlacementHint, RunStrategy, Target, Timestamp, VirtioInterface, Vm, VmName, VmProvisioning, VmState,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::clusters_at;
use super::machines::render_wait;
use super::resource::{Known, Resource};
use crate::cache::{Versioned, View};
use crate::links;
use crate::reply::{Refused, resource_response};
use crate::route::Kind;

/// The virtual machine of that name, with its cluster.
pub(crate) fn find<'a>(
    view: &'a View,
    subscription: &str,
    group: &str,
    name: &str,
) -> Result<(&'a Versioned<Cluster>, &'a Versioned<Vm>), Refused> {
    let vm_name = VmName::new(name);
    let mut clusters = clusters_at(view, subscription, group)?.into_iter();
    let found = clusters.find_map(|cluster| Some((cluster, view.vm(&cluster.document.name, vm_name.as_ref().ok()?)?)));
    found.ok_or_else(|| Refused::not_found("virtual machine", name))
}

pub(crate) fn show(view: &View, subscription: &str, group: &str, name: &str, now: Timestamp) -> Result<Response, Refused> {
    let (cluster, vm) = find(view, subscription, group, name)?;
    Ok(resource_response(StatusCode::OK, &render(view, &cluster.document, &vm.document, now)))
}

pub(crate) type VirtualMachine<'a> = Resource<'a, Properties<'a>, Ours<'a>>;

pub(crate) fn render<'a>(view: &'a View, cluster: &'a Cluster, vm: &'a Vm, now: Timestamp) -> VirtualMachine<'a> {
    let Vm { name, created_at, edition, tags, .. } = vm;
    let known = Known { kind: Kind::Vms, name: name.as_str(), created_at: *created_at, edition: *edition, tags };
    let mut resource = Resource::new(cluster, known, properties(view, cluster, vm));
    if let Some(modified) = &vm.modified {
        resource.system_data.modified(modified);
    }
    let seen = vm.last_seen.as_ref();
    resource.rackwright = Some(Ours {
        machine: vm.machine.as_ref(),
        operation: at_work(view, cluster, &Target::Vm(name.clone())),
        run_strategy: seen.map(|seen| seen.what.run),
        seen_at: seen.map(|seen| seen.at),
        state: seen.map(|seen| seen.what.state),
        waits: vm.waits.iter().map(|wait| render_wait(wait, now)).collect(),
    });
    resource
}

fn running<'a>(view: &'a View, cluster: &Cluster, target: &Target) -> Option<&'a Operation> {
    view.operations_for(&cluster.name, target).into_iter().find(|operation| operation.is_running())
}

/// The operation that is at work on something, in brief.
pub(super) fn at_work(view: &View, cluster: &Cluster, target: &Target) -> Option<Value> {
    running(view, cluster, target).map(|operation| {
        json!({
            "action": operation.action.command(),
            "caller": operation.caller,
            "id": operation.id,
            "since": operation.accepted_at,
        })
    })
}

/// What is told beside the model, in the order of its names.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ours<'a> {
    machine: Option<&'a MachineName>,
    operation: Option<Value>,
    run_strategy: Option<RunStrategy>,
    seen_at: Option<Timestamp>,
    state: Option<VmState>,
    waits: Vec<Value>,
}

/// `VirtualMachineProperties`, in the order of its names. What is not known is left out; secrets are never told.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Properties<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_username: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    availability_zone: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bare_metal_machine_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boot_method: Option<BootMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cloud_services_network_attachment: Option<Value>,
    cluster_id: String,
    cpu_cores: u32,
    detailed_status: String,
    detailed_status_message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    isolate_emulator_thread: Option<&'static str>,
    #[serde(rename = "memorySizeGB")]
    memory_size_gb: u32,
    network_attachments: Vec<Value>,
    placement_hints: Vec<Value>,
    power_state: String,
    provisioning_state: VmProvisioning,
    ssh_public_keys: Vec<Value>,
    storage_profile: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    virtio_interface: Option<VirtioInterface>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vm_device_model: Option<DeviceModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vm_image: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vm_image_repository_credentials: Option<Value>,
    volumes: &'a [String],
}

fn properties<'a>(view: &'a View, cluster: &'a Cluster, vm: &'a Vm) -> Properties<'a> {
    let spec = &vm.spec;
    let machine = vm.machine.as_ref().and_then(|machine| view.machine(&cluster.name, machine));
    let running = running(view, cluster, &Target::Vm(vm.name.clone()));
    let words = plan::vm_status(vm, machine.map(|machine| machine.document.as_ref()), running);
    Properties {
        admin_username: Some(spec.admin_username.as_str()).filter(|name| !name.is_empty()),
        availability_zone: vm.machine.as_ref().and_then(|machine| zone_of(view, cluster, machine)),
        bare_metal_machine_id: vm.machine.as_ref().map(|machine| links::machine_id(cluster, machine)),
        boot_method: spec.boot_method,
        cloud_services_network_attachment: spec.cloud_services_network.as_ref().map(attachment),
        cluster_id: links::cluster_id(cluster),
        cpu_cores: spec.cpu_cores,
        detailed_status: words.detailed.to_string(),
        detailed_status_message: words.message,
        isolate_emulator_thread: spec.isolate_emulator_thread.map(flag),
        memory_size_gb: spec.memory_gb,
        network_attachments: spec.networks.iter().map(attachment).collect(),
        placement_hints: spec.placement_hints.iter().map(|hint| placement_hint(cluster, hint)).collect(),
        power_state: words.power.to_string(),
        provisioning_state: vm.provisioning,
        ssh_public_keys: spec.ssh_public_keys.iter().map(|key| json!({ "keyData": key })).collect(),
        storage_profile: storage_profile(vm),
        virtio_interface: spec.virtio_interface,
        vm_device_model: spec.device_model,
        vm_image: Some(spec.image.as_str()).filter(|image| !image.is_empty()),
        vm_image_repository_credentials: spec
            .registry
            .as_ref()
            .map(|registry| json!({ "registryUrl": registry.url, "username": registry.username })),
        volumes: &spec.volume_attachments,
    }
}

/// As the list of all resources tells it.
pub(super) fn provisioning_state(vm: &Vm) -> &'static str {
    match vm.provisioning {
        VmProvisioning::Accepted => "Accepted",
        VmProvisioning::Provisioning => "Provisioning",
        VmProvisioning::Succeeded => "Succeeded",
        VmProvisioning::Failed => "Failed",
        VmProvisioning::Canceled => "Canceled",
    }
}

/// The availability zone of a machine is its rack's.
pub(super) fn zone_of<'a>(view: &'a View, cluster: &Cluster, machine: &MachineName) -> Option<&'a str> {
    let machine = view.machine(&cluster.name, machine)?;
    let rack = view.rack(&cluster.name, &machine.document.hardware.rack)?;
    Some(&rack.document.availability_zone)
}

/// Azure writes its booleans as words.
fn flag(truth: bool) -> &'static str {
    if truth { "True" } else { "False" }
}

fn attachment(network: &NetworkAttachment) -> Value {
    let method = match network.ip_allocation {
        IpAllocation::Dynamic => "Dynamic",
        IpAllocation::Static => "Static",
        IpAllocation::Disabled => "Disabled",
    };
    let mut rendered = json!({ "attachedNetworkId": network.network_id, "ipAllocationMethod": method });
    let others = [
        ("defaultGateway", network.default_gateway.map(|is| flag(is).to_owned())),
        ("ipv4Address", network.ipv4_address.clone()),
        ("ipv6Address", network.ipv6_address.clone()),
        ("networkAttachmentName", network.name.clone()),
    ];
    for (name, value) in others {
        if let Some(value) = value {
            rendered[name] = json!(value);
        }
    }
    rendered
}

fn placement_hint(cluster: &Cluster, hint: &PlacementHint) -> Value {
    json!({
        "hintType": match hint.kind {
            HintKind::Affinity => "Affinity",
            HintKind::AntiAffinity => "AntiAffinity",
        },
        "resourceId": match &hint.target {
            HintTarget::Vm(name) => links::vm_id(cluster, name),
            HintTarget::Machine(name) => links::machine_id(cluster, name),
            HintTarget::Rack(name) => links::rack_id(cluster, name),
        },
        "schedulingExecution": match hint.execution {
            HintExecution::Hard => "Hard",
            HintExecution::Soft => "Soft",
        },
        "scope": match hint.scope {
            HintScope::Machine => "Machine",
            HintScope::Rack => "Rack",
        },
    })
}

fn storage_profile(vm: &Vm) -> Value {
    let disk = &vm.spec.os_disk;
    let storage = match disk.storage {
        DiskStorage::Ephemeral => "Ephemeral",
        DiskStorage::Persistent => "Persistent",
    };
    let mut os_disk = json!({ "createOption": storage, "deleteOption": "Delete" });
    // Of one that was made past us it is not known.
    if disk.size_gb > 0 {
        os_disk["diskSizeGB"] = json!(disk.size_gb);
    }
    json!({ "osDisk": os_disk, "volumeAttachments": vm.spec.volume_attachments })
}
