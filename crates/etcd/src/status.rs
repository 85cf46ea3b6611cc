//! How far a member has come.

use model::Fault;

/// What one member says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberStatus {
    /// In hexadecimal digits.
    pub id: String,
    pub version: String,
    /// The id of the leader; nothing while there is none.
    pub leader: Option<String>,
    pub is_learner: bool,
    /// The last entry of the log that it has.
    pub raft_index: u64,
}

/// How far a learner is behind, as far as the members that answered tell: `it has 1200 of 4100 entries`.
pub(crate) fn progress(statuses: &[MemberStatus], learner: &str) -> Option<String> {
    let of_learner = statuses.iter().find(|status| status.id.eq_ignore_ascii_case(learner));
    let leader = statuses.iter().find(|status| status.leader.as_deref() == Some(&status.id));
    let most = leader.map_or_else(|| statuses.iter().map(|status| status.raft_index).max(), |leader| Some(leader.raft_index))?;
    Some(match of_learner {
        // They are asked at one moment and answer at several, so that it may seem to be ahead.
        Some(status) => format!("it has {} of {most} entries", status.raft_index.min(most)),
        None => format!("it does not answer; the others have {most} entries"),
    })
}

/// The fault of a promotion that came too early, with how far the learner is.
pub(crate) fn with_progress(fault: Fault, statuses: &[MemberStatus], learner: &str) -> Fault {
    match progress(statuses, learner) {
        Some(progress) => Fault::new(fault.class, fault.delivery, format!("{}: {progress}", fault.detail)),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(id: &str, leader: Option<&str>, raft_index: u64) -> MemberStatus {
        MemberStatus { id: id.into(), version: "3.5.1".into(), leader: leader.map(str::to_owned), is_learner: false, raft_index }
    }

    #[test]
    fn a_learner_is_measured_against_the_leader() {
        let all = [status("a", Some("b"), 4_090), status("b", Some("b"), 4_100), status("c", Some("b"), 1_200)];
        assert_eq!(progress(&all, "C").unwrap(), "it has 1200 of 4100 entries");
        assert_eq!(progress(&all[..2], "c").unwrap(), "it does not answer; the others have 4100 entries");
        assert_eq!(progress(&all[..1], "c").unwrap(), "it does not answer; the others have 4090 entries", "the leader is silent");
        assert_eq!(progress(&[], "c"), None);
    }
}
