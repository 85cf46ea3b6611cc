//! Every decision. Pure: no I/O, no clock, no randomness; the same snapshot and the same `now` give the same plan.
//!
//! [`plan`] is the only way in. It judges requests, moves operations on, keeps nodes as their machines' holds say,
//! and leaves a typed wait wherever it leaves things alone.

mod advance;
mod advice;
mod asking;
mod baseline;
mod cadence;
mod chronicle;
mod contact;
mod control_plane;
mod converge;
mod disks;
mod draft;
mod ending;
mod enroll;
mod errand_invariants;
mod evacuate;
mod fault;
mod guard;
mod install;
mod install_invariants;
pub mod invariants;
mod key_sets;
mod left_behind;
mod membership;
mod node_step;
mod objection;
mod operate;
mod overload;
mod placement;
mod pods;
mod power_step;
mod preview;
mod progress;
mod readiness;
mod redescribe;
mod requests;
mod secrets;
mod seen;
mod sight;
mod snapshot;
mod sweep;
mod tenant_cluster;
mod tenants;
mod update;
pub mod validation;
mod verify;
mod vm;
mod words;

use std::collections::BTreeSet;

use model::{MachineName, TenantClusterName, Timestamp, VmName};

pub use advice::advise;
pub use cadence::{Ear, backoff, bmc_pause, busy_since, may_be_hastened, next_poll, poll_after_event, retry_at, should_listen};
pub use chronicle::{chronicle, chronicle_enrolment, chronicle_objections};
pub use contact::known_silence;
pub use draft::{Changes, ErrandStep, LookStep, Plan, Step, With};
pub use enroll::{Enrolment, Stored, enroll};
pub use evacuate::forget_vm;
pub use fault::{Reaction, react, speaks_of_the_bmc, speaks_of_the_line};
pub use guard::MAX_RUNNING_OPERATIONS;
pub use install::{INSPECTED_AT_ONCE, Phase, ReplacementFlaw, SERIAL_NUMBER_MAX, check_replacement, is_install_url_useless, phase_of};
pub use key_sets::{
    KeySetDetail, KeySetFlaw, KeySetStatus, UserStanding, UserStatus, check_key_set, check_key_set_change, is_key_set_valid, key_set_status,
};
pub use membership::{Voteless, voteless};
pub use objection::{Busy, Objection};
pub use operate::steps_of;
pub use overload::{Effort, LISTS_BELOW, LISTS_MAX, LISTS_OF_CALLER_MAX, Load, READS_BELOW, Shed, may_enter};
pub use placement::{Weakness, weaknesses};
pub use preview::PREVIEW_PODS_MAX;
pub use progress::{Progress, StepProgress, StepStatus, progress_of};
pub use readiness::{Lack, Life, StoreSight, Vitals, readiness};
pub use redescribe::{Difference, redescribe};
pub use snapshot::Snapshot;
pub use tenant_cluster::{TenantDetail, TenantStatusWords, agent_pool_status, tenant_cluster_status, tenant_node_status};
pub use tenants::{Inside, Tenants};
pub use update::{DETAILS_MAX, Flaw, TAG_NAME_MAX, TAG_VALUE_MAX, TAGS_MAX, check_conditions, check_details, check_tags};
pub use verify::verify;
pub use vm::{
    SpecFlaw, VM_CORES_MAX, VM_CORES_MIN, VM_MEMORY_GB_MAX, VM_MEMORY_GB_MIN, VmDetail, VmPower, VmStatusWords, check_vm_spec, vm_status,
};
pub use words::{
    ProvisioningState, RackStatus, cluster_message, machine_message, problems, provisioning_state, rack_status, tells_of_machine,
};

use draft::Draft;

/// What to look at. What is not visited keeps the waits and the revisit times it has.
#[derive(Clone, Debug)]
pub enum Visit {
    All,
    Only(Visited),
}

/// What changed, is busy, or whose revisit time has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visited {
    pub machines: BTreeSet<MachineName>,
    /// Virtual machines, those of tenant nodes among them.
    pub vms: BTreeSet<VmName>,
    pub tenant_clusters: BTreeSet<TenantClusterName>,
}

impl Visited {
    pub fn machines(machines: impl IntoIterator<Item = MachineName>) -> Visited {
        Visited { machines: machines.into_iter().collect(), ..Visited::default() }
    }
}

/// What to write and to ask now.
pub fn plan(snapshot: &Snapshot, visit: &Visit, now: Timestamp) -> Plan {
    let mut draft = Draft::new(snapshot);
    contact::plan_connection(&mut draft, now);
    let mut visited = requests::plan_requests(&mut draft, now);
    match visit {
        Visit::All => visited.extend(snapshot.machines.keys().cloned()),
        Visit::Only(only) => visited.extend(only.machines.iter().cloned()),
    }
    // What a person did to a virtual machine may be a machine's to forget.
    visited.extend(draft.plan.changes.machines.keys().cloned());
    visited.extend(control_plane::concerned(&draft.after, &visited));
    for machine in &visited {
        operate::plan_machine(&mut draft, machine, now);
    }
    plan_inspection(&mut draft, now);
    let of_tenants = vm::visited(&draft.after, visit, &visited);
    vm::plan_vms(&mut draft, &of_tenants.vms, now);
    for machine in vm::awaited_on(&draft) {
        operate::plan_machine(&mut draft, &machine, now);
    }
    tenant_cluster::plan_tenant_clusters(&mut draft, &of_tenants.tenant_clusters, now);
    key_sets::plan_upkeep(&mut draft, now);
    sweep::plan_sweep(&mut draft, now);
    draft.plan
}

/// A validation that begins or is stopped is planned at once, and its end may make room for the next.
fn plan_inspection(draft: &mut Draft, now: Timestamp) {
    loop {
        let touched = install::plan_inspection(draft, now);
        if touched.is_empty() {
            return;
        }
        for machine in touched {
            operate::plan_machine(draft, &machine, now);
        }
    }
}
