//! A large fleet and a small one in the same minutes.
//!
//! A shared computer is half as fast again at one time as at another, and stays so for minutes: what two fleets cost that were measured
//! one after the other cannot be compared. So both are there at once, and while the small one is reimaged the large one is stopped where it
//! is, with its devices, as a debugger would stop it. Both have the same core, one at a time, and the same computer.

use std::io;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::{CLIENTS, Cost, REIMAGE, UNCORDON};
use crate::acting;
use crate::client::Client;
use crate::cores::Apart;
use crate::door::Door;
use crate::pair::{self, Pair};
use crate::stats::milliseconds;
use crate::tally::Tally;
use crate::worlds::Shape;

/// How long fleets are watched at rest, to know what of the processor time is not the reimages'. Logins and first looks are over by then,
/// and within a minute every BMC is looked at once.
pub struct Rest {
    pub warm_up: Duration,
    pub watched: Duration,
}

/// Both of them. Costs are of one machine.
pub struct Beside {
    pub small: Cost,
    pub large: Cost,
}

impl Beside {
    /// What one of the large fleet costs beside one of the small.
    pub fn growth(&self) -> f64 {
        self.large.beyond_rest / self.small.beyond_rest.max(f64::MIN_POSITIVE)
    }
}

/// Reimages a large fleet at once, over sockets, and a small one again and again: before it, every so often meanwhile, and after it.
pub async fn reimage([small, large]: [Shape; 2], rest: &Rest, every: Duration, apart: Option<&Apart>) -> io::Result<Beside> {
    let (mut small, mut large) = (Fleet::start(small, apart).await?, Fleet::start(large, apart).await?);
    tokio::time::sleep(rest.warm_up).await;
    let before = (small.pair.plane.cpu_time()?, large.pair.plane.cpu_time()?);
    tokio::time::sleep(rest.watched).await;
    small.note_rest(before.0, rest.watched)?;
    large.note_rest(before.1, rest.watched)?;

    large.while_stopped(small.burst()).await?;
    small.make_ready().await?;
    let begun = large.begin().await?;
    while !begun.work.is_finished() {
        tokio::time::sleep(every.min(LOOKED_EVERY)).await;
        if begun.work.is_finished() || begun.at.elapsed().saturating_sub(large.stopped) < every * small.bursts {
            continue;
        }
        large.while_stopped(small.burst()).await?;
        small.make_ready().await?;
    }
    large.end(begun).await?;
    large.while_stopped(small.burst()).await?;
    Ok(Beside { small: small.cost()?, large: large.cost()? })
}

/// How often it is looked whether all has ended.
const LOOKED_EVERY: Duration = Duration::from_secs(1);

/// How long is waited after machines were made ready: the revision of the store that the metrics tell may be a second old, and what is
/// done after an uncordon would be counted with the reimages.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// What reimages have taken of the computer, and what was done for them.
#[derive(Default)]
struct Spent {
    took: Duration,
    plane: Duration,
    worlds: Duration,
    done: Tally,
}

impl Spent {
    /// Since the processes began, whenever that was.
    async fn so_far(pair: &Pair) -> io::Result<Spent> {
        let (plane, worlds) = (pair.plane.cpu_time()?, pair.worlds.cpu_time()?);
        Ok(Spent { plane, worlds, done: pair.tally().await?, ..Spent::default() })
    }

    fn since(self, before: &Spent) -> Spent {
        let (plane, worlds) = (self.plane.saturating_sub(before.plane), self.worlds.saturating_sub(before.worlds));
        Spent { plane, worlds, done: self.done.since(&before.done), ..self }
    }

    fn and(self, other: &Spent) -> Spent {
        Spent {
            took: self.took + other.took,
            plane: self.plane + other.plane,
            worlds: self.worlds + other.worlds,
            done: self.done.and(&other.done),
        }
    }
}

/// Machines and their control plane, and what it has cost so far.
struct Fleet {
    pair: Pair,
    callers: Door,
    /// The part of a core that the control plane takes while nothing is asked of it.
    rest: f64,
    spent: Spent,
    bursts: u32,
    /// How long it has been stopped while it was reimaged.
    stopped: Duration,
    memory: f64,
}

/// Reimages that are under way.
struct Begun {
    at: Instant,
    before: Spent,
    work: JoinHandle<io::Result<(Duration, Vec<Client>)>>,
}

impl Fleet {
    async fn start(shape: Shape, apart: Option<&Apart>) -> io::Result<Fleet> {
        let pair = Pair::start_without_tenants(shape, apart)?;
        pair.import_runtimes().await?;
        let callers = pair.callers(CLIENTS)?;
        Ok(Fleet { pair, callers, rest: 0.0, spent: Spent::default(), bursts: 0, stopped: Duration::ZERO, memory: 0.0 })
    }

    fn note_rest(&mut self, before: Duration, span: Duration) -> io::Result<()> {
        self.rest = if span.is_zero() { 0.0 } else { (self.pair.plane.cpu_time()? - before).as_secs_f64() / span.as_secs_f64() };
        self.memory = self.pair.plane.memory()? as f64;
        self.pair.plane.forget_peak()
    }

    /// Asks for all machines at once.
    async fn begin(&mut self) -> io::Result<Begun> {
        let (clients, machines) = (self.clients().await?, self.pair.machines.clone());
        self.stopped = Duration::ZERO;
        let before = Spent::so_far(&self.pair).await?;
        let work = tokio::spawn(async move { acting::act_at_once(clients, &machines, REIMAGE).await });
        Ok(Begun { at: Instant::now(), before, work })
    }

    async fn end(&mut self, begun: Begun) -> io::Result<()> {
        let (took, _) = begun.work.await??;
        let took = took.saturating_sub(self.stopped);
        let after = Spent { took, ..Spent::so_far(&self.pair).await? };
        self.spent = std::mem::take(&mut self.spent).and(&after.since(&begun.before));
        self.bursts += 1;
        Ok(())
    }

    /// All machines once.
    async fn burst(&mut self) -> io::Result<()> {
        let begun = self.begin().await?;
        self.end(begun).await
    }

    /// A machine stays cordoned after its reimage, and whoever reimages it again must find it as it was: to cordon it is work, too.
    async fn make_ready(&mut self) -> io::Result<()> {
        acting::act_at_once(self.clients().await?, &self.pair.machines, UNCORDON).await?;
        tokio::time::sleep(SETTLED_AFTER).await;
        Ok(())
    }

    /// Anew each time: connections that are silent for half a minute are closed.
    async fn clients(&self) -> io::Result<Vec<Client>> {
        pair::connect(&self.callers, CLIENTS.min(self.pair.machines.len())).await
    }

    /// Stops it and its devices for as long as something else takes.
    async fn while_stopped(&mut self, other: impl Future<Output = io::Result<()>>) -> io::Result<()> {
        let began = Instant::now();
        self.pair.stop()?;
        let done = other.await;
        self.pair.go_on()?;
        self.stopped += began.elapsed();
        done
    }

    fn cost(&self) -> io::Result<Cost> {
        let Spent { took, plane, worlds, done } = &self.spent;
        let machines = self.pair.machines.len() as f64;
        let (reimaged, plane) = (machines * f64::from(self.bursts), milliseconds(*plane));
        Ok(Cost {
            machines,
            took: *took / self.bursts.max(1),
            plane: plane / reimaged,
            beyond_rest: (plane - self.rest * milliseconds(*took)).max(0.0) / reimaged,
            world: milliseconds(*worlds) / reimaged,
            done: done.for_each_of(reimaged),
            memory: self.memory,
            peak: self.pair.plane.peak_memory()? as f64,
        })
    }
}
