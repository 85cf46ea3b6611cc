//! A file's text with its lines, and what is wrong with it: every problem at once, each with its file and line.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::cli::trouble::Trouble;

/// Problems that are shown at once. A file of the wrong kind has one on each line, and nobody reads them all.
const PROBLEMS_SHOWN: usize = 20;

/// The text of one file.
#[derive(Debug)]
pub struct Page {
    pub path: PathBuf,
    pub text: String,
    /// Where each line begins: a site of a thousand machines has many lines to be found.
    starts: Vec<usize>,
}

/// Whether a problem's line may be shown: some hold secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    Line,
    Nothing,
}

/// Something with the line on which it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Located<T> {
    pub value: T,
    pub line: usize,
}

impl<T> Located<T> {
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Located<U> {
        Located { value: f(self.value), line: self.line }
    }
}

impl Page {
    pub fn new(path: &Path, text: String) -> Page {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        Page { path: path.to_owned(), text, starts }
    }

    pub fn read(path: &Path) -> Result<Page, Trouble> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| Trouble::failed(format!("{} cannot be read: {error}", path.display())))?;
        Ok(Page::new(path, text))
    }

    /// The number of the line on which something stands, counted from 1.
    pub fn line_of(&self, span: &Range<usize>) -> usize {
        self.starts.partition_point(|start| *start <= span.start).max(1)
    }

    /// A line as it may be shown. A password in a site file is a mistake, but no reason to print it.
    fn quote(&self, line: usize) -> Option<&str> {
        let text = self.text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
        let assigns_password = text.match_indices('=').any(|(at, _)| {
            let key = text[..at].trim_end().trim_end_matches(['"', '\'']).to_ascii_lowercase();
            let key = key.rsplit([' ', '{', ',', '"', '\'', '.']).next().unwrap_or_default();
            key.contains("password") && !matches!(key, "bmc-password-env" | "bmc-password-file")
        });
        let is_secret = assigns_password || text.contains('@');
        Some(text).filter(|text| !text.is_empty() && !is_secret)
    }

    /// A path that the file names, which is relative to the file itself.
    pub fn beside(&self, other: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new(".")).join(other)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    at: String,
    line: usize,
    message: String,
    quote: Option<String>,
    remedy: Option<String>,
}

/// What was found so far. Reading goes on after a problem, so that a person meets all of them in one go.
#[derive(Debug, Default)]
pub struct Problems {
    found: Vec<Problem>,
}

impl Problems {
    pub fn note(&mut self, page: &Page, line: usize, message: impl Into<String>) {
        self.note_quoting(page, line, Quote::Line, message, None);
    }

    pub fn note_with_remedy(&mut self, page: &Page, line: usize, message: impl Into<String>, remedy: impl Into<String>) {
        self.note_quoting(page, line, Quote::Line, message, Some(remedy.into()));
    }

    pub fn note_quoting(&mut self, page: &Page, line: usize, quote: Quote, message: impl Into<String>, remedy: Option<String>) {
        let quote = (quote == Quote::Line).then(|| page.quote(line)).flatten().map(str::to_owned);
        self.found.push(Problem { at: page.path.display().to_string(), line, message: message.into(), quote, remedy });
    }

    /// Ends a part of the reading: all is well so far, or this is what a person is told.
    pub fn verdict(self, page: &Page) -> Result<Problems, Trouble> {
        match self.found.len() {
            0 => Ok(self),
            1 => Err(self.told(format!("{} cannot be used", page.path.display()))),
            count => Err(self.told(format!("{} cannot be used: {count} problems", page.path.display()))),
        }
    }

    fn told(mut self, message: String) -> Trouble {
        self.found.sort_by(|a, b| (&a.at, a.line).cmp(&(&b.at, b.line)));
        let mut trouble = Trouble::failed(message);
        for problem in self.found.iter().take(PROBLEMS_SHOWN) {
            trouble = trouble.detail(format!("{}:{}: {}", problem.at, problem.line, problem.message));
            if let Some(quote) = &problem.quote {
                trouble = trouble.detail(format!("  {} | {quote}", problem.line));
            }
            if let Some(remedy) = &problem.remedy {
                trouble = trouble.detail(format!("  {remedy}"));
            }
        }
        match self.found.len().checked_sub(PROBLEMS_SHOWN) {
            Some(more) if more > 0 => trouble.detail(format!("… and {more} more")),
            _ => trouble,
        }
    }
}
