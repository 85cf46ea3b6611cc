//! Faults of a site: which there are now and later, on whom, since when and until when.
//!
//! This file keeps the list. What a fault does to machines and nodes is in `effects.rs`; what it does to answers is `sim`'s.

mod effects;
mod hardware;
mod kind;
mod links;
mod tenants;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use kind::{Aim, FaultKind, Setting};
pub(crate) use links::Flaps;

use crate::machine::PowerState;
use crate::pace::Pace;
use crate::time::{Instant, Span};

/// How many faults a site has at once, planned ones included. A site where more is broken is better simulated as absent.
pub const FAULTS_MAX: usize = 10_000;

/// How far ahead and how long a fault may be, in the site's time. Longer is "until it is cleared".
pub const FAULT_SPAN_MAX: Span = Span::minutes(30 * 24 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FaultId(pub u64);

impl fmt::Display for FaultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

/// Whom a fault strikes. Machines are known by their place in the layout, what tenants have by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FaultTarget {
    Machine(usize),
    Api,
    Tenant(String),
    Pod { cluster: String, namespace: String, name: String },
    Vm(String),
}

impl FaultTarget {
    fn aim(&self) -> Aim {
        match self {
            FaultTarget::Machine(_) => Aim::Machine,
            FaultTarget::Api => Aim::Api,
            FaultTarget::Tenant(_) => Aim::Tenant,
            FaultTarget::Pod { .. } => Aim::Pod,
            FaultTarget::Vm(_) => Aim::Vm,
        }
    }
}

/// A fault as somebody asks for it. Spans are in the site's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultOrder {
    pub kind: FaultKind,
    pub target: FaultTarget,
    /// From now until it begins.
    pub after: Span,
    /// From its beginning to its end; until it is cleared, if nobody says.
    pub lasting: Option<Span>,
    pub setting: Option<u32>,
}

/// A fault that is, or that is planned: then `since` lies ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub id: FaultId,
    pub kind: FaultKind,
    pub target: FaultTarget,
    /// The kind's number, if it takes one.
    pub setting: u32,
    pub since: Instant,
    pub until: Option<Instant>,
    has_begun: bool,
    /// What a stale BMC goes on reporting.
    frozen: Option<PowerState>,
}

impl Fault {
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// When something next becomes so by itself.
    fn next_at(&self) -> Option<Instant> {
        if self.has_begun { self.until } else { Some(self.since) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultError {
    NotOfMachine {
        kind: FaultKind,
    },
    NotOfApi {
        kind: FaultKind,
    },
    /// The kind strikes something else than what was named.
    Astray {
        kind: FaultKind,
    },
    /// Nothing of that name is there to be struck.
    Absent {
        name: String,
    },
    NoSetting {
        kind: FaultKind,
    },
    Setting {
        kind: FaultKind,
        setting: Setting,
        asked: u32,
    },
    Span,
    TooMany,
}

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultError::NotOfMachine { kind } => write!(f, "`{kind}` strikes the API server; its target is `api`"),
            FaultError::NotOfApi { kind } => write!(f, "`{kind}` strikes a machine, not the API server"),
            FaultError::Astray { kind } => match kind.aim() {
                Aim::Machine => write!(f, "`{kind}` strikes a machine"),
                Aim::Api => write!(f, "`{kind}` strikes the API server; its target is `api`"),
                Aim::Tenant => write!(f, "`{kind}` strikes a tenant cluster"),
                Aim::Pod => write!(f, "`{kind}` strikes a pod of a tenant cluster; its target is `CLUSTER/POD` or `CLUSTER/NAMESPACE/POD`"),
                Aim::Vm => write!(f, "`{kind}` strikes a virtual machine"),
            },
            FaultError::Absent { name } => write!(f, "there is no `{name}` in the site"),
            FaultError::NoSetting { kind } => write!(f, "`{kind}` takes no number"),
            FaultError::Setting { kind, setting: Setting { name, least, most, .. }, asked } => {
                write!(f, "`{name}` of `{kind}` is from {least} to {most}, not {asked}")
            }
            FaultError::Span => write!(f, "a span is from 1 second to {} days", FAULT_SPAN_MAX.0 / Span::minutes(24 * 60).0),
            FaultError::TooMany => write!(f, "a site has at most {FAULTS_MAX} faults"),
        }
    }
}

impl std::error::Error for FaultError {}

impl FaultOrder {
    /// Whether the order makes sense, before any of it is carried out.
    pub fn check(&self) -> Result<(), FaultError> {
        let kind = self.kind;
        match (kind.aim(), self.target.aim()) {
            (wanted, given) if wanted == given => {}
            (Aim::Api, Aim::Machine) => return Err(FaultError::NotOfMachine { kind }),
            (Aim::Machine, Aim::Api) => return Err(FaultError::NotOfApi { kind }),
            _ => return Err(FaultError::Astray { kind }),
        }
        match (kind.setting(), self.setting) {
            (None, Some(_)) => return Err(FaultError::NoSetting { kind }),
            (Some(setting), Some(asked)) if !(setting.least..=setting.most).contains(&asked) => {
                return Err(FaultError::Setting { kind, setting, asked });
            }
            _ => {}
        }
        let is_sound = |span: Span| span <= FAULT_SPAN_MAX && span >= Span::ZERO;
        let is_lasting_sound = self.lasting.is_none_or(|span| is_sound(span) && span > Span::ZERO);
        if is_sound(self.after) && is_lasting_sound { Ok(()) } else { Err(FaultError::Span) }
    }

    /// How long it lasts at this pace. Two kinds have an end of their own.
    fn lasting_at(&self, pace: &Pace) -> Option<Span> {
        match (self.kind, self.lasting) {
            (_, Some(span)) => Some(pace.in_site_time(span)),
            (FaultKind::BmcRestart, None) => Some(pace.bmc_restart),
            // A panic is a moment; what follows is a boot like any other.
            (FaultKind::HostPanics | FaultKind::VmCrashes, None) => Some(Span::ZERO),
            (_, None) => None,
        }
    }
}

/// The faults of a site, and what is remembered beyond them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Faults {
    last_id: u64,
    list: Vec<Fault>,
    /// By machine: the changes of its link that its node still tells of.
    flaps: BTreeMap<usize, Flaps>,
    /// Counts every change, for those who wait for one.
    #[serde(skip)]
    revision: u64,
}

impl Faults {
    pub fn is_empty(&self) -> bool {
        *self == Faults { revision: self.revision, ..Faults::default() }
    }

    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub fn list(&self) -> &[Fault] {
        &self.list
    }

    /// The fault of that kind that the target has now. Of several the youngest counts, and an older one again after it.
    pub fn active(&self, kind: FaultKind, target: FaultTarget) -> Option<&Fault> {
        self.all_active(kind, target).max_by_key(|fault| (fault.since, fault.id))
    }

    fn all_active(&self, kind: FaultKind, target: FaultTarget) -> impl Iterator<Item = &Fault> {
        self.list.iter().filter(move |fault| fault.has_begun && fault.kind == kind && fault.target == target)
    }

    pub fn is_active(&self, kind: FaultKind, machine: usize) -> bool {
        self.active(kind, FaultTarget::Machine(machine)).is_some()
    }

    pub fn is_api_active(&self, kind: FaultKind) -> bool {
        self.active(kind, FaultTarget::Api).is_some()
    }

    /// Wakes those who wait for something to go away or to come back.
    pub fn note_change(&mut self) {
        self.revision += 1;
    }

    pub fn next_at(&self) -> Option<Instant> {
        self.list.iter().filter_map(Fault::next_at).chain(self.flaps.values().filter_map(Flaps::next_at)).min()
    }

    /// Takes up an order that was checked, as a fault that has not begun.
    pub fn plan(&mut self, order: &FaultOrder, pace: &Pace, now: Instant) -> FaultId {
        self.last_id += 1;
        self.revision += 1;
        let since = now + pace.in_site_time(order.after);
        let id = FaultId(self.last_id);
        self.list.push(Fault {
            id,
            kind: order.kind,
            target: order.target.clone(),
            setting: order.setting.or(order.kind.setting().map(|setting| setting.default)).unwrap_or(0),
            since,
            until: order.lasting_at(pace).map(|span| since + span),
            has_begun: false,
            frozen: None,
        });
        id
    }

    fn remove(&mut self, id: FaultId) -> Option<Fault> {
        let index = self.list.iter().position(|fault| fault.id == id)?;
        self.revision += 1;
        Some(self.list.remove(index))
    }

    /// Moves what is pending, after the site stood still.
    pub fn shift(&mut self, by: Span) {
        for fault in &mut self.list {
            if !fault.has_begun {
                fault.since = fault.since + by;
            }
            fault.until = fault.until.map(|until| until + by);
        }
        for flaps in self.flaps.values_mut() {
            flaps.shift(by);
        }
    }
}
