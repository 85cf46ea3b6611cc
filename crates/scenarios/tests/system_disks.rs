//! The disk that a system goes to, as the SKU names it: made, found and written through the real drivers; and a second try after one
//! that failed.

use http::Method;
use keeper::Verdict;
use model::{Site, Sku};
use scenarios::{House, machine_path};
use serde_json::{Value, json};

const MACHINE: &str = "rack1compute01";

async fn house(change: impl Fn(&mut Sku)) -> House {
    let house = House::build(1, 4).await;
    house.import_runtimes().await;
    let verdict = house.describe_anew(|site: &mut Site| site.skus.iter_mut().for_each(change)).await;
    assert!(matches!(verdict, Verdict::TakenOver { .. }));
    house.settle().await;
    house
}

/// Has the action done to the machine; returns how it ended.
async fn act(house: &House, machine: &str, action: &str, body: &Value) -> Value {
    let path = format!("{}/{action}?api-version=1", machine_path(machine));
    let accepted = house.call(Method::POST, &path, "alice", &body.to_string()).await;
    let id = accepted.body["name"].as_str().unwrap_or_else(|| panic!("the {action} is accepted: {accepted:?}")).to_owned();
    house.until_ended(&id).await;
    house.settle().await;
    house.operation(&id).await
}

fn names(house: &House) -> Vec<String> {
    house.site.volumes(MACHINE).unwrap().into_iter().map(|(name, _)| name).collect()
}

#[tokio::test(start_paused = true)]
async fn a_replace_makes_the_volume_under_its_own_name_and_installs_on_it() {
    let house = house(|sku| sku.os_volume = Some("System".to_owned())).await;
    let ended = act(&house, MACHINE, "replace", &json!({ "safeguardMode": "None", "storagePolicy": "DiscardAll" })).await;
    assert_eq!(ended["status"], "Succeeded", "{ended:#}");
    assert_eq!(names(&house), ["System"]);
    let ended = act(&house, MACHINE, "reimage", &json!({ "safeguardMode": "None" })).await;
    assert_eq!(ended["status"], "Succeeded", "{ended:#}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_reimage_that_would_find_no_disk_touches_nothing() {
    let house = house(|sku| sku.os_volume = Some("System".to_owned())).await;
    let ended = act(&house, MACHINE, "reimage", &json!({ "safeguardMode": "None" })).await;
    let told = ended["message"].as_str().unwrap_or_default();
    assert!(told.contains("goes to volume `System`") && told.contains("nothing was touched"), "{ended:#}");
    let machine = house.machine(MACHINE).await;
    assert_eq!((&machine["properties"]["readyState"], &machine["properties"]["powerState"]), (&json!("True"), &json!("On")));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_machine_without_volumes_is_installed_on_the_drive_in_the_bay_that_its_sku_names() {
    let house = house(|sku| sku.os_drive = Some(1)).await;
    let ended = act(&house, MACHINE, "replace", &json!({ "safeguardMode": "None", "storagePolicy": "DiscardAll" })).await;
    assert_eq!(ended["status"], "Succeeded", "{ended:#}");
    assert_eq!(names(&house), ["drive 1"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_member_of_etcd_whose_first_reimage_failed_votes_again_after_the_second() {
    let house = House::build(4, 3).await;
    house.import_runtimes().await;
    let machine = "rack2control01";
    let orders = sim::parse_order(&format!("image-unreachable {machine}"), house.site.layout()).unwrap();
    house.site.add_faults(&orders).await.unwrap();
    let ended = act(&house, machine, "reimage", &json!({ "safeguardMode": "None" })).await;
    assert_eq!(ended["status"], "Failed", "{ended:#}");
    assert!(ended["message"].as_str().unwrap_or_default().contains("power Off"), "{ended:#}");
    house.site.clear_faults(|_| true).await.unwrap();
    let ended = act(&house, machine, "reimage", &json!({ "safeguardMode": "None" })).await;
    assert_eq!(ended["status"], "Succeeded", "{ended:#}");
    house.close().await;
}
