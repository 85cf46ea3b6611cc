use super::*;

const MACHINE: &str = "/subscriptions/S1/resourceGroups/Group/providers/Microsoft.NetworkCloud/bareMetalMachines/rack1compute01";

fn scope(text: &str) -> Scope {
    Scope::parse(text).unwrap()
}

fn levels(text: &str) -> Vec<String> {
    scope(text).levels().map(str::to_owned).collect()
}

#[test]
fn a_scope_has_levels() {
    assert_eq!(levels("/"), [""]);
    assert_eq!(levels("/subscriptions/S1"), ["", "/subscriptions/s1"]);
    assert_eq!(levels("/providers/A.B/c/d"), ["", "/providers/a.b/c/d"]);
    assert_eq!(levels("/subscriptions/s/providers/a/b/c"), ["", "/subscriptions/s", "/subscriptions/s/providers/a/b/c"]);
    assert_eq!(
        levels("/subscriptions/s/resourceGroups/g/providers/a/clusters/c/runtimes/4.4.3/providers/M.A/locks/l"),
        [
            "",
            "/subscriptions/s",
            "/subscriptions/s/resourcegroups/g",
            "/subscriptions/s/resourcegroups/g/providers/a/clusters/c",
            "/subscriptions/s/resourcegroups/g/providers/a/clusters/c/runtimes/4.4.3",
            "/subscriptions/s/resourcegroups/g/providers/a/clusters/c/runtimes/4.4.3/providers/m.a/locks/l",
        ]
    );
}

#[test]
fn a_scope_holds_for_what_is_below_it_in_any_case() {
    let machine = scope(MACHINE);
    for outer in ["/", "/SUBSCRIPTIONS/s1", "/subscriptions/s1/resourcegroups/GROUP", &MACHINE.to_uppercase()] {
        assert!(scope(outer).contains(&machine), "{outer}");
    }
    for other in [
        "/subscriptions/s",
        "/subscriptions/s11",
        "/subscriptions/s1/resourceGroups/Grou",
        "/subscriptions/s1/resourceGroups/Group2",
        &format!("{MACHINE}2"),
        &format!("{MACHINE}/a/b"),
    ] {
        assert!(!scope(other).contains(&machine), "{other}");
    }
    assert!(machine.contains(&scope(&format!("{MACHINE}/a/b"))));
}

#[test]
fn what_can_be_read_in_two_ways_is_refused() {
    let table = [
        ("", "it must begin with a slash"),
        ("subscriptions/s", "it must begin with a slash"),
        ("//", "a part of it is empty"),
        ("/subscriptions/", "a part of it is empty"),
        ("/subscriptions/s/", "a part of it is empty"),
        ("/subscriptions//s", "a part of it is empty"),
        ("/subscriptions/..", "a part of it is only points"),
        ("/subscriptions/s/resourceGroups/.", "a part of it is only points"),
        ("/subscriptions", "a name is missing at its end"),
        ("/subscriptions/s/resourceGroups", "a name is missing at its end"),
        ("/subscriptions/s/resourceGroups/g/providers/a/b", "a name is missing at its end"),
        ("/subscriptions/s/resourceGroups/g/providers/a/b/c/d", "a name is missing at its end"),
        ("/resourceGroups/g", "it must go on with a subscription, a resource group or a provider"),
        ("/subscriptions/s/machines/m", "it must go on with a subscription, a resource group or a provider"),
        ("/subscriptions/s/resourceGroups/g/machines/m", "it must go on with a subscription, a resource group or a provider"),
    ];
    for (text, problem) in table {
        assert_eq!(Scope::parse(text).unwrap_err().problem, problem, "{text}");
    }
    for text in [
        "/subscriptions/%2e%2e",
        "/subscriptions/a%2fb",
        "/subscriptions/a b",
        "/subscriptions/a\0",
        "/subscriptions/a\nb",
        "/subscriptions/ä",
        "/subscriptions/a\\b",
        "/subscriptions/a?b",
    ] {
        assert!(Scope::parse(text).unwrap_err().problem.starts_with("only letters"), "{text:?}");
    }
}

#[test]
fn a_scope_has_a_longest_text_and_a_most_levels() {
    assert!(Scope::subscription(&"s".repeat(SCOPE_MAX)).is_err());
    let deep = (0..LEVELS_MAX).fold(scope("/providers/a/b/c"), |outer, _| outer.child("d", "e").unwrap_or(outer));
    assert_eq!(deep.levels().count(), LEVELS_MAX);
    assert_eq!(deep.child("d", "e").unwrap_err().problem, "it has more than 12 levels");
}

#[test]
fn scopes_are_built_from_their_parts() {
    let group = Scope::group("s", "g").unwrap();
    let cluster = group.resource("Microsoft.NetworkCloud", "clusters", "c").unwrap();
    assert_eq!(cluster.to_string(), "/subscriptions/s/resourceGroups/g/providers/Microsoft.NetworkCloud/clusters/c");
    assert_eq!(cluster.child("bmcKeySets", "k").unwrap().parent(), Some(cluster.clone()));
    assert_eq!(cluster.parent(), Some(group.clone()));
    assert_eq!(cluster.name(), Some("c"));
    assert_eq!(Scope::root().resource("a", "b", "c").unwrap().parent(), Some(Scope::root()));
    assert_eq!((Scope::root().parent(), Scope::root().name()), (None, None));
    assert!(group.resource("a", "b", "c/../d").is_err(), "a part cannot bring more parts");
}

#[test]
fn a_scope_survives_json() {
    let json = serde_json::to_string(&scope(MACHINE)).unwrap();
    assert_eq!(json, format!("{MACHINE:?}"));
    assert_eq!(serde_json::from_str::<Scope>(&json).unwrap(), scope(MACHINE));
    assert!(serde_json::from_str::<Scope>("\"/a\"").is_err());
}

proptest::proptest! {
    #[test]
    fn no_text_makes_parsing_panic(text in "(/(subscriptions|resourceGroups|providers|[a-z./%]{0,3})){0,8}") {
        if let Ok(scope) = Scope::parse(&text) {
            proptest::prop_assert_eq!(scope.to_string(), text);
            let parents: Vec<Scope> = std::iter::successors(Some(scope.clone()), Scope::parent).collect();
            proptest::prop_assert_eq!(parents.len(), scope.levels().count());
            for parent in &parents {
                proptest::prop_assert!(parent.contains(&scope));
                proptest::prop_assert_eq!(&Scope::parse(parent.as_str()).unwrap(), parent);
                proptest::prop_assert_eq!(scope.contains(parent), &scope == parent);
            }
        }
    }
}

#[test]
fn a_scope_tells_the_subscription_that_it_is_in() {
    let table = [
        ("/", None),
        ("/subscriptions/S1", Some("S1")),
        ("/Subscriptions/S1/resourceGroups/g", Some("S1")),
        ("/providers/Microsoft.Authorization/locks/l", None),
    ];
    for (scope, expected) in table {
        assert_eq!(Scope::parse(scope).unwrap().subscription_id(), expected, "{scope}");
    }
}
