//! Confirmations and their events on the form: three clauses in one account.
#![expect(
    clippy::cast_possible_truncation,
    reason = "tables, and numbers that are small"
)]

use countersign_model::clauses;
use countersign_model::engine::clause::{Clauses, Entry};
use countersign_model::engine::fact::{Fact, Interval};
use countersign_model::engine::protocol::{Protocol, Step};

use super::{Book, Name, as_in_the_book, explained, lifted, millis};

clauses! { pub const CLAUSES;
    C6_1_1 "AAEP-6.1-1" Must; C6_1_6 "AAEP-6.1-6" Must; C6_2_2_3 "AAEP-6.2.2-3" Must; C6_3_4_4 "AAEP-6.3.4-4" Must;
    C6_3_5_1 "AAEP-6.3.5-1" Must; C6_4_1 "AAEP-6.4-1" Must; C6_4_2_3 "AAEP-6.4.2-3" Should; C6_7_1 "AAEP-6.7-1" Must;
    CA_4_4 "AAEP-A.4-4" Must; EV_2 "AAEP-EV-2" Must; EV_3 "AAEP-EV-3" Must; EV_7 "AAEP-EV-7" Must;
    EV_16 "AAEP-EV-16" Must;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Aaep;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    at: i64,
    /// The host takes a snapshot behind it.
    is_kept: bool,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    Sub {
        name: Name,
        can_reply: bool,
        extend: i64,
    },
    Unsub(Name),
    Confirm(Name),
    Emit(Name),
    Reply {
        name: Name,
        is_accept: bool,
        stamp: i64,
    },
    Extend {
        name: Name,
        more: i64,
        is_closed: bool,
    },
    Resume,
    Tick,
    End,
    Restart {
        is_stale: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Ask {
        name: Name,
        timeout: i64,
        token: Name,
    },
    State(Name),
    Invoked(Name),
    Granted(Name, i64),
    Declined(Name),
    Ended,
    Other(Name),
}
use Event::{Ask, Declined, Ended, Granted, Invoked, Other, State};

/// An event as one subscription gets it. `*` is the one stream of a recording that does not tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    to: Name,
    /// The `event_id`; `-` where it is not shown.
    id: Name,
    event: Event,
    /// Whatever else is different: `agent_id q`, `another summary`.
    note: Name,
}

const STREAMS: [Name; 6] = ["*", "s1", "s2", "s3", "s4", "s5"];
const FRESH: [Name; 6] = ["f1", "f2", "f3", "f4", "f5", "f6"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    Asked,
    Rejected(Name),
    Performed(Name),
    Granted(Name),
    Event,
}

/// What ends the time of an obligation: a later event to that stream, or the deadline of that confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Closing {
    Stream(Name),
    Deadline(Name),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Pending,
    Accepted,
    Performed,
    Rejected,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Confirmation {
    name: Name,
    token: Option<Name>,
    asked_at: i64,
    timeout: i64,
    deadline: Interval,
    /// A request for a later deadline that nobody answered: whether it was honoured shows at the old one.
    requested: Option<i64>,
    grants: u8,
    phase: Phase,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sub {
    name: Name,
    can_reply: bool,
    extend: i64,
    is_open: Fact,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Emitted {
    id: Name,
    agent: Name,
    event: Event,
    note: Name,
    at: i64,
    to: Vec<Name>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    now: i64,
    has_one_stream: bool,
    subs: Vec<Sub>,
    asked: Vec<Confirmation>,
    emitted: Vec<Emitted>,
    /// So many events were emitted at the snapshot.
    kept: usize,
    is_to_be_kept: bool,
    is_resumed: bool,
}

type S<'v> = Step<'v, Aaep>;

fn reads(step: &S<'_>, word: Name) -> bool {
    step.variant.reading == word
}

/// Who gets an event, and whether the subscription can reply.
fn streams(step: &S<'_>) -> Vec<(Name, bool, Fact)> {
    if step.account.has_one_stream {
        return vec![("*", true, Fact::Yes)];
    }
    step.account
        .subs
        .iter()
        .map(|it| (it.name, it.can_reply, it.is_open))
        .collect()
}

/// The same event to everybody.
fn tell(
    step: &mut S<'_>,
    clauses: Clauses,
    event: Event,
    binding: Binding,
    until: Option<Closing>,
) {
    for (to, _, is_open) in streams(step) {
        let output = Output {
            to,
            id: "-",
            event,
            note: "",
        };
        let it = if is_open == Fact::Yes {
            step.owe(clauses, output)
        } else {
            step.allow(clauses, output)
        };
        it.any(true).bind(binding);
        if let Some(until) = until {
            it.until(until);
        }
    }
}

fn find<'s>(step: &'s mut S<'_>, name: Name) -> Option<&'s mut Confirmation> {
    step.account.asked.iter_mut().find(|it| it.name == name)
}

/// The agent wants consent (AAEP-6.7-1).
fn confirm(step: &mut S<'_>, name: Name) {
    let now = step.account.now;
    let is_asked_of = |can_reply: bool| can_reply || !reads(step, "ev16");
    let to: Vec<Name> = streams(step)
        .into_iter()
        .filter(|it| is_asked_of(it.1))
        .map(|it| it.0)
        .collect();
    let timeout = 60_000
        + step
            .account
            .subs
            .iter()
            .map(|it| it.extend)
            .max()
            .unwrap_or(0);
    let deadline = Interval::exactly(now + timeout);
    let fresh = Confirmation {
        name,
        token: None,
        asked_at: now,
        timeout,
        deadline,
        requested: None,
        grants: 0,
        phase: Phase::Pending,
    };
    step.account.asked.push(fresh);
    // By AAEP-EV-16 the default applies at once where nobody can reply; without AAEP-6.7-1 nobody needs to be asked.
    let is_nobody = to.is_empty() && !streams(step).is_empty();
    if is_nobody || (!step.enforces(C6_7_1) && step.choose(2) == 1) {
        reject(step, name, &[C6_4_1]);
        return;
    }
    for to in to {
        let output = Output {
            to,
            id: "-",
            event: Ask {
                name,
                timeout,
                token: name,
            },
            note: "",
        };
        step.owe(&[C6_7_1], output)
            .any(true)
            .bind(Binding::Asked)
            .until(Closing::Stream(to));
    }
}

fn reject(step: &mut S<'_>, name: Name, clauses: Clauses) {
    if let Some(it) = find(step, name) {
        it.phase = Phase::Rejected;
    }
    step.close(|it| it == Closing::Deadline(name));
    tell(
        step,
        clauses,
        State("thinking"),
        Binding::Rejected(name),
        None,
    );
}

/// Deadlines that this call has come to (AAEP-6.4-1).
fn pass(step: &mut S<'_>) {
    let now = step.account.now;
    for place in 0..step.account.asked.len() {
        let it = step.account.asked[place].clone();
        let is_accepted = it.phase == Phase::Accepted;
        if is_accepted && now >= it.deadline.high {
            step.close(|closing| closing == Closing::Deadline(it.name));
            if !step.enforces(C6_3_5_1) {
                reject(step, it.name, &[C6_3_5_1]);
            }
            continue;
        }
        if it.phase != Phase::Pending {
            continue;
        }
        let asked_until = it.requested.filter(|_| now >= it.deadline.low);
        if let Some(later) = asked_until {
            // AAEP-6.4.2-3: a request that nobody answered was honoured, or was not.
            let is_honoured = step.enforces(C6_4_2_3) || step.choose(2) == 0;
            let low = if reads(step, "in_full") {
                later
            } else {
                it.deadline.high + 1
            };
            let at = &mut step.account.asked[place];
            at.requested = None;
            if is_honoured {
                at.deadline = Interval { low, high: later };
            }
        }
        if step.is_at_most(|it| &mut it.asked[place].deadline, now, false) {
            reject(step, it.name, &[C6_4_1]);
        } else if !step.enforces(C6_4_1) && asked_until.is_none() {
            for (to, ..) in streams(step) {
                let output = Output {
                    to,
                    id: "-",
                    event: State("thinking"),
                    note: "",
                };
                step.allow(&[C6_4_1], output)
                    .any(true)
                    .bind(Binding::Rejected(it.name));
            }
        }
    }
}

/// Somebody asks for more time (AAEP-6.4.2-3).
fn extend(step: &mut S<'_>, name: Name, more: i64, is_closed: bool) {
    let (now, is_closed) = (step.account.now, is_closed || reads(step, "capability"));
    let Some(it) = find(step, name).map(|it| it.clone()) else {
        return;
    };
    let later = it.requested.unwrap_or(it.deadline.high) + more;
    let is_pending = it.phase == Phase::Pending && now < it.deadline.low;
    let is_too_long =
        later - it.asked_at > 86_400_000 || it.grants > 1 && reads(step, "not_for_ever");
    let output = |event: Event| Output {
        to: "*",
        id: "-",
        event,
        note: "",
    };
    if !is_pending || is_closed || more < 1_000 || is_too_long {
        let granted = step.allow(&[], output(Granted(name, later))).any(true);
        if is_pending && !is_closed {
            granted.bind(Binding::Granted(name));
        }
        step.allow(&[], output(Declined(name)))
            .any(true)
            .bind(Binding::Event);
        return;
    }
    match step.choose(2 + u8::from(!step.enforces(C6_4_2_3))) {
        0 => drop(
            step.owe(&[C6_4_2_3], output(Granted(name, later)))
                .any(true)
                .bind(Binding::Granted(name)),
        ),
        1 => step
            .account
            .asked
            .iter_mut()
            .filter(|it| it.name == name)
            .for_each(|it| it.requested = Some(later)),
        _ => drop(
            step.allow(&[C6_4_2_3], output(Declined(name)))
                .any(true)
                .bind(Binding::Event),
        ),
    }
}

/// Somebody decides (AAEP-6.3.4-4, 6.3.5-1).
fn reply(step: &mut S<'_>, name: Name, is_accept: bool, stamp: i64) {
    let Some(place) = step
        .account
        .asked
        .iter()
        .position(|it| it.name == name && it.phase == Phase::Pending)
    else {
        return;
    };
    // A request that is open was honoured if the reply counts beyond the old deadline.
    if let Some(later) = step.account.asked[place]
        .requested
        .filter(|_| stamp >= step.account.asked[place].deadline.low)
    {
        step.account.asked[place].deadline = Interval::exactly(later);
    }
    let is_late = step.is_at_most(|it| &mut it.asked[place].deadline, stamp, false);
    if is_late && step.enforces(C6_3_4_4) {
        return;
    }
    let until = Some(Closing::Deadline(name));
    if is_accept {
        step.account.asked[place].phase = Phase::Accepted;
        tell(
            step,
            &[C6_3_5_1],
            State("calling_tool"),
            Binding::Event,
            until,
        );
        tell(
            step,
            &[C6_3_5_1],
            Invoked(name),
            Binding::Performed(name),
            until,
        );
    } else {
        step.account.asked[place].phase = Phase::Rejected;
        tell(
            step,
            &[C6_3_5_1],
            State("thinking"),
            Binding::Rejected(name),
            until,
        );
    }
}

/// An event has come to a stream: what had to come to it before is missing, and its id must be free (AAEP-EV-7).
fn arrives(step: &mut S<'_>, output: &Output) -> Result<(), Clauses> {
    let Output {
        to,
        id,
        event,
        note,
    } = *output;
    step.expire(|it| it == Closing::Stream(to));
    let (is_version_apart, emits_twice) =
        (reads(step, "version_apart"), reads(step, "emitted_twice"));
    if id == "-" {
        return Ok(());
    }
    let is_other =
        note.starts_with("agent_id") || note.starts_with("agent_version") && is_version_apart;
    let agent = if is_other { note } else { "" };
    let (note, is_same) = if note == "same event" {
        ("", true)
    } else {
        (note, false)
    };
    let (is_resumed, now) = (step.account.is_resumed, step.account.now);
    let mut holders = step
        .account
        .emitted
        .iter_mut()
        .filter(|it| (it.id, it.agent) == (id, agent))
        .peekable();
    let is_taken = holders.peek().is_some();
    if let Some(same) =
        holders.find(|it| (it.event, it.note) == (event, note) && (is_same || it.at == now))
    {
        let is_again = same.to.contains(&to) && !is_resumed;
        same.to.push(to);
        return if is_again && emits_twice {
            Err(&[EV_7])
        } else {
            Ok(())
        };
    }
    step.account.emitted.push(Emitted {
        id,
        agent,
        event,
        note,
        at: now,
        to: vec![to],
    });
    match id {
        "" => Err(&[EV_2]),
        _ if is_taken => Err(&[EV_7]),
        _ if note.starts_with("timestamp") => Err(&[EV_3]),
        _ => Ok(()),
    }
}

/// A confirmation has come to a stream: its token is its own, and that of the others who get it.
fn asked(step: &mut S<'_>, event: Event) -> Result<(), Clauses> {
    let Ask {
        name,
        timeout,
        token,
    } = event
    else {
        return Ok(());
    };
    let is_used = step
        .account
        .asked
        .iter()
        .any(|it| it.name != name && it.token == Some(token));
    let Some(it) = find(step, name) else {
        return Err(&[C6_1_6]);
    };
    if it.token.is_some_and(|first| first != token) {
        return Err(&[C6_7_1, C6_1_6]);
    }
    if it.token.replace(token).is_none() {
        let is_short = timeout < it.timeout;
        it.deadline = Interval::exactly(it.asked_at + timeout);
        return if is_used {
            Err(&[C6_2_2_3])
        } else if is_short {
            Err(&[C6_4_2_3])
        } else {
            Ok(())
        };
    }
    Ok(())
}

impl Protocol for Aaep {
    type Call = Call;
    type Output = Output;
    type Account = Account;
    type Holes = bool;
    type Binding = Binding;
    type Closing = Closing;
    type Thing = Name;
    type Reading = Name;
    const CLAUSES: &'static [Entry] = CLAUSES;

    fn call(step: &mut S<'_>, call: &Call) {
        if step.account.is_to_be_kept {
            step.account.kept = step.account.emitted.len();
        }
        (
            step.account.now,
            step.account.is_to_be_kept,
            step.account.is_resumed,
        ) = (call.at, call.is_kept, false);
        match call.what {
            What::Sub {
                name,
                can_reply,
                extend,
            } => {
                step.account.subs.push(Sub {
                    name,
                    can_reply,
                    extend,
                    is_open: Fact::Yes,
                });
            }
            What::Unsub(name) => {
                step.account.subs.retain(|it| it.name != name);
                step.forget(|it| it.to == name);
            }
            What::Confirm(name) => confirm(step, name),
            What::Emit(what) => {
                let id = FRESH.get(step.account.emitted.len()).unwrap_or(&"-");
                for (to, ..) in streams(step) {
                    let output = Output {
                        to,
                        id,
                        event: Other(what),
                        note: "",
                    };
                    step.allow(&[], output).any(true).bind(Binding::Event);
                }
            }
            What::Reply {
                name,
                is_accept,
                stamp,
            } => reply(step, name, is_accept, stamp),
            What::Extend {
                name,
                more,
                is_closed,
            } => extend(step, name, more, is_closed),
            What::Resume => step.account.is_resumed = true,
            What::Tick => {}
            What::End => {
                let gone: Vec<Name> = streams(step)
                    .iter()
                    .filter(|it| it.2 != Fact::Yes)
                    .map(|it| it.0)
                    .collect();
                step.forget(|it| gone.contains(&it.to));
                step.close(|_| true);
                for (to, ..) in streams(step) {
                    step.allow(
                        &[],
                        Output {
                            to,
                            id: "-",
                            event: Ended,
                            note: "",
                        },
                    )
                    .any(true)
                    .bind(Binding::Event);
                }
                step.account
                    .asked
                    .iter_mut()
                    .for_each(|it| it.phase = Phase::Rejected);
            }
            What::Restart { is_stale } => {
                step.account
                    .subs
                    .iter_mut()
                    .for_each(|it| it.is_open = Fact::Perhaps);
                if is_stale {
                    let kept = step.account.kept;
                    step.account.emitted.truncate(kept);
                }
                if reads(step, "event_only") {
                    let back = |it: &mut Confirmation| {
                        it.deadline = Interval::exactly(it.asked_at + it.timeout);
                    };
                    step.account.asked.iter_mut().for_each(back);
                }
            }
        }
        pass(step);
    }

    fn fill(expected: &mut Output, output: &Output, holes: bool) {
        if !holes || expected.to != output.to {
            return;
        }
        (expected.id, expected.note) = (output.id, output.note);
        match (&mut expected.event, &output.event) {
            (
                Ask {
                    name,
                    timeout,
                    token,
                },
                Ask {
                    name: of,
                    timeout: after,
                    token: by,
                },
            ) if name == of => {
                (*timeout, *token) = (*after, *by);
            }
            (Granted(name, until), Granted(of, other)) if name == of => *until = *other,
            (Other(what), Other(other)) => *what = other,
            _ => {}
        }
    }

    fn bind(step: &mut S<'_>, binding: Binding, output: &Output) -> Result<(), Clauses> {
        let result = arrives(step, output);
        let of = |step: &mut S<'_>, name: Name, change: fn(&mut Confirmation)| {
            step.account
                .asked
                .iter_mut()
                .filter(|it| it.name == name)
                .for_each(change);
        };
        match (binding, output.event) {
            (Binding::Asked, event) => return result.and(asked(step, event)),
            (Binding::Rejected(name), _) => of(step, name, |it| it.phase = Phase::Rejected),
            (Binding::Performed(name), _) => of(step, name, |it| it.phase = Phase::Performed),
            (Binding::Granted(name), Granted(_, until)) => {
                of(step, name, |it| {
                    (it.requested, it.grants) = (None, it.grants + 1);
                });
                step.account
                    .asked
                    .iter_mut()
                    .filter(|it| it.name == name)
                    .for_each(|it| it.deadline = Interval::exactly(until));
            }
            (Binding::Granted(_) | Binding::Event, _) => {}
        }
        result
    }

    fn unowed(step: &mut S<'_>, output: &Output) -> Result<(), Clauses> {
        let result = arrives(step, output);
        let phase = |step: &S<'_>, name: Name| {
            step.account
                .asked
                .iter()
                .find(|it| it.name == name)
                .map(|it| it.phase)
        };
        let is_pending = step
            .account
            .asked
            .iter()
            .any(|it| it.phase == Phase::Pending);
        let is_deaf = step
            .account
            .subs
            .iter()
            .any(|it| it.name == output.to && !it.can_reply);
        result.and(match output.event {
            Ask { .. } if is_deaf && reads(step, "ev16") => Err(&[EV_16]),
            Ask { .. } => asked(step, output.event),
            // By which clause it is too early is said where the deadline is.
            State("thinking") if is_pending => Err(&[]),
            State(_) if is_pending => Err(&[C6_1_1]),
            Invoked(name) => match phase(step, name) {
                Some(Phase::Accepted | Phase::Performed) => Ok(()),
                Some(Phase::Rejected) => Err(&[C6_1_1, CA_4_4]),
                Some(Phase::Pending) | None => Err(&[C6_1_1]),
            },
            Granted(..) | Declined(_) => Err(&[C6_4_2_3]),
            State(_) | Ended | Other(_) => Ok(()),
        })
    }

    fn thing(output: &Output) -> Option<Name> {
        match output.event {
            Ask { name, .. } | Invoked(name) | Granted(name, _) | Declined(name) => Some(name),
            State(_) | Ended | Other(_) => None,
        }
    }

    /// A stream that is not recorded is a hidden kind, too.
    fn kind(output: &Output) -> u8 {
        let stream = STREAMS.iter().position(|it| *it == output.to).unwrap_or(0) as u8;
        2 * stream + u8::from(output.event == Ended)
    }

    fn gravity(output: &Output) -> u8 {
        u8::from(!matches!(output.event, Invoked(_)))
    }
}

impl Book for Aaep {
    const TABLE: Name = include_str!("aaep.txt");
    const READINGS: &'static [Name] = &[
        "default",
        "capability",
        "not_for_ever",
        "in_full",
        "event_only",
        "ev16",
        "emitted_twice",
        "version_apart",
    ];

    fn reading(word: Name, _: &[Name]) -> Name {
        word
    }

    fn start(section: Name, options: &[Name]) -> (Account, u32) {
        let open = |name: &Name| Sub {
            name,
            can_reply: true,
            extend: 0,
            is_open: Fact::Yes,
        };
        let is = |word: Name| options.contains(&word);
        let streams = STREAMS.iter().enumerate();
        let hidden = streams.map(|(number, name)| {
            let is_hidden = is("only_s1") && *name != "s1";
            ((u32::from(is_hidden) * 3) | (u32::from(is("-ended")) * 2)) << (2 * number)
        });
        let account = Account {
            now: 0,
            has_one_stream: section != "AAEP-6.7-1",
            subs: if is("three") {
                STREAMS[1..4].iter().map(open).collect()
            } else {
                Vec::new()
            },
            asked: Vec::new(),
            emitted: Vec::new(),
            kept: 0,
            is_to_be_kept: false,
            is_resumed: false,
        };
        (account, hidden.sum())
    }

    fn call_of(at: i64, words: Name, _: &[Name]) -> Call {
        let (is_kept, words) = words
            .strip_prefix('^')
            .map_or((false, words), |words| (true, words));
        let all: Vec<Name> = words.split(' ').collect();
        let seconds = |word: Name| {
            millis(
                word.trim_start_matches("ts=")
                    .trim_start_matches("extend=")
                    .trim_start_matches('+'),
            )
        };
        let name = all.get(1).copied().unwrap_or("");
        let what = match all[0] {
            "sub" => {
                let extend = all
                    .iter()
                    .find(|it| it.starts_with("extend="))
                    .map_or(0, |it| seconds(it));
                What::Sub {
                    name,
                    can_reply: all.contains(&"reply"),
                    extend,
                }
            }
            "unsub" => What::Unsub(name),
            "confirm" => What::Confirm(name),
            "emit" => What::Emit(name),
            "reply" => What::Reply {
                name,
                is_accept: all[2] == "accept",
                stamp: seconds(all[3]),
            },
            "extend" => {
                let more = if all[2] == "+\"\"" {
                    0
                } else {
                    seconds(all[2])
                };
                What::Extend {
                    name,
                    more,
                    is_closed: all.last() == Some(&"(closed)"),
                }
            }
            "resume" => What::Resume,
            "tick" => What::Tick,
            "end" => What::End,
            "restart" => What::Restart {
                is_stale: all.get(1) == Some(&"^"),
            },
            _ => panic!("no call: {words}"),
        };
        Call { at, is_kept, what }
    }

    fn output_of(words: Name, _: i64, _: Name, _: &[Name]) -> Output {
        let (to, rest) = words.split_once('<').unwrap_or(("*", words));
        let (rest, note) = rest.split_once(" (").map_or((rest, ""), |(rest, note)| {
            (rest, note.trim_end_matches(')'))
        });
        let all: Vec<Name> = rest.split(' ').collect();
        let (id, all) = if all[0] == "ev" {
            (all[1].trim_matches('"'), &all[2..])
        } else {
            ("-", &all[..])
        };
        let first = all.get(1).copied().unwrap_or("");
        let number = all
            .get(2)
            .map_or(60_000, |it| millis(it.split_once('=').unwrap().1));
        let event = match (all[0], first) {
            ("ask", name) => {
                let token = note
                    .strip_prefix("token of ")
                    .unwrap_or(if note == "another token" {
                        "another"
                    } else {
                        name
                    });
                Ask {
                    name,
                    timeout: number,
                    token,
                }
            }
            ("state", "") => Other("state"),
            ("state", what) => State(what),
            ("invoked", name) => Invoked(name),
            ("granted", name) => Granted(name, number),
            ("declined", name) => Declined(name),
            ("ended", _) => Ended,
            (what, _) => Other(what),
        };
        Output {
            to,
            id,
            event,
            note,
        }
    }
}

#[test]
fn whatever_a_conforming_party_does_is_explained() {
    let one: [&[(i64, Name)]; 3] = [
        &[
            (0, "confirm c1"),
            (30_000, "extend c1 +60 by s1"),
            (60_000, "tick"),
            (101_000, "reply c1 accept ts=100 by s1"),
            (120_000, "tick"),
        ],
        &[
            (0, "emit a"),
            (1, "restart"),
            (2, "emit b"),
            (3, "resume s1"),
            (4, "end"),
        ],
        &[
            (0, "confirm c1"),
            (59_000, "reply c1 reject ts=59 by s1"),
            (60_000, "extend c1 +60 by s1"),
            (61_000, "confirm c2"),
        ],
    ];
    let three: [&[(i64, Name)]; 2] = [
        &[
            (0, "confirm c1"),
            (1, "emit state"),
            (2, "unsub s2"),
            (3, "end"),
        ],
        &[
            (0, "confirm c1"),
            (1, "restart"),
            (2, "sub s2 reply"),
            (60_000, "tick"),
        ],
    ];
    let one = one.iter().map(|calls| ("", *calls));
    for (section, calls) in one.chain(three.iter().map(|calls| ("AAEP-6.7-1", *calls))) {
        for reading in ["default", "in_full"] {
            let mut start = Aaep::start(section, &[]);
            if !section.is_empty() {
                let open = |name: &Name| Sub {
                    name,
                    can_reply: true,
                    extend: 0,
                    is_open: Fact::Yes,
                };
                start.0.subs = STREAMS[1..3].iter().map(open).collect();
            }
            assert!(explained::<Aaep>(start, calls, reading, &[]) >= calls.len());
        }
    }
}

#[test]
fn the_scenarios_are_judged_as_in_the_book() {
    as_in_the_book::<Aaep>();
}

#[test]
fn without_its_clause_no_fault_is_found() {
    lifted::<Aaep>();
}
