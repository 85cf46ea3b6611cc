//! What an agent tells beside its progress: what its machine has, and its log.

use model::HostInventory;

use super::*;

async fn exchange(rig: &Rig, attempt: &Attempt) -> String {
    let wish = json!({ "machine": attempt.machine, "nonce": "0123456789abcdef" });
    let answer = rig.tell(attempt, "exchange", &token(Purpose::Agent, attempt), &wish.to_string()).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    token(Purpose::Session, attempt)
}

/// The log that is kept of an attempt.
async fn kept(rig: &Rig, attempt: &Attempt) -> Option<String> {
    let found = rig.face.api.store.get(&keys::install_log(&attempt.cluster, &attempt.operation, attempt.round)).await.unwrap();
    found.map(|log| String::from_utf8(log.value.to_vec()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_told_its_disk_by_name_and_what_to_wipe() {
    let (rig, attempt) = (rig().await, attempt("m2", "op2", 2));
    let wish = json!({ "machine": "m2", "nonce": "0123456789abcdef" });
    let answer = rig.tell(&attempt, "exchange", &token(Purpose::Agent, &attempt), &wish.to_string()).await.json();
    assert_eq!((&answer["osDisk"], &answer["wipe"]), (&json!({ "id": "S1" }), &json!(["S2"])));
}

#[tokio::test(start_paused = true)]
async fn an_image_says_when_its_attempt_began_and_how_the_network_is() {
    let rig = rig().await;
    for (name, operation, network) in [
        ("m1", "op1", None),
        ("m2", "op2", Some(json!({ "mac": "AA:BB:CC:00:00:01", "address": "10.0.2.50/24", "gateway": "10.0.2.2", "dns": ["10.0.2.3"] }))),
    ] {
        let path = ticket::media_path(&key(), &attempt(name, operation, 2)).to_string();
        let image = rig.send(Method::GET, &path, &[], "").await.body;
        let at = 5_000 + MARKER.len();
        let text = std::str::from_utf8(&image[at..at + AREA_BYTES - MARKER.len()]).unwrap();
        let configuration: Value = serde_json::from_str(text.trim_end_matches('\n')).unwrap();
        assert_eq!((&configuration["time"], configuration.get("network")), (&json!(NOW), network.as_ref()), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_inventory_goes_to_the_keeper_without_what_does_not_belong_on_a_terminal() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let session = exchange(&rig, &attempt).await;
    let found = json!({
        "disks": [{ "name": "sda", "serial": " S1\u{1b}[31m ", "wwn": "", "model": "x".repeat(300), "bytes": 1000, "kind": "ssd" }],
        "nics": [{ "name": "eth0", "mac": "52:54:00:00:00:01", "link": true, "mbps": 1000, "colour": "red" }],
        "memoryBytes": 4_294_967_296_u64, "cpus": { "model": "QEMU", "sockets": 1 }, "firmware": "uefi",
    });
    assert_eq!(rig.tell(&attempt, "inventory", &session, &found.to_string()).await.status, StatusCode::NO_CONTENT);
    let Some(MachineReport::Inventory { host }) = rig.reports().pop() else { panic!("no inventory was told") };
    assert_eq!((host.disks[0].serial.as_deref(), host.disks[0].wwn.as_deref()), (Some("S1[31m"), None));
    assert_eq!((host.disks[0].model.as_ref().unwrap().chars().count(), host.nics[0].link), (128, Some(true)));
    assert_eq!(rig.tell(&attempt, "inventory", &session, "{}").await.status, StatusCode::NO_CONTENT);
    assert_eq!(rig.reports().pop(), Some(MachineReport::Inventory { host: Box::new(HostInventory::default()) }), "all may be unknown");
}

#[tokio::test(start_paused = true)]
async fn an_inventory_beyond_its_limits_is_not_taken() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let session = exchange(&rig, &attempt).await;
    let parts = |count: usize| vec![json!({ "name": "x" }); count];
    let told = |body: Value| {
        let (rig, attempt, session) = (&rig, &attempt, &session);
        async move { rig.tell(attempt, "inventory", session, &body.to_string()).await.status }
    };
    assert_eq!(told(json!({ "disks": parts(64), "nics": parts(64) })).await, StatusCode::NO_CONTENT);
    assert_eq!(told(json!({ "disks": parts(65) })).await, StatusCode::BAD_REQUEST);
    assert_eq!(told(json!({ "nics": parts(65) })).await, StatusCode::BAD_REQUEST);
    assert_eq!(told(json!({ "disks": "many" })).await, StatusCode::BAD_REQUEST);
    assert_eq!(told(json!({ "disks": [{ "name": "x".repeat(INVENTORY_MAX) }] })).await, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(rig.reports().len(), 2, "the exchange, and one inventory");
}

#[tokio::test(start_paused = true)]
async fn the_latest_log_of_an_attempt_is_kept_without_secrets_and_without_what_turns_a_terminal() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let session = exchange(&rig, &attempt).await;
    assert_eq!(kept(&rig, &attempt).await, None);
    assert_eq!(rig.tell(&attempt, "log", &session, "begun\n").await.status, StatusCode::NO_CONTENT);
    let secrets = Purpose::ALL.map(|purpose| token(purpose, &attempt)).join(" ");
    let join = key().join_token(&attempt).text().to_string();
    let log = format!("begun\nwith {secrets} {join}\n\tand \u{1b}[31mred\u{202e}\r\n");
    for _ in 0..2 {
        assert_eq!(rig.tell(&attempt, "log", &session, &log).await.status, StatusCode::NO_CONTENT);
    }
    let hidden = ["[hidden]"; 6].join(" ");
    assert_eq!(kept(&rig, &attempt).await.unwrap(), format!("begun\nwith {hidden}\n\tand [31mred\n"));
    assert_eq!(rig.reports().len(), 1, "the keeper has nothing to do with it");
}

#[tokio::test(start_paused = true)]
async fn a_log_has_its_limits() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let early = rig.tell(&attempt, "log", &token(Purpose::Session, &attempt), "x").await.status;
    assert_eq!(early, StatusCode::CONFLICT, "nobody has a session yet");
    let session = exchange(&rig, &attempt).await;
    assert_eq!(rig.tell(&attempt, "log", &session, &"x".repeat(LOG_MAX + 1)).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    for _ in 1..LOGS_BURST {
        assert_eq!(rig.tell(&attempt, "log", &session, &"x".repeat(LOG_MAX)).await.status, StatusCode::NO_CONTENT);
    }
    let answer = rig.tell(&attempt, "log", &session, "x").await;
    assert_eq!((answer.status, answer.headers.contains_key("retry-after")), (StatusCode::TOO_MANY_REQUESTS, true));
    tokio::time::sleep(LOGS_EVERY.to_std()).await;
    assert_eq!(rig.tell(&attempt, "log", &session, "x").await.status, StatusCode::NO_CONTENT);
    assert_eq!(kept(&rig, &attempt).await.as_deref(), Some("x"));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_taken_with_another_token_or_of_an_attempt_that_is_over() {
    let (rig, current) = (rig().await, attempt("m1", "op1", 2));
    exchange(&rig, &current).await;
    for what in ["inventory", "log"] {
        for purpose in Purpose::ALL.into_iter().filter(|purpose| *purpose != Purpose::Session) {
            assert_eq!(rig.tell(&current, what, &token(purpose, &current), "{}").await.status, StatusCode::UNAUTHORIZED, "{what}");
        }
        for over in [attempt("m1", "op1", 1), attempt("m1", "op0", 2)] {
            let answer = rig.tell(&over, what, &token(Purpose::Session, &over), "{}").await;
            assert_eq!(answer.status, StatusCode::CONFLICT, "{what} of {over:?}");
        }
    }
    assert_eq!(rig.reports().len(), 1);
}
