//! Which actions are enabled in a state.
//!
//! The one thing to know: what cannot matter is not offered. Of equal messages one stands for all; a call that is refused
//! whatever its details is offered once; the clock stands still while no deadline is waited for; a reply that will be
//! ignored whatever happens is delivered, but not disturbed; and once nothing is pending, in flight or still to be asked
//! for, all that is left to happen is the arrival of the replies under way.

use std::iter;

use crate::time::{self, Waiting};

use super::Aaep;
use super::action::{Action, Forgery, Transgression};
use super::bounds::Disturbance;
use super::message::{Message, Shape, Token};
use super::readings::{ActionBinding, ClockTolerance, ReplyLowerBound};
use super::rules::Guard;
use super::state::{Confirmation, Item, Phase, SessionStatus, State, Subscription};
use super::words::{Decision, SLOTS, SessionName, SessionOutcome, Slot, Subscriber, Takes};

impl Aaep {
    /// Adds every enabled action, in an order that depends on the state alone.
    pub fn enabled(&self, state: &State, actions: &mut Vec<Action>) {
        if is_quiet(state) && self.can_ask(state) {
            self.comings(state, actions);
        }
        if !self.may_begin(state) {
            return;
        }
        for (index, place) in (0..state.network.len()).zip(0..) {
            if state.network.is_first_of_its_like(index) {
                actions.push(Action::Deliver { index: place });
            }
        }
        if !self.is_live(state) {
            return;
        }
        if !state.outbox.is_empty() {
            actions.push(Action::CarryOut);
        }
        self.time(state, actions);
        self.what_subscribers_do(state, actions);
        self.agent(state, actions);
        self.attackers(state, actions);
        if is_quiet(state) {
            self.works(state, actions);
            self.errors_of_the_caller(state, actions);
        }
        // The timeout of a question that is asked again begins anew, and so on a full tick.
        let begins = state.waiting_question().is_none() || time::is_full_tick(state.clock);
        if state.budgets.affords(Disturbance::Crash) && state.stale == 0 && begins {
            actions.push(Action::Crash);
        }
        if !self.rules.is_complete() {
            self.transgressions(state, actions);
        }
    }

    /// Sessions start and subscriptions open, in a quiet moment: neither depends on what is under way.
    fn comings(&self, state: &State, actions: &mut Vec<Action>) {
        for session in self.sessions() {
            if state.session(session).status == SessionStatus::Unstarted {
                actions.push(Action::StartSession { session });
            }
        }
        for subscriber in self.subscribers() {
            if state.subscription(subscriber) == Subscription::Unopened {
                actions.push(Action::Open { subscriber });
            }
        }
    }

    /// Whether a session has not started or a subscription not opened.
    pub(super) fn is_anybody_missing(&self, state: &State) -> bool {
        let unstarted = |session| state.session(session).status == SessionStatus::Unstarted;
        let unopened = |subscriber| state.subscription(subscriber) == Subscription::Unopened;
        self.sessions().any(unstarted) || self.subscribers().any(unopened)
    }

    /// Whether anything is done but to come: once everybody is there, or as long as some may be late.
    fn may_begin(&self, state: &State) -> bool {
        let asked = state.confirmation(Slot::First).phase != Phase::Unasked;
        asked || state.budgets.affords(Disturbance::Late) || !self.is_anybody_missing(state)
    }

    /// Whether anything is pending, in flight, to be carried out or still to be asked for.
    pub(super) fn is_live(&self, state: &State) -> bool {
        self.can_ask(state)
            || self.can_work(state)
            || !state.outbox.is_empty()
            || SessionName::ALL
                .into_iter()
                .any(|session| self.is_busy(state, session))
    }

    /// Whether another question fits into the bounds.
    pub(super) fn can_ask(&self, state: &State) -> bool {
        let asked = asked(state);
        self.fits_confirmation(asked) || self.fits_clarification(asked)
    }

    /// Whether another confirmation does; beside two clarifications none, which would multiply and tell no more.
    pub(super) fn can_confirm(&self, state: &State) -> bool {
        self.fits_confirmation(asked(state))
    }

    fn fits_confirmation(&self, (confirmations, clarifications): (u8, u8)) -> bool {
        confirmations < self.bounds.confirmations
            && clarifications < 2
            && usize::from(confirmations + clarifications) < SLOTS
    }

    /// Whether another clarification does; beside a confirmation one.
    pub(super) fn can_clarify(&self, state: &State) -> bool {
        self.fits_clarification(asked(state))
    }

    fn fits_clarification(&self, (confirmations, clarifications): (u8, u8)) -> bool {
        clarifications < self.bounds.clarifications
            && (confirmations == 0 || clarifications == 0)
            && usize::from(confirmations + clarifications) < SLOTS
    }

    /// Whether anything of this session is pending or in flight.
    pub(super) fn is_busy(&self, state: &State, session: SessionName) -> bool {
        let active = state.session(session).is_active();
        let busy = |confirmation: &Confirmation| {
            let in_flight = active && confirmation.phase == Phase::Accepted;
            confirmation.session == session && (in_flight || self.timer_runs(state, confirmation))
        };
        state.slots_where(busy) != [None; SLOTS]
            || active && (state.work.tool == Some(session) || state.work.writes(session))
    }

    /// The clock moves on; a timer is served once it is due, or later.
    fn time(&self, state: &State, actions: &mut Vec<Action>) {
        if self.next_moment(state).is_some() {
            actions.push(Action::Tick);
        }
        if self
            .deadlines(state)
            .any(|deadline| deadline <= state.clock)
        {
            actions.push(Action::ServeTimer);
        }
    }

    /// The next moment at which there is something to see: around a deadline, or where something can be asked for.
    pub(super) fn next_moment(&self, state: &State) -> Option<u8> {
        let waiting = Waiting {
            limits: self.deadlines(state),
            can_begin: self.can_ask(state),
            every: 1,
        };
        waiting.next(state.clock, self.bounds.ticks)
    }

    /// The deadlines that are waited for.
    fn deadlines(&self, state: &State) -> impl Iterator<Item = u8> {
        let waiting = state.slots_where(|it| self.timer_runs(state, it));
        let times_out = |slot: Slot| self.times_out(state.confirmation(slot));
        let deadlines = waiting.map(|slot| slot.map(times_out));
        deadlines.into_iter().flatten()
    }

    /// Subscribers decide as long as they have not been told of a resolution, and close. While none can close, of those
    /// that could decide the same the first stands for all.
    fn what_subscribers_do(&self, state: &State, actions: &mut Vec<Action>) {
        for (before, subscriber) in self.subscribers().enumerate() {
            for slot in Slot::ALL {
                let mut first = self.subscribers().take(before);
                let stood_for = !state.budgets.affords(Disturbance::Close)
                    && first.any(|other| state.can_decide(other, slot));
                if self.has_room(state) && state.can_decide(subscriber, slot) && !stood_for {
                    self.decisions(state, subscriber, slot, actions);
                }
            }
            if state.is_open(subscriber) && state.budgets.affords(Disturbance::Close) {
                actions.push(Action::Close { subscriber });
            }
        }
    }

    /// What one subscriber can decide on one confirmation.
    fn decisions(
        &self,
        state: &State,
        subscriber: Subscriber,
        slot: Slot,
        actions: &mut Vec<Action>,
    ) {
        if let Some(clarifies) = state.confirmation(slot).clarifies {
            return self.responses(state, subscriber, slot, clarifies.takes, actions);
        }
        let plain = |decision, skew| Action::Decide {
            subscriber,
            slot,
            decision,
            skew,
            shape: Shape::Plain,
        };
        for decision in Decision::ALL {
            actions.push(plain(decision, 0));
            let skews = self.telling_skews(state, slot);
            actions.extend(skews.map(|skew| plain(decision, skew)));
        }
        if state.budgets.affords(Disturbance::Distort) {
            let decision = Decision::Accept;
            for shape in [Shape::Modified, Shape::Malformed] {
                actions.push(Action::Decide {
                    subscriber,
                    slot,
                    decision,
                    skew: 0,
                    shape,
                });
            }
        }
    }

    /// What one subscriber can answer to one clarification.
    fn responses(
        &self,
        state: &State,
        subscriber: Subscriber,
        slot: Slot,
        takes: Takes,
        actions: &mut Vec<Action>,
    ) {
        let answer = |response, skew, shape| Action::Answer {
            subscriber,
            slot,
            response,
            skew,
            shape,
        };
        let tried = takes.tried().iter();
        actions.extend(tried.map(|&response| answer(response, 0, Shape::Plain)));
        let skews = self.telling_skews(state, slot);
        actions.extend(skews.map(|skew| answer(takes.right(), skew, Shape::Plain)));
        if state.budgets.affords(Disturbance::Distort) {
            actions.push(answer(takes.right(), 0, Shape::Malformed));
        }
    }

    /// How far a clock has to be off to put the claimed time just on the other side of the deadline; where the reading asks for it just
    /// before the question, and where it tolerates that also behind the deadline. If it can.
    fn telling_skews(&self, state: &State, slot: Slot) -> impl Iterator<Item = i8> + use<> {
        let question = state.confirmation(slot);
        let (deadline, asked) = (question.deadline(), time::on(question.issued));
        let [clock, deadline, asked] = [state.clock, deadline, asked].map(u8::cast_signed);
        let across = if clock < deadline {
            deadline
        } else {
            deadline - 1
        };
        let early = match self.reading.reply_lower_bound {
            ReplyLowerBound::None => None,
            ReplyLowerBound::NotBeforeAsked => Some(asked - 1),
        };
        // Not the deadline, which the reading `deadline-boundary` is about; and a moment more than else, to have it from the start.
        let behind = match self.reading.clock_tolerance {
            ClockTolerance::None => None,
            ClockTolerance::OneTick | ClockTolerance::Any => Some(deadline + 1),
        };
        let most = time::on(self.bounds.skew);
        let most_behind = most + u8::from(behind.is_some());
        let within = move |most: u8| move |skew: &i8| skew.unsigned_abs() <= most;
        let behind = behind.map(|it| it - clock).filter(within(most_behind));
        let skews = iter::once(across).chain(early).map(move |it| it - clock);
        behind.into_iter().chain(skews.filter(within(most)))
    }

    /// The agent asks, cancels, reports tools as done and ends sessions.
    fn agent(&self, state: &State, actions: &mut Vec<Action>) {
        if self.can_ask(state) {
            self.asks(state, actions);
        }
        for slot in state.slots_where(|_| true).into_iter().flatten() {
            let confirmation = state.confirmation(slot);
            if confirmation.is_pending() && state.budgets.affords(Disturbance::Cancel) {
                actions.push(Action::Cancel { slot });
            }
            let current = self.reading.action_binding == ActionBinding::AsCurrent;
            let asks = confirmation.is_pending() && confirmation.clarifies.is_none();
            if current && asks && !state.changed[slot.index()] {
                actions.push(Action::Change { slot });
            }
            if confirmation.is_pending() && confirmation.extended < self.bounds.extensions {
                let longer = true;
                actions.push(Action::Extend { slot, longer });
            }
            if is_in_flight(state, confirmation) && confirmation.runs > 0 {
                actions.push(Action::FinishTool { slot });
            }
        }
        for session in self
            .sessions()
            .filter(|&session| state.session(session).is_active())
        {
            if self.can_ask(state) || self.can_work(state) || self.is_busy(state, session) {
                ends(state, session, actions);
            }
        }
    }

    /// Calls that are refused, in a quiet moment: a refusal depends neither on the network nor on the outbox.
    fn errors_of_the_caller(&self, state: &State, actions: &mut Vec<Action>) {
        for slot in state.slots_where(|_| true).into_iter().flatten() {
            let confirmation = state.confirmation(slot);
            if !confirmation.is_pending() {
                actions.push(Action::Cancel { slot });
            }
            if self.bounds.extensions > 0 {
                let longer = !confirmation.is_pending();
                actions.push(Action::Extend { slot, longer });
            }
            // What is released is reported by a host that has run it, and what is due is released by the report itself.
            let released = is_in_flight(state, confirmation);
            let due =
                self.timer_runs(state, confirmation) && self.times_out(confirmation) <= state.clock;
            if !released && !due && confirmation.clarifies.is_none() {
                actions.push(Action::FinishTool { slot });
            }
        }
        for subscriber in self.subscribers() {
            if !state.is_open(subscriber) {
                actions.push(Action::Close { subscriber });
            }
        }
        if self.can_ask(state) {
            for subscriber in self.subscribers() {
                if state.subscription(subscriber) != Subscription::Unopened {
                    actions.push(Action::Open { subscriber });
                }
            }
            for session in self.sessions() {
                if state.session(session).status != SessionStatus::Unstarted {
                    actions.push(Action::StartSession { session });
                }
            }
            self.refused_asks(state, actions);
            for session in self
                .sessions()
                .filter(|&session| !state.session(session).is_active())
            {
                actions.push(Action::EndSession {
                    session,
                    outcome: SessionOutcome::Cancelled,
                });
            }
        }
    }

    /// What the network and its attackers do to replies that can still have an effect, and with what they have seen.
    fn attackers(&self, state: &State, actions: &mut Vec<Action>) {
        for (message, place) in state.network.messages().zip(0..) {
            let first = state.network.is_first_of_its_like(usize::from(place));
            if !first || !Self::concerns_pending(state, message) {
                continue;
            }
            if state.budgets.affords(Disturbance::Lose) {
                actions.push(Action::Lose { index: place });
            }
            if state.budgets.affords(Disturbance::Duplicate) && self.has_room(state) {
                actions.push(Action::Duplicate { index: place });
            }
        }
        if state.captured.is_some() && state.budgets.affords(Disturbance::Replay) {
            actions.push(Action::Replay);
        }
        if state.budgets.affords(Disturbance::Forge) && self.has_room(state) {
            self.forgeries(state, actions);
        }
    }

    /// Whether the message carries the token of a pending confirmation.
    pub(super) fn concerns_pending(state: &State, message: Message) -> bool {
        match message.token {
            Token::Of(slot) => {
                let question = state.confirmation(slot);
                let of_its_kind = message.response.is_some() == question.clarifies.is_some();
                question.is_pending() && of_its_kind && message.shape != Shape::Malformed
            }
            Token::Guessed => false,
        }
    }

    /// Replies from those who are not to decide, while there is something to decide.
    fn forgeries(&self, state: &State, actions: &mut Vec<Action>) {
        let pending = state.slots_where(Confirmation::is_pending);
        if pending != [None; SLOTS] {
            actions.push(Action::Forge(Forgery::Guessed));
        }
        let first = state.confirmation(Slot::First).session;
        let two_sessions = state.slots_where(|it| it.session != first) != [None; SLOTS];
        let mixed_up = two_sessions && state.is_open(Subscriber::Capable);
        for slot in pending.into_iter().flatten() {
            let decision = Decision::Accept;
            actions.push(Action::Forge(Forgery::Unauthenticated { slot, decision }));
            actions.push(Action::Forge(Forgery::Impostor { slot, decision }));
            if self.bounds.clarifications > 0 && state.is_open(Subscriber::Capable) {
                actions.push(Action::Forge(Forgery::OtherKind { slot }));
            }
            if mixed_up {
                actions.push(Action::Forge(Forgery::MixedUp { slot, decision }));
                actions.push(Action::Forge(Forgery::MixedUp {
                    slot,
                    decision: Decision::Reject,
                }));
            }
        }
    }

    /// What a producer may do only because a rule is left out, once for each confirmation.
    fn transgressions(&self, state: &State, actions: &mut Vec<Action>) {
        for slot in state
            .slots_where(Confirmation::is_pending)
            .into_iter()
            .flatten()
        {
            let confirmation = state.confirmation(slot);
            if confirmation.clarifies.is_some() {
                if self.rules.allow(Guard::GoesOnUnanswered) {
                    let transgression = Transgression::AnswerWhileBlocked { slot };
                    actions.push(Action::Transgress(transgression));
                }
                continue;
            }
            let waits = state.outbox.contains(Item::Perform(slot));
            if self.rules.allow(Guard::PerformsBlocked) && confirmation.runs == 0 && !waits {
                actions.push(Action::Transgress(Transgression::PerformWhileBlocked {
                    slot,
                }));
            }
            if self.rules.allow(Guard::AnnouncesBlocked) && !confirmation.announced {
                actions.push(Action::Transgress(Transgression::AnnounceWhileBlocked {
                    slot,
                }));
            }
        }
    }

    /// Whether one more message can be under way.
    fn has_room(&self, state: &State) -> bool {
        state.network.has_room(self.bounds.under_way)
    }

    /// The subscribers that there are.
    pub(super) fn subscribers(&self) -> impl Iterator<Item = Subscriber> + use<> {
        Subscriber::ALL
            .into_iter()
            .take(usize::from(self.bounds.subscribers))
    }

    /// The sessions that there are.
    pub(super) fn sessions(&self) -> impl Iterator<Item = SessionName> + use<> {
        SessionName::ALL
            .into_iter()
            .take(usize::from(self.bounds.sessions))
    }
}

/// The ways in which a session can end. Completion differs for the tools in flight and failure in the name of its event
/// alone, so beyond that both are offered in quiet moments only.
fn ends(state: &State, session: SessionName, actions: &mut Vec<Action>) {
    let in_flight = |confirmation: &Confirmation| {
        confirmation.session == session && is_in_flight(state, confirmation)
    };
    let completes = state.slots_where(in_flight) != [None; SLOTS];
    let quiet = is_quiet(state);
    actions.push(Action::EndSession {
        session,
        outcome: SessionOutcome::Cancelled,
    });
    if completes || quiet {
        actions.push(Action::EndSession {
            session,
            outcome: SessionOutcome::Completed,
        });
    }
    if quiet {
        actions.push(Action::EndSession {
            session,
            outcome: SessionOutcome::Errored,
        });
    }
}

/// Whether the action was released, its session goes on and its tool is not reported as done.
fn is_in_flight(state: &State, confirmation: &Confirmation) -> bool {
    confirmation.phase == Phase::Accepted && state.session(confirmation.session).is_active()
}

/// How many confirmations were asked for, and how many clarifications.
fn asked(state: &State) -> (u8, u8) {
    let (mut asked, mut clarifications) = (0, 0);
    for question in &state.confirmations {
        asked += u8::from(question.phase != Phase::Unasked);
        clarifications += u8::from(question.clarifies.is_some());
    }
    (asked - clarifications, clarifications)
}

/// Whether nothing is under way or to be carried out.
fn is_quiet(state: &State) -> bool {
    state.network.is_empty() && state.outbox.is_empty()
}
