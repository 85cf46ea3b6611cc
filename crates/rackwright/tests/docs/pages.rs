//! The pages: where they lie, and what they say.

use std::fs;
use std::path::{Path, PathBuf};

/// A page, named as seen from the root of the repository.
#[derive(Clone, Debug)]
pub struct Page {
    pub name: String,
    pub text: String,
}

impl Page {
    pub fn read(name: &str) -> Page {
        let path = root().join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        Page { name: name.to_owned(), text }
    }

    pub fn path(&self) -> PathBuf {
        root().join(&self.name)
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages whose commands are executed: the README and everything under `docs/`.
pub fn manual() -> Vec<Page> {
    let mut names = vec!["README.md".to_owned()];
    collect("docs", &mut names);
    names.iter().map(|name| Page::read(name)).collect()
}

/// The manual, and the pages for those who work on the code.
pub fn all() -> Vec<Page> {
    let mut pages = manual();
    pages.extend(["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(Page::read));
    pages
}

fn collect(folder: &str, names: &mut Vec<String>) {
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|problem| panic!("{folder}: {problem}"));
    let mut found: Vec<_> = entries.map(|entry| entry.expect("the folder can be read")).collect();
    found.sort_by_key(fs::DirEntry::file_name);
    for entry in found {
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&name, names);
        } else if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
            names.push(name);
        }
    }
}
