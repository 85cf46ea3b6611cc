//! Power: looking at it, and asking for a change.

use model::{Delivery, Fault, FaultClass, Power, PowerRequest};
use serde_json::{Value, json};

use crate::bmc::{Bmc, System};
use crate::content::Sent;
use crate::document;
use crate::line::Deadline;
use crate::reset::choose_reset_type;
use crate::transport::Reading;

const RESET: &str = "ComputerSystem.Reset";

impl Bmc {
    /// The power of the machine, in one request once the System has been found.
    ///
    /// Some BMCs report a state that is seconds old; the caller judges by when it looked, not by one look.
    pub async fn observe_power(&self) -> Result<Power, Fault> {
        power_of(&self.read_system(Deadline::of_call()).await?)
    }

    /// The same when the next look is far away: no connection is kept for it, on either side.
    pub async fn glance_at_power(&self) -> Result<Power, Fault> {
        power_of(&self.read_system_as(Reading::Once, Deadline::of_call()).await?)
    }

    /// Asks for a change of power. Success means that the BMC took the request, not that anything happened.
    pub async fn request_power(&self, request: PowerRequest) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        let system = self.read_system_to_ask(deadline).await?;
        let action = document::action(&system.path, system.document(), RESET);
        let offered = match &action {
            Some(action) => self.allowed_values(action, "ResetType", deadline).await?,
            None => None,
        };
        let Some(reset_type) = choose_reset_type(request, offered.as_deref()) else {
            let offered = offered.unwrap_or_default().join(", ");
            let detail = format!("{} offers only {offered} for {request:?}", system.path);
            return Err(Fault::new(FaultClass::Unsupported, Delivery::No, detail));
        };
        // Every System can be reset, so one that does not say where is asked in the usual place.
        let target = action.map_or_else(|| document::usual_target(&system.path, RESET), |action| action.target);
        self.line().post(&target, Sent::json(&json!({"ResetType": reset_type})), deadline).await.map(|_| ())
    }
}

fn power_of(system: &System) -> Result<Power, Fault> {
    power(system.document()).map_err(|what| system.asked().garbled(&what))
}

/// The power of a System, or the words in which it fails to tell.
fn power(system: &Value) -> Result<Power, String> {
    let Some(state) = document::text(system, "PowerState") else {
        return Err("there is no PowerState".to_owned());
    };
    match state.to_ascii_lowercase().as_str() {
        // A paused machine has power; that it does not run is for others to notice.
        "on" | "paused" => Ok(Power::On),
        "off" => Ok(Power::Off),
        "poweringon" => Ok(Power::PoweringOn),
        "poweringoff" => Ok(Power::PoweringOff),
        _ => Err(format!("the PowerState is `{}`", model::shortened(&state))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_read_in_any_case_and_anything_else_is_not_guessed() {
        let cases = [
            (json!({"PowerState": "On"}), Ok(Power::On)),
            (json!({"PowerState": "OFF"}), Ok(Power::Off)),
            (json!({"PowerState": " poweringOn "}), Ok(Power::PoweringOn)),
            (json!({"powerState": "PoweringOff"}), Ok(Power::PoweringOff)),
            (json!({"PowerState": "Paused"}), Ok(Power::On)),
            (json!({"PowerState": "Reset"}), Err("the PowerState is `Reset`")),
            (json!({"PowerState": null}), Err("there is no PowerState")),
            (json!({"PowerState": 1}), Err("there is no PowerState")),
            (json!({}), Err("there is no PowerState")),
        ];
        for (document, expected) in cases {
            assert_eq!(power(&document), expected.map_err(str::to_owned), "{document}");
        }
    }
}
