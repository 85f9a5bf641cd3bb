//! Pending actions: the reference ledger as a party of the search, and wide runs of any implementation.

pub mod executor;
pub mod wide;
