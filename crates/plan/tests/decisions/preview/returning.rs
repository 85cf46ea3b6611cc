//! What comes back with a start or an uncordon.

use expect_test::expect;

use super::stage::check;

#[test]
fn what_was_stopped_for_the_machine_is_started_and_nothing_else() {
    let site = "
        rack1compute01 compute on ready cordoned
        vm ran off rack1compute01
        vm idle off rack1compute01
        vm again on rack1compute01
        node naks-01/n1 on rack1compute01 4cpu 8Gi cordoned-by-us
        node naks-01/n2 on rack1compute01 4cpu 8Gi cordoned
        node naks-01/n3 on rack1compute01 4cpu 8Gi
        evacuated rack1compute01 vm=ran vm=again vm=gone node=naks-01/n1 node=naks-01/n2 node=naks-01/n3
        > preview uncordon rack1compute01
        ";
    check(
        site,
        expect![[r#"
        vm again, running: Untouched
        vm idle, stopped: StaysStopped
        vm n1 (node of naks-01), running: Untouched
        vm n2 (node of naks-01), running: Untouched
        vm n3 (node of naks-01), running: Untouched
        vm ran, stopped: Started
        node n1 of naks-01, policy wait: Uncordoned
        node n2 of naks-01, policy wait: StaysCordoned
        held by bob: cordoned by a person
        takes 3m 30s, at most 10m 00s: assumed: no such uncordon has ended here yet
    "#]],
    );
    check(
        &site.replace("uncordon", "start"),
        expect![[r#"
        vm again, running: Untouched
        vm idle, stopped: StaysStopped
        vm n1 (node of naks-01), running: Untouched
        vm n2 (node of naks-01), running: Untouched
        vm n3 (node of naks-01), running: Untouched
        vm ran, stopped: StaysStopped
        node n2 of naks-01, policy wait: StaysCordoned
        held by bob: cordoned by a person
        takes 12m 30s, at most 30m 00s: assumed: no such start has ended here yet
    "#]],
    );
}
