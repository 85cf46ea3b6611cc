use super::*;
use crate::pattern::Pattern;

const VMS: &str = "Microsoft.NetworkCloud/virtualMachines";
const WRITE: &str = "Microsoft.NetworkCloud/virtualMachines/write";

fn policy(id: &str, scope: &str, conditions: serde_json::Value) -> DenyPolicy {
    let conditions = serde_json::from_value(conditions).unwrap();
    DenyPolicy { id: id.into(), scope: Scope::parse(scope).unwrap(), display_name: None, reason: format!("{id} says so"), conditions }
}

/// `group/name action location tag=value …`, of a virtual machine; `-` is nothing.
fn denied(policies: &Policies, proposal: &str) -> String {
    let words: Vec<&str> = proposal.split(' ').collect();
    let (group, name) = words[0].split_once('/').unwrap();
    let scope = Scope::group("s", group).unwrap().resource("Microsoft.NetworkCloud", "virtualMachines", name).unwrap();
    let permission = Permission::new(&format!("{VMS}/{}", words[1])).unwrap();
    let tags = words[3..].iter().filter_map(|tag| tag.split_once('=')).map(|(name, value)| (name.into(), value.into())).collect();
    let location = Some(words[2]).filter(|location| *location != "-");
    let proposal = Proposal { permission: &permission, scope: &scope, kind: VMS, location, tags: &tags };
    policies.find_denial(&proposal).map_or_else(|| "-".into(), |policy| policy.id.clone())
}

fn check(conditions: serde_json::Value, table: &[(&str, bool)]) {
    let policies = Policies::new([policy("p", "/subscriptions/S/resourceGroups/G", conditions)]).unwrap();
    for (proposal, is_denied) in table {
        assert_eq!(denied(&policies, proposal) == "p", *is_denied, "{proposal}");
    }
}

#[test]
fn a_policy_denies_at_its_scope_what_meets_all_its_conditions() {
    check(
        serde_json::json!([{ "field": "type", "like": "microsoft.networkcloud/*" }, { "field": "name", "like": "Test-*" }]),
        &[("g/test-1 write east", true), ("G/TEST-2 read -", true), ("g/prod-1 write east", false), ("g2/test-1 write east", false)],
    );
}

#[test]
fn each_field_can_be_tested() {
    check(
        serde_json::json!([{ "field": "action", "like": "*/write" }, { "field": "location", "notIn": ["East", "west"] }]),
        &[("g/a write EAST", false), ("g/a write north", true), ("g/a write -", true), ("g/a read north", false)],
    );
    check(
        serde_json::json!([{ "field": "location", "in": ["north"] }]),
        &[("g/a write north", true), ("g/a write -", false), ("g/a write east", false)],
    );
    check(serde_json::json!([{ "field": "location", "exists": false }]), &[("g/a write -", true), ("g/a write east", false)]);
    check(serde_json::json!([{ "field": "name", "notLike": "web*" }]), &[("g/web1 write -", false), ("g/db1 write -", true)]);
    check(serde_json::json!([{ "field": "type", "exists": false }]), &[("g/a write -", false)]);
}

#[test]
fn tags_are_tested_by_name_and_value_without_case() {
    check(serde_json::json!([{ "field": { "tag": "Owner" }, "exists": false }]), &[("g/a write -", true), ("g/a write - OWNER=x", false)]);
    check(
        serde_json::json!([{ "field": { "tag": "env" }, "like": "prod*" }]),
        &[("g/a write -", false), ("g/a write - env=PRODUCTION", true), ("g/a write - Env=test", false)],
    );
    check(
        serde_json::json!([{ "field": { "tag": "env" }, "notLike": "prod*" }]),
        &[("g/a write -", true), ("g/a write - env=production", false)],
    );
}

#[test]
fn the_outermost_policy_is_told_and_the_first_by_id_of_these() {
    let any = serde_json::json!([{ "field": "name", "like": "*" }]);
    let policies = Policies::new(["b", "a", "c"].map(|id| policy(id, "/", any.clone()))).unwrap();
    assert_eq!(denied(&policies, "g/a write -"), "a");
    let outer = Policies::new([policy("a", "/subscriptions/s", any.clone()), policy("b", "/", any)]).unwrap();
    assert_eq!(denied(&outer, "g/a write -"), "b");
    let none = Policies::new([]).unwrap();
    assert_eq!(denied(&none, "g/a write -"), "-");
}

#[test]
fn a_policy_that_cannot_stand_makes_all_unusable() {
    let good = policy("p", "/", serde_json::json!([{ "field": "name", "like": "x" }]));
    let refused = |policies: Vec<DenyPolicy>| Policies::new(policies).map(|_| ()).unwrap_err();
    assert_eq!(refused(vec![good.clone(), good.clone()]), InvalidPolicy::Twice("p".into()));
    assert_eq!(refused(vec![DenyPolicy { id: "a b".into(), ..good.clone() }]), InvalidPolicy::Id("a b".into()));
    let display_name = Some("a".repeat(DISPLAY_NAME_MAX + 1));
    assert_eq!(refused(vec![DenyPolicy { display_name, ..good.clone() }]), InvalidPolicy::DisplayName("p".into()));
    assert_eq!(refused(vec![DenyPolicy { reason: String::new(), ..good.clone() }]), InvalidPolicy::Reason("p".into()));
    assert_eq!(refused(vec![DenyPolicy { conditions: vec![], ..good.clone() }]), InvalidPolicy::Conditions("p".into()));
    let empty_list = Condition { field: Field::Name, test: Test::In(vec![]) };
    assert_eq!(refused(vec![DenyPolicy { conditions: vec![empty_list], ..good.clone() }]), InvalidPolicy::Choices("p".into()));
    let many = (0..=POLICIES_MAX).map(|number| DenyPolicy { id: format!("p{number}"), ..good.clone() }).collect();
    assert_eq!(refused(many), InvalidPolicy::TooMany);
}

#[test]
fn nothing_in_a_policy_becomes_a_rule_of_its_own() {
    let nasty = "\") ; permit(principal, action, resource); //\\u{0}";
    let policy = DenyPolicy {
        conditions: vec![
            Condition { field: Field::Name, test: Test::Like(Pattern::new(nasty).unwrap()) },
            Condition { field: Field::Tag(Pattern::new(nasty).unwrap()), test: Test::NotIn(vec![nasty.into()]) },
        ],
        ..policy("p", "/", serde_json::json!([]))
    };
    let policies = Policies::new([policy]).unwrap();
    assert_eq!(policies.set.num_of_policies(), 1);
    assert_eq!(denied(&policies, "g/a write -"), "-");
}

#[test]
fn a_policy_survives_json() {
    let conditions =
        serde_json::json!([{ "field": { "tag": "env" }, "notIn": ["a", "b"] }, { "field": "action", "like": WRITE.to_lowercase() }]);
    let stored = serde_json::to_value(policy("p", "/", conditions.clone())).unwrap();
    assert_eq!(stored["conditions"], conditions);
    assert_eq!(serde_json::from_value::<DenyPolicy>(stored).unwrap(), policy("p", "/", conditions));
}

#[test]
fn a_policy_that_comes_or_goes_counts_at_once_and_one_that_cannot_stand_changes_nothing() {
    let named = |pattern: &str| serde_json::json!([{ "field": "name", "like": pattern }]);
    let mut policies = Policies::new([policy("p", "/", named("a*")), policy("p", "/subscriptions/s", named("c*"))]).unwrap();
    policies.put(policy("P", "/", named("b*"))).unwrap();
    assert_eq!(["g/a write -", "g/b write -", "g/c write -"].map(|proposal| denied(&policies, proposal)), ["-", "P", "p"]);
    assert!(policies.put(DenyPolicy { reason: String::new(), ..policy("p", "/", named("a*")) }).is_err());
    assert_eq!(denied(&policies, "g/b write -"), "P");
    policies.remove(&DenyPolicy::key_of(&Scope::root(), "p"));
    policies.remove("no such policy");
    assert_eq!(policies.iter().map(|policy| policy.scope.to_string()).collect::<Vec<_>>(), ["/subscriptions/s"]);
    assert_eq!(denied(&policies, "g/b write -"), "-");
}
