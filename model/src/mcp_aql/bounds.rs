//! How far the model goes: numbers of things, and a budget for each kind of disturbance.

use crate::bounds::Number;

use super::readings::TokenStorage;

pub use crate::bounds::BoundsError;

/// A kind of step that disturbs, each with its own budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Disturbance {
    /// A client makes an honest call more often than its token has uses: a retry, a race or a replay.
    Retry,
    /// A client sends a call that differs from the one that its token was issued for.
    Tamper,
    /// Somebody sends a token that was never issued.
    Guess,
    /// A call arrives at a node whose clock is off.
    Skew,
    /// Tokens are revoked, by hand or by a trigger.
    Revoke,
    /// The process dies and restarts.
    Restart,
    /// The operator changes which parameters of an operation count.
    List,
}

impl Disturbance {
    /// All kinds, in the order of the budgets.
    pub const ALL: [Self; 7] = [
        Self::Retry,
        Self::Tamper,
        Self::Guess,
        Self::Skew,
        Self::Revoke,
        Self::Restart,
        Self::List,
    ];

    /// The name of its budget in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Tamper => "tamper",
            Self::Guess => "guess",
            Self::Skew => "skew",
            Self::Revoke => "revoke",
            Self::Restart => "restart",
            Self::List => "list",
        }
    }
}

impl From<Disturbance> for usize {
    fn from(kind: Disturbance) -> Self {
        kind as Self
    }
}

/// How often each disturbance can still happen, and how many can happen in all.
pub type Budgets = crate::bounds::Budgets<7>;

/// The most ticks of a search.
pub const MOST_TICKS: u8 = 40;

/// Which tokens are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variety {
    /// First: a confirmation with one use, one with two, and a quota continuation. Second: another operation on another
    /// adapter, and two uses in the other session.
    Few,
    /// Besides, first: a forbidden operation, and the longest lifetime of a destructive one.
    Many,
}

/// The bounds of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The name of the preset that they are or were made from, or `custom`.
    pub name: &'static str,
    /// Tokens in all: 1 to 3.
    pub tokens: u8,
    /// The last full tick of the clock: 0 to 40.
    pub ticks: u8,
    /// Which tokens are asked for.
    pub variety: Variety,
    /// Calls under way at the same time: 1 to 4.
    pub under_way: u8,
    /// How many failed validations an adapter answers before more are turned away (AQL-6.5-1): 0, for any number, to 2.
    pub limit: u8,
    /// How many tokens an adapter gives away before it is asked in vain (AQL-6.5-1): 0, for any number, to 2.
    pub issues: u8,
    /// How many revocations by hand are answered before more are turned away (AQL-6.5-1): 0, for any number, to 2.
    pub revocations: u8,
    /// How many active tokens an adapter has room for (AQL-5.5-3): 0, for any number, to 2.
    pub capacity: u8,
    /// Whether the gatekeeper keeps what its tokens stand for: 1, or 0 where it signs them (AQL-6.2-2).
    pub kept: u8,
    /// Of each kind of disturbance, in the order of [`Disturbance::ALL`]: 0 to 3; of all kinds in one run: 0 to 15.
    pub disturbances: Budgets,
}

impl Bounds {
    /// Seconds in a debug test, walked with and without the quotient: 73,647 states, 1,040,859 literally.
    pub const SMALL: Self = Self {
        name: "small",
        tokens: 2,
        ticks: 11,
        variety: Variety::Few,
        under_way: 2,
        limit: 0,
        issues: 0,
        revocations: 0,
        capacity: 0,
        kept: 1,
        disturbances: Budgets::new([1, 1, 1, 1, 1, 1, 0], 1),
    };

    /// The main job: 933,237 states and 10,274,617 steps, each of which is also taken by the executor.
    ///
    /// What keeps it there: two calls under way at a time and two disturbances in one run, of six kinds with a budget of
    /// one each.
    pub const DEFAULT: Self = Self {
        name: "default",
        ticks: 15,
        variety: Variety::Many,
        disturbances: Budgets::new([1, 1, 1, 1, 1, 1, 0], 2),
        ..Self::SMALL
    };

    /// For the night: three tokens, and every disturbance up to twice, two in all: 12 million states and 131 million steps.
    pub const THREE: Self = Self {
        name: "three",
        tokens: 3,
        disturbances: Budgets::new([2, 2, 2, 2, 2, 2, 0], 2),
        ..Self::SMALL
    };

    /// For the night: 16 million states and 211 million steps.
    pub const LARGE: Self = Self {
        name: "large",
        ticks: 30,
        variety: Variety::Many,
        under_way: 3,
        disturbances: Budgets::new([2, 1, 1, 1, 2, 1, 0], 4),
        ..Self::SMALL
    };

    /// Like `small`, and of each adapter one failed validation, one issue and one revocation are answered: 147,617 states and
    /// 950,605 steps.
    pub const LIMITED: Self = Self {
        name: "limited",
        limit: 1,
        issues: 1,
        revocations: 1,
        ..Self::SMALL
    };

    /// Like `small`, and each adapter has room for one active token: 45,047 states and 302,871 steps.
    pub const CROWDED: Self = Self {
        name: "crowded",
        capacity: 1,
        ..Self::SMALL
    };

    /// Like `small`, and the operator sets a list of the parameters that count before anything is called and changes one as
    /// a disturbance: 321,767 states and 2,275,971 steps. All calls of an operation have the same parameters, so that a list
    /// that names some of one call and none of another is left to wide runs.
    pub const LISTS: Self = Self {
        name: "lists",
        disturbances: Budgets::new([1; 7], 1),
        ..Self::SMALL
    };

    /// Like `small`, and the gatekeeper signs its tokens instead of keeping what they stand for: searched without the quotient,
    /// 125,697 states and 623,053 steps.
    pub const SIGNED: Self = Self {
        name: "signed",
        kept: 0,
        ..Self::SMALL
    };

    /// Where the gatekeeper keeps what its tokens stand for.
    pub(super) const fn token_storage(&self) -> TokenStorage {
        if self.kept == 0 {
            TokenStorage::Signed
        } else {
            TokenStorage::Kept
        }
    }

    /// Whether a second token of one client at one adapter makes a difference.
    pub(super) const fn counts_issues(&self) -> bool {
        self.issues > 0 || self.capacity > 0
    }

    /// Whether lists of the parameters that count are changed.
    pub(super) const fn changes_lists(&self) -> bool {
        self.disturbances.each[Disturbance::List as usize] > 0
    }
}

impl crate::bounds::Bounds for Bounds {
    const PRESETS: [Self; 4] = [Self::SMALL, Self::DEFAULT, Self::LARGE, Self::THREE];
    const OWN_PRESETS: &'static [Self] = &[Self::LIMITED, Self::CROWDED, Self::LISTS, Self::SIGNED];

    fn name(&self) -> &'static str {
        self.name
    }

    fn numbers(&mut self) -> Vec<Number<'_>> {
        let things = [
            Number::new("tokens", &mut self.tokens, 1, 3),
            Number::new("ticks", &mut self.ticks, 0, MOST_TICKS),
            Number::new("under_way", &mut self.under_way, 1, 4),
            Number::new("limit", &mut self.limit, 0, 2),
            Number::new("issues", &mut self.issues, 0, 2),
            Number::new("revocations", &mut self.revocations, 0, 2),
            Number::new("capacity", &mut self.capacity, 0, 2),
            Number::new("kept", &mut self.kept, 0, 1),
        ];
        let disturbances = Disturbance::ALL.map(Disturbance::name);
        let budgets = self.disturbances.numbers(disturbances);
        things.into_iter().chain(budgets).collect()
    }
}
