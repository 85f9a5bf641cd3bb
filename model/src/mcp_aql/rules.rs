//! The text of the specification, clause by clause: what a gatekeeper must not do, what always holds, what has to be possible.
//!
//! The one thing to know: [`Rules::all`] is the specification, and `Rules::all().without(guard)` an ablation, a gatekeeper
//! that does what the guard forbids whenever it can. How a block reads is said in [`crate::text`].

use crate::text::text;
use crate::time;

use super::action::{Action, Fault};
use super::message::Carried;
use super::output::{Output, Status};
use super::state::Phase;
use super::step::StepSoFar;
use super::words::{List, Parameters, Purpose, Store, Trigger, Which};

text! {
of step: &StepSoFar<'_>, action: Action;

// § 1 Principles

"AQL-1.2-1" => {
    forbids ConsumesOnFailure "only a call that is admitted uses its token";
    forbids ConsumesUngated "a call that needs no token uses none" also ["AQL-5.1-8"];
    always "a call uses its token when it succeeds, and only then";
    sometimes "a call with a live token fails and the token stays live" if step.rejects_and_keeps(action);
}

"AQL-1.2-2" => {
    always "every token expires" also ["AQL-5.1-2"];
}

"AQL-1.2-3" => {
    always "what runs is what was confirmed" also ["AQL-1.2-4", "AQL-3.2-1", "AQL-6.2-1"];
    sometimes "a token admits while another is live" if step.admits(action, |slot, _, _| slot.others().any(|other| step.was_live(other)));
}

"AQL-1.2-5" => {
    always "every issue and every redemption is audited" also ["AQL-6.4-1"];
}

"AQL-1.3-1" => {
    forbids RunsUnconfirmed "a gated call without a token is not performed";
    always "a gated call without a token is not performed and gets one";
    sometimes "a gated call gets a token" also ["AQL-1.2-5"] if step.puts_out(|it| matches!(it, Output::Issued(_)));
}

"AQL-1.3-2" => {
    always "a call with a token runs once or is refused";
    sometimes "a call with its token is admitted" if step.admits(action, |_, _, _| true);
}

// § 2 The token

"AQL-2.1-1" => {
    checks Purpose "the call is for its purpose";
    forbids HonoursOtherPurpose "a token for one purpose admits no call for the other" also ["AQL-7.1-1"];
    always "a token for one purpose runs nothing for the other";
    sometimes "a quota pause gets a token"
        if step.puts_out(|it| matches!(it, Output::Issued(slot) if step.state.token(*slot).scope.purpose == Purpose::QuotaContinue));
    sometimes "a call is rejected: the token is for the other purpose" if step.rejects_at(Check::Purpose);
}

// § 3 Scope

"AQL-3.2-1" => {
    forbids BindsNothing "a call of which the operator's list names nothing is bound in full" also ["AQL-3.2-4"] with "list";
    always "a token of whose call the operator's list names nothing runs no other" with "list";
    sometimes "a call is rejected that differs, and the list of its operation names nothing of it" with "list"
        if step.rejects_at(Check::Parameters) && step.is_listed_by_nothing();
}

"AQL-3.2-4" => {
    forbids CountsUnlisted "a parameter that the operator's list leaves out does not count" with "list";
    forbids OverlooksListed "a parameter that the operator's list names counts" also ["AQL-3.2-1"] with "list";
    forbids OverlooksUnsaid "where the operator has no list every parameter that affects the impact counts" also ["AQL-3.2-1"] with "list";
    always "the parameters that count are those of the operator's list, and all where there is none" with "list";
    sometimes "a call is admitted that differs in what its list leaves out" with "list"
        if step.admits(action, |_, _, _| step.names(Parameters::Third));
    sometimes "a call is rejected that differs in what a list leaves out, for its own names it" with "list"
        if step.rejects_at(Check::Parameters) && step.names(Parameters::Third) && step.is_listed(List::Wide)
            && !step.is_listed_by_nothing();
    sometimes "a call is rejected that differs in what a list leaves out, for there is none" with "list"
        if step.rejects_at(Check::Parameters) && step.names(Parameters::Third) && step.is_listed(List::Unset);
}

// § 4 Validation

"AQL-4.1-1" => {
    checks Exists "the gatekeeper knows the token";
    forbids HonoursGuessed "a token that was never issued admits nothing" also ["AQL-7.1-1", "AQL-1.2-4"];
    always "a token that was never issued, or is lost, runs nothing" also ["AQL-1.2-4"];
    sometimes "a call is rejected: the token is unknown" if step.rejects_at(Check::Exists);
    sometimes "a call with an expired token may be answered as one with an unknown token" also ["AQL-5.5-2"]
        if step.rejected.is_some() && step.instead.is_some();
    sometimes "a call with a made-up token is rejected" also ["AQL-1.2-4"]
        if step.rejected.is_some() && step.call.is_some_and(|it| it.token == Carried::Guessed);
}

"AQL-4.1-2" => {
    checks NotExpired "expiry and tolerance have not passed";
    always "an expired token runs nothing";
    sometimes "a call is rejected: the token has expired" also ["AQL-5.1-3"] if step.rejects_at(Check::NotExpired);
}

"AQL-4.1-3" => {
    checks NotUsed "it has a use left";
    forbids HonoursUsed "a consumed token admits nothing" also ["AQL-5.2-1", "AQL-6.1-1", "AQL-7.1-1"];
    always "a consumed token runs nothing" also ["AQL-6.1-1"];
    sometimes "a call is rejected: the token was used" also ["AQL-6.1-1"] if step.rejects_at(Check::NotUsed);
}

"AQL-4.1-4" => {
    checks Operation "the call is for its operation";
    forbids HonoursOtherOperation "a token admits the operation that it was issued for and no other"
        also ["AQL-1.2-3", "AQL-3.2-1", "AQL-7.1-1"];
    always "a token runs no other operation" also ["AQL-3.2-1"];
    sometimes "a call is rejected: the token is for another operation" if step.rejects_at(Check::Operation);
}

"AQL-4.1-5" => {
    checks Parameters "the call has its critical parameters";
    forbids HonoursOtherParameters "a token admits the critical parameters that it was issued for and no others"
        also ["AQL-4.3-1", "AQL-1.2-3", "AQL-3.2-1"];
    always "a token runs nothing with other critical parameters" also ["AQL-4.3-1", "AQL-3.2-1"];
    sometimes "a call is rejected: the token is for other parameters" if step.rejects_at(Check::Parameters);
}

"AQL-4.1-6" => {
    checks Adapter "the call is made to its adapter";
    forbids HonoursOtherAdapter "a token admits calls to the adapter that issued it" also ["AQL-7.1-1"]
        in_samples "4.3";
    always "a token runs nothing on another adapter";
    sometimes "a call is rejected: the token is another adapter's" if step.rejects_at(Check::Adapter);
    sometimes "the second adapter issues a token"
        if step.puts_out(|it| matches!(it, Output::Issued(slot) if step.state.token(*slot).scope.adapter == Which::Second));
}

// § 5.1 Expiry and clocks

"AQL-5.1-1" => {
    checks Rating "the operation is rated no higher than when the token was issued";
    refuses LongLifetime "the lifetime asked for is longer than the context allows";
    forbids OutstretchesLifetime "no token lives longer than its context allows";
    always "no token lives longer than its context allows";
    sometimes "a lifetime beyond the longest is refused" if step.refuses(Refusal::LongLifetime);
}

"AQL-5.1-2" => {
    refuses NoLifetime "the lifetime asked for is none";
    forbids IssuesEternal "every token expires" also ["AQL-1.2-2"];
    sometimes "a lifetime of none is refused" if step.refuses(Refusal::NoLifetime);
}

"AQL-5.1-3" => {
    forbids HonoursExpired "once expiry and tolerance have passed a token admits nothing"
        also ["AQL-4.1-2", "AQL-5.4-3", "AQL-7.1-1"];
    forbids TurnsClockBack "a clock that is turned back brings no expired token back";
    forbids RedeemsExpired "what is redeemed has not expired when it is redeemed" in_samples "5.2";
    always "nothing runs after expiry and tolerance" also ["AQL-4.1-2", "AQL-5.4-3", "AQL-1.2-2"];
    sometimes "a call is rejected only because the node's clock is ahead by more than the tolerance"
        if step.takes_for_expired(action, |_, token, skew| skew > 0 && step.before.clock <= time::on(token.expires));
    sometimes "a node whose clock is behind does not bring an expired token back"
        if step.takes_for_expired(action, |_, _, skew| skew < 0);
}

"AQL-5.1-4" => {
    always "clocks that differ by no more than the tolerance shorten no token's life" also ["AQL-5.1-7"];
    sometimes "a call at a node whose clock is ahead is admitted within the tolerance"
        if step.admits(action, |_, token, skew| skew > 0 && step.now > time::on(token.expires));
}

"AQL-5.1-5" => {
    refuses WideTolerance "the tolerance is out of range";
    forbids TakesZeroForDefault "a tolerance of 0 is none" in_samples "5.1";
    forbids TakesWideTolerance "the tolerance is at most 300 seconds";
    always "the tolerance is what is configured, and at most 300 seconds";
    sometimes "with tolerance 0 a call a millisecond after expiry is rejected"
        if step.takes_for_expired(action, |_, token, _| step.before.tolerance() == 0 && step.now == time::on(token.expires) + 1);
    sometimes "a tolerance out of range is refused" if step.refuses(Refusal::WideTolerance);
}

"AQL-5.1-6" => {
    forbids WidensSilently "a tolerance above 60 seconds is warned of";
    always "a tolerance above 60 seconds is warned of";
    sometimes "a wide tolerance is warned of" if step.puts_out(|it| matches!(it, Output::Warned(_)));
}

"AQL-5.1-7" => {
    forbids ExpiresEarly "the tolerance is added to the expiry, and at their sum the token is still good"
        also ["AQL-5.1-4"];
    always "a token expires when expiry and tolerance have passed, and not before";
    sometimes "a call after expiry and within the tolerance is admitted" also ["AQL-5.1-4"]
        if step.admits(action, |_, token, _| step.now > time::on(token.expires) && step.before.tolerance() > 0);
    sometimes "a call at the sum of expiry and tolerance is admitted"
        if step.admits(action, |_, token, _| step.now == time::on(token.last_tick(step.before.tolerance())));
}

"AQL-5.1-8" => {
    always "a call that needs no token runs without, and no other does";
    sometimes "a call that needs no token runs without"
        if step.call.is_none() && step.required.contains(Output::PerformUngated);
    sometimes "a call that needs no token runs and its token stays" also ["AQL-1.2-1"]
        if step.call.is_some_and(|it| !it.gated && it.token != Carried::Guessed);
}

// § 5.2 Consumption

"AQL-5.2-1" => {
    forbids PerformsTwice "one use performs one operation" also ["AQL-6.1-1"];
    always "a token runs one operation, and only a session's token more" also ["AQL-1.2-1", "AQL-6.1-1"];
    sometimes "an admitted operation is performed"
        if matches!(action, Action::CarryOut { slot } if step.state.token(slot).runs == 1);
}

"AQL-5.2-2" => {
    forbids RedeemsApart "a token is validated and its use counted in one step" also ["AQL-6.1-1"]
        in_samples "4.3 and 5.2";
    forbids RunsFirst "the use is counted before the operation runs";
    always "the use is counted before the operation runs";
    sometimes "of two calls that race with a single-use token one is admitted" also ["AQL-6.1-1"]
        if step.admits(action, |slot, _, _| step.races(slot));
    sometimes "an operation that was admitted is lost in a crash, and its use stays counted"
        if matches!(action, Action::Restart(_)) && step.had(|token| token.to_run > 0);
}

// § 5.3 Revocation

"AQL-5.3-1" => {
    checks NotRevoked "it was not revoked";
    forbids HonoursRevoked "a revoked token admits nothing" also ["AQL-7.2-2"];
    always "nothing runs after revocation" also ["AQL-5.3-3", "AQL-7.2-2"];
    sometimes "a call is rejected: the token was revoked" if step.rejects_at(Check::NotRevoked);
}

"AQL-5.3-2" => {
    forbids OutlivesLogout "a logout revokes the tokens of its sessions"
        free "AQL-5.3-2 is a MAY: a logout may revoke tokens, and need not.";
    forbids OutlivesConfiguration "a change of an adapter's configuration revokes its tokens"
        free "AQL-5.3-2 is a MAY: a configuration may revoke tokens, and need not.";
    forbids OutlivesSecurityEvent "a security event revokes every token"
        free "AQL-5.3-2 is a MAY: a security event may revoke tokens, and need not.";
    forbids RevokesOthers "a trigger revokes the tokens that it concerns and no others";
    forbids RevokesUnchanged "a configuration that changes nothing revokes nothing";
    forbids RevokesOtherOperations "what counts in one operation makes no difference to the tokens of another" with "list";
    always "a trigger revokes what it concerns alone, and what is revoked stays so" also ["AQL-5.4-2"];
    sometimes "a logout revokes a token" if matches!(action, Action::Trigger(Trigger::Logout(_))) && step.revokes();
    sometimes "a change of configuration revokes a token"
        if matches!(action, Action::Trigger(Trigger::Configuration(_))) && step.revokes();
    sometimes "a configuration that changes nothing spares a token"
        if matches!(action, Action::Reconfigure(adapter) if step.has(|it| it.phase == Phase::Live && it.scope.adapter == adapter));
    sometimes "another list revokes a token of its operation" with "list"
        if matches!(action, Action::Relist { .. }) && step.revokes();
    sometimes "another list spares a token of another operation of its adapter" with "list"
        if matches!(action, Action::Relist { operation, .. } if step.has(|it| it.phase == Phase::Live
            && (it.scope.adapter, it.scope.operation) == (Which::First, operation.other())));
    sometimes "another list spares a token of its operation on another adapter" with "list"
        if matches!(action, Action::Relist { operation, .. } if step.has(|it| it.phase == Phase::Live
            && (it.scope.adapter, it.scope.operation) == (Which::Second, operation)));
    sometimes "a security event revokes a token" if action == Action::Trigger(Trigger::Security) && step.revokes();
    sometimes "a trigger spares a token that it does not concern"
        if matches!(action, Action::Trigger(trigger) if step.has(|it| it.phase == Phase::Live && !trigger.concerns(it.scope)));
}

"AQL-5.3-3" => {
    forbids IgnoresRevocation "a token that is revoked by hand is revoked" also ["AQL-7.2-2"];
    always "a token that is revoked by hand is revoked" also ["AQL-7.2-2"];
    sometimes "a token is revoked by hand" if matches!(action, Action::Revoke(_)) && step.revokes();
    sometimes "there is nothing to revoke" if step.required.contains(Output::NotRevoked);
    sometimes "a token that is over is to be revoked"
        if matches!(action, Action::Revoke(Carried::Token(slot)) if step.before.token(slot).phase != Phase::Live);
}

// § 5.4 Sessions and several uses

"AQL-5.4-1" => {
    refuses LooseMultiUse "several uses are asked for outside of any session";
    refuses ManyUses "more uses are asked for than a token can have, where a number says how many";
    refuses BoundWithoutStore "a token is to be bound to a session, by the reading that keeps none";
    forbids LosesCount "each use of a multi-use token counts, up to max_uses" also ["AQL-5.2-3", "AQL-5.4-4"];
    forbids GrantsLooseMultiUse "a token with several uses is bound to a session";
    always "a session's token runs in its session, and at most max_uses times" also ["AQL-5.2-3", "AQL-5.4-4"];
    sometimes "the second operation of a multi-use token is performed" with "kept"
        if matches!(action, Action::CarryOut { slot } if step.state.token(slot).runs == 2);
    sometimes "several uses outside of any session are refused" if step.refuses(Refusal::LooseMultiUse);
}

"AQL-5.4-2" => {
    refuses SessionEnded "a token is to be bound to a session that has ended, by the reading that lets none come back";
    forbids OutlivesSession "a session's tokens end with it" also ["AQL-5.3-2"];
    always "the tokens of a session end with it";
    sometimes "a token is revoked by the end of its session" with "kept"
        if matches!(action, Action::Trigger(Trigger::SessionEnd(_))) && step.revokes();
}

"AQL-5.4-4" => {
    checks Session "the call is made in its session, if it has one";
    forbids HonoursOtherSession "a token that is bound to a session admits calls in that session" also ["AQL-6.1-2"];
    always "a session's token is good again in its session, and in no other" also ["AQL-6.1-2"];
    sometimes "a session's token admits the same call again" also ["AQL-5.2-3"] with "kept"
        if step.admits(action, |_, token, _| token.uses > 0);
    sometimes "a call is rejected: the token is another session's" with "kept" if step.rejects_at(Check::Session);
}

// § 5.5 Storage

"AQL-5.5-1" => {
    forbids LosesStored "what is stored outlasts a restart" also ["AQL-7.2-1"]
        free "AQL-5.5-1 asks for no more than memory, which is lost with the process.";
    always "a token is known until it is purged or a restart loses it" also ["AQL-7.2-1"];
    sometimes "a live token outlasts a restart"
        if action == Action::Restart(Store::Persistent) && step.had(|token| token.phase == Phase::Live);
    sometimes "a restart loses the tokens that were in memory" if action == Action::Restart(Store::InMemory);
    sometimes "a restart finds nothing that it could lose"
        if matches!(action, Action::Restart(_)) && !step.had(|token| token.phase == Phase::Live || token.to_run > 0);
}

"AQL-5.5-2" => {
    forbids PurgesEarly "only a token that can never be valid again is purged" also ["AQL-5.1-7"];
    always "only what can never be valid again is purged";
    sometimes "an expired token is purged" if matches!(action, Action::Purge { .. });
}

"AQL-5.5-3" => {
    forbids KeepsPlaces "a token that is over takes no place" also ["AQL-5.5-1"] with "capacity";
    always "no token is denied for want of room where there is some" with "capacity";
    sometimes "a token is denied: as many are active as there is room for" with "capacity"
        if step.required.contains(Output::Full);
    sometimes "a token that is over makes room for another" with "capacity"
        if step.puts_out(|it| matches!(it, Output::Issued(slot) if step.model.bounds.capacity == 1
            && slot.others().any(|other| step.has_been_of(other, step.state.token(*slot).scope.adapter))));
}

// § 6 Security

"AQL-6.1-1" => {
    forbids RevivesAfterRestart "a restart makes no consumed token valid again" also ["AQL-5.2-2"];
    always "no replay succeeds, before or after a restart" also ["AQL-5.2-2"];
    sometimes "a call is sent more often than its token has uses"
        if matches!(action, Action::Send { slot, fault: Fault::None } if step.state.token(slot).sent == step.before.token(slot).sent);
    sometimes "a consumed token stays consumed in a restart"
        if action == Action::Restart(Store::Persistent) && step.had(|token| token.phase == Phase::Consumed);
}

"AQL-6.3-1" => {
    forbids ExposesParameters "no response to a failure holds parameter values";
    always "no response holds parameter values";
}

"AQL-6.3-2" => {
    forbids TellsCheck "in the mode without oracle every failure is answered alike";
    forbids TellsStatus "in the mode without oracle whatever is not live is unknown";
    always "in the mode without oracle nothing tells a token that was from one that never was" also ["AQL-7.3-1"];
    sometimes "a call is rejected in the mode without oracle" if step.rejected.is_some() && step.before.is_uniform();
    sometimes "the status of a token that is not live is not told"
        if step.before.is_uniform() && step.required.contains(Output::AnswerStatus(Status::Unknown));
}

"AQL-6.4-1" => {
    forbids IssuesUnaudited "every issue is audited" also ["AQL-1.2-5"];
    forbids RedeemsUnaudited "every redemption is audited" also ["AQL-1.2-5"];
    forbids RejectsUnaudited "every rejection is audited";
    forbids RevokesUnaudited "every revocation is audited";
    forbids AuditsTwice "what happens once is audited once"
        free "AQL-6.4-1 has no event for a redemption: a second entry may be that of the redemption.";
    always "every operation on a token is audited";
}

"AQL-6.5-1" => {
    forbids IgnoresLimit "once its limit of failures is used up, nothing is validated" with "limit";
    forbids IgnoresLimitOfIssues "once its limit of issues is used up, no token is given away" with "issues";
    forbids IgnoresLimitOfRevocations "once its limit of revocations is used up, none is answered" with "revocations";
    forbids CountsNoStatus "the status of a token that is no good is a validation that failed" with "limit";
    forbids LimitsEarly "nothing is turned away before a limit is used up" with "limit";
    always "what is tried beyond its limit is turned away, and nothing before" with "limit";
    sometimes "a call is turned away: too many validations have failed" with "limit"
        if matches!(action, Action::Deliver { .. }) && step.is_turned_away();
    sometimes "a status is not told: too many validations have failed" with "limit"
        if matches!(action, Action::AskStatus(_)) && step.is_turned_away();
    sometimes "a call without a token is turned away: too many tokens were given away" with "issues"
        if matches!(action, Action::Request(_)) && step.is_turned_away();
    sometimes "one adapter gives a token away, and another's limit of issues is used up" with "issues"
        if step.puts_out(|it| matches!(it, Output::Issued(slot)
            if step.is_used_up(step.before.tries.issued[step.state.token(*slot).scope.adapter.other() as usize])));
    sometimes "a revocation is turned away: too many came before" with "revocations"
        if matches!(action, Action::Revoke(_)) && step.is_turned_away();
}

// § 7 Operations

"AQL-7.1-1" => {
    always "nothing runs on a token that fails a check";
}

"AQL-7.1-2" => {
    forbids ConfusesCodes "the code is that of a check that failed" also ["AQL-4.1-2", "AQL-4.1-3"];
    always "the code is that of a check that failed"
        also ["AQL-4.1-1", "AQL-4.1-2", "AQL-4.1-3", "AQL-4.1-4", "AQL-4.1-5", "AQL-4.1-6"];
}

"AQL-7.3-1" => {
    forbids MisstatesStatus "a status is what it is";
    always "a status is what it is";
    sometimes "the status of a live token is told" with "kept"
        if step.puts_out(|it| matches!(it, Output::AnswerStatus(Status::Live { .. })));
    sometimes "the status of a token that is not live is told"
        if step.puts_out(|it| matches!(it, Output::AnswerStatus(Status::Consumed | Status::Expired | Status::Revoked)));
}
}

impl Check {
    /// Every check, in the order of the table of 4.1, with what the table leaves out where it belongs.
    pub const TABLE: [Self; 10] = [
        Self::Exists,
        Self::NotRevoked,
        Self::NotExpired,
        Self::NotUsed,
        Self::Purpose,
        Self::Operation,
        Self::Parameters,
        Self::Adapter,
        Self::Rating,
        Self::Session,
    ];

    /// Every check, in the order of the sample of 4.3.
    pub const SAMPLE: [Self; 10] = [
        Self::Exists,
        Self::NotRevoked,
        Self::Purpose,
        Self::Operation,
        Self::Parameters,
        Self::Adapter,
        Self::Rating,
        Self::Session,
        Self::NotExpired,
        Self::NotUsed,
    ];

    /// The code of a call that is rejected at this check, where codes are told.
    pub const fn code(self) -> Code {
        match self {
            Self::Exists | Self::NotRevoked => Code::Invalid,
            Self::NotExpired => Code::Expired,
            Self::NotUsed => Code::AlreadyUsed,
            Self::Purpose
            | Self::Operation
            | Self::Parameters
            | Self::Adapter
            | Self::Rating
            | Self::Session => Code::ScopeMismatch,
        }
    }
}

/// `error.code` of a call or a revocation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// `TOKEN_INVALID`
    Invalid,
    /// `TOKEN_EXPIRED`
    Expired,
    /// `TOKEN_ALREADY_USED`
    AlreadyUsed,
    /// `TOKEN_SCOPE_MISMATCH`
    ScopeMismatch,
}

impl Code {
    /// The code on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "TOKEN_INVALID",
            Self::Expired => "TOKEN_EXPIRED",
            Self::AlreadyUsed => "TOKEN_ALREADY_USED",
            Self::ScopeMismatch => "TOKEN_SCOPE_MISMATCH",
        }
    }
}
