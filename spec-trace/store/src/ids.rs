//! The host's source of identifiers: the operating system's generator.

use countersign_reference::ids::IdSource;

/// Draws every value afresh from the operating system's cryptographic generator (AAEP-6.2.1-2).
///
/// It belongs to the host and not to the executor, so that an executor that is restored from an old copy does not draw
/// the same tokens again.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemIds;

impl IdSource for SystemIds {
    /// # Panics
    ///
    /// Where the operating system has no random bytes to give. To go on would mean to issue tokens that can be guessed.
    fn next_bits(&mut self) -> u128 {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        u128::from_le_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// AAEP-6.2.1-2: tokens are made of 128 random bits, so each of the 128 is seen both set and unset.
    #[test]
    fn every_bit_is_drawn() {
        let drawn: BTreeSet<u128> = (0..256).map(|_| SystemIds.next_bits()).collect();
        assert_eq!(drawn.len(), 256);
        assert_eq!(drawn.iter().fold(0, |all, bits| all | bits), u128::MAX);
        assert_eq!(drawn.iter().fold(u128::MAX, |all, bits| all & bits), 0);
    }
}
