//! How far the model goes: numbers of things, and a budget for each kind of disturbance.

use crate::bounds::Number;
use crate::words::SLOTS;

pub use crate::bounds::BoundsError;

/// A kind of step that disturbs, each with its own budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Disturbance {
    /// A decision is duplicated or kept for a replay.
    Duplicate,
    /// Somebody sends a decision that something is wrong with.
    Forge,
    /// The clock is set back.
    SetBack,
    /// The host cancels a pending action.
    Cancel,
    /// The process dies and restarts.
    Crash,
    /// A snapshot is loaded.
    Rollback,
}

impl Disturbance {
    /// All kinds, in the order of the budgets.
    pub const ALL: [Self; 6] = [
        Self::Duplicate,
        Self::Forge,
        Self::SetBack,
        Self::Cancel,
        Self::Crash,
        Self::Rollback,
    ];

    /// The name of its budget in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Forge => "forge",
            Self::SetBack => "set back",
            Self::Cancel => "cancel",
            Self::Crash => "crash",
            Self::Rollback => "rollback",
        }
    }
}

impl From<Disturbance> for usize {
    fn from(kind: Disturbance) -> Self {
        kind as Self
    }
}

/// How often each disturbance can still happen, and how many can happen in all.
pub type Budgets = crate::bounds::Budgets<6>;

/// Which calls are proposed, and which forgeries sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variety {
    /// First: one that expires, for the owner, at most once; and a read for anyone, which may run again. Second: one in the
    /// other session that expires. Not everything is sent about either, and every tool that runs succeeds.
    Few,
    /// Besides, second: one in the same session that never expires and may run again. Everything is sent about both, also
    /// what has everything wrong with it, and tools fail.
    Many,
}

/// The bounds of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The name of the preset that they are or were made from, or `custom`.
    pub name: &'static str,
    /// Pending actions in all: 1 to 3.
    pub actions: u8,
    /// The last tick of the clock: 0 to 8.
    pub ticks: u8,
    /// Which calls are proposed, and which forgeries sent.
    pub variety: Variety,
    /// Honest decisions on each action: 1 or 2.
    pub decisions: [u8; SLOTS],
    /// Sessions that end: 0 to 2.
    pub ends: u8,
    /// Decisions under way at the same time: 1 to 4.
    pub under_way: u8,
    /// Records that are not durable yet while the ledger takes another call: 1 to 4.
    pub backlog: u8,
    /// Of each kind of disturbance, in the order of [`Disturbance::ALL`]: 0 to 3; of all kinds in one run: 0 to 15.
    pub disturbances: Budgets,
}

impl Bounds {
    /// Seconds in a debug test, walked with and without the quotient: 69,170 states, 4,876,795 literally.
    pub const SMALL: Self = Self {
        name: "small",
        actions: 2,
        ticks: 1,
        variety: Variety::Few,
        decisions: [2, 1, 1],
        ends: 1,
        under_way: 2,
        backlog: 1,
        disturbances: Budgets::new([1; 6], 1),
    };

    /// The main job: 915,507 states and 5,404,739 steps, each of which is also taken by the executor.
    ///
    /// What keeps it there: a host that makes one record durable before the next call, and two disturbances in one run.
    pub const DEFAULT: Self = Self {
        name: "default",
        actions: 2,
        ticks: 2,
        variety: Variety::Many,
        decisions: [2, 1, 1],
        ends: 1,
        under_way: 2,
        backlog: 1,
        disturbances: Budgets::new([1; 6], 2),
    };

    /// For the night: three actions, each decided on once, and every disturbance up to twice, two in all. No session ends.
    pub const THREE: Self = Self {
        name: "three",
        actions: 3,
        decisions: [1; SLOTS],
        ends: 0,
        disturbances: Budgets::new([2; 6], 2),
        ..Self::SMALL
    };

    /// For the night.
    pub const LARGE: Self = Self {
        name: "large",
        actions: 2,
        ticks: 3,
        variety: Variety::Many,
        decisions: [2; SLOTS],
        ends: 2,
        under_way: 3,
        backlog: 2,
        disturbances: Budgets::new([2, 1, 1, 1, 2, 1], 3),
    };
}

impl crate::bounds::Bounds for Bounds {
    const PRESETS: [Self; 4] = [Self::SMALL, Self::DEFAULT, Self::LARGE, Self::THREE];

    fn name(&self) -> &'static str {
        self.name
    }

    fn numbers(&mut self) -> Vec<Number<'_>> {
        let [first, second, third] = &mut self.decisions;
        let things = [
            Number::new("actions", &mut self.actions, 1, 3),
            Number::new("ticks", &mut self.ticks, 0, 8),
            Number::new("first_decisions", first, 1, 2),
            Number::new("second_decisions", second, 1, 2),
            Number::new("third_decisions", third, 1, 2),
            Number::new("ends", &mut self.ends, 0, 2),
            Number::new("under_way", &mut self.under_way, 1, 4),
            Number::new("backlog", &mut self.backlog, 1, 4),
        ];
        let disturbances = Disturbance::ALL.map(Disturbance::name);
        let budgets = self.disturbances.numbers(disturbances);
        things.into_iter().chain(budgets).collect()
    }
}
