//! Keys that follow one another.

use super::*;
use crate::guid::{PrincipalId, TenantId};
use crate::token::keys::{SIGNED_LIFE_MAX, SigningKeys};

const AUDIENCE: &str = "a";

fn key(seed: u8, signs_from: Timestamp) -> SigningKey {
    SigningKey::from_seed(&[seed; SEED_BYTES], signs_from).unwrap()
}

/// One key from now on, another two hours later.
fn mint() -> Mint {
    let mut keys = SigningKeys::default();
    keys.add(key(1, now()));
    keys.add(key(2, now() + Span::hours(2)));
    Mint::new("i", vec![AUDIENCE.into()], keys)
}

fn minted(mint: &Mint, at: Timestamp) -> Minted {
    let bearer = Bearer {
        principal: PrincipalId::new(uuid(1)),
        client: None,
        tenant: TenantId::new(uuid(2)),
        name: "n".into(),
        logged_in_at: at,
        credential: None,
        vouched_by: None,
    };
    mint.mint(&bearer, AUDIENCE, uuid(3), at).unwrap()
}

#[test]
fn the_latest_key_that_has_come_signs_and_the_one_before_verifies_until_its_last_token_is_spent() {
    let mut mint = mint();
    let handover = now() + Span::hours(2);
    let last = minted(&mint, handover - Span::millis(1));
    let first = minted(&mint, handover);
    assert_ne!(last.text, first.text);
    let end = handover + TOKEN_LIFE + CLOCK_SKEW;
    assert!(mint.check(&last.text, end - Span::seconds(2)).is_ok());
    assert_eq!(mint.check(&last.text, end), Err(Rejection::Expired));
    let mut keys = mint.keys().clone();
    let spent = handover + SIGNED_LIFE_MAX + CLOCK_SKEW + CLOCK_SKEW;
    assert!(keys.forget_spent(spent - Span::millis(1)).is_empty(), "a replica may be late");
    assert_eq!(keys.forget_spent(spent), [key(1, now()).id()]);
    mint.set_keys(keys);
    assert_eq!(mint.check(&last.text, end), Err(Rejection::UnknownKey));
    assert!(mint.check(&first.text, handover).is_ok());
}

#[test]
fn a_key_verifies_before_it_signs() {
    let mint = mint();
    let eager = minted(&mint, now() + Span::hours(2));
    assert!(mint.check(&eager.text, now() + Span::hours(2) - CLOCK_SKEW).is_ok(), "of a replica whose clock is ahead");
    assert_eq!(mint.keys().jwks(now())["keys"].as_array().unwrap().len(), 2);
}

#[test]
fn a_key_of_a_clock_that_was_ahead_signs_until_another_has_come() {
    let mut keys = SigningKeys::default();
    keys.add(key(1, now() + Span::hours(24 * 365)));
    let mut mint = Mint::new("i", vec![AUDIENCE.into()], keys.clone());
    let first = minted(&mint, now());
    assert!(mint.check(&first.text, now()).is_ok());
    keys.add(key(2, now()));
    mint.set_keys(keys);
    assert_ne!(first.text, minted(&mint, now()).text);
    assert!(mint.check(&first.text, now()).is_ok());
}

#[test]
fn a_key_is_named_by_the_thumbprint_of_its_public_half() {
    // RFC 8037, appendices A.1 to A.3.
    let seed = URL_SAFE_NO_PAD.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
    let key = SigningKey::from_seed(&seed, now()).unwrap();
    assert_eq!(key.id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    assert_eq!(key.signs_from(), now());
    assert!(SigningKey::from_seed(&[0; SEED_BYTES - 1], now()).is_none());
}
