//! Reference executors of agent confirmation protocols.
//!
//! One module a protocol, laid out alike. Every executor is sans-IO: it has no clock, no randomness, no threads and
//! no sockets. Time and fresh ids come in as arguments, everything that the world must do comes out as values.
//!
//! The one thing to know: an executor is a plain value. Clone it and both copies behave alike for ever; serialise it
//! after a call and what you have written down is all that a crash leaves.

/// Takes a value apart, and wants each of its fields to differ from that of another one. What a test of storage writes
/// down has to be so, or a field that is lost on the way comes back as it was. A new field has to be named here too.
#[cfg(test)]
macro_rules! assert_every_field_differs {
    ($type:ident { $($field:ident),* $(,)? }, $value:expr, $other:expr) => {{
        let $type { $($field),* } = &*$value;
        $(assert_ne!($field, &$other.$field, stringify!($field));)*
    }};
}

pub mod aaep;
mod canonical;
mod clause;
mod identifier;
pub mod ids;
mod json;
pub mod mcp_aql;
mod number;
pub mod pending_action;
mod text;
pub mod time;
