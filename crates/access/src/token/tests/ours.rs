//! Our own tokens.

use serde_json::json;

use super::*;
use crate::guid::{ClientId, PrincipalId, TenantId};
use crate::token::keys::SigningKeys;

const ISSUER: &str = "https://site.example/adfs";
const AUDIENCE: &str = "https://site.example/";
const SEED: u8 = 7;

fn key() -> SigningKey {
    SigningKey::from_seed(&[SEED; SEED_BYTES], now() - Span::hours(5)).unwrap()
}

fn mint() -> Mint {
    let mut keys = SigningKeys::default();
    keys.add(key());
    Mint::new(ISSUER, vec![AUDIENCE.into(), AUDIENCE.trim_end_matches('/').into()], keys)
}

fn bearer() -> Bearer {
    Bearer {
        principal: PrincipalId::new(uuid(1)),
        client: Some(ClientId::new(uuid(2))),
        tenant: TenantId::new(uuid(3)),
        name: "deploy".into(),
        logged_in_at: now(),
        credential: None,
        vouched_by: None,
    }
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": uuid(1), "oid": uuid(1), "appid": uuid(2), "tid": uuid(3), "name": "deploy",
        "upn": "deploy", "auth_time": seconds_from_now(0),
        "iat": seconds_from_now(0), "nbf": seconds_from_now(0), "exp": seconds_from_now(3_600), "jti": uuid(4),
    })
}

fn header() -> Value {
    json!({ "typ": "JWT", "alg": "HS256", "kid": key().id() })
}

fn check(token: &str) -> Result<Claims, Rejection> {
    mint().check(token, now())
}

#[test]
fn whatever_is_made_of_a_login_ends_with_it() {
    let minted = |hours, minutes| mint().mint(&bearer(), AUDIENCE, uuid(4), now() + Span::hours(hours) + Span::minutes(minutes));
    let over = now() + SIGNED_LIFE_MAX;
    assert_eq!(minted(10, 0).unwrap().expires_at, now() + Span::hours(11));
    assert_eq!(minted(11, 30).unwrap().expires_at, over, "half an hour is left");
    assert_eq!(minted(12, 0), Err(MintError::LoginOver));
    let session = mint().apart("session", SIGNED_LIFE_MAX).mint(&bearer(), "session", uuid(4), now() + Span::hours(3)).unwrap();
    assert_eq!(session.expires_at, over);
}

#[test]
fn a_token_says_who_its_bearer_is() {
    let minted = mint().mint(&bearer(), AUDIENCE, uuid(4), now()).unwrap();
    let found = check(&minted.text).unwrap();
    assert_eq!(serde_json::to_value(&found).unwrap(), claims());
    assert_eq!((found.clone().bearer(), found.expires_at()), (bearer(), now() + TOKEN_LIFE));
    assert_eq!(minted.expires_at, found.expires_at());
    let again = mint().mint(&bearer(), AUDIENCE, uuid(4), now()).unwrap();
    assert_eq!(minted, again, "the same claims give the same token");
    assert_eq!(check(&token(&header(), &claims(), ours(SEED))), Ok(found), "what others make of the same key is the same");
}

#[test]
fn what_others_read_is_signed_with_the_key_that_they_know_and_is_no_token_of_ours() {
    let told = mint().apart("program", TOKEN_LIFE).for_anybody().mint(&bearer(), "program", uuid(4), now()).unwrap();
    let header = json!({ "typ": "JWT", "alg": "EdDSA", "kid": key().id() });
    let same = token(&header, &with(&claims(), json!({ "aud": "program" })), ed25519(SEED));
    let theirs = mint().apart("program", TOKEN_LIFE).for_anybody();
    assert_eq!(theirs.check(&told.text, now()), theirs.check(&same, now()));
    assert!(theirs.check(&told.text, now()).is_ok());
    assert_eq!(check(&told.text), Err(Rejection::OtherAlgorithm));
    let for_us = token(&header, &claims(), ed25519(SEED));
    assert_eq!(check(&for_us), Err(Rejection::OtherAlgorithm), "whatever it says");
    let ours = mint().mint(&bearer(), AUDIENCE, uuid(4), now()).unwrap();
    assert_eq!(mint().for_anybody().check(&ours.text, now()), Err(Rejection::OtherAlgorithm));
}

#[test]
fn a_token_is_good_within_its_time_and_a_bounded_skew() {
    let minted = mint().mint(&bearer(), AUDIENCE, uuid(4), now()).unwrap();
    let at = |at: Timestamp| mint().check(&minted.text, at).map(|_| ());
    assert_eq!(at(now() - CLOCK_SKEW), Ok(()));
    assert_eq!(at(now() - CLOCK_SKEW - Span::millis(1)), Err(Rejection::NotYetValid));
    assert_eq!(at(now() + TOKEN_LIFE + CLOCK_SKEW - Span::millis(1)), Ok(()));
    assert_eq!(at(now() + TOKEN_LIFE + CLOCK_SKEW), Err(Rejection::Expired));
}

#[test]
fn what_is_not_signed_by_us_is_refused() {
    let public = URL_SAFE_NO_PAD.decode(mint().keys().jwks(now())["keys"][0]["x"].as_str().unwrap()).unwrap();
    let of = |changes: Value| with(&header(), changes);
    let table = [
        ("another key", token(&header(), &claims(), ours(8)), Rejection::Forged),
        ("no signature", token(&header(), &claims(), |_| vec![]), Rejection::Forged),
        ("none", token(&of(json!({ "alg": "none" })), &claims(), |_| vec![]), Rejection::Unsigned),
        ("None", token(&of(json!({ "alg": "NONE" })), &claims(), |_| vec![]), Rejection::Unsigned),
        ("the public key as a secret", token(&header(), &claims(), hs256(&public)), Rejection::Forged),
        ("the seed as a secret", token(&header(), &claims(), hs256(&[SEED; SEED_BYTES])), Rejection::Forged),
        ("no secret", token(&header(), &claims(), hs256(&[])), Rejection::Forged),
        ("a part of the signature", token(&header(), &claims(), |message| ours(SEED)(message)[..16].to_vec()), Rejection::Forged),
        ("what is for others", token(&of(json!({ "alg": "EdDSA" })), &claims(), ed25519(SEED)), Rejection::OtherAlgorithm),
        ("that, called ours", token(&header(), &claims(), ed25519(SEED)), Rejection::Forged),
        ("HS512", token(&of(json!({ "alg": "HS512" })), &claims(), ours(SEED)), Rejection::OtherAlgorithm),
        ("RS256", token(&of(json!({ "alg": "RS256" })), &claims(), rs256()), Rejection::OtherAlgorithm),
        ("ES256", token(&of(json!({ "alg": "ES256" })), &claims(), es256()), Rejection::OtherAlgorithm),
        ("an algorithm of nobody's", token(&of(json!({ "alg": "XX1" })), &claims(), ours(SEED)), Rejection::OtherAlgorithm),
        ("no algorithm", token(&of(json!({ "alg": null })), &claims(), ours(SEED)), Rejection::Malformed),
        ("an unknown key", token(&of(json!({ "kid": "x" })), &claims(), ours(SEED)), Rejection::UnknownKey),
        ("no key", token(&of(json!({ "kid": null })), &claims(), ours(SEED)), Rejection::UnknownKey),
        (
            "a key in the token",
            token(&of(json!({ "kid": null, "jwk": { "kty": "OKP", "crv": "Ed25519", "x": "AA" } })), &claims(), ours(8)),
            Rejection::UnknownKey,
        ),
        ("an extension", token(&of(json!({ "crit": ["b64"], "b64": false })), &claims(), ours(SEED)), Rejection::UnknownExtension),
        ("compressed", token(&of(json!({ "zip": "DEF" })), &claims(), ours(SEED)), Rejection::UnknownExtension),
    ];
    for (what, token, rejection) in table {
        assert_eq!(check(&token), Err(rejection), "{what}");
    }
}

#[test]
fn what_is_signed_by_us_must_say_what_we_say() {
    let table = [
        (json!({ "exp": seconds_from_now(-3_600) }), Rejection::Expired),
        (json!({ "nbf": seconds_from_now(600) }), Rejection::NotYetValid),
        (json!({ "aud": "https://other.example/" }), Rejection::WrongAudience),
        (json!({ "aud": [AUDIENCE] }), Rejection::Claims),
        (json!({ "iss": "https://other.example/adfs" }), Rejection::WrongIssuer),
        (json!({ "exp": null }), Rejection::Claims),
        (json!({ "exp": "never" }), Rejection::Claims),
        (json!({ "exp": -1 }), Rejection::Expired),
        (json!({ "exp": i64::MIN }), Rejection::Expired),
        (json!({ "nbf": i64::MAX }), Rejection::NotYetValid),
        (json!({ "oid": "root" }), Rejection::Claims),
        (json!({ "tid": null }), Rejection::Claims),
    ];
    for (changes, rejection) in table {
        assert_eq!(check(&token(&header(), &with(&claims(), changes.clone()), ours(SEED))), Err(rejection), "{changes}");
    }
}

#[test]
fn what_is_no_token_is_refused() {
    let good = token(&header(), &claims(), ours(SEED));
    assert_eq!(check(&"a".repeat(TOKEN_MAX + 1)), Err(Rejection::Oversized));
    for bad in [
        "",
        ".",
        "..",
        "...",
        "a.b.c",
        "ä.ö.ü",
        &good.replace('.', ""),
        &format!("{good}.x"),
        &format!(".{good}"),
        &format!("Bearer {good}"),
        &"a".repeat(TOKEN_MAX),
    ] {
        assert_eq!(check(bad), Err(Rejection::Malformed), "{bad}");
    }
}

#[test]
fn a_token_is_given_only_for_this_service_and_with_a_key() {
    assert_eq!(mint().mint(&bearer(), "https://graph.example", uuid(4), now()).unwrap_err(), MintError::WrongAudience);
    let keyless = Mint::new("i", vec![AUDIENCE.into()], crate::token::SigningKeys::default());
    assert_eq!(keyless.mint(&bearer(), AUDIENCE, uuid(4), now()).unwrap_err(), MintError::NoKey);
}

#[test]
fn nothing_secret_is_printed() {
    let minted = mint().mint(&bearer(), AUDIENCE, uuid(4), now()).unwrap();
    let printed = format!("{minted:?} {:?}", mint());
    assert!(!printed.contains(minted.text.as_str()) && !printed.contains("signing") && !printed.contains("[7, 7"), "{printed}");
}

proptest::proptest! {
    #[test]
    fn no_changed_token_is_taken(at in 0_usize..500, byte in 0_u8..=255) {
        let minted = mint().mint(&bearer(), AUDIENCE, uuid(4), now()).unwrap();
        let mut bytes = minted.text.as_bytes().to_vec();
        let at = at % bytes.len();
        proptest::prop_assume!(bytes[at] != byte);
        bytes[at] = byte;
        if let Ok(changed) = String::from_utf8(bytes) {
            proptest::prop_assert!(check(&changed).is_err());
        }
    }
}

#[test]
fn what_was_verified_is_remembered_letter_by_letter_until_it_expires_or_the_keys_change() {
    let minted = mint().mint(&bearer(), AUDIENCE, uuid(4), now()).unwrap();
    let mut verified = Verified::default();
    assert_eq!(verified.find(&minted.text, now()), None);
    let claims = check(&minted.text).unwrap();
    verified.remember(&minted.text, claims.clone(), now());
    assert_eq!(verified.find(&minted.text, now()), Some(Ok(claims.clone())));
    let (head, signature) = minted.text.rsplit_once('.').unwrap();
    let forged = format!("{head}.{}", signature.chars().rev().collect::<String>());
    assert_eq!(verified.find(&forged, now()), None, "another signature is another token");
    let over = now() + TOKEN_LIFE + CLOCK_SKEW;
    assert_eq!(verified.find(&minted.text, over), Some(Err(Rejection::Expired)));
    assert_eq!(verified.find(&minted.text, now() - CLOCK_SKEW - Span::seconds(1)), Some(Err(Rejection::NotYetValid)));
    for number in 1..VERIFIED_MAX {
        verified.remember(&number.to_string(), claims.clone(), now());
    }
    assert_eq!(verified.len(), VERIFIED_MAX);
    verified.remember("one more", claims.clone(), now());
    assert_eq!(verified.len(), 1, "there is no room for more");
    verified.remember("later", claims, over);
    assert_eq!(verified.len(), 2);
    verified.forget_all();
    assert!(verified.is_empty());
}
