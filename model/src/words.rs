//! Words that every protocol has: the two sessions, and the places for a question.

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

/// How many places for a question there are.
pub const SLOTS: usize = 3;

/// One of the places for a question, filled in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// The confirmation asked for first.
    First,
    /// The confirmation asked for second.
    Second,
    /// The confirmation asked for third.
    Third,
}

impl Slot {
    /// All slots, in the order in which they are filled.
    pub const ALL: [Self; SLOTS] = [Self::First, Self::Second, Self::Third];

    /// Position in arrays that hold one entry for each slot: below [`SLOTS`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The slot of this position, if it is one.
    pub fn of_place(place: impl Into<usize>) -> Option<Self> {
        Self::ALL.get(place.into()).copied()
    }

    /// The other slots.
    pub fn others(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |&other| other != self)
    }

    /// The name of the confirmation used in descriptions: `c1`, `c2` or `c3`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "c1",
            Self::Second => "c2",
            Self::Third => "c3",
        }
    }
}
