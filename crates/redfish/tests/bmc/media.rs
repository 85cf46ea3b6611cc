//! Virtual media in each maker's way.

use expect_test::{Expect, expect};
use fake::{Fake, SYSTEM, tagged, text};
use http::Uri;
use model::FaultClass;
use redfish::MediaSeen;
use serde_json::{Value, json};

use crate::fake;

const MANAGER: &str = "/redfish/v1/Managers/1";
const OF_SYSTEM: &str = "/redfish/v1/Systems/1/VirtualMedia";
const OF_MANAGER: &str = "/redfish/v1/Managers/1/VirtualMedia";

fn linked(path: &str) -> Value {
    json!({"@odata.id": path})
}

fn collection(of: &str, ids: &[&str]) -> Value {
    json!({"Members": ids.iter().map(|id| linked(&format!("{of}/{id}"))).collect::<Vec<_>>()})
}

fn slot(path: &str, types: &[&str]) -> Value {
    let action = |name: &str| json!({"target": format!("{path}/Actions/VirtualMedia.{name}")});
    json!({"MediaTypes": types, "Inserted": false, "Image": null, "Actions": {
        "#VirtualMedia.InsertMedia": action("InsertMedia"), "#VirtualMedia.EjectMedia": action("EjectMedia"),
    }})
}

/// Looks, inserts, ejects, and compares what was asked.
async fn check(fake: Fake, expected: Expect) {
    let answered = ["InsertMedia", "EjectMedia"].iter().flat_map(|name| {
        [OF_SYSTEM, OF_MANAGER].map(|of| ["1", "2", "CD"].map(|id| format!("POST {of}/{id}/Actions/VirtualMedia.{name}")))
    });
    let fake = answered.flatten().fold(fake, |fake, asked| fake.on(&asked, text(204, "")));
    let bmc = fake.bmc();
    assert_eq!(bmc.observe_media().await, Ok(MediaSeen::Empty));
    bmc.request_insert_media(&Uri::from_static("http://10.0.0.9/agent.iso")).await.unwrap();
    bmc.request_eject_media().await.unwrap();
    expected.assert_eq(&fake.take_requests());
}

#[tokio::test]
async fn dell_has_it_under_both_and_the_systems_is_used() {
    let fake = Fake::ordinary().holding(&[
        (SYSTEM, json!({"Manufacturer": "Dell Inc.", "VirtualMedia": linked(OF_SYSTEM), "Links": {"ManagedBy": [linked(MANAGER)]}})),
        (OF_SYSTEM, collection(OF_SYSTEM, &["1", "2"])),
        ("/redfish/v1/Systems/1/VirtualMedia/1", slot(&format!("{OF_SYSTEM}/1"), &["CD", "DVD", "USBStick"])),
        ("/redfish/v1/Systems/1/VirtualMedia/2", slot(&format!("{OF_SYSTEM}/2"), &["CD", "DVD", "USBStick"])),
    ]);
    let expected = expect![[r#"
        POST /redfish/v1/Systems/1/VirtualMedia/1/Actions/VirtualMedia.InsertMedia token1 {"Image":"http://10.0.0.9/agent.iso","Inserted":true,"WriteProtected":true}
        POST /redfish/v1/Systems/1/VirtualMedia/1/Actions/VirtualMedia.EjectMedia token1 {}
    "#]];
    check(fake, expected).await;
}

#[tokio::test]
async fn hpe_has_it_under_the_manager_without_a_link_and_the_cd_is_not_the_first_slot() {
    let fake = Fake::ordinary().holding(&[
        (SYSTEM, json!({"Manufacturer": "HPE", "Links": {"ManagedBy": [linked(MANAGER)]}})),
        (MANAGER, json!({"VirtualMedia": linked(OF_MANAGER)})),
        (OF_MANAGER, collection(OF_MANAGER, &["1", "2"])),
        ("/redfish/v1/Managers/1/VirtualMedia/1", slot(&format!("{OF_MANAGER}/1"), &["Floppy", "USBStick"])),
        ("/redfish/v1/Managers/1/VirtualMedia/2", slot(&format!("{OF_MANAGER}/2"), &["CD", "DVD"])),
    ]);
    let expected = expect![[r#"
        POST /redfish/v1/Managers/1/VirtualMedia/2/Actions/VirtualMedia.InsertMedia token1 {"Image":"http://10.0.0.9/agent.iso","Inserted":true,"WriteProtected":true}
        POST /redfish/v1/Managers/1/VirtualMedia/2/Actions/VirtualMedia.EjectMedia token1 {}
    "#]];
    check(fake, expected).await;
}

#[tokio::test]
async fn a_system_that_names_no_manager_has_the_managers_that_there_are() {
    let fake = Fake::ordinary().holding(&[
        ("/redfish/v1/Managers", json!({"Members": [linked(MANAGER)]})),
        (MANAGER, json!({"VirtualMedia": linked(OF_MANAGER)})),
        (OF_MANAGER, collection(OF_MANAGER, &["2"])),
        ("/redfish/v1/Managers/1/VirtualMedia/2", slot(&format!("{OF_MANAGER}/2"), &["CD"])),
    ]);
    let expected = expect![[r#"
        POST /redfish/v1/Managers/1/VirtualMedia/2/Actions/VirtualMedia.InsertMedia token1 {"Image":"http://10.0.0.9/agent.iso","Inserted":true,"WriteProtected":true}
        POST /redfish/v1/Managers/1/VirtualMedia/2/Actions/VirtualMedia.EjectMedia token1 {}
    "#]];
    check(fake, expected).await;
}

#[tokio::test]
async fn supermicro_links_from_the_system_to_the_managers() {
    let fake = Fake::ordinary().holding(&[
        (SYSTEM, json!({"Manufacturer": "Supermicro", "VirtualMedia": linked(OF_MANAGER)})),
        (OF_MANAGER, collection(OF_MANAGER, &["CD"])),
        ("/redfish/v1/Managers/1/VirtualMedia/CD", slot(&format!("{OF_MANAGER}/CD"), &["CD", "DVD"])),
    ]);
    let expected = expect![[r#"
        POST /redfish/v1/Managers/1/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia token1 {"Image":"http://10.0.0.9/agent.iso","Inserted":true,"WriteProtected":true}
        POST /redfish/v1/Managers/1/VirtualMedia/CD/Actions/VirtualMedia.EjectMedia token1 {}
    "#]];
    check(fake, expected).await;
}

#[tokio::test]
async fn lenovo_offers_no_action_and_an_ext_slot_is_written_to() {
    let plain = json!({"MediaTypes": ["CD", "USBStick"], "Inserted": false});
    let fake = Fake::ordinary()
        .holding(&[
            (SYSTEM, json!({"Manufacturer": "Lenovo", "VirtualMedia": linked(OF_SYSTEM)})),
            (OF_SYSTEM, collection(OF_SYSTEM, &["RDOC1", "EXT1", "EXT2"])),
            ("/redfish/v1/Systems/1/VirtualMedia/RDOC1", plain.clone()),
            ("/redfish/v1/Systems/1/VirtualMedia/EXT2", plain.clone()),
        ])
        .on("GET /redfish/v1/Systems/1/VirtualMedia/EXT1", tagged(&plain, "\"7\"", "GET, PATCH"))
        .on("PATCH /redfish/v1/Systems/1/VirtualMedia/EXT1", text(204, ""));
    let expected = expect![[r#"
        PATCH /redfish/v1/Systems/1/VirtualMedia/EXT1 token1 if "7" {"Image":"http://10.0.0.9/agent.iso","Inserted":true,"WriteProtected":true}
        PATCH /redfish/v1/Systems/1/VirtualMedia/EXT1 token1 if "7" {"Image":null,"Inserted":false}
    "#]];
    check(fake, expected).await;
}

#[tokio::test]
async fn a_link_from_the_system_that_leads_nowhere_is_made_up_for_by_the_manager() {
    let fake = Fake::ordinary()
        .holding(&[
            (SYSTEM, json!({"VirtualMedia": linked(OF_SYSTEM), "Links": {"ManagedBy": [linked(MANAGER)]}})),
            (MANAGER, json!({"VirtualMedia": linked(OF_MANAGER)})),
            (OF_MANAGER, collection(OF_MANAGER, &["broken", "CD"])),
            ("/redfish/v1/Managers/1/VirtualMedia/CD", json!({"MediaTypes": ["CD"], "Image": "http://x/y.iso"})),
        ])
        .on("GET /redfish/v1/Systems/1/VirtualMedia", text(501, ""));
    assert_eq!(fake.bmc().observe_media().await, Ok(MediaSeen::Inserted { image: Some("http://x/y.iso".into()) }));
}

#[tokio::test]
async fn a_bmc_without_virtual_media_is_unsupported() {
    let bmc = Fake::ordinary().bmc();
    let fault = bmc.request_insert_media(&Uri::from_static("http://10.0.0.9/agent.iso")).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Unsupported);
    expect!["unsupported: this BMC offers no virtual CD drive"].assert_eq(&fault.to_string());
}

#[tokio::test]
async fn a_drive_that_cannot_be_looked_at_just_now_is_not_taken_for_one_that_is_not_there() {
    let system = json!({"VirtualMedia": linked(OF_SYSTEM), "Links": {"ManagedBy": [linked(MANAGER)]}});
    let fake = || Fake::ordinary().holding(&[(SYSTEM, system.clone()), (MANAGER, json!({}))]);
    let cases = [
        (fake().on(&format!("GET {OF_SYSTEM}"), text(503, "")), expect!["busy: GET /redfish/v1/Systems/1/VirtualMedia answered 503"]),
        (fake().now(&format!("GET {MANAGER}"), text(500, "")), expect!["garbled: GET /redfish/v1/Managers/1 answered 500"]),
        (fake().now(&format!("GET {MANAGER}"), text(403, "")), expect!["denied: GET /redfish/v1/Managers/1 answered 403"]),
        (
            fake().holding(&[(OF_SYSTEM, collection(OF_SYSTEM, &["1"]))]).on(&format!("GET {OF_SYSTEM}/1"), text(503, "")),
            expect!["garbled: GET /redfish/v1/Systems/1/VirtualMedia: 1 of what it lists cannot be read"],
        ),
        (fake(), expect!["unsupported: this BMC offers no virtual CD drive"]),
    ];
    for (fake, expected) in cases {
        let fault = fake.bmc().request_eject_media().await.unwrap_err();
        expected.assert_eq(&fault.to_string());
    }
}
