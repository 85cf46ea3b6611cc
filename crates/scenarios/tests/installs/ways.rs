//! By which way a machine is started to be installed, as its BMC offers it.

use futures::future::join_all;
use scenarios::House;
use serde_json::Value;

use crate::hand::{COMPUTE, ended, facts, fault, operation_of, post, site, succeed, unguarded};

fn ways(operation: &Value) -> Vec<&str> {
    facts(operation, "installing").filter_map(|fact| fact["way"].as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn virtual_media_comes_first_then_http_then_pxe() {
    let house = site(4).await;
    let operation = succeed(&house, COMPUTE, "reimage", &unguarded()).await;
    assert_eq!(ways(&operation), ["virtualMedia"]);
    fault(&house, "bmc-refuses-media", COMPUTE).await;
    let operation = succeed(&house, COMPUTE, "reimage", &unguarded()).await;
    assert_eq!(ways(&operation).last(), Some(&"uefiHttp"));
    house.close().await;

    // A runtime that has nothing for UEFI HTTP boot leaves PXE.
    let house = House::build(1, 4).await;
    let mut runtime = scenarios::runtime("4.9.2");
    runtime["properties"]["boot"].as_object_mut().expect("a runtime has ways").remove("http");
    house.import_runtime("4.9.2", &runtime).await;
    fault(&house, "bmc-refuses-media", COMPUTE).await;
    let operation = succeed(&house, COMPUTE, "reimage", &unguarded()).await;
    assert_eq!(ways(&operation).last(), Some(&"pxe"));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn machines_of_every_make_are_installed_at_once_and_no_tenants_volume_is_written() {
    let house = House::build(4, 3).await;
    house.import_runtimes().await;
    let machines: Vec<String> = (1..=4).map(|rack| format!("rack{rack}compute01")).collect();
    let makes: std::collections::BTreeSet<String> = machines
        .iter()
        .map(|name| format!("{:?}", house.site.layout().machines().iter().find(|machine| machine.name == *name).unwrap().vendor))
        .collect();
    assert_eq!(makes.len(), 4, "{makes:?}");
    let before: Vec<_> = machines.iter().map(|name| house.site.volumes(name).unwrap()).collect();
    let body = unguarded();
    let asked = join_all(machines.iter().map(|name| post(&house, name, "reimage", &body))).await;
    for ((name, reply), before) in machines.iter().zip(&asked).zip(before) {
        let operation = ended(&house, &operation_of(reply)).await;
        assert_eq!(operation["status"], "Succeeded", "{name}: {operation:#}");
        let after = house.site.volumes(name).unwrap();
        assert!(after[0].1.starts_with("system ") && after[0] != before[0], "{name}: {after:?}");
        assert!(after.len() > 1 && after[1..] == before[1..], "{name}: tenants' volumes are as they were");
    }
    house.close().await;
}
