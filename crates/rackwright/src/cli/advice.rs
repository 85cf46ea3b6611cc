//! `rackwright bmm advise` and `bmm verify`: what to do about a machine that is not well, and how it is afterwards.

use clap::Args;
use clap::builder::PossibleValuesParser;
use model::{RepairedPart, Symptom};

use super::answer::{field_or_dash, items};
use super::args::NameArgs;
use super::render::{advice_sheet, advice_table, check_sheet, check_table};
use super::screen::Screen;
use super::session::{Kind, Session};
use super::trouble::Trouble;

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

/// Shows every check; what differs is trouble, and is named.
pub async fn verify(session: &Session, screen: &mut Screen, name: &str) -> Result<(), Trouble> {
    let answer = session.get_of(Kind::Machine, name, "verify", &[]).await?;
    session.showing.one(screen, &answer, || check_sheet(&answer), || check_table(&answer))?;
    let differing: Vec<String> = items(&answer, "/checks")
        .iter()
        .filter(|check| check["state"] == "differs")
        .map(|check| {
            let of = |pointer| field_or_dash(check, pointer);
            format!("{}: {} instead of {}", of("/name"), of("/found"), of("/expected"))
        })
        .collect();
    if differing.is_empty() {
        return Ok(());
    }
    let mut trouble = Trouble::failed(format!("`{name}` is not as it was"));
    trouble.details = differing;
    Err(trouble.hint(format!("`rackwright bmm advise {name}` tells what to do")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::screen::tests::captured;
    use super::super::session_tests::{Reply, Rote};
    use super::*;

    async fn verified(state: &str) -> (Result<(), Trouble>, String) {
        let checks = json!([
            { "name": "readyState", "state": "ok", "expected": "True", "found": "True", "words": "" },
            { "name": "virtual machine `fw`", "state": state, "expected": "running", "found": "stopped", "words": "nobody is about to start it" },
        ]);
        let rote = Rote::with(vec![Reply::Json(200, json!({ "machine": "m1", "result": state, "checks": checks }))], Some("g1")).await;
        let (mut screen, out, _) = captured();
        (verify(&rote.session, &mut screen, "m1").await, out.text())
    }

    #[tokio::test]
    async fn what_differs_is_named_and_ends_with_an_error() {
        let (ended, shown) = verified("differs").await;
        let trouble = ended.unwrap_err();
        assert_eq!((trouble.exit.code(), trouble.message.as_str()), (1, "`m1` is not as it was"));
        assert_eq!(trouble.details, ["virtual machine `fw`: stopped instead of running"]);
        assert!(shown.contains("nobody is about to start it"), "{shown}");
    }

    #[tokio::test]
    async fn what_is_on_its_way_is_no_error() {
        let (ended, shown) = verified("waits").await;
        assert_eq!(ended, Ok(()));
        assert!(shown.contains("waits"), "{shown}");
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
