//! Bodies in Kubernetes' protocol buffers, which newer kubectls write for what `kubectl create` makes from flags.
//!
//! Only requests are read, and only the kinds that such commands send; everything is answered in JSON. What the tables
//! below do not name is skipped, as readers of protocol buffers do.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// What every such body begins with.
const MAGIC: &[u8] = b"k8s\0";

type Fields = &'static [(u64, &'static str, Type)];

#[derive(Clone, Copy)]
enum Type {
    Text,
    Number,
    Flag,
    Message(Fields),
    Texts,
    Messages(Fields),
    TextMap,
    /// Bytes, which JSON writes in base64.
    BytesMap,
    NumberOrText,
}

use Type::{BytesMap, Flag, Message, Messages, Number, NumberOrText, Text, TextMap, Texts};

const METADATA: Fields = &[
    (1, "name", Text),
    (2, "generateName", Text),
    (3, "namespace", Text),
    (5, "uid", Text),
    (6, "resourceVersion", Text),
    (11, "labels", TextMap),
    (12, "annotations", TextMap),
    (14, "finalizers", Texts),
];
const NAMESPACE: Fields = &[(1, "metadata", Message(METADATA))];
const SECRET: Fields =
    &[(1, "metadata", Message(METADATA)), (2, "data", BytesMap), (3, "type", Text), (4, "stringData", TextMap), (5, "immutable", Flag)];
const CONFIG_MAP: Fields = &[(1, "metadata", Message(METADATA)), (2, "data", TextMap), (3, "binaryData", BytesMap), (4, "immutable", Flag)];
const REQUIREMENT: Fields = &[(1, "key", Text), (2, "operator", Text), (3, "values", Texts)];
const SELECTOR: Fields = &[(1, "matchLabels", TextMap), (2, "matchExpressions", Messages(REQUIREMENT))];
const BUDGET_SPEC: Fields = &[
    (1, "minAvailable", NumberOrText),
    (2, "selector", Message(SELECTOR)),
    (3, "maxUnavailable", NumberOrText),
    (4, "unhealthyPodEvictionPolicy", Text),
];
const BUDGET: Fields = &[(1, "metadata", Message(METADATA)), (2, "spec", Message(BUDGET_SPEC))];
const PRECONDITIONS: Fields = &[(1, "uid", Text), (2, "resourceVersion", Text)];
const DELETE_OPTIONS: Fields = &[
    (1, "gracePeriodSeconds", Number),
    (2, "preconditions", Message(PRECONDITIONS)),
    (4, "propagationPolicy", Text),
    (5, "dryRun", Texts),
];
const EVICTION: Fields = &[(1, "metadata", Message(METADATA)), (2, "deleteOptions", Message(DELETE_OPTIONS))];

/// The kinds that are read in this form.
const KINDS: [(&str, Fields); 6] = [
    ("Namespace", NAMESPACE),
    ("Secret", SECRET),
    ("ConfigMap", CONFIG_MAP),
    ("PodDisruptionBudget", BUDGET),
    ("DeleteOptions", DELETE_OPTIONS),
    ("Eviction", EVICTION),
];

/// The object in a body as JSON would have it; nothing if it is damaged or of a kind that is not read in this form.
pub(super) fn read(body: &[u8]) -> Option<Value> {
    const TYPE_META: Fields = &[(1, "apiVersion", Text), (2, "kind", Text)];
    let (mut kind, mut raw) = (Value::Null, &[][..]);
    for field in Reader(body.strip_prefix(MAGIC)?) {
        match field? {
            (1, Wire::Bytes(bytes)) => kind = message(TYPE_META, bytes)?,
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let (_, fields) = KINDS.iter().find(|(name, _)| kind["kind"] == *name)?;
    let mut object = message(fields, raw)?;
    object["apiVersion"] = kind["apiVersion"].clone();
    object["kind"] = kind["kind"].clone();
    Some(object)
}

fn message(fields: Fields, bytes: &[u8]) -> Option<Value> {
    let mut object = Map::new();
    for field in Reader(bytes) {
        let (number, wire) = field?;
        if let Some((_, name, kind)) = fields.iter().find(|(known, ..)| *known == number) {
            put(&mut object, name, *kind, wire)?;
        }
    }
    Some(Value::Object(object))
}

fn put(object: &mut Map<String, Value>, name: &str, kind: Type, wire: Wire<'_>) -> Option<()> {
    let value = match (kind, wire) {
        (Number, Wire::Number(number)) => json!(number.cast_signed()),
        (Flag, Wire::Number(number)) => json!(number != 0),
        (Message(fields), Wire::Bytes(bytes)) => message(fields, bytes)?,
        (NumberOrText, Wire::Bytes(bytes)) => number_or_text(bytes)?,
        // Empty texts are written for fields that are not set.
        (Text, Wire::Bytes([])) => return Some(()),
        (Text, Wire::Bytes(bytes)) => json!(std::str::from_utf8(bytes).ok()?),
        (Texts, Wire::Bytes(bytes)) => return push(object, name, json!(std::str::from_utf8(bytes).ok()?)),
        (Messages(fields), Wire::Bytes(bytes)) => return push(object, name, message(fields, bytes)?),
        (TextMap | BytesMap, Wire::Bytes(bytes)) => {
            let (key, value) = entry(bytes)?;
            let value = match kind {
                BytesMap => json!(STANDARD.encode(value)),
                _ => json!(std::str::from_utf8(value).ok()?),
            };
            object.entry(name).or_insert_with(|| json!({}))[key] = value;
            return Some(());
        }
        _ => return None,
    };
    object.insert(name.to_owned(), value);
    Some(())
}

fn push(object: &mut Map<String, Value>, name: &str, value: Value) -> Option<()> {
    object.entry(name).or_insert_with(|| json!([])).as_array_mut()?.push(value);
    Some(())
}

/// A map's entry: its key is field 1, its value field 2.
fn entry(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (mut key, mut value) = ("", &[][..]);
    for field in Reader(bytes) {
        match field? {
            (1, Wire::Bytes(bytes)) => key = std::str::from_utf8(bytes).ok()?,
            (2, Wire::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    Some((key, value))
}

/// `IntOrString { type = 1 (0 for a number), intVal = 2, strVal = 3 }`.
fn number_or_text(bytes: &[u8]) -> Option<Value> {
    let (mut is_text, mut number, mut text) = (false, 0, "");
    for field in Reader(bytes) {
        match field? {
            (1, Wire::Number(kind)) => is_text = kind != 0,
            (2, Wire::Number(value)) => number = value.cast_signed(),
            (3, Wire::Bytes(bytes)) => text = std::str::from_utf8(bytes).ok()?,
            _ => {}
        }
    }
    Some(if is_text { json!(text) } else { json!(number) })
}

/// A field's value as it stands on the wire.
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// A fixed-width number, which no field read here has.
    Fixed,
}

/// The fields of a message in order; `None` inside when it is damaged, and then nothing more.
struct Reader<'a>(&'a [u8]);

impl<'a> Iterator for Reader<'a> {
    type Item = Option<(u64, Wire<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> Reader<'a> {
    fn field(&mut self) -> Option<(u64, Wire<'a>)> {
        let tag = self.number()?;
        let wire = match tag & 7 {
            0 => Wire::Number(self.number()?),
            1 => self.take(8).map(|_| Wire::Fixed)?,
            2 => {
                let length = usize::try_from(self.number()?).ok()?;
                Wire::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Wire::Fixed)?,
            _ => return None,
        };
        Some((tag >> 3, wire))
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(field: u8, content: &[u8]) -> Vec<u8> {
        [&[field << 3 | 2, u8::try_from(content.len()).unwrap()], content].concat()
    }

    fn wrap(kind: &str, raw: &[u8]) -> Vec<u8> {
        let meta = [bytes(1, b"v1"), bytes(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), bytes(1, &meta), bytes(2, raw)].concat()
    }

    #[test]
    fn a_secret_is_read_as_json_would_have_it() {
        let metadata = [bytes(1, b"s"), bytes(3, b""), bytes(11, &[bytes(1, b"a"), bytes(2, b"b")].concat())].concat();
        let raw = [bytes(1, &metadata), bytes(2, &[bytes(1, b"k"), bytes(2, b"\xff\x00")].concat()), vec![5 << 3, 1]].concat();
        let expected = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "s", "labels": {"a": "b"}},
            "data": {"k": "/wA="},
            "immutable": true,
        });
        assert_eq!(read(&wrap("Secret", &raw)), Some(expected));
    }

    #[test]
    fn a_budget_keeps_numbers_and_percentages_apart() {
        let spec = [bytes(1, &[1 << 3, 1, 2 << 3, 0, 3 << 3 | 2, 3, b'5', b'0', b'%']), bytes(3, &[1 << 3, 0, 2 << 3, 2])].concat();
        let budget = read(&wrap("PodDisruptionBudget", &bytes(2, &spec))).unwrap();
        assert_eq!(budget["spec"], json!({"minAvailable": "50%", "maxUnavailable": 2}));
    }

    #[test]
    fn what_is_damaged_or_unknown_is_not_guessed_at() {
        let whole = wrap("Namespace", &bytes(1, &bytes(1, b"team")));
        assert_eq!(read(&whole).unwrap()["metadata"]["name"], "team");
        for length in 4..whole.len() {
            assert!(read(&whole[..length]).is_none_or(|cut| cut["metadata"]["name"] != "team"), "{length}");
        }
        assert_eq!(read(&wrap("Widget", b"")), None);
        assert_eq!(read(b"{}"), None);
    }
}
