//! Faults in people's words: `bmc-slow rack1compute01 for 10m ms=8000`, lists of them, and scripts.

use std::fmt;

use serde::Serialize;
use world::{Aim, Fault, FaultError, FaultId, FaultKind, FaultOrder, FaultTarget, Layout, Span};

use crate::site::Site;

/// What the API server is called where a machine could be named.
const API: &str = "api";

/// The longest script that is read, in lines. Longer ones are programs.
pub const SCRIPT_LINES_MAX: usize = 1_000;

/// Why an order was not taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultRefused {
    UnknownKind {
        asked: String,
    },
    UnknownTarget {
        asked: String,
    },
    Malformed {
        why: String,
    },
    Order(FaultError),
    TooLong,
    /// It was taken up, and may be lost when the simulator stops.
    NotSaved,
    Line {
        number: usize,
        text: String,
        source: Box<FaultRefused>,
    },
}

impl FaultRefused {
    fn malformed(why: impl Into<String>) -> FaultRefused {
        FaultRefused::Malformed { why: why.into() }
    }

    /// The refusal itself, without the line that it was found in.
    pub fn cause(&self) -> &FaultRefused {
        match self {
            FaultRefused::Line { source, .. } => source,
            other => other,
        }
    }
}

impl fmt::Display for FaultRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultRefused::UnknownKind { asked } => write!(f, "there is no fault `{asked}`"),
            FaultRefused::UnknownTarget { asked } => write!(f, "there is no machine or rack `{asked}` in the site"),
            FaultRefused::Malformed { why } => f.write_str(why),
            FaultRefused::Order(error) => error.fmt(f),
            FaultRefused::TooLong => write!(f, "a script has at most {SCRIPT_LINES_MAX} lines"),
            FaultRefused::NotSaved => f.write_str("the simulated site's state cannot be stored"),
            FaultRefused::Line { number, text, source } => write!(f, "line {number}, `{text}`: {source}"),
        }
    }
}

impl std::error::Error for FaultRefused {}

/// Reads `KIND TARGET [for SPAN] [NAME=NUMBER]`. A rack stands for its machines, so one phrase may be several orders.
pub fn parse_order(phrase: &str, layout: &Layout) -> Result<Vec<FaultOrder>, FaultRefused> {
    let words: Vec<&str> = phrase.split_whitespace().collect();
    let [kind, target, rest @ ..] = words.as_slice() else {
        return Err(FaultRefused::malformed("a fault is `KIND TARGET [for SPAN] [NAME=NUMBER]`"));
    };
    let kind: FaultKind = kind.parse().map_err(|()| FaultRefused::UnknownKind { asked: (*kind).to_owned() })?;
    let (mut lasting, mut setting) = (None, None);
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match (*word, word.split_once('=')) {
            ("for", _) => {
                let span = rest.next().ok_or_else(|| FaultRefused::malformed("`for` needs a span such as `10m`"))?;
                lasting = Some(parse_span(span)?);
            }
            (_, Some((name, value))) => setting = Some(parse_setting(kind, name, value)?),
            _ => return Err(FaultRefused::malformed(format!("`{word}` is neither `for SPAN` nor `NAME=NUMBER`"))),
        }
    }
    let orders: Vec<FaultOrder> =
        targets(kind, target, layout)?.into_iter().map(|target| FaultOrder { kind, target, after: Span::ZERO, lasting, setting }).collect();
    orders.iter().try_for_each(FaultOrder::check).map_err(FaultRefused::Order)?;
    Ok(orders)
}

fn parse_setting(kind: FaultKind, name: &str, value: &str) -> Result<u32, FaultRefused> {
    match kind.setting() {
        Some(setting) if setting.name == name => {
            value.parse().map_err(|_| FaultRefused::malformed(format!("`{name}={value}`: `{value}` is not a whole number")))
        }
        Some(setting) => Err(FaultRefused::malformed(format!("`{kind}` takes `{}=`, not `{name}=`", setting.name))),
        None => Err(FaultRefused::Order(FaultError::NoSetting { kind })),
    }
}

/// A machine, the machines of a rack, the API server, or something that a tenant has. Whether a tenant has it is known to
/// the site alone.
fn targets(kind: FaultKind, name: &str, layout: &Layout) -> Result<Vec<FaultTarget>, FaultRefused> {
    match kind.aim() {
        Aim::Machine | Aim::Api => {}
        Aim::Tenant => return Ok(vec![FaultTarget::Tenant(name.to_owned())]),
        Aim::Vm => return Ok(vec![FaultTarget::Vm(name.to_owned())]),
        Aim::Pod => {
            let (cluster, namespace, name) = match name.split('/').collect::<Vec<_>>()[..] {
                [cluster, name] => (cluster, "default", name),
                [cluster, namespace, name] => (cluster, namespace, name),
                _ => return Err(FaultRefused::Order(FaultError::Astray { kind })),
            };
            let [cluster, namespace, name] = [cluster, namespace, name].map(str::to_owned);
            return Ok(vec![FaultTarget::Pod { cluster, namespace, name }]);
        }
    }
    // People's names for things are equal whatever their case, as everywhere else.
    if name.eq_ignore_ascii_case(API) {
        return Ok(vec![FaultTarget::Api]);
    }
    let machines = || layout.machines().iter().enumerate();
    if let Some((index, _)) = machines().find(|(_, spec)| spec.name.eq_ignore_ascii_case(name)) {
        return Ok(vec![FaultTarget::Machine(index)]);
    }
    let in_rack: Vec<FaultTarget> =
        machines().filter(|(_, spec)| spec.rack_name().eq_ignore_ascii_case(name)).map(|(index, _)| FaultTarget::Machine(index)).collect();
    if in_rack.is_empty() { Err(FaultRefused::UnknownTarget { asked: name.to_owned() }) } else { Ok(in_rack) }
}

/// Reads a script: lines of `after SPAN KIND TARGET …`, counted from when the script is handed over. Lines that are empty
/// or begin with `#` say nothing.
pub fn parse_script(script: &str, layout: &Layout) -> Result<Vec<FaultOrder>, FaultRefused> {
    if script.lines().count() > SCRIPT_LINES_MAX {
        return Err(FaultRefused::TooLong);
    }
    let mut orders = Vec::new();
    for (index, line) in script.lines().enumerate() {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let of_line = |source| FaultRefused::Line { number: index + 1, text: text.to_owned(), source: Box::new(source) };
        orders.extend(parse_line(text, layout).map_err(of_line)?);
    }
    Ok(orders)
}

fn parse_line(line: &str, layout: &Layout) -> Result<Vec<FaultOrder>, FaultRefused> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["after", span, phrase @ ..] = words.as_slice() else {
        return Err(FaultRefused::malformed("a line is `after SPAN KIND TARGET [for SPAN] [NAME=NUMBER]`"));
    };
    let after = parse_span(span)?;
    let orders = parse_order(&phrase.join(" "), layout)?.into_iter().map(|order| FaultOrder { after, ..order });
    orders.map(|order| order.check().map(|()| order).map_err(FaultRefused::Order)).collect()
}

/// Reads `90s`, `10m`, `2h` or `1d`.
pub fn parse_span(text: &str) -> Result<Span, FaultRefused> {
    let wrong = || FaultRefused::malformed(format!("`{text}` is not a span such as `90s`, `10m`, `2h` or `1d`"));
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    // Whatever is longer than the longest span is refused with it, so nothing is lost by the bound.
    let number: u32 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    Ok(Span::seconds(i64::from(number) * seconds))
}

/// A fault as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultSeen {
    pub id: String,
    pub site: String,
    pub kind: &'static str,
    pub target: String,
    /// `ms=5000`, for a kind that takes a number.
    pub setting: Option<String>,
    /// `Active`, or `Planned` if it has not begun.
    pub state: &'static str,
    pub since: String,
    pub until: Option<String>,
}

impl Site {
    /// Lets faults begin, now or later. All of them or, if one is refused, none; they are durable when this returns.
    pub async fn add_faults(&self, orders: &[FaultOrder]) -> Result<Vec<FaultSeen>, FaultRefused> {
        let ids = self.change(|world, now| world.add_faults(orders, now)).map_err(FaultRefused::Order)?;
        self.settle().await.map_err(|_| FaultRefused::NotSaved)?;
        // What was over at once, such as a panic, is no longer among them.
        let ids: Vec<String> = ids.iter().map(FaultId::to_string).collect();
        Ok(self.faults().into_iter().filter(|fault| ids.contains(&fault.id)).collect())
    }

    /// The faults that are and that are planned.
    pub fn faults(&self) -> Vec<FaultSeen> {
        self.look(|world| world.faults().iter().map(|fault| self.seen(fault)).collect())
    }

    /// Ends the faults that `is_meant` picks, and forgets planned ones. Returns them.
    pub async fn clear_faults(&self, is_meant: impl Fn(&FaultSeen) -> bool) -> Result<Vec<FaultSeen>, FaultRefused> {
        let cleared = self.change(|world, now| {
            let ids: Vec<FaultId> = world.faults().iter().filter(|fault| is_meant(&self.seen(fault))).map(|fault| fault.id).collect();
            world.clear_faults(&ids, now)
        });
        self.settle().await.map_err(|_| FaultRefused::NotSaved)?;
        Ok(cleared.iter().map(|fault| self.seen(fault)).collect())
    }

    fn seen(&self, fault: &Fault) -> FaultSeen {
        let layout = self.layout();
        FaultSeen {
            id: fault.id.to_string(),
            site: layout.site.clone(),
            kind: fault.kind.name(),
            target: match &fault.target {
                FaultTarget::Machine(index) => layout.machines()[*index].name.clone(),
                FaultTarget::Api => API.to_owned(),
                FaultTarget::Tenant(name) | FaultTarget::Vm(name) => name.clone(),
                FaultTarget::Pod { cluster, namespace, name } if namespace == "default" => format!("{cluster}/{name}"),
                FaultTarget::Pod { cluster, namespace, name } => format!("{cluster}/{namespace}/{name}"),
            },
            setting: fault.kind.setting().map(|setting| format!("{}={}", setting.name, fault.setting)),
            state: if fault.has_begun() { "Active" } else { "Planned" },
            since: fault.since.to_seconds_text(),
            until: fault.until.map(world::Instant::to_seconds_text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout::new("east", 4, 4, 1).unwrap()
    }

    fn refusal(phrase: &str) -> String {
        parse_order(phrase, &layout()).unwrap_err().to_string()
    }

    #[test]
    fn a_phrase_is_a_kind_a_target_a_span_and_a_number() {
        let orders = parse_order("bmc-slow rack1compute01 for 10m ms=8000", &layout()).unwrap();
        assert_eq!(orders.len(), 1);
        assert_eq!((orders[0].kind, orders[0].lasting, orders[0].setting), (FaultKind::BmcSlow, Some(Span::minutes(10)), Some(8_000)));
        assert_eq!(parse_order("api-down api", &layout()).unwrap()[0].target, FaultTarget::Api);
        assert_eq!(parse_order("bmc-unreachable rack2", &layout()).unwrap().len(), 4, "a rack stands for its machines");
        assert_eq!(parse_order("bmc-slow RACK1COMPUTE01", &layout()), parse_order("bmc-slow rack1compute01", &layout()));
    }

    #[test]
    fn what_cannot_be_understood_is_refused_in_words() {
        for (phrase, words) in [
            ("bmc-slow", "a fault is `KIND TARGET [for SPAN] [NAME=NUMBER]`"),
            ("bmc-asleep rack1compute01", "there is no fault `bmc-asleep`"),
            ("bmc-slow rack9", "there is no machine or rack `rack9` in the site"),
            ("bmc-slow rack1 for", "`for` needs a span such as `10m`"),
            ("bmc-slow rack1 for ten", "`ten` is not a span such as `90s`, `10m`, `2h` or `1d`"),
            ("bmc-slow rack1 for 99999999999999m", "`99999999999999m` is not a span such as `90s`, `10m`, `2h` or `1d`"),
            ("bmc-slow rack1 for é", "`é` is not a span such as `90s`, `10m`, `2h` or `1d`"),
            ("bmc-slow rack1 factor=2", "`bmc-slow` takes `ms=`, not `factor=`"),
            ("bmc-slow rack1 ms=-1", "`ms=-1`: `-1` is not a whole number"),
            ("bmc-error rack1 status=200", "`status` of `bmc-error` is from 500 to 599, not 200"),
            ("host-hangs rack1 ms=1", "`host-hangs` takes no number"),
            ("host-hangs rack1 soon", "`soon` is neither `for SPAN` nor `NAME=NUMBER`"),
            ("host-hangs api", "`host-hangs` strikes a machine, not the API server"),
        ] {
            assert_eq!(refusal(phrase), words);
        }
    }

    #[test]
    fn a_script_is_read_whole_or_refused_with_its_line() {
        let script = "# a bad night\n\nafter 5m bmc-unreachable rack1compute01 for 10m\nafter 1h api-down api for 30s\n";
        let orders = parse_script(script, &layout()).unwrap();
        assert_eq!(orders.iter().map(|order| order.after).collect::<Vec<_>>(), [Span::minutes(5), Span::minutes(60)]);
        for (line, words) in [
            ("5m api-down api", "line 2, `5m api-down api`: a line is `after SPAN KIND TARGET [for SPAN] [NAME=NUMBER]`"),
            ("after soon api-down api", "line 2, `after soon api-down api`: `soon` is not a span such as `90s`, `10m`, `2h` or `1d`"),
            ("after 5m api-dwon api", "line 2, `after 5m api-dwon api`: there is no fault `api-dwon`"),
            ("after", "line 2, `after`: a line is `after SPAN KIND TARGET [for SPAN] [NAME=NUMBER]`"),
            ("after 5m", "line 2, `after 5m`: a fault is `KIND TARGET [for SPAN] [NAME=NUMBER]`"),
            ("after 99d api-down api", "line 2, `after 99d api-down api`: a span is from 1 second to 30 days"),
        ] {
            assert_eq!(parse_script(&format!("# one\n{line}\n"), &layout()).unwrap_err().to_string(), words);
        }
        assert_eq!(parse_script(&"#\n".repeat(SCRIPT_LINES_MAX + 1), &layout()), Err(FaultRefused::TooLong));
    }
}
