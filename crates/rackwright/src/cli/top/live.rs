//! The terminal while the live view has it: drawing, keys, and giving it back whatever happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, Event};
use jiff::Timestamp;
use ratatui::DefaultTerminal;
use ratatui::style::Color;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::fetch::Fetcher;
use super::frame::{Known, frame};
use super::view::{Press, View};
use crate::cli::follow::interrupted;
use crate::cli::session::Session;
use crate::cli::trouble::{Exit, Trouble};

/// Ages on the screen grow by themselves this often.
const REDRAW_EVERY: Duration = Duration::from_secs(1);

/// How long the reader of keys may take to notice that nobody listens any more.
const KEYS_TIMEOUT: Duration = Duration::from_millis(100);

/// The terminal in its drawing state. Dropping it gives the terminal back; a panic does too, before its message.
struct Canvas {
    terminal: DefaultTerminal,
    colour: bool,
}

impl Canvas {
    fn open(colour: bool) -> Result<Canvas, Trouble> {
        let terminal = ratatui::try_init().map_err(|problem| {
            ratatui::restore();
            cannot_draw(&problem)
        })?;
        Ok(Canvas { terminal, colour })
    }

    /// Draws what is known, and returns the place that is really looked at.
    fn draw(&mut self, known: &Known, view: &View) -> Result<View, Trouble> {
        let mut settled = *view;
        let drawn = self.terminal.draw(|target| {
            let picture = frame(known, view, target.area());
            settled = picture.view;
            *target.buffer_mut() = picture.buffer;
            if !self.colour {
                for cell in &mut target.buffer_mut().content {
                    cell.fg = Color::Reset;
                }
            }
        });
        drawn.map_err(|problem| cannot_draw(&problem))?;
        Ok(settled)
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// How long the end of the reader of keys is waited for. From a terminal that is gone it reads nothing for ever, and ends
/// with the process.
const READER_PATIENCE: Duration = Duration::from_millis(500);

/// Reads keys and changes of size on a thread of its own, because reading them blocks.
struct Keys {
    events: mpsc::UnboundedReceiver<Event>,
    stop: Arc<AtomicBool>,
    /// Closed when the reader has ended.
    reading: std::sync::mpsc::Receiver<()>,
}

impl Keys {
    fn listen() -> Keys {
        let (sender, events) = mpsc::unbounded_channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let (ended, reading) = std::sync::mpsc::channel::<()>();
        std::thread::spawn(move || {
            let _ended = ended;
            while !stopped.load(Ordering::Relaxed) {
                let event = match event::poll(KEYS_TIMEOUT) {
                    Ok(false) => continue,
                    Ok(true) => event::read(),
                    Err(problem) => Err(problem),
                };
                // Without a terminal there are no keys; the listener ends then.
                let Ok(event) = event else { return };
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        Keys { events, stop, reading }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A reader that is still at it would take what is typed next.
        let _ = self.reading.recv_timeout(READER_PATIENCE);
    }
}

pub async fn run(session: &Session, colour: bool) -> Result<(), Trouble> {
    // A server that was never there is an error; one that goes away later is waited for.
    let mut fetcher = Fetcher::new(session);
    let first = fetcher.fetch().await?;
    let mut known =
        Known { server: session.client.name().to_owned(), now: Timestamp::now(), silent_since: None, site: Some(first), has_keys: true };
    let mut terminate = signal(SignalKind::terminate()).map_err(|problem| cannot_draw(&problem))?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(|problem| cannot_draw(&problem))?;
    let mut answered_at = known.now;
    let mut view = View::default();
    let mut canvas = Canvas::open(colour)?;
    let mut keys = Keys::listen();
    let mut redraw = tokio::time::interval(REDRAW_EVERY);
    loop {
        let next = fetcher.next();
        tokio::pin!(next);
        // The keys are answered while the server is being asked.
        let fetched = loop {
            known.now = Timestamp::now();
            view = canvas.draw(&known, &view)?;
            tokio::select! {
                fetched = &mut next => break fetched,
                event = keys.events.recv() => match event {
                    Some(Event::Key(key)) if view.press(key) == Press::Quit => return Ok(()),
                    Some(_) => {}
                    None => return Ok(()),
                },
                _ = redraw.tick() => {}
                () = interrupted() => return Ok(()),
                _ = terminate.recv() => return Ok(()),
                _ = hang_up.recv() => return Ok(()),
            }
        };
        match fetched {
            Ok(site) => {
                answered_at = Timestamp::now();
                known.site = Some(site);
                known.silent_since = None;
            }
            Err(trouble) if matches!(trouble.exit, Exit::Unreachable | Exit::Failed) => {
                known.silent_since = Some(answered_at);
            }
            Err(trouble) => return Err(trouble),
        }
    }
}

fn cannot_draw(problem: &std::io::Error) -> Trouble {
    Trouble::failed(format!("the terminal cannot be drawn on: {problem}")).hint("`rackwright top --once` prints one picture")
}
