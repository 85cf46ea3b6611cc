//! What it costs to know who sends a request and whether they may: the token, the caller's pace, and the judgement of one permission.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use access::roles::{BUILT_IN, READER};
use access::{Permission, PrincipalId, Scope};
use gate::{Gate, OpenHouse};
use store::SystemClock;
use uuid::Uuid;

use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::fleet::SUBSCRIPTION;
use crate::stats::{Times, microseconds};
use crate::table;

pub const BENCH: Bench = Bench { name: "entry", what: "authentication and authorization at up to 10,000 role assignments", measure };

/// The number of assignments that the target is for, and fewer, to show how it grows.
const ASSIGNMENTS: [u64; 3] = [100, 1_000, 10_000];

/// Role assignments of each principal: somebody who looks after ten groups.
const OF_EACH: u64 = 10;

/// Principals who ask, in turn, so that no cache of the processor knows one of them only.
const CALLERS: u64 = 500;

const REQUESTS: usize = 50_000;

/// Machines of each group, so that not one question alone is asked again and again.
const MACHINES: usize = 100;

fn measure(size: Size) -> io::Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut report = Report::default();
    let mut curve = Curve { what: "both together, median".to_owned(), unit: Unit::Microseconds, points: Vec::new() };
    for assignments in size.pick(ASSIGNMENTS.to_vec(), vec![2 * OF_EACH]) {
        table::say(&format!("  {assignments} role assignments …"));
        let hall = runtime.block_on(Hall::fill(assignments, OpenHouse::log_in));
        let first = hall.ask(hall.callers.len())?;
        let again = hall.ask(size.pick(REQUESTS, 100))?;
        let strangers = runtime.block_on(Hall::fill(assignments, OpenHouse::token_of));
        let restarted = strangers.ask(strangers.callers.len())?;
        curve.points.push((assignments, microseconds(again.all.median())));
        report.figures = figures(&Rounds { first, again, restarted }, assignments);
    }
    report.curves.push(curve);
    Ok(report)
}

/// A gate with role assignments, and tokens of some who have them.
struct Hall {
    gate: Arc<Gate>,
    callers: Vec<(String, u64)>,
}

impl Hall {
    async fn fill(assignments: u64, token_of: fn(&OpenHouse, PrincipalId, &str) -> String) -> Hall {
        let house = OpenHouse::open(Arc::new(SystemClock)).await;
        let principals = (assignments / OF_EACH).max(1);
        for number in 0..principals {
            for nth in 0..OF_EACH {
                let role = if nth == 0 { &READER } else { &BUILT_IN[usize::try_from(nth).unwrap_or(0) % BUILT_IN.len()] };
                house.assign(somebody(number), role.id, group(number, nth)).await;
            }
        }
        let callers = (0..principals.min(CALLERS)).map(|number| (token_of(&house, somebody(number), "caller"), number)).collect();
        Hall { gate: house.gate(), callers }
    }

    /// Each request shows a token of somebody else, and is for a machine that they may read.
    fn ask(&self, requests: usize) -> io::Result<Costs> {
        let (mut known, mut judged, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for (nth, (token, number)) in self.callers.iter().cycle().take(requests).enumerate() {
            let machine = nth / self.callers.len() % MACHINES;
            let machine = format!("{}/providers/Microsoft.NetworkCloud/bareMetalMachines/m{machine}", group(*number, 0));
            let began = Instant::now();
            let caller = self.gate.authenticate(token).map_err(io::Error::other)?;
            self.gate.count(&caller).map_err(io::Error::other)?;
            let is_known = began.elapsed();
            let permission = Permission::new("Microsoft.NetworkCloud/bareMetalMachines/read").map_err(io::Error::other)?;
            let scope = Scope::parse(&machine).map_err(io::Error::other)?;
            self.gate.may(&caller, &permission, &scope).map_err(io::Error::other)?;
            let is_judged = began.elapsed();
            known.push(is_known);
            judged.push(is_judged - is_known);
            all.push(is_judged);
        }
        Ok(Costs { known: Times::new(known), judged: Times::new(judged), all: Times::new(all) })
    }
}

/// A principal with a number.
fn somebody(number: u64) -> PrincipalId {
    PrincipalId::new(Uuid::from_u128(1_000_000 + u128::from(number)))
}

/// The nth group that a principal looks after.
fn group(number: u64, nth: u64) -> Scope {
    let id = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/site{}", number * OF_EACH + nth);
    Scope::parse(&id).expect("letters and digits are a scope")
}

struct Costs {
    known: Times,
    judged: Times,
    all: Times,
}

struct Rounds {
    /// With a token that was just given: what is asked for was not judged yet.
    first: Costs,
    /// All requests that follow.
    again: Costs,
    /// With a token of another process, as after a restart: nothing of it is known.
    restarted: Costs,
}

fn figures(rounds: &Rounds, assignments: u64) -> Vec<Figure> {
    let at = |what: &str| format!("{what}, at {} role assignments", Unit::Count.show(assignments as f64));
    let figure = |what: &str, time: Duration, limited_by| Figure::new(at(what), microseconds(time), Unit::Microseconds, limited_by);
    let Rounds { first, again, restarted } = rounds;
    let both = "who it is and whether they may, and whatever else runs on this machine";
    let cedar = "Cedar, and the entities that it is handed: the caller's roles at the scope and around it";
    vec![
        figure("who it is, median", again.known.median(), "a digest of the token"),
        figure("whether they may, judged for the first time, median", first.judged.median(), cedar),
        figure("judged before, there or around it, median", again.judged.median(), "finding the caller's roles around the scope"),
        figure("both together, the first request after a login, median", first.all.median(), both).under(100.0),
        figure("its 99 of 100", first.all.percentile(99.0), both),
        figure("both together, requests that follow, median", again.all.median(), both).under(100.0),
        figure("their 99 of 100", again.all.percentile(99.0), both).under(100.0),
        figure("who it is, with a token that the process has not seen, median", restarted.known.median(), "reading it, and its signature"),
        figure("both together then, median", restarted.all.median(), both).under(100.0),
    ]
}
