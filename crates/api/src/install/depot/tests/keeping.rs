//! What is on the disk: through a restart, damaged, and with too little room for all of it.

use std::os::unix::fs::PermissionsExt;
use std::time::SystemTime;

use super::origin::digest;
use super::*;

/// Serves whatever the URL is the number of, and counts.
#[derive(Clone, Default)]
struct Shelves {
    asked: Arc<Mutex<Vec<String>>>,
}

/// How long each image here is.
const EACH: usize = 100_000;

impl Fetch for Shelves {
    fn open<'a>(&'a self, url: &'a str, rest: &'a Rest) -> BoxFuture<'a, Result<Coming, Unfetched>> {
        async move {
            self.asked.lock().unwrap().push(url.to_owned());
            let fill = url.rsplit('/').next().unwrap().parse().unwrap();
            Origin::new(content(fill, EACH), &[]).open(url, rest).await
        }
        .boxed()
    }
}

impl Shelves {
    /// What was asked for since the last time.
    fn asked(&self) -> String {
        self.asked.lock().unwrap().drain(..).collect::<Vec<_>>().join(" ")
    }
}

fn image(number: u8) -> Artefact {
    let bytes = content(number, EACH);
    Artefact { url: format!("http://o/{number}"), sha256: digest(&bytes), bytes: EACH as u64 }
}

struct Rig {
    place: tempfile::TempDir,
    shelves: Shelves,
}

impl Rig {
    fn new() -> Rig {
        Rig { place: tempfile::tempdir().unwrap(), shelves: Shelves::default() }
    }

    /// A process that begins on what there is.
    fn start(&self, images: usize) -> Depot {
        Depot::in_directory(Arc::new(self.shelves.clone()), self.place.path(), (images * EACH) as u64).unwrap()
    }

    fn file(&self, number: u8) -> PathBuf {
        self.place.path().join(image(number).sha256.as_str())
    }

    /// The images on the disk.
    fn there(&self) -> Vec<u8> {
        (0..10).filter(|number| self.file(*number).exists()).collect()
    }
}

async fn have(depot: &Depot, number: u8) -> Arc<Kept> {
    let kept = depot.get(&image(number), &nothing).await.unwrap();
    assert!(kept.whole().await.unwrap() == content(number, EACH));
    kept
}

/// Changes a byte, and nothing that shows without reading.
fn damage(path: &Path) {
    let modified = path.metadata().unwrap().modified().unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes[70_000] ^= 1;
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).unwrap();
    file.set_modified(modified).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_restart_keeps_what_is_there_and_goes_on_with_what_is_not() {
    let rig = Rig::new();
    have(&rig.start(9), 1).await;
    let part = Directory::open(rig.place.path()).unwrap().part(&image(2));
    fs::write(&part, &content(2, EACH)[..30_000]).unwrap();
    assert_eq!(rig.shelves.asked(), "http://o/1");
    let again = rig.start(9);
    have(&again, 1).await;
    assert_eq!(rig.shelves.asked(), "");
    have(&again, 2).await;
    assert!(!part.exists());
    assert_eq!(rig.file(1).metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_was_damaged_while_we_were_away_is_fetched_again() {
    let rig = Rig::new();
    have(&rig.start(9), 1).await;
    damage(&rig.file(1));
    have(&rig.start(9), 1).await;
    assert_eq!(rig.shelves.asked(), "http://o/1 http://o/1");
    fs::write(rig.file(1), "short").unwrap();
    have(&rig.start(9), 1).await;
    assert_eq!(rig.shelves.asked(), "http://o/1");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_touched_or_complained_about_is_looked_at_before_the_next_gets_it() {
    let rig = Rig::new();
    let depot = rig.start(9);
    have(&depot, 1).await;
    rig.shelves.asked();
    fs::File::open(rig.file(1)).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    have(&depot, 1).await;
    assert_eq!(rig.shelves.asked(), "", "it was right all the same");
    fs::remove_file(rig.file(1)).unwrap();
    have(&depot, 1).await;
    assert_eq!(rig.shelves.asked(), "http://o/1", "somebody has removed it");
    damage(&rig.file(1));
    assert!(depot.get(&image(1), &nothing).await.is_ok(), "nobody sees it");
    depot.doubt(&image(1).sha256);
    have(&depot, 1).await;
    assert_eq!(rig.shelves.asked(), "http://o/1", "until a machine has found it out");
}

#[tokio::test(start_paused = true)]
async fn the_one_not_asked_for_longest_goes_and_none_that_is_in_use() {
    let rig = Rig::new();
    let depot = rig.start(3);
    let held = have(&depot, 1).await;
    for number in [2, 3, 2, 4] {
        have(&depot, number).await;
    }
    assert_eq!(rig.there(), [1, 2, 4], "the first is being sent, and the second was asked for since");
    drop(held);
    let needed = || BTreeSet::from([image(1).sha256, image(2).sha256]);
    assert!(depot.get(&image(5), &needed).await.is_ok());
    assert_eq!(rig.there(), [1, 2, 5]);
    have(&depot, 4).await;
    assert_eq!(rig.there(), [2, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_process_left_goes_first_the_oldest_before_the_others() {
    let rig = Rig::new();
    let earlier = rig.start(9);
    for (number, age) in [(1, 20), (2, 30), (3, 10)] {
        have(&earlier, number).await;
        let modified = SystemTime::now() - Duration::from_secs(age);
        fs::File::open(rig.file(number)).unwrap().set_modified(modified).unwrap();
    }
    let dead = Artefact { url: "http://gone/".to_owned(), ..image(9) };
    let part = Directory::open(rig.place.path()).unwrap().part(&dead);
    fs::write(&part, vec![0; EACH]).unwrap();
    fs::File::open(&part).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let depot = rig.start(4);
    have(&depot, 4).await;
    assert_eq!((rig.there(), part.exists()), (vec![1, 2, 3, 4], false));
    have(&depot, 5).await;
    assert_eq!(rig.there(), [1, 3, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn too_little_room_is_told_with_what_would_help_and_nothing_goes() {
    let rig = Rig::new();
    let depot = rig.start(2);
    have(&depot, 1).await;
    have(&depot, 2).await;
    let needed = || BTreeSet::from([image(1).sha256, image(2).sha256]);
    let unusable = depot.get(&image(3), &needed).await.unwrap_err();
    let detail = "http://o/3: there is no room for its 100000 bytes: --image-cache-bytes allows 200000 of all images, and 200000 are \
                  taken by those that are in use";
    assert_eq!(unusable, Unusable { trouble: InstallTrouble::ImageUnreachable, detail: detail.to_owned() });
    assert_eq!(rig.there(), [1, 2]);
    let huge = Artefact { bytes: 1 << 40, ..image(4) };
    assert!(depot.get(&huge, &nothing).await.unwrap_err().detail.contains("and 0 are taken"));
    assert!(depot.get(&image(3), &nothing).await.is_ok(), "once they are not needed any more there is");
}

#[tokio::test(start_paused = true)]
async fn images_that_come_at_the_same_time_have_their_room_each() {
    let rig = Rig::new();
    let depot = rig.start(2);
    let (a, b, c) = (image(1), image(2), image(3));
    let (a, b, c) = futures::join!(depot.get(&a, &nothing), depot.get(&b, &nothing), depot.get(&c, &nothing));
    let failed = [a, b, c].into_iter().filter_map(Result::err).count();
    assert_eq!(failed, 1, "three do not fit");
    let bytes: u64 = fs::read_dir(rig.place.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes <= 2 * EACH as u64, "{bytes}");
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_is_told_as_such() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let origin = Origin::new(content(1, BYTES), &[]);
    let wanted = artefact(&content(1, BYTES));
    let Err(unusable) = Filling::new(&origin, &wanted, Part::on(full)).fill().await else { panic!("nothing fits there") };
    let detail = "the disk with the data directory is full".to_owned();
    assert_eq!(unusable, Unusable { trouble: InstallTrouble::ImageUnreachable, detail });
    assert!(stored_badly(&io::Error::from(io::ErrorKind::PermissionDenied)).detail.starts_with("it cannot be kept on the disk: "));
}
