//! The judge of the confirmation tokens: what the text makes of a call and of what a gatekeeper put out for it.
//!
//! Where to read, in the order of the text: [`issue`] for sections 1 to 3 and the lifetimes of 5.1, [`validation`] for
//! section 4 and what sections 5 and 6 add to its checks, [`redemption`] for what follows from them, [`life`] for the
//! configuration of 5.1 and for 5.3, 5.4, 5.5 and 7.3, [`log`] for 6.4, [`limits`] for 6.5. [`words`] names what is asked and put out,
//! [`account`] what is remembered. Where the text is silent, it is taken as the driver protocol and the readings take it.
//!
//! The one thing to know: an output is taken out of the [`Case`] by the clause that explains it; what nothing explains is
//! left over at the end, and forbidden.

mod account;
mod issue;
mod life;
pub mod limits;
mod log;
mod redemption;
mod validation;
pub mod words;

use crate::judge::{Finding, Judge, Kind};

use super::readings::Reading;
use account::{Account, Token};
use limits::Limits;
use words::{Answer, Call, Entry, Output, Performed, Request};

/// The judge of one gatekeeper, from its start on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenJudge {
    reading: Reading,
    shows_log: bool,
    deviations: Deviations,
    leeway: Leeway,
    limits: Limits,
    account: Account,
    /// The entries of the last call, which a restart may lose.
    last_entries: Vec<Entry>,
}

/// What a gatekeeper is known to do otherwise, and is not to be told each time. Nothing, unless it is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deviations {
    /// The revocation of a token that is not alive is answered as that of one that is, and logged as the failure that it
    /// is (AQL-5.3-3).
    pub revokes_the_dead: bool,
    /// That a status was told is not logged (AQL-6.4-1).
    pub tells_status_unlogged: bool,
}

/// What the text lets a gatekeeper choose, beside the readings. What is there unless it is said is what most do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Leeway {
    /// The current time counts where the clock was set back, whatever was said before (AQL-4.1-2).
    pub takes_the_current_time: bool,
    /// There is no tolerance where nobody sets one: the 30 seconds of AQL-5.1-5 are a SHOULD.
    pub has_no_tolerance: bool,
    /// No token lives longer than the default of its kind: what AQL-5.1-1 says of longer ones is a maximum.
    pub has_short_lives: bool,
}

impl TokenJudge {
    /// The same judge of one that has chosen this.
    #[must_use]
    pub fn of_one_that(mut self, leeway: Leeway) -> Self {
        self.leeway = leeway;
        self.account.has_no_tolerance = leeway.has_no_tolerance;
        self
    }

    /// A judge that takes the text in this way. Where the log is not shown it is not judged.
    pub fn new(reading: Reading, shows_log: bool) -> Self {
        Self {
            reading,
            shows_log,
            deviations: Deviations::default(),
            leeway: Leeway::default(),
            limits: Limits::default(),
            account: Account::default(),
            last_entries: Vec::new(),
        }
    }

    /// The same judge, who passes over these deviations.
    #[must_use]
    pub fn passing_over(self, deviations: Deviations) -> Self {
        Self { deviations, ..self }
    }

    /// What is known of a token.
    pub(super) fn token_known(&self, name: u32) -> Option<&Token> {
        self.account.tokens.get(&name)
    }

    /// Forgets what can never matter to a later call of a model: see [`Account::forget`]. A model logs nothing twice, so that
    /// a restart finds no entry of the call before.
    pub(super) fn forget(&mut self) {
        self.last_entries.clear();
        self.account.forget();
    }

    /// See [`Account::forget_the_time`].
    pub(super) fn forget_the_time(&mut self, now: i64) {
        self.account.forget_the_time(now);
    }

    /// See [`Account::take_what_is_over_for_alike`].
    pub(super) fn take_what_is_over_for_alike(&mut self, on: &Request) {
        self.account.take_what_is_over_for_alike(on);
    }
}

impl Judge for TokenJudge {
    type Call = Call;
    type Output = Output;

    fn see(&mut self, now: i64, call: &Call, outputs: &[Output]) -> Vec<Finding> {
        self.account.now = now;
        self.account.latest = self.account.latest.max(now);
        self.account.latest_since = match call {
            Call::Restart { .. } => now,
            Call::Configure(_)
            | Call::Operation(_)
            | Call::Introspect { .. }
            | Call::Event { .. }
            | Call::EndSession { .. }
            | Call::Tick => self.account.latest_since.max(now),
        };
        let mut case = Case::of(outputs);
        let entries = case.entries.clone();
        match call {
            Call::Operation(request) => self.operation(request, &mut case),
            Call::Configure(configuration) => self.configure(configuration, &mut case),
            Call::Introspect {
                adapter,
                query,
                token,
            } => self.introspect(*adapter, *query, *token, &mut case),
            Call::Event { kind, session } => self.event(*kind, *session, &mut case),
            Call::EndSession { session } => self.end_session(*session, &mut case),
            Call::Tick => {}
            Call::Restart { lost } => self.restart(*lost, &mut case),
        }
        self.left_over(&mut case);
        self.last_entries = entries;
        case.findings.sort_by_key(|finding| finding.clause);
        case.findings
    }
}

impl TokenJudge {
    fn operation(&mut self, request: &Request, case: &mut Case) {
        match request.token {
            None if !request.is_gated() => self.runs_at_once(request, case),
            None => self.is_asked_about(request, case),
            Some(token) => self.is_retried(request, token, case),
        }
    }

    /// What no clause has explained.
    fn left_over(&mut self, case: &mut Case) {
        // AQL-1.3-1, AQL-1.3-2: an operation runs when it is called, and once.
        for performed in std::mem::take(&mut case.performed) {
            case.guarantee(
                "AQL-1.3-2",
                &["AQL-5.2-1", "AQL-5.2-2", "AQL-6.1-1"],
                format!(
                    "operation {} must not run: nothing lets it run now",
                    performed.operation
                ),
            );
        }
        // AQL-1.3-1: a token is given to who calls what is gated, and to nobody else. AQL-7.1-2: what is refused is not done.
        for answer in std::mem::take(&mut case.answers) {
            match answer {
                Answer::Issued(_) => {
                    let text = "no token may be issued: nothing gated was called without one";
                    case.conformance("AQL-1.3-1", &[], text.to_owned());
                }
                Answer::Failed(_) => {
                    let text = "no token may be refused beside another answer or what ran";
                    case.conformance("AQL-7.1-2", &["AQL-7.1-1"], text.to_owned());
                }
                Answer::Revoked { .. } => {
                    let text = "no revocation may be answered: none was asked for";
                    case.conformance("AQL-5.3-3", &[], text.to_owned());
                }
                Answer::Status { .. } => {
                    let text = "no status may be told: none was asked for";
                    case.conformance("AQL-7.3-1", &[], text.to_owned());
                }
                Answer::Unreadable | Answer::Limited | Answer::Full => {
                    let text = "no call may be turned away beside another answer or what ran";
                    case.conformance("AQL-7.1-2", &["AQL-6.5-1"], text.to_owned());
                }
                Answer::Other => {}
            }
        }
        if std::mem::take(&mut case.refused) {
            let text = "nothing may be refused beside what was answered or done";
            case.conformance("AQL-7.1-2", &["AQL-1.3-2"], text.to_owned());
        }
        // AQL-6.4-1: the log says what happened, and once.
        for entry in std::mem::take(&mut case.entries) {
            if self.shows_log {
                let text = format!("no {} may be logged: it did not happen", entry.event);
                case.conformance("AQL-6.4-1", &[], text);
            }
        }
    }
}

/// One call: what came out of it and is not explained yet, and what was found.
#[derive(Debug, Default)]
struct Case {
    performed: Vec<Performed>,
    answers: Vec<Answer>,
    entries: Vec<Entry>,
    warned: bool,
    refused: bool,
    findings: Vec<Finding>,
}

impl Case {
    fn of(outputs: &[Output]) -> Self {
        let mut case = Self::default();
        for output in outputs {
            match output {
                Output::Perform(performed) => case.performed.push(*performed),
                Output::Respond(Answer::Other) => {}
                Output::Respond(answer) => case.answers.push(*answer),
                Output::Log(entry) => case.entries.push(*entry),
                Output::Warn => case.warned = true,
                Output::Refused => case.refused = true,
            }
        }
        case
    }

    /// Takes out the first operation that ran.
    fn take_performed(&mut self) -> Option<Performed> {
        (!self.performed.is_empty()).then(|| self.performed.remove(0))
    }

    /// Takes out the first answer.
    fn take_answer(&mut self) -> Option<Answer> {
        (!self.answers.is_empty()).then(|| self.answers.remove(0))
    }

    /// Takes out the first entry that is as wanted.
    fn take_entry(&mut self, wanted: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let place = self.entries.iter().position(wanted)?;
        Some(self.entries.remove(place))
    }

    fn conformance(&mut self, clause: &'static str, also: &'static [&'static str], text: String) {
        self.add(Kind::Conformance, clause, also, text);
    }

    fn guarantee(&mut self, clause: &'static str, also: &'static [&'static str], text: String) {
        self.add(Kind::Guarantee, clause, also, text);
    }

    fn add(
        &mut self,
        kind: Kind,
        clause: &'static str,
        also: &'static [&'static str],
        text: String,
    ) {
        self.findings.push(Finding {
            clause,
            also,
            kind,
            text,
        });
    }
}

/// Whether a time that was put out is one of these; the wire may leave the milliseconds out.
fn is_time(shown: i64, times: impl IntoIterator<Item = i64>) -> bool {
    let is = |time: i64| shown == time || shown == time - time.rem_euclid(1000);
    times.into_iter().any(is)
}
