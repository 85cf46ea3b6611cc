//! Verdicts on requests: accepted, done on the spot, or refused. In the order they came in.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{
    Action, Ask, Cancel, DesiredPower, Entry, Evacuate, Fact, Hold, HoldOwner, Limits, Machine, MachineName, ManagedAgain, Management,
    OPERATION_FORMAT, Operation, OperationId, Outage, Refusal, Replacement, Request, Rule, Span, Target, Timestamp, Verdict,
};

use crate::advice;
use crate::baseline;
use crate::draft::Draft;
use crate::evacuate;
use crate::guard::{Guarded, being_done, unmanaged_by, wait_or_cancel};
use crate::install;
use crate::key_sets;
use crate::preview;
use crate::update::update;
use crate::{tenant_cluster, verify, vm};

/// Judges every request without a verdict; returns the machines that this touched.
pub(crate) fn plan_requests(draft: &mut Draft, now: Timestamp) -> BTreeSet<MachineName> {
    let mut open: Vec<Arc<Request>> = draft.after.requests.values().filter(|request| request.verdict.is_none()).cloned().collect();
    open.sort_by(|a, b| (a.received_at, &a.id).cmp(&(b.received_at, &b.id)));
    let mut touched = BTreeSet::new();
    for request in open {
        // A verdict that needs a look is held back; the look wakes us, or the end of our patience.
        if is_held_back(draft, &request, now) {
            continue;
        }
        let verdict = judge(draft, &request, now, &mut touched).unwrap_or_else(|refusal| Verdict::Refused { refusal });
        draft.save_verdict(Request { verdict: Some(verdict), ..(*request).clone() });
    }
    touched
}

/// Whether the verdict on an installation has to wait for a look. What is refused anyway is refused at once.
fn is_held_back(draft: &mut Draft, request: &Request, now: Timestamp) -> bool {
    let (Ask::Act { machine, action, outage, replacement } | Ask::Preview { machine, action, outage, replacement }) = &request.ask else {
        return false;
    };
    let Some(machine) = draft.after.machines.get(machine).cloned().filter(|_| install::installs(*action) && now < request.expires_at)
    else {
        return false;
    };
    let is_repeated = request.key.as_ref().is_some_and(|key| draft.after.operation_of_request(key).is_some());
    let guarded = Guarded { snapshot: &draft.after, machine: &machine, action: *action, outage: *outage, now };
    let is_open = match guarded.check(replacement.as_deref()) {
        Ok(()) => true,
        Err(refusal) => install::hinges_on_etcd(&guarded, &refusal),
    };
    !is_repeated && is_open && install::awaits_looks(draft, &machine, *action, request, now)
}

fn judge(draft: &mut Draft, request: &Request, now: Timestamp, touched: &mut BTreeSet<MachineName>) -> Result<Verdict, Refusal> {
    if now >= request.expires_at {
        return Err(Refusal {
            rule: Rule::RequestExpired,
            message: "the request was not carried out".into(),
            evidence: vec![format!(
                "it waited since {} and was to be judged by {}",
                request.received_at.clock(),
                request.expires_at.clock()
            )],
            remedy: "send it again".into(),
        });
    }
    match &request.ask {
        Ask::Act { machine, action, outage, replacement } => {
            let operation = act(draft, request, machine, *action, *outage, replacement.clone(), now)?;
            touched.insert(machine.clone());
            Ok(Verdict::Accepted { operation })
        }
        Ask::Report { attempt, report } => {
            // Also one that is not believed may have ended the attempt.
            touched.insert(attempt.machine.clone());
            install::report(draft, attempt, report, now)?;
            Ok(Verdict::Done)
        }
        Ask::ImportRuntime { bundle } => install::import_runtime(draft, bundle).map(|()| Verdict::Done),
        Ask::ForgetRuntime { version } => install::forget_runtime(draft, *version).map(|()| Verdict::Done),
        Ask::Inspect { machines, racks } => install::inspect(draft, request, machines, racks, now),
        Ask::PutKeySet { key_set, conditions } => {
            touched.extend(key_sets::put(draft, request, key_set, conditions, now)?);
            Ok(Verdict::Done)
        }
        Ask::UpdateKeySet { set, name, change, conditions } => {
            touched.extend(key_sets::update(draft, request, (*set, name), change, conditions, now)?);
            Ok(Verdict::Done)
        }
        Ask::DeleteKeySet { set, name, conditions } => {
            touched.extend(key_sets::delete(draft, *set, name, conditions)?);
            Ok(Verdict::Done)
        }
        Ask::Cancel { operation } => {
            touched.extend(cancel(draft, operation, &request.caller, now)?);
            Ok(Verdict::Done)
        }
        Ask::Unmanage { machine, reason } => {
            unmanage(draft, machine, &request.caller, reason, now)?;
            touched.insert(machine.clone());
            Ok(Verdict::Done)
        }
        Ask::Manage { machine, reason } => {
            manage(draft, machine, &request.caller, reason, now)?;
            touched.insert(machine.clone());
            Ok(Verdict::Done)
        }
        Ask::Update { machine, tags, details, conditions } => {
            let updated = update(find_machine(draft, machine)?, request, tags.as_ref(), details.as_deref(), conditions, now)?;
            draft.save_machine(updated);
            Ok(Verdict::Done)
        }
        Ask::ActOnVm { vm, action, conditions } => {
            let operation = vm::act(draft, request, vm, *action, conditions, now)?;
            Ok(Verdict::Accepted { operation })
        }
        Ask::PutVm { vm, spec, tags, conditions } => vm::put(draft, request, (vm, spec, tags), conditions, now),
        Ask::UpdateVm { vm, tags, conditions } => {
            vm::update(draft, request, vm, tags.as_ref(), conditions, now)?;
            Ok(Verdict::Done)
        }
        Ask::RestartNode { cluster, node } => {
            let operation = vm::restart_node(draft, request, cluster, node, now)?;
            Ok(Verdict::Accepted { operation })
        }
        Ask::UpdateTenantCluster { cluster, pool, tags, drain_policy, conditions } => {
            let written = tenant_cluster::Written { tags: tags.as_ref(), drain_policy: *drain_policy, conditions };
            tenant_cluster::update(draft, request, (cluster, pool.as_ref()), &written, now)?;
            Ok(Verdict::Done)
        }
        Ask::PreviewForTenant { target, action } => {
            let preview = preview::preview_for_tenant(&draft.after, request, target, *action, now)?;
            Ok(Verdict::Previewed { preview: Box::new(preview) })
        }
        Ask::Advise { machine, symptom, repaired } => {
            let advice = advice::advise(&draft.after, machine, *symptom, repaired, now);
            advice.map(|advice| Verdict::Advised { advice: Box::new(advice) }).ok_or_else(|| no_machine(draft, machine))
        }
        Ask::Verify { machine } => {
            let checks = verify::verify(&draft.after, machine).ok_or_else(|| no_machine(draft, machine))?;
            Ok(Verdict::Verified { checks })
        }
        Ask::Preview { machine, action, outage, replacement } => {
            let machine = find_machine(draft, machine)?;
            let guarded = Guarded { snapshot: &draft.after, machine: &machine, action: *action, outage: *outage, now };
            let preview = preview::preview(&guarded, replacement.as_deref());
            Ok(Verdict::Previewed { preview: Box::new(preview) })
        }
    }
}

fn find_machine(draft: &Draft, name: &MachineName) -> Result<Machine, Refusal> {
    draft.after.machines.get(name).map(|machine| (**machine).clone()).ok_or_else(|| no_machine(draft, name))
}

fn no_machine(draft: &Draft, name: &MachineName) -> Refusal {
    Refusal {
        rule: Rule::MachineExists,
        message: format!("there is no machine `{name}`"),
        evidence: vec![format!("cluster `{}` has {} machines, none of that name", draft.after.cluster.name, draft.after.machines.len())],
        remedy: "`rackwright bmm list` names them".into(),
    }
}

fn act(
    draft: &mut Draft,
    request: &Request,
    name: &MachineName,
    action: Action,
    outage: Outage,
    replacement: Option<Box<Replacement>>,
    now: Timestamp,
) -> Result<OperationId, Refusal> {
    if let Some(same) = request.key.as_ref().and_then(|key| draft.after.operation_of_request(key)) {
        return Ok(same.id.clone());
    }
    let mut machine = find_machine(draft, name)?;
    let guarded = Guarded { snapshot: &draft.after, machine: &machine, action, outage, now };
    guarded.check(replacement.as_deref())?;
    guarded.may_install_by_looks()?;
    baseline::record(&draft.after, &mut machine, (&OperationId::new(request.id.as_str()), action), now);
    let boot_id = draft.after.observation(name).boot_id().or_else(|| machine.last_seen.node.as_ref().map(|node| node.what.boot_id.clone()));
    let mut operation = begin(request, &machine, action, boot_id, &draft.after.cluster.limits, now);
    let warnings = advice::storage_warnings(&draft.after, &machine, action, replacement.as_deref(), now);
    operation.journal.extend(warnings.into_iter().map(|words| Entry { at: now, fact: Fact::Warned { words } }));
    operation.replacement = replacement;
    prepare(&mut machine, &operation, now);
    evacuate::begin(&draft.after, &mut machine, &mut operation, now);
    let id = operation.id.clone();
    draft.save_machine(machine);
    draft.save_operation(operation);
    Ok(id)
}

fn begin(request: &Request, machine: &Machine, action: Action, boot_id: Option<String>, limits: &Limits, now: Timestamp) -> Operation {
    let provisioning = install::installs(action).then_some(machine.provisioning);
    Operation {
        format: OPERATION_FORMAT,
        id: OperationId::new(request.id.as_str()),
        cluster: request.cluster.clone(),
        target: Target::Machine(machine.name.clone()),
        action,
        caller: request.caller.clone(),
        correlation_id: request.correlation_id.clone(),
        request_key: request.key.clone(),
        accepted_at: now,
        deadline_at: now + deadline(action, limits),
        journal: vec![Entry { at: now, fact: Fact::Found { boot_id, provisioning } }],
        cancel: None,
        ended: None,
        wait: None,
        replacement: None,
    }
}

/// How long an action may take in all.
pub(crate) fn deadline(action: Action, limits: &Limits) -> Span {
    match action {
        Action::Start => limits.start_timeout,
        Action::PowerOff { .. } => limits.power_off_timeout,
        Action::Restart => limits.restart_timeout,
        Action::Cordon { evacuate: Evacuate::Yes | Evacuate::Forced } => limits.evacuate_timeout,
        Action::Cordon { evacuate: Evacuate::No } | Action::Uncordon => limits.cordon_timeout,
        Action::Create => limits.vm_create_timeout,
        Action::Reimage { .. } => limits.reimage_timeout,
        Action::Replace { .. } => limits.replace_timeout,
        Action::Validate | Action::Inspect => limits.validate_timeout,
        Action::Delete => limits.vm_timeout,
        Action::RestartNode => limits.restart_node_timeout,
    }
}

/// What changes about the machine in the same commit as the acceptance: its holds and what its power should be.
fn prepare(machine: &mut Machine, operation: &Operation, now: Timestamp) {
    match operation.action {
        Action::PowerOff { .. } | Action::Restart => {
            machine.holds.push(Hold {
                owner: HoldOwner::Operation { id: operation.id.clone() },
                reason: format!("being {}", operation.action.participle()),
                since: now,
            });
        }
        Action::Cordon { evacuate: Evacuate::Yes | Evacuate::Forced } => {
            if !machine.holds.iter().any(|hold| matches!(hold.owner, HoldOwner::Evacuation { .. })) {
                machine.holds.push(Hold {
                    owner: HoldOwner::Evacuation { by: operation.id.clone(), caller: operation.caller.clone() },
                    reason: "emptied by a person".into(),
                    since: now,
                });
            }
        }
        Action::Cordon { evacuate: Evacuate::No } => {
            if !machine.holds.iter().any(|hold| hold.owner.is_user()) {
                machine.holds.push(Hold {
                    owner: HoldOwner::User { caller: operation.caller.clone() },
                    reason: "cordoned by a person".into(),
                    since: now,
                });
            }
        }
        Action::Uncordon => machine.holds.retain(|hold| !hold.owner.is_a_persons_to_release()),
        Action::Reimage { .. } | Action::Replace { .. } => install::prepare(machine, operation, now),
        Action::Start | Action::Create | Action::Delete | Action::RestartNode | Action::Validate | Action::Inspect => {}
    }
    if matches!(operation.action, Action::Start | Action::Restart) {
        machine.desired_power = DesiredPower::On;
    }
}

fn cancel(draft: &mut Draft, id: &OperationId, caller: &str, now: Timestamp) -> Result<Option<MachineName>, Refusal> {
    let Some(operation) = draft.after.operations.get(id) else {
        return Err(Refusal {
            rule: Rule::OperationExists,
            message: format!("there is no operation {}", id.short()),
            evidence: vec!["ended operations are forgotten after a day".into()],
            remedy: "`rackwright operation list` names them".into(),
        });
    };
    let mut operation = (**operation).clone();
    if let Some(ended) = &operation.ended {
        return Err(Refusal {
            rule: Rule::OperationRunning,
            message: format!("operation {} cannot be cancelled", id.short()),
            evidence: vec![format!("it ended at {}: {}", ended.at.clock(), ended.result)],
            remedy: format!("nothing to cancel; `rackwright operation show {}` tells how it ended", id.short()),
        });
    }
    operation.cancel.get_or_insert_with(|| Cancel { by: caller.to_owned(), at: now });
    let machine = operation.machine().cloned();
    draft.save_operation(operation);
    Ok(machine)
}

/// Whoever took the machine out of management first has a reason that must not be overwritten.
fn unmanage(draft: &mut Draft, name: &MachineName, caller: &str, reason: &str, now: Timestamp) -> Result<(), Refusal> {
    let mut machine = find_machine(draft, name)?;
    if let Some(evidence) = unmanaged_by(&machine) {
        return Err(Refusal {
            rule: Rule::MachineManaged,
            message: format!("`{name}` cannot be unmanaged"),
            evidence: vec![evidence],
            remedy: format!("nothing to do: nothing is sent to it; `rackwright bmm manage {name} --reason …` lets it be managed again"),
        });
    }
    if let Some(running) = draft.after.running_on(name) {
        return Err(Refusal {
            rule: Rule::OneActionPerMachine,
            message: format!("`{name}` cannot be unmanaged"),
            evidence: vec![being_done(running)],
            remedy: wait_or_cancel(running),
        });
    }
    machine.management = Management::Unmanaged { by: caller.to_owned(), reason: reason.to_owned(), since: now };
    machine.managed_again = None;
    draft.save_machine(machine);
    Ok(())
}

/// No operation runs on a machine that is not managed, so nothing can stand against it.
fn manage(draft: &mut Draft, name: &MachineName, caller: &str, reason: &str, now: Timestamp) -> Result<(), Refusal> {
    let mut machine = find_machine(draft, name)?;
    if machine.management != Management::Managed {
        machine.management = Management::Managed;
        machine.managed_again = Some(ManagedAgain { by: caller.to_owned(), reason: reason.to_owned(), at: now });
        draft.save_machine(machine);
    }
    Ok(())
}
