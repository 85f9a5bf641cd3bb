//! Pending actions: the reference ledger as a party of the search, and runs of it or any implementation under the checker, with any
//! number of sessions, actions and people, and at any time.
//!
//! Requests are drawn from bytes in `draw`; `spoken` says what the driver protocol is to the text, and `words` names what does not
//! conform. `executor` is the reference.

mod draw;
pub mod executor;
mod spoken;
mod words;

/// What is kept of an implementation in a run.
pub type Driver = crate::spoken::Driver<countersign_model::pending_action::PendingAction>;
