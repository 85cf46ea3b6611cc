//! The sentences of the activity log.

use model::{Ask, DeviceAsk, Fault, Hold, HoldChange, MachineName, Operation, OperationId};

pub(super) fn accepted(ask: &Ask, operation: &OperationId, is_new: bool) -> String {
    let what = match ask {
        Ask::Act { machine, action, .. } => format!("{} of `{machine}`", action.command()),
        Ask::Cancel { .. } | Ask::Unmanage { .. } | Ask::Manage { .. } | Ask::Update { .. } => ask.verb().to_owned(),
    };
    let short = operation.short();
    if is_new {
        format!("{what} was accepted as operation {short}")
    } else {
        format!("{what} was asked for again by the same request; it is operation {short}")
    }
}

pub(super) fn done(ask: &Ask) -> String {
    match ask {
        Ask::Act { machine, action, .. } => format!("`{machine}` was {}", action.participle()),
        Ask::Cancel { operation } => format!("operation {} is to be cancelled at its next safe point", operation.short()),
        Ask::Unmanage { machine, reason } => format!("`{machine}` was taken out of management: {reason}"),
        Ask::Manage { machine, reason } => format!("`{machine}` may be managed again: {reason}"),
        Ask::Update { machine, tags, details, .. } => {
            let written = [tags.as_ref().map(|_| "tags"), details.as_ref().map(|_| "details")];
            match written.into_iter().flatten().collect::<Vec<_>>().as_slice() {
                [] => format!("nothing of `{machine}` was written"),
                written => format!("the {} of `{machine}` were written", written.join(" and ")),
            }
        }
    }
}

pub(super) fn resumed(operation: &Operation) -> String {
    let name = &operation.machine;
    format!("{} of `{name}` was taken up again by a new keeper; its deadline is {}", operation.action.command(), operation.deadline_at)
}

pub(super) fn asked(machine: &MachineName, ask: DeviceAsk, attempt: u32) -> String {
    format!("the {} of `{machine}` is asked for {}{}", device(ask), with_article(ask), again(attempt))
}

pub(super) fn faulted(machine: &MachineName, ask: DeviceAsk, attempt: u32, fault: &Fault) -> String {
    format!("the {} of `{machine}` was asked for {}{}, and failed: {fault}", device(ask), with_article(ask), again(attempt))
}

pub(super) fn shown(machine: &MachineName, ask: DeviceAsk) -> String {
    format!("the {} of `{machine}` shows the {ask} that it was asked for", device(ask))
}

pub(super) fn no_longer_asked(machine: &MachineName, ask: DeviceAsk) -> String {
    format!("the {} of `{machine}` is no longer asked for {}", device(ask), with_article(ask))
}

pub(super) fn hold(machine: &MachineName, hold: &Hold, change: HoldChange) -> String {
    let Hold { owner, reason, .. } = hold;
    match change {
        HoldChange::Placed => format!("`{machine}` is held by {owner}: {reason}"),
        HoldChange::Released => format!("`{machine}` is no longer held by {owner}"),
    }
}

fn device(ask: DeviceAsk) -> &'static str {
    match ask {
        DeviceAsk::GracefulOff | DeviceAsk::ForceOff | DeviceAsk::PowerOn => "BMC",
        DeviceAsk::Cordon | DeviceAsk::Uncordon => "node",
    }
}

fn with_article(ask: DeviceAsk) -> String {
    let article = if ask == DeviceAsk::Uncordon { "an" } else { "a" };
    format!("{article} {ask}")
}

fn again(attempt: u32) -> String {
    if attempt > 1 { format!(", attempt {attempt}") } else { String::new() }
}
