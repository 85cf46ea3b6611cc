//! The SQLite store among processes: one at a time, killed in the middle, without permission, against a limit.
//!
//! A test that needs a second process runs its own executable again with `ROLE_DIRECTORY` set; the same test then
//! plays the child's part.

use std::env;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getuid, setrlimit};
use store::{Commit, Revision, SqliteStore, Store, StoreError, SystemClock};

const ROLE_DIRECTORY: &str = "STORE_TEST_CHILD_DIRECTORY";

/// The user `nobody` on every common Linux.
const NOBODY: u32 = 65_534;

fn open(dir: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(dir, Arc::new(SystemClock))
}

/// Where the child works; `None` in the parent.
fn child_directory() -> Option<PathBuf> {
    env::var_os(ROLE_DIRECTORY).map(PathBuf::from)
}

/// The child: `command` starts this test program or a copy of it, which then runs only `test`.
fn child(mut command: Command, test: &str, dir: &Path) -> Command {
    command.args(["--exact", test, "--nocapture"]).env(ROLE_DIRECTORY, dir);
    command
}

fn this_program() -> PathBuf {
    env::current_exe().unwrap()
}

/// Tells the parent something, past the test harness, which would hold it back.
fn say(text: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "child: {text}").unwrap();
    stdout.flush().unwrap();
}

/// What a child said until it ended.
fn heard(command: &mut Command) -> Vec<String> {
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split_once("child: ")).map(|(_, said)| said.to_owned()).collect()
}

/// Tries to open the store and says how that went.
fn say_whether_it_opens(dir: &Path) {
    match open(dir) {
        Ok(_) => say("opened"),
        Err(error) => say(&error.to_string()),
    }
}

#[test]
fn a_second_open_in_the_same_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _store = open(dir.path()).unwrap();
    assert!(matches!(open(dir.path()), Err(StoreError::InUse { pid, .. }) if pid == std::process::id().to_string()));
}

#[test]
fn a_second_process_is_refused_with_the_pid_of_the_first() {
    if let Some(dir) = child_directory() {
        return say_whether_it_opens(&dir);
    }
    let dir = tempfile::tempdir().unwrap();
    let mut second = child(Command::new(this_program()), "a_second_process_is_refused_with_the_pid_of_the_first", dir.path());
    let store = open(dir.path()).unwrap();
    let (path, pid) = (dir.path().display(), std::process::id());
    let refusal = format!("{path} is in use by process {pid}; stop that process first, or choose another --data-dir");
    assert_eq!(heard(&mut second), [refusal]);
    drop(store);
    assert_eq!(heard(&mut second), ["opened"]);
}

/// The child is killed by SIGKILL while four writers commit. This shows that an acknowledged commit has left the
/// process and that the lock ends with it; it does not show what a power cut does to the disk's own cache.
#[test]
fn everything_acknowledged_before_a_kill_is_there_afterwards() {
    if let Some(dir) = child_directory() {
        commit_until_killed(&dir);
    }
    let dir = tempfile::tempdir().unwrap();
    for round in 1..=3 {
        let mut killed = child(Command::new(this_program()), "everything_acknowledged_before_a_kill_is_there_afterwards", dir.path());
        let mut process = killed.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut acknowledged: Vec<String> = lines.by_ref().filter(|line| line.starts_with("child: ")).take(100 * round).collect();
        process.kill().unwrap();
        process.wait().unwrap();
        acknowledged.extend(lines.filter(|line| line.starts_with("child: ")));
        check_acknowledged(dir.path(), &acknowledged);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn commit_until_killed(dir: &Path) {
    let store = &open(dir).unwrap();
    let writers = (0..4).map(async |writer| {
        for n in 0.. {
            let key = format!("{writer}/{n}");
            let twin = format!("twin/{key}");
            let revision = store.commit(Commit::default().put(key.as_str(), vec![b'x'; 2_000]).put(twin, "")).await.unwrap();
            say(&format!("{key} {}", revision.0));
        }
    });
    futures::future::join_all(writers).await;
}

#[tokio::main(flavor = "current_thread")]
async fn check_acknowledged(dir: &Path, acknowledged: &[String]) {
    let store = open(dir).unwrap();
    for line in acknowledged {
        // The kill may have cut the last line.
        let Some((key, revision)) = line.trim_start_matches("child: ").split_once(' ') else { continue };
        let document = store.get(key).await.unwrap().unwrap_or_else(|| panic!("{key} is lost"));
        assert!(revision.parse::<u64>().is_ok_and(|revision| document.revision >= Revision(revision)), "{line}");
    }
    let (all, twins) = (store.list("").await.unwrap().documents.len(), store.list("twin/").await.unwrap().documents.len());
    assert_eq!(all, 2 * twins, "a commit was torn");
}

/// Real permission bits, which do not bind root: as root, the child runs as `nobody`, from a copy of this program
/// in a place that `nobody` can reach.
#[test]
fn a_directory_without_write_permission_is_read_only_until_it_has_it() {
    if let Some(dir) = child_directory() {
        return say_whether_it_opens(&dir);
    }
    let place = tempfile::tempdir().unwrap();
    let (program, data) = (place.path().join("program"), place.path().join("data"));
    fs::copy(this_program(), &program).unwrap();
    drop(open(&data).unwrap());
    let permit = |directory: u32, file: u32| {
        for (path, mode) in [(data.join("rackwright.db"), file), (data.join("lock"), file), (data.clone(), directory)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
    };
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(&program);
    if getuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut child = child(command, "a_directory_without_write_permission_is_read_only_until_it_has_it", &data);

    let refusal = format!("{} cannot be written: the disk or the directory is read-only", data.join("rackwright.db").display());
    permit(0o555, 0o444);
    assert_eq!(heard(&mut child), [refusal.as_str()], "nothing may be written");
    permit(0o777, 0o666);
    fs::set_permissions(data.join("rackwright.db"), Permissions::from_mode(0o444)).unwrap();
    assert_eq!(heard(&mut child), [refusal.as_str()], "only the database may not be written");
    permit(0o777, 0o666);
    assert_eq!(heard(&mut child), ["opened"]);
}

/// The operating system really refuses to let the log grow (EFBIG, by a limit on file sizes), in the middle of a
/// transaction. It is not ENOSPC, for which a file system of our own would be needed; SQLite and the store treat both
/// alike, except for the error's name.
#[test]
fn a_refused_write_leaves_the_store_whole_and_usable() {
    if let Some(dir) = child_directory() {
        return write_against_a_limit(&dir);
    }
    let dir = tempfile::tempdir().unwrap();
    // The signal that comes with the limit would end the child, unless it is ignored from the start.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(this_program());
    let said = heard(&mut child(shell, "a_refused_write_leaves_the_store_whole_and_usable", dir.path()));
    assert_eq!(said, ["went on"]);
}

#[tokio::main(flavor = "current_thread")]
async fn write_against_a_limit(dir: &Path) {
    let limit = |bytes| setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
    let put = |n: u32| Commit::default().put(format!("{n:03}"), vec![b'x'; 20_000]);
    let store = open(dir).unwrap();
    limit(Some(300_000));
    let mut written = 0;
    let refusal = loop {
        match store.commit(put(written)).await {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refusal, StoreError::Io { .. }), "{refusal}");
    assert_eq!(store.list("").await.unwrap().documents.len(), written as usize);

    limit(None);
    store.commit(put(900)).await.unwrap();
    let before = store.list("").await.unwrap();
    assert_eq!(before.revision, Revision(u64::from(written) + 1));
    drop(store);
    assert_eq!(open(dir).unwrap().list("").await.unwrap(), before);
    say("went on");
}
