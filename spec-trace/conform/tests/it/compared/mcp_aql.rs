//! What can be changed in what the gatekeeper puts out and holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_conform::mcp_aql::{Environment, Host, McpAqlBridge};
use countersign_model::mcp_aql::bounds::{Bounds, Budgets};
use countersign_reference::mcp_aql::{
    AdapterName, Audit, AuditEntry, AuditOutcome, Capacity, CheckOrder, ClauseId, ClientContext,
    Configuration, ConfirmationRequired, ConfirmationToken, DangerLevel, Details, EndedSession,
    ErrorCode, Failure, FailureReason, Gatekeeper, Operation, OperationName, Oracle, Output,
    Parameters, Persistence, RateLimit, RateLimits, Refusal, Response, RestartedSession, Retention,
    SessionBinding, SessionId, Settings, Status, TokenEvent, TokenStatus, Tolerance, Warning,
};
use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use super::{Changeable, Freedom};

impl Changeable for Environment {
    /// Literally, as the quotient forgets the time where it cannot matter.
    fn bridge() -> McpAqlBridge {
        McpAqlBridge::new(Bounds::SMALL)
            .expect("the presets are in range")
            .literal()
    }

    const KINDS: &[&str] = &[
        "audit TOKEN_ISSUED",
        "audit TOKEN_VALIDATED",
        "audit TOKEN_REJECTED",
        "audit TOKEN_REVOKED",
        "audit warning",
        "respond CONFIRMATION_REQUIRED",
        "respond TOKEN_INVALID",
        "respond TOKEN_EXPIRED",
        "respond TOKEN_ALREADY_USED",
        "respond TOKEN_SCOPE_MISMATCH",
        "respond",
        "perform",
    ];

    fn changes(host: &Host, output: &Output) -> Vec<(Output, Freedom)> {
        let mut changes = Changes {
            output,
            tokens: tokens(host),
            made: Vec::new(),
        };
        match output {
            Output::Audit(Audit::Token(entry)) => changes.of_entry(entry),
            Output::Audit(Audit::Warning(warning)) => changes.of_warning(warning),
            Output::Respond(response) => changes.of_response(response),
            Output::Perform(operation) => changes.of_operation(operation),
        }
        changes.made
    }

    fn refusals() -> Vec<Refusal> {
        let too_long =
            [300, 600, 900].map(|maximum_seconds| Refusal::TimeToLiveTooLong { maximum_seconds });
        let others = [
            Refusal::WithoutExpiry,
            Refusal::ToleranceOutOfRange,
            Refusal::WithoutCritical,
            Refusal::ManyUsesWithoutSession,
            Refusal::NoUses,
            Refusal::SessionWithoutStore,
            Refusal::ScopeWithoutSession,
            Refusal::SessionEnded,
            Refusal::NoKey,
            Refusal::NoFreshToken,
        ];
        too_long.into_iter().chain(others).collect()
    }

    fn fixed(kind: &str, field: &str) -> Option<Value> {
        match (kind, field) {
            ("audit warning", "/kind") => Some(json!("warning")),
            ("respond", "/data/revoked") => Some(json!(true)),
            _ => None,
        }
    }

    const WORDS: &[&str] = &[
        "persistent",
        "in_memory",
        "table",
        "sample",
        "codes",
        "uniform",
        "confirmation",
        "quota_continue",
        "safe",
        "reversible",
        "destructive",
        "dangerous",
        "forbidden",
        "consumed",
        "holder",
        "event",
        "session_end",
    ];

    fn stored(host: &Host) -> Value {
        json!(*host.gatekeeper)
    }

    fn restored(host: &Host, document: Value) -> Option<Host> {
        let gatekeeper: Gatekeeper = serde_json::from_value(document).ok()?;
        let mut host = host.clone();
        host.gatekeeper = Arc::new(gatekeeper);
        Some(host)
    }
}

/// The bridge to a gatekeeper that signs its tokens: one, and two disturbances.
pub fn signing() -> McpAqlBridge {
    let bounds = Bounds {
        tokens: 1,
        disturbances: Budgets::new([1, 1, 1, 1, 1, 1, 0], 2),
        ..Bounds::SIGNED
    };
    McpAqlBridge::new(bounds).expect("the presets are in range")
}

/// Changes of one output.
struct Changes<'a> {
    output: &'a Output,
    tokens: Vec<ConfirmationToken>,
    made: Vec<(Output, Freedom)>,
}

impl Changes<'_> {
    fn to(&mut self, changed: Output) {
        if changed != *self.output {
            self.made.push((changed, Freedom::Bound));
        }
    }

    fn of_entry(&mut self, entry: &AuditEntry) {
        let AuditEntry {
            timestamp,
            event: _,
            token_id: _,
            operation: _,
            adapter_name: _,
            outcome: _,
            failure_reason: _,
            client_context: _,
        } = entry;
        let with = |set: &dyn Fn(&mut AuditEntry)| {
            let mut entry = entry.clone();
            set(&mut entry);
            Output::Audit(Audit::Token(entry))
        };
        for timestamp in around(*timestamp) {
            self.to(with(&|entry| entry.timestamp = timestamp));
        }
        for event in [
            TokenEvent::TokenIssued,
            TokenEvent::TokenValidated,
            TokenEvent::TokenRejected,
            TokenEvent::TokenRevoked,
        ] {
            self.to(with(&|entry| entry.event = event));
        }
        let ids: Vec<_> = self.tokens.iter().map(|token| Some(token.id())).collect();
        for id in ids.into_iter().chain([None]) {
            self.to(with(&|entry| entry.token_id = id));
        }
        for operation in operations() {
            self.to(with(&|entry| entry.operation = operation.clone()));
        }
        for adapter in adapters() {
            self.to(with(&|entry| entry.adapter_name = adapter.clone()));
        }
        for outcome in [AuditOutcome::Success, AuditOutcome::Failure] {
            self.to(with(&|entry| entry.outcome = outcome));
        }
        for reason in REASONS.into_iter().map(Some).chain([None]) {
            self.to(with(&|entry| entry.failure_reason = reason));
        }
        for session_id in sessions() {
            let context = session_id.map(|session_id| ClientContext { session_id });
            self.to(with(&|entry| entry.client_context.clone_from(&context)));
        }
    }

    fn of_warning(&mut self, warning: &Warning) {
        let Warning {
            timestamp,
            kind: _,
            clause: _,
            adapter_name: _,
            text,
        } = warning;
        let with = |set: &dyn Fn(&mut Warning)| {
            let mut warning = warning.clone();
            set(&mut warning);
            Output::Audit(Audit::Warning(warning))
        };
        for timestamp in around(*timestamp) {
            self.to(with(&|warning| warning.timestamp = timestamp));
        }
        self.to(with(&|warning| warning.clause = ClauseId("AQL-5.1-5")));
        for adapter in adapters() {
            self.to(with(&|warning| warning.adapter_name = adapter.clone()));
        }
        for text in [String::new(), format!("{text}0"), text.replace('3', "2")] {
            self.to(with(&|warning| warning.text.clone_from(&text)));
        }
    }

    fn of_operation(&mut self, operation: &Operation) {
        let Operation {
            operation: _,
            params,
            adapter: _,
            session_id: _,
        } = operation;
        let with = |set: &dyn Fn(&mut Operation)| {
            let mut operation = operation.clone();
            set(&mut operation);
            Output::Perform(operation)
        };
        for name in operations() {
            self.to(with(&|operation| operation.operation = name.clone()));
        }
        let wider = [params.as_bytes(), b" "].concat();
        for params in [&wider[..], b"{}", b""] {
            self.to(with(&|operation| {
                operation.params = Parameters::new(params);
            }));
        }
        for adapter in adapters() {
            self.to(with(&|operation| operation.adapter = adapter.clone()));
        }
        for session_id in sessions() {
            self.to(with(&|operation| {
                operation.session_id.clone_from(&session_id);
            }));
        }
    }

    fn of_response(&mut self, response: &Response) {
        if *response != Response::Revoked {
            self.to(Output::Respond(Response::Revoked));
        }
        self.to(Output::Respond(Response::Status(TokenStatus::UNKNOWN)));
        self.to(Output::Respond(Response::Failed(Failure {
            code: ErrorCode::TokenInvalid,
            message: ErrorCode::TokenInvalid.message(),
            details: Details::Nothing {},
        })));
        match response {
            Response::Failed(failure) => self.of_failure(failure),
            Response::Revoked => {}
            Response::Status(status) => self.of_status(status),
        }
    }

    fn of_status(&mut self, status: &TokenStatus) {
        let TokenStatus {
            status: _,
            uses_left,
            expires_at,
        } = status;
        let with = |set: &dyn Fn(&mut TokenStatus)| {
            let mut status = *status;
            set(&mut status);
            Output::Respond(Response::Status(status))
        };
        for word in [
            Status::Live,
            Status::Consumed,
            Status::Expired,
            Status::Revoked,
            Status::Unknown,
        ] {
            self.to(with(&|status| status.status = word));
        }
        let left = uses_left.map_or(0, |left| left + 1);
        for uses in [None, Some(0), Some(1), Some(left)] {
            self.to(with(&|status| status.uses_left = uses));
        }
        let times = around(expires_at.unwrap_or(Timestamp::MAX)).map(Some);
        for time in times.into_iter().chain([None]) {
            self.to(with(&|status| status.expires_at = time));
        }
    }

    fn of_failure(&mut self, failure: &Failure) {
        let Failure {
            code: _,
            message: _,
            details,
        } = failure;
        let with = |set: &dyn Fn(&mut Failure)| {
            let mut failure = failure.clone();
            set(&mut failure);
            Output::Respond(Response::Failed(failure))
        };
        for code in CODES {
            self.to(with(&|failure| failure.code = code));
            self.to(with(&|failure| failure.message = code.message()));
            self.to(with(&|failure| {
                failure.code = code;
                failure.message = code.message();
            }));
        }
        self.to(with(&|failure| failure.message = ""));
        for details in self.details(details) {
            self.to(with(&|failure| failure.details = details.clone()));
        }
    }

    fn details(&self, details: &Details) -> Vec<Details> {
        let problem = Details::Problem {
            problem: "at byte 3".to_owned(),
        };
        let retry = Details::RetryAfter {
            retry_after_seconds: 1,
        };
        let mut all = vec![Details::Nothing {}, problem, retry];
        let tokens = || self.tokens.iter().cloned();
        all.extend(tokens().map(|token| Details::Token { token }));
        match details {
            Details::ConfirmationRequired(required) => all.extend(self.questions(required)),
            Details::Expired {
                token,
                expired_at,
                current_time,
            } => {
                let expired =
                    |token: &ConfirmationToken, expired_at, current_time| Details::Expired {
                        token: token.clone(),
                        expired_at,
                        current_time,
                    };
                all.extend(tokens().map(|token| expired(&token, *expired_at, *current_time)));
                all.extend(around(*expired_at).map(|time| expired(token, time, *current_time)));
                all.extend(around(*current_time).map(|time| expired(token, *expired_at, time)));
            }
            Details::Token { .. }
            | Details::RetryAfter { .. }
            | Details::Problem { .. }
            | Details::Nothing {} => {}
        }
        all
    }

    fn questions(&self, required: &ConfirmationRequired) -> Vec<Details> {
        let ConfirmationRequired {
            operation: _,
            danger_level: _,
            reasons,
            confirmation_message,
            confirmation_token: _,
            expires_at,
        } = required;
        let with = |set: &dyn Fn(&mut ConfirmationRequired)| {
            let mut required = required.clone();
            set(&mut required);
            Details::ConfirmationRequired(Box::new(required))
        };
        let mut all = Vec::new();
        for name in operations() {
            all.push(with(&|required| required.operation = name.clone()));
        }
        for level in DangerLevel::ALL {
            all.push(with(&|required| required.danger_level = level));
        }
        let other = vec!["It is safe.".to_owned()];
        for reasons in [vec![], other.clone(), [&reasons[..], &other].concat()] {
            all.push(with(&|required| required.reasons.clone_from(&reasons)));
        }
        for text in [
            String::new(),
            format!("{confirmation_message} "),
            "Go on?".to_owned(),
        ] {
            all.push(with(&|required| {
                required.confirmation_message.clone_from(&text);
            }));
        }
        for token in &self.tokens {
            all.push(with(&|required| {
                required.confirmation_token = token.clone();
            }));
        }
        for time in around(*expires_at) {
            all.push(with(&|required| required.expires_at = time));
        }
        all
    }
}

const CODES: [ErrorCode; 8] = [
    ErrorCode::ConfirmationRequired,
    ErrorCode::TokenInvalid,
    ErrorCode::TokenExpired,
    ErrorCode::TokenAlreadyUsed,
    ErrorCode::TokenScopeMismatch,
    ErrorCode::InvalidParams,
    ErrorCode::RateLimited,
    ErrorCode::CapacityExceeded,
];

const REASONS: [FailureReason; 15] = [
    FailureReason::Malformed,
    FailureReason::Unknown,
    FailureReason::Revoked,
    FailureReason::Expired,
    FailureReason::AlreadyUsed,
    FailureReason::OtherPurpose,
    FailureReason::OtherOperation,
    FailureReason::OtherParameters,
    FailureReason::OtherAdapter,
    FailureReason::OtherScope,
    FailureReason::OtherRating,
    FailureReason::OtherSession,
    FailureReason::InvalidParams,
    FailureReason::RateLimited,
    FailureReason::CapacityExceeded,
];

/// Those that were handed out, and those that were not.
fn tokens(host: &Host) -> Vec<ConfirmationToken> {
    let issued = host
        .issued
        .iter()
        .flatten()
        .map(|issued| issued.token.clone());
    let others = [
        "conf_guessed",
        "conf_0123456789",
        "quota_continue_0123456789",
    ]
    .map(|text| ConfirmationToken::parse(text).expect("a token"));
    issued.chain(others).collect()
}

fn operations() -> Vec<OperationName> {
    ["delete_files", "drop_table", "introspect", "other"]
        .map(|text| OperationName::parse(text).expect("a name"))
        .to_vec()
}

fn adapters() -> Vec<AdapterName> {
    ["files", "Files", "default", "other"]
        .map(|text| AdapterName::parse(text).expect("a name"))
        .to_vec()
}

fn sessions() -> Vec<Option<SessionId>> {
    let named =
        ["sess_A", "sess_a", "sess_b"].map(|text| Some(SessionId::parse(text).expect("an id")));
    named.into_iter().chain([None]).collect()
}

fn around(time: Timestamp) -> [Timestamp; 3] {
    [-1_000, -1, 1].map(|millis| Timestamp::from_millis(time.millis() + millis))
}

/// A gatekeeper of which nothing is as it is by itself.
pub fn chosen() -> Gatekeeper {
    let limit = |every_seconds| RateLimit::new(7, every_seconds).expect("a limit");
    Gatekeeper::new(Settings {
        adapter: AdapterName::parse("other").expect("a name"),
        check_order: CheckOrder::Sample,
        session_binding: SessionBinding::Every,
        ended_session: EndedSession::ComesBack,
        restarted_session: RestartedSession::GoesOn,
        persistence: Persistence::InMemory,
        capacity: Capacity::new(1_001).expect("room enough"),
        retention: Retention::from_seconds(1).expect("within the hour"),
        rate_limits: RateLimits {
            issuance: Some(limit(1)),
            failed_validation: Some(limit(2)),
            revocation: Some(limit(3)),
        },
        configuration: Arc::new(Configuration {
            tolerance: Tolerance::from_seconds(1).expect("within 300 s"),
            oracle: Oracle::Uniform,
            critical: BTreeMap::from([(operations()[0].clone(), BTreeSet::from(["a".to_owned()]))]),
        }),
    })
}
