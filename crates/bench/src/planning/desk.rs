//! A keeper's books without its loop: what a wake-up costs between what was seen and what is committed.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use keeper::{Books, note_power};
use model::{
    Action, Ask, Clock, CorrelationId, MachineName, Outage, Power, REQUEST_LIFE, Request, RequestId, Role, Seen, Sent, Span, Timestamp,
    keys,
};
use store::{Fence, MemoryStore, Revision, SharedStore, SystemClock};

use crate::fleet;
use crate::stats::Times;

/// What the wake-ups of one cluster cost: the median of each kind.
pub struct Costs {
    pub opened: Duration,
    pub first_plan: Duration,
    pub visit: Duration,
    pub quiet_look: Duration,
    pub news: Duration,
    pub judged: Duration,
    pub busy_look: Duration,
}

pub struct Desk {
    books: Books,
    fence: Fence,
    now: Timestamp,
    revision: Revision,
}

impl Desk {
    /// The costs of a cluster whose machines are well, from a restart of its keeper on.
    pub async fn measure(machines: u64, wake_ups: usize) -> io::Result<Costs> {
        let clock = SystemClock;
        let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(clock)));
        let site = fleet::site(1, machines);
        fleet::settle(&store, &clock, std::slice::from_ref(&site)).await?;
        let lease = store.acquire_lease(&keys::keeper_lease(&site.cluster), "bench", Span::hours(1)).await.map_err(io::Error::other)?;
        let began = Instant::now();
        let opened = Books::open(&store, &site.cluster, lease.fence(), clock.now()).await;
        let (books, revision) = opened.map_err(io::Error::other)?;
        let opened = began.elapsed();
        let mut desk = Desk { books, fence: lease.fence(), now: clock.now(), revision };
        let first_plan = desk.timed(|_, _| ())?;
        desk.see_everything();
        desk.timed(|_, _| ())?;
        let visit = desk.timed(|books, _| books.mark_all())?;
        let compute = site.machines.iter().filter(|machine| machine.role == Role::Compute);
        let compute: Vec<MachineName> = compute.map(|machine| machine.name.clone()).take(wake_ups).collect();
        let quiet_look = desk.each(&compute, |books, machine, now| note_power(books, machine, now, Ok(Power::On), now))?;
        let news = desk.each(&compute, |books, machine, now| note_power(books, machine, now, Ok(Power::Off), now))?;
        desk.each(&compute, |books, machine, now| note_power(books, machine, now, Ok(Power::On), now))?;
        let judged = desk.each(&compute, ask_for_restart)?;
        let busy_look = desk.each(&compute, |books, machine, now| note_power(books, machine, now, Ok(Power::On), now))?;
        Ok(Costs { opened, first_plan, visit, quiet_look, news, judged, busy_look })
    }

    /// The undercloud answers, and each machine is on with a ready node.
    fn see_everything(&mut self) {
        let now = self.now;
        self.books.snapshot.undercloud.answered(now);
        let machines: Vec<(MachineName, bool)> =
            self.books.snapshot.machines.values().map(|machine| (machine.name.clone(), machine.is_spare())).collect();
        for (name, is_spare) in machines {
            note_power(&mut self.books, &name, now, Ok(Power::On), now);
            let node = (!is_spare).then(|| fleet::ready_node(&name));
            self.books.observe(&name, |observation| {
                observation.node = Some(Seen { what: node, at: now });
                true
            });
        }
    }

    /// One wake-up for each of the machines; the median.
    fn each(&mut self, machines: &[MachineName], see: impl Fn(&mut Books, &MachineName, Timestamp)) -> io::Result<Duration> {
        let mut times = Vec::new();
        for machine in machines {
            times.push(self.timed(|books, now| see(books, machine, now))?);
            let asked: Vec<RequestId> = self.books.snapshot.requests.keys().cloned().collect();
            for id in asked {
                // Whoever asked sweeps it away.
                let key = keys::request(&self.books.snapshot.cluster.name, &id);
                self.books.drop_request(&key);
            }
        }
        Ok(Times::new(times).median())
    }

    /// Everything that the loop does for a wake-up but waiting for the commit.
    fn timed(&mut self, see: impl FnOnce(&mut Books, Timestamp)) -> io::Result<Duration> {
        self.now = self.now + Span::millis(20);
        let began = Instant::now();
        see(&mut self.books, self.now);
        if self.books.needs_plan() {
            let plan = self.books.plan(self.now).map_err(io::Error::other)?;
            let written: Vec<String> = if plan.changes.is_empty() {
                Vec::new()
            } else {
                self.books.commit_of(&plan, self.now, self.fence.clone()).writes.into_keys().collect()
            };
            self.revision = Revision(self.revision.0 + 1);
            self.books.settle(&plan, &written, Some(self.revision));
        }
        Ok(began.elapsed())
    }
}

fn ask_for_restart(books: &mut Books, machine: &MachineName, now: Timestamp) {
    let cluster = books.snapshot.cluster.name.clone();
    let request = Request {
        id: RequestId::new(format!("1f0c7a52-4a8e-4c51-9d0f-{machine:>012}")),
        cluster: cluster.clone(),
        ask: Ask::Act { machine: machine.clone(), action: Action::Restart, outage: Outage::Refused, replacement: None },
        caller: "bench".to_owned(),
        correlation_id: CorrelationId::new("bench"),
        key: None,
        sent: Some(Sent { method: "POST".to_owned(), client_request_id: None }),
        received_at: now,
        expires_at: now + REQUEST_LIFE,
        verdict: None,
    };
    books.take_request(&keys::request(&cluster, &request.id), request.clone(), Revision(1));
}
