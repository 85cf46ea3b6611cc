//! The client against a server that answers by rote: pages, names, and connections that break.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::access::{Login, Pass, Secret};
use super::args::GlobalArgs;
use super::context::{Context, Home, save_current};
use super::output::Output;
use super::session::{Kind, Session};
use super::trouble::Exit;

/// What the server does with a request.
pub enum Reply {
    Json(u16, Value),
    /// Reads the request and hangs up.
    HangUp,
}

pub struct Rote {
    pub session: Session,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Rote {
    /// Serves the replies in their order, one connection each; `{}` in a reply stands for the server's own address.
    pub async fn with(replies: Vec<Reply>, group: Option<&str>) -> Rote {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let global = GlobalArgs {
            output: Output::Json,
            query: None,
            resource_group: group.map(str::to_owned),
            subscription: Some("s1".to_owned()),
            server: Some(server.clone()),
            context: None,
        };
        let session = Session::open(&global, &Home::new("/nowhere")).unwrap();
        let seen = requests.clone();
        tokio::spawn(async move {
            for reply in replies {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                seen.lock().unwrap().push(request);
                if let Reply::Json(status, body) = reply {
                    let body = body.to_string().replace("{}", &server);
                    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
                    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
                }
            }
        });
        Rote { session, requests }
    }

    pub fn paths(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| request.split_whitespace().nth(1).unwrap().to_owned()).collect()
    }

    pub fn header(&self, n: usize, name: &str) -> String {
        let requests = self.requests.lock().unwrap();
        let line = requests[n].lines().find(|line| line.to_ascii_lowercase().starts_with(name)).unwrap();
        line.split_once(": ").unwrap().1.to_owned()
    }
}

/// The head of a request; the bodies here are too short to need more.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await.unwrap();
        bytes.extend_from_slice(&part[..read]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn machines(places: &[(&str, &str)]) -> Value {
    let id = |group, name| format!("/subscriptions/s1/resourceGroups/{group}/providers/Microsoft.NetworkCloud/bareMetalMachines/{name}");
    let value: Vec<Value> = places.iter().map(|(group, name)| json!({ "id": id(group, name), "name": name })).collect();
    json!({ "value": value })
}

fn missing() -> Reply {
    Reply::Json(404, json!({ "error": { "code": "ResourceNotFound", "message": "there is no bare-metal machine `m`" } }))
}

#[tokio::test]
async fn a_list_is_read_page_after_page() {
    let mut first = machines(&[("g1", "m1")]);
    first["nextLink"] = json!("{}/more?token=1");
    let rote = Rote::with(vec![Reply::Json(200, first), Reply::Json(200, machines(&[("g1", "m2")]))], None).await;
    let names: Vec<Value> = rote.session.list(Kind::Machine).await.unwrap().iter().map(|machine| machine["name"].clone()).collect();
    assert_eq!(names, ["m1", "m2"]);
    assert_eq!(rote.paths()[1], "/more?token=1");
}

#[tokio::test]
async fn operations_are_read_page_after_page() {
    let first = json!({ "value": [{ "id": "2" }], "nextLink": "{}/rackwright/v1/operations?running=true&$top=1&$skipToken=x" });
    let rote = Rote::with(vec![Reply::Json(200, first), Reply::Json(200, json!({ "value": [{ "id": "1" }] }))], None).await;
    assert_eq!(rote.session.running_operations().await.unwrap(), [json!({ "id": "2" }), json!({ "id": "1" })]);
    assert_eq!(rote.paths()[1], "/rackwright/v1/operations?running=true&$top=1&$skipToken=x");
}

#[tokio::test]
async fn an_action_whose_connection_breaks_is_sent_once_more_with_the_same_id() {
    let rote = Rote::with(vec![Reply::HangUp, Reply::Json(202, json!({ "name": "8f3c" }))], Some("g1")).await;
    let accepted = rote.session.act("m1", "restart", &[], &json!({})).await.unwrap();
    assert_eq!(accepted["name"], "8f3c");
    assert_eq!(rote.paths().len(), 2);
    let id = "x-ms-client-request-id";
    assert_eq!(rote.header(0, id), rote.header(1, id));
}

#[tokio::test]
async fn a_connection_that_breaks_twice_is_not_tried_a_third_time() {
    let rote = Rote::with(vec![Reply::HangUp, Reply::HangUp], Some("g1")).await;
    let trouble = rote.session.act("m1", "restart", &[], &json!({})).await.unwrap_err();
    assert_eq!((trouble.exit, rote.paths().len()), (Exit::Unreachable, 2));
    assert!(trouble.hint.unwrap().contains("operation list"));
}

#[tokio::test]
async fn a_name_in_one_group_is_found_without_naming_the_group() {
    let list = machines(&[("g1", "m1"), ("g2", "m2")]);
    let rote = Rote::with(vec![Reply::Json(200, list), Reply::Json(200, json!({ "name": "m2" }))], None).await;
    rote.session.get(Kind::Machine, "m2").await.unwrap();
    assert!(rote.paths()[1].contains("/resourceGroups/g2/"), "{:?}", rote.paths());
}

#[tokio::test]
async fn a_name_in_several_groups_asks_for_the_group() {
    let rote = Rote::with(vec![Reply::Json(200, machines(&[("g1", "m1"), ("g2", "m1")]))], None).await;
    let trouble = rote.session.get(Kind::Machine, "m1").await.unwrap_err();
    assert_eq!(trouble.exit, Exit::Usage);
    assert_eq!(trouble.details, ["in the resource groups g1, g2"]);
    assert!(trouble.hint.unwrap().contains("`-g g1`"));
}

#[tokio::test]
async fn a_mistyped_name_is_not_found_but_understood() {
    let list = machines(&[("g1", "rack1compute01"), ("g1", "rack1control01")]);
    let rote = Rote::with(vec![missing(), Reply::Json(200, list)], Some("g1")).await;
    let trouble = rote.session.get(Kind::Machine, "rack1compue01").await.unwrap_err();
    assert_eq!(trouble.exit, Exit::NotFound);
    assert_eq!(trouble.message, "there is no machine `rack1compue01`");
    assert_eq!(trouble.hint.as_deref(), Some("did you mean `rack1compute01`?"));
}

#[test]
fn a_context_comes_in_as_itself_though_another_has_the_same_server() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::new(directory.path());
    for name in ["admin", "tenant"] {
        let login = Login { client_id: name.to_owned(), client_secret: Secret::new("s") };
        let context = Context {
            server: "https://127.0.0.1:7101".to_owned(),
            subscription: "s1".to_owned(),
            resource_group: None,
            authority: None,
            login: Some(login),
            person: None,
        };
        save_current(&home, name, context).unwrap();
    }
    for (context, expected) in [(None, "tenant"), (Some("admin"), "admin"), (Some("tenant"), "tenant")] {
        let (query, resource_group, subscription, server) = (None, None, None, None);
        let global = GlobalArgs { output: Output::Json, query, resource_group, subscription, server, context: context.map(str::to_owned) };
        match Session::open(&global, &home).unwrap().access.pass {
            Some(Pass::Login(login)) => assert_eq!(login.client_id, expected),
            other => panic!("{other:?}"),
        }
    }
}
