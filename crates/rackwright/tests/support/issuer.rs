//! An issuer of OpenID Connect, as far as a test needs one: a key, what it publishes of it, and tokens that it signs.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

pub const ISSUER: &str = "https://login.example.com";
pub const AUDIENCE: &str = "rackwright";

pub struct Issuer(Ed25519KeyPair);

impl Issuer {
    /// The same key in every run: nothing here depends on chance.
    pub fn new() -> Issuer {
        Issuer(Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("any 32 bytes are a seed"))
    }

    /// Its keys, as a JWKS.
    pub fn keys(&self) -> Value {
        let public = URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref());
        json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "k1", "x": public }] })
    }

    /// A token that says who somebody is, good for a few minutes.
    pub fn token(&self, name: &str) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs();
        let claims = json!({
            "iss": ISSUER, "aud": AUDIENCE, "sub": format!("{name}-1"), "preferred_username": name, "iat": now, "exp": now + 300,
        });
        let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(json!({ "typ": "JWT", "alg": "EdDSA", "kid": "k1" })), part(claims));
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(self.0.sign(message.as_bytes())))
    }
}

/// What a token claims, whoever signed it.
pub fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).expect("a token has three parts");
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).expect("its parts are base64")).expect("its claims are JSON")
}
