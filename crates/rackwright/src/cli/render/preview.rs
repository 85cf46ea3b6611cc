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
    lines.extend(items(preview, "/holds").iter().map(|hold| {
        let text = format!("{}: {}, since {}", field_or_dash(hold, "/owner"), field_or_dash(hold, "/reason"), clock.time(hold, "/since"));
        (Tone::Notice, "held by", text)
    }));
    lines.push(duration(preview));
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
        format!("{} after {}: {}", name(node), in_words(node, "/afterSeconds"), field_or_dash(node, "/why"))
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
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::cli::render::fixtures::NOW;

    fn page(preview: &Value) -> String {
        preview_sheet(preview, Clock::at(NOW)).plain()
    }

    fn bare(action: &str) -> Value {
        json!({
            "target": "rack1compute01", "machine": "rack1compute01", "action": action, "disruptive": true, "refusal": null, "virtualMachines": [], "nodes": [],
            "pods": [], "morePods": 0, "budgets": [], "quorum": null, "holds": [], "unknowns": [],
            "duration": { "expectedSeconds": 960, "atMostSeconds": 2400, "basis": "assumed: no such restart has ended here yet" },
        })
    }

    fn full() -> Value {
        let mut preview = bare("restart");
        let vm = |name: &str, node_of: Option<&str>, outcome: &str| json!({ "name": name, "state": "Running", "nodeOf": node_of, "outcome": outcome });
        let pod = |name: &str, outcome: &str| json!({ "cluster": "naks-01", "pod": name, "node": "n1", "outcome": outcome });
        let with = |mut object: Value, more: Value| {
            object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            object
        };
        preview["virtualMachines"] =
            json!([vm("firewallvnf", None, "stopped"), vm("n1", Some("naks-01"), "stopped"), vm("spare", None, "staysStopped")]);
        preview["nodes"] = json!([{ "cluster": "naks-01", "node": "n1", "drainPolicy": "wait", "outcome": "drained" },
            { "cluster": "naks-02", "node": "m1", "drainPolicy": "wait", "outcome": "passedOver", "why": "its kubelet does not answer", "afterSeconds": 300 }]);
        preview["pods"] = json!([
            with(pod("web/web-2", "blocked"), json!({ "budget": "web/web", "why": "it allows no disruption now" })),
            with(
                pod("db/db-1", "pending"),
                json!({ "missing": { "cpuMillis": 1000, "memoryBytes": 0, "inWords": "1 CPU" }, "why": "no node has room for it; `n2` comes nearest" })
            ),
            pod("web/tool", "ends"),
            with(pod("web/web-1", "moves"), json!({ "to": "n2" })),
            with(pod("web/web-3", "moves"), json!({ "to": "n3" })),
            with(pod("web/web-4", "moves"), json!({ "to": "n2" })),
            with(pod("kube-system/fluentd", "staysWithNode"), json!({ "why": "DaemonSet" })),
        ]);
        preview["budgets"] = json!([{ "cluster": "naks-01", "budget": "web/web", "allowed": 0, "affected": 1, "blocking": true, "why": "it allows no disruption now: 2 healthy, 2 needed" }]);
        preview["holds"] =
            json!([{ "kind": "user", "owner": "bob", "reason": "cordoned by a person", "since": "2026-11-15T12:00:00.000Z" }]);
        preview
    }

    #[test]
    fn a_usual_page_is_read_in_one_look() {
        let page = page(&full());
        assert!(page.lines().count() <= 25, "{page}");
        expect![[r#"
            preview      restart of rack1compute01; nothing has been done
            stops        2 virtual machines: firewallvnf, n1 (node of naks-01)
            stays off    1 virtual machine: spare
            drains       n1 of naks-01, drain policy wait
            passes over  m1 of naks-02 after 5 min: its kubelet does not answer
            moves        3 pods: 2 to n2, 1 to n3
            pending      db/db-1 of naks-01, 1 CPU missing: no node has room for it; `n2` comes nearest
            ends         1 pod: web/tool, which nothing makes anew
            stays        1 pod: kube-system/fluentd, until the node goes
            blocked      by budget web/web of naks-01, 1 pod affected: it allows no disruption now: 2 healthy, 2 needed
            held by      bob: cordoned by a person, since 12:00:00Z
            takes        about 16 min, at most 40 min (assumed: no such restart has ended here yet)
        "#]]
        .assert_eq(&page);
    }

    #[test]
    fn a_refusal_and_a_lost_quorum_are_seen_first() {
        let mut preview = bare("restart");
        preview["refusal"] = json!({ "code": "KcpQuorum", "rule": "kcp-quorum", "message": "m", "evidence": ["e"], "remedy": "r" });
        preview["quorum"] = json!({ "members": 3, "needed": 2, "votingBefore": 2, "votingAfter": 1 });
        preview["unknowns"] = json!(["how virtual machines are now: the undercloud does not answer (unreachable)"]);
        expect![[r#"
            preview    restart of rack1compute01; nothing has been done
            refused    it would be, by rule kcp-quorum
            workloads  none on it that are known
            quorum     2 of 3 vote now, 1 after; 2 are needed
            takes      about 16 min, at most 40 min (assumed: no such restart has ended here yet)
            not known  how virtual machines are now: the undercloud does not answer (unreachable)
        "#]]
        .assert_eq(&page(&preview));
    }

    #[test]
    fn what_comes_back_and_what_stays_is_told_before_an_uncordon() {
        let mut preview = bare("uncordon");
        preview["virtualMachines"] = json!([{ "name": "ran", "state": "Stopped", "nodeOf": null, "outcome": "started" },
            { "name": "up", "state": "Running", "nodeOf": null, "outcome": "untouched" }]);
        preview["nodes"] = json!([{ "cluster": "naks-01", "node": "n1", "drainPolicy": "wait", "outcome": "uncordoned" },
            { "cluster": "naks-01", "node": "n2", "drainPolicy": "wait", "outcome": "staysCordoned" }]);
        preview["duration"]["expectedSeconds"] = json!(30);
        expect![[r#"
            preview    uncordon of rack1compute01; nothing has been done
            starts     1 virtual machine: ran
            runs on    1 virtual machine: up
            uncordons  n1 of naks-01
            leaves     n2 of naks-01, which somebody else cordoned
            takes      about 30 s, at most 40 min (assumed: no such restart has ended here yet)
        "#]]
        .assert_eq(&page(&preview));
    }

    #[test]
    fn a_crowd_of_pods_stays_a_page() {
        let mut preview = full();
        let pending = |n: usize| json!({ "cluster": "c", "pod": format!("a/p{n}"), "node": "n1", "outcome": "pending", "missing": { "inWords": "nothing" }, "why": "there is no other node" });
        preview["pods"] = (0..300)
            .map(pending)
            .chain((0..50).map(|n| json!({ "cluster": "c", "pod": "x", "node": "n1", "outcome": "moves", "to": format!("n{n}") })))
            .collect();
        preview["morePods"] = json!(12);
        let page = page(&preview);
        assert!(page.lines().count() <= 25, "{page}");
        assert!(page.contains("and 297 more") && page.contains("12 more, which are not listed") && page.contains("and 46 more"), "{page}");
    }

    #[test]
    fn scripts_get_one_line() {
        expect![[r#"
            TARGET          ACTION   REFUSED  VMS STOPPED  PODS LEAVING  PODS PENDING  BLOCKING  SECONDS
            rack1compute01  restart  -        2            6             1             1         960
        "#]]
        .assert_eq(&preview_table(&full()).plain());
    }

    #[test]
    fn an_answer_of_another_shape_makes_a_page_of_dashes() {
        expect![[r#"
            preview    - of -; nothing has been done
            workloads  none on it
            takes      about -, at most - (-)
        "#]]
        .assert_eq(&page(&json!({ "pods": 7, "duration": [], "quorum": { "members": "x" } })));
    }
}
