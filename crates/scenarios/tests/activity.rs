//! The activity log across the whole system: whose request led to what, and what outlives what it is about.

use http::Method;
use keeper::Verdict;
use scenarios::{CALLER, House, about, line, machine_path};
use serde_json::Value;

const MACHINE: &str = "rack1compute01";

fn path(verb: &str) -> String {
    format!("{}/{verb}?api-version=1", machine_path(MACHINE))
}

#[tokio::test(start_paused = true)]
async fn one_correlation_id_leads_from_the_request_through_every_entry_to_the_machine() {
    let house = House::build(1, 4).await;
    let headers = [("x-ms-correlation-request-id", "My-Change-4711"), (CALLER, "alice")];
    let reply = house.call_with(Method::POST, &path("restart"), &headers, "").await;
    house.until_ended(reply.body["name"].as_str().expect("it is accepted")).await;
    let machine = house.machine(MACHINE).await;
    assert_eq!(machine["properties"]["actionStates"][0]["correlationId"], "My-Change-4711");
    let told = house.log("correlationId eq 'my-change-4711'").await;
    assert!(told.iter().all(|event| event["correlationId"] == "My-Change-4711"));
    let statuses: Vec<&str> = told.iter().filter_map(|event| event["status"]["value"].as_str()).collect();
    assert_eq!((statuses.first(), statuses.last()), (Some(&"Accepted"), Some(&"Succeeded")));
    let of_machine = house.log(&about(MACHINE)).await;
    assert_eq!(told, of_machine[1..], "all that happened to the machine since it was described");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_is_taken_out_leaves_its_log_behind() {
    let house = House::build(1, 4).await;
    let reply = house.call(Method::POST, &path("fly"), "alice", "").await;
    assert_eq!(reply.status, 404);
    let verdict = house.describe_anew(|site| site.machines.retain(|machine| machine.name.as_str() != MACHINE)).await;
    assert!(matches!(verdict, Verdict::TakenOver { .. }));
    house.settle().await;
    assert_eq!(house.call(Method::GET, &format!("{}?api-version=1", machine_path(MACHINE)), "alice", "").await.status, 404);
    let told: Vec<String> = house.log(&about(MACHINE)).await.iter().map(line).collect();
    assert_eq!(
        told,
        [
            "14:00:00 Succeeded  rackwright bareMetalMachines/write: `rack1compute01` was added by the site's description",
            "14:00:02 Failed     alice      bareMetalMachines/fly/action: fly of `rack1compute01` was not taken up \
             [NotFound InvalidAction: there is no action `fly`; powerOff, start, restart, cordon, uncordon, reimage, replace, validateHardware, unmanage and manage are]",
            "14:00:02 Succeeded  rackwright bareMetalMachines/delete: `rack1compute01` was taken out by the site's description",
        ]
    );
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_no_keeper_judged_is_told_once() {
    let mut house = House::without_control_plane(1, 4).await;
    house.start_api_only().await;
    let reply = house.call(Method::POST, &path("restart"), "alice", "").await;
    assert_eq!(reply.body["error"]["code"], "KeeperUnavailable");
    house.settle().await;
    let failed = house.log("status eq 'Failed'").await;
    let [event] = failed.as_slice() else { panic!("one entry, not {failed:#?}") };
    let nested: Value = serde_json::from_str(event["properties"]["statusMessage"].as_str().unwrap()).unwrap();
    assert_eq!(nested["error"], reply.body["error"], "the log says what the client was told");
    assert_eq!(event["subStatus"]["localizedValue"], "ServiceUnavailable (HTTP Status Code: 503)");
    house.close().await;
}
