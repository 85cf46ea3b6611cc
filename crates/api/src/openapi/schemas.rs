//! Tables of fields as JSON schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::schema::{Access, Field, Model, Shape};

/// The schemas that something refers to, by name.
#[derive(Default)]
pub(super) struct Schemas(BTreeMap<&'static str, Value>);

impl Schemas {
    /// A reference to a model's schema, which becomes part of the document.
    pub fn reference(&mut self, model: &'static Model) -> Value {
        if !self.0.contains_key(model.name) {
            // In first, so that a model may contain itself.
            self.0.insert(model.name, Value::Null);
            let schema = self.object(model);
            self.0.insert(model.name, schema);
        }
        json!({ "$ref": format!("#/components/schemas/{}", model.name) })
    }

    pub fn page(&mut self, model: &'static Model) -> Value {
        let items = self.reference(model);
        json!({
            "type": "object",
            "required": ["value"],
            "properties": {
                "value": { "type": "array", "items": items },
                "nextLink": { "type": "string", "description": "Where the list goes on. The last page has none." },
            },
        })
    }

    /// What of a model can be written: the fields that are taken when they are sent, each as its table has it.
    pub fn change(&mut self, model: &'static Model) -> Value {
        let mut properties = Map::new();
        for field in model.fields {
            match (field.access, field.shape) {
                (Access::Writable, shape) => {
                    properties.insert(field.name.to_owned(), self.shape(shape));
                }
                (Access::Within, Shape::Object(inner)) if has_writable(inner) => {
                    properties.insert(field.name.to_owned(), self.change(inner));
                }
                _ => {}
            }
        }
        json!({ "type": "object", "properties": properties })
    }

    pub fn into_components(self) -> Value {
        json!(self.0)
    }

    fn object(&mut self, model: &'static Model) -> Value {
        // What is never answered, and refused if it is sent, is nobody's business.
        let shown =
            || model.fields.iter().filter(|field| !matches!(field.access, Access::Unserved | Access::Secret | Access::Elsewhere(_)));
        let properties: Map<String, Value> = shown().map(|field| (field.name.to_owned(), self.field(field))).collect();
        let required: Vec<&str> =
            shown().filter(|field| field.always && !field.made_here && field.access != Access::WriteOnly).map(|field| field.name).collect();
        json!({ "type": "object", "description": model.about, "properties": properties, "required": required })
    }

    fn field(&mut self, field: &Field) -> Value {
        let mut schema = self.shape(field.shape);
        if field.nullable {
            schema = match schema.get("type").and_then(Value::as_str).map(str::to_owned) {
                Some(kind) => {
                    schema["type"] = json!([kind, "null"]);
                    if let Some(choices) = schema.get_mut("enum").and_then(Value::as_array_mut) {
                        choices.push(Value::Null);
                    }
                    schema
                }
                None => json!({ "anyOf": [schema, { "type": "null" }] }),
            };
        }
        if field.access == Access::ReadOnly {
            schema["readOnly"] = json!(true);
        }
        if field.access == Access::WriteOnly {
            schema["writeOnly"] = json!(true);
        }
        schema
    }

    fn shape(&mut self, shape: Shape) -> Value {
        match shape {
            Shape::Text => json!({ "type": "string" }),
            Shape::Instant => json!({ "type": "string", "format": "date-time" }),
            Shape::Whole => json!({ "type": "integer" }),
            Shape::Flag => json!({ "type": "boolean" }),
            Shape::OneOf(choices) => json!({ "type": "string", "enum": choices }),
            Shape::List(items) => json!({ "type": "array", "items": self.shape(*items) }),
            Shape::Texts => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            Shape::Object(model) => self.reference(model),
            Shape::Anything => json!({}),
        }
    }
}

fn has_writable(model: &Model) -> bool {
    model.fields.iter().any(|field| match (field.access, field.shape) {
        (Access::Within, Shape::Object(inner)) => has_writable(inner),
        (access, _) => access == Access::Writable,
    })
}
