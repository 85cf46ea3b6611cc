use std::sync::Arc;

use model::{BootWay, DeviceAsk, MachineName, OperationId};
use store::{MemoryStore, SystemClock};

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn attempt() -> Attempt {
    Attempt {
        cluster: ClusterName::new("site1").unwrap(),
        machine: MachineName::new("rack1compute01").unwrap(),
        operation: OperationId::new("8f3c"),
        round: 2,
    }
}

fn step(ask: DeviceAsk, with: With) -> Step {
    Step { machine: attempt().machine, node: None, operation: None, ask, attempt: 1, reason: String::new(), with }
}

fn of_attempt(ask: DeviceAsk) -> Step {
    step(ask, With::Install { attempt: attempt(), way: BootWay::VirtualMedia })
}

fn desk(base_url: &str) -> InstallDesk {
    InstallDesk { key: InstallKey::from_bytes(&[7; ticket::KEY_BYTES]).unwrap(), urls: InstallUrls::all(base_url) }
}

#[test]
fn an_address_is_the_install_face_s_with_the_secret_of_the_attempt() {
    let desk = desk("http://10.0.0.1:8080/");
    let media = media_url(&of_attempt(DeviceAsk::InsertMedia), Some(&desk)).unwrap().to_string();
    assert_eq!(ticket::without_secret(&media), "http://10.0.0.1:8080/install/v1/media/site1/8f3c/2/***/agent.iso");
    assert!(media.contains(desk.key.token(ticket::Purpose::Media, &attempt()).as_str()));
    let http = http_url(&of_attempt(DeviceAsk::BootFromHttp), Some(&desk)).unwrap().to_string();
    assert_eq!(ticket::without_secret(&http), "http://10.0.0.1:8080/install/v1/http/site1/8f3c/2/***/boot.efi");
}

#[test]
fn an_address_that_cannot_be_made_is_told_without_its_secret() {
    let secret = |desk: &InstallDesk| desk.key.token(ticket::Purpose::Media, &attempt());
    for base in ["not an address", "/only/a/path", ""] {
        let desk = desk(base);
        let fault = media_url(&of_attempt(DeviceAsk::InsertMedia), Some(&desk)).unwrap_err();
        assert!(fault.to_string().ends_with("is no URL"), "{fault}");
        assert!(!fault.to_string().contains(secret(&desk).as_str()));
    }
    let fault = media_url(&of_attempt(DeviceAsk::InsertMedia), None).unwrap_err();
    assert_eq!(fault.to_string(), "unsupported: this site has no install address, so its machines cannot be installed");
    let fault = media_url(&step(DeviceAsk::InsertMedia, With::Nothing), Some(&desk("http://h"))).unwrap_err();
    assert_eq!(fault.to_string(), "unsupported: the insertion of the agent's image does not say what it is about");
}

#[test]
fn a_join_token_says_whom_it_is_for_and_ends_in_an_hour() {
    let desk = desk("http://h");
    let token = join_token(&of_attempt(DeviceAsk::MintJoinToken), Some(&desk), NOW).unwrap();
    assert_eq!(token.description, "Rackwright: rack1compute01 joins, operation 8f3c");
    assert_eq!((token.expires_at, token.id), (NOW + JOIN_TOKEN_LIFE, desk.key.join_token(&attempt()).id));
    assert_eq!(volume_of(&step(DeviceAsk::DeleteVolume, With::Volume { path: "/v/1".into() })), Ok("/v/1"));
    assert_eq!(os_volume_of(&step(DeviceAsk::MakeOsVolume, With::OsVolume { name: "System".into() })), Ok("System"));
    assert!(os_volume_of(&step(DeviceAsk::MakeOsVolume, With::Nothing)).is_err());
}

#[test]
fn neither_the_key_nor_a_token_is_shown() {
    let desk = desk("http://h");
    let token = join_token(&of_attempt(DeviceAsk::MintJoinToken), Some(&desk), NOW).unwrap();
    let shown = format!("{desk:?} {token:?}");
    assert!(!shown.contains(token.secret.as_str()) && !shown.contains("7, 7"), "{shown}");
}

#[tokio::test]
async fn the_key_is_made_once_and_read_by_whoever_comes_later() {
    let vault = Vault::ephemeral(Arc::new(MemoryStore::new(Arc::new(SystemClock))));
    let cluster = ClusterName::new("site1").unwrap();
    let token = |key: &InstallKey| key.token(ticket::Purpose::Agent, &attempt());
    let first = load_install_key(&vault, &cluster).await.unwrap();
    let second = load_install_key(&vault, &cluster).await.unwrap();
    assert_eq!(token(&first), token(&second));
    vault.save(&InstallKey::secret_of(&cluster), b"short").await.unwrap();
    assert!(matches!(load_install_key(&vault, &cluster).await, Err(VaultError::WrongKey { .. })));
}
