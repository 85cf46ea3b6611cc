//! `…/bareMetalMachines/{name}/replace`: what a person says of the hardware that stands in the machine's slot now.
//!
//! A new login goes into the vault before anything refers to it; request, journal and log have its name only. Whoever judges the
//! request removes it again if nothing comes of it.

use model::{Action, Ask, Machine, MachineName, Outage, Replacement, Request, SecretRef, StoragePolicy, Verdict};
use serde_json::json;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::actions::{safeguard_of, text_of};
use super::unfit;
use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::fields::Written;
use crate::reply::Refused;
use crate::submit::{hand_in, request_of, see_through};

/// Characters of a BMC's user name, and of its password: more than any BMC takes.
pub(crate) const LOGIN_MAX: usize = 256;

const USERNAME: &str = "bmcCredentials.username";
const PASSWORD: &str = "bmcCredentials.password";

/// A replace as its body describes it.
pub(super) struct Replacing {
    action: Action,
    replacement: Replacement,
    /// As the vault keeps it.
    login: Option<Zeroizing<String>>,
    /// What was said, but for the password: it tells one request from another.
    said: Vec<u8>,
}

impl Replacing {
    /// What it would do. The login stays behind: nobody logs in for a preview.
    pub(super) fn preview(self, machine: MachineName, outage: Outage) -> Ask {
        Ask::Preview { machine, action: self.action, outage, replacement: Some(Box::new(self.replacement)) }
    }
}

pub(super) fn read(given: &[Written]) -> Result<Replacing, Refused> {
    let text = |name: &str| text_of(given, name).map(str::to_owned);
    let replacement = Replacement {
        serial_number: text("serialNumber"),
        bmc_mac: text("bmcMacAddress"),
        boot_mac: text("bootMacAddress"),
        machine_name: text("machineName"),
        credentials: None,
    };
    plan::check_replacement(&replacement).map_err(|flaw| unfit(flaw.field, &flaw.message))?;
    let storage = if text_of(given, "storagePolicy") == Some("Preserve") { StoragePolicy::Preserve } else { StoragePolicy::DiscardAll };
    let said = given.iter().filter(|field| field.path != PASSWORD).map(|field| json!([field.path, field.value]));
    let said = json!(said.collect::<Vec<_>>()).to_string().into_bytes();
    Ok(Replacing { action: Action::Replace { storage, safeguard: safeguard_of(given) }, replacement, login: login_of(given)?, said })
}

/// Both parts of a login, or none.
fn login_of(given: &[Written]) -> Result<Option<Zeroizing<String>>, Refused> {
    let missing = |path: &str| Refused::bad_content(format!("`{path}` is missing: a login has a user name and a password")).target(path);
    let (user, password) = match (text_of(given, USERNAME), text_of(given, PASSWORD)) {
        (None, None) => return Ok(None),
        (None, Some(_)) => return Err(missing(USERNAME)),
        (Some(_), None) => return Err(missing(PASSWORD)),
        (Some(user), Some(password)) => (user, password),
    };
    for (path, text) in [(USERNAME, user), (PASSWORD, password)] {
        let length = text.chars().count();
        if length == 0 || length > LOGIN_MAX {
            return Err(unfit(path, &format!("it has {length} characters; 1 to {LOGIN_MAX} are possible")));
        }
        // The vault keeps both in one text with a line break between.
        if text.chars().any(char::is_control) {
            return Err(unfit(path, "it has a line break or another control character"));
        }
    }
    if password.starts_with("https://") {
        return Err(unfit(PASSWORD, "it is the address of a key vault, and this server asks none: send the password itself"));
    }
    // Of its full length at once: a text that grows leaves copies behind.
    Ok(Some(Zeroizing::new([user, "\n", password].concat())))
}

pub(super) async fn submit_it(api: &Api, call: &Call, machine: &Machine, replacing: Replacing, outage: Outage) -> Result<Verdict, Refused> {
    let Replacing { action, mut replacement, login, said } = replacing;
    let name = || SecretRef::new(format!("bmc/{}/{}/{}", machine.cluster.key(), machine.name.key(), Uuid::new_v4()));
    let login = login.map(|login| (name(), login));
    replacement.credentials = login.as_ref().map(|(secret, _)| secret.clone());
    let ask = Ask::Act { machine: machine.name.clone(), action, outage, replacement: Some(Box::new(replacement)) };
    let request = request_of(api, call, &machine.cluster, ask, &said)?;
    see_through(api, file(api.clone(), request, login)).await
}

/// Leaves a request with its keeper, and its login in the vault, until nobody needs it.
async fn file(api: Api, request: Request, login: Option<(SecretRef, Zeroizing<String>)>) -> Result<Verdict, Refused> {
    if let Some((secret, login)) = &login
        && let Err(problem) = api.vault.save(secret, login.as_bytes()).await
    {
        tracing::error!(error = %problem, %secret, "a new login could not be kept");
        return Err(Refused::new(Code::StoreUnavailable, "the new login cannot be kept; nothing was changed"));
    }
    let verdict = hand_in(&api, request).await;
    if let (Some((secret, _)), Err(refused)) = (&login, &verdict)
        // When nobody knows what became of the request it stays: a replace without its login would be worse than a login without one.
        && refused.code() != Code::StoreUnavailable.name()
        && let Err(problem) = api.vault.remove(secret).await
    {
        tracing::warn!(error = %problem, %secret, "a login that nobody refers to could not be removed");
    }
    verdict
}

#[cfg(test)]
mod tests;
