//! How memory grows with the number of machines, from a site of four to as many as one simulator has clusters for.

use std::io;
use std::time::Duration;

use super::stand::{Bmcs, Shape, Stand};
use crate::figure::{Curve, Figure, Report, Size, Unit};

/// What is told of: as near to 5,000 machines as clusters of 128 come.
const AT: u64 = 5_120;

/// How often every BMC is looked at before it counts: the first looks take more than those that follow each minute.
const LOOKS: u64 = 2;

/// What the allocator has not needed for ten seconds it gives back.
const SETTLED_AFTER: Duration = Duration::from_secs(10);

/// What heaptrack found at 1,024 machines, per machine and by whose it is.
const PLAIN: &str = "13 KiB of heap: the driver of the BMC, and an event stream for every second one (4), what the keeper knows (3), \
                     the site file as it was read (2), the document in the store (1.5) and in the API's cache (1), a share of the \
                     cluster's Kubernetes client (1); and what the allocator holds back";
const OVER_TLS: &str = "as over http, and a TLS session for each open event stream";
const PEAK: &str = "the first looks: 128 connections of each cluster at once, with 26 KiB each in the HTTP library";
const SMALLEST: &str = "the touched pages of the program, the page cache of SQLite";

pub fn measure(size: Size) -> io::Result<Report> {
    let mut points = Vec::new();
    for wave in size.pick(full_waves(), vec![vec![smallest(Bmcs::Http), smallest(Bmcs::Https)]]) {
        points.extend(measure_together(&wave, size)?);
    }
    let of = |bmcs| points.iter().filter(|point| point.shape.bmcs == bmcs).copied().collect::<Vec<Point>>();
    let (plain, tls) = (of(Bmcs::Http), of(Bmcs::Https));
    let mut figures =
        figures_of(&plain, "http", PLAIN).map(|[each, total, peak]| vec![each.under(20.0), total.under(150.0), peak]).unwrap_or_default();
    figures.extend(figures_of(&tls, "https", OVER_TLS).into_iter().flatten());
    figures.extend(
        plain.first().map(|smallest| Figure::new("memory with a site of four machines", smallest.resident, Unit::Megabytes, SMALLEST)),
    );
    let curves = vec![drawn(&plain, "memory, BMCs over http"), drawn(&tls, "memory, BMCs over https")];
    Ok(Report { figures, curves })
}

/// Memory at one number of machines, in megabytes.
#[derive(Clone, Copy, Debug)]
struct Point {
    shape: Shape,
    resident: f64,
    /// The most that it ever was, which is while everything is read and looked at for the first time.
    peak: f64,
}

fn smallest(bmcs: Bmcs) -> Shape {
    Shape { clusters: 1, racks: 1, machines_per_rack: 4, speed: "1", bmcs }
}

fn fleet(clusters: u64, bmcs: Bmcs) -> Shape {
    Shape { clusters, racks: 8, machines_per_rack: 16, ..smallest(bmcs) }
}

/// Fleets of up to 8,192 machines; those of one wave run side by side, which memory does not mind and saves minutes. All at
/// once they would need more ports than the loopback interface has.
fn full_waves() -> Vec<Vec<Shape>> {
    let (http, https) = (Bmcs::Http, Bmcs::Https);
    vec![
        vec![smallest(http), fleet(1, http), fleet(8, http), fleet(20, http), fleet(40, http)],
        vec![fleet(64, http), smallest(https), fleet(8, https), fleet(40, https)],
    ]
}

fn measure_together(shapes: &[Shape], size: Size) -> io::Result<Vec<Point>> {
    std::thread::scope(|scope| {
        let running: Vec<_> = shapes.iter().map(|shape| scope.spawn(move || measure_one(*shape, size))).collect();
        let ended = running.into_iter().map(|thread| thread.join().map_err(|_| io::Error::other("a measurement panicked"))?);
        ended.collect()
    })
}

fn measure_one(shape: Shape, size: Size) -> io::Result<Point> {
    let stand = Stand::start(shape, |_| Ok(()))?;
    stand.until_called("look", size.pick(LOOKS, 1) * shape.machines())?;
    // Whether it offers a stream or not, each was asked for it.
    stand.until_called("listen", shape.machines())?;
    std::thread::sleep(size.pick(SETTLED_AFTER, Duration::ZERO));
    Ok(Point { shape, resident: stand.plane.memory()? as f64 / 1e6, peak: stand.plane.peak_memory()? as f64 / 1e6 })
}

/// What each machine adds, the whole, and the peak. Nothing where only one point was measured.
fn figures_of(points: &[Point], scheme: &str, limited_by: &str) -> Option<[Figure; 3]> {
    let (smallest, at) = (points.first()?, points.iter().find(|point| point.shape.machines() == AT)?);
    let more = at.shape.machines() - smallest.shape.machines();
    let each = (at.resident - smallest.resident) * 1e6 / 1024.0 / more as f64;
    let of = format!("{} machines, BMCs over {scheme}", Unit::Count.show(AT as f64));
    Some([
        Figure::new(format!("memory that each machine adds, up to {of}"), each, Unit::Kibibytes, limited_by),
        Figure::new(format!("memory with {of}"), at.resident, Unit::Megabytes, limited_by),
        Figure::new(format!("its peak, {of}"), at.peak, Unit::Megabytes, PEAK),
    ])
}

fn drawn(points: &[Point], what: &str) -> Curve {
    let points = points.iter().map(|point| (point.shape.machines(), point.resident)).collect();
    Curve { what: what.to_owned(), unit: Unit::Megabytes, points }
}
