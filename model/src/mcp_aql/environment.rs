//! What can happen to a gatekeeper: any request, by anybody, at any time and any number of times.

use std::sync::Arc;

use smallvec::smallvec;

use crate::engine::model::{Environment, Statement};
use crate::mcp_aql::McpAql;
use crate::mcp_aql::account::Account;
use crate::mcp_aql::alphabet::{
    Answer, Call, Configuration, EventKind, Level, Lost, Name, Op, Oracle, Output, Parameter,
    Parameters, Purpose, Query, Request, Shown, Text, Time, TokenId, Word,
};
use crate::mcp_aql::guarantees::{GUARANTEES, History, WITNESSES};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a number of the bounds by itself"
)]
pub struct Bounds {
    /// So many tokens are given away.
    pub tokens: u8,
    /// The clock goes through so many of the instants at which something changes.
    pub ticks: u8,
    /// The clock is set back so often, by one instant.
    pub set_back: u8,
    /// The process dies so often.
    pub crashes: u8,
    /// An event ends the life of tokens, or a session ends, so often.
    pub events: u8,
    /// An operator changes something so often.
    pub settings: u8,
    /// Calls in a session, of two uses.
    pub sessions: bool,
    /// Calls at a second adapter.
    pub elsewhere: bool,
    /// Every kind of call without a token, and every flaw of one.
    pub every_request: bool,
    /// A token that was made up, and calls with other parameters than a token is for.
    pub faults: bool,
    /// Every call that a token is not good for.
    pub every_fault: bool,
    /// Clients ask about tokens and give them back.
    pub queries: bool,
}

/// The start, the end of the tolerance behind a token's expiry, the first instant beyond, and the first by which it
/// is purged.
pub const INSTANTS: [Time; 4] = [0, 330_000, 330_001, 3_930_001];

impl Bounds {
    /// One token, and every request about it.
    pub const ONE: Self = Self {
        ticks: 2,
        sessions: true,
        every_request: true,
        faults: true,
        every_fault: true,
        ..Self::NOTHING
    };
    const NOTHING: Self = Self {
        tokens: 1,
        ticks: 0,
        set_back: 0,
        crashes: 0,
        events: 0,
        settings: 0,
        sessions: false,
        elsewhere: false,
        every_request: false,
        faults: false,
        every_fault: false,
        queries: false,
    };
    /// Two tokens of two sessions or adapters, at one instant.
    const TWO: Self = Self {
        tokens: 2,
        sessions: true,
        elsewhere: true,
        ..Self::NOTHING
    };
    /// Bounds besides: everything at once, and three tokens.
    pub const OTHER_WORLDS: [(&str, Self); 2] = [
        (
            "large",
            Self {
                ticks: 3,
                set_back: 1,
                crashes: 1,
                events: 1,
                settings: 1,
                every_request: true,
                faults: true,
                every_fault: true,
                queries: true,
                ..Self::TWO
            },
        ),
        (
            "three",
            Self {
                tokens: 3,
                ticks: 2,
                events: 1,
                ..Self::TWO
            },
        ),
    ];
    /// Small worlds, each for the sake of something that another leaves out.
    pub const WORLDS: [(&str, Self); 9] = [
        (
            "one",
            Self {
                faults: false,
                every_fault: false,
                ..Self::ONE
            },
        ),
        (
            "faults",
            Self {
                every_request: false,
                ..Self::ONE
            },
        ),
        (
            "two",
            Self {
                faults: true,
                every_fault: true,
                ..Self::TWO
            },
        ),
        (
            "settings",
            Self {
                ticks: 2,
                settings: 2,
                elsewhere: true,
                faults: true,
                ..Self::NOTHING
            },
        ),
        (
            "clock",
            Self {
                ticks: 3,
                set_back: 1,
                sessions: true,
                queries: true,
                ..Self::NOTHING
            },
        ),
        (
            "two-events",
            Self {
                events: 2,
                sessions: true,
                queries: true,
                ..Self::NOTHING
            },
        ),
        (
            "crash",
            Self {
                ticks: 2,
                crashes: 2,
                sessions: true,
                ..Self::NOTHING
            },
        ),
        (
            "two-crash",
            Self {
                crashes: 1,
                ..Self::TWO
            },
        ),
        (
            "events",
            Self {
                events: 1,
                queries: true,
                ..Self::TWO
            },
        ),
    ];
}

/// What the environment has done, as far as it decides what it can still do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Surroundings {
    /// The place of the time among [`INSTANTS`].
    pub clock: u8,
    set_back: u8,
    crashes: u8,
    events: u8,
    settings: u8,
}

impl Surroundings {
    /// The time of the host.
    pub fn now(&self) -> Time {
        INSTANTS
            .get(usize::from(self.clock))
            .copied()
            .unwrap_or(Time::MAX)
    }
}

/// The operation that needs a token, and another.
const OPERATION: Name = 1;
const OTHER: Name = 2;
/// The adapter, and another.
const ADAPTER: Name = 3;
const ELSEWHERE: Name = 4;
/// The session, and another.
const SESSION: Name = 5;
const STRANGER: Name = 6;
/// The names of parameters.
const ID: Name = 7;
const FORCE: Name = 8;
const NOTE: Name = 9;

/// An id, a scope modifier and a note, each with that value.
fn parameters(id: Name, force: Name, note: Name) -> Parameters {
    let of = |name, value, word| Parameter { name, value, word };
    let meaning = 100 * id + 10 * force + note;
    Parameters {
        spelling: meaning,
        size: 8,
        meaning: Some(meaning),
        each: smallvec![
            of(ID, id, Word::Resource),
            of(FORCE, force, Word::Force),
            of(NOTE, note, Word::Other)
        ],
    }
}

/// A call that needs a token, and nothing else.
fn plain() -> Request {
    Request {
        adapter: ADAPTER.into(),
        operation: OPERATION.into(),
        parameters: parameters(1, 1, 1),
        level: Level::Destructive,
        purpose: Purpose::Confirmation,
        session: None,
        session_scope: None,
        max_uses: None,
        ttl: None,
        token: None,
    }
}

fn in_session() -> Request {
    Request {
        session: Some(SESSION.into()),
        max_uses: Some(2),
        ..plain()
    }
}

impl Environment for McpAql {
    type Surroundings = Surroundings;
    type History = History;
    type Bounds = Bounds;

    const GUARANTEES: &'static [Statement<History>] = GUARANTEES;
    const WITNESSES: &'static [Statement<History>] = WITNESSES;

    fn surroundings(bounds: &Bounds) -> Surroundings {
        let &Bounds {
            set_back,
            crashes,
            events,
            settings,
            ..
        } = bounds;
        Surroundings {
            clock: 0,
            set_back,
            crashes,
            events,
            settings,
        }
    }

    fn moves(bounds: &Bounds, around: &Surroundings, each: &mut dyn FnMut(Surroundings)) {
        for clock in around.clock + 1..=bounds.ticks {
            each(Surroundings {
                clock,
                ..around.clone()
            });
        }
        if around.set_back > 0 && around.clock > 0 {
            each(Surroundings {
                clock: around.clock - 1,
                set_back: around.set_back - 1,
                ..around.clone()
            });
        }
    }

    fn calls(
        bounds: &Bounds,
        around: &Surroundings,
        history: &History,
        each: &mut dyn FnMut(Call),
    ) {
        let mut happens = |op| {
            each(Call {
                now: around.now(),
                op,
            });
        };
        happens(Op::Tick);
        let mut ask = |request| happens(Op::Call(Arc::new(request)));
        requests(bounds, history, &mut ask);
        for (id, request) in history.known() {
            redemptions(bounds, id, request, &mut ask);
        }
        if bounds.faults {
            ask(Request {
                token: Some(Shown::Unknown),
                ..plain()
            });
        }
        if bounds.queries {
            let known = history.known().map(|(id, _)| Shown::Token(id));
            for token in known.chain([Shown::Unknown]) {
                for query in [Query::Status, Query::Revoke] {
                    let adapter = ADAPTER.into();
                    happens(Op::Introspect {
                        adapter,
                        query,
                        token,
                    });
                }
            }
        }
        if around.events > 0 {
            let event = |kind, session: Option<Name>| Op::Event {
                kind,
                session: session.map(Text::from),
            };
            happens(Op::EndSession(SESSION.into()));
            happens(event(EventKind::Logout, Some(SESSION)));
            happens(event(EventKind::Security, None));
        }
        if around.settings > 0 {
            configurations(&mut |it| happens(Op::Configure(Arc::new(it))));
        }
        if around.crashes > 0 {
            happens(Op::Restart(Lost::Outputs(smallvec![])));
        }
    }

    fn happened(
        around: &mut Surroundings,
        history: &mut History,
        call: &Call,
        outputs: &[Output],
        lost: usize,
    ) {
        let refused = outputs.contains(&Output::Refused);
        match &call.op {
            Op::Event { .. } | Op::EndSession(_) if !refused => {
                around.events = around.events.saturating_sub(1);
            }
            Op::Configure(_) if !refused => around.settings = around.settings.saturating_sub(1),
            Op::Restart(Lost::Outputs(lost)) if lost.is_empty() => {
                around.crashes = around.crashes.saturating_sub(1);
            }
            Op::Configure(_)
            | Op::Event { .. }
            | Op::EndSession(_)
            | Op::Call(_)
            | Op::Introspect { .. }
            | Op::Tick
            | Op::Restart(_) => {}
        }
        if lost > 0 {
            around.crashes = around.crashes.saturating_sub(1);
        }
        history.see(call, outputs, lost);
    }

    fn may_crash(around: &Surroundings) -> bool {
        around.crashes > 0
    }

    fn leaves_trace(output: &Output) -> bool {
        match output {
            Output::Perform(_) | Output::Audit(_) | Output::Respond(Answer::Issued(_)) => true,
            Output::Respond(_) | Output::Warn | Output::Refused => false,
        }
    }

    fn restart(around: &Surroundings, lost: &[Output]) -> Call {
        Call {
            now: around.now(),
            op: Op::Restart(Lost::Outputs(lost.iter().copied().collect())),
        }
    }

    fn forget_dead(_: &mut Account, _: &mut Surroundings, _: &mut History, _: bool) {}
}

/// Calls without a token, and one that needs none.
fn requests(bounds: &Bounds, history: &History, ask: &mut impl FnMut(Request)) {
    let mut asks = |is_asked: bool, request: Request| {
        if is_asked {
            ask(request);
        }
    };
    let has_room = history.issued() < usize::from(bounds.tokens);
    let plain = plain();
    let in_session = in_session();
    asks(has_room, plain.clone());
    asks(has_room && bounds.sessions, in_session.clone());
    let adapter = ELSEWHERE.into();
    asks(
        has_room && bounds.elsewhere,
        Request {
            adapter,
            ..plain.clone()
        },
    );
    let safe = Request {
        level: Level::Safe,
        ..plain.clone()
    };
    let quota = Request {
        purpose: Purpose::Quota,
        ..safe.clone()
    };
    asks(
        has_room && (bounds.every_request || bounds.every_fault),
        quota,
    );
    if !bounds.every_request {
        return;
    }
    let with = |ttl| Request {
        ttl: Some(ttl),
        ..plain.clone()
    };
    let rated = |level| Request {
        level,
        ..plain.clone()
    };
    let good = [
        rated(Level::Dangerous),
        rated(Level::Forbidden),
        with(900_000),
        with(1_000),
        Request {
            session_scope: Some(true),
            max_uses: None,
            ..in_session.clone()
        },
    ];
    for it in good {
        asks(has_room, it);
    }
    let token = history.known().next().map(|(id, _)| Shown::Token(id));
    let meaningless = Parameters {
        meaning: None,
        ..parameters(9, 9, 9)
    };
    let others = [
        safe.clone(),
        Request { token, ..safe },
        with(0),
        with(901_000),
        Request {
            session: None,
            ..in_session
        },
        Request {
            max_uses: Some(0),
            ..plain.clone()
        },
        Request {
            parameters: meaningless,
            ..plain.clone()
        },
    ];
    for it in others {
        asks(true, it);
    }
}

/// Calls with a token: its own, and every other.
fn redemptions(bounds: &Bounds, id: TokenId, own: &Arc<Request>, ask: &mut impl FnMut(Request)) {
    let own = Request {
        token: Some(Shown::Token(id)),
        ..Request::clone(own)
    };
    ask(own.clone());
    let others = [(2, 1, 1), (1, 2, 1), (1, 1, 2)];
    for (id, force, note) in others.into_iter().filter(|_| bounds.faults) {
        ask(Request {
            parameters: parameters(id, force, note),
            ..own.clone()
        });
    }
    if !bounds.every_fault {
        return;
    }
    let respelt = Parameters {
        spelling: 99,
        ..own.parameters.clone()
    };
    let adapter = if own.adapter.name == ADAPTER {
        ELSEWHERE
    } else {
        ADAPTER
    };
    ask(Request {
        operation: OTHER.into(),
        ..own.clone()
    });
    ask(Request {
        parameters: respelt,
        ..own.clone()
    });
    ask(Request {
        adapter: adapter.into(),
        ..own.clone()
    });
    ask(Request {
        level: Level::Forbidden,
        ..own.clone()
    });
    ask(Request {
        session: Some(STRANGER.into()),
        ..own.clone()
    });
    ask(Request {
        token: Some(Shown::OtherCase(id)),
        ..own
    });
}

/// What an operator can set.
fn configurations(set: &mut impl FnMut(Configuration)) {
    let nothing = Configuration {
        adapter: ADAPTER.into(),
        tolerance: None,
        oracle: None,
        critical: None,
    };
    for tolerance in [0, 61_000, 301_000] {
        set(Configuration {
            tolerance: Some(tolerance),
            ..nothing.clone()
        });
    }
    set(Configuration {
        oracle: Some(Oracle::Uniform),
        ..nothing.clone()
    });
    for names in [vec![ID], vec![NOTE], vec![99]] {
        set(Configuration {
            critical: Some(vec![(OPERATION, names)]),
            ..nothing.clone()
        });
    }
}
