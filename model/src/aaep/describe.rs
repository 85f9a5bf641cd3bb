//! Steps in words: who does what, and what changes by it.

use super::Aaep;
use super::action::{Action, Forgery, Transgression};
use super::message::{Message, Network, Shape, Token};
use super::output::{Answered, Output};
use super::state::{Confirmation, Item, Phase, Session, SessionStatus, State, Subscription, Work};
use super::words::{Clarifies, Class, Piece, Response, SessionName, Slot, Subscriber, Worked};
use crate::checker::StepText;
use crate::network::in_words;
use crate::time;

/// A step in words; `after` is the state that the search went on from.
pub(super) fn describe(model: &Aaep, before: &State, action: Action, after: &State) -> StepText {
    let (actor, action_text) = action_text(model, before, action);
    let mut changes = changes(before, after);
    if let Some(step) = model.step(before, action) {
        changes.extend(step.required.iter().map(|output| {
            if let Output::Perform(slot) = output
                && model.runs_changed(before, &step.required, slot)
            {
                let slot = slot.name();
                return format!("out: perform({slot}, with other arguments than were asked about)");
            }
            format!("out: {}", output_text(output))
        }));
        changes.extend(
            step.optional
                .iter()
                .map(|output| format!("may put out: {}", output_text(output))),
        );
    }
    StepText {
        at: format!("t={}", time::name(before.clock)),
        actor,
        to: reaches(before, action).map(str::to_owned),
        action: action_text,
        changes,
    }
}

/// Who acts, and what they do.
fn action_text(model: &Aaep, before: &State, action: Action) -> (String, String) {
    let own = |actor: &str, text: String| (actor.to_owned(), text);
    match action {
        Action::StartSession { session } => {
            own("agent", format!("starts session {}", session.name()))
        }
        Action::Open { subscriber } => (
            subscriber.name().to_owned(),
            "opens its subscription".to_owned(),
        ),
        Action::Ask {
            session,
            class,
            timeout,
            same_action,
        } => own(
            "producer",
            ask_text(before, session, class, timeout, same_action),
        ),
        Action::Decide {
            subscriber,
            slot,
            decision,
            skew,
            shape,
        } => {
            let decides = format!("{}s {}", decision.name(), slot.name());
            let text = as_of(before, &decides, skew, shape);
            (subscriber.name().to_owned(), text)
        }
        Action::Clarify {
            session,
            clarifies,
            timeout,
            same_question,
        } => own(
            "agent",
            clarify_text(before, session, clarifies, timeout, same_question),
        ),
        Action::Answer {
            subscriber,
            slot,
            response,
            skew,
            shape,
        } => {
            let answers = format!("answers {} with {}", slot.name(), response.name());
            let text = as_of(before, &answers, skew, shape);
            (subscriber.name().to_owned(), text)
        }
        Action::Extend { slot, longer } => {
            let much = if longer {
                "a tick more"
            } else {
                "no more time"
            };
            own("agent", format!("gives {} {much}", slot.name()))
        }
        Action::Deliver { index } => {
            own("network", format!("{} arrives", at(before.network, index)))
        }
        Action::Duplicate { index } => own(
            "network",
            format!("duplicates {}", at(before.network, index)),
        ),
        Action::Lose { index } => own("network", format!("loses {}", at(before.network, index))),
        Action::Forge(forgery) => own("attacker", forgery_text(forgery)),
        Action::Replay => {
            let captured = before.captured.map(message_text).unwrap_or_default();
            own(
                "attacker",
                format!("replays {captured}, which was honoured before"),
            )
        }
        Action::Tick => {
            let next = model.next_moment(before).unwrap_or(before.clock);
            own("clock", format!("moves on to t={}", time::name(next)))
        }
        Action::ServeTimer => own("timer", "is served".to_owned()),
        Action::Cancel { slot } => own("agent", format!("cancels {}", slot.name())),
        Action::Change { slot } => own("agent", change_text(slot)),
        Action::EndSession { session, outcome } => own(
            "agent",
            format!("ends session {}: {}", session.name(), outcome.name()),
        ),
        Action::Close { subscriber } => (
            subscriber.name().to_owned(),
            "closes its subscription".to_owned(),
        ),
        Action::CarryOut => own("host", item_text(before.outbox.head())),
        Action::FinishTool { slot } => own(
            "host",
            format!("reports the tool of {} as done", slot.name()),
        ),
        Action::Work(piece) => own("agent", piece_text(piece)),
        Action::Crash => own(
            "process",
            "crashes and restarts; what the last call put out is lost".to_owned(),
        ),
        Action::Transgress(transgression) => own("producer", transgression_text(transgression)),
    }
}

fn change_text(slot: Slot) -> String {
    format!("changes the arguments of {}, and asks nobody", slot.name())
}

/// A reply in words, with the time that it claims.
fn as_of(before: &State, reply: &str, skew: i8, shape: Shape) -> String {
    let claimed = time::name(before.clock.cast_signed() + skew);
    format!("{reply} as of t={claimed}{}", shape_text(shape))
}

/// Whom the step reaches, where that is not who acts.
fn reaches(before: &State, action: Action) -> Option<&'static str> {
    match action {
        Action::Decide { .. } | Action::Answer { .. } | Action::Forge(_) => Some("network"),
        Action::Deliver { .. }
        | Action::Replay
        | Action::ServeTimer
        | Action::Extend { .. }
        | Action::Cancel { .. }
        | Action::StartSession { .. }
        | Action::EndSession { .. }
        | Action::Open { .. }
        | Action::Close { .. }
        | Action::FinishTool { .. }
        | Action::Work(_) => Some("producer"),
        Action::CarryOut => match before.outbox.head() {
            Some(Item::Asked(_)) => Some("subscribers"),
            Some(Item::Perform(_)) => Some("tool"),
            None => None,
        },
        Action::Ask { .. }
        | Action::Clarify { .. }
        | Action::Duplicate { .. }
        | Action::Lose { .. }
        | Action::Change { .. }
        | Action::Tick
        | Action::Crash
        | Action::Transgress(_) => None,
    }
}

/// An ask in words.
fn ask_text(
    before: &State,
    session: SessionName,
    class: Class,
    timeout: u8,
    same_action: bool,
) -> String {
    let slot = before.free_slot().map_or("no slot", Slot::name);
    let again = if same_action {
        " for the same action"
    } else {
        ""
    };
    let reversible = if class.irreversible {
        "irreversible"
    } else {
        "reversible"
    };
    format!(
        "asks{again} in session {}: {slot} ({reversible}, {} risk, default {}, {}), deadline t={}",
        session.name(),
        class.risk.name(),
        class.default.name(),
        class.allowed.name(),
        time::name(before.clock + time::on(timeout)),
    )
}

/// A clarification in words.
fn clarify_text(
    before: &State,
    session: SessionName,
    clarifies: Clarifies,
    timeout: u8,
    same_question: bool,
) -> String {
    let slot = before.free_slot().map_or("no slot", Slot::name);
    let again = if same_question { " again" } else { "" };
    let default = if clarifies.default { "a" } else { "no" };
    format!(
        "asks{again} in session {} for a clarification: {slot} ({}, {default} default), deadline t={}",
        session.name(),
        clarifies.takes.name(),
        time::name(before.clock + time::on(timeout)),
    )
}

/// Work in words.
fn piece_text(piece: Piece) -> String {
    let session = piece.session().name();
    match piece {
        Piece::Run { irreversible, .. } => {
            let kind = if irreversible {
                "irreversible"
            } else {
                "reversible"
            };
            format!("calls a {kind} tool in session {session}, unasked")
        }
        Piece::Finish { .. } => {
            format!("reports the tool in session {session} that ran unasked as done")
        }
        Piece::Write { complete, .. } => {
            let which = if complete {
                "the last chunk"
            } else {
                "a chunk"
            };
            format!("writes {which} of the output of session {session}")
        }
        Piece::HandOff { .. } => format!("hands session {session} off"),
    }
}

/// What comes of work, as the wire names it.
fn worked_text(session: SessionName, worked: Worked) -> String {
    let session = session.name();
    match worked {
        Worked::Calling => format!("state.changed({session}: calling_tool)"),
        Worked::Thinking => format!("state.changed({session}: thinking)"),
        Worked::Invoked { irreversible } => {
            let kind = if irreversible {
                "irreversible"
            } else {
                "reversible"
            };
            format!("tool.invoked({session}: unasked, {kind})")
        }
        Worked::Perform => format!("perform({session}: unasked)"),
        Worked::Completed => format!("tool.completed({session}: unasked)"),
        Worked::Withdraw => format!("withdraw({session}: unasked)"),
        Worked::InDoubt => format!("in_doubt({session}: unasked)"),
        Worked::Writing => format!("state.changed({session}: writing_output)"),
        Worked::Chunk { position, complete } => {
            let last = if complete { ", the last" } else { "" };
            format!("output.streaming({session}: chunk {}{last})", position + 1)
        }
        Worked::HandingOff => format!("state.changed({session}: handing_off)"),
        Worked::HandedOff => format!("handoff.requested({session})"),
    }
}

/// What is done around the questions, in words.
fn work_text(work: Work) -> String {
    let tool = work
        .tool
        .map(|session| format!("a tool runs in {}", session.name()));
    let output = work.output.map(|output| {
        let state = if output.complete { "complete" } else { "open" };
        format!(
            "the output of {} is {state}, {} chunks",
            output.session.name(),
            output.chunks
        )
    });
    let handed_off = SessionName::ALL
        .into_iter()
        .filter(|session| work.handed_off[session.index()])
        .map(|session| format!("{} is handed off", session.name()));
    let all: Vec<String> = tool.into_iter().chain(output).chain(handed_off).collect();
    if all.is_empty() {
        return "none goes on".to_owned();
    }
    all.join("; ")
}

/// A forgery in words.
fn forgery_text(forgery: Forgery) -> String {
    match forgery {
        Forgery::Unauthenticated { slot, decision } => {
            format!(
                "sends {}({}) without authentication",
                decision.name(),
                slot.name()
            )
        }
        Forgery::Guessed => "has s1 send accept on a guessed token".to_owned(),
        Forgery::MixedUp { slot, decision } => {
            format!(
                "has s1 send {}({}) for the other session's question",
                decision.name(),
                slot.name()
            )
        }
        Forgery::OtherKind { slot } => {
            format!("has s1 send a reply of the other kind to {}", slot.name())
        }
        Forgery::Impostor { slot, decision } => {
            format!(
                "has s2 send {}({}) in the name of s1",
                decision.name(),
                slot.name()
            )
        }
    }
}

/// A transgression in words.
fn transgression_text(transgression: Transgression) -> String {
    match transgression {
        Transgression::AnswerWhileBlocked { slot } => {
            format!("goes on as if {} were answered", slot.name())
        }
        Transgression::PerformWhileBlocked { slot } => {
            format!("performs {}, which is pending", slot.name())
        }
        Transgression::AnnounceWhileBlocked { slot } => {
            format!("announces {}, which is pending", slot.name())
        }
    }
}

/// What the host carries out, in words.
fn item_text(item: Option<Item>) -> String {
    match item {
        Some(Item::Asked(slot)) => format!("emits the question {}", slot.name()),
        Some(Item::Perform(slot)) => format!("performs the action of {}", slot.name()),
        None => "has nothing to carry out".to_owned(),
    }
}

/// What is peculiar about a reply, in words.
const fn shape_text(shape: Shape) -> &'static str {
    match shape {
        Shape::Plain => "",
        Shape::Malformed => ", malformed",
        Shape::Modified => ", with modified_action",
        Shape::Impostor => ", in the name of the other subscription",
    }
}

/// The message at a position of the network, in words.
fn at(network: Network, index: u8) -> String {
    network
        .get(usize::from(index))
        .map_or_else(|| "nothing".to_owned(), message_text)
}

/// A message in words.
fn message_text(message: Message) -> String {
    let token = match message.token {
        Token::Of(slot) => slot.name(),
        Token::Guessed => "guessed token",
    };
    let sender = if message.authenticated {
        message.sender.name()
    } else {
        "a stranger"
    };
    let shape = shape_text(message.shape);
    format!(
        "{}({token}) from {sender} as of t={}{shape}",
        message
            .response
            .map_or(message.decision.name(), Response::name),
        time::name(message.claimed)
    )
}

/// An output in words, as the wire names it.
pub fn output_text(output: Output) -> String {
    match output {
        Output::Started(session) => format!("session.started({})", session.name()),
        Output::AwaitingInput(session) => {
            format!("state.changed({}: awaiting_input)", session.name())
        }
        Output::Asked(slot) => format!("awaiting.confirmation({})", slot.name()),
        Output::Clarify(slot) => format!("awaiting.clarification({})", slot.name()),
        Output::AskedSome(slot) => format!("awaiting.confirmation({}: not to all)", slot.name()),
        Output::MoreTime(slot) => format!("progress.updated({}: more time)", slot.name()),
        Output::Work(session, worked) => worked_text(session, worked),
        Output::Answer(slot, Answered::Reply(response)) => {
            format!("answer({}: {})", slot.name(), response.name())
        }
        Output::Answer(slot, Answered::Default) => format!("answer({}: its default)", slot.name()),
        Output::Answer(slot, Answered::Nobody) => format!("answer({}: nobody)", slot.name()),
        Output::CallingTool(session) => format!(
            "state.changed({}: awaiting_input to calling_tool)",
            session.name()
        ),
        Output::CallingToolAgain(session) => format!(
            "state.changed({}: thinking to calling_tool)",
            session.name()
        ),
        Output::Invoked(slot) => format!("tool.invoked({})", slot.name()),
        Output::Perform(slot) => format!("perform({})", slot.name()),
        Output::FollowUpLeaving(slot) => {
            format!("state.changed({}: awaiting_input to thinking)", slot.name())
        }
        Output::FollowUpStaying(slot) => {
            format!("state.changed({}: stays awaiting_input)", slot.name())
        }
        Output::Completed(slot) => format!("tool.completed({})", slot.name()),
        Output::Thinking(session) => format!(
            "state.changed({}: calling_tool to thinking)",
            session.name()
        ),
        Output::Withdraw(slot) => format!("withdraw({})", slot.name()),
        Output::Ended(session, outcome) => {
            format!("session.{}({})", outcome.name(), session.name())
        }
        Output::InDoubt(slot) => format!("in_doubt({})", slot.name()),
        Output::Respond => "respond(204)".to_owned(),
        Output::Tell(check) => format!("respond(failed {})", check.clause()),
        Output::Audit(check) => format!("audit({})", check.clause()),
        Output::Refused(refusal) => format!("refused({})", refusal.clause()),
        Output::Notice => "courtesy notice".to_owned(),
    }
}

/// What differs between two states, in words.
pub(super) fn changes(before: &State, after: &State) -> Vec<String> {
    let mut changes = Vec::new();
    for slot in Slot::ALL {
        confirmation_changes(
            slot,
            before.confirmation(slot),
            after.confirmation(slot),
            &mut changes,
        );
    }
    for session in SessionName::ALL {
        let (old, new) = (before.session(session), after.session(session));
        if old != new {
            changes.push(format!(
                "session {}: {} → {}",
                session.name(),
                session_text(old),
                session_text(new)
            ));
        }
    }
    for subscriber in Subscriber::ALL {
        let (old, new) = (
            before.subscription(subscriber),
            after.subscription(subscriber),
        );
        if old != new {
            changes.push(format!(
                "{}: {} → {}",
                subscriber.name(),
                subscription_text(old),
                subscription_text(new)
            ));
        }
    }
    if before.work != after.work {
        changes.push(format!("work: {}", work_text(after.work)));
    }
    if before.network != after.network {
        changes.push(format!("network: {}", network_text(after.network)));
    }
    changes
}

/// What differs in one confirmation, in words.
fn confirmation_changes(
    slot: Slot,
    old: &Confirmation,
    new: &Confirmation,
    changes: &mut Vec<String>,
) {
    if old.phase != new.phase {
        changes.push(format!(
            "{}: {} → {}",
            slot.name(),
            phase_text(old.phase),
            phase_text(new.phase)
        ));
    }
    if new.reused_token && !old.reused_token {
        changes.push(format!("{}: with the token of c1", slot.name()));
    }
    if new.runs > old.runs {
        let times = if new.runs > 1 { "again" } else { "once" };
        changes.push(format!("{}: the action runs {times}", slot.name()));
    }
}

/// A subscription in words.
const fn subscription_text(subscription: Subscription) -> &'static str {
    match subscription {
        Subscription::Unopened => "not open",
        Subscription::Open => "open",
        Subscription::Closed => "closed",
    }
}

/// A session in words.
const fn session_text(session: Session) -> &'static str {
    match session.status {
        SessionStatus::Unstarted => "not started",
        SessionStatus::Active if session.awaiting_input => "awaiting_input",
        SessionStatus::Active => "active",
        SessionStatus::Ended(outcome) => outcome.name(),
    }
}

/// A phase in words.
const fn phase_text(phase: Phase) -> &'static str {
    match phase {
        Phase::Unasked => "not asked",
        Phase::Pending => "pending",
        Phase::Accepted => "accepted",
        Phase::Finished => "done",
        Phase::Rejected => "rejected",
        Phase::Cancelled => "cancelled",
        Phase::Answered => "answered",
    }
}

/// The replies under way, in words; equal ones are counted.
fn network_text(network: Network) -> String {
    let mut texts: Vec<(String, usize)> = Vec::new();
    for message in network.messages() {
        let text = message_text(message);
        match texts.last_mut() {
            Some((last, count)) if *last == text => *count += 1,
            Some(_) | None => texts.push((text, 1)),
        }
    }
    let words = |(text, count): (String, usize)| {
        if count > 1 {
            format!("{text} ×{count}")
        } else {
            text
        }
    };
    in_words(texts.into_iter().map(words))
}
