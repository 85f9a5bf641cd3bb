//! What follows from the checks: a retry runs or is refused (1.3, 4.2, 5.2, 7.1), and what a refusal tells (6.3).

use crate::mcp_aql::readings::OracleModes;

use super::account::{Alike, Asked, Chance};
use super::issue::runs_as_called;
use super::limits::Tried;
use super::validation::{Shown, Validity};
use super::words::{Answer, Code, Failure, LogEvent, Oracle, Request};
use super::{Case, TokenJudge, is_time, log};

const TAKEN: &[(LogEvent, bool)] = &[(LogEvent::Validated, true)];
const REFUSED: &[(LogEvent, bool)] = &[(LogEvent::Rejected, false)];

impl TokenJudge {
    /// AQL-1.3-2: a call came with a token, and the token is validated first. What is not gated needs none, and may run anyway.
    pub(super) fn is_retried(&mut self, request: &Request, token: u32, case: &mut Case) {
        let validity = self.shown(token, request.adapter, Some(request)).validity();
        if case.performed.is_empty() && self.is_turned_away(request, case) {
            // A refused call does nothing; one that is limited, or that cannot be read, may be logged as a failure.
            let wanted = log::Wanted::new(REFUSED, token).about(request);
            self.may_be_logged(&wanted, case);
            return;
        }
        if let Some(performed) = case.take_performed() {
            runs_as_called(request, performed, case);
            self.has_run(request, token, &validity, case);
        } else if let Some(Answer::Failed(failure)) = case.answers.first().copied() {
            case.take_answer();
            self.is_rejected(request, token, &validity, failure, case);
        } else {
            is_unanswered(token, &validity, case);
        }
    }

    /// A token, with all that is known of it.
    pub(super) fn shown<'a>(
        &'a self,
        token: u32,
        adapter: u32,
        request: Option<&'a Request>,
    ) -> Shown<'a> {
        Shown {
            reading: &self.reading,
            account: &self.account,
            leeway: self.leeway,
            adapter,
            token: self.account.tokens.get(&token),
            request,
        }
    }

    // AQL-7.1-1: nothing runs on a token that fails a check. AQL-5.2-2: what runs uses the token.
    fn has_run(&mut self, request: &Request, token: u32, validity: &Validity, case: &mut Case) {
        let wanted = log::Wanted::new(TAKEN, token).about(request);
        let gated = request.is_gated();
        let validated = if gated {
            self.is_logged(&wanted, &["AQL-1.2-5"], case);
            Chance::Certain
        } else if !self.shows_log {
            Chance::Perhaps
        } else {
            let refused = log::Wanted::new(REFUSED, token).about(request);
            self.may_be_logged(&refused, case);
            Chance::of(self.may_be_logged(&wanted, case))
        };
        // Redemption has no event of its own: it may be logged beside the validation.
        self.may_be_logged(&wanted, case);
        if let Some(fault) = validity.fault.filter(|_| validated == Chance::Certain) {
            let text = format!(
                "operation {} must not run on token {token}: {}",
                request.operation, fault.why
            );
            case.add(fault.kind, fault.clause, fault.also, text);
        }
        self.is_used(token, validated);
    }

    /// The account follows: the token is in the store, and has one use more.
    fn is_used(&mut self, token: u32, validated: Chance) {
        let restarts = self.account.restarts;
        let Some(token) = self.account.tokens.get_mut(&token) else {
            return;
        };
        let (least, most) = token.used;
        match validated {
            Chance::Certain => {
                token.used = (least + 1, most + 1);
                token.gone = false;
                token.seen_after = restarts;
                // A token that may have been revoked, or bound to another session, has shown that it was not.
                if token.revoked == Chance::Perhaps {
                    token.revoked = Chance::No;
                }
                token.used.1 = token.used.1.min(token.max_uses).max(token.used.0);
            }
            Chance::Perhaps => token.used = (least, most + 1),
            Chance::No => {}
        }
    }

    // AQL-4.1-1 to AQL-4.1-6, AQL-7.1-1: a token that passes every check is taken, and one that fails gets its code.
    fn is_rejected(
        &mut self,
        request: &Request,
        token: u32,
        validity: &Validity,
        failure: Failure,
        case: &mut Case,
    ) {
        let by = (request.adapter, request.session);
        self.is_tried(Tried::FailedValidation, by, case);
        let logged = case.entries.iter().find_map(|entry| entry.reason);
        let told = self.told(request.adapter, failure);
        let wanted = log::Wanted::new(REFUSED, token).about(request);
        self.is_logged(&wanted, &[], case);
        if validity.doubtful {
            self.has_its_code(token, request.adapter, validity, failure, case);
        } else {
            let (clause, also): (_, &'static [_]) = match told.or(logged) {
                Some(Code::Invalid) => ("AQL-4.1-1", &["AQL-5.5-1", "AQL-5.5-2", "AQL-6.4-1"]),
                Some(Code::Expired) => ("AQL-5.1-7", &["AQL-4.1-2", "AQL-5.1-4", "AQL-5.1-5"]),
                Some(Code::AlreadyUsed) => ("AQL-4.1-3", &["AQL-1.2-1", "AQL-5.4-1", "AQL-5.4-4"]),
                Some(Code::ScopeMismatch) => self.bound_otherwise(request, token),
                None => ("AQL-7.1-1", &["AQL-1.3-2"]),
            };
            let text = format!(
                "operation {} must run on token {token}, which passes every check, so far as it was told what became of it",
                request.operation
            );
            case.conformance(clause, also, text);
        }
        self.tells_little(token, request.adapter, Asked::Operation, failure, case);
        self.follow_refusal(token, validity, told);
    }

    /// AQL-3.2-1, AQL-3.2-3, AQL-3.2-4: why a token does not fit its own call. Its parameters are written otherwise, others differ
    /// that do not count, or nothing does.
    fn bound_otherwise(
        &self,
        request: &Request,
        token: u32,
    ) -> (&'static str, &'static [&'static str]) {
        let token = self.account.tokens.get(&token);
        let at_issue = token.map(|it| &it.parameters);
        let now = request.parameters.as_ref();
        if at_issue.map(|it| &it.each) != now.map(|it| &it.each) {
            ("AQL-3.2-4", &["AQL-4.1-4", "AQL-4.1-5", "AQL-4.1-6"])
        } else if at_issue.map(|it| it.text) != now.map(|it| it.text) {
            ("AQL-3.2-3", &["AQL-4.1-4", "AQL-4.1-5", "AQL-4.1-6"])
        } else {
            ("AQL-3.2-1", &["AQL-4.1-4", "AQL-4.1-5", "AQL-4.1-6"])
        }
    }

    /// The code, where it tells anything.
    fn told(&self, adapter: u32, failure: Failure) -> Option<Code> {
        match self.oracle(adapter) {
            Oracle::Codes => failure.code,
            Oracle::Uniform => None,
        }
    }

    // AQL-7.1-2, AQL-4.2-1: a refusal has the code of the check that failed, and its three members.
    pub(super) fn has_its_code(
        &self,
        token: u32,
        adapter: u32,
        validity: &Validity,
        failure: Failure,
        case: &mut Case,
    ) {
        let uniform = self.oracle(adapter) == Oracle::Uniform;
        if uniform || failure.code.is_some_and(|code| validity.allows(code)) {
            return;
        }
        let clause = validity.fault.map_or("AQL-7.1-2", |fault| fault.clause);
        let why = validity
            .fault
            .map_or("it may be refused", |fault| fault.why);
        let text = format!("token {token} must get {}: {why}", validity.codes());
        // It may be the check that the code stands for that is wrong, and not the code.
        let also: &[_] = match failure.code {
            Some(Code::Invalid) => &["AQL-7.1-2", "AQL-4.1-1", "AQL-5.5-1"],
            Some(Code::Expired) => &["AQL-7.1-2", "AQL-4.1-2", "AQL-5.1-7"],
            Some(Code::AlreadyUsed) => &["AQL-7.1-2", "AQL-4.1-3"],
            Some(Code::ScopeMismatch) => &["AQL-7.1-2", "AQL-4.1-4", "AQL-4.1-5", "AQL-4.1-6"],
            None => &["AQL-7.1-2"],
        };
        case.conformance(clause, also, text);
    }

    // AQL-4.2-1, AQL-6.3-1, AQL-6.3-2: what a refusal says, and what it does not.
    pub(super) fn tells_little(
        &mut self,
        token: u32,
        adapter: u32,
        asked: Asked,
        failure: Failure,
        case: &mut Case,
    ) {
        if !failure.whole {
            let text = format!(
                "the refusal of token {token} must have success false, and an error with code, message and details"
            );
            case.conformance("AQL-4.2-1", &[], text);
        }
        let known = self.account.tokens.get(&token);
        let expired = failure
            .expired_at
            .is_none_or(|at| known.is_some_and(|it| is_time(at, [it.expires_at])));
        let current = failure
            .current_time
            .is_none_or(|at| is_time(at, self.account.times()));
        if !expired || !current {
            let text = format!("the refusal of token {token} must give its expiry and the time");
            case.conformance("AQL-4.2-1", &[], text);
        }
        if failure.exposes_parameters {
            let text =
                format!("the refusal of token {token} must not hold the value of a parameter");
            case.conformance("AQL-6.3-1", &[], text);
        }
        let invalid = failure.code == Some(Code::Invalid);
        self.is_alike(adapter, asked, invalid, failure.shape, case);
    }

    // AQL-6.3-2: what is not found and what is invalid get one answer; a uniform adapter has one for all.
    pub(super) fn is_alike(
        &mut self,
        adapter: u32,
        asked: Asked,
        invalid: bool,
        shape: u32,
        case: &mut Case,
    ) {
        let which = match self.oracle(adapter) {
            Oracle::Uniform => Alike::All,
            Oracle::Codes if invalid => Alike::Invalid,
            Oracle::Codes => return,
        };
        let alike = &mut self.account.adapter(adapter).alike;
        if *alike.entry((asked, which)).or_insert(shape) != shape {
            let text = format!(
                "adapter {adapter} must answer this failure as it did another, but for the token and the times"
            );
            case.conformance("AQL-6.3-2", &[], text);
        }
    }

    /// Whether an adapter tells checks apart (reading oracle).
    pub(super) fn oracle(&self, adapter: u32) -> Oracle {
        match self.reading.oracle {
            OracleModes::Configured => {
                let adapter = self.account.adapters.get(&adapter);
                adapter.map_or(Oracle::Codes, |it| it.oracle)
            }
            OracleModes::Codes => Oracle::Codes,
            OracleModes::Uniform => Oracle::Uniform,
        }
    }

    /// The account follows: a token that was refused is what its code says, so that it is not found twice.
    fn follow_refusal(&mut self, token: u32, validity: &Validity, told: Option<Code>) {
        let now = self.account.now;
        let Some(token) = self.account.tokens.get_mut(&token) else {
            return;
        };
        match told {
            // It may have been used where the log did not show it, and so it was.
            Some(Code::AlreadyUsed) => token.used = (token.max_uses, token.max_uses),
            Some(Code::Expired) if now > token.last => token.said_over = true,
            _ if validity.doubtful => {}
            Some(Code::Invalid) | None => token.gone = true,
            Some(Code::Expired) => token.last = now - 1,
            Some(Code::ScopeMismatch) => {}
        }
    }
}

// AQL-1.3-2, AQL-7.1-2: a retry runs or is refused.
fn is_unanswered(token: u32, validity: &Validity, case: &mut Case) {
    if let Some(fault) = validity.fault {
        let text = format!("token {token} must be refused: {}", fault.why);
        case.conformance("AQL-4.2-1", &["AQL-7.1-2"], text);
    } else {
        let text = format!("the call must run on token {token}, or to be refused");
        case.conformance("AQL-1.3-2", &["AQL-7.1-2"], text);
    }
    case.answers.clear();
    case.entries.clear();
}
