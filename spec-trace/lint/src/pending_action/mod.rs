//! Pending actions in a transcript of the driver protocol.
//!
//! The one thing to know: [`told`] holds each output against what was asked and what is known, [`owed`] looks for what should have come
//! and did not, and the account follows whatever the ledger says, right or wrong, so that one fault is told once. Where the text can
//! be taken two ways, either is right.

mod account;
mod owed;
pub mod rules;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use crate::protocol::Protocol;
use crate::report::NotJudged;
use crate::rules::Rule;
use crate::transcript::{
    Answer, Exchange, Fields, Found, Output, Shows, differs, first_clause, same, unknown_op,
};
use account::{Account, Action, Deciders, Phase};

/// What judges a transcript.
#[derive(Debug, Default)]
pub struct Monitor {
    shows: Shows,
    account: Account,
    sessions: BTreeSet<String>,
    minds: BTreeMap<Doubt, [Option<u64>; 2]>,
    /// The first `deciders` that cannot be read: the line of the answer to their proposal, what stands there, and how many there are.
    unread: Option<(u64, String, u64)>,
    /// The line of the first answer to a `decide` that cannot be read, and how many there are.
    undecided: Option<(u64, u64)>,
    /// The same of requests of which nobody knows what they ask.
    unknown: Option<(u64, String, u64)>,
    /// The line on which an older state was handed back first.
    rolled_back: Option<u64>,
    /// The line on which something ran behind it that was settled before, and the line of that.
    runs_again: Option<(u64, u64)>,
}

/// A place of the text that can be taken in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    /// Who may decide where nobody is named: anyone, or nobody.
    DecidersAbsent,
    /// Whether a decision counts that comes at the very moment at which the question closes.
    ExpiryBoundary,
}

/// What a decision has to come to.
#[derive(Debug, Clone, Copy)]
enum Verdict {
    /// It counts.
    Counts,
    /// It does not: the rule that it would break, and why.
    Ignored(&'static Rule, &'static str),
    /// Nobody knows, or the text can be taken both ways: it counts where each of these is taken in its favour.
    Open(&'static [Doubt]),
}

/// A decision that was asked for.
#[derive(Debug)]
struct Decision {
    action: String,
    allows: bool,
    by: String,
    verdict: Verdict,
}

/// What is looked at: an exchange in which something may have happened.
struct Step<'a> {
    exchange: &'a Exchange<'a>,
    decision: Option<Decision>,
    /// What was pending before it, in time, and is to be settled by what is asked.
    pending: Vec<String>,
    /// The actions that were released and had not finished, and that what is asked concerns.
    in_flight: Vec<String>,
    /// Types of events and messages of this exchange, with the action of each.
    seen: BTreeSet<(String, String)>,
}

impl Step<'_> {
    fn has_seen(&self, action: &str, told: &str) -> bool {
        self.seen.contains(&(action.to_owned(), told.to_owned()))
    }

    /// Whether this is what was asked, of this action.
    fn asks(&self, op: &str, action: &str) -> bool {
        self.exchange.op == op && self.exchange.request.text("action_id").as_deref() == Some(action)
    }
}

impl crate::transcript::Monitor for Monitor {
    fn see(&mut self, exchange: &Exchange<'_>, found: &mut Found) {
        self.shows.learn(&exchange.answer);
        if let Answer::Greeting(_) = exchange.answer {
            // Another may answer from here on.
            self.minds.clear();
        }
        let Some(outputs) = exchange.outputs() else {
            return;
        };
        if exchange.op == "reset" {
            self.account = Account::default();
            self.account.passes(exchange);
            return;
        }
        self.account.passes(exchange);
        self.sessions.extend(exchange.request.text("session_id"));
        if exchange.op == "rollback" && !exchange.is_refused() {
            self.hands_back(exchange);
        }
        let last = outputs
            .iter()
            .map(|it| (it.kind.clone(), it.raw.to_owned()));
        let last = std::mem::replace(&mut self.account.last, last.collect());
        if !self.is_read(exchange) {
            return self.follows(exchange);
        }
        let mut step = self.begin(exchange);
        let is_restart = exchange.op == "restart" && !exchange.is_refused();
        let again = if is_restart {
            self.told_again(&step, outputs, &last, found)
        } else {
            BTreeSet::new()
        };
        for (at, output) in outputs.iter().enumerate() {
            if !again.contains(&at) {
                self.take(&mut step, output, found);
            }
        }
        self.owed(&step, found);
        if exchange.op == "end_session" && !exchange.is_refused() {
            self.account
                .ended
                .extend(exchange.request.text("session_id"));
        }
    }

    fn sessions(&self) -> &BTreeSet<String> {
        &self.sessions
    }

    fn not_judged(&self, found: &Found) -> Vec<NotJudged> {
        let unseen = rules::UNSEEN
            .into_iter()
            .map(|(clause, reason)| NotJudged::unseen(clause, reason));
        let mut clauses: BTreeSet<&'static str> =
            rules::ALL.iter().map(|rule| rule.clause).collect();
        clauses.retain(|clause| !found.touched.contains(clause));
        let untouched = clauses
            .into_iter()
            .map(|clause| NotJudged::unseen(clause, "nothing was asked or shown that it is about"));
        let handed_back = self.rolled_back.map(|line| {
            let reason = format!("an older state is handed back on line {line}: of what was settled before, only the host knows");
            NotJudged::partly("PA-8", reason)
        });
        let again = self.runs_again.map(|(line, before)| {
            let reason = format!(
                "on line {line} something runs that was settled on line {before}, behind an older state: whether its host prevents that does not show"
            );
            NotJudged::open("PA-8", reason)
        });
        let unread = self.unread.as_ref().map(|(line, written, count)| {
            let reason = format!(
                "`deciders` of the proposal that is answered on line {line} is {written}, and a list of names is expected ({count} such): who may decide does not show"
            );
            NotJudged::open(rules::NOT_ENTITLED.clause, reason)
        });
        let undecided = self.undecided.map(|(line, count)| {
            let reason = format!(
                "line {line} answers a decision without a readable `action_id`, `decision` (allow or deny) or `by` ({count} such)"
            );
            NotJudged::open(first_clause(Protocol::PendingAction), reason)
        });
        let unknown = unknown_op(Protocol::PendingAction, self.unknown.as_ref());
        let all = unseen.chain(untouched).chain(handed_back);
        let all = all.chain(again).chain(unread);
        all.chain(undecided).chain(unknown).collect()
    }
}

impl Monitor {
    /// PA-8: whether what was settled since an older state pends again is for the host to guard.
    fn hands_back(&mut self, exchange: &Exchange<'_>) {
        self.rolled_back.get_or_insert(exchange.line);
        for action in self.account.actions.values_mut() {
            action.is_forgotten = true;
        }
    }

    /// Whether what is asked can be read, as far as it is judged by that. What is not is counted where something came of it.
    fn is_read(&mut self, exchange: &Exchange<'_>) -> bool {
        let request = &exchange.request;
        let decision = request.text("decision");
        let names = ["action_id", "by"].map(|name| request.text(name));
        let is_decided = ["allow", "deny"].map(Some).contains(&decision.as_deref())
            && names.iter().all(Option::is_some);
        let line = exchange.place.line;
        match &*exchange.op {
            "decide" if is_decided || exchange.is_refused() => return true,
            "decide" => self.undecided.get_or_insert((line, 0)).1 += 1,
            op if OPS.contains(&op) || exchange.outputs().is_none_or(<[_]>::is_empty) => {
                return true;
            }
            op => {
                self.unknown
                    .get_or_insert_with(|| (line, op.to_owned(), 0))
                    .2 += 1;
            }
        }
        false
    }

    /// PA-5, PA-10: of what a request is about that cannot be read, nobody knows what has become.
    fn follows(&mut self, exchange: &Exchange<'_>) {
        let mut about: BTreeSet<String> = exchange.request.text("action_id").into_iter().collect();
        for output in exchange.outputs().unwrap_or_default() {
            let names = ["action_id", "tool_call_id"].map(|name| output.fields.text(name));
            about.extend(names.into_iter().flatten());
        }
        for id in about {
            let nothing = Fields::default();
            let action = self.account.actions.entry(id);
            let action = action.or_insert_with(|| Action::new(&nothing, &nothing, exchange.line));
            action.is_forgotten = true;
        }
    }

    fn begin<'a>(&self, exchange: &'a Exchange<'a>) -> Step<'a> {
        let now = self.account.now;
        let may_settle =
            |it: &Action| it.phase == Phase::Pending && !it.is_overdue(now) && !it.closes_at(now);
        Step {
            exchange,
            decision: self.decision(exchange),
            pending: self.concerned(exchange, "cancel", "end_session", may_settle),
            in_flight: self.concerned(exchange, "finish_tool", "restart", Action::is_in_flight),
            seen: BTreeSet::new(),
        }
    }

    /// The actions of such a kind that what is asked concerns: the one that `of_one` names, or each where `of_all` is asked, of the session
    /// that it names if it does.
    fn concerned(
        &self,
        exchange: &Exchange<'_>,
        of_one: &str,
        of_all: &str,
        is_such: impl Fn(&Action) -> bool,
    ) -> Vec<String> {
        let request = &exchange.request;
        let (action, session) = (request.text("action_id"), request.text("session_id"));
        let asked: Vec<&String> = match (exchange.op == of_all, session) {
            (true, None) => self.account.actions.keys().collect(),
            (true, Some(session)) => {
                let of_session = self.account.of_session.get(&session);
                of_session.into_iter().flatten().collect()
            }
            (false, _) => action.iter().filter(|_| exchange.op == of_one).collect(),
        };
        let is_such = |id: &&String| {
            let action = self.account.actions.get(*id);
            action.is_some_and(|it| !it.is_forgotten && is_such(it))
        };
        asked.into_iter().filter(is_such).cloned().collect()
    }

    fn decision(&self, exchange: &Exchange<'_>) -> Option<Decision> {
        if exchange.op != "decide" {
            return None;
        }
        let request = &exchange.request;
        let allows = match &*request.text("decision")? {
            "allow" => true,
            "deny" => false,
            _ => return None,
        };
        let (action, by) = (request.text("action_id")?, request.text("by")?);
        let verdict = self.verdict(exchange, &action, allows, &by);
        Some(Decision {
            action,
            allows,
            by,
            verdict,
        })
    }

    /// PA-2, PA-3, PA-7, PA-8: which decision counts: about a question that pends, of somebody who may decide, and to allow only what
    /// was proposed.
    fn verdict(&self, exchange: &Exchange<'_>, id: &str, allows: bool, by: &str) -> Verdict {
        let Some(action) = self.account.actions.get(id) else {
            return Verdict::Ignored(&rules::NEVER_PROPOSED, "nobody has proposed it");
        };
        if action.is_forgotten {
            return Verdict::Open(&[]);
        }
        let request = &exchange.request;
        match (request.text("nonce"), &action.nonce) {
            (Some(given), Some(nonce)) if given != *nonce => {
                return Verdict::Ignored(&rules::NOT_ENTITLED, "its nonce is another");
            }
            (Some(_), None) => return Verdict::Open(&[]),
            _ => {}
        }
        let entitled = action.entitles(by);
        if entitled == Some(false) {
            return Verdict::Ignored(&rules::NOT_ENTITLED, "who decides may not decide");
        }
        if action.phase == Phase::Expired && allows {
            return Verdict::Ignored(&rules::EXPIRED, "it has expired");
        }
        if action.phase != Phase::Pending {
            return Verdict::Ignored(&rules::SETTLED_AGAIN, "it was settled before");
        }
        // Nothing runs by a denial, whenever it comes.
        let is_late = action.is_overdue(self.account.now) || action.closes_at(self.account.now);
        if !allows && is_late {
            return Verdict::Open(&[]);
        }
        if action.is_overdue(self.account.now) {
            return Verdict::Ignored(&rules::EXPIRED, "the question had closed");
        }
        let approved = request.raw("arguments").filter(|_| allows);
        let proposed = action.arguments.as_deref().unwrap_or("null");
        match approved {
            Some(approved) if differs(approved, proposed) => {
                return Verdict::Ignored(
                    &rules::APPROVED_OTHERWISE,
                    "other arguments were approved than proposed",
                );
            }
            Some(approved) if !same(approved, proposed) => return Verdict::Open(&[]),
            _ if action.deciders == Deciders::Unread => return Verdict::Open(&[]),
            _ => {}
        }
        match (entitled.is_some(), action.closes_at(self.account.now)) {
            (true, false) => Verdict::Counts,
            (false, false) => Verdict::Open(&[Doubt::DecidersAbsent]),
            (true, true) => Verdict::Open(&[Doubt::ExpiryBoundary]),
            (false, true) => Verdict::Open(&[Doubt::DecidersAbsent, Doubt::ExpiryBoundary]),
        }
    }

    /// Makes a finding about an action.
    fn accuse(
        &self,
        rule: &'static Rule,
        step: &Step<'_>,
        id: &str,
        message: impl Into<String>,
        found: &mut Found,
    ) {
        let session = self
            .account
            .actions
            .get(id)
            .and_then(|it| it.session.as_deref());
        found.accuse(rule, step.exchange, id, session, message.into());
    }
}

/// What can be asked.
const OPS: [&str; 12] = [
    "hello",
    "reset",
    "tick",
    "restart",
    "propose",
    "decide",
    "say",
    "finish_tool",
    "cancel",
    "end_session",
    "snapshot",
    "rollback",
];

/// The output as one of its kind.
fn is(output: &Output<'_>, kind: &str) -> bool {
    output.kind == kind
}
