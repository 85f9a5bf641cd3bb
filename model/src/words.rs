//! Words that every protocol has: the two sessions, and the two places for a question.

/// One of the two sessions. They are alike; the first question is always asked in `A`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionName {
    /// The session in which the first question is asked.
    A,
    /// The other session.
    B,
}

impl SessionName {
    /// Both sessions, in order.
    pub const ALL: [Self; 2] = [Self::A, Self::B];

    /// Position in arrays that hold one entry for each session: 0 or 1.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name used in descriptions: `A` or `B`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

/// One of the two places for a confirmation, filled in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// The confirmation asked for first.
    First,
    /// The confirmation asked for second.
    Second,
}

impl Slot {
    /// Both slots, in the order in which they are filled.
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    /// Position in arrays that hold one entry for each slot: 0 or 1.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other slot.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// The name of the confirmation used in descriptions: `c1` or `c2`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "c1",
            Self::Second => "c2",
        }
    }
}
