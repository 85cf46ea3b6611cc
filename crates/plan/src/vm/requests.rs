//! Verdicts on requests about virtual machines and tenants' nodes.

use std::collections::BTreeMap;

use model::{
    Action, Conditions, Editions, FIRST_EDITION, HintTarget, Limits, Modified, OPERATION_FORMAT, Operation, OperationId, Refusal, Request,
    Rule, Span, Target, TenantClusterName, Timestamp, Verdict, Vm, VmName, VmProvisioning, VmSpec,
};

use super::guard::{Guarded, vm_remembered_by};
use super::spec;
use crate::draft::Draft;
use crate::evacuate;
use crate::update::{Edited, check_editions};

/// An action on a virtual machine that there is. The same request sent again finds its operation.
pub(crate) fn act(
    draft: &mut Draft,
    request: &Request,
    name: &VmName,
    action: Action,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<OperationId, Refusal> {
    if let Some(same) = request.key.as_ref().and_then(|key| draft.after.operation_of_request(key)) {
        return Ok(same.id.clone());
    }
    let vm = find(draft, name)?;
    check_editions(&edited(&vm), conditions)?;
    let target = Target::Vm(vm.name.clone());
    Guarded { snapshot: &draft.after, target: &target, action }.check(Some(&vm))?;
    forget_in_memories(draft, name);
    Ok(begin(draft, request, target, action, now))
}

/// A tenant node's virtual machine is stopped without a shutdown, and started again.
pub(crate) fn restart_node(
    draft: &mut Draft,
    request: &Request,
    cluster: &TenantClusterName,
    node: &str,
    now: Timestamp,
) -> Result<OperationId, Refusal> {
    if let Some(same) = request.key.as_ref().and_then(|key| draft.after.operation_of_request(key)) {
        return Ok(same.id.clone());
    }
    let known = crate::tenant_cluster::find(draft, cluster)?;
    let absent = |evidence: String| Refusal {
        rule: Rule::TenantNodeExists,
        message: format!("`{cluster}` has no node `{node}` that could be restarted"),
        evidence: vec![evidence],
        remedy: format!("`rackwright kubernetescluster show {cluster}` names its nodes"),
    };
    let Some((node, _)) = known.nodes.get_key_value(node) else {
        return Err(absent(format!("none of the {} nodes of `{cluster}` has that name", known.nodes.len())));
    };
    let target = Target::TenantNode { cluster: known.name.clone(), node: node.clone() };
    Guarded { snapshot: &draft.after, target: &target, action: Action::RestartNode }.check(None)?;
    let vm = VmName::new(node.as_str()).ok().filter(|vm| draft.after.tenants.vms().contains_key(vm));
    let Some(vm) = vm else {
        return Err(absent(format!("the undercloud has no virtual machine `{node}`")));
    };
    forget_in_memories(draft, &vm);
    Ok(begin(draft, request, target, Action::RestartNode, now))
}

/// Makes a virtual machine; said again of one that there is, it writes its tags and nothing else.
pub(crate) fn put(
    draft: &mut Draft,
    request: &Request,
    put: (&VmName, &VmSpec, &BTreeMap<String, String>),
    conditions: &Conditions,
    now: Timestamp,
) -> Result<Verdict, Refusal> {
    if let Some(same) = request.key.as_ref().and_then(|key| draft.after.operation_of_request(key)) {
        return Ok(Verdict::Accepted { operation: same.id.clone() });
    }
    let (name, spec, tags) = put;
    not_of_tenant(draft, name)?;
    let stored = draft.after.vms.get(name).map(|vm| (**vm).clone());
    let running = draft.after.running_for(&Target::Vm(name.clone())).cloned();
    match stored {
        Some(vm) if running.is_some() || vm.uid.is_some() => {
            spec::check_unchanged(&vm, spec)?;
            write_tags(draft, request, vm, Some(tags), conditions, now)?;
            match running.filter(|running| running.action == Action::Create) {
                Some(creation) => Ok(Verdict::Accepted { operation: creation.id.clone() }),
                None => Ok(Verdict::Done),
            }
        }
        before => {
            if let Some(vm) = &before {
                check_editions(&edited(vm), conditions)?;
            } else if conditions.expected.is_some() {
                return Err(nothing_to_match(name, conditions));
            }
            let operation = create(draft, request, put, before.as_ref(), now)?;
            Ok(Verdict::Accepted { operation })
        }
    }
}

fn create(
    draft: &mut Draft,
    request: &Request,
    (name, spec, tags): (&VmName, &VmSpec, &BTreeMap<String, String>),
    before: Option<&Vm>,
    now: Timestamp,
) -> Result<OperationId, Refusal> {
    let target = Target::Vm(name.clone());
    hints_name_what_is_there(draft, name, spec)?;
    Guarded { snapshot: &draft.after, target: &target, action: Action::Create }.begin()?;
    draft.save_vm(Vm {
        name: name.clone(),
        cluster: draft.after.cluster.name.clone(),
        spec: spec.clone(),
        tags: tags.clone(),
        created_at: now,
        edition: before.map_or(FIRST_EDITION, |vm| vm.edition + 1),
        modified: Some(Modified { by: request.caller.clone(), at: now, request_key: request.key.clone() }),
        provisioning: VmProvisioning::Accepted,
        uid: None,
        last_seen: None,
        machine: None,
        waits: Vec::new(),
    });
    Ok(begin(draft, request, target, Action::Create, now))
}

pub(crate) fn update(
    draft: &mut Draft,
    request: &Request,
    name: &VmName,
    tags: Option<&BTreeMap<String, String>>,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<(), Refusal> {
    let vm = find(draft, name)?;
    write_tags(draft, request, vm, tags, conditions, now)
}

/// The same request sent again finds itself; whoever changes nothing writes nothing.
fn write_tags(
    draft: &mut Draft,
    request: &Request,
    mut vm: Vm,
    tags: Option<&BTreeMap<String, String>>,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<(), Refusal> {
    let edited = edited(&vm);
    if edited.was_written_by(request) {
        return Ok(());
    }
    check_editions(&edited, conditions)?;
    if let Some(tags) = tags.filter(|tags| **tags != vm.tags) {
        vm.tags = tags.clone();
        vm.edition += 1;
        vm.modified = Some(Modified { by: request.caller.clone(), at: now, request_key: request.key.clone() });
        draft.save_vm(vm);
    }
    Ok(())
}

fn edited(vm: &Vm) -> Edited<'_> {
    Edited {
        noun: "virtual machine",
        name: vm.name.to_string(),
        edition: vm.edition,
        modified: vm.modified.as_ref(),
        show: format!("rackwright vm show {}", vm.name),
    }
}

fn find(draft: &Draft, name: &VmName) -> Result<Vm, Refusal> {
    not_of_tenant(draft, name)?;
    draft.after.vms.get(name).map(|vm| (**vm).clone()).ok_or_else(|| Refusal {
        rule: Rule::VmExists,
        message: format!("there is no virtual machine `{name}`"),
        evidence: vec![format!(
            "none of the {} virtual machines of cluster `{}` has that name",
            draft.after.vms.len(),
            draft.after.cluster.name
        )],
        remedy: "`rackwright vm list` names them".into(),
    })
}

/// What a tenant cluster is made of is Cluster API's to make and to keep.
fn not_of_tenant(draft: &Draft, name: &VmName) -> Result<(), Refusal> {
    let Some(node_of) = draft.after.tenants.vms().get(name).and_then(|seen| seen.node_of.as_ref()) else { return Ok(()) };
    let cluster = &node_of.cluster;
    Err(Refusal {
        rule: Rule::VmNodeOfTenant,
        message: format!("`{name}` is no virtual machine of its own"),
        evidence: vec![format!("`{name}` is a node of the tenant cluster `{cluster}`")],
        remedy: format!(
            "`rackwright kubernetescluster restart-node {cluster} --node-name {name}` restarts it; for a new virtual machine choose another name"
        ),
    })
}

fn nothing_to_match(name: &VmName, conditions: &Conditions) -> Refusal {
    let wanted = match &conditions.expected {
        Some(Editions::Listed(_)) => "the request is meant for an etag of it",
        _ => "the request is meant for one that is there",
    };
    Refusal {
        rule: Rule::PreconditionFailed,
        message: format!("`{name}` was not created"),
        evidence: vec![format!("{wanted}, and there is no virtual machine `{name}`")],
        remedy: "send it without If-Match to create it".into(),
    }
}

/// A hint to what is not there would keep the virtual machine from running, or say nothing at all.
fn hints_name_what_is_there(draft: &Draft, name: &VmName, spec: &VmSpec) -> Result<(), Refusal> {
    let snapshot = &draft.after;
    for (n, hint) in spec.placement_hints.iter().enumerate() {
        let problem = match &hint.target {
            HintTarget::Vm(vm) if vm == name => Some("names the virtual machine itself".to_owned()),
            HintTarget::Vm(vm) if !snapshot.vms.contains_key(vm) => Some(format!("names `{vm}`, and there is no such virtual machine")),
            HintTarget::Machine(machine) if !snapshot.machines.contains_key(machine) => {
                Some(format!("names `{machine}`, and there is no such machine"))
            }
            HintTarget::Rack(rack) if !snapshot.machines.values().any(|machine| machine.hardware.rack == *rack) => {
                Some(format!("names `{rack}`, and there is no machine in such a rack"))
            }
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(Refusal {
                rule: Rule::VmPlacement,
                message: format!("`{name}` cannot be created"),
                evidence: vec![format!("`properties.placementHints[{n}].resourceId` {problem}")],
                remedy: "name a virtual machine, a machine or a rack of this cluster: `rackwright vm list`, `rackwright bmm list`".into(),
            });
        }
    }
    Ok(())
}

/// What a person does to a virtual machine is how it is from then on: an emptied machine that remembers it does not bring it back.
fn forget_in_memories(draft: &mut Draft, vm: &VmName) {
    while let Some(machine) = vm_remembered_by(&draft.after, vm) {
        let mut machine = machine.clone();
        evacuate::forget_vm(&mut machine, vm);
        draft.save_machine(machine);
    }
}

fn begin(draft: &mut Draft, request: &Request, target: Target, action: Action, now: Timestamp) -> OperationId {
    let id = OperationId::new(request.id.as_str());
    draft.save_operation(Operation {
        format: OPERATION_FORMAT,
        id: id.clone(),
        cluster: request.cluster.clone(),
        target,
        action,
        caller: request.caller.clone(),
        correlation_id: request.correlation_id.clone(),
        request_key: request.key.clone(),
        accepted_at: now,
        deadline_at: now + deadline(action, &draft.after.cluster.limits),
        journal: Vec::new(),
        cancel: None,
        ended: None,
        wait: None,
        replacement: None,
    });
    id
}

/// How long an action may take in all.
pub(crate) fn deadline(action: Action, limits: &Limits) -> Span {
    match action {
        Action::Create => limits.vm_create_timeout,
        Action::RestartNode => limits.restart_node_timeout,
        _ => limits.vm_timeout,
    }
}
