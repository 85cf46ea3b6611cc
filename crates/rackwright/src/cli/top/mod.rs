//! `rackwright top`: racks, machines, operations and waits, live.
//!
//! It polls the public API and changes nothing. Without a terminal it prints one picture as text.

mod fetch;
mod frame;
mod help;
mod live;
mod pen;
mod site;
#[cfg(test)]
mod tests;
mod view;

use clap::Args;
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::screen::Screen;
use super::session::Session;
use super::trouble::{Exit, Trouble};
use fetch::Fetcher;
use frame::{Known, frame, natural_size};
use view::View;

#[derive(Args, Clone, Copy, Debug)]
pub struct TopArgs {
    /// Print one picture as text and end, as is done without a terminal.
    #[arg(long)]
    once: bool,
}

pub async fn run(session: &Session, screen: &mut Screen, args: TopArgs) -> Result<(), Trouble> {
    if !session.showing.is_for_people() {
        return Err(Trouble::new(Exit::Usage, "`top` is a picture for people, and takes neither `--output` nor `--query`")
            .hint("`rackwright status -o json` has the same as data"));
    }
    if args.once || !screen.can_draw() {
        return once(session, screen).await;
    }
    live::run(session, screen.has_colour()).await
}

async fn once(session: &Session, screen: &mut Screen) -> Result<(), Trouble> {
    let site = Fetcher::new(session).fetch().await?;
    let now = Timestamp::now();
    let (width, height) = natural_size(&site, now);
    let known = Known { server: session.client.name().to_owned(), now, silent_since: None, site: Some(site), has_keys: false };
    screen.lines(&as_text(&frame(&known, &View::default(), Rect::new(0, 0, width, height)).buffer))
}

/// The letters without their colours, and without blanks at the ends of lines.
fn as_text(buffer: &Buffer) -> String {
    let rows = (0..buffer.area.height).map(|y| {
        let line: String = (0..buffer.area.width).filter_map(|x| buffer.cell((x, y))).map(|cell| cell.symbol()).collect();
        format!("{}\n", line.trim_end())
    });
    rows.collect()
}
