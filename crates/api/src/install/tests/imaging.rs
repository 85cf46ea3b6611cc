//! The image of the operating system, as an agent fetches it.

use std::num::NonZeroU64;
use std::time::Duration;

use futures::StreamExt;
use model::InstallTrouble;
use tokio::time::Instant;

use super::*;

const WISH: &str = r#"{"machine":"m1","nonce":"0123456789abcdef"}"#;
const PATH: &str = "/install/v1/attempts/site/op1/2/image";

fn own() -> Attempt {
    attempt("m1", "op1", 2)
}

/// A rig whose agent has its session, with these images.
async fn rig_with_system(moods: &[Mood]) -> (Rig, Origin) {
    let system = Origin::new(system(), moods);
    let shelf = Shelf { agent: Origin::new(agent_image(), &[]), system: system.clone() };
    (with_session(rig_of(Keeper::SaysYes, Images::new(Arc::new(shelf)), &bundle()).await).await, system)
}

async fn with_session(rig: Rig) -> Rig {
    let answer = rig.tell(&own(), "exchange", &token(Purpose::Agent, &own()), WISH).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    rig
}

/// The same with the image on a disk.
async fn rig_on_disk(place: &std::path::Path) -> Rig {
    let shelf = Shelf { agent: Origin::new(agent_image(), &[]), system: Origin::new(system(), &[]) };
    let depot = Depot::in_directory(Arc::new(shelf), place, 1 << 30).unwrap();
    with_session(rig_of(Keeper::SaysYes, Images::from(depot), &bundle()).await).await
}

async fn ask(rig: &Rig, method: Method, headers: &[(&str, &str)]) -> Answer {
    let bearer = format!("Bearer {}", token(Purpose::Session, &own()));
    let headers: Vec<(&str, &str)> = headers.iter().copied().chain([("authorization", bearer.as_str())]).collect();
    rig.send(method, PATH, &headers, "").await
}

/// The answer with its body still to come.
async fn open(rig: &Rig) -> axum::response::Response {
    let bearer = format!("Bearer {}", token(Purpose::Session, &own()));
    let request = Request::get(PATH).header("authorization", bearer).body(Body::empty()).unwrap();
    rig.router.clone().oneshot(request).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_image_is_sent_whole_in_parts_and_as_a_head() {
    let place = tempfile::tempdir().unwrap();
    for rig in [rig_with_system(&[]).await.0, rig_on_disk(place.path()).await] {
        let whole = ask(&rig, Method::GET, &[]).await;
        assert_eq!(whole.status, StatusCode::OK);
        assert!(whole.body == system());
        let etag = whole.headers["etag"].to_str().unwrap().to_owned();
        assert_eq!(etag, format!("\"{}\"", bundle().os_image.sha256));
        let head = ask(&rig, Method::HEAD, &[]).await;
        assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
        assert_eq!(
            (&head.headers["content-length"], &head.headers["accept-ranges"]),
            (&"500321".parse().unwrap(), &"bytes".parse().unwrap())
        );
        let part = ask(&rig, Method::GET, &[("range", "bytes=131000-400000"), ("if-range", &etag)]).await;
        assert_eq!(
            (part.status, &part.headers["content-range"]),
            (StatusCode::PARTIAL_CONTENT, &"bytes 131000-400000/500321".parse().unwrap())
        );
        assert!(part.body == system()[131_000..=400_000]);
        let rest = ask(&rig, Method::GET, &[("range", "bytes=500320-")]).await;
        assert!(rest.body == system()[500_320..]);
        let beyond = ask(&rig, Method::GET, &[("range", "bytes=500321-")]).await;
        assert_eq!((beyond.status, beyond.body.len()), (StatusCode::RANGE_NOT_SATISFIABLE, 0));
        assert_eq!(beyond.headers["content-range"], "bytes */500321");
        let other = ask(&rig, Method::GET, &[("range", "bytes=9-"), ("if-range", "\"another\"")]).await;
        assert_eq!((other.status, other.body.len()), (StatusCode::OK, 500_321), "the rest of another image is of no use");
    }
}

#[tokio::test(start_paused = true)]
async fn many_read_at_once() {
    let place = tempfile::tempdir().unwrap();
    let rig = rig_on_disk(place.path()).await;
    let parts = (0..100_usize).map(|number| {
        let (rig, from, to) = (&rig, number * 5_000, number * 5_000 + 5_321);
        async move {
            let part = ask(rig, Method::GET, &[("range", &format!("bytes={from}-{}", to - 1))]).await;
            assert!(part.body == system()[from..to], "{from}");
        }
    });
    futures::future::join_all(parts).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_to_whoever_has_no_session_or_before_the_exchange() {
    let (rig, _) = rig_with_system(&[]).await;
    let status =
        async |path: &str, token: &str| rig.send(Method::GET, path, &[("authorization", &format!("Bearer {token}"))], "").await.status;
    for purpose in Purpose::ALL.into_iter().filter(|purpose| *purpose != Purpose::Session) {
        assert_eq!(status(PATH, &token(purpose, &own())).await, StatusCode::UNAUTHORIZED, "{purpose:?}");
    }
    assert_eq!(status(PATH, &token(Purpose::Session, &attempt("m2", "op2", 2))).await, StatusCode::UNAUTHORIZED);
    assert_eq!(rig.send(Method::GET, PATH, &[], "").await.status, StatusCode::UNAUTHORIZED);
    let over = attempt("m1", "op0", 2);
    assert_eq!(status(&ticket::image_path(&over), &token(Purpose::Session, &over)).await, StatusCode::CONFLICT);
    let early = attempt("m2", "op2", 2);
    assert_eq!(status(&ticket::image_path(&early), &token(Purpose::Session, &early)).await, StatusCode::CONFLICT);
}

#[tokio::test(start_paused = true)]
async fn a_packed_image_is_sent_as_it_is_and_told_with_what_it_unpacks_to() {
    let mut packed = bundle();
    let file = artefact(&system());
    packed.os_image.sha256 = artefact(b"the image itself").sha256;
    packed.os_image.bytes = 3_000_000;
    packed.os_image.packed = Some(model::Packed { format: model::Packing::Zstd, sha256: file.sha256.clone(), bytes: file.bytes });
    let shelf = Shelf { agent: gone(), system: Origin::new(system(), &[]) };
    let rig = rig_of(Keeper::SaysYes, Images::new(Arc::new(shelf)), &packed).await;
    let told = rig.tell(&own(), "exchange", &token(Purpose::Agent, &own()), WISH).await.json();
    let expected = json!({
        "url": format!("{URL}{PATH}"), "sha256": packed.os_image.sha256, "bytes": 3_000_000,
        "packed": { "format": "zstd", "sha256": file.sha256, "bytes": 500_321 },
    });
    assert_eq!(told["image"], expected);
    assert!(ask(&rig, Method::GET, &[]).await.body == system());
}

#[tokio::test(start_paused = true)]
async fn it_comes_while_the_machine_starts() {
    let (rig, origin) = rig_with_system(&[]).await;
    assert_eq!(origin.asked_at().len(), 0);
    rig.send(Method::GET, &ticket::media_path(&key(), &own()), &[], "").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(origin.asked_at().len(), 1);
    assert!(ask(&rig, Method::GET, &[]).await.body == system());
    assert_eq!(origin.asked_at().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_asks_before_it_is_there_waits_and_is_then_told_to_come_back() {
    let (rig, _) = rig_with_system(&[Mood::StallsAfter(100), Mood::Well]).await;
    let began = Instant::now();
    let answer = ask(&rig, Method::GET, &[]).await;
    assert_eq!((answer.status, answer.headers.contains_key("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, true));
    assert_eq!(began.elapsed().as_secs(), IMAGE_HOLD.as_secs());
    assert!(ask(&rig, Method::GET, &[]).await.body == system(), "it came while it was waited for");
    assert_eq!(rig.reports().len(), 1, "the exchange and nothing else");
}

#[tokio::test(start_paused = true)]
async fn why_it_cannot_be_had_ends_the_attempt_before_a_disk_is_written() {
    let (rig, _) = rig_with_system(&[Mood::Refuses; 4]).await;
    assert_eq!(ask(&rig, Method::GET, &[]).await.status, StatusCode::BAD_GATEWAY);
    let detail = "the image of the operating system cannot be used: http://images/os.img: connection refused".to_owned();
    assert_eq!(rig.reports()[1..], [MachineReport::Failed { trouble: InstallTrouble::ImageUnreachable, detail }]);
    let (rig, _) = rig_with_system(&[Mood::Changes(9)]).await;
    assert_eq!(ask(&rig, Method::GET, &[]).await.status, StatusCode::BAD_GATEWAY);
    let [_, MachineReport::Failed { trouble: InstallTrouble::WrongDigest, detail }] = &rig.reports()[..] else {
        panic!("{:?}", rig.reports())
    };
    assert!(detail.contains("http://images/os.img: its digest is "), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn an_image_breaks_off_when_its_attempt_is_over() {
    let place = tempfile::tempdir().unwrap();
    let rig = rig_on_disk(place.path()).await;
    let mut body = open(&rig).await.into_body().into_data_stream();
    assert_eq!(body.next().await.unwrap().unwrap().len(), 128 * 1024);
    let mut operation = (*rig.face.api.cache.view().operations[&own().operation]).clone();
    operation.ended = Some(of_json(json!({ "at": NOW, "result": "Canceled", "message": "x" })));
    let mut changes = rig.face.api.cache.changes();
    let key = keys::operation(&operation.cluster, &operation.id);
    rig.face.api.store.commit(Commit::default().put(key, serde_json::to_vec(&operation).unwrap())).await.unwrap();
    while rig.face.api.cache.view().operations[&own().operation].ended.is_none() {
        changes.changed().await.unwrap();
    }
    assert!(body.next().await.unwrap().is_err());
    assert_eq!(ask(&rig, Method::GET, &[]).await.status, StatusCode::CONFLICT);
}

#[tokio::test(start_paused = true)]
async fn an_image_that_was_damaged_on_our_disk_is_found_out_by_the_first_machine_that_complains() {
    let place = tempfile::tempdir().unwrap();
    let rig = rig_on_disk(place.path()).await;
    assert!(ask(&rig, Method::GET, &[]).await.body == system());
    let path = place.path().join(bundle().os_image.sha256.as_str());
    let modified = path.metadata().unwrap().modified().unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"another", 9).unwrap();
    file.set_modified(modified).unwrap();
    assert!(ask(&rig, Method::GET, &[]).await.body != system());
    let complaint = json!({ "kind": "failed", "trouble": "wrongDigest", "detail": "x" }).to_string();
    rig.tell(&own(), "report", &token(Purpose::Session, &own()), &complaint).await;
    assert!(ask(&rig, Method::GET, &[]).await.body == system());
}

#[tokio::test(start_paused = true)]
async fn a_machine_gets_its_rate_and_nobody_else_waits_for_it() {
    let (rig, _) = rig_with_system(&[]).await;
    let rates = Rates { each: NonZeroU64::new(100_000), total: NonZeroU64::new(1_000_000) };
    let face = rig.face.clone().with_rates(rates);
    let rig = Rig { router: install_router(face.clone()), face, reports: rig.reports.clone() };
    ask(&rig, Method::HEAD, &[]).await;
    let began = Instant::now();
    let timed = async |what: Answer| (what.status, began.elapsed().as_secs());
    let slow = async { timed(ask(&rig, Method::GET, &[]).await).await };
    let other = ticket::media_path(&key(), &attempt("m2", "op2", 2));
    let media = async { timed(rig.send(Method::GET, &other, &[], "").await).await };
    let session = token(Purpose::Session, &own());
    let report = async { timed(rig.tell(&own(), "report", &session, r#"{"kind":"progress","percent":9}"#).await).await };
    let answers = futures::join!(slow, media, report);
    assert_eq!(answers, ((StatusCode::OK, 3), (StatusCode::OK, 0), (StatusCode::NO_CONTENT, 0)));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_still_being_sent_an_image_keeps_a_place() {
    let (rig, _) = rig_with_system(&[]).await;
    let face = InstallFace { places: Arc::new(Semaphore::new(1)), ..rig.face.clone() };
    let rig = Rig { router: install_router(face.clone()), face, reports: rig.reports.clone() };
    let sending = open(&rig).await;
    assert_eq!(sending.status(), StatusCode::OK);
    assert_eq!(open(&rig).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    drop(sending);
    assert_eq!(open(&rig).await.status(), StatusCode::OK);
}
