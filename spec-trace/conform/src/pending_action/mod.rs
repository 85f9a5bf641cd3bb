//! Pending actions: the reference ledger as a party of the search, and runs of it or any implementation under the checker, with any
//! number of sessions, actions and people, and at any time.
//!
//! Requests are drawn from bytes in `draw`; `spoken` says what the driver protocol is to the text, and `words` names what does not
//! conform. `executor` is the reference.

mod draw;
pub mod executor;
mod spoken;
mod words;
