//! The quotient: data that can no longer matter leaves the state.
//!
//! The one thing to know: [`Aaep::quotient_of`] maps a state to one like it, in which everything that no later step can tell
//! apart has the same value. It is written for the specification, every rule in force and the default reading; a test
//! walks the literal graph and shows that it is a bisimulation there.

use super::Aaep;
use super::bounds::Disturbance;
use super::message::{EARLIEST_CLAIM, LATEST_CLAIM, Message, Shape, Token};
use super::state::{Confirmation, Item, Phase, Session, SessionStatus, State, Subscription};
use super::words::{
    Clarifies, Class, Decision, Response, Risk, SLOTS, SUBSCRIBERS, SessionName, SessionOutcome,
    Slot, Subscriber,
};

/// What a message can still come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// It fails check 1, whatever happens.
    Malformed,
    /// It fails check 2, whatever happens.
    Unissued,
    /// It fails check 2, whatever happens: its token is of a question of the other kind.
    OtherKind,
    /// It fails check 3: its token was used, or will have been when the message arrives.
    Used,
    /// It fails check 3: its token was cancelled.
    Cancelled,
    /// It fails check 4 as long as its confirmation is pending.
    Late,
    /// It fails check 4 unless its question gets more time; then all of it matters.
    NotYet,
    /// It fails check 5 as long as its confirmation is pending; the transport does not vouch for it.
    Stranger,
    /// The same, because its subscription is closed.
    Closed,
    /// It passes checks 1 to 5 as long as its confirmation is pending and its sender's subscription open.
    Judged,
}

impl Aaep {
    /// The state that stands for all that no later step can tell from this one.
    #[must_use]
    pub fn quotient_of(&self, state: &State) -> State {
        let mut q = *state;
        let can_ask = self.can_ask(state);
        for slot in Slot::ALL {
            q.confirmations[slot.index()] = confirmation(state, slot, can_ask);
        }
        self.forget_sessions(&mut q, can_ask);
        self.forget_budgets(&mut q, can_ask);
        self.forget_subscribers(&mut q);
        let most = self.bounds.extensions;
        q.network = q.network.map(|message| canonical(&q, message, most));
        q.captured = q
            .captured
            .filter(|_| q.budgets.affords(Disturbance::Replay))
            .map(|message| canonical(&q, message, most));
        // With nothing left but replies to ignore, nobody asks who is still there.
        if !self.is_live(&q) {
            q.subscriptions = [Subscription::Open; SUBSCRIBERS];
        }
        // Nobody comes any more once nothing can be asked.
        if !can_ask {
            for subscription in &mut q.subscriptions {
                if *subscription == Subscription::Unopened {
                    *subscription = Subscription::Closed;
                }
            }
        }
        self.forget_work(&mut q, can_ask);
        if !q.budgets.affords(Disturbance::Crash) {
            q.stale = 0;
        }
        // Without a deadline to come, now or later, nothing depends on the clock.
        if !can_ask && q.slots_where(Confirmation::is_pending) == [None; SLOTS] {
            q.clock = 0;
        }
        q
    }

    /// What still matters of the sessions: nothing, once nothing of them is pending, in flight or to come.
    fn forget_sessions(&self, q: &mut State, can_ask: bool) {
        let can_begin = can_ask || self.can_work(q);
        for session in SessionName::ALL {
            if !can_begin && !self.is_busy(q, session) {
                q.sessions[session.index()] = Session::STARTED;
            } else if let SessionStatus::Ended(outcome) = &mut q.sessions[session.index()].status {
                *outcome = SessionOutcome::Completed;
            }
        }
        if can_ask || q.slots_where(Confirmation::is_pending) != [None; SLOTS] {
            return;
        }
        for slot in Slot::First.others() {
            if q.confirmation(slot).phase != Phase::Accepted {
                q.confirmations[slot.index()].session = SessionName::A;
            }
        }
    }

    /// Of the work, what goes on and what is refused because of it: nothing, once no more of it is to come.
    fn forget_work(&self, q: &mut State, can_ask: bool) {
        if self.can_work(q) {
            return;
        }
        q.work.output = q.work.output.filter(|output| !output.complete);
        if let Some(output) = &mut q.work.output {
            output.writing = false;
        }
        if !can_ask {
            q.work.handed_off = [false; 2];
        }
    }

    /// Which of the subscribers are still to decide no longer matters once none can close.
    fn forget_subscribers(&self, q: &mut State) {
        let all_open = self.subscribers().all(|it| q.is_open(it));
        if all_open && !q.budgets.affords(Disturbance::Close) {
            for confirmation in &mut q.confirmations {
                confirmation
                    .may_decide
                    .sort_unstable_by(|one, other| other.cmp(one));
            }
        }
    }

    /// What can still be spent, and therefore matters.
    fn forget_budgets(&self, q: &mut State, can_ask: bool) {
        let live = self.is_live(q);
        let pending = q.slots_where(Confirmation::is_pending) != [None; SLOTS];
        let undecided = Slot::ALL.into_iter().any(|slot| {
            let may = q.confirmation(slot).may_decide.contains(&true);
            q.confirmation(slot).is_pending() && (may || q.outbox.contains(Item::Asked(slot)))
        });
        let open = self.subscribers().any(|it| match q.subscription(it) {
            Subscription::Open => true,
            Subscription::Unopened => can_ask,
            Subscription::Closed => false,
        });
        q.budgets = q.budgets.of_possible(Disturbance::ALL, |kind| match kind {
            Disturbance::Duplicate
            | Disturbance::Lose
            | Disturbance::Forge
            | Disturbance::Cancel => can_ask || pending,
            Disturbance::Distort => open && (can_ask || undecided),
            Disturbance::Replay => can_ask || pending || live && q.captured.is_some(),
            Disturbance::Close => open && live,
            Disturbance::Crash => live,
            Disturbance::Late => q.confirmation(Slot::First).phase == Phase::Unasked,
        });
    }
}

/// What still matters of a confirmation: also which action it is for, while that can be asked about again.
fn confirmation(state: &State, slot: Slot, can_ask: bool) -> Confirmation {
    let full = state.confirmation(slot);
    let mut kept = Confirmation {
        session: full.session,
        // Of which kind it is: a reply of the other is ignored at another check.
        clarifies: full.clarifies.map(|_| Clarifies::PLAIN),
        ..Confirmation::UNASKED
    };
    match full.phase {
        Phase::Unasked => return *full,
        // Of the class, what its resolution depends on; of the times, the deadline; of the subscribers, who can decide.
        Phase::Pending => {
            kept.phase = Phase::Pending;
            kept.same_action = full.same_action && can_ask;
            kept.class = match full.clarifies {
                None => class(full.class),
                Some(_) => full.class,
            };
            kept.clarifies = full.clarifies;
            kept.extended = full.extended;
            // What a crash can lose is asked again with its own timeout.
            if state.may_lose_question(slot) {
                kept.issued = full.issued;
            }
            kept.timeout = full.issued + full.timeout - kept.issued;
            for subscriber in Subscriber::ALL {
                kept.may_decide[subscriber.index()] = state.can_decide(subscriber, slot);
            }
        }
        // In flight: its session's end, a crash and its tool's completion are still to come.
        Phase::Accepted if state.session(full.session).is_active() => {
            kept.phase = Phase::Accepted;
            kept.same_action = full.same_action && can_ask;
            kept.runs = full.runs;
        }
        // A used token, and nothing more.
        Phase::Accepted | Phase::Finished | Phase::Rejected | Phase::Answered => {
            kept.phase = Phase::Rejected;
        }
        Phase::Cancelled => {
            kept.phase = Phase::Cancelled;
        }
    }
    kept
}

/// The class that stands for all with this default and these allowed replies: where the default is reject the gravest, so
/// that what is said of grave actions is said of something.
fn class(full: Class) -> Class {
    let (risk, irreversible) = match full.default {
        Decision::Accept => (Risk::Low, false),
        Decision::Reject => (Risk::High, true),
    };
    Class {
        risk,
        irreversible,
        ..full
    }
}

/// What the message can still come to.
fn verdict(q: &State, message: Message, extensions: u8) -> Verdict {
    let slot = match message.token {
        Token::Of(slot) if message.shape != Shape::Malformed => slot,
        Token::Of(_) => return Verdict::Malformed,
        Token::Guessed => return Verdict::Unissued,
    };
    let confirmation = q.confirmation(slot);
    if message.response.is_some() != confirmation.clarifies.is_some() {
        return Verdict::OtherKind;
    }
    let known = known_sender(message);
    match confirmation.phase {
        Phase::Cancelled => Verdict::Cancelled,
        Phase::Unasked | Phase::Accepted | Phase::Finished | Phase::Rejected | Phase::Answered => {
            Verdict::Used
        }
        Phase::Pending if confirmation.deadline() <= q.clock => Verdict::Used,
        Phase::Pending if message.claimed >= confirmation.deadline().cast_signed() => {
            if confirmation.extended < extensions {
                Verdict::NotYet
            } else {
                Verdict::Late
            }
        }
        Phase::Pending if !known => Verdict::Stranger,
        Phase::Pending if !q.is_open(message.sender) => Verdict::Closed,
        Phase::Pending => Verdict::Judged,
    }
}

/// Whether the transport vouches for the sender under the name that it gives; a courtesy notice depends on that.
fn known_sender(message: Message) -> bool {
    message.authenticated && message.shape != Shape::Impostor
}

/// The message that stands for all that come to the same.
fn canonical(q: &State, message: Message, extensions: u8) -> Message {
    let plain = Message {
        token: message.token,
        decision: Decision::Accept,
        response: message.response.map(|_| Response::Choice),
        claimed: EARLIEST_CLAIM,
        sender: Subscriber::Capable,
        authenticated: known_sender(message),
        shape: Shape::Plain,
    };
    match verdict(q, message, extensions) {
        Verdict::Malformed => Message {
            token: Token::Of(Slot::First),
            response: None,
            authenticated: true,
            shape: Shape::Malformed,
            ..plain
        },
        Verdict::OtherKind => Message {
            authenticated: true,
            ..plain
        },
        Verdict::Unissued => Message {
            response: None,
            authenticated: true,
            ..plain
        },
        Verdict::Used => on_dead_token(q, plain, is_used),
        Verdict::Cancelled => {
            let cancelled = |confirmation: &Confirmation| confirmation.phase == Phase::Cancelled;
            Message {
                authenticated: true,
                ..on_dead_token(q, plain, cancelled)
            }
        }
        Verdict::NotYet => Message {
            sender: sender(q, message.sender),
            ..message
        },
        Verdict::Late => Message {
            claimed: LATEST_CLAIM,
            ..plain
        },
        Verdict::Stranger => plain,
        Verdict::Closed => Message {
            sender: message.sender,
            ..plain
        },
        Verdict::Judged => Message {
            decision: message.decision,
            response: message.response,
            sender: sender(q, message.sender),
            shape: message.shape,
            ..plain
        },
    }
}

/// A resolved confirmation that is not cancelled: its token is used.
fn is_used(confirmation: &Confirmation) -> bool {
    matches!(
        confirmation.phase,
        Phase::Accepted | Phase::Finished | Phase::Rejected | Phase::Answered
    )
}

/// The message on the first token that is as dead as this one's, in a reply of the kind of that.
fn on_dead_token(q: &State, message: Message, dead: impl Fn(&Confirmation) -> bool) -> Message {
    let token = first_alike(q, message.token, dead);
    let response = match token {
        Token::Of(slot) => q.confirmation(slot).clarifies.map(|_| Response::Choice),
        Token::Guessed => None,
    };
    Message {
        token,
        response,
        ..message
    }
}

/// The first token of a confirmation that is as this one's, so that messages on dead tokens are alike.
fn first_alike(q: &State, token: Token, alike: impl Fn(&Confirmation) -> bool) -> Token {
    let Token::Of(own) = token else { return token };
    let first = q.slots_where(&alike).into_iter().flatten().next();
    Token::Of(first.filter(|_| alike(q.confirmation(own))).unwrap_or(own))
}

/// Senders whose subscriptions are open are alike once none can close any more.
fn sender(q: &State, sender: Subscriber) -> Subscriber {
    let alike = q.is_open(Subscriber::Capable) && q.is_open(sender);
    if alike && !q.budgets.affords(Disturbance::Close) {
        Subscriber::Capable
    } else {
        sender
    }
}
