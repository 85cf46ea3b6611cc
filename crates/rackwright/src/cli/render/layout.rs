//! Tables without borders, and sheets of facts: a name, then what is so.

use comfy_table::{ContentArrangement, presets};

use crate::cli::screen::{Sheet, Tone};

/// Rows under headings. A row keeps to one line however narrow the terminal is, so that `grep` finds whole rows.
#[derive(Debug)]
pub struct Table {
    table: comfy_table::Table,
    tones: Vec<Tone>,
}

impl Table {
    pub fn new(headings: &[&str]) -> Table {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(headings.iter().copied());
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        Table { table, tones: vec![Tone::Strong] }
    }

    pub fn row(&mut self, tone: Tone, cells: impl IntoIterator<Item = String>) {
        self.table.add_row(cells.into_iter().collect::<Vec<String>>());
        self.tones.push(tone);
    }

    /// Colour is put on whole lines, because the table would count its escapes as text.
    pub fn into_sheet(self) -> Sheet {
        let mut sheet = Sheet::default();
        for (line, tone) in self.table.lines().zip(self.tones) {
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
