use std::io;
use std::sync::Mutex;

use async_trait::async_trait;
use http::{Request, Response};
use http_body_util::Full;
use kube::client::Body;
use serde_json::{Value, json};

use super::*;

/// An undercloud that has one secret, and a door to tenant clusters that accept one kubeconfig.
#[derive(Clone, Debug, Default)]
struct Fake {
    kubeconfig: Arc<Mutex<Option<&'static str>>>,
    accepted: Arc<Mutex<&'static str>>,
}

type Answer = io::Result<Response<Full<bytes::Bytes>>>;

fn answer(code: u16, body: &Value) -> Answer {
    Ok(Response::builder().status(code).body(Full::from(body.to_string())).expect("a response"))
}

fn refusal(code: u16) -> Answer {
    answer(
        code,
        &json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": if code == 404 { "NotFound" } else { "Unauthorized" }, "message": "no"}),
    )
}

impl Fake {
    fn undercloud(&self) -> Undercloud {
        let fake = self.clone();
        Undercloud::in_process(tower::service_fn(move |_: Request<Body>| {
            let kubeconfig = *fake.kubeconfig.lock().unwrap();
            async move {
                let Some(text) = kubeconfig else { return refusal(404) };
                // A secret's entries are base64.
                answer(200, &json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x", "uid": "u"}, "data": {"value": text}}))
            }
        }))
    }

    fn way(&self) -> (Way, mpsc::Receiver<Event>) {
        let (events, inbox) = mpsc::channel(64);
        let cluster = TenantClusterName::new("naks-01").unwrap();
        let (undercloud, door) = (self.undercloud(), Arc::new(self.clone()));
        (Way { cluster, number: 1, undercloud, door, limits: Limits::default(), events }, inbox)
    }
}

#[async_trait]
impl Door for Fake {
    async fn open(&self, kubeconfig: &str) -> Result<TenantCluster, Fault> {
        let (fake, ours) = (self.clone(), kubeconfig.as_bytes().to_vec());
        Ok(TenantCluster::new(kube::Client::new(
            tower::service_fn(move |request: Request<Body>| {
                let is_accepted = decoded(&fake.accepted.lock().unwrap()) == ours;
                async move {
                    match is_accepted {
                        false => refusal(401),
                        true if request.uri().query().is_some_and(|query| query.contains("watch=true")) => std::future::pending().await,
                        true => answer(200, &json!({"metadata": {"resourceVersion": "1"}, "items": []})),
                    }
                }
            }),
            "default",
        )))
    }
}

/// What the driver makes of these four letters of base64.
fn decoded(text: &str) -> Vec<u8> {
    match text {
        "b2xk" => b"old".to_vec(),
        "bmV3" => b"new".to_vec(),
        other => panic!("{other} is not one of the fake's"),
    }
}

/// What is told until something that is waited for.
async fn until(inbox: &mut mpsc::Receiver<Event>, is_it: impl Fn(&Inside) -> bool) -> Inside {
    loop {
        let Some(Event::Inside { told, line: 1, .. }) = inbox.recv().await else { panic!("the line has ended") };
        if is_it(&told) {
            return told;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_entered_as_soon_as_its_kubeconfig_is_there() {
    let fake = Fake { accepted: Arc::new(Mutex::new("b2xk")), ..Fake::default() };
    let (way, mut inbox) = fake.way();
    let task = tokio::spawn(way.keep_open());
    let Inside::Shut(fault) = until(&mut inbox, |_| true).await else { panic!("there is no kubeconfig yet") };
    assert_eq!(fault.to_string(), "no login: there is no secret tenants/naks-01-kubeconfig");
    *fake.kubeconfig.lock().unwrap() = Some("b2xk");
    until(&mut inbox, |told| matches!(told, Inside::Opened(_))).await;
    until(&mut inbox, |told| matches!(told, Inside::Told(InsideEvent::Nodes(_)))).await;
    task.abort();
}

#[tokio::test(start_paused = true)]
async fn a_kubeconfig_that_is_no_longer_accepted_is_read_again_and_the_new_one_used() {
    let fake = Fake { kubeconfig: Arc::new(Mutex::new(Some("b2xk"))), accepted: Arc::new(Mutex::new("bmV3")) };
    let (way, mut inbox) = fake.way();
    let task = tokio::spawn(way.keep_open());
    let is_denied = |told: &Inside| matches!(told, Inside::Told(InsideEvent::Lost(fault)) if fault.class == FaultClass::Denied);
    until(&mut inbox, is_denied).await;
    until(&mut inbox, is_denied).await;
    *fake.kubeconfig.lock().unwrap() = Some("bmV3");
    until(&mut inbox, |told| matches!(told, Inside::Opened(_))).await;
    until(&mut inbox, |told| matches!(told, Inside::Told(InsideEvent::Pods(_)))).await;
    task.abort();
}

#[tokio::test(start_paused = true)]
async fn a_secret_without_a_kubeconfig_is_told_and_tried_again() {
    let fake = Fake { kubeconfig: Arc::new(Mutex::new(Some("/w=="))), accepted: Arc::new(Mutex::new("b2xk")) };
    let (way, mut inbox) = fake.way();
    let task = tokio::spawn(way.keep_open());
    for _ in 0..2 {
        let Inside::Shut(fault) = until(&mut inbox, |_| true).await else { panic!("it cannot be opened") };
        assert_eq!(fault.to_string(), "no login: secret tenants/naks-01-kubeconfig is not text");
    }
    task.abort();
}
