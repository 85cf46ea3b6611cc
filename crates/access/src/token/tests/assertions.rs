//! Assertions of service principals with a certificate, as Azure's clients make them.

use serde_json::json;

use super::*;
use crate::guid::{ClientId, PrincipalId, TenantId};
use crate::principal::{Certificate, ServicePrincipal};

const ENDPOINT: &str = "https://site.example/adfs/oauth2/token";

fn certificate() -> Certificate {
    Certificate::from_der(include_bytes!("../../fixtures/client.der")).unwrap()
}

fn principal() -> ServicePrincipal {
    ServicePrincipal {
        id: PrincipalId::new(uuid(1)),
        client_id: ClientId::new(uuid(2)),
        tenant: TenantId::new(uuid(3)),
        display_name: "deploy".into(),
        secrets: vec![],
        certificates: vec![certificate()],
        created_at: now(),
        disabled_at: None,
    }
}

fn claims() -> Value {
    json!({ "aud": ENDPOINT, "iss": uuid(2), "sub": uuid(2), "iat": seconds_from_now(0), "exp": seconds_from_now(600), "jti": uuid(5) })
}

fn by_sha1() -> Value {
    json!({ "typ": "JWT", "alg": "RS256", "x5t": certificate().sha1 })
}

fn by_sha256() -> Value {
    json!({ "typ": "JWT", "alg": "PS256", "x5t#S256": certificate().sha256, "x5c": ["ignored"] })
}

fn check(token: &str) -> Result<(), Rejection> {
    check_at(token, now())
}

fn check_at(token: &str, at: Timestamp) -> Result<(), Rejection> {
    prove_at(token, at).map(|_| ())
}

fn prove_at(token: &str, at: Timestamp) -> Result<Proven, Rejection> {
    Assertion::read(token)?.check(&principal(), &AssertionAudience(vec![ENDPOINT.into()]), at)
}

#[test]
fn both_ways_in_which_clients_sign_are_taken() {
    let old = token(&by_sha1(), &claims(), rs256());
    assert_eq!(Assertion::read(&old).unwrap().client(), ClientId::new(uuid(2)));
    let until = now() + Span::seconds(600) + CLOCK_SKEW;
    let credential = (&certificate()).into();
    assert_eq!(prove_at(&old, now()), Ok(Proven { client: ClientId::new(uuid(2)), credential, id: uuid(5).to_string(), until }));
    assert_eq!(check(&old), Ok(()), "clients send one again until it expires");
    assert_eq!(check(&token(&by_sha256(), &claims(), ps256())), Ok(()));
    assert_eq!(check(&token(&by_sha256(), &with(&claims(), json!({ "aud": ["x", ENDPOINT] })), ps256())), Ok(()));
}

#[test]
fn times_may_have_parts_of_seconds() {
    let changed = with(&claims(), json!({ "iat": seconds_from_now(0) as f64 + 0.25, "exp": seconds_from_now(599) as f64 + 0.75 }));
    let until = prove_at(&token(&by_sha1(), &changed, rs256()), now()).unwrap().until;
    assert_eq!(until, now() + Span::seconds(599) + CLOCK_SKEW);
}

#[test]
fn what_the_certificate_did_not_sign_is_refused() {
    let of = |changes: Value| with(&by_sha1(), changes);
    let table = [
        ("another padding", token(&by_sha1(), &claims(), ps256()), Rejection::Forged),
        ("another key", token(&by_sha1(), &claims(), ed25519(1)), Rejection::Forged),
        ("none", token(&of(json!({ "alg": "none" })), &claims(), |_| vec![]), Rejection::Unsigned),
        (
            "a public secret",
            token(&of(json!({ "alg": "HS256" })), &claims(), hs256(&certificate().public_key().unwrap())),
            Rejection::OtherAlgorithm,
        ),
        ("a stronger algorithm", token(&of(json!({ "alg": "RS512" })), &claims(), rs256()), Rejection::OtherAlgorithm),
        ("another certificate", token(&of(json!({ "x5t": "AAAA" })), &claims(), rs256()), Rejection::UnknownKey),
        ("no certificate", token(&of(json!({ "x5t": null })), &claims(), rs256()), Rejection::UnknownKey),
        ("two certificates", token(&of(json!({ "x5t#S256": "AAAA" })), &claims(), rs256()), Rejection::UnknownKey),
    ];
    for (what, token, rejection) in table {
        assert_eq!(check(&token), Err(rejection), "{what}");
    }
}

#[test]
fn an_assertion_is_of_its_client_for_us_and_short() {
    let table = [
        (json!({ "aud": "https://login.example/token" }), Rejection::WrongAudience),
        (json!({ "iss": uuid(9) }), Rejection::WrongIssuer),
        (json!({ "sub": uuid(9) }), Rejection::WrongSubject),
        (json!({ "sub": "root" }), Rejection::Claims),
        (json!({ "exp": seconds_from_now(-121) }), Rejection::Expired),
        (json!({ "iat": seconds_from_now(121) }), Rejection::NotYetValid),
        (json!({ "nbf": seconds_from_now(121) }), Rejection::NotYetValid),
        (json!({ "exp": seconds_from_now(3_721) }), Rejection::LivesTooLong),
        (json!({ "exp": null }), Rejection::Claims),
        (json!({ "jti": null }), Rejection::Claims),
        (json!({ "jti": "" }), Rejection::Claims),
        (json!({ "jti": "x".repeat(129) }), Rejection::Claims),
    ];
    for (changes, rejection) in table {
        assert_eq!(check(&token(&by_sha1(), &with(&claims(), changes.clone()), rs256())), Err(rejection), "{changes}");
    }
}

#[test]
fn a_disabled_principal_is_refused_and_only_it_learns_so() {
    let disabled = ServicePrincipal { disabled_at: Some(now()), ..principal() };
    let audience = AssertionAudience(vec![ENDPOINT.into()]);
    let check = |token: &str| Assertion::read(token)?.check(&disabled, &audience, now());
    assert_eq!(check(&token(&by_sha1(), &claims(), rs256())), Err(Rejection::Disabled));
    assert_eq!(check(&token(&by_sha1(), &claims(), ed25519(1))), Err(Rejection::Forged));
}

#[test]
fn a_certificate_that_is_over_signs_nothing() {
    let over = certificate().not_after;
    let at_end = json!({ "iat": over.as_millis() / 1_000, "exp": over.as_millis() / 1_000 + 600 });
    assert_eq!(check_at(&token(&by_sha1(), &with(&claims(), at_end), rs256()), over), Err(Rejection::CertificateExpired));
}
