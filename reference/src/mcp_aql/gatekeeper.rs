//! The gatekeeper: configuration and calls. How tokens end before their time is in `ending`.
//!
//! The one thing to know: [`Gatekeeper::handle`] is the only way in. A token is used in the same call that finds it
//! good, before the operation comes out (AQL-5.2-2): there is no moment between the two at which another call could
//! use it too, and a crash after it loses the operation and not the use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::audit::{
    Audit, AuditEntry, AuditOutcome, ClientContext, FailureReason, Warning, WarningKind,
};
use super::digest::{ParametersHash, TokenDigest};
use super::gated::{Gated, is_gated, operation};
use super::interface::{Call, ClauseId, Input, Operation, Outcome, Output, Query, Refusal};
use super::rate::{Buckets, Limited};
use super::response::{Details, Response};
use super::settings::{Configuration, Persistence, Settings, Tolerance};
use super::signed::{Signer, SigningKey};
use super::stored::{Contradiction, Stored};
use super::token::{IssuedToken, Phase};
use super::tokens::Tokens;
use super::validate::{Presented, Received, validate};
use super::vocabulary::{
    AdapterName, ConfirmationToken, ErrorCode, OperationName, Oracle, Revoker, SessionId,
    TokenEvent, TokenId,
};
use crate::ids::IdSource;
use crate::time::Timestamp;

/// How often a token that is taken already is drawn again before the source of ids is given up.
const DRAWS: usize = 8;

/// How many expired tokens a call forgets at most, so that no call takes long however many have expired. Six calls a second
/// are enough to be rid of two million, which is one that can be used and one that has ended for each place, within the hour,
/// remembered for a quarter of it (AQL-5.5-2).
const FORGOTTEN_PER_CALL: usize = 128;

/// A gatekeeper of confirmation tokens: all its state, and nothing but state.
///
/// Cloned, both copies behave alike given the same inputs and ids. Serialised and read back, it is the same value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Gatekeeper {
    settings: Arc<Settings>,
    /// The greatest time that any call came with. Time never goes back, so nothing ever un-expires.
    now: Timestamp,
    /// How the adapters work that were configured.
    adapters: BTreeMap<AdapterName, Arc<Configuration>>,
    tokens: Tokens,
    /// The sessions that have ended and do not come back.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    ended_sessions: BTreeSet<SessionId>,
    /// Where tokens are signed instead of kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signer: Option<Signer>,
    buckets: Buckets,
}

/// All that a gatekeeper holds besides [`Gatekeeper::tokens`], for whoever has to tell two gatekeepers apart. A field that is new has to be
/// looked at there.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// What the host chose.
    pub settings: &'a Settings,
    /// The greatest time so far.
    pub now: Timestamp,
    /// How the adapters work that were configured.
    pub adapters: &'a BTreeMap<AdapterName, Arc<Configuration>>,
    /// The sessions that have ended and do not come back.
    pub ended_sessions: &'a BTreeSet<SessionId>,
    /// Where tokens are signed: the keys, and what was taken back.
    pub signer: Option<&'a Signer>,
    /// What is left of the limits.
    pub buckets: &'a Buckets,
}

impl Gatekeeper {
    /// A gatekeeper that has issued nothing yet, and keeps what it issues.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings: Arc::new(settings),
            now: Timestamp::MIN,
            adapters: BTreeMap::new(),
            tokens: Tokens::default(),
            ended_sessions: BTreeSet::new(),
            signer: None,
            buckets: Buckets::default(),
        }
    }

    /// A gatekeeper that does not keep what it issues, but signs it: section 6.2, AQL-7.3-2. What that costs is told
    /// in `stateless`.
    ///
    /// Serialised it holds the key: keep the document from clients as you keep the key (AQL-6.2-3).
    pub fn signing(settings: Settings, key: SigningKey) -> Self {
        Self {
            signer: Some(Signer::new(key)),
            ..Self::new(settings)
        }
    }

    /// Lets `input` happen at `now`, and forgets some of what has long expired.
    ///
    /// `now` is the host's clock; where it lies before that of an earlier call, the earlier one counts. Carry out
    /// the outputs one at a time and in order. The first call of all, whatever it is, puts out the warning of a long
    /// tolerance in the settings before its own (AQL-5.1-6).
    pub fn handle(&mut self, now: Timestamp, ids: &mut impl IdSource, input: Input) -> Outcome {
        if matches!(input, Input::Restart) {
            self.restart(ids);
        }
        let is_first = self.now == Timestamp::MIN;
        self.now = self.now.max(now);
        // AQL-5.5-1, AQL-5.5-2
        let long_ago = self.settings.retention.beginning(self.now);
        self.tokens.forget_expired(long_ago, FORGOTTEN_PER_CALL);
        if let Some(signer) = &mut self.signer {
            signer.forget_expired(self.now, FORGOTTEN_PER_CALL);
        }
        let mut handling = Handling {
            now: self.now,
            settings: &self.settings,
            adapters: &mut self.adapters,
            tokens: &mut self.tokens,
            ended_sessions: &mut self.ended_sessions,
            signer: &mut self.signer,
            buckets: &mut self.buckets,
            ids,
            outputs: Vec::new(),
        };
        if is_first {
            let Settings {
                adapter,
                configuration,
                ..
            } = handling.settings;
            // AQL-5.1-6: however the tolerance was chosen. Every adapter has this one, and the host's own has a name.
            handling.warn_of(configuration.tolerance, adapter);
        }
        let refused = handling.run(input).err();
        Outcome {
            outputs: handling.outputs,
            refused,
        }
    }

    /// AQL-5.5-1: what was only in memory is gone, the time and the limits with the tokens. What was used cannot come
    /// back either way (AQL-6.1-1).
    fn restart(&mut self, ids: &mut impl IdSource) {
        match self.settings.persistence {
            Persistence::Persistent => {}
            Persistence::InMemory => {
                self.tokens.forget_all();
                self.ended_sessions.clear();
                self.buckets = Buckets::default();
                self.now = Timestamp::MIN;
                if let Some(signer) = &mut self.signer {
                    let bits = [ids.next_bits(), ids.next_bits()];
                    signer.start_anew(SigningKey::from_bits(bits));
                }
            }
        }
    }

    /// When the next token is due to be forgotten. Call [`Gatekeeper::handle`] with [`Input::Tick`] then, if not
    /// before; again as long as this lies in the past.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let retention = i64::from(self.settings.retention.seconds()) * 1_000;
        let after = |valid_until: Timestamp| valid_until.millis() + retention + 1;
        let first = self.tokens.first_expiry();
        let first = first.map(|valid_until| Timestamp::from_millis(after(valid_until)));
        let revoked = self.signer.as_ref().and_then(Signer::next_deadline);
        first.into_iter().chain(revoked).min()
    }

    /// What the host chose.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The gatekeeper's idea of the time: the greatest that any call came with.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// How an adapter works.
    pub fn configuration(&self, adapter: &AdapterName) -> &Configuration {
        self.adapters
            .get(adapter)
            .unwrap_or(&self.settings.configuration)
    }

    /// How many more issues, failed validations and revocations of an adapter are let through now, in that order (AQL-6.5-1);
    /// nothing where there is no limit.
    pub fn left(&self, adapter: &AdapterName) -> [Option<u32>; 3] {
        let kinds = [
            Limited::Issuance,
            Limited::FailedValidation,
            Limited::Revocation,
        ];
        let (limits, now) = (self.settings.rate_limits, self.now);
        kinds.map(|limited| self.buckets.left(limits, adapter, limited, now))
    }

    /// All tokens that are remembered, in the order of issue.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = &IssuedToken> {
        self.tokens.all()
    }

    /// Everything else that the gatekeeper holds.
    pub fn held(&self) -> Held<'_> {
        let Self {
            settings,
            now,
            adapters,
            tokens: _,
            ended_sessions,
            signer,
            buckets,
        } = self;
        Held {
            settings,
            now: *now,
            adapters,
            ended_sessions,
            signer: signer.as_ref(),
            buckets,
        }
    }

    /// What is remembered of a token.
    pub fn token(&self, token: &ConfirmationToken) -> Option<&IssuedToken> {
        self.tokens
            .find(&TokenDigest::of(token))
            .map(|number| self.tokens.get(number))
    }
}

impl TryFrom<Stored> for Gatekeeper {
    type Error = Contradiction;

    fn try_from(stored: Stored) -> Result<Self, Contradiction> {
        stored.check()?;
        let Stored {
            settings,
            now,
            adapters,
            tokens,
            ended_sessions,
            signer,
            buckets,
        } = stored;
        Ok(Self {
            settings,
            now,
            adapters,
            tokens,
            ended_sessions,
            signer,
            buckets,
        })
    }
}

/// One input under way: the parts of the gatekeeper, where fresh ids come from, and what has come out so far.
pub(super) struct Handling<'a> {
    pub(super) now: Timestamp,
    pub(super) settings: &'a Settings,
    pub(super) adapters: &'a mut BTreeMap<AdapterName, Arc<Configuration>>,
    pub(super) tokens: &'a mut Tokens,
    pub(super) ended_sessions: &'a mut BTreeSet<SessionId>,
    pub(super) signer: &'a mut Option<Signer>,
    pub(super) buckets: &'a mut Buckets,
    pub(super) ids: &'a mut dyn IdSource,
    pub(super) outputs: Vec<Output>,
}

impl Handling<'_> {
    fn run(&mut self, input: Input) -> Result<(), Refusal> {
        match input {
            Input::Configure {
                adapter,
                clock_skew_tolerance_seconds,
                oracle,
                critical,
            } => self.configure(adapter, clock_skew_tolerance_seconds, oracle, critical),
            Input::Call(call) => self.call(call),
            Input::Introspect {
                adapter,
                query,
                token,
            } => {
                let adapter = adapter.unwrap_or_else(|| self.settings.adapter.clone());
                match query {
                    Query::RevokeToken => self.revoke_token(&adapter, &token),
                    Query::TokenStatus => self.token_status(&adapter, &token),
                }
                Ok(())
            }
            Input::Event { kind, session_id } => {
                self.event(kind, session_id.as_ref());
                Ok(())
            }
            Input::EndSession { session_id } => {
                self.end_session(session_id);
                Ok(())
            }
            Input::RotateKey { key } => self.rotate_key(key),
            // What it leaves of the tokens was settled before the clock was read.
            Input::Restart => {
                self.end_connections();
                Ok(())
            }
            Input::Tick => Ok(()),
        }
    }

    // Configuration.

    fn configure(
        &mut self,
        adapter: AdapterName,
        tolerance: Option<u64>,
        oracle: Option<Oracle>,
        critical: Option<BTreeMap<OperationName, BTreeSet<String>>>,
    ) -> Result<(), Refusal> {
        // AQL-3.2-1: what names no parameter would bind a token to none.
        if critical.iter().flatten().any(|(_, names)| names.is_empty()) {
            return Err(Refusal::WithoutCritical);
        }
        let before = self.configuration(&adapter);
        // AQL-5.1-5
        let tolerance = match tolerance.map(Tolerance::from_seconds) {
            Some(tolerance) => {
                let tolerance = tolerance.map_err(|_| Refusal::ToleranceOutOfRange)?;
                self.warn_of(tolerance, &adapter);
                tolerance
            }
            None => before.tolerance,
        };
        let configuration = Configuration {
            tolerance,
            oracle: oracle.unwrap_or(before.oracle),
            critical: critical.unwrap_or_else(|| before.critical.clone()),
        };
        // AQL-5.3-2: what was confirmed was confirmed of the adapter as it was. Where nothing changes, it still is; and where
        // only lists do, it still is for the operations of the others.
        if configuration == *before {
            return Ok(());
        }
        let mut live = self.tokens.live_of_adapter(&adapter, self.now);
        let Configuration {
            tolerance,
            oracle,
            critical,
        } = &configuration;
        if (*tolerance, *oracle) == (before.tolerance, before.oracle) {
            live.retain(|&number| {
                let operation = &self.tokens.get(number).scope.operation;
                before.critical.get(operation) != critical.get(operation)
            });
        }
        self.revoke_all(live, Revoker::Configuration);
        self.end_unkept_of(&adapter);
        self.adapters.insert(adapter, Arc::new(configuration));
        Ok(())
    }

    /// AQL-5.1-6: the longer the tolerance, the longer the time for a replay.
    fn warn_of(&mut self, tolerance: Tolerance, adapter: &AdapterName) {
        if tolerance.deserves_a_warning() {
            self.outputs.push(Output::Audit(Audit::Warning(Warning {
                timestamp: self.now,
                kind: WarningKind::Warning,
                clause: ClauseId("AQL-5.1-6"),
                adapter_name: adapter.clone(),
                text: format!(
                    "Tokens are taken for {} s after they have expired.",
                    tolerance.seconds()
                ),
            })));
        }
    }

    pub(super) fn configuration(&self, adapter: &AdapterName) -> Arc<Configuration> {
        let configured = self.adapters.get(adapter);
        Arc::clone(configured.unwrap_or(&self.settings.configuration))
    }

    // Calls.

    fn call(&mut self, mut call: Call) -> Result<(), Refusal> {
        let token = call.confirmation_token.take();
        if !is_gated(call.purpose, call.danger_level) {
            // A token that is not needed is not looked at, and so not used.
            let operation = operation(call, &self.settings.adapter);
            self.outputs.push(Output::Perform(operation));
            return Ok(());
        }
        let adapter = call.adapter.as_ref().unwrap_or(&self.settings.adapter);
        let configuration = self.configuration(adapter);
        let gated = Gated::check(call, self.settings, configuration, self.now)?;
        self.check_session(&gated)?;
        match token {
            None => self.ask(gated),
            Some(token) => {
                self.redeem(gated, &token);
                Ok(())
            }
        }
    }

    /// AQL-1.3-1: nothing is run; the client is told of the danger and gets a token to come back with.
    fn ask(&mut self, gated: Gated) -> Result<(), Refusal> {
        // AQL-5.4-2: a token for a connection that is no more would outlive it.
        if let Some(session_id) = &gated.bound_to
            && self.ended_sessions.contains(session_id)
        {
            return Err(Refusal::SessionEnded);
        }
        let adapter = gated.operation.adapter.clone();
        // AQL-6.5-1
        let (limits, limited) = (self.settings.rate_limits, Limited::Issuance);
        if let Err(too_many) = self.buckets.check(limits, &adapter, limited, self.now) {
            self.fail_to_issue(&gated, FailureReason::RateLimited, too_many.into());
            return Ok(());
        }
        let parameters = match gated.parameters() {
            Ok(parameters) => parameters,
            Err(problem) => {
                self.fail_to_issue(&gated, FailureReason::InvalidParams, problem);
                return Ok(());
            }
        };
        // AQL-5.5-3: what has expired makes room, what can be used does not, and what has ended takes none.
        if self.is_full(&adapter) {
            self.tokens.make_room(&adapter, self.now);
        }
        if self.is_full(&adapter) {
            self.fail_to_issue(&gated, FailureReason::CapacityExceeded, Details::Nothing {});
            return Ok(());
        }
        let token = self.fresh_token(&gated, parameters)?;
        self.buckets.take(limits, &adapter, limited, self.now);
        self.issue(gated, token, parameters);
        Ok(())
    }

    fn is_full(&self, adapter: &AdapterName) -> bool {
        self.tokens.unended_of(adapter) >= self.settings.capacity.tokens()
    }

    /// AQL-3.1-1: one that is remembered is not issued again.
    fn fresh_token(
        &mut self,
        gated: &Gated,
        parameters: ParametersHash,
    ) -> Result<ConfirmationToken, Refusal> {
        for _ in 0..DRAWS {
            let token = self.draw(gated, parameters)?;
            if self.tokens.find(&TokenDigest::of(&token)).is_none() {
                return Ok(token);
            }
        }
        Err(Refusal::NoFreshToken)
    }

    /// Hands out a token that is bound to this very call (AQL-1.2-3, AQL-3.2-1).
    fn issue(&mut self, gated: Gated, token: ConfirmationToken, parameters: ParametersHash) {
        // AQL-1.2-5, AQL-6.4-1
        let event = TokenEvent::TokenIssued;
        self.audit_call(event, &gated.operation, Some(token.id()), None);
        self.keep(IssuedToken {
            digest: TokenDigest::of(&token),
            scope: gated.scope(parameters),
            danger_level: gated.danger_level,
            issued_at: self.now,
            expires_at: gated.expires_at,
            valid_until: gated.valid_until,
            max_uses: gated.max_uses,
            phase: Phase::Live {
                uses_left: gated.max_uses,
            },
        });
        let required = gated.confirmation_required(token);
        let details = Details::ConfirmationRequired(Box::new(required));
        let response = Response::failed(ErrorCode::ConfirmationRequired, details);
        self.outputs.push(Output::Respond(response));
    }

    /// AQL-1.3-2: the token is checked, used, and only then is the operation run (AQL-5.2-2). All in one.
    fn redeem(&mut self, gated: Gated, token: &str) {
        let received = Received::parse(token);
        let token_id = Some(Received::id(received.as_ref(), token));
        match self.use_token(&gated, received.as_ref()) {
            Ok(()) => {
                let event = TokenEvent::TokenValidated;
                self.audit_call(event, &gated.operation, token_id, None);
                self.outputs.push(Output::Perform(gated.operation));
            }
            // AQL-7.1-1: nothing is run, and the token is as it was.
            Err((reason, details)) => {
                let event = TokenEvent::TokenRejected;
                self.audit_call(event, &gated.operation, token_id, Some(reason));
                let response =
                    self.rejection(gated.configuration.oracle, received, reason, details);
                self.outputs.push(Output::Respond(response));
            }
        }
    }

    /// Uses the token for this call, or says why it cannot be.
    fn use_token(
        &mut self,
        gated: &Gated,
        received: Option<&Received>,
    ) -> Result<(), (FailureReason, Details)> {
        let adapter = &gated.operation.adapter;
        // AQL-6.5-1: who has failed too often is not listened to, or the limit would not keep anyone from guessing.
        let (limits, limited) = (self.settings.rate_limits, Limited::FailedValidation);
        self.buckets
            .check(limits, adapter, limited, self.now)
            .map_err(|too_many| (FailureReason::RateLimited, too_many.into()))?;
        self.use_valid_token(gated, received).inspect_err(|_| {
            self.buckets.take(limits, adapter, limited, self.now);
        })
    }

    fn use_valid_token(
        &mut self,
        gated: &Gated,
        received: Option<&Received>,
    ) -> Result<(), (FailureReason, Details)> {
        // Before the token is looked up, so that a failure takes as long whether there is one or not (AQL-6.3-2).
        let parameters = gated
            .parameters()
            .map_err(|problem| (FailureReason::InvalidParams, problem))?;
        let without_details = |reason| (reason, Details::Nothing {});
        let presented = Presented {
            digest: received.map(|received| received.digest),
            purpose: gated.purpose,
            operation: &gated.operation.operation,
            parameters,
            adapter: &gated.operation.adapter,
            danger_level: gated.danger_level,
            session_id: gated.operation.session_id.as_ref(),
            now: self.now,
        };
        if let Some(received) = received {
            self.recall(received, gated, &presented)
                .map_err(without_details)?;
        }
        let valid = validate(&presented, self.tokens, self.settings.check_order)
            .map_err(without_details)?;
        // The phase itself refuses to be used more often than it can be, whatever led here.
        self.tokens
            .transition(valid.redeem(), Phase::use_once)
            .map_err(|_| without_details(FailureReason::AlreadyUsed))
    }

    // What is told and written down.

    /// What the client is told of a token that was not honoured, by the adapter that it was shown to (AQL-4.1-6).
    pub(super) fn rejection(
        &self,
        oracle: Oracle,
        received: Option<Received>,
        reason: FailureReason,
        details: Details,
    ) -> Response {
        let code = reason.code();
        match (code, oracle) {
            // These say nothing of the token.
            (
                ErrorCode::RateLimited | ErrorCode::InvalidParams | ErrorCode::CapacityExceeded,
                _,
            ) => Response::failed(code, details),
            // AQL-4.2-1, AQL-7.1-2
            (_, Oracle::Codes) => Response::failed(code, self.details_of(received, reason)),
            // AQL-6.3-2: the same whatever the reason.
            (_, Oracle::Uniform) => Response::failed(ErrorCode::TokenInvalid, Details::Nothing {}),
        }
    }

    /// The token echoed, and since when it has expired, if it has. AQL-6.3-2: nothing of one that is invalid, for what has
    /// not the form of a token is not echoed either.
    fn details_of(&self, received: Option<Received>, reason: FailureReason) -> Details {
        let Some(received) = received.filter(|_| reason.code() != ErrorCode::TokenInvalid) else {
            return Details::Nothing {};
        };
        let expiry = self.expiry_of(&received);
        let Received { token, .. } = received;
        match (reason, expiry) {
            (FailureReason::Expired, Some(expired_at)) => Details::Expired {
                token,
                expired_at,
                current_time: self.now,
            },
            (_, _) => Details::Token { token },
        }
    }

    fn fail_to_issue(&mut self, gated: &Gated, reason: FailureReason, details: Details) {
        let event = TokenEvent::TokenIssued;
        self.audit_call(event, &gated.operation, None, Some(reason));
        let response = Response::failed(reason.code(), details);
        self.outputs.push(Output::Respond(response));
    }

    /// Writes down what was done with a token in a call.
    fn audit_call(
        &mut self,
        event: TokenEvent,
        operation: &Operation,
        token_id: Option<TokenId>,
        failure: Option<FailureReason>,
    ) {
        let Operation {
            operation,
            adapter,
            session_id,
            ..
        } = operation;
        let (operation, adapter) = (operation.clone(), adapter.clone());
        self.audit(
            event,
            token_id,
            operation,
            adapter,
            session_id.clone(),
            failure,
        );
    }

    /// Writes down what an adapter was asked about a token, and answered.
    pub(super) fn audit_introspection(
        &mut self,
        event: TokenEvent,
        token_id: TokenId,
        adapter: &AdapterName,
        failure: Option<FailureReason>,
    ) {
        let (operation, adapter) = (OperationName::introspect(), adapter.clone());
        self.audit(event, Some(token_id), operation, adapter, None, failure);
    }

    /// AQL-6.4-1: one entry for each thing that is done with a token.
    pub(super) fn audit(
        &mut self,
        event: TokenEvent,
        token_id: Option<TokenId>,
        operation: OperationName,
        adapter_name: AdapterName,
        session_id: Option<SessionId>,
        failure_reason: Option<FailureReason>,
    ) {
        self.outputs.push(Output::Audit(Audit::Token(AuditEntry {
            timestamp: self.now,
            event,
            token_id,
            operation,
            adapter_name,
            outcome: match failure_reason {
                Some(_) => AuditOutcome::Failure,
                None => AuditOutcome::Success,
            },
            failure_reason,
            client_context: session_id.map(|session_id| ClientContext { session_id }),
        })));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SequentialIds;
    use crate::mcp_aql::settings::{
        Capacity, EndedSession, RateLimits, RestartedSession, Retention, SessionBinding,
    };
    use crate::mcp_aql::token::Scope;
    use crate::mcp_aql::vocabulary::CheckOrder;
    use crate::mcp_aql::{Call, DangerLevel, Parameters, Purpose, RateLimit};

    /// Everything that a host can choose, chosen otherwise.
    fn settings() -> Settings {
        let limit = |burst| Some(RateLimit::new(burst, 1_000).expect("in bounds"));
        let critical = BTreeSet::from(["repo".to_owned()]);
        let operation = OperationName::parse("delete_repo").expect("a name");
        Settings {
            adapter: AdapterName::parse("own").expect("a name"),
            check_order: CheckOrder::Sample,
            session_binding: SessionBinding::Every,
            ended_session: EndedSession::ComesBack,
            restarted_session: RestartedSession::GoesOn,
            persistence: Persistence::InMemory,
            capacity: Capacity::new(2_000).expect("in bounds"),
            retention: Retention::from_seconds(5).expect("in bounds"),
            rate_limits: RateLimits {
                issuance: limit(10),
                failed_validation: limit(11),
                revocation: limit(12),
            },
            configuration: Arc::new(Configuration {
                tolerance: Tolerance::from_seconds(7).expect("in bounds"),
                oracle: Oracle::Uniform,
                critical: BTreeMap::from([(operation, critical)]),
            }),
        }
    }

    /// What that one wrote down, read back.
    fn stored(gatekeeper: &Gatekeeper) -> Gatekeeper {
        let written = serde_json::to_string(gatekeeper).expect("serialises");
        serde_json::from_str(&written).expect("written by a gatekeeper")
    }

    fn called(adapter: &str, operation: &str, params: &str, danger_level: DangerLevel) -> Call {
        Call {
            adapter: Some(AdapterName::parse(adapter).expect("a name")),
            operation: OperationName::parse(operation).expect("a name"),
            params: Parameters::new(params),
            danger_level,
            session_id: None,
            session_scope: None,
            max_uses: 1,
            ttl_seconds: None,
            confirmation_token: None,
            purpose: Purpose::Confirmation,
            reasons: None,
            confirmation_message: None,
        }
    }

    fn happens(gatekeeper: &mut Gatekeeper, second: i64, input: Input) {
        let now = Timestamp::from_millis(second * 1_000);
        // Each gets a source of its own, which goes on where the one before has ended.
        let mut ids = SequentialIds::new();
        for _ in 0..second * 10 {
            ids.next_bits();
        }
        assert_eq!(gatekeeper.handle(now, &mut ids, input).refused, None);
    }

    /// AQL-5.5-1, AQL-5.1-5, AQL-6.5-1: a restart loses nothing, neither of what has happened nor of what the host has
    /// chosen.
    #[test]
    fn every_field_survives_storage() {
        let new = Gatekeeper::new(Settings::default());
        let mut gatekeeper = Gatekeeper::signing(settings(), SigningKey::from_bits([1, 2]));
        happens(
            &mut gatekeeper,
            1,
            Input::Configure {
                adapter: AdapterName::parse("github").expect("a name"),
                clock_skew_tolerance_seconds: Some(9),
                oracle: None,
                critical: None,
            },
        );
        happens(
            &mut gatekeeper,
            2,
            Input::Call(called(
                "github",
                "delete_repo",
                "{}",
                DangerLevel::Dangerous,
            )),
        );
        // A signing gatekeeper keeps what comes back; here is what it would have kept.
        let kept = keeping();
        (gatekeeper.tokens, gatekeeper.ended_sessions) = (kept.tokens, kept.ended_sessions);
        assert_every_field_differs!(
            Gatekeeper {
                settings,
                now,
                adapters,
                tokens,
                ended_sessions,
                signer,
                buckets
            },
            &gatekeeper,
            new
        );
        assert_every_field_differs!(
            Settings {
                adapter,
                check_order,
                session_binding,
                ended_session,
                restarted_session,
                persistence,
                capacity,
                retention,
                rate_limits,
                configuration
            },
            gatekeeper.settings,
            new.settings
        );
        assert_every_field_differs!(
            RateLimits {
                issuance,
                failed_validation,
                revocation
            },
            &gatekeeper.settings.rate_limits,
            new.settings.rate_limits
        );
        assert_every_field_differs!(
            Configuration {
                tolerance,
                oracle,
                critical
            },
            gatekeeper.settings.configuration,
            new.settings.configuration
        );
        assert_eq!(stored(&gatekeeper), gatekeeper);
    }

    /// Two tokens that have nothing in common.
    fn keeping() -> Gatekeeper {
        let session = SessionId::parse("s1").expect("a name");
        let mut gatekeeper = Gatekeeper::new(Settings {
            ended_session: EndedSession::StaysEnded,
            ..Settings::default()
        });
        happens(
            &mut gatekeeper,
            1,
            Input::Call(Call {
                session_id: Some(session.clone()),
                max_uses: 2,
                ..called("github", "delete_repo", "{}", DangerLevel::Forbidden)
            }),
        );
        happens(
            &mut gatekeeper,
            2,
            Input::EndSession {
                session_id: session,
            },
        );
        happens(
            &mut gatekeeper,
            2,
            Input::Call(Call {
                purpose: Purpose::QuotaContinue,
                ..called("gitlab", "delete_org", r#"{"a":1}"#, DangerLevel::Safe)
            }),
        );
        gatekeeper
    }

    /// AQL-2.3-1, AQL-5.5-1: nothing of the payload is lost.
    #[test]
    fn every_field_of_a_token_survives_storage() {
        let gatekeeper = keeping();
        let tokens: Vec<_> = gatekeeper.tokens().collect();
        let [one, other] = tokens[..] else {
            panic!("issued two");
        };
        assert_every_field_differs!(
            IssuedToken {
                digest,
                scope,
                danger_level,
                issued_at,
                expires_at,
                valid_until,
                max_uses,
                phase
            },
            one,
            other
        );
        assert_every_field_differs!(
            Scope {
                purpose,
                operation,
                parameters,
                adapter,
                session_id
            },
            &one.scope,
            other.scope
        );
        assert_eq!(one.scope.purpose, Purpose::Confirmation);
        assert_eq!(stored(&gatekeeper), gatekeeper);
    }
}
