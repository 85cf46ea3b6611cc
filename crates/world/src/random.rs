//! Numbers that look random and are the same on every run: SplitMix64.

/// A stream of numbers that depends only on what it was made from.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A stream for one purpose. Two purposes of one seed get unrelated streams.
    pub fn new(seed: u64, purpose: &str) -> Random {
        Random(mix(seed) ^ hash_text(purpose))
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`. The bias of the remainder is far below anything a simulation can show.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound.max(1)
    }

    /// `length` characters drawn from `alphabet`, which is ASCII.
    pub fn text(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.next_u64() as usize % alphabet.len()])).collect()
    }

    /// A version 4 UUID in its usual spelling.
    pub fn uuid(&mut self) -> String {
        let (high, low) = (self.next_u64(), self.next_u64());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }
}

/// FNV-1a: short, stable over releases, and good enough as SplitMix64 stirs it again.
pub fn hash_text(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_purpose_only() {
        let draw = |seed, purpose: &str| Random::new(seed, purpose).next_u64();
        assert_eq!(draw(7, "serial"), draw(7, "serial"));
        assert_ne!(draw(7, "serial"), draw(7, "password"));
        assert_ne!(draw(7, "serial"), draw(8, "serial"));
    }

    #[test]
    fn a_uuid_says_that_it_is_version_four() {
        let uuid = Random::new(1, "uuid").uuid();
        assert_eq!(uuid.len(), 36);
        assert_eq!(&uuid[14..15], "4");
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
    }
}
