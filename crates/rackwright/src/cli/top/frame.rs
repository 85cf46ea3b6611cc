//! One picture of the live view. Pure: what is known and a size in, cells out.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::help;
use super::pen::Pen;
use super::site::{Condition, Operation, Site, Slot, Wait};
use super::view::{Panel, View};
use crate::cli::render::span;

/// Below this there is room for counts only.
const WIDTH_MIN: u16 = 40;
const HEIGHT_MIN: u16 = 10;

/// A picture that is printed has at least this width, and at most that width and height: a rack more would not be read.
const WIDTH_USUAL: usize = 100;
const WIDTH_MAX: u16 = 2_000;
const HEIGHT_MAX: u16 = 5_000;

/// Clusters that have a line at the top; of more there is a count.
const CLUSTERS_SHOWN: usize = 3;

/// Space between two racks.
const GUTTER: usize = 2;

const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const ALARM: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
const NOTICE: Style = Style::new().fg(Color::Yellow);
const QUIET: Style = Style::new().add_modifier(Modifier::DIM);

/// What is known, and how fresh it is.
#[derive(Clone, Debug)]
pub struct Known {
    pub server: String,
    pub now: Timestamp,
    /// When the last answer came, if there should have been another since; what is shown is as old.
    pub silent_since: Option<Timestamp>,
    /// `None` until the first answer.
    pub site: Option<Site>,
    /// Whether there is somebody to press keys.
    pub has_keys: bool,
}

/// A picture, and the place that is really looked at: nobody scrolls beyond the end.
#[derive(Debug)]
pub struct Frame {
    pub buffer: Buffer,
    pub view: View,
}

pub fn frame(known: &Known, view: &View, area: Rect) -> Frame {
    let mut view = *view;
    let mut pen = Pen::new(area);
    title(&mut pen, known);
    match &known.site {
        _ if view.help => help::draw(&mut pen),
        None => pen.line(Style::new(), "waiting for the first answer"),
        Some(site) if area.width < WIDTH_MIN || area.height < HEIGHT_MIN => counts(&mut pen, site),
        Some(site) => panels(&mut pen, known, site, &mut view),
    }
    Frame { buffer: pen.into_buffer(), view }
}

/// As many rows and columns as it takes to show everything.
pub fn natural_size(site: &Site, now: Timestamp) -> (u16, u16) {
    let height = 2 + site.clusters.len().min(CLUSTERS_SHOWN + 1) + wants(site).iter().sum::<usize>();
    let lines = site.clusters.iter().map(|cluster| cluster.line.clone());
    let lines = lines.chain(site.operations.iter().map(operation_line)).chain(site.waits.iter().map(|wait| wait_line(wait, now)));
    let longest = lines.map(|line| line.chars().count()).max().unwrap_or_default();
    let width = longest.max(column_width(site) * site.racks.len()).max(WIDTH_USUAL);
    (u16::try_from(width).unwrap_or(u16::MAX).min(WIDTH_MAX), u16::try_from(height).unwrap_or(u16::MAX).min(HEIGHT_MAX))
}

fn title(pen: &mut Pen, known: &Known) {
    let state = match known.silent_since {
        Some(since) => format!("NO ANSWER since {} ({})", clock(since), span(since, known.now)),
        None => format!("answers  {}", clock(known.now)),
    };
    let style = if known.silent_since.is_some() { ALARM } else { STRONG };
    pen.both_ends(style, &format!("rackwright top  {}", known.server), &state);
}

fn clock(instant: Timestamp) -> String {
    instant.strftime("%H:%M:%SZ").to_string()
}

/// What is left of everything on a screen that is too small for it.
fn counts(pen: &mut Pen, site: &Site) {
    pen.line(Style::new(), &format!("{} running, {} waiting, {} late", site.operations.len(), site.waits.len(), site.late()));
    for cluster in &site.clusters {
        pen.line(if cluster.well { Style::new() } else { ALARM }, &cluster.line);
    }
}

fn panels(pen: &mut Pen, known: &Known, site: &Site, view: &mut View) {
    for cluster in site.clusters.iter().take(CLUSTERS_SHOWN) {
        pen.line(if cluster.well { Style::new() } else { ALARM }, &cluster.line);
    }
    if site.clusters.len() > CLUSTERS_SHOWN {
        pen.line(NOTICE, &format!("… and {} more clusters", site.clusters.len() - CLUSTERS_SHOWN));
    }
    let [racks_rows, operations_rows, waits_rows] = share(pen.rows_left().saturating_sub(1), wants(site));
    racks(pen, site, view, racks_rows);
    operations(pen, &site.operations, view, operations_rows);
    waits(pen, site, known.now, view, waits_rows);
    pen.skip_to_last_line();
    pen.both_ends(
        QUIET,
        "+ ready ! not - off s spare ? blind c cordoned * busy L late",
        if known.has_keys { "? help  q quit" } else { "" },
    );
}

/// The rows that each panel needs for everything it has, its headings included.
fn wants(site: &Site) -> [usize; 3] {
    [2 + most_slots(site), 1 + site.operations.len().max(1), 1 + site.waits.len().max(1)]
}

fn most_slots(site: &Site) -> usize {
    site.racks.iter().map(|rack| rack.slots.len()).max().unwrap_or_default()
}

/// Where there is not room for all, operations and waits keep a quarter each, and the racks the rest.
fn share(rows: usize, [racks, operations, waits]: [usize; 3]) -> [usize; 3] {
    if racks + operations + waits <= rows {
        return [racks, operations, waits];
    }
    let quarter = (rows / 4).max(2);
    let racks = racks.min(rows.saturating_sub(operations.min(quarter) + waits.min(quarter)));
    let rest = rows - racks.min(rows);
    let operations = operations.min(rest.saturating_sub(waits.min(rest / 2)));
    [racks, operations, rest - operations]
}

fn heading(pen: &mut Pen, panel: Panel, view: &View, text: &str) {
    let focused = view.focus == panel;
    let style = if focused { STRONG.add_modifier(Modifier::REVERSED) } else { STRONG };
    pen.line(style, &format!("{} {text}", if focused { '>' } else { ' ' }));
}

/// `, 3-9 of 20` where not all is shown.
fn part(first: usize, shown: usize, all: usize) -> String {
    if shown >= all { String::new() } else { format!(", {}-{} of {all}", first + 1, first + shown) }
}

fn slot_text(slot: &Slot, marks: usize) -> String {
    format!("{:>2} {:marks$} {}", slot.number, slot.mark.letters(), slot.name)
}

/// Letters that there is room for at least, so that names do not jump with every mark that comes and goes.
const MARKS_USUAL: usize = 4;

/// As wide as the most that is to be said of one machine, so that names stand below each other.
fn marks_width(site: &Site) -> usize {
    let slots = site.racks.iter().flat_map(|rack| &rack.slots);
    slots.map(|slot| slot.mark.letters().chars().count()).max().unwrap_or_default().max(MARKS_USUAL)
}

fn column_width(site: &Site) -> usize {
    let marks = marks_width(site);
    let slots = site.racks.iter().flat_map(|rack| &rack.slots).map(|slot| slot_text(slot, marks).chars().count());
    let names = site.racks.iter().map(|rack| rack.name.chars().count());
    slots.chain(names).max().unwrap_or_default() + GUTTER
}

fn racks(pen: &mut Pen, site: &Site, view: &mut View, rows: usize) {
    let (width, marks) = (column_width(site), marks_width(site));
    let columns = (pen.width() / width.max(1)).clamp(1, site.racks.len().max(1));
    let (slots, shown) = (most_slots(site), rows.saturating_sub(2));
    view.rack_column = view.rack_column.min(site.racks.len().saturating_sub(columns));
    view.rack_row = view.rack_row.min(slots.saturating_sub(shown));
    let of_racks = part(view.rack_column, columns, site.racks.len());
    let of_slots = part(view.rack_row, shown, slots);
    let (racks, rows_told) = (if of_racks.is_empty() { "" } else { " racks" }, if of_slots.is_empty() { "" } else { " slots" });
    heading(pen, Panel::Racks, view, &format!("RACKS {}{of_racks}{racks}{of_slots}{rows_told}", site.racks.len()));
    let visible = site.racks.iter().skip(view.rack_column).take(columns);
    let names: Vec<(Style, String)> = visible.clone().map(|rack| (STRONG, rack.name.clone())).collect();
    pen.columns(width, &names);
    for row in view.rack_row..(view.rack_row + shown).min(slots) {
        let cells: Vec<(Style, String)> = visible
            .clone()
            .map(|rack| rack.slots.get(row).map_or((Style::new(), String::new()), |slot| (slot_style(slot), slot_text(slot, marks))))
            .collect();
        pen.columns(width, &cells);
    }
}

fn slot_style(slot: &Slot) -> Style {
    let mark = slot.mark;
    match mark.condition {
        _ if mark.late => ALARM,
        _ if mark.busy || mark.cordoned => NOTICE,
        _ if mark.blind => ALARM,
        Condition::NotReady | Condition::Unknown => ALARM,
        Condition::Ready if mark.degraded || mark.unmanaged => NOTICE,
        Condition::Off | Condition::Spare => QUIET,
        Condition::Ready => Style::new(),
    }
}

fn operations(pen: &mut Pen, operations: &[Operation], view: &mut View, rows: usize) {
    let shown = rows.saturating_sub(1);
    view.operation_row = view.operation_row.min(operations.len().saturating_sub(shown));
    heading(pen, Panel::Operations, view, &format!("OPERATIONS {}{}", operations.len(), part(view.operation_row, shown, operations.len())));
    if operations.is_empty() && shown > 0 {
        pen.line(QUIET, "  nothing runs");
    }
    for operation in operations.iter().skip(view.operation_row).take(shown) {
        pen.line(if operation.late { ALARM } else { NOTICE }, &operation_line(operation));
    }
}

fn operation_line(Operation { id, machine, action, percent, step, late }: &Operation) -> String {
    let late = if *late { "LATE " } else { "" };
    format!("  {id}  {machine}  {action}  {} {percent:>3}%  {late}{step}", bar(*percent))
}

/// Ten letters, one for each tenth.
fn bar(percent: u64) -> String {
    let done = usize::try_from(percent / 10).unwrap_or(10).min(10);
    format!("[{}{}]", "#".repeat(done), "-".repeat(10 - done))
}

fn waits(pen: &mut Pen, site: &Site, now: Timestamp, view: &mut View, rows: usize) {
    let shown = rows.saturating_sub(1);
    view.wait_row = view.wait_row.min(site.waits.len().saturating_sub(shown));
    let late = if site.late() > 0 { format!(", {} LATE", site.late()) } else { String::new() };
    heading(pen, Panel::Waits, view, &format!("WAITS {}{late}{}", site.waits.len(), part(view.wait_row, shown, site.waits.len())));
    if site.waits.is_empty() && shown > 0 {
        pen.line(QUIET, "  nothing waits");
    }
    for wait in site.waits.iter().skip(view.wait_row).take(shown) {
        pen.line(if wait.late { ALARM } else { Style::new() }, &wait_line(wait, now));
    }
}

fn wait_line(Wait { machine, what, since, late }: &Wait, now: Timestamp) -> String {
    let age = since.map_or_else(|| "-".to_owned(), |since| span(since, now));
    format!("  {age:>8}  {machine}  {}{what}", if *late { "LATE " } else { "" })
}
