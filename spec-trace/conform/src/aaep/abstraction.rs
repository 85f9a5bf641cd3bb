//! From the executor to the model's words: what it holds.
//!
//! The one thing to know: what the executor holds and no producer of the model can hold is not passed over. It is
//! [`Unexplained`]. What the model has no word for is held against the [`super::account`].

use std::hash::Hasher;

use countersign_model::aaep::state::{
    self as model, Phase, Producer, ProducerConfirmation, Session, SessionStatus, Streaming, Work,
};
use countersign_model::aaep::words::{
    AllowedReplies, Clarifies, Class, Decision, Risk, SLOTS, SUBSCRIBERS, SessionName,
    SessionOutcome, Slot, Subscriber, Takes,
};
use countersign_model::time;
use countersign_reference::aaep as executor;
use countersign_reference::aaep::{
    AgentState, Asked, Clarification, ClarificationPhase, Confirmation, ResponseKind, SessionId,
    Subscription,
};

use super::Host;
use super::account::Held;
use super::concrete::{CHARACTERS, Environment};
use crate::identity::Identity;
use crate::{Unexplained, unexplained};

/// The abstraction function: what the executor holds, as the producer's part of a model state.
///
/// # Errors
///
/// [`Unexplained`] where it holds something that no producer of the model can hold.
pub(super) fn producer(environment: &Environment, host: &Host) -> Result<Producer, Unexplained> {
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
    Ok(Producer {
        sessions,
        subscriptions,
        confirmations: questions(environment, host, sessions)?,
        work: work(environment, host)?,
    })
}

/// One tool at a time that nobody is asked about, and one output, are all that the model has.
fn work(environment: &Environment, host: &Host) -> Result<Work, Unexplained> {
    let mut work = Work::default();
    for name in SessionName::ALL {
        let id = &environment.sessions[name.index()];
        let Some(session) = host.producer.sessions().get(id) else {
            continue;
        };
        let executor::Work {
            tool_call_ids: _,
            running,
            open_outputs,
            complete_outputs,
        } = &session.work;
        if running.len() + usize::from(work.tool.is_some()) > 1 {
            return Err(unexplained("AAEP-A.3-1", "no call that was not made"));
        }
        if open_outputs.len() + complete_outputs.len() + usize::from(work.output.is_some()) > 1 {
            return Err(unexplained("AAEP-A.6-1", "no output that was not begun"));
        }
        work.tool = work.tool.or((!running.is_empty()).then_some(name));
        let open = open_outputs.first().map(|open| open.position / CHARACTERS);
        if open.is_some() || !complete_outputs.is_empty() {
            let chunks = u8::try_from(open.unwrap_or(0));
            let is_active = session.status == executor::SessionStatus::Active;
            work.output = Some(Streaming {
                session: name,
                chunks: chunks.map_err(|_| unexplained("AAEP-A.6-2", "a chunk or two"))?,
                complete: open.is_none(),
                writing: is_active && session.state == AgentState::WritingOutput,
            });
        }
        work.handed_off[name.index()] = session.state == AgentState::HandingOff;
    }
    Ok(work)
}

/// The executor keeps each kind by itself, and only the account knows which was asked when.
fn questions(
    environment: &Environment,
    host: &Host,
    sessions: [Session; 2],
) -> Result<[Option<ProducerConfirmation>; SLOTS], Unexplained> {
    let (confirmations, clarifications) = (
        host.producer.confirmations(),
        host.producer.clarifications(),
    );
    let first_asked = host.account.questions[0].as_ref();
    let mut asked = [None; SLOTS];
    let mut seen = (0, 0);
    for (place, held) in host.account.questions.iter().enumerate() {
        asked[place] = match held {
            None => None,
            Some(Held::Confirmation(_)) => {
                seen.0 += 1;
                let found = confirmations.get(seen.0 - 1);
                let first = confirmations
                    .first()
                    .filter(|_| place > 0 && matches!(first_asked, Some(Held::Confirmation(_))));
                found
                    .map(|found| confirmation(environment, found, first, sessions))
                    .transpose()?
            }
            Some(Held::Clarification(_)) => {
                seen.1 += 1;
                let found = clarifications.get(seen.1 - 1);
                let first = clarifications.first().filter(|_| seen.1 > 1);
                found
                    .map(|found| clarification(environment, found, first))
                    .transpose()?
            }
        };
    }
    if confirmations.len() > seen.0 || clarifications.len() > seen.1 {
        return Err(unexplained("AAEP-6.1-6", "no question unasked"));
    }
    Ok(asked)
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

/// `first` is the confirmation whose action this may be about.
fn confirmation(
    environment: &Environment,
    found: &Confirmation,
    first: Option<&Confirmation>,
    sessions: [Session; 2],
) -> Result<ProducerConfirmation, Unexplained> {
    let question = &found.question;
    let (session, issued, timeout) = asked(environment, &question.asked)?;
    let same_action = first.is_some_and(|first| {
        question.action.id == first.question.action.id
            && question.asked.session_id == first.question.asked.session_id
    });
    let (phase, by_default) = phase(found.phase, sessions[session.index()].status);
    Ok(ProducerConfirmation {
        phase,
        session,
        same_action,
        class: class(question)?,
        clarifies: None,
        issued,
        timeout,
        by_default,
    })
}

/// `first` is the clarification whose question this may ask.
fn clarification(
    environment: &Environment,
    found: &Clarification,
    first: Option<&Clarification>,
) -> Result<ProducerConfirmation, Unexplained> {
    let question = &found.question;
    let (session, issued, timeout) = asked(environment, &question.asked)?;
    let same_action = first.is_some_and(|first| {
        question.text == first.question.text
            && question.asked.session_id == first.question.asked.session_id
    });
    let (phase, by_default) = match found.phase {
        ClarificationPhase::Pending => (Phase::Pending, false),
        ClarificationPhase::Resolved { by } => (Phase::Answered, is_default(by)),
        ClarificationPhase::Cancelled { .. } => (Phase::Cancelled, false),
    };
    let takes = match question.accepted_response_kinds.as_deref() {
        Some([ResponseKind::Freetext]) => Takes::Words,
        Some([ResponseKind::MultipleChoice]) => Takes::Choice,
        Some([ResponseKind::YesNo, ResponseKind::Numeric]) => Takes::Several,
        Some([ResponseKind::Freetext, ResponseKind::MultipleChoice]) => Takes::ChoiceOrWords,
        None => Takes::Unlisted,
        _ => return Err(unexplained("AAEP-EV-5", "the kinds of response asked for")),
    };
    Ok(ProducerConfirmation {
        phase,
        session,
        same_action,
        class: Class::PLAIN,
        clarifies: Some(Clarifies {
            takes,
            default: question.default_response.is_some(),
        }),
        issued,
        timeout,
        by_default,
    })
}

/// Its session, when it was issued, and its timeout.
fn asked(environment: &Environment, asked: &Asked) -> Result<(SessionName, u8, u8), Unexplained> {
    let session = session_named(environment, &asked.session_id)?;
    let issued = environment
        .moment(asked.at)
        .and_then(time::tick)
        .ok_or_else(|| unexplained("AAEP-6.4-1", "the time of the call as time of issue"))?;
    let timeout = u8::try_from(asked.timeout.seconds())
        .map_err(|_| unexplained("AAEP-6.4-1", "the timeout that was asked for"))?;
    Ok((session, issued, timeout))
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
            ["reject", "later"] => AllowedReplies::RejectOrOwn,
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
    let named = Slot::ALL.map(|slot| (host.account.asked(slot), slot.name()));
    let renamed = named.map(|(asked, name)| {
        let token = asked.map_or(name, |asked| asked.reply_token.as_str());
        (token, name)
    });
    Identity::feed(&host.producer, hasher, &left_out, &renamed);
}
