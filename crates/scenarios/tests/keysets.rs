//! Key sets as a whole: users of machines come with an installation, users of BMCs are made on boards of several makes.

use http::Method;
use scenarios::{House, Reply, machine_path, resource_path};
use serde_json::{Value, json};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvqyFZzF9gQZ7u0x3mRrT1yZ0Jb3uK7n2mR2uDk0l6J";
const OTHER_KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn path(kind: &str, name: &str) -> String {
    format!("{}/{kind}/{name}?api-version=1", resource_path("clusters", "site1"))
}

fn user(name: &str) -> Value {
    json!({ "azureUserName": name, "sshPublicKey": { "keyData": KEY }, "userPrincipalName": format!("{name}@example.com") })
}

/// As far ahead as every story here lasts, and less than a year.
fn in_a_month(house: &House) -> String {
    (house.clock.now() + model::Span::hours(30 * 24)).to_string()
}

async fn put_bmc(house: &House, name: &str, users: Vec<Value>) -> Reply {
    let properties = json!({ "azureGroupId": "g", "expiration": in_a_month(house), "privilegeLevel": "ReadOnly", "userList": users });
    house.call(Method::PUT, &path("bmcKeySets", name), "alice", &json!({ "properties": properties }).to_string()).await
}

async fn status(house: &House, kind: &str, name: &str) -> String {
    let set = house.get(&path(kind, name)).await;
    let text = |pointer: &str| set.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    format!("{}: {}", text("/properties/detailedStatus"), text("/properties/detailedStatusMessage"))
}

/// Lets accounts be made and looked at.
async fn minutes(count: u64) {
    tokio::time::sleep(std::time::Duration::from_secs(60 * count)).await;
}

/// The users of a BMC but for the one that it was delivered with: `alice ReadOnly, 1 key`.
fn users_of(house: &House, machine: &str) -> Vec<String> {
    let accounts = house.site.accounts(machine).expect("a machine of the site");
    let added = accounts.into_iter().filter(|account| !["root", "Administrator", "USERID", "ADMIN"].contains(&account.user.as_str()));
    added.map(|account| format!("{} {} {}", account.user, account.role, account.keys.join(" "))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_key_set_for_machines_comes_with_a_reimage() {
    let house = House::build(1, 4).await;
    house.import_runtimes().await;
    let properties = json!({
        "azureGroupId": "g", "expiration": in_a_month(&house), "privilegeLevel": "Superuser", "userList": [user("alice")],
        "jumpHostsAllowed": ["10.0.0.0/24"], "osGroupName": "operators",
    });
    let body = json!({ "properties": properties }).to_string();
    let reply = house.call(Method::PUT, &path("bareMetalMachineKeySets", "ops"), "alice", &body).await;
    assert_eq!(reply.status.as_u16(), 201, "{}", reply.body);
    let told = status(&house, "bareMetalMachineKeySets", "ops").await;
    assert!(told.starts_with("Validating: 0 of ") && told.ends_with("the others get it when they are reimaged or replaced"), "{told}");
    let reimage = format!("{}/reimage?api-version=1", machine_path("rack1compute01"));
    let accepted = house.call(Method::POST, &reimage, "alice", r#"{"safeguardMode":"None"}"#).await;
    let operation = accepted.body["name"].as_str().unwrap_or_else(|| panic!("{}", accepted.body)).to_owned();
    house.until_ended(&operation).await;
    assert_eq!(house.operation(&operation).await["status"], "Succeeded");
    // The simulated system reads the address to phone to out of the user data that it was given.
    let told = status(&house, "bareMetalMachineKeySets", "ops").await;
    assert!(told.starts_with("Validating: 1 of "), "{told}");
    let change = json!({ "properties": { "userList": [user("alice"), user("bob")] } }).to_string();
    house.call(Method::PATCH, &path("bareMetalMachineKeySets", "ops"), "alice", &change).await;
    let told = status(&house, "bareMetalMachineKeySets", "ops").await;
    assert!(told.starts_with("Validating: 0 of "), "{told}");
    house.close().await;
}

/// A machine of each make: those whose boards take keys, and those whose boards do not.
fn makes(house: &House) -> (Vec<String>, Vec<String>) {
    let machines = (1..=4).map(|rack| format!("rack{rack}compute01"));
    let takes_keys = |machine: &String| {
        let model = house.site.parts(machine).expect("a machine of the site").model;
        model.starts_with("PowerEdge") || model.starts_with("ProLiant")
    };
    machines.partition(takes_keys)
}

/// Lets time pass until every board that can has the key set as it is now.
async fn until_applied(house: &House, name: &str) {
    for _ in 0..20 {
        minutes(1).await;
        if !status(house, "bmcKeySets", name).await.starts_with("Validating") {
            return;
        }
    }
    panic!("{}", status(house, "bmcKeySets", name).await);
}

#[tokio::test(start_paused = true)]
async fn a_key_set_for_bmcs_is_made_on_boards_of_two_makes_changed_and_removed() {
    let house = House::build(4, 3).await;
    let (with_keys, without) = makes(&house);
    assert_eq!((with_keys.len(), without.len()), (2, 2));
    assert_eq!(put_bmc(&house, "admins", vec![user("alice"), user("bob")]).await.status.as_u16(), 201);
    until_applied(&house, "admins").await;
    let both = [format!("alice ReadOnly {KEY}"), format!("bob ReadOnly {KEY}")];
    for machine in &with_keys {
        assert_eq!(users_of(&house, machine), both, "{machine}");
    }
    let set = house.get(&path("bmcKeySets", "admins")).await;
    let told = set["properties"]["userListStatus"][0]["statusMessage"].as_str().unwrap_or_default();
    assert!(told.contains("its BMC offers no SSH keys for accounts"), "{told}");
    for machine in &without {
        assert_eq!(users_of(&house, machine), Vec::<String>::new(), "{machine}");
    }
    let mut bob = user("bob");
    bob["sshPublicKey"]["keyData"] = json!(OTHER_KEY);
    let change = json!({ "properties": { "userList": [bob] } }).to_string();
    house.call(Method::PATCH, &path("bmcKeySets", "admins"), "alice", &change).await;
    until_applied(&house, "admins").await;
    for machine in &with_keys {
        assert_eq!(users_of(&house, machine), [format!("bob ReadOnly {OTHER_KEY}")], "{machine}");
    }
    let gone = house.call(Method::DELETE, &path("bmcKeySets", "admins"), "alice", "").await;
    assert_eq!(gone.status.as_u16(), 204);
    minutes(3).await;
    for machine in &with_keys {
        assert_eq!(users_of(&house, machine), Vec::<String>::new(), "{machine}");
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_that_dies_in_between_ends_with_the_same_accounts() {
    for moment in [50, 150, 300, 600, 1_200] {
        let mut house = House::build(4, 3).await;
        minutes(1).await;
        put_bmc(&house, "admins", vec![user("alice"), user("bob")]).await;
        tokio::time::sleep(std::time::Duration::from_millis(moment)).await;
        house.crash().await;
        house.start_control_plane().await;
        until_applied(&house, "admins").await;
        for machine in &makes(&house).0 {
            assert_eq!(users_of(&house, machine).len(), 2, "{machine}, died after {moment} ms");
        }
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_eleventh_user_is_refused_and_nothing_is_changed() {
    let house = House::build(1, 4).await;
    let users = |range: std::ops::Range<u32>| range.map(|n| user(&format!("user{n}"))).collect::<Vec<_>>();
    assert_eq!(put_bmc(&house, "first", users(0..8)).await.status.as_u16(), 201);
    let refused = put_bmc(&house, "second", users(8..11)).await;
    assert_eq!((refused.status.as_u16(), &refused.body["error"]["code"]), (400, &json!("KeySetLimit")), "{}", refused.body);
    let listed = house.get(&format!("{}/bmcKeySets?api-version=1", resource_path("clusters", "site1"))).await;
    assert_eq!(listed["value"].as_array().map(Vec::len), Some(1));
    house.close().await;
}
