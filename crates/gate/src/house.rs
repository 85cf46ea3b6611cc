//! A gate to which anybody gets a token, for tests, simulations and benchmarks. Everything is gone when the process ends.

use std::sync::Arc;

use access::attempts::{Pace, Requests};
use access::roles::OWNER;
use access::token::Bearer;
use access::{AssignmentId, PrincipalId, RoleAssignment, RoleId, Scope};
use model::{Clock, Span};
use store::{Commit, MemoryStore, SharedStore, Vault};
use uuid::Uuid;

use crate::administrator::encode;
use crate::{AUDIENCE, Gate, TENANT, documents};

/// A gate with a store of its own, so that what it writes does not stand between what is tested.
#[derive(Clone, Debug)]
pub struct OpenHouse {
    gate: Arc<Gate>,
}

/// Everybody who has not been given a name of their own in the house: owner of everything.
const GUEST: PrincipalId = PrincipalId::new(Uuid::from_u128(1));

impl OpenHouse {
    /// # Panics
    /// If the operating system has no random numbers.
    pub async fn open(clock: Arc<dyn Clock>) -> OpenHouse {
        let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        let vault = Arc::new(Vault::ephemeral(store.clone()));
        let mut gate = Gate::open(store, vault, clock).await.expect("a gate in memory opens");
        gate.requests = Requests::new(Pace { burst: u32::MAX, every: Span::millis(1) }, 16).into();
        let house = OpenHouse { gate: Arc::new(gate) };
        house.assign(GUEST, OWNER.id, Scope::root()).await;
        house
    }

    /// The house that a gate is in.
    pub fn around(gate: Arc<Gate>) -> OpenHouse {
        OpenHouse { gate }
    }

    pub fn gate(&self) -> Arc<Gate> {
        self.gate.clone()
    }

    /// A token for a guest of this name, who may do everything.
    pub fn token(&self, name: &str) -> String {
        self.token_of(GUEST, name)
    }

    /// A token for somebody besides the guest, who may do everything too: two guests of different names are one principal.
    pub async fn invite(&self, name: &str) -> String {
        let other = PrincipalId::new(Uuid::from_u128(self.gate.directory().judge().list(&Scope::root()).count() as u128 + 1));
        self.assign(other, OWNER.id, Scope::root()).await;
        self.token_of(other, name)
    }

    /// A token for somebody who may do what was assigned to them.
    ///
    /// # Panics
    /// If the clock stands before the first key.
    pub fn token_of(&self, principal: PrincipalId, name: &str) -> String {
        let minted = self.gate.mint().mint(&self.bearer(principal, name), AUDIENCE, Uuid::from_u128(2), self.gate.now());
        minted.expect("the house has a key").text.as_str().to_owned()
    }

    /// The same as whoever logs in gets it: the gate has seen it before it is shown.
    ///
    /// # Panics
    /// If the clock stands before the first key.
    pub fn log_in(&self, principal: PrincipalId, name: &str) -> String {
        let minted = self.gate.hand_out_to(&self.bearer(principal, name));
        minted.expect("the house has a key").text.as_str().to_owned()
    }

    fn bearer(&self, principal: PrincipalId, name: &str) -> Bearer {
        Bearer {
            principal,
            client: None,
            tenant: TENANT,
            name: name.to_owned(),
            logged_in_at: self.gate.now(),
            credential: None,
            vouched_by: None,
        }
    }

    /// Gives somebody a role.
    ///
    /// # Panics
    /// If there is no such role.
    pub async fn assign(&self, principal: PrincipalId, role: RoleId, scope: Scope) {
        let id = AssignmentId::new(Uuid::from_u128(self.gate.directory().judge().list(&Scope::root()).count() as u128 + 1));
        let assignment = RoleAssignment { id, principal, role, scope, created_by: "house".to_owned(), created_at: self.gate.now() };
        self.gate.directory().judge().check(&assignment).expect("the assignment can stand");
        self.gate.write(Commit::default().put(documents::assignment(id), encode(&assignment))).await.expect("memory takes documents");
    }
}
