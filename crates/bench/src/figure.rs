//! What a benchmark gives: figures with their targets, and the table of them.

use std::io::{self, Write};

/// One benchmark.
pub struct Bench {
    pub name: &'static str,
    /// What it does, in a few words.
    pub what: &'static str,
    pub measure: fn() -> io::Result<Vec<Figure>>,
}

/// One measured value.
pub struct Figure {
    pub what: String,
    pub value: String,
    /// What it should be; empty where there is no target.
    pub target: &'static str,
    /// What the value is made of, so that nobody reads more into it.
    pub limited_by: &'static str,
}

/// The table goes to stdout, talk to stderr.
pub fn print_table(figures: &[Figure]) {
    let width = |of: fn(&Figure) -> usize| figures.iter().map(of).max().unwrap_or(0);
    let (what, value, target) = (
        width(|figure| figure.what.chars().count()),
        width(|figure| figure.value.chars().count()),
        width(|figure| figure.target.chars().count()),
    );
    let mut out = io::stdout().lock();
    for figure in figures {
        // A reader that went away has seen enough.
        let _ = writeln!(out, "{:<what$}  {:>value$}  {:<target$}  {}", figure.what, figure.value, figure.target, figure.limited_by);
    }
}

pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
