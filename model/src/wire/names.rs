//! Numbers for texts: equal texts have equal numbers.

use std::collections::BTreeMap;

/// What stands where a text is missing: no text has it.
pub const NOTHING: u16 = u16::MAX;

/// Texts that anybody may use, numbered by first appearance.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    numbers: BTreeMap<String, u16>,
    by_number: BTreeMap<u16, String>,
    next: u16,
}

impl Texts {
    /// The number of a text.
    pub fn number(&mut self, text: &str) -> u16 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        while self.next < NOTHING && self.by_number.contains_key(&self.next) {
            self.next += 1;
        }
        let number = self.next;
        self.adopt(number, text.to_owned());
        number
    }

    /// A text has that number from here on.
    pub fn adopt(&mut self, number: u16, text: String) {
        self.numbers.insert(text.clone(), number);
        self.by_number.entry(number).or_insert(text);
    }

    /// The first text of that number.
    pub fn text(&self, number: u16) -> Option<&str> {
        self.by_number.get(&number).map(String::as_str)
    }

    /// The first text of each number.
    pub fn all(&self) -> impl Iterator<Item = (u16, &str)> {
        self.by_number
            .iter()
            .map(|(number, text)| (*number, text.as_str()))
    }
}

/// Ids that a party makes up, numbered by first appearance in its outputs.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    numbers: BTreeMap<String, u16>,
    texts: Vec<String>,
    /// Ids that a call named before there were so many.
    unknown: BTreeMap<String, u16>,
}

impl Ids {
    /// The number of an id that was put out.
    pub fn put_out(&mut self, text: &str) -> u16 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.count();
        self.numbers.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        number
    }

    /// Whether an id was put out.
    pub fn is_put_out(&self, text: &str) -> bool {
        self.numbers.contains_key(text)
    }

    /// The number of an id that a call names: a higher one than that of any id, where it was never put out.
    pub fn named(&self, text: &str) -> u16 {
        let unknown = || self.unknown.get(text).copied();
        let unknown = || unknown().filter(|it| *it >= self.count());
        let number = self.numbers.get(text).copied();
        number.or_else(unknown).unwrap_or(NOTHING)
    }

    /// The id of that number. What was never put out has a text of its own.
    pub fn text(&mut self, number: u16) -> String {
        self.text_as(number, |it| format!("unknown-{it}"))
    }

    /// The same, where what was never put out has a form, too.
    pub fn text_as(&mut self, number: u16, make: impl Fn(u16) -> String) -> String {
        if let Some(text) = self.texts.get(usize::from(number)) {
            return text.clone();
        }
        let text = make(number);
        self.unknown.insert(text.clone(), number);
        text
    }

    /// The ids that were put out, in their order.
    pub fn all(&self) -> &[String] {
        &self.texts
    }

    /// How many were put out.
    pub fn count(&self) -> u16 {
        u16::try_from(self.texts.len()).unwrap_or(NOTHING)
    }
}

#[cfg(test)]
mod tests {
    use super::{Ids, NOTHING, Texts};

    #[test]
    fn texts_are_numbered_by_first_appearance() {
        let mut texts = Texts::default();
        texts.adopt(1, "one".to_owned());
        assert_eq!(
            ["a", "b", "a", "one"].map(|it| texts.number(it)),
            [0, 2, 0, 1]
        );
        texts.adopt(1, "other".to_owned());
        assert_eq!(
            (texts.number("other"), texts.text(1), texts.text(3)),
            (1, Some("one"), None)
        );
        (0..NOTHING).for_each(|it| _ = texts.number(&it.to_string()));
        assert_eq!(texts.number("one too many"), NOTHING);
    }

    #[test]
    fn an_id_that_was_never_put_out_has_a_higher_number() {
        let mut ids = Ids::default();
        assert_eq!(ids.named("a"), NOTHING);
        let unknown = ids.text(1);
        assert_eq!(ids.named(&unknown), 1);
        assert_eq!(["a", "b", "a"].map(|it| ids.put_out(it)), [0, 1, 0]);
        assert_eq!(ids.named(&unknown), NOTHING);
        assert_eq!((ids.named("b"), ids.text(1).as_str()), (1, "b"));
        assert_eq!((ids.count(), ids.all().len()), (2, 2));
    }
}
