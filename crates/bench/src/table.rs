//! Figures as a table: on the terminal, and as Markdown.

use std::io::{self, Write};

use crate::figure::Figure;

/// One line for each figure.
pub fn text(figures: &[Figure]) -> String {
    let rows: Vec<[String; 4]> =
        figures.iter().map(|figure| [figure.what.clone(), figure.value_text(), figure.target_text(), figure.limited_by.clone()]).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (what, value, target) = (width(0), width(1), width(2));
    rows.iter().map(|row| format!("{:<what$}  {:>value$}  {:<target$}  {}\n", row[0], row[1], row[2], row[3])).collect()
}

/// What was asked for goes to stdout, talk to stderr.
pub fn put(text: &str) {
    // A reader that went away has seen enough.
    let _ = io::stdout().lock().write_all(text.as_bytes());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Unit;

    #[test]
    fn every_figure_has_a_row_with_its_value_and_what_limits_it() {
        let figures = [
            Figure::new("short", 5.0, Unit::Seconds, "the disk"),
            Figure::new("something longer", 1_234.0, Unit::Milliseconds, "the network").under(2_000.0),
        ];
        let rows = "short                  5 s                  the disk\nsomething longer  1,234 ms  under 2,000 ms  the network\n";
        assert_eq!(text(&figures), rows);
    }
}
