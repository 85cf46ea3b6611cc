//! What is administered: kept in the store, in force at once, and the same after everything was read again.

use std::sync::Arc;

use access::deny::{Condition, DenyPolicy, Field, Proposal, Test};
use access::lock::{LOCKS_MAX, Level};
use access::permission::Kind;
use access::principal::{SECRET_LIFE_MAX, ServicePrincipal};
use access::quota::{LIMIT_MAX, Quota};
use access::roles::{OWNER, READER};
use access::token::Rejection;
use access::{AssignmentId, Pattern, Permission, Scope};
use model::{Span, Timestamp};
use store::{Commit, MemoryStore, SharedStore, TokioClock, Vault};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{AssignmentError, Caller, Denial, Directory, Gate, Issuer, LoginError, PrincipalError, RestraintError, Shown, Was, documents};

struct Kept {
    store: SharedStore,
    vault: Arc<Vault>,
    gate: Arc<Gate>,
    administrator: ServicePrincipal,
    secret: String,
}

async fn kept() -> Kept {
    let clock = Arc::new(TokioClock::starting_at(Timestamp::EPOCH));
    let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
    let vault = Arc::new(Vault::ephemeral(store.clone()));
    let gate = Arc::new(Gate::open(store.clone(), vault.clone(), clock).await.unwrap());
    let (administrator, secret) = gate.make_administrator().await.unwrap().expect("a new store has no administrator");
    Kept { store, vault, gate, administrator, secret: secret.text().to_owned() }
}

fn ops() -> Caller {
    super::somebody(access::PrincipalId::new(Uuid::from_u128(7)), "ops")
}

fn scope(text: &str) -> Scope {
    Scope::parse(text).unwrap()
}

fn policy(id: &str, at: &str) -> DenyPolicy {
    let conditions = vec![Condition { field: Field::Name, test: Test::Like(Pattern::new("test*").unwrap()) }];
    DenyPolicy { id: id.into(), scope: scope(at), display_name: None, reason: "no tests".into(), conditions }
}

fn denial(directory: &Directory, name: &str) -> Option<Denial> {
    let permission = Permission::new("Microsoft.NetworkCloud/virtualMachines/write").unwrap();
    let scope = scope(&format!("/subscriptions/s/resourceGroups/g/providers/Microsoft.NetworkCloud/virtualMachines/{name}"));
    let tags = std::collections::BTreeMap::new();
    let kind = "Microsoft.NetworkCloud/virtualMachines";
    directory.restraints().find_denial(&Proposal { permission: &permission, scope: &scope, kind, location: None, tags: &tags })
}

#[tokio::test(start_paused = true)]
async fn locks_are_kept_by_scope_and_name_without_case() {
    let Kept { store, gate, .. } = kept().await;
    let at = scope("/subscriptions/s/resourceGroups/g");
    let put = |name: &'static str, level| {
        let (gate, at) = (gate.clone(), at.clone());
        async move { gate.put_lock(&ops(), at, name, level, "why".into()).await }
    };
    assert_eq!(put("Keep", Level::CanNotDelete).await.unwrap().1, Was::Absent);
    let (changed, was) = put("keep", Level::ReadOnly).await.unwrap();
    assert_eq!((changed.name.as_str(), was), ("Keep", Was::There), "its name stays as it was first written");
    let again = Directory::load(&store).await.unwrap();
    for directory in [&*gate.directory(), &again] {
        let standing = directory.restraints().standing(Kind::Write, &scope("/SUBSCRIPTIONS/S/resourcegroups/G"));
        assert_eq!(standing.map(|lock| lock.level), Some(Level::ReadOnly));
        assert_eq!(directory.restraints().locks().count(), 1);
    }
    assert!(matches!(put("a b", Level::ReadOnly).await, Err(RestraintError::Lock(_))));
    assert!(gate.remove_lock(&at, "KEEP").await.unwrap());
    assert!(!gate.remove_lock(&at, "KEEP").await.unwrap());
    assert_eq!(gate.directory().restraints().locks().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn there_are_only_so_many_locks() {
    let Kept { store, gate, .. } = kept().await;
    let root = Scope::root();
    let mut commit = Commit::default();
    for number in 0..LOCKS_MAX {
        let (name, scope) = (format!("l{number}"), root.clone());
        let lock =
            serde_json::json!({ "name": name, "scope": scope, "level": "ReadOnly", "createdBy": "ops", "createdAt": Timestamp::EPOCH });
        commit = commit.put(documents::lock(&root, &name), serde_json::to_vec(&lock).unwrap());
    }
    store.commit(commit).await.unwrap();
    *gate.change() = Directory::load(&store).await.unwrap();
    let put = gate.put_lock(&ops(), root.clone(), "one-more", Level::ReadOnly, String::new()).await;
    assert!(matches!(put, Err(RestraintError::TooManyLocks)));
    assert!(gate.put_lock(&ops(), root, "l1", Level::CanNotDelete, String::new()).await.is_ok(), "one that there is can be changed");
}

#[tokio::test(start_paused = true)]
async fn a_policy_denies_at_once_and_one_that_nobody_understands_denies_everything() {
    let Kept { store, gate, .. } = kept().await;
    gate.put_policy(policy("no-tests", "/subscriptions/s")).await.unwrap();
    assert!(matches!(denial(&gate.directory(), "test1"), Some(Denial::ByPolicy(by)) if by.reason == "no tests"));
    assert_eq!(denial(&gate.directory(), "web1"), None);
    let bad = DenyPolicy { conditions: Vec::new(), ..policy("empty", "/") };
    assert!(matches!(gate.put_policy(bad).await, Err(RestraintError::Policy(_))));
    store.commit(Commit::default().put(documents::policy(&Scope::root(), "Spoilt"), &b"{}"[..])).await.unwrap();
    let again = Directory::load(&store).await.unwrap();
    let expected = "/providers/microsoft.authorization/policyassignments/spoilt".to_owned();
    assert_eq!(denial(&again, "web1"), Some(Denial::Obscure(expected)));
    *gate.change() = again;
    assert!(gate.remove_policy(&Scope::root(), "SPOILT").await.unwrap(), "it can be deleted all the same");
    assert_eq!(denial(&gate.directory(), "web1"), None);
    assert!(gate.remove_policy(&scope("/subscriptions/S"), "no-tests").await.unwrap());
    assert!(!gate.directory().restraints().has_policies());
}

#[tokio::test(start_paused = true)]
async fn quotas_and_states_of_subscriptions_are_kept_without_case() {
    let Kept { store, gate, .. } = kept().await;
    gate.set_quota(Quota { subscription: "S1".into(), cores: Some(8), ..Quota::default() }).await.unwrap();
    let too_high = Quota { subscription: "S1".into(), networks: Some(LIMIT_MAX + 1), ..Quota::default() };
    assert!(matches!(gate.set_quota(too_high).await, Err(RestraintError::Quota(_))));
    gate.set_subscription_disabled("S1", true).await.unwrap();
    gate.set_registered("s1", "Microsoft.NetworkCloud", false).await.unwrap();
    let again = Directory::load(&store).await.unwrap();
    assert_eq!(again.restraints().quota("s1").and_then(|quota| quota.cores), Some(8));
    let known = again.restraints().subscription("s1");
    assert_eq!((known.disabled_at.is_some(), known.is_registered("microsoft.networkcloud")), (true, false));
    gate.set_registered("S1", "microsoft.networkcloud", true).await.unwrap();
    let open = gate.set_subscription_disabled("s1", false).await.unwrap();
    assert_eq!((open.disabled_at, open.unregistered.len()), (None, 0));
}

#[tokio::test(start_paused = true)]
async fn what_another_process_writes_is_followed() {
    let Kept { store, vault, gate, .. } = kept().await;
    let stop = CancellationToken::new();
    let following = tokio::spawn(gate.clone().follow(stop.clone()));
    let other = Gate::open(store, vault, Arc::new(TokioClock::starting_at(Timestamp::EPOCH))).await.unwrap();
    other.put_lock(&ops(), Scope::root(), "keep", Level::ReadOnly, String::new()).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert!(gate.directory().restraints().lock(&Scope::root(), "keep").is_some());
    stop.cancel();
    following.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn logins_end_with_the_secret_that_they_were_made_with_and_no_others_do() {
    let Kept { gate, administrator, secret, .. } = kept().await;
    let client = administrator.client_id.to_string();
    let (_, second) = gate.add_secret(administrator.id, None, None).await.unwrap();
    let log_in = |secret: &str| {
        let minted = gate.log_in(Shown::Secret { client: &client, secret }, super::HERE).unwrap();
        let session = gate.begin_session(&gate.authenticate(&minted.text).unwrap()).unwrap();
        (minted.text, session.text)
    };
    let (stolen, kept) = (log_in(&secret), log_in(second.text()));
    gate.remove_secret(administrator.id, administrator.secrets[0].id).await.unwrap();
    assert_eq!(gate.authenticate(&stolen.0), Err(Rejection::CredentialRemoved));
    assert!(matches!(gate.resume_session(&stolen.1, super::HERE), Err(LoginError::Rejected(Rejection::CredentialRemoved))));
    assert!(gate.authenticate(&kept.0).is_ok() && gate.resume_session(&kept.1, super::HERE).is_ok());
    gate.renew_administrator().await.unwrap();
    assert_eq!(gate.authenticate(&kept.0), Err(Rejection::CredentialRemoved), "a new secret in the place of all others ends all logins");
}

#[tokio::test(start_paused = true)]
async fn the_last_owner_of_everything_stays() {
    let Kept { gate, administrator, .. } = kept().await;
    let own = gate.directory().judge().list(&Scope::root()).next().unwrap().id;
    assert!(matches!(gate.unassign(own).await, Err(AssignmentError::LastOwner)));
    assert!(matches!(gate.remove_principal(administrator.id).await, Err(PrincipalError::LastOwner)));
    assert!(matches!(gate.set_disabled(administrator.id, true).await, Err(PrincipalError::LastOwner)));
    let second = gate.create_principal("second").await.unwrap();
    let id = AssignmentId::new(Uuid::from_u128(9));
    let assigned = gate.assign(&ops(), id, second.id, OWNER.id, Scope::root()).await.unwrap();
    assert_eq!(assigned.was, Was::Absent);
    assert_eq!(gate.assign(&ops(), id, second.id, OWNER.id, Scope::root()).await.unwrap().was, Was::There);
    gate.set_disabled(second.id, true).await.unwrap();
    assert!(matches!(gate.unassign(own).await, Err(AssignmentError::LastOwner)), "who is disabled owns nothing that is of use");
    gate.set_disabled(second.id, false).await.unwrap();
    gate.remove_principal(administrator.id).await.unwrap();
    assert_eq!(gate.directory().judge().list(&Scope::root()).count(), 1, "its roles went with it");
}

#[tokio::test(start_paused = true)]
async fn two_owners_cannot_shut_each_other_out() {
    let Kept { gate, administrator, .. } = kept().await;
    let second = gate.create_principal("second").await.unwrap();
    gate.assign(&ops(), AssignmentId::new(Uuid::from_u128(9)), second.id, OWNER.id, Scope::root()).await.unwrap();
    let (first, second) = tokio::join!(gate.set_disabled(administrator.id, true), gate.set_disabled(second.id, true));
    assert!(first.is_ok() && matches!(second, Err(PrincipalError::LastOwner)), "whoever is judged later is judged after the other is gone");
}

#[tokio::test(start_paused = true)]
async fn a_person_who_owns_everything_is_not_counted_on() {
    let Kept { gate, administrator, .. } = kept().await;
    let nobody = access::PrincipalId::new(Uuid::from_u128(404));
    gate.assign(&ops(), AssignmentId::new(Uuid::from_u128(9)), nobody, OWNER.id, Scope::root()).await.unwrap();
    let audiences = vec!["rackwright".to_owned()];
    let issuer = "https://login.example.com".to_owned();
    gate.put_issuer(Issuer { name: "a".into(), issuer, audiences, keys: None, keys_given: false, keys_at: None }).await.unwrap();
    assert!(matches!(gate.set_disabled(administrator.id, true).await, Err(PrincipalError::LastOwner)));
    let secret = administrator.secrets[0].id;
    assert!(gate.remove_secret(administrator.id, secret).await.is_ok(), "but nobody needs to be able to come in as it");
}

/// A lock that a newer version wrote keeps everything off, and so do a quota and a subscription.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_understood_restrains_as_much_as_it_can() {
    let Kept { store, gate, .. } = kept().await;
    let group = scope("/subscriptions/s/resourceGroups/g");
    let newer = br#"{"level":"Guarded"}"#;
    let commit = Commit::default().put(documents::lock(&group, "keep"), &newer[..]);
    let commit = commit.put(documents::quota("s"), &b"[]"[..]).put(documents::subscription("s"), &b"[]"[..]);
    store.commit(commit).await.unwrap();
    *gate.change() = Directory::load(&store).await.unwrap();
    {
        let directory = gate.directory();
        let standing = directory.restraints().standing(Kind::Write, &group).expect("it keeps changes off");
        assert_eq!((standing.level, &standing.scope), (Level::ReadOnly, &group));
        assert_eq!(directory.restraints().quota("S").and_then(|quota| quota.cores), Some(0));
        assert!(directory.restraints().subscription("s").disabled_at.is_some());
    }
    assert!(gate.remove_lock(&group, "Keep").await.unwrap(), "it can be removed all the same");
    assert_eq!(gate.set_subscription_disabled("s", false).await.unwrap().disabled_at, None);
}

#[tokio::test(start_paused = true)]
async fn what_the_watch_tells_late_undoes_nothing_that_was_written_here() {
    let Kept { store, gate, .. } = kept().await;
    let (id, from) = (AssignmentId::new(Uuid::from_u128(9)), store.list("").await.unwrap().revision);
    let mut watch = store.watch(documents::ALL, from).await.unwrap();
    gate.assign(&ops(), id, ops().principal, READER.id, Scope::root()).await.unwrap();
    gate.unassign(id).await.unwrap();
    gate.put_lock(&ops(), Scope::root(), "keep", Level::ReadOnly, String::new()).await.unwrap();
    let mut told = 0;
    while told < 3 {
        for change in watch.next().await.unwrap() {
            gate.change().follow(&change);
            told += 1;
            assert!(gate.assignment(id).is_none(), "it was taken away");
            assert!(gate.directory().restraints().lock(&Scope::root(), "keep").is_some());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn only_owners_of_everything_are_kept_from_going() {
    let Kept { gate, .. } = kept().await;
    let reader = gate.create_principal("reader").await.unwrap();
    gate.assign(&ops(), AssignmentId::new(Uuid::from_u128(9)), reader.id, READER.id, Scope::root()).await.unwrap();
    gate.set_disabled(reader.id, true).await.unwrap();
    gate.remove_principal(reader.id).await.unwrap();
    assert!(gate.directory().principal(reader.id).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_good_for_an_hour_to_two_years() {
    let Kept { gate, administrator, .. } = kept().await;
    let id = administrator.id;
    for life in [Span::seconds(3599), SECRET_LIFE_MAX + Span::seconds(1)] {
        assert!(matches!(gate.add_secret(id, Some(life), None).await, Err(PrincipalError::Life)), "{life}");
    }
    let (with_two, _) = gate.add_secret(id, Some(Span::hours(1)), Some("short".into())).await.unwrap();
    assert_eq!(with_two.secrets[1].expires_at, Timestamp::EPOCH + Span::hours(1));
    let without = gate.remove_secret(id, with_two.secrets[0].id).await.unwrap();
    assert_eq!(without.secrets.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn tokens_stay_good_when_the_key_is_changed() {
    let Kept { gate, administrator, secret, .. } = kept().await;
    let client = administrator.client_id.to_string();
    let log_in = || gate.log_in(Shown::Secret { client: &client, secret: &secret }, std::net::IpAddr::from([127, 0, 0, 1]));
    let before = log_in().unwrap();
    let keys = |gate: &Gate| gate.jwks()["keys"].as_array().map_or(0, Vec::len);
    let known = keys(&gate);
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    gate.rotate_signing_key().await.unwrap();
    assert_eq!(keys(&gate), known + 1);
    let after = log_in().unwrap();
    for token in [&before, &after] {
        assert_eq!(gate.authenticate(token.text.as_str()).unwrap().principal, administrator.id);
    }
    let header = |token: &str| token.split('.').next().unwrap().to_owned();
    assert_ne!(header(before.text.as_str()), header(after.text.as_str()), "the new one is signed with the new key");
}
