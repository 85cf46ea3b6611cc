use model::InstallTrouble;

use super::*;

async fn get(rig: &Rig, path: &str, headers: &[(&str, &str)]) -> Answer {
    rig.send(Method::GET, path, headers, "").await
}

fn path_of(attempt: &Attempt) -> String {
    ticket::media_path(&key(), attempt).to_string()
}

#[tokio::test(start_paused = true)]
async fn the_image_comes_with_the_configuration_of_its_machine() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let answer = get(&rig, &path_of(&attempt), &[]).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.body.len(), agent_image().len());
    assert_eq!(answer.headers["content-length"], agent_image().len().to_string());
    let area = std::str::from_utf8(&answer.body[5_000..5_000 + AREA_BYTES]).unwrap();
    let configuration: Value = serde_json::from_str(area.strip_prefix(MARKER).unwrap()).unwrap();
    let expected = json!({
        "url": URL, "ca": null, "cluster": "site", "machine": "m1", "operation": "op1", "round": 2,
        "token": token(Purpose::Agent, &attempt), "time": NOW,
    });
    assert_eq!(configuration, expected);
    assert_eq!((&answer.body[..5_000], &answer.body[5_000 + AREA_BYTES..]), (&[7_u8; 5_000][..], &[9_u8; 70_000][..]));
}

#[tokio::test(start_paused = true)]
async fn parts_and_heads_are_those_of_the_image_with_the_configuration() {
    let rig = rig().await;
    let path = path_of(&attempt("m1", "op1", 2));
    let whole = get(&rig, &path, &[]).await.body;
    for (from, to) in [(0, 99), (4_990, 5_100), (5_010, 6_000), (20_000, 30_000), (0, whole.len() - 1)] {
        let part = get(&rig, &path, &[("range", &format!("bytes={from}-{to}"))]).await;
        assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
        assert_eq!(part.headers["content-range"], format!("bytes {from}-{to}/{}", whole.len()));
        assert!(part.body == whole[from..=to], "bytes {from}-{to}");
    }
    let beyond = get(&rig, &path, &[("range", "bytes=99999999-")]).await;
    assert_eq!(
        (beyond.status, &beyond.headers["content-range"]),
        (StatusCode::RANGE_NOT_SATISFIABLE, &format!("bytes */{}", whole.len()).parse().unwrap())
    );
    let head = rig.send(Method::HEAD, &path, &[], "").await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(head.headers["content-length"], whole.len().to_string());
    assert_eq!(head.headers["accept-ranges"], "bytes");
    let other = get(&rig, &path, &[("range", "bytes=0-9"), ("if-range", "\"another\"")]).await;
    assert_eq!(other.status, StatusCode::OK, "a part of another image is of no use");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_without_the_secret_of_the_current_attempt() {
    let rig = rig().await;
    let current = attempt("m1", "op1", 2);
    let secret = token(Purpose::Media, &current);
    let paths = [
        path_of(&attempt("m1", "op1", 1)),
        path_of(&attempt("m1", "op0", 2)),
        path_of(&attempt("m2", "op1", 2)),
        path_of(&attempt("m3", "op3", 2)),
        path_of(&current).replace(&secret, &token(Purpose::Agent, &current)),
        path_of(&current).replace("/media/", "/http/").replace("agent.iso", "boot.efi"),
        ticket::http_path(&key(), &current).to_string(),
        "/install/v1/pxe/aa:bb:cc:00:00:00".to_owned(),
        "/install/v1/pxe/x".to_owned(),
        "/".to_owned(),
    ];
    for path in paths {
        assert_eq!(get(&rig, &path, &[]).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_boots_over_pxe_is_known_by_its_mac() {
    let rig = rig().await;
    for mac in ["aa:bb:cc:00:00:02", "AA-BB-CC-00-00-02"] {
        let answer = get(&rig, &format!("/install/v1/pxe/{mac}"), &[]).await;
        assert_eq!(answer.status, StatusCode::OK, "{mac}");
        assert!(answer.body.windows(11).any(|window| window == b"\"operation\""));
    }
}

#[tokio::test(start_paused = true)]
async fn an_image_that_cannot_be_fetched_ends_the_attempt_with_that_reason() {
    let rig = rig_with(Keeper::SaysYes, None).await;
    let answer = get(&rig, &path_of(&attempt("m1", "op1", 2)), &[]).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    let detail = format!("the image that machines are started from cannot be used: {IMAGE_URL}: connection refused");
    assert_eq!(rig.reports(), [MachineReport::Failed { trouble: InstallTrouble::ImageUnreachable, detail }]);
    let rig = rig_with(Keeper::SaysYes, Some(Bytes::from_static(b"another"))).await;
    get(&rig, &path_of(&attempt("m1", "op1", 2)), &[]).await;
    assert!(matches!(rig.reports()[..], [MachineReport::Failed { trouble: InstallTrouble::ImageMisfit, .. }]));
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_comes_before_the_news_of_its_attempt_is_served_all_the_same() {
    let rig = rig().await;
    let api = rig.face.api.clone();
    let next = attempt("m1", "op1", 3);
    assert_eq!(get(&rig, &path_of(&next), &[]).await.status, StatusCode::NOT_FOUND, "it has not begun");

    let mut operation = (*api.cache.view().operations[&next.operation]).clone();
    let fact = Fact::Installing {
        round: 3,
        way: BootWay::VirtualMedia,
        version: RuntimeVersion::parse("4.9.2").unwrap(),
        image: bundle().os_image.sha256,
        network: None,
    };
    operation.journal.push(Entry { at: operation.accepted_at, fact });
    let key = keys::operation(&operation.cluster, &operation.id);
    let begun = api.store.commit(Commit::default().put(key, serde_json::to_vec(&operation).unwrap())).await.unwrap();
    assert!(api.cache.view().revision < begun, "nobody has heard of it yet");
    assert_eq!(get(&rig, &path_of(&next), &[]).await.status, StatusCode::OK);
    let secret = token(Purpose::Media, &next);
    let guessed = path_of(&next).replace(&secret, &token(Purpose::Agent, &next));
    assert_eq!(get(&rig, &guessed, &[]).await.status, StatusCode::NOT_FOUND);
}
