//! What a judge remembers, written down so that two judges can be compared.
//!
//! The one thing to know: two judges with the same [`Memory`] say the same of whatever comes next. Everything that a monitor
//! keeps goes in, but for what can make no difference to that, and each monitor says why where it leaves something out:
//!
//! - what was said already: findings, their counts, and what is told once in a report;
//! - excerpts, and lines that only a message names. Of the other lines only the order matters, for they are compared with
//!   each other and with those to come, which are greater;
//! - ids that may be used once, of events, calls, tokens and outputs: the judges are alike for streams that use none again,
//!   and ask about no call that came before;
//! - the numbers of a session: they count from the one that is due, and when the session is over from that of its end. Behind
//!   the end a number is compared with that one alone, and a session that starts again asks about none of those before.

use std::collections::BTreeSet;
use std::hash::Hash;

use super::monitor::seen::hash;

/// What one judge remembers.
#[derive(Debug, Default)]
pub struct Memory {
    values: Vec<u64>,
    /// The places of the values that are lines.
    lines: Vec<usize>,
}

impl Memory {
    /// Notes a value, as a hash of 64 bits.
    pub fn value(&mut self, value: &impl Hash) {
        self.values.push(hash(value));
    }

    /// Notes a line; 0 for none.
    pub fn line(&mut self, line: u64) {
        self.lines.push(self.values.len());
        self.values.push(line);
    }

    /// Notes how many entries follow, and each of them.
    pub fn each<T>(
        &mut self,
        entries: impl Iterator<Item = T>,
        mut note: impl FnMut(&mut Self, T),
    ) {
        let count = self.values.len();
        self.values.push(0);
        for entry in entries {
            self.values[count] += 1;
            note(self, entry);
        }
    }

    /// Everything noted, each line as its rank among the lines.
    pub fn into_bytes(mut self) -> Vec<u8> {
        let lines: BTreeSet<u64> = self.lines.iter().map(|place| self.values[*place]).collect();
        for place in self.lines {
            // No line is 0, and what has no line keeps that.
            let line = self.values[place];
            let not_after = lines.iter().filter(|other| (1..=line).contains(*other));
            self.values[place] = not_after.count() as u64;
        }
        self.values.into_iter().flat_map(u64::to_le_bytes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[u64], value: &str) -> Vec<u8> {
        let mut memory = Memory::default();
        memory.each(lines.iter(), |memory, line| memory.line(*line));
        memory.value(&value);
        memory.into_bytes()
    }

    #[test]
    fn of_lines_the_order_counts_and_whether_there_is_one() {
        assert_eq!(of(&[3, 9, 4, 9], "a"), of(&[5, 80, 7, 80], "a"));
        assert_ne!(of(&[3, 9], "a"), of(&[9, 3], "a"));
        assert_ne!(of(&[3, 9], "a"), of(&[9, 9], "a"));
        assert_ne!(of(&[0, 9], "a"), of(&[3, 9], "a"));
        assert_ne!(of(&[3, 9], "a"), of(&[3, 9], "b"));
        assert_ne!(of(&[3, 9], "a"), of(&[3, 9, 9], "a"));
    }
}
