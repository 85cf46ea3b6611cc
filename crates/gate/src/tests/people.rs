//! People whom an issuer vouches for: how long their logins last, whose keys are asked for, and who can keep whom out.

use std::sync::Mutex;

use access::token::{Mint, SigningKey, SigningKeys};
use async_trait::async_trait;

use super::*;
use crate::{DEVICE_BEGINNINGS, DeviceError, DeviceState, Issuer, KEYS_REFRESH_AT_ONCE, KEYS_REFRESH_EVERY, KeyFetcher, SESSION_LIFE};

const CORPORATE: &str = "https://login.example.com";
const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

/// An issuer that signs with a key of this number.
fn issuer_of(address: &str, seed: u8, clock: &dyn Clock) -> Mint {
    let mut keys = SigningKeys::default();
    keys.add(SigningKey::from_seed(&[seed; 32], clock.now()).unwrap());
    Mint::new(address, vec!["rackwright".to_owned()], keys).for_anybody()
}

fn vouched(mint: &Mint, clock: &dyn Clock) -> String {
    let person = Caller { logged_in_at: clock.now(), ..somebody(PrincipalId::new(Uuid::from_u128(5)), "alice") };
    mint.mint(&person, "rackwright", Uuid::nil(), clock.now()).unwrap().text.as_str().to_owned()
}

fn trusted(name: &str, mint: &Mint, address: &str, clock: &dyn Clock) -> Issuer {
    Issuer {
        name: name.to_owned(),
        issuer: address.to_owned(),
        audiences: vec!["rackwright".to_owned()],
        keys: Some(mint.keys().jwks(clock.now()).to_string()),
        keys_given: true,
        keys_at: None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_login_ends_after_a_day_however_often_it_is_passed_on() {
    let house = House::new();
    let gate = house.open().await;
    let clock = house.clock.as_ref();
    let corporate = issuer_of(CORPORATE, 1, clock);
    gate.put_issuer(trusted("corporate", &corporate, CORPORATE, clock)).await.unwrap();
    let (mut caller, _) = gate.log_in_with(&vouched(&corporate, clock), HERE).await.unwrap();
    let over = caller.logged_in_at + SESSION_LIFE;
    // Every five hours the last device says that the next one is its owner's.
    for hours in [5, 10] {
        tokio::time::sleep(Duration::from_secs(5 * 3_600)).await;
        let code = gate.begin_device(HERE).unwrap();
        assert!(gate.approve_device(&caller, &code.user));
        let DeviceState::Approved(next) = gate.ask_device(&code.device) else { panic!("it was approved") };
        let session = gate.begin_session(&next).unwrap();
        assert_eq!(session.expires_at, over, "after {hours} hours");
        caller = gate.resume_session(&session.text, HERE).unwrap();
    }
    tokio::time::sleep(Duration::from_secs(2 * 3_600)).await;
    assert!(matches!(gate.hand_out_to(&caller), Err(LoginError::Rejected(Rejection::Expired))));
    assert!(gate.begin_session(&caller).is_err());
}

#[tokio::test(start_paused = true)]
async fn nobody_comes_in_whom_an_issuer_vouched_for_that_is_trusted_no_more() {
    let house = House::new();
    let gate = house.open().await;
    let clock = house.clock.as_ref();
    let corporate = issuer_of(CORPORATE, 1, clock);
    gate.put_issuer(trusted("corporate", &corporate, CORPORATE, clock)).await.unwrap();
    let (caller, minted) = gate.log_in_with(&vouched(&corporate, clock), HERE).await.unwrap();
    let session = gate.begin_session(&caller).unwrap();
    assert!(gate.authenticate(&minted.text).is_ok() && gate.resume_session(&session.text, HERE).is_ok());
    gate.remove_issuer("corporate").await.unwrap();
    assert_eq!(gate.authenticate(&minted.text), Err(Rejection::WrongIssuer));
    assert!(gate.resume_session(&session.text, HERE).is_err());
}

#[tokio::test(start_paused = true)]
async fn failed_logins_of_one_address_keep_nobody_else_out() {
    let house = House::new();
    let gate = house.open().await;
    let clock = house.clock.as_ref();
    let corporate = issuer_of(CORPORATE, 1, clock);
    gate.put_issuer(trusted("corporate", &corporate, CORPORATE, clock)).await.unwrap();
    let forged = vouched(&issuer_of(CORPORATE, 2, clock), clock);
    let mut refused = 0;
    while !matches!(gate.log_in_with(&forged, ELSEWHERE).await, Err(LoginError::TooMany(_))) {
        refused += 1;
    }
    assert_eq!(refused, access::attempts::LOGINS_FROM_ADDRESS.burst);
    assert!(gate.log_in_with(&vouched(&corporate, clock), HERE).await.is_ok());
    for _ in 0..DEVICE_BEGINNINGS.burst {
        gate.begin_device(ELSEWHERE).unwrap();
    }
    assert!(matches!(gate.begin_device(ELSEWHERE), Err(DeviceError::TooManyFromThere(_))));
    assert!(gate.begin_device(HERE).is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_issuer_is_known_by_its_name_and_not_by_the_ids_of_its_keys() {
    let house = House::new();
    let gate = house.open().await;
    let clock = house.clock.as_ref();
    // Both publish the same key, so that its id says nothing.
    let (first, second) = (issuer_of("https://a.example", 1, clock), issuer_of(CORPORATE, 1, clock));
    gate.put_issuer(trusted("a", &first, "https://a.example", clock)).await.unwrap();
    gate.put_issuer(trusted("b", &second, CORPORATE, clock)).await.unwrap();
    let of_first = gate.log_in_with(&vouched(&first, clock), HERE).await.unwrap().0;
    let of_second = gate.log_in_with(&vouched(&second, clock), HERE).await.unwrap().0;
    assert_ne!(of_first.principal, of_second.principal);
    assert_eq!(of_second.vouched_by.as_deref(), Some(CORPORATE));
}

#[tokio::test(start_paused = true)]
async fn a_device_that_asks_without_pause_is_told_to_slow_down() {
    let gate = House::new().open().await;
    let code = gate.begin_device(HERE).unwrap();
    assert_eq!(gate.ask_device(&code.device), DeviceState::Waiting);
    assert_eq!(gate.ask_device(&code.device), DeviceState::Hasty);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(gate.ask_device(&code.device), DeviceState::Waiting);
    assert_eq!(gate.ask_device("another"), DeviceState::Gone);
}

/// Answers what it was told to answer, and does something else while it is asked.
#[derive(Default)]
struct Publisher {
    answers: Mutex<Option<String>>,
    asked: Mutex<u32>,
    pause: Duration,
}

#[async_trait]
impl KeyFetcher for Publisher {
    async fn fetch(&self, issuer: &str) -> Result<String, String> {
        assert_eq!(issuer, CORPORATE);
        *self.asked.lock().unwrap() += 1;
        tokio::time::sleep(self.pause).await;
        self.answers.lock().unwrap().clone().ok_or_else(|| "it does not answer".to_owned())
    }
}

async fn fetching_gate(house: &House, publisher: &Arc<Publisher>) -> Arc<Gate> {
    let gate = Gate::open(house.store.clone(), house.vault.clone(), house.clock.clone()).await.unwrap();
    Arc::new(gate.with_fetcher(publisher.clone()))
}

fn published(clock: &dyn Clock) -> Issuer {
    Issuer { keys: None, keys_given: false, ..trusted("corporate", &issuer_of(CORPORATE, 1, clock), CORPORATE, clock) }
}

#[tokio::test(start_paused = true)]
async fn keys_are_fetched_every_hour_and_when_one_is_not_known_and_stay_when_nobody_answers() {
    let house = House::new();
    let publisher = Arc::new(Publisher::default());
    let gate = fetching_gate(&house, &publisher).await;
    let clock = house.clock.as_ref();
    gate.put_issuer(published(clock)).await.unwrap();
    let (old, new) = (issuer_of(CORPORATE, 1, clock), issuer_of(CORPORATE, 2, clock));
    let publish = |mint: &Mint| *publisher.answers.lock().unwrap() = Some(mint.keys().jwks(clock.now()).to_string());
    publish(&old);
    assert!(gate.log_in_with(&vouched(&old, clock), HERE).await.is_ok(), "they are fetched for the first who comes");
    publish(&new);
    assert!(gate.log_in_with(&vouched(&new, clock), HERE).await.is_err(), "they were fetched just now");
    tokio::time::sleep(KEYS_REFRESH_AT_ONCE.to_std()).await;
    assert!(gate.log_in_with(&vouched(&new, clock), HERE).await.is_ok());
    *publisher.answers.lock().unwrap() = None;
    tokio::time::sleep(KEYS_REFRESH_EVERY.to_std()).await;
    gate.refresh_issuers().await;
    assert_eq!(*publisher.asked.lock().unwrap(), 3);
    assert!(gate.log_in_with(&vouched(&new, clock), HERE).await.is_ok(), "those that are known stay");
    assert_eq!(*publisher.asked.lock().unwrap(), 3, "who is known costs no question");
}

#[tokio::test(start_paused = true)]
async fn what_is_changed_of_an_issuer_while_its_keys_are_fetched_stays_changed() {
    let house = House::new();
    let clock = house.clock.as_ref();
    let answers = Some(issuer_of(CORPORATE, 1, clock).keys().jwks(clock.now()).to_string());
    let publisher = Arc::new(Publisher { answers: answers.into(), pause: Duration::from_secs(5), ..Publisher::default() });
    let gate = fetching_gate(&house, &publisher).await;
    gate.put_issuer(published(clock)).await.unwrap();
    let pinned = Issuer { audiences: vec!["other".to_owned()], ..trusted("corporate", &issuer_of(CORPORATE, 3, clock), CORPORATE, clock) };
    let change = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        gate.put_issuer(pinned.clone()).await.unwrap();
    };
    tokio::join!(gate.refresh_issuers(), gate.refresh_issuers(), change);
    assert_eq!(gate.directory().issuer("corporate"), Some(&pinned));
    assert_eq!(*publisher.asked.lock().unwrap(), 1, "one question at a time is enough");
}
