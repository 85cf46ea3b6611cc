//! The standing look at what tenants have in the undercloud: virtual machines with their instances, and clusters with their parts.
//!
//! Six kinds are watched; what is told is joined, and told only when it differs from what was told before.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use futures::stream::{self, BoxStream, select_all};
use futures::{Stream, StreamExt};
use kube::api::DynamicObject;
use model::{Fault, PoolSeen, TenantClusterName, TenantClusterSeen, TenantMachineSeen, VmName, VmSeen};

use crate::capi::{self, PartOf, cluster_seen, machine_seen, pool_seen};
use crate::lines::{Line, Lines};
use crate::os_disk::{DATA_VOLUME, DATA_VOLUME_VERSION, OwnedDisk, disk_seen, os_disk_seen};
use crate::source::{CustomResource, Source};
use crate::undercloud::Undercloud;
use crate::vm_seen::{self, NamedInstance, VmPart, instance_seen, vm_part};
use crate::watch::{self, Kind, Told};

/// How many objects of one kind are kept: twenty virtual machines on each of the thousand machines of the largest site.
pub const MOST_VMS: usize = 20_000;

/// How many disks are: the operating system's and two with data for each virtual machine.
pub const MOST_DISKS: usize = 60_000;

pub(crate) const KUBEVIRT_VERSION: &str = "v1";
pub(crate) const VIRTUAL_MACHINE: CustomResource =
    CustomResource { group: "kubevirt.io", kind: "VirtualMachine", plural: "virtualmachines" };
pub(crate) const INSTANCE: CustomResource =
    CustomResource { group: "kubevirt.io", kind: "VirtualMachineInstance", plural: "virtualmachineinstances" };
const CLUSTER: CustomResource = CustomResource { group: "cluster.x-k8s.io", kind: "Cluster", plural: "clusters" };
const DEPLOYMENT: CustomResource = CustomResource { group: "cluster.x-k8s.io", kind: "MachineDeployment", plural: "machinedeployments" };
pub(crate) const MACHINE: CustomResource = CustomResource { group: "cluster.x-k8s.io", kind: "Machine", plural: "machines" };

/// What the watch has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenantsEvent {
    /// Everything there is, once all kinds have been listed. It is said once; later listings are told as changes.
    Listed {
        vms: Vec<VmSeen>,
        clusters: Vec<TenantClusterSeen>,
    },
    VmChanged(VmSeen),
    VmGone {
        name: VmName,
    },
    ClusterChanged(TenantClusterSeen),
    ClusterGone {
        name: TenantClusterName,
    },
    /// The API server answers, and no watch is cut.
    Heard,
    /// One of the watches is cut for now. The others may go on.
    Lost(Fault),
}

impl Undercloud {
    /// Tenants' virtual machines and clusters now and their changes from now on, for as long as the stream is polled. It never
    /// ends. An undercloud without KubeVirt has no virtual machines, and one without Cluster API no tenant clusters.
    pub fn watch_tenants(&self) -> impl Stream<Item = TenantsEvent> + Send + use<> {
        let installed = |resource, version| Source::installed(&self.client, &self.tenant_namespace, resource, version);
        let preferred = |resource| Source::preferred(&self.client, &self.tenant_namespace, resource);
        let pieces: [BoxStream<'static, Piece>; 6] = [
            follow(installed(VIRTUAL_MACHINE, KUBEVIRT_VERSION), VIRTUAL_MACHINE, vm_part).map(Piece::Vm).boxed(),
            follow(installed(INSTANCE, KUBEVIRT_VERSION), INSTANCE, instance_seen).map(Piece::Instance).boxed(),
            follow(preferred(CLUSTER), CLUSTER, cluster_seen).map(Piece::Cluster).boxed(),
            follow(preferred(DEPLOYMENT), DEPLOYMENT, pool_seen).map(Piece::Pool).boxed(),
            follow(preferred(MACHINE), MACHINE, machine_seen).map(Piece::Machine).boxed(),
            follow(installed(DATA_VOLUME, DATA_VOLUME_VERSION), DATA_VOLUME, disk_seen).map(Piece::Disk).boxed(),
        ];
        let joiner = (select_all(pieces), Joiner::default(), VecDeque::new());
        stream::unfold(joiner, |(mut pieces, mut joiner, mut waiting)| async move {
            loop {
                if let Some(event) = waiting.pop_front() {
                    return Some((event, (pieces, joiner, waiting)));
                }
                waiting.extend(joiner.take(pieces.next().await?));
            }
        })
    }
}

fn follow<S: Send + 'static>(
    source: Source<DynamicObject>,
    resource: CustomResource,
    see: fn(&DynamicObject) -> Option<S>,
) -> impl Stream<Item = Told<S>> + Send + use<S> {
    let most = if resource == DATA_VOLUME { MOST_DISKS } else { MOST_VMS };
    watch::follow(Kind { source, plural: resource.plural, see, most })
}

enum Piece {
    Vm(Told<VmPart>),
    Instance(Told<NamedInstance>),
    Cluster(Told<TenantClusterSeen>),
    Pool(Told<PartOf<PoolSeen>>),
    Machine(Told<PartOf<TenantMachineSeen>>),
    Disk(Told<OwnedDisk>),
}

impl Piece {
    fn number(&self) -> u8 {
        match self {
            Piece::Vm(_) => 0,
            Piece::Instance(_) => 1,
            Piece::Cluster(_) => 2,
            Piece::Pool(_) => 3,
            Piece::Machine(_) => 4,
            Piece::Disk(_) => 5,
        }
    }

    /// The fault that it tells of, if it does.
    fn in_brief(&self) -> Told<()> {
        let (Piece::Vm(Told::Lost(fault))
        | Piece::Instance(Told::Lost(fault))
        | Piece::Cluster(Told::Lost(fault))
        | Piece::Pool(Told::Lost(fault))
        | Piece::Machine(Told::Lost(fault))
        | Piece::Disk(Told::Lost(fault))) = self
        else {
            return Told::Heard;
        };
        Told::Lost(fault.clone())
    }
}

/// One kind of object, by the names that the undercloud gives them.
struct Shelf<S> {
    by_name: BTreeMap<String, S>,
    is_listed: bool,
}

impl<S> Default for Shelf<S> {
    fn default() -> Self {
        Shelf { by_name: BTreeMap::new(), is_listed: false }
    }
}

/// What a piece of news does to a shelf.
enum News<K> {
    /// What these belong to may look different now.
    About(BTreeSet<K>),
    Heard,
    Lost(Fault),
}

impl<S> Shelf<S> {
    /// Takes news in. `name` is what an object is called, `key` what it is joined by.
    fn take<K: Ord>(&mut self, told: Told<S>, name: impl Fn(&S) -> String, key: impl Fn(&S) -> K) -> News<K> {
        match told {
            Told::Listed(all) => {
                let mut concerned: BTreeSet<K> = self.by_name.values().map(&key).collect();
                self.by_name = all.into_iter().map(|one| (name(&one), one)).collect();
                concerned.extend(self.by_name.values().map(&key));
                self.is_listed = true;
                News::About(concerned)
            }
            Told::Changed(one) => {
                let now = key(&one);
                let before = self.by_name.insert(name(&one), one);
                News::About(before.iter().map(&key).chain([now]).collect())
            }
            Told::Gone { name, .. } => News::About(self.by_name.remove(&name).iter().map(&key).collect()),
            Told::Heard => News::Heard,
            Told::Lost(fault) => News::Lost(fault),
        }
    }
}

#[derive(Default)]
struct Joiner {
    vms: Shelf<VmPart>,
    instances: Shelf<NamedInstance>,
    clusters: Shelf<TenantClusterSeen>,
    pools: Shelf<PartOf<PoolSeen>>,
    machines: Shelf<PartOf<TenantMachineSeen>>,
    disks: Shelf<OwnedDisk>,
    lines: Lines,
    told: Option<Picture>,
}

/// What was told last.
#[derive(Default)]
struct Picture {
    vms: BTreeMap<VmName, VmSeen>,
    clusters: BTreeMap<TenantClusterName, TenantClusterSeen>,
}

impl Joiner {
    fn take(&mut self, piece: Piece) -> Vec<TenantsEvent> {
        let line = self.lines.note(piece.number(), &piece.in_brief());
        let mut events = self.events_of(piece);
        match line {
            Line::Cut => events.retain(|event| *event != TenantsEvent::Heard),
            Line::WellAgain if !events.contains(&TenantsEvent::Heard) => events.push(TenantsEvent::Heard),
            Line::Well | Line::WellAgain => {}
        }
        events
    }

    fn events_of(&mut self, piece: Piece) -> Vec<TenantsEvent> {
        let about_vms = match piece {
            Piece::Vm(told) => self.vms.take(told, |part| part.vm.name.key(), |part| part.vm.name.clone()),
            Piece::Disk(told) => self.disks.take(told, |disk| disk.disk.name.clone(), |disk| disk.vm.clone()),
            Piece::Instance(told) => self.instances.take(told, |instance| instance.vm.key(), |instance| instance.vm.clone()),
            Piece::Cluster(told) => {
                let news = self.clusters.take(told, |cluster| cluster.name.key(), |cluster| cluster.name.clone());
                return self.tell_clusters(news);
            }
            Piece::Pool(told) => {
                let news = self.pools.take(told, |pool| pool.name.clone(), |pool| pool.cluster.clone());
                return self.tell_clusters(news);
            }
            Piece::Machine(told) => {
                let news = self.machines.take(told, |machine| machine.name.clone(), |machine| machine.cluster.clone());
                return self.tell_clusters(news);
            }
        };
        self.tell(about_vms, Joiner::tell_vm)
    }

    fn tell_clusters(&mut self, news: News<TenantClusterName>) -> Vec<TenantsEvent> {
        self.tell(news, Joiner::tell_cluster)
    }

    fn tell<K>(&mut self, news: News<K>, tell_one: impl Fn(&mut Joiner, K) -> Option<TenantsEvent>) -> Vec<TenantsEvent> {
        let concerned = match news {
            News::About(concerned) => concerned,
            News::Heard => return vec![TenantsEvent::Heard],
            News::Lost(fault) => return vec![TenantsEvent::Lost(fault)],
        };
        if self.told.is_none() {
            return vec![self.first_listing().unwrap_or(TenantsEvent::Heard)];
        }
        let events: Vec<TenantsEvent> = concerned.into_iter().filter_map(|key| tell_one(self, key)).collect();
        if events.is_empty() { vec![TenantsEvent::Heard] } else { events }
    }

    fn first_listing(&mut self) -> Option<TenantsEvent> {
        let are_vms_listed = self.vms.is_listed && self.instances.is_listed && self.disks.is_listed;
        let all_listed = are_vms_listed && self.clusters.is_listed && self.pools.is_listed && self.machines.is_listed;
        all_listed.then(|| {
            let vms: Vec<VmSeen> = self.vms.by_name.values().map(|part| self.joined_vm(part)).collect();
            let clusters: Vec<TenantClusterSeen> = self.clusters.by_name.values().map(|cluster| self.joined(cluster)).collect();
            self.told = Some(Picture {
                vms: vms.iter().map(|vm| (vm.name.clone(), vm.clone())).collect(),
                clusters: clusters.iter().map(|cluster| (cluster.name.clone(), cluster.clone())).collect(),
            });
            TenantsEvent::Listed { vms, clusters }
        })
    }

    fn joined_vm(&self, VmPart { vm, os_disk }: &VmPart) -> VmSeen {
        let mut joined = vm_seen::joined(vm, self.instances.by_name.get(&vm.name.key()));
        joined.os_disk = os_disk.as_ref().map(|name| os_disk_seen(self.disks.by_name.get(name)));
        joined
    }

    fn joined(&self, cluster: &TenantClusterSeen) -> TenantClusterSeen {
        let pools = self.pools.by_name.values().filter(|pool| pool.cluster == cluster.name).map(|pool| pool.part.clone());
        let machines = self.machines.by_name.values().filter(|machine| machine.cluster == cluster.name).map(|machine| machine.part.clone());
        capi::joined(cluster, pools.collect(), machines.collect())
    }

    fn tell_vm(&mut self, name: VmName) -> Option<TenantsEvent> {
        let now = self.vms.by_name.get(&name.key()).map(|part| self.joined_vm(part));
        let told = &mut self.told.as_mut()?.vms;
        match now {
            Some(now) if told.get(&name) == Some(&now) => None,
            Some(now) => {
                told.insert(name, now.clone());
                Some(TenantsEvent::VmChanged(now))
            }
            None => told.remove(&name).map(|_| TenantsEvent::VmGone { name }),
        }
    }

    fn tell_cluster(&mut self, name: TenantClusterName) -> Option<TenantsEvent> {
        let now = self.clusters.by_name.get(&name.key()).map(|cluster| self.joined(cluster));
        let told = &mut self.told.as_mut()?.clusters;
        match now {
            Some(now) if told.get(&name) == Some(&now) => None,
            Some(now) => {
                told.insert(name, now.clone());
                Some(TenantsEvent::ClusterChanged(now))
            }
            None => told.remove(&name).map(|_| TenantsEvent::ClusterGone { name }),
        }
    }
}
