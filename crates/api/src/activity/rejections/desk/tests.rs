//! A flood of refusals is written in few commits, up to the budget, and what is over it is told.

use http::Method;
use store::LogQuery;

use super::*;
use crate::fixtures::{Documents, cluster, machine, send};

async fn service() -> Api {
    Documents::default().cluster(&cluster("site1")).machine(&machine("site1", "rack1", "m1")).serve().await
}

/// The log, oldest first.
async fn log(api: &Api) -> Vec<Activity> {
    let query = LogQuery { limit: 10_000, order: store::LogOrder::OldestFirst, ..LogQuery::default() };
    let records = api.store.read_log(query).await.unwrap();
    records.iter().map(|record| serde_json::from_slice(&record.value).unwrap()).collect()
}

/// Refuses `count` requests, before anything of them can be written.
fn refuse(api: &Api, code: &'static str, count: usize) {
    let site = &api.cache.view().clusters[&ClusterName::new("site1").unwrap()].document.clone();
    for _ in 0..count {
        let record = NewRecord { labels: vec![], value: serde_json::to_vec(&entry(site)).unwrap().into() };
        let cluster = Subject::new(&site.home, &site.name, model::Part::Cluster);
        api.rejections.desk.take_in(api, Waiting { cluster, code, record });
    }
}

fn entry(site: &model::Cluster) -> Activity {
    Activity {
        format: ACTIVITY_FORMAT,
        what: ActivityKind::request("fly", None),
        subject: Subject::new(&site.home, &site.name, model::Part::Cluster),
        operation: None,
        correlation_id: CorrelationId::new("c"),
        caller: "alice".into(),
        status: ActivityStatus::Failed,
        message: "no".into(),
        error: None,
    }
}

fn summaries(log: &[Activity]) -> Vec<&str> {
    log.iter().filter(|entry| matches!(entry.what, ActivityKind::Refusals { .. })).map(|entry| entry.message.as_str()).collect()
}

async fn idle(api: &Api) {
    while !api.rejections.desk.is_idle() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_written_in_few_commits_up_to_the_budget_and_the_rest_is_told() {
    let api = service().await;
    let before = api.store.list("").await.unwrap().revision.0;
    refuse(&api, "InvalidAction", REJECTIONS_BURST);
    refuse(&api, "InvalidAction", 3);
    refuse(&api, "InvalidRequestContent", 1);
    assert_eq!(api.rejections.dropped(), 4);
    idle(&api).await;
    let log = log(&api).await;
    assert_eq!(log.len(), REJECTIONS_BURST + 1);
    assert_eq!(summaries(&log), ["4 more requests were refused without a verdict: 3 with InvalidAction, 1 with InvalidRequestContent"]);
    let commits = api.store.list("").await.unwrap().revision.0 - before;
    assert_eq!(commits, (REJECTIONS_BURST / BATCH_MAX) as u64 + 1);
}

#[tokio::test(start_paused = true)]
async fn a_flood_that_goes_on_is_told_once_a_minute_beside_what_the_budget_gives() {
    const MINUTES: usize = 5;
    let api = service().await;
    refuse(&api, "InvalidAction", REJECTIONS_BURST);
    for _ in 0..MINUTES * 60 {
        refuse(&api, "InvalidAction", 100);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    idle(&api).await;
    let log = log(&api).await;
    let told = summaries(&log);
    assert!((MINUTES..=MINUTES + 1).contains(&told.len()), "{told:#?}");
    let single = log.len() - told.len();
    assert!(
        (REJECTIONS_BURST + (MINUTES - 1) * REJECTIONS_PER_MINUTE..=REJECTIONS_BURST + MINUTES * REJECTIONS_PER_MINUTE).contains(&single)
    );
    let counted: u64 = told.iter().map(|message| message.split(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(counted as usize + single, REJECTIONS_BURST + MINUTES * 60 * 100, "nothing vanishes");
    assert_eq!(counted, api.rejections.dropped());
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_what_is_written_and_tells_the_rest_at_once() {
    let api = service().await;
    refuse(&api, "InvalidAction", REJECTIONS_BURST + 7);
    let begin = Instant::now();
    api.process.stopping.cancel();
    while !api.rejections.desk.is_idle() {
        tokio::task::yield_now().await;
    }
    assert_eq!(summaries(&log(&api).await), ["7 more requests were refused without a verdict: 7 with InvalidAction"]);
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_an_entry_of_the_cluster_that_people_can_read() {
    let api = service().await;
    refuse(&api, "InvalidAction", REJECTIONS_BURST + 1);
    idle(&api).await;
    let path = "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=1&$top=1";
    let (_, page) = send(&api, Method::GET, path, "").await;
    let event = &page["value"][0];
    assert_eq!(event["operationName"]["value"], "Microsoft.NetworkCloud/clusters/refusals/write");
    assert_eq!(event["description"], "1 more request was refused without a verdict: 1 with InvalidAction");
    assert_eq!((&event["level"], &event["status"]["value"], &event["caller"]), (&"Warning".into(), &"Failed".into(), &"rackwright".into()));
    assert_eq!(event["properties"]["refusals"], "1");
}
