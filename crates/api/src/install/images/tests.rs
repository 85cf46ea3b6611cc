use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::install::splice::{AREA_BYTES, MARKER};

fn image(tail: u8) -> Bytes {
    let mut bytes = MARKER.as_bytes().to_vec();
    bytes.resize(AREA_BYTES, b'\n');
    bytes.push(tail);
    bytes.into()
}

fn artefact(bytes: &Bytes, url: &str) -> Artefact {
    let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Artefact { url: url.to_owned(), sha256: Digest::parse(&digest).unwrap(), bytes: bytes.len() as u64 }
}

/// Serves `image(n)` under the URL `n`, after so many failures, and counts.
struct Shelf {
    failures: usize,
    asked: AtomicUsize,
}

impl Fetch for Shelf {
    fn fetch<'a>(&'a self, url: &'a str, _limit: u64) -> BoxFuture<'a, Result<Bytes, Unfetched>> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            if number < self.failures { Err(Unfetched("connection refused".to_owned())) } else { Ok(image(url.parse().unwrap())) }
        }
        .boxed()
    }
}

fn shelf(failures: usize) -> (Arc<Shelf>, Images) {
    let shelf = Arc::new(Shelf { failures, asked: AtomicUsize::new(0) });
    (shelf.clone(), Images::new(shelf))
}

#[tokio::test(start_paused = true)]
async fn an_image_is_fetched_once_for_all_who_want_it() {
    let (shelf, images) = shelf(0);
    let wanted = artefact(&image(1), "1");
    let all = futures::future::join_all((0..100).map(|_| images.get(&wanted))).await;
    assert!(all.iter().all(Result::is_ok));
    images.get(&wanted).await.unwrap();
    assert_eq!(shelf.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn who_names_another_place_does_not_wait_for_one_that_does_not_answer() {
    struct Mirror;
    impl Fetch for Mirror {
        fn fetch<'a>(&'a self, url: &'a str, _limit: u64) -> BoxFuture<'a, Result<Bytes, Unfetched>> {
            async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                if url == "dead" { Err(Unfetched("connection refused".to_owned())) } else { Ok(image(1)) }
            }
            .boxed()
        }
    }
    let images = Images::new(Arc::new(Mirror));
    let (dead, good) = (artefact(&image(1), "dead"), artefact(&image(1), "good"));
    let (first, second) = futures::join!(images.get(&dead), images.get(&good));
    assert!(first.unwrap_err().detail.contains("dead") && second.is_ok());
    assert!(images.get(&dead).await.is_ok(), "one that is there is good wherever it came from");
}

#[tokio::test(start_paused = true)]
async fn a_short_outage_is_outlasted_and_a_long_one_is_told() {
    let wanted = artefact(&image(1), "1");
    assert!(shelf(2).1.get(&wanted).await.is_ok());
    let (shelf, images) = shelf(3);
    let unusable = images.get(&wanted).await.unwrap_err();
    assert_eq!(unusable, Unusable { trouble: InstallTrouble::ImageUnreachable, detail: "1: connection refused".to_owned() });
    assert!(images.get(&wanted).await.is_ok(), "the next who asks tries again");
    assert_eq!(shelf.asked.load(Ordering::Relaxed), 4);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_the_image_that_the_bundle_means_is_not_used() {
    let (_, images) = shelf(0);
    let detail = async |wanted: &Artefact| images.get(wanted).await.unwrap_err().detail;
    let other = Artefact { url: "2".to_owned(), ..artefact(&image(1), "1") };
    assert!(detail(&other).await.starts_with("2: its digest is "));
    let longer = Artefact { bytes: 1 << 20, ..artefact(&image(3), "3") };
    assert_eq!(detail(&longer).await, "3: it has 16385 bytes, and the bundle says 1048576");
    let plain = Bytes::from_static(b"no image");
    let problem = checked(plain.clone(), &artefact(&plain, "4")).unwrap_err();
    assert_eq!(problem.detail, "4: it has no area that begins with the line `RACKWRIGHT-AGENT-CONFIG-v1`");
}

#[tokio::test(start_paused = true)]
async fn few_images_are_kept_and_the_one_not_asked_for_longest_goes_first() {
    let (shelf, images) = shelf(0);
    let get = async |number: u8| images.get(&artefact(&image(number), &number.to_string())).await.unwrap();
    for number in 0..=IMAGES_MAX as u8 {
        get(number).await;
        get(1).await;
    }
    assert_eq!(images.lock().len(), IMAGES_MAX);
    let before = shelf.asked.load(Ordering::Relaxed);
    get(1).await;
    assert_eq!(shelf.asked.load(Ordering::Relaxed), before, "it was asked for often");
    get(0).await;
    assert_eq!(shelf.asked.load(Ordering::Relaxed), before + 1, "it had to go");
}
