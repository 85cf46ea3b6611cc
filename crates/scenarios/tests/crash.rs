//! The control plane dies at every commit of every operation kind, before the commit is durable or after it, and starts
//! again: the operation ends the same, the BMC has witnessed the same, and the activity log tells each thing once.

use std::sync::Arc;

use http::Method;
use scenarios::{House, Moment, Mortal, Reply, machine_path};
use tokio::sync::Notify;

/// What must be the same whether or not there was a crash.
#[derive(Debug, PartialEq)]
struct Ending {
    status: String,
    message: String,
    power: String,
    ready: String,
    cordon: String,
    power_cycles: (u64, u64),
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    PowerOff,
    PowerOffHard,
    Start,
    Restart,
    Cordon,
    Uncordon,
    CancelledRestart,
}

const KINDS: [Kind; 7] =
    [Kind::PowerOff, Kind::PowerOffHard, Kind::Start, Kind::Restart, Kind::Cordon, Kind::Uncordon, Kind::CancelledRestart];

const MACHINE: &str = "rack1compute01";

async fn ask(house: &House, verb: &str, body: &str) -> Option<String> {
    let path = format!("{}/{verb}?api-version=1", machine_path(MACHINE));
    let reply = house.call_with(Method::POST, &path, &[("x-ms-client-request-id", "the-same-request")], body).await;
    reply.body["name"].as_str().filter(|_| reply.status == 202).map(str::to_owned)
}

async fn prepare(kind: Kind) -> House {
    let house = House::build(1, 4).await;
    let earlier = match kind {
        Kind::Start => Some("powerOff"),
        Kind::Uncordon => Some("cordon"),
        _ => None,
    };
    if let Some(verb) = earlier {
        let path = format!("{}/{verb}?api-version=1", machine_path(MACHINE));
        let reply = house.call(Method::POST, &path, "alice", "").await;
        house.until_ended(reply.body["name"].as_str().expect("the preparation is accepted")).await;
    }
    house
}

fn verb_of(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::PowerOff => ("powerOff", ""),
        Kind::PowerOffHard => ("powerOff", r#"{"skipShutdown":"True"}"#),
        Kind::Start => ("start", ""),
        Kind::Restart | Kind::CancelledRestart => ("restart", ""),
        Kind::Cordon => ("cordon", ""),
        Kind::Uncordon => ("uncordon", ""),
    }
}

/// Runs one operation with a crash at the n-th commit. `None` if there were fewer commits than that.
async fn run(kind: Kind, crash: Option<(i64, Moment)>) -> Option<Ending> {
    let mut house = prepare(kind).await;
    let resets_before = house.site.witness(MACHINE).expect("the machine is there").counters().resets_requested;
    let died = Arc::new(Notify::new());
    if let Some((position, moment)) = crash {
        house.crash().await;
        let mortal = Mortal::new(house.store.clone(), position, moment, died.clone());
        house.start_control_plane_on(Arc::new(mortal)).await;
        house.settle().await;
    }
    let (verb, body) = verb_of(kind);
    let attempt = async {
        let id = ask(&house, verb, body).await?;
        if matches!(kind, Kind::CancelledRestart) {
            let path = format!("/rackwright/v1/operations/{id}/cancel");
            house.call(Method::POST, &path, "bob", "").await;
        }
        house.until_ended(&id).await;
        Some(id)
    };
    let finished = tokio::select! {
        biased;
        () = died.notified() => None,
        id = attempt => id,
    };
    if crash.is_some() && finished.is_some() {
        house.close().await;
        return None;
    }
    if crash.is_some() {
        house.crash().await;
        house.settle().await;
        house.start_control_plane().await;
        house.settle().await;
    }
    // The person sends the same request again, as anybody would whose connection broke.
    let id = match finished {
        Some(id) => id,
        None => ask(&house, verb, body).await.expect("the request is accepted, or was before"),
    };
    if matches!(kind, Kind::CancelledRestart) && crash.is_some() {
        let path = format!("/rackwright/v1/operations/{id}/cancel");
        house.call(Method::POST, &path, "bob", "").await;
    }
    house.until_ended(&id).await;
    let ending = ending_of(&house, &id, resets_before, crash.is_some()).await;
    house.close().await;
    Some(ending)
}

async fn ending_of(house: &House, id: &str, resets_before: u64, crashed: bool) -> Ending {
    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    house.check_log().await;
    let operation = house.operation(id).await;
    let machine = house.machine(MACHINE).await;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().replace(id, "op").replace(&id[..8], "op");
    let counters = house.site.witness(MACHINE).expect("the machine is there").counters();
    let asked = counters.resets_requested - resets_before;
    let needed = operation["journal"].as_array().into_iter().flatten();
    let first_asks =
        needed.filter(|entry| entry["fact"]["kind"] == "asked" && entry["fact"]["attempt"] == 1 && is_power(&entry["fact"]["ask"])).count();
    assert!(asked <= first_asks as u64 + u64::from(crashed), "{asked} resets for {first_asks} needed");
    Ending {
        status: text(&operation["status"]),
        message: text(&operation["message"]),
        power: text(&machine["properties"]["powerState"]),
        ready: text(&machine["properties"]["readyState"]),
        cordon: text(&machine["properties"]["cordonStatus"]),
        power_cycles: (counters.powered_off, counters.powered_on),
    }
}

fn is_power(ask: &serde_json::Value) -> bool {
    matches!(ask.as_str(), Some("gracefulOff" | "forceOff" | "powerOn"))
}

/// A house whose control plane dies at the n-th commit.
async fn mortal_house(position: i64, moment: Moment, died: Arc<Notify>) -> House {
    let mut house = House::build(1, 4).await;
    house.crash().await;
    let mortal = Mortal::new(house.store.clone(), position, moment, died);
    house.start_control_plane_on(Arc::new(mortal)).await;
    house.settle().await;
    house
}

/// The same write, as somebody sends it who must not overwrite what another wrote.
async fn write_a_note(house: &House) -> Reply {
    let path = format!("{}?api-version=1", machine_path(MACHINE));
    let headers = [("x-ms-client-request-id", "the-same-request"), ("if-match", "\"1\"")];
    house.call_with(Method::PATCH, &path, &headers, r#"{"tags":{"row":"7"},"properties":{"machineDetails":"slow fan"}}"#).await
}

#[tokio::test(start_paused = true)]
async fn a_note_is_written_once_wherever_the_control_plane_dies() {
    let mut crashes = 0;
    for moment in [Moment::Before, Moment::After] {
        for position in 1.. {
            let died = Arc::new(Notify::new());
            let mut house = mortal_house(position, moment, died.clone()).await;
            let finished = tokio::select! {
                biased;
                () = died.notified() => None,
                reply = write_a_note(&house) => Some(reply),
            };
            if finished.is_some() {
                house.close().await;
                break;
            }
            crashes += 1;
            house.crash().await;
            house.start_control_plane().await;
            house.settle().await;
            let again = write_a_note(&house).await;
            assert_eq!(again.status, 200, "crashed {moment:?} commit {position}: {}", again.body);
            assert_eq!((&again.body["etag"], &again.body["tags"]["row"]), (&"\"2\"".into(), &"7".into()));
            assert_eq!(again.body["properties"]["machineDetails"], "slow fan");
            assert_eq!(house.machine(MACHINE).await["etag"], "\"2\"");
            house.close().await;
        }
    }
    assert!(crashes >= 2, "it was crashed at only {crashes} positions");
}

#[tokio::test(start_paused = true)]
async fn every_operation_ends_the_same_wherever_the_control_plane_dies() {
    for kind in KINDS {
        let undisturbed = run(kind, None).await.expect("an undisturbed operation ends");
        let mut crashes = 0;
        for moment in [Moment::Before, Moment::After] {
            for position in 1.. {
                let Some(ending) = run(kind, Some((position, moment))).await else { break };
                crashes += 1;
                let may_differ = matches!(kind, Kind::CancelledRestart);
                if may_differ {
                    // Where it is cancelled depends on when; that it ends cancelled, and free, does not.
                    assert_eq!(ending.status, "Canceled", "{kind:?} crashed {moment:?} commit {position}");
                } else {
                    assert_eq!(ending, undisturbed, "{kind:?} crashed {moment:?} commit {position}");
                }
            }
        }
        assert!(crashes >= 4, "{kind:?} was crashed at only {crashes} positions");
    }
}
