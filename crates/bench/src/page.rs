//! The page of the figures: each benchmark has a part of it, which a run replaces. What stands between the parts is people's.

use std::io;
use std::path::{Path, PathBuf};

use crate::figure::Report;
use crate::{machine, picture, table};

/// Writes a benchmark's part of the page, and its picture beside it.
pub fn write(name: &str, report: &Report) -> io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let picture = (!report.curves.is_empty()).then(|| picture::draw(&report.curves)).transpose()?;
    if let Some(picture) = &picture {
        std::fs::create_dir_all(docs.join("performance"))?;
        std::fs::write(docs.join(picture_of(name)), picture)?;
    }
    let path = docs.join("performance.md");
    let page = std::fs::read_to_string(&path)?;
    let mut part = format!("{}\n\n{}", machine::describe(name), table::markdown(&report.figures));
    if picture.is_some() {
        part += &format!("\n![growth of {name}]({})\n", picture_of(name).display());
    }
    let without = |name: &str| io::Error::other(format!("{} has no part for `{name}`", path.display()));
    let page = replace(&page, name, &part).ok_or_else(|| without(name))?;
    let page = replace(&page, TARGETS, &targets(&page)).ok_or_else(|| without(TARGETS))?;
    std::fs::write(&path, page)
}

/// The part that repeats, from all others, what has a target.
const TARGETS: &str = "targets";

fn targets(page: &str) -> String {
    let mut table = "| what | figure | target | benchmark |\n|---|---:|---|---|\n".to_owned();
    let mut part = TARGETS;
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("<!-- figures: ").and_then(|rest| rest.strip_suffix(" -->")) {
            part = name;
        }
        let cells: Vec<&str> = line.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
        if let [what, figure, target, _] = cells[..]
            && part != TARGETS
            && !["", "target"].contains(&target)
        {
            table += &format!("| {what} | {figure} | {target} | {part} |\n");
        }
    }
    table
}

fn picture_of(name: &str) -> PathBuf {
    PathBuf::from(format!("performance/{name}.svg"))
}

/// The page with another text between the remarks that begin and end a part.
fn replace(page: &str, name: &str, part: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- figures: {name} -->\n"), format!("<!-- end: {name} -->"));
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{part}\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BENCHES;

    #[test]
    fn a_run_replaces_its_own_part_and_nothing_else() {
        let page = "a\n<!-- figures: x -->\nold\n<!-- end: x -->\nb\n<!-- figures: y -->\n<!-- end: y -->\n";
        let wanted = "a\n<!-- figures: x -->\n\nnew\n\n<!-- end: x -->\nb\n<!-- figures: y -->\n<!-- end: y -->\n";
        assert_eq!(replace(page, "x", "new\n").as_deref(), Some(wanted));
        assert_eq!(replace(page, "z", "new\n"), None);
    }

    #[test]
    fn what_has_a_target_is_repeated_with_its_benchmark() {
        let head = "| what | figure | target | what limits it |\n|---|---:|---|---|\n";
        let part = |name: &str, rows: &str| format!("<!-- figures: {name} -->\n{head}{rows}<!-- end: {name} -->\n");
        let page = part("targets", "| old | 1 | 2 | x |\n") + &part("x", "| a | 1 ms | under 2 ms | cores |\n| b | 3 ms |  | disk |\n");
        assert_eq!(targets(&page), "| what | figure | target | benchmark |\n|---|---:|---|---|\n| a | 1 ms | under 2 ms | x |\n");
    }

    #[test]
    fn the_page_has_a_part_for_every_benchmark() {
        let page = include_str!("../../../docs/performance.md");
        for name in BENCHES.iter().map(|bench| bench.name).chain([TARGETS]) {
            assert!(replace(page, name, "").is_some(), "docs/performance.md has no part for `{name}`");
        }
    }
}
