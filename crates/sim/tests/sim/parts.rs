//! The parts of a machine over HTTP: what it was built from, and what its sensors read.

use http::StatusCode;
use serde_json::{Value, json};
use sim::{Quirk, Vendor};

use crate::harness::{Harness, pass};
use crate::peers::VENDORS;

async fn members(harness: &Harness, machine: &str, path: &str) -> Vec<Value> {
    let list = harness.read(machine, path).await;
    let mut found = Vec::new();
    for member in list["Members"].as_array().unwrap() {
        found.push(harness.read(machine, member["@odata.id"].as_str().unwrap()).await);
    }
    found
}

#[tokio::test(start_paused = true)]
async fn a_port_without_a_link_is_shown_as_such_while_the_fault_lasts() {
    let harness = Harness::start().await;
    let path = format!("{}/EthernetInterfaces", harness.system_path("rack1compute01").await);
    let links = async || {
        let ports = members(&harness, "rack1compute01", &path).await;
        ports.iter().map(|port| port["LinkStatus"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    harness.fault("link-down rack1compute01 port=2").await;
    assert_eq!(links().await[..2], ["LinkUp", "LinkDown"]);
    harness.mend().await;
    assert_eq!(links().await[..2], ["LinkUp", "LinkUp"]);
}

#[tokio::test(start_paused = true)]
async fn every_machine_lists_its_parts_and_they_add_up() {
    let harness = Harness::start().await;
    for vendor in VENDORS {
        let machine = harness.of(vendor);
        let path = harness.system_path(&machine).await;
        let system = harness.read(&machine, &path).await;
        let sum = |parts: &[Value], property: &str| parts.iter().map(|part| part[property].as_u64().unwrap()).sum::<u64>();
        let processors = members(&harness, &machine, &format!("{path}/Processors")).await;
        assert_eq!(system["ProcessorSummary"]["CoreCount"], sum(&processors, "TotalCores"), "{vendor:?}");
        let memory = members(&harness, &machine, &format!("{path}/Memory")).await;
        assert_eq!(system["MemorySummary"]["TotalSystemMemoryGiB"], sum(&memory, "CapacityMiB") / 1_024, "{vendor:?}");
        let ports = members(&harness, &machine, &format!("{path}/EthernetInterfaces")).await;
        assert_eq!(ports[0]["MACAddress"], harness.machine(&machine).boot_mac, "{vendor:?}");
        assert_eq!([&ports[0]["LinkStatus"], &ports[3]["LinkStatus"]], ["LinkUp", "LinkDown"], "{vendor:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn sensors_fall_silent_when_the_power_goes() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let sensors = "/redfish/v1/Chassis/System.Embedded.1/Sensors";
    let fan = "/redfish/v1/Chassis/System.Embedded.1/ThermalSubsystem/Fans/Fan1";
    assert!(harness.read(&machine, &format!("{sensors}/CPU1Temp")).await["Reading"].as_f64().unwrap() > 40.0);
    assert!(harness.read(&machine, fan).await["SpeedPercent"]["Reading"].as_f64().unwrap() > 30.0);
    harness.reset(&machine, "ForceOff").await;
    pass(6).await;
    let temperature = harness.read(&machine, &format!("{sensors}/CPU1Temp")).await;
    assert_eq!((&temperature["Reading"], &temperature["Status"]["State"]), (&Value::Null, &json!("UnavailableOffline")));
    assert_eq!(harness.read(&machine, fan).await["SpeedPercent"]["SpeedRPM"], 0.0);
    assert!(harness.read(&machine, &format!("{sensors}/InletTemp")).await["Reading"].is_number(), "the BMC lives on");
}

#[tokio::test(start_paused = true)]
async fn a_bmc_gets_wrong_only_what_it_was_told_to() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Supermicro);
    let path = harness.system_path(&machine).await;
    let status = |part: &'static str| {
        let (harness, machine, path) = (&harness, &machine, format!("{path}/{part}"));
        async move { harness.bmc(machine, "GET", &path, "").await.status }
    };
    let date = || async { harness.read(&machine, "/redfish/v1/Managers/1").await["DateTime"].as_str().unwrap().to_owned() };
    assert_eq!((status("Processors").await, status("Memory").await), (StatusCode::OK, StatusCode::OK));
    assert_eq!(date().await, "2026-11-15T09:00:00Z");
    harness.site.set_quirks(&machine, &Quirk::ALL).unwrap();
    assert_eq!((status("Processors").await, status("Memory").await), (StatusCode::NOT_FOUND, StatusCode::NOT_IMPLEMENTED));
    assert_eq!(date().await, "2026-11-15 09:00:00");
    assert_eq!(harness.read(&machine, &format!("{path}/Memory/1")).await["CapacityMiB"], "32 GB");
    harness.site.set_quirks(&machine, &[]).unwrap();
    assert_eq!(date().await, "2026-11-15T09:00:00Z");
    assert_eq!(harness.site.set_quirks("rack9compute01", &[]), None);
}
