//! What can happen to a producer: any request and any message, by anybody, at any time and any number of times.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::aaep::Aaep;
use crate::aaep::account::Account;
use crate::aaep::alphabet::{
    Ask, Call, Chunk, Decision, Flaw, Handoff, Kind, Message, Modified, Name, Op, Outcome, Output,
    Query, Reply, Response, Risk, Says, SessionId, Status, SubscriptionId, Target, Task, Text,
    Time, Token,
};
use crate::aaep::guarantees::{GUARANTEES, History, WITNESSES};
use crate::engine::model::{Environment, Statement};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a feature of its own"
)]
pub struct Bounds {
    /// So many actions are asked about.
    pub questions: u8,
    /// So many clarifications are asked for.
    pub queries: u8,
    /// Questions are of two sessions.
    pub two_sessions: bool,
    /// So many tools run unasked, and so many chunks are written.
    pub work: u8,
    /// The clock goes from 0 to this, by [`TICK`], or by minutes.
    pub ticks: Time,
    /// Questions wait for minutes, and can wait longer.
    pub minutes: bool,
    /// The clock is set back so often, by one tick.
    pub set_back: u8,
    /// The process dies so often.
    pub crashes: u8,
    /// Every kind of question, and every flaw of one.
    pub every_question: bool,
    /// Every kind of clarification, and every flaw of one.
    pub every_query: bool,
    /// Every flaw of a reply, and of its sender.
    pub every_reply: bool,
    /// Questions are taken back and sessions end.
    pub endings: bool,
    /// Subscriptions close.
    pub closings: bool,
}

/// By this the clock moves, and so long the shortest questions wait.
pub const TICK: Time = 1_000;

impl Bounds {
    fn tick(&self) -> Time {
        if self.minutes { 60 * TICK } else { TICK }
    }
    /// A question that can wait longer waits for two ticks.
    fn timeout(&self) -> Time {
        if self.minutes { 120 * TICK } else { TICK }
    }
    /// So often the process comes back: a process that came back with nothing lost can die in coming back.
    pub fn restarts(&self) -> u8 {
        self.crashes + u8::from(self.crashes > 0)
    }
    /// One question, and everything that can be said about it.
    pub const ONE: Self = Self {
        questions: 1,
        queries: 0,
        work: 0,
        two_sessions: false,
        ticks: 2,
        minutes: false,
        set_back: 1,
        crashes: 0,
        every_question: true,
        every_query: false,
        every_reply: true,
        endings: true,
        closings: true,
    };
    /// Larger ones, each by its name alone.
    pub const OTHER_WORLDS: [(&str, Self); 2] = [
        (
            "large",
            Self {
                questions: 2,
                two_sessions: true,
                crashes: 1,
                ..Self::ONE
            },
        ),
        (
            "three",
            Self {
                questions: 3,
                ticks: 1,
                set_back: 0,
                crashes: 1,
                every_question: false,
                every_reply: false,
                ..Self::ONE
            },
        ),
    ];
    /// Small worlds, each for the sake of something that another leaves out.
    pub const WORLDS: [(&str, Self); 11] = [
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
                ..Self::ONE
            },
        ),
        (
            "more-time",
            Self {
                ticks: 3,
                minutes: true,
                set_back: 0,
                crashes: 1,
                every_question: false,
                every_reply: false,
                endings: false,
                closings: false,
                ..Self::ONE
            },
        ),
        (
            "work",
            Self {
                questions: 0,
                work: 2,
                ticks: 0,
                set_back: 0,
                every_question: false,
                every_reply: false,
                closings: false,
                ..Self::ONE
            },
        ),
        (
            "work-crash",
            Self {
                work: 1,
                ticks: 0,
                set_back: 0,
                crashes: 1,
                every_question: false,
                every_reply: false,
                closings: false,
                ..Self::ONE
            },
        ),
        (
            "words",
            Self {
                questions: 0,
                queries: 1,
                set_back: 0,
                every_question: false,
                every_query: true,
                every_reply: false,
                closings: false,
                ..Self::ONE
            },
        ),
        (
            "two-words",
            Self {
                questions: 0,
                queries: 2,
                ticks: 1,
                set_back: 0,
                every_question: false,
                every_reply: false,
                endings: false,
                ..Self::ONE
            },
        ),
        (
            "words-crash",
            Self {
                queries: 1,
                ticks: 1,
                set_back: 0,
                crashes: 1,
                every_question: false,
                every_reply: false,
                endings: false,
                closings: false,
                ..Self::ONE
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
    queries: u8,
    tools: u8,
    chunks: u8,
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
    const MOVES_WHILE_DOWN: bool = true;

    fn surroundings(bounds: &Bounds) -> Surroundings {
        let &Bounds {
            set_back, crashes, ..
        } = bounds;
        Surroundings {
            clock: 0,
            set_back,
            crashes,
            questions: 0,
            queries: 0,
            tools: 0,
            chunks: 0,
            tokens: 0,
        }
    }

    fn moves(bounds: &Bounds, around: &Surroundings, each: &mut dyn FnMut(Surroundings)) {
        // Before somebody is asked, every time is alike.
        if around.questions + around.queries > 0 && around.clock < bounds.ticks * bounds.tick() {
            each(Surroundings {
                clock: around.clock + bounds.tick(),
                ..around.clone()
            });
        }
        if around.set_back > 0 && around.clock > 0 {
            let (clock, set_back) = (around.clock - bounds.tick(), around.set_back - 1);
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
        around.queries(bounds, &mut happens);
        around.work(bounds, &mut happens);
        let guessed = (bounds.questions + bounds.queries > 0).then_some(Token::MAX);
        for token in (0..around.tokens).chain(guessed) {
            replies(bounds, around.clock, token, &mut happens);
            if bounds.endings {
                happens(Op::Cancel(token));
            }
            if bounds.minutes {
                for ticks in [1, 3] {
                    let timeout = ticks * bounds.tick();
                    happens(Op::Extend { token, timeout });
                }
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
            Op::Clarify(_) if !is_refused => around.queries = around.queries.saturating_add(1),
            Op::Tool(_) if !is_refused => around.tools = around.tools.saturating_add(1),
            Op::Write(_) if !is_refused => around.chunks = around.chunks.saturating_add(1),
            Op::Restart { lost: 0 } => around.crashes = around.crashes.saturating_sub(1),
            Op::StartSession(_)
            | Op::EndSession { .. }
            | Op::Subscribe { .. }
            | Op::Unsubscribe(_)
            | Op::Confirm(_)
            | Op::Clarify(_)
            | Op::Deliver(_)
            | Op::Cancel(_)
            | Op::Extend { .. }
            | Op::FinishTool { .. }
            | Op::Tool(_)
            | Op::Write(_)
            | Op::HandOff(_)
            | Op::Tick
            | Op::Restart { .. } => {}
        }
        for output in outputs {
            if let Some(token) = output.asks() {
                around.tokens = around.tokens.max(token.saturating_add(1));
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
        output.told().is_some() || matches!(output, Output::Perform(_) | Output::Answer(_))
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
        timeout: bounds.timeout(),
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
        } else if bounds.queries == 0
            && self.questions == bounds.questions
            && history.is_asked(ACTION)
        {
            confirm(plain(0));
        }
        // The text refuses these. A changed text may ask one of them, and not without end.
        if bounds.every_question && self.questions <= bounds.questions {
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

impl Surroundings {
    fn queries(&self, bounds: &Bounds, happens: &mut impl FnMut(Op)) {
        let mut clarify = |query| happens(Op::Clarify(Arc::new(query)));
        if bounds.queries == 0 {
            return;
        }
        let next = Name::from(self.queries);
        let words = |number| words(bounds, number);
        let chosen = |number| Query {
            kinds: Some([Kind::MultipleChoice, Kind::Numeric].as_slice().into()),
            choices: Some(
                [(CHOICE.into(), 81.into()), (82.into(), 83.into())]
                    .as_slice()
                    .into(),
            ),
            default: Some(82.into()),
            ..words(number)
        };
        if self.queries < bounds.queries {
            clarify(words(next));
            clarify(chosen(next));
            if bounds.every_query {
                let both = Some([Kind::Freetext, Kind::MultipleChoice].as_slice().into());
                clarify(Query {
                    kinds: both,
                    ..chosen(next)
                });
                let either = Some([Kind::YesNo].as_slice().into());
                clarify(Query {
                    kinds: either,
                    timeout: 2 * TICK,
                    ..words(next)
                });
            }
        }
        // The first once more, as it was and in another way.
        if bounds.questions == 0 && self.queries == bounds.queries {
            clarify(words(0));
            clarify(chosen(0));
        }
        if bounds.every_query {
            clarify(Query {
                session: 5,
                ..words(next)
            });
            clarify(Query {
                timeout: TICK - 1,
                ..words(next)
            });
            clarify(Query {
                kinds: Some(SmallVec::new()),
                ..words(next)
            });
            clarify(Query {
                choices: None,
                ..chosen(next)
            });
            let twice = Some(
                [(CHOICE.into(), 81.into()), (CHOICE.into(), 83.into())]
                    .as_slice()
                    .into(),
            );
            clarify(Query {
                choices: twice,
                ..chosen(next)
            });
            clarify(Query {
                size: (64 << 10) + 1,
                ..words(next)
            });
        }
    }
}

impl Surroundings {
    fn work(&self, bounds: &Bounds, happens: &mut impl FnMut(Op)) {
        if bounds.work == 0 {
            return;
        }
        let mut tool = |task| happens(Op::Tool(Arc::new(task)));
        if self.tools < bounds.work {
            tool(task(self.tools.into()));
        }
        tool(Task {
            irreversible: Some(true),
            ..task(9)
        });
        if self.questions > 0 {
            tool(Task {
                action: ACTION.into(),
                ..task(9)
            });
        }
        for number in 0..Name::from(self.tools) {
            happens(Op::FinishTool {
                session: 0,
                action: TASK + number,
                call: None,
                status: Status::Success,
            });
        }
        for is_last in [false, true] {
            let chunk = Chunk {
                session: 0,
                stream: 120.into(),
                text: (121 + Name::from(self.chunks)).into(),
                characters: 8,
                is_last,
                size: 100,
            };
            if self.chunks < bounds.work {
                happens(Op::Write(Arc::new(chunk.clone())));
            }
            let empty = Chunk {
                characters: 0,
                text: Text {
                    bytes: 0,
                    ..130.into()
                },
                ..chunk
            };
            happens(Op::Write(Arc::new(empty)));
        }
        happens(Op::HandOff(Arc::new(Handoff {
            session: 0,
            reason: 131.into(),
            target: Target::Human,
            uri: None,
            size: 100,
        })));
    }
}

/// Actions that run unasked are numbered from here.
const TASK: Name = 100;

/// A tool that runs unasked.
fn task(number: Name) -> Task {
    Task {
        session: 0,
        action: (TASK + number).into(),
        tool: (110 + number).into(),
        summary: None,
        risk: None,
        irreversible: None,
        call: None,
        size: 100,
    }
}

/// A value to choose.
const CHOICE: Name = 80;

/// A question in words that takes any answer.
fn words(bounds: &Bounds, number: Name) -> Query {
    Query {
        session: 0,
        question: (70 + number).into(),
        kinds: None,
        choices: None,
        timeout: bounds.timeout(),
        default: None,
        size: 100,
    }
}

/// What can be wrong with the form of a reply: a flaw for each clause that is against one.
const FLAWS: [Flaw; 11] = [
    Flaw::Type,
    Flaw::Token,
    Flaw::Decision,
    Flaw::Response,
    Flaw::Subscription,
    Flaw::Timestamp,
    Flaw::DecidedBy,
    Flaw::Rationale,
    Flaw::ModifiedAction,
    Flaw::CorrelationId,
    Flaw::OtherProperty,
];

/// Replies with that token: by anybody, of any time.
fn replies(bounds: &Bounds, clock: Time, token: Token, happens: &mut impl FnMut(Op)) {
    let decides = [Decision::Accept, Decision::Reject].map(|it| Says::Decides(it, None));
    let other = [
        Response::Text(90),
        Response::Truth(true),
        Response::Other(1),
    ];
    let all = [Response::Text(CHOICE), Response::Number(91)].into_iter();
    let all = all.chain(other.into_iter().filter(|_| bounds.every_query));
    let answers = all.map(Says::Answers).filter(|_| bounds.queries > 0);
    for says in decides.into_iter().chain(answers) {
        let plain = Reply {
            flaw: None,
            token,
            says,
            subscription: Some(ANA),
            timestamp: Some(clock),
        };
        let mut deliver = |sender, is_authenticated, reply| {
            happens(Op::Deliver(Arc::new(Message {
                sender,
                is_authenticated,
                reply: Some(reply),
            })));
        };
        deliver(Some(ANA), true, plain);
        let is_first = matches!(
            says,
            Says::Decides(Decision::Accept, _) | Says::Answers(Response::Text(CHOICE))
        );
        let is_answer = matches!(says, Says::Answers(_));
        if is_first && (bounds.every_reply || is_answer && bounds.every_query) {
            for flaw in FLAWS {
                let flaw = Some(flaw);
                deliver(Some(ANA), true, Reply { flaw, ..plain });
            }
        }
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
        if let Says::Decides(decision, _) = says {
            for rates_higher in [false, true] {
                let modified = Modified {
                    action: 60 + Name::from(rates_higher),
                    risk: None,
                    irreversible: Some(rates_higher),
                };
                let says = Says::Decides(decision, Some(modified));
                deliver(Some(ANA), true, Reply { says, ..plain });
            }
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
