//! What a machine asks over the network, when, and what follows from the answers.

use super::stage::{AgentRun, Effect, Findings, Stage};
use super::{Call, Errand, Outcome};
use crate::fault::FaultKind;
use crate::hardware::{BootSource, Contents, FirstBoot, Setup, System};
use crate::machine::{Disk, Host, Membership};
use crate::site::World;
use crate::time::Instant;

impl World {
    /// Where the machine's firmware would look first now.
    pub(crate) fn boot_source(&self, index: usize) -> BootSource {
        let hardware = &self.states[index].hardware;
        if self.faults.is_active(FaultKind::BootsOldDisk, index) { BootSource::Disk } else { hardware.boot.choose(&hardware.media) }
    }

    pub(crate) fn disk(&self, index: usize) -> Disk {
        match self.states[index].hardware.volumes.system() {
            None => Disk::Empty,
            Some(System { setup: Setup::Joined, .. }) => Disk::Bootable(Membership::Member),
            Some(_) => Disk::Bootable(Membership::Stranger),
        }
    }

    /// Whether somebody wants to ask something.
    pub fn has_errands(&self) -> bool {
        !self.calling.is_empty()
    }

    /// What machines want to ask since the last call. Each is to be finished with [`World::finish_errand`].
    pub fn take_errands(&mut self) -> Vec<Call> {
        let calling = std::mem::take(&mut self.calling);
        let call = |index: usize| Some(Call { machine: index, number: self.states[index].machine.call, errand: self.errand(index)? });
        calling.into_iter().filter_map(call).collect()
    }

    /// Tells a machine what came of its errand. One that has lost its power since then does not hear it.
    pub fn finish_errand(&mut self, machine: usize, number: u64, outcome: Outcome, now: Instant) {
        self.advance(now);
        let now = self.now;
        if self.states[machine].machine.call != number {
            return;
        }
        self.states[machine].machine.call += 1;
        self.take_outcome(machine, outcome, now);
        self.unsaved.machines.insert(machine);
        self.reschedule(machine);
        self.advance(now);
    }

    /// Machines whose questions nobody answered before the simulator stopped ask again.
    pub(crate) fn resume_errands(&mut self) {
        for index in 0..self.states.len() {
            if self.states[index].machine.calls_at.is_none() && self.errand(index).is_some() {
                self.calling.insert(index);
            }
        }
    }

    fn errand(&self, index: usize) -> Option<Errand> {
        match &self.states[index].machine.host {
            Host::Agent(run) => {
                if let Some(session) = run.stage.choosing() {
                    return Some(Errand::SendInventory { session: session.clone(), found: self.found_parts(index) });
                }
                let machines = self.layout.machines();
                let thief = &machines[(index + 1) % machines.len()].name;
                run.errand(thief, self.faults.is_active(FaultKind::ImageWrong, index))
            }
            Host::Up { membership: Membership::Stranger, .. } => self.first_boot_errand(index),
            _ => None,
        }
    }

    /// It is time for what runs on a machine to call somebody.
    pub(crate) fn machine_calls(&mut self, index: usize, at: Instant) {
        if self.is_mute(index) {
            self.states[index].machine.calls_at = Some(at + self.pace.call_again);
            return;
        }
        if let Host::Up { .. } = self.states[index].machine.host {
            return self.first_boot_goes_on(index, at);
        }
        let Host::Agent(run) = &mut self.states[index].machine.host else { return };
        if let Stage::Writing(session, fetched, writing) = &run.stage
            && writing.is_last()
        {
            run.stage = Stage::FetchingSeed(session.clone(), fetched.clone());
        }
        let is_fetching = matches!(run.stage, Stage::FetchingImage { .. });
        if is_fetching && self.faults.is_active(FaultKind::ImageUnreachable, index) {
            self.take_outcome(index, Outcome::Silence { why: "no route to host".to_owned() }, at);
        } else {
            self.calling.insert(index);
        }
    }

    /// Whether faults keep what runs on a machine from calling anybody.
    fn is_mute(&self, index: usize) -> bool {
        let has = |kind| self.faults.is_active(kind, index);
        let is_silenced = match &self.states[index].machine.host {
            Host::Agent(run) if matches!(run.stage, Stage::Fetching) => false,
            Host::Agent(run) => matches!(run.stage, Stage::Exchanging(_)) && has(FaultKind::AgentNeverCalls),
            _ => has(FaultKind::NeverPhonesHome),
        };
        is_silenced || has(FaultKind::HostHangs) || has(FaultKind::HostNetworkLoss)
    }

    fn take_outcome(&mut self, index: usize, outcome: Outcome, at: Instant) {
        match &self.states[index].machine.host {
            Host::Agent(run) => {
                let run = (**run).clone();
                self.agent_goes_on(index, run, outcome, at);
            }
            Host::Up { .. } => self.first_boot_hears(index, &outcome, at),
            _ => {}
        }
    }

    fn agent_goes_on(&mut self, index: usize, run: AgentRun, outcome: Outcome, at: Instant) {
        let disks = run.stage.choosing().map(|session| self.choose_disks(index, session));
        let found = Findings {
            pace: &self.pace,
            now: at,
            disks,
            is_token_stolen: self.faults.is_active(FaultKind::TokenStolen, index),
            is_token_copied: self.faults.is_active(FaultKind::TokenUsedTwice, index),
        };
        let next = run.stage.clone().after(outcome, &found);
        let machine = &mut self.states[index].machine;
        machine.calls_at = next.calls_at;
        machine.host = Host::Agent(Box::new(AgentRun { stage: next.stage, ..run }));
        match next.effect {
            None => {}
            Some(Effect::BootDisk) => self.with_machine(index, |machine, around| machine.boot_disk(at, around)),
            Some(Effect::Wipe { disks }) => {
                for disk in disks {
                    self.hardware_mut(index).volumes.write(disk, Contents::Nothing);
                }
            }
            Some(Effect::Erase { volume }) => {
                self.hardware_mut(index).volumes.write(volume, Contents::Nothing);
                // What etcd wrote lay beside the system, and so did its configuration.
                self.wipe_etcd(index, at);
                self.configure_etcd(index, None, at);
            }
            Some(Effect::WriteSystem { fetched, first_boot }) => {
                self.configure_etcd(index, first_boot.etcd.clone(), at);
                let system = System { image: Some(fetched.sha256), release: fetched.release, setup: first_setup(*first_boot) };
                self.hardware_mut(index).volumes.write(fetched.volume, Contents::System(Box::new(system)));
            }
        }
    }

    /// The volumes of a machine by name, and its drives without one that were written to, with what tells their contents apart: the witness of what a wipe spared.
    pub fn volume_digests(&self, machine: usize) -> Vec<(String, String)> {
        self.hardware(machine).volumes.digests()
    }
}

/// A seed that says nothing about phoning home goes on with what else it says.
fn first_setup(first_boot: FirstBoot) -> Setup {
    if first_boot.phone_home.is_some() { Setup::PhoningHome(first_boot) } else { Setup::Joining(first_boot) }
}
