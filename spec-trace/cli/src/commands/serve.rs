//! `countersign serve`: the reference executor as a live implementation of the driver protocol.

use std::io;
use std::path::PathBuf;

use countersign_reference::{mcp_aql, pending_action};
use countersign_store::Store;
use countersign_store::ids::SystemIds;
use miette::{Context, IntoDiagnostic, miette};

use crate::answer::{Answer, Status};
use crate::arguments::Protocol;
use crate::serve::aaep::Aaep;
use crate::serve::mcp_aql::McpAql;
use crate::serve::pending_action::PendingAction;
use crate::serve::{Service, stdio};

const EXAMPLES: &str = "\
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
#[command(after_help = EXAMPLES)]
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
        (Protocol::Aaep, None) => converse(Aaep::new(SystemIds)),
        (Protocol::McpAql, None) => converse(McpAql::new(mcp_aql::Settings::default(), SystemIds)),
        (Protocol::PendingAction, None) => {
            let settings = pending_action::Settings::default();
            let service = PendingAction::in_memory(settings, SystemIds);
            converse(service.into_diagnostic()?)
        }
        (Protocol::PendingAction, Some(path)) => {
            let settings = pending_action::Settings::default();
            let store = Store::open(path).into_diagnostic()?;
            converse(PendingAction::kept_in(store, settings, SystemIds))
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
