use access::roles::{OWNER, find_by_name};
use access::{PrincipalId, Scope};
use gate::OpenHouse;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Api;
use crate::fixtures::{Documents, cluster, keep, machine, send, send_with, vm};

const GROUP: &str = "/subscriptions/s1/resourceGroups/g1";
const MACHINE: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1";
const VM: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/virtualMachines/web1";
const VERSION: &str = "api-version=2016-09-01";

async fn service() -> Api {
    let machine = machine("site", "r1", "m1");
    Documents::default().cluster(&cluster("site")).machine(&machine).vm(&vm("site", "web1", "m1")).serve().await
}

fn at(scope: &str, rest: &str) -> String {
    format!("{scope}/providers/Microsoft.Authorization/{rest}?{VERSION}")
}

async fn put(api: &Api, path: &str, body: &Value) -> (StatusCode, Value) {
    send(api, Method::PUT, path, &body.to_string()).await
}

async fn get(api: &Api, path: &str) -> (StatusCode, Value) {
    send(api, Method::GET, path, "").await
}

/// A DELETE whose answer may have no body.
async fn delete(api: &Api, path: &str) -> StatusCode {
    let token = OpenHouse::around(api.gate.clone()).token("anybody");
    let request = http::Request::builder().method(Method::DELETE).uri(path).header("host", "localhost");
    let request = request.header("authorization", format!("Bearer {token}")).body(axum::body::Body::empty()).unwrap();
    crate::answer(axum::extract::State(api.clone()), request).await.status()
}

fn code(answer: &(StatusCode, Value)) -> (u16, &str) {
    (answer.0.as_u16(), answer.1["error"]["code"].as_str().unwrap_or("-"))
}

fn names(list: &Value) -> Vec<&str> {
    list["value"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

fn lock(level: &str) -> Value {
    json!({ "properties": { "level": level, "notes": "do not touch" } })
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_made_shown_listed_changed_and_removed_as_az_does() {
    let api = service().await;
    let (status, made) = put(&api, &at(MACHINE, "locks/keep"), &lock("CanNotDelete")).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(made["id"], format!("{MACHINE}/providers/Microsoft.Authorization/locks/keep"));
    assert_eq!((&made["type"], &made["properties"]["level"]), (&json!("Microsoft.Authorization/locks"), &json!("CanNotDelete")));
    // `az lock` asks the subscription first, and doubles a slash before the type of a resource.
    let doubled = MACHINE.replace("NetworkCloud/", "NetworkCloud//");
    for scope in ["", "/subscriptions/s1", GROUP, MACHINE, &doubled] {
        assert_eq!(names(&get(&api, &at(scope, "locks")).await.1), ["keep"], "{scope}");
    }
    assert_eq!(names(&get(&api, &at(VM, "locks")).await.1), [""; 0], "it is of another machine");
    let shown = get(&api, &at(&MACHINE.to_uppercase(), "locks/KEEP")).await;
    assert_eq!((shown.0, &shown.1["properties"]["notes"]), (StatusCode::OK, &json!("do not touch")));
    // `az lock update` sends all of it back.
    let mut whole = shown.1;
    whole["properties"]["level"] = json!("ReadOnly");
    let (status, changed) = put(&api, &at(MACHINE, "locks/keep"), &whole).await;
    assert_eq!((status, &changed["properties"]["level"]), (StatusCode::OK, &json!("ReadOnly")));
    assert_eq!(delete(&api, &at(MACHINE, "locks/keep")).await, StatusCode::OK);
    assert_eq!(delete(&api, &at(MACHINE, "locks/keep")).await, StatusCode::NO_CONTENT);
    assert_eq!(code(&get(&api, &at(MACHINE, "locks/keep")).await), (404, "ResourceNotFound"));
}

#[tokio::test(start_paused = true)]
async fn what_can_be_no_lock_is_refused_and_changes_nothing() {
    let api = service().await;
    let good = lock("ReadOnly");
    let long = json!({ "properties": { "level": "ReadOnly", "notes": "x".repeat(access::lock::NOTES_MAX + 1) } });
    let of_lock = format!("{MACHINE}/providers/Microsoft.Authorization/locks/keep");
    let cases = [
        (at(MACHINE, "locks/a%20b"), &good),
        (at(&of_lock, "locks/other"), &good),
        (at("/subscriptions/a%2Fb", "locks/keep"), &good),
        (at("/nowhere", "locks/keep"), &good),
        (at(MACHINE, "locks/keep"), &json!({ "properties": { "level": "Open" } })),
        (at(MACHINE, "locks/keep"), &json!({ "properties": {} })),
        (at(MACHINE, "locks/keep"), &json!({ "properties": { "level": "ReadOnly", "colour": "red" } })),
        (at(MACHINE, "locks/keep"), &long),
    ];
    for (path, body) in cases {
        assert_eq!(code(&put(&api, &path, body).await), (400, "InvalidRequestContent"), "{path} {body}");
    }
    let (_, below) = put(&api, &at(MACHINE, "locks/a%2Fb%2Fc"), &good).await;
    assert_eq!((&below["error"]["code"], &below["error"]["target"]), (&json!("InvalidRequestContent"), &json!("lockName")), "{below}");
    assert_eq!(names(&get(&api, &at("", "locks")).await.1), [""; 0]);
    let (status, unversioned) = send(&api, Method::GET, "/providers/Microsoft.Authorization/locks", "").await;
    assert_eq!(code(&(status, unversioned)), (400, "MissingApiVersionParameter"));
    assert_eq!(code(&get(&api, &format!("{}&$filter=colour%20eq%20'red'", at("", "locks"))).await), (400, "InvalidRequestContent"));
}

#[tokio::test(start_paused = true)]
async fn a_lock_stands_in_the_way_of_everybody_and_says_so_in_the_log() {
    let api = service().await;
    let asked = keep(&api, |_| model::Verdict::Accepted { operation: model::OperationId::new("8f3c1a2b") });
    put(&api, &at(GROUP, "locks/keep"), &lock("ReadOnly")).await;
    let restart = format!("{MACHINE}/restart?{VERSION}");
    let refused = send(&api, Method::POST, &restart, "").await;
    assert_eq!(code(&refused), (409, "ScopeLocked"));
    let message = format!(
        "The scope '{MACHINE}' cannot perform action operation because following scope(s) are locked: '{GROUP}', by the ReadOnly lock `keep`. Please remove the lock and try again."
    );
    assert_eq!((&refused.1["error"]["message"], &refused.1["error"]["target"]), (&json!(message), &json!(GROUP)));
    let patched = send(&api, Method::PATCH, &format!("{VM}?{VERSION}"), r#"{"tags":{}}"#).await;
    assert_eq!(code(&patched), (409, "ScopeLocked"));
    assert_eq!(get(&api, &format!("{MACHINE}?{VERSION}")).await.0, StatusCode::OK, "reading is never hindered");
    let role = json!({ "properties": { "roleDefinitionId": OWNER.id, "principalId": Uuid::from_u128(5) } });
    assert_eq!(code(&put(&api, &at(GROUP, &format!("roleAssignments/{}", Uuid::from_u128(6))), &role).await), (409, "ScopeLocked"));
    // Locks do not hinder locks: this one becomes weaker, and then only deleting is refused.
    assert_eq!(put(&api, &at(GROUP, "locks/keep"), &lock("CanNotDelete")).await.0, StatusCode::OK);
    assert_eq!(send(&api, Method::POST, &restart, "").await.0, StatusCode::ACCEPTED);
    assert_eq!(asked.count(), 1);
    assert_eq!(delete(&api, &format!("{VM}?{VERSION}")).await, StatusCode::CONFLICT);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let log = "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=1";
    let (_, entries) = get(&api, log).await;
    assert!(entries.to_string().contains("ScopeLocked"), "{entries}");
}

fn policy(conditions: &Value) -> Value {
    json!({ "properties": { "displayName": "No tests here", "reason": "tests belong to site2", "conditions": conditions } })
}

#[tokio::test(start_paused = true)]
async fn a_policy_denies_what_meets_its_conditions_and_says_so_in_the_log() {
    let api = service().await;
    let asked = keep(&api, |_| model::Verdict::Done);
    let owner =
        json!([{ "field": "type", "equals": "Microsoft.NetworkCloud/virtualMachines" }, { "field": "tags.Owner", "exists": false }]);
    let (status, made) = put(&api, &at("/subscriptions/s1", "policyAssignments/owner"), &policy(&owner)).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(made["properties"]["conditions"][1], json!({ "field": "tags.owner", "exists": false }));
    let patch = |tags: Value| {
        let api = api.clone();
        async move { send(&api, Method::PATCH, &format!("{VM}?{VERSION}"), &json!({ "tags": tags }).to_string()).await }
    };
    let refused = patch(json!({ "row": "1" })).await;
    assert_eq!(code(&refused), (403, "RequestDisallowedByPolicy"));
    let id = "/subscriptions/s1/providers/Microsoft.Authorization/policyAssignments/owner";
    let message = format!("Resource '{VM}' was disallowed by policy. Policy `No tests here` ({id}): tests belong to site2");
    assert_eq!(refused.1["error"]["message"], message);
    let more = &refused.1["error"]["additionalInfo"][0];
    assert_eq!((&more["type"], &more["info"]["policyAssignmentId"]), (&json!("PolicyViolation"), &json!(id)));
    assert_eq!(asked.count(), 0, "no keeper was asked");
    assert_eq!(patch(json!({ "OWNER": "me" })).await.0, StatusCode::OK);
    // What is not written stays: the virtual machine has no owner yet, since nobody kept what was asked.
    assert_eq!(code(&send(&api, Method::POST, &format!("{VM}/restart?{VERSION}"), "").await), (403, "RequestDisallowedByPolicy"));
    assert_ne!(send(&api, Method::POST, &format!("{VM}/restart?{VERSION}&preview=true"), "").await.0, StatusCode::FORBIDDEN);
    assert_eq!(delete(&api, &at("/subscriptions/S1", "policyAssignments/OWNER")).await, StatusCode::OK);
    assert_eq!(delete(&api, &at("/subscriptions/S1", "policyAssignments/OWNER")).await, StatusCode::NO_CONTENT);
    assert_eq!(patch(json!({})).await.0, StatusCode::OK);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let log = "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=1";
    assert!(get(&api, log).await.1.to_string().contains("RequestDisallowedByPolicy"));
}

#[tokio::test(start_paused = true)]
async fn what_can_be_no_policy_is_refused_and_changes_nothing() {
    let api = service().await;
    let path = at("/subscriptions/s1", "policyAssignments/p");
    let cases = [
        json!([]),
        json!([{ "field": "colour", "like": "red" }]),
        json!([{ "field": "name" }]),
        json!([{ "field": "name", "like": "a", "exists": true }]),
        json!([{ "field": "name", "in": [] }]),
        json!([{ "field": "name", "in": [1] }]),
        json!([{ "field": "name", "like": "" }]),
        json!([{ "field": "tags.", "exists": true }]),
        json!([{ "like": "a" }]),
        json!("all"),
    ];
    for conditions in cases {
        assert_eq!(code(&put(&api, &path, &policy(&conditions)).await), (400, "InvalidRequestContent"), "{conditions}");
    }
    let good = policy(&json!([{ "field": "tags['a.b']", "notLike": "x*" }]));
    assert_eq!(code(&put(&api, &at("/subscriptions/s1", "policyAssignments/a.b"), &good).await), (400, "InvalidRequestContent"));
    assert_eq!(names(&get(&api, &at("", "policyAssignments")).await.1), [""; 0]);
    assert_eq!(put(&api, &path, &good).await.0, StatusCode::CREATED);
    let exact = |scope: &str| format!("{}&$filter=atExactScope()", at(scope, "policyAssignments"));
    assert_eq!(names(&get(&api, &exact("/subscriptions/s1")).await.1), ["p"]);
    assert_eq!(names(&get(&api, &exact(GROUP)).await.1), [""; 0]);
    assert_eq!(names(&get(&api, &at(GROUP, "policyAssignments")).await.1), ["p"], "it holds there");
}

#[tokio::test(start_paused = true)]
async fn roles_are_found_by_name_as_az_asks_for_them() {
    let api = service().await;
    let (status, all) = get(&api, &at("/subscriptions/s1", "roleDefinitions")).await;
    assert_eq!((status, all["value"].as_array().map(Vec::len)), (StatusCode::OK, Some(access::roles::BUILT_IN.len())));
    let filtered = format!("{}&$filter=roleName%20eq%20'reader'", at("/subscriptions/s1", "roleDefinitions"));
    let (_, found) = get(&api, &filtered).await;
    let reader = &found["value"][0];
    assert_eq!((&reader["properties"]["roleName"], &reader["properties"]["type"]), (&json!("Reader"), &json!("BuiltInRole")));
    assert_eq!(reader["properties"]["permissions"][0]["actions"], json!(["*/read"]));
    let id = reader["id"].as_str().unwrap();
    assert_eq!(id, "/subscriptions/s1/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7");
    assert_eq!(get(&api, &format!("{id}?{VERSION}")).await.1["name"], reader["name"]);
    assert_eq!(code(&get(&api, &at("", "roleDefinitions/x")).await), (404, "ResourceNotFound"));
    assert_eq!(code(&put(&api, &at("", "roleDefinitions/x"), &json!({})).await), (405, "MethodNotAllowed"));
}

fn assignment(role: &str, principal: u128) -> Value {
    let role = find_by_name(role).unwrap().id;
    let id = format!("/subscriptions/s1/providers/Microsoft.Authorization/roleDefinitions/{role}");
    json!({ "properties": { "roleDefinitionId": id, "principalId": Uuid::from_u128(principal) } })
}

fn named(number: u128) -> String {
    format!("roleAssignments/{}", Uuid::from_u128(number))
}

#[tokio::test(start_paused = true)]
async fn a_role_is_given_listed_and_taken_away() {
    let api = service().await;
    let (status, made) = put(&api, &at(GROUP, &named(100)), &assignment("Reader", 7)).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!((&made["properties"]["scope"], &made["properties"]["principalType"]), (&json!(GROUP), &json!("User")));
    assert_eq!(put(&api, &at(GROUP, &named(100)), &assignment("Reader", 7)).await.0, StatusCode::OK, "given twice is given once");
    let token = OpenHouse::around(api.gate.clone()).token_of(PrincipalId::new(Uuid::from_u128(7)), "bob");
    let bob = format!("Bearer {token}");
    let read = send_with(&api, Method::GET, &format!("{MACHINE}?{VERSION}"), "", &[("authorization", &bob)]).await;
    assert_eq!(read.0, StatusCode::OK, "it counts at once");
    let at_group = names(&get(&api, &at(GROUP, "roleAssignments")).await.1).len();
    assert_eq!(at_group, 2, "those around a scope hold there as well");
    assert_eq!(names(&get(&api, &at("/subscriptions/s1", "roleAssignments")).await.1).len(), 2);
    let filtered = |scope: &str, filter: &str| format!("{}&$filter={filter}", at(scope, "roleAssignments"));
    let (_, outward) = get(&api, &filtered("/subscriptions/s1", "atScope()")).await;
    assert_eq!(names(&outward).len(), 1, "what is below does not hold for all of it: {outward}");
    let mine = format!("principalId%20eq%20'{}'", Uuid::from_u128(7));
    assert_eq!(names(&get(&api, &filtered("/subscriptions/s1", &mine)).await.1), [Uuid::from_u128(100).to_string()]);
    assert_eq!(delete(&api, &at("/subscriptions/s1", &named(100))).await, StatusCode::NO_CONTENT, "it was made at the group");
    assert_eq!(delete(&api, &at(GROUP, &named(100))).await, StatusCode::OK);
    let read = send_with(&api, Method::GET, &format!("{MACHINE}?{VERSION}"), "", &[("authorization", &bob)]).await;
    assert_eq!(code(&read), (403, "AuthorizationFailed"));
}

#[tokio::test(start_paused = true)]
async fn what_can_be_no_assignment_is_told_in_azures_codes() {
    let api = service().await;
    put(&api, &at(GROUP, &named(100)), &assignment("Reader", 7)).await;
    let mut unknown_role = assignment("Reader", 8);
    unknown_role["properties"]["roleDefinitionId"] = json!(Uuid::nil());
    let mut service = assignment("Reader", 8);
    service["properties"]["principalType"] = json!("ServicePrincipal");
    let mut narrow = assignment("Reader", 8);
    narrow["properties"]["condition"] = json!("@Resource[name] StringEquals 'a'");
    let cases = [
        (101, assignment("Reader", 7), (409, "RoleAssignmentExists")),
        (100, assignment("Owner", 7), (400, "RoleAssignmentUpdateNotPermitted")),
        (102, unknown_role, (404, "RoleDefinitionDoesNotExist")),
        (102, service, (400, "PrincipalNotFound")),
        (102, narrow, (400, "InvalidRequestContent")),
        (102, json!({ "properties": { "roleDefinitionId": OWNER.id, "principalId": "bob" } }), (400, "InvalidRequestContent")),
        (102, json!({ "properties": { "roleDefinitionId": "x/y", "principalId": Uuid::nil() } }), (400, "InvalidRequestContent")),
        (102, json!({}), (400, "InvalidRequestContent")),
    ];
    for (number, body, expected) in cases {
        assert_eq!(code(&put(&api, &at(GROUP, &named(number)), &body).await), expected, "{body}");
    }
    assert_eq!(code(&put(&api, &at(GROUP, "roleAssignments/bob"), &assignment("Reader", 8)).await), (400, "InvalidRequestContent"));
    let all = get(&api, &at("", "roleAssignments")).await.1;
    let guest = all["value"].as_array().unwrap().iter().find(|one| one["properties"]["scope"] == "/").unwrap()["name"].clone();
    assert_eq!(
        delete(&api, &at("", &format!("roleAssignments/{}", guest.as_str().unwrap()))).await,
        StatusCode::CONFLICT,
        "the last owner"
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_has_a_group_sees_what_is_administered_there_and_nothing_of_another() {
    let api = service().await;
    let house = OpenHouse::around(api.gate.clone());
    let principal = PrincipalId::new(Uuid::from_u128(7));
    house.assign(principal, OWNER.id, Scope::parse("/subscriptions/s1/resourceGroups/other").unwrap()).await;
    let token = format!("Bearer {}", house.token_of(principal, "bob"));
    put(&api, &at(GROUP, "locks/keep"), &lock("ReadOnly")).await;
    put(&api, &at("/subscriptions/s1", "locks/all"), &lock("CanNotDelete")).await;
    let as_bob = |method: Method, path: String, body: String| {
        let (api, token) = (api.clone(), token.clone());
        async move { send_with(&api, method, &path, &body, &[("authorization", &token)]).await }
    };
    let other = at("/subscriptions/s1/resourceGroups/other", "locks/mine");
    assert_eq!(as_bob(Method::PUT, other, lock("CanNotDelete").to_string()).await.0, StatusCode::CREATED);
    let (_, seen) = as_bob(Method::GET, at("/subscriptions/s1", "locks"), String::new()).await;
    assert_eq!(names(&seen), ["mine"]);
    for (method, path) in [(Method::GET, at(GROUP, "locks")), (Method::PUT, at(GROUP, "locks/keep")), (Method::PUT, at("", "locks/x"))] {
        assert_eq!(code(&as_bob(method, path.clone(), lock("ReadOnly").to_string()).await), (403, "AuthorizationFailed"), "{path}");
    }
}
