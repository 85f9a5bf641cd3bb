//! From the executor to the model's words: what it holds.
//!
//! The one thing to know: what the executor holds and no producer of the model can hold is not passed over. It is
//! [`Unexplained`]. What the model has no word for is held against the [`super::account`].

use std::hash::Hasher;

use countersign_model::aaep::state::{
    self as model, Phase, Producer, ProducerConfirmation, Session, SessionStatus,
};
use countersign_model::aaep::words::{
    AllowedReplies, Class, Decision, Risk, SLOTS, SUBSCRIBERS, SessionName, SessionOutcome, Slot,
    Subscriber,
};
use countersign_model::time;
use countersign_reference::aaep as executor;
use countersign_reference::aaep::{AgentState, Confirmation, SessionId, Subscription};

use super::Host;
use super::concrete::Environment;
use crate::identity::Identity;
use crate::{Unexplained, unexplained};

/// The abstraction function: what the executor holds, as the producer's part of a model state.
///
/// # Errors
///
/// [`Unexplained`] where it holds something that no producer of the model can hold.
pub(super) fn producer(environment: &Environment, host: &Host) -> Result<Producer, Unexplained> {
    let confirmations = host.producer.confirmations();
    if confirmations.len() > SLOTS {
        return Err(unexplained("AAEP-6.1-6", "three confirmations at most"));
    }
    let mut sessions = [Session::UNSTARTED; 2];
    for name in SessionName::ALL {
        sessions[name.index()] = session(environment, host, name);
    }
    let mut subscriptions = [model::Subscription::Unopened; SUBSCRIBERS];
    for subscriber in Subscriber::ALL {
        let subscription_id = &environment.subscriptions[subscriber.index()];
        let found = host.producer.subscriptions().get(subscription_id);
        subscriptions[subscriber.index()] = match found {
            None => model::Subscription::Unopened,
            Some(Subscription::Open(_)) => model::Subscription::Open,
            Some(Subscription::Closed) => model::Subscription::Closed,
        };
    }
    let mut asked = [None; SLOTS];
    for (slot, found) in Slot::ALL.into_iter().zip(confirmations) {
        let found = confirmation(environment, found, slot, confirmations, sessions)?;
        asked[slot.index()] = Some(found);
    }
    Ok(Producer {
        sessions,
        subscriptions,
        confirmations: asked,
    })
}

/// The model's name of a session.
pub(super) fn session_named(
    environment: &Environment,
    session_id: &SessionId,
) -> Result<SessionName, Unexplained> {
    SessionName::ALL
        .into_iter()
        .find(|name| environment.sessions[name.index()] == *session_id)
        .ok_or_else(|| unexplained("AAEP-EV-1", "the id of a session that was started"))
}

/// What the executor holds of a session.
fn session(environment: &Environment, host: &Host, name: SessionName) -> Session {
    let found = host
        .producer
        .sessions()
        .get(&environment.sessions[name.index()]);
    let Some(found) = found else {
        return Session::UNSTARTED;
    };
    let is_active = found.status == executor::SessionStatus::Active;
    Session {
        status: match found.status {
            executor::SessionStatus::Active => SessionStatus::Active,
            executor::SessionStatus::Ended(outcome) => SessionStatus::Ended(match outcome {
                executor::SessionOutcome::Completed => SessionOutcome::Completed,
                executor::SessionOutcome::Errored => SessionOutcome::Errored,
                executor::SessionOutcome::Cancelled => SessionOutcome::Cancelled,
            }),
        },
        // A session that has ended is in no state any more.
        awaiting_input: is_active && found.state == AgentState::AwaitingInput,
    }
}

fn confirmation(
    environment: &Environment,
    found: &Confirmation,
    slot: Slot,
    all: &[Confirmation],
    sessions: [Session; 2],
) -> Result<ProducerConfirmation, Unexplained> {
    let question = &found.question;
    let name = session_named(environment, &question.asked.session_id)?;
    let issued = environment
        .moment(question.asked.at)
        .and_then(time::tick)
        .ok_or_else(|| unexplained("AAEP-6.4-1", "the time of the call as time of issue"))?;
    let timeout = u8::try_from(question.asked.timeout.seconds())
        .map_err(|_| unexplained("AAEP-6.4-1", "the timeout that was asked for"))?;
    let same_action = slot != Slot::First
        && question.action.id == all[0].question.action.id
        && question.asked.session_id == all[0].question.asked.session_id;
    let (phase, by_default) = phase(found.phase, sessions[name.index()].status);
    Ok(ProducerConfirmation {
        phase,
        session: name,
        same_action,
        class: class(question)?,
        clarifies: None,
        issued,
        timeout,
        by_default,
    })
}

/// The phase in the model's words, and whether the default led to it.
fn phase(phase: executor::Phase, session: SessionStatus) -> (Phase, bool) {
    match phase {
        executor::Phase::Pending => (Phase::Pending, false),
        executor::Phase::Accepted { by, tool } => {
            let phase = match tool {
                executor::Tool::InFlight => Phase::Accepted,
                executor::Tool::Finished => Phase::Finished,
                // AAEP-A.3-1: the end of a session withdraws its calls, and completes them unless it is cancelled.
                executor::Tool::Withdrawn => match session {
                    SessionStatus::Ended(SessionOutcome::Completed | SessionOutcome::Errored) => {
                        Phase::Finished
                    }
                    SessionStatus::Ended(SessionOutcome::Cancelled)
                    | SessionStatus::Unstarted
                    | SessionStatus::Active => Phase::Accepted,
                },
            };
            (phase, is_default(by))
        }
        executor::Phase::Rejected { by } => (Phase::Rejected, is_default(by)),
        executor::Phase::Cancelled { .. } => (Phase::Cancelled, false),
    }
}

fn is_default(by: executor::Authority) -> bool {
    match by {
        executor::Authority::Reply => false,
        executor::Authority::Timeout | executor::Authority::SubscriptionClosed => true,
    }
}

fn class(question: &executor::Question) -> Result<Class, Unexplained> {
    let allowed: Vec<&str> = question
        .allowed_replies
        .iter()
        .map(String::as_str)
        .collect();
    Ok(Class {
        risk: match question.action.risk_level {
            executor::RiskLevel::Low => Risk::Low,
            executor::RiskLevel::Medium => Risk::Medium,
            executor::RiskLevel::High => Risk::High,
        },
        irreversible: question.action.irreversible,
        default: match question.default_decision {
            executor::Decision::Accept => Decision::Accept,
            executor::Decision::Reject => Decision::Reject,
        },
        allowed: match allowed.as_slice() {
            ["accept", "reject"] => AllowedReplies::Both,
            ["accept"] => AllowedReplies::AcceptOnly,
            ["reject"] => AllowedReplies::RejectOnly,
            _ => return Err(unexplained("AAEP-6.3.4-6", "the allowed replies asked for")),
        },
    })
}

/// All that the executor holds, without what can make no difference: what its ids are called, how many events it has
/// numbered, and the time of its last call.
///
/// Tokens are named by their slots, so two executors whose tokens alone differ have the same identity. Sequence numbers make
/// no difference because they are held against the account of the bridge.
pub(super) fn identity(host: &Host, hasher: &mut impl Hasher) {
    let left_out = [("Producer", "now"), ("Session", "next_sequence_number")];
    let named = Slot::ALL.map(|slot| (host.account.question(slot), slot.name()));
    let renamed = named.map(|(question, name)| {
        let token = question.map_or(name, |question| question.asked.reply_token.as_str());
        (token, name)
    });
    Identity::feed(&host.producer, hasher, &left_out, &renamed);
}
