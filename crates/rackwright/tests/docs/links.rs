//! Links: every relative one leads to a file, and to a heading in it.

use crate::markdown::{anchors, links};
use crate::pages::{self, Page};

#[test]
fn every_link_leads_somewhere() {
    let problems: Vec<String> = pages::all().iter().flat_map(wrong_links).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn wrong_links(page: &Page) -> Vec<String> {
    let here = page.path();
    let folder = here.parent().expect("a page lies in a folder");
    let relative = links(&page.text).into_iter().filter(|(_, target)| !target.contains("://") && !target.starts_with("mailto:"));
    let is_wrong = |(line, target): (usize, String)| {
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let path = if path.is_empty() { here.clone() } else { folder.join(path) };
        let problem = if !path.exists() {
            Some("there is no such file")
        } else if !anchor.is_empty() && !has_anchor(&path, anchor) {
            Some("there is no such heading")
        } else {
            None
        };
        problem.map(|problem| format!("{}:{line}: `{target}`: {problem}", page.name))
    };
    relative.filter_map(is_wrong).collect()
}

fn has_anchor(path: &std::path::Path, anchor: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| anchors(&text).iter().any(|known| known == anchor))
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let text = "[a](README.md) [b](nowhere.md) [c](#here) [d](README.md#nowhere)\n\n# Here\n".to_owned();
    let wrong = wrong_links(&Page { name: "ARCHITECTURE.md".to_owned(), text });
    // The third leads to a heading that this text has and the file has not: a page is read from its file.
    assert_eq!(
        wrong.iter().map(|problem| problem.split('`').nth(1).unwrap_or_default()).collect::<Vec<_>>(),
        ["nowhere.md", "#here", "README.md#nowhere"]
    );
}
