//! Which actions are enabled in a state.
//!
//! The one thing to know: what cannot matter is not offered. Of equal calls one stands for all; what changes nothing is
//! offered in a quiet moment, as it depends neither on the calls under way nor on what is still to be performed; a clock
//! is off only where that tells; and time stands still once no token waits for it.

use std::collections::BTreeSet;

use crate::time::{self, Waiting};

use super::McpAql;
use super::action::{Action, Fault};
use super::bounds::{Disturbance, Variety};
use super::message::{Call, Carried, Network};
use super::numbers::Numbers;
use super::readings::RatingAtRedemption;
use super::rules::Guard;
use super::state::{Phase, State, Token};
use super::words::{
    Danger, FIVE_MINUTES, Lifetime, List, Oracle, Purpose, Request, SLOTS, Scope, SessionName,
    Slot, Store, Trigger, Which, ticks,
};

impl McpAql {
    /// Adds every enabled action, in an order that depends on the state alone.
    pub fn enabled(&self, state: &State, actions: &mut Vec<Action>) {
        if state.setup.is_none() {
            self.setups(actions);
            return;
        }
        arrivals(state, actions);
        self.clients(state, actions);
        for slot in state
            .slots_where(|token| token.to_run > 0)
            .into_iter()
            .flatten()
        {
            actions.push(Action::CarryOut { slot });
        }
        if self.next_moment(state).is_some() {
            actions.push(Action::Tick);
        }
        revocations(state, actions);
        self.relists(state, actions);
        self.store(state, actions);
        if is_quiet(state) {
            self.idle_calls(state, actions);
        }
    }

    /// Whether another token fits into the bounds.
    pub(super) fn can_ask(&self, state: &State) -> bool {
        state
            .free_slot()
            .is_some_and(|slot| slot.index() < usize::from(self.bounds.tokens))
    }

    /// Whether one can be issued now: the gatekeeper has been told a full tick.
    fn can_issue(&self, state: &State) -> bool {
        self.can_ask(state) && time::is_full_tick(state.now(0))
    }

    /// The next moment at which there is something to see: around the last at which a token is good, or where one can be
    /// asked for.
    pub(super) fn next_moment(&self, state: &State) -> Option<u8> {
        let waiting = state.slots_where(|token| is_timed(token) && !is_past(state, token));
        let limits = waiting.into_iter().flatten();
        let limits = limits.map(|slot| state.token(slot).last_tick(state.tolerance()));
        let waiting = Waiting {
            limits: limits.map(time::on),
            can_begin: self.can_ask(state),
            every: FIVE_MINUTES,
        };
        waiting.next(state.clock, self.bounds.ticks)
    }

    /// How the operator may configure the gatekeeper. What is out of range is refused whatever the rest.
    fn setups(&self, actions: &mut Vec<Action>) {
        let modes = Oracle::ALL
            .into_iter()
            .filter(|&oracle| self.reading.oracle.allows(oracle));
        for (nth, oracle) in modes.enumerate() {
            for tolerance in self.tolerances() {
                actions.push(Action::SetUp { tolerance, oracle });
            }
            if nth == 0 {
                let tolerance = ticks(self.reading.numbers.longest_tolerance) + 1;
                actions.push(Action::SetUp { tolerance, oracle });
            }
        }
    }

    /// None and the longest, in ticks; where numbers were changed, those around which a warning begins, too, here and in the text.
    fn tolerances(&self) -> BTreeSet<u8> {
        let numbers = &self.reading.numbers;
        let longest = ticks(numbers.longest_tolerance);
        let mut tolerances = BTreeSet::from([0, longest]);
        if *numbers != Numbers::TEXT {
            let [here, there] = [numbers, &Numbers::TEXT].map(|it| ticks(it.warned_above));
            let around = [here, here + 1, there, there + 1];
            tolerances.extend(around.into_iter().filter(|&it| it <= longest));
        }
        tolerances
    }

    /// Clients ask for tokens and use them; attackers guess.
    fn clients(&self, state: &State, actions: &mut Vec<Action>) {
        if let Some(slot) = state.free_slot()
            && self.can_issue(state)
        {
            let offer = |request| actions.push(Action::Request(request));
            match slot {
                Slot::First => self.first_requests().for_each(offer),
                Slot::Second | Slot::Third => self.later_requests().for_each(offer),
            }
        }
        if !state.network.has_room(self.bounds.under_way) {
            return;
        }
        for slot in state.slots_where(|_| true).into_iter().flatten() {
            self.sends(state, slot, actions);
        }
        if state.budgets.affords(Disturbance::Guess) {
            actions.push(Action::Guess);
        }
    }

    /// What clients send with a token: honest calls, retries, and calls with a fault as long as it is live.
    fn sends(&self, state: &State, slot: Slot, actions: &mut Vec<Action>) {
        let token = state.token(slot);
        let honest = token.sent < token.max_uses || state.budgets.affords(Disturbance::Retry);
        if honest {
            let fault = Fault::None;
            actions.push(Action::Send { slot, fault });
        }
        if is_live(state, token) && state.budgets.affords(Disturbance::Tamper) {
            for fault in Fault::ALL {
                let told = match fault {
                    Fault::None => false,
                    Fault::Session => token.scope.session.is_some(),
                    Fault::Unlisted => self.bounds.changes_lists(),
                    Fault::Rating => self.rates_anew(token),
                    Fault::Purpose
                    | Fault::Operation
                    | Fault::Parameters
                    | Fault::Adapter
                    | Fault::Everything
                    | Fault::Ungated => true,
                };
                if told {
                    actions.push(Action::Send { slot, fault });
                }
            }
        }
    }

    /// Whether an operation is rated anew: by the reading for which that makes no difference. What was rated highest at issue cannot
    /// be, which no state tells, so only where none is.
    fn rates_anew(&self, token: &Token) -> bool {
        self.reading.rating_at_redemption == RatingAtRedemption::NotChecked
            && self.bounds.variety == Variety::Few
            && token.scope.purpose == Purpose::Confirmation
    }

    /// What the first token is asked for.
    fn first_requests(&self) -> impl Iterator<Item = Request> + use<> {
        let numbers = &self.reading.numbers;
        let many = [
            Request {
                danger: Danger::Forbidden,
                ..PLAIN
            },
            Request {
                lifetime: Lifetime::Ticks(PLAIN.longest_lifetime(numbers)),
                ..PLAIN
            },
        ];
        // Where numbers were changed, they are asked for.
        let is_changed = *numbers != Numbers::TEXT;
        let more = match self.bounds.variety {
            Variety::Few if !is_changed => 0,
            Variety::Few | Variety::Many => many.len(),
        };
        let longest = other_contexts().map(|request| Request {
            lifetime: Lifetime::Ticks(request.longest_lifetime(numbers)),
            ..request
        });
        let longest = longest.into_iter().filter(move |_| is_changed);
        few_requests()
            .into_iter()
            .chain(many.into_iter().take(more))
            .chain(longest)
    }

    /// What a later token is asked for: another operation on another adapter, and several uses in the other session; where
    /// lists change, another operation on the same adapter too, and where issues count, the same by the same client.
    fn later_requests(&self) -> impl Iterator<Item = Request> + use<> {
        let elsewhere = Scope {
            operation: Which::Second,
            adapter: Which::Second,
            ..Scope::PLAIN
        };
        let in_session = Scope {
            session: Some(SessionName::B),
            ..Scope::PLAIN
        };
        let beside = Scope {
            operation: Which::Second,
            ..Scope::PLAIN
        };
        let requests = [
            Request {
                scope: elsewhere,
                ..PLAIN
            },
            Request {
                scope: in_session,
                max_uses: 2,
                ..PLAIN
            },
        ];
        let beside = self.bounds.changes_lists().then_some(Request {
            scope: beside,
            ..PLAIN
        });
        let [again, ..] = few_requests();
        let again = self.bounds.counts_issues().then_some(again);
        requests.into_iter().chain(beside).chain(again)
    }

    /// The operator sets a list of the first operation before it is called, and changes lists as long as a token can be bound
    /// by them.
    fn relists(&self, state: &State, actions: &mut Vec<Action>) {
        if self.is_first_list(state, Which::First) {
            let operation = Which::First;
            actions.extend(List::ALL.map(|list| Action::Relist { operation, list }));
            return;
        }
        let live = state.slots_where(|token| is_live(state, token));
        let matters = self.can_ask(state) || live != [None; SLOTS];
        if !state.budgets.affords(Disturbance::List) || !matters {
            return;
        }
        for operation in Which::ALL {
            let others = List::ALL
                .into_iter()
                .filter(|&list| list != state.lists[operation as usize]);
            actions.extend(others.map(|list| Action::Relist { operation, list }));
        }
    }

    /// Whether a list of the operation would be one that nothing is bound by yet: that disturbs nobody.
    pub(super) fn is_first_list(&self, state: &State, operation: Which) -> bool {
        let is_new = state.lists == [List::Unset; 2] && operation == Which::First;
        self.bounds.changes_lists() && is_new && !state.token(Slot::First).is_issued()
    }

    /// The store forgets what is dead, and everything in a crash if it is in memory.
    fn store(&self, state: &State, actions: &mut Vec<Action>) {
        let early = self.rules.allow(Guard::PurgesEarly);
        let purgeable = |token: &Token| {
            let past = is_past(state, token) || early && token.is_past(state.now(0), 0);
            is_held(token) && past
        };
        for slot in state.slots_where(purgeable).into_iter().flatten() {
            actions.push(Action::Purge { slot });
        }
        if state.budgets.affords(Disturbance::Restart)
            && state.slots_where(is_held) != [None; SLOTS]
        {
            for store in Store::ALL {
                actions.push(Action::Restart(store));
            }
        }
    }

    /// Calls that change nothing: queries, what is refused, what needs no token, revocations of what is not live, and
    /// configurations that say what is so already, as long as there is a token that they spare.
    fn idle_calls(&self, state: &State, actions: &mut Vec<Action>) {
        for slot in state.slots_where(|_| true).into_iter().flatten() {
            let carried = Carried::Token(slot);
            actions.push(Action::AskStatus(carried));
            if !is_live(state, state.token(slot)) {
                actions.push(Action::Revoke(carried));
            }
        }
        actions.push(Action::AskStatus(Carried::Guessed));
        actions.push(Action::Revoke(Carried::Guessed));
        let safe = Request {
            danger: Danger::Safe,
            ..PLAIN
        };
        actions.push(Action::Request(safe));
        if self.can_issue(state) {
            actions.extend(self.refused_requests().map(Action::Request));
        }
        if state.slots_where(|token| is_live(state, token)) != [None; SLOTS] {
            actions.extend(Which::ALL.map(Action::Reconfigure));
        }
    }
}

/// A request without peculiarities.
const PLAIN: Request = Request {
    scope: Scope::PLAIN,
    danger: Danger::Destructive,
    max_uses: 1,
    lifetime: Lifetime::Default,
};

/// What the first token is asked for in every search.
const fn few_requests() -> [Request; 3] {
    let in_session = Request {
        scope: Scope {
            session: Some(SessionName::A),
            ..Scope::PLAIN
        },
        ..PLAIN
    };
    [
        in_session,
        Request {
            max_uses: 2,
            ..in_session
        },
        Request {
            scope: Scope {
                purpose: Purpose::QuotaContinue,
                ..Scope::PLAIN
            },
            danger: Danger::Safe,
            ..PLAIN
        },
    ]
}

/// A request in each of the other contexts: for a forbidden operation, and for a quota pause.
const fn other_contexts() -> [Request; 2] {
    let forbidden = Request {
        danger: Danger::Forbidden,
        ..PLAIN
    };
    let [.., quota] = few_requests();
    [forbidden, quota]
}

impl McpAql {
    /// Requests that are refused: a lifetime beyond the longest of each context, none, several uses outside of any session, and more
    /// of them than a token can have, where that is said.
    fn refused_requests(&self) -> impl Iterator<Item = Request> + use<> {
        let numbers = self.reading.numbers;
        let [forbidden, quota] = other_contexts();
        let too_long = [PLAIN, forbidden, quota].map(|request| Request {
            lifetime: Lifetime::Ticks(request.longest_lifetime(&numbers) + 1),
            ..request
        });
        let none = Request {
            lifetime: Lifetime::Ticks(0),
            ..PLAIN
        };
        let loose = Request {
            max_uses: 2,
            ..PLAIN
        };
        let [in_session, ..] = few_requests();
        let many = (numbers.most_uses > 0).then_some(Request {
            max_uses: numbers.most_uses + 1,
            ..in_session
        });
        too_long.into_iter().chain([none, loose]).chain(many)
    }
}

/// Calls arrive, at a node whose clock is right or, where that tells, off.
fn arrivals(state: &State, actions: &mut Vec<Action>) {
    for (place, index) in (0..state.network.len()).zip(0..) {
        if !state.network.is_first_of_its_like(place) {
            continue;
        }
        actions.push(Action::Deliver { index, skew: 0 });
        if let Some(call) = state.network.get(place)
            && state.budgets.affords(Disturbance::Skew)
        {
            telling_skews(state, call, |skew| {
                actions.push(Action::Deliver { index, skew });
            });
        }
    }
    for (place, index) in (0..state.validated.len()).zip(0..) {
        if state.validated.is_first_of_its_like(place) {
            actions.push(Action::Redeem { index });
        }
    }
}

/// Live tokens are revoked, by hand or by what happens.
fn revocations(state: &State, actions: &mut Vec<Action>) {
    let live = state.slots_where(|token| is_live(state, token));
    if !state.budgets.affords(Disturbance::Revoke) || live == [None; SLOTS] {
        return;
    }
    for slot in live.into_iter().flatten() {
        actions.push(Action::Revoke(Carried::Token(slot)));
    }
    for session in SessionName::ALL {
        actions.push(Action::Trigger(Trigger::SessionEnd(session)));
        actions.push(Action::Trigger(Trigger::Logout(Some(session))));
    }
    for adapter in Which::ALL {
        actions.push(Action::Trigger(Trigger::Configuration(adapter)));
    }
    actions.push(Action::Trigger(Trigger::Logout(None)));
    actions.push(Action::Trigger(Trigger::Security));
}

/// How far a clock may be off so that it tells: the call then comes at the last moment of its token, or a millisecond later.
/// A token whose time is over is not brought back by a clock that is behind.
fn telling_skews(state: &State, call: Call, mut tells: impl FnMut(i8)) {
    let Carried::Token(slot) = call.token else {
        return;
    };
    let token = state.token(slot);
    if !call.gated || !is_timed(token) {
        return;
    }
    if is_over(state, token) {
        tells(-1);
        return;
    }
    let last = time::on(token.last_tick(state.tolerance()));
    for moment in [last, last + 1] {
        let Ok(skew) = i8::try_from(i16::from(moment) - i16::from(state.clock)) else {
            continue;
        };
        let is_near = skew.abs() <= farthest_skew(state);
        if is_near && state.now(skew) == moment && moment != state.now(0) {
            tells(skew);
        }
    }
}

/// Clocks are off by up to the tolerance, and by five minutes more: in moments.
fn farthest_skew(state: &State) -> i8 {
    time::on(state.tolerance() + FIVE_MINUTES).cast_signed()
}

/// Whether expiry and tolerance have passed.
pub(super) fn is_past(state: &State, token: &Token) -> bool {
    token.is_past(state.now(0), state.tolerance())
}

/// Whether the gatekeeper holds it.
pub(super) fn is_held(token: &Token) -> bool {
    match token.phase {
        Phase::Live | Phase::Consumed | Phase::Revoked => true,
        Phase::Unissued | Phase::Lost => false,
    }
}

/// Whether it can still admit a call.
pub(super) fn is_live(state: &State, token: &Token) -> bool {
    token.phase == Phase::Live && !is_past(state, token)
}

/// Whether a call with it is answered otherwise before and after its time.
pub(super) fn is_timed(token: &Token) -> bool {
    matches!(token.phase, Phase::Live | Phase::Consumed)
}

/// Whether it can never be valid again: its time is over even at a node whose clock is behind.
pub(super) fn is_over(state: &State, token: &Token) -> bool {
    let behind = if state.budgets.affords(Disturbance::Skew) {
        farthest_skew(state)
    } else {
        0
    };
    token.is_past(state.now(-behind), state.tolerance())
}

/// Whether nothing is under way and nothing is still to be performed.
fn is_quiet(state: &State) -> bool {
    state.network.is_empty()
        && state.validated == Network::default()
        && state.slots_where(|token| token.to_run > 0) == [None; SLOTS]
}
