//! `$filter` of the activity log. Values are compared without case.

use model::{Activity, PartKind, Timestamp, labels};

use super::render;
use crate::odata::{self, Condition, Name, Operator, equal};
use crate::reply::{Refused, shortened};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    clauses: Vec<Clause>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Clause {
    Time { operator: Operator, at: Timestamp },
    Is { key: Key, value: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    EventTimestamp,
    Resource,
    ResourceGroupName,
    CorrelationId,
    Status,
    Caller,
    ResourceProvider,
    Levels,
}

const TIME: &str = "eventTimestamp";

/// How instants are compared: two of them are hardly ever equal.
const TIMES: &[Operator] = &[Operator::NotBefore, Operator::After, Operator::NotAfter, Operator::Before];

const NAMES: &[Name<Key>] = &[
    Name { word: TIME, key: Key::EventTimestamp, operators: TIMES },
    equal("resourceId", Key::Resource),
    equal("resourceUri", Key::Resource),
    equal("resourceGroupName", Key::ResourceGroupName),
    equal("correlationId", Key::CorrelationId),
    equal("status", Key::Status),
    equal("caller", Key::Caller),
    equal("resourceProvider", Key::ResourceProvider),
    equal("levels", Key::Levels),
];

impl Filter {
    pub fn parse(text: &str) -> Result<Filter, Refused> {
        let clauses = odata::conditions(text, NAMES)?.into_iter().map(clause).collect::<Result<_, _>>()?;
        Ok(Filter { clauses })
    }

    /// The first and the last instant that can pass.
    pub fn range(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let step = model::Span::millis(1);
        let (mut from, mut to) = (None::<Timestamp>, None::<Timestamp>);
        for clause in &self.clauses {
            let Clause::Time { operator, at } = clause else { continue };
            match operator {
                Operator::NotBefore => from = from.max(Some(*at)),
                Operator::After => from = from.max(Some(*at + step)),
                Operator::NotAfter => to = Some(to.map_or(*at, |to| to.min(*at))),
                Operator::Before => to = Some(to.map_or(*at - step, |to| to.min(*at - step))),
                Operator::Equal => (from, to) = (from.max(Some(*at)), Some(to.map_or(*at, |to| to.min(*at)))),
            }
        }
        (from, to)
    }

    /// The label of the log that leaves the least to look through.
    pub fn label(&self, subscription: &str) -> String {
        let of = |wanted: Key| {
            self.clauses.iter().find_map(|clause| match clause {
                Clause::Is { key, value } if *key == wanted => Some(value.as_str()),
                _ => None,
            })
        };
        let resource = || of(Key::Resource).and_then(resource_label);
        let failed = || of(Key::Status).filter(|status| status.eq_ignore_ascii_case("Failed")).map(|_| labels::failed(subscription));
        let correlation = of(Key::CorrelationId).map(labels::correlation);
        correlation.or_else(resource).or_else(failed).unwrap_or_else(|| labels::subscription(subscription))
    }

    /// Whether an entry passes. Its time is judged by whoever reads the log.
    pub fn passes(&self, entry: &Activity) -> bool {
        self.clauses.iter().all(|clause| match clause {
            Clause::Time { .. } => true,
            Clause::Is { key, value } => {
                let is = |text: &str| text.eq_ignore_ascii_case(value);
                match key {
                    Key::EventTimestamp => true,
                    Key::Resource => is(&render::resource_id(&entry.subject)),
                    Key::ResourceGroupName => is(&entry.subject.resource_group),
                    Key::CorrelationId => is(entry.correlation_id.as_str()),
                    Key::Status => is(render::status(entry.status)),
                    Key::Caller => is(&entry.caller),
                    Key::ResourceProvider => is(crate::links::PROVIDER),
                    Key::Levels => value.split(',').any(|level| level.trim().eq_ignore_ascii_case(render::level(entry))),
                }
            }
        })
    }
}

fn clause(condition: Condition<Key>) -> Result<Clause, Refused> {
    let Condition { key, operator, value, at } = condition;
    if key != Key::EventTimestamp {
        return Ok(Clause::Is { key, value });
    }
    let is_not = || at.refused(&format!("`{}` is not a time; 2026-11-15T14:00:00Z is", shortened(&value)));
    Ok(Clause::Time { operator, at: time(&value).ok_or_else(is_not)? })
}

/// An instant, with or without its zone: Azure's own clients leave it out and mean UTC.
fn time(text: &str) -> Option<Timestamp> {
    let as_utc = || Timestamp::parse(&format!("{text}Z"));
    let midnight = || Timestamp::parse(&format!("{text}T00:00:00Z"));
    Timestamp::parse(text).or_else(as_utc).or_else(midnight)
}

/// The label of a resource by its id; nothing, if no entry can be about it.
fn resource_label(id: &str) -> Option<String> {
    let segments: Vec<&str> = id.split('/').filter(|segment| !segment.is_empty()).collect();
    let [subscriptions, subscription, groups, group, providers, provider, kind, name] = segments[..] else { return None };
    let literals =
        [(subscriptions, "subscriptions"), (groups, "resourceGroups"), (providers, "providers"), (provider, crate::links::PROVIDER)];
    let kind =
        [PartKind::Cluster, PartKind::Rack, PartKind::Machine].into_iter().find(|part| render::arm_type(*part).eq_ignore_ascii_case(kind));
    let fits = literals.iter().all(|(found, expected)| found.eq_ignore_ascii_case(expected));
    kind.filter(|_| fits).map(|kind| labels::resource(subscription, group, kind, name))
}

#[cfg(test)]
mod tests;
