//! `countersign serve`: the reference executor as a live implementation of the driver protocol.
//!
//! The one thing to know: nothing here decides anything. [`stdio`] speaks the driver protocol, line by line; a
//! [`Service`] such as [`aaep`] turns one request into one input of an executor, and what the executor puts out into
//! JSON. A further protocol moves in as a further [`Service`].

pub mod aaep;
pub mod ids;
pub mod request;
pub mod stdio;

use std::io;

use clap::ValueEnum;
use countersign_reference::time::Timestamp;
use miette::{Context, IntoDiagnostic};
use serde_json::Value;

use crate::answer::{Answer, Status};
use request::{BadRequest, Fields};

/// Arguments of `countersign serve`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The protocol to serve
    #[arg(value_enum)]
    pub protocol: Protocol,
    /// Read requests from stdin and write responses to stdout, one JSON object a line
    #[arg(long, required = true)]
    pub stdio: bool,
}

/// The protocols that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// The AAEP confirmation protocol.
    Aaep,
}

/// Serves until stdin ends or nobody reads stdout any more. Responses are written while it runs, so that there is
/// nothing left to print at the end. To have been asked nothing is no failure: a server makes no claim.
///
/// # Errors
///
/// Where stdin cannot be read or stdout cannot be written.
pub fn run(arguments: &Args) -> miette::Result<Answer> {
    let (input, output) = (io::stdin().lock(), io::stdout().lock());
    match arguments.protocol {
        Protocol::Aaep => stdio::serve(input, output, aaep::Aaep::new(ids::SystemIds)),
    }
    .into_diagnostic()
    .wrap_err("the conversation over stdin and stdout broke off")?;
    Ok(Answer {
        text: String::new(),
        status: Status::Holds,
    })
}

/// One protocol's executor, as the driver protocol sees it.
pub trait Service {
    /// The name in `hello`, the same as on the command line.
    const PROTOCOL: &'static str;
    /// What it can do beyond what every implementation can, in the words of `hello`.
    const SUPPORTS: &'static [&'static str];
    /// One thing that can happen to the executor.
    type Input;

    /// Forgets everything: a new executor that nothing has happened to and that knows no other time than `now`.
    fn reset(&mut self, now: Timestamp);

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
    fn handle(&mut self, now: Timestamp, input: Self::Input) -> serde_json::Result<Vec<Value>>;
}

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation<Input> {
    /// Something that the executor can do.
    Do(Input),
    /// Something that the driver protocol knows and this executor cannot do.
    Unsupported,
}
