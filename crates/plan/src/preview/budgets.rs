//! Disruption budgets: what they allow now, and which of the pods that have to leave they keep.

use std::collections::BTreeMap;

use model::{BudgetFate, BudgetSeen, DrainPolicy, PodSeen, TenantClusterName};

use crate::pods;
use crate::tenants::Inside;

/// One tenant cluster's budgets, as the pods that have to leave use them up, in their order.
pub(super) struct Tally<'a> {
    cluster: &'a TenantClusterName,
    inside: &'a Inside,
    counts: BTreeMap<(&'a str, &'a str), Count<'a>>,
}

struct Count<'a> {
    budget: &'a BudgetSeen,
    affected: u32,
    /// Of those, how many it keeps, and how many are let go although it speaks against that.
    kept: u32,
    forced: u32,
    is_doubled: bool,
}

/// Who keeps a pod, and why.
pub(super) struct Kept {
    pub budget: String,
    pub why: String,
}

impl<'a> Tally<'a> {
    pub fn new(cluster: &'a TenantClusterName, inside: &'a Inside) -> Self {
        Tally { cluster, inside, counts: BTreeMap::new() }
    }

    /// Counts a pod that has to leave; says which budget keeps it, if one does.
    pub fn take(&mut self, pod: &PodSeen, policy: DrainPolicy) -> Option<Kept> {
        let asked = pods::budgets_asked(self.inside, pod);
        let is_doubled = asked.len() > 1;
        let mut kept = None;
        for budget in &asked {
            let fresh = Count { budget, affected: 0, kept: 0, forced: 0, is_doubled };
            let count = self.counts.entry((&budget.namespace, &budget.name)).or_insert(fresh);
            count.is_doubled |= is_doubled;
            count.affected += 1;
            if count.affected > allowed(budget) || is_doubled {
                if policy == DrainPolicy::Force {
                    count.forced += 1;
                } else {
                    count.kept += 1;
                    kept.get_or_insert_with(|| Kept { budget: name_of(budget), why: why(count) });
                }
            }
        }
        kept
    }

    pub fn into_fates(self) -> Vec<BudgetFate> {
        let cluster = self.cluster;
        let fates = self.counts.into_values().map(|count| BudgetFate {
            cluster: cluster.clone(),
            budget: name_of(count.budget),
            allowed: allowed(count.budget),
            affected: count.affected,
            is_blocking: count.kept > 0,
            why: why(&count),
        });
        fates.collect()
    }
}

/// Before a budget's present form is counted it allows nothing.
fn allowed(budget: &BudgetSeen) -> u32 {
    if budget.is_counted { budget.allowed } else { 0 }
}

fn name_of(budget: &BudgetSeen) -> String {
    format!("{}/{}", budget.namespace, budget.name)
}

fn why(count: &Count<'_>) -> String {
    let Count { budget, affected, kept, forced, .. } = count;
    if *kept == 0 && *forced > 0 {
        return format!("it allows {} now, and the drain policy is to go on against it", allowed(budget));
    }
    let (allowed, BudgetSeen { healthy, needed, .. }) = (allowed(budget), budget);
    if count.is_doubled {
        "more than one budget means the same pod: it is not evicted before a person changes them".into()
    } else if !budget.is_counted {
        "its present form has not been counted yet, and until then it allows nothing".into()
    } else if allowed == 0 {
        format!("it allows no disruption now: {healthy} healthy, {needed} needed")
    } else if *affected > allowed {
        format!("it allows {allowed} at a time; the next leaves when one is ready elsewhere")
    } else {
        format!("it allows {allowed} now: {healthy} healthy, {needed} needed")
    }
}
