use std::io;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use etcd::Transport;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use model::{EtcdSeen, MachineName, OperationId, Site, Span};
use store::{MemoryStore, SharedStore, SystemClock};

use super::*;
use crate::enroll_site;

type Heard = Arc<Mutex<Vec<String>>>;

/// An etcd that takes up everything, and what it heard.
fn willing() -> (EtcdCluster, Heard) {
    let heard = Heard::default();
    let noting = heard.clone();
    let service = tower::service_fn(move |request: Request<Full<Bytes>>| {
        let heard = noting.clone();
        async move {
            let path = request.uri().path().to_owned();
            let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            heard.lock().unwrap().push(format!("{path} {}", String::from_utf8_lossy(&body)));
            Ok::<_, io::Error>(Response::new(Full::new(Bytes::from_static(b"{}"))))
        }
    });
    let endpoint = "https://10.64.0.4:2379".parse().unwrap();
    (EtcdCluster::new(Transport::in_process(service), [endpoint]), heard)
}

fn step(ask: DeviceAsk, with: With) -> Step {
    Step {
        machine: MachineName::new("rack1control01").unwrap(),
        node: None,
        operation: Some(OperationId::new("op1")),
        ask,
        attempt: 1,
        reason: String::new(),
        with,
    }
}

#[tokio::test]
async fn each_change_of_membership_is_about_the_member_that_the_plan_names() {
    let (etcd, heard) = willing();
    let member = || With::Member { id: "ff".to_owned() };
    let learner = With::Learner { peer_url: "https://10.64.0.4:2380".to_owned() };
    for step in [step(DeviceAsk::LeaveEtcd, member()), step(DeviceAsk::JoinEtcd, learner), step(DeviceAsk::PromoteEtcd, member())] {
        assert_eq!(request(&step, &etcd).await, Ok(()));
    }
    let expected = [
        r#"/v3/cluster/member/remove {"ID":"255"}"#,
        r#"/v3/cluster/member/add {"peerURLs":["https://10.64.0.4:2380"],"isLearner":true}"#,
        r#"/v3/cluster/member/promote {"ID":"255"}"#,
    ];
    assert_eq!(std::mem::take(&mut *heard.lock().unwrap()), expected);
    for ask in [DeviceAsk::LeaveEtcd, DeviceAsk::JoinEtcd, DeviceAsk::PromoteEtcd] {
        let fault = request(&step(ask, With::Nothing), &etcd).await.unwrap_err();
        assert_eq!((fault.class, fault.delivery), (FaultClass::Unsupported, Delivery::No), "{ask}");
    }
    assert!(heard.lock().unwrap().is_empty(), "nobody is taken out by guessing");
}

async fn books() -> Books {
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let site = Site {
        cluster: model::ClusterName::new("site1").unwrap(),
        home: model::Home { subscription: "s".to_owned(), resource_group: "g".to_owned(), location: "l".to_owned() },
        version: "4.9.2".to_owned(),
        limits: model::Limits::default(),
        racks: Vec::new(),
        machines: Vec::new(),
        skus: Vec::new(),
        join: None,
        new_logins: std::collections::BTreeSet::new(),
    };
    enroll_site(&store, &SystemClock, &site).await.unwrap();
    let lease = store.acquire_lease("keeper/site1", "test", Span::minutes(1)).await.unwrap();
    Books::open(&store, &site.cluster, lease.fence(), Timestamp::EPOCH).await.unwrap().0
}

#[tokio::test]
async fn what_etcd_tells_presses_for_a_plan_and_replaces_what_it_told_before() {
    let mut books = books().await;
    books.plan(Timestamp::EPOCH).unwrap();
    assert!(!books.needs_plan());
    books.snapshot.is_looking_at_etcd = true;
    let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
    let looked = |began: i64, found| Looked { began_at: at(began), ended_at: at(began + 1), found };
    note_members(&mut books, Some(looked(1, Ok(Found::Etcd(EtcdSeen::default())))));
    assert!(books.needs_plan() && !books.snapshot.is_looking_at_etcd);
    assert_eq!(books.snapshot.etcd.as_ref().unwrap().began_at, at(1));
    note_members(&mut books, Some(looked(5, Err(no_etcd()))));
    assert!(books.snapshot.etcd.as_ref().unwrap().found.is_err(), "an etcd that tells nothing now is not known by what it told");
    books.snapshot.is_looking_at_etcd = true;
    note_members(&mut books, None);
    assert_eq!(books.snapshot.etcd.as_ref().unwrap().began_at, at(5), "one that is no longer ours tells nothing");
    assert!(!books.snapshot.is_looking_at_etcd);
}
