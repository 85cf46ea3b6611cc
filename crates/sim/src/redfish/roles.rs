//! The standard's predefined roles, which nobody can change.

use serde_json::json;
use world::AccountRole;

use super::answer::Answer;
use super::call::{Call, Privilege};
use super::document;

pub(super) const PATH: &str = "/redfish/v1/AccountService/Roles";

pub(super) fn collection(_: &Call<'_>) -> Result<Answer, Answer> {
    let members = AccountRole::ALL.map(|role| format!("{PATH}/{}", role.as_str()));
    Ok(document::collection(PATH, "Role", "Role Collection", members))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let role: AccountRole = call.id.parse().map_err(|()| call.missing())?;
    let privileges: Vec<&str> = Privilege::of(role).iter().map(|privilege| privilege.as_str()).collect();
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#Role.v1_3_1.Role",
        "Id": call.id,
        "RoleId": call.id,
        "Name": format!("{} Role", call.id),
        "IsPredefined": true,
        "AssignedPrivileges": privileges,
        "OemPrivileges": [],
    })))
}
