//! The AAEP confirmation protocol: the blocking contract of chapter 6, run by the producer.
//!
//! Read `producer` and its folder beside sections 6.1, 6.4, 6.7 and 6.8: they hold every transition. The six checks of section
//! 6.3.4, and what section 6.5.5 makes of them, are in `validate`, in the order of the text; `message` turns the bytes of a reply
//! into a typed value. Tools that need no question, output and handoffs are in `work`. What confirmations and clarifications share is in `question` and `questions`.
//!
//! The one thing to know: a call first settles everything whose deadline has passed, then does what it was asked.
//! So whatever arrives at or after a deadline finds the default applied, whatever time it claims for itself.
//!
//! ```
//! use countersign_reference::aaep::{
//!     Action, ActionId, Ask, Capabilities, Choice, Decision, Input, Output, Producer, RiskLevel, SessionId, Settings, SubscriptionId,
//! };
//! use countersign_reference::{ids::SequentialIds, time::Timestamp};
//!
//! let mut producer = Producer::new(Settings::default());
//! // A host in production passes a cryptographic source of ids, and its clock.
//! let mut ids = SequentialIds::new();
//! let mut now = Timestamp::parse("2026-05-24T14:22:20Z")?;
//!
//! let mut happens = |now, input| producer.handle(now, &mut ids, input).outputs;
//! let session_id = SessionId::parse("sess_1")?;
//! happens(now, Input::StartSession { session_id: Some(session_id.clone()) });
//! happens(now, Input::Subscribe {
//!     subscription_id: SubscriptionId::parse("sub_1")?,
//!     capabilities: Capabilities::default(),
//! });
//! let asked = happens(now, Input::Confirm(Ask {
//!     session_id,
//!     action: Action {
//!         id: ActionId::parse("payment 17")?,
//!         tool: "transfer_funds".into(),
//!         description: "Transfer 500 dollars to savings.".into(),
//!         consequence: "The money leaves the checking account.".into(),
//!         risk_level: RiskLevel::Low,
//!         irreversible: true,
//!     },
//!     timeout_seconds: 30,
//!     default_decision: Decision::Accept,
//!     allowed_replies: None,
//! }));
//! assert_eq!(asked.len(), 2); // state.changed, awaiting.confirmation
//!
//! // Nobody answers: at the deadline the default accepts, and the host is told to act.
//! now = Timestamp::parse("2026-05-24T14:22:50Z")?;
//! let settled = happens(now, Input::Tick);
//! assert!(matches!(settled.last(), Some(Output::Perform(call)) if &*call.tool == "transfer_funds"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ask;
mod clarification;
mod confirmation;
mod countdown;
mod event;
mod interface;
mod message;
mod modified;
mod producer;
mod question;
mod questions;
mod session;
mod stored;
mod validate;
mod vocabulary;
mod work;

pub use crate::json::NotJson;
pub use crate::text::Text;
pub use clarification::{Clarification, ClarificationPhase, ClarificationQuestion};
pub use confirmation::{Authority, Canceller, Confirmation, Phase, Question, Tool};
pub use event::{
    AgentState, CancelledBy, CountersignExtension, ErrorCategory, Event, ExtraContext, Payload,
    Progress, ResolutionOutcome, Urgency,
};
pub use interface::{
    Answer, Answered, Ask, Audit, Chunk, Clarify, ClauseId, Field, Handoff, Input, Notice, Outcome,
    Output, Refusal, Response, Run, Sender, ToolCall, UserResponse,
};
pub use message::{
    ClarificationReply, ConfirmationReply, Malformed, Reply, WrittenNumber, WrittenObject,
};
pub use modified::ModifiedAction;
pub use producer::{Producer, Settings};
pub use question::Asked;
pub use session::{Session, SessionStatus, Subscription};
pub use vocabulary::{
    Action, ActionId, AgentId, Capabilities, Choice, Decision, EventId, Identity,
    InvalidIdentifier, OutputId, ReplyToken, ResponseKind, RiskLevel, SessionId, SessionOutcome,
    SubscriptionId, TargetKind, ToolCallId, ToolStatus,
};
pub use work::{OpenOutput, RunningTool, Work};
