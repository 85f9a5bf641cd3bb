//! A run of the literal model, step by step, for the tests of single steps.

use countersign_model::pending_action::action::{Action, Manner};
use countersign_model::pending_action::bounds::{Bounds, Budgets, Variety};
use countersign_model::pending_action::journal::Record;
use countersign_model::pending_action::judge::PendingActionJudge;
use countersign_model::pending_action::known::Status;
use countersign_model::pending_action::output::{Event, Output};
use countersign_model::pending_action::readings::Reading;
use countersign_model::pending_action::state::State;
use countersign_model::pending_action::step::Step;
use countersign_model::pending_action::words::{
    Arguments, Decider, Decision, Note, Proposal, Slot, ToolStatus,
};
use countersign_model::pending_action::{PendingAction, PendingActionProtocol};
use countersign_model::rules::Rules;
use countersign_model::specification::Modelled as _;
use countersign_model::time;

use crate::common::seen::tell_step;

/// A run, and where it has come to.
pub struct Run {
    /// The model.
    pub model: PendingAction,
    /// The state so far.
    pub state: State,
    judge: PendingActionJudge,
}

/// A proposal that expires after so many ticks.
pub const fn expiring(ticks: u8) -> Proposal {
    Proposal {
        lifetime: Some(ticks),
        ..Proposal::PLAIN
    }
}

/// A proposal of a call that may run again.
pub const IDEMPOTENT: Proposal = Proposal {
    idempotent: true,
    ..Proposal::PLAIN
};

/// What comes out when the owner allows the first action.
pub const RELEASED: [Output; 4] = [
    Output::Record(Record::Decided {
        slot: Slot::First,
        decision: Decision::Allow,
        by: Some(Decider::Owner),
    }),
    Output::Event(Event::Decided(Decision::Allow), Slot::First),
    Output::Append(Note::Call, Slot::First),
    Output::Perform(Slot::First, Arguments::Original),
];

/// What comes out when an action expires.
pub const fn expired(slot: Slot) -> [Output; 3] {
    [
        Output::Record(Record::Expired(slot)),
        Output::Append(Note::Expired, slot),
        Output::Event(Event::Expired, slot),
    ]
}

impl Run {
    /// By this reading, with every disturbance to be had three times.
    pub fn read(reading: Reading) -> Self {
        let bounds = Bounds {
            name: "far",
            ticks: 8,
            variety: Variety::Many,
            decisions: [2; 3],
            ends: 2,
            under_way: 4,
            backlog: 4,
            disturbances: Budgets::new([3; 6], 15),
            ..Bounds::DEFAULT
        };
        let model = PendingAction::new(bounds)
            .expect("the bounds are in range")
            .literal()
            .with(Rules::all(), reading);
        let state = model.start();
        let judge = PendingActionProtocol::judge(&model);
        Self {
            model,
            state,
            judge,
        }
    }

    /// By the specification.
    pub fn new() -> Self {
        Self::read(Reading::SPECIFICATION)
    }

    /// With one proposal of which everybody was told.
    pub fn asked(proposal: Proposal) -> Self {
        let mut run = Self::new();
        run.put(Action::Propose(proposal));
        run.carry_out();
        run
    }

    /// Takes a step that is enabled.
    pub fn take(&mut self, action: Action) -> Step {
        let step = self
            .model
            .step(&self.state, action)
            .expect("the action is enabled");
        tell_step(&self.model, &mut self.judge, &self.state, action);
        self.state = step.next;
        step
    }

    /// Whether the action is enabled.
    pub fn offers(&self, action: Action) -> bool {
        let mut actions = Vec::new();
        self.model.enabled(&self.state, &mut actions);
        actions.contains(&action)
    }

    /// Takes a step and says what comes out.
    pub fn put(&mut self, action: Action) -> Vec<Output> {
        self.take(action).required.iter().collect()
    }

    /// Lets so much time pass.
    pub fn wait(&mut self, ticks: u8) -> &mut Self {
        self.wait_until(self.state.clock + time::on(ticks))
    }

    /// Lets time pass until this moment.
    pub fn wait_until(&mut self, moment: u8) -> &mut Self {
        while self.state.clock < moment {
            self.take(Action::Tick);
        }
        assert_eq!(self.state.clock, moment, "the clock stands still there");
        self
    }

    /// The host carries out all that there is.
    pub fn carry_out(&mut self) -> &mut Self {
        while !self.state.outbox.is_empty() {
            self.take(Action::CarryOut);
        }
        self
    }

    /// The host carries out so many things.
    pub fn carry(&mut self, items: usize) -> &mut Self {
        for _ in 0..items {
            self.take(Action::CarryOut);
        }
        self
    }

    /// A decision on the first action is sent and arrives.
    pub fn decide(&mut self, decision: Decision, manner: Manner) -> Step {
        let slot = Slot::First;
        self.take(Action::Send {
            slot,
            decision,
            manner,
        });
        self.take(Action::Deliver { index: 0 })
    }

    /// The owner allows the first action.
    pub fn allow(&mut self) -> Step {
        self.decide(Decision::Allow, Manner::Plain)
    }

    /// The owner denies the first action.
    pub fn deny(&mut self) -> Step {
        self.decide(Decision::Deny, Manner::Plain)
    }

    /// The host reports that the first tool has succeeded.
    pub fn finish(&mut self) -> Vec<Output> {
        let (slot, status) = (Slot::First, ToolStatus::Success);
        self.put(Action::FinishTool { slot, status })
    }

    /// Where the first action stands.
    pub fn status(&self) -> Status {
        self.state.status(Slot::First)
    }

    /// How often the first tool has run.
    pub fn runs(&self) -> u8 {
        self.state.held(Slot::First).runs
    }

    /// Whether the transcript holds these messages about the first action and no others.
    pub fn tells(&self, notes: &[Note]) -> bool {
        let expected = notes.iter().fold(0, |bits, note| bits | note.bit());
        self.state.held(Slot::First).told == expected
    }
}
