//! What goes into the gatekeeper and what comes out of it.
//!
//! The one thing to know: what a client sends is ordinary input, however wrong it is, and ends in a [`Response`] to the
//! client and an [`Audit`] that only the operator sees. A [`Refusal`] always means that the host asked for something
//! that it must not ask for.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::audit::Audit;
use super::canonical::Parameters;
use super::response::{ConfirmationRequired, Details, Response};
use super::signed::SigningKey;
use super::vocabulary::{AdapterName, DangerLevel, OperationName, Oracle, Purpose, SessionId};
pub use crate::clause::ClauseId;

/// One thing that happens to the gatekeeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// An adapter works differently from now on. Its tokens are revoked (AQL-5.3-2).
    Configure {
        /// Which.
        adapter: AdapterName,
        /// How long after its expiry a token is still taken, 0 to 300 s. As before where absent, like the rest.
        clock_skew_tolerance_seconds: Option<u64>,
        /// How much a failed check tells.
        oracle: Option<Oracle>,
        /// The names of the critical parameters, by operation: at least one of each. A call that has none of them is bound in
        /// full, as without a list (AQL-3.2-1).
        critical: Option<BTreeMap<OperationName, BTreeSet<String>>>,
    },
    /// A client calls an operation.
    Call(Call),
    /// A client asks about a token, or gives it back.
    Introspect {
        /// The adapter asked. The gatekeeper's own where absent.
        adapter: Option<AdapterName>,
        /// What it wants.
        query: Query,
        /// The token as received.
        token: String,
    },
    /// Something happens that ends the life of tokens (AQL-5.3-2).
    Event {
        /// What.
        kind: EventKind,
        /// The session that it is about. Only a logout can be about one.
        session_id: Option<SessionId>,
    },
    /// A session ends (AQL-5.4-2). [`super::EndedSession`] says whether its name can come back.
    EndSession {
        /// Which.
        session_id: SessionId,
    },
    /// The host signs its tokens with another key from now on. Those signed with the one before are honoured as long
    /// as they live, those signed with still earlier ones are not any more (AQL-6.2-2).
    RotateKey {
        /// From a cryptographic generator, and never used before.
        key: SigningKey,
    },
    /// Time has passed and nothing else has happened.
    Tick,
    /// The process died and is back with what it had stored after its last call. Outputs that had not been
    /// carried out by then are lost, and are not repeated. A host whose connections
    /// have ended with the process lets [`Input::EndSession`] happen for each of them next (AQL-5.4-2).
    Restart,
}

/// A call of an operation: what the client sent, and what the host knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The adapter called. The gatekeeper's own where absent.
    pub adapter: Option<AdapterName>,
    /// The operation called.
    pub operation: OperationName,
    /// Its parameters as received.
    pub params: Parameters,
    /// How much harm the operation can do, as the host classifies it.
    pub danger_level: DangerLevel,
    /// The session that the call comes in.
    pub session_id: Option<SessionId>,
    /// Whether a token, if one is issued, is good in that session alone (AQL-5.4-1). [`super::SessionBinding`] says so where
    /// absent. One of several uses always is.
    pub session_scope: Option<bool>,
    /// How often a token may be used, if one is issued: 1 or more. More than 1 only in a session.
    pub max_uses: u32,
    /// How long a token lives, if one is issued, in seconds from 1. The default of section 5.1 where absent, and
    /// never more than its maximum.
    pub ttl_seconds: Option<u64>,
    /// The token, if the client sent one, as received.
    pub confirmation_token: Option<String>,
    /// Why the call might have to be confirmed. What is dangerous has to be, past a quota too: a quota token goes on with
    /// what is harmless, and confirms nothing (AQL-2.1-1).
    pub purpose: Purpose,
    /// What the client is told of the danger. A sentence on the level where absent.
    pub reasons: Option<Vec<String>>,
    /// What the client is asked. A question that names the operation where absent.
    pub confirmation_message: Option<String>,
}

/// What a client wants to know or to do about a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Query {
    /// Make it worthless (AQL-5.3-3).
    RevokeToken,
    /// What has become of it (AQL-7.3-1).
    TokenStatus,
}

/// What ends the life of tokens, besides the end of their session (AQL-5.3-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A user has logged out: the tokens of the session, or all where no session is named.
    Logout,
    /// Something is wrong: all tokens.
    Security,
    /// The adapters work differently from now on: all tokens.
    Configuration,
}

/// What a call leads to.
///
/// A refused call has changed nothing but the clock, and puts nothing out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the outputs have to be carried out, in order"]
pub struct Outcome {
    /// What the host must now do, one at a time and in this order.
    pub outputs: Vec<Output>,
    /// Set where the host erred.
    pub refused: Option<Refusal>,
}

/// One thing for the host to do.
///
/// The JSON form is that of the driver protocol: an object whose one key is the variant's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Write into the operator's log; nobody else may see it.
    Audit(Audit),
    /// Answer the client.
    Respond(Response),
    /// Run the operation now. Its token, if it needed one, is used already (AQL-5.2-2).
    Perform(Operation),
}

impl Output {
    /// What the client is asked to confirm, and the token to do it with, if this is what it is told (AQL-3.3-1).
    pub fn confirmation_required(&self) -> Option<&ConfirmationRequired> {
        let Self::Respond(Response::Failed(failure)) = self else {
            return None;
        };
        match &failure.details {
            Details::ConfirmationRequired(required) => Some(required),
            Details::Expired { .. }
            | Details::Token { .. }
            | Details::RetryAfter { .. }
            | Details::Problem { .. }
            | Details::Nothing {} => None,
        }
    }
}

/// An operation to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// Which.
    pub operation: OperationName,
    /// Its parameters exactly as received.
    pub params: Parameters,
    /// The adapter to run it.
    pub adapter: AdapterName,
    /// The session that it was called in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Why a call was refused: the host asked for what the protocol does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The life of the token is longer than the table of section 5.1 allows.
    #[error("ttl_seconds is above the maximum of {maximum_seconds}")]
    TimeToLiveTooLong {
        /// The most that it may be.
        maximum_seconds: u32,
    },
    /// A token that has no life, or whose life the calendar cannot hold, would be a token without expiry.
    #[error("ttl_seconds must be 1 or more, and elapse before the year 10000")]
    WithoutExpiry,
    /// The tolerance is out of range.
    #[error("clock_skew_tolerance_seconds must be 0 to 300")]
    ToleranceOutOfRange,
    /// A token would be bound to no parameter.
    #[error("critical must name at least one parameter of each operation")]
    WithoutCritical,
    /// Only a session gives the bounds within which a token may be used more than once.
    #[error("max_uses above 1 needs a session_id, and a token that is bound to it")]
    ManyUsesWithoutSession,
    /// There is no session to bind the token to.
    #[error("session_scope needs a session_id")]
    ScopeWithoutSession,
    /// A token would be bound to a connection that is no more.
    #[error("the session has ended")]
    SessionEnded,
    /// A token that can never be used.
    #[error("max_uses must be 1 or more")]
    NoUses,
    /// A token that counts its uses, or ends with its session, has to be kept, and the host signs instead.
    #[error("a token that is bound to a session needs a gatekeeper that keeps its tokens")]
    SessionWithoutStore,
    /// There is no key to replace.
    #[error("only a gatekeeper that signs its tokens has a key")]
    NoKey,
    /// The source of ids has returned nothing but values that are taken.
    #[error("the source of ids returned no unused token")]
    NoFreshToken,
}

impl Refusal {
    /// The clause that forbids what was asked for.
    pub fn clause(self) -> ClauseId {
        ClauseId(match self {
            Self::TimeToLiveTooLong { .. } => "AQL-5.1-1",
            Self::WithoutExpiry => "AQL-5.1-2",
            Self::ToleranceOutOfRange => "AQL-5.1-5",
            Self::WithoutCritical => "AQL-3.2-1",
            Self::ManyUsesWithoutSession
            | Self::ScopeWithoutSession
            | Self::SessionWithoutStore
            | Self::NoUses => "AQL-5.4-1",
            Self::SessionEnded => "AQL-5.4-2",
            Self::NoKey => "AQL-6.2-2",
            Self::NoFreshToken => "AQL-3.1-1",
        })
    }
}
