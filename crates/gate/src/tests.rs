//! The gate as a whole: who is let in, and for how long.

mod administering;
mod people;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use access::roles::{OWNER, READER};
use access::token::Rejection;
use access::{AssignmentId, Permission, PrincipalId, Scope};
use model::{Clock, Span, Timestamp};
use store::{MemoryStore, SharedStore, TokioClock, Vault};
use uuid::Uuid;

use crate::keys::{Rotation, renew_once};
use crate::{AssignmentError, Caller, Gate, LoginError, PrincipalError, ROTATE_AFTER, Shown, TENANT};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

struct House {
    store: SharedStore,
    vault: Arc<Vault>,
    clock: Arc<dyn Clock>,
}

impl House {
    fn new() -> House {
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::starting_at(Timestamp::parse("2026-11-16T12:00:00Z").unwrap()));
        let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        let vault = Arc::new(Vault::ephemeral(store.clone()));
        House { store, vault, clock }
    }

    async fn open(&self) -> Arc<Gate> {
        Arc::new(Gate::open(self.store.clone(), self.vault.clone(), self.clock.clone()).await.unwrap())
    }
}

fn somebody(principal: PrincipalId, name: &str) -> Caller {
    let logged_in_at = Timestamp::parse("2026-11-16T12:00:00Z").unwrap();
    Caller { principal, client: None, tenant: TENANT, name: name.into(), logged_in_at, credential: None, vouched_by: None }
}

fn read() -> Permission {
    Permission::new("Microsoft.NetworkCloud/racks/read").unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_token_is_known_before_it_is_shown_and_nothing_else_that_is_signed_is() {
    let gate = House::new().open().await;
    let caller = somebody(PrincipalId::new(Uuid::from_u128(7)), "ada");
    gate.begin_session(&caller).unwrap();
    gate.describe(&caller, "a program").unwrap();
    assert!(crate::lock(&gate.verified).is_empty());
    let token = gate.hand_out_to(&caller).unwrap().text;
    assert_eq!(crate::lock(&gate.verified).len(), 1);
    assert!(gate.authenticate(&token).is_ok());
    tokio::time::advance(Duration::from_secs(1)).await;
    gate.rotate_signing_key().await.unwrap();
    assert!(crate::lock(&gate.verified).is_empty(), "and is forgotten with the keys");
    assert!(gate.authenticate(&token).is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_first_administrator_is_made_once_and_comes_in_after_a_restart() {
    let house = House::new();
    let gate = house.open().await;
    let (administrator, secret) = gate.make_administrator().await.unwrap().expect("there was none");
    assert!(gate.make_administrator().await.unwrap().is_none());
    let gate = house.open().await;
    assert!(gate.make_administrator().await.unwrap().is_none(), "another process finds it");
    let client = administrator.client_id.to_string();
    let log_in = |secret: &str| gate.log_in(Shown::Secret { client: &client, secret }, HERE);
    let caller = gate.authenticate(&log_in(secret.text()).unwrap().text).unwrap();
    assert_eq!((caller.principal, caller.name.as_str()), (administrator.id, "administrator"));
    assert!(gate.may(&caller, &read(), &Scope::root()).is_ok());
    let (again, new) = gate.renew_administrator().await.unwrap();
    assert_eq!(again.id, administrator.id);
    assert!(log_in(secret.text()).is_err(), "the lost secret is good no more");
    assert!(log_in(new.text()).is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_administrator_who_was_removed_can_be_made_anew() {
    let gate = House::new().open().await;
    let (first, _) = gate.make_administrator().await.unwrap().unwrap();
    let other = gate.create_principal("other").await.unwrap();
    let by = somebody(first.id, "administrator");
    gate.assign(&by, AssignmentId::new(Uuid::from_u128(7)), other.id, OWNER.id, Scope::root()).await.unwrap();
    gate.remove_principal(first.id).await.unwrap();
    assert_eq!(gate.directory().judge().list(&Scope::root()).count(), 1, "its role went with it");
    let (second, secret) = gate.renew_administrator().await.unwrap();
    let client = second.client_id.to_string();
    let minted = gate.log_in(Shown::Secret { client: &client, secret: secret.text() }, HERE).unwrap();
    assert!(gate.may(&gate.authenticate(&minted.text).unwrap(), &read(), &Scope::root()).is_ok());
}

#[tokio::test(start_paused = true)]
async fn keys_follow_one_another_and_nobody_is_logged_out() {
    let house = House::new();
    let gate = house.open().await;
    let (_, secret) = gate.make_administrator().await.unwrap().unwrap();
    let client = gate.administrator().await.unwrap().unwrap().client_id.to_string();
    let log_in = || gate.log_in(Shown::Secret { client: &client, secret: secret.text() }, HERE).unwrap().text;
    tokio::time::sleep(ROTATE_AFTER.to_std()).await;
    let last = log_in();
    let key = |token: &str| token.split('.').next().unwrap().to_owned();
    renew_once(&gate, Rotation::WhenOld).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let first = log_in();
    assert_ne!(key(&last), key(&first), "another key signs");
    for gate in [gate.clone(), house.open().await] {
        assert!(gate.authenticate(&last).is_ok() && gate.authenticate(&first).is_ok(), "both are good, also after a restart");
    }
    tokio::time::sleep((access::token::SIGNED_LIFE_MAX + Span::hours(1)).to_std()).await;
    renew_once(&gate, Rotation::WhenOld).await.unwrap();
    assert_eq!(gate.jwks()["keys"].as_array().unwrap().len(), 1, "the old key is forgotten when its last token has expired");
    assert_eq!(gate.authenticate(&last), Err(Rejection::UnknownKey));
    assert_eq!(gate.authenticate(&first), Err(Rejection::Expired));
    renew_once(&gate, Rotation::Now).await.unwrap();
    assert_eq!(gate.jwks()["keys"].as_array().unwrap().len(), 2, "whoever asks for a new one has it at once");
}

#[tokio::test(start_paused = true)]
async fn what_one_process_changes_another_follows() {
    let house = House::new();
    let (here, there) = (house.open().await, house.open().await);
    tokio::spawn(there.clone().follow(tokio_util::sync::CancellationToken::new()));
    let principal = here.create_principal("deployer").await.unwrap();
    let (_, secret) = here.add_secret(principal.id, Some(Span::hours(1)), None).await.unwrap();
    let scope = Scope::parse("/subscriptions/s1").unwrap();
    let by = somebody(PrincipalId::new(Uuid::from_u128(9)), "somebody");
    let id = AssignmentId::new(Uuid::from_u128(1));
    here.assign(&by, id, principal.id, READER.id, scope.clone()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let client = principal.client_id.to_string();
    let shown = Shown::Secret { client: &client, secret: secret.text() };
    let caller = there.authenticate(&there.log_in(shown, HERE).unwrap().text).unwrap();
    assert!(there.may(&caller, &read(), &scope).is_ok());
    here.unassign(id).await.unwrap();
    here.remove_principal(principal.id).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(there.may(&caller, &read(), &scope).is_err());
    assert!(matches!(there.log_in(shown, HERE), Err(LoginError::UnknownClient)));
}

#[tokio::test(start_paused = true)]
async fn a_secret_expires_and_what_fails_too_often_must_wait() {
    let gate = House::new().open().await;
    let principal = gate.create_principal("deployer").await.unwrap();
    let (_, secret) = gate.add_secret(principal.id, Some(Span::hours(1)), None).await.unwrap();
    let client = principal.client_id.to_string();
    let log_in = |secret: &str| gate.log_in(Shown::Secret { client: &client, secret }, HERE);
    for _ in 0..1_000 {
        log_in(secret.text()).expect("whoever knows the secret may come as often as they like");
    }
    let wrong = "A".repeat(secret.text().len());
    let refused = (0..100).find(|_| matches!(log_in(&wrong), Err(LoginError::TooMany(_))));
    assert_eq!(refused, Some(usize::try_from(access::attempts::LOGINS_OF_PRINCIPAL.burst).unwrap()));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(log_in(secret.text()).is_ok());
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert!(matches!(log_in(secret.text()), Err(LoginError::Refused(_))));
}

#[tokio::test(start_paused = true)]
async fn a_name_is_one_principals_and_somebody_stays_owner() {
    let gate = House::new().open().await;
    let (administrator, _) = gate.make_administrator().await.unwrap().unwrap();
    assert!(matches!(gate.create_principal("Administrator").await, Err(PrincipalError::NameTaken(_))));
    assert!(matches!(gate.create_principal("").await, Err(PrincipalError::Invalid(_))));
    let last = gate.directory().judge().list(&Scope::root()).next().unwrap().clone();
    assert_eq!((last.principal, last.role), (administrator.id, OWNER.id));
    assert!(matches!(gate.unassign(last.id).await, Err(AssignmentError::LastOwner)));
    let other = gate.create_principal("other").await.unwrap();
    let by = somebody(administrator.id, "administrator");
    let id = AssignmentId::new(Uuid::from_u128(7));
    gate.assign(&by, id, other.id, OWNER.id, Scope::root()).await.unwrap();
    gate.assign(&by, id, other.id, OWNER.id, Scope::root()).await.expect("given twice is given once");
    gate.unassign(last.id).await.expect("another is owner now");
}
