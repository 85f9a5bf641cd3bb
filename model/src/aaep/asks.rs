//! Which questions are asked.
//!
//! The one thing to know: the first confirmation varies as widely as the bounds say; the second only in what its
//! resolution depends on, because two that vary widely multiply and tell no more.

use crate::time;

use super::Aaep;
use super::action::Action;
use super::bounds::Variety;
use super::numbers::{DefaultRule, Numbers};
use super::readings::{ChoicesBesideFreetext, KindsAbsent};
use super::state::{Phase, State};
use super::words::{AllowedReplies, Clarifies, Class, Decision, Risk, SessionName, Slot, Takes};

/// The class that stands for all whose default is accept.
const ACCEPTING: Class = Class {
    risk: Risk::Low,
    irreversible: false,
    default: Decision::Accept,
    allowed: AllowedReplies::Both,
};

/// The class that stands for all whose default is reject.
const REJECTING: Class = Class {
    risk: Risk::High,
    irreversible: true,
    default: Decision::Reject,
    allowed: AllowedReplies::Both,
};

/// The classes whose default the text forbids, and those of which its table was changed, as they are asked for at any quiet moment.
fn forbidden(numbers: Numbers) -> impl Iterator<Item = Class> {
    let class = |irreversible, risk| Class {
        risk,
        irreversible,
        default: Decision::Accept,
        allowed: AllowedReplies::Both,
    };
    let of = move |irreversible| Risk::ALL.map(|risk| class(irreversible, risk));
    let all = of(false).into_iter().chain(of(true)).rev();
    all.filter(move |it| {
        let [here, there] = [numbers, Numbers::TEXT].map(|numbers| it.default_rule(numbers));
        there == DefaultRule::MustReject || here != there
    })
}

impl Variety {
    /// Whether the first confirmation is asked for with this class.
    fn holds(self, class: Class) -> bool {
        let plain = class.risk == Risk::Low && !class.irreversible;
        let listed = match class.allowed {
            AllowedReplies::Both => true,
            // Lists without the default: a reply cannot say what the timeout will.
            AllowedReplies::AcceptOnly | AllowedReplies::RejectOrOwn => {
                plain && class.default == Decision::Reject
            }
            AllowedReplies::RejectOnly => plain && class.default == Decision::Accept,
        };
        match self {
            Self::Few => {
                listed
                    && (class == ACCEPTING
                        || class == REJECTING
                        || class.allowed != AllowedReplies::Both)
            }
            Self::Many => listed,
            Self::All => true,
        }
    }
}

impl Aaep {
    /// The asks that may be taken, on a full tick, and at the start also those of the first confirmation that are refused
    /// for their class.
    pub(super) fn asks(&self, state: &State, actions: &mut Vec<Action>) {
        match state
            .free_slot()
            .filter(|_| time::is_full_tick(state.clock))
        {
            Some(Slot::First) => {
                if self.can_confirm(state) {
                    self.first_asks(state, actions);
                }
                self.first_clarifications(state, actions);
            }
            Some(Slot::Second | Slot::Third) => {
                if self.can_confirm(state) {
                    self.later_asks(state, actions);
                }
                self.later_clarifications(state, actions);
            }
            None => {}
        }
    }

    /// The first confirmation is asked for in session A: the two sessions are alike.
    fn first_asks(&self, state: &State, actions: &mut Vec<Action>) {
        let session = SessionName::A;
        if !state.session(session).is_active() {
            return;
        }
        // Own values beside clarifications alone, so that the other bounds keep their size.
        let listed = |allowed: &AllowedReplies| {
            *allowed != AllowedReplies::RejectOrOwn || self.bounds.clarifications > 0
        };
        for allowed in AllowedReplies::ALL.into_iter().filter(listed) {
            for (risk, default) in Risk::ALL
                .into_iter()
                .flat_map(|risk| Decision::ALL.map(|default| (risk, default)))
            {
                for irreversible in [false, true] {
                    let class = Class {
                        risk,
                        irreversible,
                        default,
                        allowed,
                    };
                    if self.bounds.variety.holds(class) {
                        self.ask(session, class, actions);
                    }
                }
            }
        }
    }

    /// Another is asked for in either session; for the first's action once that is neither pending nor in flight.
    fn later_asks(&self, state: &State, actions: &mut Vec<Action>) {
        for session in self
            .sessions()
            .filter(|&session| state.session(session).is_active())
        {
            for class in [ACCEPTING, REJECTING] {
                match (self.bounds.variety, session) {
                    (Variety::All, _) => self.ask(session, class, actions),
                    (Variety::Few | Variety::Many, SessionName::A) => {
                        actions.push(ask(session, class, 1));
                    }
                    (Variety::Few | Variety::Many, SessionName::B) => {
                        actions.push(ask(session, class, self.bounds.longest_timeout));
                    }
                }
            }
        }
        let first = state.confirmation(Slot::First);
        let session = first.session;
        if first.clarifies.is_none()
            && !is_blocked_again(state)
            && state.session(session).is_active()
        {
            actions.push(ask_again(session));
        }
    }

    /// One confirmation, with every timeout.
    fn ask(&self, session: SessionName, class: Class, actions: &mut Vec<Action>) {
        for timeout in 1..=self.bounds.longest_timeout {
            actions.push(ask(session, class, timeout));
        }
    }

    /// Asks that are refused at any time, one of each kind.
    pub(super) fn refused_asks(&self, state: &State, actions: &mut Vec<Action>) {
        if !time::is_full_tick(state.clock) {
            return;
        }
        for session in self.sessions() {
            if !self.can_confirm(state) {
                continue;
            }
            if !state.session(session).is_active() {
                actions.push(ask(session, Class::PLAIN, 1));
            } else if session == SessionName::A {
                actions.push(ask(session, Class::PLAIN, 0));
                let forbidden = forbidden(self.reading.numbers);
                actions.extend(forbidden.map(|class| ask(session, class, 1)));
            }
        }
        let first = state.confirmation(Slot::First);
        if first.is_pending() && first.clarifies.is_none() && self.can_confirm(state) {
            actions.push(ask_again(first.session));
        }
        self.refused_clarifications(state, actions);
    }
}

/// Clarifications: each kind of response with one default.
const CLARIFICATIONS: [Clarifies; 3] = [
    Clarifies {
        takes: Takes::Words,
        default: true,
    },
    Clarifies {
        takes: Takes::Choice,
        default: false,
    },
    Clarifies {
        takes: Takes::Several,
        default: false,
    },
];

impl Aaep {
    /// Like the first confirmation, the first clarification is asked for in session A.
    fn first_clarifications(&self, state: &State, actions: &mut Vec<Action>) {
        let session = SessionName::A;
        if self.can_clarify(state) && state.session(session).is_active() {
            actions.extend(CLARIFICATIONS.map(|it| clarify(session, it, 1)));
            let reading = self.reading;
            let tells = [
                (reading.kinds_absent != KindsAbsent::Any, Takes::Unlisted),
                (
                    reading.choices_beside_freetext != ChoicesBesideFreetext::Free,
                    Takes::ChoiceOrWords,
                ),
            ];
            for (_, takes) in tells.into_iter().filter(|(tells, _)| *tells) {
                let default = false;
                actions.push(clarify(session, Clarifies { takes, default }, 1));
            }
        }
    }

    /// Another is asked for in either session; and the first one's question again, once it waits no more.
    fn later_clarifications(&self, state: &State, actions: &mut Vec<Action>) {
        if !self.can_clarify(state) {
            return;
        }
        for session in self.sessions() {
            if state.session(session).is_active() {
                actions.push(clarify(session, CLARIFICATIONS[0], 1));
            }
        }
        if let Some((session, waits)) = first_question(state)
            && !waits
            && state.session(session).is_active()
        {
            actions.push(clarify_again(session));
        }
    }

    /// Clarifications that are refused at any time, one of each kind.
    fn refused_clarifications(&self, state: &State, actions: &mut Vec<Action>) {
        if !self.can_clarify(state) {
            return;
        }
        for session in self.sessions() {
            if !state.session(session).is_active() {
                actions.push(clarify(session, CLARIFICATIONS[0], 1));
            } else if session == SessionName::A {
                actions.push(clarify(session, CLARIFICATIONS[0], 0));
            }
        }
        if let Some((session, true)) = first_question(state) {
            actions.push(clarify_again(session));
        }
    }
}

/// The session of the first clarification, and whether its question waits, as asked first or again.
fn first_question(state: &State) -> Option<(SessionName, bool)> {
    let first = state.first_clarification()?;
    let mut asked = Slot::ALL.into_iter().filter(|&slot| {
        let asks = state.confirmation(slot).clarifies.is_some();
        asks && state.question(slot) == first
    });
    let waits = asked.any(|slot| state.confirmation(slot).is_pending());
    Some((state.confirmation(first).session, waits))
}

/// A question that was not asked before.
const fn clarify(session: SessionName, clarifies: Clarifies, timeout: u8) -> Action {
    Action::Clarify {
        session,
        clarifies,
        timeout,
        same_question: false,
    }
}

/// The question of the first clarification.
const fn clarify_again(session: SessionName) -> Action {
    Action::Clarify {
        session,
        clarifies: CLARIFICATIONS[0],
        timeout: 1,
        same_question: true,
    }
}

/// Whether one of the confirmations of the first's action is pending or in flight.
fn is_blocked_again(state: &State) -> bool {
    Slot::ALL.into_iter().any(|slot| {
        let confirmation = state.confirmation(slot);
        let blocks = confirmation.phase == Phase::Accepted || confirmation.is_pending();
        confirmation.clarifies.is_none() && state.action(slot) == Slot::First && blocks
    })
}

/// An ask for an action that was not asked for before.
const fn ask(session: SessionName, class: Class, timeout: u8) -> Action {
    Action::Ask {
        session,
        class,
        timeout,
        same_action: false,
    }
}

/// An ask for the action of the first confirmation.
const fn ask_again(session: SessionName) -> Action {
    Action::Ask {
        session,
        class: ACCEPTING,
        timeout: 1,
        same_action: true,
    }
}
