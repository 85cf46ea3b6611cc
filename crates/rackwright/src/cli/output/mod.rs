//! How a result is shown: as people read it or as scripts do (`-o`), and which part of it (`--query`).

mod columns;
mod growth;
mod query;
#[cfg(test)]
mod query_tests;
#[cfg(test)]
mod tests;
mod tsv;

use clap::ValueEnum;
use serde_json::Value;

use super::render::Table;
use super::screen::{Screen, Sheet};
use super::trouble::Trouble;
use query::Query;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people
    Table,
    /// Exactly as the API answers
    Json,
    /// The same, as YAML
    Yaml,
    /// One line for each item, with tabs between its values and no headings
    Tsv,
}

/// The format and the query of one command. Made before anything is sent, so that a wrong query changes nothing.
#[derive(Clone, Debug)]
pub struct Showing {
    output: Output,
    query: Option<Query>,
}

impl Showing {
    pub fn new(output: Output, query: Option<&str>) -> Result<Showing, Trouble> {
        Ok(Showing { output, query: query.map(Query::parse).transpose()? })
    }

    /// Whether sentences and hints are wanted, rather than data alone.
    pub fn is_for_people(&self) -> bool {
        self.output == Output::Table && self.query.is_none()
    }

    /// Whether the columns of our own tables are shown, so that whatever else stands in them must be known.
    pub fn has_our_columns(&self) -> bool {
        matches!(self.output, Output::Table | Output::Tsv) && self.query.is_none()
    }

    /// A list: the API's items, or our table of them.
    pub fn list(&self, screen: &mut Screen, items: &Value, table: impl FnOnce() -> Table) -> Result<(), Trouble> {
        match self.output {
            Output::Table if self.query.is_none() => screen.sheet(&table().into_sheet()),
            Output::Tsv if self.query.is_none() => screen.lines(&tsv::of_table(table())),
            _ => self.data(screen, items),
        }
    }

    /// One thing: what the API says of it, a sheet for people, and the line that a list would have of it.
    pub fn one(
        &self,
        screen: &mut Screen,
        answer: &Value,
        sheet: impl FnOnce() -> Sheet,
        row: impl FnOnce() -> Table,
    ) -> Result<(), Trouble> {
        if self.is_for_people() { screen.sheet(&sheet()) } else { self.list(screen, answer, row) }
    }

    /// What the API answered, or the part of it that the query asks for.
    fn data(&self, screen: &mut Screen, answer: &Value) -> Result<(), Trouble> {
        let Some(query) = &self.query else { return self.whole(screen, answer, &[]) };
        let result = query.apply(answer)?;
        if let Some(hint) = query.doubt(answer, &result) {
            screen.hint(&hint);
        }
        self.whole(screen, &result, query.columns())
    }

    fn whole(&self, screen: &mut Screen, value: &Value, order: &[String]) -> Result<(), Trouble> {
        match self.output {
            Output::Json => screen.data(&format!("{value:#}")),
            Output::Yaml => screen.lines(&yaml(value)?),
            Output::Tsv => screen.lines(&tsv::of_value(value, order)),
            Output::Table => match columns::table_of(value, order) {
                Some(table) => screen.sheet(&table.into_sheet()),
                None => {
                    screen.hint("the result has nothing that fits into a table; `-o json` shows it");
                    Ok(())
                }
            },
        }
    }

    /// One record of a stream without an end: a line of JSON, a document of YAML, or a line for people.
    pub fn record(
        &self,
        screen: &mut Screen,
        answer: &Value,
        line: impl FnOnce() -> Sheet,
        row: impl FnOnce() -> Table,
    ) -> Result<(), Trouble> {
        match self.output {
            Output::Table if self.query.is_none() => return screen.sheet(&line()),
            Output::Tsv if self.query.is_none() => return screen.lines(&tsv::of_table(row())),
            _ => {}
        }
        let value = match &self.query {
            Some(query) => query.apply(answer)?,
            None => answer.clone(),
        };
        match self.output {
            Output::Json => screen.data(&value.to_string()),
            Output::Yaml => screen.lines(&format!("---\n{}", yaml(&value)?)),
            Output::Table | Output::Tsv => screen.lines(&tsv::of_value(&value, self.query.as_ref().map_or(&[], |query| query.columns()))),
        }
    }
}

fn yaml(value: &Value) -> Result<String, Trouble> {
    let text = serde_saphyr::to_string(value);
    text.map_err(|problem| Trouble::failed(format!("the answer cannot be written as YAML: {problem}")).hint("`-o json` shows it"))
}
