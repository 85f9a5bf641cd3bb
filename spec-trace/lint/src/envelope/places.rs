//! Where each message of a file stands, for as many as there are: monitors count messages, and people want lines.

use crate::report::NotJudged;

/// How many messages lie between two marks.
const STEP: usize = 1 << 10;

/// The line of each message, in a byte or two: how far it lies from the one before.
#[derive(Debug, Default)]
pub struct Places {
    steps: Vec<u8>,
    /// For every so many messages: where the steps behind it begin, and the line before them.
    marks: Vec<(usize, i64)>,
    count: usize,
    last: i64,
    /// The first message from which on replies may have come before what stands before them: there is no room to put them in order.
    pub(crate) unordered_from: Option<u64>,
    /// What cannot be judged for the sake of the envelope.
    pub(crate) not_judged: Vec<NotJudged>,
}

impl Places {
    /// Takes down the place of the next message.
    pub(crate) fn push(&mut self, line: u64, is_second: bool) {
        if self.count.is_multiple_of(STEP) {
            self.marks.push((self.steps.len(), self.last));
        }
        let line = i64::try_from(line).unwrap_or(i64::MAX);
        let step = line.wrapping_sub(self.last);
        // The sign and the file go into the lowest bits, so that what is small is short.
        let mut rest = u128::from(step.unsigned_abs()) << 2
            | u128::from(step < 0) << 1
            | u128::from(is_second);
        loop {
            let [low, ..] = rest.to_le_bytes();
            rest >>= 7;
            self.steps
                .push(low & 0x7F | if rest > 0 { 0x80 } else { 0 });
            if rest == 0 {
                break;
            }
        }
        self.last = line;
        self.count += 1;
    }

    /// The line of the message with that number, from 1, and whether it is one of the second file.
    pub fn place(&self, number: u64) -> Option<(u64, bool)> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        if index >= self.count {
            return None;
        }
        let (mut at, mut line) = self.marks[index / STEP];
        let mut is_second = false;
        for _ in 0..=index % STEP {
            let (mut value, mut shift) = (0_u128, 0);
            loop {
                let byte = self.steps[at];
                at += 1;
                value |= u128::from(byte & 0x7F) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            is_second = value & 1 == 1;
            let size = i64::try_from(value >> 2).unwrap_or(i64::MAX);
            line += if value & 2 == 2 { -size } else { size };
        }
        Some((u64::try_from(line).unwrap_or_default(), is_second))
    }

    /// Whether the message before or behind that one stands on the same line.
    pub(crate) fn is_on_shared_line(&self, number: u64) -> bool {
        let place = self.place(number);
        let beside = [number.saturating_sub(1), number.saturating_add(1)];
        place.is_some() && beside.into_iter().any(|it| self.place(it) == place)
    }

    /// What to say of the place of that message: its line, and its number where the line holds several.
    fn told(&self, number: u64, second: &str) -> String {
        let Some((line, is_second)) = self.place(number) else {
            return format!("line {number}");
        };
        let of = if is_second {
            format!(" of {second}")
        } else {
            String::new()
        };
        if self.is_on_shared_line(number) {
            format!("line {line}{of} (message {number})")
        } else {
            format!("line {line}{of}")
        }
    }

    /// The text with each number of a message, which stands behind the word `line`, told as its place. What is quoted stays.
    pub(crate) fn tell(&self, text: &str, second: &str) -> String {
        let mut told = String::new();
        let mut is_quoted = false;
        let mut rest = text;
        while let Some(at) = rest.find(['"', 'l']) {
            told.push_str(&rest[..at]);
            rest = &rest[at..];
            if rest.starts_with('"') {
                is_quoted ^= !told.ends_with('\\');
            } else if let Some(number) = rest.strip_prefix("line ").filter(|_| !is_quoted)
                && !told.ends_with(char::is_alphabetic)
            {
                let digits = number.bytes().take_while(u8::is_ascii_digit).count();
                if let Ok(number) = number[..digits].parse() {
                    told.push_str(&self.told(number, second));
                    rest = &rest["line ".len() + digits..];
                    continue;
                }
            }
            told.push_str(&rest[..1]);
            rest = &rest[1..];
        }
        told + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_has_its_place_however_many_there_are() {
        let lines = |number: u64| (number * number % 100_003 + 1, number.is_multiple_of(3));
        let mut places = Places::default();
        for number in 1..=5_000 {
            let (line, is_second) = lines(number);
            places.push(line, is_second);
        }
        for number in 1..=5_000 {
            assert_eq!(places.place(number), Some(lines(number)), "{number}");
        }
        assert_eq!((places.place(0), places.place(5_001)), (None, None));
    }

    #[test]
    fn numbers_become_places_but_not_within_quotes() {
        let mut places = Places::default();
        for (line, is_second) in [(7, false), (9, false), (9, false), (2, true)] {
            places.push(line, is_second);
        }
        let text = r#"asked on line 1, "line 1", line 3 (line 4): one online 4"#;
        let told = r#"asked on line 7, "line 1", line 9 (message 3) (line 2 of b): one online 4"#;
        assert_eq!(places.tell(text, "b"), told);
        let is_shared = |number| places.is_on_shared_line(number);
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(is_shared),
            [false, false, true, true, false, false]
        );
    }
}
