//! What the world around the producer does: subscribers, the network, attackers, the host and time.
//!
//! The one thing to know: nothing of it is judged. It brings about what the producer is asked, and when.

use super::action::Forgery;
use super::bounds::Disturbance;
use super::message::{Message, Shape, Token};
use super::state::{Item, Phase, Subscription};
use super::step::StepSoFar;
use super::words::{Decision, Response, Slot, Subscriber};

impl StepSoFar<'_> {
    // What the subscribers do.

    /// A subscriber decides, once, on a question that it has seen.
    pub(super) fn decide(
        &mut self,
        subscriber: Subscriber,
        slot: Slot,
        decision: Decision,
        skew: i8,
        shape: Shape,
    ) -> Option<()> {
        self.reply(subscriber, slot, (decision, None), skew, shape)
    }

    /// A subscriber answers, once, a clarification that it has seen.
    pub(super) fn reply_to_clarification(
        &mut self,
        subscriber: Subscriber,
        slot: Slot,
        response: Response,
        skew: i8,
        shape: Shape,
    ) -> Option<()> {
        let says = (Decision::Accept, Some(response));
        self.reply(subscriber, slot, says, skew, shape)
    }

    /// A subscriber replies, once, to a question that it has seen, in a reply of its kind.
    fn reply(
        &mut self,
        subscriber: Subscriber,
        slot: Slot,
        (decision, response): (Decision, Option<Response>),
        skew: i8,
        shape: Shape,
    ) -> Option<()> {
        let clarifies = self.before.confirmation(slot).clarifies.is_some();
        if !self.before.can_decide(subscriber, slot) || response.is_some() != clarifies {
            return None;
        }
        if shape != Shape::Plain {
            self.state.budgets.spend(Disturbance::Distort)?;
        }
        self.state.confirmations[slot.index()].may_decide[subscriber.index()] = false;
        self.send(Message {
            token: Token::Of(slot),
            decision,
            response,
            claimed: self.before.clock.cast_signed() + skew,
            sender: subscriber,
            authenticated: true,
            shape,
        })
    }

    // What the network and its attackers do.

    /// Puts a message on its way, if there is room.
    pub(super) fn send(&mut self, message: Message) -> Option<()> {
        let most = self.model.bounds.under_way;
        self.state.network.send(message, most)
    }

    /// The network makes two messages out of one.
    pub(super) fn duplicate(&mut self, index: usize) -> Option<()> {
        let message = self.before.network.get(index)?;
        self.state.budgets.spend(Disturbance::Duplicate)?;
        self.send(message)
    }

    /// The network loses a message.
    pub(super) fn lose(&mut self, index: usize) -> Option<()> {
        self.state.network.take(index)?;
        self.state.budgets.spend(Disturbance::Lose)
    }

    /// Somebody who is not asked sends a reply.
    pub(super) fn forge(&mut self, forgery: Forgery) -> Option<()> {
        self.state.budgets.spend(Disturbance::Forge)?;
        if let Token::Of(slot) = forgery.token()
            && self.before.confirmation(slot).phase == Phase::Unasked
        {
            return None;
        }
        let genuine = Message {
            token: Token::Guessed,
            decision: Decision::Accept,
            response: match forgery.token() {
                Token::Of(slot) => self.before.confirmation(slot).right_response(),
                Token::Guessed => None,
            },
            claimed: self.before.clock.cast_signed(),
            sender: Subscriber::Capable,
            authenticated: true,
            shape: Shape::Plain,
        };
        self.send(match forgery {
            Forgery::Unauthenticated { slot, decision } => Message {
                token: Token::Of(slot),
                decision,
                authenticated: false,
                ..genuine
            },
            Forgery::Guessed => genuine,
            Forgery::MixedUp { slot, decision } => Message {
                token: Token::Of(slot),
                decision,
                ..genuine
            },
            Forgery::OtherKind { slot } => Message {
                token: Token::Of(slot),
                response: match genuine.response {
                    None => Some(Response::Choice),
                    Some(_) => None,
                },
                ..genuine
            },
            Forgery::Impostor { slot, decision } => Message {
                token: Token::Of(slot),
                decision,
                sender: Subscriber::Forwarder,
                shape: Shape::Impostor,
                ..genuine
            },
        })
    }

    /// A message arrives. An attacker who can still afford a replay keeps a copy of what was honoured; what was ignored
    /// would be ignored again.
    pub(super) fn deliver_from_network(&mut self, index: usize) -> Option<()> {
        let message = self.state.network.take(index)?;
        self.deliver(message);
        if self.ignored.is_none() && self.state.budgets.affords(Disturbance::Replay) {
            self.state.captured = Some(message);
        }
        Some(())
    }

    /// The captured reply arrives again.
    pub(super) fn replay(&mut self) -> Option<()> {
        let message = self.state.captured.take()?;
        self.state.budgets.spend(Disturbance::Replay)?;
        self.deliver(message);
        Some(())
    }

    /// The agent changes what it wants to do, and asks nobody again.
    pub(super) fn change(&mut self, slot: Slot) -> Option<()> {
        let asked = self.before.confirmation(slot);
        let waits = asked.is_pending() && asked.clarifies.is_none();
        self.state.changed[slot.index()] = true;
        waits.then_some(())
    }

    // What the host and time do.

    /// The host carries out the head of the outbox.
    pub(super) fn carry_out(&mut self) -> Option<()> {
        let item = self.state.outbox.pop()?;
        self.state.stale = self.state.stale.saturating_sub(1);
        match item {
            Item::Asked(slot) => {
                let confirmation = &mut self.state.confirmations[slot.index()];
                let withheld = self.model.withholds(confirmation);
                let subscriptions = self.state.subscriptions;
                confirmation.may_decide = Subscriber::ALL.map(|it| {
                    let open = subscriptions[it.index()] == Subscription::Open;
                    open && confirmation.is_pending() && (it.is_capable() || !withheld)
                });
            }
            Item::Perform(slot) => {
                let runs = &mut self.state.confirmations[slot.index()].runs;
                *runs = (*runs + 1).min(2);
            }
        }
        Some(())
    }

    /// The clock moves on.
    pub(super) fn tick(&mut self) -> Option<()> {
        self.state.clock = self.model.next_moment(self.before)?;
        Some(())
    }
}
