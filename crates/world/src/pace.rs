//! How long things take in the simulated site.

use crate::time::Span;

/// The shortest lease interval at any speed.
///
/// A sped-up site would otherwise spend its cores on renewals that nobody looks at.
const LEASE_EVERY_FLOOR: Span = Span::seconds(1);

/// The shortest pause between two calls of somebody who does not answer, at any speed: whom it calls runs in wall time.
const CALL_AGAIN_FLOOR: Span = Span::seconds(1);

/// How many missed renewals make a node `Unknown`: kube-controller-manager's 40 s grace over the kubelet's 10 s.
const GRACE_IN_LEASES: i64 = 4;

/// Every duration of the physics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// From an accepted On until the BMC reads On: the power supplies settle and the board sequences its rails.
    pub power_on: Span,
    /// From power On until the operating system is up, with memory training and POST. Each boot varies by up to 10 %.
    pub boot: Span,
    /// From an accepted ForceOff until the BMC reads Off: the four seconds of a held power button, and the reading after it.
    pub power_off: Span,
    /// From an accepted GracefulShutdown until the operating system has stopped its services and cut the power.
    pub shutdown: Span,
    /// How long a BMC that notices late still tells the power of before.
    pub power_lag: Span,
    /// From a restart of the BMC until it answers again.
    pub bmc_restart: Span,
    /// From an accepted image until it is installed.
    pub firmware_update: Span,
    /// How long the RAID controller takes to make a volume, to delete one, or to delete all.
    pub volume_work: Span,
    /// How long it takes to write an operating system's image to a disk.
    pub image_write: Span,
    /// From when an installed system is up for the first time until its first-boot configuration tells that it is.
    pub first_boot: Span,
    /// How long what runs on a machine waits before it calls again somebody who did not answer.
    pub call_again: Span,
    /// From when a learner of etcd starts until it has all that the others have.
    pub etcd_catch_up: Span,
    /// A minute of the site's life, in which people give the spans of faults.
    pub minute: Span,
    /// How often a kubelet renews its lease.
    pub lease_every: Span,
    /// How long a lease may be unrenewed before the node is declared `Unknown`.
    pub node_grace: Span,
    /// How often a kubelet posts the status of a node that has not changed.
    pub report_every: Span,
    /// From when a kubelet sees a pod until its containers run, with the image at hand.
    pub pod_start: Span,
    /// How long one second of a pod's grace takes. Pods here use all of it; a faster site's pods end sooner than they say.
    pub grace_second: Span,
    /// From when the pod of a virtual machine runs until its guest's operating system is up.
    pub vm_boot: Span,
    /// How long it takes to fill a virtual machine's new disk.
    pub disk_import: Span,
    /// From a change until the controller or the scheduler that watches for it has acted on it.
    pub controller_lag: Span,
    /// From the deletion of a namespace until its content is deleted: the namespace controller gives every API server time to
    /// learn of it, so that nothing new gets in behind its back.
    pub namespace_lag: Span,
    /// How often the collector looks for pods that no kubelet will end.
    pub pod_gc_every: Span,
}

impl Pace {
    /// Real servers, roughly: four minutes of POST and boot is a two-socket machine with a quick memory test.
    pub const REAL: Pace = Pace {
        power_on: Span::seconds(20),
        boot: Span::minutes(4),
        power_off: Span::seconds(5),
        shutdown: Span::seconds(60),
        power_lag: Span::seconds(3),
        bmc_restart: Span::minutes(3),
        firmware_update: Span::minutes(8),
        volume_work: Span::minutes(2),
        image_write: Span::minutes(4),
        first_boot: Span::minutes(1),
        call_again: Span::seconds(10),
        etcd_catch_up: Span::seconds(30),
        minute: Span::minutes(1),
        lease_every: Span::seconds(10),
        node_grace: Span::seconds(10 * GRACE_IN_LEASES),
        report_every: Span::minutes(5),
        pod_start: Span::seconds(2),
        grace_second: Span::seconds(1),
        vm_boot: Span::seconds(40),
        disk_import: Span::minutes(1),
        controller_lag: Span(200),
        namespace_lag: Span::seconds(5),
        pod_gc_every: Span::seconds(20),
    };

    /// This pace in a world that runs `speed` times faster. A speed that is not a positive number changes nothing.
    pub fn scaled(self, speed: f64) -> Pace {
        if !speed.is_finite() || speed <= 0.0 {
            return self;
        }
        let faster = |span: Span| Span((span.0 as f64 / speed).round() as i64);
        let lease_every = faster(self.lease_every).max(LEASE_EVERY_FLOOR);
        Pace {
            power_on: faster(self.power_on),
            boot: faster(self.boot),
            power_off: faster(self.power_off),
            shutdown: faster(self.shutdown),
            power_lag: faster(self.power_lag),
            bmc_restart: faster(self.bmc_restart),
            firmware_update: faster(self.firmware_update),
            volume_work: faster(self.volume_work),
            image_write: faster(self.image_write),
            first_boot: faster(self.first_boot),
            call_again: faster(self.call_again).max(CALL_AGAIN_FLOOR),
            etcd_catch_up: faster(self.etcd_catch_up),
            minute: faster(self.minute),
            lease_every,
            node_grace: lease_every.times(GRACE_IN_LEASES),
            // A heartbeat, which whoever watches pays for: at any speed as seldom as real ones.
            report_every: self.report_every,
            pod_start: faster(self.pod_start),
            grace_second: faster(self.grace_second),
            vm_boot: faster(self.vm_boot),
            disk_import: faster(self.disk_import),
            controller_lag: faster(self.controller_lag),
            namespace_lag: faster(self.namespace_lag),
            pod_gc_every: faster(self.pod_gc_every).max(Span(1)),
        }
    }

    /// A span of the site's life in wall time. What is something stays something.
    pub fn in_site_time(&self, span: Span) -> Span {
        let wall = span.0.saturating_mul(self.minute.0) / Pace::REAL.minute.0;
        Span(if span > Span::ZERO { wall.max(1) } else { wall })
    }

    /// Power, boot and pods take no time, for measuring everything but the simulated hardware.
    ///
    /// Leases keep their floor: an interval of nothing would renew for ever within one instant.
    pub fn instant() -> Pace {
        Pace {
            power_on: Span::ZERO,
            boot: Span::ZERO,
            power_off: Span::ZERO,
            shutdown: Span::ZERO,
            power_lag: Span::ZERO,
            bmc_restart: Span::ZERO,
            firmware_update: Span::ZERO,
            volume_work: Span::ZERO,
            image_write: Span::ZERO,
            first_boot: Span::ZERO,
            call_again: CALL_AGAIN_FLOOR,
            etcd_catch_up: Span::ZERO,
            minute: Pace::REAL.minute,
            lease_every: LEASE_EVERY_FLOOR,
            node_grace: LEASE_EVERY_FLOOR.times(GRACE_IN_LEASES),
            report_every: Pace::REAL.report_every,
            pod_start: Span::ZERO,
            grace_second: Span::ZERO,
            vm_boot: Span::ZERO,
            disk_import: Span::ZERO,
            controller_lag: Span::ZERO,
            namespace_lag: Span::ZERO,
            pod_gc_every: Pace::REAL.pod_gc_every,
        }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Pace::REAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_times_faster_boots_in_four_seconds_but_renews_once_a_second() {
        let pace = Pace::REAL.scaled(60.0);
        assert_eq!(pace.boot, Span::seconds(4));
        assert_eq!(pace.shutdown, Span::seconds(1));
        assert_eq!(pace.lease_every, Span::seconds(1));
        assert_eq!(pace.node_grace, Span::seconds(4));
        assert_eq!(pace.report_every, Span::minutes(5));
        assert_eq!(pace.bmc_restart, Span::seconds(3));
        assert_eq!(pace.in_site_time(Span::minutes(10)), Span::seconds(10));
    }

    #[test]
    fn a_senseless_speed_changes_nothing() {
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Pace::REAL.scaled(speed), Pace::REAL);
        }
    }
}
