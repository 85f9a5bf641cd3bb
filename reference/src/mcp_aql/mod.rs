//! MCP-AQL confirmation tokens: what stands between a client and a dangerous operation.
//!
//! Read `gatekeeper` beside sections 1.3 and 5.2, and `ending` beside 5.3: they hold every transition. The checks of section 4.1 are in
//! `validate`, in both orders that the text has them in; `canonical` says what a token is bound to (section 3.2);
//! `limits` is the table of section 5.1. `stateless` is what is different where tokens are signed instead of kept
//! (section 6.2), and `signed` how they are.
//!
//! The one thing to know: a token is found good and used in the same call, before the operation comes out. So it is
//! used at most as often as it may be, however calls race and whenever the process dies.
//!
//! ```
//! use countersign_reference::mcp_aql::{
//!     Call, DangerLevel, Gatekeeper, Input, OperationName, Output, Parameters, Purpose, Settings,
//! };
//! use countersign_reference::{ids::SequentialIds, time::Timestamp};
//!
//! let mut gatekeeper = Gatekeeper::new(Settings::default());
//! // A host in production passes a cryptographic source of ids, and its clock.
//! let mut ids = SequentialIds::new();
//! let now = Timestamp::parse("2026-01-28T12:00:00Z")?;
//!
//! let mut happens = |call: &Call| gatekeeper.handle(now, &mut ids, Input::Call(call.clone())).outputs;
//! let call = Call {
//!     adapter: None,
//!     operation: OperationName::parse("delete_repo")?,
//!     params: Parameters::new(r#"{"owner": "acme", "repo": "widgets"}"#),
//!     danger_level: DangerLevel::Destructive,
//!     session_id: None,
//!     session_scope: None,
//!     max_uses: 1,
//!     ttl_seconds: None,
//!     confirmation_token: None,
//!     purpose: Purpose::Confirmation,
//!     reasons: None,
//!     confirmation_message: None,
//! };
//! let asked = happens(&call);
//! assert_eq!(asked.len(), 2); // the audit entry, CONFIRMATION_REQUIRED
//! let response = serde_json::to_value(&asked[1]).expect("JSON");
//! let token = response["respond"]["error"]["details"]["confirmation_token"].as_str();
//!
//! // The user agrees, and the client repeats its call with the token. However the parameters are spelled.
//! let retry = Call {
//!     params: Parameters::new(r#"{"repo": "widgets", "owner": "acm\u0065"}"#),
//!     confirmation_token: token.map(str::to_owned),
//!     ..call
//! };
//! assert!(matches!(happens(&retry).last(), Some(Output::Perform(_))));
//! // Once.
//! assert!(matches!(happens(&retry).last(), Some(Output::Respond(_))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod audit;
mod canonical;
mod digest;
mod ending;
mod gated;
mod gatekeeper;
mod interface;
mod limits;
mod rate;
mod response;
mod settings;
mod signed;
mod stateless;
mod stored;
mod token;
mod tokens;
mod validate;
mod vocabulary;

pub use audit::{
    Audit, AuditEntry, AuditOutcome, ClientContext, FailureReason, Warning, WarningKind,
};
pub use canonical::{MAX_PARAMS_BYTES, NotCanonical, Parameters, canonical_form};
pub use digest::ParametersHash;
pub use gatekeeper::{Gatekeeper, Held};
pub use interface::{Call, ClauseId, EventKind, Input, Operation, Outcome, Output, Query, Refusal};
pub use rate::RateLimit;
pub use response::{ConfirmationRequired, Details, Failure, Response, Status, TokenStatus};
pub use settings::{
    Capacity, Configuration, EndedSession, OutOfBounds, Persistence, RateLimits, RestartedSession,
    Retention, SessionBinding, Settings, Tolerance,
};
pub use signed::SigningKey;
pub use token::{IssuedToken, Phase, Scope};
pub use vocabulary::{
    AdapterName, CheckOrder, ConfirmationToken, DangerLevel, ErrorCode, InvalidIdentifier,
    OperationName, Oracle, Purpose, Revoker, SessionId, TokenEvent, TokenId,
};

pub use crate::json::{MAX_DEPTH, NotJson};
