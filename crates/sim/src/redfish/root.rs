//! The way into the service: versions, service root, OData service document, metadata.

use std::fmt::Write;

use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::document::link;
use super::licenses;

/// The schemas that the documents of this service use, for `$metadata`: unversioned name, and version or none.
const SCHEMAS: [(&str, &str); 60] = [
    ("ServiceRoot", "v1_16_0"),
    ("ComputerSystemCollection", ""),
    ("ComputerSystem", "v1_20_0"),
    ("Bios", "v1_2_0"),
    ("BootOptionCollection", ""),
    ("BootOption", "v1_0_4"),
    ("Settings", "v1_3_5"),
    ("ActionInfo", "v1_3_0"),
    ("ProcessorCollection", ""),
    ("Processor", "v1_18_0"),
    ("MemoryCollection", ""),
    ("Memory", "v1_18_0"),
    ("EthernetInterfaceCollection", ""),
    ("EthernetInterface", "v1_9_0"),
    ("StorageCollection", ""),
    ("Storage", "v1_15_0"),
    ("StorageControllerCollection", ""),
    ("StorageController", "v1_7_0"),
    ("Drive", "v1_18_0"),
    ("VolumeCollection", ""),
    ("Volume", "v1_9_0"),
    ("VirtualMediaCollection", ""),
    ("VirtualMedia", "v1_6_0"),
    ("ManagerCollection", ""),
    ("Manager", "v1_17_0"),
    ("ManagerNetworkProtocol", "v1_9_0"),
    ("ChassisCollection", ""),
    ("Chassis", "v1_23_0"),
    ("SensorCollection", ""),
    ("Sensor", "v1_8_0"),
    ("PowerSubsystem", "v1_1_1"),
    ("PowerSupplyCollection", ""),
    ("PowerSupply", "v1_5_1"),
    ("ThermalSubsystem", "v1_3_0"),
    ("FanCollection", ""),
    ("Fan", "v1_5_0"),
    ("LogServiceCollection", ""),
    ("LogService", "v1_4_0"),
    ("LogEntryCollection", ""),
    ("LogEntry", "v1_14_0"),
    ("SessionService", "v1_1_8"),
    ("SessionCollection", ""),
    ("Session", "v1_5_0"),
    ("AccountService", "v1_15_0"),
    ("ManagerAccountCollection", ""),
    ("ManagerAccount", "v1_12_0"),
    ("RoleCollection", ""),
    ("Role", "v1_3_1"),
    ("UpdateService", "v1_12_0"),
    ("SoftwareInventoryCollection", ""),
    ("SoftwareInventory", "v1_9_0"),
    ("LicenseService", "v1_1_0"),
    ("LicenseCollection", ""),
    ("License", "v1_1_0"),
    ("TaskService", "v1_2_0"),
    ("TaskCollection", ""),
    ("Task", "v1_7_0"),
    ("EventService", "v1_10_0"),
    ("Event", "v1_8_0"),
    ("Message", "v1_1_2"),
];

/// What the service root leads to, each under its own name.
const SERVICES: [&str; 7] = ["Systems", "Chassis", "Managers", "SessionService", "AccountService", "UpdateService", "EventService"];

pub(super) fn versions() -> Answer {
    Answer::ok(&json!({"v1": "/redfish/v1/"}))
}

pub(super) fn service_root(call: &Call<'_>) -> Result<Answer, Answer> {
    let profile = call.bmc.profile();
    let mut root = json!({
        "@odata.id": "/redfish/v1/",
        "@odata.type": "#ServiceRoot.v1_16_0.ServiceRoot",
        "Id": "RootService",
        "Name": "Root Service",
        "RedfishVersion": "1.20.0",
        "UUID": call.bmc.identity().uuid,
        "Product": profile.product,
        "ProtocolFeaturesSupported": {
            "ExcerptQuery": false,
            "FilterQuery": false,
            "OnlyMemberQuery": false,
            "SelectQuery": false,
        },
        "Links": {"Sessions": link("/redfish/v1/SessionService/Sessions")},
    });
    for name in SERVICES {
        root[name] = link(format!("/redfish/v1/{name}"));
    }
    // The one service whose property has another name.
    root["Tasks"] = link("/redfish/v1/TaskService");
    if profile.license.is_some() {
        root["LicenseService"] = link(licenses::SERVICE);
    }
    if profile.has_vendor {
        root["Vendor"] = json!(profile.manufacturer);
    }
    Ok(Answer::ok(&root))
}

pub(super) fn odata(_: &Call<'_>) -> Result<Answer, Answer> {
    let entry = |name: &str, url: &str| json!({"name": name, "kind": "Singleton", "url": url});
    let mut value = vec![entry("Service", "/redfish/v1/")];
    value.extend(SERVICES.iter().map(|name| entry(name, &format!("/redfish/v1/{name}"))));
    value.push(entry("Tasks", "/redfish/v1/TaskService"));
    value.push(entry("Sessions", "/redfish/v1/SessionService/Sessions"));
    Ok(Answer::ok(&json!({"@odata.context": "/redfish/v1/$metadata", "value": value})))
}

pub(super) fn metadata(_: &Call<'_>) -> Result<Answer, Answer> {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" Version=\"4.0\">\n",
    );
    for (schema, version) in SCHEMAS {
        // Writing into a string cannot fail.
        let _ = writeln!(xml, "  <edmx:Reference Uri=\"http://redfish.dmtf.org/schemas/v1/{schema}_v1.xml\">");
        let _ = writeln!(xml, "    <edmx:Include Namespace=\"{schema}\"/>");
        if !version.is_empty() {
            let _ = writeln!(xml, "    <edmx:Include Namespace=\"{schema}.{version}\"/>");
        }
        xml.push_str("  </edmx:Reference>\n");
    }
    xml.push_str(
        "  <edmx:DataServices>\n    <Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\" Namespace=\"Service\">\n      \
         <EntityContainer Name=\"Service\" Extends=\"ServiceRoot.v1_16_0.ServiceContainer\"/>\n    </Schema>\n  </edmx:DataServices>\n</edmx:Edmx>\n",
    );
    Ok(Answer::xml(xml))
}
