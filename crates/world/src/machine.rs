//! One server's power and operating system as a state machine: what a reset does to it, and what time does to it.
//!
//! What the site makes of it (log entries, nodes, quorum) is decided in `site.rs`.

use serde::{Deserialize, Serialize};

use crate::agent::AgentRun;
use crate::hardware::BootSource;
use crate::pace::Pace;
use crate::random::Random;
use crate::time::{Instant, Span};

pub use crate::power::{PowerState, ResetAnswer, ResetType};

/// How far one boot may differ from the pace's, in per mille either way.
const BOOT_JITTER_PER_MILLE: i64 = 100;

/// The shortest boot after a panic: a host that panics at every boot must not do so for ever within one instant.
const PANIC_BOOT_FLOOR: Span = Span::seconds(1);

/// What follows when the power has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AfterOff {
    StayOff,
    PowerOn,
}

/// What follows when the operating system has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AfterStop {
    PowerOff,
    Boot,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Power {
    Off,
    On,
    PoweringOn {
        on_at: Instant,
    },
    /// `was_on` is false when an Off overtook an On, so that the log shows no power cut that never was one.
    PoweringOff {
        off_at: Instant,
        then: AfterOff,
        was_on: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Host {
    Down,
    Booting {
        up_at: Instant,
        /// Where the firmware gets it from, if not from the disk.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<BootSource>,
    },
    Up {
        boot_id: String,
        #[serde(default)]
        membership: Membership,
    },
    Stopping {
        down_at: Instant,
        then: AfterStop,
    },
    /// Something that came over the network and not from the disk. It lives in memory and ends with the power.
    Agent(Box<AgentRun>),
}

/// Whether an operating system belongs to the cluster, and so runs a kubelet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Membership {
    #[default]
    Member,
    Stranger,
}

/// Whether there is something on the disk to boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disk {
    Empty,
    Bootable(Membership),
}

/// What just became so, for the rest of the site to react to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    PoweredOn,
    PoweredOff,
    HostCameUp,
    /// The operating system no longer serves: it is shutting down, was reset, or lost its power.
    HostLeft,
    /// What runs on it wants to call somebody.
    Calls,
}

/// What a machine needs to know about where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub pace: &'a Pace,
    pub site_seed: u64,
    pub name: &'a str,
    /// How many times longer than usual a boot takes that begins now.
    pub boot_factor: i64,
    /// Where the firmware would look first.
    pub first: &'a BootSource,
    pub disk: Disk,
}

impl Surroundings<'_> {
    fn boot_span(&self, boot: u32) -> Span {
        let width = 2 * BOOT_JITTER_PER_MILLE + 1;
        let drawn = Random::new(self.site_seed, &format!("boot-span/{}/{boot}", self.name)).below(width as u64) as i64;
        Span(self.pace.boot.0 * (1_000 - BOOT_JITTER_PER_MILLE + drawn) / 1_000).times(self.boot_factor)
    }

    fn boot_id(&self, boot: u32) -> String {
        Random::new(self.site_seed, &format!("boot-id/{}/{boot}", self.name)).uuid()
    }

    /// What an agent draws that is started at this boot.
    fn nonce(&self, boot: u32) -> String {
        Random::new(self.site_seed, &format!("agent-nonce/{}/{boot}", self.name)).uuid()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub power: Power,
    pub host: Host,
    /// Boots that were begun. Each gets its own length and boot id.
    pub boots: u32,
    /// How often the firmware has started, whether or not it then found something to boot.
    #[serde(default)]
    pub starts: u32,
    /// When what runs on the machine next calls somebody over the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_at: Option<Instant>,
    /// Counts the calls, so that an answer to one that nobody waits for any more is known as such.
    #[serde(default)]
    pub call: u64,
}

impl Machine {
    /// A machine that has been running since before anybody looked.
    pub fn running(around: Surroundings<'_>) -> Machine {
        let host = Host::Up { boot_id: around.boot_id(1), membership: Membership::Member };
        Machine { power: Power::On, host, boots: 1, starts: 1, calls_at: None, call: 0 }
    }

    /// A machine that was racked, cabled and never installed.
    pub fn bare() -> Machine {
        Machine { power: Power::Off, host: Host::Down, boots: 0, starts: 0, calls_at: None, call: 0 }
    }

    pub fn power_state(&self) -> PowerState {
        match self.power {
            Power::Off => PowerState::Off,
            Power::On => PowerState::On,
            Power::PoweringOn { .. } => PowerState::PoweringOn,
            Power::PoweringOff { .. } => PowerState::PoweringOff,
        }
    }

    pub fn boot_id(&self) -> Option<&str> {
        match &self.host {
            Host::Up { boot_id, .. } => Some(boot_id),
            _ => None,
        }
    }

    pub fn is_up(&self) -> bool {
        matches!(self.host, Host::Up { .. })
    }

    /// Whether its operating system runs and belongs to the cluster.
    pub fn is_member(&self) -> bool {
        matches!(self.host, Host::Up { membership: Membership::Member, .. })
    }

    pub fn reset(&mut self, reset: ResetType, now: Instant, around: Surroundings<'_>) -> (ResetAnswer, Vec<Happening>) {
        match reset {
            ResetType::On => (self.request_on(now, around), Vec::new()),
            ResetType::ForceOff => (self.cut_power(AfterOff::StayOff, now, around), Vec::new()),
            ResetType::GracefulShutdown => self.stop_host(AfterStop::PowerOff, now, around),
            _ if self.power != Power::On => (ResetAnswer::NotOn, Vec::new()),
            ResetType::PowerCycle => (self.cut_power(AfterOff::PowerOn, now, around), Vec::new()),
            ResetType::GracefulRestart => self.stop_host(AfterStop::Boot, now, around),
            ResetType::ForceRestart => {
                let left = self.leave_host();
                self.start_boot(now, around);
                (ResetAnswer::Accepted, left)
            }
        }
    }

    fn request_on(&mut self, now: Instant, around: Surroundings<'_>) -> ResetAnswer {
        match self.power {
            Power::Off => {
                self.power = Power::PoweringOn { on_at: now + around.pace.power_on };
                ResetAnswer::Accepted
            }
            Power::On | Power::PoweringOn { .. } => ResetAnswer::Ignored,
            Power::PoweringOff { .. } => ResetAnswer::InTransition,
        }
    }

    /// A forced off is always obeyed, and it overtakes whatever else was under way.
    fn cut_power(&mut self, then: AfterOff, now: Instant, around: Surroundings<'_>) -> ResetAnswer {
        let was_on = match self.power {
            Power::Off => return ResetAnswer::Ignored,
            Power::On => true,
            Power::PoweringOn { .. } => false,
            Power::PoweringOff { was_on, .. } => was_on,
        };
        let mut off_at = now + around.pace.power_off;
        if let Power::PoweringOff { off_at: sooner, .. } = self.power {
            off_at = off_at.min(sooner);
        }
        self.power = Power::PoweringOff { off_at, then, was_on };
        ResetAnswer::Accepted
    }

    /// The operating system is asked over ACPI. Only a running one hears it, and the BMC cannot tell the difference.
    fn stop_host(&mut self, then: AfterStop, now: Instant, around: Surroundings<'_>) -> (ResetAnswer, Vec<Happening>) {
        if !self.is_up() || self.power != Power::On {
            return (ResetAnswer::Ignored, Vec::new());
        }
        let left = self.leave_host();
        self.hush();
        self.host = Host::Stopping { down_at: now + around.pace.shutdown, then };
        (ResetAnswer::Accepted, left)
    }

    /// When something next becomes so by itself.
    pub fn next_at(&self) -> Option<Instant> {
        let power = match self.power {
            Power::PoweringOn { on_at } => Some(on_at),
            Power::PoweringOff { off_at, .. } => Some(off_at),
            Power::Off | Power::On => None,
        };
        let host = match self.host {
            Host::Booting { up_at, .. } => Some(up_at),
            Host::Stopping { down_at, .. } => Some(down_at),
            Host::Down | Host::Up { .. } | Host::Agent(_) => None,
        };
        power.into_iter().chain(host).chain(self.calls_at).min()
    }

    /// Lets the earliest pending change happen if it is due at `at`. Power comes before the operating system.
    pub fn step(&mut self, at: Instant, around: Surroundings<'_>) -> Vec<Happening> {
        match self.power {
            Power::PoweringOn { on_at } if on_at <= at => {
                self.power = Power::On;
                self.start_boot(on_at, around);
                return vec![Happening::PoweredOn];
            }
            Power::PoweringOff { off_at, then, was_on } if off_at <= at => return self.lose_power(off_at, then, was_on, around),
            _ => {}
        }
        match &mut self.host {
            Host::Booting { up_at, from: Some(source) } if *up_at <= at => {
                self.calls_at = Some(*up_at);
                self.host = Host::Agent(Box::new(AgentRun::fetching(source.clone(), around.nonce(self.boots))));
                Vec::new()
            }
            Host::Booting { up_at, from: None } if *up_at <= at => {
                // A disk that went during the boot is missed at the next one.
                let membership = if let Disk::Bootable(membership) = around.disk { membership } else { Membership::Member };
                self.host = Host::Up { boot_id: around.boot_id(self.boots), membership };
                vec![Happening::HostCameUp]
            }
            &mut Host::Stopping { down_at, then: AfterStop::Boot } if down_at <= at => {
                self.start_boot(down_at, around);
                Vec::new()
            }
            &mut Host::Stopping { down_at, then: AfterStop::PowerOff } if down_at <= at => {
                let then = if let Power::PoweringOff { then, .. } = self.power { then } else { AfterOff::StayOff };
                self.lose_power(down_at, then, true, around)
            }
            _ if self.calls_at.is_some_and(|due| due <= at) => {
                self.calls_at = None;
                vec![Happening::Calls]
            }
            _ => Vec::new(),
        }
    }

    /// Ends a power-off that has begun at once: somebody pulled the plug.
    pub fn pull_plug(&mut self, at: Instant, around: Surroundings<'_>) -> Vec<Happening> {
        let Power::PoweringOff { was_on, .. } = self.power else { return Vec::new() };
        self.lose_power(at, AfterOff::StayOff, was_on, around)
    }

    fn lose_power(&mut self, at: Instant, then: AfterOff, was_on: bool, around: Surroundings<'_>) -> Vec<Happening> {
        let mut happenings = self.leave_host();
        self.hush();
        self.host = Host::Down;
        self.power = match then {
            AfterOff::StayOff => Power::Off,
            AfterOff::PowerOn => Power::PoweringOn { on_at: at + around.pace.power_on },
        };
        if was_on {
            happenings.push(Happening::PoweredOff);
        }
        happenings
    }

    fn leave_host(&self) -> Vec<Happening> {
        if self.is_up() { vec![Happening::HostLeft] } else { Vec::new() }
    }

    fn start_boot(&mut self, at: Instant, around: Surroundings<'_>) {
        self.starts += 1;
        self.hush();
        match around.first {
            BootSource::Disk | BootSource::Setup => self.boot_disk(at, around),
            elsewhere => {
                self.boots += 1;
                self.host = Host::Booting { up_at: at + around.boot_span(self.boots), from: Some(elsewhere.clone()) };
            }
        }
    }

    /// Starts what is on the disk, as it does when there is nothing else to start.
    pub fn boot_disk(&mut self, at: Instant, around: Surroundings<'_>) {
        self.hush();
        self.host = match around.disk {
            Disk::Empty => Host::Down,
            Disk::Bootable(_) => {
                self.boots += 1;
                Host::Booting { up_at: at + around.boot_span(self.boots), from: None }
            }
        };
    }

    /// Nobody waits for an answer any more.
    fn hush(&mut self) {
        self.calls_at = None;
        self.call += 1;
    }

    /// The kernel gives up, and the host boots again by itself.
    pub fn panic(&mut self, at: Instant, around: Surroundings<'_>) -> Vec<Happening> {
        let left = self.leave_host();
        if !left.is_empty() {
            self.start_boot(at, around);
            if let Host::Booting { up_at, .. } = &mut self.host {
                *up_at = (*up_at).max(at + PANIC_BOOT_FLOOR);
            }
        }
        left
    }

    /// Moves what is pending, after the site stood still.
    pub fn shift(&mut self, by: Span) {
        match &mut self.power {
            Power::PoweringOn { on_at: at } | Power::PoweringOff { off_at: at, .. } => *at = *at + by,
            Power::Off | Power::On => {}
        }
        match &mut self.host {
            Host::Booting { up_at: at, .. } | Host::Stopping { down_at: at, .. } => *at = *at + by,
            Host::Agent(run) => run.shift(by),
            Host::Down | Host::Up { .. } => {}
        }
        self.calls_at = self.calls_at.map(|at| at + by);
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
