//! One table of a TOML file, read key by key: what is missing, of the wrong kind or unknown becomes a problem with its line.

use std::collections::BTreeSet;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::page::{Located, Page, Problems, Quote};

/// How many letters may differ between what was written and what was probably meant.
const TYPO: usize = 2;

#[derive(Debug)]
pub struct Section<'a> {
    page: &'a Page,
    table: &'a DeTable<'a>,
    /// How the table is called in messages: `[cluster]`, `[[machine]]`.
    what: &'static str,
    pub line: usize,
    known: BTreeSet<&'static str>,
    problems: &'a mut Problems,
}

impl<'a> Section<'a> {
    pub fn new(page: &'a Page, what: &'static str, table: &'a DeTable<'a>, line: usize, problems: &'a mut Problems) -> Section<'a> {
        Section { page, table, what, line, known: BTreeSet::new(), problems }
    }

    fn find(&mut self, key: &'static str) -> Option<(usize, &'a Spanned<DeValue<'a>>)> {
        self.known.insert(key);
        let (name, value) = self.table.get_key_value(key)?;
        Some((self.page.line_of(&name.span()), value))
    }

    /// Where a key stands, whatever it says.
    pub fn line_of_key(&self, key: &str) -> Option<usize> {
        self.table.get_key_value(key).map(|(name, _)| self.page.line_of(&name.span()))
    }

    fn missing(&mut self, key: &'static str) {
        self.problems.note(self.page, self.line, format!("{} lacks `{key}`", self.what));
    }

    pub fn problem(&mut self, line: usize, message: impl Into<String>) {
        self.problems.note(self.page, line, message);
    }

    pub fn secret_problem(&mut self, line: usize, message: impl Into<String>) {
        self.problems.note_quoting(self.page, line, Quote::Nothing, message, None);
    }

    pub fn text_if_given(&mut self, key: &'static str) -> Option<Located<String>> {
        let (line, value) = self.find(key)?;
        match value.get_ref().as_str() {
            Some(text) if text.trim().is_empty() => self.problem(line, format!("`{key}` is empty")),
            Some(text) if text.chars().any(model::is_unprintable) => self.problem(line, format!("`{key}` has control characters")),
            Some(text) => return Some(Located { value: text.to_owned(), line }),
            None => self.problem(line, format!("`{key}` must be a text in quotes, not {}", kind(value))),
        }
        None
    }

    pub fn text(&mut self, key: &'static str) -> Option<Located<String>> {
        if !self.table.contains_key(key) {
            self.known.insert(key);
            self.missing(key);
            return None;
        }
        self.text_if_given(key)
    }

    /// A text that a type of its own understands, or refuses in its own words.
    pub fn parsed<T: FromStr<Err: std::fmt::Display>>(&mut self, key: &'static str) -> Option<Located<T>> {
        let text = self.text(key)?;
        self.understand(key, &text)
    }

    pub fn parsed_if_given<T: FromStr<Err: std::fmt::Display>>(&mut self, key: &'static str) -> Option<Located<T>> {
        let text = self.text_if_given(key)?;
        self.understand(key, &text)
    }

    fn understand<T: FromStr<Err: std::fmt::Display>>(&mut self, key: &'static str, text: &Located<String>) -> Option<Located<T>> {
        match text.value.parse() {
            Ok(value) => Some(Located { value, line: text.line }),
            Err(problem) => {
                self.problem(text.line, format!("`{key}`: {problem}"));
                None
            }
        }
    }

    /// A name by the model's rules.
    pub fn name<T: TryFrom<String, Error = model::InvalidName>>(&mut self, key: &'static str) -> Option<Located<T>> {
        let text = self.text(key)?;
        match T::try_from(text.value) {
            Ok(value) => Some(Located { value, line: text.line }),
            Err(problem) => {
                self.problem(text.line, problem.to_string());
                None
            }
        }
    }

    pub fn flag(&mut self, key: &'static str) -> Option<Located<bool>> {
        let (line, value) = self.find(key)?;
        match value.get_ref().as_bool() {
            Some(value) => return Some(Located { value, line }),
            None => self.problem(line, format!("`{key}` must be true or false, not {}", kind(value))),
        }
        None
    }

    /// A whole number within bounds.
    pub fn number(&mut self, key: &'static str, least: u32, most: u32) -> Option<Located<u32>> {
        let Some((line, value)) = self.find(key) else {
            self.missing(key);
            return None;
        };
        let number = value.get_ref().as_integer().and_then(|number| u32::from_str_radix(number.as_str(), number.radix()).ok());
        match number.filter(|number| (least..=most).contains(number)) {
            Some(value) => Some(Located { value, line }),
            None => {
                self.problem(line, format!("`{key}` must be a whole number from {least} to {most}"));
                None
            }
        }
    }

    /// The same, for what need not be said.
    pub fn number_if_given(&mut self, key: &'static str, least: u32, most: u32) -> Option<u32> {
        self.known.insert(key);
        self.table.contains_key(key).then(|| self.number(key, least, most))?.map(|number| number.value)
    }

    /// Reads every table of a list that need not be there.
    pub fn each<T>(&mut self, key: &'static str, what: &'static str, read: impl Fn(Section<'_>) -> Option<T>) -> Vec<T> {
        let Some((line, value)) = self.find(key) else { return Vec::new() };
        let Some(list) = value.get_ref().as_array() else {
            self.problem(line, format!("`{key}` must be written as {what}, once for each"));
            return Vec::new();
        };
        let mut found = Vec::new();
        for value in list.iter() {
            let line = self.page.line_of(&value.span());
            match value.get_ref().as_table() {
                Some(table) => found.extend(read(Section::new(self.page, what, table, line, self.problems))),
                None => self.problem(line, format!("{what} must be a table, not {}", kind(value))),
            }
        }
        found
    }

    /// A list of texts that need not be there; one text alone is a list of one.
    pub fn texts(&mut self, key: &'static str) -> Vec<String> {
        let Some((line, value)) = self.find(key) else { return Vec::new() };
        let texts = match value.get_ref() {
            DeValue::String(text) => Some(vec![text.to_string()]),
            DeValue::Array(list) => list.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        match texts.filter(|texts| texts.iter().all(|text| !text.trim().is_empty())) {
            Some(texts) => texts,
            None => {
                self.problem(line, format!("`{key}` must be a text, or a list of texts"));
                Vec::new()
            }
        }
    }

    /// A table within the table that need not be there.
    pub fn table_if_given<T>(&mut self, key: &'static str, what: &'static str, read: impl FnOnce(Section<'_>) -> Option<T>) -> Option<T> {
        let (line, value) = self.find(key)?;
        match value.get_ref().as_table() {
            Some(table) => read(Section::new(self.page, what, table, line, self.problems)),
            None => {
                self.problem(line, format!("`{key}` must be a table, not {}", kind(value)));
                None
            }
        }
    }

    /// A list of texts with at least one in it, each with its line.
    pub fn listed(&mut self, key: &'static str) -> Vec<Located<String>> {
        let Some((line, value)) = self.find(key) else {
            self.missing(key);
            return Vec::new();
        };
        let items = value.get_ref().as_array().map(|list| list.iter().collect::<Vec<_>>()).unwrap_or_default();
        let text = |item: &&Spanned<DeValue<'_>>| {
            Some(Located { value: item.get_ref().as_str()?.to_owned(), line: self.page.line_of(&item.span()) })
        };
        match items.iter().map(text).collect::<Option<Vec<_>>>().filter(|texts| !texts.is_empty()) {
            Some(texts) => texts,
            None => {
                self.problem(line, format!("`{key}` must be a list of texts, with at least one in it"));
                Vec::new()
            }
        }
    }

    /// The same of what need not be said.
    pub fn listed_if_given(&mut self, key: &'static str) -> Vec<Located<String>> {
        self.known.insert(key);
        if self.table.contains_key(key) { self.listed(key) } else { Vec::new() }
    }

    pub fn fraction(&mut self, key: &'static str) -> Option<Located<f64>> {
        let (line, value) = self.find(key)?;
        let text = value.get_ref().as_float().map(|number| number.as_str());
        let text = text.or_else(|| value.get_ref().as_integer().map(|number| number.as_str()));
        match text.and_then(|text| text.parse::<f64>().ok()) {
            Some(value) => Some(Located { value, line }),
            None => {
                self.problem(line, format!("`{key}` must be a number, not {}", kind(value)));
                None
            }
        }
    }

    /// Everything that was not asked for is a mistake: a typing error in an option must not be silence.
    pub fn finish(self) {
        let Section { page, table, what, known, problems, .. } = self;
        for (key, _) in table.iter().filter(|(key, _)| !known.contains(key.get_ref().as_ref())) {
            let (line, key) = (page.line_of(&key.span()), key.get_ref().as_ref());
            if key.to_ascii_lowercase().contains("password") {
                let remedy = "keep it in a file (`bmc-password-file`, `bmc-credentials`) or in the environment (`bmc-password-env`)";
                let message = format!("`{key}`: a password does not belong into the site file");
                problems.note_quoting(page, line, Quote::Nothing, message, Some(remedy.to_owned()));
                continue;
            }
            let meant = known.iter().map(|known| (strsim::damerau_levenshtein(known, key), known)).min().filter(|(far, _)| *far <= TYPO);
            let hint = meant.map_or_else(String::new, |(_, known)| format!("; did you mean `{known}`?"));
            problems.note(page, line, format!("{what} has no `{key}`{hint}"));
        }
    }
}

/// What was written, as a person would call it.
pub fn kind(value: &Spanned<DeValue<'_>>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
