//! The depot in memory and in a directory, with an origin that fails in every way.

mod keeping;
pub(in crate::install) mod origin;

use bytes::Bytes;
use origin::{Mood, Origin, artefact, content};

use super::*;

/// More than is written at once, and no multiple of a piece.
const BYTES: usize = 1_100_123;

fn nothing() -> BTreeSet<Digest> {
    BTreeSet::new()
}

/// Two depots with the same origin's moods: what one keeps in memory the other keeps on a disk.
async fn both<T: PartialEq + std::fmt::Debug>(moods: &[Mood], look: impl AsyncFn(&Depot, &Origin) -> T) -> T {
    let place = tempfile::tempdir().unwrap();
    let origin = || Origin::new(content(1, BYTES), moods);
    let (one, other) = (origin(), origin());
    let in_memory = look(&Depot::in_memory(Arc::new(one.clone())), &one).await;
    let in_directory = Depot::in_directory(Arc::new(other.clone()), place.path(), 1 << 30).unwrap();
    assert_eq!(look(&in_directory, &other).await, in_memory);
    in_memory
}

async fn get(depot: &Depot, artefact: &Artefact) -> Result<Bytes, Unusable> {
    Ok(depot.get(artefact, &nothing).await?.whole().await.unwrap())
}

/// From where on the origin was asked until the image was there.
async fn asked_with(moods: &[Mood]) -> Vec<u64> {
    both(moods, async |depot, origin| {
        let image = content(1, BYTES);
        assert!(get(depot, &artefact(&image)).await.unwrap() == image);
        origin.asked_at()
    })
    .await
}

/// Why the image did not come, and what of it was kept.
async fn failed_with(moods: &[Mood], wanted: Artefact) -> Unusable {
    both(moods, async |depot, _| get(depot, &wanted).await.unwrap_err()).await
}

#[tokio::test(start_paused = true)]
async fn an_image_is_fetched_once_for_all_who_want_it() {
    let asked = both(&[], async |depot, origin| {
        let wanted = artefact(&content(1, BYTES));
        let all = futures::future::join_all((0..100).map(|_| depot.get(&wanted, &nothing))).await;
        assert!(all.iter().all(Result::is_ok));
        assert!(depot.get(&wanted, &nothing).await.is_ok());
        origin.asked_at().len()
    })
    .await;
    assert_eq!(asked, 1);
}

#[tokio::test(start_paused = true)]
async fn an_origin_that_breaks_off_is_asked_for_the_rest() {
    assert_eq!(asked_with(&[Mood::BreaksAfter(600_000), Mood::BreaksAfter(70_000)]).await, [0, 600_000, 670_000]);
    assert_eq!(
        asked_with(&[Mood::BreaksAfter(600_000), Mood::Refuses, Mood::Refuses]).await,
        [0, 600_000, 600_000, 600_000],
        "gone, and back"
    );
    assert_eq!(asked_with(&[Mood::EndsAfter(20_000), Mood::EndsAfter(30_000)]).await, [0, 20_000, 50_000], "a proxy that truncates");
    assert_eq!(asked_with(&[Mood::StallsAfter(90_000), Mood::Silent]).await, [0, 90_000, 90_000]);
    assert_eq!(asked_with(&[Mood::WithoutLength]).await, [0]);
}

#[tokio::test(start_paused = true)]
async fn as_long_as_something_comes_it_is_asked_for_more() {
    let drops = vec![Mood::BreaksAfter(50_000); 20];
    assert_eq!(asked_with(&drops).await.len(), 21);
}

#[tokio::test(start_paused = true)]
async fn the_rest_is_asked_for_by_the_tag_of_what_came_before() {
    let asked = both(&[Mood::BreaksAfter(50_000)], async |depot, origin| {
        get(depot, &artefact(&content(1, BYTES))).await.unwrap();
        origin.asked()
    })
    .await;
    let etag = Some(format!("\"{}\"", artefact(&content(1, BYTES)).sha256.short()));
    assert_eq!(asked, [Rest::default(), Rest { at: 50_000, etag }]);
}

#[tokio::test(start_paused = true)]
async fn an_origin_that_sends_no_parts_is_asked_for_all_again() {
    assert_eq!(asked_with(&[Mood::BreaksAfter(50_000), Mood::IgnoresRange(80_000), Mood::Well]).await, [0, 50_000, 80_000]);
    assert_eq!(asked_with(&[Mood::BreaksAfter(50_000), Mood::IgnoresRange(BYTES)]).await, [0, 50_000]);
}

#[tokio::test(start_paused = true)]
async fn an_origin_that_never_gives_more_is_given_up() {
    let image = artefact(&content(1, BYTES));
    let told = |why: &str| Unusable { trouble: InstallTrouble::ImageUnreachable, detail: format!("http://origin/os.img: {why}") };
    assert_eq!(failed_with(&[Mood::Refuses; 4], image.clone()).await, told("connection refused"));
    assert_eq!(failed_with(&[Mood::Silent; 4], image.clone()).await, told("nothing came for 30 s"));
    assert_eq!(failed_with(&[Mood::EndsAfter(0); 4], image.clone()).await, told("it ends after 0 of 1100123 bytes"));
    let stuck = [Mood::IgnoresRange(50_000); 5];
    assert_eq!(failed_with(&stuck, image).await, told("it broke off: connection reset"));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_the_image_that_the_bundle_means_is_not_used() {
    let (right, other) = (artefact(&content(1, BYTES)), artefact(&content(2, BYTES)));
    let wrong = |why: String| Unusable { trouble: InstallTrouble::WrongDigest, detail: format!("http://origin/os.img: {why}") };
    let digests = format!("its digest is {}…, and the bundle says {}…", right.sha256.short(), other.sha256.short());
    assert_eq!(failed_with(&[], other).await, wrong(digests));
    let wrong = |why: String| Unusable { trouble: InstallTrouble::ImageMisfit, ..wrong(why) };
    let (shorter, longer) = (Artefact { bytes: BYTES as u64 - 1, ..right.clone() }, Artefact { bytes: BYTES as u64 + 1, ..right });
    assert_eq!(failed_with(&[], shorter.clone()).await, wrong("it has 1100123 bytes, and the bundle says 1100122".to_owned()));
    assert_eq!(failed_with(&[], longer.clone()).await, wrong("it has 1100123 bytes, and the bundle says 1100124".to_owned()));
    assert_eq!(failed_with(&[Mood::WithoutLength], shorter).await, wrong("it is longer than 1100122 bytes".to_owned()));
    let told = failed_with(&[Mood::WithoutLength], longer).await;
    assert_eq!(
        told,
        wrong("it has 1100123 bytes, and the bundle says 1100124".to_owned()),
        "an origin that ends early is asked for the rest"
    );
}

#[tokio::test(start_paused = true)]
async fn pieces_of_two_files_are_found_out_and_fetched_in_one_piece() {
    // Another file first, whose tag is asked for again: the origin that has changed meanwhile begins anew.
    let origin = Origin::new(content(2, BYTES), &[Mood::BreaksAfter(50_000), Mood::Changes(1)]);
    let depot = Depot::in_memory(Arc::new(origin.clone()));
    assert!(get(&depot, &artefact(&content(1, BYTES))).await.is_ok());
    assert_eq!(origin.asked_at(), [0, 50_000]);
    // What an earlier process left is of a file that nobody knows the tag of.
    let place = tempfile::tempdir().unwrap();
    let wanted = artefact(&content(1, BYTES));
    let part = Directory::open(place.path()).unwrap().part(&wanted);
    fs::write(&part, content(2, 60_000)).unwrap();
    let origin = Origin::new(content(1, BYTES), &[]);
    let depot = Depot::in_directory(Arc::new(origin.clone()), place.path(), 1 << 30).unwrap();
    assert!(get(&depot, &wanted).await.unwrap() == content(1, BYTES));
    assert_eq!(origin.asked_at(), [60_000, 0]);
}

#[tokio::test(start_paused = true)]
async fn who_asks_after_a_failure_tries_again() {
    let wanted = artefact(&content(1, BYTES));
    let depot = Depot::in_memory(Arc::new(Origin::new(content(1, BYTES), &[Mood::Refuses; 4])));
    assert!(get(&depot, &wanted).await.is_err());
    assert!(get(&depot, &wanted).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_nobody_heard_of_is_told_for_a_while() {
    let wanted = artefact(&content(1, BYTES));
    for (later, is_told) in [(Duration::from_secs(30), true), (Duration::from_secs(200), false)] {
        let depot = Depot::in_memory(Arc::new(Origin::new(content(1, BYTES), &[Mood::Refuses; 4])));
        depot.begin(&wanted, &nothing);
        tokio::time::sleep(later).await;
        assert_eq!(get(&depot, &wanted).await.is_err(), is_told, "{later:?}");
    }
}
