//! A BMC that answers arbitrary JSON to everything: the driver may complain, never panic or hang.

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response, Uri};
use http_body_util::Full;
use model::PowerRequest;
use proptest::prelude::*;
use redfish::{Bmc, BootSource, JobRef, NewAccount, Persistence, Role, Transport};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use crate::fake::bmc;

/// Names that the driver looks for, so that nonsense often stands where sense is expected.
const NAMES: &[&str] = &[
    "@odata.id",
    "@odata.type",
    "Members",
    "Members@odata.nextLink",
    "Systems",
    "Managers",
    "Tasks",
    "UpdateService",
    "AccountService",
    "EventService",
    "Links",
    "ManagedBy",
    "Boot",
    "BootSourceOverrideTarget",
    "Actions",
    "#ComputerSystem.Reset",
    "#Manager.Reset",
    "#VirtualMedia.InsertMedia",
    "#Storage.ResetToDefaults",
    "#UpdateService.SimpleUpdate",
    "target",
    "ResetType@Redfish.AllowableValues",
    "VirtualMedia",
    "MediaTypes",
    "Image",
    "Inserted",
    "Processors",
    "Memory",
    "Storage",
    "EthernetInterfaces",
    "Drives",
    "Volumes",
    "Status",
    "Health",
    "State",
    "CapacityBytes",
    "MACAddress",
    "FirmwareInventory",
    "Accounts",
    "UserName",
    "ServerSentEventUri",
    "Events",
    "TaskState",
    "PercentComplete",
    "Messages",
    "PowerState",
    "Identifiers",
    "LicenseService",
    "Licenses",
    "BootOptions",
    "BootOrder",
    "RelatedItem",
    "LogServices",
    "Entries",
    "Severity",
    "Chassis",
    "Thermal",
    "Power",
    "Fans",
    "PowerSupplies",
    "ThermalSubsystem",
    "PowerSubsystem",
    "Sensors",
    "PhysicalLocation",
    "PartLocation",
    "LocationOrdinalValue",
    "Bios",
    "Attributes",
    "Payload",
];

fn nonsense() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(&["/redfish/v1/x", "//", "http://evil", "Absent", "CD", "On", "/x?$a=%zz"][..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let name = prop_oneof![4 => prop::sample::select(NAMES).prop_map(str::to_owned), 1 => ".{0,8}"];
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => prop::collection::vec((name, inner), 0..6).prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Everything that the driver can do.
async fn try_everything(bmc: &Bmc) {
    let uri = Uri::from_static("http://h/i");
    let account = NewAccount { user: "u".into(), password: Zeroizing::new("p".into()), role: Role::Operator };
    let _ = bmc.observe_power().await;
    let _ = bmc.observe_identity().await;
    let _ = bmc.observe_survey().await;
    let _ = bmc.observe_start().await;
    let _ = bmc.observe_volumes().await;
    let _ = bmc.observe_hardware().await;
    let _ = bmc.request_os_volume("OS").await;
    let _ = bmc.request_power(PowerRequest::On).await;
    let _ = bmc.observe_boot().await;
    let _ = bmc.request_boot(&BootSource::Cd, Persistence::Once).await;
    let _ = bmc.observe_media().await;
    let _ = bmc.request_insert_media(&uri).await;
    let _ = bmc.request_eject_media().await;
    let _ = bmc.observe_inventory().await;
    let _ = bmc.observe_firmware().await;
    let _ = bmc.request_firmware(&uri, &[]).await;
    let _ = bmc.observe_jobs().await;
    let _ = bmc.observe_job(&JobRef::new("/t/1")).await;
    let _ = bmc.request_storage_reset("/s/1").await;
    let _ = bmc.request_bmc_reset().await;
    let _ = bmc.observe_accounts().await;
    let _ = bmc.request_account_create(&account).await;
    let _ = bmc.request_account_delete("/a/1").await;
    let _ = bmc.request_password("/a/1", &account.password).await;
    if let Ok(Some(events)) = bmc.watch_events().await {
        let _ = events.collect::<Vec<_>>().await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_answers_never_panic_the_driver(documents in prop::collection::vec(nonsense(), 1..4), status in prop::sample::select(&[200u16, 200, 200, 400][..])) {
        let answer = move |request: Request<Full<Bytes>>| {
            // The same path always has the same document, so that a link can be followed and stays what it was.
            let which = request.uri().path().len() % documents.len();
            let mut document = documents[which].clone();
            if let Value::Object(fields) = &mut document && request.uri().path() == "/redfish/v1/Systems" {
                fields.insert("Members".into(), json!([{"@odata.id": "/redfish/v1/Systems/1"}]));
            }
            let response = Response::builder().status(status).header("x-auth-token", "t").body(Full::<Bytes>::from(document.to_string()));
            async move { response.map_err(std::io::Error::other) }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let bmc = bmc(Transport::in_process(tower::service_fn(answer)), "http://10.0.0.1");
        // Spawned, so that every call is shown to fit a task that moves between threads.
        runtime.block_on(async { tokio::spawn(async move { try_everything(&bmc).await }).await.unwrap() });
    }
}
