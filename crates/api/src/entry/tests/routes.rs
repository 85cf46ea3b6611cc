//! Every route and every role: who is let in. The table beside this file is what was accepted.

use access::Scope;
use access::roles::BUILT_IN;
use expect_test::expect_file;
use gate::OpenHouse;
use http::{Method, StatusCode};
use model::Timestamp;
use serde_json::json;

use super::{ask, somebody};
use crate::Api;
use crate::fixtures::{Documents, NOW, cluster, machine, operation, rack, send, tenant_cluster, vm};
use crate::resources::actions::{VERBS, Verb};
use crate::resources::cluster_actions::CLUSTER_VERBS;
use crate::resources::tenant_write::TENANT_VERBS;
use crate::resources::vm_write::VM_VERBS;
use crate::route::{self, Kind};

/// Where each role is given to somebody of their own.
const SCOPES: [&str; 5] = [
    "/",
    "/subscriptions/s1",
    "/subscriptions/s1/resourceGroups/g1",
    MACHINE,
    "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/virtualMachines/web1",
];

const MACHINE: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1";

/// Somebody without any role.
const STRANGER: u128 = 10;

/// Nobody's permission is asked for these: what one needs before one has a token, and what probes ask.
const PUBLIC: [&str; 7] = [
    "healthz",
    "readyz",
    "metadata/endpoints",
    "adfs/.well-known/openid-configuration",
    "adfs/{}/.well-known/openid-configuration",
    "adfs/{}/v2.0/.well-known/openid-configuration",
    "adfs/discovery/keys",
];

/// The ways to a token, where whoever comes shows a secret.
const LOGINS: [&str; 4] = ["adfs/oauth2/token", "adfs/oauth2/v2.0/token", "adfs/oauth2/devicecode", "adfs/oauth2/v2.0/devicecode"];

/// Anybody with a name gets an answer, which tells only what they may see.
const FILTERED: [&str; 7] = [
    "subscriptions",
    "tenants",
    "providers/microsoft.networkcloud/operations",
    "rackwright/v1/openapi.json",
    "rackwright/v1/status",
    "rackwright/v1/operations",
    "rackwright/v1/events",
];

/// Whoever approves a device gives it what is theirs, and sees nothing by it.
const OWN: [&str; 1] = ["rackwright/v1/deviceLogins/{}/approve"];

/// A site with something of each kind in it, and an entry in its log.
struct Site {
    api: Api,
    entry: String,
}

async fn site() -> Site {
    let begun = operation("8f3c1a2b", "site", "m1", Timestamp::parse(NOW).unwrap());
    let documents = Documents::default().cluster(&cluster("site")).rack(&rack("site", "r1")).machine(&machine("site", "r1", "m1"));
    let documents = documents.vm(&vm("site", "web1", "m1")).tenant_cluster(&tenant_cluster("site", "k1", &["m1"]));
    let api = documents.operation(&begun).serve().await;
    send(&api, Method::POST, &format!("{MACHINE}/explode?api-version=1"), "").await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let log = "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=1";
    let (_, entries) = send(&api, Method::GET, log, "").await;
    let entry = entries["value"][0]["eventDataId"].as_str().expect("what was refused is in the log").to_owned();
    Site { api, entry }
}

/// A row for each kind, set of keys or verb that the last values of a pattern can be: their rules may differ.
fn rows_like(method: &Method, pattern: &str) -> Vec<String> {
    const TYPE: &str = "networkcloud/{}";
    const OF_RESOURCE: &str = "providers/{}/{}/{}/providers";
    let kinds = || Kind::ALL.into_iter().map(|kind| kind.arm_type().to_ascii_lowercase());
    let verbs = |of: &[Verb]| of.iter().map(|verb| verb.name.to_owned()).collect::<Vec<_>>();
    let of_type = |values: &[String]| values.iter().map(|value| pattern.replacen(TYPE, &format!("networkcloud/{value}"), 1)).collect();
    let last = |values: &[String]| values.iter().map(|value| format!("{}{value}", &pattern[..pattern.len() - "{}".len()])).collect();
    if pattern.contains(OF_RESOURCE) {
        return kinds()
            .map(|kind| pattern.replace(OF_RESOURCE, &format!("providers/microsoft.networkcloud/{kind}/{{}}/providers")))
            .collect();
    }
    if pattern.contains(TYPE) {
        return of_type(&kinds().collect::<Vec<_>>());
    }
    let tail = pattern.rsplit_once("networkcloud/").map_or("", |(_, tail)| tail);
    match (method, tail) {
        (&Method::POST, "baremetalmachines/{}/{}") => last(&verbs(&VERBS)),
        (&Method::POST, "clusters/{}/{}") => last(&verbs(&CLUSTER_VERBS)),
        (&Method::POST, "virtualmachines/{}/{}") => last(&verbs(&VM_VERBS)),
        (&Method::POST, "kubernetesclusters/{}/{}") => last(&verbs(&TENANT_VERBS)),
        (_, "clusters/{}/{}" | "clusters/{}/{}/{}") => {
            let sets = ["baremetalmachinekeysets", "bmckeysets"];
            sets.iter().map(|set| pattern.replacen("clusters/{}/{}", &format!("clusters/{{}}/{set}"), 1)).collect()
        }
        _ => vec![pattern.to_owned()],
    }
}

fn rows() -> impl Iterator<Item = (&'static Method, String)> {
    route::rows().flat_map(|(method, pattern)| rows_like(method, &pattern).into_iter().map(move |row| (method, row)))
}

/// The row with a name of the site for each value.
fn path_of(site: &Site, row: &str) -> String {
    let mut path = String::new();
    let mut before = "";
    for segment in row.split('/') {
        let value = match before {
            _ if segment != "{}" => segment,
            "subscriptions" => "s1",
            "resourcegroups" => "g1",
            "providers" => "Microsoft.NetworkCloud",
            "baremetalmachines" => "m1",
            "virtualmachines" => "web1",
            "kubernetesclusters" => "k1",
            "clusters" => "site",
            "racks" => "r1",
            "agentpools" => "agentpool1",
            "runtimes" => "4.10.0",
            "locations" => "local",
            "operations" | "operationstatuses" | "operationresults" => "8f3c1a2b",
            "activity" => &site.entry,
            _ => "nothing",
        };
        path = format!("{path}/{value}");
        before = segment;
    }
    format!("{path}?api-version=1")
}

/// What would shut out whoever comes next, and what undoes it.
const UNDONE: [(&str, &str); 2] = [("/unregister", "/register"), ("subscriptions/{}/disable", "subscriptions/{}/enable")];

/// The site as it was before a request of the row that was let in.
async fn restore(site: &Site, row: &str) {
    for (done, undo) in UNDONE {
        if let Some(stem) = row.strip_suffix(done) {
            let (status, answer) = send(&site.api, Method::POST, &path_of(site, &format!("{stem}{undo}")), "").await;
            assert_eq!(status, StatusCode::OK, "{row}: {answer}");
        }
    }
}

/// What came of a request: `-` nobody is let in, `x` it is denied, `0` there is nothing of it for this caller, `+` it is let in.
async fn decision(site: &Site, number: Option<u128>, method: &Method, row: &str) -> char {
    let response = ask(&site.api, number.map(somebody), method, &path_of(site, row), "").await;
    let code = response.headers().get("x-ms-error-code").and_then(|code| code.to_str().ok()).unwrap_or_default();
    match response.status() {
        StatusCode::UNAUTHORIZED => '-',
        StatusCode::FORBIDDEN => {
            assert_eq!(code, "AuthorizationFailed", "{method} {row}");
            'x'
        }
        StatusCode::NOT_FOUND => '0',
        _ => {
            restore(site, row).await;
            '+'
        }
    }
}

/// A caller for each role at each scope, in the order of the columns.
async fn fill(site: &Site) -> Vec<Vec<u128>> {
    let house = OpenHouse::around(site.api.gate.clone());
    let mut numbers = STRANGER + 1..;
    let mut callers = Vec::new();
    for scope in SCOPES {
        let mut of_scope = Vec::new();
        for (number, role) in numbers.by_ref().zip(&BUILT_IN) {
            house.assign(somebody(number), role.id, Scope::parse(scope).unwrap()).await;
            of_scope.push(number);
        }
        callers.push(of_scope);
    }
    callers
}

#[tokio::test(start_paused = true)]
async fn each_role_is_let_in_where_it_was_accepted() {
    let site = site().await;
    let callers = fill(&site).await;
    let mut table = String::from("# Nobody and somebody without a role; then these roles\n");
    for role in &BUILT_IN {
        table += &format!("#   {}\n", role.name);
    }
    table += "# at each of these scopes:\n";
    for scope in SCOPES {
        table += &format!("#   {scope}\n");
    }
    for (method, row) in rows() {
        let mut letters = String::from(decision(&site, None, method, &row).await);
        letters.push(decision(&site, Some(STRANGER), method, &row).await);
        for of_scope in &callers {
            letters.push(' ');
            for number in of_scope {
                letters.push(decision(&site, Some(*number), method, &row).await);
            }
        }
        table += &format!("{letters} {method} {row}\n");
    }
    expect_file!["accepted.txt"].assert_eq(&table);
}

/// Nobody is let in without a name, nor anybody without a role. That there is nothing counts as a rule only where an owner finds something.
#[tokio::test(start_paused = true)]
async fn no_route_is_without_a_rule() {
    let site = site().await;
    let owner = STRANGER + 1;
    OpenHouse::around(site.api.gate.clone()).assign(somebody(owner), access::roles::OWNER.id, Scope::root()).await;
    let mut without = String::new();
    for (method, row) in rows() {
        let is_listed = |list: &[&str]| list.contains(&row.as_str());
        let is_public = is_listed(&PUBLIC) || is_listed(&LOGINS);
        let is_ruled_for_nobody = is_public || decision(&site, None, method, &row).await == '-';
        let is_ruled = match decision(&site, Some(STRANGER), method, &row).await {
            _ if is_public || is_listed(&FILTERED) || is_listed(&OWN) => true,
            'x' => true,
            '0' => decision(&site, Some(owner), method, &row).await == '+',
            _ => false,
        };
        if !(is_ruled_for_nobody && is_ruled) {
            without += &format!("{method} {row}\n");
        }
    }
    expect_file!["without_a_rule.txt"].assert_eq(&without);
}

/// Whoever owns a subscription cannot make themselves, or anybody, an owner of more than that.
#[tokio::test(start_paused = true)]
async fn an_owner_of_a_subscription_is_refused_a_role_assignment_at_the_root() {
    let site = site().await;
    let owner = STRANGER + 1;
    let house = OpenHouse::around(site.api.gate.clone());
    house.assign(somebody(owner), access::roles::OWNER.id, Scope::parse("/subscriptions/s1").unwrap()).await;
    let role = format!("/providers/Microsoft.Authorization/roleDefinitions/{}", access::roles::OWNER.id);
    let body = json!({ "properties": { "principalId": somebody(owner).to_string(), "roleDefinitionId": role } }).to_string();
    let at = |scope: &str, name: u128| {
        format!("{scope}/providers/Microsoft.Authorization/roleAssignments/{}?api-version=2022-04-01", uuid::Uuid::from_u128(name))
    };
    let put = async |path: &str| {
        let answer = ask(&site.api, Some(somebody(owner)), &Method::PUT, path, &body).await;
        let code = answer.headers().get("x-ms-error-code").map(|code| code.to_str().unwrap().to_owned());
        (answer.status(), code)
    };
    let denied = (StatusCode::FORBIDDEN, Some("AuthorizationFailed".to_owned()));
    for root in ["", "/", "//"] {
        assert_eq!(put(&at(root, 0x77)).await, denied, "at {root:?}");
    }
    let (_, listed) = send(&site.api, Method::GET, "/providers/Microsoft.Authorization/roleAssignments?api-version=1", "").await;
    assert!(!listed.to_string().contains(&uuid::Uuid::from_u128(0x77).to_string()), "nothing was made: {listed}");
    assert_eq!(
        put(&at("/subscriptions/s1/resourceGroups/g1", 0x78)).await,
        (StatusCode::CREATED, None),
        "the same is theirs to give below"
    );
}
