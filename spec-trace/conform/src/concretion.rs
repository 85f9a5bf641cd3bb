//! What turning the model's words into real bytes comes down to in more than one protocol.

use countersign_reference::ids::IdSource;

/// Picks among ways to say the same: any of them, but always the same in the same state.
pub(super) struct Picks(u64);

impl Picks {
    /// Those for a state of these words.
    pub(super) fn of(words: &[u64]) -> Self {
        let mix = |mixed: u64, word: &u64| {
            let mixed = (mixed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ mixed >> 29
        };
        Self(words.iter().fold(0, mix))
    }

    /// One of the ways, of which there is one at least.
    pub(super) fn among<T: Clone>(&mut self, ways: &[T]) -> T {
        let count = ways.len() as u64;
        let place = usize::try_from(self.0 % count).expect("there are few ways");
        self.0 /= count;
        ways[place].clone()
    }
}

/// A source of ids that have letters in them, so that another can differ from one in nothing but case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids(u128);

impl Ids {
    /// Nothing drawn yet.
    pub(super) const FRESH: Self = Self(0xfedc_ba98_7654_3210_f0e1_d2c3_b4a5_9687);
}

impl IdSource for Ids {
    fn next_bits(&mut self) -> u128 {
        self.0 -= 1;
        self.0
    }
}
