//! An operating system on a disk: what it calls itself, and how far its first-boot configuration has come.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::KUBERNETES_VERSION;

/// What an operating system's image says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// As the node calls it, such as `Microsoft Azure Linux 3.0`.
    pub os_name: String,
    /// Of its kubelet, such as `v1.33.7`.
    pub kubernetes_version: String,
}

impl Release {
    /// What every machine of a new site runs.
    pub(crate) fn delivered() -> Release {
        Release { os_name: "Microsoft Azure Linux 3.0".to_owned(), kubernetes_version: KUBERNETES_VERSION.to_owned() }
    }
}

/// What a system is told to do when it is up for the first time, as its seed says. It is trusted with tokens.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstBoot {
    pub phone_home: Option<PhoneHome>,
    pub join: Option<Join>,
    /// The peer URL of the member of etcd that it is to run.
    #[serde(default)]
    pub etcd: Option<String>,
    /// The authority that it trusts, as PEM.
    #[serde(default)]
    pub ca: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhoneHome {
    pub url: String,
    pub token: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    pub api_url: String,
    /// A bootstrap token of Kubernetes: six characters, a point, sixteen characters.
    pub token: String,
}

/// Debug output ends up in logs; tokens do not belong there.
impl fmt::Debug for FirstBoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (home, api) = (self.phone_home.as_ref().map(|home| &home.url), self.join.as_ref().map(|join| &join.api_url));
        write!(f, "FirstBoot({home:?} {api:?})")
    }
}

impl fmt::Debug for PhoneHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PhoneHome({})", self.url)
    }
}

impl fmt::Debug for Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Join({})", self.api_url)
    }
}

/// How far a system's first-boot configuration has come. It is done once, and goes on after a restart where it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Setup {
    PhoningHome(FirstBoot),
    Joining(FirstBoot),
    /// It belongs to the cluster, and its kubelet starts with it.
    Joined,
    /// It stays outside, because the cluster would not have it or nobody told it which.
    Outside {
        why: String,
    },
}

/// An operating system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// SHA-256 of the image that was written; nothing of the system that a machine was delivered with.
    pub image: Option<String>,
    /// Nothing if what was written is no operating system, and so does not start.
    pub release: Option<Release>,
    pub setup: Setup,
}

impl System {
    pub(crate) fn delivered() -> System {
        System { image: None, release: Some(Release::delivered()), setup: Setup::Joined }
    }

    pub fn is_bootable(&self) -> bool {
        self.release.is_some()
    }
}
