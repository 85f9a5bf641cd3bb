//! What an outsider knows of a thing that only the party itself knows: no, perhaps or yes; or an interval.

/// Whether something holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// For certain not.
    No,
    /// It may.
    #[default]
    Perhaps,
    /// For certain.
    Yes,
}

impl From<bool> for Fact {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// A number, or a time in milliseconds, that lies within two bounds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// It is not below this.
    pub low: i64,
    /// It is not above this.
    pub high: i64,
}

impl Interval {
    /// That number and no other.
    pub const fn exactly(number: i64) -> Self {
        Self {
            low: number,
            high: number,
        }
    }

    /// Whether it is at most that.
    pub fn is_at_most(self, bound: i64) -> Fact {
        if self.high <= bound {
            Fact::Yes
        } else if self.low > bound {
            Fact::No
        } else {
            Fact::Perhaps
        }
    }
}
