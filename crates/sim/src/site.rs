//! A simulated site as a handle: opening it, looking at it, and changing it so that the change is saved.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::Clock;
use serde_json::{Value, json};
use store::{SharedStore, StoreError};
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use world::{BmcLog, ClusterName, Instant, Kube, Layout, MachineSpec, Record, Role, World};

use crate::error::SimError;
use crate::faults::{Face, Memory, Wire};
use crate::journal::{Journal, SITES};
use crate::kubernetes::Claims;
use crate::machines::Plug;
use crate::redfish::{Quirk, Quirks, Sessions};
use crate::spec::{Shape, SiteSpec};

/// The document that says what the site was made from.
const SHAPE_KEY: &str = "shape";

/// The document that remembers the ports; `listen` reads and writes it.
pub(crate) const PORTS_KEY: &str = "ports";

/// The document that keeps the certificates of the BMCs; `tls` reads and writes it.
pub(crate) const TLS_KEY: &str = "tls";

/// What watchers of the Kubernetes API wait for a change of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pulse {
    pub version: u64,
    pub available: bool,
}

impl Pulse {
    fn of(kube: &Kube) -> Pulse {
        Pulse { version: kube.objects().version(), available: kube.is_available() }
    }
}

/// A running or resting simulated site. Clones are the same site.
#[derive(Clone)]
pub struct Site {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    world: Mutex<World>,
    layout: Layout,
    clock: Arc<dyn Clock>,
    pub journal: Journal,
    /// Tells `run` that something is due earlier than it thinks.
    pub sooner: Notify,
    pulse: watch::Sender<Pulse>,
    /// The same for tenants' clusters that somebody has watched, by name.
    tenant_pulses: Mutex<BTreeMap<String, watch::Sender<Pulse>>>,
    /// Changes with every fault that begins or ends.
    pub fault_revision: watch::Sender<u64>,
    /// Cancelled when the site stops: listeners close, streams end, requests are refused.
    pub stopping: CancellationToken,
    pub listeners: TaskTracker,
    sessions: Vec<Mutex<Sessions>>,
    pub quirks: Vec<Quirks>,
    /// Wakes whoever waits for a BMC to write into its log.
    logged: Vec<Notify>,
    /// For BMCs whose firmware inventory exists once it was listed: one more than the restart count at that time.
    firmware_listed: Vec<AtomicU32>,
    memories: Vec<Mutex<Memory>>,
    /// By machine: held by whoever changes something through its BMC.
    turns: Vec<Mutex<()>>,
    /// What the machines are plugged into.
    pub plug: Mutex<Plug>,
    /// Who among the undercloud's nodes joined with which bootstrap token.
    pub claims: Claims,
}

/// The sites that a store holds.
pub async fn saved_sites(store: &SharedStore) -> Result<BTreeSet<String>, SimError> {
    let documents = store.list(SITES).await?.documents;
    let names = documents.iter().filter_map(|document| document.key.strip_prefix(SITES)?.split_once('/'));
    Ok(names.filter(|(_, key)| *key == SHAPE_KEY).map(|(name, _)| name.to_owned()).collect())
}

impl Site {
    /// Makes the site, or goes on where the store says it was.
    pub async fn open(spec: SiteSpec, store: SharedStore, clock: Arc<dyn Clock>) -> Result<Site, SimError> {
        let layout = spec.layout()?;
        let journal = Journal::new(store, &spec.name);
        let now = Instant(clock.now().as_millis());
        let mut saved = Vec::new();
        let mut shape = None;
        for (key, value) in journal.load_all().await? {
            let value: Value = parse(&key, &value)?;
            match key.as_str() {
                SHAPE_KEY => shape = Some(parse_value::<Shape>(&key, value)?),
                PORTS_KEY | TLS_KEY => {}
                _ => saved.push((key, value)),
            }
        }
        let mut new_records = Vec::new();
        let world = match shape {
            None => {
                new_records.push(Record { key: SHAPE_KEY.to_owned(), value: Some(json!(spec.shape())) });
                spec.tenancy.check(&layout)?;
                if spec.tenancy.is_empty() {
                    World::new(layout.clone(), spec.pace, now)
                } else {
                    World::with_tenants(layout.clone(), spec.pace, now, &spec.tenancy)
                }
            }
            Some(found) if found != spec.shape() => {
                let asked = spec.shape();
                let (found, asked) = (found.told_from(&asked), asked.told_from(&found));
                return Err(SimError::DifferentLayout { site: spec.name, found, asked });
            }
            Some(_) => World::restore(layout.clone(), spec.pace, saved, now)
                .map_err(|source| SimError::Damaged { site: spec.name.clone(), source })?,
        };
        let pulse = Pulse { version: world.objects().version(), available: world.is_api_available() };
        let count = layout.machines().len();
        let site = Site {
            inner: Arc::new(Inner {
                world: Mutex::new(world),
                layout,
                clock,
                journal,
                sooner: Notify::new(),
                pulse: watch::Sender::new(pulse),
                tenant_pulses: Mutex::default(),
                fault_revision: watch::Sender::new(0),
                stopping: CancellationToken::new(),
                listeners: TaskTracker::new(),
                sessions: (0..count).map(|_| Mutex::default()).collect(),
                quirks: (0..count).map(|_| Quirks::default()).collect(),
                logged: (0..count).map(|_| Notify::new()).collect(),
                firmware_listed: (0..count).map(|_| AtomicU32::new(0)).collect(),
                memories: (0..count).map(|_| Mutex::default()).collect(),
                turns: (0..count).map(|_| Mutex::default()).collect(),
                plug: Mutex::default(),
                claims: Claims::default(),
            }),
        };
        site.save_with(new_records).await?;
        Ok(site)
    }

    /// The site's machines: names, places, roles, identifiers, BMC logins.
    pub fn layout(&self) -> &Layout {
        &self.inner.layout
    }

    /// The log of one machine's BMC, which nobody but the BMC writes.
    pub fn witness(&self, machine: &str) -> Option<BmcLog> {
        let index = self.inner.layout.index_of(machine)?;
        Some(self.look(|world| world.bmc_log(index).clone()))
    }

    /// The Redfish service of one machine's BMC. A BMC that cannot be reached fails with an `io::Error`.
    pub fn redfish(&self, machine: &str) -> Option<Wire> {
        let index = self.inner.layout.index_of(machine)?;
        Some(Wire::new(self.clone(), Face::Bmc(index)))
    }

    /// Lets one machine's BMC misbehave in these ways and no others, until told otherwise or stopped.
    pub fn set_quirks(&self, machine: &str, quirks: &[Quirk]) -> Option<()> {
        let index = self.inner.layout.index_of(machine)?;
        self.inner.quirks[index].set(quirks);
        Some(())
    }

    /// The Kubernetes API of the site's undercloud. One that cannot be reached fails with an `io::Error`.
    pub fn kubernetes(&self) -> Wire {
        Wire::new(self.clone(), Face::Kubernetes)
    }

    /// The members of the undercloud's etcd: a request goes to the one on the machine whose address its URL names. One that cannot be
    /// reached fails with an `io::Error`.
    pub fn etcd(&self) -> Wire {
        Wire::new(self.clone(), Face::Etcd(None))
    }

    /// Takes away what etcd wrote on a machine's disk, as whoever rewrites the disk does.
    pub async fn wipe_etcd(&self, machine: &str) -> Option<()> {
        let index = self.inner.layout.index_of(machine)?;
        self.change(|world, now| world.wipe_etcd(index, now));
        self.settle().await.ok()
    }

    /// Has the machine's system run the member of this URL, whatever its own first-boot configuration said.
    pub async fn configure_etcd(&self, machine: &str, peer_url: &str) -> Option<()> {
        let index = self.inner.layout.index_of(machine)?;
        self.change(|world, now| world.configure_etcd(index, Some(peer_url.to_owned()), now));
        self.settle().await.ok()
    }

    /// The machines that a member of etcd may run on.
    pub fn etcd_machines(&self) -> impl Iterator<Item = &MachineSpec> {
        let may_vote = |role: Role| matches!(role, Role::ControlPlane | Role::SpareControlPlane);
        self.inner.layout.machines().iter().filter(move |machine| may_vote(machine.role))
    }

    /// The member of etcd on one machine.
    pub(crate) fn etcd_of(&self, machine: &str) -> Option<Wire> {
        let index = self.inner.layout.index_of(machine)?;
        Some(Wire::new(self.clone(), Face::Etcd(Some(index))))
    }

    /// The Kubernetes API of a tenant cluster. One that cannot be reached fails with an `io::Error`.
    pub fn tenant_kubernetes(&self, name: &str) -> Option<Wire> {
        let is_known = self.look(|world| world.kube(&ClusterName::Tenant(name.to_owned())).is_some());
        is_known.then(|| Wire::new(self.clone(), Face::Tenant(name.to_owned())))
    }

    /// The bearer token that a tenant cluster's kubeconfig carries.
    pub fn tenant_token(&self, name: &str) -> String {
        self.inner.layout.token_of(&ClusterName::Tenant(name.to_owned()))
    }

    /// The tenants' clusters that there are now.
    pub fn tenants(&self) -> Vec<String> {
        self.look(|world| world.tenants().map(|(name, _)| name.to_owned()).collect())
    }

    /// What tells of changes in a cluster, while there is such a cluster.
    pub(crate) fn pulse(&self, cluster: &ClusterName) -> Option<watch::Receiver<Pulse>> {
        let ClusterName::Tenant(name) = cluster else { return Some(self.inner.pulse.subscribe()) };
        self.look(|world| {
            let pulse = Pulse::of(world.kube(cluster)?);
            let mut pulses = self.inner.tenant_pulses.lock().unwrap_or_else(PoisonError::into_inner);
            Some(pulses.entry(name.clone()).or_insert_with(|| watch::Sender::new(pulse)).subscribe())
        })
    }

    fn tell_tenants(&self, world: &World) {
        let mut pulses = self.inner.tenant_pulses.lock().unwrap_or_else(PoisonError::into_inner);
        // Watchers of a cluster that is gone, or that nobody watches any more, need no pulse.
        pulses.retain(|name, sender| {
            let Some(kube) = world.kube(&ClusterName::Tenant(name.clone())) else { return false };
            let pulse = Pulse::of(kube);
            sender.send_if_modified(|last| std::mem::replace(last, pulse) != pulse);
            sender.receiver_count() > 0
        });
    }

    pub(crate) fn now(&self) -> Instant {
        Instant(self.inner.clock.now().as_millis())
    }

    pub(crate) fn sessions(&self, index: usize) -> std::sync::MutexGuard<'_, Sessions> {
        self.inner.sessions[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the BMC writes into its log.
    pub(crate) fn log_written(&self, index: usize) -> Notified<'_> {
        self.inner.logged[index].notified()
    }

    pub(crate) fn note_firmware_listed(&self, index: usize) {
        let restarts = self.look(|world| world.bmc_restarts(index));
        self.inner.firmware_listed[index].store(restarts + 1, Ordering::Relaxed);
    }

    /// Whether the firmware inventory was listed since the BMC last started.
    pub(crate) fn is_firmware_listed(&self, index: usize) -> bool {
        let restarts = self.look(|world| world.bmc_restarts(index));
        self.inner.firmware_listed[index].load(Ordering::Relaxed) == restarts + 1
    }

    /// The turn to change something through one BMC.
    pub(crate) fn turn(&self, index: usize) -> std::sync::MutexGuard<'_, ()> {
        self.inner.turns[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a BMC's face remembers between requests.
    pub(crate) fn memory(&self, index: usize) -> std::sync::MutexGuard<'_, Memory> {
        self.inner.memories[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the world as it is now. What is seen may be told only after `settle`.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        self.change(|world, _| look(world))
    }

    /// Changes the world as it is now, and wakes whoever waits for it.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut World, Instant) -> T) -> T {
        let mut world = self.inner.world.lock().unwrap_or_else(PoisonError::into_inner);
        let expected = world.next_event_at();
        let now = self.now();
        world.advance(now);
        let result = change(&mut world, now);
        let is_sooner = world.next_event_at().is_some_and(|next| expected.is_none_or(|expected| next < expected));
        if is_sooner || world.has_errands() {
            self.inner.sooner.notify_one();
        }
        for index in world.take_logged() {
            self.inner.logged[index].notify_waiters();
        }
        let pulse = Pulse { version: world.objects().version(), available: world.is_api_available() };
        self.inner.pulse.send_if_modified(|last| std::mem::replace(last, pulse) != pulse);
        self.tell_tenants(&world);
        let revision = world.fault_revision();
        self.inner.fault_revision.send_if_modified(|last| std::mem::replace(last, revision) != revision);
        result
    }

    /// Waits until everything that has happened is durable.
    pub(crate) async fn settle(&self) -> Result<(), StoreError> {
        self.save_with(Vec::new()).await
    }

    pub(crate) async fn save_with(&self, mut records: Vec<Record>) -> Result<(), StoreError> {
        let world = &self.inner.world;
        let take = || {
            records.extend(world.lock().unwrap_or_else(PoisonError::into_inner).take_records());
            records
        };
        self.inner.journal.save(take).await
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("name", &self.inner.layout.site).finish_non_exhaustive()
    }
}

pub(crate) fn parse<T: for<'de> serde::Deserialize<'de>>(key: &str, bytes: &[u8]) -> Result<T, SimError> {
    serde_json::from_slice(bytes).map_err(|source| SimError::Unreadable { key: key.to_owned(), source })
}

fn parse_value<T: for<'de> serde::Deserialize<'de>>(key: &str, value: Value) -> Result<T, SimError> {
    serde_json::from_value(value).map_err(|source| SimError::Unreadable { key: key.to_owned(), source })
}
