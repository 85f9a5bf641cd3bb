//! The bridge between the two readings of the AAEP confirmation protocol.
//!
//! Where to read: [`concrete`] turns a step of the model into an input with real bytes; `words` turns what the executor put
//! out, and [`abstraction`] what it holds, back into the model's words; `wanted` and [`account`] say what that has to be, to
//! the last field. This file compares.

pub mod abstraction;
pub mod account;
pub mod concrete;
#[cfg(test)]
mod tests;
mod wanted;
pub mod wide;
mod words;

use std::hash::Hasher;
use std::sync::Arc;

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::action::Action;
use countersign_model::aaep::bounds::{Bounds, Budgets};
use countersign_model::aaep::describe::output_text;
use countersign_model::aaep::output::Output;
use countersign_model::aaep::state::State;
use countersign_model::aaep::state::{Phase, Producer as ModelProducer};
use countersign_model::aaep::words::{SessionName, Slot};
use countersign_model::time::{self, Scale};
use countersign_reference::aaep::{self as executor, Outcome, Producer};
use countersign_reference::ids::SequentialIds;

use self::account::Account;
use self::wanted::TakenStep;
use super::bridge::{Answered, AnsweredBy, Bridge, Execution};
use super::comparison::{differing, in_words, not_a_call, on_wire, stored_and_read};
use super::{Disagreement, Unexplained};

pub use self::concrete::Environment;
pub use self::wanted::Call;

/// Bounds for random runs: as far as the model goes, beyond any exhaustive walk.
pub const FAR: Bounds = Bounds {
    name: "far",
    confirmations: 3,
    clarifications: 2,
    extensions: 3,
    work: 3,
    subscribers: 3,
    ticks: 8,
    longest_timeout: 3,
    under_way: 4,
    disturbances: Budgets::new([3; 9], 15),
    ..Bounds::LARGE
};

/// Bounds for the walk over the literal model, which shows the executor each reply as it was sent: one session, as the
/// literal model of two takes minutes in a debug build.
pub const LITERAL: Bounds = Bounds {
    name: "small, one session",
    sessions: 1,
    ..Bounds::SMALL
};

/// The AAEP model and executor, side by side.
pub type AaepBridge = Bridge<Environment>;

/// The executor, and what it has to hold.
#[derive(Clone, Debug)]
pub struct Host {
    /// The executor.
    pub producer: Producer,
    /// Where it gets its ids.
    pub ids: SequentialIds,
    /// What it has to hold.
    pub account: Account,
}

/// A call of the producer.
type Answer = AnsweredBy<Environment>;

impl Host {
    /// An executor that has been asked nothing.
    fn start(environment: &Environment) -> Self {
        Self {
            producer: Producer::new(environment.settings.clone()),
            ids: SequentialIds::new(),
            account: Account::start(),
        }
    }
}

impl Execution for Environment {
    type Protocol = AaepProtocol;
    type Host = Host;
    type Call = Call;
    type Output = executor::Output;
    type Refusal = executor::Refusal;

    const FAR: Bounds = FAR;
    const LITERAL: Bounds = LITERAL;
    const ASIDE: &'static [Bounds] = &[Bounds::CLARIFY, Bounds::WORK];

    fn specified(_: &Bounds) -> Self {
        Self::ticking(Scale::of(1_000))
    }

    fn start(&self) -> Host {
        Host::start(self)
    }

    fn call(
        bridge: &AaepBridge,
        state: &State,
        host: &mut Host,
        action: Action,
    ) -> Result<Vec<Answer>, Disagreement> {
        if !action.is_call() {
            return Ok(Vec::new());
        }
        let Some(input) = bridge.environment.input(&host.account, state, action) else {
            return Err(not_a_call(CONTRACT, action));
        };
        if action == Action::Crash {
            // What is left when the process dies: what it was serialised to after its last call.
            (_, host.producer) = stored_and_read(&host.producer, CONTRACT)?;
        }
        let now = bridge.environment.time(state.clock);
        // Where nothing waits for the time any more, the model has forgotten how late it is.
        host.account.now = host.account.now.max(now);
        let call = Call::of(&input);
        let Outcome { outputs, refused } = host.producer.handle(now, &mut host.ids, input);
        host.account.asked_last = outputs
            .iter()
            .find(|it| account::asks(it))
            .cloned()
            .map(Arc::new);
        Ok(vec![Answered {
            call,
            outputs,
            refused,
        }])
    }

    /// A step is one call at most.
    fn seen(
        bridge: &AaepBridge,
        _: &State,
        host: &mut Host,
        _: Action,
        answers: &[Answer],
    ) -> Result<Vec<Output>, Unexplained> {
        let answer = answers.first();
        answer.map_or(Ok(Vec::new()), |answer| {
            words::words(&bridge.environment, &host.account, answer)
        })
    }

    fn compare(
        bridge: &AaepBridge,
        state: &State,
        host: &mut Host,
        action: Action,
        answers: &[Answer],
    ) -> Result<State, Disagreement> {
        let Some(step) = bridge.model.step(state, action) else {
            return Err(not_a_call(CONTRACT, action));
        };
        for answer in answers {
            let taken = TakenStep {
                environment: &bridge.environment,
                state,
                action,
                step: &step,
                call: &answer.call,
            };
            bridge.compare_outputs(&taken, &mut host.account, answer)?;
            bridge.compare_states(&taken, host)?;
        }
        Ok(bridge.model.reduced(&step.next))
    }

    fn identity(host: &Host, hasher: &mut impl Hasher) {
        abstraction::identity(host, hasher);
    }
}

impl AaepBridge {
    /// The same with an executor whose host has chosen that nobody is told of a late duplicate.
    #[must_use]
    pub fn without_courtesy_notices(self) -> Self {
        let mut environment = self.environment;
        environment.settings.courtesy_notices = false;
        Self::of(self.model, environment)
    }

    /// What is wanted came, in every field and in order, and nothing else.
    fn compare_outputs(
        &self,
        taken: &TakenStep<'_>,
        account: &mut Account,
        answer: &Answer,
    ) -> Result<(), Disagreement> {
        let unexplained = |unexplained| on_wire(&answer.outputs, unexplained);
        let seen = words::words(&self.environment, account, answer).map_err(unexplained)?;
        let wanted = taken.words(account);
        if seen != wanted || !taken.refuses_rightly(answer.refused) {
            return Err(Disagreement::in_outputs(
                CONTRACT,
                in_words(&wanted, output_text),
                in_words(&seen, output_text),
            )
            .unnamed());
        }
        taken
            .check(account, &wanted, &answer.outputs)
            .map_err(unexplained)
    }

    /// What the executor holds is what the model's producer holds, as far as it can still matter.
    fn compare_states(&self, taken: &TakenStep<'_>, host: &Host) -> Result<(), Disagreement> {
        let step = taken.step;
        let unexplained = |Unexplained { clause, text }| {
            Disagreement::in_state(clause, text, format!("{:?}", host.producer))
        };
        let found = abstraction::producer(&self.environment, host).map_err(unexplained)?;
        let with_executor = step.next.with_producer(&found);
        if self.model.reduced(&with_executor) != self.model.reduced(&step.next) {
            let (expected, actual) = differences(&step.next.producer(), &found);
            return Err(Disagreement::in_state(CONTRACT, expected, actual).unnamed());
        }
        account::check(&self.environment, host).map_err(unexplained)?;
        let pending = found.confirmations.iter().flatten();
        let deadline = pending
            .filter(|confirmation| confirmation.phase == Phase::Pending)
            .map(|confirmation| {
                self.environment
                    .time(time::on(confirmation.issued + confirmation.timeout))
                    .into()
            })
            .min();
        let announced = host.producer.next_deadline();
        if announced == deadline {
            return Ok(());
        }
        Err(Disagreement::in_state(
            "AAEP-6.4-1",
            format!("next deadline {deadline:?}"),
            format!("next deadline {announced:?}"),
        ))
    }
}

/// What two producers of the model differ in, each in its own words.
fn differences(wanted: &ModelProducer, found: &ModelProducer) -> (String, String) {
    let mut pairs = Vec::new();
    for slot in Slot::ALL {
        let place = slot.index();
        pairs.push((
            format!("{}: {:?}", slot.name(), wanted.confirmations[place]),
            format!("{}: {:?}", slot.name(), found.confirmations[place]),
        ));
    }
    for session in SessionName::ALL {
        let place = session.index();
        pairs.push((
            format!("session {}: {:?}", session.name(), wanted.sessions[place]),
            format!("session {}: {:?}", session.name(), found.sessions[place]),
        ));
    }
    pairs.push((
        format!("subscriptions: {:?}", wanted.subscriptions),
        format!("subscriptions: {:?}", found.subscriptions),
    ));
    pairs.push((
        format!("work: {:?}", wanted.work),
        format!("work: {:?}", found.work),
    ));
    differing(pairs)
}

/// The clause that stands for the whole contract, where no other is to blame.
const CONTRACT: &str = "AAEP-6-1";
