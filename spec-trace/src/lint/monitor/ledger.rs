//! What may have become of each confirmation of a session.
//!
//! The record does not show everything: a timeout is invisible, a cancellation looks like any change of state, a reply
//! that was sent in time may have arrived too late. So each confirmation has a set of possible outcomes. It grows when
//! something may have happened and shrinks only when something must have.

use crate::lint::finding::Place;
use crate::lint::record::{Decision, Event, EventKind, Question};
use crate::lint::reply::{Answer, Reply, ReplyContent};
use crate::lint::ties::{Relation, Ties};
use crate::lint::time::Timestamp;

/// Seconds that a reply may be on its way, and that a recorder may be late in logging one. Within this time of the
/// deadline the record cannot tell whether the reply or the timeout came first.
pub const SLACK_SECONDS: i64 = 5;

/// A set of outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcomes(u8);

impl Outcomes {
    /// Still open.
    pub const PENDING: Self = Self(1);
    /// Accepted, by reply or by default.
    pub const ACCEPTED: Self = Self(2);
    /// Rejected, by reply or by default.
    pub const REJECTED: Self = Self(4);
    /// Cancelled by the producer.
    pub const CANCELLED: Self = Self(8);
    const NONE: Self = Self(0);

    /// The outcomes of either set.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The outcomes of `self` that `other` has not.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the sets share an outcome.
    pub const fn may_be(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Whether the stream shows what subscribers said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replies {
    /// All replies are in the record.
    Recorded,
    /// None is: each confirmation may have been answered either way at any time.
    Unseen,
}

/// What a reported confirmation was followed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FollowUp {
    /// No event of the session.
    Nothing,
    /// An event that is neither of the following.
    Event,
    /// A state.changed or a tool.invoked.
    StateOrCall,
}

/// One confirmation.
#[derive(Debug)]
pub struct Confirmation {
    /// The line of the question.
    pub place: Place,
    /// Who asked.
    pub producer: String,
    /// The ids of its action.
    pub ties: Ties,
    /// `action` and `consequence`.
    pub prose: (String, String),
    /// What may have become of it.
    pub possible: Outcomes,
    /// The line from which on an acceptance was possible.
    pub acceptable_from: Option<u64>,
    /// The reply that decided it: line and time.
    pub answered: Option<(u64, Timestamp)>,
    /// What followed the answer.
    pub follow_up: FollowUp,
    default: Option<Decision>,
    allowed: Vec<String>,
    /// By the producer's clock, and by the recorder's.
    deadline: Option<Timestamp>,
    deadline_received: Option<Timestamp>,
}

impl Confirmation {
    /// Whether a call on `line` may be explained by it.
    pub fn may_explain(&self, line: u64) -> bool {
        self.acceptable_from.is_some_and(|from| from <= line)
    }

    fn add(&mut self, outcomes: Outcomes, line: u64) {
        self.possible = self.possible.or(outcomes);
        if self.possible.may_be(Outcomes::ACCEPTED) {
            self.acceptable_from.get_or_insert(line);
        }
    }

    /// AAEP-6.8-4: a question that was withdrawn before the reply arrived stays withdrawn, also when the subscriber could not
    /// know that yet and its reply is on record before the change of state.
    fn may_have_crossed(&mut self, event: &Event) {
        let EventKind::StateChanged { from, to } = &event.kind else {
            return;
        };
        let sent_before = |moment: Timestamp| event.sent.is_some_and(|sent| sent < moment);
        if may_withdraw(from.as_deref(), to.as_deref())
            && event.speaks_of(&self.ties)
            && self.answered.is_some_and(|(_, moment)| sent_before(moment))
        {
            self.add(Outcomes::CANCELLED, event.place.line);
        }
    }

    /// AAEP-6.4-1: from its deadline on, the default may have been applied. An unknown deadline may have passed.
    fn deadline_may_have_passed(
        &self,
        sent: Option<Timestamp>,
        received: Option<Timestamp>,
    ) -> bool {
        let Some(deadline) = self.deadline else {
            return true;
        };
        let recorder_deadline = self.deadline_received.unwrap_or(deadline).min(deadline);
        sent.is_some_and(|sent| sent >= deadline)
            || received.is_some_and(|received| received >= recorder_deadline)
    }

    fn default_outcome(&self) -> Outcomes {
        match self.default {
            Some(Decision::Accept) => Outcomes::ACCEPTED,
            Some(Decision::Reject) => Outcomes::REJECTED,
            None => Outcomes::ACCEPTED.or(Outcomes::REJECTED),
        }
    }
}

/// The confirmations of one session, in the order in which they were asked.
#[derive(Debug)]
pub struct Ledger {
    /// All of them.
    pub confirmations: Vec<Confirmation>,
    replies: Replies,
    /// Those that may still be pending.
    open: Vec<usize>,
    /// Those that were answered and not followed by a state or call yet.
    unfollowed: Vec<usize>,
}

impl Ledger {
    /// An empty one.
    pub fn new(replies: Replies) -> Self {
        Self {
            confirmations: Vec::new(),
            replies,
            open: Vec::new(),
            unfollowed: Vec::new(),
        }
    }

    /// Takes in an event of the session, before the monitors judge it. A question is entered by [`Self::ask`] after that.
    pub fn event(&mut self, event: &Event) {
        self.pass_time(event);
        let follow_up = match &event.kind {
            EventKind::StateChanged { from, to } => {
                if may_withdraw(from.as_deref(), to.as_deref()) {
                    self.may_withdraw(event);
                }
                FollowUp::StateOrCall
            }
            EventKind::Invoked { .. } => FollowUp::StateOrCall,
            // The end of the session is judged by what came before it.
            EventKind::Ended(_) => return,
            EventKind::Started
            | EventKind::Completed { .. }
            | EventKind::Asked(_)
            | EventKind::Other => FollowUp::Event,
        };
        for index in &self.unfollowed {
            let confirmation = &mut self.confirmations[*index];
            confirmation.may_have_crossed(event);
            confirmation.follow_up = confirmation.follow_up.max(follow_up);
        }
        if follow_up == FollowUp::StateOrCall {
            self.unfollowed.clear();
        }
    }

    /// Enters a question.
    pub fn ask(&mut self, event: &Event, question: &Question) {
        let after_timeout =
            |moment: Option<Timestamp>| Some(moment?.plus_seconds(question.timeout?));
        let mut confirmation = Confirmation {
            place: event.place.clone(),
            producer: event.producer.clone(),
            ties: event.ties.clone(),
            prose: question.prose.clone(),
            possible: Outcomes::PENDING,
            acceptable_from: None,
            answered: None,
            follow_up: FollowUp::Nothing,
            default: question.default,
            allowed: question.allowed.clone(),
            deadline: after_timeout(event.sent),
            deadline_received: after_timeout(event.received),
        };
        if self.replies == Replies::Unseen {
            confirmation.add(Outcomes::ACCEPTED.or(Outcomes::REJECTED), event.place.line);
        }
        self.open.push(self.confirmations.len());
        self.confirmations.push(confirmation);
    }

    /// Takes in a reply. Yields the confirmations that it may have decided; a reply without effect yields none.
    ///
    /// Two producers may have given out the same token, and a reply names neither: then it may be meant for either question,
    /// and is certain of none. `elsewhere` says that a question of another session has the token.
    pub fn reply(
        &mut self,
        reply: &Reply,
        content: &ReplyContent,
        latest: Option<Timestamp>,
        elsewhere: bool,
    ) -> Vec<usize> {
        let token = Some(content.token.as_str());
        let asked = self.confirmations.iter().enumerate();
        let mut meant: Vec<usize> = asked
            .filter(|(_, it)| it.ties.token.as_deref() == token)
            .map(|(index, _)| index)
            .collect();
        let alone = !elsewhere && meant.len() == 1;
        meant.retain(|index| {
            let mut effect = effect(&self.confirmations[*index], reply, content, latest);
            effect.certain &= alone;
            self.decide(*index, reply, content, &effect)
        });
        meant
    }

    /// Lets a reply have its effect on one confirmation; false if it has none.
    fn decide(
        &mut self,
        index: usize,
        reply: &Reply,
        content: &ReplyContent,
        effect: &Effect,
    ) -> bool {
        if effect.outcomes == Outcomes::NONE {
            return false;
        }
        let confirmation = &mut self.confirmations[index];
        let time = reply.received.unwrap_or(content.decided);
        if confirmation.possible.may_be(Outcomes::PENDING) {
            if effect.certain {
                confirmation.possible = confirmation.possible.without(Outcomes::PENDING);
                self.open.retain(|open| *open != index);
            }
        } else if confirmation.answered.is_none_or(|(_, first)| time >= first) {
            // AAEP-6.3.5-1: a later reply has no effect. One that is dated before the first may have arrived before it.
            return false;
        }
        confirmation.add(effect.outcomes, reply.place.line);
        if confirmation.answered.is_none() {
            confirmation.answered = Some((reply.place.line, time));
            self.unfollowed.push(index);
        }
        true
    }

    /// The confirmations that may concern a call with these ids, asked before `line`: those that share an id with it, or
    /// else those of which no id says that they do not.
    pub fn candidates(&self, call: &Ties, line: u64) -> (Vec<usize>, Relation) {
        let mut by_id = (Vec::new(), Relation::Unknown);
        let mut by_order = Vec::new();
        for (index, confirmation) in self.confirmations.iter().enumerate() {
            if confirmation.place.line >= line {
                break;
            }
            match confirmation.ties.relation(call) {
                same @ Relation::Same(_) => {
                    by_id.0.push(index);
                    by_id.1 = same;
                }
                Relation::Unknown => by_order.push(index),
                Relation::Different => {}
            }
        }
        if by_id.0.is_empty() {
            (by_order, Relation::Unknown)
        } else {
            by_id
        }
    }

    fn pass_time(&mut self, event: &Event) {
        for index in &self.open {
            let confirmation = &mut self.confirmations[*index];
            if confirmation.deadline_may_have_passed(event.sent, event.received) {
                confirmation.add(confirmation.default_outcome(), event.place.line);
            }
        }
    }

    /// AAEP-6.8-3: a change of state may say that a question is withdrawn. One that names a question speaks of that one.
    fn may_withdraw(&mut self, event: &Event) {
        for index in &self.open {
            let confirmation = &mut self.confirmations[*index];
            if event.speaks_of(&confirmation.ties) {
                confirmation.add(Outcomes::CANCELLED, event.place.line);
            }
        }
    }
}

/// Whether a change between these states may say that a question is withdrawn. An unknown state may be any.
fn may_withdraw(from: Option<&str>, to: Option<&str>) -> bool {
    to != Some("awaiting_input") || from == Some("awaiting_input")
}

/// What a reply did, if it did anything.
struct Effect {
    outcomes: Outcomes,
    /// Whether the question cannot be pending any more.
    certain: bool,
}

/// The checks of 6.3.4 as far as a record shows them. The sender counts as authenticated and its subscription as active
/// (AAEP-6.3.4-5) unless the transport refused it.
fn effect(
    confirmation: &Confirmation,
    reply: &Reply,
    content: &ReplyContent,
    latest: Option<Timestamp>,
) -> Effect {
    let ignored = Effect {
        outcomes: Outcomes::NONE,
        certain: false,
    };
    // AAEP-6.3.4-4: decided before the deadline, whenever it arrives.
    if confirmation
        .deadline
        .is_some_and(|deadline| content.decided >= deadline)
    {
        return ignored;
    }
    // AAEP-6.3.4-5: the transport knew the sender and said no.
    if matches!(reply.http_status, Some(401 | 403)) {
        return ignored;
    }
    let listed = confirmation
        .allowed
        .iter()
        .any(|allowed| allowed == content.answer.word());
    let outcomes = match &content.answer {
        // AAEP-6.3.2-4: without support for it a modified action counts as reject; support does not show.
        Answer::Plain(Decision::Accept) if content.modified => {
            Outcomes::ACCEPTED.or(Outcomes::REJECTED)
        }
        Answer::Plain(Decision::Reject) if content.modified => Outcomes::REJECTED,
        // AAEP-6.3.4-6: a decision that the question does not allow is ignored.
        Answer::Plain(_) | Answer::Custom(_) if !listed => return ignored,
        Answer::Plain(Decision::Accept) => Outcomes::ACCEPTED,
        Answer::Plain(Decision::Reject) => Outcomes::REJECTED,
        // The schema knows no decisions of one's own, and allowed_replies may list them: what they do is not said.
        Answer::Custom(_) => Outcomes::ACCEPTED.or(Outcomes::REJECTED),
    };
    let plain = matches!(content.answer, Answer::Plain(_));
    let taken = reply
        .http_status
        .is_none_or(|status| (200..300).contains(&status));
    Effect {
        outcomes,
        certain: plain && taken && surely_in_time(confirmation, reply, content, latest),
    }
}

/// Whether the reply reached the producer before the timeout, whatever the network and the clocks did.
fn surely_in_time(
    confirmation: &Confirmation,
    reply: &Reply,
    content: &ReplyContent,
    latest: Option<Timestamp>,
) -> bool {
    let Some(deadline) = confirmation.deadline else {
        return false;
    };
    let recorder_deadline = confirmation
        .deadline_received
        .unwrap_or(deadline)
        .min(deadline);
    let safe =
        |moment: Timestamp, deadline: Timestamp| moment.plus_seconds(SLACK_SECONDS) < deadline;
    safe(reply.received.unwrap_or(content.decided), recorder_deadline)
        && latest.is_none_or(|latest| safe(latest, deadline))
}
