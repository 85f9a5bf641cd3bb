//! How a state is packed into words, by which it is hashed.

/// Fields side by side in one word, the first of them highest: the value of each, and the bits that it takes.
pub(crate) fn packed<const FIELDS: usize>(fields: [(u64, u32); FIELDS]) -> u64 {
    fields
        .iter()
        .fold(0, |word, &(value, bits)| word << bits | value)
}
