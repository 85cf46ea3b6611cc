//! The OpenAPI document of the API, made from the descriptions in `paths` and the tables of `schema`.
//!
//! Every row of the route table has a description, and every description a row: a test sees to it.

mod administration;
mod described;
mod identity;
mod key_sets;
mod machines;
mod paths;
mod runtimes;
mod schemas;
mod workloads;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::entry::is_open;
use crate::route::Route;
use crate::schema::ERROR;
use described::{Body, Content, Described, Place, Query};
use schemas::Schemas;

/// How callers say who they are, as the document calls it.
const TOKEN: &str = "token";

/// The whole document.
pub(crate) fn document() -> Value {
    let mut schemas = Schemas::default();
    let mut paths: Map<String, Value> = Map::new();
    let described = paths::all();
    let errors = errors(&described, &mut schemas);
    for described in &described {
        let rendered = operation(described, &mut schemas);
        let path = paths.entry(described.path.clone()).or_insert_with(|| json!({}));
        path[described.method.as_str().to_ascii_lowercase()] = rendered;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Rackwright",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Bare-metal sites in the Azure Resource Manager dialect of Microsoft.NetworkCloud.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "https://127.0.0.1:7225" }],
        "security": [{ TOKEN: [] }],
        "paths": paths,
        "components": {
            "responses": errors,
            "schemas": schemas.into_components(),
            "securitySchemes": {
                TOKEN: {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "What `/adfs/oauth2/token` grants, or `rackwright token` prints.",
                },
            },
        },
    })
}

/// Errors look the same everywhere, and so they are described once.
fn errors(described: &[Described], schemas: &mut Schemas) -> Map<String, Value> {
    let statuses: BTreeSet<u16> = described.iter().flat_map(|one| one.refusals.iter().copied()).collect();
    let named = statuses.into_iter().map(|status| (status.to_string(), paths::meaning_of(status)));
    let all = named.chain([("default".to_owned(), "Any other error.")]);
    all.map(|(status, about)| (status, response(about, Content::One(&ERROR), schemas))).collect()
}

fn operation(described: &Described, schemas: &mut Schemas) -> Value {
    let mut parameters: Vec<Value> = path_parameters(&described.path).map(path_parameter).collect();
    if needs_api_version(described) {
        parameters.push(parameter(&paths::API_VERSION));
    }
    parameters.extend(described.queries.iter().map(parameter));
    let mut responses: Map<String, Value> = Map::new();
    for answer in &described.answers {
        responses.insert(answer.status.to_string(), response(answer.about, answer.content, schemas));
    }
    for status in &described.refusals {
        responses.insert(status.to_string(), json!({ "$ref": format!("#/components/responses/{status}") }));
    }
    responses.insert("default".to_owned(), json!({ "$ref": "#/components/responses/default" }));
    let mut rendered = json!({
        "operationId": described.id,
        "summary": described.summary,
        "tags": [described.group],
        "parameters": parameters,
        "responses": responses,
    });
    if Route::find(&described.method, &described.path).is_ok_and(|route| is_open(&route)) {
        rendered["security"] = json!([]);
    }
    if let Some(body) = &described.body {
        let (required, schema) = match *body {
            Body::Whole { model, required } => (required, schemas.reference(model)),
            Body::Change(model) => (false, schemas.change(model)),
        };
        rendered["requestBody"] = json!({ "required": required, "content": { "application/json": { "schema": schema } } });
    }
    rendered
}

fn needs_api_version(described: &Described) -> bool {
    Route::find(&described.method, &described.path).is_ok_and(|route| route.needs_api_version())
}

fn path_parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn path_parameter(name: &str) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
}

fn parameter(query: &Query) -> Value {
    let place = match query.place {
        Place::Query => "query",
        Place::Header => "header",
    };
    let mut schema = json!({ "type": query.kind });
    if query.required && query.kind == "string" {
        // Nothing at all is as good as left out.
        schema["minLength"] = json!(1);
    }
    json!({
        "name": query.name,
        "in": place,
        "required": query.required,
        "description": query.about,
        "schema": schema,
    })
}

fn response(about: &str, content: Content, schemas: &mut Schemas) -> Value {
    let (media_type, schema) = match content {
        Content::Nothing => return json!({ "description": about }),
        Content::One(model) => ("application/json", schemas.reference(model)),
        Content::Page(model) => ("application/json", schemas.page(model)),
        Content::Document => ("application/json", json!({ "type": "object" })),
        Content::Bytes(media_type) => (media_type, json!({ "type": "string" })),
    };
    json!({ "description": about, "content": { media_type: { "schema": schema } } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route;

    #[test]
    fn every_row_of_the_route_table_is_described_and_every_description_is_of_a_row() {
        let described = paths::all();
        for (method, pattern) in route::rows() {
            let has = |one: &&Described| one.method == *method && route::fits(&pattern, &one.path);
            assert!(described.iter().any(|one| has(&one)), "{method} {pattern} has no description in openapi/paths.rs");
        }
        for one in &described {
            assert!(Route::find(&one.method, &one.path).is_ok(), "{} {} is described, but leads nowhere", one.method, one.path);
        }
    }

    #[test]
    fn no_operation_and_no_id_is_described_twice() {
        let described = paths::all();
        let ids: BTreeSet<&str> = described.iter().map(|one| one.id.as_str()).collect();
        let places: BTreeSet<(&str, String)> = described.iter().map(|one| (one.method.as_str(), one.path.to_lowercase())).collect();
        assert_eq!((ids.len(), places.len()), (described.len(), described.len()));
    }
}
