//! Where a served executor draws its identifiers from: the operating system, or a seed.

use countersign_reference::ids::IdSource;
use countersign_store::ids::SystemIds;
use sha2::{Digest, Sha256};

/// A source of identifiers.
#[derive(Clone, Debug)]
pub enum Ids {
    /// The operating system's generator.
    System(SystemIds),
    /// A seed: the same draws in each process. Whoever knows the seed can guess every token.
    Seeded(SeededIds),
}

/// The digests of a seed and a number that counts up.
#[derive(Clone, Debug)]
pub struct SeededIds {
    seed: u64,
    drawn: u64,
}

impl Ids {
    /// Those of the seed, if there is one.
    pub const fn of(seed: Option<u64>) -> Self {
        match seed {
            Some(seed) => Self::Seeded(SeededIds { seed, drawn: 0 }),
            None => Self::System(SystemIds),
        }
    }
}

impl IdSource for Ids {
    fn next_bits(&mut self) -> u128 {
        match self {
            Self::System(ids) => ids.next_bits(),
            Self::Seeded(ids) => ids.next_bits(),
        }
    }
}

impl IdSource for SeededIds {
    fn next_bits(&mut self) -> u128 {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        bytes[8..].copy_from_slice(&self.drawn.to_le_bytes());
        self.drawn += 1;
        let digest = Sha256::digest(bytes);
        let first = digest.iter().take(16);
        first.fold(0, |bits, byte| bits << 8 | u128::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_again_and_never_twice() {
        let drawn = |seed| {
            let mut ids = Ids::of(Some(seed));
            (0..100).map(|_| ids.next_bits()).collect::<Vec<_>>()
        };
        assert_eq!(drawn(7), drawn(7));
        let both: std::collections::BTreeSet<_> = drawn(7).into_iter().chain(drawn(8)).collect();
        assert_eq!(both.len(), 200);
    }
}
