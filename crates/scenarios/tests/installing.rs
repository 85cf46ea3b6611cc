//! Installations as a whole: keeper, install face, image server and the simulated machine, each over its own protocol.

use model::{Action, Ask, ClusterName, CorrelationId, MachineName, Outage, REQUEST_LIFE, Request, RequestId, Safeguard, keys};
use scenarios::{House, resource_path};
use serde_json::Value;
use store::Commit;

/// Asks for a reimage as the API would; returns its operation.
async fn reimage(house: &House, machine: &str) -> String {
    let (now, cluster) = (house.clock.now(), ClusterName::new("site1").unwrap());
    let id = RequestId::new(format!("reimage-{machine}"));
    let request = Request {
        id: id.clone(),
        cluster: cluster.clone(),
        ask: Ask::Act {
            machine: MachineName::new(machine).unwrap(),
            action: Action::Reimage { safeguard: Safeguard::None },
            outage: Outage::Refused,
            replacement: None,
        },
        caller: "alice".to_owned(),
        correlation_id: CorrelationId::new("c1"),
        key: None,
        sent: None,
        received_at: now,
        expires_at: now + REQUEST_LIFE,
        verdict: None,
    };
    let key = keys::request(&cluster, &id);
    house.store.commit(Commit::default().put(key.clone(), serde_json::to_vec(&request).unwrap())).await.unwrap();
    house.settle().await;
    let judged = house.store.get(&key).await.unwrap().expect("a judged request is kept for a while");
    let judged: Value = serde_json::from_slice(&judged.value).unwrap();
    judged["verdict"]["operation"].as_str().unwrap_or_else(|| panic!("{judged:#}")).to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_reimaged_machine_gets_its_system_from_us_and_joins_again() {
    let house = House::build(1, 4).await;
    house.import_runtimes().await;
    let before = house.site.volumes("rack1compute01").unwrap();
    let operation = reimage(&house, "rack1compute01").await;
    house.until_ended(&operation).await;
    let ended = house.operation(&operation).await;
    assert_eq!(ended["status"], "Succeeded", "{ended:#}");
    house.settle().await;
    let machine = house.machine("rack1compute01").await;
    assert_eq!(machine["properties"]["readyState"], "True", "{machine:#}");
    assert_eq!(machine["properties"]["cordonStatus"], "Cordoned");
    let after = house.site.volumes("rack1compute01").unwrap();
    let changed: Vec<&str> = before.iter().zip(&after).filter(|(a, b)| a != b).map(|((name, _), _)| name.as_str()).collect();
    assert_eq!(changed, ["OS"], "nothing but the system is written");
    let runtime = house.get(&format!("{}/runtimes/4.9.2?api-version=1", resource_path("clusters", "site1"))).await;
    assert_eq!(runtime["rackwright"]["machines"], 1);
    house.close().await;
}

/// Reimages a machine with the site's runtime changed like this, and returns what the operation says at its end.
async fn fail_with(change: impl FnOnce(&mut Value)) -> String {
    let house = House::build(1, 4).await;
    let mut runtime = scenarios::runtime("4.9.2");
    change(&mut runtime["properties"]);
    house.import_runtime("4.9.2", &runtime).await;
    let operation = reimage(&house, "rack1compute01").await;
    house.until_ended(&operation).await;
    let ended = house.operation(&operation).await;
    assert_eq!(ended["status"], "Failed", "{ended:#}");
    house.close().await;
    ended["message"].as_str().unwrap_or_else(|| panic!("{ended:#}")).to_owned()
}

#[tokio::test(start_paused = true)]
async fn an_image_that_cannot_be_fetched_fails_the_installation_with_that_reason() {
    let told = fail_with(|runtime| runtime["boot"]["agentImage"]["url"] = "http://nowhere.invalid/agent.iso".into()).await;
    assert!(told.contains("the image cannot be fetched") && told.contains("http://nowhere.invalid/agent.iso"), "{told}");
    let told = fail_with(|runtime| runtime["osImage"]["url"] = "http://nowhere.invalid/os.img".into()).await;
    assert!(told.contains("the image cannot be fetched"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_wrong_digest_fails_the_installation_with_that_reason() {
    let told = fail_with(|runtime| runtime["boot"]["agentImage"]["sha256"] = "0".repeat(64).into()).await;
    assert!(told.contains("the image's digest is wrong") && told.contains("/images/4.9.2/agent.iso"), "{told}");
    let told = fail_with(|runtime| runtime["osImage"]["sha256"] = "0".repeat(64).into()).await;
    assert!(told.contains("the image's digest is wrong"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_member_of_the_control_plane_leaves_etcd_is_reimaged_and_votes_again() {
    let house = House::build(4, 3).await;
    house.import_runtimes().await;
    let operation = reimage(&house, "rack2control01").await;
    house.until_ended(&operation).await;
    let ended = house.operation(&operation).await;
    assert_eq!(ended["status"], "Succeeded", "{ended:#}");
    let journal = ended["journal"].as_array().expect("an operation has a journal");
    let leaving = journal.iter().map(|entry| &entry["fact"]).find(|fact| fact["kind"] == "leavingEtcd").expect("it left etcd");
    assert_eq!(leaving["others"].as_array().map(Vec::len), Some(2), "the machine is told of those who stayed");
    house.close().await;
}
