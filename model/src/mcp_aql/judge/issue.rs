//! Sections 1 to 3, and the lifetimes of 5.1: what is gated, and how a token is given away.

use crate::mcp_aql::readings::{MultiUse, SessionBinding, TokenStorage};

use super::account::{Chance, Token};
use super::limits::Tried;
use super::words::{Answer, Issued, Level, LogEvent, Performed, Purpose, Readable, Request};
use super::{Case, TokenJudge, is_time, log};

/// AQL-3.1-1: 128 bits, at the 6 bits that one of 64 characters can hold.
const SHORTEST_IDENTIFIER: usize = 22;

impl Request {
    /// AQL-1.3-1, AQL-5.1-8: whether it needs a token: every quota pause does, and every operation above reversible.
    pub(super) fn is_gated(&self) -> bool {
        self.purpose == Purpose::Quota || self.is_dangerous()
    }

    /// Whether it has to be confirmed; a quota token does not do that.
    pub(super) fn is_dangerous(&self) -> bool {
        self.level >= Level::Destructive
    }
}

impl TokenJudge {
    // AQL-1.3-1, AQL-5.1-8: what is not gated runs when it is called.
    pub(super) fn runs_at_once(&mut self, request: &Request, case: &mut Case) {
        if self.is_turned_away(request, case) {
            return;
        }
        if let Some(performed) = case.take_performed() {
            return runs_as_called(request, performed, case);
        }
        case.conformance(
            "AQL-1.3-1",
            &["AQL-5.1-8"],
            format!("operation {} must run: it is not gated", request.operation),
        );
        if let Some(Answer::Issued(issued)) = case.answers.first().copied() {
            case.take_answer();
            self.is_issued(request, issued, case);
        }
    }

    // AQL-1.3-1: what is gated does not run without a token, and is answered with one.
    pub(super) fn is_asked_about(&mut self, request: &Request, case: &mut Case) {
        if let Some(performed) = case.take_performed() {
            case.guarantee(
                "AQL-1.3-1",
                &["AQL-5.1-8"],
                format!(
                    "operation {} must not run: nobody has confirmed it",
                    performed.operation
                ),
            );
            case.entries.clear();
            case.refused = false;
            return;
        }
        if self.is_turned_away(request, case) {
            // AQL-6.4-1: there is no token to name, and it may be logged that there is none.
            case.take_entry(|entry| (entry.event, entry.success) == (LogEvent::Issued, false));
            return;
        }
        match case.take_answer() {
            Some(Answer::Issued(issued)) => self.is_issued(request, issued, case),
            Some(
                Answer::Failed(_)
                | Answer::Unreadable
                | Answer::Limited
                | Answer::Full
                | Answer::Revoked { .. }
                | Answer::Status { .. }
                | Answer::Other,
            )
            | None => case.conformance(
                "AQL-1.3-1",
                &["AQL-3.3-1"],
                format!(
                    "operation {} must be answered with a token and the time it expires",
                    request.operation
                ),
            ),
        }
    }

    /// Whether a call was not taken at all. Where nothing allows that, the clauses that follow miss what they want.
    pub(super) fn is_turned_away(&mut self, request: &Request, case: &mut Case) -> bool {
        let may = self.may_be_refused(request);
        // AQL-5.5-3: a thousand tokens can be alive.
        let capacity = self.limits.capacity.unwrap_or(1000);
        let tried = match request.token {
            None => Tried::Issuance,
            Some(_) => Tried::FailedValidation,
        };
        match case.answers.first() {
            _ if case.refused && !may => {
                case.conformance(
                    "AQL-1.3-1",
                    &["AQL-7.1-2"],
                    format!("the call of operation {} must be taken: nothing in it is out of range or without meaning", request.operation),
                );
            }
            _ if case.refused => {}
            Some(Answer::Unreadable) if request.parameters.is_none() => {}
            Some(Answer::Unreadable) => case.conformance(
                "AQL-3.2-1",
                &["AQL-3.2-3"],
                format!(
                    "the parameters of operation {} must be bound: they have one meaning",
                    request.operation
                ),
            ),
            // AQL-6.5-1: what repeats something may be limited.
            Some(Answer::Limited) => self.is_limited(&[tried], case),
            Some(Answer::Full) if !self.account.has_room(request.adapter, capacity) => {}
            Some(Answer::Full) => case.conformance(
                "AQL-5.5-3",
                &[],
                format!(
                    "adapter {} must have room for {capacity} tokens",
                    request.adapter
                ),
            ),
            _ => return false,
        }
        // What was tried in vain is repeated by the next.
        self.may_count(tried);
        if !std::mem::take(&mut case.refused) {
            case.take_answer();
        }
        true
    }

    /// Whether a call may be refused: something in it is out of range, contradicts itself, or names a session that ended.
    fn may_be_refused(&self, request: &Request) -> bool {
        let ended = |session| {
            self.account
                .sessions
                .get(&session)
                .is_some_and(|it| it.ends > 0)
        };
        let scoped = request.session_scope;
        request.parameters.is_none()
            || request.session.is_some_and(ended)
            || request.ttl_seconds.is_some_and(|ttl| ttl < 1)
            || request
                .ttl_seconds
                .is_some_and(|ttl| ttl > self.shortest_of_longest(request))
            || request.max_uses < 1
            || self.has_too_many_uses(request)
            || (self.reading.token_storage == TokenStorage::Signed
                && self.is_bound(request) > Chance::No)
            || (request.max_uses > 1 && (request.session.is_none() || scoped == Some(false)))
            || (scoped == Some(true) && request.session.is_none())
            || (request.purpose == Purpose::Quota && request.is_dangerous())
    }

    /// The lifetime beyond which a call may be refused.
    fn shortest_of_longest(&self, request: &Request) -> i64 {
        let (default, longest) = self.lifetimes(request.purpose, request.level);
        let (confirmed_default, confirmed) = self.lifetimes(Purpose::Confirmation, request.level);
        if self.leeway.has_short_lives {
            default.min(confirmed_default)
        } else {
            longest.min(confirmed)
        }
    }

    /// AQL-5.1-1: the lifetime where none is asked for, and the longest, in seconds.
    fn lifetimes(&self, purpose: Purpose, level: Level) -> (i64, i64) {
        let numbers = &self.reading.numbers;
        let lifetimes = match (purpose, level) {
            (Purpose::Quota, _) => numbers.quota,
            (Purpose::Confirmation, Level::Forbidden) => numbers.forbidden,
            (
                Purpose::Confirmation,
                Level::Safe | Level::Reversible | Level::Destructive | Level::Dangerous,
            ) => numbers.destructive,
        };
        (lifetimes.default.into(), lifetimes.longest.into())
    }

    /// Sections 2 and 3: a token was given away.
    fn is_issued(&mut self, request: &Request, issued: Issued, case: &mut Case) {
        let by = (request.adapter, request.session);
        self.is_tried(Tried::Issuance, by, case);
        self.is_well_made(request, issued, case);
        tells_what_is_asked(request, issued, case);
        self.may_have_its_uses(request, case);
        self.is_of_session(request, case);
        let expires_at = self.is_time_bounded(request, issued, case);
        let Some(name) = issued.token else { return };
        // AQL-3.2-1: a token is bound to its operation and to the parameters that count; without a meaning they cannot be.
        if request.parameters.is_none() {
            let text =
                format!("token {name} must not be issued: its parameters have not one meaning");
            case.conformance("AQL-3.2-1", &["AQL-3.2-3"], text);
        }
        let token = self.token(request, issued, expires_at);
        self.account.add(name, token);
        let wanted = log::Wanted::new(&[(LogEvent::Issued, true)], name).about(request);
        self.is_logged(&wanted, &["AQL-1.2-5"], case);
    }

    // AQL-2.1-1, AQL-2.2-1, AQL-2.2-2, AQL-3.1-1, AQL-6.3-3: what a token looks like.
    fn is_well_made(&self, request: &Request, issued: Issued, case: &mut Case) {
        let Some(name) = issued.token else {
            let text = "a token must stand in the answer".to_owned();
            return case.conformance("AQL-3.3-1", &["AQL-1.3-1"], text);
        };
        // A quota token is no confirmation, and a pause of something dangerous may ask for either.
        let fits = issued.prefix == Some(request.purpose)
            || (issued.prefix == Some(Purpose::Confirmation) && request.is_dangerous());
        if !fits {
            let text = format!("token {name} must begin with {}", request.purpose.prefix());
            case.conformance("AQL-2.1-1", &[], text);
        }
        if !issued.url_safe || !(1..=64).contains(&issued.identifier_length) {
            let text = format!(
                "the identifier of token {name} must be 1 to 64 letters, digits, underscores or hyphens"
            );
            case.conformance("AQL-2.2-1", &[], text);
        }
        if !(8..=80).contains(&issued.length) {
            let text = format!("token {name} must have 8 to 80 characters");
            case.conformance("AQL-2.2-2", &[], text);
        }
        if issued.identifier_length < SHORTEST_IDENTIFIER {
            let text = format!(
                "token {name} must hold 128 bits, which takes {SHORTEST_IDENTIFIER} characters"
            );
            case.conformance("AQL-3.1-1", &["AQL-3.1-3"], text);
        }
        // AQL-6.3-3: the payload of 2.3 is internal, so that a token that is kept is a key and no more. One that is signed (6.2) holds
        // it, and of the parameters the hash alone.
        let payload_is_in = self.reading.token_storage == TokenStorage::Signed;
        let told = match issued.reads {
            Some(Readable::Name) if !payload_is_in => Some("the name of something"),
            Some(Readable::Value) => Some("a value of a parameter"),
            Some(Readable::Name) | None => None,
        };
        if let Some(what) = told {
            let text =
                format!("token {name} must tell nothing of the inside: {what} can be read off it");
            case.conformance("AQL-6.3-3", &[], text);
        }
        if self.account.tokens.contains_key(&name) {
            let text = format!("token {name} must be new: it was issued before");
            case.guarantee("AQL-3.1-1", &["AQL-6.1-1"], text);
        }
    }

    // AQL-1.2-2, AQL-5.1-1, AQL-5.1-2: every token expires, after the time asked for, or the default where none is.
    fn is_time_bounded(&self, request: &Request, issued: Issued, case: &mut Case) -> i64 {
        let purpose = issued.prefix.unwrap_or(request.purpose);
        let (default, longest) = self.lifetimes(purpose, request.level);
        let asked = request.ttl_seconds.unwrap_or(default);
        let due = |time: i64| time.saturating_add(asked.saturating_mul(1000));
        let times = self.account.times().map(due);
        let [now, ..] = times;
        let Some(expires_at) = issued.expires_at else {
            let text = "the token must have a time at which it expires".to_owned();
            case.conformance("AQL-1.2-2", &["AQL-5.1-2", "AQL-3.3-1"], text);
            return now;
        };
        if !(1..=longest).contains(&asked) {
            let text = format!(
                "a token for {asked} s must not be issued: from 1 to {longest} s are allowed"
            );
            case.conformance("AQL-5.1-1", &[], text);
        } else if !is_time(expires_at, times) {
            let amiss = expires_at.saturating_sub(now);
            let how = if amiss < 0 { "sooner" } else { "later" };
            let amiss = amiss.unsigned_abs();
            let text = format!(
                "the token must expire {asked} s after its issue, and does {amiss} ms {how}"
            );
            case.conformance("AQL-5.1-1", &[], text);
        }
        expires_at
    }

    // AQL-5.2-1, AQL-5.2-3, AQL-5.4-1: several uses belong to a session.
    fn may_have_its_uses(&self, request: &Request, case: &mut Case) {
        let alone = request.session.is_none() && self.reading.multi_use == MultiUse::InSession;
        if request.max_uses < 1 || (request.max_uses > 1 && alone) {
            let text = format!(
                "a token for {} uses must not be issued: one use is allowed, and more in a session",
                request.max_uses
            );
            case.conformance("AQL-5.4-1", &["AQL-5.2-1", "AQL-5.2-3"], text);
        } else if self.has_too_many_uses(request) {
            let (uses, most) = (request.max_uses, self.reading.numbers.most_uses);
            let text =
                format!("a token for {uses} uses must not be issued: {most} is the most of any");
            case.conformance("AQL-5.4-1", &["AQL-5.2-3"], text);
        }
    }

    // AQL-5.4-1: the text names no most number of uses; where one is named, it holds.
    fn has_too_many_uses(&self, request: &Request) -> bool {
        let most = self.reading.numbers.most_uses;
        most > 0 && request.max_uses > most.into()
    }

    // AQL-5.4-2, by the reading that lets no session come back: no token is bound to one that has ended.
    fn is_of_session(&self, request: &Request, case: &mut Case) {
        let session = request
            .session
            .and_then(|it| self.account.sessions.get(&it));
        let has_ended = session.is_some_and(|it| it.stays_ended);
        if has_ended && self.is_bound(request) == Chance::Certain {
            let text =
                "no token may be issued for this session: its connection has ended".to_owned();
            case.conformance("AQL-5.4-2", &["AQL-5.4-1"], text);
        }
    }

    /// What is remembered of a token that was issued.
    fn token(&mut self, request: &Request, issued: Issued, expires_at: i64) -> Token {
        // AQL-5.1-7 leaves open which tolerance is meant: that at issue counts.
        let tolerance = self.account.adapter(request.adapter).tolerance_ms;
        let session = request.session;
        Token {
            adapter: request.adapter,
            operation: request.operation,
            parameters: request.parameters.clone().unwrap_or_default(),
            binding: self.account.binding(request.adapter, request.operation),
            purpose: issued.prefix.unwrap_or(request.purpose),
            level: request.level,
            last: expires_at.saturating_add(tolerance),
            expires_at,
            said_over: false,
            max_uses: request.max_uses.max(1),
            used: (0, 0),
            session: session.map(|session| (session, self.account.connection(session))),
            bound: self.is_bound(request),
            revoked: Chance::No,
            gone: false,
            seen_after: self.account.restarts,
            log_name: None,
        }
    }

    // AQL-5.4-1, AQL-6.1-2: which tokens are bound to the session of their call (reading session-binding).
    fn is_bound(&self, request: &Request) -> Chance {
        let several = request.max_uses > 1;
        match (request.session_scope, self.reading.session_binding) {
            _ if request.session.is_none() => Chance::No,
            (Some(true), _) | (None, SessionBinding::Always) => Chance::Certain,
            (None, SessionBinding::MultiUse) => Chance::of(several),
            (Some(false), SessionBinding::MultiUse) if !several => Chance::No,
            (Some(false), _) => Chance::Perhaps,
        }
    }
}

// AQL-1.2-3, AQL-3.2-1: what runs is what was called, and with a token that is what was confirmed.
pub(super) fn runs_as_called(request: &Request, performed: Performed, case: &mut Case) {
    let parameters = request.parameters.as_ref().map(|it| it.whole);
    let same = performed.operation == request.operation
        && parameters.is_none_or(|whole| performed.parameters == whole)
        && performed.adapter.is_none_or(|it| it == request.adapter)
        && performed
            .session
            .is_none_or(|it| Some(it) == request.session);
    if !same {
        case.guarantee(
            "AQL-1.2-3",
            &["AQL-3.2-1"],
            format!(
                "operation {} must run as it was called, on the same adapter",
                request.operation
            ),
        );
    }
}

// AQL-3.3-1, AQL-6.3-4: the answer says what is asked. Of a quota pause the text shows the token and its expiry alone.
fn tells_what_is_asked(request: &Request, issued: Issued, case: &mut Case) {
    let of_quota = request.purpose == Purpose::Quota;
    let operation = if of_quota {
        issued.operation.is_none_or(|it| it == request.operation)
    } else {
        issued.operation == Some(request.operation)
    };
    let level = if of_quota {
        issued.level.is_none_or(|it| it == request.level)
    } else {
        issued.level == Some(request.level)
    };
    if !operation || !level || !(of_quota || (issued.reasons && issued.message)) {
        case.conformance(
            "AQL-3.3-1",
            &["AQL-6.3-4"],
            format!(
                "the answer must name operation {}, its danger, the reasons and what is confirmed",
                request.operation
            ),
        );
    }
}
