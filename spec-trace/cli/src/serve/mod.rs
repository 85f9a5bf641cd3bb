//! The reference executor as a live implementation of the driver protocol.
//!
//! The one thing to know: nothing here decides anything. [`stdio`] speaks the driver protocol, line by line; a
//! [`Service`] such as [`aaep`] turns one request into one input of an executor, and what the executor puts out into
//! JSON. A further protocol moves in as a further [`Service`].

pub mod aaep;
pub mod mcp_aql;
pub mod pending_action;
pub mod request;
pub mod stdio;

use std::error::Error;

use countersign_reference::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use request::{BadRequest, Fields};

/// Why a request that is in order could not be carried out all the same: the executor's state could not be stored or
/// read back.
pub type Failure = Box<dyn Error + Send + Sync>;

/// One protocol's executor, as the driver protocol sees it.
pub trait Service {
    /// The name in `hello`, the same as on the command line.
    const PROTOCOL: &'static str;
    /// What it can do beyond what every implementation can, in the words of `hello`.
    const SUPPORTS: &'static [&'static str];
    /// The fields of requests whose values reach [`Service::read`] as texts, as they are written: what a client sends may
    /// be JSON that no JSON value carries.
    const VERBATIM: &'static [&'static str];
    /// One thing that can happen to the executor.
    type Input;

    /// Whether it outlives its process, so that a conversation may begin with `restart` in place of `reset`.
    fn is_kept(&self) -> bool {
        false
    }

    /// Forgets everything: a new executor that nothing has happened to and that knows no other time than `now`.
    ///
    /// # Errors
    ///
    /// Where it was stored and cannot be forgotten.
    fn reset(&mut self, now: Timestamp) -> Result<(), Failure>;

    /// Reads the fields of a request other than `id`, `op` and `now`. Fields that are left over are reported by the
    /// caller, so that none is passed over in silence.
    ///
    /// # Errors
    ///
    /// [`BadRequest`] where the op is unknown or a field is missing or of the wrong shape.
    fn read(op: &str, fields: &mut Fields) -> Result<Operation<Self::Input>, BadRequest>;

    /// Hands an input to the executor and tells what came out, in order: objects with one key each, the kind of output.
    ///
    /// # Errors
    ///
    /// Where the executor's state could not be stored or read back.
    fn handle(&mut self, now: Timestamp, input: Self::Input) -> Result<Vec<Value>, Failure>;
}

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation<Input> {
    /// Something that the executor can do.
    Do(Input),
    /// Something that the driver protocol knows and this executor cannot do.
    Unsupported,
}

/// The executor as it is after its process has died and come back: what is not written down is gone.
///
/// # Errors
///
/// Where it cannot be written down, or not read back.
fn stored_and_read_back<E: Serialize + DeserializeOwned>(executor: &E) -> serde_json::Result<E> {
    serde_json::from_slice(&serde_json::to_vec(executor)?)
}

/// The output that says that the host asked for what the protocol does not allow.
fn refusal(clause: impl Serialize, reason: &impl ToString) -> Value {
    json!({"refused": {"clause": clause, "reason": reason.to_string()}})
}
