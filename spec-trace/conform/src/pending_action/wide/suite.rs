//! The steps that a run of the model is: its calls, with slots as places among the actions that were proposed.
//!
//! The one thing to know: what the model has one word for is spelled otherwise in each proposal, so that two actions differ.

use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::pending_action::action::Action;
use countersign_model::pending_action::known::Status;
use countersign_model::pending_action::message::{Approved as Says, Message};
use countersign_model::pending_action::outbox::Item;
use countersign_model::pending_action::readings::{self, Reading};
use countersign_model::pending_action::state::State;
use countersign_model::pending_action::text::PendingAction as Spec;
use countersign_model::pending_action::text::readings as spec;
use countersign_model::pending_action::told::Asked as Call;
use countersign_model::pending_action::words::{
    Decider as By, Decision, Effect, Flaw, Nonce, Proposal, SessionName, Slot, ToolStatus,
};
use countersign_model::time::{self, Scale};
use countersign_protocol::Greeting;
use countersign_protocol::pending_action::PendingAction;

use super::Driver;
use super::step::{Approved, Asked, Decided, Decider, Proposed, Quoted, Session, Step, Which};
use crate::checked::Checked;
use crate::driven::{self, Settled};
use crate::suite::{Suited, Taken};
use crate::wide::Clock;

/// What a run of the model has named so far.
#[derive(Clone, Default)]
pub struct Names {
    /// The time of the last call, and the latest of any, in milliseconds since the start.
    now: i64,
    latest: i64,
    /// The slot of each action, in the order in which they were made known.
    actions: Vec<Slot>,
    proposed: u8,
    snapshots: u8,
    ended: Vec<SessionName>,
}

/// A tick is a minute.
const SCALE: Scale = Scale::of(60_000);
/// Those who decide, by number.
const OWNER: u8 = 1;
const STRANGER: u8 = 2;
/// For each proposal arguments that have another spelling, and others that mean something else.
const ARGUMENTS: [(u8, u8); 3] = [(0, 3), (5, 7), (8, 9)];

impl Suited for Driver {
    type Model = PendingActionProtocol;
    type Names = Names;
    const COMMITTED: [&'static str; 2] = [
        include_str!("../suite.json"),
        include_str!("../clauses.json"),
    ];

    fn steps_of(names: &mut Names, taken: &Taken<'_, PendingActionProtocol>) -> Vec<Step> {
        let at = SCALE.millis(taken.before.clock);
        let Some(asked) = names.asked(taken, at) else {
            return Vec::new();
        };
        let clock = Clock::by(at - names.now);
        names.now = at;
        names.latest = names.latest.max(at);
        names.propose(taken.before, taken.after);
        vec![Step { clock, asked }]
    }

    fn readings_where(
        greeting: &Greeting<PendingAction>,
        settled: &Settled<'_, Reading>,
    ) -> Vec<driven::Taken<Checked<Spec>>> {
        let default = reading_of((settled.take)(Reading::SPECIFICATION));
        super::driven::readings(greeting, default, settled.places)
    }

    fn ends() -> Vec<Step> {
        let step = |clock, asked| Step { clock, asked };
        vec![
            step(Clock::Ahead(3_600_000), Asked::Tick),
            step(Clock::Stays, Asked::Restart { lost: 0 }),
        ]
    }
}

/// The same, of the spec.
fn reading_of(reading: Reading) -> spec::Reading {
    spec::Reading {
        read_effect: match reading.read_effect {
            readings::ReadEffect::Pends => spec::ReadEffect::Pends,
            readings::ReadEffect::Runs => spec::ReadEffect::Runs,
        },
        expiry_boundary: match reading.expiry_boundary {
            readings::ExpiryBoundary::At => spec::ExpiryBoundary::At,
            readings::ExpiryBoundary::After => spec::ExpiryBoundary::After,
        },
        expiry_absent: match reading.expiry_absent {
            readings::ExpiryAbsent::Never => spec::ExpiryAbsent::Never,
            readings::ExpiryAbsent::After => spec::ExpiryAbsent::After,
            readings::ExpiryAbsent::Refused => spec::ExpiryAbsent::Refused,
        },
        deciders_absent: match reading.deciders_absent {
            readings::DecidersAbsent::Anyone => spec::DecidersAbsent::Anyone,
            readings::DecidersAbsent::Nobody => spec::DecidersAbsent::Nobody,
        },
        in_doubt: match reading.in_doubt {
            readings::InDoubt::AsDeclared => spec::InDoubt::AsDeclared,
            readings::InDoubt::RunsAgain => spec::InDoubt::RunsAgain,
        },
        ..spec::Reading::default()
    }
}

impl Names {
    /// What is asked, at so many milliseconds since the start.
    fn asked(&mut self, taken: &Taken<'_, PendingActionProtocol>, at: i64) -> Option<Asked> {
        Some(match taken.told.call {
            Call::Propose(proposal) => Asked::Propose(self.proposed(proposal, at)),
            Call::ProposeFlawed => {
                let mut proposed = self.proposed(Proposal::PLAIN, at);
                if let Action::ProposeFlawed(flaw) = taken.action {
                    spoil(&mut proposed, flaw);
                }
                Asked::Propose(proposed)
            }
            Call::Decide(message) => Asked::Decide(self.decided(message)),
            Call::Say => Asked::Say { by: OWNER, text: 0 },
            Call::FinishTool(slot, status) => Asked::Finish {
                action: self.which(slot),
                failed: status == ToolStatus::Error,
                never_begun: status == ToolStatus::NotRun,
                result: u8::from(status == ToolStatus::Success),
            },
            Call::Cancel(slot) => Asked::Cancel {
                action: self.which(slot),
            },
            Call::EndSession(name) => {
                let session = self.session(name);
                self.ended.push(name);
                Asked::EndSession { session }
            }
            Call::Tick => Asked::Tick,
            Call::Restart { .. } => Asked::Restart {
                lost: lost(taken.before),
            },
            Call::Snapshot => {
                self.snapshots += 1;
                Asked::Snapshot
            }
            Call::Rollback => Asked::Rollback {
                snapshot: self.snapshots.saturating_sub(1),
            },
            Call::Nothing => return None,
        })
    }

    fn proposed(&mut self, proposal: Proposal, at: i64) -> Proposed {
        let place = self.proposed;
        self.proposed += 1;
        let (arguments, _) = ARGUMENTS[usize::from(place) % ARGUMENTS.len()];
        let latest = self.latest.max(at);
        Proposed {
            session: self.session(proposal.session),
            agent: 0,
            tool: place,
            arguments,
            effect: match proposal.effect {
                Effect::Read => 0,
                Effect::Destructive => 2,
            },
            words: place,
            expires_in: proposal
                .lifetime
                .map(|lifetime| at + SCALE.millis(time::on(lifetime)) - latest),
            deciders: (!proposal.by_anyone).then_some(1 << OWNER),
            idempotent: proposal.idempotent,
        }
    }

    /// Which actions were made known by a step.
    fn propose(&mut self, before: &State, after: &State) {
        let is_new = |slot: &Slot| {
            before.status(*slot) == Status::Unknown && after.status(*slot) != Status::Unknown
        };
        self.actions.extend(Slot::ALL.into_iter().filter(is_new));
    }

    fn place(&self, slot: Slot) -> Option<usize> {
        self.actions.iter().rposition(|known| *known == slot)
    }

    fn which(&self, slot: Slot) -> Which {
        self.place(slot).map_or(Which::Unknown, |place| {
            let from_newest = self.actions.len() - 1 - place;
            Which::Any(u8::try_from(from_newest).unwrap_or(u8::MAX))
        })
    }

    fn decided(&self, message: Message) -> Decided {
        let place = message.id.and_then(|slot| self.place(slot));
        let (_, others) = ARGUMENTS[place.unwrap_or(0) % ARGUMENTS.len()];
        Decided {
            action: message.id.map_or(Which::Unknown, |slot| self.which(slot)),
            nonce: match (message.nonce, place) {
                (Nonce::Absent, _) => Quoted::Absent,
                (Nonce::Right, _) => Quoted::Right,
                (Nonce::Wrong, Some(1..)) => Quoted::Neighbour,
                (Nonce::Wrong, Some(0) | None) => Quoted::Unknown,
            },
            allows: message.decision == Decision::Allow,
            by: Decider::Person(match message.by {
                By::Owner => OWNER,
                By::Stranger => STRANGER,
            }),
            arguments: match message.approved {
                Says::Unsaid => None,
                Says::Alike => Some(Approved::Same(1)),
                Says::Edited => Some(Approved::Any(others)),
            },
        }
    }

    fn session(&self, name: SessionName) -> Session {
        Session {
            place: u8::from(name != SessionName::A),
            ended: self.ended.contains(&name),
        }
    }
}

/// Breaks a limit.
const fn spoil(proposed: &mut Proposed, flaw: Flaw) {
    match flaw {
        Flaw::NoId => proposed.words = 249,
        Flaw::NoDecider => proposed.deciders = Some(0),
        Flaw::LooseArguments => proposed.arguments = 240,
        Flaw::LongLabel => proposed.words = 243,
    }
}

/// How many outputs wait for the host: a message of the transcript comes with an event.
fn lost(state: &State) -> u8 {
    let outputs = state.outbox.items().map(|item| match item {
        Item::Record => 0,
        Item::Tell(..) => 2,
        Item::Perform(..) => 1,
    });
    outputs.sum()
}
