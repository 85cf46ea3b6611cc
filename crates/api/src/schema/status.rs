//! The whole picture in one answer, and whether the process lives.

use super::Shape::{Flag, Instant, List, Object, OneOf, Text, Whole};
use super::machines::{CORDONED_NODE, FAULT, WAIT};
use super::operations::OPERATION;
use super::{Model, TEXTS, always, sometimes};

pub(crate) const HEALTH: Model = Model { name: "Health", about: "Whether the process lives.", fields: &[always("status", Text)] };

pub(crate) const STATUS: Model = Model {
    name: "Status",
    about: "What every cluster is doing.",
    fields: &[always("at", Instant), always("clusters", List(&Object(&CLUSTER_STATUS)))],
};

const CLUSTER_STATUS: Model = Model {
    name: "ClusterStatus",
    about: "What one cluster is doing, and which operations failed within the last hour. Long lists are cut, and their counts tell how long they are.",
    fields: &[
        always("name", Text),
        always("resourceGroup", Text),
        always("detailedStatus", Text),
        always("connection", Text),
        always("connectionSince", Instant),
        always("keeper", Object(&KEEPER)),
        sometimes("lastKnown", Object(&LAST_KNOWN)),
        sometimes("siteFileRefused", Object(&SITE_FILE_REFUSED)),
        always("undercloudFault", Object(&FAULT)).nullable(),
        always("clusterWaits", List(&Object(&WAIT))),
        always("machines", Object(&COUNTS)),
        always("controlPlane", List(&Object(&MEMBER))),
        always("workloads", Object(&WORKLOADS)),
        always("evacuated", List(&Object(&EVACUATED))),
        always("degraded", List(&Object(&DEGRADED))),
        always("operationCount", Whole),
        always("operations", List(&Object(&OPERATION))),
        always("failedCount", Whole),
        always("failed", List(&Object(&OPERATION))),
        always("waitCount", Whole),
        always("waits", List(&Object(&MACHINE_WAIT))),
    ],
};

const KEEPER: Model = Model {
    name: "KeeperState",
    about: "How the cluster's keeper in this process is doing.",
    fields: &[
        always("state", OneOf(&["Absent", "Starting", "AwaitingLease", "Keeping", "Failing"])),
        sometimes("since", Instant),
        sometimes("error", Text),
    ],
};

const SITE_FILE_REFUSED: Model = Model {
    name: "SiteFileRefused",
    about: "A change of the site file that was not taken over; the site is kept as it was described before.",
    fields: &[always("since", Instant), always("problem", Text)],
};

const LAST_KNOWN: Model = Model {
    name: "LastKnown",
    about: "How old what is known of a cluster's machines is: when the one that was silent longest last answered, and the one that was heard last.",
    fields: &[
        sometimes("oldestAt", Instant),
        sometimes("oldestAgeSeconds", Whole),
        sometimes("newestAt", Instant),
        sometimes("newestAgeSeconds", Whole),
        always("unseen", Whole),
    ],
};

const COUNTS: Model = Model {
    name: "MachineCounts",
    about: "How many machines are so. Each is ready, off, spare or notReady; in the others it may count as well.",
    fields: &[
        always("total", Whole),
        always("ready", Whole),
        always("off", Whole),
        always("spare", Whole),
        always("notReady", Whole),
        always("cordoned", Whole),
        always("unmanaged", Whole),
        always("notLookedAt", Whole),
        always("degraded", Whole),
        always("bmcUnreachable", Whole),
        always("bmcTroubled", Whole),
    ],
};

const MEMBER: Model = Model {
    name: "ControlPlaneMember",
    about: "A control-plane machine.",
    fields: &[always("machine", Text), always("spare", Flag), always("ready", Flag)],
};

const WORKLOADS: Model = Model {
    name: "WorkloadCounts",
    about: "How many virtual machines and tenants' clusters there are, and how they are.",
    fields: &[
        always("virtualMachines", Whole),
        always("running", Whole),
        always("stopped", Whole),
        always("starting", Whole),
        always("stopping", Whole),
        always("failing", Whole),
        always("unknown", Whole),
        always("kubernetesClusters", Whole),
        always("silentClusters", Whole),
        always("nodes", Whole),
        always("readyNodes", Whole),
    ],
};

const EVACUATED: Model = Model {
    name: "EvacuatedMachine",
    about: "A machine that was emptied, with what waits to come back.",
    fields: &[
        always("machine", Text),
        always("by", Text),
        always("since", Instant),
        always("virtualMachines", TEXTS),
        always("nodes", List(&Object(&CORDONED_NODE))),
    ],
};

const DEGRADED: Model = Model {
    name: "DegradedMachine",
    about: "A machine whose node tells of something wrong.",
    fields: &[always("machine", Text), always("problems", TEXTS)],
};

const MACHINE_WAIT: Model = Model {
    name: "MachineWait",
    about: "What a machine waits for.",
    fields: &[
        always("machine", Text),
        always("code", Text),
        always("what", Text),
        always("brief", Text),
        always("since", Instant),
        always("endsWhen", Text),
        always("expectedBy", Instant).nullable(),
        always("late", Flag),
    ],
};
