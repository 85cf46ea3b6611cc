//! Every action on every kind of machine in every situation: accepted, or the rule that refuses.

use std::fmt::Write;

use expect_test::expect_file;
use model::{Request, Verdict};

use crate::script::Play;

const ACTIONS: [(&str, &str); 8] = [
    ("power-off", ""),
    ("power-off", "skip-shutdown"),
    ("start", ""),
    ("restart", ""),
    ("cordon", ""),
    ("cordon", "evacuate"),
    ("cordon", "forced"),
    ("uncordon", ""),
];

/// What is acted on, by the line that puts it into the site.
const TARGETS: [(&str, &str); 5] = [
    ("compute", "target1 compute on ready"),
    ("management", "target1 management on ready"),
    ("voting kcp", "target1 kcp on ready"),
    ("kcp that is off", "target1 kcp off unknown"),
    ("spare", "target1 spare on"),
];

const HEALTHY: &str = "rack2control01 kcp on ready\nrack3control01 kcp on ready\n";

/// What the rest of the site is like, and what happens before the request.
const SITUATIONS: [(&str, &str, &str); 14] = [
    ("all well", HEALTHY, ""),
    ("cluster updating", "rack2control01 kcp on ready\nrack3control01 kcp on ready\ncluster Updating\n", ""),
    ("undercloud silent a moment", HEALTHY, "> undercloud silent\n"),
    ("undercloud lost", HEALTHY, "> undercloud silent\n> wait 6m\n"),
    ("being powered off", HEALTHY, "> hang target1\n> bob power-off target1\n"),
    ("unmanaged", HEALTHY, "> bob unmanage target1 broken fan\n"),
    ("keeper just started", HEALTHY, "> crash\n"),
    ("another kcp is restarted", "rack2control01 kcp off unknown\nrack3control01 kcp on ready\n", "> bob restart rack2control01\n"),
    ("another kcp is cordoned", HEALTHY, "> bob cordon rack2control01\n"),
    ("another kcp is off", "rack2control01 kcp off unknown\nrack3control01 kcp on ready\n", ""),
    ("another kcp is not ready", "rack2control01 kcp on notready\nrack3control01 kcp on ready\n", ""),
    ("another kcp has no node", "rack2control01 kcp on\nrack3control01 kcp on ready\n", ""),
    ("only one other kcp", "rack2control01 kcp on ready\n", ""),
    ("no other kcp", "", ""),
];

#[test]
fn every_action_on_every_machine_in_every_situation() {
    let mut table = String::new();
    for (situation, others, before) in SITUATIONS {
        writeln!(table, "{situation}").unwrap();
        for (kind, target) in TARGETS {
            let verdicts = ACTIONS.map(|(action, flag)| verdict(&format!("{target}\n{others}{before}> alice {action} target1 {flag}")));
            writeln!(table, "  {kind}").unwrap();
            for (verdict, actions) in group(&verdicts) {
                writeln!(table, "    {verdict}: {actions}").unwrap();
            }
        }
    }
    expect_file!["guard_table.golden"].assert_eq(&table);
}

fn verdict(script: &str) -> String {
    let mut play = Play::of(script);
    play.run();
    let rules: Vec<&str> = play.desk.snapshot.requests.values().map(|request| rule_of(request)).collect();
    let (rule, before) = rules.split_last().unwrap();
    assert!(before.iter().all(|rule| *rule == "accepted"), "the situation does not come about: {script}");
    (*rule).to_owned()
}

fn rule_of(request: &Request) -> &'static str {
    match request.verdict.as_ref().unwrap() {
        Verdict::Refused { refusal } => refusal.rule.name(),
        Verdict::Accepted { .. } | Verdict::Done | Verdict::Previewed { .. } | Verdict::Advised { .. } | Verdict::Verified { .. } => {
            "accepted"
        }
    }
}

/// The actions by their verdicts, in the order in which the verdicts first come up.
fn group(verdicts: &[String]) -> Vec<(String, String)> {
    let mut groups: Vec<(String, String)> = Vec::new();
    for ((action, flag), verdict) in ACTIONS.iter().zip(verdicts) {
        let action = format!("{action} {flag}").trim_end().to_owned();
        match groups.iter_mut().find(|(known, _)| known == verdict) {
            Some((_, actions)) => *actions += &format!(", {action}"),
            None => groups.push((verdict.clone(), action)),
        }
    }
    groups
}
