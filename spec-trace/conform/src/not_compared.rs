//! What an executor may put out or hold as it likes, with the reason: all that is not compared.
//!
//! The one thing to know: the bridges want each output as a whole, so that whatever does not stand here is compared. A test
//! changes every field of every output, and everything that an executor holds, and finds just these to make no difference.

/// A field that is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotCompared {
    /// The protocol, by its name on the command line.
    pub protocol: &'static str,
    /// Whether it is put out or held.
    pub place: Where,
    /// In which kind of output, empty for what is held.
    pub of: &'static str,
    /// The way to the field in JSON.
    pub field: &'static str,
    /// Why anything may stand there.
    pub because: &'static str,
}

/// Where a field stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// In an output.
    Output,
    /// In what the executor holds, as it is stored.
    State,
}

/// The list.
pub const NOT_COMPARED: &[NotCompared] = &[NotCompared {
    protocol: "aaep",
    place: Where::Output,
    of: "emit",
    field: "/event_id",
    because: "the producer makes it up; it is compared that no other event of it has it (AAEP-EV-7)",
}];
