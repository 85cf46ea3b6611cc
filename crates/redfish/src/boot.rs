//! The boot source: what the machine will start from next.

use http::Uri;
use model::{Delivery, Fault, FaultClass};
use serde_json::{Value, json};

use crate::bmc::Bmc;
use crate::content::Sent;
use crate::document::{field, text, texts};
use crate::line::Deadline;
use crate::quirks::{BootMode, Quirks};

/// What to start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootSource {
    Hdd,
    /// The CD in virtual media. It must be inserted first: some BMCs refuse to boot from an empty drive.
    Cd,
    Pxe,
    /// What this URL serves.
    UefiHttp(Uri),
}

/// For how many starts.
///
/// "Once" is not to be trusted: some keep it for ever, some forget it. After the start, set the lasting source again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    Once,
    Continuous,
}

/// The boot override as the BMC reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootSeen {
    pub target: Option<BootTarget>,
    /// Nothing if the override is off, or the BMC does not tell.
    pub persistence: Option<Persistence>,
    pub http_uri: Option<String>,
}

/// A boot target as the BMC names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootTarget {
    /// The machine's own order.
    None,
    Hdd,
    Cd,
    Pxe,
    UefiHttp,
    /// One that we never ask for.
    Other(String),
}

impl Bmc {
    /// What the machine will start from next, in one request.
    pub async fn observe_boot(&self) -> Result<BootSeen, Fault> {
        let system = self.read_system(Deadline::of_call()).await?;
        let boot = field(system.document(), "Boot");
        if boot.is_object() { Ok(read_boot(boot)) } else { Err(system.asked().garbled("there is no Boot")) }
    }

    /// Asks for another boot source. The System is read first for what it offers and for its ETag, so that a change that
    /// somebody makes meanwhile is not overwritten: then this is busy.
    pub async fn request_boot(&self, source: &BootSource, persistence: Persistence) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        let system = self.read_system_to_ask(deadline).await?;
        let quirks = self.quirks(&system, deadline).await?;
        let boot = field(system.document(), "Boot");
        let Some(target) = choose_target(source, boot, quirks) else {
            let detail = format!("{} does not offer to boot from {}", system.path, source.usual_target());
            return Err(Fault::new(FaultClass::Unsupported, Delivery::No, detail));
        };
        let change = change(source, &target, persistence, boot, quirks);
        self.line().patch(&system.path, Sent::with_url(&json!({"Boot": change})), &system.found, deadline).await.map(|_| ())
    }
}

impl BootSource {
    fn usual_target(&self) -> &'static str {
        match self {
            BootSource::Hdd => "Hdd",
            BootSource::Cd => "Cd",
            BootSource::Pxe => "Pxe",
            BootSource::UefiHttp(_) => "UefiHttp",
        }
    }
}

/// The name of the target, in the BMC's own spelling; nothing if it lists none that will do.
pub(crate) fn choose_target(source: &BootSource, boot: &Value, quirks: &Quirks) -> Option<String> {
    let usual = [source.usual_target()];
    let acceptable = match source {
        BootSource::Cd => quirks.cd_targets,
        BootSource::Hdd | BootSource::Pxe | BootSource::UefiHttp(_) => &usual,
    };
    match texts(field(boot, "BootSourceOverrideTarget@Redfish.AllowableValues")) {
        None => Some(source.usual_target().to_owned()),
        Some(offered) => acceptable.iter().find_map(|wanted| offered.iter().find(|offer| offer.eq_ignore_ascii_case(wanted)).cloned()),
    }
}

fn change(source: &BootSource, target: &str, persistence: Persistence, boot: &Value, quirks: &Quirks) -> Value {
    let enabled = match persistence {
        Persistence::Once => "Once",
        Persistence::Continuous => "Continuous",
    };
    let mut change = json!({"BootSourceOverrideEnabled": enabled, "BootSourceOverrideTarget": target});
    if let BootSource::UefiHttp(uri) = source {
        change["HttpBootUri"] = json!(uri.to_string());
    }
    if let (BootMode::Repeated, Some(mode)) = (quirks.boot_mode, text(boot, "BootSourceOverrideMode")) {
        change["BootSourceOverrideMode"] = json!(mode);
    }
    change
}

pub(crate) fn read_boot(boot: &Value) -> BootSeen {
    let target = text(boot, "BootSourceOverrideTarget").map(|target| match target.to_ascii_lowercase().as_str() {
        "none" => BootTarget::None,
        "hdd" => BootTarget::Hdd,
        // To an operator both are the CD in the virtual drive.
        "cd" | "usbcd" => BootTarget::Cd,
        "pxe" => BootTarget::Pxe,
        "uefihttp" => BootTarget::UefiHttp,
        _ => BootTarget::Other(target),
    });
    let persistence = text(boot, "BootSourceOverrideEnabled").and_then(|enabled| match enabled.to_ascii_lowercase().as_str() {
        "once" => Some(Persistence::Once),
        "continuous" => Some(Persistence::Continuous),
        _ => None,
    });
    BootSeen { target, persistence, http_uri: text(boot, "HttpBootUri") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(source: &BootSource, offered: &Value, maker: &str) -> Option<String> {
        choose_target(source, &json!({"BootSourceOverrideTarget@Redfish.AllowableValues": offered}), Quirks::of([maker]))
    }

    #[test]
    fn the_target_is_one_that_is_offered_in_the_bmcs_own_spelling() {
        let offered = json!(["None", "pxe", "UsbCd", "Cd", "Hdd"]);
        assert_eq!(target(&BootSource::Pxe, &offered, "HPE").as_deref(), Some("pxe"));
        assert_eq!(target(&BootSource::Cd, &offered, "HPE").as_deref(), Some("Cd"));
        assert_eq!(target(&BootSource::Cd, &offered, "Supermicro").as_deref(), Some("UsbCd"));
        assert_eq!(target(&BootSource::Cd, &json!(["Cd"]), "Supermicro").as_deref(), Some("Cd"));
        assert_eq!(target(&BootSource::UefiHttp(Uri::from_static("http://h/i")), &offered, "HPE"), None);
        assert_eq!(target(&BootSource::Hdd, &Value::Null, "HPE").as_deref(), Some("Hdd"));
    }

    #[test]
    fn the_mode_is_repeated_only_where_it_would_be_lost() {
        let boot = json!({"BootSourceOverrideMode": "UEFI"});
        let told = |maker| change(&BootSource::Cd, "Cd", Persistence::Once, &boot, Quirks::of([maker]));
        assert_eq!(told("Dell"), json!({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Cd"}));
        let repeated = json!({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Cd", "BootSourceOverrideMode": "UEFI"});
        assert_eq!(told("Supermicro"), repeated);
    }
}
