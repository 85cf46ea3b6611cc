//! Server-sent events: from bytes to messages. It knows the line format, not what the messages say.
//!
//! It is written here because it is short, and because the bounds matter more than the format: a BMC that never ends a
//! line must not fill our memory.

/// The longest message that is read, and the longest line in one. An event of a BMC has a few kilobytes.
pub const MAX_EVENT_BYTES: usize = 256 * 1024;

/// What the bytes so far amount to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// A message with this data.
    Message(String),
    /// A comment, which a server sends to show that it lives.
    KeepAlive,
}

/// More arrived without an end than [`MAX_EVENT_BYTES`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

#[derive(Default)]
pub(crate) struct Parser {
    line: Vec<u8>,
    data: String,
    /// The line before ended with a carriage return, so a line feed now belongs to that end.
    after_return: bool,
}

impl Parser {
    /// Takes the next bytes; gives what they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Signal>, TooLong> {
        let mut signals = Vec::new();
        for byte in bytes {
            let was_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if was_return => {}
                b'\n' | b'\r' => {
                    let line = std::mem::take(&mut self.line);
                    signals.extend(self.end_line(&String::from_utf8_lossy(&line)));
                }
                other => self.line.push(*other),
            }
            if self.line.len() + self.data.len() > MAX_EVENT_BYTES {
                return Err(TooLong);
            }
        }
        Ok(signals)
    }

    fn end_line(&mut self, line: &str) -> Option<Signal> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return (!data.is_empty()).then_some(Signal::Message(data));
        }
        if line.starts_with(':') {
            return Some(Signal::KeepAlive);
        }
        // A byte order mark may stand before the very first line.
        let line = line.trim_start_matches('\u{feff}');
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        // `id`, `event` and `retry` are for clients that resume or dispatch; the message itself says all that we need.
        if name == "data" {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(value.strip_prefix(' ').unwrap_or(value));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(data: &str) -> Signal {
        Signal::Message(data.to_owned())
    }

    #[test]
    fn messages_end_with_an_empty_line_however_lines_end_and_bytes_arrive() {
        let text = b"\xEF\xBB\xBFdata: {\ndata:}\n\n: alive\r\ndata: x\r\n\r\nevent: y\n\ndata: \xC3\xA9\r\r";
        let expected = [message("{\n}"), Signal::KeepAlive, message("x"), message("é")];
        for size in 1..text.len() {
            let mut parser = Parser::default();
            let signals: Vec<Signal> = text.chunks(size).flat_map(|chunk| parser.feed(chunk).unwrap()).collect();
            assert_eq!(signals, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn a_line_or_a_message_without_end_is_not_collected_for_ever() {
        let mut parser = Parser::default();
        assert_eq!(parser.feed(&vec![b'x'; MAX_EVENT_BYTES]), Ok(Vec::new()));
        assert_eq!(parser.feed(b"x"), Err(TooLong));
        let mut parser = Parser::default();
        let line = format!("data: {}\n", "x".repeat(1000));
        let fed = (0..MAX_EVENT_BYTES / 1000 + 1).map(|_| parser.feed(line.as_bytes())).find(Result::is_err);
        assert_eq!(fed, Some(Err(TooLong)));
    }
}
