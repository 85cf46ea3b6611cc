//! Hardware validation over the real driver: what is compared, what a BMC does not offer, and what is never held against a machine.

use scenarios::{House, machine_path};
use serde_json::{Value, json};
use sim::Swap;

use crate::hand::{COMPUTE, carry_out, clear_faults, fault, site, succeed};

const CATEGORIES: [&str; 6] = ["system_info", "drive_info", "network_info", "health_info", "boot_info", "device_login"];

async fn validation(house: &House, machine: &str) -> Value {
    house.get(&format!("{}/hardwareValidation?api-version=1", machine_path(machine))).await["properties"].clone()
}

fn fields<'a>(validation: &'a Value, category: &str) -> &'a Vec<Value> {
    validation[category]["result_detail"].as_array().unwrap_or_else(|| panic!("no {category}: {validation:#}"))
}

fn field<'a>(validation: &'a Value, category: &str, name: &str) -> &'a Value {
    let found = fields(validation, category).iter().find(|field| field["field_name"].as_str().unwrap().contains(name));
    found.unwrap_or_else(|| panic!("no {name}: {validation:#}"))
}

/// What must not change when nothing is known against a machine.
async fn standing(house: &House, machine: &str) -> Value {
    let properties = house.machine(machine).await["properties"].clone();
    let told = ["detailedStatus", "detailedStatusMessage", "provisioningState", "cordonStatus", "powerState", "readyState"];
    told.into_iter().map(|name| (name.to_owned(), properties[name].clone())).collect::<serde_json::Map<_, _>>().into()
}

#[tokio::test(start_paused = true)]
async fn every_make_is_compared_in_every_category_and_what_it_does_not_offer_is_never_passed() {
    let house = House::build(4, 3).await;
    house.import_runtimes().await;
    let mut not_offered = 0;
    for rack in 1..=4 {
        let machine = format!("rack{rack}compute01");
        succeed(&house, &machine, "validateHardware", &json!({})).await;
        let validation = validation(&house, &machine).await;
        assert_eq!(validation["result"], "Pass", "{machine}: {validation:#}");
        for category in CATEGORIES {
            assert!(!fields(&validation, category).is_empty(), "{machine} has no {category}");
            for field in fields(&validation, category).iter().filter(|field| field["fetched"] == "not offered") {
                assert_eq!(field["comparison_result"], "Info", "{machine}: {field}");
                not_offered += 1;
            }
        }
        let machine = house.machine(&machine).await;
        assert_eq!(machine["properties"]["hardwareValidationStatus"]["result"], "Pass", "{machine:#}");
    }
    assert!(not_offered > 0, "some make does not offer something");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn each_missing_part_fails_its_own_field_with_what_was_expected_and_fetched() {
    let house = site(4).await;
    let cases = [
        ("memory-missing", "system_info", "memory_capacity_GB"),
        ("nic-missing", "network_info", "LinkStatus"),
        ("drive-missing", "drive_info", "Capacity_GB"),
    ];
    for (kind, category, name) in cases {
        fault(&house, kind, COMPUTE).await;
        let operation = succeed(&house, COMPUTE, "validateHardware", &json!({})).await;
        assert!(operation["message"].as_str().unwrap().contains(name), "{kind}: {operation:#}");
        let told = validation(&house, COMPUTE).await;
        let failed: Vec<&Value> = fields(&told, category).iter().filter(|field| field["comparison_result"] == "Fail").collect();
        assert!(failed.iter().any(|field| field["field_name"].as_str().unwrap().contains(name)), "{kind}: {told:#}");
        assert!(failed.iter().all(|field| field["expected"] != field["fetched"]), "{kind}: {failed:?}");
        assert_eq!(told["result"], "Fail");
        assert_eq!(house.machine(COMPUTE).await["properties"]["hardwareValidationStatus"]["result"], "Fail");
        clear_faults(&house).await;
        succeed(&house, COMPUTE, "validateHardware", &json!({})).await;
        assert_eq!(validation(&house, COMPUTE).await["result"], "Pass", "{kind} has gone");
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn firmware_below_what_the_runtime_asks_for_fails() {
    let house = House::build(1, 4).await;
    let model = house.site.parts(COMPUTE).unwrap().model;
    let mut runtime = scenarios::runtime("4.9.2");
    runtime["properties"]["firmware"] = json!([{ "model": model, "component": "BIOS", "minimum": "99.0.0" }]);
    house.import_runtime("4.9.2", &runtime).await;
    succeed(&house, COMPUTE, "validateHardware", &json!({})).await;
    let told = validation(&house, COMPUTE).await;
    let firmware = field(&told, "system_info", "unsupported_firmware_check");
    assert_eq!((&firmware["comparison_result"], &told["result"]), (&"Fail".into(), &"Fail".into()), "{firmware}");
    assert!(firmware["expected"].as_str().unwrap().contains("99.0.0"), "{firmware}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_login_that_the_bmc_refuses_is_never_held_against_the_machine() {
    let house = site(4).await;
    succeed(&house, COMPUTE, "validateHardware", &json!({})).await;
    fault(&house, "bmc-401", COMPUTE).await;
    tokio::time::sleep(std::time::Duration::from_secs(300)).await;
    let (before, passed) = (standing(&house, COMPUTE).await, validation(&house, COMPUTE).await["result"].clone());
    let operation = carry_out(&house, COMPUTE, "validateHardware", &json!({})).await;
    assert!(operation["message"].as_str().unwrap().contains("Unauthorized"), "{operation:#}");
    assert_eq!(standing(&house, COMPUTE).await, before);
    assert_eq!(
        (passed, &house.machine(COMPUTE).await["properties"]["hardwareValidationStatus"]["result"]),
        ("Pass".into(), &"Pass".into())
    );
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_board_that_nobody_told_us_of_is_found_out_and_not_believed() {
    let house = site(4).await;
    let swap = Swap { parts: Vec::new(), serial_number: Some("OTHER1".into()), bmc_mac: None, boot_mac: None, bmc_password: None };
    house.site.swap(COMPUTE, &swap).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(300)).await;
    let operation = carry_out(&house, COMPUTE, "validateHardware", &json!({})).await;
    assert!(operation["message"].as_str().unwrap().contains("OTHER1"), "{operation:#}");
    assert_ne!(house.machine(COMPUTE).await["properties"]["serialNumber"], "OTHER1");
    house.close().await;
}
