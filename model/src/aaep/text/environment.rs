//! What can happen to a producer: any request and any message, by anybody, at any time and any number of times.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::aaep::text::Aaep;
use crate::aaep::text::account::Account;
use crate::aaep::text::alphabet::{
    Ask, Call, Decision, Flaw, Message, Modified, Name, Op, Outcome, Output, Reply, Risk,
    SessionId, Status, SubscriptionId, Text, Time, Token, What,
};
use crate::aaep::text::guarantees::{GUARANTEES, History, WITNESSES};
use crate::engine::model::{Environment, Statement};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a feature of its own"
)]
pub struct Bounds {
    /// So many questions are asked.
    pub questions: u8,
    /// Questions are of two sessions.
    pub two_sessions: bool,
    /// The clock goes from 0 to this, by [`TICK`].
    pub ticks: Time,
    /// The clock is set back so often, by one tick.
    pub set_back: u8,
    /// The process dies so often.
    pub crashes: u8,
    /// Every kind of question, and every flaw of one.
    pub every_question: bool,
    /// Every flaw of a reply, and of its sender.
    pub every_reply: bool,
    /// Questions are taken back and sessions end.
    pub endings: bool,
    /// Subscriptions close.
    pub closings: bool,
}

/// By this the clock moves.
pub const TICK: Time = 1_000;

impl Bounds {
    /// One question, and everything that can be said about it.
    pub const ONE: Self = Self {
        questions: 1,
        two_sessions: false,
        ticks: 2,
        set_back: 1,
        crashes: 0,
        every_question: true,
        every_reply: true,
        endings: true,
        closings: true,
    };
    /// Small worlds, each for the sake of something that another leaves out.
    pub const WORLDS: [(&str, Self); 5] = [
        (
            "one",
            Self {
                every_reply: false,
                ..Self::ONE
            },
        ),
        (
            "replies",
            Self {
                set_back: 0,
                every_question: false,
                endings: false,
                closings: false,
                ..Self::ONE
            },
        ),
        (
            "one-crash",
            Self {
                set_back: 0,
                crashes: 2,
                every_question: false,
                every_reply: false,
                closings: false,
                ..Self::ONE
            },
        ),
        (
            "two",
            Self {
                questions: 2,
                ticks: 1,
                set_back: 0,
                every_question: false,
                every_reply: false,
                ..Self::ONE
            },
        ),
        (
            "two-sessions",
            Self {
                questions: 2,
                two_sessions: true,
                ticks: 1,
                set_back: 0,
                crashes: 1,
                every_question: false,
                every_reply: false,
                endings: false,
                closings: false,
            },
        ),
    ];
}

/// What the environment has done, as far as it decides what it can still do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Surroundings {
    /// The time of the host.
    pub clock: Time,
    set_back: u8,
    crashes: u8,
    questions: u8,
    tokens: Token,
}

/// Who can reply.
pub const ANA: SubscriptionId = 0;
/// Who cannot.
pub const BOB: SubscriptionId = 1;
/// Whom nobody knows.
const STRANGER: SubscriptionId = 2;

impl Environment for Aaep {
    type Surroundings = Surroundings;
    type History = History;
    type Bounds = Bounds;

    const GUARANTEES: &'static [Statement<History>] = GUARANTEES;
    const WITNESSES: &'static [Statement<History>] = WITNESSES;

    fn surroundings(bounds: &Bounds) -> Surroundings {
        let &Bounds {
            set_back, crashes, ..
        } = bounds;
        Surroundings {
            clock: 0,
            set_back,
            crashes,
            questions: 0,
            tokens: 0,
        }
    }

    fn moves(bounds: &Bounds, around: &Surroundings, each: &mut dyn FnMut(Surroundings)) {
        // Before somebody is asked, every time is alike.
        if around.questions > 0 && around.clock < bounds.ticks * TICK {
            each(Surroundings {
                clock: around.clock + TICK,
                ..around.clone()
            });
        }
        if around.set_back > 0 && around.clock > 0 {
            let (clock, set_back) = (around.clock - TICK, around.set_back - 1);
            each(Surroundings {
                clock,
                set_back,
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
                now: around.clock,
                op,
            });
        };
        let sessions: SessionId = if bounds.two_sessions { 2 } else { 1 };
        // Until there is a session and somebody to be asked, nothing else is of interest.
        if let Some(session) = (0..sessions).find(|id| !history.was_started(*id)) {
            happens(Op::StartSession(Some(session.into())));
            return;
        }
        for (subscription, can_reply) in [(ANA, true), (BOB, false)] {
            if !history.was_subscribed(subscription) {
                happens(Op::Subscribe {
                    subscription: subscription.into(),
                    can_reply,
                });
                return;
            }
        }
        happens(Op::Tick);
        around.questions(bounds, history, &mut happens);
        for token in (0..around.tokens).chain([Token::MAX]) {
            replies(bounds, around.clock, token, &mut happens);
            if bounds.endings {
                happens(Op::Cancel(token));
            }
        }
        for number in 0..Name::from(around.questions) {
            let session = session_of(bounds, number);
            for status in [Status::Success, Status::Timeout] {
                happens(Op::FinishTool {
                    session,
                    action: ACTION + number,
                    call: None,
                    status,
                });
            }
        }
        if bounds.endings {
            for outcome in [Outcome::Completed, Outcome::Errored, Outcome::Cancelled] {
                happens(Op::EndSession {
                    session: 0,
                    outcome,
                });
            }
        }
        if bounds.closings {
            for subscription in [ANA, BOB] {
                happens(Op::Unsubscribe(subscription));
            }
        }
        if bounds.every_question {
            happens(Op::StartSession(Some(0.into())));
            happens(Op::Subscribe {
                subscription: ANA.into(),
                can_reply: true,
            });
        }
        if around.crashes > 0 {
            happens(Op::Restart { lost: 0 });
        }
    }

    fn happened(
        around: &mut Surroundings,
        history: &mut History,
        call: &Call,
        outputs: &[Output],
        lost: usize,
    ) {
        let is_refused = outputs.contains(&Output::Refused);
        match &call.op {
            Op::Confirm(_) if !is_refused => {
                around.questions = around.questions.saturating_add(1);
            }
            Op::Restart { lost: 0 } => around.crashes = around.crashes.saturating_sub(1),
            Op::StartSession(_)
            | Op::EndSession { .. }
            | Op::Subscribe { .. }
            | Op::Unsubscribe(_)
            | Op::Confirm(_)
            | Op::Deliver(_)
            | Op::Cancel(_)
            | Op::FinishTool { .. }
            | Op::Tick
            | Op::Restart { .. } => {}
        }
        for output in outputs {
            if let Some((_, What::Asked(asked))) = output.told() {
                around.tokens = around.tokens.max(asked.token.saturating_add(1));
            }
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
        output.told().is_some() || matches!(output, Output::Perform(_))
    }

    fn restart(around: &Surroundings, lost: &[Output]) -> Call {
        let lost = u16::try_from(lost.len()).unwrap_or(u16::MAX);
        Call {
            now: around.clock,
            op: Op::Restart { lost },
        }
    }

    fn forget_dead(account: &mut Account, _: &mut Surroundings, _: &mut History, is_down: bool) {
        // Who is up was not told that anything was lost.
        if !is_down {
            account.last.clear();
        }
    }
}

/// Actions are numbered from here, tools and texts from further on.
const ACTION: Name = 10;

fn session_of(bounds: &Bounds, number: Name) -> SessionId {
    if bounds.two_sessions { number } else { 0 }
}

/// A question of which nothing is irreversible, and which a timeout accepts.
fn plain(bounds: &Bounds, number: Name) -> Ask {
    Ask {
        session: session_of(bounds, number),
        action: (ACTION + number).into(),
        tool: (20 + number).into(),
        description: (30 + number).into(),
        consequence: (40 + number).into(),
        risk: Risk::Low,
        irreversible: false,
        timeout: TICK,
        default: Decision::Accept,
        allowed: None,
        size: 100,
    }
}

impl Surroundings {
    fn questions(&self, bounds: &Bounds, history: &History, happens: &mut impl FnMut(Op)) {
        let mut confirm = |ask| happens(Op::Confirm(Arc::new(ask)));
        let plain = |number| plain(bounds, number);
        let grave = |number| Ask {
            risk: Risk::High,
            irreversible: true,
            default: Decision::Reject,
            ..plain(number)
        };
        let next = Name::from(self.questions);
        if self.questions < bounds.questions {
            confirm(plain(next));
            confirm(grave(next));
            if bounds.every_question {
                confirm(Ask {
                    timeout: 2 * TICK,
                    ..grave(next)
                });
                confirm(Ask {
                    allowed: Some([Decision::Reject].as_slice().into()),
                    ..plain(next)
                });
                confirm(Ask {
                    risk: Risk::High,
                    ..plain(next)
                });
            }
            // The first once more.
            if next > 0 {
                confirm(plain(0));
            }
        } else if self.questions == bounds.questions && history.is_asked(ACTION) {
            confirm(plain(0));
        }
        if bounds.every_question {
            confirm(Ask {
                default: Decision::Accept,
                ..grave(next)
            });
            confirm(Ask {
                risk: Risk::Medium,
                irreversible: true,
                ..plain(next)
            });
            confirm(Ask {
                session: 5,
                ..plain(next)
            });
            confirm(Ask {
                timeout: TICK - 1,
                ..plain(next)
            });
            confirm(Ask {
                timeout: 86_401 * TICK,
                ..plain(next)
            });
            confirm(Ask {
                description: Text {
                    is_blank: true,
                    ..50.into()
                },
                ..plain(next)
            });
            confirm(Ask {
                consequence: Text {
                    bytes: (16 << 10) + 1,
                    ..51.into()
                },
                ..plain(next)
            });
            confirm(Ask {
                risk: Risk::Other(1),
                ..plain(next)
            });
            confirm(Ask {
                allowed: Some(SmallVec::new()),
                ..plain(next)
            });
        }
    }
}

/// Replies with that token: by anybody, of any time.
fn replies(bounds: &Bounds, clock: Time, token: Token, happens: &mut impl FnMut(Op)) {
    for decision in [Decision::Accept, Decision::Reject] {
        let plain = Reply {
            flaw: None,
            token,
            decision,
            subscription: Some(ANA),
            timestamp: Some(clock),
            modified: None,
        };
        let mut deliver = |sender, is_authenticated, reply| {
            happens(Op::Deliver(Arc::new(Message {
                sender,
                is_authenticated,
                reply: Some(reply),
            })));
        };
        deliver(Some(ANA), true, plain);
        if !bounds.every_reply {
            continue;
        }
        deliver(
            Some(ANA),
            true,
            Reply {
                timestamp: Some(0),
                ..plain
            },
        );
        for ahead in [TICK, 2 * TICK] {
            let timestamp = Some(clock + ahead);
            deliver(Some(ANA), true, Reply { timestamp, ..plain });
        }
        deliver(Some(ANA), false, plain);
        deliver(Some(BOB), true, plain);
        deliver(
            Some(BOB),
            true,
            Reply {
                subscription: Some(BOB),
                ..plain
            },
        );
        deliver(
            Some(STRANGER),
            true,
            Reply {
                subscription: Some(STRANGER),
                ..plain
            },
        );
        deliver(None, true, plain);
        deliver(
            Some(ANA),
            true,
            Reply {
                flaw: Some(Flaw::OtherProperty),
                ..plain
            },
        );
        for rates_higher in [false, true] {
            let modified = Some(Modified {
                action: 60,
                rates_higher,
            });
            deliver(Some(ANA), true, Reply { modified, ..plain });
        }
    }
    if bounds.every_reply {
        happens(Op::Deliver(Arc::new(Message {
            sender: Some(ANA),
            is_authenticated: true,
            reply: None,
        })));
    }
}
