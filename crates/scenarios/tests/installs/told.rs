//! What an action tells of itself: `actionStates`, steps, and whose action it was.

use scenarios::about;
use serde_json::{Value, json};

use crate::hand::{COMPUTE, carry_out, ended, fault, is_report, operation_of, post, site, succeed, unguarded, until_fact};

fn states(machine: &Value) -> &Vec<Value> {
    machine["properties"]["actionStates"].as_array().expect("a machine has action states")
}

fn steps(state: &Value) -> Vec<(&str, &str)> {
    let steps = state["stepStates"].as_array().into_iter().flatten();
    steps.map(|step| (step["stepName"].as_str().unwrap(), step["status"].as_str().unwrap())).collect()
}

#[tokio::test(start_paused = true)]
async fn the_latest_of_each_action_is_told_with_the_correlation_id_of_the_activity_log() {
    let house = site(4).await;
    succeed(&house, COMPUTE, "reimage", &unguarded()).await;
    succeed(&house, COMPUTE, "uncordon", &json!({})).await;
    fault(&house, "disk-missing", COMPUTE).await;
    let failed = carry_out(&house, COMPUTE, "reimage", &unguarded()).await;
    assert_eq!(failed["status"], "Failed");
    house.site.clear_faults(|_| true).await.unwrap();
    succeed(&house, COMPUTE, "validateHardware", &json!({})).await;
    let replaced = succeed(&house, COMPUTE, "replace", &unguarded()).await;
    let machine = house.machine(COMPUTE).await;
    let mut told: Vec<(&str, &str)> = states(&machine)
        .iter()
        .map(|state| (state["actionType"].as_str().unwrap().rsplit('/').nth(1).unwrap(), state["status"].as_str().unwrap()))
        .collect();
    told.sort_unstable();
    assert_eq!(told, [("reimage", "Failed"), ("replace", "Completed"), ("uncordon", "Completed"), ("validateHardware", "Completed")]);
    let log = house.log(&about(COMPUTE)).await;
    for (verb, operation) in [("reimage", &failed), ("replace", &replaced)] {
        let state =
            states(&machine).iter().find(|state| state["actionType"].as_str().unwrap().ends_with(&format!("/{verb}/action"))).unwrap();
        assert_eq!(state["correlationId"], operation["correlationId"]);
        let logged: Vec<&Value> = log.iter().filter(|event| event["properties"]["operation"] == operation["id"]).collect();
        assert!(!logged.is_empty() && logged.iter().all(|event| event["correlationId"] == state["correlationId"]), "{verb}");
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_steps_of_a_reimage_and_of_a_replace_are_told_while_they_run() {
    let house = site(4).await;
    let id = operation_of(&post(&house, COMPUTE, "reimage", &unguarded()).await);
    until_fact(&house, &id, |fact| is_report(fact, "exchange")).await;
    let machine = house.machine(COMPUTE).await;
    let told = states(&machine).iter().find(|state| state["actionType"].as_str().unwrap().ends_with("/reimage/action")).unwrap();
    assert_eq!((&told["status"], &told["endTime"]), (&"InProgress".into(), &Value::Null));
    assert_eq!(steps(told), [("Deprovisioning", "Completed"), ("Provisioning", "InProgress"), ("Cloud Init", "NotStarted")]);
    let percent = house.operation(&id).await["percentComplete"].as_f64().expect("it tells how far it is");
    assert!((1.0..100.0).contains(&percent), "{percent}");
    ended(&house, &id).await;
    succeed(&house, COMPUTE, "replace", &unguarded()).await;
    let machine = house.machine(COMPUTE).await;
    let told = states(&machine).iter().find(|state| state["actionType"].as_str().unwrap().ends_with("/replace/action")).unwrap();
    let names: Vec<&str> = steps(told).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Deprovisioning", "Hardware Validation", "Wait for Deprovisioning", "Provisioning", "Cloud Init"]);
    house.close().await;
}
