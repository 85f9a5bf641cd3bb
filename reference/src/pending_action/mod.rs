//! Pending actions: a tool call with its exact arguments, one decision about it, and no loss in a crash.
//!
//! Read `ledger` first: it holds every transition. `validate` has the checks that a decision must pass, in their order;
//! `consequences` says what follows from each record; `known` is what the journal amounts to.
//!
//! The one thing to know: what was approved is what runs. The arguments are kept as the text that was proposed, the
//! decision names the action by its id, and neither a model nor a transcript stands in between (PA-2, PA-3).
//!
//! A host makes each [`Output::Record`] durable before it carries out what is behind it, and says now and then how far
//! it has come, with [`Ledger::carried`]. After a crash it hands its journal to [`Ledger::rebuild`] and lets
//! [`Input::Restart`] happen: what it had not told comes out again, and what it had released is in doubt.
//!
//! ```
//! use countersign_reference::pending_action::{
//!     Decide, Decision, Effect, Input, Ledger, Output, Propose, Settings, Text,
//! };
//! use countersign_reference::{ids::SequentialIds, time::Timestamp};
//!
//! let mut ledger = Ledger::new(Settings::default());
//! // A host in production passes a cryptographic source of ids, and its clock.
//! let mut ids = SequentialIds::new();
//! let now = Timestamp::parse("2026-05-24T14:22:20Z")?;
//!
//! let mut happens = |input| ledger.handle(now, &mut ids, input).outputs;
//! let asked = happens(Input::Propose(Propose {
//!     agent_id: "menta".into(),
//!     session_id: "chat 7".into(),
//!     run_id: "run 1".into(),
//!     tool: "carpeta/delete-potreros".into(),
//!     arguments: Text::new(r#"{"ids": [3, 5, 8], "confirm": true}"#),
//!     effect: Effect::Destructive,
//!     summary: "¿Borro estos 3 potreros?".into(),
//!     label: "Sí, borrar".into(),
//!     expires_at: None,
//!     deciders: None,
//!     idempotent: false,
//! }));
//! // The record, what the user sees, what the client is told.
//! let [Output::Record(_), Output::Append(_), Output::Event(created)] = &asked[..] else {
//!     panic!("asked otherwise");
//! };
//!
//! // The user taps the button. What runs is what was proposed, to the byte.
//! let tapped = Input::Decide(Decide {
//!     action_id: created.action_id.to_string(),
//!     nonce: None,
//!     decision: Decision::Allow,
//!     by: "ana".into(),
//!     arguments: None,
//! });
//! let allowed = happens(tapped.clone());
//! let Some(Output::Perform(call)) = allowed.last() else {
//!     panic!("not allowed");
//! };
//! assert_eq!(call.arguments.as_str(), r#"{"ids": [3, 5, 8], "confirm": true}"#);
//!
//! // A second tap does nothing, and only the operator learns of it.
//! assert!(matches!(happens(tapped)[..], [Output::Audit(_)]));
//!
//! // The process dies. What the journal held is all that is needed.
//! let journal = asked.into_iter().chain(allowed).filter_map(|output| match output {
//!     Output::Record(record) => Some(record),
//!     _told => None,
//! });
//! let mut ledger = Ledger::rebuild(Settings::default(), None, journal, 0).expect("our own journal");
//! let resumed = ledger.handle(now, &mut ids, Input::Restart).outputs;
//! assert!(matches!(resumed.last(), Some(Output::InDoubt(_))));
//! # Ok::<(), countersign_reference::time::NotRfc3339>(())
//! ```

mod action;
mod actions;
mod arguments;
mod consequences;
mod event;
mod interface;
mod known;
mod ledger;
mod message;
mod propose;
mod record;
mod settings;
mod stored;
mod validate;
mod vocabulary;

pub use action::{Action, Proposal, Run, Status};
pub use arguments::{Arguments, MAX_ARGUMENTS_BYTES, NotArguments, Text};
pub use event::{Event, EventId, Happened};
pub use interface::{
    Audit, ClauseId, Decide, Input, Named, Outcome, Output, Propose, Refusal, ToolCall,
};
pub use known::Contradiction;
pub use ledger::{Damaged, Held, Ledger, Snapshot};
pub use message::{Append, Message};
pub use record::{Entry, Record};
pub use settings::{DecidersAbsent, Delivery, ExpiryAbsent, ExpiryBoundary, ReadEffect, Settings};
pub use validate::IgnoredBecause;
pub use vocabulary::{
    ActionId, AgentId, CancelReason, DeciderId, Deciders, Decision, Effect, InvalidIdentifier,
    Label, MessageId, Nonce, RunId, SessionId, Summary, ToolName, ToolStatus,
};

pub use crate::json::{MAX_DEPTH, NotJson};
