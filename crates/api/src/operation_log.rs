//! `GET /rackwright/v1/operations/{id}/log`: what the agents of an installation have told of their work.

use axum::response::Response;
use http::StatusCode;
use model::keys;
use serde_json::{Value, json};

use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::operations;
use crate::reply::{RETRY_AFTER, Refused, json_response};

/// Each attempt's log, the first attempt's first. Those that have sent none are left out.
pub(crate) async fn show(api: &Api, call: &Call, id: &str) -> Result<Response, Refused> {
    let (operation, cluster) = operations::find_seen(&api.cache.view(), call, id)?;
    let mut attempts: Vec<Value> = Vec::new();
    for round in operation.rounds() {
        let found = api.store.get(&keys::install_log(&cluster.name, &operation.id, round)).await.map_err(|problem| {
            tracing::error!(error = %problem, operation = %operation.id, "the log of an installation cannot be read");
            Refused::new(Code::StoreUnavailable, "the log cannot be read now").retry_after(RETRY_AFTER)
        })?;
        attempts.extend(found.map(|log| json!({ "attempt": round, "log": String::from_utf8_lossy(&log.value) })));
    }
    let body = json!({ "operation": operation.id, "machine": operation.machine(), "attempts": attempts });
    Ok(json_response(StatusCode::OK, &body))
}

#[cfg(test)]
mod tests {
    use http::Method;
    use model::{BootWay, Digest, Entry, Fact, RuntimeVersion, Timestamp};
    use store::Commit;

    use super::*;
    use crate::fixtures::{Documents, NOW, cluster, machine, operation, send};

    #[tokio::test]
    async fn each_attempt_that_has_told_something_is_shown() {
        let at = Timestamp::parse(NOW).unwrap();
        let mut installing = operation("8f3c1a2b", "site", "m1", at);
        for round in 1..=3 {
            let (version, image) = (RuntimeVersion::parse("4.9.2").unwrap(), Digest::parse(&"0".repeat(64)).unwrap());
            let fact = Fact::Installing { round, way: BootWay::VirtualMedia, version, image, network: None };
            installing.journal.push(Entry { at, fact });
        }
        let documents = Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1"));
        let api = documents.operation(&installing).serve().await;
        let path = "/rackwright/v1/operations/8f3c/log";
        let nothing = json!({ "operation": "8f3c1a2b", "machine": "m1", "attempts": [] });
        assert_eq!(send(&api, Method::GET, path, "").await, (StatusCode::OK, nothing));
        let key = |round| keys::install_log(&installing.cluster, &installing.id, round);
        api.store.commit(Commit::default().put(key(1), "one\n").put(key(3), "three\n")).await.unwrap();
        let (_, told) = send(&api, Method::GET, path, "").await;
        assert_eq!(told["attempts"], json!([{ "attempt": 1, "log": "one\n" }, { "attempt": 3, "log": "three\n" }]));
        assert_eq!(send(&api, Method::GET, "/rackwright/v1/operations/ffff/log", "").await.0, StatusCode::NOT_FOUND);
    }
}
