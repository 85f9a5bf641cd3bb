//! `countersign serve`: the reference executor as a live implementation of the driver protocol.
//!
//! The one thing to know: nothing here decides anything. [`stdio`] speaks the driver protocol, line by line; a
//! [`Service`] such as [`aaep`] turns one request into one input of an executor, and what the executor puts out into
//! JSON. A further protocol moves in as a further [`Service`].

pub mod aaep;
pub mod ids;
pub mod mcp_aql;
pub mod pending_action;
pub mod request;
pub mod stdio;

use std::error::Error;
use std::io;
use std::path::PathBuf;

use countersign_reference::time::Timestamp;
use countersign_reference::{mcp_aql as aql, pending_action as pending};
use miette::{Context, IntoDiagnostic, miette};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::answer::{Answer, Status};
use crate::cli::arguments::Protocol;
use crate::store::Store;
use request::{BadRequest, Fields};

const REQUESTS: &str = "\
Each request has `id` and `op`, and from `reset` on `now` (RFC 3339). The first two are
  {\"id\":1,\"op\":\"hello\",\"driver\":1,\"protocol\":\"mcp-aql\"}
  {\"id\":2,\"op\":\"reset\",\"now\":\"2026-05-24T14:22:20Z\"}

Further ops, with their fields (? may be absent):
  all      tick, restart
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
  pending-action
           propose           agent_id, session_id, run_id, tool, arguments, effect: read, write,
                             destructive or external, summary, label, expires_at?, deciders?,
                             idempotent?
           decide            action_id, nonce?, decision: allow or deny, by, arguments?
           say               by, text
           finish_tool       action_id, status: success, error or not_run, result?
           cancel            action_id
           end_session       session_id
           snapshot
           rollback          snapshot

`params`, `arguments` and `result` are any JSON and reach the executor as they are written; a
string holds the text of it. `arguments` and `result` come out as such a string.
`danger_level` is safe, reversible, destructive, dangerous, forbidden, or its number from 0 to 4.

Examples:
  countersign serve aaep --stdio
  countersign serve pending-action --stdio --store actions.store";

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
    /// Keep the journal of pending actions in this file, so that they survive the end of the process
    ///
    /// After `hello`, `restart` goes on with what the file holds. `reset` forgets all of it and starts afresh.
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
}

/// Serves until stdin ends or nobody reads stdout any more. Responses are written while it runs, so that there is
/// nothing left to print at the end. To have been asked nothing is no failure: a server makes no claim.
///
/// # Errors
///
/// Where stdin cannot be read, stdout cannot be written, or the store cannot be opened.
pub fn run(arguments: &Args) -> miette::Result<Answer> {
    match (arguments.protocol, &arguments.store) {
        (Protocol::Aaep, None) => converse(aaep::Aaep::new(ids::SystemIds)),
        (Protocol::McpAql, None) => converse(mcp_aql::McpAql::new(
            aql::Settings::default(),
            ids::SystemIds,
        )),
        (Protocol::PendingAction, None) => {
            let settings = pending::Settings::default();
            let service = pending_action::PendingAction::in_memory(settings, ids::SystemIds);
            converse(service.into_diagnostic()?)
        }
        (Protocol::PendingAction, Some(path)) => {
            let settings = pending::Settings::default();
            let store = Store::open(path).into_diagnostic()?;
            converse(pending_action::PendingAction::kept_in(
                store,
                settings,
                ids::SystemIds,
            ))
        }
        (Protocol::Aaep | Protocol::McpAql, Some(_)) => Err(miette!(
            help = "leave --store out: the state of this executor lives as long as its process",
            "--store is for pending-action alone"
        )),
    }
}

fn converse(service: impl Service) -> miette::Result<Answer> {
    stdio::serve(io::stdin().lock(), io::stdout().lock(), service)
        .into_diagnostic()
        .wrap_err("the conversation over stdin and stdout broke off")?;
    Ok(Answer {
        text: String::new(),
        status: Status::Holds,
    })
}

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
