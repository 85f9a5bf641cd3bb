//! From the model's words to the wire: real names, real times, real bytes.
//!
//! The one thing to know: one tick of the model is a minute, and calls come at the very moment at which an action expires, a
//! millisecond before it and one after. Where the model has one word for many things, a call says one of them, picked
//! by what the state is: a walk meets them all, and a replay meets the same.

use countersign_model::pending_action::action::Action;
use countersign_model::pending_action::known::Status;
use countersign_model::pending_action::message::{Approved, Message};
use countersign_model::pending_action::state::State;
use countersign_model::pending_action::words::{
    self, Decider, Flaw, Nonce, Proposal, SLOTS, SessionName, Slot,
};
use countersign_model::time::{self, Scale};
use countersign_reference::pending_action as executor;
use countersign_reference::pending_action::{Decide, Delivery, Input, Propose, Settings, Text};
use countersign_reference::time::Timestamp;

use super::spelling::{
    FREE_TEXTS, LISTS, LONG_LABEL, LOOSE_ARGUMENTS, Mistake, NAMED_STRANGERS, NEARLY, NO_DECIDER,
    NO_DECIDERS, NO_ID, OWNER, RESULTS, SPELLINGS, Spelling,
};
use super::{Asked, Host};
use crate::concretion::Picks;

/// A tick is a minute.
const SCALE: Scale = Scale::of(60_000);
/// The start of every run: 2026-05-24T14:22:20Z.
const START: i64 = 1_779_632_540_000;

/// By [`SessionName::index`]. They differ in case alone.
pub(super) const SESSIONS: [&str; 2] = ["chat A", "chat a"];

/// What the user is asked, by [`Slot::index`].
const SUMMARIES: [&str; SLOTS] = [
    "¿Borro estos 3 potreros?",
    "¿Borro estos 3 potreros? (2)",
    "¿Borro estos 3 potreros? (3)",
];

/// The time of a caller whose clock stands at this moment.
pub(super) fn time(moment: u8) -> Timestamp {
    Timestamp::from_millis(START + SCALE.millis(moment))
}

/// The moment that a time is, if it is one.
pub(super) fn moment(time: Timestamp) -> Option<u8> {
    SCALE.moment(time.millis() - START)
}

/// The call into the executor that a step of the model is; nothing for a step of the world around it.
pub(super) fn input(host: &Host, state: &State, action: Action) -> Option<Input> {
    let mut picks = Picks::of(&state.words());
    Some(match action {
        Action::Propose(proposal) => Input::Propose(propose(state, proposal)?),
        Action::ProposeFlawed(flaw) => {
            let mut propose = propose(state, Proposal::PLAIN)?;
            picks.among(mistakes(flaw))(&mut propose);
            Input::Propose(propose)
        }
        Action::Deliver { index } => {
            let message = state.network.get(usize::from(index))?;
            Input::Decide(decide(host, state, message, &mut picks))
        }
        Action::Say => Input::Say {
            by: OWNER.into(),
            text: picks.among(&FREE_TEXTS).into(),
        },
        Action::FinishTool { slot, status } => Input::FinishTool {
            action_id: action_id(host, state, slot, &mut picks),
            status: tool_status(status),
            result: Text::new(picks.among(&RESULTS)),
        },
        Action::Cancel { slot } => Input::Cancel {
            action_id: action_id(host, state, slot, &mut picks),
        },
        Action::EndSession(name) => Input::EndSession {
            session_id: SESSIONS[name.index()].to_owned(),
        },
        // A rollback is a ledger that is loaded and told the time.
        Action::ServeTimer | Action::Rollback => Input::Tick,
        Action::Restart => Input::Restart,
        Action::Send { .. }
        | Action::Guess
        | Action::Duplicate { .. }
        | Action::CarryOut
        | Action::Tick
        | Action::SetBack
        | Action::Snapshot
        // A ledger that validates and decides in two steps is the model's own.
        | Action::Apply { .. } => return None,
    })
}

/// What a host chooses that may have to run a call again.
pub(super) const AT_LEAST_ONCE: Settings = Settings {
    read_effect: executor::ReadEffect::Pends,
    expiry_boundary: executor::ExpiryBoundary::At,
    expiry_absent: executor::ExpiryAbsent::Never,
    deciders_absent: executor::DecidersAbsent::Anyone,
    delivery: Delivery::AtLeastOnce,
};

/// The next proposal. What the model does not speak of depends on little of the state, or there would be too many pairs.
fn propose(state: &State, proposal: Proposal) -> Option<Propose> {
    let slot = state.free_slot()?;
    let first = state.status(Slot::First);
    let mut picks = Picks::of(&[first as u64, proposal.effect as u64, state.clock.into()]);
    let effects = [
        executor::Effect::Write,
        executor::Effect::Destructive,
        executor::Effect::External,
    ];
    let listed = picks.among(&LISTS).iter().map(|&name| name.to_owned());
    let spelling = &SPELLINGS[picks.among(&[0, 0, 1, 2])];
    Some(Propose {
        agent_id: "menta".to_owned(),
        session_id: SESSIONS[proposal.session.index()].to_owned(),
        run_id: format!("run {}", slot.index()),
        tool: picks
            .among(&["carpeta/delete-potreros", "shell"])
            .to_owned(),
        arguments: Text::new(picks.among(spelling.same)),
        effect: match proposal.effect {
            words::Effect::Read => executor::Effect::Read,
            words::Effect::Destructive => picks.among(&effects),
        },
        summary: SUMMARIES[slot.index()].to_owned(),
        label: picks.among(&["Sí, borrar".to_owned(), "é".repeat(80)]),
        expires_at: proposal
            .lifetime
            .map(|lifetime| time(state.clock + time::on(lifetime))),
        deciders: (!proposal.by_anyone).then(|| listed.collect()),
        idempotent: proposal.idempotent,
    })
}

/// The ways in which a proposal can have this flaw.
fn mistakes(flaw: Flaw) -> &'static [Mistake] {
    match flaw {
        Flaw::NoId => &NO_ID,
        Flaw::NoDecider => &NO_DECIDER,
        Flaw::LooseArguments => &LOOSE_ARGUMENTS,
        Flaw::LongLabel => &LONG_LABEL,
    }
}

/// The arguments of a proposal, among those that mean something else.
pub(super) fn spelling_of(arguments: &str) -> Option<&'static Spelling> {
    SPELLINGS
        .iter()
        .find(|spelling| spelling.same.contains(&arguments))
}

/// A decision as it arrives.
fn decide(host: &Host, state: &State, message: Message, picks: &mut Picks) -> Decide {
    let Some((slot, asked)) = message
        .id
        .and_then(|slot| Some((slot, host.asked[slot.index()].as_deref()?)))
    else {
        return Decide {
            action_id: unknown_id(host, picks),
            nonce: None,
            decision: decision(message.decision),
            by: OWNER.to_owned(),
            arguments: None,
        };
    };
    let strangers = if state.held(slot).by_anyone {
        &NO_DECIDERS[..NAMED_STRANGERS]
    } else {
        &NO_DECIDERS[..]
    };
    Decide {
        action_id: asked.action_id.clone(),
        nonce: match message.nonce {
            Nonce::Absent => None,
            Nonce::Right => Some(asked.nonce.clone()),
            Nonce::Wrong => Some(other_nonce(host, slot, asked, picks)),
        },
        decision: decision(message.decision),
        by: match message.by {
            Decider::Owner => OWNER,
            Decider::Stranger => picks.among(strangers),
        }
        .to_owned(),
        arguments: match message.approved {
            Approved::Unsaid => None,
            Approved::Alike => Some(Text::new(picks.among(asked.spelling.same))),
            Approved::Edited => Some(Text::new(picks.among(asked.spelling.other))),
        },
    }
}

/// The id of the action in this slot, or one that was never minted if the ledger knows none there.
fn action_id(host: &Host, state: &State, slot: Slot, picks: &mut Picks) -> String {
    match (state.status(slot), host.asked[slot.index()].as_deref()) {
        (Status::Unknown, _) | (_, None) => unknown_id(host, picks),
        (_, Some(asked)) => asked.action_id.clone(),
    }
}

/// An id that was never minted: anything, or nearly one that was.
fn unknown_id(host: &Host, picks: &mut Picks) -> String {
    let never = "pa_00000000000000000000000000000000";
    match &host.asked[Slot::First.index()] {
        Some(asked) => match picks.among(&[0, 1, 1, 1]) {
            0 => picks.among(&[never, &asked.nonce]).to_owned(),
            _nearly => picks.among(&NEARLY)(&asked.action_id),
        },
        None => picks.among(&[never, "1", ""]).to_owned(),
    }
}

/// A nonce that is not the action's: another action's, nearly its own, or another id of its own.
fn other_nonce(host: &Host, slot: Slot, asked: &Asked, picks: &mut Picks) -> String {
    let others = slot
        .others()
        .find_map(|other| host.asked[other.index()].as_deref());
    let others = others.map_or(&asked.action_id, |other| &other.nonce);
    match picks.among(&[0, 1, 2, 2]) {
        0 => others.clone(),
        1 => asked.action_id.clone(),
        _nearly => picks.among(&NEARLY)(&asked.nonce),
    }
}

/// The session of this id.
pub(super) fn session(session_id: &str) -> Option<SessionName> {
    SessionName::ALL
        .into_iter()
        .find(|name| SESSIONS[name.index()] == session_id)
}

pub(super) fn decision(decision: words::Decision) -> executor::Decision {
    match decision {
        words::Decision::Allow => executor::Decision::Allow,
        words::Decision::Deny => executor::Decision::Deny,
    }
}

fn tool_status(status: words::ToolStatus) -> executor::ToolStatus {
    match status {
        words::ToolStatus::Success => executor::ToolStatus::Success,
        words::ToolStatus::Error => executor::ToolStatus::Error,
        words::ToolStatus::NotRun => executor::ToolStatus::NotRun,
    }
}
