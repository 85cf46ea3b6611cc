//! What a control plane has done, as its counters tell: calls to devices, requests, plans, commits.
//!
//! Times differ with the computer and with what else runs on it. How often something is done does not.

use std::collections::BTreeMap;

/// Counts of each kind of thing, over all clusters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally(BTreeMap<String, f64>);

/// The revision of a store is how many commits it has had.
const COMMITS: &str = "commits";

impl Tally {
    /// Reads what Prometheus would.
    pub fn read(metrics: &str) -> Tally {
        let mut tally = Tally::default();
        for (series, value) in metrics.lines().filter_map(|line| line.rsplit_once(' ')) {
            if let (Some(what), Ok(count)) = (counted(series), value.parse::<f64>()) {
                *tally.0.entry(what).or_default() += count;
            }
        }
        tally
    }

    pub fn commits(&self) -> Option<f64> {
        self.0.get(COMMITS).copied()
    }

    /// What was done since `before`.
    pub fn since(&self, before: &Tally) -> Tally {
        let done = self.0.iter().map(|(what, count)| (what.clone(), count - before.0.get(what).unwrap_or(&0.0)));
        Tally(done.filter(|(_, count)| *count > 0.0).collect())
    }

    /// The same, and what was done another time.
    pub fn and(mut self, other: &Tally) -> Tally {
        other.0.iter().for_each(|(what, count)| *self.0.entry(what.clone()).or_default() += count);
        self
    }

    /// What was done for each of so many machines.
    pub fn for_each_of(&self, machines: f64) -> Tally {
        Tally(self.0.iter().map(|(what, count)| (what.clone(), count / machines)).collect())
    }

    /// All of the kinds that begin so, together.
    pub fn of(&self, prefix: &str) -> f64 {
        self.iter().filter(|(what, _)| what.starts_with(prefix)).map(|(_, count)| count).sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(what, count)| (what.as_str(), *count))
    }
}

/// What a series counts, in a word or two; nothing if it tells how things are, or how long they took.
fn counted(series: &str) -> Option<String> {
    let (name, labels) = series.split_once('{').map_or((series, ""), |(name, labels)| (name, labels.trim_end_matches('}')));
    let label = |wanted: &str| {
        let mut pairs = labels.split("\",").filter_map(|pair| pair.trim_end_matches('"').split_once("=\""));
        pairs.find_map(|(key, value)| (key == wanted).then(|| value.to_owned()))
    };
    match name {
        "rackwright_store_revision" => Some(COMMITS.to_owned()),
        "rackwright_plan_seconds_count" => Some("plans".to_owned()),
        "rackwright_commit_seconds_count" => Some("commits of keepers".to_owned()),
        "rackwright_keeper_wakeups_total" => Some("wakeups".to_owned()),
        "rackwright_device_calls_total" => Some(format!("{}: {}", label("device")?, label("call")?)),
        "rackwright_http_requests_total" => Some(format!("request: {} {}", label("method")?, label("route")?)),
        "rackwright_install_requests_total" => Some(format!("install: {}", label("what")?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_added_up_over_clusters_and_everything_else_is_left_out() {
        let before = Tally::read("rackwright_store_revision 10\nrackwright_ready 1\n");
        let after = Tally::read(
            "# HELP rackwright_store_revision Commits.\n\
             rackwright_store_revision 30\n\
             rackwright_device_calls_total{device=\"bmc\",call=\"look\",result=\"ok\"} 6\n\
             rackwright_device_calls_total{device=\"bmc\",call=\"look\",result=\"unreachable\"} 2\n\
             rackwright_plan_seconds_count{cluster=\"a\"} 3\n\
             rackwright_plan_seconds_count{cluster=\"b\"} 1\n",
        );
        let done = after.since(&before);
        let each = done.for_each_of(2.0);
        assert_eq!(each.iter().collect::<Vec<_>>(), [("bmc: look", 4.0), ("commits", 10.0), ("plans", 2.0)]);
        assert_eq!((each.of("bmc: "), each.commits(), before.commits()), (4.0, Some(10.0), Some(10.0)));
        assert_eq!((each.and(&done).of("bmc: "), done.of("bmc: ")), (12.0, 8.0));
    }
}
