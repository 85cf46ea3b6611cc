//! Pages of previews.

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
        "pods": [], "morePods": 0, "budgets": [], "quorum": null, "tenantQuorums": [], "holds": [], "warnings": [], "unknowns": [],
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
    preview["holds"] = json!([{ "kind": "user", "owner": "bob", "reason": "cordoned by a person", "since": "2026-11-15T12:00:00.000Z" }]);
    preview
}

#[test]
fn what_would_be_installed_is_named() {
    let mut preview = bare("reimage");
    preview["runtime"] = json!("4.7.8");
    assert!(page(&preview).contains("\ninstalls   runtime 4.7.8\n"), "{}", page(&preview));
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
fn whose_disks_are_deleted_is_told_before_a_replace() {
    let mut preview = bare("replace");
    preview["warnings"] = json!(["all of its volumes are deleted, and with them the disks of `firewall`"]);
    expect![[r#"
        preview    replace of rack1compute01; nothing has been done
        workloads  none on it
        takes      about 16 min, at most 40 min (assumed: no such restart has ended here yet)
        warning    all of its volumes are deleted, and with them the disks of `firewall`
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
fn a_tenant_that_is_cut_off_from_its_own_cluster_is_named() {
    let mut preview = bare("powerOff");
    let quorum = |cluster: &str, members: u64, after: u64| {
        let needed = members / 2 + 1;
        json!({ "cluster": cluster, "members": members, "needed": needed, "votingBefore": members, "votingAfter": after, "lost": after < needed })
    };
    preview["tenantQuorums"] = json!([quorum("naks-01", 3, 2), quorum("naks-02", 1, 0)]);
    preview["nodes"] = json!([{ "cluster": "naks-02", "node": "cp", "drainPolicy": "wait", "outcome": "passedOver",
        "why": "the power is cut, and nothing is drained before", "afterSeconds": 0 }]);
    expect![[r#"
        preview      power-off of rack1compute01; nothing has been done
        workloads    none on it
        passes over  cp of naks-02: the power is cut, and nothing is drained before
        cuts off     naks-02: 1 of 1 control-plane nodes now, 0 after, 1 needed; its API will not answer
        spares       naks-01: 3 of 3 control-plane nodes now, 2 after, 2 needed
        takes        about 16 min, at most 40 min (assumed: no such restart has ended here yet)
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
