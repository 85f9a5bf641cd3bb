//! The driver protocol, typed once: what is asked of an implementation under test, and what it answers.
//!
//! The one thing to know: requests are read strictly, for a driver that misspells a field has to learn of it; responses
//! are read leniently, for an implementation may say more than anybody asks. Both are one JSON object a line. Whatever
//! belongs to the protocols themselves, such as an event or the parameters of a call, passes through as it is written.
//!
//! A request is of one of three sorts: not understood ([`Request::read`] fails, and nothing happens), understood and not
//! allowed (an output [`Refused`]), or carried out. The reader knows names, fields and types, and says of a word that is not
//! among those that a field may hold that it is to be refused. Limits of lengths and ranges stand in the [`schema()`], and
//! are kept by whoever carries the request out.

pub mod aaep;
mod any_json;
mod json;
pub mod mcp_aql;
pub mod pending_action;
mod request;
mod response;
mod schema;

use std::fmt;

use arbitrary::Arbitrary;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use json::{Json, Problem};
pub use request::{BadRequest, Common, Op, Request};
pub use response::{Answer, Greeting, Kind, Output, Refused, Response};
pub use schema::schema;

/// The version of the driver protocol that is typed here.
pub const VERSION: u64 = 1;

/// The longest request, in bytes without its line end.
pub const LONGEST_LINE: usize = 16 << 20;

/// What one protocol adds to the driver protocol.
pub trait Protocol: fmt::Debug + Clone + PartialEq {
    /// Its name in `hello`, and on the command line.
    const NAME: &'static str;
    /// What can be asked besides `hello`, `reset`, `tick` and `restart`.
    type Op: Named;
    /// What can come out.
    type Output: Named;
    /// What an implementation may leave out, and is judged where it says that it has it.
    type Capability: Named + Ord + 'static;
    /// The kinds of output that are shown where `hello` does not say which.
    const SHOWN_UNASKED: &'static [Kind];
    /// The kind of an output.
    fn kind(output: &Self::Output) -> Kind;
}

/// What can be written, read, described by a schema and made up.
pub trait Named:
    fmt::Debug
    + Clone
    + PartialEq
    + Serialize
    + DeserializeOwned
    + JsonSchema
    + for<'a> Arbitrary<'a>
    + Send
    + Sync
{
}

impl<T> Named for T where
    T: fmt::Debug
        + Clone
        + PartialEq
        + Serialize
        + DeserializeOwned
        + JsonSchema
        + for<'a> Arbitrary<'a>
        + Send
        + Sync
{
}
