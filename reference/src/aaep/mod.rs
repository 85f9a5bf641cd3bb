//! The AAEP confirmation protocol: the blocking contract of chapter 6, run by the producer.
//!
//! Read `producer` beside sections 6.1, 6.4, 6.7 and 6.8: it holds every transition. The six checks of section 6.3.4
//! are in `validate`, in the order of the text; `message` turns the bytes of a reply into a typed value.
//!
//! The one thing to know: a call first settles everything whose deadline has passed, then does what it was asked.
//! So whatever arrives at or after a deadline finds the default applied, whatever time it claims for itself.
//!
//! ```
//! use countersign_reference::aaep::{Input, Output, Producer, Settings};
//! use countersign_reference::{ids::SequentialIds, time::Timestamp};
//!
//! let mut producer = Producer::new(Settings::default());
//! // A host in production passes a cryptographic source of ids, and its clock.
//! let mut ids = SequentialIds::new();
//! let mut now = Timestamp::parse("2026-05-24T14:22:20Z")?;
//!
//! let mut happens = |now, json: &str| {
//!     let input: Input = serde_json::from_str(json).expect("an operation");
//!     producer.handle(now, &mut ids, input).outputs
//! };
//! happens(now, r#"{"op": "start_session", "session_id": "sess_1"}"#);
//! happens(now, r#"{"op": "subscribe", "subscription_id": "sub_1"}"#);
//! let asked = happens(now, r#"{
//!     "op": "confirm",
//!     "session_id": "sess_1",
//!     "action": {
//!         "id": "payment 17",
//!         "tool": "transfer_funds",
//!         "description": "Transfer 500 dollars to savings.",
//!         "consequence": "The money leaves the checking account.",
//!         "risk_level": "low",
//!         "irreversible": true
//!     },
//!     "timeout_seconds": 30,
//!     "default_decision": "accept"
//! }"#);
//! assert_eq!(asked.len(), 2); // state.changed, awaiting.confirmation
//!
//! // Nobody answers: at the deadline the default accepts, and the host is told to act.
//! now = Timestamp::parse("2026-05-24T14:22:50Z")?;
//! let settled = happens(now, r#"{"op": "tick"}"#);
//! assert!(matches!(settled.last(), Some(Output::Perform(call)) if &*call.tool == "transfer_funds"));
//! # Ok::<(), countersign_reference::time::NotRfc3339>(())
//! ```

mod ask;
mod confirmation;
mod confirmations;
mod event;
mod interface;
mod message;
mod producer;
mod session;
mod stored;
mod validate;
mod vocabulary;

pub use crate::json::{MAX_DEPTH, NotJson};
pub use confirmation::{Authority, Canceller, Confirmation, Phase, Question, Tool};
pub use event::{
    AgentState, CancelledBy, CountersignExtension, ErrorCategory, Event, ExtraContext, Payload,
    ResolutionOutcome, Urgency,
};
pub use interface::{
    Ask, Audit, ClauseId, Input, Notice, Outcome, Output, Refusal, Response, Sender, ToolCall,
};
pub use message::{ConfirmationReply, MAX_MESSAGE_BYTES, Malformed};
pub use producer::{Producer, Settings};
pub use session::{Session, SessionStatus, Subscription};
pub use vocabulary::{
    Action, ActionId, AgentId, Capabilities, Decision, EventId, Identity, InvalidIdentifier,
    ReplyToken, RiskLevel, SessionId, SessionOutcome, SubscriptionId, ToolCallId, ToolStatus,
};
