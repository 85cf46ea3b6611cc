//! What is remembered of an emptied machine, and what makes it forgotten.

use model::{Machine, VmName};

/// A person has done something to the virtual machine since: how it is from then on is theirs to say, and nothing of it is
/// brought back.
pub(crate) fn forget_vm(machine: &mut Machine, vm: &VmName) {
    let Some(evacuated) = &mut machine.evacuated else { return };
    evacuated.vms.retain(|stopped| stopped.vm.name != *vm);
    if evacuated.is_empty() {
        machine.evacuated = None;
    }
}
