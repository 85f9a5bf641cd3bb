//! One step: the state that follows and what may come out.
//!
//! The one thing to know: validation and redemption are one step (AQL-5.2-2), and the use is counted before the operation
//! comes out to be performed. Only where a rule is left out are they two, so that the race between them shows.

use crate::time;

use super::McpAql;
use super::action::Action;
use super::bounds::{Bounds, Disturbance};
use super::message::{Call, Network};
use super::numbers::Numbers;
use super::output::{Output, Outputs};
use super::readings::{
    EndedSession, MultiUse, OracleModes, RestartedSession, SessionBinding, TokenStorage,
};
use super::rules::{self, Check, Code, Guard, Refusal};
use super::state::{ETERNAL, Phase, Setup, State, Token, Tries};
use super::validate::Memory;
use super::words::{
    Lifetime, List, Oracle, Request, SLOTS, Scope, SessionName, Slot, Store, Trigger, Which, ticks,
};

/// What an action leads to. What is in no list of outputs is forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state that follows, not yet quotiented.
    pub next: State,
    /// What must come out, in this order.
    pub required: Outputs,
    /// What may come out in place of all that: the answer of a gatekeeper that has purged the token already.
    pub instead: Option<Outputs>,
    /// For a call that was rejected: the first check that it failed.
    pub rejected: Option<Check>,
    /// Of the witnesses that were wanted, those that this step is one of: a bit each, by their place in [`rules::WITNESSES`].
    pub witnessed: u128,
}

/// What may be tried only so often (AQL-6.5-1).
#[derive(Clone, Copy)]
pub(super) enum Tried {
    /// A validation that fails, at this adapter.
    Validation(Which),
    /// A token that this adapter gives away.
    Issue(Which),
    /// A revocation by hand.
    Revocation,
}

/// A step in the making: the states before and so far, and what has come out.
pub(super) struct StepSoFar<'step> {
    /// The model that makes it.
    pub(super) model: &'step McpAql,
    /// The state before.
    pub(super) before: &'step State,
    /// The state so far.
    pub(super) state: State,
    /// The moment that the gatekeeper goes by.
    pub(super) now: u8,
    /// The outputs so far.
    pub(super) required: Outputs,
    /// What a gatekeeper that has purged the token puts out.
    pub(super) instead: Option<Outputs>,
    /// The check at which a call was rejected.
    pub(super) rejected: Option<Check>,
    /// The call that was delivered or redeemed.
    pub(super) call: Option<Call>,
}

impl McpAql {
    /// What the action leads to; nothing if it is not enabled in this state.
    pub fn step(&self, before: &State, action: Action) -> Option<Step> {
        self.step_to_witness(before, action, 0)
    }

    /// The same, with those of the wanted witnesses that it is one of.
    pub fn step_to_witness(&self, before: &State, action: Action, wanted: u128) -> Option<Step> {
        let mut so_far = StepSoFar {
            model: self,
            before,
            state: *before,
            now: before.now(0),
            required: Outputs::none(),
            instead: None,
            rejected: None,
            call: None,
        };
        so_far.take(action)?;
        let witnessed = rules::witnessed(&so_far, action, wanted);
        Some(Step {
            next: so_far.state,
            required: so_far.required,
            instead: so_far.instead.filter(|other| *other != so_far.required),
            rejected: so_far.rejected,
            witnessed,
        })
    }

    /// Whether validation and redemption are two steps.
    pub(super) fn redeems_apart(&self) -> bool {
        self.rules.allow(Guard::RedeemsApart) || self.rules.allow(Guard::RedeemsExpired)
    }
}

impl StepSoFar<'_> {
    /// Takes the step, or finds that it is not enabled. Every call but the first tells the time.
    fn take(&mut self, action: Action) -> Option<()> {
        match action {
            Action::SetUp { tolerance, oracle } => self.set_up(tolerance, oracle),
            Action::Request(request) => self.told(0)?.request(request),
            Action::Send { slot, fault } => self.send_with(slot, fault),
            Action::Guess => self.guess(),
            Action::Deliver { index, skew } => self.told(skew)?.deliver(usize::from(index)),
            Action::Redeem { index } => self.told(0)?.redeem(usize::from(index)),
            Action::CarryOut { slot } => self.carry_out(slot),
            Action::Revoke(carried) => self.told(0)?.revoke_by_hand(carried),
            Action::AskStatus(carried) => {
                self.told(0)?.ask_status(carried);
                Some(())
            }
            Action::Trigger(trigger) => self.told(0)?.trigger(trigger),
            Action::Reconfigure(adapter) => {
                self.told(0)?.reconfigure(adapter);
                Some(())
            }
            Action::Relist { operation, list } => self.told(0)?.relist(operation, list),
            Action::Tick => self.tick(),
            Action::Purge { slot } => self.told(0)?.purge(slot),
            Action::Restart(store) => self.told(0)?.restart(store),
        }
    }

    /// The same step, once the gatekeeper, which is configured, has been told the time by a clock that is off by so much.
    /// What it was told before is not taken back (AQL-5.1-3).
    fn told(&mut self, skew: i8) -> Option<&mut Self> {
        self.before.setup?;
        if skew != 0 {
            self.state.budgets.spend(Disturbance::Skew)?;
        }
        self.state.latest = self.before.now(skew);
        self.now = if self.model.rules.forbid(Guard::TurnsClockBack) {
            self.state.latest
        } else {
            self.before.clock.saturating_add_signed(skew)
        };
        Some(self)
    }

    // What the operator does.

    /// `configure` for both adapters.
    fn set_up(&mut self, tolerance: u8, oracle: Oracle) -> Option<()> {
        if self.before.setup.is_some() {
            return None;
        }
        // AQL-5.1-5: 0 to 300 seconds.
        let longest = ticks(self.model.reading.numbers.longest_tolerance);
        if tolerance > longest && self.model.rules.forbid(Guard::TakesWideTolerance) {
            self.required.push(Output::Refused(Refusal::WideTolerance));
            return Some(());
        }
        self.state.setup = Some(Setup { tolerance, oracle });
        for adapter in Which::ALL {
            self.warn(adapter);
        }
        Some(())
    }

    /// AQL-5.1-6: a tolerance above 60 seconds is warned of.
    fn warn(&mut self, adapter: Which) {
        let above = ticks(self.model.reading.numbers.warned_above);
        if self.state.tolerance() > above && self.model.rules.forbid(Guard::WidensSilently) {
            self.required.push(Output::Warned(adapter));
        }
    }

    /// Tokens are revoked by what happens: the session ends, the user logs out, the adapter changes, security is at stake.
    fn trigger(&mut self, trigger: Trigger) -> Option<()> {
        self.state.budgets.spend(Disturbance::Revoke)?;
        let rules = self.model.rules;
        let heeded = rules.forbid(match trigger {
            // AQL-5.4-2
            Trigger::SessionEnd(_) => Guard::OutlivesSession,
            // AQL-5.3-2
            Trigger::Logout(_) => Guard::OutlivesLogout,
            Trigger::Configuration(_) => Guard::OutlivesConfiguration,
            Trigger::Security => Guard::OutlivesSecurityEvent,
        });
        let concerned = self.state.slots_where(|token| {
            let concerns = trigger.concerns(token.scope) || rules.allow(Guard::RevokesOthers);
            heeded && concerns && self.is_live(token)
        });
        self.revoke_all(concerned);
        // AQL-5.4-2, by the reading that lets no session come back.
        if let Trigger::SessionEnd(session) = trigger
            && self.model.reading.ended_session == EndedSession::StaysEnded
        {
            self.state.ended[session.index()] = true;
        }
        // The tolerance is set again once the adapter works as before.
        if let Trigger::Configuration(adapter) = trigger {
            self.warn(adapter);
        }
        Some(())
    }

    /// AQL-5.3-2: what is configured as it is does not change, and revokes nothing.
    fn reconfigure(&mut self, adapter: Which) {
        if self.model.rules.allow(Guard::RevokesUnchanged) {
            let own = |token: &Token| token.scope.adapter == adapter && self.is_live(token);
            self.revoke_all(self.state.slots_where(own));
        }
        self.warn(adapter);
    }

    /// AQL-3.2-4, AQL-5.3-2: other parameters of an operation count. Of its tokens none is bound by them.
    fn relist(&mut self, operation: Which, list: List) -> Option<()> {
        if !self.model.is_first_list(self.before, operation) {
            self.state.budgets.spend(Disturbance::List)?;
        }
        self.state.lists[operation as usize] = list;
        let rules = self.model.rules;
        let concerned = self.state.slots_where(|token| {
            let is_own =
                token.scope.operation == operation || rules.allow(Guard::RevokesOtherOperations);
            let heeded = rules.forbid(Guard::OutlivesConfiguration);
            heeded && is_own && token.scope.adapter == Which::First && self.is_live(token)
        });
        self.revoke_all(concerned);
        Some(())
    }

    fn revoke_all(&mut self, concerned: [Option<Slot>; SLOTS]) {
        for slot in concerned.into_iter().flatten() {
            self.revoke(slot);
        }
    }

    // What the clients and their attackers do.

    /// `call` without a token. The order of the refusals is: lifetime, uses, session.
    fn request(&mut self, request: Request) -> Option<()> {
        if !request.is_gated() {
            self.required.push(Output::PerformUngated);
            return Some(());
        }
        let slot = self
            .before
            .free_slot()
            .filter(|slot| slot.index() < usize::from(self.model.bounds.tokens))?;
        // AQL-1.3-1: not executed, but answered with a token.
        if self.model.rules.allow(Guard::RunsUnconfirmed) {
            self.required.push(Output::PerformUngated);
            return Some(());
        }
        match self.refusal(&request) {
            Some(refusal) => self.required.push(Output::Refused(refusal)),
            None if self.is_limited(Tried::Issue(request.scope.adapter)) => {
                self.required.push(Output::Limited);
            }
            None if self.is_full(request.scope.adapter) => self.required.push(Output::Full),
            None => self.issue(slot, &request, time::tick(self.now)?),
        }
        Some(())
    }

    /// Why no token is issued for this call, if none is.
    fn refusal(&self, request: &Request) -> Option<Refusal> {
        let rules = self.model.rules;
        let numbers = &self.model.reading.numbers;
        let asked = match request.lifetime {
            Lifetime::Default => request.default_lifetime(numbers),
            Lifetime::Ticks(ticks) => ticks,
        };
        let loose = request.max_uses > 1
            && request.scope.session.is_none()
            && self.model.reading.multi_use == MultiUse::InSession;
        // AQL-5.1-2: no token without an expiry.
        if asked == 0 && rules.forbid(Guard::IssuesEternal) {
            Some(Refusal::NoLifetime)
        // AQL-5.1-1: no token beyond the longest lifetime.
        } else if asked > request.longest_lifetime(numbers)
            && rules.forbid(Guard::OutstretchesLifetime)
        {
            Some(Refusal::LongLifetime)
        // AQL-5.4-1: several uses are for sessions.
        } else if loose && rules.forbid(Guard::GrantsLooseMultiUse) {
            Some(Refusal::LooseMultiUse)
        // AQL-5.4-1: as many as a token can have, where that is said.
        } else if numbers.most_uses > 0 && request.max_uses > numbers.most_uses {
            Some(Refusal::ManyUses)
        } else if self.model.reading.token_storage == TokenStorage::Signed
            && self.bound_to(request).is_some()
        {
            Some(Refusal::BoundWithoutStore)
        } else if self
            .bound_to(request)
            .is_some_and(|session| self.state.ended[session.index()])
        {
            Some(Refusal::SessionEnded)
        } else {
            None
        }
    }

    /// AQL-5.5-3: whether as many tokens of an adapter are active as there is room for. What is over takes none.
    fn is_full(&self, adapter: Which) -> bool {
        let capacity = self.model.bounds.capacity;
        let keeps = self.model.rules.allow(Guard::KeepsPlaces);
        let takes_place =
            |token: &Token| token.scope.adapter == adapter && (keeps || self.is_live(token));
        let places = self.state.slots_where(takes_place);
        capacity > 0 && places.into_iter().flatten().count() >= usize::from(capacity)
    }

    /// The session that a token for this call is bound to, by the reading.
    fn bound_to(&self, request: &Request) -> Option<SessionName> {
        let bound = match self.model.reading.session_binding {
            SessionBinding::MultiUse => request.max_uses > 1,
            SessionBinding::Always => true,
        };
        request.scope.session.filter(|_| bound)
    }

    /// A token is issued, bound to what the call is for (AQL-3.2-1).
    fn issue(&mut self, slot: Slot, request: &Request, now: u8) {
        self.count(Tried::Issue(request.scope.adapter));
        self.state.tokens[slot.index()] = Token {
            phase: Phase::Live,
            scope: Scope {
                session: self.bound_to(request),
                ..request.scope
            },
            max_uses: request.max_uses,
            expires: expiry(request, now, &self.model.reading.numbers),
            ..Token::UNISSUED
        };
        // AQL-1.2-5: every issue is logged.
        if self.model.rules.forbid(Guard::IssuesUnaudited) {
            self.required.push(Output::Issued(slot));
        }
        self.required.push(Output::ConfirmationRequired(slot));
    }

    // What the gatekeeper does with a call.

    /// `call` with a token: validated and redeemed at once.
    fn deliver(&mut self, index: usize) -> Option<()> {
        let call = self.state.network.take(index)?;
        self.call = Some(call);
        if !call.gated {
            self.pass_ungated(call);
            return Some(());
        }
        if self.is_limited(Tried::Validation(call.scope.adapter)) {
            self.required.push(Output::Limited);
            return Some(());
        }
        let remembered = self.validate(call, Memory::Remembers);
        if self.model.redeems_apart() && remembered.is_ok() {
            let room = self.state.validated.len() < Network::CAPACITY;
            return room.then(|| self.state.validated.add(call));
        }
        // What can never be valid again may have been purged, and is then unknown.
        if self.known(call.token, Memory::Purged) != self.known(call.token, Memory::Remembers) {
            let purged = self.validate(call, Memory::Purged).err();
            self.instead = purged.map(|check| self.rejection(check));
        }
        match remembered {
            Ok(slot) => self.admit(slot),
            Err(check) => self.reject(call, check),
        }
        Some(())
    }

    /// The second step of a gatekeeper that does not validate and redeem in one.
    fn redeem(&mut self, index: usize) -> Option<()> {
        let call = self.state.validated.take(index)?;
        self.call = Some(call);
        let blind = self.model.rules.allow(Guard::RedeemsApart);
        let verdict = match self.validate(call, Memory::Remembers) {
            Err(check) if blind || check == Check::NotExpired => {
                self.known(call.token, Memory::Remembers).ok_or(check)
            }
            Ok(slot) => Ok(slot),
            Err(check) => Err(check),
        };
        match verdict {
            Ok(slot) => self.admit(slot),
            Err(check) => self.reject(call, check),
        }
        Some(())
    }

    /// AQL-5.1-8: an operation that needs no token runs at once; the token that comes with it is left alone.
    fn pass_ungated(&mut self, call: Call) {
        self.required.push(Output::PerformUngated);
        if self.model.rules.allow(Guard::ConsumesUngated) {
            self.use_up(call);
        }
    }

    /// The call passes: the use is counted, then the operation comes out to be performed (AQL-5.2-2).
    fn admit(&mut self, slot: Slot) {
        let rules = self.model.rules;
        if rules.forbid(Guard::RunsFirst) {
            self.count_use(slot);
        }
        // AQL-1.2-5: every redemption is logged, once.
        if rules.forbid(Guard::RedeemsUnaudited) {
            self.required.push(Output::Validated(slot));
        }
        if rules.allow(Guard::AuditsTwice) {
            self.required.push(Output::Validated(slot));
        }
        self.perform(slot);
        if rules.allow(Guard::PerformsTwice) {
            self.perform(slot);
        }
    }

    /// The operation comes out to be performed.
    fn perform(&mut self, slot: Slot) {
        let token = &mut self.state.tokens[slot.index()];
        token.to_run = (token.to_run + 1).min(3);
        self.required.push(Output::Perform(slot));
    }

    /// Counts a use; the last one consumes the token.
    pub(super) fn count_use(&mut self, slot: Slot) {
        let token = &mut self.state.tokens[slot.index()];
        if token.max_uses > 1 && self.model.rules.allow(Guard::LosesCount) {
            return;
        }
        token.uses = (token.uses + 1).min(3);
        if token.phase == Phase::Live && token.uses >= token.max_uses {
            token.phase = Phase::Consumed;
        }
    }

    /// A use is counted that none was made of: what AQL-1.2-1 does not have.
    fn use_up(&mut self, call: Call) {
        if let Some(slot) = self.known(call.token, Memory::Remembers) {
            self.count_use(slot);
        }
    }

    /// The call fails a check (AQL-7.1-1).
    fn reject(&mut self, call: Call, check: Check) {
        self.rejected = Some(check);
        self.count(Tried::Validation(call.scope.adapter));
        self.required = self.rejection(check);
        // AQL-1.2-1: a token is used by a call that succeeds.
        if self.model.rules.allow(Guard::ConsumesOnFailure) {
            self.use_up(call);
        }
    }

    /// AQL-6.5-1: whether this is turned away, as too much of it was tried.
    pub(super) fn is_limited(&mut self, tried: Tried) -> bool {
        let rules = self.model.rules;
        let guard = match tried {
            Tried::Validation(_) => Guard::IgnoresLimit,
            Tried::Issue(_) => Guard::IgnoresLimitOfIssues,
            Tried::Revocation => Guard::IgnoresLimitOfRevocations,
        };
        let (tries, limit) = self.tries(tried);
        let is_used_up = *tries >= limit && rules.forbid(guard);
        limit > 0 && (is_used_up || rules.allow(Guard::LimitsEarly))
    }

    /// AQL-6.5-1: a token was given away, a validation has failed, or a token was to be revoked.
    pub(super) fn count(&mut self, tried: Tried) {
        let (tries, limit) = self.tries(tried);
        *tries = (*tries + 1).min(limit);
    }

    /// How often it was tried, and its limit. The text leaves open whose it is; here each adapter has its own.
    fn tries(&mut self, tried: Tried) -> (&mut u8, u8) {
        let Bounds {
            limit,
            issues,
            revocations,
            ..
        } = self.model.bounds;
        let tries = &mut self.state.tries;
        match tried {
            Tried::Validation(adapter) => (&mut tries.failed[adapter as usize], limit),
            Tried::Issue(adapter) => (&mut tries.issued[adapter as usize], issues),
            Tried::Revocation => (&mut tries.revoked, revocations),
        }
    }

    /// What comes out when a call fails a check.
    fn rejection(&self, check: Check) -> Outputs {
        let mut outputs = Outputs::none();
        // AQL-6.4-1: every rejection is logged.
        if self.model.rules.forbid(Guard::RejectsUnaudited) {
            outputs.push(Output::Rejected(check));
        }
        let exposes =
            check.code() == Code::ScopeMismatch && self.model.rules.allow(Guard::ExposesParameters);
        outputs.push(if exposes {
            // AQL-6.3-1: the values stay with the gatekeeper.
            Output::Expose
        } else {
            Output::Fail(self.code(check))
        });
        outputs
    }

    /// AQL-7.1-2: the code of the check; AQL-6.3-2: the same for all, if so configured.
    fn code(&self, check: Check) -> Code {
        let rules = self.model.rules;
        if self.is_uniform() && rules.forbid(Guard::TellsCheck) {
            Code::Invalid
        } else if check == Check::NotRevoked {
            self.model.reading.revoked_code
        } else if check != Check::Exists && rules.allow(Guard::ConfusesCodes) {
            Code::Expired
        } else {
            check.code()
        }
    }

    /// AQL-6.3-2: whether failures are answered alike: as configured, where the reading lets the operator choose.
    pub(super) fn is_uniform(&self) -> bool {
        match self.model.reading.oracle {
            OracleModes::Configured => self.state.is_uniform(),
            OracleModes::Codes => false,
            OracleModes::Uniform => true,
        }
    }

    // What the host, its store and time do.

    /// AQL-5.5-2: what can never be valid again may be forgotten.
    fn purge(&mut self, slot: Slot) -> Option<()> {
        let token = *self.state.token(slot);
        let held = match token.phase {
            Phase::Live | Phase::Consumed | Phase::Revoked => true,
            Phase::Unissued | Phase::Lost => false,
        };
        let early = self.model.rules.allow(Guard::PurgesEarly) && token.is_past(self.now, 0);
        if !held || !self.is_past(&token) && !early {
            return None;
        }
        self.state.tokens[slot.index()].purged = true;
        Some(())
    }

    /// `restart`: the outbox is lost, and with it what was admitted and not performed. It is not performed again.
    fn restart(&mut self, store: Store) -> Option<()> {
        self.state.budgets.spend(Disturbance::Restart)?;
        let rules = self.model.rules;
        // AQL-5.5-1: at the least the tokens are in memory.
        let lost = match store {
            Store::Persistent => rules.allow(Guard::LosesStored),
            Store::InMemory => true,
        };
        for token in self
            .state
            .tokens
            .iter_mut()
            .filter(|token| token.is_issued())
        {
            token.to_run = 0;
            if lost {
                token.phase = Phase::Lost;
            } else if token.phase == Phase::Consumed && rules.allow(Guard::RevivesAfterRestart) {
                token.phase = Phase::Live;
                token.uses = 0;
            }
        }
        self.state.validated = Network::default();
        // AQL-5.4-2, by the reading that ends the connections with the process.
        if self.model.reading.restarted_session == RestartedSession::Ends {
            let ended = |token: &Token| token.scope.session.is_some() && self.is_live(token);
            self.revoke_all(self.state.slots_where(ended));
        }
        if store == Store::InMemory {
            self.state.latest = self.before.clock;
            self.state.tries = Tries::default();
            self.state.ended = [false; 2];
        }
        Some(())
    }
}

/// The full tick at which a token expires that is issued at this one.
pub(super) fn expiry(request: &Request, now: u8, numbers: &Numbers) -> u8 {
    match request.lifetime {
        Lifetime::Default => now + request.default_lifetime(numbers),
        Lifetime::Ticks(0) => ETERNAL,
        Lifetime::Ticks(ticks) => now + ticks,
    }
}
