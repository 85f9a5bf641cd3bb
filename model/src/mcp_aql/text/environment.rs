//! What can happen to a gatekeeper: any request, by anybody, at any time and any number of times.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::engine::model::{Environment, Statement};
use crate::mcp_aql::text::McpAql;
use crate::mcp_aql::text::account::Account;
use crate::mcp_aql::text::alphabet::{
    Answer, Call, Configuration, EventKind, Level, Lost, Name, Op, Oracle, Output, Parameter,
    Parameters, Purpose, Query, Request, Shown, Text, Time, TokenId, Word,
};
use crate::mcp_aql::text::guarantees::{GUARANTEES, History, WITNESSES};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// So many tokens are asked for.
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
    /// Every kind of call without a token, and every flaw of one.
    pub every_request: bool,
    /// Every call that a token is not good for.
    pub every_fault: bool,
    /// Clients ask about tokens and give them back.
    pub queries: bool,
}

/// When a token expires, when expiry and tolerance have passed, and when it is purged.
pub const INSTANTS: [Time; 5] = [0, 300_000, 330_000, 330_001, 3_930_001];

impl Bounds {
    /// One token, and every request about it.
    pub const ONE: Self = Self {
        tokens: 1,
        ticks: 3,
        every_request: true,
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
        every_request: false,
        every_fault: false,
        queries: false,
    };
    /// Bounds besides: everything at once, and three tokens.
    pub const OTHER_WORLDS: [(&str, Self); 2] = [
        (
            "large",
            Self {
                tokens: 2,
                set_back: 1,
                crashes: 1,
                events: 1,
                settings: 1,
                queries: true,
                ..Self::ONE
            },
        ),
        (
            "three",
            Self {
                tokens: 3,
                ticks: 3,
                events: 1,
                ..Self::NOTHING
            },
        ),
    ];
    /// Small worlds, each for the sake of something that another leaves out.
    pub const WORLDS: [(&str, Self); 6] = [
        ("one", Self::ONE),
        (
            "two",
            Self {
                tokens: 2,
                every_fault: true,
                ..Self::NOTHING
            },
        ),
        (
            "clock",
            Self {
                ticks: 4,
                set_back: 1,
                queries: true,
                ..Self::NOTHING
            },
        ),
        (
            "events",
            Self {
                tokens: 2,
                events: 2,
                queries: true,
                ..Self::NOTHING
            },
        ),
        (
            "settings",
            Self {
                ticks: 3,
                settings: 2,
                every_fault: true,
                ..Self::NOTHING
            },
        ),
        (
            "crash",
            Self {
                tokens: 2,
                ticks: 3,
                crashes: 1,
                ..Self::NOTHING
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
    /// Each token that was given away, and for what call.
    known: SmallVec<[(TokenId, Arc<Request>); 2]>,
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
            known: smallvec![],
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

    fn calls(bounds: &Bounds, around: &Surroundings, _: &History, each: &mut dyn FnMut(Call)) {
        let mut happens = |op| {
            each(Call {
                now: around.now(),
                op,
            });
        };
        happens(Op::Tick);
        let mut ask = |request| happens(Op::Call(Arc::new(request)));
        around.requests(bounds, &mut ask);
        for (id, request) in &around.known {
            redemptions(bounds, *id, request, &mut ask);
        }
        if bounds.every_fault {
            ask(Request {
                token: Some(Shown::Unknown),
                ..plain()
            });
        }
        if bounds.queries {
            let known = around.known.iter().map(|(id, _)| Shown::Token(*id));
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
        let carried_out = outputs.len().saturating_sub(lost);
        let refused = outputs.contains(&Output::Refused);
        match &call.op {
            Op::Call(it) => {
                for output in outputs.iter().take(carried_out) {
                    if let Output::Respond(Answer::Issued(issued)) = output {
                        around.known.retain(|it| it.0 != issued.token);
                        around.known.push((issued.token, Arc::clone(it)));
                    }
                }
            }
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

impl Surroundings {
    /// Calls without a token.
    fn requests(&self, bounds: &Bounds, ask: &mut impl FnMut(Request)) {
        if self.known.len() < usize::from(bounds.tokens) {
            ask(plain());
            ask(in_session());
            ask(Request {
                adapter: ELSEWHERE.into(),
                ..plain()
            });
            if bounds.every_request {
                let quota = Request {
                    level: Level::Safe,
                    purpose: Purpose::Quota,
                    ..plain()
                };
                ask(quota);
                for level in [Level::Dangerous, Level::Forbidden] {
                    ask(Request { level, ..plain() });
                }
                for ttl in [900_000, 500] {
                    ask(Request {
                        ttl: Some(ttl),
                        ..plain()
                    });
                }
                ask(Request {
                    session_scope: Some(true),
                    max_uses: None,
                    ..in_session()
                });
            }
        }
        if bounds.every_request {
            let safe = Request {
                level: Level::Safe,
                ..plain()
            };
            ask(safe.clone());
            let token = self.known.first().map(|(id, _)| Shown::Token(*id));
            ask(Request { token, ..safe });
            for ttl in [0, 900_001] {
                ask(Request {
                    ttl: Some(ttl),
                    ..plain()
                });
            }
            ask(Request {
                session: None,
                ..in_session()
            });
            ask(Request {
                max_uses: Some(0),
                ..plain()
            });
            ask(Request {
                parameters: Parameters {
                    meaning: None,
                    ..parameters(9, 9, 9)
                },
                ..plain()
            });
        }
    }
}

/// Calls with a token: its own, and every other.
fn redemptions(bounds: &Bounds, id: TokenId, own: &Arc<Request>, ask: &mut impl FnMut(Request)) {
    let own = Request {
        token: Some(Shown::Token(id)),
        ..Request::clone(own)
    };
    ask(own.clone());
    if !bounds.every_fault {
        return;
    }
    ask(Request {
        operation: OTHER.into(),
        ..own.clone()
    });
    for parameters in [
        parameters(2, 1, 1),
        parameters(1, 2, 1),
        parameters(1, 1, 2),
    ] {
        ask(Request {
            parameters,
            ..own.clone()
        });
    }
    ask(Request {
        parameters: Parameters {
            spelling: 99,
            ..own.parameters.clone()
        },
        ..own.clone()
    });
    let adapter = if own.adapter.name == ADAPTER {
        ELSEWHERE
    } else {
        ADAPTER
    };
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
    for tolerance in [0, 60_001, 300_001] {
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
