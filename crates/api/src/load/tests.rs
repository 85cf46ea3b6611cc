//! A server that is full of slow lists still acts, and tells how actions go.

use axum::extract::State;
use http::{Request, StatusCode};
use model::{Timestamp, Verdict};
use plan::{LISTS_BELOW, LISTS_MAX, LISTS_OF_CALLER_MAX, READS_BELOW};
use uuid::Uuid;

use super::*;
use crate::Api;
use crate::fixtures::{Documents, NOW, cluster, keep, machine, operation};

const MACHINES: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines";
const STATUS: &str = "/subscriptions/s1/providers/Microsoft.NetworkCloud/locations/local/operationStatuses/8f3c1a2b";

/// An answer of which nothing was read yet, to one of several owners.
async fn ask(api: &Api, caller: u128, method: Method, path: &str) -> Response {
    let house = gate::OpenHouse::around(api.gate.clone());
    let token = house.token_of(PrincipalId::new(Uuid::from_u128(caller)), "anybody");
    let request = Request::builder().method(method).uri(format!("{path}?api-version=1")).header("host", "localhost");
    let request = request.header("authorization", format!("Bearer {token}")).body(Body::empty()).unwrap();
    crate::answer(State(api.clone()), request).await
}

async fn service(callers: u128) -> Api {
    let begin = Timestamp::parse(NOW).unwrap();
    let documents = Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1"));
    let api = documents.operation(&operation("8f3c1a2b", "site", "m1", begin)).serve().await;
    let house = gate::OpenHouse::around(api.gate.clone());
    for caller in 1..=callers {
        let principal = PrincipalId::new(Uuid::from_u128(100 + caller));
        house.assign(principal, access::roles::OWNER.id, access::Scope::root()).await;
    }
    api
}

fn is_busy(response: &Response) -> bool {
    let code = response.headers().get("x-ms-error-code").is_some_and(|code| code == "ServerBusy");
    assert!(!code || (response.status() == StatusCode::SERVICE_UNAVAILABLE && response.headers()["retry-after"] == "1"));
    code
}

#[tokio::test]
async fn a_server_full_of_slow_lists_still_acts_and_tells_how_it_goes() {
    let api = service(5).await;
    let asked = keep(&api, |request| Verdict::Accepted { operation: model::OperationId::new(request.id.as_str()) });
    let callers = LISTS_MAX / LISTS_OF_CALLER_MAX;
    let mut slow = Vec::new();
    for caller in 0..callers {
        for _ in 0..LISTS_OF_CALLER_MAX {
            let response = ask(&api, 101 + caller as u128, Method::GET, MACHINES).await;
            assert_eq!(response.status(), StatusCode::OK);
            slow.push(response);
        }
        assert!(is_busy(&ask(&api, 101 + caller as u128, Method::GET, MACHINES).await), "a caller has a share");
    }
    let roles = "/subscriptions/s1/providers/Microsoft.Authorization/roleAssignments";
    for list in [MACHINES, roles, "/rackwright/v1/principals"] {
        assert!(is_busy(&ask(&api, 105, Method::GET, list).await), "there is no place for another list, whosever it is: {list}");
    }
    assert_eq!(ask(&api, 105, Method::GET, &format!("{MACHINES}/m1")).await.status(), StatusCode::OK, "a read is small");
    assert_eq!(ask(&api, 105, Method::GET, STATUS).await.status(), StatusCode::OK);
    assert_eq!(ask(&api, 101, Method::POST, &format!("{MACHINES}/m1/restart")).await.status(), StatusCode::ACCEPTED);
    assert_eq!(asked.count(), 1);

    slow.pop();
    let again = ask(&api, 105, Method::GET, MACHINES).await;
    assert_eq!(again.status(), StatusCode::OK, "a list that was sent, or whose client is gone, leaves its place");
    let read = http_body_util::BodyExt::collect(again.into_body()).await.unwrap().to_bytes();
    assert!(!read.is_empty());
    drop(slow);
    let counts = api.answers.counts();
    assert_eq!((counts.answering, counts.lists, counts.by_caller.len()), (0, 0, 0));
}

#[tokio::test]
async fn reads_go_next_and_actions_last() {
    let api = service(1).await;
    let _asked = keep(&api, |request| Verdict::Accepted { operation: model::OperationId::new(request.id.as_str()) });
    let machine = format!("{MACHINES}/m1");
    let mut slow = Vec::new();
    for n in 0..READS_BELOW {
        let is_list_shed = is_busy(&ask(&api, 101, Method::GET, MACHINES).await);
        assert_eq!(is_list_shed, n >= LISTS_BELOW, "a list beside {n} answers");
        slow.push(ask(&api, 101, Method::GET, &machine).await);
        assert_eq!(slow[n].status(), StatusCode::OK, "{n}");
    }
    for path in [&machine, "/rackwright/v1/status", "/subscriptions"] {
        assert!(is_busy(&ask(&api, 101, Method::GET, path).await), "{path}");
    }
    for path in [STATUS, "/rackwright/v1/operations/8f3c", "/healthz"] {
        assert_eq!(ask(&api, 101, Method::GET, path).await.status(), StatusCode::OK, "{path}");
    }
    assert_eq!(ask(&api, 101, Method::POST, &format!("{machine}/restart")).await.status(), StatusCode::ACCEPTED);
}

#[tokio::test]
async fn what_lasts_by_its_nature_is_not_counted() {
    let api = service(1).await;
    let _events = ask(&api, 101, Method::GET, "/rackwright/v1/events").await;
    assert_eq!(api.answers.counts().answering, 0);
    let head = ask(&api, 101, Method::HEAD, MACHINES).await;
    assert!(head.headers().contains_key("content-length"));
}
