//! Accounts: who may log in. A change holds from the next request on.

use http::StatusCode;
use serde_json::{Map, Value, json};
use world::{ACCOUNT_SLOTS, Account, AccountChange, AccountRefusal, AccountRole, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, Standing};

use super::answer::Answer;
use super::call::{Call, Privilege, flag, one_of, text};
use super::document::{self, link};
use super::{account_keys, errors, roles};

pub(super) const ACCOUNTS_PATH: &str = "/redfish/v1/AccountService/Accounts";

pub(super) fn service(call: &Call<'_>) -> Result<Answer, Answer> {
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#AccountService.v1_15_0.AccountService",
        "Id": "AccountService",
        "Name": "Account Service",
        "ServiceEnabled": true,
        "MinPasswordLength": PASSWORD_LENGTH_MIN,
        "MaxPasswordLength": PASSWORD_LENGTH_MAX,
        "HTTPBasicAuth": "Enabled",
        "Status": document::enabled(),
        "Accounts": link(ACCOUNTS_PATH),
        "Roles": link(roles::PATH),
    })))
}

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let slots: Vec<u8> = bmc.site.look(|world| world.hardware(bmc.index).accounts.iter().map(|account| account.slot).collect());
    let members = slots.into_iter().map(|slot| format!("{ACCOUNTS_PATH}/{slot}"));
    Ok(document::collection(ACCOUNTS_PATH, "ManagerAccount", "Account Collection", members))
}

fn find(call: &Call<'_>) -> Result<Account, Answer> {
    let slot = document::numbered("", call.id).and_then(|slot| u8::try_from(slot).ok());
    let found = slot.and_then(|slot| call.bmc.site.look(|world| world.hardware(call.bmc.index).accounts.get(slot).cloned()));
    found.ok_or_else(|| call.missing())
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    Ok(Answer::ok(&document(call, &find(call)?)))
}

pub(super) fn create(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let fields = call.parameters()?;
    let required = |property: &str| text(&fields, property)?.map(str::to_owned).ok_or_else(|| errors::missing_property(property));
    let (user, password) = (required("UserName")?, required("Password")?);
    let role: AccountRole = one_of(&fields, "RoleId")?.ok_or_else(|| errors::missing_property("RoleId"))?;
    let standing = standing(&fields)?.unwrap_or(Standing::Enabled);
    let made = bmc.site.change(|world, now| {
        let slot = world.create_account(bmc.index, user.clone(), password, role, standing, now)?;
        world.hardware(bmc.index).accounts.get(slot).cloned().ok_or(AccountRefusal::NoSuchAccount)
    });
    let account = made.map_err(|refusal| refused(refusal, &user))?;
    let location = format!("{ACCOUNTS_PATH}/{}", account.slot);
    Ok(Answer::of(StatusCode::CREATED, &document(call, &account)).with_header("location", location))
}

/// One's own password is one's own to change; everything else takes an administrator.
pub(super) fn change(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let account = find(call)?;
    let fields = call.changes(&["UserName", "Password", "RoleId", "Enabled", "Locked"])?;
    let is_own_password = account.user == call.caller.user && fields.keys().all(|name| name == "Password");
    if !is_own_password && !call.caller.may(Privilege::ConfigureUsers) {
        return Err(errors::forbidden());
    }
    // Nothing here ever locks an account, so unlocking is all that can be asked.
    if flag(&fields, "Locked")? == Some(true) {
        return Err(errors::property_not_in_list("true", "Locked"));
    }
    let change = AccountChange {
        user: text(&fields, "UserName")?.map(str::to_owned),
        password: text(&fields, "Password")?.map(str::to_owned),
        role: one_of(&fields, "RoleId")?,
        standing: standing(&fields)?,
    };
    let user = change.user.clone().unwrap_or(account.user);
    let changed = bmc.site.change(|world, now| world.change_account(bmc.index, account.slot, change, now));
    changed.map_err(|refusal| refused(refusal, &user))?;
    show(call)
}

pub(super) fn delete(call: &Call<'_>) -> Result<Answer, Answer> {
    let account = find(call)?;
    let deleted = call.bmc.site.change(|world, now| world.delete_account(call.bmc.index, account.slot, now));
    deleted.map(|()| Answer::no_content()).map_err(|refusal| refused(refusal, &account.user))
}

fn standing(fields: &Map<String, Value>) -> Result<Option<Standing>, Answer> {
    Ok(flag(fields, "Enabled")?.map(|is_enabled| if is_enabled { Standing::Enabled } else { Standing::Disabled }))
}

fn refused(refusal: AccountRefusal, user: &str) -> Answer {
    match refusal {
        AccountRefusal::Full => errors::too_many(&format!("The service holds {ACCOUNT_SLOTS} accounts and has no room for another.")),
        AccountRefusal::NameTaken => errors::already_exists("ManagerAccount", "UserName", user),
        AccountRefusal::Name => errors::property_format(user, "UserName", &refusal.to_string()),
        AccountRefusal::Password => errors::property_format("******", "Password", &refusal.to_string()),
        AccountRefusal::NoSuchAccount => errors::missing(ACCOUNTS_PATH),
        AccountRefusal::LastAdministrator => errors::general(&format!("Refused: {refusal}.")),
    }
}

/// The password is never shown, as the standard asks.
fn document(call: &Call<'_>, account: &Account) -> Value {
    let mut document = json!({
        "@odata.id": format!("{ACCOUNTS_PATH}/{}", account.slot),
        "@odata.type": "#ManagerAccount.v1_12_0.ManagerAccount",
        "Id": account.slot.to_string(),
        "Name": "User Account",
        "UserName": account.user,
        "Password": null,
        "RoleId": account.role.as_str(),
        "Enabled": account.standing == Standing::Enabled,
        "Locked": false,
        "AccountTypes": ["Redfish"],
        "Links": {"Role": link(format!("{}/{}", roles::PATH, account.role.as_str()))},
    });
    if call.bmc.profile().offers_account_keys {
        document["Keys"] = link(account_keys::path(account.slot));
    }
    document
}
