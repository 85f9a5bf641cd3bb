//! What the world around the ledger does: deciders, their network, attackers, the host and time.
//!
//! The one thing to know: nothing of it is judged. It brings about what the ledger is asked, and when.

use crate::time;

use super::action::Manner;
use super::bounds::Disturbance;
use super::message::{Approved, Message};
use super::outbox::Item;
use super::step::StepSoFar;
use super::words::{Decider, Decision, Nonce, Slot};

impl StepSoFar<'_> {
    // What the deciders, their network and its attackers do.

    /// A client decides on what it was told of.
    pub(super) fn send(&mut self, slot: Slot, decision: Decision, manner: Manner) -> Option<()> {
        if !self.before.held(slot).is_asked() {
            return None;
        }
        if manner.is_forged() {
            self.state.budgets.spend(Disturbance::Forge)?;
        } else {
            let sent = &mut self.state.actions[slot.index()].sent;
            *sent += 1;
            if *sent > self.model.bounds.decisions[slot.index()] {
                return None;
            }
        }
        self.put_on_its_way(sent(slot, decision, manner))
    }

    /// Somebody makes an id up.
    pub(super) fn guess(&mut self) -> Option<()> {
        self.state.budgets.spend(Disturbance::Forge)?;
        self.put_on_its_way(Message {
            id: None,
            ..sent(Slot::First, Decision::Allow, Manner::Plain)
        })
    }

    /// There are two of a message where there was one.
    pub(super) fn duplicate(&mut self, index: usize) -> Option<()> {
        let message = self.before.network.get(index)?;
        self.state.budgets.spend(Disturbance::Duplicate)?;
        self.put_on_its_way(message)
    }

    /// Puts a message on its way, if there is room.
    pub(super) fn put_on_its_way(&mut self, message: Message) -> Option<()> {
        let most = self.model.bounds.under_way;
        self.state.network.send(message, most)
    }

    // What the host and time do.

    /// The host carries out the head of the outbox. Once there is nothing left it knows that it is through with every
    /// record; until then its watermark stays behind.
    pub(super) fn carry_out(&mut self) -> Option<()> {
        let item = self.state.outbox.pop()?;
        self.carried_out = Some(item);
        match item {
            Item::Record => {}
            Item::Tell(note, slot) => self.state.actions[slot.index()].told |= note.bit(),
            Item::Perform(slot, _) => {
                let runs = &mut self.state.actions[slot.index()].runs;
                *runs = (*runs + 1).min(3);
            }
        }
        self.mark_carried();
        Some(())
    }

    /// The watermark moves only once there is nothing to carry out: of what waits a restart has to tell again.
    pub(super) fn mark_carried(&mut self) {
        if self.state.outbox.is_empty() {
            self.state.carried = u8::try_from(self.state.journal.len()).unwrap_or(u8::MAX);
        }
    }

    /// The host keeps the ledger, at a moment at which every record that was put out is durable: no crash takes back what a
    /// snapshot holds.
    pub(super) fn snapshot(&mut self) -> Option<()> {
        let records = u8::try_from(self.before.journal.len()).unwrap_or(u8::MAX);
        self.state.snapshot = Some(records);
        (self.before.outbox.records() == 0).then_some(())
    }

    /// The clock moves on.
    pub(super) fn tick(&mut self) -> Option<()> {
        self.state.clock = self.model.next_moment(self.before)?;
        Some(())
    }

    /// The clock is set back by a tick.
    pub(super) fn set_back(&mut self) -> Option<()> {
        self.state.budgets.spend(Disturbance::SetBack)?;
        self.state.clock = self.before.clock.checked_sub(time::on(1))?;
        Some(())
    }
}

/// What a client sends.
fn sent(slot: Slot, decision: Decision, manner: Manner) -> Message {
    let plain = Message {
        id: Some(slot),
        nonce: Nonce::Absent,
        decision,
        by: Decider::Owner,
        approved: Approved::Unsaid,
    };
    match manner {
        Manner::Plain => plain,
        Manner::Full => Message {
            nonce: Nonce::Right,
            approved: Approved::Alike,
            ..plain
        },
        Manner::Stranger => Message {
            by: Decider::Stranger,
            ..plain
        },
        Manner::OtherNonce => Message {
            nonce: Nonce::Wrong,
            ..plain
        },
        Manner::Edited => Message {
            approved: Approved::Edited,
            ..plain
        },
        Manner::Everything => Message {
            nonce: Nonce::Wrong,
            by: Decider::Stranger,
            approved: Approved::Edited,
            ..plain
        },
    }
}
