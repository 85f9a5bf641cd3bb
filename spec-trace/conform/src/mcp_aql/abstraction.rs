//! From the executor to the model's words: what it holds.
//!
//! The one thing to know: what the executor holds of a token is what the call that it was issued for asked for, and is
//! [`Unexplained`] otherwise. A token that it holds no more is told as the model has it, for [`check_memory`] has found that
//! it can never be valid again.

use std::hash::Hasher;

use countersign_model::mcp_aql::action::Action;
use countersign_model::mcp_aql::state::{Gatekeeper, GatekeeperToken, Phase, State, Token, Tries};
use countersign_model::mcp_aql::words::{Parameters, Purpose, Scope, SessionName, Slot, Which};
use countersign_model::time;
use countersign_reference::mcp_aql as executor;
use countersign_reference::mcp_aql::{IssuedToken, RateLimits};
use countersign_reference::time::Timestamp;

use super::concrete::{Environment, later, place};
use super::{Host, Issued, signing};
use crate::identity::Identity;
use crate::{Unexplained, unexplained};

/// The abstraction function: what the executor holds, as the gatekeeper's part of the model state `next`.
///
/// # Errors
///
/// [`Unexplained`] where it holds something that no gatekeeper of the model can hold.
pub(super) fn gatekeeper(
    environment: &Environment,
    host: &Host,
    next: &State,
) -> Result<Gatekeeper, Unexplained> {
    if *host.gatekeeper.settings() != *host.settings {
        let text = format!("{:?}, as the host has chosen", host.settings);
        return Err(unexplained("AQL-5.1-5", text));
    }
    let now = host.gatekeeper.now();
    let latest = environment.moment(now);
    let latest =
        latest.ok_or_else(|| unexplained("AQL-5.1-3", "the greatest time told as time"))?;
    let mut tokens = Slot::ALL.map(|slot| forgotten(next.token(slot)));
    if environment.signs {
        let issued = |slot: &Slot| host.issued[slot.index()].is_some() && !host.holds(*slot);
        for slot in Slot::ALL.into_iter().filter(issued) {
            tokens[slot.index()] = Some(signing::shown(host, slot, next)?);
        }
    }
    for found in host.gatekeeper.tokens() {
        let slot = host
            .slot_where(|issued| issued.id == found.id())
            .ok_or_else(|| unexplained("AQL-1.3-1", "no token but those handed out"))?;
        tokens[slot.index()] = Some(held(environment, host, slot, found, next)?);
    }
    for which in Which::ALL {
        let adapter = &environment.adapters[place(which)];
        if !environment.is_configured(host.gatekeeper.configuration(adapter), which, next) {
            let text = format!("{adapter} configured as {:?}, {:?}", next.setup, next.lists);
            return Err(unexplained("AQL-5.1-5", text));
        }
    }
    Ok(Gatekeeper {
        latest,
        tries: tries(environment, host),
        tokens,
    })
}

/// AQL-6.5-1: what was tried that is limited. Queries are made to the first adapter.
fn tries(environment: &Environment, host: &Host) -> Tries {
    let RateLimits {
        issuance,
        failed_validation,
        revocation,
    } = environment.settings.rate_limits;
    let limits = [issuance, failed_validation, revocation];
    let [first, second] = environment.adapters.each_ref().map(|adapter| {
        let left = host.gatekeeper.left(adapter).into_iter().zip(limits);
        let mut used = left.map(|(left, limit)| {
            let used = limit.zip(left).map(|(limit, left)| limit.burst() - left);
            used.map_or(0, |used| u8::try_from(used).unwrap_or(u8::MAX))
        });
        [(); 3].map(|()| used.next().unwrap_or_default())
    });
    Tries {
        issued: [first[0], second[0]],
        failed: [first[1], second[1]],
        revoked: first[2] + second[2],
    }
}

/// AQL-5.5-2: when the executor has to be called to forget a token, if there is any.
pub(super) fn deadline(environment: &Environment, host: &Host) -> Option<Timestamp> {
    let held = host.gatekeeper.tokens();
    let last_kept = held
        .map(|token| last_kept(environment, token.valid_until))
        .min();
    let last_kept = last_kept.map(|time| Timestamp::from_millis(time.millis() + 1));
    last_kept.into_iter().chain(signing::deadline(host)).min()
}

/// The last moment at which a token is remembered that is good until then.
fn last_kept(environment: &Environment, valid_until: Timestamp) -> Timestamp {
    later(valid_until, environment.settings.retention.seconds().into())
}

/// AQL-5.5-1, AQL-5.5-2: whether the executor still holds every token that it must not have forgotten yet.
///
/// # Errors
///
/// [`Unexplained`] where it has lost a token that can still be valid.
pub(super) fn check_memory(
    environment: &Environment,
    host: &Host,
    action: Action,
    next: &State,
) -> Result<(), Unexplained> {
    let now = host.gatekeeper.now();
    for slot in Slot::ALL {
        let must_be_held = match next.token(slot).phase {
            Phase::Unissued | Phase::Lost => false,
            // AQL-7.3-2: the signature says it.
            Phase::Live | Phase::Revoked if environment.signs => false,
            Phase::Live | Phase::Consumed | Phase::Revoked => {
                let issued = host.issued[slot.index()].as_ref();
                issued.is_some_and(|issued| now <= issued.valid_until)
            }
        };
        if must_be_held && !host.holds(slot) {
            let is_restart = matches!(action, Action::Restart(_));
            let clause = if is_restart { "AQL-5.5-1" } else { "AQL-5.5-2" };
            let text = format!("{} remembered until {:?}", slot.name(), host.issued(slot));
            return Err(unexplained(clause, text));
        }
    }
    Ok(())
}

/// A token that the executor does not hold, as the model has it.
fn forgotten(wanted: &Token) -> Option<GatekeeperToken> {
    wanted.is_issued().then(|| as_the_model_has_it(wanted))
}

/// The gatekeeper's part of a token of the model.
pub(super) fn as_the_model_has_it(wanted: &Token) -> GatekeeperToken {
    GatekeeperToken {
        phase: wanted.phase,
        purged: wanted.purged,
        scope: wanted.scope,
        max_uses: wanted.max_uses,
        uses: wanted.uses,
        expires: wanted.expires,
    }
}

/// A token that the executor holds.
fn held(
    environment: &Environment,
    host: &Host,
    slot: Slot,
    found: &IssuedToken,
    next: &State,
) -> Result<GatekeeperToken, Unexplained> {
    let wanted = next.token(slot);
    check_payload(environment, host.issued(slot), found)?;
    // AQL-5.5-2
    if last_kept(environment, found.valid_until) < host.gatekeeper.now() {
        return Err(unexplained(
            "AQL-5.5-2",
            "nothing kept beyond its retention",
        ));
    }
    let is_past = wanted.is_past(next.latest, next.tolerance());
    let (phase, uses) = match found.phase {
        // It came after its time: what became of it before is not known, and matters no more.
        executor::Phase::Live { .. } if environment.signs && is_past => (wanted.phase, wanted.uses),
        executor::Phase::Live { uses_left } => {
            let uses = found.max_uses.get().checked_sub(uses_left.get());
            let uses = uses.ok_or_else(|| unexplained("AQL-5.4-1", "no uses but those issued"))?;
            (Phase::Live, u8::try_from(uses).unwrap_or(u8::MAX))
        }
        executor::Phase::Consumed => (Phase::Consumed, wanted.max_uses),
        // How often it was used matters no more, and is not kept.
        executor::Phase::Revoked { by } if host.revoked[slot.index()] == Some(by) => {
            (Phase::Revoked, wanted.uses)
        }
        executor::Phase::Revoked { .. } => {
            let text = format!("revoked by {:?}", host.revoked[slot.index()]);
            return Err(unexplained("AQL-5.3-2", text));
        }
    };
    let expires = environment.moment(found.expires_at).and_then(time::tick);
    Ok(GatekeeperToken {
        phase,
        // What the model has purged may still be remembered, and the other way round.
        purged: wanted.purged,
        scope: scope(environment, &found.scope)?,
        // It is the number that was asked for, which the model forgets once the token is dead.
        max_uses: wanted.max_uses,
        uses,
        expires: expires.ok_or_else(|| unexplained("AQL-1.2-2", "an expiry after the issue"))?,
    })
}

/// AQL-2.3-1: nothing of what a token was issued with ever changes.
fn check_payload(
    environment: &Environment,
    issued: &Issued,
    found: &IssuedToken,
) -> Result<(), Unexplained> {
    let call = &issued.call;
    let executor::Scope {
        purpose,
        operation,
        parameters,
        adapter,
        session_id,
    } = &found.scope;
    // AQL-5.4-1: bound to its session where it may be used more than once.
    let bound_to = call.session_id.as_ref().filter(|_| call.max_uses > 1);
    let differing = [
        (
            found.issued_at != issued.issued_at,
            "AQL-2.3-1",
            "issued_at",
        ),
        (
            found.expires_at != issued.expires_at,
            "AQL-5.1-1",
            "expires_at",
        ),
        (
            found.valid_until != issued.valid_until,
            "AQL-5.1-7",
            "valid_until",
        ),
        (*purpose != call.purpose, "AQL-2.1-1", "purpose"),
        (*operation != call.operation, "AQL-3.2-1", "operation"),
        // AQL-3.2-2, AQL-3.2-3: SHA-256 of the canonical form.
        (*parameters != issued.bound, "AQL-3.2-3", "parameters"),
        (
            *adapter != *environment.adapter_of(call),
            "AQL-4.1-6",
            "adapter",
        ),
        (session_id.as_ref() != bound_to, "AQL-5.4-1", "session_id"),
        (
            found.max_uses.get() != call.max_uses,
            "AQL-5.4-1",
            "max_uses",
        ),
        (
            found.danger_level != call.danger_level,
            "AQL-5.1-8",
            "danger_level",
        ),
    ];
    match differing.into_iter().find(|(differs, ..)| *differs) {
        Some((_, clause, field)) => Err(unexplained(clause, format!("{field} as in {issued:?}"))),
        None => Ok(()),
    }
}

/// AQL-1.2-3, AQL-3.2-1: what a token is bound to.
fn scope(environment: &Environment, found: &executor::Scope) -> Result<Scope, Unexplained> {
    let operation = Which::ALL
        .into_iter()
        .find(|&which| environment.operations[place(which)] == found.operation)
        .ok_or_else(|| unexplained("AQL-3.2-1", "an operation that was called"))?;
    let adapter = Which::ALL
        .into_iter()
        .find(|&which| environment.adapters[place(which)] == found.adapter)
        .ok_or_else(|| unexplained("AQL-4.1-6", "an adapter that was called"))?;
    let session = match &found.session_id {
        None => None,
        Some(session_id) => SessionName::ALL
            .into_iter()
            .find(|name| environment.sessions[name.index()] == *session_id)
            .map(Some)
            .ok_or_else(|| unexplained("AQL-5.4-1", "a session that was named"))?,
    };
    Ok(Scope {
        purpose: match found.purpose {
            executor::Purpose::Confirmation => Purpose::Confirmation,
            executor::Purpose::QuotaContinue => Purpose::QuotaContinue,
        },
        operation,
        // Tokens are issued for the parameters that are asked for alone.
        parameters: Parameters::First,
        adapter,
        session,
    })
}

/// All that the executor holds and that can make a difference: not what the host chose, which never changes but for the
/// kind of store, and that is set anew before it matters; and not the time of its last call, which [`gatekeeper`] compares.
pub(super) fn identity(host: &Host, hasher: &mut impl Hasher) {
    let left_out = [("Gatekeeper", "settings"), ("Gatekeeper", "now")];
    Identity::feed(&*host.gatekeeper, hasher, &left_out, &[]);
    // What is signed is held by its clients alone.
    for slot in Slot::ALL
        .into_iter()
        .filter(|slot| host.signed[slot.index()])
    {
        hasher.write(host.issued(slot).token.as_str().as_bytes());
    }
}
