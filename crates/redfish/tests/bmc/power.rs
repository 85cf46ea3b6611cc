//! Looking at the machine and asking for power.

use expect_test::expect;
use fake::{Fake, SYSTEM, bmc, json, text};
use http::Request;
use model::{Fault, FaultClass, Power, PowerRequest};
use redfish::{Identity, Transport};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::fake;

const RESET: &str = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset";

#[tokio::test]
async fn the_first_look_finds_the_system_and_each_further_look_is_one_request() {
    let fake = Fake::ordinary();
    let bmc = fake.bmc();
    assert_eq!(bmc.observe_power().await, Ok(Power::On));
    expect![[r#"
        GET /redfish/v1/
        POST /redfish/v1/SessionService/Sessions {"Password":"calvin","UserName":"root"}
        GET /redfish/v1/Systems token1
        GET /redfish/v1/Systems/1 token1
    "#]]
    .assert_eq(&fake.take_log());
    assert_eq!(bmc.clone().observe_power().await, Ok(Power::On));
    expect![[r#"
        GET /redfish/v1/Systems/1 token1
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn a_bmc_of_another_machine_is_neither_believed_nor_asked() {
    for (told, is_meant) in [
        (json!({"SerialNumber": "57QP003"}), true),
        (json!({"SerialNumber": " 57qp003 "}), true),
        (json!({"SerialNumber": "CN0X", "SKU": "57QP003"}), true),
        (json!({}), true),
        (json!({"SerialNumber": ""}), true),
        (json!({"SerialNumber": "W6T5002"}), false),
        (json!({"SerialNumber": "CN0X", "SKU": "W6T5002"}), false),
        (json!({"SKU": "W6T5002"}), true),
    ] {
        let mut system = told.clone();
        system["PowerState"] = json!("On");
        let fake = Fake::ordinary().now("GET /redfish/v1/Systems/1", json(200, &system)).now(RESET, text(204, ""));
        let bmc = fake.bmc_of("57QP003");
        let (looked, asked) = (bmc.observe_power().await, bmc.request_power(PowerRequest::ForceOff).await);
        let classes = [looked.err(), asked.err()].map(|fault| fault.map(|fault| fault.class));
        let expected = if is_meant { None } else { Some(FaultClass::OtherMachine) };
        assert_eq!(classes, [expected, expected], "{told}");
        assert_eq!(fake.take_log().contains("ComputerSystem.Reset"), is_meant, "{told}");
    }
}

#[tokio::test]
async fn nothing_of_another_machine_is_deleted_updated_or_changed() {
    let system = json!({"SerialNumber": "W6T5002", "PowerState": "On"});
    let fake = Fake::ordinary().now("GET /redfish/v1/Systems/1", json(200, &system));
    let bmc = fake.bmc_of("57QP003");
    let password = zeroize::Zeroizing::new("new".to_owned());
    let faults = [
        bmc.request_volume_delete("/redfish/v1/Systems/1/Storage/1/Volumes/1").await.err(),
        bmc.request_storage_reset("/redfish/v1/Systems/1/Storage/1").await.err(),
        bmc.request_firmware(&"http://images/bios.bin".parse().unwrap(), &[]).await.err(),
        bmc.request_password("/redfish/v1/AccountService/Accounts/1", &password).await.err(),
        bmc.request_account_delete("/redfish/v1/AccountService/Accounts/1").await.err(),
        bmc.request_bmc_reset().await.err(),
    ];
    for fault in faults {
        assert_eq!(fault.map(|fault| fault.class), Some(FaultClass::OtherMachine));
    }
    let log = fake.take_log();
    let changes = log.lines().filter(|line| !line.starts_with("GET ") && !line.contains("/SessionService/"));
    assert_eq!(changes.collect::<Vec<_>>(), [""; 0]);
}

#[tokio::test]
async fn a_system_that_moved_is_found_again_within_the_call() {
    let fake = Fake::ordinary();
    let bmc = fake.bmc();
    assert_eq!(bmc.observe_power().await, Ok(Power::On));
    fake.take_log();
    let fake = fake
        .now("GET /redfish/v1/Systems/1", text(404, ""))
        .now("GET /redfish/v1/Systems", json(200, &json!({"Members": [{"@odata.id": "/redfish/v1/Systems/Self"}]})))
        .on("GET /redfish/v1/Systems/Self", json(200, &json!({"PowerState": "Off"})));
    assert_eq!(bmc.observe_power().await, Ok(Power::Off));
    expect![[r#"
        GET /redfish/v1/Systems/1 token1
        GET /redfish/v1/
        GET /redfish/v1/Systems token1
        GET /redfish/v1/Systems/Self token1
    "#]]
    .assert_eq(&fake.take_log());
}

/// Asks for `request` of a System with these `actions`; gives what was sent last.
async fn ask(request: PowerRequest, actions: &Value, info: Option<(u16, Value)>) -> (Result<(), Fault>, String) {
    let mut fake = Fake::ordinary().now("GET /redfish/v1/Systems/1", json(200, &json!({"PowerState": "Off", "Actions": actions})));
    if let Some((status, body)) = info {
        fake = fake.on("GET /redfish/v1/Systems/1/ResetActionInfo", json(status, &body));
    }
    let outcome = fake.bmc().request_power(request).await;
    let last = fake.take_log().lines().last().unwrap_or_default().to_owned();
    (outcome, last)
}

#[tokio::test]
async fn the_reset_type_is_taken_from_the_system_then_from_its_action_info_then_from_custom() {
    let listed = json!({"#ComputerSystem.Reset": {"ResetType@Redfish.AllowableValues": ["ForceOn", "ForceOff"]}});
    let linked = json!({"#ComputerSystem.Reset": {"@Redfish.ActionInfo": format!("{SYSTEM}/ResetActionInfo")}});
    let info = json!({"Parameters": [{"Name": "Other"}, {"Name": "ResetType", "AllowableValues": ["ForceOn"]}]});
    let cases = [
        (&listed, None, "ForceOn"),
        (&linked, Some((200, info)), "ForceOn"),
        (&linked, Some((501, json!({}))), "On"),
        (&linked, Some((500, json!({}))), "On"),
        (&linked, Some((200, json!({"Parameters": "broken"}))), "On"),
        (&Value::Null, None, "On"),
    ];
    for (actions, info, expected) in cases {
        let (outcome, last) = ask(PowerRequest::On, actions, info).await;
        assert_eq!(outcome, Ok(()));
        assert_eq!(last, format!("{RESET} token1 {{\"ResetType\":\"{expected}\"}}"));
    }
}

#[tokio::test]
async fn a_bmc_that_offers_nothing_suitable_is_not_asked() {
    let actions = json!({"#ComputerSystem.Reset": {"ResetType@Redfish.AllowableValues": ["ForceOff", "PushPowerButton"]}});
    let (outcome, last) = ask(PowerRequest::GracefulOff, &actions, None).await;
    expect!["unsupported: /redfish/v1/Systems/1 offers only ForceOff, PushPowerButton for GracefulOff"]
        .assert_eq(&outcome.unwrap_err().to_string());
    assert_eq!(last, "GET /redfish/v1/Systems/1 token1");
}

#[tokio::test]
async fn a_bmc_that_cannot_tell_just_now_what_it_offers_is_not_asked_blindly() {
    let linked = json!({"#ComputerSystem.Reset": {"@Redfish.ActionInfo": format!("{SYSTEM}/ResetActionInfo")}});
    let (outcome, last) = ask(PowerRequest::GracefulOff, &linked, Some((503, json!({})))).await;
    expect!["busy: GET /redfish/v1/Systems/1/ResetActionInfo answered 503"].assert_eq(&outcome.unwrap_err().to_string());
    assert_eq!(last, "GET /redfish/v1/Systems/1/ResetActionInfo token1");
}

#[tokio::test]
async fn the_reset_goes_to_the_advertised_target() {
    let actions = json!({"#ComputerSystem.Reset": {"target": "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset/"}});
    let (outcome, last) = ask(PowerRequest::ForceOff, &actions, None).await;
    assert_eq!(last, format!("{RESET}/ token1 {{\"ResetType\":\"ForceOff\"}}"));
    expect!["missing: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset/ answered 404"].assert_eq(&outcome.unwrap_err().to_string());
}

#[tokio::test]
async fn an_identity_has_what_the_bmc_tells_and_lacks_the_rest() {
    let system = json!({
        "Manufacturer": "", "Model": " PowerEdge R750 ", "SerialNumber": 42, "SKU": "7XK2P03", "BiosVersion": null,
        "Links": {"ManagedBy": [{"@odata.id": "/redfish/v1/Managers/1"}]},
    });
    let fake = Fake::ordinary()
        .now("GET /redfish/v1/", json(200, &json!({"Vendor": "Dell"})))
        .now("GET /redfish/v1/Systems/1", json(200, &system))
        .on("GET /redfish/v1/Managers/1", text(501, ""))
        .on("GET /redfish/v1/Managers/1", json(200, &json!({"FirmwareVersion": "7.10.30.00"})));
    let bmc = fake.bmc();
    let mut expected =
        Identity { vendor: Some("Dell".into()), model: Some("PowerEdge R750".into()), sku: Some("7XK2P03".into()), ..Identity::default() };
    assert_eq!(bmc.observe_identity().await, Ok(expected.clone()));
    expected.bmc_firmware = Some("7.10.30.00".into());
    assert_eq!(bmc.observe_identity().await, Ok(expected));
}

#[tokio::test]
async fn a_router_in_this_process_is_a_bmc() {
    let router = axum::Router::new()
        .route("/redfish/v1/", axum::routing::get(|| async { "{}" }))
        .route("/redfish/v1/Systems", axum::routing::get(|| async { r#"{"Members": [{"@odata.id": "/redfish/v1/Systems/1"}]}"# }))
        .route("/redfish/v1/Systems/1", axum::routing::get(|| async { r#"{"PowerState": "On"}"# }));
    let service = router.map_request(|request: Request<_>| request.map(axum::body::Body::new));
    assert_eq!(bmc(Transport::in_process(service), "http://10.0.0.1").observe_power().await, Ok(Power::On));
}
