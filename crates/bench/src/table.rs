//! Figures as a table: on the terminal, and as Markdown.

use std::io::{self, Write};

use crate::figure::Figure;

/// The table goes to stdout, talk to stderr.
pub fn print(figures: &[Figure]) {
    let rows: Vec<[String; 4]> =
        figures.iter().map(|figure| [figure.what.clone(), figure.value_text(), figure.target_text(), figure.limited_by.clone()]).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (what, value, target) = (width(0), width(1), width(2));
    let mut out = io::stdout().lock();
    for row in &rows {
        // A reader that went away has seen enough.
        let _ = writeln!(out, "{:<what$}  {:>value$}  {:<target$}  {}", row[0], row[1], row[2], row[3]);
    }
}

pub fn markdown(figures: &[Figure]) -> String {
    let mut text = "| what | figure | target | what limits it |\n|---|---:|---|---|\n".to_owned();
    for figure in figures {
        let cells = [figure.what.clone(), figure.value_text(), figure.target_text(), figure.limited_by.clone()];
        text += &format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    text
}

pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
