//! Reimage and replace: a machine is taken down, gets an operating system, and joins again.
//!
//! What people are shown as one step is several here, each with one effect that is looked for: [`phase_of`] tells which belong
//! together. The token by which the new system joins is made last before it starts: it lives for an hour, and the agent may take
//! that long.

mod attempt;
pub(crate) mod clean_up;
mod cloud_init;
mod cordon;
mod etcd;
mod firmware;
mod guards;
mod insist;
mod inspect;
mod login;
mod looking;
mod media;
mod missed;
mod phases;
mod power;
mod prepare;
mod replacement;
mod reports;
mod runtimes;
mod survey;
mod target;
mod validate;
mod volumes;
mod write;

use model::{Action, DeviceAsk, Fact, Failure, Machine, Operation, Party, StepKind, StoragePolicy, ValidationResult, Wait};

use crate::draft::With;
use crate::operate::{Bench, Finding};
use crate::snapshot::Snapshot;

pub(crate) use attempt::{current, step_began_at};
pub(crate) use etcd::earlier_peer_url;
pub use guards::is_install_url_useless;
pub(crate) use guards::{awaits_looks, hinges_on_etcd, is_etcd_known, unknowns};
pub use inspect::INSPECTED_AT_ONCE;
pub(crate) use inspect::{inspect, plan_inspection};
pub(crate) use missed::is_started_again;
pub use phases::{Phase, phase_of};
pub(crate) use prepare::{installs, is_undone, note_ask, note_end, note_fact, note_step_done, prepare};
pub use replacement::{ReplacementFlaw, SERIAL_NUMBER_MAX, check_replacement};
pub(crate) use reports::report;
pub(crate) use runtimes::{forget_runtime, import_runtime};
pub(crate) use survey::runtime;
pub(crate) use validate::{note_login, validation_since};

/// The steps of a reimage.
pub(crate) const REIMAGE: [StepKind; 18] = [
    StepKind::Survey,
    StepKind::Cordon,
    StepKind::LeaveEtcd,
    StepKind::PowerOff,
    StepKind::InsertMedia,
    StepKind::BootAgent,
    StepKind::AgentOn,
    StepKind::WriteImage,
    StepKind::AgentOff,
    StepKind::EjectMedia,
    StepKind::BootDisk,
    StepKind::JoinEtcd,
    StepKind::MintJoinToken,
    StepKind::SystemOn,
    StepKind::PhoneHome,
    StepKind::Rejoin,
    StepKind::PromoteEtcd,
    StepKind::DropJoinToken,
];

/// The steps of a replace. The vote is given up only when it is known that the new hardware answers, and is what it should be.
pub(crate) const REPLACE: [StepKind; 23] = [
    StepKind::Survey,
    StepKind::Cordon,
    StepKind::Login,
    StepKind::ValidateHardware,
    StepKind::LeaveEtcd,
    StepKind::PowerOff,
    StepKind::AwaitOff,
    StepKind::DiscardVolumes,
    StepKind::MakeOsVolume,
    StepKind::InsertMedia,
    StepKind::BootAgent,
    StepKind::AgentOn,
    StepKind::WriteImage,
    StepKind::AgentOff,
    StepKind::EjectMedia,
    StepKind::BootDisk,
    StepKind::JoinEtcd,
    StepKind::MintJoinToken,
    StepKind::SystemOn,
    StepKind::PhoneHome,
    StepKind::Rejoin,
    StepKind::PromoteEtcd,
    StepKind::DropJoinToken,
];

pub(crate) fn examine(bench: &Bench<'_>, step: StepKind) -> Finding {
    clean_up::best_effort(bench, examined(bench, step))
}

fn examined(bench: &Bench<'_>, step: StepKind) -> Finding {
    let before_writing = matches!(step, StepKind::InsertMedia | StepKind::BootAgent | StepKind::AgentOn);
    if let Some(given_up) = before_writing.then(|| write::given_up(bench)).flatten() {
        return given_up;
    }
    match step {
        StepKind::Survey => survey::survey(bench),
        StepKind::LeaveEtcd => etcd::leave(bench),
        StepKind::Login => login::login(bench),
        StepKind::ValidateHardware => validate::validate(bench),
        StepKind::AwaitOff => volumes::await_off(bench),
        StepKind::DiscardVolumes => volumes::discard(bench),
        StepKind::MakeOsVolume => volumes::make_os_volume(bench),
        StepKind::InsertMedia => media::insert(bench),
        StepKind::BootAgent => media::boot_agent(bench),
        StepKind::AgentOn => power::on(bench, DeviceAsk::AgentOn),
        StepKind::WriteImage => write::write_image(bench),
        StepKind::AgentOff => power::agent_off(bench),
        StepKind::EjectMedia => media::eject(bench),
        StepKind::BootDisk => media::boot_disk(bench),
        StepKind::JoinEtcd => etcd::join(bench),
        StepKind::MintJoinToken => cloud_init::mint_token(bench),
        StepKind::SystemOn => power::on(bench, DeviceAsk::SystemOn),
        StepKind::PhoneHome => cloud_init::phone_home(bench),
        StepKind::PromoteEtcd => etcd::promote(bench),
        StepKind::DropJoinToken => cloud_init::drop_token(bench),
        other => not_a_step(other),
    }
}

/// What an installation does, or waits for, beside what its step comes to. `waited` is what it waited for before.
pub(crate) fn attend(bench: &Bench<'_>, step: StepKind, finding: Finding, waited: Option<&Wait>) -> Finding {
    if !installs(bench.operation.action) {
        return finding;
    }
    let finding = etcd::leave_by_fresh_list(bench, step, finding);
    let finding = clean_up::best_effort(bench, firmware::spare_the_firmware(bench, finding, waited));
    let waits = matches!(finding, Finding::Wait { .. } | Finding::Ask(_));
    if let Some(wait) = looking::unanswered(bench, Party::Undercloud).filter(|_| waits && cordon::may_be_back(step)) {
        return wait;
    }
    let finding = cloud_init::renew_token(bench, step, finding);
    cordon::keep_cordoned(bench, step, finding)
}

/// The inspection of a site is no step of a machine, and the others are looked after elsewhere.
fn not_a_step(step: StepKind) -> Finding {
    Finding::Fail { failure: Failure::DeviceUnsupported, because: format!("an installation has no step {}", step.title()) }
}

/// What a step finds worth writing down before anything is asked.
pub(crate) fn note(bench: &Bench<'_>, step: StepKind) -> Option<Fact> {
    match step {
        StepKind::Survey => target::note(bench),
        StepKind::LeaveEtcd if bench.machine.is_active_kcp() => etcd::note_leaving(bench),
        StepKind::InsertMedia | StepKind::BootAgent => survey::note_attempt(bench),
        StepKind::ValidateHardware => validate::note(bench),
        StepKind::DiscardVolumes => volumes::note_discarding(bench),
        StepKind::MakeOsVolume => volumes::note_os_volume(bench),
        StepKind::WriteImage => missed::note_old_boot(bench),
        _ => None,
    }
}

/// What an ask is about, beyond the machine.
pub(crate) fn particulars(snapshot: &Snapshot, operation: &Operation, ask: DeviceAsk) -> With {
    let install = || {
        let round = current(operation)?;
        Some(With::Install { attempt: round.attempt(operation)?, way: round.way })
    };
    let with = match ask {
        DeviceAsk::MintJoinToken
        | DeviceAsk::DropJoinToken
        | DeviceAsk::InsertMedia
        | DeviceAsk::BootFromMedia
        | DeviceAsk::BootFromHttp
        | DeviceAsk::BootFromPxe => install(),
        DeviceAsk::LeaveEtcd | DeviceAsk::PromoteEtcd => etcd::member_id(snapshot, operation, ask).map(|id| With::Member { id }),
        DeviceAsk::DeleteVolume => volumes::discarding(operation).map(|volume| With::Volume { path: volume.path.to_owned() }),
        DeviceAsk::MakeOsVolume => target::of(operation).volume.map(|name| With::OsVolume { name }),
        DeviceAsk::JoinEtcd => etcd::peer_url(snapshot, operation).map(|peer_url| With::Learner { peer_url }),
        _ => None,
    };
    with.unwrap_or(With::Nothing)
}

/// Whether a step that was left out is worth telling: that a compute machine has no member of etcd is not, nor that volumes were
/// kept as was asked for.
pub(crate) fn is_skip_told(operation: &Operation, step: StepKind) -> bool {
    let discards = matches!(operation.action, Action::Replace { storage: StoragePolicy::DiscardAll, .. });
    match step {
        StepKind::DiscardVolumes => discards,
        StepKind::Cordon | StepKind::DropJoinToken | StepKind::MakeOsVolume => true,
        _ => !installs(operation.action) || phase_of(operation.action, step).is_none(),
    }
}

/// What a person should do after a validation that succeeded in finding something wrong.
pub(crate) fn next_after_validation(operation: &Operation, machine: &Machine) -> Option<String> {
    let is_wrong = operation.action == Action::Validate && validate::result_of(operation)?.0 == ValidationResult::Fail;
    is_wrong.then(|| format!("rackwright bmm advise {} --symptom hardware", machine.name))
}

/// The words of a success.
pub(crate) fn done_message(operation: &Operation, machine: &Machine) -> Option<String> {
    if let Some(message) = validate::done_message(operation, machine) {
        return Some(message);
    }
    let round = current(operation)?;
    let (name, participle) = (&machine.name, operation.action.participle());
    Some(format!("`{name}` was {participle} with runtime {}; it stays cordoned: rackwright bmm uncordon {name}", round.version))
}
