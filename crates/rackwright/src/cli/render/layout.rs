//! Tables without borders, and sheets of facts: a name, then what is so.

use comfy_table::{ContentArrangement, presets};

use crate::cli::screen::{Sheet, Tone};

/// Rows under headings. A row keeps to one line however narrow the terminal is, so that `grep` finds whole rows.
#[derive(Debug)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<(Tone, Vec<String>)>,
}

impl Table {
    pub fn new(headings: &[&str]) -> Table {
        Table { headings: headings.iter().map(|&heading| heading.to_owned()).collect(), rows: Vec::new() }
    }

    pub fn row(&mut self, tone: Tone, cells: impl IntoIterator<Item = String>) {
        self.rows.push((tone, cells.into_iter().collect()));
    }

    /// The cells alone, as scripts read them.
    pub fn into_rows(self) -> Vec<Vec<String>> {
        self.rows.into_iter().map(|(_, cells)| cells).collect()
    }

    #[cfg(test)]
    pub fn plain(self) -> String {
        self.into_sheet().plain()
    }

    pub fn into_sheet(self) -> Sheet {
        let mut tones = vec![Tone::Strong];
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(self.headings);
        for (tone, cells) in self.rows {
            tones.push(tone);
            table.add_row(cells);
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        // Colour is put on whole lines, because the table would count its escapes as text.
        let mut sheet = Sheet::default();
        for (line, tone) in table.lines().zip(tones) {
            sheet.line(tone, line.trim_end());
        }
        sheet
    }
}

/// One fact of a sheet. An empty name continues the one above.
pub type Fact<'a> = (Tone, &'a str, String);

/// Space between the longest name and what is so.
const GUTTER: usize = 2;

pub fn facts(facts: &[Fact<'_>]) -> Sheet {
    let width = facts.iter().map(|(_, name, _)| name.len()).max().unwrap_or(0) + GUTTER;
    let mut sheet = Sheet::default();
    for (tone, name, text) in facts {
        sheet.line(*tone, format!("{name:width$}{text}").trim_end());
    }
    sheet
}
