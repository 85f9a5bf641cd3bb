//! Section 6.5: how often tokens may be asked for, tried and revoked.
//!
//! The one thing to know: the text gives no numbers. A party that declares none may limit whatever repeats something, and need
//! not; of one that does, a try beyond its limit is to be turned away, and none within it. Whether one limit is shared by all
//! clients or each has its own, the text leaves open: what is required is of one session of one adapter, what is allowed of
//! all of them together.

use std::collections::BTreeMap;

use super::account::Account;
use super::{Case, TokenJudge};

/// How often something may be tried: so many times at once, and once more whenever so much time has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// How many times at once.
    pub burst: u32,
    /// The time in milliseconds after which it is once more; none if it never is.
    pub every_ms: Option<i64>,
}

/// The limits that a party declares; where there is none, nothing is said of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Of tokens that are given away.
    pub issuance: Option<Limit>,
    /// Of tokens that fail a check: in a call, or when their status is asked for.
    pub failed_validation: Option<Limit>,
    /// Of revocations.
    pub revocation: Option<Limit>,
    /// How many active tokens of an adapter there is room for (AQL-5.5-3); the thousand of the text, where none is declared.
    pub capacity: Option<usize>,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Tried {
    Issuance,
    FailedValidation,
    Revocation,
}

impl Tried {
    const fn name(self) -> &'static str {
        match self {
            Self::Issuance => "tokens given away",
            Self::FailedValidation => "failed validations",
            Self::Revocation => "revocations",
        }
    }
}

/// Who tried: a session of an adapter.
pub(super) type By = (u32, Option<u32>);

/// What was tried and is not forgotten yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tries {
    /// By one, and answered.
    of_one: BTreeMap<(Tried, By), Spent>,
    /// By anybody, whether it was answered or turned away.
    of_all: BTreeMap<Tried, Spent>,
}

/// How much of a limit is used, as the time that it takes to have it back; in tries where nothing is had back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spent {
    millis: i64,
    at: i64,
}

impl Spent {
    /// What is still used at this time.
    fn left(self, limit: Limit, now: i64) -> i64 {
        let back = limit.every_ms.map_or(0, |_| now.saturating_sub(self.at));
        self.millis.saturating_sub(back).max(0)
    }

    /// One try more; no more is ever used than there is, unless it was answered beyond that.
    fn add(&mut self, limit: Limit, now: i64, most: i64) {
        let used = self.left(limit, now).saturating_add(limit.one());
        *self = Self {
            millis: used.min(most),
            at: limit.every_ms.map_or(0, |_| now),
        };
    }
}

impl Limit {
    fn whole(self) -> i64 {
        i64::from(self.burst).saturating_mul(self.one())
    }

    /// What one try uses.
    fn one(self) -> i64 {
        self.every_ms.unwrap_or(1)
    }
}

impl Account {
    /// Where a process comes back its limits may begin anew, or go on.
    pub(super) fn forget_tries(&mut self) {
        self.tries.of_one.clear();
    }
}

impl TokenJudge {
    /// The same judge, of a party that declares these limits.
    #[must_use]
    pub fn of_limited(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    fn limit(&self, tried: Tried) -> Option<Limit> {
        match tried {
            Tried::Issuance => self.limits.issuance,
            Tried::FailedValidation => self.limits.failed_validation,
            Tried::Revocation => self.limits.revocation,
        }
    }

    /// AQL-6.5-1: something that may be limited was answered as if it were not.
    pub(super) fn is_tried(&mut self, tried: Tried, by: By, case: &mut Case) {
        self.may_count(tried);
        let Some(limit) = self.limit(tried) else {
            return;
        };
        // A process that came back may know no time but that since.
        let now = self.account.latest_since;
        let of_one = self.account.tries.of_one.entry((tried, by)).or_default();
        of_one.add(limit, now, i64::MAX);
        if of_one.millis > limit.whole() {
            let text = format!(
                "RATE_LIMITED must be answered: the limit of {} {} is used up",
                limit.burst,
                tried.name()
            );
            case.conformance("AQL-6.5-1", &[], text);
            // So that it is not found again before it is used up again.
            of_one.millis = limit.whole();
        }
    }

    /// AQL-6.5-1: something was turned away because too much of it was tried. A first try repeats nothing.
    pub(super) fn is_limited(&mut self, kinds: &[Tried], case: &mut Case) {
        let now = self.account.latest;
        let used_up = |&tried: &Tried| match self.limit(tried) {
            None => self.account.attempts > 0,
            Some(limit) => {
                let spent = self.account.tries.of_all.get(&tried);
                let used = spent.map_or(0, |it| it.left(limit, now));
                used.saturating_add(limit.one()) > limit.whole()
            }
        };
        if !kinds.iter().any(used_up) {
            let text = "nothing may be limited: too little was tried".to_owned();
            case.conformance("AQL-6.5-1", &["AQL-7.1-2"], text);
        }
        for &tried in kinds {
            self.may_count(tried);
        }
    }

    /// Something was tried in vain, and what it repeats the text does not say: it may count.
    pub(super) fn may_count(&mut self, tried: Tried) {
        self.account.attempts += 1;
        let now = self.account.latest;
        if let Some(limit) = self.limit(tried) {
            let spent = self.account.tries.of_all.entry(tried).or_default();
            spent.add(limit, now, limit.whole());
        }
    }
}
