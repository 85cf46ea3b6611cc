//! The license of the BMC, where it tells of one.

use model::{Fault, LicenseSeen};
use serde_json::Value;

use crate::bmc::Bmc;
use crate::document::text;
use crate::line::Deadline;

impl Bmc {
    /// The best of those that it has: one for ever is better than one on trial.
    pub(super) async fn inspect_license(&self) -> Result<Option<LicenseSeen>, Fault> {
        let deadline = Deadline::of_call();
        let Some(service) = self.line().root(deadline).await?.licenses else { return Ok(None) };
        let Some(service) = self.read_if_there(&service, deadline).await? else { return Ok(None) };
        let licenses = self.whole_part(&service, "Licenses", deadline).await?;
        Ok(licenses
            .and_then(|licenses| licenses.iter().map(|license| read_license(&license.document)).min_by_key(|license| license.is_trial)))
    }
}

fn read_license(license: &Value) -> LicenseSeen {
    let name = ["Name", "LicenseType", "Id"].iter().find_map(|name| text(license, name)).unwrap_or_default();
    let kind = text(license, "LicenseType").unwrap_or_default();
    let is_trial = kind.eq_ignore_ascii_case("Trial");
    LicenseSeen { name, is_trial }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_called_trial_is_one() {
        let read = |kind: &str| read_license(&json!({"Name": "iDRAC9 Datacenter License", "LicenseType": kind}));
        assert_eq!(read("Production"), LicenseSeen { name: "iDRAC9 Datacenter License".into(), is_trial: false });
        assert!(read("trial").is_trial);
    }
}
