//! Parts of a machine are exchanged, and its BMC tells of the new ones.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use sim::{Control, HardwarePart, Swap, Vendor};
use tower::ServiceExt;

use crate::harness::Harness;

#[tokio::test(start_paused = true)]
async fn a_new_board_is_another_machine_to_its_bmc() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Hpe);
    let before = harness.machine(&machine);
    let swap = Swap {
        parts: vec![HardwarePart::SystemBoard, HardwarePart::Nic],
        serial_number: Some("NEW0001".to_owned()),
        bmc_password: Some("factory-pw".to_owned()),
        ..Swap::default()
    };
    let identity = harness.site.swap(&machine, &swap).await.unwrap();
    let harness = harness.crash_and_reopen(Duration::from_secs(60)).await;
    let path = "/redfish/v1/Systems/1";
    let refused = harness.bmc(&machine, "GET", path, "").await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "the old password is that of the old BMC");
    let read = async |path: &str| harness.bmc_as(&machine, (&before.bmc_user, "factory-pw"), &[], ("GET", path), &Value::Null).await.body;
    let system = read(path).await;
    assert_eq!((&system["SerialNumber"], &system["PowerState"]), (&json!("NEW0001"), &json!("Off")));
    assert_ne!(system["UUID"], before.uuid);
    assert_eq!(read("/redfish/v1/Chassis/1").await["SerialNumber"], "NEW0001");
    let port = read("/redfish/v1/Managers/1/EthernetInterfaces/1").await;
    assert_eq!(port["MACAddress"], identity.bmc_mac);
    assert_ne!(port["MACAddress"], before.bmc_mac);
    let ports = read("/redfish/v1/Systems/1/EthernetInterfaces").await;
    let first = read(ports["Members"][0]["@odata.id"].as_str().unwrap()).await;
    assert_eq!(first["MACAddress"], identity.boot_mac);
    assert_ne!(first["MACAddress"], before.boot_mac);
    assert!(harness.site.volumes(&machine).unwrap()[0].1.starts_with("system"), "the drives are the old ones");
}

#[tokio::test(start_paused = true)]
async fn parts_are_exchanged_by_the_control_face_too() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let face = sim::control(Control { sites: vec![harness.site.clone()], token: "secret".to_owned() });
    let post = async |body: String| {
        let request = http::Request::post("/v1/sites/east/swap").header("authorization", "Bearer secret");
        let response = face.clone().oneshot(request.body(axum::body::Body::from(body)).unwrap()).await.unwrap();
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, serde_json::from_slice::<Value>(&bytes).unwrap())
    };
    let (status, done) = post(format!("{machine} part=drives serial=ABC123")).await;
    assert_eq!((status, &done["serialNumber"]), (StatusCode::OK, &json!("ABC123")));
    assert!(harness.site.volumes(&machine).unwrap().is_empty());
    assert_eq!(harness.site.identity(&machine).unwrap().serial_number, "ABC123");
    let (status, refused) = post("rack9compute01 part=drives".to_owned()).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("UnknownTarget")));
    let (status, refused) = post(format!("{machine} boot-mac=nonsense")).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("BadSwap")));
    assert!(refused["error"]["message"].as_str().unwrap().starts_with("`boot-mac` is six pairs"), "{refused}");
}
