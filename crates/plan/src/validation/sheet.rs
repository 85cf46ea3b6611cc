//! One category in the making.

use model::{Category, CategoryResult, Comparison, Fault, FieldResult, Told, ValidationResult};

/// What is fetched where a BMC has no answer.
pub(super) const NOT_OFFERED: &str = "not offered";

pub(super) struct Sheet {
    category: Category,
    fields: Vec<FieldResult>,
    log: Vec<String>,
}

impl Sheet {
    pub fn new(category: Category) -> Sheet {
        Sheet { category, fields: Vec::new(), log: Vec::new() }
    }

    pub fn tell(&mut self, name: impl Into<String>, comparison: Comparison, expected: impl Into<String>, fetched: impl Into<String>) {
        self.fields.push(FieldResult { name: name.into(), comparison, expected: expected.into(), fetched: fetched.into() });
    }

    /// Passes if they are the same, in whatever case. What nobody expects, or the BMC does not tell, is only told.
    pub fn compare(&mut self, name: impl Into<String>, expected: Option<&str>, fetched: Option<&str>) {
        let comparison = match (expected, fetched) {
            (Some(expected), Some(fetched)) if expected.eq_ignore_ascii_case(fetched) => Comparison::Pass,
            (Some(_), Some(_)) => Comparison::Fail,
            _ => Comparison::Info,
        };
        self.tell(name, comparison, expected.unwrap_or_default(), fetched.unwrap_or(NOT_OFFERED));
    }

    /// What was told; else the field says why there is nothing.
    pub fn answer<'a, T>(&mut self, name: &str, expected: &str, told: &'a Told<T>) -> Option<&'a T> {
        match told {
            Told::Told(value) => return Some(value),
            Told::NotOffered => self.tell(name, Comparison::Info, expected, NOT_OFFERED),
            Told::Unread(fault) => self.tell(name, Comparison::Warning, expected, unread(fault)),
        }
        None
    }

    pub fn log(&mut self, line: impl Into<String>) {
        self.log.push(line.into());
    }

    pub fn judged(self) -> CategoryResult {
        let failed = self.fields.iter().any(|field| field.comparison == Comparison::Fail);
        let result = if failed { ValidationResult::Fail } else { ValidationResult::Pass };
        CategoryResult { category: self.category, result, fields: self.fields, log: self.log }
    }
}

pub(super) fn unread(fault: &Fault) -> String {
    format!("could not be read: {fault}")
}
