//! Power changes of a whole room at once: API, store and Redfish over sockets, to BMCs that obey at once.

use std::io;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::acting::{self, Wish};
use crate::figure::{Bench, Figure, Report, Size, Unit};
use crate::pair::Pair;
use crate::process::own_cpu_time;
use crate::stats::milliseconds;
use crate::worlds::Shape;

pub const BENCH: Bench = Bench { name: "power", what: "200 machines switched off by 32 clients", measure };

const MACHINES: usize = 200;
const CLIENTS: usize = 32;

/// The operating system is not asked: the power goes at once.
const OFF: Wish = Wish { verb: "powerOff", body: r#"{"skipShutdown":"True"}"#, look_every: Duration::from_millis(25) };

/// Logins and first looks are over by then.
const WARM_UP: Duration = Duration::from_secs(5);

/// The cores idle most of the time: half a second of work in three quarters of one, on two of them.
const SPAN: &str = "six or seven turns of each client, one after the other; the cores are mostly idle";

fn measure(size: Size) -> io::Result<Report> {
    Ok(Report { figures: Runtime::new()?.block_on(switch_off(size))?, ..Report::default() })
}

async fn switch_off(size: Size) -> io::Result<Vec<Figure>> {
    let shape = size.pick(Shape { clusters: 1, racks: 4, machines_per_rack: 51 }, Shape { clusters: 1, racks: 1, machines_per_rack: 6 });
    let pair = Pair::start(shape)?;
    tokio::time::sleep(size.pick(WARM_UP, Duration::ZERO)).await;
    let machines: Vec<String> = pair.machines.iter().take(MACHINES).cloned().collect();
    let clients = pair.clients(CLIENTS).await?;
    let before = (pair.plane.cpu_time()?, pair.worlds.cpu_time()?, own_cpu_time()?);
    let ended = acting::act_once(clients, &machines, OFF).await?;
    let plane = (pair.plane.cpu_time()? - before.0).as_secs_f64();
    let world = (pair.worlds.cpu_time()? - before.1).as_secs_f64();
    let clients = (own_cpu_time()? - before.2).as_secs_f64();
    let what = format!("{} machines switched off by {CLIENTS} clients", machines.len());
    Ok(vec![
        Figure::new(format!("{what}, all seen off"), ended.span.as_secs_f64(), Unit::Seconds, SPAN).under(2.0),
        Figure::new("processor time meanwhile, of everything", plane + world + clients, Unit::Seconds, "the three below").under(5.0),
        Figure::new("of it, the control plane's", plane, Unit::Seconds, "as with restarts"),
        Figure::new("of it, the simulator's", world, Unit::Seconds, "as with restarts"),
        Figure::new("of it, the clients'", clients, Unit::Seconds, "one connection each, and forty looks a second"),
        Figure::new(
            "one of these, median",
            milliseconds(ended.times.median()),
            Unit::Milliseconds,
            "three plans 20 ms apart, the look after the change, and the client's looks",
        ),
    ])
}
