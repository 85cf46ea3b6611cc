//! `[simulated]`: what a simulator puts on the machines. A control plane reads it, so that a mistake is told, and makes
//! nothing of it.

use std::str::FromStr;

use model::Role;
use sim::{ClusterNode, Tenancy, TenancyError, TenantCluster, TenantVm, VmDisk, VmManner, VmPower, Workload, WorkloadKind};

use super::page::{Located, Page, Problems};
use super::section::Section;
use super::tables::MachineTable;

/// A virtual machine fits on one simulated machine.
const CORES_MAX: u32 = 96;
const MEMORY_GIB_MAX: u32 = 480;

/// A pod's share of a core, and its memory.
const CPU_MILLIS_MAX: u32 = 96_000;
const MEMORY_MIB_MAX: u32 = 480 * 1_024;

const REPLICAS_MAX: u32 = 1_000;

/// How many cores and GiB a virtual machine has if nobody says.
const CORES: u32 = 4;
const MEMORY_GIB: u32 = 16;

/// What was read, with the line of everything that names a machine.
#[derive(Debug, Default)]
pub struct SimulatedTable {
    pub tenancy: Tenancy,
    placed: Vec<Placed>,
}

/// Something on a machine, and where the file says so.
#[derive(Debug)]
struct Placed {
    name: Located<String>,
    machine: Located<String>,
}

/// A name that Kubernetes takes.
#[derive(Debug)]
struct TenantName(String);

impl FromStr for TenantName {
    type Err = TenancyError;

    fn from_str(text: &str) -> Result<TenantName, TenancyError> {
        sim::check_tenant_name(text).map(|()| TenantName(text.to_owned()))
    }
}

/// One of a few words.
#[derive(Clone, Copy, Debug)]
struct DiskWord(VmDisk);

impl FromStr for DiskWord {
    type Err = String;

    fn from_str(text: &str) -> Result<DiskWord, String> {
        match text {
            "persistent" => Ok(DiskWord(VmDisk::Persistent)),
            "ephemeral" => Ok(DiskWord(VmDisk::Ephemeral)),
            other => Err(format!("`{other}` is no kind of disk; there are `persistent` and `ephemeral`")),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct KindWord(WorkloadKind);

impl FromStr for KindWord {
    type Err = String;

    fn from_str(text: &str) -> Result<KindWord, String> {
        match text {
            "deployment" => Ok(KindWord(WorkloadKind::Deployment)),
            "statefulset" => Ok(KindWord(WorkloadKind::StatefulSet)),
            "daemonset" => Ok(KindWord(WorkloadKind::DaemonSet)),
            "bare" => Ok(KindWord(WorkloadKind::Bare)),
            other => Err(format!("`{other}` is no kind of workload; there are `deployment`, `statefulset`, `daemonset` and `bare`")),
        }
    }
}

pub fn simulated(mut section: Section<'_>) -> SimulatedTable {
    let vms = section.each("virtual-machine", "[[simulated.virtual-machine]]", virtual_machine);
    let clusters = section.each("kubernetes-cluster", "[[simulated.kubernetes-cluster]]", cluster);
    section.finish();
    let mut table = SimulatedTable::default();
    for (vm, placed) in vms {
        table.tenancy.vms.push(vm);
        table.placed.push(placed);
    }
    for (cluster, placed) in clusters {
        table.tenancy.clusters.push(cluster);
        table.placed.extend(placed);
    }
    table
}

fn virtual_machine(mut section: Section<'_>) -> Option<(TenantVm, Placed)> {
    let name = section.parsed::<TenantName>("name");
    let machine = section.text("machine");
    let (cores, memory_gib) = size(&mut section);
    let power = if section.flag("running").is_none_or(|running| running.value) { VmPower::Running } else { VmPower::Stopped };
    let ignores = section.flag("ignores-shutdown").is_some_and(|ignores| ignores.value);
    let manner = if ignores { VmManner::Stubborn } else { VmManner::Obedient };
    let disk = section.parsed_if_given::<DiskWord>("disk").map_or(VmDisk::Persistent, |disk| disk.value.0);
    section.finish();
    let (name, machine) = (name?.map(|name| name.0), machine?);
    let vm = TenantVm { name: name.value.clone(), machine: machine.value.clone(), cores, memory_gib, power, disk, manner };
    Some((vm, Placed { name, machine }))
}

fn cluster(mut section: Section<'_>) -> Option<(TenantCluster, Vec<Placed>)> {
    let line = section.line;
    let name = section.parsed::<TenantName>("name");
    let version = section.text("version");
    let nodes = section.each("node", "[[simulated.kubernetes-cluster.node]]", node);
    let workloads = section.each("workload", "[[simulated.kubernetes-cluster.workload]]", workload);
    if !nodes.iter().any(|(node, _)| node.pool.is_none()) {
        section.problem(line, "a Kubernetes cluster has at least one node of the control plane: a `node` without `pool`");
    }
    section.finish();
    let (nodes, placed) = nodes.into_iter().unzip();
    Some((TenantCluster { name: name?.value.0, version: version?.value, nodes, workloads }, placed))
}

fn node(mut section: Section<'_>) -> Option<(ClusterNode, Placed)> {
    let name = section.parsed::<TenantName>("name");
    let machine = section.text("machine");
    let pool = section.parsed_if_given::<TenantName>("pool").map(|pool| pool.value.0);
    let (cores, memory_gib) = size(&mut section);
    section.finish();
    let (name, machine) = (name?.map(|name| name.0), machine?);
    let node = ClusterNode { name: name.value.clone(), machine: machine.value.clone(), pool, cores, memory_gib };
    Some((node, Placed { name, machine }))
}

fn workload(mut section: Section<'_>) -> Option<Workload> {
    let kind = section.parsed::<KindWord>("kind");
    let name = section.parsed::<TenantName>("name");
    let replicas = section.number_if_given("replicas", 0, REPLICAS_MAX).unwrap_or(1);
    let cpu_millis = section.number_if_given("cpu-millis", 1, CPU_MILLIS_MAX);
    let memory_mib = section.number_if_given("memory-mib", 1, MEMORY_MIB_MAX);
    let min_available = section.number_if_given("min-available", 0, REPLICAS_MAX);
    section.finish();
    let plain = Workload::new(kind?.value.0, &name?.value.0, replicas);
    let (cpu_millis, memory_mib) = (cpu_millis.unwrap_or(plain.cpu_millis), memory_mib.unwrap_or(plain.memory_mib));
    Some(Workload { cpu_millis, memory_mib, min_available, ..plain })
}

fn size(section: &mut Section<'_>) -> (u32, u32) {
    let cores = section.number_if_given("cores", 1, CORES_MAX).unwrap_or(CORES);
    (cores, section.number_if_given("memory-gib", 1, MEMORY_GIB_MAX).unwrap_or(MEMORY_GIB))
}

/// Whether everything is on a compute machine of the file, and nothing is there twice.
pub fn check(page: &Page, simulated: &SimulatedTable, machines: &[MachineTable], problems: &mut Problems) {
    let mut seen: Vec<&Located<String>> = Vec::new();
    for Placed { name, machine } in &simulated.placed {
        match seen.iter().find(|known| known.value == name.value) {
            Some(first) => problems.note(page, name.line, format!("`{}` is on line {} already", name.value, first.line)),
            None => seen.push(name),
        }
        let found = machines.iter().find(|known| known.name.value.as_str() == machine.value);
        let (asked, whose) = (&machine.value, &name.value);
        match found {
            None => problems.note(page, machine.line, format!("`{whose}` is on `{asked}`, which is not described")),
            Some(found) if found.role.value != Role::Compute => {
                problems.note(page, machine.line, format!("`{whose}` is on `{asked}`, which is no compute machine"));
            }
            Some(_) => {}
        }
    }
}
