//! Inventory and firmware: parts that are told, not offered, broken, or listed but not readable.

use expect_test::expect;
use fake::{Fake, SYSTEM, json, text};
use model::FaultClass;
use redfish::{Health, Part};
use serde_json::{Value, json};

use crate::fake;

fn linked(path: &str) -> Value {
    json!({"@odata.id": path})
}

fn machine() -> Fake {
    Fake::ordinary()
        .holding(&[
            (
                SYSTEM,
                json!({
                    "PowerState": "On", "BiosVersion": "2.1", "Status": {"Health": "OK", "HealthRollup": "Warning"},
                    "ProcessorSummary": {"Count": 2}, "MemorySummary": {"TotalSystemMemoryGiB": "384.0"},
                    "Processors": linked("/p"), "Memory": linked("/m"), "Storage": linked("/s"),
                }),
            ),
            ("/p", json!({"Members": [linked("/p/1"), linked("/p/2"), linked("/p/3"), null]})),
            ("/p/1", json!({"Model": "Xeon", "TotalCores": 32})),
            ("/p/3", json!({"Status": {"State": "Absent"}})),
            ("/s", json!({"Members": [linked("/s/1")]})),
            ("/s/1", json!({"Name": "RAID", "Drives": [linked("/s/1/d/0"), linked("/s/1/d/1")], "Volumes": linked("/s/1/v")})),
            ("/s/1/d/0", json!({"SerialNumber": "A"})),
            ("/s/1/d/1", json!({"SerialNumber": "B", "Status": {"Health": "Critical"}})),
            ("/s/1/v", json!({"Members": [linked("/s/1/v/0")]})),
            ("/s/1/v/0", json!({"RAIDType": "RAID1", "Links": {"Drives": [linked("/s/1/d/0"), linked("/s/1/d/1")]}})),
        ])
        .on("GET /p/2", text(500, ""))
        .on("GET /m", text(503, ""))
}

#[tokio::test]
async fn each_part_is_told_on_its_own() {
    let inventory = machine().bmc().observe_inventory().await.unwrap();
    assert_eq!((inventory.bios_version.as_deref(), inventory.health), (Some("2.1"), Some(Health::Warning)));
    assert_eq!((inventory.processor_count, inventory.memory_gib), (Some(2), Some(384)));
    let processors = inventory.processors.read().unwrap();
    assert_eq!(processors.members.len(), 1, "an empty socket is no processor");
    assert_eq!(processors.unread, 2, "one answers with an error, one is no link");
    let Part::Unread(fault) = &inventory.memory else { panic!("{:?}", inventory.memory) };
    assert_eq!(fault.class, FaultClass::Busy);
    assert_eq!(inventory.nics, Part::NotOffered);
    let storage = &inventory.storage.read().unwrap().members[0];
    let serials: Vec<_> = storage.drives.members.iter().map(|drive| drive.serial.as_deref().unwrap()).collect();
    assert_eq!(serials, ["A", "B"]);
    assert_eq!(storage.drives.members[1].health, Some(Health::Critical));
    let volumes = storage.volumes.read().unwrap();
    assert_eq!(
        (volumes.members[0].raid.as_deref(), &volumes.members[0].drives[..]),
        (Some("RAID1"), &["/s/1/d/0".to_owned(), "/s/1/d/1".to_owned()][..])
    );
}

#[tokio::test]
async fn an_empty_list_is_not_the_same_as_no_list() {
    let fake = Fake::ordinary()
        .holding(&[
            (SYSTEM, json!({"Processors": linked("/p"), "EthernetInterfaces": linked("/n"), "Memory": linked("/m")})),
            ("/p", json!({"Members": []})),
        ])
        .on("GET /n", text(404, ""))
        .on("GET /m", text(501, ""));
    let inventory = fake.bmc().observe_inventory().await.unwrap();
    assert_eq!(inventory.processors.read().map(|listing| (listing.members.len(), listing.unread)), Some((0, 0)));
    assert_eq!((inventory.nics, inventory.memory), (Part::NotOffered, Part::NotOffered));
}

#[tokio::test]
async fn a_bmc_that_expands_collections_is_asked_once_for_each() {
    let root = json!({"ProtocolFeaturesSupported": {"ExpandQuery": {"NoLinks": true, "Levels": true}}});
    let member = json!({"@odata.id": "/p/1", "Id": "CPU.1", "TotalCores": 8});
    let fake = Fake::ordinary().holding(&[
        ("/redfish/v1/", root),
        (SYSTEM, json!({"Processors": linked("/p")})),
        ("/p", json!({"Members": [member]})),
    ]);
    let inventory = fake.bmc().observe_inventory().await.unwrap();
    assert_eq!(inventory.processors.read().unwrap().members[0].cores, Some(8));
    assert_eq!(fake.take_log().matches("GET /p").count(), 1);
}

#[tokio::test]
async fn pages_are_followed_but_not_in_a_circle() {
    let fake = Fake::ordinary()
        .holding(&[
            (SYSTEM, json!({"Memory": linked("/m")})),
            ("/m", json!({"Members": [{"@odata.id": "/m/1", "CapacityMiB": 1}], "Members@odata.nextLink": "/m2"})),
        ])
        .on("GET /m2", json(200, &json!({"Members": [{"@odata.id": "/m/2", "CapacityMiB": 2}], "Members@odata.nextLink": "/m2"})));
    let inventory = fake.bmc().observe_inventory().await.unwrap();
    let memory = inventory.memory.read().unwrap();
    assert_eq!((memory.members.len(), memory.unread), (redfish::MAX_MEMBERS, 1), "there is more, however much it is");
}

#[tokio::test]
async fn firmware_is_listed_or_unsupported() {
    let fault = Fake::ordinary().bmc().observe_firmware().await.unwrap_err();
    expect!["unsupported: this BMC offers no firmware service"].assert_eq(&fault.to_string());
    let fake = Fake::ordinary().holding(&[
        ("/redfish/v1/", json!({"UpdateService": linked("/u")})),
        ("/u", json!({"FirmwareInventory": linked("/f")})),
        ("/f", json!({"Members": [linked("/f/Previous-159-1.9"), linked("/f/BIOS"), linked("/f/gone"), linked("/f/a")]})),
        ("/f/Previous-159-1.9", json!({"Name": "BIOS", "Version": "1.9", "Updateable": true})),
        ("/f/a", json!({"Id": "Available-159-2.2", "Name": "BIOS", "Version": "2.2"})),
        ("/f/BIOS", json!({"Name": "BIOS", "Version": "2.1", "Updateable": true})),
    ]);
    let firmware = fake.bmc().observe_firmware().await.unwrap();
    assert_eq!((firmware.unread, firmware.members.len()), (1, 1), "only what runs counts");
    let bios = &firmware.members[0];
    assert_eq!((bios.id.as_str(), bios.version.as_deref(), bios.updateable), ("BIOS", Some("2.1"), Some(true)));
    let fake = fake.now("GET /f", text(404, ""));
    let fault = fake.bmc().observe_firmware().await.unwrap_err();
    expect!["unsupported: this BMC offers no firmware inventory"].assert_eq(&fault.to_string());
}
