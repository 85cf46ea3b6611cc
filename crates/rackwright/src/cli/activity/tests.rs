//! The log against a server that answers by rote.

use serde_json::{Value, json};

use super::*;
use crate::cli::render::fixtures;
use crate::cli::screen::tests::captured;
use crate::cli::session_tests::{Reply, Rote};

fn log(session: &Session) -> Log<'_> {
    Log { session, conditions: vec![("status", "Failed".to_owned())], wanted: "--status Failed".to_owned() }
}

fn window() -> Window {
    Window { start: "2026-11-15T14:00:00Z".parse().unwrap(), end: None }
}

fn ids(out: &str) -> Vec<String> {
    let entries = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("each line is an entry"));
    entries.map(|entry| entry["eventDataId"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_follower_shows_each_entry_once_and_outlasts_a_server_that_goes_away() {
    let (old, new) = (fixtures::accepted_restart(), fixtures::refused_restart());
    let page = |entries: &[&Value]| Reply::Json(200, json!({ "value": entries }));
    let rote = Rote::with(vec![page(&[&old]), Reply::HangUp, Reply::HangUp, page(&[&new, &old])], None).await;
    let (mut screen, out, err) = captured();
    let log = log(&rote.session);
    let both_shown = async {
        while out.text().lines().count() < 2 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = log.follow(&mut screen, window(), 50) => panic!("{ended:?}"),
        () = both_shown => {}
    }
    assert_eq!(ids(&out.text()), [old["eventDataId"].as_str().unwrap(), new["eventDataId"].as_str().unwrap()]);
    assert_eq!(err.text(), "the server does not answer; trying again\n");
    let first = &rote.paths()[0];
    assert!(first.starts_with("/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version="), "{first}");
    assert!(first.contains("%24filter=eventTimestamp+ge+%272026-11-15T14%3A00%3A00Z%27+and+status+eq+%27Failed%27"), "{first}");
}

#[tokio::test]
async fn only_as_many_entries_are_fetched_as_are_shown() {
    let entries: Vec<Value> = (0..3).map(|n| json!({ "eventDataId": n.to_string() })).collect();
    let rote = Rote::with(vec![Reply::Json(200, json!({ "value": entries, "nextLink": "{}/more" }))], None).await;
    let (mut screen, out, _) = captured();
    log(&rote.session).list(&mut screen, window(), 2).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&out.text()).unwrap().as_array().unwrap().len(), 2);
    assert_eq!(rote.paths().len(), 1, "the next page is not asked for");
    assert!(rote.paths()[0].contains("%24top=3"), "{:?}", rote.paths());
}

#[tokio::test]
async fn an_unknown_entry_is_told_with_where_to_look() {
    let missing = json!({ "error": { "code": "ResourceNotFound", "message": "there is no entry `x`" } });
    let rote = Rote::with(vec![Reply::Json(404, missing)], None).await;
    let (mut screen, _, _) = captured();
    let trouble = show(&rote.session, &mut screen, "x").await.unwrap_err();
    assert_eq!((trouble.exit, trouble.hint.as_deref()), (Exit::NotFound, Some("`rackwright activity-log list` names the latest")));
    assert_eq!(rote.paths(), ["/rackwright/v1/activity/x"]);
}
