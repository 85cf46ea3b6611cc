//! The BMC itself: who gets in, its accounts, its events, and its restart.

use std::time::Duration;

use futures::StreamExt;
use model::{FaultClass, Power, PowerRequest};
use redfish::{Bmc, NewAccount, Role, Transport};
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::peer::{Ability, Lacks, Peer, offered};

pub async fn check_access(peer: &Peer, bmc: &Bmc) {
    bmc.observe_power().await.unwrap();
    let fault = peer.bmc_as(&peer.user, "wrong").observe_power().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Denied, "{fault}");
    let nowhere = Peer { transport: Transport::tcp(), base: "http://127.0.0.1:1".into(), ..peer.clone() };
    let fault = nowhere.bmc().observe_power().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Unreachable, "{fault}");
}

/// Makes an account, lets it in, changes its password, and deletes it.
pub async fn check_accounts(peer: &Peer, bmc: &Bmc, lacks: &mut Lacks) {
    let Some(before) = offered(bmc.observe_accounts().await, Ability::Accounts, lacks) else { return };
    assert!(before.members.iter().any(|account| account.user == peer.user), "{before:?}");
    let secret = |text: &str| Zeroizing::new(text.to_owned());
    let account = NewAccount { user: "newcomer".into(), password: secret("First-Passw0rd"), role: Role::Operator };
    bmc.request_account_create(&account).await.unwrap();
    let listed = bmc.observe_accounts().await.unwrap();
    let made = listed.members.into_iter().find(|account| account.user == "newcomer").expect("the account is listed");
    assert_eq!((made.role.as_deref(), made.enabled), (Some("Operator"), Some(true)));
    enter(peer, "First-Passw0rd").await.unwrap();
    bmc.request_password(&made.path, &secret("Second-Passw0rd")).await.unwrap();
    enter(peer, "Second-Passw0rd").await.unwrap();
    assert_eq!(enter(peer, "First-Passw0rd").await, Err(FaultClass::Denied));
    bmc.request_account_delete(&made.path).await.unwrap();
    assert_eq!(enter(peer, "Second-Passw0rd").await, Err(FaultClass::Denied));
    assert_eq!(bmc.observe_accounts().await.unwrap(), before);
}

async fn enter(peer: &Peer, password: &str) -> Result<Power, FaultClass> {
    let bmc = peer.bmc_as("newcomer", password);
    let outcome = bmc.observe_power().await.map_err(|fault| fault.class);
    bmc.close().await;
    outcome
}

/// Turns the machine on and hears of it.
pub async fn check_events(peer: &Peer, bmc: &Bmc, lacks: &mut Lacks) {
    let Some(mut events) = bmc.watch_events().await.unwrap() else {
        lacks.insert(Ability::Events);
        return;
    };
    bmc.request_power(PowerRequest::On).await.unwrap();
    let heard = timeout(peer.patience, events.next()).await.expect("an event in time").expect("the stream goes on").unwrap();
    assert!(heard.message_id.is_some() && heard.at.is_some(), "{heard:?}");
    peer.until("On", async || bmc.observe_power().await.unwrap() == Power::On).await;
}

/// The BMC goes away and comes back.
pub async fn check_bmc_reset(peer: &Peer, bmc: &Bmc, lacks: &mut Lacks) {
    let before = bmc.observe_power().await.unwrap();
    if offered(bmc.request_bmc_reset().await, Ability::BmcReset, lacks).is_none() {
        return;
    }
    peer.until("its absence", async || bmc.observe_power().await.is_err()).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    peer.until("its return", async || bmc.observe_power().await == Ok(before)).await;
}
