//! Pages of a list: `$top`, `$skipToken`, `nextLink`.

use serde_json::{Value, json};

use crate::call::Call;
use crate::links::encode;
use crate::reply::{Refused, shortened};

/// Items on a page when the client does not say.
pub const PAGE_DEFAULT: usize = 100;

/// Items on a page at most: about a megabyte of machines.
pub const PAGE_MAX: usize = 1_000;

/// What the client asked for.
#[derive(Debug)]
pub(crate) struct Paging {
    top: usize,
    /// The key of the last item of the page before.
    after: Option<String>,
}

impl Paging {
    pub fn of(call: &Call) -> Result<Paging, Refused> {
        let top = match call.query("$top") {
            None => PAGE_DEFAULT,
            Some(text) => match text.parse::<usize>() {
                Ok(top) if top > 0 => top.min(PAGE_MAX),
                _ => {
                    let message = format!("`$top` must be a whole number from 1 on, not `{}`", shortened(text));
                    return Err(Refused::bad_content(message).target("$top"));
                }
            },
        };
        Ok(Paging { top, after: call.query("$skipToken").map(str::to_owned) })
    }

    /// The page out of items in key order; only the items of the page are rendered.
    pub fn page<'a, T: 'a>(
        &self,
        call: &Call,
        items: impl Iterator<Item = &'a T>,
        key: impl Fn(&T) -> String,
        render: impl Fn(&T) -> Value,
    ) -> Value {
        let mut rest = items.skip_while(|item| self.after.as_ref().is_some_and(|after| model::natural_cmp(&key(item), after).is_le()));
        let mut value = Vec::new();
        let mut last = None;
        for item in rest.by_ref().take(self.top) {
            last = Some(key(item));
            value.push(render(item));
        }
        let mut body = json!({ "value": value });
        if let (Some(last), Some(_)) = (last, rest.next()) {
            body["nextLink"] = json!(self.next_link(call, &last));
        }
        body
    }

    fn next_link(&self, call: &Call, last: &str) -> String {
        let version = call.query("api-version").unwrap_or_default();
        let (origin, path) = (call.origin(), &call.path);
        format!("{origin}{path}?api-version={}&$top={}&$skipToken={}", encode(version), self.top, encode(last))
    }
}
