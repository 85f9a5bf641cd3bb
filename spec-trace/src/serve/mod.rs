//! `countersign serve`: the reference executor as a live implementation of the driver protocol.
//!
//! The one thing to know: nothing here decides anything. [`stdio`] speaks the driver protocol, line by line; a
//! [`Service`] such as [`aaep`] turns one request into one input of an executor, and what the executor puts out into
//! JSON. A further protocol moves in as a further [`Service`].

pub mod aaep;
pub mod ids;
pub mod mcp_aql;
pub mod request;
pub mod stdio;

use std::io;

use clap::ValueEnum;
use countersign_reference::mcp_aql::Settings;
use countersign_reference::time::Timestamp;
use miette::{Context, IntoDiagnostic};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::answer::{Answer, Status};
use request::{BadRequest, Fields};

const REQUESTS: &str = "\
Each request has `id` and `op`, and from `reset` on `now` (RFC 3339). The first two are
  {\"id\":1,\"op\":\"hello\",\"driver\":1,\"protocol\":\"mcp-aql\"}
  {\"id\":2,\"op\":\"reset\",\"now\":\"2026-05-24T14:22:20Z\"}

Further ops, with their fields (? may be absent):
  both     tick, restart
  aaep     start_session     session_id?
           subscribe         subscription_id, capabilities?
           unsubscribe       subscription_id
           confirm           session_id, action, timeout_seconds, default_decision, allowed_replies?
           deliver           sender, message: the bytes received, as a string
           cancel            reply_token
           finish_tool       session_id, action, status, tool_call_id?
           end_session       session_id, outcome
  mcp-aql  configure         adapter, clock_skew_tolerance_seconds?, oracle?: codes or uniform,
                             critical?: {operation: [parameter]}
           call              operation, params, danger_level, adapter?, session_id?, max_uses?,
                             ttl_seconds?, purpose?: confirmation or quota_continue,
                             confirmation_token?, reasons?, confirmation_message?
           introspect        query: revoke_token or token_status, token
           event             kind: logout, security or configuration, session_id?
           end_session       session_id

`params` is any JSON and reaches the executor as it is written; a string holds the text of it.
`danger_level` is safe, reversible, destructive, dangerous, forbidden, or its number from 0 to 4.";

/// Arguments of `countersign serve`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = REQUESTS)]
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
    /// MCP-AQL confirmation tokens.
    McpAql,
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
        Protocol::McpAql => {
            let service = mcp_aql::McpAql::new(Settings::default(), ids::SystemIds);
            stdio::serve(input, output, service)
        }
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
    /// The fields of requests whose values reach [`Service::read`] as texts, as they are written: what a client sends may
    /// be JSON that no JSON value carries.
    const VERBATIM: &'static [&'static str];
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
