//! The terminal, or whatever stands in for it: data to stdout, talk to stderr, colours only for eyes.

use std::io::{self, BufRead, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use super::retype::Retyped;
use super::trouble::Trouble;

/// How a piece of text stands out. Nothing is said by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// A heading.
    Strong,
    /// Wrong, or late.
    Alarm,
    /// Under way, or held.
    Notice,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Alarm => AnsiColor::Red.on_default().bold(),
            Tone::Notice => AnsiColor::Yellow.on_default(),
        }
    }
}

/// Lines with their tones: what the renderers make, and what a screen shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    lines: Vec<(Tone, String)>,
}

impl Sheet {
    pub fn line(&mut self, tone: Tone, text: impl Into<String>) {
        self.lines.push((tone, text.into()));
    }

    /// An empty line between two parts; none at the top.
    pub fn gap(&mut self) {
        if !self.lines.is_empty() {
            self.lines.push((Tone::Plain, String::new()));
        }
    }

    pub fn append(&mut self, other: Sheet, indent: &str) {
        self.lines.extend(other.lines.into_iter().map(|(tone, text)| match text.is_empty() {
            true => (tone, text),
            false => (tone, format!("{indent}{text}")),
        }));
    }

    /// One line.
    pub fn of(tone: Tone, text: impl Into<String>) -> Sheet {
        Sheet { lines: vec![(tone, text.into())] }
    }

    #[cfg(test)]
    pub fn plain(&self) -> String {
        self.lines.iter().map(|(_, text)| format!("{text}\n")).collect()
    }
}

/// One of the two outputs.
struct Output {
    sink: Box<dyn Write + Send>,
    is_terminal: bool,
    colour: bool,
    /// The reader has gone, as `head` does; what follows is dropped without a word.
    closed: bool,
    /// The last line has no end yet.
    is_in_line: bool,
}

impl Output {
    fn of_process(sink: Box<dyn Write + Send>, is_terminal: bool) -> Output {
        let colour = wants_colour(is_terminal, |name| std::env::var(name).ok());
        Output { sink, is_terminal, colour, closed: false, is_in_line: false }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.write_bytes(text.as_bytes())
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        self.is_in_line = bytes.last().map_or(self.is_in_line, |last| *last != b'\n');
        match self.sink.write_all(bytes).and_then(|()| self.sink.flush()) {
            Err(problem) if problem.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result,
        }
    }

    fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.colour || tone == Tone::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = tone.style();
        format!("{style}{text}{style:#}")
    }
}

/// `NO_COLOR` is heard first, then `CLICOLOR_FORCE`; else colours are for terminals that can show them.
fn wants_colour(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    set("NO_COLOR").is_none() && (forced || (is_terminal && set("TERM").is_none_or(|term| term != "dumb")))
}

fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

pub struct Screen {
    out: Output,
    err: Output,
    /// Where answers to questions are typed.
    input: Box<dyn BufRead + Send>,
    can_ask: bool,
    can_redraw: bool,
    /// Whether what is typed is shown, unless that is prevented.
    is_echoing: bool,
    retyped: Retyped,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("can_ask", &self.can_ask).field("can_redraw", &self.can_redraw).finish_non_exhaustive()
    }
}

impl Screen {
    pub fn of_process() -> Screen {
        let out = Output::of_process(Box::new(io::stdout()), io::stdout().is_terminal());
        let err = Output::of_process(Box::new(io::stderr()), io::stderr().is_terminal());
        let can_ask = io::stdin().is_terminal() && err.is_terminal;
        let can_redraw = err.is_terminal && !is_dumb_terminal();
        let input = Box::new(io::BufReader::new(io::stdin()));
        Screen { out, err, input, can_ask, can_redraw, is_echoing: true, retyped: Retyped::default() }
    }

    /// A screen without a terminal, whose outputs are looked at afterwards.
    #[cfg(test)]
    pub fn captured(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>) -> Screen {
        let plain = |sink| Output { sink, is_terminal: false, colour: false, closed: false, is_in_line: false };
        let input = Box::new(io::empty());
        Screen {
            out: plain(out),
            err: plain(err),
            input,
            can_ask: false,
            can_redraw: false,
            is_echoing: false,
            retyped: Retyped::default(),
        }
    }

    /// The same with somebody in front of it who types this.
    #[cfg(test)]
    pub fn with_person(self, typed: &'static str) -> Screen {
        Screen { input: Box::new(typed.as_bytes()), can_ask: true, ..self }
    }

    /// Whether a person sits in front of it who can be asked.
    pub fn can_ask(&self) -> bool {
        self.can_ask
    }

    /// Whether stdout is a terminal that can be drawn on, with somebody at its keys.
    pub fn can_draw(&self) -> bool {
        self.out.is_terminal && io::stdin().is_terminal() && !is_dumb_terminal()
    }

    pub fn has_colour(&self) -> bool {
        self.out.colour
    }

    /// Whether nobody reads stdout any more, as when `head` has had enough.
    pub fn reader_has_gone(&self) -> bool {
        self.out.closed
    }

    /// Whether a progress bar can be drawn over itself on stderr.
    pub fn can_redraw(&self) -> bool {
        self.can_redraw
    }

    /// Data: one line, or several.
    pub fn data(&mut self, text: &str) -> Result<(), Trouble> {
        self.out.write(&format!("{text}\n")).map_err(|problem| cannot_write(&problem))
    }

    /// Data that has its own line ends, or is empty.
    pub fn lines(&mut self, text: &str) -> Result<(), Trouble> {
        self.out.write(text).map_err(|problem| cannot_write(&problem))
    }

    /// Data from elsewhere, exactly as it came. On a terminal it cannot move the cursor or change colours.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let safe = |byte: &u8| if matches!(byte, 0..=8 | 11..=31 | 127) { b'?' } else { *byte };
        let written = match self.out.is_terminal {
            true => self.out.write_bytes(&bytes.iter().map(safe).collect::<Vec<u8>>()),
            false => self.out.write_bytes(bytes),
        };
        written.map_err(|problem| cannot_write(&problem))
    }

    /// Ends a line that data left open.
    pub fn end_line(&mut self) -> Result<(), Trouble> {
        if self.out.is_in_line { self.lines("\n") } else { Ok(()) }
    }

    /// Whether stdout is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.out.is_terminal
    }

    pub fn sheet(&mut self, sheet: &Sheet) -> Result<(), Trouble> {
        let text: String = sheet.lines.iter().map(|(tone, line)| format!("{}\n", self.out.paint(*tone, line))).collect();
        self.out.write(&text).map_err(|problem| cannot_write(&problem))
    }

    /// Talk: one line on stderr. If even that cannot be written there is nobody left to tell.
    pub fn say(&mut self, text: &str) {
        let _ = self.err.write(&format!("{text}\n"));
    }

    /// Talk that has several lines: what a person is to read before a question.
    pub fn show(&mut self, sheet: &Sheet) {
        let text: String = sheet.lines.iter().map(|(tone, line)| format!("{}\n", self.err.paint(*tone, line))).collect();
        let _ = self.err.write(&text);
    }

    /// From now on the commands in hints repeat these options.
    pub fn retype(&mut self, retyped: Retyped) {
        self.retyped = retyped;
    }

    pub fn hint(&mut self, hint: &str) {
        let label = self.err.paint(Tone::Notice, "hint:");
        let hint = self.retyped.within(hint);
        self.say(&format!("{label} {hint}"));
    }

    /// Something went well, but not as a person would expect.
    pub fn warn(&mut self, warning: &str) {
        let label = self.err.paint(Tone::Notice, "warning:");
        self.say(&format!("{label} {warning}"));
    }

    pub fn trouble(&mut self, trouble: &Trouble) {
        let label = self.err.paint(Tone::Alarm, "error:");
        self.say(&format!("{label} {}", trouble.message));
        for detail in &trouble.details {
            self.say(&format!("  {detail}"));
        }
        if let Some(hint) = &trouble.hint {
            self.hint(hint);
        }
    }

    /// Asks for something that nobody else should see: it is not echoed. Nothing if there is nobody to ask, or nothing was typed.
    pub fn ask_secret(&mut self, question: &str) -> Option<String> {
        // What cannot be hidden is not asked for.
        if !self.can_ask || (self.is_echoing && crossterm::terminal::enable_raw_mode().is_err()) {
            return None;
        }
        let _ = self.err.write(question);
        let typed = read_secret(self.input.as_mut());
        if self.is_echoing {
            let _ = crossterm::terminal::disable_raw_mode();
        }
        let _ = self.err.write("\n");
        typed.filter(|typed| !typed.is_empty())
    }

    /// Asks a yes-or-no question on the terminal. Anything but yes is no.
    pub fn ask(&mut self, question: &str) -> bool {
        let _ = self.err.write(&format!("{question} [y/N] "));
        let mut answer = String::new();
        let read = self.input.read_line(&mut answer);
        read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
    }
}

/// A line as a terminal in raw mode sends it: key by key, the erased ones too.
fn read_secret(input: impl io::Read) -> Option<String> {
    const INTERRUPT: u8 = 3;
    const END: u8 = 4;
    let mut typed = Vec::new();
    for key in io::Read::bytes(input) {
        match key.ok()? {
            b'\r' | b'\n' => break,
            INTERRUPT | END => return None,
            8 | 127 => while typed.pop().is_some_and(|byte: u8| byte & 0b1100_0000 == 0b1000_0000) {},
            byte => typed.push(byte),
        }
    }
    String::from_utf8(typed).ok()
}

fn cannot_write(problem: &io::Error) -> Trouble {
    Trouble::failed(format!("the output cannot be written: {problem}"))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A sink whose text can be read while the screen still owns it.
    #[derive(Clone, Default)]
    pub struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Captured {
        pub fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A screen, and what it shows on stdout and stderr.
    pub fn captured() -> (Screen, Captured, Captured) {
        let (out, err) = (Captured::default(), Captured::default());
        (Screen::captured(Box::new(out.clone()), Box::new(err.clone())), out, err)
    }

    #[test]
    fn a_reader_that_has_gone_is_no_error_but_a_full_disk_is() {
        let mut gone = Screen::captured(Box::new(Failing(io::ErrorKind::BrokenPipe)), Box::new(io::sink()));
        assert_eq!(gone.data("a"), Ok(()));
        assert_eq!(gone.data("b"), Ok(()));
        let mut full = Screen::captured(Box::new(Failing(io::ErrorKind::StorageFull)), Box::new(io::sink()));
        assert!(full.data("a").is_err());
    }

    #[test]
    fn colours_are_for_terminals_unless_somebody_says_otherwise() {
        let wants = |is_terminal, set: &[(&str, &str)]| {
            wants_colour(is_terminal, |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(wants(true, &[("TERM", "xterm")]) && wants(true, &[]));
        assert!(!wants(false, &[("TERM", "xterm")]), "a pipe");
        assert!(!wants(true, &[("TERM", "dumb")]));
        assert!(!wants(true, &[("NO_COLOR", "1")]) && wants(true, &[("NO_COLOR", "")]));
        assert!(wants(false, &[("CLICOLOR_FORCE", "1")]) && !wants(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!wants(true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    }

    #[test]
    fn without_a_terminal_nothing_is_coloured() {
        let (mut screen, out, err) = captured();
        let mut sheet = Sheet::default();
        sheet.line(Tone::Alarm, "late");
        screen.sheet(&sheet).unwrap();
        screen.hint("look");
        assert_eq!((out.text().as_str(), err.text().as_str()), ("late\n", "hint: look\n"));
    }
}
