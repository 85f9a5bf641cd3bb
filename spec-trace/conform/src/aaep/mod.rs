//! The bridge between the two readings of the AAEP confirmation protocol.
//!
//! Where to read: [`concrete`] turns a step of the model into an input with real bytes; `outputs` turns what the executor
//! put out, and [`abstraction`] what it holds, back into the model's words. This file compares.

pub mod abstraction;
pub mod concrete;
mod outputs;

use std::sync::Arc;

use countersign_model::aaep::action::Action;
use countersign_model::aaep::bounds::{Bounds, Budgets};
use countersign_model::aaep::describe::output_text;
use countersign_model::aaep::output::Output;
use countersign_model::aaep::rules::Check;
use countersign_model::aaep::state::State;
use countersign_model::aaep::state::{Phase, Producer as ModelProducer};
use countersign_model::aaep::step::Step;
use countersign_model::aaep::words::{SessionName, Slot, Subscriber};
use countersign_model::aaep::{Aaep, AaepText};
use countersign_reference::aaep::{
    Ask, Capabilities, Input, Producer, ReplyToken, Settings, ToolCallId,
};
use countersign_reference::ids::SequentialIds;

use self::outputs::Call;
use super::Disagreement;
use super::bridge::{Bridge, Execution};
use super::comparison::{differing, excess, in_words, not_a_call, on_wire, stored_and_read};

pub use self::concrete::World;

/// Bounds for random runs: as far as the model goes, beyond any exhaustive walk.
pub const FAR: Bounds = Bounds {
    name: "far",
    ticks: 8,
    longest_timeout: 3,
    under_way: 4,
    disturbances: Budgets::new([3; 8], 15),
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
pub type AaepBridge = Bridge<World>;

/// The executor, and what the world around it remembers of what it has put out.
#[derive(Clone, Debug)]
pub struct Host {
    /// The executor.
    pub producer: Producer,
    /// Where it gets its ids.
    pub ids: SequentialIds,
    /// Each confirmation that was put out, by [`Slot::index`].
    pub questions: [Option<Asked>; 2],
    /// Each session as its events tell it, by `SessionName::index`.
    pub told: [abstraction::Told; 2],
}

/// What was asked, and how the executor names it on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// As the host asked for it.
    pub ask: Arc<Ask>,
    /// The token that replies carry.
    pub reply_token: ReplyToken,
    /// The id of the call that acceptance leads to.
    pub tool_call_id: ToolCallId,
}

impl Host {
    /// An executor with both sessions started and both subscriptions open, as the model begins.
    fn start(world: &World) -> Self {
        let mut host = Self {
            producer: Producer::new(Settings::default()),
            ids: SequentialIds::new(),
            questions: [None, None],
            told: [abstraction::Told::START; 2],
        };
        for session_id in &world.sessions {
            let session_id = Some(session_id.clone());
            host.set_up(world, Input::StartSession { session_id });
        }
        for subscriber in Subscriber::ALL {
            let supports_confirmation_reply = subscriber == Subscriber::Capable;
            host.set_up(
                world,
                Input::Subscribe {
                    subscription_id: world.subscriptions[subscriber.index()].clone(),
                    capabilities: Capabilities {
                        supports_confirmation_reply,
                    },
                },
            );
        }
        host
    }

    fn set_up(&mut self, world: &World, input: Input) {
        let outcome = self.producer.handle(world.time(0), &mut self.ids, input);
        assert!(
            outcome.refused.is_none(),
            "a fresh producer takes new sessions and subscriptions"
        );
    }

    /// The slot whose confirmation has this token.
    fn slot_of_token(&self, token: &ReplyToken) -> Option<Slot> {
        self.slot_where(|asked| asked.reply_token == *token)
    }

    /// The slot whose action is called under this id.
    fn slot_of_call(&self, call: &ToolCallId) -> Option<Slot> {
        self.slot_where(|asked| asked.tool_call_id == *call)
    }

    /// What was asked in that slot, which [`Host::slot_of_token`] or [`Host::slot_of_call`] has found.
    fn asked(&self, slot: Slot) -> &Asked {
        let asked = self.questions[slot.index()].as_ref();
        asked.expect("a slot is found by what was asked in it")
    }

    fn slot_where(&self, is_it: impl Fn(&Asked) -> bool) -> Option<Slot> {
        Slot::ALL
            .into_iter()
            .find(|slot| self.questions[slot.index()].as_ref().is_some_and(&is_it))
    }
}

impl Execution for World {
    type Text = AaepText;
    type Host = Host;

    const FAR: Bounds = FAR;
    const LITERAL: Bounds = LITERAL;

    fn specified() -> Self {
        Self::ticking(1)
    }

    fn start(&self) -> Host {
        Host::start(self)
    }

    fn step(
        bridge: &AaepBridge,
        state: &State,
        host: &mut Host,
        action: Action,
    ) -> Result<State, Disagreement> {
        let Some(step) = bridge.model.step(state, action) else {
            return Err(not_a_call(CONTRACT, action));
        };
        if action.is_call() {
            let Some(input) = bridge.world.input(host, state, action) else {
                return Err(not_a_call(CONTRACT, action));
            };
            if action == Action::Crash {
                // What is left when the process dies: what it was serialised to after its last call.
                (_, host.producer) = stored_and_read(&host.producer, CONTRACT)?;
            }
            let now = bridge.world.time(state.clock);
            let call = Call::of(&input);
            let outcome = host.producer.handle(now, &mut host.ids, input);
            let seen = outputs::outputs(&bridge.world, host, &call, &outcome)
                .map_err(|unexplained| on_wire(&outcome.outputs, unexplained))?;
            bridge.compare_outputs(state, action, &step, &seen)?;
            bridge.compare_states(state, action, &step, host)?;
        }
        Ok(bridge.model.reduced(&step.next))
    }

    fn identity(host: &Host) -> Vec<u8> {
        abstraction::identity(host)
    }
}

impl AaepBridge {
    /// Nothing came that is neither required nor optional, and everything required came, in order.
    fn compare_outputs(
        &self,
        state: &State,
        action: Action,
        step: &Step,
        seen: &[Output],
    ) -> Result<(), Disagreement> {
        let disagree = |clause: Option<&'static str>| Disagreement {
            clause: clause.unwrap_or(CONTRACT),
            expected: in_words(step.required.as_slice(), output_text),
            actual: in_words(seen, output_text),
        };
        // A reply that should have been ignored: the check that it failed says more than what came of it.
        let ignored = step.ignored.map(Check::clause);
        let allowed = [step.required.as_slice(), step.optional.as_slice()].concat();
        if let Some(output) = worst_of(&excess(allowed, seen)) {
            let forbidden = self.model.forbidden_by(state, action, output);
            let forbidden = forbidden.unwrap_or(Aaep::repetition_breaks(output));
            return Err(disagree(ignored.or(Some(forbidden))));
        }
        let missing = |output: &Output| !seen.contains(output);
        if let Some(output) = step.required.iter().find(missing) {
            return Err(disagree(self.model.required_by(state, action, output)));
        }
        // AAEP-6.3.4-8: a producer may leave the log out; this executor promises it.
        if let Some(check) = step.ignored
            && missing(&Output::Audit(check))
        {
            return Err(disagree(Some("AAEP-6.3.4-8")));
        }
        // The response to the sender has no place among the outputs that are carried out one after the other.
        let has_a_place =
            |output: &Output| step.required.contains(*output) && *output != Output::Respond;
        let came = seen.iter().copied().filter(has_a_place);
        let wanted = step.required.iter().filter(has_a_place);
        match wanted.zip(came).find(|(wanted, came)| wanted != came) {
            // AAEP-A.4-3: what is accepted is announced, and then it runs.
            Some((Output::Invoked(_) | Output::Perform(_), _)) => Err(disagree(Some("AAEP-A.4-3"))),
            Some((misplaced, _)) => Err(disagree(self.model.required_by(state, action, misplaced))),
            None => Ok(()),
        }
    }

    /// What the executor holds is what the model's producer holds, as far as it can still matter.
    fn compare_states(
        &self,
        state: &State,
        action: Action,
        step: &Step,
        host: &Host,
    ) -> Result<(), Disagreement> {
        let found =
            abstraction::producer(&self.world, host).map_err(|unexplained| Disagreement {
                clause: unexplained.clause,
                expected: unexplained.text,
                actual: format!("{:?}", host.producer.confirmations()),
            })?;
        let with_executor = step.next.with_producer(&found);
        if self.model.reduced(&with_executor) != self.model.reduced(&step.next) {
            let (expected, actual) = differences(&step.next.producer(), &found);
            return Err(Disagreement {
                clause: self.clause_of_state(state, action, step),
                expected,
                actual,
            });
        }
        let pending = found.confirmations.iter().flatten();
        let deadline = pending
            .filter(|confirmation| confirmation.phase == Phase::Pending)
            .map(|confirmation| self.world.time(confirmation.issued + confirmation.timeout))
            .min();
        let announced = host.producer.next_deadline();
        if announced == deadline {
            return Ok(());
        }
        Err(Disagreement {
            clause: "AAEP-6.4-1",
            expected: format!("next deadline {deadline:?}"),
            actual: format!("next deadline {announced:?}"),
        })
    }
}

impl AaepBridge {
    /// The clause that a step goes against which puts out the right things and comes to the wrong state.
    fn clause_of_state(&self, state: &State, action: Action, step: &Step) -> &'static str {
        let first = step
            .required
            .iter()
            .find(|output| *output != Output::Respond);
        let leading = || first.and_then(|output| self.model.required_by(state, action, output));
        let cancels = Slot::ALL.into_iter().any(|slot| {
            let before = state.confirmation(slot).is_pending();
            before && step.next.confirmation(slot).phase == Phase::Cancelled
        });
        match (step.ignored, action) {
            (Some(check), _) => check.clause(),
            (None, Action::EndSession { .. }) if cancels => "AAEP-6.8-2",
            (None, Action::Cancel { .. }) if cancels => "AAEP-6.8-4",
            (None, _) => leading().unwrap_or(CONTRACT),
        }
    }
}

/// The output that does the most harm: an action that runs, then one that is announced, then whatever came first.
fn worst_of(outputs: &[Output]) -> Option<Output> {
    let harm = |output: &&Output| {
        (
            !matches!(output, Output::Perform(_)),
            !matches!(output, Output::Invoked(_)),
        )
    };
    outputs.iter().min_by_key(harm).copied()
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
        format!("open subscriptions: {:?}", wanted.open),
        format!("open subscriptions: {:?}", found.open),
    ));
    differing(pairs)
}

/// The clause that stands for the whole contract, where no other is to blame.
const CONTRACT: &str = "AAEP-6-1";
