//! How tokens end before their time (section 5.3), and what can be asked about them (section 7.3).
//!
//! The one thing to know: a token ends once. What is used, expired or taken back already is not taken back again, and
//! the log says so.

use std::collections::BTreeSet;

use super::audit::FailureReason;
use super::gatekeeper::Handling;
use super::interface::{EventKind, Output};
use super::rate::Limited;
use super::response::{Details, Response, Status, TokenStatus};
use super::settings::{EndedSession, RestartedSession};
use super::token::{Phase, Scope, TokenNumber};
use super::validate::Received;
use super::vocabulary::{AdapterName, ErrorCode, Oracle, Revoker, SessionId, TokenEvent};

impl Handling<'_> {
    /// AQL-5.3-3: whoever holds a token may give it back. What is answered and what is written down agree.
    pub(super) fn revoke_token(&mut self, asked: &AdapterName, token: &str) {
        let (limits, limited) = (self.settings.rate_limits, Limited::Revocation);
        let let_through = self.buckets.check(limits, asked, limited, self.now);
        let received = Received::parse(token);
        let token_id = Received::id(received.as_ref(), token);
        let number = self.number_of(received.as_ref());
        let event = TokenEvent::TokenRevoked;
        // AQL-6.5-1
        if let Err(too_many) = let_through {
            let failure = Some(FailureReason::RateLimited);
            self.audit_introspection(event, token_id, asked, failure);
            let response = Response::failed(ErrorCode::RateLimited, too_many.into());
            self.outputs.push(Output::Respond(response));
            return;
        }
        self.buckets.take(limits, asked, limited, self.now);
        let revoked = if let Some(number) = number {
            self.revoke(number, Revoker::Introspection)
        } else {
            // One that is not remembered may be with its holder all the same.
            let unkept = received.as_ref().and_then(|it| self.revoke_unkept(it));
            let revoked = unkept.unwrap_or(Err(not_found(received.as_ref())));
            self.audit_introspection(event, token_id, asked, revoked.err());
            revoked
        };
        let response = match revoked {
            Ok(()) => Response::Revoked,
            Err(reason) => {
                let oracle = self.configuration(asked).oracle;
                self.rejection(oracle, received, reason, Details::Nothing {})
            }
        };
        self.outputs.push(Output::Respond(response));
    }

    fn number_of(&self, received: Option<&Received>) -> Option<TokenNumber> {
        received.and_then(|received| self.tokens.find(&received.digest))
    }

    /// AQL-5.3-2
    pub(super) fn event(&mut self, kind: EventKind, session_id: Option<&SessionId>) {
        let revoker = match (kind, session_id) {
            (EventKind::Logout, Some(session_id)) => {
                return self.revoke_session(session_id, Revoker::Logout);
            }
            (EventKind::Logout, None) => Revoker::Logout,
            (EventKind::Security, Some(_) | None) => Revoker::Security,
            (EventKind::Configuration, Some(_) | None) => Revoker::Configuration,
        };
        let live = self.tokens.live(self.now);
        self.revoke_all(live, revoker);
        self.end_unkept();
    }

    /// AQL-5.4-2: a token that is bound to a session ends with it, and none comes after.
    pub(super) fn end_session(&mut self, session_id: SessionId) {
        self.revoke_session(&session_id, Revoker::SessionEnd);
        match self.settings.ended_session {
            EndedSession::StaysEnded => {
                self.ended_sessions.insert(session_id);
            }
            EndedSession::ComesBack => {}
        }
    }

    /// AQL-5.4-2: the connections have ended with the process, and the tokens that are bound to them with them.
    pub(super) fn end_connections(&mut self) {
        match self.settings.restarted_session {
            RestartedSession::Ends => {
                let bound = self.tokens.live_of_sessions(self.now);
                self.revoke_all(bound, Revoker::SessionEnd);
            }
            RestartedSession::GoesOn => {}
        }
    }

    fn revoke_session(&mut self, session_id: &SessionId, by: Revoker) {
        let live = self.tokens.live_of_session(session_id, self.now);
        self.revoke_all(live, by);
    }

    pub(super) fn revoke_all(&mut self, tokens: BTreeSet<TokenNumber>, by: Revoker) {
        for number in tokens {
            // What could not be taken back is written down as that.
            let _written = self.revoke(number, by);
        }
    }

    /// AQL-7.2-2: takes one token back, if there is anything to take back, and writes down whether there was.
    fn revoke(&mut self, number: TokenNumber, by: Revoker) -> Result<(), FailureReason> {
        let failure = match self.status(number).status {
            Status::Expired => Some(FailureReason::Expired),
            Status::Live | Status::Consumed | Status::Revoked | Status::Unknown => {
                let revoked = self.tokens.transition(number, |phase| phase.revoke(by));
                revoked.err().map(|_| match self.tokens.get(number).phase {
                    Phase::Revoked { .. } => FailureReason::Revoked,
                    Phase::Consumed | Phase::Live { .. } => FailureReason::AlreadyUsed,
                })
            }
        };
        let token = self.tokens.get(number);
        let Scope {
            operation,
            adapter,
            session_id,
            ..
        } = token.scope.clone();
        let id = Some(token.id());
        let event = TokenEvent::TokenRevoked;
        self.audit(event, id, operation, adapter, session_id, failure);
        failure.map_or(Ok(()), Err)
    }

    /// AQL-7.3-1: what has become of a token, and nothing of what it is bound to. AQL-6.4-1: written down like a validation, of
    /// the operation `introspect`. AQL-6.5-1: limited like one, or it would be the better way to guess.
    pub(super) fn token_status(&mut self, asked: &AdapterName, token: &str) {
        let (limits, limited) = (self.settings.rate_limits, Limited::FailedValidation);
        let received = Received::parse(token);
        let token_id = Received::id(received.as_ref(), token);
        if let Err(too_many) = self.buckets.check(limits, asked, limited, self.now) {
            let reason = Some(FailureReason::RateLimited);
            self.audit_introspection(TokenEvent::TokenRejected, token_id, asked, reason);
            let response = Response::failed(ErrorCode::RateLimited, too_many.into());
            self.outputs.push(Output::Respond(response));
            return;
        }
        let number = self.number_of(received.as_ref());
        let status = number.map_or(TokenStatus::UNKNOWN, |number| self.status(number));
        let failure = match status.status {
            Status::Live => None,
            Status::Consumed => Some(FailureReason::AlreadyUsed),
            Status::Expired => Some(FailureReason::Expired),
            Status::Revoked => Some(FailureReason::Revoked),
            Status::Unknown => Some(not_found(received.as_ref())),
        };
        let event = if failure.is_some() {
            self.buckets.take(limits, asked, limited, self.now);
            TokenEvent::TokenRejected
        } else {
            TokenEvent::TokenValidated
        };
        self.audit_introspection(event, token_id, asked, failure);
        let told = match (self.configuration(asked).oracle, failure) {
            (Oracle::Codes, _) | (Oracle::Uniform, None) => status,
            // AQL-6.3-2: one that is no good is as good as none.
            (Oracle::Uniform, Some(_)) => TokenStatus::UNKNOWN,
        };
        self.outputs.push(Output::Respond(Response::Status(told)));
    }

    fn status(&self, number: TokenNumber) -> TokenStatus {
        let token = self.tokens.get(number);
        let has_expired = token.has_expired(self.now);
        let (status, uses_left) = match token.phase {
            Phase::Revoked { .. } => (Status::Revoked, 0),
            Phase::Live { .. } | Phase::Consumed if has_expired => (Status::Expired, 0),
            Phase::Live { uses_left } => (Status::Live, uses_left.get()),
            Phase::Consumed => (Status::Consumed, 0),
        };
        TokenStatus {
            status,
            uses_left: Some(uses_left),
            expires_at: Some(token.expires_at),
        }
    }
}

/// AQL-4.1-1, AQL-2.2-1: why nothing is known of what came as a token.
fn not_found(received: Option<&Received>) -> FailureReason {
    match received {
        Some(_) => FailureReason::Unknown,
        None => FailureReason::Malformed,
    }
}
