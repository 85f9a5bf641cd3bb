//! Tables: for each thing of a kind, a row that says what there is to say about it.
//!
//! The one thing to know: a thing is told by its place in its table, and a set of things by a mask over the places.

use std::fmt::Debug;

/// What has a row in a table, as the guards of a protocol do. At most 128 of a kind.
pub trait Tabled: Copy + Debug + Send + Sync + 'static {
    /// What there is to say about one.
    type Row: 'static;

    /// What there is to say about each, in their order.
    const ROWS: &'static [Self::Row];

    /// Its place in the order.
    fn place(self) -> usize;

    /// What there is to say about it.
    fn row(self) -> &'static Self::Row {
        &Self::ROWS[self.place()]
    }

    /// Its bit in a mask.
    fn bit(self) -> u128 {
        1 << self.place()
    }
}
