//! The disruption controller: it keeps the list of each budget's pods, and counts them anew whenever one of them, the
//! budget, or the workload behind them changes.
//!
//! It counts once for all that happens at one instant, before anybody outside sees it, unless a fault holds it up: then
//! budgets keep the count that they had, and one that was made or changed meanwhile has none.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::kube::{Kube, Timer};
use crate::objects::{DISRUPTION_BUDGETS, Durability, ObjectError, ObjectKey, PODS, Part};
use crate::time::Instant;
use crate::{budget, label_selector};

impl Kube {
    /// A budget was made, changed or is gone.
    pub(crate) fn budget_written(&mut self, key: &ObjectKey, at: Instant) {
        self.find_members(key);
        // The answer to whoever wrote it shows the count.
        self.count_for_budgets([key.clone()], at);
    }

    /// A pod came, changed or went: the budgets that mean it, or meant it, count anew.
    pub(crate) fn count_pod(&mut self, pod: &ObjectKey, before: Option<&Value>, after: Option<&Value>, at: Instant) {
        let mut concerned = Vec::new();
        for (key, budget) in self.objects.list(&DISRUPTION_BUDGETS, Some(&pod.namespace)) {
            let [was, is] = [before, after].map(|pod| pod.is_some_and(|pod| budget::means(budget, pod)));
            if was || is {
                concerned.push((key.clone(), is));
            }
        }
        for (key, is) in &concerned {
            let members = self.budget_members.entry(key.clone()).or_default();
            match is {
                true => members.insert(pod.clone()),
                false => members.remove(pod),
            };
        }
        self.count_soon(concerned.into_iter().map(|(key, _)| key), at);
    }

    /// A workload asks for more pods or fewer: the budgets that mean its pods expect as many.
    pub(crate) fn count_workload(&mut self, key: &ObjectKey, workload: &Value, at: Instant) {
        let labels = &workload["spec"]["template"]["metadata"]["labels"];
        let budgets = self.objects.list(&DISRUPTION_BUDGETS, Some(&key.namespace));
        let meant = budgets.filter(|(_, budget)| label_selector::admits(&budget["spec"]["selector"], labels));
        let meant: Vec<ObjectKey> = meant.map(|(key, _)| key.clone()).collect();
        self.count_soon(meant, at);
    }

    fn count_soon(&mut self, budgets: impl IntoIterator<Item = ObjectKey>, at: Instant) {
        self.uncounted.extend(budgets);
        if !self.uncounted.is_empty() {
            self.hasten(Timer::Counting, at);
        }
    }

    /// Counts for the budgets that were concerned since the last count.
    pub(crate) fn count_now(&mut self, at: Instant) {
        self.set_timer(Timer::Counting, None);
        let budgets = std::mem::take(&mut self.uncounted);
        self.count_for_budgets(budgets, at);
    }

    fn count_for_budgets(&mut self, budgets: impl IntoIterator<Item = ObjectKey>, at: Instant) {
        if self.is_counting_held_up {
            self.uncounted.extend(budgets);
            return;
        }
        let timeout = self.pace.in_site_time(budget::DISRUPTION_TIMEOUT);
        let mut has_counted = false;
        for key in budgets {
            let Some(before) = self.objects.get(&DISRUPTION_BUDGETS, &key) else { continue };
            let members = self.budget_members.get(&key).into_iter().flatten();
            let pods = members.filter_map(|pod| self.objects.get(&PODS, pod)).map(Arc::as_ref);
            let counted = budget::with_status(before, pods, |pod| self.scale_of(pod), timeout, at);
            let count = |_: &Value| Ok::<_, ObjectError>(counted);
            // The budget was there a moment ago, and nothing else runs in between.
            let _ = self.objects.modify(&DISRUPTION_BUDGETS, &key, Part::Whole, Durability::Kept, count);
            has_counted = true;
        }
        if has_counted {
            self.reschedule_budgets();
        }
    }

    /// Lets a fault hold the controller up, or lets it catch up.
    pub(crate) fn hold_up_counting(&mut self, is_held_up: bool, at: Instant) {
        let was_held_up = std::mem::replace(&mut self.is_counting_held_up, is_held_up);
        self.reschedule_budgets();
        if was_held_up && !is_held_up {
            // All of them: what was to be counted is not remembered through a restart of the simulator.
            self.count_soon(self.all_budgets(), at);
        }
    }

    fn find_members(&mut self, key: &ObjectKey) {
        let Some(budget) = self.objects.get(&DISRUPTION_BUDGETS, key) else {
            self.budget_members.remove(key);
            return;
        };
        let pods = self.objects.list(&PODS, Some(&key.namespace)).filter(|(_, pod)| budget::means(budget, pod));
        let members: BTreeSet<ObjectKey> = pods.map(|(key, _)| key.clone()).collect();
        self.budget_members.insert(key.clone(), members);
    }

    fn all_budgets(&self) -> Vec<ObjectKey> {
        self.objects.list(&DISRUPTION_BUDGETS, None).map(|(key, _)| key.clone()).collect()
    }

    /// After a restart of the simulator: which pods each budget means.
    pub(crate) fn find_all_members(&mut self) {
        for key in self.all_budgets() {
            self.find_members(&key);
        }
    }

    /// Gives back what was spent on evictions that never happened.
    pub(crate) fn budget_steps(&mut self, at: Instant) {
        self.count_for_budgets(self.all_budgets(), at);
        self.reschedule_budgets();
    }
}
