//! Whether output is what a page shows, apart from what differs in every run.
//!
//! Times, spans, ids, ports and pids need only be of the same kind, and gaps may be wider. `…` stands for the rest of a
//! line or a part of it; alone on a line, for any lines. Which id of the run stands for which id of the page is told, so
//! that a later command can name it.

/// What differs from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Time,
    Span,
    Id,
    Address,
    Pid,
    /// A simulated fault, `f1`: a setup may have made another before it.
    Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Char(char),
    /// Two blanks or more, as between columns.
    Gap,
    /// `…`
    Any,
    Differing(Kind, String),
}

/// Pairs of ids: the page's, and the run's.
pub type Ids = Vec<(String, String)>;

/// The ids that stand for each other if `shown` fits all of `said`.
pub fn fits(shown: &[String], said: &[String]) -> Option<Ids> {
    let pieces = |lines: &[String]| lines.iter().map(|line| pieces(line.trim_end())).collect::<Vec<_>>();
    let mut ids = Ids::new();
    lines_fit(&pieces(shown), &pieces(said), &mut ids).then_some(ids)
}

/// The same if `shown` fits some lines of `said` that follow each other.
pub fn fits_within(shown: &[String], said: &[String]) -> Option<Ids> {
    let any = [ANY.to_string()];
    fits(&[&any, shown, &any].concat(), said)
}

const ANY: char = '…';

fn lines_fit(shown: &[Vec<Piece>], said: &[Vec<Piece>], ids: &mut Ids) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((first, rest)) if *first == [Piece::Any] => {
            (0..=said.len()).any(|skipped| attempt(ids, |ids| lines_fit(rest, &said[skipped..], ids)))
        }
        Some((first, rest)) => {
            said.split_first().is_some_and(|(line, more)| attempt(ids, |ids| line_fits(first, line, ids) && lines_fit(rest, more, ids)))
        }
    }
}

fn line_fits(shown: &[Piece], said: &[Piece], ids: &mut Ids) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((Piece::Any, rest)) => (0..=said.len()).any(|skipped| attempt(ids, |ids| line_fits(rest, &said[skipped..], ids))),
        Some((Piece::Differing(kind, ours), rest)) => match said.split_first() {
            Some((Piece::Differing(other, theirs), more)) if kind == other => {
                if *kind == Kind::Id {
                    ids.push((ours.clone(), theirs.clone()));
                }
                line_fits(rest, more, ids)
            }
            _ => false,
        },
        Some((piece, rest)) => said.split_first().is_some_and(|(other, more)| piece == other && line_fits(rest, more, ids)),
    }
}

/// Forgets the ids of a way that led nowhere.
fn attempt(ids: &mut Ids, way: impl FnOnce(&mut Ids) -> bool) -> bool {
    let known = ids.len();
    let fits = way(ids);
    if !fits {
        ids.truncate(known);
    }
    fits
}

fn pieces(line: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = line;
    let mut word_before = "";
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_alphanumeric() {
            let word = first_word(rest);
            match kind(word, word_before) {
                Some(kind) => pieces.push(Piece::Differing(kind, word.to_owned())),
                None => pieces.extend(word.chars().map(Piece::Char)),
            }
            word_before = word;
            rest = &rest[word.len()..];
            continue;
        }
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let taken = blanks.max(first.len_utf8());
        pieces.push(match (first, blanks) {
            (ANY, _) => Piece::Any,
            (_, 2..) => Piece::Gap,
            (other, _) => Piece::Char(other),
        });
        rest = &rest[taken..];
    }
    pieces
}

/// The word that a text begins with. A time of another day has its date before it, and both are one word.
fn first_word(text: &str) -> &str {
    let word = |text: &'_ str| {
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '-'))).unwrap_or(text.len());
        text[..end].trim_end_matches([':', '.', '-']).len()
    };
    let first = word(text);
    match text[first..].strip_prefix(' ') {
        Some(rest) if is_date(&text[..first]) && is_time(&rest[..word(rest)]) => &text[..first + 1 + word(rest)],
        _ => &text[..first],
    }
}

fn kind(word: &str, word_before: &str) -> Option<Kind> {
    if is_time(word.split_once(' ').map_or(word, |(_, time)| time)) || is_instant(word) {
        Some(Kind::Time)
    } else if is_span(word) {
        Some(Kind::Span)
    } else if is_id(word) {
        Some(Kind::Id)
    } else if word.strip_prefix("127.0.0.1:").is_some_and(is_number) {
        Some(Kind::Address)
    } else if word_before == "process" && is_number(word) {
        Some(Kind::Pid)
    } else if word.strip_prefix('f').is_some_and(is_number) {
        Some(Kind::Fault)
    } else {
        None
    }
}

fn is_date(word: &str) -> bool {
    has_shape(word, "0000-00-00")
}

/// Such as `2026-11-15T11:36:25.123Z`.
pub fn is_instant(word: &str) -> bool {
    word.split_once('T').is_some_and(|(date, time)| is_date(date) && time.ends_with('Z'))
}

fn is_time(word: &str) -> bool {
    has_shape(word.trim_end_matches('Z'), "00:00:00")
}

/// Such as `681ms`, `7s`, `1.5s`, `2m`.
fn is_span(word: &str) -> bool {
    let unit = ["ms", "s", "m", "h"].iter().find_map(|unit| word.strip_suffix(unit));
    unit.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// A whole UUID, or its beginning as operations are named by it.
fn is_id(word: &str) -> bool {
    let is_hex = |part: &str| part.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    let parts: Vec<usize> = word.split('-').map(|part| if is_hex(part) { part.len() } else { 0 }).collect();
    parts == [8] || parts == [8, 4, 4, 4, 12]
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())
}

/// Whether digits stand where the shape has zeros, and the same characters elsewhere.
fn has_shape(word: &str, shape: &str) -> bool {
    word.len() == shape.len()
        && word.chars().zip(shape.chars()).all(|(c, wanted)| if wanted == '0' { c.is_ascii_digit() } else { c == wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn fit(shown: &str, said: &str) -> Option<Ids> {
        fits(&lines(shown), &lines(said))
    }

    #[test]
    fn what_differs_in_every_run_need_only_be_of_its_kind() {
        for (shown, said) in [
            ("since 11:36:25Z, took 681ms", "since 09:00:00Z, took 7s"),
            ("NAME   A", "NAME     A"),
            ("at http://127.0.0.1:7225.", "at http://127.0.0.1:40001."),
            ("by process 17", "by process 4242"),
            ("since 11:36:25Z,  x", "since 2026-11-14 23:59:58Z,    x"),
            ("f1 cleared", "f12 cleared"),
            ("2026-11-15T11:36:25Z", "2027-01-02T00:00:00.123Z"),
        ] {
            assert_eq!(fit(shown, said), Some(vec![]), "{shown}");
        }
        for (shown, said) in [
            ("3 ready", "4 ready"),
            ("took 681ms", "took long"),
            ("a", "a\nb"),
            ("a\nb", "a"),
            ("  a", "a"),
            ("site 17", "site 18"),
            ("on 2026-11-14", "on 2026-11-15"),
        ] {
            assert_eq!(fit(shown, said), None, "{shown}");
        }
    }

    #[test]
    fn an_ellipsis_stands_for_any_lines_or_any_part_of_a_line() {
        assert!(fit("a\n…\nd", "a\nb\nc\nd").is_some());
        assert!(fit("a\n…\nd", "a\nd").is_some());
        assert!(fit("a … c (…)", "a b c (d)").is_some());
        assert!(fit("a\n…\nd", "a\nb").is_none());
        assert!(fits_within(&lines("b\nc"), &lines("a\nb\nc\nd")).is_some());
        assert!(fits_within(&lines("b\nd"), &lines("a\nb\nc\nd")).is_none());
    }

    #[test]
    fn an_id_of_the_page_is_told_with_the_id_of_the_run() {
        let ids = fit("…\nwait 8f3c1a2b, or 75d80505", "x\nwait 00000001, or 00000002").unwrap();
        assert_eq!(ids, [("8f3c1a2b".to_owned(), "00000001".to_owned()), ("75d80505".to_owned(), "00000002".to_owned())]);
    }
}
