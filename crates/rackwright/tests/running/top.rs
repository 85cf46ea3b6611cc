//! `rackwright top` on a terminal: it draws, listens to keys, and gives the terminal back.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::environment;
use crate::server::until;
use crate::settled;

/// A shell line on a terminal of its own, with what it has shown so far.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn run(home: &Path, line: &str) -> Terminal {
        let mut command = Command::new("script");
        environment::settle(&mut command);
        command.args(["-qfec", line, "/dev/null"]).env("TERM", "xterm").env("RACKWRIGHT_HOME", home);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("`script` is there");
        let (keys, mut out) = (child.stdin.take().expect("stdin is piped"), child.stdout.take().expect("stdout is piped"));
        let shown = Arc::new(Mutex::new(Vec::new()));
        let seen = shown.clone();
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut part) {
                seen.lock().expect("nobody panicked").extend_from_slice(&part[..count]);
            }
        });
        Terminal { child, keys, shown }
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().expect("nobody panicked")).into_owned()
    }

    #[track_caller]
    fn until_shown(&self, text: &str) {
        let give_up_at = Instant::now() + Duration::from_secs(60);
        while !self.shown().contains(text) {
            assert!(Instant::now() < give_up_at, "`{text}` was not shown: {}", self.shown().escape_debug());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).and_then(|()| self.keys.flush()).expect("the terminal takes keys");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a terminal is told when a program takes the whole screen, and when it gives it back.
const TAKEN: &str = "\u{1b}[?1049h";
const GIVEN_BACK: &str = "\u{1b}[?1049l";

#[test]
fn it_is_drawn_answers_to_keys_and_gives_the_terminal_back() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let _up = settled::start(home, "up --listen 127.0.0.1:0 --racks 2 --machines-per-rack 3 --speed 600");
    // Ctrl-C reaches the shell's line as a key only while the terminal is taken, and the settings are told afterwards.
    let line = format!("stty rows 24 cols 80; {} top; echo ended $?; stty -a", env!("CARGO_BIN_EXE_rackwright"));
    for quit in [b"q".as_slice(), b"\x1b", b"\x03"] {
        let mut terminal = Terminal::run(home, &line);
        terminal.until_shown("compute01");
        assert!(terminal.shown().contains(TAKEN));
        terminal.press(b"?");
        terminal.until_shown("Marks");
        terminal.press(b"?");
        terminal.press(quit);
        terminal.until_shown("ended 0");
        terminal.until_shown(" icanon");
        terminal.until_shown(" echo ");
        assert!(terminal.shown().contains(GIVEN_BACK));
    }
}

#[test]
fn it_ends_when_its_terminal_goes_away() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let _up = settled::start(home, "up --listen 127.0.0.1:0 --racks 1 --machines-per-rack 4 --speed 600");
    let line = format!("stty rows 24 cols 80; echo pid $$ here; exec {} top", env!("CARGO_BIN_EXE_rackwright"));
    let terminal = Terminal::run(home, &line);
    terminal.until_shown("compute01");
    let shown = terminal.shown();
    let pid = shown.split("pid ").nth(1).and_then(|rest| rest.split(' ').next()).expect("the shell told its number").to_owned();
    let process = Path::new("/proc").join(pid);
    assert!(process.exists(), "{}", process.display());
    drop(terminal);
    until("it to end", || (!process.exists()).then_some(()));
}
