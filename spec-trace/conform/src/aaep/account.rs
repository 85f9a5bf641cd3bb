//! What an executor has to hold that did all that was wanted of it, to the last field.
//!
//! The one thing to know: the account is kept by the bridge, from the calls and from what is wanted of them ([`super::wanted`]).
//! The executor is never asked what to put into it, but for the names that it alone makes up: those have to be new.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_model::aaep::state::State;
use countersign_model::aaep::words::{SLOTS, SUBSCRIBERS, SessionName, Slot, Subscriber};
use countersign_reference::aaep::{
    AgentState, Asked, Authority, Canceller, Capabilities, Clarification, ClarificationPhase,
    ClarificationQuestion, Confirmation, EventId, Output, Payload, Phase, Question, ReplyToken,
    Session, SessionId, SessionStatus, Subscription, SubscriptionId, ToolCallId, Work,
};
use countersign_reference::time::Timestamp;

use super::Host;
use super::concrete::Environment;
use crate::{Unexplained, unexplained};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Each question that was asked, by [`Slot::index`].
    pub questions: [Option<Held>; SLOTS],
    /// Each session that was started, as its events have told it, by `SessionName::index`.
    pub sessions: [Option<Session>; 2],
    /// Each subscription that was opened, by `Subscriber::index`.
    pub subscriptions: [Option<Subscription>; SUBSCRIBERS],
    /// The greatest time that was told.
    pub now: Timestamp,
    /// What the last call put out to ask, if it asked.
    pub asked_last: Option<Arc<Output>>,
    /// The id of every event so far.
    event_ids: Arc<Vec<EventId>>,
}

/// A question that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// A confirmation.
    Confirmation(Confirmation),
    /// A clarification.
    Clarification(Clarification),
}

/// What has become of a question, of whichever kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// It waits.
    Pending,
    /// It was resolved.
    Resolved(Authority),
    /// It was taken back.
    Cancelled(Canceller),
}

impl Held {
    /// What every question has.
    pub(super) fn asked(&self) -> &Asked {
        match self {
            Self::Confirmation(it) => &it.question.asked,
            Self::Clarification(it) => &it.question.asked,
        }
    }

    /// The same, to be changed.
    pub(super) fn asked_mut(&mut self) -> &mut Asked {
        match self {
            Self::Confirmation(it) => &mut Arc::make_mut(&mut it.question).asked,
            Self::Clarification(it) => &mut Arc::make_mut(&mut it.question).asked,
        }
    }

    fn became(&self) -> Became {
        match self {
            Self::Confirmation(it) => match it.phase {
                Phase::Pending => Became::Pending,
                Phase::Accepted { by, .. } | Phase::Rejected { by } => Became::Resolved(by),
                Phase::Cancelled { by } => Became::Cancelled(by),
            },
            Self::Clarification(it) => match it.phase {
                ClarificationPhase::Pending => Became::Pending,
                ClarificationPhase::Resolved { by } => Became::Resolved(by),
                ClarificationPhase::Cancelled { by } => Became::Cancelled(by),
            },
        }
    }
}

impl Account {
    /// Nothing has begun.
    pub(super) fn start() -> Self {
        Self {
            questions: [const { None }; SLOTS],
            sessions: [const { None }; 2],
            subscriptions: [None; SUBSCRIBERS],
            now: Timestamp::MIN,
            asked_last: None,
            event_ids: Arc::default(),
        }
    }

    /// The session starts.
    pub(super) fn start_session(&mut self, name: SessionName) {
        self.sessions[name.index()] = Some(Session {
            status: SessionStatus::Active,
            // AAEP-A.2-1
            state: AgentState::Idle,
            next_sequence_number: 0,
            work: Work::default(),
        });
    }

    /// The session of this name.
    pub(super) fn session(&mut self, name: SessionName) -> Result<&mut Session, Unexplained> {
        let session = self.sessions[name.index()].as_mut();
        session.ok_or_else(|| unexplained("AAEP-A.1-1", "session.started before"))
    }

    /// The slot whose question has this token.
    pub(super) fn slot_of_token(&self, token: &ReplyToken) -> Option<Slot> {
        let is_it = |&slot: &Slot| {
            self.asked(slot)
                .is_some_and(|asked| asked.reply_token == *token)
        };
        Slot::ALL.into_iter().find(is_it)
    }

    /// The slot whose action is called under this id.
    pub(super) fn slot_of_call(&self, call: &ToolCallId) -> Option<Slot> {
        let is_it = |&slot: &Slot| {
            self.question(slot)
                .is_some_and(|question| question.tool_call_id == *call)
        };
        Slot::ALL.into_iter().find(is_it)
    }

    /// Whether another call of the session has this id.
    pub(super) fn has_called(&self, name: SessionName, call: &ToolCallId) -> bool {
        let session = self.sessions[name.index()].as_ref();
        self.slot_of_call(call).is_some()
            || session.is_some_and(|session| session.work.tool_call_ids.contains(call))
    }

    /// The next slot that is not filled.
    pub(super) fn free_slot(&self) -> Option<Slot> {
        let is_free = |slot: &Slot| self.questions[slot.index()].is_none();
        Slot::ALL.into_iter().find(is_free)
    }

    /// What every question has, of the one in that slot.
    pub(super) fn asked(&self, slot: Slot) -> Option<&Asked> {
        self.questions[slot.index()].as_ref().map(Held::asked)
    }

    /// What was asked in that slot, if it is a confirmation.
    pub(super) fn question(&self, slot: Slot) -> Option<&Arc<Question>> {
        match self.questions[slot.index()].as_ref()? {
            Held::Confirmation(it) => Some(&it.question),
            Held::Clarification(_) => None,
        }
    }

    /// What was asked in that slot, if it is a clarification.
    pub(super) fn clarification(&self, slot: Slot) -> Option<&Arc<ClarificationQuestion>> {
        match self.questions[slot.index()].as_ref()? {
            Held::Clarification(it) => Some(&it.question),
            Held::Confirmation(_) => None,
        }
    }

    /// The slot of the first clarification.
    pub(super) fn first_clarification(&self) -> Option<Slot> {
        let clarifies = |&slot: &Slot| self.clarification(slot).is_some();
        Slot::ALL.into_iter().find(clarifies)
    }

    /// What has become of what was asked in that slot.
    pub(super) fn became(&self, slot: Slot) -> Option<Became> {
        self.questions[slot.index()].as_ref().map(Held::became)
    }

    /// The same of a confirmation, with its tool.
    pub(super) fn phase(&self, slot: Slot) -> Option<Phase> {
        match self.questions[slot.index()].as_ref()? {
            Held::Confirmation(it) => Some(it.phase),
            Held::Clarification(_) => None,
        }
    }

    /// Notes what has become of the confirmation in that slot.
    pub(super) fn set_phase(&mut self, slot: Slot, phase: Phase) {
        if let Some(Held::Confirmation(it)) = &mut self.questions[slot.index()] {
            it.phase = phase;
        }
    }

    /// Notes that the clarification in that slot was resolved.
    pub(super) fn set_answered(&mut self, slot: Slot, by: Authority) {
        if let Some(Held::Clarification(it)) = &mut self.questions[slot.index()] {
            it.phase = ClarificationPhase::Resolved { by };
        }
    }

    /// Notes that the question in that slot was taken back.
    pub(super) fn set_cancelled(&mut self, slot: Slot, by: Canceller) {
        match &mut self.questions[slot.index()] {
            Some(Held::Confirmation(it)) => it.phase = Phase::Cancelled { by },
            Some(Held::Clarification(it)) => it.phase = ClarificationPhase::Cancelled { by },
            None => {}
        }
    }

    /// AAEP-EV-7: no event has the id of another, of whichever session. AAEP-EV-4: and each the next number of its own. The
    /// number that the event has to have.
    pub(super) fn note_event(
        &mut self,
        session: SessionName,
        event_id: &EventId,
    ) -> Result<u64, Unexplained> {
        if self.event_ids.contains(event_id) {
            let text = "an id that no other event of the producer has";
            return Err(unexplained("AAEP-EV-7", text));
        }
        Arc::make_mut(&mut self.event_ids).push(event_id.clone());
        let session = self.session(session)?;
        session.next_sequence_number += 1;
        Ok(session.next_sequence_number - 1)
    }

    /// The same for an event that comes again: with the number that it had, which was the last of its session.
    pub(super) fn note_again(
        &mut self,
        session: SessionName,
        event_id: &EventId,
    ) -> Result<u64, Unexplained> {
        self.session(session)?.next_sequence_number -= 1;
        self.note_event(session, event_id)
    }

    /// What a crash loses in this state: the question that the last call put out, where it still waits to be carried out.
    pub(super) fn lost(&self, state: &State) -> Vec<Output> {
        let waiting = state.waiting_question().and(self.asked_last.as_deref());
        waiting.cloned().into_iter().collect()
    }

    /// Whether the subscription is open, which the model forgets where nothing depends on it any more.
    pub(super) fn is_open(&self, subscriber: Subscriber) -> bool {
        matches!(
            self.subscriptions[subscriber.index()],
            Some(Subscription::Open(_))
        )
    }
}

/// The executor holds what the account has, and what the host has chosen.
///
/// # Errors
///
/// [`Unexplained`] for the first thing that is otherwise.
pub(super) fn check(environment: &Environment, host: &Host) -> Result<(), Unexplained> {
    let Host {
        producer, account, ..
    } = host;
    if *producer.settings() != environment.settings {
        let text = format!("{:?}, as the host has chosen", environment.settings);
        return Err(unexplained("AAEP-EV-1", text));
    }
    if producer.now() != account.now {
        let text = format!("{} as the time", account.now);
        return Err(unexplained("AAEP-EV-3", text));
    }
    check_sessions(environment, account, producer.sessions())?;
    check_subscriptions(environment, account, producer.subscriptions())?;
    let questions = || account.questions.iter().flatten();
    let confirmations = questions().filter_map(|held| match held {
        Held::Confirmation(it) => Some(it),
        Held::Clarification(_) => None,
    });
    let clarifications = questions().filter_map(|held| match held {
        Held::Clarification(it) => Some(it),
        Held::Confirmation(_) => None,
    });
    if producer.confirmations().iter().eq(confirmations)
        && producer.clarifications().iter().eq(clarifications)
    {
        return Ok(());
    }
    let questions: Vec<_> = questions().collect();
    Err(unexplained("AAEP-6-1", format!("{questions:?}")))
}

fn check_sessions(
    environment: &Environment,
    account: &Account,
    found: &BTreeMap<SessionId, Session>,
) -> Result<(), Unexplained> {
    if found.len() != account.sessions.iter().flatten().count() {
        return Err(unexplained("AAEP-A.1-1", "the sessions that were started"));
    }
    for name in SessionName::ALL {
        let Some(wanted) = &account.sessions[name.index()] else {
            continue;
        };
        let found = found.get(&environment.sessions[name.index()]);
        let found = found.ok_or_else(|| unexplained("AAEP-A.1-2", "a session once started"))?;
        if found != wanted {
            let clause = if found.status != wanted.status {
                "AAEP-A.1-2"
            } else if found.state != wanted.state {
                "AAEP-EV-8"
            } else {
                "AAEP-EV-4"
            };
            return Err(unexplained(
                clause,
                format!("{} as {wanted:?}", name.name()),
            ));
        }
    }
    Ok(())
}

fn check_subscriptions(
    environment: &Environment,
    account: &Account,
    found: &BTreeMap<SubscriptionId, Subscription>,
) -> Result<(), Unexplained> {
    if found.len() != account.subscriptions.iter().flatten().count() {
        let text = "the subscriptions that were opened";
        return Err(unexplained("AAEP-EV-2", text));
    }
    for subscriber in Subscriber::ALL {
        let wanted = account.subscriptions[subscriber.index()];
        let found = found.get(&environment.subscriptions[subscriber.index()]);
        if found != wanted.as_ref() {
            let text = format!("{} as {wanted:?}", subscriber.name());
            return Err(unexplained("AAEP-REPLY-14", text));
        }
    }
    Ok(())
}

/// What a subscriber says that it can do.
pub(super) fn capabilities(subscriber: Subscriber) -> Capabilities {
    Capabilities {
        supports_confirmation_reply: subscriber.is_capable(),
    }
}

/// Whether the output is a question.
pub(super) fn asks(output: &Output) -> bool {
    let Output::Emit(event) = output else {
        return false;
    };
    matches!(
        event.payload,
        Payload::AwaitingConfirmation { .. } | Payload::AwaitingClarification { .. }
    )
}
