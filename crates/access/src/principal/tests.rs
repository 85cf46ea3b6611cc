use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::Span;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::*;

const CLIENT_CERTIFICATE: &[u8] = include_bytes!("../fixtures/client.der");
const WEAK_CERTIFICATE: &[u8] = include_bytes!("../fixtures/weak.der");

fn now() -> Timestamp {
    Timestamp::parse("2027-01-01T00:00:00Z").unwrap()
}

fn key(byte: u8) -> SecretKey {
    SecretKey::from_bytes(&[byte; KEY_BYTES]).unwrap()
}

fn secret(byte: u8) -> ClientSecret {
    ClientSecret::new(&Zeroizing::new([byte; SECRET_BYTES]))
}

fn secret_id(number: u128) -> SecretId {
    SecretId::new(Uuid::from_u128(number))
}

fn client_id() -> ClientId {
    ClientId::new(Uuid::from_u128(20))
}

fn stored(number: u8, life: Span) -> StoredSecret {
    key(1).store(client_id(), secret_id(u128::from(number)), &secret(number), now(), now() + life)
}

fn service_principal() -> ServicePrincipal {
    ServicePrincipal {
        id: PrincipalId::new(Uuid::from_u128(10)),
        client_id: client_id(),
        tenant: TenantId::new(Uuid::from_u128(30)),
        display_name: "deploy".into(),
        secrets: vec![stored(1, Span::hours(1)), stored(2, Span::hours(2))],
        certificates: vec![Certificate::from_der(CLIENT_CERTIFICATE).unwrap()],
        created_at: now(),
        disabled_at: None,
    }
}

#[test]
fn a_secret_lets_in_until_it_expires() {
    let principal = service_principal();
    let login = |shown: &ClientSecret, after: Span| principal.find_secret(&key(1), shown.text(), now() + after);
    assert_eq!(login(&secret(1), Span::ZERO), Ok(secret_id(1)));
    assert_eq!(login(&secret(2), Span::minutes(119)), Ok(secret_id(2)));
    assert_eq!(login(&secret(1), Span::hours(1)), Err(LoginRefused::Expired(secret_id(1))));
    assert_eq!(login(&secret(3), Span::ZERO), Err(LoginRefused::WrongSecret));
}

#[test]
fn a_digest_is_good_for_its_key_client_and_id_alone() {
    let principal = service_principal();
    let shown = secret(1);
    assert_eq!(principal.find_secret(&key(2), shown.text(), now()), Err(LoginRefused::WrongSecret));
    let other_client = ServicePrincipal { client_id: ClientId::new(Uuid::nil()), ..principal.clone() };
    assert_eq!(other_client.find_secret(&key(1), shown.text(), now()), Err(LoginRefused::WrongSecret));
    let mut moved = principal.secrets[0].clone();
    moved.id = secret_id(9);
    let of_other_id = ServicePrincipal { secrets: vec![moved], ..principal.clone() };
    assert_eq!(of_other_id.find_secret(&key(1), shown.text(), now()), Err(LoginRefused::WrongSecret));
    let disabled = ServicePrincipal { disabled_at: Some(now()), ..principal };
    assert_eq!(disabled.find_secret(&key(1), shown.text(), now()), Err(LoginRefused::Disabled));
}

#[test]
fn a_digest_is_the_mac_that_others_compute() {
    // printf 'client secret\n%s\n%s\n%s' <client> <id> <secret> | openssl dgst -sha256 -mac HMAC -macopt hexkey:0101…01 -binary | base64
    let json = serde_json::to_value(stored(1, Span::hours(1))).unwrap();
    assert_eq!(json["digest"], "nMH43eIVeEtr4CtEulDHxENucN0RZNJG5srHWN_jupw");
}

#[test]
fn what_is_no_secret_is_refused() {
    let principal = service_principal();
    let shown = secret(1);
    let cut = &shown.text()[1..];
    for bad in ["", "x", cut, &format!("{}A", shown.text()), &shown.text().to_lowercase(), &"ä".repeat(30), &"A".repeat(1_000_000)] {
        assert_eq!(principal.find_secret(&key(1), bad, now()), Err(LoginRefused::WrongSecret));
    }
}

#[test]
fn a_secret_has_a_longest_life_and_a_hint() {
    let stored = stored(1, Span::hours(24 * 10_000));
    assert_eq!(stored.expires_at, now() + SECRET_LIFE_MAX);
    assert_eq!(stored.hint, "AQE");
    assert!(secret(1).text().starts_with(&stored.hint));
}

#[test]
fn nothing_secret_is_printed_or_stored() {
    let printed = format!("{:?} {:?} {:?}", secret(1), key(1), service_principal());
    let json = serde_json::to_string(&service_principal()).unwrap();
    for text in [&printed, &json] {
        assert!(!text.contains(secret(1).text()) && !text.contains(secret(2).text()), "{text}");
    }
    assert!(printed.starts_with("ClientSecret { .. } SecretKey { .. }"), "{printed}");
    assert!(!printed.contains("digest"), "{printed}");
    assert_eq!(serde_json::from_str::<ServicePrincipal>(&json).unwrap(), service_principal());
    assert!(SecretKey::from_bytes(&[0; KEY_BYTES - 1]).is_none());
}

#[test]
fn a_certificate_is_found_by_either_thumbprint() {
    // openssl x509 -inform der -in client.der -noout -fingerprint -sha1, and -sha256, in base64url.
    let (sha1, sha256) = ("r-dnahyKMiKXWctEwplT3ZPVVxo", "Tc1fDAqrupUysx6geVL4KCy-ou7e9o3HTpgzEFwg1Ag");
    let principal = service_principal();
    let certificate = principal.find_certificate(&Thumbprint::Sha1(sha1.into())).unwrap();
    assert_eq!(principal.find_certificate(&Thumbprint::Sha256(sha256.into())), Some(certificate));
    assert_eq!(principal.find_certificate(&Thumbprint::Sha256(sha1.into())), None);
    assert_eq!(principal.find_certificate(&Thumbprint::Sha1(format!("{sha1}="))), Some(certificate), "as Azure's clients write it");
    assert!(certificate.is_valid_at(now()));
    assert!(!certificate.is_valid_at(certificate.not_after) && !certificate.is_valid_at(Timestamp::EPOCH));
}

#[test]
fn a_certificate_is_found_in_a_file_with_its_key() {
    let block = |label: &str, der: &[u8]| format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der));
    let file = block("PRIVATE KEY", b"key") + &block("CERTIFICATE", CLIENT_CERTIFICATE);
    assert_eq!(Certificate::from_pem(file.as_bytes()), Certificate::from_der(CLIENT_CERTIFICATE));
    for bad in ["", "x", &block("PRIVATE KEY", CLIENT_CERTIFICATE), &file.replace("-----END CERTIFICATE-----", "")] {
        assert_eq!(Certificate::from_pem(bad.as_bytes()), Err(BadCertificate::Garbled), "{bad}");
    }
    assert_eq!(Certificate::from_pem(&vec![b' '; PEM_MAX + 1]), Err(BadCertificate::TooLarge));
}

#[test]
fn what_is_no_good_certificate_is_refused() {
    let with_rest = [CLIENT_CERTIFICATE, b"x"].concat();
    let cut = &CLIENT_CERTIFICATE[..CLIENT_CERTIFICATE.len() - 1];
    for bad in [&[][..], b"-----BEGIN CERTIFICATE-----", &with_rest, cut] {
        assert_eq!(Certificate::from_der(bad), Err(BadCertificate::Garbled));
    }
    assert_eq!(Certificate::from_der(&[0; CERTIFICATE_MAX + 1]), Err(BadCertificate::TooLarge));
    assert_eq!(Certificate::from_der(WEAK_CERTIFICATE), Err(BadCertificate::Key));
}

#[test]
fn a_service_principal_has_limits() {
    let good = service_principal();
    assert_eq!(good.check(), Ok(()));
    for display_name in ["", "a\u{202e}b", &"a".repeat(DISPLAY_NAME_MAX + 1)] {
        assert_eq!(ServicePrincipal { display_name: display_name.into(), ..good.clone() }.check(), Err(InvalidPrincipal::DisplayName));
    }
    let secrets = vec![stored(1, Span::hours(1)); SECRETS_MAX + 1];
    assert_eq!(ServicePrincipal { secrets, ..good.clone() }.check(), Err(InvalidPrincipal::Secrets));
    let certificates = vec![good.certificates[0].clone(); CERTIFICATES_MAX + 1];
    assert_eq!(ServicePrincipal { certificates, ..good }.check(), Err(InvalidPrincipal::Certificates));
}

#[test]
fn a_user_is_the_same_whatever_their_name_is() {
    let user = |issuer: &str, subject: &str, name: &str| User {
        issuer: issuer.into(),
        subject: subject.into(),
        name: name.into(),
        tenant: TenantId::new(Uuid::nil()),
    };
    assert_eq!(user("https://a", "1", "Ada").id(), user("https://a", "1", "Eve").id());
    assert_ne!(user("https://a", "1", "Ada").id(), user("https://a", "2", "Ada").id());
    assert_ne!(user("https://a", "1", "Ada").id(), user("https://b", "1", "Ada").id());
    assert_ne!(user("ab", "c", "").id(), user("a", "bc", "").id());
}
