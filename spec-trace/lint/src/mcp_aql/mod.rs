//! MCP-AQL in a transcript of the driver protocol.
//!
//! The one thing to know: for each call [`faults`](Monitor::faults) lists the checks that its token is known to fail and those of which
//! nobody knows. What runs must fail none; what is turned away must fail one, with a code of those that it fails. Where the text
//! can be taken two ways, either is right.

mod account;
pub mod entries;
mod issued;
mod logged;
pub mod rules;

use std::collections::{BTreeMap, BTreeSet};

use crate::protocol::Protocol;
use crate::report::NotJudged;
use crate::rules::Rule;
use crate::transcript::{
    ENTRY, Exchange, Fields, Found, Shows, differs, first_clause, leaves, same, unknown_op,
};
use account::{Account, Adapter, Call, End, Token};
use entries::Log;

/// What judges a transcript.
#[derive(Debug, Default)]
pub struct Monitor {
    shows: Shows,
    account: Account,
    sessions: BTreeSet<String>,
    /// What was told around a value of a parameter, and that value.
    told: BTreeMap<String, String>,
    /// The first token that was taken past its expiry and the tolerance that there is where nobody sets one: how many
    /// milliseconds after its expiry, and on which line. Nobody set one, but the settings may.
    late: Option<(i64, u64)>,
    /// The first answer with more entries of one event than were done: its line, the event, and how many such answers there are.
    told_again: Option<(u64, &'static str, u64)>,
    /// The line of the first call that was answered and cannot be read, and how many there are.
    unread: Option<(u64, u64)>,
    /// The same of requests of which nobody knows what they ask.
    unknown: Option<(u64, String, u64)>,
    /// Times of which nobody can tell when they are.
    unread_times: UnreadTimes,
    log: Log,
}

/// Times without an offset, or in a form that is not read: of each member the first, with its line, and how many there are.
#[derive(Debug, Default)]
struct UnreadTimes(BTreeMap<&'static str, (u64, String, u64)>);

impl UnreadTimes {
    /// Takes note of the time of that name, where it cannot be read.
    fn take(&mut self, name: &'static str, line: u64, fields: &Fields<'_>) {
        if fields.moment(name).is_none() {
            let written = fields.raw(name).unwrap_or_default().to_owned();
            self.0.entry(name).or_insert((line, written, 0)).2 += 1;
        }
    }

    /// What is left open by them.
    fn open(&self) -> impl Iterator<Item = NotJudged> {
        self.0.iter().map(|(name, (line, written, count))| {
            let clause = match *name {
                "expires_at" => rules::LIVES_TOO_LONG.clause,
                _ => rules::ENTRY_UNTRUE.clause,
            };
            let reason = format!(
                "`{name}` on line {line} is {written} ({count} such): without an offset, or in a form other than those of ISO 8601, it does not show which moment that is"
            );
            NotJudged::open(clause, reason)
        })
    }
}

/// A check that the token of a call fails: the rule that taking it breaks, the code of it, and why.
struct Fault {
    rule: &'static Rule,
    code: &'static str,
    why: String,
}

/// What is known of the token of a call.
struct Weighed {
    faults: Vec<Fault>,
    /// Whether it may fail a check of which nobody knows.
    is_open: bool,
}

/// AQL-5.1-5: the tolerance where nobody sets one, in milliseconds.
const DEFAULT_TOLERANCE: i64 = 30_000;

const INVALID: &str = "TOKEN_INVALID";
const EXPIRED: &str = "TOKEN_EXPIRED";
const USED: &str = "TOKEN_ALREADY_USED";
const MISMATCH: &str = "TOKEN_SCOPE_MISMATCH";

impl crate::transcript::Monitor for Monitor {
    fn see(&mut self, exchange: &Exchange<'_>, found: &mut Found) {
        self.shows.learn(&exchange.answer);
        if exchange.outputs().is_none() {
            return;
        }
        if exchange.op == "reset" {
            self.account = Account::default();
        }
        self.account.latest = self.account.latest.max(exchange.now.unwrap_or(i64::MIN));
        self.sessions.extend(session_of(exchange));
        self.log_shape(exchange, found);
        if exchange.is_refused() {
            return;
        }
        if exchange.op == ENTRY {
            return self.log.see(exchange, &exchange.request);
        }
        match &*exchange.op {
            "call" => self.call(exchange, found),
            "configure" => {
                self.warns(exchange, found);
                self.configure(exchange);
            }
            "introspect" => self.introspect(exchange, found),
            "event" => self.event(exchange),
            "end_session" => self.end_session(exchange),
            "restart" => self.restart(exchange),
            "hello" | "reset" | "tick" => runs_unasked(exchange, found),
            _ => self.unknown(exchange),
        }
        self.revoked(exchange);
    }

    fn end(&mut self, found: &mut Found) {
        self.log.end(found);
    }

    fn sessions(&self) -> &BTreeSet<String> {
        &self.sessions
    }

    fn not_judged(&self, found: &Found) -> Vec<NotJudged> {
        if self.log.is_read {
            return self.log.not_judged(found);
        }
        let reasons = [
            "nothing was asked or shown that it is about",
            "a transcript does not show it",
        ];
        let mut not_judged = untouched(found, rules::ALL, reasons);
        if let Some((line, count)) = self.unread {
            let reason = format!(
                "line {line} answers a call without a readable `operation`, `params` or `danger_level` ({count} such)"
            );
            not_judged.push(NotJudged::open(first_clause(Protocol::McpAql), reason));
        }
        not_judged.extend(unknown_op(Protocol::McpAql, self.unknown.as_ref()));
        not_judged.extend(self.unread_times.open());
        if let Some((line, event, count)) = self.told_again {
            let reason = format!(
                "the answer on line {line} has more entries {event} than it did such things ({count} such): whether the log tells of one thing twice does not show; each entry would have to say of which step it is"
            );
            not_judged.push(NotJudged::open(rules::ENTRY_SHAPE.clause, reason));
        }
        if let Some((late, line)) = self.late {
            let reason = format!(
                "a token is taken {late} ms after its expiry on line {line}: whether the tolerance is longer than the 30 s that it is where nobody sets it does not show; a transcript would have to hold a `configure` with clock_skew_tolerance_seconds"
            );
            not_judged.push(NotJudged::partly(rules::EXPIRED_TAKEN.clause, reason));
        }
        not_judged
    }
}

/// The clauses on which nothing was looked at: those that these rules judge for the first reason, and the others for the second.
fn untouched(found: &Found, rules: &[&Rule], [of_these, of_others]: [&str; 2]) -> Vec<NotJudged> {
    let judged: BTreeSet<&str> = rules.iter().flat_map(|rule| rule.all_clauses()).collect();
    let clauses = countersign_clauses::all().iter();
    let clauses = clauses
        .filter(|clause| clause.protocol == "mcp-aql")
        .map(|clause| clause.id.as_str())
        .filter(|id| !found.touched.contains(id));
    let reason = |id| {
        if judged.contains(id) {
            of_these
        } else {
            of_others
        }
    };
    clauses
        .map(|id| NotJudged::unseen(id, reason(id)))
        .collect()
}

impl Monitor {
    fn configure(&mut self, exchange: &Exchange<'_>) {
        let name = exchange.request.text("adapter").unwrap_or_default();
        self.account
            .adapters
            .entry(name.clone())
            .or_default()
            .configure(&exchange.request);
        // Only what would mean something else now is revoked: which that is, is left open.
        self.account.end(End::Perhaps, exchange.line, |token| {
            token.call.adapter == name
        });
    }

    /// AQL-5.3-2: tokens may end with what happens. What is bound to a session ends with its logout, all with anything else.
    fn event(&mut self, exchange: &Exchange<'_>) {
        let session = exchange.request.text("session_id");
        let is_logout = exchange.request.text("kind").as_deref() == Some("logout");
        self.account.end(End::Event, exchange.line, |token| {
            !is_logout || session.is_some() && token.is_bound && token.call.session == session
        });
        if is_logout {
            // Of whom a logout is that names no session, nobody knows.
            let may_end = |token: &Token| session.is_none() || token.call.session == session;
            self.account.end(End::Perhaps, exchange.line, may_end);
        }
    }

    /// AQL-5.4-2: what is bound to a session ends with it.
    fn end_session(&mut self, exchange: &Exchange<'_>) {
        let session = exchange.request.text("session_id");
        self.account.end(End::Session, exchange.line, |token| {
            token.is_bound && token.call.session == session
        });
        self.account.end(End::Perhaps, exchange.line, |token| {
            token.call.session == session
        });
        self.account.ended.extend(session);
    }

    /// AQL-5.5-1: a token may be lost with the process.
    fn restart(&mut self, exchange: &Exchange<'_>) {
        self.account.end(End::Perhaps, exchange.line, |_| true);
        self.account.restart();
    }

    /// AQL-5.3-3: a token that was given back is not taken any more.
    fn introspect(&mut self, exchange: &Exchange<'_>, found: &mut Found) {
        runs_unasked(exchange, found);
        let request = &exchange.request;
        if request.text("query").as_deref() != Some("revoke_token") {
            return;
        }
        found.touch(&rules::REVOKED_TAKEN);
        let response = response(exchange);
        let is_revoked = response
            .as_ref()
            .is_some_and(|it| it.flag("success") == Some(true));
        let token = request.text("token").unwrap_or_default();
        let says = response.and_then(|it| it.object("data")?.flag("revoked"));
        if !is_revoked || says == Some(false) {
            return;
        }
        let latest = self.account.latest;
        let known = self.account.tokens.get(&token);
        if let Some(known) = known.filter(|it| it.is_live(latest)) {
            self.revocation_is_told(exchange, known, found);
        }
        if let Some(token) = self.account.tokens.get_mut(&token) {
            token.end = Some((End::Revoked, exchange.line));
        }
    }

    fn call(&mut self, exchange: &Exchange<'_>, found: &mut Found) {
        let Some(call) = Call::of(&exchange.request) else {
            self.unread.get_or_insert((exchange.place.line, 0)).1 += 1;
            return self.not_read(exchange);
        };
        let outputs = exchange.outputs().unwrap_or_default();
        let runs: Vec<_> = outputs
            .iter()
            .filter(|output| output.kind == "perform")
            .collect();
        for run in &runs {
            Self::runs_as_called(exchange, &call, &run.fields, found);
        }
        match &call.token {
            Some(token) if call.is_gated() => {
                self.with_token(exchange, &call, token, runs.len(), found);
            }
            Some(token) if !runs.is_empty() => {
                self.not_needed(exchange, &call, token, runs.len(), found);
            }
            None if call.is_gated() => {
                self.without_token(exchange, &call, !runs.is_empty(), found);
            }
            _ => {}
        }
        self.issued(exchange, &call, found);
        self.log_truth(exchange, &call, found);
    }

    /// AQL-4.1-1: what came of a request that nobody can read may have ended any token.
    fn unknown(&mut self, exchange: &Exchange<'_>) {
        if exchange.outputs().is_none_or(<[_]>::is_empty) {
            return;
        }
        let first = || (exchange.place.line, exchange.op.clone(), 0);
        self.unknown.get_or_insert_with(first).2 += 1;
        self.account.end(End::Perhaps, exchange.line, |_| true);
        self.not_read(exchange);
    }

    /// AQL-4.1-1: a call that cannot be read may have used its token, and may have got one: for what that is good, nobody knows.
    fn not_read(&mut self, exchange: &Exchange<'_>) {
        let taken = exchange.request.text("confirmation_token");
        if let Some(token) = taken.and_then(|it| self.account.tokens.get_mut(&it)) {
            token.end.get_or_insert((End::Perhaps, exchange.line));
        }
        let details = response(exchange).and_then(|it| it.object("error")?.object("details"));
        if let Some(name) = details.and_then(|it| it.text("confirmation_token")) {
            self.account.tokens.remove(&name);
            self.account.unread.insert(name);
        }
    }

    /// AQL-1.2-3, AQL-3.2-1: what runs is what was called.
    fn runs_as_called(exchange: &Exchange<'_>, call: &Call, run: &Fields<'_>, found: &mut Found) {
        found.touch(&rules::RUNS_OTHERWISE);
        let is_other = |told: Option<String>, called: Option<&str>| {
            told.is_some() && told.as_deref() != called
        };
        let what = if is_other(run.text("operation"), Some(&call.operation)) {
            "operation"
        } else if run
            .raw("params")
            .is_some_and(|params| differs(params, &call.params))
        {
            "params"
        } else if is_other(run.text("adapter"), Some(&call.adapter)) {
            "adapter"
        } else {
            return;
        };
        accuse(
            &rules::RUNS_OTHERWISE,
            exchange,
            call,
            format!("{what} of what runs is not as it was called"),
            found,
        );
    }

    /// AQL-1.3-1: a gated call without a token does not run, and gets one. Limits may keep it from one, and so may parameters without
    /// one meaning.
    fn without_token(&self, exchange: &Exchange<'_>, call: &Call, runs: bool, found: &mut Found) {
        found.touch(&rules::RUNS_UNASKED);
        if runs {
            let message = format!(
                "perform of {:?}, which is {} and was called without a token",
                call.operation,
                call.level_word()
            );
            accuse(&rules::RUNS_UNASKED, exchange, call, message, found);
        } else if self.shows.has("respond") && response(exchange).is_none() {
            let message = format!(
                "{:?} was called without a token, and the client is told nothing",
                call.operation
            );
            accuse(&rules::GETS_NO_TOKEN, exchange, call, message, found);
        }
    }

    fn with_token(
        &mut self,
        exchange: &Exchange<'_>,
        call: &Call,
        token: &str,
        runs: usize,
        found: &mut Found,
    ) {
        let is_known = self.account.tokens.contains_key(token);
        if !is_known && (self.account.unread.contains(token) || !self.shows.has("respond")) {
            return;
        }
        if !self.shows.has("perform") {
            // It may have been used, and nobody knows.
            if let Some(token) = self.account.tokens.get_mut(token) {
                token.end.get_or_insert((End::Perhaps, exchange.line));
            }
            return;
        }
        if runs == 0 {
            // What has ended it may be this very call.
            self.revoked(exchange);
        }
        let weighed = self.faults(exchange, call, token);
        self.has_one_tolerance(exchange, call, &weighed, runs > 0, found);
        if runs == 0 {
            self.turned_away(exchange, call, &weighed, found);
        }
        for _ in 0..runs {
            let again = self.faults(exchange, call, token);
            Self::taken(exchange, call, &again, found);
            if let Some(token) = self.account.tokens.get_mut(token) {
                token.uses.push(exchange.line);
            }
        }
    }

    /// AQL-4.1-3, AQL-5.1-3: a call that needs no token may run with one. The log says whether that was taken; without it, nobody knows.
    fn not_needed(
        &mut self,
        exchange: &Exchange<'_>,
        call: &Call,
        token: &str,
        runs: usize,
        found: &mut Found,
    ) {
        let known = self.account.tokens.get(token);
        if logged::is_validated(exchange, known) {
            self.with_token(exchange, call, token, runs, found);
        } else if !self.shows.has("audit")
            && let Some(token) = self.account.tokens.get_mut(token)
        {
            token.end.get_or_insert((End::Perhaps, exchange.line));
        }
    }

    /// AQL-1.3-2, AQL-4.1-1, AQL-4.1-2, AQL-4.1-3, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-7.1-1: the checks that a token fails.
    fn faults(&self, exchange: &Exchange<'_>, call: &Call, name: &str) -> Weighed {
        let mut faults = Vec::new();
        let Some(token) = self.account.tokens.get(name) else {
            let why = "it was never issued".to_owned();
            faults.push(Fault {
                rule: &rules::UNKNOWN_TAKEN,
                code: INVALID,
                why,
            });
            return Weighed {
                faults,
                is_open: false,
            };
        };
        let mut is_open = self.lifetime(exchange, token, &mut faults);
        if token.uses.len() as u64 >= token.most_uses {
            let line = token.uses.last().copied().unwrap_or_default();
            let why = format!("it was used up on line {line}");
            faults.push(Fault {
                rule: &rules::USED_TAKEN,
                code: USED,
                why,
            });
        }
        if token.call.operation != call.operation {
            let why = format!("it is for {:?}", token.call.operation);
            faults.push(Fault {
                rule: &rules::OPERATION_TAKEN,
                code: MISMATCH,
                why,
            });
        }
        match Self::parameters(token, call) {
            Some(true) => {}
            Some(false) => {
                let why = "it is for other parameters".to_owned();
                faults.push(Fault {
                    rule: &rules::PARAMETERS_TAKEN,
                    code: MISMATCH,
                    why,
                });
            }
            None => is_open = true,
        }
        if token.call.adapter != call.adapter {
            let why = format!("it is of the adapter {:?}", token.call.adapter);
            faults.push(Fault {
                rule: &rules::ADAPTER_TAKEN,
                code: MISMATCH,
                why,
            });
        }
        // What is dangerous past a quota is asked about once, with a token of confirmation.
        if call.is_dangerous() && !token.call.is_dangerous() {
            let why = "it is for a quota".to_owned();
            faults.push(Fault {
                rule: &rules::QUOTA_CONFIRMS,
                code: MISMATCH,
                why,
            });
        }
        if token.is_bound && call.session != token.call.session {
            let why = "it is bound to another session".to_owned();
            faults.push(Fault {
                rule: &rules::OTHER_SESSION_TAKEN,
                code: "",
                why,
            });
        }
        is_open |= is_ended(token, &mut faults);
        is_open |= call.level > token.call.level
            || call.is_quota != token.call.is_quota
            || call.is_dangerous() != token.call.is_dangerous()
            || call.session != token.call.session
            || call
                .session
                .as_ref()
                .is_some_and(|session| self.account.ended.contains(session));
        Weighed { faults, is_open }
    }

    /// AQL-4.1-2, AQL-5.1-3, AQL-5.1-7: a token is good until its expiry, and the tolerance beyond. Whether that is past may be open.
    fn lifetime(&self, exchange: &Exchange<'_>, token: &Token, faults: &mut Vec<Fault>) -> bool {
        let (Some(expires_at), Some(now)) = (token.expires_at, exchange.now) else {
            return true;
        };
        let (least, most) = self.account.tolerance(token);
        if now > expires_at.saturating_add(most) {
            let why = "it has expired".to_owned();
            faults.push(Fault {
                rule: &rules::EXPIRED_TAKEN,
                code: EXPIRED,
                why,
            });
            return false;
        }
        // The clock may have been set back, and the greatest time may count.
        self.account.latest > expires_at.saturating_add(least)
    }

    /// AQL-5.1-7: where nobody sets a tolerance, there is one all the same: none is taken that is later than one that has expired.
    fn has_one_tolerance(
        &mut self,
        exchange: &Exchange<'_>,
        call: &Call,
        weighed: &Weighed,
        is_taken: bool,
        found: &mut Found,
    ) {
        let token = call.token.as_ref();
        let token = token.and_then(|token| self.account.tokens.get(token));
        let Some((token, now)) = token.zip(exchange.now) else {
            return;
        };
        let adapter = self.account.adapters.get(&token.call.adapter);
        let is_set = [Some(token.tolerance), adapter.map(Adapter::tolerance)];
        let is_set = is_set
            .into_iter()
            .flatten()
            .any(|(least, most)| least == most);
        let late = now.saturating_sub(token.expires_at.unwrap_or(now));
        // The greatest time may count, or the one of the request.
        if is_set || late <= 0 || now < self.account.latest || !weighed.faults.is_empty() {
            return;
        }
        let error = response(exchange).and_then(|it| it.object("error"));
        let has_expired = error.and_then(|it| it.text("code")).as_deref() == Some(EXPIRED);
        if !is_taken && !has_expired {
            return;
        }
        let adapter = token.call.adapter.clone();
        let adapter = self.account.adapters.entry(adapter).or_default();
        let seen = Some((late, exchange.line));
        if is_taken && late > DEFAULT_TOLERANCE {
            self.late.get_or_insert((late, exchange.line));
        }
        if is_taken {
            adapter.taken_late = adapter.taken_late.max(seen);
        } else if adapter.expired_after.is_none_or(|(least, _)| late < least) {
            adapter.expired_after = seen;
        }
        let both = adapter.taken_late.zip(adapter.expired_after);
        if let Some(((taken, one), (expired, other))) = both.filter(|(it, least)| it.0 >= least.0) {
            let message = format!(
                "a token is taken {taken} ms after its expiry on line {one}, and one has expired after {expired} ms on line {other}"
            );
            (adapter.taken_late, adapter.expired_after) = (None, None);
            accuse(&rules::OF_TWO_TOLERANCES, exchange, call, message, found);
        }
    }

    /// AQL-3.2-3, AQL-3.2-4, AQL-4.3-1: whether the critical parameters are the same; nobody knows of what has no one meaning.
    fn parameters(token: &Token, call: &Call) -> Option<bool> {
        let (issued, called) = (&*token.call.params, &*call.params);
        if same(issued, called) {
            return Some(true);
        }
        if token.critical.is_none() && differs(issued, called) {
            return (!differ_in_metadata(issued, called)).then_some(false);
        }
        let critical = token.critical.as_ref()?;
        let (issued, called) = (Fields::parse(issued)?, Fields::parse(called)?);
        let named: Vec<&String> = critical
            .iter()
            .filter(|name| issued.has(name) || called.has(name))
            .collect();
        let is_same = |name: &&String| match (issued.raw(name), called.raw(name)) {
            (Some(one), Some(other)) if same(one, other) => Some(true),
            (Some(one), Some(other)) => differs(one, other).then_some(false),
            _ => Some(false),
        };
        let found: Vec<_> = named.iter().map(is_same).collect();
        // A list that names none of the parameters binds them all: nothing at all is no binding.
        match found.as_slice() {
            [] => {
                let (issued, called) = (&*token.call.params, &*call.params);
                let is_other = differs(issued, called) && !differ_in_metadata(issued, called);
                is_other.then_some(false)
            }
            _ if found.contains(&Some(false)) => Some(false),
            _ if found.contains(&None) => None,
            // Another object with the same critical parameters may be told apart by whoever binds more than that.
            _ => Some(true),
        }
    }

    fn taken(exchange: &Exchange<'_>, call: &Call, weighed: &Weighed, found: &mut Found) {
        for rule in TAKEN {
            found.touch(rule);
        }
        for fault in &weighed.faults {
            let message = format!(
                "confirmation_token of {:?} is taken, though {}",
                call.operation, fault.why
            );
            accuse(fault.rule, exchange, call, message, found);
        }
    }

    /// AQL-4.2-1, AQL-5.1-7, AQL-7.1-2: a good token is taken, and one that fails a check gets its code. To tell nothing of which check
    /// failed is another way to take the text; and what is told of a token that is gone is left open.
    fn turned_away(
        &mut self,
        exchange: &Exchange<'_>,
        call: &Call,
        weighed: &Weighed,
        found: &mut Found,
    ) {
        if !self.shows.has("respond") {
            return;
        }
        let Some(response) = response(exchange) else {
            let why = weighed.faults.first();
            let why = why.map_or_else(String::new, |it| format!(" ({})", it.why));
            let message = format!(
                "{:?} was called with a token{why}, and neither runs nor is the client told why not",
                call.operation
            );
            return accuse(&rules::TOLD_NOTHING, exchange, call, message, found);
        };
        let error = response.object("error").unwrap_or_default();
        let code = error.text("code").unwrap_or_default();
        for rule in TAKEN {
            found.touch(rule);
        }
        found.touch(&rules::FAILURE_SHAPE);
        let has_all = response.flag("success") == Some(false)
            && error.text("message").is_some()
            && error.object("details").is_some();
        if !has_all || code.is_empty() {
            accuse(&rules::FAILURE_SHAPE, exchange, call, "error of a failed check lacks `code`, `message` or `details`, or `success` is not false".to_owned(), found);
        }
        self.tells_no_value(exchange, call, &error, found);
        if let Some((rule, why)) = self.is_untrue(call, &code) {
            let rule = if weighed.faults.is_empty() {
                rule
            } else {
                &rules::ANOTHER_CODE
            };
            let message = format!("code {code} for a token {why}");
            return accuse(rule, exchange, call, message, found);
        }
        // By which code a token is turned away that is bound to another session, the text does not say, and for one that was ended
        // before its time it has none.
        let is_ended = |fault: &Fault| {
            let rules = [
                &rules::ENDED_TAKEN,
                &rules::REVOKED_TAKEN,
                &rules::ENDED_BY_EVENT_TAKEN,
            ];
            rules.contains(&fault.rule)
        };
        let has_no_code = |fault: &Fault| fault.code.is_empty() || is_own(&code) && is_ended(fault);
        if weighed.is_open || weighed.faults.iter().any(has_no_code) {
            return;
        }
        let rule = match (weighed.faults.as_slice(), &*code) {
            ([], code) if is_own(code) => &rules::TURNED_AWAY,
            (_, code) if is_own(code) => &rules::ANOTHER_CODE,
            (faults @ [_, ..], INVALID)
                if self.has_codes(call) && faults.iter().all(Fault::stays) =>
            {
                &rules::ANOTHER_CODE
            }
            ([], EXPIRED) => &rules::TURNED_AWAY_AS_EXPIRED,
            ([], USED) => &rules::TURNED_AWAY_AS_USED,
            ([], MISMATCH) => &rules::TURNED_AWAY_AS_ANOTHERS,
            ([], INVALID) => &rules::TURNED_AWAY,
            (faults, USED | EXPIRED | MISMATCH) => {
                let is_gone = faults.iter().any(|it| it.code == INVALID);
                let has_code = faults.iter().any(|it| it.code == code);
                if has_code
                    || is_gone
                        && code == USED
                        && !faults.iter().any(|it| it.rule == &rules::UNKNOWN_TAKEN)
                {
                    return;
                }
                &rules::ANOTHER_CODE
            }
            _ => return,
        };
        let why = weighed
            .faults
            .first()
            .map_or("nothing is wrong with it", |fault| &*fault.why);
        accuse(
            rule,
            exchange,
            call,
            format!("code {code} for a token of which this is known: {why}"),
            found,
        );
    }

    /// What is wrong with a code whatever else may be open: the token was never used, or its time has not come.
    fn is_untrue(&self, call: &Call, code: &str) -> Option<(&'static Rule, &'static str)> {
        let token = call.token.as_ref();
        let token = token.and_then(|token| self.account.tokens.get(token));
        let token = token.filter(|token| token.end.is_none())?;
        let ends = token
            .expires_at?
            .saturating_add(self.account.tolerance(token).0);
        match code {
            USED if token.uses.is_empty() => {
                Some((&rules::TURNED_AWAY_AS_USED, "that was never used"))
            }
            EXPIRED if self.account.latest <= ends => {
                Some((&rules::TURNED_AWAY_AS_EXPIRED, "whose time has not come"))
            }
            _ => None,
        }
    }

    /// Whether the adapters of a call and of its token were told to answer each failed check by its code.
    fn has_codes(&self, call: &Call) -> bool {
        let token = call.token.as_ref();
        let issuer = token.and_then(|token| self.account.tokens.get(token));
        let names = [Some(&call.adapter), issuer.map(|it| &it.call.adapter)];
        let mut adapters = names.into_iter().flatten();
        adapters.all(|name| {
            let adapter = self.account.adapters.get(name);
            adapter.is_some_and(|it| it.has_codes == Some(true))
        })
    }

    /// AQL-6.3-1: a failed check tells the value of no parameter, of the call or of those that the token is bound to. Words that stand in
    /// a message by chance are no values: they have to change with the parameters.
    fn tells_no_value(
        &mut self,
        exchange: &Exchange<'_>,
        call: &Call,
        error: &Fields<'_>,
        found: &mut Found,
    ) {
        found.touch(&rules::VALUE_TOLD);
        let token = call.token.as_deref().unwrap_or_default();
        let issued = self.account.tokens.get(token).map(|it| &*it.call.params);
        let mut values = BTreeSet::new();
        for params in [Some(&*call.params), issued].into_iter().flatten() {
            if let Ok(params) = serde_json::from_str(params) {
                leaves(&params, &mut |value| {
                    values.insert(value.to_owned());
                });
            }
        }
        let mut told: Vec<(&str, String)> = Vec::new();
        told.extend(error.text("message").map(|it| ("message", it)));
        let mut known = vec![
            call.operation.clone(),
            call.adapter.clone(),
            token.to_owned(),
        ];
        known.extend(exchange.request.text("now"));
        let details = error.object("details").unwrap_or_default();
        for name in details.names() {
            let text = details.text(name);
            if OWN.contains(&name) {
                known.extend(text);
            } else if let Some(Ok(value)) = details.raw(name).map(serde_json::from_str) {
                leaves(&value, &mut |text| told.push(("details", text.to_owned())));
            }
        }
        values.retain(|value| {
            value.len() >= TELLING && !known.iter().any(|it| it.contains(&**value))
        });
        for (member, text) in &told {
            for value in values.iter().filter(|value| text.contains(&***value)) {
                let is_word = value.chars().all(|it| it.is_alphabetic() || it == ' ');
                if is_word && !self.changes_with(text, value) {
                    continue;
                }
                let message = format!("{member} of a failed check tells the value of a parameter");
                accuse(&rules::VALUE_TOLD, exchange, call, message, found);
                return;
            }
        }
    }

    /// Whether the same words were told about another value before.
    fn changes_with(&mut self, text: &str, value: &str) -> bool {
        let around = text.replacen(value, "\0", 1);
        let before = self.told.entry(around).or_insert_with(|| value.to_owned());
        before != value
    }
}

/// What the details of a failed check have of their own.
const OWN: [&str; 5] = [
    "token",
    "confirmation_token",
    "expired_at",
    "expires_at",
    "current_time",
];

/// Whether a code speaks of the token, and is none of those that there are. Others may be about something else.
fn is_own(code: &str) -> bool {
    let known = [INVALID, EXPIRED, USED, MISMATCH, "CONFIRMATION_REQUIRED"];
    let code_in_lower = code.to_lowercase();
    let has = |part: &&str| code_in_lower.contains(part);
    let others = [
        "rate", "limit", "quota", "many", "throttl", "auth", "access", "csrf", "bearer",
    ];
    !known.contains(&code) && ["token", "confirmation"].iter().any(has) && !others.iter().any(has)
}

impl Fault {
    /// Whether the token stays known, so that there is nothing but this to tell of it.
    fn stays(&self) -> bool {
        [USED, MISMATCH].contains(&self.code)
    }
}

/// The session that an exchange is about.
fn session_of(exchange: &Exchange<'_>) -> Option<String> {
    let of_entry = || {
        exchange
            .request
            .object("client_context")?
            .text("session_id")
    };
    exchange.request.text("session_id").or_else(of_entry)
}

fn accuse(
    rule: &'static Rule,
    exchange: &Exchange<'_>,
    call: &Call,
    message: String,
    found: &mut Found,
) {
    found.accuse(
        rule,
        exchange,
        &call.operation,
        call.session.as_deref(),
        message,
    );
}

/// AQL-1.3-1: nothing runs but what was called.
fn runs_unasked(exchange: &Exchange<'_>, found: &mut Found) {
    let mut outputs = exchange.outputs().unwrap_or_default().iter();
    if outputs.any(|output| output.kind == "perform") {
        let message = "perform of an operation that nobody has called".to_owned();
        found.accuse(&rules::RUNS_UNASKED, exchange, "", None, message);
    }
}

/// AQL-5.3-2, AQL-5.3-3, AQL-5.4-2: what has ended a token before its time. Whether something has may be open.
fn is_ended(token: &Token, faults: &mut Vec<Fault>) -> bool {
    match token.end {
        Some((End::Session, line)) => {
            let why = format!("its session has ended on line {line}");
            faults.push(Fault {
                rule: &rules::ENDED_TAKEN,
                code: INVALID,
                why,
            });
        }
        Some((End::Revoked, line)) => {
            let why = format!("it was revoked on line {line}");
            faults.push(Fault {
                rule: &rules::REVOKED_TAKEN,
                code: INVALID,
                why,
            });
        }
        Some((End::Event, line)) => {
            let why = format!("what happened on line {line} has ended it");
            faults.push(Fault {
                rule: &rules::ENDED_BY_EVENT_TAKEN,
                code: INVALID,
                why,
            });
        }
        Some((End::Perhaps, _)) => return true,
        None => {}
    }
    false
}

/// AQL-3.2-1: whether only such parameters differ as may be metadata, by their names: whether they bind, nobody knows.
fn differ_in_metadata(issued: &str, called: &str) -> bool {
    let (Some(issued), Some(called)) = (Fields::parse(issued), Fields::parse(called)) else {
        return false;
    };
    let mut names = issued.names().chain(called.names());
    names.all(|name| match (issued.raw(name), called.raw(name)) {
        (Some(one), Some(other)) if same(one, other) => true,
        _ => METADATA
            .iter()
            .any(|part| name.to_lowercase().contains(part)),
    })
}

/// Parts of names that metadata have.
const METADATA: [&str; 5] = ["request", "time", "trace", "correlation", "date"];

/// A value of so many characters in a text is that value, and not by chance.
const TELLING: usize = 6;

/// What is looked at where a token is checked.
const TAKEN: [&Rule; 8] = [
    &rules::UNKNOWN_TAKEN,
    &rules::EXPIRED_TAKEN,
    &rules::USED_TAKEN,
    &rules::OPERATION_TAKEN,
    &rules::PARAMETERS_TAKEN,
    &rules::ADAPTER_TAKEN,
    &rules::TURNED_AWAY_AS_EXPIRED,
    &rules::ANOTHER_CODE,
];

/// What the client is told.
fn response<'a>(exchange: &'a Exchange<'_>) -> Option<Fields<'a>> {
    let mut outputs = exchange.outputs().unwrap_or_default().iter();
    outputs
        .find(|output| output.kind == "respond")
        .map(|output| output.fields.clone())
}
