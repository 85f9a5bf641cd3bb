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
use super::token::{Phase, Scope, TokenNumber};
use super::validate::Received;
use super::vocabulary::{ErrorCode, Oracle, Revoker, SessionId, TokenEvent};

impl Handling<'_> {
    /// AQL-5.3-3: whoever holds a token may give it back.
    pub(super) fn revoke_token(&mut self, token: &str) {
        let (limits, limited) = (self.settings.rate_limits, Limited::Revocation);
        let adapter = &self.settings.adapter;
        let let_through = self.buckets.check(limits, adapter, limited, self.now);
        let received = Received::parse(token);
        let digest = received.as_ref().map(|received| received.digest);
        let token_id = Some(Received::id(received.as_ref(), token));
        // AQL-6.5-1
        if let Err(too_many) = let_through {
            self.audit_revocation(token_id, Some(FailureReason::RateLimited));
            let response = Response::failed(ErrorCode::RateLimited, too_many.into());
            self.outputs.push(Output::Respond(response));
            return;
        }
        self.buckets.take(limits, adapter, limited, self.now);
        if let Some(number) = digest.and_then(|digest| self.tokens.find(&digest)) {
            self.revoke(number, Revoker::Introspection);
            self.outputs.push(Output::Respond(Response::Revoked));
            return;
        }
        // One that is not remembered may be with its holder all the same.
        if let Some(revoked) = received.as_ref().and_then(|it| self.revoke_unkept(it)) {
            self.audit_revocation(token_id, revoked.err());
            self.outputs.push(Output::Respond(Response::Revoked));
            return;
        }
        let reason = match digest {
            Some(_) => FailureReason::Unknown,
            None => FailureReason::Malformed,
        };
        self.audit_revocation(token_id, Some(reason));
        let response = match self.introspection_oracle(None) {
            Oracle::Codes => self.rejection(Oracle::Codes, received, reason, Details::Nothing {}),
            // AQL-6.3-2: the same as for a token that there is.
            Oracle::Uniform => Response::Revoked,
        };
        self.outputs.push(Output::Respond(response));
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

    /// AQL-5.4-2: a token that is bound to a session ends with it.
    pub(super) fn revoke_session(&mut self, session_id: &SessionId, by: Revoker) {
        let live = self.tokens.live_of_session(session_id, self.now);
        self.revoke_all(live, by);
    }

    pub(super) fn revoke_all(&mut self, tokens: BTreeSet<TokenNumber>, by: Revoker) {
        for number in tokens {
            self.revoke(number, by);
        }
    }

    /// AQL-7.2-2: takes one token back, if there is anything to take back, and writes down whether there was.
    fn revoke(&mut self, number: TokenNumber, by: Revoker) {
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
    }

    /// AQL-7.3-1: what has become of a token, and nothing of what it is bound to.
    pub(super) fn token_status(&mut self, token: &str) {
        let received = Received::parse(token);
        let number = received.and_then(|received| self.tokens.find(&received.digest));
        let status = number.map_or(TokenStatus::UNKNOWN, |number| self.status(number));
        let told = match (self.introspection_oracle(number), status.status) {
            (Oracle::Codes, _) | (Oracle::Uniform, Status::Live) => status,
            // AQL-6.3-2: one that is no good is as good as none.
            (
                Oracle::Uniform,
                Status::Consumed | Status::Expired | Status::Revoked | Status::Unknown,
            ) => TokenStatus::UNKNOWN,
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

    /// Introspection is the business of the gatekeeper's own adapter. Of a token of another it tells no more than that one.
    fn introspection_oracle(&self, number: Option<TokenNumber>) -> Oracle {
        let own = self.configuration(&self.settings.adapter).oracle;
        let issuer = number.map(|number| &self.tokens.get(number).scope.adapter);
        issuer.map_or(own, |issuer| own.max(self.configuration(issuer).oracle))
    }
}
