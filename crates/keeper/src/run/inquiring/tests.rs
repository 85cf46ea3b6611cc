use std::time::Duration;

use model::{BootWay, DeviceAsk, FaultClass, OperationId};
use plan::{Step, With};
use serde_json::json;

use super::super::stand::{SYSTEM, Stand, key};
use super::*;
use crate::books::tests::name;

fn survey() -> LookStep {
    LookStep { machine: Some(name(1)), at: LookAt::Survey }
}

#[tokio::test(start_paused = true)]
async fn a_look_is_made_once_and_noted_with_the_time_at_which_it_began() {
    let mut stand = Stand::build().await;
    stand.the_loop.books.plan(stand.the_loop.now()).unwrap();
    stand.the_loop.inquire(&survey());
    stand.the_loop.inquire(&survey());
    assert!(stand.observation().looking.contains(&LookAt::Survey) && !stand.the_loop.books.needs_plan());
    tokio::time::advance(Duration::from_secs(7)).await;
    let began_at = stand.the_loop.now();
    stand.the_loop.start_inquiries();
    stand.the_loop.inquire(&survey());
    stand.the_loop.start_inquiries();
    stand.take_one().await;
    let observation = stand.observation();
    let looked = &observation.looked[&LookAt::Survey];
    let Ok(Found::Survey(found)) = &looked.found else { panic!("{looked:?}") };
    assert_eq!((found.ways.as_slice(), &found.jobs), ([BootWay::Pxe].as_slice(), &None));
    assert_eq!((looked.began_at, observation.looking.is_empty()), (began_at, true));
    assert!(stand.the_loop.books.needs_plan(), "whoever waits for it is visited");
    let reads = stand.described.take_log().iter().filter(|asked| asked.starts_with(&format!("GET {SYSTEM}"))).count();
    assert_eq!(reads, 1);
}

#[tokio::test(start_paused = true)]
async fn a_look_that_fails_tells_of_the_line_unless_it_is_about_what_was_looked_for() {
    for (status, class, is_of_line) in
        [(503, FaultClass::Busy, true), (401, FaultClass::Denied, true), (404, FaultClass::Unsupported, false)]
    {
        let mut stand = Stand::build().await;
        let at = if is_of_line { LookAt::Survey } else { LookAt::Accounts };
        stand.described.on(&format!("GET {SYSTEM}"), status, &json!({}));
        stand.the_loop.inquire(&LookStep { machine: Some(name(1)), at });
        stand.the_loop.start_inquiries();
        stand.take_one().await;
        let observation = stand.observation();
        let fault = observation.looked[&at].found.as_ref().unwrap_err();
        assert_eq!(fault.class, class, "{fault}");
        assert_eq!(observation.bmc.fault.is_some(), is_of_line, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_bmc_told_that_was_replaced_meanwhile_is_not_believed() {
    let mut stand = Stand::build().await;
    stand.the_loop.inquire(&survey());
    stand.the_loop.start_inquiries();
    let event = stand.inbox.recv().await.unwrap();
    let equipment = stand.equipment(stand.other.driver("S9"));
    stand.the_loop.take_devices(&equipment);
    stand.the_loop.take_event(event);
    assert_eq!((stand.observation().looked.len(), stand.observation().looking.len()), (0, 0));
    stand.the_loop.inquire(&survey());
    stand.the_loop.start_inquiries();
    stand.take_one().await;
    assert!(stand.observation().looked[&LookAt::Survey].found.is_ok(), "it is asked for again, of the new one");
    assert!(!stand.other.take_log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_machine_without_a_bmc_is_told_so() {
    let mut stand = Stand::build().await;
    stand.the_loop.keeper.bmcs.clear();
    stand.the_loop.inquire(&survey());
    let observation = stand.observation();
    let fault = observation.looked[&LookAt::Survey].found.as_ref().unwrap_err();
    assert_eq!((fault.class, observation.looking.is_empty()), (FaultClass::Missing, true));
}

/// An ask of the first attempt to install the machine.
fn ask(ask: DeviceAsk) -> Step {
    let attempt = model::Attempt {
        cluster: model::ClusterName::new("site1").unwrap(),
        machine: name(1),
        operation: OperationId::new("8f3c"),
        round: 1,
    };
    let with = With::Install { attempt, way: BootWay::VirtualMedia };
    Step { machine: name(1), node: None, operation: None, ask, attempt: 1, reason: String::new(), with }
}

#[tokio::test(start_paused = true)]
async fn the_secret_of_an_address_reaches_the_bmc_and_stands_nowhere_else() {
    let mut stand = Stand::build().await;
    let link = |path: &str| json!({"@odata.id": path});
    let slots = format!("{SYSTEM}/VirtualMedia");
    let action = format!("{slots}/1/Actions/VirtualMedia.InsertMedia");
    let With::Install { attempt, .. } = ask(DeviceAsk::InsertMedia).with else { panic!("it is of an attempt") };
    let path = ticket::media_path(&key(), &attempt);
    let secret = key().token(ticket::Purpose::Media, &attempt);
    let url = format!("http://10.0.0.1:8080{}", *path);
    let boot = json!({"BootSourceOverrideTarget@Redfish.AllowableValues": ["Cd", "Hdd"]});
    let system = json!({"PowerState": "On", "SerialNumber": "S1", "VirtualMedia": link(&slots), "Boot": boot});
    stand.described.on(&format!("GET {SYSTEM}"), 200, &system);
    stand.described.on(&format!("GET {slots}"), 200, &json!({"Members": [link(&format!("{slots}/1"))]}));
    let slot = json!({"MediaTypes": ["CD"], "Image": url, "Inserted": true, "Actions": {"#VirtualMedia.InsertMedia": {"target": action}}});
    stand.described.on(&format!("GET {slots}/1"), 200, &slot);
    let complaint = format!("The image '{url}' cannot be reached.");
    stand.described.on(&format!("POST {action}"), 400, &json!({"error": {"message": complaint}}));
    stand.the_loop.ask(ask(DeviceAsk::InsertMedia));
    stand.take_one().await;
    assert!(stand.described.take_log().iter().any(|asked| asked.contains(&url)), "the BMC was told");
    let answer = stand.observation().answer.unwrap();
    assert_eq!(answer.fault.detail, format!("POST {action} answered 400: The image *** cannot be reached."));
    stand.the_loop.inquire(&LookStep { machine: Some(name(1)), at: LookAt::Boot });
    stand.the_loop.start_inquiries();
    stand.take_one().await;
    let observation = stand.observation();
    let Ok(Found::Boot(seen)) = &observation.looked[&LookAt::Boot].found else { panic!("{observation:?}") };
    assert_eq!(seen.media.as_deref(), Some("http://10.0.0.1:8080/install/v1/media/site1/8f3c/1/***/agent.iso"));
    assert!(!format!("{observation:?}").contains(secret.as_str()));
}
