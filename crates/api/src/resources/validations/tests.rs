use http::Method;

use super::*;
use crate::fixtures::{Documents, NOW, cluster, machine, of_json, send};
use crate::schema::{self, Model, Shape};

const PATH: &str =
    "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1/hardwareValidation?api-version=1";

fn validation() -> Validation {
    let fields = json!([{ "name": "memory_capacity_GB", "comparison": "Fail", "expected": "512", "fetched": "480" }]);
    let categories: Vec<Value> = model::Category::ALL
        .map(|category| json!({ "category": category.as_str(), "result": "Fail", "fields": fields, "log": ["x"] }))
        .into();
    of_json(json!({ "cluster": "site", "machine": "m1", "by": "8f3c", "at": NOW, "version": "4.9.2", "categories": categories }))
}

#[tokio::test(start_paused = true)]
async fn the_results_stand_under_their_categories_as_in_azures_table() {
    let documents = || Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1"));
    let (status, answer) = send(&documents().serve().await, Method::GET, PATH, "").await;
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::NOT_FOUND, &json!("ResourceNotFound")), "nobody has compared it yet");
    let (status, answer) = send(&documents().validation(&validation()).serve().await, Method::GET, PATH, "").await;
    assert_eq!(status, StatusCode::OK, "{answer:#}");
    let properties = &answer["properties"];
    assert_eq!(
        (&properties["result"], &properties["lastValidationTime"], &properties["runtimeVersion"]),
        (&json!("Fail"), &json!(NOW), &json!("4.9.2"))
    );
    let detail = json!([{ "field_name": "memory_capacity_GB", "comparison_result": "Fail", "expected": "512", "fetched": "480" }]);
    let expected = json!({ "system_info_result": "Fail", "result_detail": detail, "result_log": ["x"] });
    assert_eq!(properties["system_info"], expected);
    assert_eq!(unknown_fields(&schema::VALIDATION, &answer), Vec::<String>::new(), "the OpenAPI document knows them all");
}

/// What the table of fields does not have, and what it has and the answer has not.
fn unknown_fields(model: &Model, value: &Value) -> Vec<String> {
    let Some(fields) = value.as_object() else { return vec![format!("{} is no object", model.name)] };
    let mut wrong: Vec<String> = fields.keys().filter(|name| !model.fields.iter().any(|field| field.name == **name)).cloned().collect();
    for field in model.fields {
        match (field.shape, fields.get(field.name)) {
            (Shape::Object(inner), Some(value)) => wrong.extend(unknown_fields(inner, value)),
            (Shape::List(Shape::Object(inner)), Some(Value::Array(values))) => {
                wrong.extend(values.iter().flat_map(|value| unknown_fields(inner, value)));
            }
            (_, None) if field.always => wrong.push(format!("{} is missing", field.name)),
            _ => {}
        }
    }
    wrong
}

#[tokio::test(start_paused = true)]
async fn a_machine_tells_whether_it_passed_and_what_is_installed_on_it() {
    let mut known = machine("site", "rack1", "m1");
    known.validated = of_json(json!({ "at": NOW, "result": "Fail" }));
    known.installed = of_json(json!({ "version": "4.4.3", "image": "0".repeat(64), "at": NOW }));
    known.unhealthy = of_json(json!({ "since": NOW, "because": "its hardware failed validation" }));
    let api = Documents::default().cluster(&cluster("site")).machine(&known).serve().await;
    let (_, shown) = send(&api, Method::GET, &PATH.replace("/hardwareValidation", ""), "").await;
    let properties = &shown["properties"];
    assert_eq!(properties["hardwareValidationStatus"], json!({ "lastValidationTime": NOW, "result": "Fail" }));
    assert_eq!(properties["machineClusterVersion"], "4.4.3");
    assert_eq!(shown["rackwright"]["unhealthy"]["because"], "its hardware failed validation");
    let message = properties["detailedStatusMessage"].as_str().unwrap();
    assert!(message.contains("Warning: BMM Node is unhealthy and may require hardware replacement"), "{message}");
}
