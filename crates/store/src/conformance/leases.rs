//! Checks of leases and of the fences that come with them.

use futures::future::join_all;
use model::{Clock, Span};

use super::Bench;
use crate::{Commit, Fence, Lease, Revision, StoreError};

const TTL: Span = Span::seconds(15);

impl Bench {
    async fn acquire(&self, holder: &str) -> Result<Lease, StoreError> {
        self.store.acquire_lease("site1", holder, TTL).await
    }

    async fn commit_fenced(&self, fence: Fence) -> Result<Revision, StoreError> {
        self.store.commit(Commit::default().put("a", "fenced").fenced(fence)).await
    }
}

pub async fn a_free_lease_is_granted(bench: Bench) {
    let lease = bench.acquire("one").await.unwrap();
    let expires_at = bench.clock.now() + TTL;
    assert_eq!(lease, Lease { name: "site1".to_owned(), holder: "one".to_owned(), epoch: lease.epoch, expires_at });
    assert!(lease.epoch > 0);
}

pub async fn a_held_lease_is_refused_to_others(bench: Bench) {
    let lease = bench.acquire("one").await.unwrap();
    bench.clock.advance(Span::millis(TTL.as_millis() - 1));
    let refusal = bench.acquire("two").await.unwrap_err();
    let StoreError::LeaseHeld { holder, until, .. } = refusal else { panic!("{refusal}") };
    assert_eq!((holder.as_str(), until), ("one", lease.expires_at));
}

pub async fn the_holder_may_acquire_again_and_keeps_its_epoch(bench: Bench) {
    let first = bench.acquire("one").await.unwrap();
    bench.clock.advance(Span::seconds(5));
    let again = bench.acquire("one").await.unwrap();
    assert_eq!((again.epoch, again.expires_at), (first.epoch, first.expires_at + Span::seconds(5)));
}

pub async fn a_lease_that_ran_out_goes_to_another_with_the_next_epoch(bench: Bench) {
    let first = bench.acquire("one").await.unwrap();
    bench.clock.advance(TTL);
    let second = bench.acquire("two").await.unwrap();
    assert_eq!((second.holder.as_str(), second.epoch), ("two", first.epoch + 1));
}

pub async fn a_holder_that_let_its_lease_run_out_gets_the_next_epoch(bench: Bench) {
    let first = bench.acquire("one").await.unwrap();
    bench.clock.advance(TTL);
    assert_eq!(bench.acquire("one").await.unwrap().epoch, first.epoch + 1);
}

pub async fn renewing_prolongs_a_lease(bench: Bench) {
    let mut lease = bench.acquire("one").await.unwrap();
    let epoch = lease.epoch;
    for _ in 0..3 {
        bench.clock.advance(Span::seconds(10));
        lease = bench.store.renew_lease(&lease, TTL).await.unwrap();
        assert_eq!((lease.epoch, lease.expires_at), (epoch, bench.clock.now() + TTL));
    }
    assert!(matches!(bench.acquire("two").await, Err(StoreError::LeaseHeld { .. })));
}

pub async fn renewing_a_lease_that_ran_out_is_refused(bench: Bench) {
    let lease = bench.acquire("one").await.unwrap();
    bench.clock.advance(TTL);
    let refusal = bench.store.renew_lease(&lease, TTL).await;
    assert!(matches!(refusal, Err(StoreError::Fenced { held, .. }) if held == lease.epoch));
}

pub async fn renewing_a_lease_that_was_taken_over_is_refused(bench: Bench) {
    let lease = bench.acquire("one").await.unwrap();
    bench.clock.advance(TTL);
    let successor = bench.acquire("two").await.unwrap();
    assert!(matches!(bench.store.renew_lease(&lease, TTL).await, Err(StoreError::Fenced { .. })));
    // Knowing the epoch is not enough: the lease must be the caller's own.
    let forged = Lease { holder: "one".to_owned(), ..successor };
    assert!(matches!(bench.store.renew_lease(&forged, TTL).await, Err(StoreError::Fenced { .. })));
}

pub async fn a_released_lease_is_free_at_once_with_the_next_epoch(bench: Bench) {
    let lease = bench.acquire("one").await.unwrap();
    bench.store.release_lease(&lease).await.unwrap();
    assert!(matches!(bench.store.renew_lease(&lease, TTL).await, Err(StoreError::Fenced { .. })));
    assert_eq!(bench.acquire("two").await.unwrap().epoch, lease.epoch + 1);
}

pub async fn releasing_a_lost_lease_does_not_disturb_its_holder(bench: Bench) {
    let lost = bench.acquire("one").await.unwrap();
    bench.clock.advance(TTL);
    let held = bench.acquire("two").await.unwrap();
    bench.store.release_lease(&lost).await.unwrap();
    bench.store.renew_lease(&held, TTL).await.unwrap();
    let unknown = Lease { name: "nowhere".to_owned(), ..lost };
    bench.store.release_lease(&unknown).await.unwrap();
}

pub async fn leases_do_not_touch_each_other_nor_the_revision(bench: Bench) {
    let before = bench.put("a", "1").await;
    let one = bench.acquire("one").await.unwrap();
    let other = bench.store.acquire_lease("site2", "two", TTL).await.unwrap();
    assert_eq!((one.holder.as_str(), other.holder.as_str()), ("one", "two"));
    bench.store.release_lease(&other).await.unwrap();
    bench.commit_fenced(one.fence()).await.unwrap();
    assert_eq!(bench.revision().await, Revision(before.0 + 1));
}

pub async fn only_one_of_many_contenders_gets_the_lease(bench: Bench) {
    let holders: Vec<String> = (0..16).map(|n| format!("replica-{n}")).collect();
    let granted = join_all(holders.iter().map(|holder| bench.acquire(holder))).await;
    assert_eq!(granted.iter().filter(|lease| lease.is_ok()).count(), 1);
    assert!(granted.iter().all(|lease| matches!(lease, Ok(_) | Err(StoreError::LeaseHeld { .. }))));
}

pub async fn a_fenced_commit_passes_while_the_lease_is_held(bench: Bench) {
    let lease = bench.acquire("one").await.unwrap();
    bench.commit_fenced(lease.fence()).await.unwrap();
    let renewed = bench.store.renew_lease(&lease, TTL).await.unwrap();
    bench.commit_fenced(renewed.fence()).await.unwrap();
    bench.commit_fenced(lease.fence()).await.unwrap();
}

pub async fn a_fenced_commit_passes_after_expiry_until_somebody_takes_over(bench: Bench) {
    let lease = bench.acquire("one").await.unwrap();
    bench.clock.advance(TTL + TTL);
    bench.commit_fenced(lease.fence()).await.unwrap();
}

pub async fn a_fenced_commit_is_refused_after_a_takeover(bench: Bench) {
    let lease = bench.acquire("one").await.unwrap();
    bench.clock.advance(TTL);
    let successor = bench.acquire("two").await.unwrap();
    let refusal = bench.commit_fenced(lease.fence()).await.unwrap_err();
    assert!(matches!(&refusal, StoreError::Fenced { lease: name, held } if name == "site1" && *held == lease.epoch));
    assert_eq!(bench.value("a").await, None);
    bench.commit_fenced(successor.fence()).await.unwrap();
}

pub async fn a_fenced_commit_is_refused_after_release_and_for_an_unknown_lease(bench: Bench) {
    let lease = bench.acquire("one").await.unwrap();
    bench.store.release_lease(&lease).await.unwrap();
    assert!(matches!(bench.commit_fenced(lease.fence()).await, Err(StoreError::Fenced { .. })));
    let unknown = Fence { lease: "nowhere".to_owned(), epoch: 1 };
    assert!(matches!(bench.commit_fenced(unknown).await, Err(StoreError::Fenced { .. })));
}
