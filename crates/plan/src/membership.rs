//! Whose a member of etcd is. Its name tells, if it is the name of a machine or of a machine's node; else the host of its peer URLs.
//!
//! A voter that is nobody's by either may be anybody's: whoever has no member of their own is not taken for one without a vote then.

use std::net::IpAddr;

use model::{EtcdMember, EtcdSeen, Machine, MachineName, NodeSeen, Seen, Site, Timestamp};

use crate::enroll::{Stored, enroll};
use crate::snapshot::Snapshot;

/// The member that is, or is to be, this machine's. `peer_url` is how one that has not been heard from yet was added.
pub(crate) fn member_of<'a>(snapshot: &Snapshot, seen: &'a EtcdSeen, machine: &Machine, peer_url: Option<&str>) -> Option<&'a EtcdMember> {
    let was_added =
        |member: &EtcdMember| member.name.is_empty() && peer_url.is_some_and(|url| member.peer_urls.iter().any(|own| own == url));
    seen.members.iter().find(|member| is_of(snapshot, member, machine) || was_added(member))
}

/// Whether a machine has a member that votes, or may have one.
pub(crate) fn may_have_vote(snapshot: &Snapshot, seen: &EtcdSeen, machine: &Machine) -> bool {
    match member_of(snapshot, seen, machine, None) {
        Some(member) => !member.is_learner,
        None => strangers(snapshot, seen).next().is_some(),
    }
}

/// Whether a machine has a member that votes, without any doubt.
pub(crate) fn has_vote(snapshot: &Snapshot, seen: &EtcdSeen, machine: &Machine) -> bool {
    member_of(snapshot, seen, machine, None).is_some_and(|member| !member.is_learner)
}

/// A learner that is not this machine's, in words.
pub(crate) fn learner_beside(snapshot: &Snapshot, seen: &EtcdSeen, machine: &Machine, peer_url: Option<&str>) -> Option<String> {
    let own = member_of(snapshot, seen, machine, peer_url);
    seen.members.iter().find(|member| member.is_learner && own.is_none_or(|own| own.id != member.id)).map(described)
}

/// Why it cannot be told whether the machine has a member.
pub(crate) fn doubt(snapshot: &Snapshot, seen: &EtcdSeen, machine: &Machine, peer_url: Option<&str>) -> Option<String> {
    if member_of(snapshot, seen, machine, peer_url).is_some() {
        return None;
    }
    let strangers: Vec<String> = strangers(snapshot, seen).map(described).collect();
    (!strangers.is_empty()).then(|| {
        format!("etcd lists {}, which is no machine's by name or address, and nothing that is `{}`'s", strangers.join(", "), machine.name)
    })
}

/// A machine of the control plane that should have a vote in etcd, and has none that could be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voteless {
    pub machine: MachineName,
    /// Why it may have one all the same.
    pub doubt: Option<String>,
}

/// Active machines of the control plane without a member that votes, of a site that nobody keeps yet.
pub fn voteless(site: &Site, nodes: &[NodeSeen], seen: &EtcdSeen) -> Vec<Voteless> {
    let Some(snapshot) = sighted(site, nodes) else { return Vec::new() };
    let active = snapshot.control_plane().filter(|machine| machine.is_active_kcp());
    let without = active.filter(|machine| !has_vote(&snapshot, seen, machine));
    without.map(|machine| Voteless { machine: machine.name.clone(), doubt: doubt(&snapshot, seen, machine, None) }).collect()
}

/// A described site with its nodes; nothing if something speaks against the description, which is told by itself.
fn sighted(site: &Site, nodes: &[NodeSeen]) -> Option<Snapshot> {
    let at = Timestamp::EPOCH;
    let enrolled = enroll(&Stored::default(), site, at).ok()?;
    let mut snapshot = Snapshot::new(enrolled.cluster?, at);
    for mut machine in enrolled.machines.into_values() {
        let node = nodes.iter().find(|node| node.machine.eq_ignore_ascii_case(machine.name.as_str()));
        machine.last_seen.node = node.map(|node| Seen { what: node.clone(), at });
        snapshot.set_machine(machine);
    }
    Some(snapshot)
}

fn described(member: &EtcdMember) -> String {
    let name = if member.name.is_empty() { "a member without a name".to_owned() } else { format!("`{}`", member.name) };
    format!("{name} ({}, id {})", member.peer_urls.join(" "), member.id)
}

/// Voters that are no machine's of the site.
fn strangers<'a>(snapshot: &'a Snapshot, seen: &'a EtcdSeen) -> impl Iterator<Item = &'a EtcdMember> {
    let voters = seen.members.iter().filter(|member| !member.is_learner);
    voters.filter(|member| !is_named_after_any(snapshot, member) && !snapshot.control_plane().any(|machine| has_address(machine, member)))
}

/// Whether a member is this machine's.
pub(crate) fn is_of(snapshot: &Snapshot, member: &EtcdMember, machine: &Machine) -> bool {
    is_named_after(machine, member) || (!is_named_after_any(snapshot, member) && has_address(machine, member))
}

fn is_named_after(machine: &Machine, member: &EtcdMember) -> bool {
    !member.name.is_empty() && names(machine).any(|name| name.eq_ignore_ascii_case(&member.name))
}

fn is_named_after_any(snapshot: &Snapshot, member: &EtcdMember) -> bool {
    let is_a_machine = || model::MachineName::new(member.name.as_str()).is_ok_and(|name| snapshot.machines.contains_key(&name));
    snapshot.control_plane().any(|machine| is_named_after(machine, member)) || is_a_machine()
}

fn node(machine: &Machine) -> Option<&NodeSeen> {
    machine.last_seen.node.as_ref().map(|node| &node.what)
}

fn names(machine: &Machine) -> impl Iterator<Item = &str> {
    [Some(machine.name.as_str()), node(machine).map(|node| node.name.as_str())].into_iter().flatten()
}

fn has_address(machine: &Machine, member: &EtcdMember) -> bool {
    let address = node(machine).and_then(|node| node.internal_ip.as_deref());
    let own: Vec<&str> = names(machine).chain(address).collect();
    member.peer_urls.iter().filter_map(|url| host(url)).any(|host| own.iter().any(|own| is_same_host(own, host)))
}

fn is_same_host(one: &str, other: &str) -> bool {
    match (one.parse::<IpAddr>(), other.parse::<IpAddr>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one.eq_ignore_ascii_case(other),
    }
}

/// `10.0.0.1` of `https://10.0.0.1:2380`.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split('/').next()?;
    match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next(),
        None => authority.split(':').next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINES: [&str; 3] = ["rack1control01", "rack2control01", "rack3control01"];

    fn site() -> Site {
        let machine = |name: &str| model::SiteMachine {
            name: MachineName::new(name).unwrap(),
            role: model::Role::ControlPlane,
            standing: model::Standing::Provisioned,
            install: model::InstallSettings::default(),
            hardware: model::Hardware {
                rack: model::RackName::new("rack1").unwrap(),
                slot: 1,
                sku: "any".into(),
                serial_number: name.into(),
                bmc_address: format!("http://{name}.invalid"),
                bmc_mac: "00:00:00:00:00:01".into(),
                boot_mac: "00:00:00:00:00:02".into(),
                credentials: model::SecretRef::new(format!("bmc/{name}")),
            },
        };
        Site {
            cluster: model::ClusterName::new("site1").unwrap(),
            home: model::Home { subscription: "s".into(), resource_group: "site1".into(), location: "local".into() },
            version: "4.9.2".into(),
            limits: model::Limits::default(),
            racks: Vec::new(),
            machines: MACHINES.map(machine).into(),
            skus: Vec::new(),
            join: None,
            new_logins: std::collections::BTreeSet::new(),
        }
    }

    /// As kubeadm makes them: nodes and members have names of their own, and members the addresses of their nodes.
    fn nodes() -> Vec<NodeSeen> {
        let node = |(number, machine): (usize, &str)| NodeSeen {
            name: format!("host{number}"),
            ready: model::Readiness::True,
            unschedulable: false,
            cordoned_by_us: false,
            boot_id: "boot1".into(),
            kubelet_version: String::new(),
            os_image: String::new(),
            machine: machine.into(),
            internal_ip: Some(format!("10.0.0.{number}")),
            problems: Vec::new(),
        };
        MACHINES.into_iter().enumerate().map(node).collect()
    }

    fn members(names: [&str; 3]) -> EtcdSeen {
        let member = |(number, name): (usize, &str)| EtcdMember {
            id: number.to_string(),
            name: name.into(),
            peer_urls: vec![format!("https://10.0.0.{number}:2380")],
            is_learner: false,
        };
        EtcdSeen { members: names.into_iter().enumerate().map(member).collect() }
    }

    #[test]
    fn who_has_no_vote_is_told_by_name_node_and_address_and_doubted_only_for_strangers() {
        assert_eq!(voteless(&site(), &nodes(), &members(["host0", "host1", "host2"])), []);
        assert_eq!(voteless(&site(), &nodes(), &members(["etcd-a", "etcd-b", "etcd-c"])), []);
        assert_eq!(voteless(&site(), &[], &members(MACHINES)), []);
        let strange = voteless(&site(), &[], &members(["etcd-a", "etcd-b", "etcd-c"]));
        assert!(strange.len() == 3 && strange.iter().all(|voteless| voteless.doubt.is_some()), "{strange:?}");
        let mut gone = members(["host0", "host1", "host2"]);
        gone.members[0].is_learner = true;
        gone.members.pop();
        let without: Vec<(String, Option<String>)> =
            voteless(&site(), &nodes(), &gone).into_iter().map(|voteless| (voteless.machine.to_string(), voteless.doubt)).collect();
        assert_eq!(without, [("rack1control01".to_owned(), None), ("rack3control01".to_owned(), None)]);
    }

    #[test]
    fn a_peer_url_has_a_host() {
        let hosts: Vec<_> =
            ["https://10.0.0.1:2380", "http://kcp1:2380/", "https://[fd00::1]:2380", "kcp1"].map(host).into_iter().collect();
        assert_eq!(hosts, [Some("10.0.0.1"), Some("kcp1"), Some("fd00::1"), None]);
    }

    #[test]
    fn addresses_are_compared_as_addresses_and_names_as_names() {
        assert!(is_same_host("fd00::1", "FD00:0::1"));
        assert!(is_same_host("KCP1", "kcp1"));
        assert!(!is_same_host("10.0.0.1", "10.0.0.11"));
    }
}
