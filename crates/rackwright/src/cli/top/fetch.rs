//! Asking the API for what the live view shows.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::site::Site;
use crate::cli::client::Target;
use crate::cli::session::{Kind, Session};
use crate::cli::trouble::{Exit, Trouble};

/// How often the server is asked, if it answers quickly.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// A server that is slow is left in peace for this many times as long as it took.
const REST_FACTOR: u32 = 4;

/// A server that takes longer for one picture is called silent: what is on the screen is old by then.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Racks hardly ever change; they are listed at every so many polls.
const RACKS_EVERY: u32 = 30;

#[derive(Debug)]
pub struct Fetcher<'a> {
    session: &'a Session,
    racks: Vec<Value>,
    polls: u32,
    took: Duration,
}

impl<'a> Fetcher<'a> {
    pub fn new(session: &'a Session) -> Fetcher<'a> {
        Fetcher { session, racks: Vec::new(), polls: 0, took: Duration::ZERO }
    }

    pub async fn fetch(&mut self) -> Result<Site, Trouble> {
        let began = Instant::now();
        if self.polls.is_multiple_of(RACKS_EVERY) || self.racks.is_empty() {
            self.racks = self.session.list(Kind::Rack).await?;
        }
        let mut status = self.session.client.get(&Target::own(["status"])).await?;
        self.session.keep_own_clusters(&mut status);
        let machines = self.session.list(Kind::Machine).await?;
        self.polls = self.polls.wrapping_add(1);
        self.took = began.elapsed();
        Ok(Site::of(&status, &self.racks, &machines))
    }

    /// Rests, then asks.
    pub async fn next(&mut self) -> Result<Site, Trouble> {
        tokio::time::sleep(POLL_EVERY.max(self.took * REST_FACTOR)).await;
        match tokio::time::timeout(ANSWER_TIMEOUT, self.fetch()).await {
            Ok(fetched) => fetched,
            Err(_) => Err(Trouble::new(Exit::Unreachable, format!("{} does not answer", self.session.client.name()))),
        }
    }
}
