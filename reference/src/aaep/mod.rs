//! The AAEP confirmation protocol: the blocking contract of chapter 6, run by the producer.
//!
//! The vocabulary: what goes in ([`Input`]), what comes out ([`Outcome`]). The entry point will be
//! `Producer::handle(&mut self, now: Timestamp, ids: &mut impl IdSource, input: Input) -> Outcome`.

mod event;
mod interface;
mod vocabulary;

pub use event::{
    AgentState, CancelledBy, CountersignExtension, ErrorCategory, Event, ExtraContext, Payload,
    ResolutionOutcome, Urgency,
};
pub use interface::{
    Ask, Audit, ClauseId, Input, Notice, Outcome, Output, Refusal, Response, Sender, ToolCall,
};
pub use vocabulary::{
    Action, ActionId, AgentId, Capabilities, Decision, EventId, Identity, InvalidIdentifier,
    ReplyToken, RiskLevel, SessionId, SessionOutcome, SubscriptionId, ToolCallId, ToolStatus,
};
