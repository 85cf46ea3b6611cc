use super::*;

const PROGRESS: &str = r#"{"kind":"progress","percent":1}"#;

#[tokio::test(start_paused = true)]
async fn a_machine_that_reports_too_often_is_told_to_wait() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let session = token(Purpose::Session, &attempt);
    for _ in 0..REPORTS_BURST {
        assert_eq!(rig.tell(&attempt, "report", &session, PROGRESS).await.status, StatusCode::NO_CONTENT);
    }
    let answer = rig.tell(&attempt, "report", &session, PROGRESS).await;
    assert_eq!((answer.status, answer.headers.get("retry-after").is_some()), (StatusCode::TOO_MANY_REQUESTS, true));
    tokio::time::sleep(REPORTS_EVERY.to_std()).await;
    assert_eq!(rig.tell(&attempt, "report", &session, PROGRESS).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test(start_paused = true)]
async fn bodies_that_are_too_long_or_not_understood_change_nothing() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let session = token(Purpose::Session, &attempt);
    let long = format!(r#"{{"kind":"failed","trouble":"missingDisk","detail":"{}"}}"#, "x".repeat(REPORT_BODY_MAX));
    let cases = [
        (long.as_str(), StatusCode::PAYLOAD_TOO_LARGE),
        ("", StatusCode::BAD_REQUEST),
        ("nonsense", StatusCode::BAD_REQUEST),
        (r#"{"kind":"exchange"}"#, StatusCode::BAD_REQUEST),
        (r#"{"kind":"progress","percent":101}"#, StatusCode::BAD_REQUEST),
        (r#"{"kind":"progress","percent":-1}"#, StatusCode::BAD_REQUEST),
        (r#"{"kind":"written","sha256":"x"}"#, StatusCode::BAD_REQUEST),
        (r#"{"kind":"failed","trouble":"hunger"}"#, StatusCode::BAD_REQUEST),
    ];
    for (body, expected) in cases {
        assert_eq!(rig.tell(&attempt, "report", &session, body).await.status, expected, "{}", &body[..body.len().min(60)]);
    }
    assert_eq!(rig.reports(), []);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let path = ticket::exchange_path(&attempt).replace("exchange", "report");
    let never = futures::stream::pending::<Result<Bytes, std::io::Error>>();
    let bearer = format!("Bearer {}", token(Purpose::Session, &attempt));
    let request = Request::post(path).header("authorization", bearer).body(Body::from_stream(never)).unwrap();
    assert_eq!(rig.router.clone().oneshot(request).await.unwrap().status(), StatusCode::REQUEST_TIMEOUT);
}

#[tokio::test(start_paused = true)]
async fn whoever_is_still_being_sent_something_keeps_a_place() {
    let rig = rig().await;
    let face = InstallFace { places: Arc::new(Semaphore::new(1)), ..rig.face.clone() };
    let router = install_router(face);
    let path = ticket::media_path(&key(), &attempt("m1", "op1", 2)).to_string();
    let ask = async || router.clone().oneshot(Request::get(path.as_str()).body(Body::empty()).unwrap()).await.unwrap();
    let sending = ask().await;
    assert_eq!(sending.status(), StatusCode::OK);
    let turned_away = ask().await;
    assert_eq!((turned_away.status(), turned_away.headers().contains_key("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, true));
    drop(sending);
    assert_eq!(ask().await.status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn an_endless_path_is_refused() {
    let rig = rig().await;
    let path = format!("/install/v1/pxe/{}", "x".repeat(crate::URI_MAX));
    assert_eq!(rig.send(Method::GET, &path, &[], "").await.status, StatusCode::URI_TOO_LONG);
}
