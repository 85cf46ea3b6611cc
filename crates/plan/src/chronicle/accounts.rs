//! What the activity log says of users' accounts on BMCs: what is asked, each kind of fault that answers, and what is seen.

use model::{ActivityError, ActivityKind, ActivityStatus, BmcAccounts, BmcUser, DeviceAsk, Machine, MachineName, OURSELVES, Part};

use super::{Cause, Event, Scribe};

impl Scribe<'_> {
    pub(super) fn note_accounts(&mut self, machine: &Machine) {
        let before = self.before.machines.get(&machine.name).and_then(|before| before.accounts.as_deref());
        let after = machine.accounts.as_deref();
        if before == after {
            return;
        }
        // What was remembered of another board is forgotten with it, and says nothing.
        let before = before.filter(|before| after.is_none_or(|after| after.board == before.board));
        for (user, known) in after.into_iter().flat_map(|after| &after.users) {
            self.note_user(&machine.name, user, before.and_then(|before| before.users.get(user)), known);
        }
        let users = before.into_iter().flat_map(|before| &before.users);
        for (user, gone) in users.filter(|(user, known)| known.is_ours && is_gone(after, user)) {
            let attempt = gone.ask.as_ref().map_or(1, |asked| asked.attempt);
            let message = format!("the account of user `{user}` is gone from the BMC of `{}`", machine.name);
            let what = ActivityKind::Device { ask: DeviceAsk::DropAccount, attempt };
            self.write_account(&machine.name, Event { what, status: ActivityStatus::Succeeded, message, error: None });
        }
    }

    fn note_user(&mut self, machine: &MachineName, user: &str, before: Option<&BmcUser>, after: &BmcUser) {
        let earlier = before.and_then(|before| before.ask.as_ref());
        if let Some(asked) = &after.ask {
            let what = ActivityKind::Device { ask: asked.ask, attempt: asked.attempt };
            let doing = if asked.ask == DeviceAsk::DropAccount { "remove" } else { "have" };
            let of = format!("the BMC of `{machine}` is asked to {doing} an account for user `{user}`");
            let is_new = earlier.is_none_or(|earlier| earlier.attempt != asked.attempt);
            if is_new {
                let again = if asked.tries > 1 { format!(", attempt {}", asked.tries) } else { String::new() };
                let event = Event { what: what.clone(), status: ActivityStatus::Started, message: format!("{of}{again}"), error: None };
                self.write_account(machine, event);
            }
            let known = earlier.filter(|_| !is_new).and_then(|earlier| earlier.fault.as_ref());
            if let Some(fault) = asked.fault.as_ref().filter(|fault| Some(*fault) != known) {
                let error = Some(ActivityError::Faulted { fault: fault.clone() });
                let event = Event { what, status: ActivityStatus::Failed, message: format!("{of}, and failed: {fault}"), error };
                self.write_account(machine, event);
            }
        }
        if let (Some(applied), Some(asked)) = (&after.applied, earlier.filter(|_| after.ask.is_none())) {
            let message = format!("the BMC of `{machine}` shows the account of user `{user}` as key set `{}` has it", applied.key_set);
            let what = ActivityKind::Device { ask: asked.ask, attempt: asked.attempt };
            self.write_account(machine, Event { what, status: ActivityStatus::Succeeded, message, error: None });
        }
    }

    fn write_account(&mut self, machine: &MachineName, event: Event) {
        let correlation_id = self.uncaused.clone();
        let cause = Cause { caller: OURSELVES, correlation_id: &correlation_id, operation: None };
        self.write(Part::Machine(machine.clone()), &cause, event);
    }
}

fn is_gone(after: Option<&BmcAccounts>, user: &str) -> bool {
    after.is_none_or(|after| !after.users.contains_key(user))
}
