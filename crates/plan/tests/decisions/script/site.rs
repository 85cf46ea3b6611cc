//! The first part of a script: what stands where, and how it is.

use model::{
    ClusterStatus, Connection, Delivery, Fault, FaultClass, Hold, HoldOwner, Machine, Management, NodeSeen, Power, Provisioning, Readiness,
    Role, Timestamp,
};

use crate::desk;

/// A machine as it really is, whether or not anybody looks.
pub struct Body {
    pub power: Power,
    pub node: Option<NodeSeen>,
    pub boots: u32,
    pub bmc_fault: Option<Fault>,
    pub reply: Reply,
    /// Nobody has looked at it yet, and `look` passes it by.
    pub unseen: bool,
}

/// How a machine's devices answer requests.
pub enum Reply {
    Obey,
    Refuse(Fault),
    Hang,
}

pub fn parse_machine(line: &str, now: Timestamp) -> (Machine, Body) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (role, provisioning) = parse_kind(words[1]);
    let mut machine = desk::machine(words[0], role, provisioning, now);
    let mut body = Body { power: parse_power(words[2]).unwrap(), node: None, boots: 1, bmc_fault: None, reply: Reply::Obey, unseen: false };
    for word in &words[3..] {
        match *word {
            "cordoned" => set_cordon(&mut body.node, true),
            "by-hand" => body.node.as_mut().unwrap().cordoned_by_us = false,
            "unseen" => body.unseen = true,
            "unmanaged" => {
                machine.management = Management::Unmanaged { by: "bob".into(), reason: "broken fan".into(), since: now };
            }
            ready => {
                let node = NodeSeen { ready: parse_readiness(ready).unwrap(), ..desk::node(words[0], 1) };
                body.node = Some(node);
            }
        }
    }
    if body.node.as_ref().is_some_and(|node| node.cordoned_by_us) {
        machine.holds.push(Hold { owner: HoldOwner::User { caller: "bob".into() }, reason: "cordoned by a person".into(), since: now });
    }
    (machine, body)
}

fn parse_kind(word: &str) -> (Role, Provisioning) {
    match word {
        "kcp" => (Role::ControlPlane, Provisioning::Provisioned),
        "spare" => (Role::ControlPlane, Provisioning::Available),
        "compute" => (Role::Compute, Provisioning::Provisioned),
        "management" => (Role::Management, Provisioning::Provisioned),
        "preparing" => (Role::Compute, Provisioning::Preparing),
        other => panic!("`{other}` is no kind of machine"),
    }
}

pub fn parse_power(word: &str) -> Option<Power> {
    match word {
        "on" => Some(Power::On),
        "off" => Some(Power::Off),
        "powering-on" => Some(Power::PoweringOn),
        "powering-off" => Some(Power::PoweringOff),
        _ => None,
    }
}

pub fn parse_readiness(word: &str) -> Option<Readiness> {
    match word {
        "ready" => Some(Readiness::True),
        "notready" => Some(Readiness::False),
        "unknown" => Some(Readiness::Unknown),
        _ => None,
    }
}

/// `busy`, or `busy maybe` where the request may have arrived all the same.
pub fn parse_fault(words: &[&str]) -> Fault {
    let class = match words[0] {
        "unreachable" => FaultClass::Unreachable,
        "busy" => FaultClass::Busy,
        "denied" => FaultClass::Denied,
        "untrusted" => FaultClass::Untrusted,
        "no-login" => FaultClass::NoLogin,
        "unsupported" => FaultClass::Unsupported,
        "missing" => FaultClass::Missing,
        "garbled" => FaultClass::Garbled,
        other => panic!("`{other}` is no fault"),
    };
    let delivery = if words.get(1) == Some(&"maybe") { Delivery::Maybe } else { Delivery::No };
    Fault::new(class, delivery, "as the story says")
}

pub fn parse_cluster_word(cluster: &mut model::Cluster, word: &str) {
    match word {
        "Updating" => cluster.detailed_status = ClusterStatus::Updating,
        "Failed" => cluster.detailed_status = ClusterStatus::Failed,
        "Timeout" => cluster.connection = Connection::Timeout,
        other => panic!("`{other}` is no state of a cluster"),
    }
}

pub fn set_cordon(node: &mut Option<NodeSeen>, cordoned: bool) {
    let node = node.as_mut().expect("a machine without a node cannot be cordoned");
    node.unschedulable = cordoned;
    node.cordoned_by_us = cordoned;
}
