//! A preview as a short page: what stops, what moves where, what stands in the way, how long it takes.
//!
//! It is for whoever is about to say yes, so what needs a decision is spelled out and what goes well is counted.

use std::collections::BTreeMap;

use serde_json::Value;

use super::clock::Clock;
use super::layout::{Fact, Table, facts};
use crate::cli::answer::{command_of, field, field_or_dash, is_true, items};
use crate::cli::screen::{Sheet, Tone};

/// Most names in one line, and most lines of one kind; the rest is counted.
const NAMES_MAX: usize = 4;
const LINES_MAX: usize = 3;

pub fn preview_sheet(preview: &Value, clock: Clock) -> Sheet {
    let title = format!("{} of {}", command_of(&field_or_dash(preview, "/action")), field_or_dash(preview, "/target"));
    let mut lines = vec![(Tone::Strong, "preview", format!("{title}; nothing has been done"))];
    lines.extend(refusal(preview));
    lines.extend(virtual_machines(preview));
    lines.extend(nodes(preview));
    lines.extend(pods(preview));
    lines.extend(budgets(preview));
    lines.extend(quorum(preview));
    lines.extend(tenant_quorums(preview));
    lines.extend(items(preview, "/holds").iter().map(|hold| {
        let text = format!("{}: {}, since {}", field_or_dash(hold, "/owner"), field_or_dash(hold, "/reason"), clock.time(hold, "/since"));
        (Tone::Notice, "held by", text)
    }));
    lines.extend(field(preview, "/runtime").map(|version| (Tone::Plain, "installs", format!("runtime {version}"))));
    lines.push(duration(preview));
    lines.extend(few(Tone::Alarm, "warning", items(preview, "/warnings"), |warning| field_or_dash(warning, "")));
    lines.extend(few(Tone::Notice, "not known", items(preview, "/unknowns"), |unknown| field_or_dash(unknown, "")));
    facts(&lines)
}

/// One line, for scripts that read tables.
pub fn preview_table(preview: &Value) -> Table {
    let mut table = Table::new(&["TARGET", "ACTION", "REFUSED", "VMS STOPPED", "PODS LEAVING", "PODS PENDING", "BLOCKING", "SECONDS"]);
    let count = |list: &str, outcomes: &[&str]| {
        let with = items(preview, list).iter().filter(|one| one["outcome"].as_str().is_some_and(|outcome| outcomes.contains(&outcome)));
        with.count().to_string()
    };
    let cells = [
        field_or_dash(preview, "/target"),
        command_of(&field_or_dash(preview, "/action")).to_owned(),
        field_or_dash(preview, "/refusal/rule"),
        count("/virtualMachines", &["stopped"]),
        count("/pods", &["moves", "pending", "ends", "blocked"]),
        count("/pods", &["pending"]),
        items(preview, "/budgets").iter().filter(|budget| is_true(budget, "/blocking")).count().to_string(),
        field_or_dash(preview, "/duration/expectedSeconds"),
    ];
    table.row(Tone::Plain, cells);
    table
}

fn refusal(preview: &Value) -> Option<Fact<'static>> {
    let rule = field(preview, "/refusal/rule")?;
    Some((Tone::Alarm, "refused", format!("it would be, by rule {rule}")))
}

fn virtual_machines(preview: &Value) -> Vec<Fact<'static>> {
    let all = items(preview, "/virtualMachines");
    let kinds = [
        ("stopped", Tone::Notice, "stops"),
        ("lost", Tone::Alarm, "lost"),
        ("started", Tone::Plain, "starts"),
        ("staysStopped", Tone::Plain, "stays off"),
        ("untouched", Tone::Plain, "runs on"),
        ("restarted", Tone::Notice, "restarts"),
        ("reimaged", Tone::Alarm, "reimages"),
        ("deleted", Tone::Alarm, "deletes"),
    ];
    let lines = kinds.into_iter().filter_map(|(outcome, tone, title)| {
        let names: Vec<String> = with_outcome(all, outcome).map(vm_name).collect();
        (!names.is_empty()).then(|| (tone, title, format!("{}: {}", counted(names.len(), "virtual machine"), named(&names))))
    });
    let lines: Vec<Fact<'static>> = lines.collect();
    if !lines.is_empty() {
        return lines;
    }
    let none = if items(preview, "/unknowns").is_empty() { "none on it" } else { "none on it that are known" };
    vec![(Tone::Plain, "workloads", none.to_owned())]
}

fn vm_name(vm: &Value) -> String {
    let node_of = field(vm, "/nodeOf").map(|cluster| format!(" (node of {cluster})")).unwrap_or_default();
    format!("{}{node_of}", field_or_dash(vm, "/name"))
}

fn nodes(preview: &Value) -> Vec<Fact<'static>> {
    let all = items(preview, "/nodes");
    let name = |node: &Value| format!("{} of {}", field_or_dash(node, "/node"), field_or_dash(node, "/cluster"));
    let mut lines = Vec::new();
    let drained: Vec<&Value> = with_outcome(all, "drained").collect();
    lines.extend(few(Tone::Notice, "drains", &drained, |node| {
        format!("{}, drain policy {}", name(node), field_or_dash(node, "/drainPolicy"))
    }));
    let passed_over: Vec<&Value> = with_outcome(all, "passedOver").collect();
    lines.extend(few(Tone::Alarm, "passes over", &passed_over, |node| {
        let after = node["afterSeconds"].as_u64().filter(|seconds| *seconds > 0);
        let after = after.map(|_| format!(" after {}", in_words(node, "/afterSeconds"))).unwrap_or_default();
        format!("{}{after}: {}", name(node), field_or_dash(node, "/why"))
    }));
    let uncordoned: Vec<&Value> = with_outcome(all, "uncordoned").collect();
    lines.extend(few(Tone::Plain, "uncordons", &uncordoned, |node| name(node)));
    let cordoned: Vec<&Value> = with_outcome(all, "staysCordoned").collect();
    lines.extend(few(Tone::Notice, "leaves", &cordoned, |node| format!("{}, which somebody else cordoned", name(node))));
    lines
}

fn pods(preview: &Value) -> Vec<Fact<'static>> {
    let all = items(preview, "/pods");
    let mut lines = Vec::new();
    lines.extend(moves(all));
    let pod = |pod: &Value| format!("{} of {}", field_or_dash(pod, "/pod"), field_or_dash(pod, "/cluster"));
    let of = |outcome: &'static str| with_outcome(all, outcome).collect::<Vec<_>>();
    lines.extend(few(Tone::Notice, "pending", &of("pending"), |one| {
        let missing = field(one, "/missing/inWords").filter(|missing| missing != "nothing");
        let missing = missing.map(|missing| format!(", {missing} missing")).unwrap_or_default();
        format!("{}{missing}: {}", pod(one), field_or_dash(one, "/why"))
    }));
    lines.extend(few(Tone::Alarm, "stuck", &of("stuck"), |one| {
        format!("{}: its successor waits until it is certain that it has ended", pod(one))
    }));
    for (outcome, tone, title) in [("lost", Tone::Alarm, "lost"), ("ends", Tone::Notice, "ends"), ("staysWithNode", Tone::Plain, "stays")] {
        let names: Vec<String> = with_outcome(all, outcome).map(|pod| field_or_dash(pod, "/pod")).collect();
        let why = match outcome {
            "ends" => ", which nothing makes anew",
            "staysWithNode" => ", until the node goes",
            _ => "",
        };
        if !names.is_empty() {
            lines.push((tone, title, format!("{}: {}{why}", counted(names.len(), "pod"), named(&names))));
        }
    }
    match field(preview, "/morePods").as_deref() {
        None | Some("0") => {}
        Some(more) => lines.push((Tone::Notice, "pods", format!("{more} more, which are not listed"))),
    }
    lines
}

/// How many pods move, and how many of them where.
fn moves(pods: &[Value]) -> Option<Fact<'static>> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for pod in with_outcome(pods, "moves") {
        *places.entry(field_or_dash(pod, "/to")).or_default() += 1;
    }
    let total = places.values().sum();
    let named: Vec<String> = places.into_iter().map(|(node, count)| format!("{count} to {node}")).collect();
    (total > 0).then(|| (Tone::Plain, "moves", format!("{}: {}", counted(total, "pod"), self::named(&named))))
}

fn budgets(preview: &Value) -> Vec<Fact<'static>> {
    let blocking: Vec<&Value> = items(preview, "/budgets").iter().filter(|budget| is_true(budget, "/blocking")).collect();
    let lines = few(Tone::Alarm, "blocked", &blocking, |budget| {
        format!(
            "by budget {} of {}, {} affected: {}",
            field_or_dash(budget, "/budget"),
            field_or_dash(budget, "/cluster"),
            counted(budget["affected"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0), "pod"),
            field_or_dash(budget, "/why")
        )
    });
    let blocked: Vec<Fact<'static>> = lines.collect();
    let forced: Vec<&Value> = items(preview, "/budgets")
        .iter()
        .filter(|budget| !is_true(budget, "/blocking") && budget["affected"].as_u64() > budget["allowed"].as_u64())
        .collect();
    let against = few(Tone::Alarm, "against", &forced, |budget| {
        format!("budget {} of {}: {}", field_or_dash(budget, "/budget"), field_or_dash(budget, "/cluster"), field_or_dash(budget, "/why"))
    });
    blocked.into_iter().chain(against).collect()
}

fn quorum(preview: &Value) -> Option<Fact<'static>> {
    let votes = |name: &str| preview.pointer(&format!("/quorum/{name}")).and_then(Value::as_u64);
    let (members, needed) = (votes("members")?, votes("needed")?);
    let (before, after) = (votes("votingBefore")?, votes("votingAfter")?);
    let tone = if after < needed { Tone::Alarm } else { Tone::Plain };
    Some((tone, "quorum", format!("{before} of {members} vote now, {after} after; {needed} are needed")))
}

/// Control planes of tenant clusters: what becomes of each, those that cannot go on first.
fn tenant_quorums(preview: &Value) -> Vec<Fact<'static>> {
    let (lost, kept): (Vec<&Value>, Vec<&Value>) = items(preview, "/tenantQuorums").iter().partition(|quorum| is_true(quorum, "/lost"));
    let line = |quorum: &Value, then: &str| {
        let [before, members, after, needed] =
            ["/votingBefore", "/members", "/votingAfter", "/needed"].map(|count| field_or_dash(quorum, count));
        let cluster = field_or_dash(quorum, "/cluster");
        format!("{cluster}: {before} of {members} control-plane nodes now, {after} after, {needed} needed{then}")
    };
    let lost = few(Tone::Alarm, "cuts off", &lost, |quorum| line(quorum, "; its API will not answer"));
    let kept = few(Tone::Plain, "spares", &kept, |quorum| line(quorum, ""));
    lost.chain(kept).collect()
}

fn duration(preview: &Value) -> Fact<'static> {
    let text = format!(
        "about {}, at most {} ({})",
        in_words(preview, "/duration/expectedSeconds"),
        in_words(preview, "/duration/atMostSeconds"),
        field_or_dash(preview, "/duration/basis")
    );
    (Tone::Plain, "takes", text)
}

/// Minutes, as people plan in them; seconds where there is no minute.
fn in_words(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer).and_then(Value::as_u64) {
        None => "-".to_owned(),
        Some(seconds) if seconds < 60 => format!("{seconds} s"),
        Some(seconds) => format!("{} min", seconds.div_ceil(60)),
    }
}

fn with_outcome<'a>(all: &'a [Value], outcome: &'a str) -> impl Iterator<Item = &'a Value> {
    all.iter().filter(move |one| one["outcome"] == outcome)
}

/// A line each for the first few, under one title.
fn few<'a, T>(tone: Tone, title: &'a str, all: &[T], line: impl Fn(&T) -> String) -> impl Iterator<Item = Fact<'a>> {
    let more = all.len().saturating_sub(LINES_MAX);
    let mut texts: Vec<String> = all.iter().take(LINES_MAX).map(line).collect();
    if more > 0 {
        texts.push(format!("and {more} more (`-o json` lists them)"));
    }
    texts.into_iter().enumerate().map(move |(at, text)| (tone, if at == 0 { title } else { "" }, text))
}

fn named(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests;
