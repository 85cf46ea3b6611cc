//! What the hot paths cost for fixed inputs, counted rather than timed: allocations always, and instructions if callgrind watches.
//!
//! Prints a line for each path. `tests/counts.rs` runs this and compares; nothing is judged here.

mod device;
mod site;
mod tally;

use std::io;
use std::sync::Arc;

use alloc_tracker::Allocator;
use model::{Clock, Machine, Timestamp, keys};
use store::{MemoryStore, SharedStore};
use tokio::runtime::{Builder, Runtime};

use device::Device;
use site::{MACHINES, Site};
use tally::{Round, Tally};

#[global_allocator]
static ALLOCATOR: Allocator<std::alloc::System> = Allocator::system();

/// What people and programs read most, and what is read anew however little has changed.
const READS: [(&str, &str); 5] = [
    ("read-machine", "resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/rack9compute09?api-version=1"),
    ("list-100-machines", "providers/Microsoft.NetworkCloud/bareMetalMachines?api-version=1&$top=100"),
    ("list-1000-machines", "providers/Microsoft.NetworkCloud/bareMetalMachines?api-version=1&$top=1000"),
    ("list-100-activities", "providers/Microsoft.Insights/eventtypes/management/values?api-version=1&$top=100"),
    ("read-status", "/rackwright/v1/status"),
];

/// A clock that stands still, so that every run is the same run.
#[derive(Clone, Copy, Debug)]
struct Still(Timestamp);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        self.0
    }
}

fn main() -> io::Result<()> {
    let clock: Arc<dyn Clock> = Arc::new(Still(Timestamp::parse("2026-11-15T14:00:00.000Z").expect("a constant instant")));
    let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let mut tally = Tally::default();
    let mut site = runtime.block_on(Site::open(store.clone(), clock))?;
    count_keeping(&mut tally, &runtime, &mut site);
    count_reading(&mut tally, &runtime, &site)?;
    count_installing(&mut tally, &runtime, &mut site);
    let device = runtime.block_on(Device::open())?;
    for round in Round::BOTH {
        tally.count(round, "look-at-power", || runtime.block_on(device.look()));
    }
    tally.print()
}

/// What a keeper does at a wake-up, and what a request goes through.
fn count_keeping(tally: &mut Tally, runtime: &Runtime, site: &mut Site) {
    for round in Round::BOTH {
        let plan = tally.count(round, "plan-all", || site.plan_all());
        assert!(plan.changes.is_empty() && plan.revisits.len() as u64 == MACHINES, "all is well, and every machine was visited");
    }
    let mut listener = runtime.block_on(site.listen());
    for round in Round::BOTH {
        let plan = tally.count(round, "plan-look-with-news", || site.plan_look(round.machine()));
        assert_eq!(plan.changes.machines.len(), 1, "the look is news");
        tally.count(round, "commit-look-with-news", || site.commit(&plan));
        tally.count(round, "tell-listener", || runtime.block_on(listener.hear()));
        let filed = tally.count(round, "submit-request", || runtime.block_on(site.submit(round.machine_to_restart())));
        let plan = tally.count(round, "plan-request", || site.plan_request(&filed));
        assert_eq!(plan.changes.operations.len(), 1, "the request is accepted");
        tally.count(round, "commit-request", || site.commit(&plan));
        tally.count(round, "answer-request", || runtime.block_on(filed.answered()));
        tally.count(round, "sweep-request", || runtime.block_on(site::until_swept()));
        runtime.block_on(listener.hear());
    }
}

/// What the beginning of a reimage takes, which is where most is known, compared and written.
fn count_installing(tally: &mut Tally, runtime: &Runtime, site: &mut Site) {
    runtime.block_on(site.import_runtime());
    for round in Round::BOTH {
        let filed = runtime.block_on(site.submit_reimage(round.machine_to_reimage()));
        let plan = tally.count(round, "plan-reimage", || site.plan_request(&filed));
        assert_eq!(plan.changes.operations.len(), 1, "the reimage is accepted");
        tally.count(round, "commit-reimage", || site.commit(&plan));
        runtime.block_on(filed.answered());
        runtime.block_on(site::until_swept());
    }
}

fn count_reading(tally: &mut Tally, runtime: &Runtime, site: &Site) -> io::Result<()> {
    for round in Round::BOTH {
        for (name, path) in READS {
            let bytes = tally.count(round, name, || runtime.block_on(site.read(path)));
            assert!(bytes > 0, "{path} tells something");
        }
    }
    let machines = runtime.block_on(site.store().list(keys::MACHINES)).map_err(io::Error::other)?.documents;
    for (round, document) in Round::BOTH.into_iter().zip(&machines) {
        let machine: Machine =
            tally.count(round, "decode-machine", || serde_json::from_slice(&document.value)).map_err(io::Error::other)?;
        tally.count(round, "encode-machine", || serde_json::to_vec(&machine)).map_err(io::Error::other)?;
    }
    Ok(())
}
