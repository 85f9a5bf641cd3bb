//! From the executor to the model's words: what it put out.
//!
//! The one thing to know: an output that has no word in the model is not passed over. It is [`Unexplained`], and so is an
//! audit entry, a response or an operation to perform that is not in every field what was asked for.

use countersign_model::mcp_aql::action::Action;
use countersign_model::mcp_aql::output::{Output, Status};
use countersign_model::mcp_aql::rules::{Check, Code, Refusal};
use countersign_model::mcp_aql::state::{Phase, State};
use countersign_model::mcp_aql::words::{SLOTS, Slot, Which};
use countersign_reference::mcp_aql as executor;
use countersign_reference::mcp_aql::{
    AdapterName, Audit, AuditEntry, AuditOutcome, ClauseId, ClientContext, ConfirmationToken,
    Details, ErrorCode, EventKind, Failure, FailureReason, Input, Operation, OperationName, Query,
    Response, Revoker, SessionId, TokenEvent, TokenStatus, Warning, WarningKind,
};
use countersign_reference::time::Timestamp;

use super::concrete::{Environment, can_be_had_back, longest_life, place};
use super::issue::{is_gated, is_id_of, is_token, note_issue};
use super::spelling::SECRET;
use super::{Answer, Host, Issued, signing};
use crate::{Unexplained, unexplained};

/// What came out of one call, in the model's words. Notes which token was handed out.
///
/// # Errors
///
/// [`Unexplained`] for the first output that the model has no word for.
pub(super) fn outputs(
    environment: &Environment,
    host: &mut Host,
    (state, action): (&State, Action),
    answer: &Answer,
) -> Result<Vec<Output>, Unexplained> {
    let input = &answer.call;
    let issued = note_issue(environment, host, state, answer)?;
    let (outputs, ended) = signing::without_all(environment, host, (state, action), answer)?;
    let translation = Translation {
        environment,
        host,
        state,
        input,
        presented: Presented::of(host, input),
        issued,
        now: host.gatekeeper.now(),
    };
    // AQL-6.4-1: nor has the model one for what is not looked at.
    if let [
        executor::Output::Audit(Audit::Token(entry)),
        executor::Output::Respond(Response::Failed(failure)),
    ] = outputs
        && let Some((reason, word)) = turned_away(failure.code)
    {
        translation.check_turned_away(entry, reason, failure)?;
        return Ok(vec![word]);
    }
    // AQL-6.4-1: the model has no entry for a status, so that its place is held to here.
    let is_logged_status = matches!(
        outputs,
        [
            executor::Output::Audit(Audit::Token(_)),
            executor::Output::Respond(_)
        ]
    );
    if is_query(input, Query::TokenStatus) && !is_logged_status {
        return Err(unexplained("AQL-6.4-1", "an entry and then the status"));
    }
    let mut words = Vec::with_capacity(answer.outputs.len() + 1);
    for output in outputs {
        words.push(match output {
            executor::Output::Audit(Audit::Token(entry)) if is_query(input, Query::TokenStatus) => {
                translation.status_entry(entry)?;
                continue;
            }
            executor::Output::Audit(Audit::Token(entry)) => translation.entry(entry)?,
            executor::Output::Audit(Audit::Warning(warning)) => translation.warning(warning)?,
            executor::Output::Respond(response) => translation.response(response)?,
            executor::Output::Perform(operation) => translation.performance(operation)?,
        });
    }
    words.extend(ended.into_iter().map(Output::Revoked));
    for word in &words {
        if let Output::Revoked(slot) = word {
            host.revoked[slot.index()] = Some(revoker(input)?);
        }
    }
    if signing::ends_all(input) {
        host.signed = [false; SLOTS];
    }
    if let Some(refused) = answer.refused {
        words.push(Output::Refused(refusal(environment, input, refused)?));
    }
    Ok(words)
}

fn is_query(input: &Input, wanted: Query) -> bool {
    matches!(input, Input::Introspect { query, .. } if *query == wanted)
}

/// AQL-5.3-2, AQL-5.3-3, AQL-5.4-2: who takes tokens back with this call.
fn revoker(input: &Input) -> Result<Revoker, Unexplained> {
    match input {
        Input::Introspect { .. } => Ok(Revoker::Introspection),
        Input::EndSession { .. } => Ok(Revoker::SessionEnd),
        Input::Configure { .. } => Ok(Revoker::Configuration),
        Input::Event { kind, .. } => Ok(match kind {
            EventKind::Logout => Revoker::Logout,
            EventKind::Security => Revoker::Security,
            EventKind::Configuration => Revoker::Configuration,
        }),
        Input::Call(_) | Input::RotateKey { .. } | Input::Tick | Input::Restart => {
            Err(unexplained("AQL-5.3-2", "nothing revoked by such a call"))
        }
    }
}

/// One call and what it is held against.
struct Translation<'a> {
    environment: &'a Environment,
    host: &'a Host,
    /// The model state before.
    state: &'a State,
    input: &'a Input,
    presented: Presented,
    /// The token that was handed out.
    issued: Option<Slot>,
    now: Timestamp,
}

/// What came as a token.
enum Presented {
    /// No token was sent.
    Nothing,
    /// A token that was handed out.
    Token(Slot),
    /// A text in the form of a token, and that token.
    Stray(ConfirmationToken),
    /// This text, that has not the form of a token.
    Malformed(String),
}

/// What an audit entry speaks of (AQL-6.4-1).
struct Subject<'a> {
    operation: &'a OperationName,
    adapter: &'a AdapterName,
    session_id: Option<&'a SessionId>,
}

impl Presented {
    fn of(host: &Host, input: &Input) -> Self {
        let text = match input {
            Input::Call(call) => call.confirmation_token.as_deref(),
            Input::Introspect { token, .. } => Some(token.as_str()),
            Input::Configure { .. }
            | Input::Event { .. }
            | Input::EndSession { .. }
            | Input::RotateKey { .. }
            | Input::Tick
            | Input::Restart => None,
        };
        let Some(text) = text else {
            return Self::Nothing;
        };
        match host.slot_where(|issued| issued.token.as_str() == text) {
            Some(slot) => Self::Token(slot),
            None => match ConfirmationToken::parse(text) {
                Ok(token) if is_token(text) => Self::Stray(token),
                Ok(_) | Err(_) => Self::Malformed(text.to_owned()),
            },
        }
    }

    /// AQL-6.4-1: whether an entry names it: by the first 16 digits of its SHA-256, token or not.
    fn is_named(&self, host: &Host, named: Option<executor::TokenId>) -> bool {
        match self {
            Self::Nothing => named.is_none(),
            Self::Malformed(text) => named.is_some_and(|named| is_id_of(named, text)),
            Self::Token(slot) => named == Some(host.issued(*slot).id),
            Self::Stray(token) => named.is_some_and(|named| is_id_of(named, token.as_str())),
        }
    }
}

impl Translation<'_> {
    /// AQL-6.4-1: an entry in the operator's log.
    fn entry(&self, entry: &AuditEntry) -> Result<Output, Unexplained> {
        match (entry.outcome, entry.failure_reason) {
            (AuditOutcome::Success, None) => self.success(entry),
            (AuditOutcome::Failure, Some(reason)) => self.failed(entry, reason),
            (AuditOutcome::Success, Some(_)) | (AuditOutcome::Failure, None) => Err(unexplained(
                "AQL-6.4-1",
                "a reason for a failure and none for a success",
            )),
        }
    }

    fn success(&self, entry: &AuditEntry) -> Result<Output, Unexplained> {
        match entry.event {
            TokenEvent::TokenIssued => {
                let slot = self.issued.ok_or_else(|| {
                    unexplained("AQL-6.4-1", "no issue in the log but of a token handed out")
                })?;
                self.check_entry(entry, &Presented::Token(slot), &self.call()?)?;
                Ok(Output::Issued(slot))
            }
            TokenEvent::TokenValidated => {
                let Presented::Token(slot) = self.presented else {
                    return Err(unexplained("AQL-4.1-1", "nothing for a token never issued"));
                };
                self.check_entry(entry, &self.presented, &self.call()?)?;
                Ok(Output::Validated(slot))
            }
            TokenEvent::TokenRevoked => {
                let named = |issued: &Issued| entry.token_id == Some(issued.id);
                let slot = self.host.slot_where(named).ok_or_else(|| {
                    unexplained("AQL-6.4-1", "no revocation in the log but of a token")
                })?;
                self.check_entry(entry, &Presented::Token(slot), &self.of_token(slot))?;
                Ok(Output::Revoked(slot))
            }
            TokenEvent::TokenRejected => Err(unexplained("AQL-6.4-1", "a rejection as failure")),
        }
    }

    fn failed(&self, entry: &AuditEntry, reason: FailureReason) -> Result<Output, Unexplained> {
        match entry.event {
            TokenEvent::TokenRejected => {
                self.check_entry(entry, &self.presented, &self.call()?)?;
                self.check(reason).map(Output::Rejected)
            }
            TokenEvent::TokenRevoked => {
                let wanted = self.why_not_revoked();
                if wanted.is_some_and(|wanted| reason != wanted) {
                    return Err(unexplained("AQL-6.4-1", format!("{wanted:?} as reason")));
                }
                self.check_entry(entry, &self.presented, &self.unrevoked(reason))?;
                Ok(Output::NotRevoked)
            }
            // What is turned away is not looked at, and all parameters have a canonical form.
            TokenEvent::TokenIssued | TokenEvent::TokenValidated => Err(unexplained(
                "AQL-6.4-1",
                "no issue and no validation that fails",
            )),
        }
    }

    /// AQL-6.4-1, AQL-7.3-1: the entry of a status is that of a validation, by the query.
    fn status_entry(&self, entry: &AuditEntry) -> Result<(), Unexplained> {
        let reason = match self.presented {
            // AQL-7.3-2: of one that is not held nothing is known.
            Presented::Token(slot) if !self.host.holds(slot) => Some(FailureReason::Unknown),
            Presented::Token(_)
            | Presented::Nothing
            | Presented::Stray(_)
            | Presented::Malformed(_) => self.why_not_revoked(),
        };
        let (event, outcome) = match reason {
            None => (TokenEvent::TokenValidated, AuditOutcome::Success),
            Some(_) => (TokenEvent::TokenRejected, AuditOutcome::Failure),
        };
        if (entry.event, entry.outcome, entry.failure_reason) != (event, outcome, reason) {
            let text = format!("an entry of {event:?}, {reason:?}");
            return Err(unexplained("AQL-6.4-1", text));
        }
        self.check_entry(entry, &self.presented, &self.query())
    }

    /// AQL-6.4-1, AQL-6.5-1, AQL-5.5-3: what is not looked at is written down as that, and the client is told when to come again,
    /// or that there is no room.
    fn check_turned_away(
        &self,
        entry: &AuditEntry,
        reason: FailureReason,
        failure: &Failure,
    ) -> Result<(), Unexplained> {
        let (event, subject) = match self.input {
            Input::Call(call) if call.confirmation_token.is_none() => {
                (TokenEvent::TokenIssued, self.call()?)
            }
            Input::Call(_) => (TokenEvent::TokenRejected, self.call()?),
            Input::Introspect {
                query: Query::RevokeToken,
                ..
            } => (TokenEvent::TokenRevoked, self.query()),
            Input::Introspect { .. }
            | Input::Configure { .. }
            | Input::Event { .. }
            | Input::EndSession { .. }
            | Input::RotateKey { .. }
            | Input::Tick
            | Input::Restart => (TokenEvent::TokenRejected, self.query()),
        };
        let wanted = (event, AuditOutcome::Failure, Some(reason));
        if (entry.event, entry.outcome, entry.failure_reason) != wanted {
            return Err(unexplained("AQL-6.4-1", format!("an entry of {wanted:?}")));
        }
        self.check_entry(entry, &self.presented, &subject)?;
        let agrees = match failure.details {
            Details::RetryAfter {
                retry_after_seconds,
            } => {
                can_be_had_back(retry_after_seconds, self.now)
                    && reason == FailureReason::RateLimited
            }
            Details::Nothing {} => reason == FailureReason::CapacityExceeded,
            Details::ConfirmationRequired(_)
            | Details::Expired { .. }
            | Details::Token { .. }
            | Details::Problem { .. } => false,
        };
        if agrees && has_own_message(failure) {
            return Ok(());
        }
        Err(unexplained(
            reason.clause().0,
            "its message, and when to come again",
        ))
    }

    fn check_entry(
        &self,
        entry: &AuditEntry,
        token: &Presented,
        subject: &Subject<'_>,
    ) -> Result<(), Unexplained> {
        // What was done, whether, and why not has led here.
        let AuditEntry {
            timestamp,
            event: _,
            token_id,
            operation,
            adapter_name,
            outcome: _,
            failure_reason: _,
            client_context,
        } = entry;
        let session_id = client_context.as_ref().map(|context| {
            let ClientContext { session_id } = context;
            session_id
        });
        let agrees = *timestamp == self.now
            && token.is_named(self.host, *token_id)
            && operation == subject.operation
            && adapter_name == subject.adapter
            && session_id == subject.session_id;
        if agrees {
            return Ok(());
        }
        // AQL-4.1-1, AQL-2.2-3: what is nearly a token is none.
        let is_other = |issued: &Issued| entry.token_id == Some(issued.id);
        if !matches!(token, Presented::Token(_)) && self.host.slot_where(is_other).is_some() {
            return Err(unexplained(
                "AQL-4.1-1",
                "a token never issued, taken for none",
            ));
        }
        let text = format!(
            "an entry at {} that names the token, {}, {} and {:?}",
            self.now, subject.operation, subject.adapter, subject.session_id
        );
        Err(unexplained("AQL-6.4-1", text))
    }

    /// The call that is made.
    fn call(&self) -> Result<Subject<'_>, Unexplained> {
        let Input::Call(call) = self.input else {
            return Err(unexplained("AQL-6.4-1", "no entry of a call without one"));
        };
        Ok(Subject {
            operation: &call.operation,
            adapter: self.environment.adapter_of(call),
            session_id: call.session_id.as_ref(),
        })
    }

    /// What a token is bound to.
    fn bound(&self, slot: Slot) -> Subject<'_> {
        let call = &self.host.issued(slot).call;
        Subject {
            operation: &call.operation,
            adapter: self.environment.adapter_of(call),
            // AQL-5.4-1
            session_id: call.session_id.as_ref().filter(|_| call.max_uses > 1),
        }
    }

    /// What an entry speaks of when nothing was revoked: the token's call, or the query if it is unknown.
    fn unrevoked(&self, reason: FailureReason) -> Subject<'_> {
        match self.presented {
            Presented::Token(slot) if reason != FailureReason::Unknown => self.of_token(slot),
            Presented::Token(_)
            | Presented::Nothing
            | Presented::Stray(_)
            | Presented::Malformed(_) => self.query(),
        }
    }

    /// What an entry speaks of that is about a token: what it is bound to, or the query where that is not known.
    fn of_token(&self, slot: Slot) -> Subject<'_> {
        if self.environment.signs && !self.host.holds(slot) {
            self.query()
        } else {
            self.bound(slot)
        }
    }

    /// A question about a token.
    fn query(&self) -> Subject<'_> {
        Subject {
            operation: &self.environment.introspect,
            adapter: &self.environment.settings.adapter,
            session_id: None,
        }
    }

    /// Whether the token has ended with its adapter.
    fn ended_with_adapter(&self) -> bool {
        match self.presented {
            Presented::Token(slot) => signing::ended_with_adapter(self.host, self.state, slot),
            Presented::Nothing | Presented::Stray(_) | Presented::Malformed(_) => false,
        }
    }

    /// Why there was nothing to revoke: revoked before expired before used, as a call would find. Nothing if there was.
    fn why_not_revoked(&self) -> Option<FailureReason> {
        let slot = match &self.presented {
            Presented::Nothing | Presented::Malformed(_) => return Some(FailureReason::Malformed),
            Presented::Token(slot) if self.host.knows(*slot) => *slot,
            Presented::Token(_) | Presented::Stray(_) => return Some(FailureReason::Unknown),
        };
        let token = self.state.token(slot);
        let is_past = token.is_past(self.state.now(0), self.state.tolerance());
        match token.phase {
            // Who signs forgets with its time that it was given back.
            Phase::Revoked if is_past && self.environment.signs => Some(FailureReason::Expired),
            Phase::Revoked => Some(FailureReason::Revoked),
            Phase::Live | Phase::Consumed if is_past => Some(FailureReason::Expired),
            Phase::Consumed => Some(FailureReason::AlreadyUsed),
            Phase::Unissued | Phase::Live | Phase::Lost => None,
        }
    }

    /// The check at which a call was rejected.
    fn check(&self, reason: FailureReason) -> Result<Check, Unexplained> {
        let is_malformed = matches!(self.presented, Presented::Malformed(_));
        Ok(match reason {
            FailureReason::Malformed if is_malformed => Check::Exists,
            FailureReason::Unknown if !is_malformed => Check::Exists,
            FailureReason::Malformed | FailureReason::Unknown => {
                return Err(unexplained("AQL-2.2-1", "the grammar of tokens, kept"));
            }
            FailureReason::Revoked => Check::NotRevoked,
            FailureReason::Expired => Check::NotExpired,
            FailureReason::AlreadyUsed => Check::NotUsed,
            FailureReason::OtherPurpose => Check::Purpose,
            FailureReason::OtherOperation => Check::Operation,
            FailureReason::OtherParameters => Check::Parameters,
            FailureReason::OtherAdapter => Check::Adapter,
            FailureReason::OtherSession => Check::Session,
            FailureReason::OtherScope if self.environment.signs => self.other_scope()?,
            FailureReason::OtherScope => {
                return Err(unexplained("AQL-7.2-1", "tokens kept, not signed"));
            }
            FailureReason::OtherRating => {
                return Err(unexplained("AQL-5.1-1", "a rating no higher than at issue"));
            }
            FailureReason::InvalidParams => {
                return Err(unexplained(
                    "AQL-3.2-3",
                    "a canonical form of the parameters",
                ));
            }
            FailureReason::RateLimited | FailureReason::CapacityExceeded => {
                return Err(unexplained("AQL-6.4-1", TURNED_AWAY));
            }
        })
    }

    /// The first check of the scope that the call fails.
    fn other_scope(&self) -> Result<Check, Unexplained> {
        let Presented::Token(slot) = self.presented else {
            return Err(unexplained("AQL-4.1-1", "nothing for a token never issued"));
        };
        signing::other_scope(self.environment, self.host, self.input, slot)
            .ok_or_else(|| unexplained("AQL-1.3-2", "a token for this very call, taken"))
    }

    /// AQL-5.1-6: the warning says which adapter takes tokens for how long.
    fn warning(&self, warning: &Warning) -> Result<Output, Unexplained> {
        let Input::Configure {
            adapter,
            clock_skew_tolerance_seconds: Some(seconds),
            ..
        } = self.input
        else {
            return Err(unexplained("AQL-5.1-6", "no warning but of a tolerance"));
        };
        let wanted = Warning {
            timestamp: self.now,
            kind: WarningKind::Warning,
            clause: ClauseId("AQL-5.1-6"),
            adapter_name: adapter.clone(),
            text: format!("Tokens are taken for {seconds} s after they have expired."),
        };
        let named = Which::ALL
            .into_iter()
            .find(|&which| self.environment.adapters[place(which)] == *adapter);
        match named {
            Some(which) if wanted == *warning => Ok(Output::Warned(which)),
            Some(_) | None => Err(unexplained("AQL-5.1-6", format!("{wanted:?}"))),
        }
    }

    /// AQL-1.2-3: what is performed is the call, in every field and byte.
    fn performance(&self, performed: &Operation) -> Result<Output, Unexplained> {
        let Input::Call(call) = self.input else {
            return Err(unexplained(
                "AQL-1.3-2",
                "nothing performed that is not called",
            ));
        };
        let wanted = Operation {
            operation: call.operation.clone(),
            params: call.params.clone(),
            adapter: self.environment.adapter_of(call).clone(),
            session_id: call.session_id.clone(),
        };
        if *performed != wanted {
            return Err(unexplained(
                "AQL-1.2-3",
                format!("{call:?} performed as called"),
            ));
        }
        Ok(match self.presented {
            Presented::Token(slot) if is_gated(call) => Output::Perform(slot),
            Presented::Token(_)
            | Presented::Nothing
            | Presented::Stray(_)
            | Presented::Malformed(_) => Output::PerformUngated,
        })
    }

    fn response(&self, response: &Response) -> Result<Output, Unexplained> {
        let word = match response {
            Response::Failed(failure) if is_query(self.input, Query::RevokeToken) => {
                self.unrevoked_answer(failure)?
            }
            Response::Failed(failure) => self.failure(failure)?,
            Response::Revoked if self.why_not_revoked().is_some() && !self.ended_with_adapter() => {
                None
            }
            Response::Revoked => Some(Output::AnswerRevocation),
            Response::Status(status) => self.status(*status),
        };
        if let Some(word) = word {
            return Ok(word);
        }
        let text = serde_json::to_string(response).unwrap_or_default();
        if text.contains(SECRET) {
            return Ok(Output::Expose);
        }
        let clause = match response {
            Response::Failed(_) if self.state.is_uniform() => "AQL-6.3-2",
            Response::Failed(_) => "AQL-4.2-1",
            Response::Revoked => "AQL-5.3-3",
            Response::Status(_) => "AQL-7.3-1",
        };
        Err(unexplained(
            clause,
            "what goes with such a response, and nothing else",
        ))
    }

    /// AQL-5.3-3, AQL-6.4-1: what could not be revoked is answered with the code of the reason. The model answers it as revoked,
    /// but where codes are told and there is no such token.
    fn unrevoked_answer(&self, failure: &Failure) -> Result<Option<Output>, Unexplained> {
        let Some(reason) = self.why_not_revoked() else {
            return Ok(None);
        };
        let code = if self.state.is_uniform() {
            ErrorCode::TokenInvalid
        } else {
            reason.code()
        };
        let word = self.failure(failure)?.filter(|_| failure.code == code);
        let is_found = !matches!(reason, FailureReason::Unknown | FailureReason::Malformed);
        Ok(if self.state.is_uniform() || is_found {
            word.map(|_| Output::AnswerRevocation)
        } else {
            word
        })
    }

    /// A failure as AQL-4.2-1 has it; nothing if its message or its details are not those of its code.
    fn failure(&self, failure: &Failure) -> Result<Option<Output>, Unexplained> {
        let code = match failure.code {
            ErrorCode::ConfirmationRequired => {
                // What it says was checked when the token was noted.
                let slot = self.issued.filter(|_| has_own_message(failure));
                return Ok(slot.map(Output::ConfirmationRequired));
            }
            ErrorCode::TokenInvalid => Code::Invalid,
            ErrorCode::TokenExpired => Code::Expired,
            ErrorCode::TokenAlreadyUsed => Code::AlreadyUsed,
            ErrorCode::TokenScopeMismatch => Code::ScopeMismatch,
            ErrorCode::InvalidParams => {
                return Err(unexplained(
                    "AQL-3.2-3",
                    "a canonical form of the parameters",
                ));
            }
            ErrorCode::RateLimited | ErrorCode::CapacityExceeded => {
                return Err(unexplained("AQL-6.4-1", TURNED_AWAY));
            }
        };
        let agrees = has_own_message(failure) && failure.details == self.details(code);
        Ok(agrees.then_some(Output::Fail(code)))
    }

    /// The details that go with a code: the token echoed unless it is invalid, and since when it has expired. Nothing in the mode without oracle.
    fn details(&self, code: Code) -> Details {
        if self.state.is_uniform() {
            return Details::Nothing {};
        }
        match &self.presented {
            // AQL-6.3-2: what is invalid is not echoed, whether it has the form of a token or not.
            _ if code == Code::Invalid => Details::Nothing {},
            Presented::Nothing | Presented::Malformed(_) => Details::Nothing {},
            Presented::Stray(token) => Details::Token {
                token: token.clone(),
            },
            Presented::Token(slot) => {
                let issued = self.host.issued(*slot);
                let token = issued.token.clone();
                match code {
                    Code::Expired => Details::Expired {
                        token,
                        expired_at: issued.expires_at,
                        current_time: self.now,
                    },
                    Code::Invalid | Code::AlreadyUsed | Code::ScopeMismatch => {
                        Details::Token { token }
                    }
                }
            }
        }
    }

    /// AQL-7.3-1: a status with the uses left and the expiry of the token, and nothing of an unknown one.
    fn status(&self, found: TokenStatus) -> Option<Output> {
        let uses_left = found.uses_left.unwrap_or_default();
        let status = match found.status {
            executor::Status::Live => Status::Live {
                uses_left: u8::try_from(uses_left).unwrap_or(u8::MAX),
            },
            executor::Status::Consumed => Status::Consumed,
            executor::Status::Expired => Status::Expired,
            executor::Status::Revoked => Status::Revoked,
            executor::Status::Unknown => Status::Unknown,
        };
        let wanted = match (&self.presented, found.status) {
            (_, executor::Status::Unknown) => TokenStatus::UNKNOWN,
            (Presented::Token(slot), _) => TokenStatus {
                status: found.status,
                uses_left: Some(match status {
                    Status::Live { .. } => uses_left,
                    Status::Consumed | Status::Expired | Status::Revoked | Status::Unknown => 0,
                }),
                expires_at: Some(self.host.issued(*slot).expires_at),
            },
            (Presented::Nothing | Presented::Stray(_) | Presented::Malformed(_), _) => return None,
        };
        (found == wanted).then_some(Output::AnswerStatus(status))
    }
}

/// What has to come out where a call is not looked at.
const TURNED_AWAY: &str = "an entry and then the response, of what is turned away";

/// AQL-6.5-1, AQL-5.5-3: why a call is not looked at, if it is not.
fn turned_away(code: ErrorCode) -> Option<(FailureReason, Output)> {
    match code {
        ErrorCode::RateLimited => Some((FailureReason::RateLimited, Output::Limited)),
        ErrorCode::CapacityExceeded => Some((FailureReason::CapacityExceeded, Output::Full)),
        ErrorCode::ConfirmationRequired
        | ErrorCode::TokenInvalid
        | ErrorCode::TokenExpired
        | ErrorCode::TokenAlreadyUsed
        | ErrorCode::TokenScopeMismatch
        | ErrorCode::InvalidParams => None,
    }
}

/// AQL-4.2-1: what the client reads of a code.
fn has_own_message(failure: &Failure) -> bool {
    let message = match failure.code {
        ErrorCode::ConfirmationRequired => "This operation has to be confirmed.",
        ErrorCode::TokenInvalid => "The confirmation token is not valid.",
        ErrorCode::TokenExpired => "The confirmation token has expired.",
        ErrorCode::TokenAlreadyUsed => "The confirmation token was used already.",
        ErrorCode::TokenScopeMismatch => "The confirmation token is for something else.",
        ErrorCode::InvalidParams => "No token can be bound to these parameters.",
        ErrorCode::RateLimited => "Too many requests. Try again later.",
        ErrorCode::CapacityExceeded => "Too many confirmations are open. Try again later.",
    };
    failure.message == message
}

fn refusal(
    environment: &Environment,
    input: &Input,
    refusal: executor::Refusal,
) -> Result<Refusal, Unexplained> {
    let longest = match input {
        Input::Call(call) => longest_life(call),
        Input::Configure { .. }
        | Input::Introspect { .. }
        | Input::Event { .. }
        | Input::EndSession { .. }
        | Input::RotateKey { .. }
        | Input::Tick
        | Input::Restart => 0,
    };
    match refusal {
        executor::Refusal::TimeToLiveTooLong { maximum_seconds } if maximum_seconds == longest => {
            Ok(Refusal::LongLifetime)
        }
        executor::Refusal::TimeToLiveTooLong { .. } => Err(unexplained(
            "AQL-5.1-1",
            format!("a maximum of {longest} s"),
        )),
        executor::Refusal::WithoutExpiry => Ok(Refusal::NoLifetime),
        executor::Refusal::ToleranceOutOfRange => Ok(Refusal::WideTolerance),
        executor::Refusal::WithoutCritical => {
            Err(unexplained("AQL-3.2-1", "rules that name a parameter"))
        }
        executor::Refusal::ManyUsesWithoutSession => Ok(Refusal::LooseMultiUse),
        executor::Refusal::NoUses => Err(unexplained("AQL-5.4-1", "a use at least")),
        executor::Refusal::NoFreshToken => Err(unexplained("AQL-3.1-1", "a fresh token")),
        executor::Refusal::SessionWithoutStore if environment.signs => {
            Ok(Refusal::BoundWithoutStore)
        }
        // An executor that keeps its tokens has no key.
        // Nor does the model ask for a scope, and its sessions come back.
        executor::Refusal::SessionWithoutStore
        | executor::Refusal::ScopeWithoutSession
        | executor::Refusal::SessionEnded
        | executor::Refusal::NoKey => {
            let clause = refusal.clause().0;
            Err(unexplained(clause, format!("no refusal because {refusal}")))
        }
    }
}
