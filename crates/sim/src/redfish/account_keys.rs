//! Public keys that open an account over SSH, where the BMC offers them.

use http::StatusCode;
use serde_json::{Value, json};
use world::{Account, AccountKey, KeyRefusal};

use super::answer::Answer;
use super::call::{Call, text};
use super::{accounts, document, errors};

pub(super) fn path(slot: u8) -> String {
    format!("{}/{slot}/Keys", accounts::ACCOUNTS_PATH)
}

/// The account that the path leads through.
fn find_account(call: &Call<'_>) -> Result<Account, Answer> {
    let rest = call.path.strip_prefix(accounts::ACCOUNTS_PATH).unwrap_or_default();
    let slot = rest.trim_start_matches('/').split('/').next().and_then(|slot| slot.parse::<u8>().ok());
    let found = slot.and_then(|slot| call.bmc.site.look(|world| world.hardware(call.bmc.index).accounts.get(slot).cloned()));
    found.ok_or_else(|| call.missing())
}

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let account = find_account(call)?;
    let path = path(account.slot);
    let members = account.keys.iter().map(|key| format!("{path}/{}", key.number));
    Ok(document::collection(&path, "Key", "Key Collection", members))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let account = find_account(call)?;
    let key = account.keys.iter().find(|key| key.number.to_string() == call.id).ok_or_else(|| call.missing())?;
    Ok(Answer::ok(&document(account.slot, key)))
}

pub(super) fn create(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let account = find_account(call)?;
    let fields = call.parameters()?;
    let required = |property: &str| text(&fields, property)?.map(str::to_owned).ok_or_else(|| errors::missing_property(property));
    let (key, kind) = (required("KeyString")?, required("KeyType")?);
    if kind != "SSH" {
        return Err(errors::property_not_in_list(&kind, "KeyType"));
    }
    let made = bmc.site.change(|world, now| world.add_account_key(bmc.index, account.slot, key.clone(), now));
    let key = made.map_err(|refusal| match refusal {
        KeyRefusal::Full => errors::too_many("The account has no room for another key."),
        KeyRefusal::Text => errors::property_format("******", "KeyString", "it is no public key of SSH"),
        KeyRefusal::NoSuchAccount => call.missing(),
    })?;
    let location = format!("{}/{}", path(account.slot), key.number);
    Ok(Answer::of(StatusCode::CREATED, &document(account.slot, &key)).with_header("location", location))
}

pub(super) fn delete(call: &Call<'_>) -> Result<Answer, Answer> {
    let account = find_account(call)?;
    let number = document::numbered("", call.id).ok_or_else(|| call.missing())?;
    let is_gone = call.bmc.site.change(|world, now| world.remove_account_key(call.bmc.index, account.slot, number, now));
    if is_gone { Ok(Answer::no_content()) } else { Err(call.missing()) }
}

fn document(slot: u8, key: &AccountKey) -> Value {
    json!({
        "@odata.id": format!("{}/{}", path(slot), key.number),
        "@odata.type": "#Key.v1_4_0.Key",
        "Id": key.number.to_string(),
        "Name": "Key",
        "KeyType": "SSH",
        "KeyString": key.text,
    })
}
