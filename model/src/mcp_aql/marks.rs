//! Which invariants a step of the search breaks: what the text makes of it, and whether the party did that.
//!
//! The one thing to know: the judge consults neither [`super::rules::Rules`] nor [`super::readings::Reading`]. It keeps its
//! own account of every token, what became of it and how many calls it admitted, from the text alone, so that a gatekeeper
//! with a rule left out, or one that takes the text another way, is held to the same measure.

use crate::properties::broken;
use crate::table::Tabled;

use super::action::Action;
use super::message::{Call, Carried};
use super::output::{Output, Status};
use super::properties::Invariant;
use super::rules::Code;
use super::state::{ETERNAL, Fate, Phase, Token};
use super::step::StepSoFar;
use super::witness::witnessed;
use super::words::{Request, Scope, Slot, Store, Trigger, Which};

/// What the judge knows of a step besides the two states: the time, never turned back, and the tolerance.
pub(super) struct Account {
    /// The greatest time that the gatekeeper was told.
    now: u8,
    /// The tolerance that is configured.
    tolerance: u8,
}

/// Brings the account of every token up to date, marks what was broken and says what was witnessed.
pub(super) fn judge(so_far: &mut StepSoFar<'_>, action: Action) -> u64 {
    let account = Account {
        now: so_far.before.latest.max(so_far.state.latest),
        tolerance: so_far.before.tolerance(),
    };
    let marks = match action {
        Action::Send { .. } | Action::Guess | Action::Tick => return 0,
        Action::CarryOut { slot } => judge_run(so_far.state.token(slot)),
        Action::SetUp { .. } => judge_setup(so_far),
        Action::Request(request) => judge_request(so_far, &request, &account),
        Action::Deliver { .. } | Action::Redeem { .. } => so_far
            .call
            .map_or(0, |call| judge_call(so_far, call, &account)),
        Action::Revoke(carried) => judge_revocation(so_far, carried, &account),
        Action::AskStatus(carried) => judge_status(so_far, carried, &account),
        Action::Trigger(trigger) => judge_trigger(so_far, trigger, &account),
        Action::Purge { slot } => broken(
            Invariant::PurgesTheDead,
            !account.is_past(so_far.before.token(slot)),
        ),
        Action::Restart(store) => judge_restart(so_far, store),
    };
    let outputs = judge_outputs(so_far, action);
    so_far.state.broken |= marks | outputs;
    keep_account(so_far, action, &account);
    witnessed(so_far, action, &account)
}

impl Account {
    /// AQL-5.1-7: whether expiry and tolerance have passed.
    const fn is_past(&self, token: &Token) -> bool {
        token.is_past(self.now, self.tolerance)
    }

    /// Whether the text lets the token admit a call.
    pub(super) fn is_live(&self, so_far: &StepSoFar<'_>, token: &Token) -> bool {
        let admits = token.fate == Fate::Open && token.redemptions < token.max_uses;
        so_far.before.setup.is_some() && token.is_issued() && admits && !self.is_past(token)
    }
}

// What the text makes of a step.

/// Brings the account of every token up to date.
fn keep_account(so_far: &mut StepSoFar<'_>, action: Action, account: &Account) {
    for slot in Slot::ALL {
        let before = so_far.before.token(slot);
        if !before.is_issued() {
            continue;
        }
        let live = account.is_live(so_far, before);
        let admitted =
            u8::try_from(so_far.required.count(Output::Perform(slot))).unwrap_or(u8::MAX);
        let token = &mut so_far.state.tokens[slot.index()];
        token.redemptions = token.redemptions.saturating_add(admitted).min(3);
        token.fate = match action {
            Action::Revoke(carried) if live && carried == Carried::Token(slot) => Fate::Revoked,
            Action::Trigger(trigger) if live && trigger.concerns(before.scope) => match trigger {
                Trigger::SessionEnd(_) => Fate::SessionOver,
                Trigger::Logout(_) | Trigger::Configuration(_) | Trigger::Security => Fate::Revoked,
            },
            Action::Restart(Store::InMemory) => Fate::Lost,
            Action::Revoke(_)
            | Action::Trigger(_)
            | Action::Restart(Store::Persistent)
            | Action::SetUp { .. }
            | Action::Request(_)
            | Action::Send { .. }
            | Action::Guess
            | Action::Deliver { .. }
            | Action::Redeem { .. }
            | Action::CarryOut { .. }
            | Action::AskStatus(_)
            | Action::Tick
            | Action::Purge { .. } => token.fate,
        };
    }
}

/// Every reason why this token does not admit the call, as the bits of the invariants that say so.
fn failed_checks(call: Call, slot: Slot, token: &Token, account: &Account) -> u64 {
    let stray = call.token != Carried::Token(slot) || token.fate == Fate::Lost;
    let past = account.is_past(token);
    broken(Invariant::GuessedWithoutEffect, stray)
        | broken(Invariant::RevokedWithoutEffect, token.fate == Fate::Revoked)
        | broken(
            Invariant::SessionOverWithoutEffect,
            token.fate == Fate::SessionOver,
        )
        | broken(Invariant::ExpiredWithoutEffect, past)
        | broken(Invariant::ZeroIsStrict, past && account.tolerance == 0)
        | broken(
            Invariant::UsedWithoutEffect,
            token.redemptions >= token.max_uses,
        )
        | failed_scope(call.scope, token.scope)
}

/// The same for what the token is bound to.
fn failed_scope(named: Scope, bound: Scope) -> u64 {
    let operation = named.operation != bound.operation;
    let parameters = named.parameters != bound.parameters;
    let adapter = named.adapter != bound.adapter;
    let elsewhere = bound.session.is_some() && named.session != bound.session;
    broken(
        Invariant::OtherPurposeWithoutEffect,
        named.purpose != bound.purpose,
    ) | broken(Invariant::OtherOperationWithoutEffect, operation)
        | broken(Invariant::OtherParametersWithoutEffect, parameters)
        | broken(Invariant::OtherAdapterWithoutEffect, adapter)
        | broken(Invariant::OtherSessionWithoutEffect, elsewhere)
        | broken(
            Invariant::ScopeNeverWidens,
            operation || parameters || adapter,
        )
}

/// Whether the code is that of one of these reasons. What can never be valid again may have been purged.
fn is_right_code(code: Code, failed: u64) -> bool {
    let any = |invariants: &[Invariant]| invariants.iter().any(|each| failed & each.bit() != 0);
    match code {
        Code::Invalid => any(&[
            Invariant::GuessedWithoutEffect,
            Invariant::RevokedWithoutEffect,
            Invariant::SessionOverWithoutEffect,
            Invariant::ExpiredWithoutEffect,
        ]),
        Code::Expired => any(&[Invariant::ExpiredWithoutEffect]),
        Code::AlreadyUsed => any(&[Invariant::UsedWithoutEffect]),
        Code::ScopeMismatch => any(&[
            Invariant::OtherPurposeWithoutEffect,
            Invariant::OtherOperationWithoutEffect,
            Invariant::OtherParametersWithoutEffect,
            Invariant::OtherAdapterWithoutEffect,
            Invariant::OtherSessionWithoutEffect,
        ]),
    }
}

// Whether the gatekeeper did that.

/// What is broken when the host has performed an operation. A token with several uses is judged when it admits a call.
fn judge_run(token: &Token) -> u64 {
    broken(
        Invariant::SingleUseRunsOnce,
        token.max_uses == 1 && token.runs > 1,
    )
}

/// What is broken by the configuration.
fn judge_setup(so_far: &StepSoFar<'_>) -> u64 {
    broken(Invariant::ToleranceInRange, so_far.state.tolerance() > 1)
        | Which::ALL
            .into_iter()
            .fold(0, |marks, adapter| marks | judge_warning(so_far, adapter))
}

/// What is broken by what is said of the tolerance of an adapter that has just been configured.
fn judge_warning(so_far: &StepSoFar<'_>, adapter: Which) -> u64 {
    let wide = so_far.state.tolerance() > 0;
    let warned = so_far.required.count(Output::Warned(adapter));
    broken(Invariant::WideToleranceWarned, warned != usize::from(wide))
}

/// What is broken by the answer to a call without a token.
fn judge_request(so_far: &StepSoFar<'_>, request: &Request, account: &Account) -> u64 {
    let performed = so_far.required.contains(Output::PerformUngated);
    let issued = Slot::ALL.into_iter().find(|&slot| {
        !so_far.before.token(slot).is_issued() && so_far.state.token(slot).is_issued()
    });
    if !request.is_gated() {
        return broken(Invariant::UngatedRuns, !performed || issued.is_some());
    }
    let mut marks = broken(Invariant::NotWithoutToken, performed);
    if let Some(slot) = issued {
        let token = so_far.state.token(slot);
        let eternal = token.expires == ETERNAL;
        let longest = account.now + request.longest_lifetime();
        let audited = so_far.required.count(Output::Issued(slot)) == 1;
        let told = so_far.required.count(Output::ConfirmationRequired(slot)) == 1;
        marks |= broken(Invariant::NotWithoutToken, !told)
            | broken(Invariant::EveryTokenExpires, eternal)
            | broken(
                Invariant::LifetimeBounded,
                !eternal && token.expires > longest,
            )
            | broken(
                Invariant::MultiUseInSession,
                token.max_uses > 1 && token.scope.session.is_none(),
            )
            | broken(Invariant::IssueAudited, !audited);
    }
    marks
}

/// What is broken by what became of a call with a token.
fn judge_call(so_far: &StepSoFar<'_>, call: Call, account: &Account) -> u64 {
    if !call.gated {
        let performed = so_far.required.count(Output::PerformUngated) == 1;
        return broken(Invariant::UngatedRuns, !performed || uses_a_token(so_far));
    }
    let admitting = Slot::ALL
        .into_iter()
        .find(|&slot| so_far.required.contains(Output::Perform(slot)));
    let answered = !so_far.required.is_empty();
    match admitting {
        Some(slot) => judge_admission(so_far, call, slot, account),
        None if answered => judge_rejection(so_far, call, account),
        // Validated, and not redeemed yet.
        None => 0,
    }
}

/// What is broken by admitting the call.
fn judge_admission(so_far: &StepSoFar<'_>, call: Call, slot: Slot, account: &Account) -> u64 {
    let (before, after) = (so_far.before.token(slot), so_far.state.token(slot));
    let failed = failed_checks(call, slot, before, account);
    let audited = so_far.required.count(Output::Validated(slot)) == 1;
    let counted = after.uses >= (before.redemptions + 1).min(before.max_uses);
    let often = before.max_uses > 1 && before.redemptions >= before.max_uses;
    failed
        | broken(Invariant::RunsWithToken, failed != 0)
        | broken(Invariant::MultiUseIsCounted, often)
        | broken(Invariant::UseCountedFirst, !counted)
        | broken(Invariant::RedemptionAudited, !audited)
}

/// What is broken by rejecting the call.
fn judge_rejection(so_far: &StepSoFar<'_>, call: Call, account: &Account) -> u64 {
    let audits = so_far
        .required
        .iter()
        .filter(|output| matches!(output, Output::Rejected(_)))
        .count();
    let told = so_far.required.iter().find_map(|output| {
        let Output::Fail(code) = output else {
            return None;
        };
        Some(code)
    });
    let failed = match call.token {
        Carried::Token(slot) => failed_checks(call, slot, so_far.before.token(slot), account),
        Carried::Guessed => Invariant::GuessedWithoutEffect.bit(),
    };
    let right = |code| so_far.before.is_uniform() || is_right_code(code, failed);
    broken(Invariant::RejectionAudited, audits != 1)
        | broken(Invariant::FailureUsesNothing, uses_a_token(so_far))
        | broken(Invariant::ValidIsAdmitted, failed == 0)
        | broken(Invariant::RightCode, failed != 0 && !told.is_none_or(right))
        | judge_expiry(so_far, call, told, account)
}

/// What is broken by rejecting the call as expired.
fn judge_expiry(so_far: &StepSoFar<'_>, call: Call, told: Option<Code>, account: &Account) -> u64 {
    let Carried::Token(slot) = call.token else {
        return 0;
    };
    let token = so_far.before.token(slot);
    let expired = told == Some(Code::Expired) && !account.is_past(token);
    // By the clock of the node that issued it the token has not expired, and this node's clock is ahead by no more than
    // the tolerance.
    let in_time = so_far.before.clock <= token.expires;
    let near = account.now <= so_far.before.clock + account.tolerance;
    let ahead = account.now > so_far.before.clock;
    broken(Invariant::ToleranceGranted, expired)
        | broken(
            Invariant::SkewTolerated,
            expired && in_time && near && ahead,
        )
}

/// Whether the step counts a use of any token, or consumes one.
fn uses_a_token(so_far: &StepSoFar<'_>) -> bool {
    Slot::ALL.into_iter().any(|slot| {
        let (before, after) = (so_far.before.token(slot), so_far.state.token(slot));
        (before.phase, before.uses) != (after.phase, after.uses)
    })
}

/// What is broken by a revocation by hand.
fn judge_revocation(so_far: &StepSoFar<'_>, carried: Carried, account: &Account) -> u64 {
    let live = match carried {
        Carried::Token(slot) => {
            Some(slot).filter(|&slot| account.is_live(so_far, so_far.before.token(slot)))
        }
        Carried::Guessed => None,
    };
    let audits = Slot::ALL
        .into_iter()
        .map(|slot| so_far.required.count(Output::Revoked(slot)))
        .sum::<usize>()
        + so_far.required.count(Output::NotRevoked);
    let others = so_far
        .slots_that_became(Phase::Revoked)
        .into_iter()
        .flatten()
        .any(|slot| carried != Carried::Token(slot));
    let kept = live.is_some_and(|slot| so_far.state.token(slot).phase == Phase::Live);
    let told = so_far.before.is_uniform() && !so_far.required.contains(Output::AnswerRevocation);
    broken(Invariant::HandRevokes, kept)
        | broken(Invariant::TriggersSpare, others)
        | broken(Invariant::RevocationAudited, audits != 1)
        | broken(Invariant::NoOracle, told)
}

/// What is broken by a trigger.
fn judge_trigger(so_far: &StepSoFar<'_>, trigger: Trigger, account: &Account) -> u64 {
    let mut marks = match trigger {
        Trigger::Configuration(adapter) => judge_warning(so_far, adapter),
        Trigger::SessionEnd(_) | Trigger::Logout(_) | Trigger::Security => 0,
    };
    for slot in Slot::ALL {
        let token = so_far.before.token(slot);
        let concerned = account.is_live(so_far, token) && trigger.concerns(token.scope);
        let revoked = so_far.slots_that_became(Phase::Revoked)[slot.index()].is_some();
        let audits = so_far.required.count(Output::Revoked(slot));
        marks |= broken(
            Invariant::TriggersRevoke,
            concerned && so_far.state.token(slot).phase == Phase::Live,
        ) | broken(
            Invariant::TriggersSpare,
            revoked && !trigger.concerns(token.scope),
        ) | broken(Invariant::RevocationAudited, audits != usize::from(revoked));
    }
    marks
}

/// What is broken by the answer to a query for a token's status.
fn judge_status(so_far: &StepSoFar<'_>, carried: Carried, account: &Account) -> u64 {
    let left = match carried {
        Carried::Token(slot) => Some(so_far.before.token(slot))
            .filter(|token| account.is_live(so_far, token))
            .map(|token| token.max_uses - token.redemptions),
        Carried::Guessed => None,
    };
    so_far.required.iter().fold(0, |marks, output| {
        let Output::AnswerStatus(status) = output else {
            return marks;
        };
        let told = match status {
            Status::Live { uses_left } => Some(uses_left),
            Status::Consumed | Status::Expired | Status::Revoked | Status::Unknown => None,
        };
        let hidden = so_far.before.is_uniform() && left.is_none();
        marks
            | broken(Invariant::StatusIsTrue, told != left)
            | broken(
                Invariant::StatusWithoutOracle,
                hidden && status != Status::Unknown,
            )
    })
}

/// What is broken by a restart.
fn judge_restart(so_far: &StepSoFar<'_>, store: Store) -> u64 {
    let mut marks = 0;
    for slot in so_far.before.slots_where(|_| true).into_iter().flatten() {
        let (before, after) = (so_far.before.token(slot), so_far.state.token(slot));
        let lost = after.phase == Phase::Lost && before.phase != Phase::Lost;
        let revived = after.phase == Phase::Live && before.phase != Phase::Live;
        marks |= broken(Invariant::NothingRevives, revived)
            | broken(
                Invariant::StoredOutlasts,
                lost && store == Store::Persistent,
            );
    }
    marks
}

/// What is broken by what comes out, whatever the call.
fn judge_outputs(so_far: &StepSoFar<'_>, action: Action) -> u64 {
    let rejected = matches!(action, Action::Deliver { .. } | Action::Redeem { .. });
    so_far.required.iter().fold(0, |marks, output| {
        marks
            | broken(
                Invariant::NoOracle,
                matches!(output, Output::Fail(code) if code != Code::Invalid)
                    && rejected
                    && so_far.before.is_uniform(),
            )
            | broken(Invariant::ParametersKept, output == Output::Expose)
    })
}

impl StepSoFar<'_> {
    /// The tokens that have come to this phase in this step.
    pub(super) fn slots_that_became(&self, phase: Phase) -> [Option<Slot>; 2] {
        Slot::ALL.map(|slot| {
            let (before, after) = (self.before.token(slot), self.state.token(slot));
            (before.phase != phase && after.phase == phase).then_some(slot)
        })
    }
}
