//! All questions that the producer has ever asked, and the ways to find them.
//!
//! The one thing to know: the lists of questions are the truth; the indexes beside them follow from the phases and
//! are brought up to date in one place, [`Questions::change`]. Only the lists are serialised.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::clarification::{
    Clarification, ClarificationNumber, ClarificationPhase, ClarificationQuestion,
};
use super::confirmation::{
    Canceller, Confirmation, ConfirmationNumber, IllegalTransition, Phase, Question,
};
use super::modified::ModifiedAction;
use super::question::{Asked, QuestionNumber, TokenState};
use super::vocabulary::{ActionId, ReplyToken, SessionId};
use crate::time::{Deadline, Timeout, Timestamp};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "Lists")]
pub(super) struct Questions {
    lists: Lists,
    by_token: BTreeMap<ReplyToken, QuestionNumber>,
    /// All confirmations of a session, in the order of asking.
    confirmed_in: BTreeMap<SessionId, Vec<ConfirmationNumber>>,
    /// The pending ones, in the order in which they fall due.
    deadlines: BTreeSet<(Deadline, QuestionNumber)>,
    /// When the time is told that a pending one has left, also what was told by now.
    countdowns: BTreeSet<(Deadline, QuestionNumber)>,
    /// The pending ones, by what they are about. No session has an empty map.
    pending: BTreeMap<SessionId, BTreeMap<Subject, QuestionNumber>>,
    /// Those whose tool is in flight, by what runs. No session has an empty set.
    in_flight: BTreeMap<SessionId, BTreeSet<(ActionId, ConfirmationNumber)>>,
}

/// Each kind in the order of asking: its numbers are indexes into its list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Lists {
    confirmations: Vec<Confirmation>,
    clarifications: Vec<Clarification>,
}

/// What a session has at most one pending question about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Subject {
    /// AAEP-6.1-6: an action.
    Action(ActionId),
    /// AAEP-6.1-9: a question in these words.
    Words(Arc<str>),
}

/// The lists contradict themselves, so no producer can have written them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Inconsistent {
    #[error("two questions have the same reply token")]
    TokenReused,
    #[error("two confirmations of the same action are pending")]
    ActionBlocked,
    #[error("two clarifications with the same question are pending")]
    QuestionPending,
}

impl Questions {
    /// Every confirmation ever asked for, in order.
    pub(super) fn confirmations(&self) -> &[Confirmation] {
        &self.lists.confirmations
    }

    /// Every clarification ever asked for, in order.
    pub(super) fn clarifications(&self) -> &[Clarification] {
        &self.lists.clarifications
    }

    /// The number that the next confirmation gets.
    pub(super) fn next_confirmation(&self) -> ConfirmationNumber {
        ConfirmationNumber(self.lists.confirmations.len())
    }

    /// Enters a new confirmation. Its token must be unused and its action not blocked.
    pub(super) fn add_confirmation(&mut self, question: Arc<Question>) {
        let number = self.next_confirmation();
        self.lists.confirmations.push(Confirmation {
            question,
            phase: Phase::Pending,
            modified_action: None,
        });
        self.enter(number.into());
    }

    /// Enters a new clarification. Its token must be unused, and the same question not pending.
    pub(super) fn add_clarification(&mut self, question: Arc<ClarificationQuestion>) {
        let number = ClarificationNumber(self.lists.clarifications.len());
        self.lists.clarifications.push(Clarification {
            question,
            phase: ClarificationPhase::Pending,
        });
        self.enter(number.into());
    }

    /// Every confirmation ever asked for in a session, in order.
    pub(super) fn confirmations_in(
        &self,
        session_id: &SessionId,
    ) -> impl Iterator<Item = &Confirmation> {
        let numbers = self.confirmed_in.get(session_id).into_iter().flatten();
        numbers.map(|&number| self.confirmation(number))
    }

    pub(super) fn confirmation(&self, number: ConfirmationNumber) -> &Confirmation {
        &self.lists.confirmations[number.0]
    }

    pub(super) fn clarification(&self, number: ClarificationNumber) -> &Clarification {
        &self.lists.clarifications[number.0]
    }

    /// What the question has that every question has.
    pub(super) fn asked(&self, number: QuestionNumber) -> &Asked {
        self.lists.asked(number)
    }

    /// The question with that token, whatever has become of it.
    pub(super) fn find(&self, reply_token: &ReplyToken) -> Option<QuestionNumber> {
        self.by_token.get(reply_token).copied()
    }

    /// The same, if it is pending.
    pub(super) fn find_pending(&self, reply_token: &ReplyToken) -> Option<QuestionNumber> {
        self.find(reply_token)
            .filter(|&number| self.lists.token(number) == TokenState::Good)
    }

    /// When the next pending question falls due.
    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// The pending question that falls due first, if it is due by then.
    pub(super) fn first_due(&self, by: Deadline) -> Option<QuestionNumber> {
        self.deadlines
            .first()
            .filter(|&&(deadline, _)| deadline <= by)
            .map(|&(_, number)| number)
    }

    /// When the time that a pending question has left is to be told next, after `now`.
    pub(super) fn next_countdown(&self, now: Timestamp) -> Option<Deadline> {
        let after_now = (
            Bound::Excluded((now.into(), QuestionNumber::LAST)),
            Bound::Unbounded,
        );
        let mut coming = self.countdowns.range(after_now);
        coming.next().map(|&(moment, _)| moment)
    }

    /// The pending questions whose time left is to be told after `before` and at `now` or earlier: each once, for the last of its
    /// moments, in the order of those. None that falls due by then.
    pub(super) fn counted_down(
        &self,
        before: Timestamp,
        now: Timestamp,
    ) -> Vec<(Deadline, QuestionNumber)> {
        if before == now {
            return Vec::new();
        }
        let since = (
            Bound::Excluded((before.into(), QuestionNumber::LAST)),
            Bound::Included((now.into(), QuestionNumber::LAST)),
        );
        let moments = self.countdowns.range(since).copied();
        moments
            .filter(|&(moment, number)| self.asked(number).last_moment(now) == Some(moment))
            .collect()
    }

    /// All pending questions, in the order in which they fall due.
    pub(super) fn pending(&self) -> Vec<QuestionNumber> {
        self.deadlines.iter().map(|&(_, number)| number).collect()
    }

    /// The pending questions of a session: the confirmations first, each kind in the order of asking.
    pub(super) fn pending_in(&self, session_id: &SessionId) -> BTreeSet<QuestionNumber> {
        let pending = self.pending.get(session_id).into_iter();
        pending.flat_map(BTreeMap::values).copied().collect()
    }

    pub(super) fn has_pending(&self, session_id: &SessionId) -> bool {
        self.pending.contains_key(session_id)
    }

    /// Whether a question of the session about that is pending.
    pub(super) fn is_pending(&self, session_id: &SessionId, subject: &Subject) -> bool {
        self.pending
            .get(session_id)
            .is_some_and(|subjects| subjects.contains_key(subject))
    }

    /// All confirmations whose tool is in flight, in the order of asking.
    pub(super) fn in_flight(&self) -> BTreeSet<ConfirmationNumber> {
        let all = self.in_flight.values().flatten();
        all.map(|&(_, number)| number).collect()
    }

    /// Those of a session whose tool is in flight, in the order of asking.
    pub(super) fn in_flight_in(&self, session_id: &SessionId) -> BTreeSet<ConfirmationNumber> {
        let of_session = self.in_flight.get(session_id).into_iter().flatten();
        of_session.map(|&(_, number)| number).collect()
    }

    /// Those of an action whose tool is in flight, in the order of asking.
    pub(super) fn in_flight_of(
        &self,
        session_id: &SessionId,
        action: &ActionId,
    ) -> impl Iterator<Item = ConfirmationNumber> {
        let first = (action.clone(), ConfirmationNumber(0));
        let of_session = self.in_flight.get(session_id).into_iter();
        of_session
            .flat_map(move |calls| calls.range(first.clone()..))
            .take_while(move |(running, _)| running == action)
            .map(|&(_, number)| number)
    }

    pub(super) fn has_in_flight(&self, session_id: &SessionId) -> bool {
        self.in_flight.contains_key(session_id)
    }

    /// The timeout of a question that nobody has seen counts from now.
    pub(super) fn ask_anew(&mut self, number: QuestionNumber, now: Timestamp) {
        self.change(number, |lists| lists.asked_mut(number).at = now);
    }

    /// A question waits longer than it was asked to.
    pub(super) fn extend(&mut self, number: QuestionNumber, timeout: Timeout) {
        self.change(number, |lists| lists.asked_mut(number).timeout = timeout);
    }

    /// A pending confirmation is about to be accepted, and its action to run as modified.
    pub(super) fn modify(&mut self, number: ConfirmationNumber, modified_action: ModifiedAction) {
        self.lists.confirmations[number.0].modified_action = Some(modified_action);
    }

    /// Takes one confirmation to its next phase. An illegal transition changes nothing.
    pub(super) fn transition(
        &mut self,
        number: ConfirmationNumber,
        next: impl FnOnce(Phase) -> Result<Phase, IllegalTransition>,
    ) -> Result<(), IllegalTransition> {
        let phase = next(self.confirmation(number).phase)?;
        self.change(number.into(), |lists| {
            lists.confirmations[number.0].phase = phase;
        });
        Ok(())
    }

    /// Takes one clarification to its next phase. An illegal transition changes nothing.
    pub(super) fn transition_clarification(
        &mut self,
        number: ClarificationNumber,
        next: impl FnOnce(ClarificationPhase) -> Result<ClarificationPhase, IllegalTransition>,
    ) -> Result<(), IllegalTransition> {
        let phase = next(self.clarification(number).phase)?;
        self.change(number.into(), |lists| {
            lists.clarifications[number.0].phase = phase;
        });
        Ok(())
    }

    /// Takes a question back, of whichever kind.
    pub(super) fn cancel(
        &mut self,
        number: QuestionNumber,
        by: Canceller,
    ) -> Result<(), IllegalTransition> {
        match number {
            QuestionNumber::Confirmation(number) => self.transition(number, |it| it.cancel(by)),
            QuestionNumber::Clarification(number) => {
                self.transition_clarification(number, |it| it.cancel(by))
            }
        }
    }

    /// A question that its list has and no index yet.
    fn enter(&mut self, number: QuestionNumber) {
        let asked = self.lists.asked(number);
        self.by_token.insert(asked.reply_token.clone(), number);
        if let QuestionNumber::Confirmation(number) = number {
            let numbers = self.confirmed_in.entry(asked.session_id.clone());
            numbers.or_default().push(number);
        }
        self.index(number);
    }

    /// Changes a question, and with it the indexes that it belongs in.
    fn change(&mut self, number: QuestionNumber, change: impl FnOnce(&mut Lists)) {
        self.remove_from_index(number);
        change(&mut self.lists);
        self.index(number);
    }

    /// Enters a question into the indexes that its phase belongs in.
    fn index(&mut self, number: QuestionNumber) {
        let asked = self.lists.asked(number);
        if self.lists.token(number) == TokenState::Good {
            self.deadlines.insert((asked.deadline(), number));
            self.countdowns
                .extend(asked.countdown().map(|moment| (moment, number)));
            let subjects = self.pending.entry(asked.session_id.clone()).or_default();
            subjects.insert(self.lists.subject(number), number);
        }
        if let Some(call) = self.lists.in_flight(number) {
            let calls = self.in_flight.entry(asked.session_id.clone()).or_default();
            calls.insert(call);
        }
    }

    /// Takes a question out of the indexes that its phase belongs in.
    fn remove_from_index(&mut self, number: QuestionNumber) {
        let asked = self.lists.asked(number);
        if self.lists.token(number) == TokenState::Good {
            self.deadlines.remove(&(asked.deadline(), number));
            for moment in asked.countdown() {
                self.countdowns.remove(&(moment, number));
            }
            if let Some(subjects) = self.pending.get_mut(&asked.session_id) {
                subjects.remove(&self.lists.subject(number));
                if subjects.is_empty() {
                    self.pending.remove(&asked.session_id);
                }
            }
        }
        if let Some(call) = self.lists.in_flight(number)
            && let Some(calls) = self.in_flight.get_mut(&asked.session_id)
        {
            calls.remove(&call);
            if calls.is_empty() {
                self.in_flight.remove(&asked.session_id);
            }
        }
    }
}

impl Lists {
    fn asked(&self, number: QuestionNumber) -> &Asked {
        match number {
            QuestionNumber::Confirmation(number) => &self.confirmations[number.0].question.asked,
            QuestionNumber::Clarification(number) => &self.clarifications[number.0].question.asked,
        }
    }

    fn asked_mut(&mut self, number: QuestionNumber) -> &mut Asked {
        match number {
            QuestionNumber::Confirmation(number) => {
                &mut Arc::make_mut(&mut self.confirmations[number.0].question).asked
            }
            QuestionNumber::Clarification(number) => {
                &mut Arc::make_mut(&mut self.clarifications[number.0].question).asked
            }
        }
    }

    fn token(&self, number: QuestionNumber) -> TokenState {
        match number {
            QuestionNumber::Confirmation(number) => self.confirmations[number.0].phase.token(),
            QuestionNumber::Clarification(number) => self.clarifications[number.0].phase.token(),
        }
    }

    fn subject(&self, number: QuestionNumber) -> Subject {
        match number {
            QuestionNumber::Confirmation(number) => {
                Subject::Action(self.confirmations[number.0].question.action.id.clone())
            }
            QuestionNumber::Clarification(number) => {
                Subject::Words(Arc::clone(&self.clarifications[number.0].question.text))
            }
        }
    }

    /// The call of a tool that the question has released, while it is in flight.
    fn in_flight(&self, number: QuestionNumber) -> Option<(ActionId, ConfirmationNumber)> {
        match number {
            QuestionNumber::Confirmation(number) => {
                let Confirmation {
                    question, phase, ..
                } = &self.confirmations[number.0];
                let is_in_flight = phase.is_in_flight();
                is_in_flight.then(|| (question.action.id.clone(), number))
            }
            QuestionNumber::Clarification(_) => None,
        }
    }
}

impl Serialize for Questions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.lists.serialize(serializer)
    }
}

impl TryFrom<Lists> for Questions {
    type Error = Inconsistent;

    fn try_from(lists: Lists) -> Result<Self, Inconsistent> {
        let confirmations = (0..lists.confirmations.len()).map(ConfirmationNumber);
        let clarifications = (0..lists.clarifications.len()).map(ClarificationNumber);
        let numbers = confirmations
            .map(QuestionNumber::from)
            .chain(clarifications.map(QuestionNumber::from));
        let mut questions = Self {
            lists,
            ..Self::default()
        };
        for number in numbers {
            let asked = questions.asked(number);
            if questions.find(&asked.reply_token).is_some() {
                return Err(Inconsistent::TokenReused);
            }
            let subject = questions.lists.subject(number);
            if questions.lists.token(number) == TokenState::Good
                && questions.is_pending(&asked.session_id, &subject)
            {
                return Err(match subject {
                    Subject::Action(_) => Inconsistent::ActionBlocked,
                    Subject::Words(_) => Inconsistent::QuestionPending,
                });
            }
            questions.enter(number);
        }
        Ok(questions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aaep::confirmation::Authority;
    use crate::aaep::vocabulary::{Action, Decision, RiskLevel, ToolCallId};

    fn question(number: u32) -> Arc<Question> {
        Arc::new(Question {
            asked: Asked {
                reply_token: ReplyToken::from_bits(u128::from(number)),
                session_id: SessionId::from_bits(0),
                at: Timestamp::from_millis(0),
                timeout: Timeout::from_seconds(u64::from(number)).expect("in range"),
            },
            action: Action {
                id: ActionId::parse(&format!("a{number}")).expect("a name"),
                tool: "tool".into(),
                description: "Do it.".into(),
                consequence: "It is done.".into(),
                risk_level: RiskLevel::Low,
                irreversible: false,
            },
            tool_call_id: ToolCallId::parse("call").expect("a name"),
            default_decision: Decision::Reject,
            allowed_replies: vec![],
        })
    }

    /// AAEP-6.3.5-1: what is decided stays decided.
    #[test]
    fn an_illegal_transition_changes_nothing() {
        let mut questions = Questions::default();
        questions.add_confirmation(question(1));
        let number = ConfirmationNumber(0);
        let accept = |phase: Phase| phase.resolve(Decision::Accept, Authority::Reply);
        assert_eq!(questions.transition(number, accept), Ok(()));
        let before = questions.clone();
        assert_eq!(questions.transition(number, accept), Err(IllegalTransition));
        let cancel = |phase: Phase| phase.cancel(Canceller::Producer);
        assert_eq!(questions.transition(number, cancel), Err(IllegalTransition));
        assert_eq!(questions, before);
    }

    /// Whatever the phases, the indexes are those that the list alone gives.
    #[test]
    fn the_indexes_follow_from_the_list() {
        let mut questions = Questions::default();
        for number in (1..=5).rev() {
            questions.add_confirmation(question(number));
        }
        let transitions: [fn(Phase) -> Result<Phase, IllegalTransition>; 5] = [
            |phase| phase.resolve(Decision::Accept, Authority::Reply),
            |phase| phase.resolve(Decision::Reject, Authority::Timeout),
            |phase| phase.cancel(Canceller::SessionEnd),
            Phase::finish,
            Phase::withdraw,
        ];
        let rebuilt = |questions: &Questions| Questions::try_from(questions.lists.clone());
        for number in (0..5).map(ConfirmationNumber) {
            for transition in transitions.iter().cycle().skip(number.0).take(5) {
                let _legal = questions.transition(number, transition);
                assert_eq!(rebuilt(&questions), Ok(questions.clone()));
            }
        }
        assert_eq!(questions.next_deadline(), None);
        assert_eq!(questions.pending(), []);
        // One was accepted only after its turn to finish and to be withdrawn was over.
        assert_eq!(
            questions.in_flight(),
            BTreeSet::from([ConfirmationNumber(3)])
        );
    }

    /// AAEP-6.4-1: due at the deadline and after, not before; the earliest deadline first.
    #[test]
    fn the_first_deadline_falls_due_first() {
        let mut questions = Questions::default();
        questions.add_confirmation(question(2));
        questions.add_confirmation(question(1));
        for (now, due) in [
            (999, None),
            (1_000, Some(ConfirmationNumber(1).into())),
            (1_001, Some(ConfirmationNumber(1).into())),
        ] {
            assert_eq!(questions.first_due(Deadline::from_millis(now)), due);
        }
        assert_eq!(
            questions.pending(),
            [ConfirmationNumber(1), ConfirmationNumber(0)].map(QuestionNumber::from)
        );
    }
}
