//! The server of images, from outside.

use axum::body::Body;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use sha2::{Digest, Sha256};
use sim::images;
use tower::ServiceExt;

async fn ask(method: Method, path: &str, range: Option<&str>) -> (StatusCode, HeaderMap, Vec<u8>) {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(range) = range {
        request = request.header("range", range);
    }
    let response = images::router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    (head.status, head.headers, body.collect().await.unwrap().to_bytes().to_vec())
}

#[tokio::test]
async fn an_image_is_what_its_bundle_says_of_it() {
    for runtime in images::runtimes(["4.1.6", "4.4.3", "4.9.2"]) {
        for image in [&runtime.os, &runtime.agent, &runtime.http, &runtime.pxe] {
            let (status, headers, content) = ask(Method::GET, &image.path, None).await;
            assert_eq!((status, content.len() as u64), (StatusCode::OK, image.bytes));
            assert_eq!(headers["content-length"], image.bytes.to_string());
            let digest: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(digest, image.sha256, "{}", image.path);
        }
    }
}

#[tokio::test]
async fn the_head_and_a_part_of_an_image_are_given_too() {
    let image = images::runtime("4.4.3").agent;
    let (_, _, whole) = ask(Method::GET, &image.path, None).await;
    let (status, headers, content) = ask(Method::HEAD, &image.path, None).await;
    assert_eq!((status, content.len(), &headers["content-length"]), (StatusCode::OK, 0, &image.bytes.to_string().parse().unwrap()));
    let (status, headers, content) = ask(Method::GET, &image.path, Some("bytes=32768-32793")).await;
    assert_eq!((status, content.as_slice()), (StatusCode::PARTIAL_CONTENT, &whole[32_768..=32_793]));
    assert_eq!(headers["content-range"], format!("bytes 32768-32793/{}", image.bytes));
    assert_eq!(content, b"RACKWRIGHT-AGENT-CONFIG-v1");
    assert_eq!(ask(Method::GET, &image.path, Some("bytes=999999999-")).await.0, StatusCode::RANGE_NOT_SATISFIABLE);
    for missing in ["/images/4.4.3/other.img", "/images/newest/os.img", "/images/4.4/os.img"] {
        assert_eq!(ask(Method::GET, missing, None).await.0, StatusCode::NOT_FOUND, "{missing}");
    }
}
