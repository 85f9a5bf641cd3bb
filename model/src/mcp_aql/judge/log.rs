//! Section 6.4: what the log of tokens says.

use super::words::{Entry, INTROSPECT, LogEvent, Request};
use super::{Case, TokenJudge, is_time};

/// An entry that is wanted: any one of these events with its outcome, about one token.
pub(super) struct Wanted<'a> {
    events: &'a [(LogEvent, bool)],
    token: u32,
    request: Option<&'a Request>,
    adapter: Option<u32>,
}

impl<'a> Wanted<'a> {
    /// An entry about a token.
    pub(super) fn new(events: &'a [(LogEvent, bool)], token: u32) -> Self {
        Self {
            events,
            token,
            request: None,
            adapter: None,
        }
    }

    /// It came with this call.
    pub(super) fn about(mut self, request: &'a Request) -> Self {
        self.request = Some(request);
        self.adapter = Some(request.adapter);
        self
    }

    /// It was shown to this adapter.
    pub(super) fn shown_to(mut self, adapter: u32) -> Self {
        self.adapter = Some(adapter);
        self
    }

    pub(super) fn is(&self, entry: &Entry) -> bool {
        self.events.contains(&(entry.event, entry.success))
    }
}

impl TokenJudge {
    // AQL-6.4-1: every operation on a token is logged.
    pub(super) fn is_logged(
        &mut self,
        wanted: &Wanted<'_>,
        also: &'static [&'static str],
        case: &mut Case,
    ) {
        if !self.shows_log {
            return;
        }
        if self.may_be_logged(wanted, case) {
            return;
        }
        let (event, success) = wanted.events[0];
        let outcome = if success { "success" } else { "failure" };
        let text = format!(
            "{event} with outcome {outcome} must be logged of token {}",
            wanted.token
        );
        case.conformance("AQL-6.4-1", also, text);
        // What was logged instead is the same fault.
        case.take_entry(|_| true);
    }

    /// Takes out an entry if it is there, and holds what it says against what happened.
    pub(super) fn may_be_logged(&mut self, wanted: &Wanted<'_>, case: &mut Case) -> bool {
        let Some(entry) = case.take_entry(|entry| wanted.is(entry)) else {
            return false;
        };
        if !self.is_true(wanted, &entry) {
            let text = format!(
                "{} must be logged with the time, the token, its operation, its adapter and its session",
                entry.event
            );
            case.conformance("AQL-6.4-1", &[], text);
        }
        true
    }

    fn is_true(&mut self, wanted: &Wanted<'_>, entry: &Entry) -> bool {
        let names_token = self.names_token(entry, wanted.token);
        let token = self.account.tokens.get(&wanted.token);
        let request = wanted.request;
        // Where call and token differ, the text does not say whose operation, adapter and session are meant.
        let operations = [
            request.map(|it| it.operation),
            token.map(|it| it.operation),
            request.is_none().then_some(INTROSPECT),
        ];
        let adapters = [wanted.adapter, token.map(|it| it.adapter)];
        let sessions = [
            request.and_then(|it| it.session),
            token.and_then(|it| it.session).map(|(session, _)| session),
        ];
        entry
            .at
            .is_some_and(|at| is_time(at, self.account.times()))
            && names_token
            && entry.operation.is_some()
            // Of a token that nobody knows, nobody knows the operation.
            && (operations.contains(&entry.operation) || (token.is_none() && request.is_none()))
            && entry.adapter.is_some()
            && adapters.contains(&entry.adapter)
            && entry.session.is_none_or(|it| sessions.contains(&Some(it)))
    }

    /// Whether an entry names a token as the log did before, and no other by that name.
    fn names_token(&mut self, entry: &Entry, token: u32) -> bool {
        let Some(name) = entry.token else {
            return false;
        };
        if let Some(known) = self.account.log_names.get(&name) {
            return *known == token;
        }
        let Some(known) = self.account.tokens.get_mut(&token) else {
            return true;
        };
        let first = known.log_name.is_none();
        if first {
            known.log_name = Some(name);
            self.account.log_names.insert(name, token);
        }
        first
    }
}
