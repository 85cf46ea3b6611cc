//! The ledger that readers see, and the bells of those who wait for it to change.
//!
//! Every watcher has a bell of its own, which rings for changes under its prefix and for no others: with a hundred sites in one store,
//! ninety-nine keepers sleep through the work of one. Bells ring in the order in which watches began, so that a simulation on one
//! thread takes the same course every time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::ledger::{Ledger, Next};
use crate::{Revision, StoreError};

#[derive(Debug, Default)]
pub(crate) struct Published(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// `None` once the store is closed.
    ledger: Option<Ledger>,
    posts: BTreeMap<PostId, Post>,
    next_post: PostId,
}

/// The number of a watch.
pub(crate) type PostId = u64;

/// Where a watcher waits.
#[derive(Debug)]
struct Post {
    prefix: String,
    /// Nothing under the prefix has changed between what the watcher has been given and this.
    position: Revision,
    bell: Arc<Notify>,
}

impl Published {
    pub fn new(ledger: Ledger) -> Self {
        Published(Mutex::new(State { ledger: Some(ledger), ..State::default() }))
    }

    /// The ledger as it is now, for whoever reads much of it; cheap, because copies share structure.
    pub fn snapshot(&self) -> Result<Ledger, StoreError> {
        self.lock().ledger.clone().ok_or(StoreError::Closed)
    }

    /// What the ledger says now. Others wait meanwhile, so this is for short questions.
    pub fn ask<T>(&self, question: impl FnOnce(&Ledger) -> T) -> Result<T, StoreError> {
        self.lock().ledger.as_ref().map(question).ok_or(StoreError::Closed)
    }

    pub fn publish(&self, ledger: Ledger) {
        let mut state = self.lock();
        let previous = state.ledger.replace(ledger);
        let ringing = state.pass_on(previous.as_ref());
        drop(state);
        ring(&ringing);
        // Freeing the last copy of old documents takes time that no reader should wait for.
        drop(previous);
    }

    /// Changes the ledger in place, or leaves it as it was if `change` refuses.
    pub fn update<T>(&self, change: impl FnOnce(&mut Ledger) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut state = self.lock();
        let mut draft = state.ledger.clone().ok_or(StoreError::Closed)?;
        let answer = change(&mut draft)?;
        let previous = state.ledger.replace(draft);
        let ringing = state.pass_on(previous.as_ref());
        drop(state);
        ring(&ringing);
        Ok(answer)
    }

    pub fn close(&self) {
        let mut state = self.lock();
        state.ledger = None;
        let ringing: Vec<Arc<Notify>> = state.posts.values().map(|post| Arc::clone(&post.bell)).collect();
        drop(state);
        ring(&ringing);
    }

    /// Takes a place from which changes under `prefix` after `from` are heard of.
    pub fn take_post(&self, prefix: &str, from: Revision) -> Result<(PostId, Arc<Notify>), StoreError> {
        let mut state = self.lock();
        state.ledger.as_ref().ok_or(StoreError::Closed)?.check_kept(from)?;
        let (id, bell) = (state.next_post, Arc::new(Notify::new()));
        state.next_post += 1;
        state.posts.insert(id, Post { prefix: prefix.to_owned(), position: from, bell: Arc::clone(&bell) });
        Ok((id, bell))
    }

    pub fn leave_post(&self, id: PostId) {
        self.lock().posts.remove(&id);
    }

    /// What comes next for a watcher, and the position up to which it has heard everything. One that has caught up is rung for.
    pub fn next_for(&self, id: PostId) -> Result<(Next, Revision), StoreError> {
        let mut state = self.lock();
        let State { ledger, posts, .. } = &mut *state;
        let (Some(ledger), Some(post)) = (ledger.as_ref(), posts.get_mut(&id)) else { return Err(StoreError::Closed) };
        let next = ledger.next_after(post.position, &post.prefix)?;
        match &next {
            Next::Changes(changes) => post.position = changes.first().map_or(post.position, |change| change.revision),
            Next::CaughtUp(revision) => post.position = *revision,
            Next::Shelved { .. } => {}
        }
        Ok((next, post.position))
    }

    /// Every watcher has heard of all changes up to this that are for it; those of nobody are heard by all.
    pub fn heard_by_all(&self) -> Revision {
        self.lock().posts.values().map(|post| post.position).min().unwrap_or(Revision(u64::MAX))
    }

    /// A watcher has read up to this from elsewhere.
    pub fn read_to(&self, id: PostId, position: Revision) {
        if let Some(post) = self.lock().posts.get_mut(&id) {
            post.position = position;
        }
    }

    /// A panic cannot leave a half-made ledger behind, because it is only ever replaced whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Moves those on for whom nothing has changed since `previous`, so that what they have not missed may be forgotten; the bells of
    /// the others are to be rung.
    fn pass_on(&mut self, previous: Option<&Ledger>) -> Vec<Arc<Notify>> {
        let (Some(ledger), Some(before)) = (self.ledger.as_ref(), previous.map(Ledger::revision)) else { return Vec::new() };
        let now = ledger.revision();
        if now == before {
            return Vec::new();
        }
        let touched = ledger.touched_after(before);
        let mut ringing = Vec::new();
        for post in self.posts.values_mut() {
            if touched.includes(&post.prefix) {
                ringing.push(Arc::clone(&post.bell));
            } else if post.position >= before {
                post.position = now;
            }
        }
        ringing
    }
}

fn ring(bells: &[Arc<Notify>]) {
    for bell in bells {
        bell.notify_one();
    }
}
