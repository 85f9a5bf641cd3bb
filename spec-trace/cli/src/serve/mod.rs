//! The reference executor as a live implementation of the driver protocol.
//!
//! The one thing to know: nothing here decides anything. [`conversation`] speaks the driver protocol, and [`stdio`] does so
//! line by line; a [`Service`] such as [`aaep`] turns one op into one input of an executor, and what the executor puts out
//! into outputs of the driver protocol. A further protocol moves in as a further [`Service`].

pub mod aaep;
pub mod controls;
pub mod conversation;
pub mod ids;
pub mod mcp_aql;
pub mod pending_action;
pub mod stdio;

use std::error::Error;
use std::fmt;

use countersign_protocol::{Kind, Protocol, Refused};
use countersign_reference::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why a request that is in order could not be carried out all the same: the executor's state could not be stored or
/// read back.
pub type Failure = Box<dyn Error + Send + Sync>;

/// One output of a service.
pub type Output<S> = <<S as Service>::Protocol as Protocol>::Output;

/// One protocol's executor, as the driver protocol sees it.
pub trait Service {
    /// What it is a service of.
    type Protocol: Protocol;
    /// One thing that can happen to the executor.
    type Input;
    /// What of the optional it can do.
    const SUPPORTS: &'static [<Self::Protocol as Protocol>::Capability];
    /// The kinds of output that it shows.
    const SHOWS: &'static [Kind];
    /// Time passes, and nothing else happens.
    const TICK: Self::Input;

    /// What of the optional this one can do, as it is set up.
    fn supports(&self) -> &'static [<Self::Protocol as Protocol>::Capability] {
        Self::SUPPORTS
    }

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

    /// What is to happen to the executor.
    ///
    /// # Errors
    ///
    /// [`Instead`] says what is answered where it cannot be told what that is.
    fn input(op: <Self::Protocol as Protocol>::Op) -> Result<Self::Input, Instead>;

    /// Whether an input asks for nothing that [`Service::supports`] leaves out.
    fn is_declared(&self, _: &Self::Input) -> bool {
        true
    }

    /// A refusal as an output.
    fn refused(refused: Refused) -> Output<Self>;

    /// Hands an input to the executor and tells what came out, in order.
    ///
    /// # Errors
    ///
    /// Where the executor's state could not be stored or read back.
    fn handle(&mut self, now: Timestamp, input: Self::Input) -> Result<Vec<Output<Self>>, Failure>;

    /// The process dies and comes back with what it had stored. Tells what was lost, what is due, and what is in doubt.
    /// Without `last` nobody knows what the last response was, or how far it was carried out.
    ///
    /// # Errors
    ///
    /// [`Instead`] where what was lost cannot be made good. Nothing has changed then.
    fn restart(
        &mut self,
        now: Timestamp,
        last: Option<Last<'_>>,
    ) -> Result<Vec<Output<Self>>, Instead>;
}

/// The outputs of the last response, by their kinds.
#[derive(Clone, Copy, Debug)]
pub struct Last<'a> {
    /// Those that were carried out.
    pub carried: &'a [Kind],
    /// Those that were not: the rest.
    pub lost: &'a [Kind],
}

/// What a request that is understood is answered with where it is not carried out.
#[derive(Debug)]
pub enum Instead {
    /// It is not allowed with this value, or in this state.
    Refused(Refused),
    /// It was not declared in `hello`.
    Unsupported,
    /// The state could not be stored or read back.
    Failed(Failure),
}

impl Instead {
    /// Refused, and by no clause of the text.
    fn refused(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Refused(Refused {
            clause: None,
            reason,
        })
    }
}

impl From<Failure> for Instead {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<serde_json::Error> for Instead {
    fn from(error: serde_json::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// How many characters of a value a refusal quotes.
const QUOTED: usize = 60;

/// Reads a value that has a grammar, such as an identifier or a time.
fn parsed<T, E: fmt::Display>(
    place: &str,
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, Instead> {
    parse(text).map_err(|error| {
        let quoted = match text.char_indices().nth(QUOTED) {
            None => format!("{text:?}"),
            Some((end, _)) => format!("{:?}…", &text[..end]),
        };
        Instead::refused(format!("`{place}` is {quoted}: {error}"))
    })
}

/// What an executor has put out, as the driver protocol has it. What fell due before a refused call has happened all the
/// same, and so comes first.
fn told<S: Service>(
    outputs: impl Iterator<Item = serde_json::Result<Output<S>>>,
    refused: Option<Refused>,
) -> Result<Vec<Output<S>>, Failure> {
    let mut outputs: Vec<_> = outputs.collect::<serde_json::Result<_>>()?;
    outputs.extend(refused.map(S::refused));
    Ok(outputs)
}

/// The executor as it is after its process has died and come back: what is not written down is gone.
///
/// # Errors
///
/// Where it cannot be written down, or not read back.
fn stored_and_read_back<E: Serialize + DeserializeOwned>(executor: &E) -> serde_json::Result<E> {
    serde_json::from_str(&serde_json::to_string(executor)?)
}

/// The refusal by a clause: the host asked for what the protocol does not allow.
fn refusal(clause: impl fmt::Display, reason: impl fmt::Display) -> Refused {
    Refused {
        clause: Some(clause.to_string()),
        reason: reason.to_string(),
    }
}
