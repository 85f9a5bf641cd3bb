//! MCP-AQL: the reference gatekeeper as a party of the search, and runs of it or any implementation under the checker, with any number
//! of tokens, sessions and adapters, and at any time.
//!
//! Requests are drawn from bytes in `draw`; `spoken` says what the driver protocol is to the text, and `words` names what does not
//! conform. `executor` is the reference.

mod draw;
pub mod executor;
mod spoken;
mod words;
