use std::net::Ipv4Addr;

use proptest::prelude::*;
use uuid::Uuid;

use super::*;

const PACE: Pace = Pace { burst: 3, every: Span::seconds(10) };

fn at(seconds: u64) -> Timestamp {
    Timestamp::EPOCH + Span::seconds(seconds)
}

fn address(last: u8) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, last).into()
}

#[test]
fn a_bucket_gives_its_burst_and_then_its_pace() {
    let mut buckets = Buckets::new(PACE, 10);
    let mut take = |seconds| buckets.take(&'a', at(seconds));
    assert_eq!([take(0), take(0), take(0)], [Ok(()); 3]);
    assert_eq!(take(0), Err(Span::seconds(10)));
    assert_eq!(take(9), Err(Span::seconds(1)));
    assert_eq!(take(10), Ok(()));
    assert_eq!(take(10), Err(Span::seconds(10)));
    assert_eq!([take(1_000), take(1_000), take(1_000)], [Ok(()); 3], "it holds no more than its burst");
    assert_eq!(take(1_000), Err(Span::seconds(10)));
    assert_eq!(take(900), Err(Span::seconds(10)), "a clock that is set back gives nothing at once");
    assert_eq!(take(910), Ok(()), "and makes nobody wait for longer than an empty bucket does");
}

#[test]
fn failures_count_and_successes_are_given_back() {
    let mut logins = Logins::new(PACE, PACE, 10);
    for _ in 0..100 {
        logins.begin("deploy", address(1), at(0)).unwrap();
        logins.succeed("deploy", address(1), at(0));
    }
    for _ in 0..3 {
        logins.begin("deploy", address(1), at(0)).unwrap();
    }
    let refused = |of| Err(TooMany { of, retry_after: Span::seconds(10) });
    assert_eq!(logins.begin("other", address(1), at(0)), refused(Counted::Address));
    assert_eq!(logins.begin("DEPLOY", address(2), at(0)), refused(Counted::Principal));
    assert_eq!(logins.begin("other", address(2), at(0)), Ok(()), "what a principal was refused is not its address's");
    assert_eq!(logins.begin("other", address(2), at(0)), Ok(()));
    assert_eq!(logins.begin("other", address(2), at(0)), Ok(()));
    assert_eq!(
        logins.begin("other", address(2), at(0)).unwrap_err().to_string(),
        "there were too many attempts to log in from this address; try again in 10s"
    );
}

#[test]
fn an_address_is_its_network_and_the_same_in_either_writing() {
    let parse = |text: &str| network_of(text.parse().unwrap());
    assert_eq!(parse("2001:db8::1"), parse("2001:db8::ffff:1"));
    assert_ne!(parse("2001:db8::1"), parse("2001:db8:0:1::1"));
    assert_eq!(parse("::ffff:192.0.2.1"), parse("192.0.2.1"));
    assert_ne!(parse("192.0.2.2"), parse("192.0.2.1"));
}

#[test]
fn each_caller_has_requests_of_its_own() {
    let mut requests = Requests::new(PACE, 10);
    let caller = |number| PrincipalId::new(Uuid::from_u128(number));
    for _ in 0..3 {
        requests.take(caller(1), at(0)).unwrap();
    }
    assert_eq!(requests.take(caller(1), at(0)), Err(TooMany { of: Counted::Caller, retry_after: Span::seconds(10) }));
    assert_eq!(requests.take(caller(2), at(0)), Ok(()));
}

#[test]
fn who_owes_most_is_not_forgotten_because_others_come() {
    let mut buckets = Buckets::new(PACE, 100);
    for _ in 0..3 {
        buckets.take(&0, at(0)).unwrap();
    }
    for other in 1..10_000 {
        buckets.take(&other, at(0)).unwrap();
        assert!(buckets.len() <= 100);
    }
    assert!(buckets.take(&0, at(0)).is_err());
    for other in 10_000..10_050 {
        buckets.take(&other, at(100)).unwrap();
    }
    assert!(buckets.len() <= 50, "what is full is forgotten: {}", buckets.len());
}

proptest! {
    #[test]
    fn nobody_gets_more_than_burst_and_pace(asks in prop::collection::vec((0_u8..3, 0_u64..30), 1..200)) {
        let mut buckets = Buckets::new(PACE, 10);
        let mut now = 0;
        let mut given = [0_u64; 3];
        for (key, later) in asks {
            now += later;
            if buckets.take(&key, at(now)).is_ok() {
                given[usize::from(key)] += 1;
            }
            prop_assert!(given[usize::from(key)] <= 3 + now / 10);
            prop_assert!(buckets.len() <= 3);
        }
    }
}

#[test]
fn each_who_is_denied_has_lines_of_their_own() {
    let mut notices = Notices::new(PACE, 10);
    let (one, other) = (PrincipalId::new(Uuid::from_u128(1)), PrincipalId::new(Uuid::from_u128(2)));
    for denied in [Denied::Caller(one), Denied::Address(address(1))] {
        let lines = (0..100).filter(|_| notices.take(denied, at(0))).count();
        assert_eq!(lines, 3, "{denied:?}");
        assert!(notices.take(denied, at(10)), "{denied:?} has a line again");
    }
    assert!(notices.take(Denied::Caller(other), at(0)));
    assert!(notices.take(Denied::Address(address(2)), at(0)));
}

#[test]
fn attempts_that_name_nobody_count_for_their_address() {
    let mut logins = Logins::new(PACE, PACE, 10);
    for _ in 0..3 {
        logins.begin_as_nobody(address(1), at(0)).unwrap();
    }
    let refused = Err(TooMany { of: Counted::Address, retry_after: Span::seconds(10) });
    assert_eq!((logins.begin_as_nobody(address(1), at(0)), logins.begin("deploy", address(1), at(0))), (refused, refused));
    assert_eq!(logins.begin("deploy", address(2), at(0)), Ok(()));
}

#[test]
fn a_thousand_machines_can_be_restarted_at_once_and_a_loop_gone_wild_cannot_go_on() {
    let caller = PrincipalId::new(Uuid::from_u128(1));
    let mut requests = Requests::default();
    for machine in 0..1_000 {
        assert_eq!(requests.take(caller, at(0)), Ok(()), "restart of machine {machine}");
        assert_eq!(requests.take(caller, at(0)), Ok(()), "status of machine {machine}");
    }
    assert_eq!(requests.take(caller, at(0)), Err(TooMany { of: Counted::Caller, retry_after: Span::millis(5) }));
    let passed = (0..10_000).filter(|_| requests.take(caller, at(1)).is_ok()).count();
    assert_eq!(passed, 200, "a second later");
}
