//! What an action would do: `?preview=true` on an action of a machine.

use super::Shape::{Flag, List, Object, OneOf, Text, Whole};
use super::machines::HOLD;
use super::{Model, TEXTS, always, sometimes};

pub(crate) const PREVIEW: Model = Model {
    name: "Preview",
    about: "What an action would do to a machine, a virtual machine or a tenant's node, and to what runs there. Nothing was done. Pods beyond the first 500 are counted only.",
    fields: &[
        always("target", Text),
        always("machine", Text).nullable(),
        always("action", Text),
        always("disruptive", Flag),
        always("refusal", Object(&REFUSAL)).nullable(),
        always("virtualMachines", List(&Object(&VM))),
        always("nodes", List(&Object(&NODE))),
        always("pods", List(&Object(&POD))),
        always("morePods", Whole),
        always("budgets", List(&Object(&BUDGET))),
        always("quorum", Object(&QUORUM)).nullable(),
        always("tenantQuorums", List(&Object(&TENANT_QUORUM))),
        always("holds", List(&Object(&HOLD))),
        always("runtime", Text).nullable(),
        always("duration", Object(&DURATION)),
        always("warnings", TEXTS),
        always("unknowns", TEXTS),
    ],
};

pub(super) const REFUSAL: Model = Model {
    name: "PreviewedRefusal",
    about: "Why the action would be refused.",
    fields: &[always("code", Text), always("rule", Text), always("message", Text), always("evidence", TEXTS), always("remedy", Text)],
};

const VM: Model = Model {
    name: "PreviewedVirtualMachine",
    about: "What becomes of a virtual machine on the machine.",
    fields: &[
        always("name", Text),
        always("state", Text),
        always("nodeOf", Text).nullable(),
        always("outcome", OneOf(&["stopped", "staysStopped", "started", "lost", "untouched", "restarted", "reimaged", "deleted"])),
    ],
};

const NODE: Model = Model {
    name: "PreviewedNode",
    about: "What becomes of a tenant cluster's node on the machine.",
    fields: &[
        always("cluster", Text),
        always("node", Text),
        always("drainPolicy", OneOf(&["wait", "hold", "force"])),
        always("outcome", OneOf(&["drained", "passedOver", "uncordoned", "staysCordoned", "restarted"])),
        sometimes("why", Text),
        sometimes("afterSeconds", Whole),
    ],
};

const POD: Model = Model {
    name: "PreviewedPod",
    about: "What becomes of a pod on such a node.",
    fields: &[
        always("cluster", Text),
        always("pod", Text),
        always("node", Text),
        always("outcome", OneOf(&["moves", "pending", "ends", "staysWithNode", "blocked", "lost", "stuck"])),
        sometimes("to", Text),
        sometimes("missing", Object(&AMOUNT)),
        sometimes("budget", Text),
        sometimes("why", Text),
    ],
};

const AMOUNT: Model = Model {
    name: "Amount",
    about: "Processor time and memory.",
    fields: &[always("cpuMillis", Whole), always("memoryBytes", Whole), always("inWords", Text)],
};

const BUDGET: Model = Model {
    name: "PreviewedBudget",
    about: "A disruption budget that has a say: what it allows now, and how many pods would have to go.",
    fields: &[
        always("cluster", Text),
        always("budget", Text),
        always("allowed", Whole),
        always("affected", Whole),
        always("blocking", Flag),
        always("why", Text),
    ],
};

const QUORUM: Model = Model {
    name: "PreviewedQuorum",
    about: "The control plane's votes before and after.",
    fields: &[always("members", Whole), always("needed", Whole), always("votingBefore", Whole), always("votingAfter", Whole)],
};

const TENANT_QUORUM: Model = Model {
    name: "PreviewedTenantQuorum",
    about: "The nodes of a tenant cluster's control plane that run before and after. With fewer than are needed its API does not answer.",
    fields: &[
        always("cluster", Text),
        always("members", Whole),
        always("needed", Whole),
        always("votingBefore", Whole),
        always("votingAfter", Whole),
        always("lost", Flag),
    ],
};

const DURATION: Model = Model {
    name: "PreviewedDuration",
    about: "How long it is expected to take, when it would be given up, and where the expectation comes from.",
    fields: &[always("expectedSeconds", Whole), always("atMostSeconds", Whole), always("basis", Text)],
};
