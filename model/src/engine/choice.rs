//! Choices of a function that is run once for each way to choose.

use smallvec::SmallVec;

/// What was chosen so far, and out of how many. The first way takes the first option everywhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    taken: SmallVec<[(u8, u8); 6]>,
    at: usize,
}

impl Choices {
    /// The option that this way takes, of so many.
    pub(crate) fn choose(&mut self, options: u8) -> u8 {
        let taken = if let Some((taken, _)) = self.taken.get(self.at) {
            *taken
        } else {
            self.taken.push((0, options));
            0
        };
        self.at += 1;
        taken
    }

    /// Goes on to the next way; false where there is none.
    pub(crate) fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((taken, options)) = self.taken.pop() {
            if taken + 1 < options {
                self.taken.push((taken + 1, options));
                return true;
            }
        }
        false
    }
}
