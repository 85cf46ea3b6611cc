//! Whole previews: what each action does to a machine with tenants.

use expect_test::expect;

use super::stage::check;

#[test]
fn a_restart_stops_virtual_machines_drains_nodes_and_moves_pods() {
    check(
        "
        rack1compute01 compute on ready
        rack1compute02 compute on ready
        vm firewallvnf on rack1compute01
        vm spare off rack1compute01
        vm elsewhere on rack1compute02
        node naks-01/n1 on rack1compute01 4cpu 8Gi
        node naks-01/n2 on rack1compute02 4cpu 8Gi
        pod naks-01/n1 web/web-1 ReplicaSet 500m 256Mi app=web
        pod naks-01/n1 kube-system/fluentd-x DaemonSet 100m 64Mi
        pod naks-01/n1 kube-system/apiserver mirror 100m 64Mi
        pod naks-01/n1 web/tool bare 100m 64Mi
        pod naks-01/n1 web/job-1 Job 100m 64Mi done
        pod naks-01/n2 web/web-2 ReplicaSet 500m 256Mi app=web
        budget naks-01 web/web app=web 1/2/1
        > preview restart rack1compute01
        ",
        expect![[r#"
            vm firewallvnf, running: Stopped
            vm n1 (node of naks-01), running: Stopped
            vm spare, stopped: StaysStopped
            node n1 of naks-01, policy wait: Drained
            pod web/tool on n1: Ends
            pod web/web-1 on n1: moves to n2
            pod kube-system/apiserver on n1: stays: its kubelet runs it from a file
            pod kube-system/fluentd-x on n1: stays: DaemonSet `owner` runs it on every node
            budget web/web allows: 1 allowed, 1 affected: it allows 1 now: 2 healthy, 1 needed
            takes 23m 00s, at most 40m 00s: assumed: no such restart has ended here yet
        "#]],
    );
}

#[test]
fn a_budget_that_allows_nothing_keeps_its_pods() {
    let site = "
        rack1compute01 compute on ready
        rack1compute02 compute on ready
        node naks-01/n1 on rack1compute01 4cpu 8Gi
        node naks-01/n2 on rack1compute02 4cpu 8Gi
        pod naks-01/n1 db/db-0 StatefulSet 1cpu 1Gi app=db
        pod naks-01/n1 db/db-1 StatefulSet 1cpu 1Gi app=db unready
        pod naks-01/n1 web/web-1 ReplicaSet 500m 256Mi app=web
        pod naks-01/n1 web/web-2 ReplicaSet 500m 256Mi app=web
        pod naks-01/n1 two/x ReplicaSet 500m 256Mi app=x
        pod naks-01/n1 new/y ReplicaSet 500m 256Mi app=y
        budget naks-01 db/db app=db 0/1/2
        budget naks-01 web/web app=web 1/3/2
        budget naks-01 two/a app=x 5/5/0
        budget naks-01 two/b app=x 5/5/0
        budget naks-01 new/y app=y 5/5/0 uncounted
        > preview cordon rack1compute01 evacuate
        ";
    check(
        site,
        expect![[r#"
            vm n1 (node of naks-01), running: Stopped
            node n1 of naks-01, policy wait: Drained
            pod db/db-0 on n1: kept by db/db: it allows no disruption now: 1 healthy, 2 needed; then to n2
            pod db/db-1 on n1: kept by db/db: it allows no disruption now: 1 healthy, 2 needed; then to n2
            pod new/y on n1: kept by new/y: its present form has not been counted yet, and until then it allows nothing; then to n2
            pod two/x on n1: kept by two/a: more than one budget means the same pod: it is not evicted before a person changes them; then to n2
            pod web/web-2 on n1: kept by web/web: it allows 1 at a time; the next leaves when one is ready elsewhere; then to n2
            pod web/web-1 on n1: moves to n2
            budget db/db blocks: 0 allowed, 2 affected: it allows no disruption now: 1 healthy, 2 needed
            budget new/y blocks: 0 allowed, 1 affected: its present form has not been counted yet, and until then it allows nothing
            budget two/a blocks: 5 allowed, 1 affected: more than one budget means the same pod: it is not evicted before a person changes them
            budget two/b blocks: 5 allowed, 1 affected: more than one budget means the same pod: it is not evicted before a person changes them
            budget web/web blocks: 1 allowed, 2 affected: it allows 1 at a time; the next leaves when one is ready elsewhere
            takes 22m 30s, at most 35m 00s: assumed: while a budget blocks it the drain takes its full 20m 00s
        "#]],
    );
    check(
        &format!("policy naks-01 force\n{site}"),
        expect![[r#"
            vm n1 (node of naks-01), running: Stopped
            node n1 of naks-01, policy force: Drained
            pod db/db-0 on n1: moves to n2
            pod db/db-1 on n1: moves to n2
            pod new/y on n1: moves to n2
            pod two/x on n1: moves to n2
            pod web/web-1 on n1: moves to n2
            pod web/web-2 on n1: moves to n2
            budget db/db allows: 0 allowed, 2 affected: it allows 0 now, and the drain policy is to go on against it
            budget new/y allows: 0 allowed, 1 affected: it allows 0 now, and the drain policy is to go on against it
            budget two/a allows: 5 allowed, 1 affected: it allows 5 now, and the drain policy is to go on against it
            budget two/b allows: 5 allowed, 1 affected: it allows 5 now, and the drain policy is to go on against it
            budget web/web allows: 1 allowed, 2 affected: it allows 1 now, and the drain policy is to go on against it
            takes 4m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
        "#]],
    );
}

#[test]
fn cordoning_alone_touches_nothing_that_runs() {
    check(
        "
        rack1compute01 compute on ready
        vm firewallvnf on rack1compute01
        node naks-01/n1 on rack1compute01 4cpu 8Gi
        pod naks-01/n1 web/web-1 ReplicaSet 500m 256Mi
        > preview cordon rack1compute01
        ",
        expect![[r#"
            vm firewallvnf, running: Untouched
            vm n1 (node of naks-01), running: Untouched
            takes 30s, at most 10m 00s: assumed: no such cordon has ended here yet
        "#]],
    );
}

#[test]
fn cutting_the_power_drains_nothing_and_asks_no_budget() {
    check(
        "
        rack1compute01 compute on ready
        rack1compute02 compute on ready
        vm firewallvnf on rack1compute01
        vm spare off rack1compute01
        node naks-01/n1 on rack1compute01 4cpu 8Gi
        node naks-01/n2 on rack1compute02 4cpu 8Gi
        pod naks-01/n1 web/web-1 ReplicaSet 500m 256Mi app=web
        pod naks-01/n1 db/db-0 StatefulSet 500m 256Mi
        pod naks-01/n1 kube-system/fluentd-x DaemonSet 100m 64Mi
        budget naks-01 web/web app=web 0/1/1
        > preview power-off rack1compute01 skip-shutdown
        ",
        expect![[r#"
            vm firewallvnf, running: Stopped
            vm n1 (node of naks-01), running: Stopped
            vm spare, stopped: StaysStopped
            node n1 of naks-01, policy wait: passed over after 0ms, the power is cut, and nothing is drained before
            pod db/db-0 on n1: Stuck
            pod web/web-1 on n1: Lost
            pod kube-system/fluentd-x on n1: stays: DaemonSet `owner` runs it on every node
            takes 3m 30s, at most 40m 00s: assumed: no such power-off has ended here yet
        "#]],
    );
}

#[test]
fn the_control_planes_votes_are_told_before_and_after_with_the_refusal() {
    let site = "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp off unknown
        > preview restart rack1control01
        ";
    check(
        site,
        expect![[r#"
        refused: `rack1control01` cannot be restarted (kcp-others-healthy)
        votes: 2 of 3 now, 1 after, 2 needed
        takes 16m 00s, at most 40m 00s: assumed: no such restart has ended here yet
    "#]],
    );
    check(
        &site.replace("off unknown", "on ready"),
        expect![[r#"
        votes: 3 of 3 now, 2 after, 2 needed
        takes 16m 00s, at most 40m 00s: assumed: no such restart has ended here yet
    "#]],
    );
    check(
        &site.replace("restart rack1control01", "start rack3control01"),
        expect![[r#"
        votes: 2 of 3 now, 3 after, 2 needed
        takes 12m 30s, at most 30m 00s: assumed: no such start has ended here yet
    "#]],
    );
    check(
        "rack1control01 kcp on ready\n> preview restart rack1control01",
        expect![[r#"
        refused: `rack1control01` cannot be restarted (kcp-sole-voter)
        votes: 1 of 1 now, 0 after, 1 needed
        takes 16m 00s, at most 40m 00s: assumed: no such restart has ended here yet
    "#]],
    );
    check(
        "rack1control01 kcp on ready\n> preview restart rack1control01 accept-outage",
        expect![[r#"
        votes: 1 of 1 now, 0 after, 1 needed
        takes 16m 00s, at most 40m 00s: assumed: no such restart has ended here yet
    "#]],
    );
}

#[test]
fn a_machine_that_does_not_exist_is_refused_as_its_action_would_be() {
    let play = super::stage::stage("rack1compute01 compute on ready");
    let mut snapshot = play.desk.snapshot.clone();
    let machine = crate::desk::name("nobody");
    let ask = model::Ask::Preview { machine, action: model::Action::Restart, outage: model::Outage::Refused, replacement: None };
    let request = crate::desk::request_at(&snapshot, play.desk.now, ask);
    let id = request.id.clone();
    snapshot.set_request(request);
    let plan = plan::plan(&snapshot, &plan::Visit::Only(plan::Visited::default()), play.desk.now);
    let Some(model::Verdict::Refused { refusal }) = &plan.changes.requests[&id].verdict else { panic!("not refused") };
    assert_eq!(refusal.rule, model::Rule::MachineExists);
}

#[test]
fn holds_and_a_running_operation_are_named() {
    check(
        "
        rack1compute01 compute on ready cordoned
        > bob restart rack1compute01
        > preview power-off rack1compute01
        ",
        expect![[r#"
            refused: `rack1compute01` cannot be powered off (one-action-per-machine)
            held by bob: cordoned by a person
            held by operation op1: being restarted
            takes 3m 30s, at most 40m 00s: assumed: no such power-off has ended here yet
        "#]],
    );
}

#[test]
fn more_pods_than_are_listed_are_counted() {
    let mut script = "rack1compute01 compute on ready\nnode naks-01/n1 on rack1compute01 99cpu 99Gi pods=999\n".to_owned();
    for n in 0..plan::PREVIEW_PODS_MAX + 7 {
        script.push_str(&format!("pod naks-01/n1 web/web-{n} bare 1m 1Mi\n"));
    }
    script.push_str("> preview restart rack1compute01");
    let preview = super::stage::preview_of(&super::stage::stage(&script), &script);
    assert_eq!((preview.pods.len(), preview.more_pods), (plan::PREVIEW_PODS_MAX, 7));
}
