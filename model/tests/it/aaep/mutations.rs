//! How an output of a producer can be changed, and what of that the text leaves free: `freedoms.txt`.

use std::sync::Arc;

use super::changes::{self, Edit, edit};
use super::mutation::{self, Mutations};
use countersign_model::aaep::Aaep;
use countersign_model::aaep::account::{Account, Question};
use countersign_model::aaep::alphabet::{
    Asked, By, Call, Clarified, Decision, Event, Name, Op, Outcome, Output, Queried, Response,
    Risk, Run, SessionId, State, Status, Subject, Time, Token, What, Written,
};
use countersign_model::aaep::environment::{ANA, BOB, Bounds};
use countersign_model::engine::party::Executor;
use smallvec::SmallVec;

/// Changes of what a producer puts out.
pub enum OfProducer {}

impl Mutations<Aaep> for OfProducer {
    fn kind(output: &Output) -> &'static str {
        match output {
            Output::Emit(it) => match it.what {
                What::Started => "start",
                What::Ended(_) => "end",
                What::Changed { from, to } => match (from, to) {
                    (_, State::AwaitingInput) => "wait",
                    (State::AwaitingInput, _) => "outcome",
                    (_, State::WritingOutput) | (State::WritingOutput, _) => "writing",
                    (_, State::CallingTool) | (State::CallingTool, _) => "calling",
                    (_, _) => "state",
                },
                What::Asked(_) => "question",
                What::Queried(_) => "clarification",
                What::Invoked { .. } => "invocation",
                What::Completed { .. } => "completion",
                What::Chunk(_) => "chunk",
                What::HandedOff { .. } => "handoff",
                What::Progress { .. } => "progress",
                What::Other(_) => "other event",
            },
            Output::Perform(_) => "perform",
            Output::InDoubt(_) => "doubt",
            Output::Respond { .. } => "response",
            Output::Answer(_) => "answer",
            Output::Notify { .. } => "notice",
            Output::Audit => "audit",
            Output::Refused => "refused",
            Output::Other(_) => "other",
        }
    }

    fn again(output: &Output) -> Output {
        output.clone()
    }

    fn neighbours(output: &Output, each: &mut dyn FnMut(&'static str, Output)) {
        match output {
            Output::Emit(it) => event(it, &mut |field, it| each(field, Output::Emit(it))),
            Output::Perform(it) => run(it, &mut |field, it| each(field, Output::Perform(it))),
            Output::InDoubt(it) => run(it, &mut |field, it| each(field, Output::InDoubt(it))),
            Output::Answer(it) => answer(it, &mut |field, it| each(field, Output::Answer(it))),
            Output::Respond { status, body } => {
                let respond = |status, body| Output::Respond { status, body };
                each("status", respond(status ^ 1, *body));
                each("body", respond(*status, Some(other(*body))));
            }
            Output::Notify {
                subscription,
                token,
            } => {
                let notify = |subscription, token| Output::Notify {
                    subscription,
                    token,
                };
                each("subscription", notify(subscription ^ 1, *token));
                each("no token", notify(*subscription, None));
                each("token", notify(*subscription, Some(other(*token))));
            }
            Output::Audit | Output::Refused | Output::Other(_) => {}
        }
    }

    fn anything(account: &Account, call: &Call, each: &mut dyn FnMut(Output)) {
        let respond = |status, body| Output::Respond { status, body };
        for output in [respond(202, None), respond(400, Some(1))] {
            each(output);
        }
        each(Output::Audit);
        each(Output::Refused);
        // What a producer does of itself may come with the answer to a forged message, and a guarantee takes it for its doing.
        let of_itself = !matches!(call.op, Op::Deliver(_));
        let sessions = account.sessions.iter().filter(|_| of_itself);
        for session in sessions {
            of_session(session.id, &mut |what| each(emit(session.id, what)));
            each(emit(session.id, What::Progress { left: None }));
            each(emit(session.id, What::Other(1)));
        }
        let clock = account.clock.max(call.now);
        for question in &account.questions {
            about(question, account, clock, each);
        }
        if let Op::Confirm(ask) = &call.op {
            let question = Question::new(Subject::Action(Arc::clone(ask)), clock, 0);
            about(&question, account, clock, each);
        }
        if let Op::Clarify(query) = &call.op {
            let question = Question::new(Subject::Words(Arc::clone(query)), clock, 0);
            about(&question, account, clock, each);
        }
        if let Op::Tool(task) = &call.op {
            let question = Question::new(Subject::Tool(Arc::clone(task)), clock, 0);
            about(&question, account, clock, each);
        }
    }
}

fn emit(session: SessionId, what: What) -> Output {
    Output::Emit(Event {
        session,
        what,
        to: None,
    })
}

const OUTCOMES: [(&str, Outcome); 4] = [
    ("as completed", Outcome::Completed),
    ("as errored", Outcome::Errored),
    ("as cancelled", Outcome::Cancelled),
    ("as something else", Outcome::Other(1)),
];
const STATES: [(&str, &str, State); 8] = [
    ("from idle", "to idle", State::Idle),
    ("from thinking", "to thinking", State::Thinking),
    ("from calling_tool", "to calling_tool", State::CallingTool),
    (
        "from awaiting_input",
        "to awaiting_input",
        State::AwaitingInput,
    ),
    ("from deciding", "to deciding", State::Deciding),
    (
        "from writing_output",
        "to writing_output",
        State::WritingOutput,
    ),
    ("from handing_off", "to handing_off", State::HandingOff),
    ("from another", "to another", State::Other(1)),
];
const STATUSES: [(&str, Status); 4] = [
    ("as a success", Status::Success),
    ("as an error", Status::Error),
    ("as a timeout", Status::Timeout),
    ("as something else", Status::Other(1)),
];

/// Everything that can be said of a session.
fn of_session(session: SessionId, each: &mut dyn FnMut(What)) {
    each(What::Started);
    for (_, outcome) in OUTCOMES {
        each(What::Ended(outcome));
    }
    for (_, _, from) in STATES {
        for (_, _, to) in STATES {
            if from != to && matches!(from, State::Idle | State::Thinking | State::AwaitingInput) {
                each(What::Changed { from, to });
            }
        }
    }
    each(What::Chunk(Written {
        stream: Some(120),
        text: 121 + session,
        characters: 8,
        position: 0,
        is_last: true,
    }));
}

/// Everything that can be said of a question, or of a tool.
fn about(question: &Question, account: &Account, at: Time, each: &mut dyn FnMut(Output)) {
    let session = question.session();
    let token = question.token.unwrap_or(account.tokens);
    let call = question.call.unwrap_or(account.calls);
    match &question.subject {
        Subject::Action(ask) => each(emit(
            session,
            What::Asked(Arc::new(Asked {
                at,
                token: account.tokens,
                call: Some(call),
                description: ask.description.name,
                consequence: ask.consequence.name,
                timeout: ask.timeout,
                default: ask.default,
                risk: Some(ask.risk),
                irreversible: Some(ask.irreversible),
                allowed: None,
            })),
        )),
        Subject::Words(query) => {
            each(emit(
                session,
                What::Queried(Arc::new(Queried {
                    at,
                    token: account.tokens,
                    question: query.question.name,
                    timeout: query.timeout,
                    kinds: query.kinds.clone(),
                    choices: None,
                    default: query.default.map(|it| it.name),
                })),
            ));
            for (response, by) in [
                (Some(Response::Text(90)), By::Reply),
                (query.default.map(|it| Response::Text(it.name)), By::Default),
                (None, By::Nobody),
            ] {
                each(Output::Answer(Clarified {
                    session,
                    token,
                    response,
                    by,
                }));
            }
        }
        Subject::Tool(_) => {}
    }
    if question.token.is_some() {
        for subscription in [ANA, BOB] {
            let token = Some(token);
            each(Output::Notify {
                subscription,
                token,
            });
        }
    }
    let Some(action) = question.subject.action() else {
        return;
    };
    let (tool, call) = (action.tool, Some(call));
    each(emit(
        session,
        What::Invoked {
            call,
            tool,
            risk: action.risk,
            irreversible: action.irreversible,
        },
    ));
    for (_, status) in STATUSES {
        each(emit(session, What::Completed { call, tool, status }));
    }
    let run = Run {
        session,
        action: action.name,
        call: call.unwrap_or_default(),
        tool: Some(tool),
        token: question.token,
        modified: question.modified,
    };
    each(Output::Perform(run));
    each(Output::InDoubt(run));
}

/// A name that nobody has.
fn other(name: Option<Name>) -> Name {
    name.unwrap_or_default() ^ 0x400
}

/// Whom an event is sent to is not changed: a producer of these worlds does not declare that it says so.
fn event(it: &Event, each: &mut dyn FnMut(&'static str, Event)) {
    edit(it, each, &[("session", &|it| it.session ^= 0x400)]);
    let what = &mut |field, what| each(field, Event { what, ..it.clone() });
    match &it.what {
        What::Ended(_) => {
            for (field, outcome) in OUTCOMES {
                edit(&it.what, what, &[(field, &|it| *it = What::Ended(outcome))]);
            }
        }
        &What::Changed { from, to } => {
            for (before, after, state) in STATES {
                let changed = |from, to| move |it: &mut What| *it = What::Changed { from, to };
                edit(
                    &it.what,
                    what,
                    &[
                        (before, &changed(state, to)),
                        (after, &changed(from, state)),
                    ],
                );
            }
        }
        What::Asked(it) => asked(it, &mut |field, it| what(field, What::Asked(Arc::new(it)))),
        What::Queried(it) => {
            queried(it, &mut |field, it| {
                what(field, What::Queried(Arc::new(it)));
            });
        }
        What::Chunk(it) => chunk(it, &mut |field, it| what(field, What::Chunk(it))),
        What::Invoked { .. } | What::Completed { .. } => tool(&it.what, what),
        What::HandedOff { .. } | What::Progress { .. } => rest(&it.what, what),
        What::Started | What::Other(_) => {}
    }
}

fn later(token: &mut Token) {
    *token += 1;
}

fn earlier(token: &mut Token) {
    *token = token.saturating_sub(1);
}

fn asked(it: &Asked, each: &mut dyn FnMut(&'static str, Asked)) {
    edit(
        it,
        each,
        &[
            ("earlier", &|it| it.at -= 1),
            ("later", &|it| it.at += 1),
            ("the token before", &|it| earlier(&mut it.token)),
            ("the token behind", &|it| later(&mut it.token)),
            ("no call", &|it| it.call = None),
            ("call", &|it| it.call = Some(other(it.call))),
            ("description", &|it| it.description ^= 0x400),
            ("consequence", &|it| it.consequence ^= 0x400),
            ("a shorter timeout", &|it| it.timeout -= 1_000),
            ("a longer timeout", &|it| it.timeout += 1_000),
            ("default accept", &|it| it.default = Decision::Accept),
            ("default reject", &|it| it.default = Decision::Reject),
            ("no risk", &|it| it.risk = None),
            ("a lower risk", &|it| it.risk = Some(Risk::Low)),
            ("a higher risk", &|it| it.risk = Some(Risk::High)),
            ("nothing of reversibility", &|it| it.irreversible = None),
            ("the other reversibility", &|it| {
                it.irreversible = it.irreversible.map(|it| !it);
            }),
            ("no replies", &|it| it.allowed = None),
            ("accept alone", &|it| {
                it.allowed = Some([Decision::Accept].into_iter().collect());
            }),
            ("reject alone", &|it| {
                it.allowed = Some([Decision::Reject].into_iter().collect());
            }),
        ],
    );
}

fn queried(it: &Queried, each: &mut dyn FnMut(&'static str, Queried)) {
    edit(
        it,
        each,
        &[
            ("earlier", &|it| it.at -= 1),
            ("later", &|it| it.at += 1),
            ("the token before", &|it| earlier(&mut it.token)),
            ("the token behind", &|it| later(&mut it.token)),
            ("question", &|it| it.question ^= 0x400),
            ("a shorter timeout", &|it| it.timeout -= 1_000),
            ("a longer timeout", &|it| it.timeout += 1_000),
            ("no kinds", &|it| it.kinds = None),
            ("fewer kinds", &|it| {
                it.kinds.as_mut().and_then(SmallVec::pop);
            }),
            ("no choices", &|it| it.choices = None),
            ("fewer choices", &|it| {
                it.choices.as_mut().and_then(SmallVec::pop);
            }),
            ("no default", &|it| it.default = None),
            ("default", &|it| it.default = Some(other(it.default))),
        ],
    );
}

fn chunk(it: &Written, each: &mut dyn FnMut(&'static str, Written)) {
    edit(
        it,
        each,
        &[
            ("no output", &|it| it.stream = None),
            ("output", &|it| it.stream = Some(other(it.stream))),
            ("text", &|it| it.text ^= 0x400),
            ("characters", &|it| it.characters += 1),
            ("a place before", &|it| it.position -= 1),
            ("a place behind", &|it| it.position += 1),
            ("the last or not", &|it| it.is_last = !it.is_last),
        ],
    );
}

/// A tool is invoked, or has completed. An event without a call is about the last call of its tool, and guarantees know calls alone.
fn tool(it: &What, each: &mut dyn FnMut(&'static str, What)) {
    let call = |it: &mut What| {
        if let What::Invoked { call, .. } | What::Completed { call, .. } = it {
            *call = Some(other(*call));
        }
    };
    let edits: &[Edit<'_, What>] = &[
        ("call", &call),
        ("tool", &|it| {
            if let What::Invoked { tool, .. } | What::Completed { tool, .. } = it {
                *tool ^= 0x400;
            }
        }),
        ("a lower risk", &|it| {
            if let What::Invoked { risk, .. } = it {
                *risk = Risk::Low;
            }
        }),
        ("a higher risk", &|it| {
            if let What::Invoked { risk, .. } = it {
                *risk = Risk::High;
            }
        }),
        ("the other reversibility", &|it| {
            if let What::Invoked { irreversible, .. } = it {
                *irreversible = !*irreversible;
            }
        }),
    ];
    edit(it, each, edits);
    for (field, to) in STATUSES {
        let completed = |it: &mut What| {
            if let What::Completed { status, .. } = it {
                *status = to;
            }
        };
        edit(it, each, &[(field, &completed)]);
    }
}

/// A session is handed off, or the time left is told.
fn rest(it: &What, each: &mut dyn FnMut(&'static str, What)) {
    let edits: &[Edit<'_, What>] = &[
        ("reason", &|it| {
            if let What::HandedOff { reason, .. } = it {
                *reason ^= 0x400;
            }
        }),
        ("target", &|it| {
            if let What::HandedOff { target, .. } = it {
                *target = countersign_model::aaep::alphabet::Target::Other(1);
            }
        }),
        ("where", &|it| {
            if let What::HandedOff { uri, .. } = it {
                *uri = Some(other(*uri));
            }
        }),
        ("no time left", &|it| {
            if let What::Progress { left } = it {
                *left = None;
            }
        }),
        ("another time left", &|it| {
            if let What::Progress { left } = it {
                *left = left.map(|it| it - 1);
            }
        }),
    ];
    edit(it, each, edits);
}

fn run(it: &Run, each: &mut dyn FnMut(&'static str, Run)) {
    edit(
        it,
        each,
        &[
            ("session", &|it| it.session ^= 0x400),
            ("action", &|it| it.action ^= 0x400),
            ("call", &|it| it.call ^= 0x400),
            ("no tool", &|it| it.tool = None),
            ("tool", &|it| it.tool = Some(other(it.tool))),
            ("no token", &|it| it.token = None),
            ("token", &|it| it.token = Some(other(it.token))),
            ("unchanged", &|it| it.modified = None),
            ("changed", &|it| it.modified = Some(other(it.modified))),
        ],
    );
}

fn answer(it: &Clarified, each: &mut dyn FnMut(&'static str, Clarified)) {
    edit(
        it,
        each,
        &[
            ("session", &|it| it.session ^= 0x400),
            ("token", &|it| it.token ^= 0x400),
            ("no response", &|it| it.response = None),
            ("response", &|it| it.response = Some(Response::Text(0x400))),
            ("by a reply", &|it| it.by = By::Reply),
            ("by default", &|it| it.by = By::Default),
            ("by nobody", &|it| it.by = By::Nobody),
        ],
    );
}

/// One question about one action, and nothing besides.
const NOTHING: Bounds = Bounds {
    ticks: 0,
    set_back: 0,
    every_question: false,
    every_reply: false,
    endings: false,
    closings: false,
    ..Bounds::ONE
};

/// Small worlds that together have every output.
const WORLDS: [(&str, Bounds); 7] = [
    (
        "life",
        Bounds {
            ticks: 1,
            endings: true,
            closings: true,
            ..NOTHING
        },
    ),
    (
        "two",
        Bounds {
            questions: 2,
            ..NOTHING
        },
    ),
    (
        "replies",
        Bounds {
            every_reply: true,
            ..NOTHING
        },
    ),
    (
        "crash",
        Bounds {
            crashes: 1,
            ..NOTHING
        },
    ),
    (
        "minutes",
        Bounds {
            ticks: 2,
            minutes: true,
            ..NOTHING
        },
    ),
    (
        "words",
        Bounds {
            questions: 0,
            queries: 1,
            ticks: 1,
            ..NOTHING
        },
    ),
    (
        "work",
        Bounds {
            questions: 0,
            work: 1,
            endings: true,
            ..NOTHING
        },
    ),
];

/// Whoever changes one output of a conforming producer is found, or has done what the text leaves free.
///
/// # Panics
///
/// Where a guarantee breaks behind a change that was let pass.
pub fn changed<E: Executor<Aaep>>(executor: impl Fn(&Bounds) -> E) -> mutation::Outcome {
    let mut all = mutation::Outcome::default();
    for world in WORLDS {
        let producer = executor(&world.1);
        let found = changes::changed::<Aaep, OfProducer, E>(&producer, &[world]);
        all.tried.extend(found.tried);
        all.tolerated.extend(found.tolerated);
    }
    all
}

/// What is free is what `freedoms.txt` lists, as far as it was tried.
///
/// # Panics
///
/// Where that does not hold.
pub fn assert_listed(outcome: &mutation::Outcome) {
    changes::assert_listed::<Aaep>(outcome, include_str!("freedoms.txt"));
}
