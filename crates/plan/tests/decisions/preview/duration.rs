//! How long it is expected to take, and why.

use expect_test::{Expect, expect};

use super::stage::{preview_of, stage};

#[expect(clippy::needless_pass_by_value, reason = "a case reads best as a script and what it comes to")]
fn takes(script: &str, expected: Expect) {
    let duration = preview_of(&stage(script), script).duration;
    expected.assert_eq(&format!("{}, at most {}: {}", duration.expected, duration.at_most, duration.basis));
}

const RESTART: &str = "
    > bob restart NAME
    > see NAME off
    > see NAME on
    > wait 2m
    > see NAME booted
    ";

#[test]
fn without_experience_it_is_what_the_parts_usually_take() {
    takes("a compute on ready\n> preview restart a", expect!["16m 00s, at most 40m 00s: assumed: no such restart has ended here yet"]);
    takes("a compute on ready\n> preview cordon a", expect!["30s, at most 10m 00s: assumed: no such cordon has ended here yet"]);
    takes(
        "a compute on ready\nvm v on a\n> preview power-off a",
        expect!["5m 30s, at most 40m 00s: assumed: no such power-off has ended here yet"],
    );
    let node = "a compute on ready\nnode naks-01/n1 on a 4cpu 8Gi\npod naks-01/n1 web/w bare 1m 1Mi grace=600";
    takes(&format!("{node}\n> preview restart a"), expect!["31m 00s, at most 40m 00s: assumed: no such restart has ended here yet"]);
    takes(
        &format!("{node}\n> preview cordon a evacuate"),
        expect!["12m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet"],
    );
}

#[test]
fn it_learns_from_what_succeeded_here_first_from_machines_of_the_same_role() {
    let site = "a compute on ready\nb compute on ready\nm management on ready\n";
    let once = RESTART.replace("NAME", "a");
    takes(
        &format!("{site}{once}\n> preview restart b"),
        expect!["2m 00s, at most 40m 00s: as long as the only restart of a compute machine here took, at 10:02:00Z"],
    );
    takes(
        &format!("{site}{once}\n> preview restart m"),
        expect!["2m 00s, at most 40m 00s: as long as the only restart here took, at 10:02:00Z"],
    );
    takes(
        &format!("{site}{once}\n> wait 1m\n{}\n> preview restart b", RESTART.replace("NAME", "b").replace("2m", "6m")),
        expect!["6m 00s, at most 40m 00s: median of 2 restarts of compute machines here, the latest at 10:09:00Z"],
    );
    takes(
        &format!("{site}{once}\nvm v on b\n> preview restart b"),
        expect!["21m 00s, at most 40m 00s: assumed: no such restart has ended here yet"],
    );
}
