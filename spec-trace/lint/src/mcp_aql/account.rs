//! What is known of the adapters, tokens and sessions of a transcript.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::de::IgnoredAny;

use crate::transcript::{Fields, text};

/// The longest tolerance that may be set, in milliseconds: nobody knows of one that stands in the settings.
const LONGEST: i64 = 300_000;

/// Of 32 hexadecimal digits, or 22 characters of 64, fewer differ by chance in one of 10^20 pairs.
const FEWEST_DIFFERING: usize = 8;

/// A call, as it was asked for.
#[derive(Debug, Clone)]
pub struct Call {
    pub adapter: String,
    pub operation: String,
    /// As they are written; a text that holds JSON is that JSON.
    pub params: String,
    pub level: u64,
    pub is_quota: bool,
    pub session: Option<String>,
    pub token: Option<String>,
}

/// The danger levels in the order of their numbers.
const LEVELS: [&str; 5] = [
    "safe",
    "reversible",
    "destructive",
    "dangerous",
    "forbidden",
];

impl Call {
    /// The call of this request; `None` where it names no operation or level.
    pub fn of(request: &Fields<'_>) -> Option<Self> {
        let level = request.number("danger_level").or_else(|| {
            let word = request.text("danger_level")?;
            let at = LEVELS.iter().position(|it| *it == word)?;
            u64::try_from(at).ok()
        });
        Some(Self {
            adapter: request
                .text("adapter")
                .unwrap_or_else(|| "default".to_owned()),
            operation: request.text("operation")?,
            params: within(request.raw("params")?),
            level: level?,
            is_quota: request.text("purpose").as_deref() == Some("quota_continue"),
            session: request.text("session_id"),
            token: request.text("confirmation_token"),
        })
    }

    /// Whether its danger has to be confirmed.
    pub fn is_dangerous(&self) -> bool {
        self.level >= 2
    }

    /// Whether it needs a token.
    pub fn is_gated(&self) -> bool {
        self.is_dangerous() || self.is_quota
    }

    /// How long a token for it may live at most, in milliseconds. For what is confirmed though it is not dangerous the text has no
    /// maximum: the longest that it has counts.
    pub fn longest(&self, token: &str) -> i64 {
        let minutes = match self.level {
            4 => 5,
            0 | 1 if !token.starts_with("conf_") => 10,
            _ => 15,
        };
        minutes * 60_000
    }

    /// The word of its danger level.
    pub fn level_word(&self) -> &'static str {
        let at = usize::try_from(self.level).unwrap_or(usize::MAX);
        LEVELS.get(at).copied().unwrap_or_default()
    }
}

/// Why a token is not good any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its session has ended.
    Session,
    /// It was given back, or the log says that it was revoked.
    Revoked,
    /// Something has happened.
    Event,
    /// Its adapter works differently, or the process has died: it may be gone.
    Perhaps,
}

/// A token that was issued.
#[derive(Debug)]
pub struct Token {
    /// The call that it was issued for.
    pub call: Call,
    pub line: u64,
    pub expires_at: Option<i64>,
    pub most_uses: u64,
    /// The lines on which it was used.
    pub uses: Vec<u64>,
    /// Whether it is bound to the session of its call, because that was asked for.
    pub is_bound: bool,
    pub end: Option<(End, u64)>,
    /// The parameters that it is bound to, where they are named.
    pub critical: Option<BTreeSet<String>>,
    /// The least and the greatest tolerance that its adapter may have had at its issue.
    pub tolerance: (i64, i64),
    /// What the log has called it since the process began.
    pub id: Option<String>,
}

impl Token {
    /// Whether nothing is known that has ended it.
    pub fn is_live(&self, now: i64) -> bool {
        let is_left = (self.uses.len() as u64) < self.most_uses;
        self.end.is_none() && is_left && self.expires_at.is_some_and(|at| now <= at)
    }
}

/// An adapter, as it was configured.
#[derive(Debug, Default)]
pub struct Adapter {
    tolerance: Option<i64>,
    pub critical: BTreeMap<String, BTreeSet<String>>,
    /// Whether it was told to answer each failed check by its own code, or all alike.
    pub has_codes: Option<bool>,
    /// How long past its expiry a token was taken at most, and turned away as expired at least, in milliseconds, each with its line.
    pub taken_late: Option<(i64, u64)>,
    pub expired_after: Option<(i64, u64)>,
}

impl Adapter {
    /// The least and the greatest tolerance that it may have, in milliseconds.
    pub fn tolerance(&self) -> (i64, i64) {
        self.tolerance
            .map_or((0, LONGEST), |tolerance| (tolerance, tolerance))
    }

    /// What it is told.
    pub fn configure(&mut self, request: &Fields<'_>) {
        if let Some(seconds) = request.number("clock_skew_tolerance_seconds") {
            self.tolerance = i64::try_from(seconds)
                .ok()
                .map(|it| it.saturating_mul(1_000));
        }
        if let Some(oracle) = request.text("oracle") {
            self.has_codes = Some(oracle == "codes");
        }
        if let Some(critical) = request.object("critical") {
            let names = critical.names().map(str::to_owned).collect::<Vec<_>>();
            let named = names.into_iter().filter_map(|name| {
                let parameters = critical.texts(&name)?;
                Some((name, parameters.into_iter().collect()))
            });
            self.critical = named.collect();
        }
    }
}

/// All that is known since the last `reset`.
#[derive(Debug, Default)]
pub struct Account {
    pub adapters: BTreeMap<String, Adapter>,
    pub tokens: BTreeMap<String, Token>,
    /// The tokens that the log has called so since the process began.
    pub named: BTreeMap<String, BTreeSet<String>>,
    /// The tokens that were issued for what cannot be read.
    pub unread: BTreeSet<String>,
    pub ended: BTreeSet<String>,
    /// The greatest time so far.
    pub latest: i64,
    /// The tokens that were issued last, without their prefixes.
    recent: VecDeque<String>,
}

/// So many tokens are held against the next one, as several counters may go side by side.
const RECENT: usize = 8;

impl Account {
    /// Whether one of the tokens that were issued last is almost this one: two of chance differ nearly everywhere.
    pub fn almost_repeats(&mut self, identifier: &str) -> bool {
        let differing = |it: &String| {
            let pairs = it.bytes().zip(identifier.bytes());
            pairs.filter(|(one, other)| one != other).count()
        };
        let mut alike = self.recent.iter().filter(|it| it.len() == identifier.len());
        let repeats = alike.any(|it| (1..FEWEST_DIFFERING).contains(&differing(it)));
        self.recent.push_back(identifier.to_owned());
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        repeats
    }

    /// AQL-5.1-7: the least and the greatest tolerance that may count: that of the issue, or that of the check.
    pub fn tolerance(&self, token: &Token) -> (i64, i64) {
        let (least, most) = token.tolerance;
        let now = self.adapters.get(&token.call.adapter);
        let now = now.map_or(token.tolerance, Adapter::tolerance);
        (least.min(now.0), most.max(now.1))
    }

    /// What the process alone knows is gone with it.
    pub fn restart(&mut self) {
        for token in self.tokens.values_mut() {
            token.id = None;
        }
        self.named.clear();
        for adapter in self.adapters.values_mut() {
            (adapter.taken_late, adapter.expired_after) = (None, None);
        }
    }

    /// Ends the tokens that this is said of.
    pub fn end(&mut self, end: End, line: u64, ends: impl Fn(&Token) -> bool) {
        let tokens = self.tokens.values_mut();
        for token in tokens
            .filter(|token| token.end.is_none_or(|(end, _)| end == End::Perhaps) && ends(token))
        {
            token.end = Some((end, line));
        }
    }
}

/// JSON may come as a text of it.
fn within(raw: &str) -> String {
    let within = text(raw).filter(|it| serde_json::from_str::<IgnoredAny>(it).is_ok());
    within.unwrap_or_else(|| raw.to_owned())
}
