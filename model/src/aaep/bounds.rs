//! How far the model goes: numbers of things, and a budget for each kind of disturbance.

use crate::bounds::Number;

pub use crate::bounds::BoundsError;

/// A kind of step that disturbs, each with its own budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Disturbance {
    /// The network duplicates a message.
    Duplicate,
    /// The network loses a message.
    Lose,
    /// Somebody forges a reply.
    Forge,
    /// A captured reply is delivered again.
    Replay,
    /// A subscriber sends a malformed reply or one with `modified_action`.
    Distort,
    /// The agent cancels a pending confirmation.
    Cancel,
    /// A subscription closes.
    Close,
    /// The process crashes and restarts.
    Crash,
    /// The first question is asked before everybody has come: the rest start and subscribe after it.
    Late,
}

impl Disturbance {
    /// All kinds, in the order of the budgets.
    pub const ALL: [Self; 9] = [
        Self::Duplicate,
        Self::Lose,
        Self::Forge,
        Self::Replay,
        Self::Distort,
        Self::Cancel,
        Self::Close,
        Self::Crash,
        Self::Late,
    ];

    /// The name of its budget in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Lose => "lose",
            Self::Forge => "forge",
            Self::Replay => "replay",
            Self::Distort => "distort",
            Self::Cancel => "cancel",
            Self::Close => "close",
            Self::Crash => "crash",
            Self::Late => "late",
        }
    }
}

impl From<Disturbance> for usize {
    fn from(kind: Disturbance) -> Self {
        kind as Self
    }
}

/// How often each disturbance can still happen, and how many can happen in all.
pub type Budgets = crate::bounds::Budgets<9>;

/// Which classes of confirmations are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variety {
    /// First: one class for each thing that resolution depends on. Second: one for each default; its timeout is the
    /// shortest in session A and the longest in B.
    Few,
    /// First: every risk, irreversible or not, with every default, and lists of allowed replies that leave the default
    /// out. Second: as above.
    Many,
    /// First: every class. Second: one for each default, with every timeout.
    All,
}

/// The bounds of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The name of the preset that they are or were made from, or `custom`.
    pub name: &'static str,
    /// Sessions: 1 or 2.
    pub sessions: u8,
    /// Confirmations in all: 1 to 3.
    pub confirmations: u8,
    /// Clarifications in all: 0 to 2. With the confirmations they are three at most.
    pub clarifications: u8,
    /// How often a question can get more time: 0 to 3.
    pub extensions: u8,
    /// Pieces of work around the questions in all, tools that nobody is asked about, chunks of output and handoffs: 0 to 3.
    pub work: u8,
    /// Subscriptions: 2 or 3.
    pub subscribers: u8,
    /// The last tick of the clock: 0 to 8.
    pub ticks: u8,
    /// Timeouts go from 1 to this: 1 to 3 ticks.
    pub longest_timeout: u8,
    /// Subscribers' clocks are off by up to this, either way: 0 or 1 tick.
    pub skew: u8,
    /// Which classes are asked for.
    pub variety: Variety,
    /// Replies under way at the same time: 1 to 4.
    pub under_way: u8,
    /// Of each kind of disturbance, in the order of [`Disturbance::ALL`]: 0 to 3; of all kinds in one run: 0 to 15.
    pub disturbances: Budgets,
}

impl Bounds {
    /// Seconds in a debug test, walked with and without the quotient: 31,419 states, 5,496,085 literally.
    pub const SMALL: Self = Self {
        name: "small",
        sessions: 2,
        confirmations: 2,
        clarifications: 0,
        extensions: 0,
        work: 0,
        subscribers: 2,
        ticks: 1,
        longest_timeout: 1,
        skew: 1,
        variety: Variety::Few,
        under_way: 1,
        disturbances: Budgets::new([1; 9], 1),
    };

    /// The main job: 1,682,325 states and 21,560,895 steps, each of which is also taken by the executor.
    ///
    /// What keeps it there: two disturbances in one run, of nine kinds with a budget of one each, and one class for each
    /// default of the second confirmation ([`Variety::Many`]).
    pub const DEFAULT: Self = Self {
        name: "default",
        sessions: 2,
        confirmations: 2,
        clarifications: 0,
        extensions: 0,
        work: 0,
        subscribers: 2,
        ticks: 2,
        longest_timeout: 2,
        skew: 1,
        variety: Variety::Many,
        under_way: 3,
        disturbances: Budgets::new([1; 9], 2),
    };

    /// For the night.
    pub const LARGE: Self = Self {
        name: "large",
        sessions: 2,
        confirmations: 2,
        clarifications: 0,
        extensions: 0,
        work: 0,
        subscribers: 2,
        ticks: 3,
        longest_timeout: 3,
        skew: 1,
        variety: Variety::All,
        under_way: 3,
        disturbances: Budgets::new([1; 9], 3),
    };

    /// For the night: three confirmations, every disturbance up to twice, two in all, and two subscribers that can reply beside
    /// one that cannot.
    pub const THREE: Self = Self {
        name: "three",
        confirmations: 3,
        subscribers: 3,
        disturbances: Budgets::new([2; 9], 2),
        ..Self::SMALL
    };

    /// Clarifications and extensions, beside one confirmation.
    pub const CLARIFY: Self = Self {
        name: "clarify",
        confirmations: 1,
        clarifications: 2,
        extensions: 1,
        ..Self::SMALL
    };

    /// Work around the confirmations: tools that nobody is asked about, output, handoffs.
    pub const WORK: Self = Self {
        name: "work",
        work: 2,
        ..Self::SMALL
    };
}

impl crate::bounds::Bounds for Bounds {
    const PRESETS: [Self; 4] = [Self::SMALL, Self::DEFAULT, Self::LARGE, Self::THREE];
    const OWN_PRESETS: &'static [Self] = &[Self::CLARIFY, Self::WORK];

    fn name(&self) -> &'static str {
        self.name
    }

    fn numbers(&mut self) -> Vec<Number<'_>> {
        let things = [
            Number::new("sessions", &mut self.sessions, 1, 2),
            Number::new("confirmations", &mut self.confirmations, 1, 3),
            Number::new("clarifications", &mut self.clarifications, 0, 2),
            Number::new("extensions", &mut self.extensions, 0, 3),
            Number::new("work", &mut self.work, 0, 3),
            Number::new("subscribers", &mut self.subscribers, 2, 3),
            Number::new("ticks", &mut self.ticks, 0, 8),
            Number::new("longest_timeout", &mut self.longest_timeout, 1, 3),
            Number::new("skew", &mut self.skew, 0, 1),
            Number::new("under_way", &mut self.under_way, 1, 4),
        ];
        let disturbances = Disturbance::ALL.map(Disturbance::name);
        let budgets = self.disturbances.numbers(disturbances);
        things.into_iter().chain(budgets).collect()
    }
}
