//! The counts that were accepted: a file that people read, and what differs from it.

use std::fmt;

/// Room for what differs between computers and between runs, such as what random ids do to the shape of a tree.
pub const TOLERANCE_PERCENT: u64 = 5;

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Instructions are those of one compiler, and mean nothing to another.
    pub compiler: String,
    pub costs: Vec<Cost>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    pub path: String,
    pub allocations: u64,
    pub bytes: u64,
    /// `None` if nobody counted them.
    pub instructions: Option<u64>,
}

impl Accepted {
    /// The compiler stands in the first line, and the names of the columns in the second.
    pub fn parse(text: &str) -> Option<Accepted> {
        let (compiler, rest) = text.split_once('\n')?;
        let (_, costs) = rest.split_once('\n')?;
        Some(Accepted { compiler: compiler.to_owned(), costs: parse_costs(costs)? })
    }
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.compiler)?;
        writeln!(f, "{:<22} {:>11} {:>9} {:>12}", "path", "allocations", "bytes", "instructions")?;
        for Cost { path, allocations, bytes, instructions } in &self.costs {
            writeln!(f, "{path:<22} {allocations:>11} {bytes:>9} {:>12}", instructions.unwrap_or_default())?;
        }
        Ok(())
    }
}

/// A path on each line, with its allocations, their bytes, and its instructions if they were counted.
pub fn parse_costs(lines: &str) -> Option<Vec<Cost>> {
    let cost = |line: &str| {
        let mut words = line.split_whitespace();
        let path = words.next()?.to_owned();
        let mut count = || words.next()?.parse().ok();
        Some(Cost { path, allocations: count()?, bytes: count()?, instructions: count() })
    };
    lines.lines().map(cost).collect()
}

/// What differs by more than may be, in words.
pub fn compare(accepted: &[Cost], counted: &[Cost]) -> Vec<String> {
    let mut differences = Vec::new();
    for cost in counted {
        let Some(before) = accepted.iter().find(|before| before.path == cost.path) else {
            differences.push(format!("{}: is new", cost.path));
            continue;
        };
        let instructions = before.instructions.zip(cost.instructions);
        let counts = [
            ("allocations", Some((before.allocations, cost.allocations))),
            ("bytes allocated", Some((before.bytes, cost.bytes))),
            ("instructions", instructions),
        ];
        for (what, (before, now)) in counts.into_iter().filter_map(|(what, pair)| Some((what, pair?))) {
            if before.abs_diff(now) * 100 > before * TOLERANCE_PERCENT {
                let percent = (now as f64 / before as f64 - 1.0) * 100.0;
                let verdict = if now > before { "dearer" } else { "cheaper" };
                differences.push(format!("{}: {what} went from {before} to {now} ({percent:+.1} %, {verdict})", cost.path));
            }
        }
    }
    let is_gone = |before: &&Cost| !counted.iter().any(|cost| cost.path == before.path);
    differences.extend(accepted.iter().filter(is_gone).map(|before| format!("{}: is no longer counted", before.path)));
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(path: &str, allocations: u64, bytes: u64, instructions: u64) -> Cost {
        Cost { path: path.to_owned(), allocations, bytes, instructions: Some(instructions) }
    }

    #[test]
    fn six_percent_either_way_is_told_and_four_percent_is_not() {
        let accepted = [cost("plan", 100, 1_000, 10_000)];
        assert_eq!(compare(&accepted, &[cost("plan", 104, 960, 10_400)]), Vec::<String>::new());
        assert_eq!(
            compare(&accepted, &[cost("plan", 106, 940, 10_600)]),
            [
                "plan: allocations went from 100 to 106 (+6.0 %, dearer)",
                "plan: bytes allocated went from 1000 to 940 (-6.0 %, cheaper)",
                "plan: instructions went from 10000 to 10600 (+6.0 %, dearer)",
            ]
        );
        assert_eq!(compare(&accepted, &[cost("plan", 94, 1_060, 9_400)]).len(), 3);
    }

    #[test]
    fn the_first_allocation_of_a_path_is_told() {
        assert_eq!(compare(&[cost("plan", 0, 0, 100)], &[cost("plan", 1, 8, 100)]).len(), 2);
    }

    #[test]
    fn instructions_that_nobody_counted_are_not_compared() {
        let counted = Cost { instructions: None, ..cost("plan", 100, 1_000, 0) };
        assert_eq!(compare(&[cost("plan", 100, 1_000, 10_000)], &[counted]), Vec::<String>::new());
    }

    #[test]
    fn a_path_that_comes_or_goes_is_told() {
        let differences = compare(&[cost("old", 1, 1, 1)], &[cost("new", 1, 1, 1)]);
        assert_eq!(differences, ["new: is new", "old: is no longer counted"]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let accepted = Accepted { compiler: "rustc 1.95.0".to_owned(), costs: vec![cost("a", 1, 2, 3), cost("b", 4, 5, 6)] };
        assert_eq!(Accepted::parse(&accepted.to_string()), Some(accepted));
    }

    #[test]
    fn what_a_merge_left_unsettled_is_not_read() {
        let merged = "rustc 1.95.0\npath allocations bytes instructions\n<<<<<<< HEAD\na 1 2 3\n=======\na 1 2 4\n>>>>>>> other\n";
        assert_eq!(Accepted::parse(merged), None);
    }
}
