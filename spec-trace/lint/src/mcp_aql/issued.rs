//! A token that is issued: its form, its life, and what it is bound to.

use std::collections::BTreeSet;

use super::account::{Call, Token};
use super::{Monitor, accuse, response, rules};
use crate::transcript::{Exchange, Fields, Found};

/// So many characters of 64 are 128 bits at least.
const FEWEST: usize = 22;

impl Monitor {
    pub(super) fn issued(&mut self, exchange: &Exchange<'_>, call: &Call, found: &mut Found) {
        let Some(response) = response(exchange) else {
            return;
        };
        let error = response.object("error").unwrap_or_default();
        let details = error.object("details").unwrap_or_default();
        let name = details.text("confirmation_token");
        // What tells of a failed check may name the token that came with the call.
        let is_issue = error.text("code").as_deref() == Some("CONFIRMATION_REQUIRED")
            || call.token.is_none() && name.is_some();
        if !is_issue {
            return;
        }
        Self::says_all(exchange, call, [&response, &error, &details], found);
        let Some(name) = name else {
            return;
        };
        self.has_form(exchange, call, &name, found);
        let expires_at = self.expires(exchange, call, &name, &details, found);
        let request = &exchange.request;
        let adapter = self
            .account
            .adapters
            .entry(call.adapter.clone())
            .or_default();
        let most_uses = request.number("max_uses").unwrap_or(1);
        let token = Token {
            call: call.clone(),
            line: exchange.line,
            expires_at,
            most_uses,
            uses: Vec::new(),
            is_bound: call.session.is_some()
                && (most_uses > 1 || request.flag("session_scope") == Some(true)),
            end: None,
            critical: adapter.critical.get(&call.operation).cloned(),
            tolerance: adapter.tolerance(),
            id: None,
        };
        if let Some(known) = self.account.tokens.insert(name, token) {
            let message = format!(
                "confirmation_token was issued on line {} before",
                known.line
            );
            accuse(&rules::GUESSABLE, exchange, call, message, found);
        }
    }

    /// AQL-3.3-1: a response with a token says what is asked.
    fn says_all(
        exchange: &Exchange<'_>,
        call: &Call,
        [response, error, details]: [&Fields<'_>; 3],
        found: &mut Found,
    ) {
        found.touch(&rules::ISSUE_SHAPE);
        let code = error.text("code").unwrap_or_default();
        let other = if code != "CONFIRMATION_REQUIRED" {
            Some(format!("code {code:?} where a token is issued"))
        } else if response.flag("success") != Some(false) {
            Some("success is not false where a token is issued".to_owned())
        } else {
            None
        };
        if let Some(message) = other {
            return accuse(&rules::ISSUE_SHAPE, exchange, call, message, found);
        }
        let texts = [
            "operation",
            "danger_level",
            "confirmation_message",
            "confirmation_token",
        ];
        let is_text = |name: &&str| details.text(name).is_some();
        let other_type = "is no string";
        let texts = texts.into_iter().find(|name| !is_text(name));
        let texts = texts.map(|name| (name, details.has(name).then_some(other_type)));
        let reasons = || {
            let other = details.has("reasons").then_some("is no list of strings");
            details
                .texts("reasons")
                .is_none()
                .then_some(("reasons", other))
        };
        let message = || {
            let other = error.has("message").then_some(other_type);
            error
                .text("message")
                .is_none()
                .then_some(("message", other))
        };
        let missing = texts.or_else(reasons).or_else(message);
        let other = [
            ("operation", &*call.operation),
            ("danger_level", call.level_word()),
        ];
        let other = other
            .into_iter()
            .find(|(name, called)| details.text(name).as_deref() != Some(called));
        if let Some((name, other)) = missing {
            let what = other.unwrap_or("is missing");
            accuse(
                &rules::ISSUE_SHAPE,
                exchange,
                call,
                format!("{name} {what} where a token is issued"),
                found,
            );
        } else if let Some((name, _)) = other {
            accuse(
                &rules::ISSUE_SHAPE,
                exchange,
                call,
                format!("{name} is not that of the call"),
                found,
            );
        }
    }

    /// AQL-2.1-1, AQL-2.2-1, AQL-2.2-2, AQL-3.1-1: the form of a token.
    fn has_form(&mut self, exchange: &Exchange<'_>, call: &Call, token: &str, found: &mut Found) {
        for rule in [
            &rules::PREFIX,
            &rules::IDENTIFIER,
            &rules::LENGTH,
            &rules::GUESSABLE,
        ] {
            found.touch(rule);
        }
        // An operation that is less dangerous may be confirmed all the same.
        let prefix = if call.is_dangerous() || !call.is_quota && token.starts_with("conf_") {
            "conf_"
        } else {
            "quota_continue_"
        };
        let about = |rule, message: &str, found: &mut Found| {
            let message = format!("confirmation_token {message}");
            accuse(rule, exchange, call, message, found);
        };
        let Some(identifier) = token.strip_prefix(prefix) else {
            return about(
                &rules::PREFIX,
                &format!("does not begin with {prefix}"),
                found,
            );
        };
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if !identifier.bytes().all(is_fit) {
            about(
                &rules::IDENTIFIER,
                "has other characters than letters, digits, `_` and `-`",
                found,
            );
        } else if !(8..=80).contains(&token.len()) {
            about(&rules::LENGTH, "has not 8 to 80 characters", found);
        } else if !(1..=64).contains(&identifier.len()) {
            about(
                &rules::IDENTIFIER,
                "has more than 64 characters behind its prefix",
                found,
            );
        } else if identifier.len() < FEWEST {
            about(&rules::GUESSABLE, "is too short for 128 bits", found);
        } else if holds_little(identifier) {
            about(
                &rules::GUESSABLE,
                "has too few different characters for 128 bits of chance",
                found,
            );
        } else if self.account.almost_repeats(identifier) {
            about(
                &rules::GUESSABLE,
                "is almost one that was issued before: it is counted up, and not drawn",
                found,
            );
        }
    }

    /// AQL-1.2-2, AQL-5.1-1: a token has an end, and its life is not longer than its level allows, nor than was asked for.
    fn expires(
        &mut self,
        exchange: &Exchange<'_>,
        call: &Call,
        token: &str,
        details: &Fields<'_>,
        found: &mut Found,
    ) -> Option<i64> {
        found.touch(&rules::NO_EXPIRY);
        found.touch(&rules::LIVES_TOO_LONG);
        let Some(expires_at) = details.moment("expires_at") else {
            if details.may_be_time("expires_at") {
                self.unread_times.take("expires_at", exchange.line, details);
                return None;
            }
            let message = match details.raw("expires_at") {
                None => "expires_at is missing".to_owned(),
                Some(raw) => format!("expires_at is {raw}, and a date and time is expected"),
            };
            accuse(&rules::NO_EXPIRY, exchange, call, message, found);
            return None;
        };
        let asked = exchange
            .request
            .number("ttl_seconds")
            .and_then(|it| i64::try_from(it).ok());
        let longest = call.longest(token);
        let longest = asked.map_or(longest, |seconds| {
            longest.min(seconds.saturating_mul(1_000))
        });
        if exchange.now.is_some_and(|now| expires_at <= now) {
            let message = "expires_at lies no later than the issue".to_owned();
            accuse(&rules::EXPIRED_AT_ISSUE, exchange, call, message, found);
        }
        // The clock may have been set back, and the greatest time may count.
        if expires_at > self.account.latest.saturating_add(longest) {
            let message = format!("expires_at is more than {} seconds away", longest / 1_000);
            accuse(&rules::LIVES_TOO_LONG, exchange, call, message, found);
        }
        Some(expires_at)
    }
}

/// Whether the characters of an identifier are of so few kinds that no 128 bits of chance are likely to look like that.
fn holds_little(identifier: &str) -> bool {
    let kinds: BTreeSet<u8> = identifier.bytes().collect();
    kinds.len() < 4 || kinds.len() < 6 && identifier.len() < 56
}
