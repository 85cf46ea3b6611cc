//! Versions, conflicts and forgetting.

use super::*;

static WIDGETS: Resource = Resource {
    group: "example.com",
    version: "v1",
    kind: "Widget",
    plural: "widgets",
    singular: "widget",
    short_names: &[],
    categories: &[],
    scope: Scope::Namespaced,
    status_part: StatusPart::Separate,
    generation: Generation::Counted,
    offer: Offer::Full,
    selectable: &[],
};

fn table_with_one() -> (ObjectTable, ObjectKey) {
    let mut table = ObjectTable::new(1);
    let widget = json!({"metadata": {"name": "a"}, "spec": {"size": 1}, "status": {"ready": false}});
    table.create(&WIDGETS, "default", widget, Instant(0)).unwrap();
    (table, ObjectKey::namespaced("default", "a"))
}

#[test]
fn a_new_object_gets_its_identity() {
    let (table, key) = table_with_one();
    let widget = table.get(&WIDGETS, &key).unwrap();
    assert_eq!(widget["apiVersion"], "example.com/v1");
    assert_eq!(widget["metadata"]["resourceVersion"], "1");
    assert_eq!(widget["metadata"]["creationTimestamp"], "1970-01-01T00:00:00Z");
    assert_eq!(widget["metadata"]["generation"], 1);
    assert_eq!(widget["metadata"]["uid"].as_str().unwrap().len(), 36);
}

#[test]
fn a_second_object_of_the_same_name_is_refused() {
    let (mut table, _) = table_with_one();
    let again = table.create(&WIDGETS, "default", json!({"metadata": {"name": "a"}}), Instant(0));
    assert_eq!(again, Err(ObjectError::AlreadyExists));
    assert!(table.create(&WIDGETS, "other", json!({"metadata": {"name": "a"}}), Instant(0)).is_ok());
}

#[test]
fn a_write_with_an_old_version_conflicts_and_without_one_wins() {
    let (mut table, key) = table_with_one();
    let mut bigger = Value::clone(table.get(&WIDGETS, &key).unwrap());
    bigger["spec"]["size"] = json!(2);
    table.update(&WIDGETS, &key, Part::Main, bigger.clone()).unwrap();
    assert_eq!(table.update(&WIDGETS, &key, Part::Main, bigger.clone()), Err(ObjectError::Conflict));
    bigger["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    bigger["spec"]["size"] = json!(3);
    assert_eq!(table.update(&WIDGETS, &key, Part::Main, bigger).unwrap()["metadata"]["resourceVersion"], "3");
}

#[test]
fn a_write_that_changes_nothing_gets_no_version() {
    let (mut table, key) = table_with_one();
    let same = Value::clone(table.get(&WIDGETS, &key).unwrap());
    table.update(&WIDGETS, &key, Part::Main, same).unwrap();
    assert_eq!(table.version(), 1);
}

#[test]
fn main_and_status_are_written_apart_and_only_the_spec_is_counted() {
    let (mut table, key) = table_with_one();
    let both = json!({"metadata": {}, "spec": {"size": 2}, "status": {"ready": true}});
    let after_main = table.update(&WIDGETS, &key, Part::Main, both).unwrap();
    assert_eq!((&after_main["spec"]["size"], &after_main["status"]["ready"]), (&json!(2), &json!(false)));
    assert_eq!(after_main["metadata"]["generation"], 2);
    let after_status = table.update(&WIDGETS, &key, Part::Status, json!({"metadata": {}, "status": {"ready": true}})).unwrap();
    assert_eq!((&after_status["spec"]["size"], &after_status["status"]["ready"]), (&json!(2), &json!(true)));
    assert_eq!(after_status["metadata"]["generation"], 2);
}

#[test]
fn a_deletion_can_insist_on_the_object_it_means() {
    let (mut table, key) = table_with_one();
    let found = table.get(&WIDGETS, &key).unwrap()["metadata"]["uid"].as_str().unwrap().to_owned();
    let another = Preconditions { uid: Some("another".to_owned()), resource_version: None };
    assert_eq!(table.delete(&WIDGETS, &key, &another), Err(ObjectError::UidMismatch { asked: "another".to_owned(), found }));
    let older = Preconditions { uid: None, resource_version: Some("0".to_owned()) };
    assert_eq!(table.delete(&WIDGETS, &key, &older), Err(ObjectError::Conflict));
    assert_eq!(table.delete(&WIDGETS, &key, &Preconditions::default()).unwrap()["metadata"]["resourceVersion"], "2");
    assert_eq!(table.delete(&WIDGETS, &key, &Preconditions::default()), Err(ObjectError::NotFound));
}

#[test]
fn watchers_see_changes_of_their_kind_in_order_and_with_what_was_before() {
    let (mut table, key) = table_with_one();
    table.create(&NODES, "", json!({"metadata": {"name": "n"}}), Instant(0)).unwrap();
    table.update(&WIDGETS, &key, Part::Main, json!({"metadata": {}, "spec": {"size": 2}})).unwrap();
    table.delete(&WIDGETS, &key, &Preconditions::default()).unwrap();
    let seen: Vec<_> =
        table.changes_after(&WIDGETS, 1).unwrap().map(|change| (change.version, change.kind, change.previous.is_some())).collect();
    assert_eq!(seen, [(3, ChangeKind::Modified, true), (4, ChangeKind::Deleted, true)]);
}

#[test]
fn a_watcher_from_before_the_memory_must_list_again() {
    let (table, key) = table_with_one();
    let mut table = table.with_history(2);
    for size in 2..6 {
        table.update(&WIDGETS, &key, Part::Main, json!({"metadata": {}, "spec": {"size": size}})).unwrap();
    }
    assert_eq!(table.changes_after(&WIDGETS, 2).err(), Some(Expired { asked: 2, oldest: 3 }));
    assert_eq!(table.changes_after(&WIDGETS, 3).unwrap().count(), 2);
}

#[test]
fn busy_kinds_do_not_push_quiet_ones_out_of_memory() {
    let mut table = ObjectTable::new(1).with_history(2);
    table.create(&NODES, "", json!({"metadata": {"name": "n"}}), Instant(0)).unwrap();
    for name in ["a", "b", "c", "d"] {
        table.create(&WIDGETS, "default", json!({"metadata": {"name": name}}), Instant(0)).unwrap();
    }
    assert_eq!(table.changes_after(&NODES, 0).unwrap().count(), 1);
}

#[test]
fn a_name_can_be_left_to_the_server() {
    let mut table = ObjectTable::new(1);
    let made = table.create(&WIDGETS, "default", json!({"metadata": {"generateName": "w-"}}), Instant(0)).unwrap();
    assert_eq!(made["metadata"]["name"].as_str().unwrap().len(), 7);
    let nameless = table.create(&WIDGETS, "default", json!({"metadata": {}}), Instant(0));
    assert!(matches!(nameless, Err(ObjectError::Invalid(_))));
}

#[test]
fn a_name_that_could_lead_elsewhere_is_refused() {
    let mut table = ObjectTable::new(1);
    for name in ["a/b", "../a", "A", "a ", "-a", "a.", &"a".repeat(254)] {
        let refused = table.create(&WIDGETS, "default", json!({"metadata": {"name": name}}), Instant(0));
        assert!(matches!(refused, Err(ObjectError::Invalid(_))), "{name}");
    }
    assert!(table.create(&WIDGETS, "default", json!({"metadata": {"name": "a.b-c1"}}), Instant(0)).is_ok());
}

#[test]
fn a_client_cannot_say_when_an_object_is_deleted() {
    let (mut table, key) = table_with_one();
    let hurry = json!({"metadata": {"deletionTimestamp": "1970-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}});
    assert_eq!(table.update(&WIDGETS, &key, Part::Main, hurry).unwrap()["metadata"]["deletionTimestamp"], Value::Null);
    let marked = table.mark_deletion(&WIDGETS, &key, &Deletion { at: Instant(30_000), grace_seconds: 30 }).unwrap();
    assert_eq!(marked["metadata"]["deletionTimestamp"], "1970-01-01T00:00:30Z");
    let kept = table.update(&WIDGETS, &key, Part::Main, json!({"metadata": {"labels": {"a": "b"}}})).unwrap();
    assert_eq!(kept["metadata"]["deletionTimestamp"], "1970-01-01T00:00:30Z");
}
