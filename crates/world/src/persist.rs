//! A site as records that outlive the simulator, and back.
//!
//! While the simulator is stopped the world stands still: what was pending is moved by the time that nobody simulated.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bmc::{Counters, LogEntry};
use crate::etcd::Etcd;
use crate::fault::Faults;
use crate::hardware::Hardware;
use crate::kube::Kube;
use crate::kubelet::NodeState;
use crate::layout::Layout;
use crate::machine::Machine;
use crate::pace::Pace;
use crate::persist_kube::tenant_prefix;
use crate::site::World;
use crate::time::Instant;

/// The record that says how far the site has come.
pub(crate) const PROGRESS_KEY: &str = "progress";

/// The record of the site's faults.
const FAULTS_KEY: &str = "faults";

/// The record of the undercloud's etcd. A site whose etcd nobody ever changed has none.
const ETCD_KEY: &str = "etcd";

/// One saved piece of a site. `value` is `None` when the piece is gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub key: String,
    pub value: Option<Value>,
}

/// What changed since the last records were taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unsaved {
    pub machines: BTreeSet<usize>,
    pub hardware: BTreeSet<usize>,
    pub entries: Vec<(usize, LogEntry)>,
    pub fallen_entries: Vec<(usize, u64)>,
    pub progress: bool,
    pub faults: bool,
    pub etcd: bool,
    /// The keys of records that went with their tenant cluster.
    gone: Vec<String>,
}

impl Unsaved {
    pub fn forget_tenant(&mut self, name: &str, tenant: &Kube) {
        self.gone.extend(tenant.tenant_keys(name));
    }
}

#[derive(Debug)]
pub enum RestoreError {
    /// A record that the layout calls for is not there.
    Missing {
        key: String,
    },
    Unreadable {
        key: String,
        cause: serde_json::Error,
    },
    /// A record of something that the layout or this version does not know.
    Unexpected {
        key: String,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::Missing { key } => write!(f, "the record `{key}` is missing"),
            RestoreError::Unreadable { key, .. } => write!(f, "the record `{key}` cannot be read"),
            RestoreError::Unexpected { key } => write!(f, "the record `{key}` belongs to no machine or object of this site"),
        }
    }
}

impl std::error::Error for RestoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RestoreError::Unreadable { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Progress {
    seen_at: Instant,
    reserved_version: u64,
}

#[derive(Serialize, Deserialize)]
struct SavedMachine {
    machine: Machine,
    node: NodeState,
    counters: Counters,
    #[serde(default)]
    bmc_up_at: Option<Instant>,
    #[serde(default)]
    bmc_restarts: u32,
}

impl World {
    /// Whether hardware is between two states, so that standing still for a while would be noticed.
    pub fn is_moving(&self) -> bool {
        self.faults.next_at().is_some() || self.virt.next_at().is_some() || self.states.iter().any(|state| state.next_at().is_some())
    }

    /// Asks for the present instant to be saved with the next records.
    pub fn mark_progress(&mut self) {
        self.unsaved.progress = true;
    }

    /// Everything that changed durably since the last call; empty when nothing did.
    pub fn take_records(&mut self) -> Vec<Record> {
        let mut unsaved = std::mem::take(&mut self.unsaved);
        unsaved.machines.append(&mut self.undercloud.unsaved_hosts);
        let mut records: Vec<Record> = unsaved.gone.into_iter().map(|key| Record { key, value: None }).collect();
        for index in unsaved.machines {
            let state = &self.states[index];
            let saved = SavedMachine {
                machine: state.machine.clone(),
                node: self.undercloud.host(index).node.clone(),
                counters: state.log.counters(),
                bmc_up_at: state.bmc_up_at,
                bmc_restarts: state.bmc_restarts,
            };
            records.push(Record { key: machine_key(self, index), value: to_value(&saved) });
        }
        // Hardware that nobody ever changed is as it was delivered, and needs no record.
        for index in unsaved.hardware {
            records.push(Record { key: hardware_key(self, index), value: to_value(&self.states[index].hardware) });
        }
        for (index, entry) in unsaved.entries {
            records.push(Record { key: log_key(self, index, entry.number), value: to_value(&entry) });
        }
        for (index, number) in unsaved.fallen_entries {
            records.push(Record { key: log_key(self, index, number), value: None });
        }
        if unsaved.faults {
            let value = if self.faults.is_empty() { None } else { to_value(&self.faults) };
            records.push(Record { key: FAULTS_KEY.to_owned(), value });
        }
        if unsaved.etcd {
            records.push(Record { key: ETCD_KEY.to_owned(), value: to_value(&self.etcd) });
        }
        records.extend(self.undercloud.take_object_records(""));
        for (name, tenant) in &mut self.tenants {
            records.extend(tenant.take_tenant_records(name));
        }
        let has_reserved = self.undercloud.reserve_versions();
        if !records.is_empty() || unsaved.progress || has_reserved {
            let progress = Progress { seen_at: self.now, reserved_version: self.undercloud.reserved_version };
            records.push(Record { key: PROGRESS_KEY.to_owned(), value: to_value(&progress) });
        }
        records
    }

    /// A site as it was saved, going on at `now`.
    pub fn restore(
        layout: Layout,
        pace: Pace,
        records: impl IntoIterator<Item = (String, Value)>,
        now: Instant,
    ) -> Result<World, RestoreError> {
        let mut world = World::assemble(layout, pace, now);
        let mut progress = None;
        let mut found = BTreeSet::new();
        for (key, value) in records {
            match key.split('/').collect::<Vec<_>>()[..] {
                [PROGRESS_KEY] => progress = Some(from_value::<Progress>(&key, value)?),
                [ETCD_KEY] => world.etcd = from_value::<Etcd>(&key, value)?,
                [FAULTS_KEY] => world.faults = from_value::<Faults>(&key, value)?,
                ["machine", name] => {
                    let index = world.layout.index_of(name).ok_or_else(|| RestoreError::Unexpected { key: key.clone() })?;
                    let saved: SavedMachine = from_value(&key, value)?;
                    let state = &mut world.states[index];
                    (state.machine, state.log.counters) = (saved.machine, saved.counters);
                    (state.bmc_up_at, state.bmc_restarts) = (saved.bmc_up_at, saved.bmc_restarts);
                    world.undercloud.host_mut(index).node = saved.node;
                    found.insert(index);
                }
                ["hardware", name] => {
                    let index = world.layout.index_of(name).ok_or_else(|| RestoreError::Unexpected { key: key.clone() })?;
                    world.states[index].hardware = from_value::<Hardware>(&key, value)?;
                }
                ["log", name, _] => {
                    let index = world.layout.index_of(name).ok_or_else(|| RestoreError::Unexpected { key: key.clone() })?;
                    world.states[index].log.entries.push_back(from_value(&key, value)?);
                }
                ["object", group, plural, namespace, name] => {
                    let restored = world.undercloud.restore_object([group, plural, namespace, name], value);
                    restored.ok_or_else(|| RestoreError::Unexpected { key: key.clone() })?;
                }
                ["tenant", name, ref parts @ ..] => {
                    let empty = world.empty_tenant(name);
                    world.tenants.entry(name.to_owned()).or_insert(empty).restore_piece(&key, parts, value)?;
                }
                _ => return Err(RestoreError::Unexpected { key }),
            }
        }
        let progress = progress.ok_or_else(|| RestoreError::Missing { key: PROGRESS_KEY.to_owned() })?;
        if let Some(index) = (0..world.states.len()).find(|index| !found.contains(index)) {
            return Err(RestoreError::Missing { key: machine_key(&world, index) });
        }
        if let Some((name, _)) = world.tenants.iter().find(|(_, tenant)| tenant.reserved_version == 0) {
            return Err(RestoreError::Missing { key: format!("{}{PROGRESS_KEY}", tenant_prefix(name)) });
        }
        world.resume(&progress, now);
        Ok(world)
    }

    /// Moves what was pending, forgets watchers, and lets every kubelet renew before anybody looks.
    fn resume(&mut self, progress: &Progress, now: Instant) {
        let stood_still = now - progress.seen_at;
        self.undercloud.reserved_version = progress.reserved_version;
        self.undercloud.awake(stood_still, now);
        self.faults.shift(stood_still);
        self.etcd.shift(stood_still);
        for state in &mut self.states {
            state.machine.shift(stood_still);
            state.hardware.tasks.shift(stood_still);
            state.bmc_up_at = state.bmc_up_at.map(|at| at + stood_still);
            state.log.entries.make_contiguous().sort_by_key(|entry| entry.number);
        }
        for index in 0..self.states.len() {
            if self.reaches_api(index) {
                self.kubelet_starts(index);
            }
            self.reschedule(index);
        }
        self.resume_errands();
        self.settle_etcd(now);
        self.undercloud.resume(self.can_serve_api(), now);
        for tenant in self.tenants.values_mut() {
            tenant.awake(stood_still, now);
            tenant.resume(tenant.has_majority(), now);
        }
        self.strike_tenants_anew(now);
        self.found_tenants(now);
        self.virt_settle(now);
    }
}

fn machine_key(world: &World, index: usize) -> String {
    format!("machine/{}", world.spec(index).name)
}

fn hardware_key(world: &World, index: usize) -> String {
    format!("hardware/{}", world.spec(index).name)
}

fn log_key(world: &World, index: usize, number: u64) -> String {
    format!("log/{}/{number:010}", world.spec(index).name)
}

/// These types serialise without fail: no maps with odd keys, no fallible parts.
pub(crate) fn to_value(value: &impl Serialize) -> Option<Value> {
    serde_json::to_value(value).ok()
}

pub(crate) fn from_value<T: for<'de> Deserialize<'de>>(key: &str, value: Value) -> Result<T, RestoreError> {
    serde_json::from_value(value).map_err(|cause| RestoreError::Unreadable { key: key.to_owned(), cause })
}
