//! `rackwright bmm validate` and `bmm validation`, and `cluster inspect`: whether hardware is what it should be.

use clap::Args;
use serde_json::{Value, json};

use super::act::{Action, FollowArgs, see_through};
use super::answer::items;
use super::args::{NameArgs, parse_name};
use super::follow::follow;
use super::outcome::{Wanted, conclude, judge};
use super::preview::{ActArgs, show_preview};
use super::render::{failed_fields, validation_sheet, validation_table};
use super::screen::Screen;
use super::session::{Kind, Session};
use super::trouble::Trouble;

/// Where the results of a machine are.
const RESULTS: &str = "hardwareValidation";

#[derive(Args, Clone, Debug)]
pub struct InspectArgs {
    #[command(flatten)]
    name: NameArgs,

    /// Only these machines, and those of `--rack`.
    #[arg(long = "machine", value_name = "NAME", num_args = 1.., value_parser = parse_name)]
    machines: Vec<String>,

    /// Only the machines of these racks, and those of `--machine`.
    #[arg(long = "rack", value_name = "NAME", num_args = 1.., value_parser = parse_name)]
    racks: Vec<String>,

    /// What else is done, as in `az`. Refused once a cluster is deployed.
    #[arg(long, value_name = "ResetHardware", value_parser = ["ResetHardware"])]
    additional_actions: Option<String>,

    #[command(flatten)]
    follow: FollowArgs,
}

impl InspectArgs {
    fn body(&self) -> Value {
        let mut filter = json!({});
        for (name, values) in [("bareMetalMachineNames", &self.machines), ("rackNames", &self.racks)] {
            if !values.is_empty() {
                filter[name] = json!(values);
            }
        }
        json!({ "filterDevices": filter, "additionalActions": self.additional_actions.iter().collect::<Vec<_>>() })
    }
}

pub async fn inspect(session: &Session, screen: &mut Screen, args: &InspectArgs) -> Result<(), Trouble> {
    let name = args.name.get();
    let accepted = session.post(Kind::Cluster, name, "inspect", None, &args.body()).await?;
    let id = accepted["name"].as_str();
    let (Some(id), false) = (id, args.follow.no_wait) else {
        return see_through(session, screen, id, name, "inspect", args.follow).await;
    };
    let ended = follow(session, screen, id).await?;
    conclude(session, screen, &ended, Wanted::Success)?;
    judge_inspection(name, &ended["inspection"])
}

/// Whoever goes on after an inspection relies on every machine of it: one that is not as it should be, or could not be validated, is
/// trouble, and so is an inspection of none.
fn judge_inspection(name: &str, inspection: &Value) -> Result<(), Trouble> {
    let of = |pointer: &str| items(inspection, pointer).iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
    let (failed, unknown) = (of("/failed"), of("/unknown"));
    let has_passed = inspection["passed"].as_u64().is_some_and(|passed| passed > 0);
    let first = failed.first().or(unknown.first()).cloned();
    let not = failed.iter().map(|machine| format!("`{machine}` is not as it should be"));
    let mut trouble = Trouble::failed(format!("not every machine of `{name}` is known to be as it should be"));
    trouble.details = not.chain(unknown.iter().map(|machine| format!("`{machine}` could not be validated"))).collect();
    match first {
        Some(machine) => Err(trouble.hint(format!("`rackwright bmm validation {machine}` shows its results"))),
        None if has_passed => Ok(()),
        None => Err(Trouble::failed(format!("no machine of `{name}` was validated"))),
    }
}

/// Compares, and shows what came of it. Hardware that is not what it should be is a failure.
pub async fn validate(session: &Session, screen: &mut Screen, action: &Action, args: ActArgs) -> Result<(), Trouble> {
    if args.preview {
        return show_preview(session, screen, &action.load_preview(session).await?);
    }
    let accepted = action.send(session, screen, args.follow.consent).await?;
    let id = accepted["name"].as_str();
    let (Some(id), false) = (id, args.follow.no_wait) else {
        return see_through(session, screen, id, &action.machine, "validate", args.follow).await;
    };
    judge(&follow(session, screen, id).await?, Wanted::Success)?;
    let validation = show(session, screen, &action.machine).await?;
    if validation.pointer("/properties/result").is_none_or(|result| result == "Pass") {
        return Ok(());
    }
    let mut trouble = Trouble::failed(format!("`{}` has failed hardware validation", action.machine));
    trouble.details = failed_fields(&validation);
    Err(trouble.hint(format!("`rackwright bmm advise {} --symptom hardware` tells what to do", action.machine)))
}

/// Shows the latest results, and returns them.
pub async fn show(session: &Session, screen: &mut Screen, name: &str) -> Result<Value, Trouble> {
    let validation = session.get_of(Kind::Machine, name, RESULTS, &[]).await?;
    session.showing.one(screen, &validation, || validation_sheet(&validation), || validation_table(&validation))?;
    Ok(validation)
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::captured;
    use super::super::session_tests::{Reply, Rote};
    use super::*;

    fn accepted() -> Reply {
        Reply::Json(202, json!({ "name": "8f3c" }))
    }

    fn ended() -> Reply {
        Reply::Json(
            200,
            json!({ "id": "8f3c", "machine": "m1", "action": "validate", "status": "Succeeded", "message": "compared", "steps": [] }),
        )
    }

    fn results(result: &str) -> Reply {
        let field = json!({ "field_name": "cpu_sockets", "comparison_result": result, "expected": "2", "fetched": "1" });
        let category = json!({ "system_info_result": result, "result_detail": [field], "result_log": [] });
        Reply::Json(200, json!({ "name": "m1", "properties": { "result": result, "system_info": category } }))
    }

    async fn run(result: &str) -> (Result<(), Trouble>, String) {
        let rote = Rote::with(vec![accepted(), ended(), results(result)], Some("g1")).await;
        let action = Action { machine: "m1".into(), verb: "validateHardware", body: json!({}), question: None, accepts_outage: false };
        let args = ActArgs { preview: false, follow: FollowArgs { no_wait: false, consent: super::super::act::ConsentArgs { yes: true } } };
        let (mut screen, out, _) = captured();
        (validate(&rote.session, &mut screen, &action, args).await, out.text())
    }

    #[tokio::test]
    async fn hardware_that_is_not_what_it_should_be_is_an_error_with_its_fields() {
        let (ended, shown) = run("Fail").await;
        let trouble = ended.unwrap_err();
        assert_eq!((trouble.exit.code(), trouble.details), (1, vec!["cpu_sockets: 1 instead of 2".to_owned()]));
        assert!(shown.contains("cpu_sockets"), "{shown}");
        assert_eq!(run("Pass").await.0, Ok(()));
    }

    #[test]
    fn an_inspection_succeeds_only_if_every_machine_is_known_to_be_well() {
        let judged = |passed: u64, failed: &[&str], unknown: &[&str]| {
            judge_inspection("c", &json!({ "passed": passed, "failed": failed, "unknown": unknown }))
        };
        assert_eq!(judged(3, &[], &[]), Ok(()));
        let trouble = judged(1, &["m1"], &["m2"]).unwrap_err();
        assert_eq!((trouble.exit.code(), trouble.hint.as_deref()), (1, Some("`rackwright bmm validation m1` shows its results")));
        assert_eq!(trouble.details, ["`m1` is not as it should be", "`m2` could not be validated"]);
        assert_eq!(judged(1, &[], &["m2"]).unwrap_err().exit.code(), 1);
        assert_eq!(judged(0, &[], &[]).unwrap_err().message, "no machine of `c` was validated");
    }

    #[tokio::test]
    async fn an_inspection_names_machines_and_racks() {
        let line = "rackwright cluster inspect c --machine m1 m2 --rack r1";
        let cli = <super::super::args::Cli as clap::Parser>::try_parse_from(line.split(' ')).unwrap();
        let Some(super::super::args::Command::Cluster(super::super::resources::ClusterCommand::Inspect(args))) = cli.command else {
            panic!()
        };
        let filter = json!({ "bareMetalMachineNames": ["m1", "m2"], "rackNames": ["r1"] });
        assert_eq!(args.body(), json!({ "filterDevices": filter, "additionalActions": [] }));
    }
}
