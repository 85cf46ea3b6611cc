//! Every command of the manual, executed.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::pages::{self, Page};
use crate::script::{self, Script};
use crate::session::{self, Mend, Wrong};

/// Scripts that are played at once: they wait more than they work.
const AT_ONCE: usize = 8;

#[test]
fn every_command_of_the_manual_does_what_its_page_shows() {
    let pages = pages::manual();
    let readings: Vec<_> = pages.iter().map(script::read).collect();
    let mut problems: Vec<String> = readings.iter().flat_map(|reading| reading.problems.clone()).collect();
    let only = std::env::var("DOCS_PAGE").ok();
    let mut scripts: Vec<Script> = readings.into_iter().flat_map(|reading| reading.scripts).collect();
    scripts.retain(|script| only.as_ref().is_none_or(|name| script.page.contains(name)));
    // The longest first, so that nobody waits for it at the end.
    scripts.sort_by_key(|script| script.steps.len());
    let is_updating = std::env::var_os("UPDATE_EXPECT").is_some();
    let wrongs = play_all(scripts, is_updating);
    if is_updating {
        mend_all(&pages, &wrongs);
    }
    problems.extend(wrongs.iter().map(|wrong| format!("{}:{}: {}", wrong.page, wrong.line, wrong.problem)));
    assert!(problems.is_empty(), "{} problems (UPDATE_EXPECT=1 writes shown output anew):\n\n{}", problems.len(), problems.join("\n\n"));
}

fn play_all(scripts: Vec<Script>, is_updating: bool) -> Vec<Wrong> {
    let (waiting, wrongs) = (Mutex::new(scripts), Mutex::new(Vec::new()));
    let next = || waiting.lock().expect("nobody panicked").pop();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(script) = next() {
                    let found = session::play(&script, is_updating);
                    wrongs.lock().expect("nobody panicked").extend(found);
                }
            });
        }
    });
    wrongs.into_inner().expect("nobody panicked")
}

/// Writes the pages anew, each from its end on, so that the lines before a mend keep their numbers.
fn mend_all(pages: &[Page], wrongs: &[Wrong]) {
    let mut mends: BTreeMap<&str, Vec<&Mend>> = BTreeMap::new();
    for wrong in wrongs {
        mends.entry(&wrong.page).or_default().extend(&wrong.mend);
    }
    for page in pages {
        let Some(mends) = mends.get_mut(page.name.as_str()) else { continue };
        mends.sort_by_key(|mend| std::cmp::Reverse(mend.at));
        let mut lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
        for mend in mends.iter() {
            lines.splice(mend.at - 1..mend.at - 1 + mend.count, mend.lines.iter().cloned());
        }
        std::fs::write(page.path(), lines.join("\n") + "\n").expect("the page can be written");
    }
}
