//! What a workload may ask for.

use serde_json::{Value, json};

use super::Workload;
use crate::objects::ObjectError;
use crate::{label_selector, pod};

/// The most pods that one workload may ask for. A real cluster has no such limit, but ends long before.
const REPLICAS_MAX: i64 = 50_000;

/// Fills in what the API server fills in, and refuses what no controller could keep.
pub(crate) fn prepare_new(workload: Workload, object: &mut Value) -> Result<(), ObjectError> {
    if workload != Workload::DaemonSet && object["spec"]["replicas"].is_null() {
        object["spec"]["replicas"] = json!(1);
    }
    check(workload, object)?;
    object["status"] = json!({});
    Ok(())
}

/// What a changed workload may be: it keeps meaning the same pods.
pub(crate) fn check_change(workload: Workload, old: &Value, new: &Value) -> Result<(), ObjectError> {
    check(workload, new)?;
    if old["spec"]["selector"] != new["spec"]["selector"] {
        return Err(ObjectError::Invalid("spec.selector: Invalid value: field is immutable".to_owned()));
    }
    Ok(())
}

fn check(workload: Workload, object: &Value) -> Result<(), ObjectError> {
    let spec = &object["spec"];
    if workload != Workload::DaemonSet && !spec["replicas"].as_i64().is_some_and(|replicas| (0..=REPLICAS_MAX).contains(&replicas)) {
        let why = format!("must be a whole number from 0 to {REPLICAS_MAX}");
        return Err(ObjectError::Invalid(format!("spec.replicas: Invalid value: {}: {why}", spec["replicas"])));
    }
    if !spec["selector"].is_object() {
        return Err(ObjectError::Invalid("spec.selector: Required value".to_owned()));
    }
    let labels = &spec["template"]["metadata"]["labels"];
    if !label_selector::admits(&spec["selector"], labels) {
        let why = "`selector` does not match template `labels`";
        return Err(ObjectError::Invalid(format!("spec.template.metadata.labels: Invalid value: {labels}: {why}")));
    }
    pod::check_containers(&spec["template"]).map_err(|error| match error {
        ObjectError::Invalid(why) => ObjectError::Invalid(format!("spec.template.{why}")),
        error => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(replicas: &Value) -> Value {
        json!({"spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}},
        }})
    }

    fn refusal(object: &mut Value) -> String {
        prepare_new(Workload::Deployment, object).unwrap_err().to_string()
    }

    #[test]
    fn a_workload_asks_for_one_pod_unless_it_says_and_never_for_too_many() {
        let mut silent = workload(&Value::Null);
        prepare_new(Workload::Deployment, &mut silent).unwrap();
        assert_eq!(silent["spec"]["replicas"], 1);
        assert!(prepare_new(Workload::Deployment, &mut workload(&json!(REPLICAS_MAX))).is_ok());
        for replicas in [json!(-1), json!(REPLICAS_MAX + 1), json!("two")] {
            assert!(refusal(&mut workload(&replicas)).contains("from 0 to 50000"), "{replicas}");
        }
    }

    #[test]
    fn a_workload_means_its_own_pods() {
        let mut stranger = workload(&json!(1));
        stranger["spec"]["template"]["metadata"]["labels"]["app"] = json!("db");
        assert!(refusal(&mut stranger).contains("does not match template"));
        let mut empty = workload(&json!(1));
        empty["spec"]["template"]["spec"]["containers"] = json!([]);
        assert_eq!(refusal(&mut empty), "spec.template.spec.containers: Required value");
        let (old, mut new) = (workload(&json!(1)), workload(&json!(2)));
        assert!(check_change(Workload::Deployment, &old, &new).is_ok());
        new["spec"]["selector"]["matchLabels"] = json!({});
        assert!(check_change(Workload::Deployment, &old, &new).unwrap_err().to_string().contains("immutable"));
    }
}
