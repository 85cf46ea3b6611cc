//! The way into the service: versions, service root, OData service document, metadata.

use std::fmt::Write;

use serde_json::json;

use super::Bmc;
use super::answer::Answer;

/// The schemas that the documents of this service use, for `$metadata`: unversioned name, version or none, file.
const SCHEMAS: [(&str, &str); 15] = [
    ("ServiceRoot", "v1_16_0"),
    ("ComputerSystemCollection", ""),
    ("ComputerSystem", "v1_20_0"),
    ("ManagerCollection", ""),
    ("Manager", "v1_17_0"),
    ("ChassisCollection", ""),
    ("Chassis", "v1_23_0"),
    ("LogServiceCollection", ""),
    ("LogService", "v1_4_0"),
    ("LogEntryCollection", ""),
    ("LogEntry", "v1_14_0"),
    ("SessionService", "v1_1_8"),
    ("SessionCollection", ""),
    ("Session", "v1_5_0"),
    ("Message", "v1_1_2"),
];

pub(super) fn versions() -> Answer {
    Answer::ok(&json!({"v1": "/redfish/v1/"}))
}

pub(super) fn service_root(bmc: &Bmc) -> Answer {
    let profile = bmc.profile();
    Answer::ok(&json!({
        "@odata.id": "/redfish/v1/",
        "@odata.type": "#ServiceRoot.v1_16_0.ServiceRoot",
        "Id": "RootService",
        "Name": "Root Service",
        "RedfishVersion": "1.20.0",
        "UUID": bmc.spec().uuid,
        "Vendor": profile.manufacturer,
        "Product": profile.product,
        "ProtocolFeaturesSupported": {
            "ExcerptQuery": false,
            "FilterQuery": false,
            "OnlyMemberQuery": false,
            "SelectQuery": false,
        },
        "Systems": {"@odata.id": "/redfish/v1/Systems"},
        "Chassis": {"@odata.id": "/redfish/v1/Chassis"},
        "Managers": {"@odata.id": "/redfish/v1/Managers"},
        "SessionService": {"@odata.id": "/redfish/v1/SessionService"},
        "Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}},
    }))
    .with_header("link", "</redfish/v1/$metadata>; rel=describedby")
}

pub(super) fn odata() -> Answer {
    let entry = |name: &str, url: &str| json!({"name": name, "kind": "Singleton", "url": url});
    Answer::ok(&json!({
        "@odata.context": "/redfish/v1/$metadata",
        "value": [
            entry("Service", "/redfish/v1/"),
            entry("Systems", "/redfish/v1/Systems"),
            entry("Chassis", "/redfish/v1/Chassis"),
            entry("Managers", "/redfish/v1/Managers"),
            entry("SessionService", "/redfish/v1/SessionService"),
            entry("Sessions", "/redfish/v1/SessionService/Sessions"),
        ],
    }))
}

pub(super) fn metadata() -> Answer {
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
    Answer::xml(xml)
}
