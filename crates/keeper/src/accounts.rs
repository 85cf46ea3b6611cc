//! Users' accounts on BMCs. Nobody is to know their passwords: each is drawn when it is sent, and stands nowhere else.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{Delivery, DeviceAsk, Fault, FaultClass, Privilege};
use plan::{Step, With};
use redfish::{Bmc, NewAccount, Role, WantedAccount};
use uuid::Uuid;
use zeroize::Zeroizing;

pub(crate) async fn request(step: &Step, bmc: &Bmc) -> Result<(), Fault> {
    match (step.ask, &step.with) {
        (DeviceAsk::WriteAccount, With::Account { user, path, privilege: Some(privilege), key: Some(key) }) => {
            let account = NewAccount { user: user.clone(), password: password(), role: role_of(privilege) };
            bmc.request_account(&WantedAccount { account, path: path.clone(), key: key.clone() }).await
        }
        (DeviceAsk::DropAccount, With::Account { path: Some(path), user, .. }) => bmc.request_account_end(path, user).await,
        (ask, _) => Err(Fault::new(FaultClass::Unsupported, Delivery::No, format!("the {ask} does not say what it is about"))),
    }
}

fn role_of(privilege: &Privilege) -> Role {
    match privilege {
        Privilege::Administrator => Role::Administrator,
        Privilege::ReadOnly | Privilege::Standard | Privilege::Superuser | Privilege::Other { .. } => Role::ReadOnly,
    }
}

/// Twenty characters, which is what the shortest BMC takes: ninety bits that nobody can guess, after what any rule asks for.
fn password() -> Zeroizing<String> {
    let random = Zeroizing::new(Uuid::new_v4().into_bytes());
    Zeroizing::new(format!("Rw1-{}", URL_SAFE_NO_PAD.encode(&random[..12])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_fit_every_bmc_and_are_never_the_same() {
        let (one, other) = (password(), password());
        assert_eq!((one.len(), other.len()), (20, 20));
        assert_ne!(one, other);
    }
}
