//! `rackwright bmm advise` and `bmm verify`: what to do about a machine that is not well, and how it is afterwards.

use clap::Args;
use clap::builder::PossibleValuesParser;
use model::{RepairedPart, Symptom};
use serde_json::Value;

use super::answer::{field, field_or_dash, items};
use super::args::NameArgs;
use super::render::{advice_sheet, advice_table, check_sheet, check_table};
use super::screen::Screen;
use super::session::{Kind, Session};
use super::trouble::{Exit, Trouble};

#[derive(Args, Clone, Debug)]
pub struct AdviseArgs {
    #[command(flatten)]
    name: NameArgs,

    /// What is wrong. Without it, what is observed counts.
    #[arg(long, value_name = "SYMPTOM", value_parser = PossibleValuesParser::new(Symptom::ALL.map(Symptom::as_str)))]
    symptom: Option<String>,

    /// Parts that were, or are to be, repaired or exchanged, with commas between.
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = PossibleValuesParser::new(RepairedPart::ALL.map(RepairedPart::as_str)))]
    repaired: Vec<String>,
}

pub async fn advise(session: &Session, screen: &mut Screen, args: &AdviseArgs) -> Result<(), Trouble> {
    let repaired = (!args.repaired.is_empty()).then(|| args.repaired.join(","));
    let named = [("symptom", args.symptom.clone()), ("repaired", repaired)];
    let query: Vec<(&'static str, String)> = named.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let advice = session.get_of(Kind::Machine, args.name.get(), "advise", &query).await?;
    session.showing.one(screen, &advice, || advice_sheet(&advice), || advice_table(&advice))
}

/// Shows every check. What differs, or cannot be told, is trouble and is named; so is what is still on its way. What waits for the
/// person who asks is none, so that a script goes on to the command that ends the wait.
pub async fn verify(session: &Session, screen: &mut Screen, name: &str) -> Result<(), Trouble> {
    let answer = session.get_of(Kind::Machine, name, "verify", &[]).await?;
    session.showing.one(screen, &answer, || check_sheet(&answer), || check_table(&answer))?;
    let checks = items(&answer, "/checks");
    let wrong = named(checks, |check| matches!(check["state"].as_str(), Some("differs" | "unknown")));
    if !wrong.is_empty() {
        let is_seen = checks.iter().any(|check| check["state"] == "differs");
        let what = if is_seen { "is not as it was" } else { "may not be as it was: not all of it can be seen" };
        let mut trouble = Trouble::failed(format!("`{name}` {what}"));
        trouble.details = wrong;
        return Err(trouble.hint(format!("`rackwright bmm advise {name}` tells what to do")));
    }
    let coming = named(checks, |check| check["state"] == "waits" && field(check, "/awaits").is_none());
    if !coming.is_empty() {
        let mut trouble = Trouble::new(Exit::NotYet, format!("`{name}` is not yet as it was"));
        trouble.details = coming;
        return Err(trouble.hint("what is left is on its way; ask again later"));
    }
    if let Some(command) = checks.iter().find_map(|check| field(check, "/awaits")) {
        screen.hint(&format!("next: `{command}`"));
    }
    Ok(())
}

fn named(checks: &[Value], is_meant: impl Fn(&Value) -> bool) -> Vec<String> {
    let meant = checks.iter().filter(|check| is_meant(check));
    let told = meant.map(|check| {
        let of = |pointer| field_or_dash(check, pointer);
        format!("{}: {} instead of {}", of("/name"), of("/found"), of("/expected"))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::screen::tests::captured;
    use super::super::session_tests::{Reply, Rote};
    use super::*;

    async fn verified(state: &str, awaits: Option<&str>) -> (Result<(), Trouble>, String) {
        let mut checks = json!([
            { "name": "readyState", "state": "ok", "expected": "True", "found": "True", "words": "" },
            { "name": "virtual machine `fw`", "state": state, "expected": "running", "found": "stopped", "words": "nobody is about to start it" },
        ]);
        if let Some(command) = awaits {
            checks[1]["awaits"] = json!(command);
        }
        let rote = Rote::with(vec![Reply::Json(200, json!({ "machine": "m1", "result": state, "checks": checks }))], Some("g1")).await;
        let (mut screen, out, err) = captured();
        (verify(&rote.session, &mut screen, "m1").await, out.text() + &err.text())
    }

    #[tokio::test]
    async fn what_differs_is_named_and_ends_with_an_error() {
        let (ended, shown) = verified("differs", None).await;
        let trouble = ended.unwrap_err();
        assert_eq!((trouble.exit.code(), trouble.message.as_str()), (1, "`m1` is not as it was"));
        assert_eq!(trouble.details, ["virtual machine `fw`: stopped instead of running"]);
        assert!(shown.contains("nobody is about to start it"), "{shown}");
    }

    #[tokio::test]
    async fn what_cannot_be_told_is_an_error_too() {
        let trouble = verified("unknown", None).await.0.unwrap_err();
        assert_eq!((trouble.exit.code(), trouble.message.as_str()), (1, "`m1` may not be as it was: not all of it can be seen"));
        assert_eq!(trouble.details, ["virtual machine `fw`: stopped instead of running"]);
    }

    #[tokio::test]
    async fn what_is_on_its_way_has_a_code_of_its_own() {
        let (ended, shown) = verified("waits", None).await;
        let trouble = ended.unwrap_err();
        assert_eq!((trouble.exit.code(), trouble.message.as_str()), (7, "`m1` is not yet as it was"));
        assert!(shown.contains("waits"), "{shown}");
    }

    #[tokio::test]
    async fn what_waits_for_the_person_who_asks_is_no_error() {
        let (ended, shown) = verified("waits", Some("rackwright bmm uncordon m1")).await;
        assert_eq!(ended, Ok(()));
        assert!(shown.contains("next: `rackwright bmm uncordon m1`"), "{shown}");
    }

    #[tokio::test]
    async fn symptom_and_parts_are_asked_about() {
        let answer = json!({ "machine": "m1", "next": "replace" });
        let rote = Rote::with(vec![Reply::Json(200, answer)], Some("g1")).await;
        let (mut screen, _, _) = captured();
        let line = "rackwright bmm advise m1 --symptom hardware --repaired ssd,system-board";
        let cli = <super::super::args::Cli as clap::Parser>::try_parse_from(line.split(' ')).unwrap();
        let Some(super::super::args::Command::Bmm(super::super::bmm::BmmCommand::Advise(args))) = cli.command else { panic!() };
        advise(&rote.session, &mut screen, &args).await.unwrap();
        let paths = rote.paths();
        assert!(paths[0].contains("/m1/advise?") && paths[0].contains("symptom=hardware&repaired=ssd%2Csystem-board"), "{paths:?}");
    }
}
