//! The log as clients read it: filters, pages, one entry.

use http::{Method, StatusCode};
use model::{ActivityKind, ActivityStatus, ClusterName, CorrelationId, MachineName, Part, Span, Subject, Timestamp};
use serde_json::Value;
use store::{Commit, NewRecord};

use super::*;
use crate::fixtures::{Documents, NOW, cluster, machine, operation, read_pages, send};
use crate::links::encode;

const LOG: &str = "/subscriptions/S1/providers/microsoft.insights/eventTypes/management/values?api-version=2015-04-01";

async fn service() -> Api {
    let begin = Timestamp::parse(NOW).unwrap();
    let documents = Documents::default().cluster(&cluster("site1")).machine(&machine("site1", "rack1", "m1"));
    documents.operation(&operation("8f3c1a2b", "site1", "m1", begin)).serve().await
}

/// An entry about a machine, or about the cluster if no name is given.
pub(super) fn entry(name: &str, caller: &str, what: ActivityKind, status: ActivityStatus) -> Activity {
    let part = MachineName::new(name).map_or(Part::Cluster, Part::Machine);
    Activity {
        format: ACTIVITY_FORMAT,
        what,
        subject: Subject::new(&cluster("site1").home, &ClusterName::new("site1").unwrap(), part),
        operation: None,
        correlation_id: CorrelationId::new(format!("{caller}-{name}")),
        caller: caller.into(),
        status,
        message: "it happened".into(),
        error: None,
    }
}

pub(super) fn restart() -> ActivityKind {
    ActivityKind::request("restart", None)
}

async fn write(api: &Api, entries: impl IntoIterator<Item = Activity>) {
    let record = |entry: Activity| NewRecord { labels: entry.labels(), value: serde_json::to_vec(&entry).unwrap().into() };
    let records = entries.into_iter().map(record).collect();
    api.store.commit(Commit { records, ..Commit::default() }).await.expect("memory takes records");
}

/// A page's entries in a few words.
async fn told(api: &Api, filter: &str) -> String {
    let (status, page) = send(api, Method::GET, &format!("{LOG}&$filter={}", encode(filter)), "").await;
    assert_eq!(status, StatusCode::OK, "{page:#}");
    let event = |event: &Value| format!("{} {} {}", event["caller"], event["status"]["value"], event["resourceId"]).replace('"', "");
    page["value"]
        .as_array()
        .unwrap()
        .iter()
        .map(event)
        .collect::<Vec<_>>()
        .join("; ")
        .replace("/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/", "")
}

#[tokio::test(start_paused = true)]
async fn each_key_of_the_filter_chooses_among_the_entries() {
    let api = service().await;
    for (name, caller, status) in
        [("m1", "alice", ActivityStatus::Accepted), ("m2", "bob", ActivityStatus::Failed), ("", "rackwright", ActivityStatus::Succeeded)]
    {
        write(&api, [entry(name, caller, restart(), status)]).await;
        tokio::time::advance(Span::minutes(1).to_std()).await;
    }
    let (m1, m2, site) = ("alice Accepted bareMetalMachines/m1", "bob Failed bareMetalMachines/m2", "rackwright Succeeded clusters/site1");
    assert_eq!(told(&api, "").await, format!("{site}; {m2}; {m1}"), "newest first");
    let id = |kind, name| format!("/SUBSCRIPTIONS/s1/resourcegroups/G1/providers/Microsoft.NetworkCloud/{kind}/{name}");
    for (filter, expected) in [
        (format!("resourceId eq '{}'", id("baremetalmachines", "M1")), m1),
        (format!("resourceUri eq '{}'", id("clusters", "site1")), site),
        (format!("resourceId eq '{}'", id("racks", "site1")), ""),
        ("correlationId eq 'BOB-M2'".to_owned(), m2),
        ("status eq 'failed'".to_owned(), m2),
        ("levels eq 'Critical,error'".to_owned(), m2),
        ("caller eq 'Alice'".to_owned(), m1),
        ("caller eq 'alice' and status eq 'failed'".to_owned(), ""),
        ("resourceGroupName eq 'g2'".to_owned(), ""),
        ("resourceProvider eq 'microsoft.compute'".to_owned(), ""),
        ("eventTimestamp ge 2026-11-15T14:01:00 and eventTimestamp lt 2026-11-15T14:02:00".to_owned(), m2),
        ("eventTimestamp gt '2026-11-15T14:01:00Z'".to_owned(), site),
        ("eventTimestamp le '2026-11-15T14:00:00Z' and resourceProvider eq 'Microsoft.NetworkCloud'".to_owned(), m1),
    ] {
        assert_eq!(told(&api, &filter).await, expected, "{filter}");
    }
}

#[tokio::test]
async fn more_queries_than_are_answered_at_a_time_are_told_to_come_back() {
    let api = service().await;
    let paths = [
        "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=1".to_owned(),
        format!("/rackwright/v1/activity/{}", render::event_id(RecordPlace { revision: Revision(2), position: 0 })),
    ];
    let readers: Vec<_> = (0..MAX_LOG_READERS).map(|_| api.process.log_readers.enter().expect("there is room")).collect();
    for path in &paths {
        let (status, body) = send(&api, Method::GET, path, "").await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::TOO_MANY_REQUESTS, &Value::from("TooManyRequests")));
        assert_eq!(body["error"]["message"], "32 queries of the activity log are being answered");
    }
    drop(readers);
    for path in &paths {
        assert_ne!(send(&api, Method::GET, path, "").await.0, StatusCode::TOO_MANY_REQUESTS);
    }
}

#[tokio::test]
async fn a_log_of_another_subscription_is_not_shown() {
    let api = service().await;
    let mut foreign = entry("m1", "mallory", restart(), ActivityStatus::Accepted);
    foreign.subject.subscription = "s2".into();
    write(&api, [foreign]).await;
    assert_eq!(told(&api, "correlationId eq 'mallory-m1'").await, "");
    let unknown = LOG.replace("S1", "s3");
    let (status, body) = send(&api, Method::GET, &unknown, "").await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::NOT_FOUND, &Value::from("SubscriptionNotFound")));
    let gone = LOG.replace("S1", "s2");
    assert_eq!(read_pages(&api, &gone, "caller").await.1, ["mallory"], "a log outlives the clusters that it tells of");
}

#[tokio::test]
async fn pages_of_any_size_hold_each_entry_once_and_keep_the_filter() {
    let api = service().await;
    for n in 0..4 {
        write(&api, (0..3).map(|m| entry("m1", &format!("{n}{m}"), restart(), ActivityStatus::Accepted))).await;
        write(&api, [entry("m2", "another", restart(), ActivityStatus::Accepted)]).await;
    }
    let filter = encode("resourceId eq '/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1'");
    let list = |top: usize| format!("{LOG}&$filter={filter}&$top={top}");
    let (_, all) = read_pages(&api, &list(100), "caller").await;
    assert_eq!(all, ["32", "31", "30", "22", "21", "20", "12", "11", "10", "02", "01", "00"]);
    for top in 1..=all.len() {
        assert_eq!(read_pages(&api, &list(top), "caller").await, (all.len().div_ceil(top), all.clone()), "{top} on a page");
    }
    let (status, body) = send(&api, Method::GET, &format!("{LOG}&$skipToken=nowhere"), "").await;
    assert_eq!((status, body["error"]["target"].as_str()), (StatusCode::BAD_REQUEST, Some("$skipToken")));
}

#[tokio::test]
async fn what_is_rare_comes_with_a_later_page() {
    let api = service().await;
    write(&api, [entry("m1", "rare", restart(), ActivityStatus::Accepted)]).await;
    write(&api, (0..SCAN_MAX).map(|_| entry("m1", "often", restart(), ActivityStatus::Accepted))).await;
    let list = format!("{LOG}&$filter={}", encode("caller eq 'rare'"));
    let (_, first) = send(&api, Method::GET, &list, "").await;
    assert_eq!((first["value"].as_array().map(Vec::len), first["nextLink"].is_string()), (Some(0), true));
    assert_eq!(read_pages(&api, &list, "caller").await, (2, vec!["rare".to_owned()]));
}

#[tokio::test]
async fn an_entry_is_found_again_by_its_id() {
    let api = service().await;
    write(&api, [entry("m1", "alice", restart(), ActivityStatus::Accepted), entry("m1", "bob", restart(), ActivityStatus::Accepted)]).await;
    let (_, ids) = read_pages(&api, LOG, "eventDataId").await;
    let mut callers = Vec::new();
    for id in &ids {
        let (status, event) = send(&api, Method::GET, &format!("/rackwright/v1/activity/{id}"), "").await;
        assert_eq!((status, event["eventDataId"].as_str()), (StatusCode::OK, Some(id.as_str())));
        callers.push(event["caller"].as_str().unwrap().to_owned());
    }
    assert_eq!(callers, ["bob", "alice"]);
    for unknown in
        ["00000000-0000-0000-0000-000000000000", "00000000-0000-0001-0000-000000000009", "ffffffff-ffff-ffff-ffff-ffffffffffff", "x"]
    {
        let (status, body) = send(&api, Method::GET, &format!("/rackwright/v1/activity/{unknown}"), "").await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::NOT_FOUND, &Value::from("ResourceNotFound")), "{unknown}");
    }
}

#[tokio::test]
async fn an_entry_of_a_newer_format_is_left_out() {
    let api = service().await;
    let newer = Activity { format: ACTIVITY_FORMAT + 1, ..entry("m1", "tomorrow", restart(), ActivityStatus::Accepted) };
    write(&api, [newer, entry("m1", "today", restart(), ActivityStatus::Accepted)]).await;
    assert_eq!(read_pages(&api, LOG, "caller").await.1, ["today"]);
}
