//! A small generator of numbers that repeats itself from the same seed.

/// SplitMix64: tiny, fast, and good enough to choose a dessert.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A randomly seeded generator, for ids that must differ from those of other runs.
    #[expect(clippy::disallowed_methods, reason = "needs real randomness")]
    pub(crate) fn from_system() -> Self {
        let mut seed = [0; 8];
        if getrandom::fill(&mut seed).is_err() {
            seed = jiff::Timestamp::now().as_nanosecond().to_le_bytes()[..8]
                .try_into()
                .unwrap_or_default();
        }
        Self(u64::from_le_bytes(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 when there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or_default()
    }

    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        least + i64::try_from(self.next() % (most - least + 1).unsigned_abs()).unwrap_or_default()
    }

    pub(crate) fn percent(&mut self, chance: u8) -> bool {
        self.next() % 100 < u64::from(chance)
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// A word out of a list that has one; empty lists give the empty word.
    pub(crate) fn word(&mut self, from: &[&'static str]) -> &'static str {
        self.pick(from).copied().unwrap_or_default()
    }

    pub(crate) fn hex(&mut self, digits: usize) -> String {
        self.letters(b"0123456789abcdef", digits)
    }

    pub(crate) fn letters(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length)
            .map(|_| char::from(self.pick(alphabet).copied().unwrap_or(b'0')))
            .collect()
    }

    /// Text in the form of a random UUID.
    pub(crate) fn uuid(&mut self) -> String {
        let (a, b, c, d) = (self.hex(8), self.hex(4), self.hex(3), self.hex(3));
        format!("{a}-{b}-4{c}-a{d}-{}", self.hex(12))
    }
}

/// A hash of a text, the same in every run.
pub(crate) fn hash(text: &str) -> u64 {
    let folded = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Random::new(folded).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_repeats_itself() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        assert!((0..100).all(|_| one.next() == two.next()));
        assert_ne!(Random::new(1).next(), Random::new(2).next());
        assert_ne!(Random::from_system().next(), Random::from_system().next());
    }

    #[test]
    fn an_id_has_the_form_of_a_uuid() {
        let id = Random::new(3).uuid();
        assert_eq!(id.len(), 36);
        assert_eq!(id.matches('-').count(), 4);
    }
}
