//! What the judge is told of one step of the model, and how it is told.
//!
//! The one thing to know: [`Told`] is all of a step that a judge outside can see, and it alone is put into the judge's words.
//! One tick is 60 seconds, and a node whose clock is off tells the time by that clock. What the host has still to perform
//! counts as run in the call that put it out, and a crash loses none of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::judge::{Finding, Judge, Name};
use crate::judged::{CallTold, InSearch};
use crate::time::{self, Scale};

use super::McpAql;
use super::action::Action;
use super::bounds::Disturbance;
use super::judge::limits::{Limit, Limits};
use super::judge::words::{
    self as judged, Answer, Call, Configuration, Entry, EventKind, Failure, INTROSPECT, Issued,
    Level, LogEvent, Output as Shown, Parameter, Parameters, Performed, Query, Weight,
};
use super::judge::{Deviations, TokenJudge};
use super::message::{self, Carried};
use super::output::{Output, Outputs, Status};
use super::rules::{Check, Code};
use super::state::{ETERNAL, Setup, State};
use super::step::{Step, expiry};
use super::words::{
    self, Danger, Lifetime, List, Oracle, Purpose, Request, Scope, SessionName, Slot, Trigger,
    Which,
};

/// A call of the gatekeeper and all that it put out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Told {
    /// In moments, by the clock of the node that is called.
    pub now: i16,
    /// What is asked.
    pub call: Asked,
    outputs: Outputs,
    /// The full tick at which the token that is issued expires, or that is asked for would.
    expires: u8,
    /// Whether a later call can come at an earlier time.
    earlier: bool,
}

/// What is asked of the gatekeeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// Both adapters are configured.
    SetUp {
        /// In ticks.
        tolerance: u8,
        /// How much a failed check tells.
        oracle: Oracle,
    },
    /// A call without a token.
    Request(Request),
    /// A call with a token.
    Deliver(message::Call),
    /// A query about a token.
    Introspect(Query, Carried),
    /// Something happens that revokes tokens, and is no configuration.
    Trigger(Trigger),
    /// An adapter is configured as it is, or first otherwise.
    Configure {
        /// Which.
        adapter: Which,
        /// How it is configured.
        setup: Setup,
        /// Which of its parameters count, by operation.
        lists: [List; 2],
        /// Whether it is first configured otherwise.
        otherwise: bool,
    },
    /// Other parameters of the first adapter's operations count, by operation.
    Relist {
        /// Which.
        lists: [List; 2],
        /// How much a failed check tells, by which goes what a wide list names.
        oracle: Oracle,
    },
    /// Time passes.
    Tick,
    /// The process comes back.
    Restart,
    /// Nothing: a call at an earlier time can no longer come.
    Nothing,
}

/// What model and executor do otherwise than the text, as it is judged: nobody is told of it in the search.
const PASSED_OVER: Deviations = Deviations {
    revokes_the_dead: true,
    tells_status_unlogged: true,
};

/// A tick, in seconds.
const TICK: i64 = 60;
/// A token that was never issued.
const GUESSED: u32 = u32::MAX;

/// Tokens go by their slots.
pub(super) const NAMES: &[Name] = &[
    ("token ", |token| {
        let slot = Slot::ALL.get(token as usize)?;
        Some(slot.name().to_owned())
    }),
    ("operation ", |operation| {
        Some(format!("o{}", operation + 1))
    }),
    ("adapter ", |adapter| {
        Some(format!("adapter {}", adapter + 1))
    }),
    ("session ", |session| {
        let named = SessionName::ALL.get(session as usize)?.name();
        Some(format!("session {named}"))
    }),
];
/// The adapter that is asked about tokens.
const ASKED: u32 = Which::First as u32;
/// The answer to every revocation.
const SAME: u32 = 0;
/// The parameter that every list names, but for one that names nothing of a call.
const LISTED: u32 = 0;
/// The parameter that a narrow list leaves out.
const UNLISTED: u32 = 1;
/// One that no call has.
const ABSENT: u32 = 2;
/// How long the identifier of a token is: 128 bits.
const IDENTIFIER: usize = 22;

/// The time of a moment, in milliseconds.
fn at(moment: impl Into<i64>) -> i64 {
    Scale::of(TICK * 1_000).millis(moment)
}

/// So many ticks in seconds.
fn seconds(ticks: impl Into<i64>) -> i64 {
    ticks.into() * TICK
}

/// The judge sees the log, and has seen what is answered to who knows no token: all that must be answered alike
/// (AQL-6.3-2) is answered so.
pub(super) fn judge(model: &McpAql) -> TokenJudge {
    let mut judge = TokenJudge::new(model.reading, true).passing_over(PASSED_OVER);
    for told in guesses() {
        judge.is_told(told);
    }
    // AQL-6.5-1: what is tried is never had back within the bounds.
    let limit = |burst: u8| {
        let burst = u32::from(burst);
        (burst > 0).then_some(Limit {
            burst,
            every_ms: None,
        })
    };
    let bounds = &model.bounds;
    judge.of_limited(Limits {
        issuance: limit(bounds.issues),
        failed_validation: limit(bounds.limit),
        revocation: limit(bounds.revocations),
        // AQL-5.5-3
        capacity: (bounds.capacity > 0).then_some(bounds.capacity.into()),
    })
}

impl InSearch for TokenJudge {
    type Told = Told;

    fn is_told(&mut self, told: Told) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (part, call) in told.calls(self) {
            let outputs = told.shown(self, part, &call);
            findings.extend(self.see(at(told.now), &call, &outputs));
        }
        self.forget();
        findings
    }

    fn follow_quotient(&mut self, told: Told) {
        self.forget_what_is_over();
        if !told.earlier {
            self.forget_the_time(at(told.now));
        }
    }
}

impl TokenJudge {
    /// As the quotient does, which gives what is over the plain scope.
    pub fn forget_what_is_over(&mut self) {
        self.take_what_is_over_for_alike(&called(Scope::PLAIN, Level::Destructive));
    }
}

/// Whether a call can still arrive at a node whose clock is behind.
fn can_be_earlier(state: &State) -> bool {
    state.budgets.affords(Disturbance::Skew)
}

/// What every gatekeeper answers to who knows no token, in both modes and by both adapters.
fn guesses() -> impl Iterator<Item = Told> {
    let told = |call, answers: &[Output]| {
        let mut outputs = Outputs::none();
        for &answer in answers {
            outputs.push(answer);
        }
        Told {
            now: 0,
            call,
            outputs,
            expires: 0,
            earlier: true,
        }
    };
    let refusal = [Output::Rejected(Check::Exists), Output::Fail(Code::Invalid)];
    let guess = |adapter| {
        Asked::Deliver(message::Call {
            token: Carried::Guessed,
            scope: Scope {
                adapter,
                ..Scope::PLAIN
            },
            gated: true,
            rated_higher: false,
        })
    };
    let in_mode = move |oracle, query, answers: &[Output]| {
        let tolerance = 0;
        let [first, second] = Which::ALL.map(guess);
        [
            told(Asked::SetUp { tolerance, oracle }, &[]),
            told(first, &refusal),
            told(second, &refusal),
            told(Asked::Introspect(query, Carried::Guessed), answers),
        ]
    };
    let unknown = [Output::AnswerStatus(Status::Unknown)];
    let not_revoked = [Output::NotRevoked, Output::Fail(Code::Invalid)];
    let uniform = in_mode(Oracle::Uniform, Query::Status, &unknown);
    let codes = in_mode(Oracle::Codes, Query::Revoke, &not_revoked);
    uniform.into_iter().chain(codes)
}

impl CallTold for Told {
    type Output = Output;

    fn outputs(&self) -> &[Output] {
        self.outputs.as_slice()
    }

    /// A token that the model does not issue expires as it was asked to. A call is refused or not, and never twice. Nothing comes
    /// out where nothing is asked.
    fn putting_out(self, outputs: &[Output]) -> Option<Self> {
        let outputs = Outputs::of(outputs)?;
        let refusals = outputs.iter().filter(|it| matches!(it, Output::Refused(_)));
        if refusals.count() > 1 {
            return None;
        }
        (self.call != Asked::Nothing).then_some(Self { outputs, ..self })
    }

    fn seen(self) -> Option<Self> {
        let issues = |output| matches!(output, Output::ConfirmationRequired(_));
        let is_issued = self.outputs.iter().any(issues);
        let seen = Self {
            earlier: false,
            expires: if is_issued { self.expires } else { 0 },
            ..self
        };
        (self.call != Asked::Nothing).then_some(seen)
    }
}

impl Told {
    pub(super) fn of(model: &McpAql, before: &State, action: Action, step: &Step) -> Option<Self> {
        let mut now = i16::from(before.clock);
        let call = match action {
            Action::SetUp { tolerance, oracle } => Asked::SetUp { tolerance, oracle },
            Action::Request(request) => Asked::Request(request),
            Action::Deliver { index, skew } => {
                now += i16::from(skew);
                // A call that is only validated is still under way.
                if step.next.validated.len() > before.validated.len() {
                    Asked::Tick
                } else {
                    Asked::Deliver(before.network.get(index.into())?)
                }
            }
            Action::Redeem { index } => Asked::Deliver(before.validated.get(index.into())?),
            Action::Revoke(carried) => Asked::Introspect(Query::Revoke, carried),
            Action::AskStatus(carried) => Asked::Introspect(Query::Status, carried),
            Action::Trigger(Trigger::Configuration(adapter)) => Asked::Configure {
                adapter,
                setup: before.setup?,
                lists: lists(before, adapter),
                otherwise: true,
            },
            Action::Reconfigure(adapter) => Asked::Configure {
                adapter,
                setup: before.setup?,
                lists: lists(before, adapter),
                otherwise: false,
            },
            Action::Relist { .. } => Asked::Relist {
                lists: step.next.lists,
                oracle: before.setup?.oracle,
            },
            Action::Trigger(trigger) => Asked::Trigger(trigger),
            Action::Purge { .. } => Asked::Tick,
            Action::Restart(_) => Asked::Restart,
            Action::Send { .. } | Action::Guess | Action::CarryOut { .. } | Action::Tick => {
                if can_be_earlier(before) == can_be_earlier(&step.next) {
                    return None;
                }
                Asked::Nothing
            }
        };
        let asked_for = match call {
            Asked::Request(ref request) => {
                expiry(request, time::passed(before.clock), &model.reading.numbers)
            }
            Asked::SetUp { .. }
            | Asked::Deliver(_)
            | Asked::Introspect(..)
            | Asked::Trigger(_)
            | Asked::Configure { .. }
            | Asked::Relist { .. }
            | Asked::Tick
            | Asked::Restart
            | Asked::Nothing => 0,
        };
        let issued = Slot::ALL
            .into_iter()
            .find(|&slot| step.required.contains(Output::ConfirmationRequired(slot)));
        Some(Self {
            now,
            call,
            outputs: step.required,
            expires: issued.map_or(asked_for, |slot| step.next.token(slot).expires),
            earlier: can_be_earlier(&step.next) || now > step.next.clock.into(),
        })
    }

    /// The calls, one after the other.
    fn calls(&self, judge: &TokenJudge) -> Vec<(Part, Call)> {
        let whole = |call| vec![(Part::Whole, call)];
        match self.call {
            Asked::SetUp { tolerance, oracle } => {
                let configure = |adapter| {
                    let call = configured(adapter, Setup { tolerance, oracle });
                    (Part::Of(adapter), Call::Configure(call))
                };
                Which::ALL.map(configure).to_vec()
            }
            Asked::Configure {
                adapter,
                setup,
                lists,
                otherwise,
            } => {
                let other = Configuration {
                    adapter: adapter as u32,
                    tolerance_seconds: None,
                    oracle: Some(told(setup.oracle.other())),
                    critical: None,
                };
                let first = otherwise.then_some((Part::Revoking, Call::Configure(other)));
                let part = if otherwise {
                    Part::Warning(adapter)
                } else {
                    Part::Of(adapter)
                };
                let as_it_is = Configuration {
                    critical: critical(lists, setup.oracle),
                    ..configured(adapter, setup)
                };
                let as_it_is = (part, Call::Configure(as_it_is));
                first.into_iter().chain([as_it_is]).collect()
            }
            Asked::Request(request) => whole(Call::Operation(asked(&request))),
            Asked::Deliver(call) => whole(Call::Operation(retried(call, judge))),
            Asked::Introspect(query, carried) => whole(Call::Introspect {
                adapter: ASKED,
                query,
                token: token(carried),
            }),
            Asked::Trigger(trigger) => trigger_call(trigger).map(whole).unwrap_or_default(),
            Asked::Relist { lists, oracle } => whole(Call::Configure(Configuration {
                adapter: Which::First as u32,
                tolerance_seconds: None,
                oracle: None,
                critical: critical(lists, oracle),
            })),
            Asked::Tick => whole(Call::Tick),
            Asked::Restart => whole(Call::Restart { lost: 0 }),
            Asked::Nothing => Vec::new(),
        }
    }

    /// What came out of one call, in the judge's words.
    fn shown(&self, judge: &TokenJudge, part: Part, call: &Call) -> Vec<Shown> {
        let request = match call {
            Call::Operation(request) => Some(request),
            Call::Configure(_)
            | Call::Introspect { .. }
            | Call::Event { .. }
            | Call::EndSession { .. }
            | Call::Tick
            | Call::Restart { .. } => None,
        };
        let of_part = self.outputs.iter().filter(|&output| part.has(output));
        of_part
            .filter_map(|output| self.shown_as(judge, request, output))
            .collect()
    }

    /// One output in the judge's words.
    fn shown_as(
        &self,
        judge: &TokenJudge,
        request: Option<&judged::Request>,
        output: Output,
    ) -> Option<Shown> {
        // What comes out although nothing was called is as of the plain call.
        let plain = || called(Scope::PLAIN, Level::Destructive);
        match output {
            Output::Warned(_) => Some(Shown::Warn),
            Output::Perform(_) | Output::PerformUngated => {
                let runs = request.map_or_else(|| performed(&plain()), performed);
                Some(Shown::Perform(runs))
            }
            Output::ConfirmationRequired(slot) => {
                let issued = |request: &_| self.issued(request, slot);
                let issued = request.map_or_else(|| issued(&plain()), issued);
                Some(Shown::Respond(Answer::Issued(issued)))
            }
            Output::Issued(_)
            | Output::Validated(_)
            | Output::Rejected(_)
            | Output::Revoked(_)
            | Output::NotRevoked => self.entry(judge, request, output).map(Shown::Log),
            Output::Fail(code) => Some(Shown::Respond(Answer::Failed(failure(code, false)))),
            Output::Expose => {
                let failure = failure(Code::ScopeMismatch, true);
                Some(Shown::Respond(Answer::Failed(failure)))
            }
            Output::Limited => Some(Shown::Respond(Answer::Limited)),
            Output::Full => Some(Shown::Respond(Answer::Full)),
            Output::AnswerRevocation => Some(Shown::Respond(Answer::Revoked {
                done: true,
                shape: SAME,
            })),
            Output::AnswerStatus(status) => Some(Shown::Respond(answered(status))),
            Output::Refused(_) => Some(Shown::Refused),
        }
    }

    /// The answer that gives a token away.
    fn issued(&self, request: &judged::Request, slot: Slot) -> Issued {
        Issued {
            token: Some(slot as u32),
            prefix: Some(request.purpose),
            identifier_length: IDENTIFIER,
            length: IDENTIFIER,
            url_safe: true,
            reads: None,
            expires_at: (self.expires != ETERNAL).then(|| at(time::on(self.expires))),
            operation: Some(request.operation),
            level: Some(request.level),
            reasons: true,
            message: true,
        }
    }

    /// An entry of the log: of a call, or of a token that is revoked.
    fn entry(
        &self,
        judge: &TokenJudge,
        request: Option<&judged::Request>,
        output: Output,
    ) -> Option<Entry> {
        let refused = |check: Check| Some(check.code());
        let (event, success, named, reason) = match output {
            Output::Issued(slot) => (LogEvent::Issued, true, slot as u32, None),
            Output::Validated(slot) => (LogEvent::Validated, true, slot as u32, None),
            Output::Rejected(check) => (LogEvent::Rejected, false, self.carried(), refused(check)),
            Output::Revoked(slot) => (LogEvent::Revoked, true, slot as u32, None),
            Output::NotRevoked => (LogEvent::Revoked, false, self.carried(), None),
            Output::Warned(_)
            | Output::Perform(_)
            | Output::PerformUngated
            | Output::ConfirmationRequired(_)
            | Output::Fail(_)
            | Output::Limited
            | Output::Full
            | Output::AnswerRevocation
            | Output::AnswerStatus(_)
            | Output::Expose
            | Output::Refused(_) => return None,
        };
        let known = judge.token_known(named).filter(|_| success);
        let of_call = request.map(|request| (request.operation, request.adapter));
        let of_token = known.map(|token| (token.operation, token.adapter));
        let (operation, adapter) = of_call.or(of_token).unwrap_or((INTROSPECT, ASKED));
        Some(Entry {
            at: Some(at(self.now)),
            event,
            success,
            token: Some(named),
            operation: Some(operation),
            adapter: Some(adapter),
            session: request.and_then(|request| request.session),
            reason,
        })
    }

    /// The token that came with the call.
    fn carried(&self) -> u32 {
        match self.call {
            Asked::Deliver(call) => token(call.token),
            Asked::Introspect(_, carried) => token(carried),
            Asked::SetUp { .. }
            | Asked::Request(_)
            | Asked::Trigger(_)
            | Asked::Configure { .. }
            | Asked::Relist { .. }
            | Asked::Tick
            | Asked::Restart
            | Asked::Nothing => GUESSED,
        }
    }
}

/// Which outputs of a step belong to one of its calls.
#[derive(Clone, Copy)]
enum Part {
    /// All: there is one call.
    Whole,
    /// All but the warnings about the other adapter.
    Of(Which),
    /// All but warnings: the first call is what revokes.
    Revoking,
    /// Only the warnings about this adapter.
    Warning(Which),
}

impl Part {
    fn has(self, output: Output) -> bool {
        let about = match output {
            Output::Warned(adapter) => Some(adapter),
            Output::Issued(_)
            | Output::Validated(_)
            | Output::Rejected(_)
            | Output::Revoked(_)
            | Output::NotRevoked
            | Output::Perform(_)
            | Output::PerformUngated
            | Output::ConfirmationRequired(_)
            | Output::Fail(_)
            | Output::Limited
            | Output::Full
            | Output::AnswerRevocation
            | Output::AnswerStatus(_)
            | Output::Expose
            | Output::Refused(_) => None,
        };
        match self {
            Self::Whole => true,
            Self::Of(adapter) => about.is_none_or(|it| it == adapter),
            Self::Revoking => about.is_none(),
            Self::Warning(adapter) => about == Some(adapter),
        }
    }
}

/// What is not a configuration and revokes tokens, as a call.
fn trigger_call(trigger: Trigger) -> Option<Call> {
    let event = |kind, session: Option<SessionName>| Call::Event {
        kind,
        session: session.map(|session| session as u32),
    };
    match trigger {
        Trigger::SessionEnd(session) => Some(Call::EndSession {
            session: session as u32,
        }),
        Trigger::Logout(session) => Some(event(EventKind::Logout, session)),
        Trigger::Security => Some(event(EventKind::Security, None)),
        Trigger::Configuration(_) => None,
    }
}

/// An adapter that works like this.
fn configured(adapter: Which, setup: Setup) -> Configuration {
    Configuration {
        adapter: adapter as u32,
        tolerance_seconds: Some(seconds(setup.tolerance)),
        oracle: Some(told(setup.oracle)),
        critical: None,
    }
}

/// Which parameters of an adapter's operations count, by operation.
const fn lists(state: &State, adapter: Which) -> [List; 2] {
    match adapter {
        Which::First => state.lists,
        Which::Second => [List::Unset; 2],
    }
}

/// The same, as it is configured: each list that was ever set, for what becomes of one that is left out nothing says.
fn critical(lists: [List; 2], oracle: Oracle) -> Option<BTreeMap<u32, BTreeSet<u32>>> {
    let names = |(operation, list): (Which, List)| match list {
        List::Unset => None,
        List::Narrow => Some((operation as u32, [LISTED].into())),
        List::Wide if list.names_nothing(oracle) => Some((operation as u32, [ABSENT].into())),
        List::Wide => Some((operation as u32, [LISTED, UNLISTED].into())),
    };
    let critical: BTreeMap<_, _> = Which::ALL
        .into_iter()
        .zip(lists)
        .filter_map(names)
        .collect();
    (!critical.is_empty()).then_some(critical)
}

/// A call without a token.
fn asked(request: &Request) -> judged::Request {
    judged::Request {
        max_uses: request.max_uses.into(),
        ttl_seconds: match request.lifetime {
            Lifetime::Default => None,
            Lifetime::Ticks(ticks) => Some(seconds(ticks)),
        },
        ..called(
            request.scope,
            match request.danger {
                Danger::Safe => Level::Safe,
                Danger::Destructive => Level::Destructive,
                Danger::Forbidden => Level::Forbidden,
            },
        )
    }
}

/// A call with a token. What it is for is as dangerous as it was when its token was issued, where it needs one and is not rated
/// higher by now.
fn retried(call: message::Call, judge: &TokenJudge) -> judged::Request {
    let token = token(call.token);
    let confirmed = judge
        .token_known(token)
        .map(|token| token.level)
        .filter(|&level| level >= Level::Destructive);
    let (purpose, level) = match (call.gated, call.scope.purpose) {
        (false, _) => (Purpose::Confirmation, Level::Safe),
        (true, Purpose::QuotaContinue) => (Purpose::QuotaContinue, Level::Safe),
        (true, Purpose::Confirmation) if call.rated_higher => {
            (Purpose::Confirmation, Level::Forbidden)
        }
        (true, Purpose::Confirmation) => (
            Purpose::Confirmation,
            confirmed.unwrap_or(Level::Destructive),
        ),
    };
    judged::Request {
        token: Some(token),
        ..called(
            Scope {
                purpose,
                ..call.scope
            },
            level,
        )
    }
}

/// A call of the one use that is the default.
fn called(scope: Scope, level: Level) -> judged::Request {
    let parameter = |name, others| {
        let value = u32::from(scope.parameters == others);
        let weight = Weight::Impact;
        (name, Parameter { value, weight })
    };
    let each = [
        parameter(LISTED, words::Parameters::Second),
        parameter(UNLISTED, words::Parameters::Third),
    ];
    judged::Request {
        adapter: scope.adapter as u32,
        operation: scope.operation as u32,
        parameters: Some(Parameters {
            whole: scope.parameters as u32,
            each: each.into(),
            text: 0,
        }),
        level,
        purpose: match scope.purpose {
            Purpose::Confirmation => judged::Purpose::Confirmation,
            Purpose::QuotaContinue => judged::Purpose::Quota,
        },
        session: scope.session.map(|session| session as u32),
        session_scope: None,
        max_uses: 1,
        ttl_seconds: None,
        token: None,
    }
}

/// What runs is the call, as it was made.
fn performed(request: &judged::Request) -> Performed {
    Performed {
        operation: request.operation,
        parameters: request.parameters.as_ref().map_or(0, |it| it.whole),
        adapter: Some(request.adapter),
        session: request.session,
    }
}

/// The refusal of a token: of each code there is one.
const fn failure(code: Code, exposes_parameters: bool) -> Failure {
    Failure {
        code: Some(code),
        whole: true,
        shape: code as u32,
        expired_at: None,
        current_time: None,
        exposes_parameters,
    }
}

/// What is told of a token.
const fn answered(status: Status) -> Answer {
    let (valid, shape) = match status {
        Status::Live { .. } => (true, 0),
        Status::Consumed => (false, 1),
        Status::Expired => (false, 2),
        Status::Revoked => (false, 3),
        Status::Unknown => (false, 4),
    };
    Answer::Status { valid, shape }
}

const fn token(carried: Carried) -> u32 {
    match carried {
        Carried::Token(slot) => slot as u32,
        Carried::Guessed => GUESSED,
    }
}

const fn told(oracle: Oracle) -> judged::Oracle {
    match oracle {
        Oracle::Codes => judged::Oracle::Codes,
        Oracle::Uniform => judged::Oracle::Uniform,
    }
}
