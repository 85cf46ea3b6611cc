//! What a look that a plan asks for reads of a BMC.

use model::{AccountSeen, Delivery, Fault, FaultClass, Found, LookAt};
use redfish::{Account, Bmc};

pub(crate) async fn look(bmc: &Bmc, at: LookAt) -> Result<Found, Fault> {
    match at {
        LookAt::Survey => bmc.observe_survey().await.map(Found::Survey),
        LookAt::Boot => {
            let mut seen = bmc.observe_start().await?;
            // What is kept of it is shown, and the URL is good for whoever knows it.
            seen.media = seen.media.as_deref().map(ticket::without_secret);
            Ok(Found::Boot(seen))
        }
        LookAt::Volumes => bmc.observe_volumes().await.map(Found::Volumes),
        LookAt::Hardware => bmc.observe_hardware().await.map(|inspection| Found::Hardware(Box::new(inspection))),
        LookAt::Accounts => {
            let accounts = bmc.observe_accounts().await?;
            Ok(Found::Accounts(accounts.members.into_iter().map(read_account).collect()))
        }
        LookAt::Etcd => Err(Fault::new(FaultClass::Unsupported, Delivery::No, "a BMC knows nothing of etcd")),
    }
}

/// One that does not say whether it is enabled can be used.
fn read_account(account: Account) -> AccountSeen {
    AccountSeen { slot: account.path, user: account.user, role: account.role.unwrap_or_default(), enabled: account.enabled.unwrap_or(true) }
}
