//! `docs/errors/` and the codes that the API answers: each has the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use model::Rule;

fn pages() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors")
}

fn page(name: &str) -> String {
    let path = pages().join(name);
    fs::read_to_string(&path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

fn codes() -> BTreeMap<String, u16> {
    api::error_codes().map(|(code, status)| (code.to_owned(), status.as_u16())).collect()
}

/// The rows `| [Code](Code.md) | 409 | … |` of the table.
fn rows() -> BTreeMap<String, u16> {
    let readme = page("README.md");
    let cells = readme.lines().filter(|line| line.starts_with("| [")).map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    cells
        .map(|cells| {
            let code = cells[1].strip_prefix('[').and_then(|link| link.split_once("](")).map_or(cells[1], |(code, _)| code);
            assert_eq!(cells[1], format!("[{code}]({code}.md)"), "a row links to the page of its code");
            (code.to_owned(), cells[2].parse().unwrap_or_else(|_| panic!("{code} has no status but `{}`", cells[2])))
        })
        .collect()
}

#[test]
fn no_code_is_used_twice() {
    assert_eq!(api::error_codes().count(), codes().len());
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let files = fs::read_dir(pages()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let written: BTreeSet<String> = files.filter(|name| name != "README.md").collect();
    let expected: BTreeSet<String> = codes().keys().map(|code| format!("{code}.md")).collect();
    assert_eq!(written, expected);
}

#[test]
fn the_table_has_every_code_with_its_status() {
    assert_eq!(rows(), codes());
}

#[test]
fn a_page_begins_with_its_code_and_tells_the_status() {
    for (code, status) in codes() {
        let page = page(&format!("{code}.md"));
        assert!(page.starts_with(&format!("# {code}\n")), "{code}");
        assert!(page.contains(&format!("HTTP status {status}")), "{code} is answered with {status}");
    }
}

#[test]
fn a_rule_is_found_by_the_name_that_the_terminal_prints() {
    let table = page("README.md");
    for rule in Rule::ALL {
        let (code, name) = (rule.code(), format!("`{}`", rule.name()));
        assert!(page(&format!("{code}.md")).contains(&name), "{code}");
        let row = table.lines().find(|line| line.starts_with(&format!("| [{code}]"))).unwrap_or_default();
        assert!(row.contains(&name), "the row of {code}");
    }
}

#[test]
fn the_page_of_a_pace_tells_the_pace() {
    let pace = access::attempts::REQUESTS_OF_CALLER;
    let (burst, a_second) = (pace.burst, 1_000 / pace.every.as_millis());
    let told = format!("sent {},{:03} requests at once and more than {a_second} a second since", burst / 1_000, burst % 1_000);
    let page = page("TooManyRequests.md").replace('\n', " ");
    assert!(page.contains(&told), "{told}");
    assert_eq!(page.matches("requests at once").count(), 1, "it is told once");
}
