//! Structures on the command line, as `az` takes them: JSON, or its shorthand `[{hint-type:Affinity,scope:Rack}]`.

use serde_json::{Map, Value};

/// Lists within objects within lists, and so on: deeper than any that the API knows.
const DEPTH_MAX: usize = 8;

/// Reads JSON, or else shorthand. Names may be written with hyphens, as `az` teaches them: `hint-type` is `hintType`.
pub fn parse(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let mut reader = Reader { rest: text.trim() };
    let value = reader.value(DEPTH_MAX)?;
    match reader.rest {
        "" => Ok(value),
        rest => Err(format!("there is more than one value: `{}`", begin_of(rest))),
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth == 0 {
            return Err("it is nested too deeply".to_owned());
        }
        match self.rest.chars().next() {
            Some('[') => self.list(depth),
            Some('{') => self.object(depth),
            Some('\'') => self.quoted().map(Value::from),
            _ => Ok(scalar(self.word(&[',', ']', '}']))),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        self.expect('[')?;
        let mut items = Vec::new();
        while !self.takes(']') {
            items.push(self.value(depth - 1)?);
            if !self.takes(',') {
                self.expect(']')?;
                break;
            }
        }
        Ok(Value::from(items))
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.expect('{')?;
        let mut fields = Map::new();
        while !self.takes('}') {
            let name = if self.rest.starts_with('\'') { self.quoted()? } else { self.word(&[':', '=', ',', '}']) };
            if name.is_empty() || !(self.takes(':') || self.takes('=')) {
                return Err(format!("`{}` should be NAME:VALUE", begin_of(&name)));
            }
            let value = self.value(depth - 1)?;
            if fields.insert(camel_case(&name), value).is_some() {
                return Err(format!("`{}` is there twice", begin_of(&name)));
            }
            if !self.takes(',') {
                self.expect('}')?;
                break;
            }
        }
        Ok(Value::Object(fields))
    }

    /// A text in single quotes; two of them within it are one.
    fn quoted(&mut self) -> Result<String, String> {
        self.expect('\'')?;
        let mut text = String::new();
        loop {
            let Some(end) = self.rest.find('\'') else { return Err("a quote is not closed".to_owned()) };
            text.push_str(&self.rest[..end]);
            self.rest = &self.rest[end + 1..];
            if !self.rest.starts_with('\'') {
                return Ok(text);
            }
            text.push('\'');
            self.rest = &self.rest[1..];
        }
    }

    fn word(&mut self, ends: &[char]) -> String {
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.trim().to_owned()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(wanted) {
            Some(after) => {
                self.rest = after.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.takes(wanted) { Ok(()) } else { Err(format!("a `{wanted}` is missing before `{}`", begin_of(self.rest))) }
    }
}

/// Whole numbers are numbers; everything else is a text, as all of the API's words are.
fn scalar(word: String) -> Value {
    word.parse::<u64>().map_or(Value::String(word), Value::from)
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('-');
    let first = parts.next().unwrap_or_default().to_owned();
    let capital = |part: &str| part.chars().take(1).flat_map(char::to_uppercase).chain(part.chars().skip(1)).collect::<String>();
    parts.fold(first, |name, part| name + &capital(part))
}

fn begin_of(text: &str) -> String {
    super::answer::text_of(&text.chars().take(40).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shorthand_and_json_say_the_same() {
        let expected = json!([{ "hintType": "Affinity", "scope": "Rack", "resourceId": "/subscriptions/s/x" }]);
        let texts = [
            "[{hint-type:Affinity,scope:Rack,resource-id:/subscriptions/s/x}]",
            "[ { hintType : Affinity , scope=Rack, 'resource-id':'/subscriptions/s/x' } ]",
            r#"[{"hintType":"Affinity","scope":"Rack","resourceId":"/subscriptions/s/x"}]"#,
        ];
        for text in texts {
            assert_eq!(parse(text).as_ref(), Ok(&expected), "{text}");
        }
        assert_eq!(parse("{a:{b:[1,two,'it''s']},c:''}"), Ok(json!({ "a": { "b": [1, "two", "it's"] }, "c": "" })));
        assert_eq!((parse("[]"), parse("{}")), (Ok(json!([])), Ok(json!({}))));
    }

    #[test]
    fn what_is_neither_is_said_with_what_is_wrong() {
        for (text, problem) in [
            ("[{a}]", "`a` should be NAME:VALUE"),
            ("[a", "a `]` is missing before ``"),
            ("{a:1,a:2}", "`a` is there twice"),
            ("['a", "a quote is not closed"),
            ("[] []", "there is more than one value: `[]`"),
            ("[[[[[[[[[[", "it is nested too deeply"),
        ] {
            assert_eq!(parse(text), Err(problem.to_owned()), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}:,'a-z0-9 =é-]{0,40}") {
            let _ = parse(&text);
        }
    }
}
