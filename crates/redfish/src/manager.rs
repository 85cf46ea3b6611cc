//! The BMC itself: starting it anew.

use model::{Delivery, Fault, FaultClass};
use serde_json::json;

use crate::bmc::Bmc;
use crate::content::Sent;
use crate::document;
use crate::line::Deadline;
use crate::listing::not_offered;

const RESET: &str = "Manager.Reset";

impl Bmc {
    /// Asks the BMC to restart itself. It goes away for minutes; the machine runs on.
    pub async fn request_bmc_reset(&self) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        let system = self.read_system_to_ask(deadline).await?;
        for path in self.managers(&system, deadline).await? {
            let Some(manager) = self.read_if_there(&path, deadline).await? else { continue };
            let Some(action) = document::action(&path, &manager, RESET) else { continue };
            let offered = self.allowed_values(&action, "ResetType", deadline).await?;
            let Some(reset_type) = choose_restart(offered.as_deref()) else {
                let detail = format!("{path} offers only {} for a restart", offered.unwrap_or_default().join(", "));
                return Err(Fault::new(FaultClass::Unsupported, Delivery::No, detail));
            };
            return self.line().post(&action.target, Sent::json(&json!({"ResetType": reset_type})), deadline).await.map(|_| ());
        }
        Err(not_offered("restart of itself"))
    }
}

/// The gentler restart that is offered, in the BMC's own spelling.
fn choose_restart(offered: Option<&[String]>) -> Option<String> {
    let Some(offered) = offered else { return Some("GracefulRestart".to_owned()) };
    ["GracefulRestart", "ForceRestart"].iter().find_map(|wanted| offered.iter().find(|offer| offer.eq_ignore_ascii_case(wanted)).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gentler_restart_is_chosen() {
        let choose = |offered: &[&str]| choose_restart(Some(&offered.iter().map(ToString::to_string).collect::<Vec<_>>()));
        assert_eq!(choose(&["ForceRestart", "gracefulRestart"]).as_deref(), Some("gracefulRestart"));
        assert_eq!(choose(&["ForceRestart"]).as_deref(), Some("ForceRestart"));
        assert_eq!(choose(&["ResetToDefaults"]), None);
        assert_eq!(choose_restart(None).as_deref(), Some("GracefulRestart"));
    }
}
