//! The license of the BMC, where its maker sells one.

use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link};

pub(super) const SERVICE: &str = "/redfish/v1/LicenseService";
const LICENSES: &str = "/redfish/v1/LicenseService/Licenses";
const LICENSE_ID: &str = "1";

pub(super) fn service(_: &Call<'_>) -> Result<Answer, Answer> {
    Ok(Answer::ok(&json!({
        "@odata.id": SERVICE,
        "@odata.type": "#LicenseService.v1_1_0.LicenseService",
        "Id": "LicenseService",
        "Name": "License Service",
        "ServiceEnabled": true,
        "Licenses": link(LICENSES),
    })))
}

pub(super) fn collection(_: &Call<'_>) -> Result<Answer, Answer> {
    Ok(document::collection(LICENSES, "License", "License Collection", [format!("{LICENSES}/{LICENSE_ID}")]))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    if call.id != LICENSE_ID {
        return Err(call.missing());
    }
    let profile = call.bmc.profile();
    let name = profile.license.ok_or_else(|| call.missing())?;
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#License.v1_1_0.License",
        "Id": LICENSE_ID,
        "Name": name,
        "EntitlementId": format!("EID{}", call.bmc.spec().serial_number),
        "LicenseType": "Production",
        "LicenseOrigin": "BuiltIn",
        "AuthorizationScope": "Device",
        "Manufacturer": profile.manufacturer,
        "Removable": false,
        "Status": document::enabled(),
    })))
}
