//! A wide run as plain data, and how bytes choose one.
//!
//! The one thing to know: a step names nothing that a run may not have. Tokens are counted back from the latest, and a number
//! beyond what there is starts again, so that any steps can be left out of a run and the rest still be played.

use serde::{Deserialize, Serialize};

/// How many of each there are.
pub const ADAPTERS: u8 = 3;
pub const OPERATIONS: u8 = 8;
pub const SESSIONS: u8 = 8;
pub const PARAMETERS: u8 = 4;
pub const VALUES: u8 = 4;
/// How far back tokens are taken from.
pub const TOKENS: u8 = 32;

/// A host's choices, and what happens to its gatekeeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What the host chose.
    pub host: Host,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// What the host chose once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Host {
    /// Tokens are checked in the order of the sample, not of the table.
    pub sample_order: bool,
    /// A restart loses the tokens.
    pub in_memory: bool,
    /// How long expired tokens are remembered.
    pub retention_seconds: u64,
    /// How many requests of a kind are let through at once, then one a second. No limit where absent.
    pub burst: Option<u32>,
    /// Whether the judge is shown the log.
    pub shows_log: bool,
    /// Whether so many tokens of the first adapter are alive at the start that there is hardly room for more.
    #[serde(default)]
    pub crowded: bool,
    /// Tokens are signed instead of kept; no bytes choose it.
    #[serde(default)]
    pub signs: bool,
}

/// Time passes, and then something happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub after: Passing,
    pub what: What,
}

/// How the time changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    /// By this many milliseconds; the clock is set back where they are negative.
    Millis(i64),
    /// To this many milliseconds after a limit of a token, if that is not past.
    Limit {
        token: u8,
        limit: Limit,
        offset: i64,
    },
}

/// A time at which something ends for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Expiry,
    Tolerance,
    Retention,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Call(Request),
    /// The call for which a token was issued, again and with a token, and something else than it was.
    Retry {
        issued: u8,
        shown: Shown,
        changes: Vec<Change>,
    },
    Revoke(Shown),
    Status(Shown),
    Configure {
        adapter: u8,
        tolerance_seconds: Option<u64>,
        uniform: Option<bool>,
        /// Operations, and one bit a parameter.
        critical: Option<Vec<(u8, u8)>>,
    },
    Logout(Option<u8>),
    Security,
    Configuration,
    EndSession(u8),
    Tick,
    Restart {
        lost: u8,
    },
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub adapter: u8,
    pub operation: u8,
    pub parameters: Parameters,
    /// 0 to 4.
    pub level: u8,
    pub quota: bool,
    pub session: Option<u8>,
    pub max_uses: u32,
    pub ttl_seconds: Option<u64>,
    pub shown: Option<Shown>,
}

/// Parameters and how they are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The value of each, where it is there.
    pub values: [Option<u8>; PARAMETERS as usize],
    /// One bit each: in the other order, with more space, with other escapes.
    pub spelling: u8,
    /// They have not one meaning: cut off, a name twice, more than one value.
    pub broken: Option<u8>,
}

/// A token that a client shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// One that was issued, counted back from the latest.
    Issued(u8),
    /// The same with its letters in the other case, or with one letter more.
    Altered(u8, bool),
    /// One that has the form of a token.
    Unknown(u8),
    /// One that has not.
    Malformed(u8),
}

/// What a retry has otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Adapter(u8),
    Operation(u8),
    Value(u8, Option<u8>),
    Spelling(u8),
    Level(u8),
    Purpose,
    Session(Option<u8>),
    Uses(u32),
}

/// Bytes that choose.
struct Choices<'a> {
    bytes: &'a [u8],
    /// How many of each this run has: where there are few, more happens to each.
    adapters: u8,
    operations: u8,
    sessions: u8,
    /// The time goes on by little, so that many tokens are alive.
    calm: bool,
    /// Few tokens are issued, so that each is shown often: one of ten uses is used up.
    repeats: bool,
}

impl<'a> Choices<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut choices = Self {
            bytes,
            adapters: ADAPTERS,
            operations: OPERATIONS,
            sessions: SESSIONS,
            calm: false,
            repeats: false,
        };
        choices.adapters = choices.pick(&[1, ADAPTERS]);
        choices.operations = choices.pick(&[1, 2, OPERATIONS]);
        choices.sessions = choices.pick(&[1, 2, SESSIONS]);
        choices.calm = choices.one_in(3);
        choices.repeats = choices.one_in(4);
        choices
    }

    /// A number below `n`; 0 when nothing is left.
    fn below(&mut self, n: u8) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                first % n
            }
            None => 0,
        }
    }

    fn adapter(&mut self) -> u8 {
        self.below(self.adapters)
    }

    fn operation(&mut self) -> u8 {
        self.below(self.operations)
    }

    fn session(&mut self) -> u8 {
        self.below(self.sessions)
    }

    fn one_in(&mut self, n: u8) -> bool {
        self.below(n) == n - 1
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let count = u8::try_from(from.len()).unwrap_or(u8::MAX);
        from[usize::from(self.below(count))]
    }

    fn maybe<T>(&mut self, n: u8, some: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.one_in(n).then(|| some(self))
    }
}

impl Run {
    /// The run that the bytes choose, as long as there are any.
    pub fn of(bytes: &[u8]) -> Self {
        let mut choices = Choices::new(bytes);
        let mut host = Host {
            sample_order: choices.one_in(3),
            in_memory: choices.one_in(4),
            retention_seconds: choices.pick(&[900, 0, 1, 3_000]),
            burst: choices.maybe(4, |it| u32::from(1 + it.below(5))),
            shows_log: !choices.one_in(4),
            crowded: false,
            signs: false,
        };
        // A crowd takes its time, and does not come past a limit.
        host.crowded = host.burst.is_none() && choices.one_in(40);
        let mut steps = Vec::new();
        while !choices.bytes.is_empty() {
            steps.push(Step::chosen(&mut choices));
        }
        Self { host, steps }
    }
}

impl Step {
    /// Somebody in the crowd gets a token, for as long as there is one.
    pub(super) fn of_crowd() -> Self {
        Self {
            after: Passing::Millis(0),
            what: What::Call(Request {
                adapter: 0,
                operation: 0,
                parameters: Parameters {
                    values: [Some(0); PARAMETERS as usize],
                    spelling: 0,
                    broken: None,
                },
                level: 2,
                quota: false,
                session: None,
                max_uses: 1,
                ttl_seconds: Some(900),
                shown: None,
            }),
        }
    }

    fn chosen(it: &mut Choices<'_>) -> Self {
        let after = Passing::chosen(it);
        let what = match it.below(40) {
            0..10 if !it.repeats || it.one_in(8) => What::Call(Request::chosen(it)),
            0..28 => What::Retry {
                issued: back(it),
                shown: Shown::Issued(0),
                changes: Change::chosen(it),
            },
            28..31 => What::Retry {
                issued: back(it),
                shown: Shown::chosen(it),
                changes: Vec::new(),
            },
            31 | 32 => What::Revoke(Shown::chosen(it)),
            33 => What::Status(Shown::chosen(it)),
            34 => configure(it),
            35 => What::Logout(
                it.maybe(4, |_| ())
                    .map_or_else(|| Some(it.session()), |()| None),
            ),
            36 if it.one_in(3) => What::Security,
            36 if it.one_in(3) => What::Configuration,
            36 | 37 => What::EndSession(it.session()),
            38 => What::Tick,
            _ => What::Restart { lost: it.below(6) },
        };
        let mut step = Self { after, what };
        // The token of a retry is most often the one that was issued for the call.
        if let What::Retry { issued, shown, .. } = &mut step.what
            && *shown == Shown::Issued(0)
        {
            *shown = Shown::Issued(*issued);
        }
        step
    }
}

impl Passing {
    fn chosen(it: &mut Choices<'_>) -> Self {
        match it.below(if it.calm { 15 } else { 24 }) {
            0..10 => Self::Millis(0),
            10..14 => Self::Millis(i64::from(it.below(255))),
            14..16 => Self::Millis(1_000 * i64::from(it.below(200))),
            16 => Self::Millis(600_000 * i64::from(it.below(30))),
            17 => Self::Millis(-i64::from(it.below(255)) * it.pick(&[1, 1_000, 60_000])),
            _ => Self::Limit {
                token: back(it),
                limit: it.pick(&[
                    Limit::Tolerance,
                    Limit::Expiry,
                    Limit::Tolerance,
                    Limit::Retention,
                ]),
                offset: it.pick(&[-1, 0, 1]),
            },
        }
    }
}

/// A token, counted back from the latest; most often one of the last.
fn back(it: &mut Choices<'_>) -> u8 {
    let among = it.pick(&[1, 2, 4, 8, TOKENS]);
    it.below(among)
}

impl Request {
    fn chosen(it: &mut Choices<'_>) -> Self {
        let session = it.maybe(2, Choices::session);
        let uses = it.maybe(2, |it| u32::from(it.below(11)));
        let quota = it.one_in(4);
        let levels: &[u8] = if quota {
            &[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 3, 4]
        } else {
            &[2, 3, 4, 2, 3, 4, 0, 1]
        };
        Self {
            adapter: it.adapter(),
            operation: it.operation(),
            parameters: Parameters::chosen(it),
            level: it.pick(levels),
            quota,
            session,
            max_uses: uses.filter(|_| session.is_some()).unwrap_or(1),
            ttl_seconds: it.maybe(3, |it| {
                it.pick(&[
                    0, 1, 60, 119, 120, 121, 299, 300, 301, 599, 600, 601, 899, 900, 901,
                ])
            }),
            shown: it.maybe(12, Shown::chosen),
        }
    }
}

impl Parameters {
    fn chosen(it: &mut Choices<'_>) -> Self {
        Self {
            values: std::array::from_fn(|_| it.maybe(2, |it| it.below(VALUES))),
            spelling: it.below(8),
            broken: it.maybe(24, |it| it.below(3)),
        }
    }
}

impl Shown {
    fn chosen(it: &mut Choices<'_>) -> Self {
        match it.below(8) {
            0..5 => Self::Issued(back(it)),
            5 => Self::Altered(back(it), it.one_in(2)),
            6 => Self::Unknown(it.below(4)),
            _ => Self::Malformed(it.below(6)),
        }
    }
}

impl Change {
    fn chosen(it: &mut Choices<'_>) -> Vec<Self> {
        let count = it.pick(&[0, 0, 0, 1, 1, 2]);
        (0..count).map(|_| Self::one(it)).collect()
    }

    fn one(it: &mut Choices<'_>) -> Self {
        match it.below(9) {
            0 => Self::Adapter(it.below(ADAPTERS)),
            1 => Self::Operation(it.below(OPERATIONS)),
            2 | 3 => Self::Value(it.below(PARAMETERS), it.maybe(2, |it| it.below(VALUES))),
            4 => Self::Spelling(it.below(8)),
            5 => Self::Level(it.below(5)),
            6 => Self::Purpose,
            7 => Self::Session(it.maybe(2, Choices::session)),
            _ => Self::Uses(u32::from(it.below(11))),
        }
    }

    /// Makes it.
    pub fn make(&self, request: &mut Request) {
        match self {
            Self::Adapter(adapter) => request.adapter = *adapter,
            Self::Operation(operation) => request.operation = *operation,
            Self::Value(name, value) => request.parameters.values[usize::from(*name)] = *value,
            Self::Spelling(spelling) => request.parameters.spelling = *spelling,
            Self::Level(level) => request.level = *level,
            Self::Purpose => request.quota = !request.quota,
            Self::Session(session) => request.session = *session,
            Self::Uses(uses) => request.max_uses = *uses,
        }
    }
}

fn configure(it: &mut Choices<'_>) -> What {
    let tolerance = it.pick(&[0, 1, 5, 29, 30, 31, 59, 60, 61, 120, 299, 300, 301]);
    let listed = |it: &mut Choices<'_>| (it.operation(), it.below(16));
    What::Configure {
        adapter: it.adapter(),
        tolerance_seconds: it.maybe(2, |_| tolerance),
        uniform: it.maybe(2, |it| it.one_in(2)),
        critical: it.maybe(2, |it| (0..it.below(5)).map(|_| listed(it)).collect()),
    }
}
