//! What the journal of a drain tells of pods, read once for all of them: a look at a drain then costs as much as its pods and its
//! journal together. Looked up pod by pod it would cost one times the other, and every pod that is kept has its entry.

use std::collections::{BTreeMap, BTreeSet};

use model::{Entry, Fact, Leftover, PodRef, TenantClusterName};

/// A pod of a cluster, as the journal names it.
type Named<'a> = (&'a TenantClusterName, &'a str);

pub(crate) struct Told<'a> {
    left: BTreeSet<Named<'a>>,
    /// With the reason that was told last.
    kept: BTreeMap<Named<'a>, &'a str>,
}

impl<'a> Told<'a> {
    pub fn by(journal: &'a [Entry]) -> Told<'a> {
        let (mut left, mut kept) = (BTreeSet::new(), BTreeMap::new());
        for entry in journal {
            match &entry.fact {
                Fact::Left { what: Leftover::Pod { cluster, pod, .. } } => drop(left.insert((cluster, pod.as_str()))),
                Fact::Kept { cluster, pod, why } => drop(kept.insert((cluster, pod.as_str()), why.as_str())),
                _ => {}
            }
        }
        Told { left, kept }
    }

    /// Whether the operation has gone on without the pod.
    pub fn is_left(&self, cluster: &TenantClusterName, pod: &PodRef) -> bool {
        self.left.contains(&(cluster, pod.to_string().as_str()))
    }

    /// Why a budget kept the pod, if one did.
    pub fn why_kept(&self, cluster: &TenantClusterName, pod: &PodRef) -> Option<&'a str> {
        self.kept.get(&(cluster, pod.to_string().as_str())).copied()
    }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    #[test]
    fn pods_of_one_name_in_two_clusters_are_told_apart_and_the_latest_reason_counts() {
        let cluster = |name: &str| TenantClusterName::new(name).unwrap();
        let kept = |name, why: &str| Fact::Kept { cluster: cluster(name), pod: "web/a".into(), why: why.into() };
        let left = |name| Fact::Left { what: Leftover::Pod { cluster: cluster(name), pod: "web/a".into(), why: "it does not end".into() } };
        let facts = [kept("naks01", "first"), left("naks02"), kept("naks01", "then")];
        let journal: Vec<Entry> = facts.into_iter().map(|fact| Entry { at: Timestamp::EPOCH, fact }).collect();
        let told = Told::by(&journal);
        let pod = |name: &str| PodRef { namespace: "web".into(), name: name.into(), uid: "u".into() };
        let of = |name, pod: &PodRef| (told.is_left(&cluster(name), pod), told.why_kept(&cluster(name), pod));
        assert_eq!(of("naks01", &pod("a")), (false, Some("then")));
        assert_eq!(of("naks02", &pod("a")), (true, None));
        assert_eq!(of("naks01", &pod("b")), (false, None));
    }
}
