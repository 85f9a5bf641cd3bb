//! What an executor has to hold that did all that was wanted of it, to the last field.
//!
//! The one thing to know: the account is kept by the bridge, from the calls and from what is wanted of them ([`super::wanted`]).
//! The executor is never asked what to put into it, but for the names that it alone makes up: those have to be new.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_model::aaep::state::State;
use countersign_model::aaep::words::{SLOTS, SUBSCRIBERS, SessionName, Slot, Subscriber};
use countersign_reference::aaep::{
    AgentState, Capabilities, Confirmation, EventId, Output, Payload, Phase, Question, ReplyToken,
    Session, SessionId, SessionStatus, Subscription, SubscriptionId, ToolCallId, Work,
};
use countersign_reference::time::Timestamp;

use super::Host;
use super::concrete::Environment;
use crate::{Unexplained, unexplained};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Each confirmation that was asked for, by [`Slot::index`].
    pub questions: [Option<Confirmation>; SLOTS],
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

    /// The slot whose confirmation has this token.
    pub(super) fn slot_of_token(&self, token: &ReplyToken) -> Option<Slot> {
        self.slot_where(|question| question.asked.reply_token == *token)
    }

    /// The slot whose action is called under this id.
    pub(super) fn slot_of_call(&self, call: &ToolCallId) -> Option<Slot> {
        self.slot_where(|question| question.tool_call_id == *call)
    }

    /// The next slot that is not filled.
    pub(super) fn free_slot(&self) -> Option<Slot> {
        let is_free = |slot: &Slot| self.questions[slot.index()].is_none();
        Slot::ALL.into_iter().find(is_free)
    }

    /// What was asked in that slot.
    pub(super) fn question(&self, slot: Slot) -> Option<&Arc<Question>> {
        let confirmation = self.questions[slot.index()].as_ref();
        confirmation.map(|confirmation| &confirmation.question)
    }

    /// What has become of what was asked in that slot.
    pub(super) fn phase(&self, slot: Slot) -> Option<Phase> {
        let confirmation = self.questions[slot.index()].as_ref();
        confirmation.map(|confirmation| confirmation.phase)
    }

    /// Notes what has become of what was asked in that slot.
    pub(super) fn set_phase(&mut self, slot: Slot, phase: Phase) {
        if let Some(confirmation) = &mut self.questions[slot.index()] {
            confirmation.phase = phase;
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

    fn slot_where(&self, is_it: impl Fn(&Question) -> bool) -> Option<Slot> {
        Slot::ALL.into_iter().find(|&slot| {
            let question = self.question(slot);
            question.is_some_and(|question| is_it(question))
        })
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
    let questions = account.questions.iter().flatten();
    if producer.confirmations().iter().eq(questions.clone()) {
        return Ok(());
    }
    let questions: Vec<_> = questions.collect();
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
    matches!(event.payload, Payload::AwaitingConfirmation { .. })
}
