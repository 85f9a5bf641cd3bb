//! The AAEP confirmation protocol: the blocking contract of chapter 6, run by the producer.
//!
//! Read `producer` beside sections 6.1, 6.4, 6.7 and 6.8: it holds every transition. The six checks of section 6.3.4
//! are in `validate`, in the order of the text; `message` turns the bytes of a reply into a typed value.
//!
//! The one thing to know: a call first settles everything whose deadline has passed, then does what it was asked.
//! So whatever arrives at or after a deadline finds the default applied, whatever time it claims for itself.

mod ask;
mod confirmation;
mod event;
mod interface;
mod json;
mod ledger;
mod message;
mod producer;
mod session;
mod validate;
mod vocabulary;

pub use confirmation::{Authority, Canceller, Confirmation, Phase, Question, Tool};
pub use event::{
    AgentState, CancelledBy, CountersignExtension, ErrorCategory, Event, ExtraContext, Payload,
    ResolutionOutcome, Urgency,
};
pub use interface::{
    Ask, Audit, ClauseId, Input, Notice, Outcome, Output, Refusal, Response, Sender, ToolCall,
};
pub use json::{MAX_DEPTH, NotJson};
pub use message::{ConfirmationReply, MAX_MESSAGE_BYTES, Malformed};
pub use producer::{Producer, Settings};
pub use session::{Session, SessionStatus, Subscription};
pub use vocabulary::{
    Action, ActionId, AgentId, Capabilities, Decision, EventId, Identity, InvalidIdentifier,
    ReplyToken, RiskLevel, SessionId, SessionOutcome, SubscriptionId, ToolCallId, ToolStatus,
};
