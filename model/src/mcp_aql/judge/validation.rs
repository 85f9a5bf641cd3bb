//! Section 4, and what sections 2, 5 and 6 add to its checks: whether a token is good for what is asked.
//!
//! The one thing to know: a check that has a row in the table of 4.1 has a place and a code; one that has none may come anywhere,
//! with any code that fits. Where the text leaves to the party whether a check fails, both answers are right.

use crate::judge::Kind;
use crate::mcp_aql::readings::{CheckOrder, PurgeCode, RatingAtRedemption, Reading};

use super::Leeway;
use super::account::{Account, Chance, Token};
use super::words::{Code, Purpose, Request};

/// An hour, in which an expired token is to be purged (AQL-5.5-2).
const HOUR: i64 = 3_600_000;

/// What a check looks at.
pub(super) struct Shown<'a> {
    pub(super) reading: &'a Reading,
    pub(super) account: &'a Account,
    pub(super) leeway: Leeway,
    /// The adapter that the token is shown to.
    pub(super) adapter: u32,
    /// What is known of the token, where it was ever issued.
    pub(super) token: Option<&'a Token>,
    /// The call that it came with; none where a client asks about it.
    pub(super) request: Option<&'a Request>,
}

/// One check of a token.
pub(super) struct Check {
    pub(super) clause: &'static str,
    pub(super) also: &'static [&'static str],
    /// Whether it is a guarantee that nothing runs on a token that fails it.
    pub(super) kind: Kind,
    /// Its place in the table of 4.1, and in the sample of 4.3.
    row: Option<[u8; 2]>,
    codes: Codes,
    /// Why a token that fails it is refused.
    pub(super) why: &'static str,
    fails: fn(&Shown<'_>) -> Chance,
}

/// The codes for a check.
enum Codes {
    These(&'static [Code]),
    /// The reading says.
    OfRevoked,
    /// That of a revoked token, or of one that does not fit.
    OfEnded,
}

const BEYOND_SCOPE: Codes = Codes::These(&[Code::Invalid, Code::ScopeMismatch]);
const SCOPE: Codes = Codes::These(&[Code::ScopeMismatch]);

/// The checks of 4.1 in its order, then those that have no row.
static CHECKS: [Check; 13] = [
    // AQL-4.1-1, AQL-1.2-4, AQL-2.2-3, AQL-6.2-1: a token that was never issued, to the letter and the case.
    Check {
        clause: "AQL-4.1-1",
        also: &["AQL-1.2-4", "AQL-2.2-3", "AQL-6.2-1", "AQL-7.1-1"],
        kind: Kind::Guarantee,
        row: Some([0, 0]),
        codes: Codes::These(&[Code::Invalid]),
        why: "it was never issued",
        fails: |shown| Chance::of(shown.token.is_none()),
    },
    // AQL-5.5-1, AQL-5.5-2: a token that the store has lost or purged is one that it does not know.
    Check {
        clause: "AQL-5.5-2",
        also: &["AQL-4.1-1", "AQL-5.5-1"],
        kind: Kind::Conformance,
        row: Some([0, 0]),
        codes: Codes::These(&[Code::Invalid]),
        why: "it is not in the store any more",
        fails: |shown| shown.of_token(|token| is_gone(shown, token)),
    },
    // AQL-4.1-2, AQL-5.1-3, AQL-5.1-5, AQL-5.1-7: a token past its expiry and the tolerance, which may be none. AQL-5.1-3: under
    // no circumstances is it taken, so not either once a clock that was set back says otherwise than the party has.
    Check {
        clause: "AQL-4.1-2",
        also: &[
            "AQL-5.1-3",
            "AQL-5.1-5",
            "AQL-5.1-7",
            "AQL-5.4-3",
            "AQL-7.1-1",
        ],
        kind: Kind::Guarantee,
        row: Some([1, 2]),
        codes: Codes::These(&[Code::Expired]),
        why: "its expiry and the tolerance are over",
        fails: |shown| {
            let said = |token: &Token| {
                let stays = !shown.leeway.takes_the_current_time;
                Chance::of(token.said_over && stays)
            };
            shown.of_token(|token| shown.is_over(token.last).max(said(token)))
        },
    },
    // AQL-4.1-3, AQL-5.2-1, AQL-5.4-1, AQL-6.1-1: a token that has had its uses, before a restart too.
    Check {
        clause: "AQL-4.1-3",
        also: &[
            "AQL-1.2-1",
            "AQL-5.2-1",
            "AQL-5.2-2",
            "AQL-5.4-1",
            "AQL-6.1-1",
            "AQL-7.1-1",
        ],
        kind: Kind::Guarantee,
        row: Some([2, 3]),
        codes: Codes::These(&[Code::AlreadyUsed]),
        why: "it has had its uses",
        fails: |shown| {
            shown.of_token(|token| {
                let (least, most) = token.used;
                if least >= token.max_uses {
                    Chance::Certain
                } else if most >= token.max_uses {
                    Chance::Perhaps
                } else {
                    Chance::No
                }
            })
        },
    },
    // AQL-4.1-4: a token for another operation.
    Check {
        clause: "AQL-4.1-4",
        also: &["AQL-1.2-3", "AQL-3.2-1", "AQL-7.1-1"],
        kind: Kind::Guarantee,
        row: Some([3, 1]),
        codes: SCOPE,
        why: "it was issued for another operation",
        fails: |shown| {
            shown.of_call(|token, request| Chance::of(token.operation != request.operation))
        },
    },
    // AQL-4.1-5, AQL-4.3-1, AQL-3.2-1, AQL-3.2-4: a token for other parameters, as far as they count.
    Check {
        clause: "AQL-4.1-5",
        also: &[
            "AQL-1.2-3",
            "AQL-3.2-1",
            "AQL-3.2-4",
            "AQL-4.3-1",
            "AQL-7.1-1",
        ],
        kind: Kind::Guarantee,
        row: Some([3, 1]),
        codes: SCOPE,
        why: "it was issued for other parameters",
        fails: |shown| {
            shown.of_call(|token, request| {
                if token.is_bound_in_full() {
                    Chance::No
                } else {
                    parameters_differ(shown, token, request)
                }
            })
        },
    },
    // AQL-3.2-1, AQL-3.2-4: a list that names nothing of the call leaves nothing to bind, so all of the call is bound.
    Check {
        clause: "AQL-3.2-1",
        also: &["AQL-1.2-3", "AQL-3.2-4", "AQL-4.1-5", "AQL-7.1-1"],
        kind: Kind::Guarantee,
        row: Some([3, 1]),
        codes: SCOPE,
        why: "it was issued for other parameters, of which no list names any, so that all are bound",
        fails: |shown| {
            shown.of_call(|token, request| {
                if token.is_bound_in_full() {
                    parameters_differ(shown, token, request)
                } else {
                    Chance::No
                }
            })
        },
    },
    // AQL-4.1-6: a token of another adapter. Whether somebody who asks another adapter about it is told, the text does not say.
    Check {
        clause: "AQL-4.1-6",
        also: &["AQL-7.1-1"],
        kind: Kind::Guarantee,
        row: Some([3, 1]),
        codes: SCOPE,
        why: "another adapter issued it",
        fails: |shown| {
            shown.of_token(|token| match shown.request {
                _ if token.adapter == shown.adapter => Chance::No,
                Some(_) => Chance::Certain,
                None => Chance::Perhaps,
            })
        },
    },
    // AQL-2.1-1: a token for another purpose. A quota token confirms nothing: it goes on with what a confirmation has allowed.
    Check {
        clause: "AQL-2.1-1",
        also: &["AQL-1.3-1", "AQL-5.1-1", "AQL-7.1-1"],
        kind: Kind::Guarantee,
        row: None,
        codes: BEYOND_SCOPE,
        why: "it was issued for another purpose",
        fails: |shown| shown.of_call(|token, request| is_other_purpose(shown, token, request)),
    },
    // AQL-5.1-1: a token for a lower rating, unless by the reading none is asked for. The table of 5.1 has one row for destructive and
    // dangerous.
    Check {
        clause: "AQL-5.1-1",
        also: &["AQL-3.2-1"],
        kind: Kind::Conformance,
        row: None,
        codes: SCOPE,
        why: "the operation was rated lower when it was issued",
        fails: |shown| match shown.reading.rating_at_redemption {
            RatingAtRedemption::Checked => shown.of_call(rates_higher),
            RatingAtRedemption::NotChecked => Chance::No,
        },
    },
    // AQL-5.4-1, AQL-5.4-4, AQL-6.1-2: a token of another session.
    Check {
        clause: "AQL-5.4-1",
        also: &["AQL-5.4-4", "AQL-6.1-2", "AQL-7.1-1"],
        kind: Kind::Guarantee,
        row: None,
        codes: BEYOND_SCOPE,
        why: "it is bound to another session",
        fails: |shown| {
            shown.of_call(|token, request| {
                if Account::is_other_session(token, request) {
                    token.bound
                } else {
                    Chance::No
                }
            })
        },
    },
    // AQL-5.4-2: a token of a connection that has ended, with the session or with the process.
    Check {
        clause: "AQL-5.4-2",
        also: &["AQL-5.3-2", "AQL-7.1-1"],
        kind: Kind::Guarantee,
        row: None,
        codes: Codes::OfEnded,
        why: "the connection that it was issued in has ended",
        fails: |shown| {
            shown.of_token(|token| {
                if shown.account.connection_ended(token) {
                    token.bound
                } else {
                    Chance::No
                }
            })
        },
    },
    // AQL-5.3-1: a token that was revoked otherwise; the reading revoked-code says its code.
    Check {
        clause: "AQL-5.3-1",
        also: &["AQL-5.3-2", "AQL-5.3-3", "AQL-7.1-1", "AQL-7.2-2"],
        kind: Kind::Guarantee,
        row: None,
        codes: Codes::OfRevoked,
        why: "it was revoked",
        fails: |shown| shown.of_token(|token| token.revoked),
    },
];

/// What the checks come to.
pub(super) struct Validity {
    /// The check that fails for certain, the first of them.
    pub(super) fault: Option<&'static Check>,
    /// Whether any may fail.
    pub(super) doubtful: bool,
    /// The codes that a refusal may have.
    codes: Vec<Code>,
}

impl Validity {
    /// Whether a refusal may have this code.
    pub(super) fn allows(&self, code: Code) -> bool {
        self.codes.contains(&code)
    }

    /// The codes that a refusal may have, in words.
    pub(super) fn codes(&self) -> String {
        let names: Vec<_> = self.codes.iter().map(|code| code.name()).collect();
        names.join(" or ")
    }
}

impl Shown<'_> {
    /// AQL-7.1-1, AQL-7.1-2: makes all the checks. Of those in the table the first that fails gives the code (reading
    /// check-order); one that is in the table and only may fail hides none.
    pub(super) fn validity(&self) -> Validity {
        let mut failed: Vec<(&'static Check, Chance)> = Vec::new();
        for check in &CHECKS {
            let chance = (check.fails)(self);
            if chance > Chance::No {
                failed.push((check, chance));
            }
        }
        let place = |check: &Check| check.row.map(|row| row[self.order()]);
        // Those without a row come last here, and hide nothing and are hidden by nothing.
        failed.sort_by_key(|(check, _)| place(check).unwrap_or(u8::MAX));
        let certain = failed
            .iter()
            .filter(|(_, chance)| *chance == Chance::Certain);
        let fault = certain.clone().map(|(check, _)| *check).next();
        let first = certain.clone().find_map(|(check, _)| place(check));
        let mut codes = Vec::new();
        for (check, _) in &failed {
            let hidden = place(check).is_some_and(|it| first.is_some_and(|first| it > first));
            if !hidden {
                codes.extend(self.codes(check));
            }
        }
        codes.sort_unstable();
        codes.dedup();
        Validity {
            fault,
            doubtful: !failed.is_empty(),
            codes,
        }
    }

    fn order(&self) -> usize {
        match self.reading.check_order {
            CheckOrder::Table => 0,
            CheckOrder::Sample => 1,
        }
    }

    fn codes(&self, check: &Check) -> Vec<Code> {
        match check.codes {
            Codes::These(codes) => codes.to_vec(),
            Codes::OfRevoked => vec![self.reading.revoked_code],
            Codes::OfEnded => vec![
                self.reading.revoked_code,
                Code::Invalid,
                Code::ScopeMismatch,
            ],
        }
    }

    fn of_token(&self, chance: impl FnOnce(&Token) -> Chance) -> Chance {
        self.token.map_or(Chance::No, chance)
    }

    fn of_call(&self, chance: impl FnOnce(&Token, &Request) -> Chance) -> Chance {
        match (self.token, self.request) {
            (Some(token), Some(request)) => chance(token, request),
            (None, _) | (_, None) => Chance::No,
        }
    }

    /// Whether it is past a time: by the call's time for certain, by the latest so far where the clock stepped back perhaps.
    fn is_over(&self, last: i64) -> Chance {
        if self.account.now > last {
            Chance::Certain
        } else if self.account.latest > last {
            Chance::Perhaps
        } else {
            Chance::No
        }
    }
}

/// A restart may lose tokens. An expired token is purged at any time within the hour, which may begin with the end of its
/// tolerance; the reading purge-code says what it is then.
fn is_gone(shown: &Shown<'_>, token: &Token) -> Chance {
    if token.gone {
        return Chance::Certain;
    }
    let lost = if shown.account.restarts > token.seen_after {
        Chance::Perhaps
    } else {
        Chance::No
    };
    let purged = match shown.reading.purge_code {
        PurgeCode::Either => shown.is_over(token.last).min(Chance::Perhaps),
        PurgeCode::Unknown => match shown.is_over(token.last.saturating_add(HOUR)) {
            Chance::Certain => Chance::Certain,
            Chance::Perhaps | Chance::No => shown.is_over(token.last).min(Chance::Perhaps),
        },
        PurgeCode::Remembered => Chance::No,
    };
    lost.max(purged)
}

fn parameters_differ(shown: &Shown<'_>, token: &Token, request: &Request) -> Chance {
    // For another operation other parameters count.
    if token.operation != request.operation {
        return Chance::No;
    }
    let binding = shown.account.binding(token.adapter, token.operation);
    match &request.parameters {
        Some(parameters) => token.parameters_differ(parameters, &binding),
        None => Chance::Certain,
    }
}

fn is_other_purpose(shown: &Shown<'_>, token: &Token, request: &Request) -> Chance {
    match (token.purpose, request.purpose) {
        (Purpose::Confirmation, Purpose::Confirmation) => Chance::No,
        (Purpose::Confirmation, Purpose::Quota) if request.is_dangerous() => Chance::Perhaps,
        (Purpose::Quota, Purpose::Quota) if !request.is_dangerous() => Chance::No,
        (Purpose::Quota, Purpose::Quota) if was_confirmed(shown, request) => Chance::Perhaps,
        (Purpose::Confirmation, Purpose::Quota) | (Purpose::Quota, _) => Chance::Certain,
    }
}

/// Whether a confirmation was redeemed for the same call before, that a quota token could go on with.
fn was_confirmed(shown: &Shown<'_>, request: &Request) -> bool {
    let (adapter, operation) = (request.adapter, request.operation);
    let binding = shown.account.binding(adapter, operation);
    let Some(parameters) = &request.parameters else {
        return false;
    };
    let same = |token: &Token| {
        token.purpose == Purpose::Confirmation
            && token.used.1 > 0
            && (token.adapter, token.operation) == (adapter, operation)
            && token.parameters_differ(parameters, &binding) < Chance::Certain
    };
    shown.account.tokens.values().any(same)
}

fn rates_higher(token: &Token, request: &Request) -> Chance {
    let row = |level| {
        // AQL-5.1-1: the rows of the table, and none for what is not gated.
        use super::words::Level::{Dangerous, Destructive, Forbidden, Reversible, Safe};
        match level {
            Safe | Reversible => 0,
            Destructive | Dangerous => 1,
            Forbidden => 2,
        }
    };
    if row(request.level) > row(token.level) {
        Chance::Certain
    } else if request.level == token.level {
        Chance::No
    } else {
        Chance::Perhaps
    }
}
