//! Tokens of other issuers.

use ring::rsa::PublicKeyComponents;
use ring::signature::KeyPair;
use serde_json::json;

use super::*;
use crate::guid::TenantId;

const ISSUER: &str = "https://login.example/realms/ops";

fn jwks() -> Value {
    let rsa: PublicKeyComponents<Vec<u8>> = RsaKeyPair::from_pkcs8(CLIENT_KEY).unwrap().public().into();
    let point = p256().public_key().as_ref().to_vec();
    let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let ed = Ed25519KeyPair::from_seed_unchecked(&[1; SEED_BYTES]).unwrap();
    json!({ "keys": [
        { "kid": "rsa", "kty": "RSA", "n": text(&rsa.n), "e": text(&rsa.e), "use": "sig", "alg": "RS256" },
        { "kid": "any-rsa", "kty": "RSA", "n": text(&rsa.n), "e": text(&rsa.e) },
        { "kid": "ec", "kty": "EC", "crv": "P-256", "x": text(&point[1..33]), "y": text(&point[33..]), "use": "sig" },
        { "kid": "ed", "kty": "OKP", "crv": "Ed25519", "x": text(ed.public_key().as_ref()) },
        { "kid": "sealing", "kty": "RSA", "n": text(&rsa.n), "e": text(&rsa.e), "use": "enc" },
        { "kid": "odd", "kty": "new", "z": 1 },
    ] })
}

fn issuer() -> ForeignIssuer {
    ForeignIssuer::new(ISSUER, vec!["rackwright".into()], TenantId::new(uuid(3)), &jwks().to_string()).unwrap()
}

fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": "rackwright", "sub": "ada-1", "exp": seconds_from_now(300), "preferred_username": "ada@example.com" })
}

fn header(kid: &str, alg: &str) -> Value {
    json!({ "typ": "JWT", "alg": alg, "kid": kid })
}

fn check(token: &str) -> Result<ForeignClaims, Rejection> {
    issuer().check(token, now())
}

#[test]
fn people_are_known_by_what_their_issuer_says() {
    let found = check(&token(&header("rsa", "RS256"), &claims(), rs256())).unwrap();
    assert_eq!((found.user.issuer.as_str(), found.user.subject.as_str(), found.user.name.as_str()), (ISSUER, "ada-1", "ada@example.com"));
    assert_eq!((found.user.tenant, found.expires_at), (TenantId::new(uuid(3)), now() + Span::minutes(5)));
    let of_entra =
        with(&claims(), json!({ "tid": uuid(8), "preferred_username": null, "name": "Ada\u{202e}\n", "aud": ["x", "rackwright"] }));
    let found = check(&token(&header("rsa", "RS256"), &of_entra, rs256())).unwrap();
    assert_eq!((found.user.tenant, found.user.name.as_str()), (TenantId::new(uuid(8)), "Ada"));
}

fn taken(kid: &str, alg: &str, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> Result<(), Rejection> {
    check(&token(&header(kid, alg), &claims(), sign)).map(|_| ())
}

#[test]
fn each_kind_of_key_signs_with_its_own_algorithms() {
    assert_eq!(taken("ec", "ES256", es256()), Ok(()));
    assert_eq!(taken("ed", "EdDSA", ed25519(1)), Ok(()));
    assert_eq!(taken("any-rsa", "PS256", ps256()), Ok(()));
    assert_eq!(taken("rsa", "PS256", ps256()), Err(Rejection::OtherAlgorithm), "the key is for RS256");
    assert_eq!(taken("ec", "RS256", rs256()), Err(Rejection::OtherAlgorithm));
    assert_eq!(taken("ec", "ES256", |_| vec![0; 64]), Err(Rejection::Forged));
    assert_eq!(taken("rsa", "HS256", hs256(b"x")), Err(Rejection::OtherAlgorithm));
    assert_eq!(taken("sealing", "RS256", rs256()), Err(Rejection::UnknownKey));
    assert_eq!(taken("rsa", "none", |_| vec![]), Err(Rejection::Unsigned));
}

#[test]
fn what_an_issuer_says_must_be_of_it_for_us_and_for_now() {
    let table = [
        (json!({ "iss": "https://login.example/realms/guests" }), Rejection::WrongIssuer),
        (json!({ "aud": "portal" }), Rejection::WrongAudience),
        (json!({ "aud": [] }), Rejection::WrongAudience),
        (json!({ "aud": null }), Rejection::Claims),
        (json!({ "sub": "" }), Rejection::Claims),
        (json!({ "exp": seconds_from_now(-121) }), Rejection::Expired),
        (json!({ "nbf": seconds_from_now(121) }), Rejection::NotYetValid),
    ];
    for (changes, rejection) in table {
        let token = token(&header("rsa", "RS256"), &with(&claims(), changes.clone()), rs256());
        assert_eq!(check(&token), Err(rejection), "{changes}");
    }
}

#[test]
fn keys_are_replaced_only_by_keys_that_can_be_used() {
    let mut issuer = issuer();
    let of_rsa = token(&header("rsa", "RS256"), &claims(), rs256());
    assert_eq!((ForeignIssuer::claimed_by(&of_rsa).as_deref(), ForeignIssuer::claimed_by("x")), (Ok(ISSUER), Err(Rejection::Malformed)));
    assert_eq!(issuer.replace_keys("{"), Err(BadKeys::Garbled));
    assert_eq!(issuer.replace_keys(r#"{"keys":[]}"#), Err(BadKeys::NoneUsable));
    assert_eq!(issuer.replace_keys(&" ".repeat(JWKS_MAX + 1)), Err(BadKeys::TooMany));
    let many = json!({ "keys": vec![jwks()["keys"][0].clone(); JWKS_KEYS_MAX + 1] });
    assert_eq!(issuer.replace_keys(&many.to_string()), Err(BadKeys::TooMany));
    for secret in [json!({ "kid": "shared", "kty": "oct", "k": "c2VjcmV0", "alg": "HS256" }), json!({ "kty": "RSA", "d": "AQAB" })] {
        assert_eq!(issuer.replace_keys(&json!({ "keys": [jwks()["keys"][0], secret] }).to_string()), Err(BadKeys::Private));
    }
    assert!(issuer.check(&of_rsa, now()).is_ok());
    issuer.replace_keys(&json!({ "keys": [jwks()["keys"][2]] }).to_string()).unwrap();
    assert_eq!(issuer.check(&of_rsa, now()), Err(Rejection::UnknownKey));
}
