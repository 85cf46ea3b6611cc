//! The members of the undercloud's etcd, as its own cluster API tells them.

use serde::{Deserialize, Serialize};

/// What etcd told of its members, all of it at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EtcdSeen {
    pub members: Vec<EtcdMember>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EtcdMember {
    /// In hexadecimal digits, as etcd's own tools print it.
    pub id: String,
    /// The machine's name; empty until the member has been heard from for the first time.
    pub name: String,
    pub peer_urls: Vec<String>,
    pub is_learner: bool,
}

impl EtcdSeen {
    /// The members that are, or are to be, this machine's: by name, or before it was heard from by its peer URL.
    pub fn of<'a>(&'a self, machine: &'a str, peer_url: Option<&'a str>) -> impl Iterator<Item = &'a EtcdMember> {
        self.members.iter().filter(move |member| EtcdSeen::is_of(member, machine, peer_url))
    }

    /// Whether a member is this machine's.
    pub fn is_of(member: &EtcdMember, machine: &str, peer_url: Option<&str>) -> bool {
        let by_url = || peer_url.is_some_and(|url| member.peer_urls.iter().any(|own| own == url));
        if member.name.is_empty() { by_url() } else { member.name.eq_ignore_ascii_case(machine) }
    }

    pub fn voters(&self) -> usize {
        self.members.iter().filter(|member| !member.is_learner).count()
    }
}
