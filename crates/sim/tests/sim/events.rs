//! The stream of events that some BMCs offer.

use std::time::Duration;

use axum::body::Body;
use base64::Engine;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sim::Vendor;
use tower::ServiceExt;

use crate::harness::{Harness, pass};

const STREAM: &str = "/redfish/v1/EventService/SSE";

/// An open stream, frame by frame.
struct Events {
    body: Body,
    buffer: String,
}

impl Events {
    async fn open(harness: &Harness, machine: &str, last_seen: Option<&str>) -> Events {
        let spec = harness.machine(machine);
        let login = base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", spec.bmc_user, spec.bmc_password));
        let mut request = Request::get(STREAM).header("authorization", format!("Basic {login}")).header("accept", "text/event-stream");
        if let Some(last_seen) = last_seen {
            request = request.header("last-event-id", last_seen);
        }
        let response = harness.site.redfish(machine).unwrap().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events { body: response.into_body(), buffer: String::new() }
    }

    /// The next event's id and content, past comments; nothing when the stream has ended.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((frame, rest)) = self.buffer.split_once("\n\n") {
                let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                let event = field("id: ").zip(field("data: "));
                self.buffer = rest.to_owned();
                match event {
                    Some((id, data)) => return Some((id, serde_json::from_str(&data).unwrap())),
                    None => continue,
                }
            }
            // A connection that breaks is an end too.
            let frame = self.body.frame().await?.ok()?;
            self.buffer += std::str::from_utf8(frame.data_ref().unwrap()).unwrap();
        }
    }

    async fn next_message(&mut self) -> (String, String) {
        let (id, event) = self.next().await.expect("the stream is open");
        (id, event["Events"][0]["MessageId"].as_str().unwrap().rsplit('.').next().unwrap().to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn dell_and_lenovo_offer_a_stream_and_the_others_do_not() {
    let harness = Harness::start().await;
    for (vendor, offers) in [(Vendor::Dell, true), (Vendor::Hpe, false), (Vendor::Lenovo, true), (Vendor::Supermicro, false)] {
        let machine = harness.of(vendor);
        let service = harness.read(&machine, "/redfish/v1/EventService").await;
        assert_eq!(service["ServerSentEventUri"], if offers { json!(STREAM) } else { Value::Null }, "{vendor:?}");
        if !offers {
            assert_eq!(harness.bmc(&machine, "GET", STREAM, "").await.status, StatusCode::NOT_FOUND);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn power_and_tasks_are_told_as_they_happen() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let mut events = Events::open(&harness, &machine, None).await;
    harness.reset(&machine, "ForceOff").await;
    assert_eq!(events.next_message().await.1, "ResetRequested");
    assert_eq!(events.next_message().await.1, "PoweredOff");
    harness
        .post(&machine, "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate", &json!({"ImageURI": "http://i/nic-2.bin"}))
        .await;
    let (_, event) = events.next().await.unwrap();
    let event = &event["Events"][0];
    assert_eq!(event["OriginOfCondition"]["@odata.id"], "/redfish/v1/TaskService/Tasks/JID_1");
    assert_eq!(event["Message"], "Task JID_1 completed.");
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_misses_nothing() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Lenovo);
    let mut events = Events::open(&harness, &machine, None).await;
    harness.reset(&machine, "ForceOff").await;
    let (seen, _) = events.next_message().await;
    drop(events);
    pass(10).await;
    let harness = harness.crash_and_reopen(Duration::from_secs(60)).await;
    let mut events = Events::open(&harness, &machine, Some(&seen)).await;
    assert_eq!(events.next_message().await.1, "PoweredOff");
}

#[tokio::test(start_paused = true)]
async fn a_restart_of_the_bmc_and_a_stop_of_the_site_end_the_stream() {
    let mut harness = Harness::start().await;
    let (dell, lenovo) = (harness.of(Vendor::Dell), harness.of(Vendor::Lenovo));
    let mut first = Events::open(&harness, &dell, None).await;
    let mut second = Events::open(&harness, &lenovo, None).await;
    harness.post(&dell, "/redfish/v1/Managers/iDRAC.Embedded.1/Actions/Manager.Reset", &json!({})).await;
    assert_eq!(first.next().await, None);
    let waiting = tokio::spawn(async move { second.next().await });
    pass(1).await;
    harness.stop().await;
    assert_eq!(waiting.await.unwrap(), None);
}
