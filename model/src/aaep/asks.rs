//! Which confirmations are asked for.
//!
//! The one thing to know: the first confirmation varies as widely as the bounds say; the second only in what its
//! resolution depends on, because two that vary widely multiply and tell no more.

use crate::time;

use super::Aaep;
use super::action::Action;
use super::bounds::Variety;
use super::state::{Phase, State};
use super::words::{AllowedReplies, Class, Decision, Risk, SessionName, Slot};

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

/// The classes whose default is forbidden, as they are asked for at any quiet moment.
const FORBIDDEN: [Class; 2] = [
    Class {
        default: Decision::Accept,
        ..REJECTING
    },
    Class {
        default: Decision::Accept,
        risk: Risk::Medium,
        ..REJECTING
    },
];

impl Variety {
    /// Whether the first confirmation is asked for with this class.
    fn holds(self, class: Class) -> bool {
        let plain = class.risk == Risk::Low && !class.irreversible;
        let listed = match class.allowed {
            AllowedReplies::Both => true,
            // Lists without the default: a reply cannot say what the timeout will.
            AllowedReplies::AcceptOnly => plain && class.default == Decision::Reject,
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
            Some(Slot::First) => self.first_asks(state, actions),
            Some(Slot::Second | Slot::Third) => self.later_asks(state, actions),
            None => {}
        }
    }

    /// The first confirmation is asked for in session A: the two sessions are alike.
    fn first_asks(&self, state: &State, actions: &mut Vec<Action>) {
        let session = SessionName::A;
        if !state.session(session).is_active() {
            return;
        }
        for allowed in AllowedReplies::ALL {
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
        let session = state.confirmation(Slot::First).session;
        if !is_blocked_again(state) && state.session(session).is_active() {
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
            if !state.session(session).is_active() {
                actions.push(ask(session, Class::PLAIN, 1));
            } else if session == SessionName::A {
                actions.push(ask(session, Class::PLAIN, 0));
                actions.extend(FORBIDDEN.map(|class| ask(session, class, 1)));
            }
        }
        let first = state.confirmation(Slot::First);
        if first.is_pending() {
            actions.push(ask_again(first.session));
        }
    }
}

/// Whether one of the confirmations of the first's action is pending or in flight.
fn is_blocked_again(state: &State) -> bool {
    Slot::ALL.into_iter().any(|slot| {
        let confirmation = state.confirmation(slot);
        let blocks = confirmation.phase == Phase::Accepted || confirmation.is_pending();
        state.action(slot) == Slot::First && blocks
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
