//! What a look that a plan asks for reads of a BMC.

use model::{AccountSeen, Delivery, Fault, FaultClass, Found, Inspection, LookAt, Told};
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
        LookAt::Hardware => bmc.observe_hardware().await.map(|inspection| Found::Hardware(Box::new(without_secrets(inspection)))),
        LookAt::Accounts => {
            let accounts = bmc.observe_accounts_and_keys().await?;
            Ok(Found::Accounts(accounts.into_iter().map(|(account, keys)| read_account(account, keys)).collect()))
        }
        LookAt::Etcd => Err(Fault::new(FaultClass::Unsupported, Delivery::No, "a BMC knows nothing of etcd")),
    }
}

/// BMCs write down what was put into their drives, and may say so when they complain. What is found of hardware is stored.
fn without_secrets(mut inspection: Inspection) -> Inspection {
    if let Told::Told(alarms) = &mut inspection.alarms {
        for alarm in alarms {
            alarm.message = ticket::without_secret(&alarm.message);
        }
    }
    inspection
}

/// One that does not say whether it is enabled can be used.
fn read_account(account: Account, keys: Option<Vec<String>>) -> AccountSeen {
    let Account { path, user, role, enabled, .. } = account;
    AccountSeen { slot: path, user, role: role.unwrap_or_default(), enabled: enabled.unwrap_or(true), keys }
}

#[cfg(test)]
mod tests {
    use model::{AlarmSeen, PartHealth, SystemSeen};

    use super::*;

    #[test]
    fn an_alarm_that_quotes_an_address_of_ours_is_kept_without_its_secret() {
        let message = "Cannot mount http://10.0.0.1/install/v1/media/site1/8f3c/1/Fn7haSf/agent.iso now.".to_owned();
        let inspection = Inspection {
            system: SystemSeen::default(),
            drives: Told::NotOffered,
            ports: Told::NotOffered,
            sensors: Told::NotOffered,
            alarms: Told::Told(vec![AlarmSeen { health: PartHealth::Warning, message, created: None }]),
            log: model::LogSeen::default(),
            firmware: Told::NotOffered,
            boot: Told::NotOffered,
            license: Told::NotOffered,
        };
        let alarms = without_secrets(inspection).alarms;
        let kept = &alarms.told().unwrap()[0].message;
        assert_eq!(kept, "Cannot mount http://10.0.0.1/install/v1/media/site1/8f3c/1/***/agent.iso now.");
    }
}
