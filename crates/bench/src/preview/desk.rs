//! A keeper at its books that judges what comes through the store, with the pause between plans that its loop keeps. It looks at
//! no device: what tenants run was seen once.

use std::io;
use std::time::Instant;

use keeper::{Books, PLAN_EVERY, note_power};
use model::{
    Action, Ask, Clock, ClusterName, CorrelationId, MachineName, Outage, Power, REQUEST_LIFE, Request, RequestId, Seen, Site, Span,
    Verdict, keys,
};
use plan::{Visit, Visited};
use store::{Change, Fence, Revision, SharedStore, SystemClock};
use tokio_util::sync::CancellationToken;

use super::tenants;
use crate::fleet;
use crate::stats::Times;

pub struct Desk {
    books: Books,
    fence: Fence,
    from: Revision,
    cluster: ClusterName,
}

impl Desk {
    /// The books of a site whose machines are well and full of tenants' workloads.
    pub async fn open(store: &SharedStore, site: &Site) -> io::Result<Desk> {
        let lease = store.acquire_lease(&keys::keeper_lease(&site.cluster), "bench", Span::hours(1)).await.map_err(io::Error::other)?;
        let now = SystemClock.now();
        let (mut books, from) = Books::open(store, &site.cluster, lease.fence(), now).await.map_err(io::Error::other)?;
        books.snapshot.undercloud.answered(now);
        let machines: Vec<(MachineName, bool)> =
            books.snapshot.machines.values().map(|machine| (machine.name.clone(), machine.is_spare())).collect();
        for (name, is_spare) in machines {
            note_power(&mut books, &name, now, Ok(Power::On), now);
            let node = (!is_spare).then(|| fleet::ready_node(&name));
            books.observe(&name, |observation| {
                observation.node = Some(Seen { what: node, at: now });
                true
            });
        }
        books.snapshot.tenants = tenants::fill(site, now);
        let mut desk = Desk { books, fence: lease.fence(), from, cluster: site.cluster.clone() };
        desk.plan(store).await?;
        Ok(desk)
    }

    /// What planning a preview costs, with nothing around it.
    pub fn previews_alone(&mut self, machines: &[MachineName], count: usize) -> io::Result<Times> {
        let mut times = Vec::with_capacity(count);
        for machine in machines.iter().cycle().take(count) {
            let now = SystemClock.now();
            let request = Request {
                id: RequestId::new("bench"),
                cluster: self.cluster.clone(),
                ask: Ask::Preview { machine: machine.clone(), action: Action::Restart, outage: Outage::Refused, replacement: None },
                caller: "bench".to_owned(),
                correlation_id: CorrelationId::new("bench"),
                key: None,
                sent: None,
                received_at: now,
                expires_at: now + REQUEST_LIFE,
                verdict: None,
            };
            let mut snapshot = self.books.snapshot.clone();
            snapshot.set_request(request);
            let began = Instant::now();
            let plan = plan::plan(&snapshot, &Visit::Only(Visited::default()), now);
            times.push(began.elapsed());
            let verdict = plan.changes.requests.values().next().and_then(|request| request.verdict.as_ref());
            if !matches!(verdict, Some(Verdict::Previewed { .. })) {
                return Err(io::Error::other(format!("a preview was judged {verdict:?}")));
            }
        }
        Ok(Times::new(times))
    }

    /// Judges requests until it is stopped.
    pub async fn keep(mut self, store: SharedStore, stop: CancellationToken) -> io::Result<()> {
        let mut watch = store.watch(&keys::requests_of(&self.cluster), self.from).await.map_err(io::Error::other)?;
        let mut planned_at = tokio::time::Instant::now();
        loop {
            let due = planned_at + PLAN_EVERY.to_std();
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                changes = watch.next() => self.take(changes.map_err(io::Error::other)?)?,
                () = tokio::time::sleep_until(due), if self.books.needs_plan() => {
                    planned_at = tokio::time::Instant::now();
                    self.plan(&store).await?;
                }
            }
        }
    }

    fn take(&mut self, changes: Vec<Change>) -> io::Result<()> {
        for change in changes {
            match &change.value {
                None => self.books.drop_request(&change.key),
                Some(value) => {
                    let request: Request = serde_json::from_slice(value).map_err(io::Error::other)?;
                    if request.verdict.is_none() {
                        self.books.take_request(&change.key, request, change.revision);
                    }
                }
            }
        }
        Ok(())
    }

    async fn plan(&mut self, store: &SharedStore) -> io::Result<()> {
        let now = SystemClock.now();
        let plan = self.books.plan(now).map_err(io::Error::other)?;
        if plan.changes.is_empty() {
            self.books.settle(&plan, &[], None);
            return Ok(());
        }
        let commit = self.books.commit_of(&plan, now, self.fence.clone());
        let written: Vec<String> = commit.writes.keys().cloned().collect();
        let revision = store.commit(commit).await.map_err(io::Error::other)?;
        self.books.settle(&plan, &written, Some(revision));
        Ok(())
    }
}
