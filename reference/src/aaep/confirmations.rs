//! All confirmations that the producer has ever asked for, and the ways to find them.
//!
//! The one thing to know: the list of confirmations is the truth; the indexes beside it follow from the phases and
//! are brought up to date in one place, [`Confirmations::transition`]. Only the list is serialised.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::confirmation::{
    Confirmation, ConfirmationNumber, IllegalTransition, Phase, Question, Tool,
};
use super::vocabulary::{ActionId, ReplyToken, SessionId};
use crate::time::Timestamp;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<Confirmation>", into = "Vec<Confirmation>")]
pub(super) struct Confirmations {
    /// In the order of asking; a [`ConfirmationNumber`] is an index into it.
    all: Vec<Confirmation>,
    by_token: BTreeMap<ReplyToken, ConfirmationNumber>,
    /// The pending ones, in the order in which they fall due.
    deadlines: BTreeSet<(Timestamp, ConfirmationNumber)>,
    /// The pending ones, by what they block. No session has an empty map.
    blocked: BTreeMap<SessionId, BTreeMap<ActionId, ConfirmationNumber>>,
    /// Those whose tool is in flight, by what runs. No session has an empty set.
    in_flight: BTreeMap<SessionId, BTreeSet<(ActionId, ConfirmationNumber)>>,
}

/// The list of confirmations contradicts itself, so no producer can have written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Inconsistent {
    #[error("two confirmations have the same reply token")]
    TokenTwice,
    #[error("two confirmations of the same action are pending")]
    BlockedTwice,
}

impl Confirmations {
    /// Everything ever asked, in order.
    pub(super) fn all(&self) -> &[Confirmation] {
        &self.all
    }

    /// The number that the next question gets.
    pub(super) fn next_number(&self) -> ConfirmationNumber {
        ConfirmationNumber(self.all.len())
    }

    /// Enters a new question. Its token must be unused and its action not blocked.
    pub(super) fn add(&mut self, question: Arc<Question>) {
        let number = self.next_number();
        self.by_token
            .insert(question.asked.reply_token.clone(), number);
        self.all.push(Confirmation {
            question,
            phase: Phase::Pending,
        });
        self.index(number);
    }

    pub(super) fn get(&self, number: ConfirmationNumber) -> &Confirmation {
        &self.all[number.0]
    }

    pub(super) fn find(&self, reply_token: &ReplyToken) -> Option<ConfirmationNumber> {
        self.by_token.get(reply_token).copied()
    }

    /// When the next pending confirmation falls due.
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// The pending confirmation that falls due first, if it is due at `now`.
    pub(super) fn first_due(&self, now: Timestamp) -> Option<ConfirmationNumber> {
        self.deadlines
            .first()
            .filter(|&&(deadline, _)| deadline <= now)
            .map(|&(_, number)| number)
    }

    /// All pending confirmations, in the order in which they fall due.
    pub(super) fn pending(&self) -> Vec<ConfirmationNumber> {
        self.deadlines.iter().map(|&(_, number)| number).collect()
    }

    /// The pending confirmations of a session, in the order of asking.
    pub(super) fn pending_in(&self, session_id: &SessionId) -> BTreeSet<ConfirmationNumber> {
        let blocked = self.blocked.get(session_id).into_iter();
        blocked.flat_map(BTreeMap::values).copied().collect()
    }

    pub(super) fn has_pending(&self, session_id: &SessionId) -> bool {
        self.blocked.contains_key(session_id)
    }

    pub(super) fn is_blocked(&self, session_id: &SessionId, action: &ActionId) -> bool {
        self.blocked
            .get(session_id)
            .is_some_and(|actions| actions.contains_key(action))
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

    /// The timeout of a question that nobody has seen counts from now, unless it would elapse beyond the calendar.
    pub(super) fn ask_anew(&mut self, number: ConfirmationNumber, now: Timestamp) {
        if now
            .checked_plus(self.get(number).question.asked.timeout)
            .is_none()
        {
            return;
        }
        self.remove_from_index(number);
        Arc::make_mut(&mut self.all[number.0].question).asked.at = now;
        self.index(number);
    }

    /// Takes one confirmation to its next phase. An illegal transition changes nothing.
    pub(super) fn transition(
        &mut self,
        number: ConfirmationNumber,
        next: impl FnOnce(Phase) -> Result<Phase, IllegalTransition>,
    ) -> Result<(), IllegalTransition> {
        let phase = next(self.get(number).phase)?;
        self.remove_from_index(number);
        self.all[number.0].phase = phase;
        self.index(number);
        Ok(())
    }

    /// Enters a confirmation into the indexes that its phase belongs in.
    fn index(&mut self, number: ConfirmationNumber) {
        let Confirmation { question, phase } = &self.all[number.0];
        match phase {
            Phase::Pending => {
                self.deadlines.insert((question.asked.deadline(), number));
                let actions = self
                    .blocked
                    .entry(question.asked.session_id.clone())
                    .or_default();
                actions.insert(question.action.id.clone(), number);
            }
            Phase::Accepted {
                tool: Tool::InFlight,
                ..
            } => {
                self.in_flight
                    .entry(question.asked.session_id.clone())
                    .or_default()
                    .insert((question.action.id.clone(), number));
            }
            Phase::Accepted {
                tool: Tool::Finished | Tool::Withdrawn,
                ..
            }
            | Phase::Rejected { .. }
            | Phase::Cancelled { .. } => {}
        }
    }

    /// Takes a confirmation out of the indexes that its phase belongs in.
    fn remove_from_index(&mut self, number: ConfirmationNumber) {
        let Confirmation { question, phase } = &self.all[number.0];
        let session_id = &question.asked.session_id;
        match phase {
            Phase::Pending => {
                self.deadlines.remove(&(question.asked.deadline(), number));
                if let Some(actions) = self.blocked.get_mut(session_id) {
                    actions.remove(&question.action.id);
                    if actions.is_empty() {
                        self.blocked.remove(session_id);
                    }
                }
            }
            Phase::Accepted {
                tool: Tool::InFlight,
                ..
            } => {
                if let Some(numbers) = self.in_flight.get_mut(session_id) {
                    numbers.remove(&(question.action.id.clone(), number));
                    if numbers.is_empty() {
                        self.in_flight.remove(session_id);
                    }
                }
            }
            Phase::Accepted {
                tool: Tool::Finished | Tool::Withdrawn,
                ..
            }
            | Phase::Rejected { .. }
            | Phase::Cancelled { .. } => {}
        }
    }
}

impl TryFrom<Vec<Confirmation>> for Confirmations {
    type Error = Inconsistent;

    fn try_from(all: Vec<Confirmation>) -> Result<Self, Inconsistent> {
        let mut confirmations = Self::default();
        for Confirmation { question, phase } in all {
            if confirmations.find(&question.asked.reply_token).is_some() {
                return Err(Inconsistent::TokenTwice);
            }
            if phase == Phase::Pending
                && confirmations.is_blocked(&question.asked.session_id, &question.action.id)
            {
                return Err(Inconsistent::BlockedTwice);
            }
            let number = confirmations.next_number();
            confirmations
                .by_token
                .insert(question.asked.reply_token.clone(), number);
            confirmations.all.push(Confirmation { question, phase });
            confirmations.index(number);
        }
        Ok(confirmations)
    }
}

impl From<Confirmations> for Vec<Confirmation> {
    fn from(confirmations: Confirmations) -> Self {
        confirmations.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aaep::confirmation::{Authority, Canceller};
    use crate::aaep::question::Asked;
    use crate::aaep::vocabulary::{Action, Decision, RiskLevel, ToolCallId};
    use crate::time::Timeout;

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
        let mut confirmations = Confirmations::default();
        confirmations.add(question(1));
        let number = ConfirmationNumber(0);
        let accept = |phase: Phase| phase.resolve(Decision::Accept, Authority::Reply);
        assert_eq!(confirmations.transition(number, accept), Ok(()));
        let before = confirmations.clone();
        assert_eq!(
            confirmations.transition(number, accept),
            Err(IllegalTransition)
        );
        let cancel = |phase: Phase| phase.cancel(Canceller::Producer);
        assert_eq!(
            confirmations.transition(number, cancel),
            Err(IllegalTransition)
        );
        assert_eq!(confirmations, before);
    }

    /// Whatever the phases, the indexes are those that the list alone gives.
    #[test]
    fn the_indexes_follow_from_the_list() {
        let mut confirmations = Confirmations::default();
        for number in (1..=5).rev() {
            confirmations.add(question(number));
        }
        let transitions: [fn(Phase) -> Result<Phase, IllegalTransition>; 5] = [
            |phase| phase.resolve(Decision::Accept, Authority::Reply),
            |phase| phase.resolve(Decision::Reject, Authority::Timeout),
            |phase| phase.cancel(Canceller::SessionEnd),
            Phase::finish,
            Phase::withdraw,
        ];
        let rebuilt = |confirmations: &Confirmations| {
            Confirmations::try_from(Vec::from(confirmations.clone()))
        };
        for number in (0..5).map(ConfirmationNumber) {
            for transition in transitions.iter().cycle().skip(number.0).take(5) {
                let _legal = confirmations.transition(number, transition);
                assert_eq!(rebuilt(&confirmations), Ok(confirmations.clone()));
            }
        }
        assert_eq!(confirmations.next_deadline(), None);
        assert_eq!(confirmations.pending(), []);
        // One was accepted only after its turn to finish and to be withdrawn was over.
        assert_eq!(
            confirmations.in_flight(),
            BTreeSet::from([ConfirmationNumber(3)])
        );
    }

    /// AAEP-6.4-1: due at the deadline and after, not before; the earliest deadline first.
    #[test]
    fn the_first_deadline_falls_due_first() {
        let mut confirmations = Confirmations::default();
        confirmations.add(question(2));
        confirmations.add(question(1));
        for (now, due) in [
            (999, None),
            (1_000, Some(ConfirmationNumber(1))),
            (1_001, Some(ConfirmationNumber(1))),
        ] {
            assert_eq!(confirmations.first_due(Timestamp::from_millis(now)), due);
        }
        assert_eq!(
            confirmations.pending(),
            [ConfirmationNumber(1), ConfirmationNumber(0)]
        );
    }
}
