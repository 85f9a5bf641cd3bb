//! A call that has to be confirmed: what the host may say of it, and what a token for it is bound to.
//!
//! The one thing to know: what the host says is checked before anything else is done, and the same for a call that
//! asks for a token as for one that brings one.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::digest::ParametersHash;
use super::interface::{Call, Operation, Refusal};
use super::limits::time_to_live;
use super::response::{ConfirmationRequired, Details};
use super::settings::{Configuration, SessionBinding, Settings};
use super::token::Scope;
use super::vocabulary::{AdapterName, ConfirmationToken, DangerLevel, Purpose, SessionId};
use crate::time::Timestamp;

/// Whether a call has to be confirmed: what is dangerous (AQL-1.3-1), and what goes past a quota whatever it is.
pub(super) fn is_gated(purpose: Purpose, danger_level: DangerLevel) -> bool {
    match (purpose, danger_level) {
        (Purpose::Confirmation, DangerLevel::Safe | DangerLevel::Reversible) => false,
        (
            Purpose::Confirmation,
            DangerLevel::Destructive | DangerLevel::Dangerous | DangerLevel::Forbidden,
        )
        | (
            Purpose::QuotaContinue,
            DangerLevel::Safe
            | DangerLevel::Reversible
            | DangerLevel::Destructive
            | DangerLevel::Dangerous
            | DangerLevel::Forbidden,
        ) => true,
    }
}

/// AQL-2.1-1, AQL-5.1-1: what a token for this call is for. A quota token confirms nothing, so a pause of what is dangerous
/// asks for a confirmation.
fn purpose_of_token(purpose: Purpose, danger_level: DangerLevel) -> Purpose {
    if is_gated(Purpose::Confirmation, danger_level) {
        Purpose::Confirmation
    } else {
        purpose
    }
}

/// AQL-5.4-1: the session that a token for this call is bound to. AQL-5.2-3: more than one use, but only within a session.
fn session_of_token(
    call: &Call,
    binding: SessionBinding,
    max_uses: NonZeroU32,
) -> Result<Option<SessionId>, Refusal> {
    let is_for_many = max_uses > NonZeroU32::MIN;
    let by_default = match binding {
        SessionBinding::ManyUses => is_for_many,
        SessionBinding::Every => call.session_id.is_some(),
    };
    let is_bound = call.session_scope.unwrap_or(by_default);
    match &call.session_id {
        Some(session_id) if is_bound => Ok(Some(session_id.clone())),
        Some(_) | None if is_for_many => Err(Refusal::ManyUsesWithoutSession),
        None if is_bound => Err(Refusal::ScopeWithoutSession),
        Some(_) | None => Ok(None),
    }
}

/// What is run in the end. `own` is the adapter of a call that names none.
pub(super) fn operation(call: Call, own: &AdapterName) -> Operation {
    Operation {
        operation: call.operation,
        params: call.params,
        adapter: call.adapter.unwrap_or_else(|| own.clone()),
        session_id: call.session_id,
    }
}

/// A call that has to be confirmed, and that the host may have confirmed.
pub(super) struct Gated {
    pub(super) operation: Operation,
    pub(super) configuration: Arc<Configuration>,
    pub(super) danger_level: DangerLevel,
    pub(super) purpose: Purpose,
    pub(super) max_uses: NonZeroU32,
    /// The session that a token is bound to, if it is to one (AQL-5.4-1).
    pub(super) bound_to: Option<SessionId>,
    pub(super) life_seconds: u32,
    pub(super) expires_at: Timestamp,
    pub(super) valid_until: Timestamp,
    reasons: Option<Vec<String>>,
    confirmation_message: Option<String>,
}

impl Gated {
    /// Checks what the host says of a call at `now`.
    pub(super) fn check(
        mut call: Call,
        settings: &Settings,
        configuration: Arc<Configuration>,
        now: Timestamp,
    ) -> Result<Self, Refusal> {
        let danger_level = call.danger_level;
        let purpose = purpose_of_token(call.purpose, danger_level);
        let seconds = time_to_live(purpose, danger_level, call.ttl_seconds)?;
        let max_uses = NonZeroU32::new(call.max_uses).ok_or(Refusal::NoUses)?;
        let bound_to = session_of_token(&call, settings.session_binding, max_uses)?;
        // AQL-1.2-2, AQL-5.1-2: an expiry that the calendar cannot hold is none.
        let expires_at = now.checked_plus_seconds(seconds);
        let expires_at = expires_at.ok_or(Refusal::WithoutExpiry)?;
        // AQL-5.1-7: the tolerance is added to the expiry.
        let valid_until = expires_at.checked_plus_seconds(configuration.tolerance.seconds());
        let valid_until = valid_until.ok_or(Refusal::WithoutExpiry)?;
        Ok(Self {
            configuration,
            danger_level,
            purpose,
            max_uses,
            bound_to,
            life_seconds: seconds,
            expires_at,
            valid_until,
            reasons: call.reasons.take(),
            confirmation_message: call.confirmation_message.take(),
            operation: operation(call, &settings.adapter),
        })
    }

    /// What a token for this call is bound to, or what is wrong with the parameters.
    pub(super) fn parameters(&self) -> Result<ParametersHash, Details> {
        let Operation {
            operation, params, ..
        } = &self.operation;
        let critical = self.configuration.critical.get(operation);
        ParametersHash::of_call(operation, params, critical).map_err(|problem| Details::Problem {
            problem: problem.to_string(),
        })
    }

    /// What a token for this call is good for (AQL-1.2-3, AQL-3.2-1).
    pub(super) fn scope(&self, parameters: ParametersHash) -> Scope {
        Scope {
            purpose: self.purpose,
            operation: self.operation.operation.clone(),
            parameters,
            adapter: self.operation.adapter.clone(),
            session_id: self.bound_to.clone(),
        }
    }

    /// AQL-3.3-1, AQL-6.3-4: what the client is told, in the host's words where it has any. Nobody can confirm what says
    /// nothing, so blank words are none.
    pub(super) fn confirmation_required(
        self,
        confirmation_token: ConfirmationToken,
    ) -> ConfirmationRequired {
        let operation = self.operation.operation;
        let default_reason = ConfirmationRequired::default_reason(self.danger_level);
        let default_message = || format!("Do you want to run {operation}?");
        let says_something = |text: &String| !text.trim().is_empty();
        let reasons = self.reasons;
        let reasons = reasons.filter(|reasons| reasons.iter().any(says_something));
        let message = self.confirmation_message.filter(says_something);
        ConfirmationRequired {
            danger_level: self.danger_level,
            reasons: reasons.unwrap_or_else(|| vec![default_reason.to_owned()]),
            confirmation_message: message.unwrap_or_else(default_message),
            confirmation_token,
            expires_at: self.expires_at,
            operation,
        }
    }
}
