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
    pub fn voters(&self) -> usize {
        self.members.iter().filter(|member| !member.is_learner).count()
    }
}
