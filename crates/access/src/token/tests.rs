mod assertions;
mod foreigners;
mod ours;
mod rotation;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use serde_json::Value;
use uuid::Uuid;

use super::*;

/// Made for these tests with `openssl`; they open nothing.
const CLIENT_KEY: &[u8] = include_bytes!("../fixtures/client-key.der");
const ISSUER_KEY: &[u8] = include_bytes!("../fixtures/issuer-key.der");

fn now() -> Timestamp {
    Timestamp::parse("2027-01-01T00:00:00Z").unwrap()
}

fn seconds_from_now(seconds: i64) -> i64 {
    now().as_millis() / 1_000 + seconds
}

fn encoded(json: &Value) -> String {
    URL_SAFE_NO_PAD.encode(json.to_string())
}

/// A token that anybody could make, if they had what signs.
fn token(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", encoded(header), encoded(claims));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn ed25519(seed: u8) -> impl FnOnce(&[u8]) -> Vec<u8> {
    move |message| Ed25519KeyPair::from_seed_unchecked(&[seed; SEED_BYTES]).unwrap().sign(message).as_ref().to_vec()
}

fn hs256(secret: &[u8]) -> impl FnOnce(&[u8]) -> Vec<u8> + use<> {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret);
    move |message| ring::hmac::sign(&key, message).as_ref().to_vec()
}

/// The secret that is derived from a seed, so that it cannot change unseen: every token would be refused that there is.
fn secret(seed: u8) -> Vec<u8> {
    hs256(&[seed; SEED_BYTES])(b"rackwright tokens that only rackwright reads, 1")
}

/// What we sign what only we read with.
fn ours(seed: u8) -> impl FnOnce(&[u8]) -> Vec<u8> {
    hs256(&secret(seed))
}

#[expect(clippy::disallowed_methods, reason = "whoever signs with RSA or on P-256 draws random numbers; we never do")]
fn random() -> SystemRandom {
    SystemRandom::new()
}

fn rsa(padding: &'static dyn RsaEncoding) -> impl FnOnce(&[u8]) -> Vec<u8> {
    move |message| {
        let pair = RsaKeyPair::from_pkcs8(CLIENT_KEY).unwrap();
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(padding, &random(), message, &mut signature).unwrap();
        signature
    }
}

fn rs256() -> impl FnOnce(&[u8]) -> Vec<u8> {
    rsa(&RSA_PKCS1_SHA256)
}

fn ps256() -> impl FnOnce(&[u8]) -> Vec<u8> {
    rsa(&RSA_PSS_SHA256)
}

fn p256() -> EcdsaKeyPair {
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, ISSUER_KEY, &random()).unwrap()
}

fn es256() -> impl FnOnce(&[u8]) -> Vec<u8> {
    |message| p256().sign(&random(), message).unwrap().as_ref().to_vec()
}

/// The claims with some of them changed; `null` takes one away.
fn with(claims: &Value, changes: Value) -> Value {
    let mut changed = claims.clone();
    json_merge(&mut changed, changes);
    changed
}

fn json_merge(into: &mut Value, changes: Value) {
    let (Value::Object(into), Value::Object(changes)) = (into, changes) else { panic!("objects are meant") };
    for (name, value) in changes {
        if value.is_null() {
            into.remove(&name)
        } else {
            into.insert(name, value)
        };
    }
}

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

#[test]
fn every_rejection_has_words_of_its_own() {
    let all = [
        Rejection::Oversized,
        Rejection::Malformed,
        Rejection::Unsigned,
        Rejection::OtherAlgorithm,
        Rejection::UnknownExtension,
        Rejection::UnknownKey,
        Rejection::Forged,
        Rejection::Claims,
        Rejection::WrongIssuer,
        Rejection::WrongAudience,
        Rejection::WrongSubject,
        Rejection::Expired,
        Rejection::NotYetValid,
        Rejection::LivesTooLong,
        Rejection::Replayed,
        Rejection::Disabled,
        Rejection::CredentialRemoved,
        Rejection::CertificateExpired,
    ];
    let words: std::collections::BTreeSet<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), all.len());
}
