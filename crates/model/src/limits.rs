//! Every span a decision uses, in one value: named, argued for, settable per cluster, and scaled together.

use serde::{Deserialize, Serialize};

use crate::time::Span;

/// No deadline gets shorter than this, however fast the simulated world runs.
///
/// The control plane itself still works at wall speed: a commit, a request and a poll must fit in.
pub const SHORTEST_DEADLINE: Span = Span::seconds(10);

/// An evacuation's parts get no shorter than these.
///
/// A node counts as drained five seconds after its drain began, at any speed, so a shorter drain would always be given up. An
/// action that evacuates has these and a [`SHORTEST_DEADLINE`] more for what else it does.
pub const SHORTEST_DRAIN: Span = Span::seconds(6);
pub const SHORTEST_VM_STOP: Span = Span::seconds(4);

/// No poll comes more often than this: a device must be able to breathe.
pub const SHORTEST_POLL: Span = Span::millis(250);

/// The spans of one cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// From acceptance to failure, per action.
    pub start_timeout: Span,
    pub power_off_timeout: Span,
    pub restart_timeout: Span,
    pub cordon_timeout: Span,
    pub evacuate_timeout: Span,
    pub reimage_timeout: Span,
    pub replace_timeout: Span,
    pub validate_timeout: Span,
    /// Of a virtual machine: create; start, power-off, restart, reimage, delete; and a tenant node's restart.
    pub vm_create_timeout: Span,
    pub vm_timeout: Span,
    pub restart_node_timeout: Span,

    /// How long an evacuation waits for pods to leave, and for virtual machines to shut down before they are forced off.
    ///
    /// Twenty and ten minutes, so that emptying a rack's machines takes at most half an hour.
    pub drain_timeout: Span,
    pub vm_stop_timeout: Span,
    /// The same for a restart or a power-off, which have less time.
    pub power_drain_timeout: Span,
    pub power_vm_stop_timeout: Span,
    /// How long a tenant node, or a tenant cluster's API, may be silent before it is passed over.
    pub unreachable_timeout: Span,
    /// Between two evictions of the same pod.
    pub evict_retry: Span,
    /// How late a request to KubeVirt or to a tenant's API may still take effect.
    pub errand_settle: Span,

    /// How long a machine that was started for it may take until its agent calls; the agent to write the image and read it back,
    /// counted from its latest word; and the new system to phone home.
    ///
    /// Half an hour outlasts a full memory test and a slow link; a third of the whole action is left for a second look.
    pub agent_timeout: Span,
    pub write_timeout: Span,
    pub phone_home_timeout: Span,
    /// How long a machine may be off while its agent should be writing, before the installation is given up.
    ///
    /// Three minutes outlast a BMC that takes a restart of its own for a machine that is off.
    pub agent_off_timeout: Span,
    /// How long a machine whose installation has failed may take to be switched off and set to start from its disk.
    pub clean_up_timeout: Span,
    /// How long a new member of etcd may take to catch up before its operation fails.
    pub etcd_timeout: Span,
    /// How late a change of virtual media or boot source may still take effect.
    pub bmc_settle: Span,
    /// The same for making or deleting a volume, which is a job of the controller's.
    ///
    /// Controllers take minutes over large volumes, and call a second request an error.
    pub volume_settle: Span,

    /// How long an operating system may take to shut down before its power is cut.
    ///
    /// Ten minutes lets a host with large guests write its memory back; the whole action has forty.
    pub graceful_timeout: Span,
    /// How late a BMC may still obey a power request. An unseen effect is asked for again only after this, so that
    /// a late Off cannot land after our On.
    pub power_settle: Span,
    /// The same for a patch of a node, whose effect is seen through the watch.
    pub node_settle: Span,

    /// What is usual; longer is shown as late, and nothing else follows from it.
    pub expected_power_off: Span,
    pub expected_power_on: Span,
    pub expected_rejoin: Span,
    pub expected_cordon: Span,
    pub expected_drain: Span,
    pub expected_vm_stop: Span,
    pub expected_vm_start: Span,
    pub expected_agent: Span,
    pub expected_write: Span,
    pub expected_phone_home: Span,
    pub expected_validation: Span,

    /// How long a node may go on being Ready with a boot that a BMC said had ended, before the BMC's word is doubted.
    ///
    /// Kubernetes calls a silent kubelet Unknown after 40 s, so five minutes of Ready prove that it is alive.
    pub dead_boot_doubt: Span,

    /// Without an answer from the undercloud for this long, the cluster shows `Timeout`, then `Disconnected`.
    pub connection_timeout: Span,
    pub connection_lost: Span,

    /// How often a BMC is looked at when nothing is happening, and when something is.
    pub idle_poll: Span,
    pub busy_poll: Span,
    /// How often the undercloud must be heard from.
    pub contact_poll: Span,

    /// Between two tries at a device that does not answer: doubled from the first to the last.
    pub first_retry: Span,
    pub last_retry: Span,

    /// How often the users of key sets are checked, and the accounts of BMCs compared with them.
    pub key_sets_every: Span,

    /// Ended operations are kept this long, for `actionStates` history and for requests that are sent twice.
    pub operation_retention: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            start_timeout: Span::minutes(30),
            power_off_timeout: Span::minutes(40),
            restart_timeout: Span::minutes(40),
            cordon_timeout: Span::minutes(10),
            evacuate_timeout: Span::minutes(35),
            reimage_timeout: Span::hours(3),
            replace_timeout: Span::hours(4),
            validate_timeout: Span::minutes(30),
            agent_timeout: Span::minutes(30),
            write_timeout: Span::minutes(30),
            phone_home_timeout: Span::minutes(30),
            agent_off_timeout: Span::minutes(3),
            clean_up_timeout: Span::minutes(10),
            etcd_timeout: Span::minutes(20),
            bmc_settle: Span::minutes(1),
            volume_settle: Span::minutes(5),
            vm_create_timeout: Span::minutes(30),
            vm_timeout: Span::minutes(15),
            restart_node_timeout: Span::minutes(5),
            drain_timeout: Span::minutes(20),
            vm_stop_timeout: Span::minutes(10),
            power_drain_timeout: Span::minutes(12),
            power_vm_stop_timeout: Span::minutes(8),
            unreachable_timeout: Span::minutes(5),
            evict_retry: Span::seconds(5),
            errand_settle: Span::seconds(30),
            graceful_timeout: Span::minutes(10),
            power_settle: Span::minutes(2),
            node_settle: Span::seconds(30),
            expected_power_off: Span::minutes(3),
            expected_power_on: Span::minutes(2),
            expected_rejoin: Span::minutes(10),
            expected_cordon: Span::seconds(30),
            expected_drain: Span::minutes(2),
            expected_vm_stop: Span::minutes(2),
            expected_vm_start: Span::minutes(3),
            expected_agent: Span::minutes(10),
            expected_write: Span::minutes(10),
            expected_phone_home: Span::minutes(10),
            expected_validation: Span::minutes(5),
            dead_boot_doubt: Span::minutes(5),
            connection_timeout: Span::minutes(2),
            connection_lost: Span::minutes(5),
            idle_poll: Span::seconds(60),
            busy_poll: Span::seconds(2),
            contact_poll: Span::seconds(20),
            first_retry: Span::seconds(2),
            last_retry: Span::minutes(1),
            key_sets_every: Span::hours(4),
            operation_retention: Span::hours(24),
        }
    }
}

impl Limits {
    /// The same limits for a world that runs `speed` times faster than ours.
    pub fn scaled(&self, speed: f64) -> Limits {
        let deadline = |span: Span| span.scaled(speed, SHORTEST_DEADLINE);
        let evacuating = |span: Span| span.scaled(speed, SHORTEST_DEADLINE + SHORTEST_DRAIN + SHORTEST_VM_STOP);
        // Three waits of an installation fit in, each with its own shortest.
        let installing = |span: Span| span.scaled(speed, SHORTEST_DEADLINE.times(6) + SHORTEST_DRAIN + SHORTEST_VM_STOP);
        let spell = |span: Span| span.scaled(speed, Span::seconds(1));
        let poll = |span: Span| span.scaled(speed, SHORTEST_POLL);
        Limits {
            start_timeout: deadline(self.start_timeout),
            power_off_timeout: evacuating(self.power_off_timeout),
            restart_timeout: evacuating(self.restart_timeout),
            cordon_timeout: deadline(self.cordon_timeout),
            evacuate_timeout: evacuating(self.evacuate_timeout),
            reimage_timeout: installing(self.reimage_timeout),
            replace_timeout: installing(self.replace_timeout),
            validate_timeout: deadline(self.validate_timeout),
            agent_timeout: deadline(self.agent_timeout),
            write_timeout: deadline(self.write_timeout),
            phone_home_timeout: deadline(self.phone_home_timeout),
            agent_off_timeout: deadline(self.agent_off_timeout),
            clean_up_timeout: deadline(self.clean_up_timeout),
            etcd_timeout: deadline(self.etcd_timeout),
            bmc_settle: spell(self.bmc_settle),
            volume_settle: spell(self.volume_settle),
            vm_create_timeout: deadline(self.vm_create_timeout),
            vm_timeout: deadline(self.vm_timeout),
            restart_node_timeout: deadline(self.restart_node_timeout),
            drain_timeout: self.drain_timeout.scaled(speed, SHORTEST_DRAIN),
            vm_stop_timeout: self.vm_stop_timeout.scaled(speed, SHORTEST_VM_STOP),
            power_drain_timeout: self.power_drain_timeout.scaled(speed, SHORTEST_DRAIN),
            power_vm_stop_timeout: self.power_vm_stop_timeout.scaled(speed, SHORTEST_VM_STOP),
            unreachable_timeout: deadline(self.unreachable_timeout),
            evict_retry: poll(self.evict_retry),
            errand_settle: spell(self.errand_settle),
            graceful_timeout: deadline(self.graceful_timeout),
            power_settle: spell(self.power_settle),
            node_settle: spell(self.node_settle),
            expected_power_off: spell(self.expected_power_off),
            expected_power_on: spell(self.expected_power_on),
            expected_rejoin: spell(self.expected_rejoin),
            expected_cordon: spell(self.expected_cordon),
            expected_drain: spell(self.expected_drain),
            expected_vm_stop: spell(self.expected_vm_stop),
            expected_vm_start: spell(self.expected_vm_start),
            expected_agent: spell(self.expected_agent),
            expected_write: spell(self.expected_write),
            expected_phone_home: spell(self.expected_phone_home),
            expected_validation: spell(self.expected_validation),
            dead_boot_doubt: deadline(self.dead_boot_doubt),
            connection_timeout: deadline(self.connection_timeout),
            connection_lost: self.connection_lost.scaled(speed, SHORTEST_DEADLINE.times(2)),
            idle_poll: self.idle_poll.scaled(speed, Span::seconds(5)),
            busy_poll: poll(self.busy_poll),
            contact_poll: self.contact_poll.scaled(speed, Span::seconds(2)),
            first_retry: poll(self.first_retry),
            last_retry: self.last_retry.scaled(speed, Span::seconds(2)),
            key_sets_every: self.key_sets_every.scaled(speed, Span::minutes(1)),
            // What a person looks up later is not a matter of the world's speed.
            operation_retention: self.operation_retention,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_sixty_times_no_deadline_is_under_ten_seconds() {
        let limits = Limits::default().scaled(60.0);
        for deadline in [limits.start_timeout, limits.power_off_timeout, limits.restart_timeout, limits.cordon_timeout] {
            assert!(deadline >= SHORTEST_DEADLINE, "{deadline}");
        }
        assert_eq!(limits.restart_timeout, Span::seconds(40));
        assert_eq!(limits.operation_retention, Span::hours(24));
    }

    #[test]
    fn at_any_speed_an_evacuation_ends_before_its_action_fails() {
        for speed in [1.0, 10.0, 60.0, 100.0, 200.0, 600.0, 1200.0, 100_000.0] {
            let limits = Limits::default().scaled(speed);
            let alone = limits.drain_timeout + limits.vm_stop_timeout;
            let within = limits.power_drain_timeout + limits.power_vm_stop_timeout;
            assert!(limits.evacuate_timeout > alone, "{speed}: {limits:?}");
            assert!(limits.restart_timeout > within && limits.power_off_timeout > within, "{speed}: {limits:?}");
        }
    }

    #[test]
    fn at_real_speed_nothing_changes() {
        assert_eq!(Limits::default().scaled(1.0), Limits::default());
    }
}
