use super::*;

#[test]
fn paths_match_without_case_and_with_doubled_slashes() {
    let path = "/SUBSCRIPTIONS/s1/resourcegroups//RG1/providers/microsoft.networkCloud/BareMetalMachines/rack1compute01";
    let expected = Route::Show { kind: Kind::Machines, subscription: "s1".into(), group: "RG1".into(), name: "rack1compute01".into() };
    assert_eq!(Route::find(&Method::GET, path).unwrap(), expected);
}

#[test]
fn an_escaped_slash_is_part_of_a_name_and_not_a_path() {
    let machines = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines";
    let name = |path: &str| match Route::find(&Method::GET, path).unwrap() {
        Route::Show { name, .. } => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(name(&format!("{machines}/a%2Fb")), "a/b");
    assert_eq!(name(&format!("{machines}/%2E%2e")), "..");
    assert_eq!(name(&format!("{machines}/a%zz%")), "a%zz%");
    let posted = Route::find(&Method::POST, &format!("{machines}/m1%2Frestart")).unwrap_err();
    assert_eq!(posted.code(), "MethodNotAllowed", "it is one name, not a machine and a verb");
    for path in ["/%00", "/a%0Ab", "/%c3%28", "/%ff", "/%7f"] {
        assert_eq!(Route::find(&Method::GET, path).unwrap_err().code(), "InvalidRequestContent", "{path}");
    }
}

#[test]
fn the_name_of_a_kind_carries_no_value() {
    let route = Route::Operation { id: "8f3c".into() };
    assert_eq!((route.kind_name(), Route::Health.kind_name()), ("Operation", "Health"));
}

#[test]
fn an_unknown_path_and_a_wrong_method_are_told_apart() {
    assert_eq!(Route::find(&Method::GET, "/nowhere").unwrap_err().code(), "InvalidResourceType");
    assert_eq!(Route::find(&Method::PUT, "/subscriptions").unwrap_err().code(), "MethodNotAllowed");
    assert_eq!(
        Route::find(&Method::GET, "/subscriptions/s/providers/Microsoft.NetworkCloud/toasters").unwrap_err().code(),
        "InvalidResourceType"
    );
}
