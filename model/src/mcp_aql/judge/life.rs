//! The life of tokens beside their use: the configuration of 5.1, revocation (5.3), the end of connections (5.4), restarts (5.5)
//! and the status (7.3).

use super::account::{Asked, Binding, Chance, Token};
use super::limits::Tried;
use super::words::{Answer, Code, Configuration, EventKind, LogEvent, Oracle, Query};
use super::{Case, TokenJudge, log};
use crate::mcp_aql::readings::{EndedSession, RestartedSession, TokenStorage};

const REVOKED: &[(LogEvent, bool)] = &[(LogEvent::Revoked, true)];
const NOT_REVOKED: &[(LogEvent, bool)] = &[(LogEvent::Revoked, false), (LogEvent::Rejected, false)];
const VALID: &[(LogEvent, bool)] = &[(LogEvent::Validated, true)];
const NOT_VALID: &[(LogEvent, bool)] = &[(LogEvent::Rejected, false), (LogEvent::Validated, false)];

/// What a configuration changed.
#[derive(Default)]
struct Changes {
    /// Something that is not about one operation alone.
    everything: bool,
    /// What counts in these operations.
    operations: Vec<u32>,
}

impl TokenJudge {
    /// Section 5.1, configurability; 3.2, what counts.
    pub(super) fn configure(&mut self, configuration: &Configuration, case: &mut Case) {
        if self.is_refused(configuration, case) {
            return;
        }
        self.is_warned_about(configuration, case);
        let changes = self.follow_configuration(configuration);
        // AQL-5.3-2: a configuration may revoke what it changes, and nothing else.
        let adapter = configuration.adapter;
        // Which signed tokens are an operation's, nobody knows.
        let signed = self.reading.token_storage == TokenStorage::Signed;
        let all = changes.everything || signed && !changes.operations.is_empty();
        self.may_revoke(case, |token| {
            let touched = all || changes.operations.contains(&token.operation);
            token.adapter == adapter && touched
        });
    }

    // AQL-5.1-6: a tolerance above 60 s is warned about when it is set. Whether less is, the text leaves open.
    fn is_warned_about(&mut self, configuration: &Configuration, case: &mut Case) {
        let Some(seconds) = configuration.tolerance_seconds else {
            return;
        };
        let before = self.account.adapter(configuration.adapter).tolerance_ms;
        let set = before != seconds.saturating_mul(1000);
        let above = i64::from(self.reading.numbers.warned_above);
        if seconds > above && set && self.shows_log && !case.warned {
            let text = format!("a warning must be logged: the tolerance is {seconds} s");
            case.conformance("AQL-5.1-6", &[], text);
        }
    }

    fn follow_configuration(&mut self, configuration: &Configuration) -> Changes {
        let longest = i64::from(self.reading.numbers.longest_tolerance);
        let adapter = self.account.adapter(configuration.adapter);
        let mut changes = Changes::default();
        if let Some(seconds) = configuration.tolerance_seconds {
            let tolerance = seconds.clamp(0, longest) * 1000;
            changes.everything |= adapter.tolerance_ms != tolerance;
            adapter.tolerance_ms = tolerance;
        }
        if let Some(oracle) = configuration.oracle {
            changes.everything |= adapter.oracle != oracle;
            adapter.oracle = oracle;
        }
        let Some(critical) = &configuration.critical else {
            return changes;
        };
        for (operation, names) in critical {
            // AQL-3.2-1: what binds nothing is not to be taken; where it is, the text says what counts.
            let binding = if names.is_empty() {
                Binding::Text
            } else {
                Binding::Listed(names.clone())
            };
            let before = adapter.critical.insert(*operation, binding.clone());
            if before.unwrap_or_default() != binding {
                changes.operations.push(*operation);
            }
        }
        // Whether an operation that is left out keeps its list, nothing says.
        for (operation, binding) in &mut adapter.critical {
            if critical.contains_key(operation) {
                continue;
            }
            changes.operations.push(*operation);
            if let Binding::Listed(names) = binding {
                *binding = Binding::Either(std::mem::take(names));
            }
        }
        changes
    }

    /// AQL-5.3-3, AQL-7.3-1: a client gives a token back, or asks what has become of it.
    pub(super) fn introspect(&mut self, adapter: u32, query: Query, token: u32, case: &mut Case) {
        if std::mem::take(&mut case.refused) {
            return case.conformance(
                "AQL-5.3-3",
                &["AQL-7.3-1"],
                format!("the query about token {token} must be answered"),
            );
        }
        let answer = case.take_answer();
        match (query, answer) {
            // AQL-6.5-1: what repeats something may be limited. A status that tells of a token whether it is good is a validation.
            (query, Some(Answer::Limited)) => {
                self.is_limited(
                    match query {
                        Query::Revoke => &[Tried::Revocation, Tried::FailedValidation],
                        Query::Status => &[Tried::FailedValidation],
                    },
                    case,
                );
                let wanted = log::Wanted::new(NOT_REVOKED, token).shown_to(adapter);
                self.may_be_logged(&wanted, case);
            }
            (Query::Revoke, answer) => self.is_given_back(adapter, token, answer, case),
            (Query::Status, answer) => self.is_asked_for(adapter, token, answer, case),
        }
    }

    // AQL-5.3-1, AQL-5.3-3, AQL-7.2-2: a token that is alive can be revoked, and then it is.
    fn is_given_back(&mut self, adapter: u32, token: u32, answer: Option<Answer>, case: &mut Case) {
        self.is_tried(Tried::Revocation, (adapter, None), case);
        let validity = self.shown(token, adapter, None).validity();
        let uniform = self.oracle(adapter) == Oracle::Uniform;
        let logged = case
            .entries
            .iter()
            .any(|it| (it.event, it.success) == REVOKED[0]);
        let done = matches!(answer, Some(Answer::Revoked { done: true, .. }))
            || (answer.is_none() && logged);
        match answer {
            Some(Answer::Revoked { done: true, .. }) => {}
            Some(Answer::Revoked { shape, .. }) => {
                self.is_alike(adapter, Asked::Revoke, false, shape, case);
            }
            Some(Answer::Failed(failure)) => {
                if validity.doubtful {
                    self.has_its_code(token, adapter, &validity, failure, case);
                }
                self.tells_little(token, adapter, Asked::Revoke, failure, case);
            }
            Some(
                Answer::Issued(_)
                | Answer::Unreadable
                | Answer::Limited
                | Answer::Full
                | Answer::Status { .. }
                | Answer::Other,
            )
            | None => {
                let text = format!("the revocation of token {token} must be answered");
                case.conformance("AQL-5.3-3", &[], text);
            }
        }
        if !done && !validity.doubtful {
            let text = format!("token {token} must be revoked: it is alive");
            case.conformance("AQL-5.3-3", &["AQL-5.3-1", "AQL-7.2-2"], text);
        }
        // AQL-6.4-1: the log says the same. A uniform adapter may answer alike what is different.
        let outcome = if done { REVOKED } else { NOT_REVOKED };
        let wanted = log::Wanted::new(outcome, token).shown_to(adapter);
        let otherwise = log::Wanted::new(NOT_REVOKED, token).shown_to(adapter);
        let alike = uniform || self.deviations.revokes_the_dead;
        let revoked = if done && alike && validity.doubtful && self.shows_log {
            let revoked = self.may_be_logged(&wanted, case);
            if !revoked {
                self.is_logged(&otherwise, &[], case);
            }
            revoked
        } else {
            self.is_logged(&wanted, &[], case);
            done
        };
        let Some(token) = self.account.tokens.get_mut(&token).filter(|_| revoked) else {
            return;
        };
        // A uniform adapter may have said what is not so.
        let open = uniform && validity.doubtful && !self.shows_log;
        let revoked = if open {
            Chance::Perhaps
        } else {
            Chance::Certain
        };
        token.revoked = token.revoked.max(revoked);
    }

    // AQL-7.3-1: the status says whether the token would be taken. It is logged as a validation is.
    fn is_asked_for(&mut self, adapter: u32, token: u32, answer: Option<Answer>, case: &mut Case) {
        let validity = self.shown(token, adapter, None).validity();
        let doubtful = validity.doubtful || self.is_only_signed(token);
        let valid = match answer {
            Some(Answer::Status { valid, shape }) => {
                if !valid {
                    self.is_alike(adapter, Asked::Status, false, shape, case);
                }
                Some(valid)
            }
            Some(Answer::Failed(failure)) => {
                if validity.doubtful {
                    self.has_its_code(token, adapter, &validity, failure, case);
                }
                self.tells_little(token, adapter, Asked::Status, failure, case);
                let code = failure.code == Some(Code::Invalid);
                if code && !doubtful {
                    self.follow_loss(token);
                }
                Some(false)
            }
            Some(
                Answer::Issued(_)
                | Answer::Unreadable
                | Answer::Limited
                | Answer::Full
                | Answer::Revoked { .. }
                | Answer::Other,
            )
            | None => None,
        };
        match (valid, validity.fault) {
            (Some(true), Some(fault)) => {
                let text = format!("token {token} must be said not to be valid: {}", fault.why);
                // It may be the check that is wrong, and not what is told of it.
                case.conformance("AQL-7.3-1", fault.also, text);
            }
            (Some(false), None) if !doubtful => {
                let text = format!("token {token} must be said to be valid: it passes every check");
                case.conformance("AQL-7.3-1", &[], text);
            }
            (None, _) => {
                let text = format!("the status of token {token} must be told");
                case.conformance("AQL-7.3-1", &[], text);
            }
            (Some(false), Some(_)) => self.follow_status(token),
            (Some(true | false), None) => {}
        }
        // AQL-6.5-1: who asks for the status of a token that is no good may be guessing.
        let outcome = if valid == Some(true) {
            VALID
        } else {
            self.is_tried(Tried::FailedValidation, (adapter, None), case);
            NOT_VALID
        };
        let wanted = log::Wanted::new(outcome, token).shown_to(adapter);
        if self.deviations.tells_status_unlogged {
            self.may_be_logged(&wanted, case);
        } else {
            self.is_logged(&wanted, &[], case);
        }
    }

    // AQL-7.3-2: of a token that was never used nothing may be kept but its signature (reading token-storage).
    fn is_only_signed(&self, token: u32) -> bool {
        let token = self.account.tokens.get(&token);
        self.reading.token_storage == TokenStorage::Signed && token.is_some_and(|it| it.used.0 == 0)
    }

    /// The account follows: what is not valid when its time is over has expired, for good.
    fn follow_status(&mut self, token: u32) {
        let now = self.account.now;
        if let Some(token) = self.account.tokens.get_mut(&token) {
            token.said_over |= now > token.last;
        }
    }

    fn follow_loss(&mut self, token: u32) {
        if let Some(token) = self.account.tokens.get_mut(&token) {
            token.gone = true;
        }
    }

    // AQL-5.3-2: a logout, a security event or a configuration may revoke the tokens that it is about. One that is refused
    // revokes none.
    pub(super) fn event(&mut self, kind: EventKind, session: Option<u32>, case: &mut Case) {
        if std::mem::take(&mut case.refused) {
            return;
        }
        let session = match kind {
            EventKind::Logout => session,
            EventKind::Security | EventKind::Configuration => None,
        };
        self.may_revoke(case, |token| {
            let own = token.session.map(|(session, _)| session);
            session.is_none() || own == session
        });
    }

    // AQL-5.4-2, AQL-5.3-2: the end of a connection is the end of the tokens that are bound to it; others that were issued in it
    // may be revoked.
    pub(super) fn end_session(&mut self, session: u32, case: &mut Case) {
        let entry = self.account.sessions.entry(session).or_default();
        let tokens = std::mem::take(&mut entry.tokens);
        if std::mem::take(&mut case.refused) {
            // Nothing of it is known, or it has ended before.
            if tokens.is_empty() {
                return;
            }
            let text = format!("session {session} must end: it has tokens");
            case.conformance("AQL-5.4-2", &[], text);
        }
        for name in tokens {
            let alive = |token: &Token| {
                let validity = self.shown(name, token.adapter, None).validity();
                token.bound == Chance::Certain && !validity.doubtful
            };
            let owed = self.account.tokens.get(&name).is_some_and(alive);
            let wanted = log::Wanted::new(REVOKED, name);
            let log_name = self.account.tokens.get(&name).and_then(|it| it.log_name);
            let logged = case
                .entries
                .iter()
                .any(|it| it.token.is_some() && it.token == log_name && wanted.is(it));
            if owed && self.shows_log && !logged {
                let text =
                    format!("Revoked must be logged of token {name}, whose connection ended");
                case.conformance("AQL-6.4-1", &["AQL-5.4-2"], text);
            }
        }
        self.may_revoke(case, |token| {
            token.session.is_some_and(|(own, _)| own == session)
        });
        let stays_ended = self.reading.ended_session == EndedSession::StaysEnded;
        let session = self.account.sessions.entry(session).or_default();
        session.ends += 1;
        session.stays_ended = stays_ended;
    }

    /// Takes out the entries of revocations that were allowed. Where the log is not shown, they may all have been.
    fn may_revoke(&mut self, case: &mut Case, about: impl Fn(&Token) -> bool) {
        if !self.shows_log {
            for token in self.account.tokens.values_mut().filter(|it| about(it)) {
                token.revoked = token.revoked.max(Chance::Perhaps);
            }
            return;
        }
        let revoked: Vec<_> = case
            .entries
            .extract_if(.., |entry| (entry.event, entry.success) == REVOKED[0])
            .collect();
        for entry in revoked {
            let name = entry
                .token
                .and_then(|it| self.account.log_names.get(&it).copied());
            if name.is_none() && self.reading.token_storage == TokenStorage::Signed {
                // AQL-6.4-1: nobody knows which signed tokens there are: one entry stands for all, but for those that came with their
                // call and are kept since.
                let alive = |it: &&mut Token| about(it) && it.used.0 < it.max_uses;
                for token in self.account.tokens.values_mut().filter(alive) {
                    token.revoked = token.revoked.max(Chance::Perhaps);
                }
                continue;
            }
            let Some(name) = name else {
                let text = "a revocation must be logged with the token that was issued".to_owned();
                case.conformance("AQL-6.4-1", &[], text);
                continue;
            };
            let concerned = self.account.tokens.get(&name).filter(|it| about(it));
            match concerned.map(|it| (it.adapter, it.revoked)) {
                Some((_, Chance::Certain)) => {
                    let text = format!("Revoked must be logged once of token {name}");
                    case.conformance("AQL-6.4-1", &["AQL-5.3-2"], text);
                }
                Some((adapter, Chance::No | Chance::Perhaps)) => {
                    case.entries.push(entry);
                    let wanted = log::Wanted::new(REVOKED, name).shown_to(adapter);
                    self.may_be_logged(&wanted, case);
                }
                None => {
                    let text = format!("token {name} must not be revoked: this is not about it");
                    case.conformance("AQL-5.3-2", &["AQL-5.3-1"], text);
                }
            }
            if let Some(token) = self.account.tokens.get_mut(&name) {
                token.revoked = Chance::Certain;
            }
        }
    }

    // AQL-5.4-2, AQL-5.5-1: connections end with the process, by the reading that says so; tokens may be lost, and are never forgotten as used.
    // Nothing runs because the process came back; what was to be logged may be logged again.
    pub(super) fn restart(&mut self, lost: usize, case: &mut Case) {
        let again = std::mem::take(&mut self.last_entries);
        let kept = again.len().saturating_sub(lost);
        for entry in &again[kept..] {
            case.take_entry(|it| it == entry);
        }
        self.may_revoke(case, |token| token.bound > Chance::No);
        self.account.restarts += 1;
        self.account.forget_tries();
        // What has ended may be forgotten with the process (AQL-5.5-1).
        for session in self.account.sessions.values_mut() {
            session.stays_ended = false;
        }
        if self.reading.restarted_session == RestartedSession::Ends {
            self.account.end_connections();
        }
    }

    // AQL-5.1-5: from 0 to 300 s. AQL-3.2-1: a token that binds nothing is none, so an empty list may be refused.
    fn is_refused(&self, configuration: &Configuration, case: &mut Case) -> bool {
        let longest = i64::from(self.reading.numbers.longest_tolerance);
        let refused = std::mem::take(&mut case.refused);
        let in_range = configuration
            .tolerance_seconds
            .is_none_or(|seconds| (0..=longest).contains(&seconds));
        let lists = configuration.critical.iter().flatten();
        let may = lists.clone().any(|(_, names)| names.is_empty());
        if refused == in_range && !(refused && may) {
            let verb = if in_range { "taken" } else { "refused" };
            let text = format!(
                "the configuration of adapter {} must be {verb}: a tolerance of 0 to {longest} s is allowed",
                configuration.adapter
            );
            case.conformance("AQL-5.1-5", &["AQL-5.1-9"], text);
        }
        refused
    }
}
