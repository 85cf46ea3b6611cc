//! The header `Range`, as BMCs and agents send it: one part of the image. What is not understood, or asks for several parts, is answered with
//! the whole, as HTTP allows.

/// What of a file of some length is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Whole,
    /// From this place up to, and without, that one.
    Part(u64, u64),
    /// There is nothing there.
    Nowhere,
}

impl Wanted {
    pub fn of(header: Option<&str>, length: u64) -> Wanted {
        let Some((first, last)) = header.and_then(|text| text.trim().strip_prefix("bytes=")).and_then(|part| part.split_once('-')) else {
            return Wanted::Whole;
        };
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().unwrap_or(u64::MAX));
        match (first, last) {
            ("", "") => Wanted::Whole,
            // The last so many bytes.
            ("", suffix) => match number(suffix) {
                None => Wanted::Whole,
                Some(0) => Wanted::Nowhere,
                Some(count) => Wanted::Part(length.saturating_sub(count), length),
            },
            (first, last) => match (number(first), if last.is_empty() { Some(u64::MAX) } else { number(last) }) {
                (Some(first), Some(last)) if last < first => Wanted::Whole,
                (Some(first), Some(_)) if first >= length => Wanted::Nowhere,
                (Some(first), Some(last)) => Wanted::Part(first, last.saturating_add(1).min(length)),
                _ => Wanted::Whole,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_one_part_or_the_whole() {
        let table = [
            ("bytes=0-0", Wanted::Part(0, 1)),
            ("bytes=2-5", Wanted::Part(2, 6)),
            (" bytes=2- ", Wanted::Part(2, 10)),
            ("bytes=9-99999999999999999999999", Wanted::Part(9, 10)),
            ("bytes=-3", Wanted::Part(7, 10)),
            ("bytes=-30", Wanted::Part(0, 10)),
            ("bytes=-0", Wanted::Nowhere),
            ("bytes=10-", Wanted::Nowhere),
            ("bytes=5-4", Wanted::Whole),
            ("bytes=0-1,3-4", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("bytes=a-b", Wanted::Whole),
            ("bytes=+1-2", Wanted::Whole),
            ("lines=1-2", Wanted::Whole),
        ];
        for (header, expected) in table {
            assert_eq!(Wanted::of(Some(header), 10), expected, "{header}");
        }
        assert_eq!(Wanted::of(None, 10), Wanted::Whole);
        assert_eq!(Wanted::of(Some("bytes=0-"), 0), Wanted::Nowhere);
    }
}
