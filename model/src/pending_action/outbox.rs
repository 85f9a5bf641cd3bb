//! What the ledger has put out and the host has not carried out yet, first in, first out.
//!
//! The one thing to know: a message of the transcript and the events beside it are one item. A crash between the two comes
//! to the same as a crash before both: the host has not told that it is through with their record, so both come again, and
//! what is carried out twice by the same id is carried out once.

use crate::sequence::{Packed, Sequence};

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

impl Packed for Item {
    const BITS: usize = 6;
    const CAPACITY: usize = 21;

    /// From 1 to 34.
    fn code(self) -> u16 {
        match self {
            Self::Record => 1,
            Self::Tell(note, slot) => 2 + 3 * note.code() + slot as u16,
            Self::Perform(slot, arguments) => 26 + 3 * arguments as u16 + slot as u16,
        }
    }

    fn from_code(code: u16) -> Option<Self> {
        let place = u8::try_from(code).unwrap_or(0);
        match place {
            0 => None,
            1 => Some(Self::Record),
            2..=25 => {
                let slot = Slot::ALL[usize::from((place - 2) % 3)];
                Some(Self::Tell(Note::from_code((place - 2) / 3), slot))
            }
            _ => {
                let arguments = [Arguments::Original, Arguments::Alike, Arguments::Edited];
                let slot = Slot::ALL[usize::from((place - 26) % 3)];
                Some(Self::Perform(
                    slot,
                    arguments[usize::from((place - 26) / 3)],
                ))
            }
        }
    }
}

/// The items, the head first.
pub type Outbox = Sequence<Item>;

impl Outbox {
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

    /// Takes every run of this action's tool out.
    pub fn drop_performs(&mut self, slot: Slot) {
        self.retain(|item| !matches!(item, Item::Perform(other, _) if other == slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_the_one_of_its_code_and_no_other() {
        let items: Vec<_> = (1..=34).filter_map(Item::from_code).collect();
        let codes: Vec<_> = items.iter().map(|item| item.code()).collect();
        assert_eq!(codes, (1..=34).collect::<Vec<u16>>());
        assert_eq!(Item::from_code(0), None);
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
