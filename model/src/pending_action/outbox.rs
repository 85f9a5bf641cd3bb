//! What the ledger has put out and the host has not carried out yet, first in, first out.
//!
//! The one thing to know: a message of the transcript and the events beside it are one item. A crash between the two comes
//! to the same as a crash before both: the host has not told that it is through with their record, so both come again, and
//! what is carried out twice by the same id is carried out once.

use std::iter;

use super::words::{Arguments, Note, Slot};

/// One thing to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// Make the next record of the journal durable.
    Record,
    /// Append this message and emit the events beside it.
    Tell(Note, Slot),
    /// Run the tool with these arguments.
    Perform(Slot, Arguments),
}

impl Item {
    /// The item as a number from 1 to 23.
    const fn code(self) -> u64 {
        match self {
            Self::Record => 1,
            Self::Tell(note, slot) => 2 + 2 * note.code() + slot as u64,
            Self::Perform(slot, arguments) => 18 + 2 * arguments as u64 + slot as u64,
        }
    }

    /// The item of a code made by [`Item::code`]; nothing for 0.
    fn from_code(code: u64) -> Option<Self> {
        let place = u8::try_from(code).unwrap_or(0);
        match place {
            0 => None,
            1 => Some(Self::Record),
            2..=17 => {
                let slot = Slot::ALL[usize::from(place % 2)];
                Some(Self::Tell(Note::from_code((place - 2) / 2), slot))
            }
            _ => {
                let arguments = [Arguments::Original, Arguments::Alike, Arguments::Edited];
                let slot = Slot::ALL[usize::from(place % 2)];
                Some(Self::Perform(
                    slot,
                    arguments[usize::from((place - 18) / 2)],
                ))
            }
        }
    }
}

/// The bits of an item.
const WIDTH: usize = 5;

/// The items, the head first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outbox {
    /// Five bits an item, the head lowest, 0 for none.
    word: u128,
}

impl Outbox {
    /// The most items that an outbox can hold. No run of the specification comes near it.
    pub const CAPACITY: usize = 25;

    /// The items, the head first.
    pub fn items(self) -> impl Iterator<Item = Item> {
        let mut left = self.word;
        iter::from_fn(move || {
            let item = lowest(left);
            left >>= WIDTH;
            item
        })
    }

    /// How many items there are.
    pub const fn len(self) -> usize {
        (u128::BITS as usize - self.word.leading_zeros() as usize).div_ceil(WIDTH)
    }

    /// Whether there is nothing to carry out.
    pub const fn is_empty(self) -> bool {
        self.word == 0
    }

    /// How many records are still to be made durable.
    pub fn records(self) -> usize {
        self.items().filter(|&item| item == Item::Record).count()
    }

    /// Whether a run of this action's tool waits.
    pub fn performs(self, slot: Slot) -> bool {
        self.items()
            .any(|item| matches!(item, Item::Perform(other, _) if other == slot))
    }

    /// Whether anything about this action is to be told, or its tool to run.
    pub fn concerns(self, slot: Slot) -> bool {
        self.items().any(|item| match item {
            Item::Record => false,
            Item::Tell(_, other) | Item::Perform(other, _) => other == slot,
        })
    }

    /// Adds an item at the end; false if there is no room.
    pub fn push(&mut self, item: Item) -> bool {
        let place = self.len();
        if place == Self::CAPACITY {
            return false;
        }
        self.word |= u128::from(item.code()) << (WIDTH * place);
        true
    }

    /// Takes the head off.
    pub fn pop(&mut self) -> Option<Item> {
        let head = lowest(self.word);
        self.word >>= WIDTH;
        head
    }

    /// Takes every run of this action's tool out.
    pub fn drop_performs(&mut self, slot: Slot) {
        let mut kept = Self::default();
        for item in self.items() {
            if !matches!(item, Item::Perform(other, _) if other == slot) {
                kept.push(item);
            }
        }
        *self = kept;
    }

    /// Everything in two words, for hashing.
    pub fn words(self) -> [u64; 2] {
        [self.word >> 64, self.word & u128::from(u64::MAX)]
            .map(|half| u64::try_from(half).unwrap_or(0))
    }
}

/// The item in the lowest bits; nothing if there is none.
fn lowest(word: u128) -> Option<Item> {
    Item::from_code(u64::try_from(word & 31).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_the_one_of_its_code_and_no_other() {
        let items: Vec<_> = (1..=23).filter_map(Item::from_code).collect();
        let codes: Vec<_> = items.iter().map(|item| item.code()).collect();
        assert_eq!(codes, (1..=23).collect::<Vec<u64>>());
        assert_eq!(Item::from_code(0), None);
    }

    #[test]
    fn an_outbox_is_first_in_first_out_until_it_is_full() {
        let mut outbox = Outbox::default();
        let item = |place: u64| Item::from_code(1 + place % 23).expect("it is an item's code");
        for place in 0..25 {
            assert!(outbox.push(item(place)));
        }
        assert!(!outbox.push(Item::Record));
        assert_eq!(outbox.records(), 2);
        for place in 0..25 {
            assert_eq!(outbox.len(), 25 - usize::try_from(place).unwrap_or(0));
            assert_eq!(outbox.pop(), Some(item(place)));
        }
        assert!(outbox.is_empty() && outbox.pop().is_none());
    }

    #[test]
    fn a_withdrawn_run_leaves_the_outbox_and_the_rest_stays() {
        let mut outbox = Outbox::default();
        let run = |slot| Item::Perform(slot, Arguments::Original);
        for item in [run(Slot::First), Item::Record, run(Slot::Second)] {
            outbox.push(item);
        }
        outbox.drop_performs(Slot::First);
        let left: Vec<_> = outbox.items().collect();
        assert_eq!(left, [Item::Record, run(Slot::Second)]);
        assert!(!outbox.performs(Slot::First) && outbox.performs(Slot::Second));
    }
}
