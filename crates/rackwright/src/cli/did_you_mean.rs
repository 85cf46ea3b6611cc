//! What a person may have meant by a name that does not exist.

/// Names offered at most: more are a list, and there is a command for that.
const OFFERED_MAX: usize = 3;

/// The known names nearest to `wrong`, nearest first, if any is near enough to be a slip of the finger.
fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wrong = wrong.to_ascii_lowercase();
    // One slip in a short name, one more for every four letters.
    let farthest = 1 + wrong.chars().count() / 4;
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .map(|name| (strsim::osa_distance(&wrong, &name.to_ascii_lowercase()), name))
        .filter(|(distance, _)| *distance <= farthest)
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    let closest = near.first().map_or(0, |(distance, _)| *distance);
    near.into_iter().take_while(|(distance, _)| *distance == closest).map(|(_, name)| name).take(OFFERED_MAX).collect()
}

/// `did you mean …?`, or the command that lists what there is.
pub fn nearest_hint<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>, list_command: &str) -> String {
    near_hint(wrong, known).unwrap_or_else(|| format!("`{list_command}` names what there is"))
}

/// `did you mean …?`, if anything is near enough.
pub fn near_hint<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let names: Vec<String> = nearest(wrong, known).into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => None,
        [only] => Some(format!("did you mean {only}?")),
        [others @ .., last] => Some(format!("did you mean {} or {last}?", others.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wrong: &str, expected: &str) {
        let known = ["rack1compute01", "rack1compute02", "rack2compute01", "rack1control01", "rack10compute01"];
        assert_eq!(nearest_hint(wrong, known, "rackwright bmm list"), expected);
    }

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        check("rack1compue02", "did you mean `rack1compute02`?");
        check("rakc1control01", "did you mean `rack1control01`?");
        check("RACK10COMPUTE1", "did you mean `rack10compute01`?");
    }

    #[test]
    fn several_that_are_as_near_are_all_offered() {
        check("rack1compute0", "did you mean `rack1compute01` or `rack1compute02`?");
    }

    #[test]
    fn a_stranger_is_sent_to_the_list() {
        check("mailserver", "`rackwright bmm list` names what there is");
    }
}
