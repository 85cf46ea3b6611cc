use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use bytes::Bytes;

use super::*;
use crate::install::depot::tests::origin::digest;
use crate::install::depot::{Coming, Rest, Unfetched};
use crate::install::splice::{AREA_BYTES, MARKER};

fn image(tail: u8) -> Bytes {
    let mut bytes = MARKER.as_bytes().to_vec();
    bytes.resize(AREA_BYTES, b'\n');
    bytes.push(tail);
    bytes.into()
}

fn artefact(bytes: &Bytes, url: &str) -> Artefact {
    Artefact { url: url.to_owned(), sha256: digest(bytes), bytes: bytes.len() as u64 }
}

fn nothing() -> BTreeSet<Digest> {
    BTreeSet::new()
}

/// Serves `image(n)` under the URL `n`, and something else under any other but `dead`.
#[derive(Default)]
struct Shelf {
    asked: AtomicUsize,
}

impl Fetch for Shelf {
    fn open<'a>(&'a self, url: &'a str, rest: &'a Rest) -> BoxFuture<'a, Result<Coming, Unfetched>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        async move {
            if url == "dead" {
                return Err(Unfetched("connection refused".to_owned()));
            }
            let image = url.parse().map_or(Bytes::from_static(b"no image"), image);
            Coming::of(http::Response::new(Body::from(image)), rest)
        }
        .boxed()
    }
}

fn shelf() -> (Arc<Shelf>, Images) {
    let shelf = Arc::new(Shelf::default());
    (shelf.clone(), Images::new(shelf))
}

#[tokio::test(start_paused = true)]
async fn an_image_is_fetched_once_for_all_who_want_it() {
    let (shelf, images) = shelf();
    let wanted = artefact(&image(1), "1");
    let all = futures::future::join_all((0..100).map(|_| images.get(&wanted, &nothing))).await;
    assert!(all.iter().all(Result::is_ok));
    images.get(&wanted, &nothing).await.unwrap();
    assert_eq!(shelf.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn who_names_another_place_does_not_wait_for_one_that_does_not_answer() {
    let (_, images) = shelf();
    let (dead, good) = (artefact(&image(1), "dead"), artefact(&image(1), "1"));
    let (first, second) = futures::join!(images.get(&dead, &nothing), images.get(&good, &nothing));
    assert!(first.unwrap_err().detail.contains("dead") && second.is_ok());
    assert!(images.get(&dead, &nothing).await.is_ok(), "one that is there is good wherever it came from");
}

#[tokio::test(start_paused = true)]
async fn what_takes_no_configuration_is_not_used() {
    let (_, images) = shelf();
    let plain = artefact(&Bytes::from_static(b"no image"), "plain");
    let unusable = images.get(&plain, &nothing).await.unwrap_err();
    let detail = "plain: it has no area that begins with the line `RACKWRIGHT-AGENT-CONFIG-v1`";
    assert_eq!(unusable, Unusable { trouble: InstallTrouble::ImageMisfit, detail: detail.to_owned() });
}

#[tokio::test(start_paused = true)]
async fn few_images_are_in_memory_and_the_one_not_asked_for_longest_goes_first() {
    let (_, images) = shelf();
    let get = async |number: u8| images.get(&artefact(&image(number), &number.to_string()), &nothing).await.unwrap();
    for number in 0..=IMAGES_MAX as u8 {
        get(number).await;
        get(1).await;
    }
    let ready = || images.lock().iter().map(|ready| ready.url.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!(ready(), "2 3 4 1");
    get(0).await;
    assert_eq!(ready(), "3 4 1 0", "it comes from the depot again");
}
