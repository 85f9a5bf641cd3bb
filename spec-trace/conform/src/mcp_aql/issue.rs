//! Which token was handed out, held against the call that it was handed out for.
//!
//! The one thing to know: what is noted here is what the call asked for by the text of section 5.1, and not what the executor
//! says that it has granted; the two are compared.

use std::sync::Arc;

use countersign_model::mcp_aql::state::State;
use countersign_model::mcp_aql::words::Slot;
use countersign_reference::mcp_aql as executor;
use countersign_reference::mcp_aql::{Call, ConfirmationRequired, Input};
use countersign_reference::time::Timestamp;

use super::concrete::{Environment, later, life, longest_life, sha_256};
use super::{Answer, Host, Issued};
use crate::{Unexplained, unexplained};

/// The next free slot takes the token that was just handed out.
pub(super) fn note_issue(
    environment: &Environment,
    host: &mut Host,
    state: &State,
    answer: &Answer,
) -> Result<Option<Slot>, Unexplained> {
    let Some(required) = answer
        .outputs
        .iter()
        .find_map(executor::Output::confirmation_required)
    else {
        return Ok(None);
    };
    let Input::Call(call) = &answer.call else {
        return Err(unexplained("AQL-1.3-1", "no token but for a call"));
    };
    if !is_gated(call) {
        return Err(unexplained("AQL-5.1-8", "no token for what needs none"));
    }
    let token = &required.confirmation_token;
    if host.slot_where(|issued| issued.token == *token).is_some() {
        return Err(unexplained(
            "AQL-3.1-1",
            "a token that was never issued before",
        ));
    }
    let free = Slot::ALL
        .into_iter()
        .find(|slot| host.issued[slot.index()].is_none());
    let slot = free.ok_or_else(|| unexplained("AQL-1.3-1", "no further token"))?;
    let issued_at = host.gatekeeper.now();
    let expires_at = later(issued_at, life(call));
    check_question(call, required, expires_at)?;
    if !is_id_of(token.id(), token.as_str()) {
        return Err(unexplained("AQL-6.4-1", "16 digits of SHA-256 as id"));
    }
    host.signed[slot.index()] = environment.signs;
    host.issued[slot.index()] = Some(Arc::new(Issued {
        call: call.clone(),
        token: token.clone(),
        id: token.id(),
        bound: environment.bound(call, state),
        issued_at,
        expires_at,
        valid_until: later(expires_at, environment.seconds(state.tolerance())),
    }));
    Ok(Some(slot))
}

/// AQL-3.3-1, AQL-6.3-4: the client is told what was called, how dangerous it is, in the host's words where it has any,
/// and until when its token can be used.
fn check_question(
    call: &Call,
    required: &ConfirmationRequired,
    expires_at: Timestamp,
) -> Result<(), Unexplained> {
    let ConfirmationRequired {
        operation,
        danger_level,
        reasons,
        confirmation_message,
        confirmation_token,
        expires_at: told,
    } = required;
    let token = confirmation_token.as_str();
    let prefix = match call.purpose {
        executor::Purpose::Confirmation => "conf_",
        executor::Purpose::QuotaContinue => "quota_continue_",
    };
    let default_reasons = || vec![reason(call.danger_level).to_owned()];
    let wanted_reasons = call.reasons.clone().unwrap_or_else(default_reasons);
    let default_message = || format!("Do you want to run {}?", call.operation);
    let wanted_message = call.confirmation_message.clone();
    let wanted_message = wanted_message.unwrap_or_else(default_message);
    // A lifetime that had to be refused has no right expiry.
    let is_refused = !(1..=longest_life(call).into()).contains(&life(call));
    let expires = *told == expires_at || is_refused;
    let held = [
        (
            *operation == call.operation,
            "AQL-3.3-1",
            "the operation called",
        ),
        (
            *danger_level == call.danger_level,
            "AQL-3.3-1",
            "its danger level",
        ),
        (
            *reasons == wanted_reasons,
            "AQL-6.3-4",
            "the host's reasons, or the one of the danger level",
        ),
        (
            *confirmation_message == wanted_message,
            "AQL-6.3-4",
            "the host's message, or one that names the operation",
        ),
        (
            token.starts_with(prefix),
            "AQL-2.1-1",
            "the prefix of its purpose",
        ),
        (is_token(token), "AQL-2.2-1", "a token of the form of 2.2"),
        (expires, "AQL-5.1-1", "the lifetime of 5.1"),
    ];
    match held.into_iter().find(|(holds, ..)| !holds) {
        Some((_, clause, text)) => Err(unexplained(clause, text)),
        None => Ok(()),
    }
}

/// AQL-6.3-4: what the client is told of the danger where the host says nothing.
fn reason(danger_level: executor::DangerLevel) -> &'static str {
    match danger_level {
        executor::DangerLevel::Safe => "The operation is safe, but a quota is reached.",
        executor::DangerLevel::Reversible => "The operation can be undone, but a quota is reached.",
        executor::DangerLevel::Destructive => "The operation destroys something.",
        executor::DangerLevel::Dangerous => "The operation is dangerous.",
        executor::DangerLevel::Forbidden => "The operation is forbidden but for emergencies.",
    }
}

/// AQL-5.1-8: whether the call that was made needs a token.
pub(super) fn is_gated(call: &Call) -> bool {
    match call.purpose {
        executor::Purpose::QuotaContinue => true,
        executor::Purpose::Confirmation => call.danger_level >= executor::DangerLevel::Destructive,
    }
}

/// AQL-6.4-1: a token is named by what cannot be redeemed.
pub(super) fn is_id_of(id: executor::TokenId, text: &str) -> bool {
    id.to_string() == sha_256(text)[..16]
}

/// AQL-2.2-1, AQL-2.2-2: the grammar.
pub(super) fn is_token(text: &str) -> bool {
    let identifier = text
        .strip_prefix("conf_")
        .or_else(|| text.strip_prefix("quota_continue_"));
    (8..=80).contains(&text.len())
        && identifier.is_some_and(|identifier| {
            let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            (1..=64).contains(&identifier.len()) && identifier.bytes().all(is_allowed)
        })
}
