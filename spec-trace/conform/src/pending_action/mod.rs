//! The bridge between the two readings of the pending actions.
//!
//! Where to read: [`concrete`] turns a step of the model into a call with real bytes, in one of the many ways of `spelling`
//! them; `outputs` turns what the executor put out back into the model's words, with its records (`records`) and what it
//! tells of them (`consequences`); `abstraction` does so with what it holds. This file holds the host, and compares.
//!
//! The model's quotient keeps of the journal and of the watermark what can still matter. The host keeps the real ones: as
//! many of its records are durable as do not wait in the model's outbox, and all are carried out once that is empty.

mod abstraction;
mod concrete;
mod consequences;
pub mod executor;
mod outputs;
mod records;
mod spelling;
#[cfg(test)]
mod tests;
pub mod wide;

use std::hash::Hasher;
use std::sync::Arc;

use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::pending_action::action::Action;
use countersign_model::pending_action::bounds::{Bounds, Budgets};
use countersign_model::pending_action::describe::output_text;
use countersign_model::pending_action::output::Output;
use countersign_model::pending_action::readings::{DecidersAbsent, ExpiryBoundary, Reading};
use countersign_model::pending_action::state::{Ledger as ModelLedger, State};
use countersign_model::pending_action::step::Step;
use countersign_model::pending_action::words::{SLOTS, Slot};
use countersign_model::rules::Rules;
use countersign_reference::pending_action as real;
use countersign_reference::pending_action::{
    ActionId, Delivery, Input, Ledger, MessageId, Named, Nonce, Outcome, Proposal, Record,
    Settings, Snapshot, ToolCall,
};
use countersign_reference::time::Timestamp;

use self::spelling::Spelling;
use super::bridge::{Answered, AnsweredBy, Bridge, Execution};
use super::comparison::{differing, in_words, not_a_call, on_wire, stored_and_read};
use super::concretion::Ids;
use super::{Disagreement, Unexplained, unexplained};

/// Bounds for random runs: as far as the model goes, beyond any exhaustive walk.
pub const FAR: Bounds = Bounds {
    name: "far",
    actions: 3,
    ticks: 8,
    under_way: 4,
    backlog: 4,
    disturbances: Budgets::new([3; 6], 15),
    ..Bounds::LARGE
};

/// Bounds for the walk over the literal model, which shows the executor each decision as it was sent, and compares who
/// resolved what and when.
pub const LITERAL: Bounds = Bounds {
    name: "small, one decision each",
    decisions: [1; SLOTS],
    ..Bounds::SMALL
};

/// The model and the executor of pending actions, side by side.
pub type PendingActionBridge = Bridge<Environment>;

/// The environment of the executor: what its host has chosen.
pub struct Environment {
    pub(super) settings: Settings,
}

/// The executor, and what its host keeps.
#[derive(Clone, Debug)]
pub struct Host {
    /// The executor; shared until a call comes, for most steps are none.
    pub ledger: Arc<Ledger>,
    /// Where it gets its ids.
    pub ids: Ids,
    /// The greatest time that it was told.
    pub now: Timestamp,
    /// Every record that came out. How many of them are durable follows from the model's outbox.
    pub journal: Vec<Arc<Record>>,
    /// The watermark: of so many records the host knows that it has carried out all that is behind them.
    pub carried: u64,
    /// What was kept of it.
    pub snapshot: Option<Arc<Snapshot>>,
    /// Each action that was proposed, by [`Slot::index`]. What a crash has swallowed is remembered here all the same.
    pub asked: [Option<Arc<Asked>>; SLOTS],
    /// The ids of the messages of each, as they were first told.
    pub message_ids: [[Option<MessageId>; 3]; SLOTS],
}

/// An action that was proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its id.
    pub id: ActionId,
    /// Its nonce.
    pub minted: Nonce,
    /// Its id as it is written.
    pub action_id: String,
    /// Its nonce as it is written.
    pub nonce: String,
    /// What was proposed.
    pub proposal: Arc<Proposal>,
    /// How its arguments can be written.
    spelling: &'static Spelling,
}

/// A call of the ledger.
type Answer = AnsweredBy<Environment>;

impl PendingActionBridge {
    /// The same, literal too, with two readings taken the other way by both sides: an action is good at the very moment of
    /// its expiry, and where a proposal names nobody, nobody may decide.
    #[must_use]
    pub fn taken_the_other_way(self) -> Self {
        let reading = Reading {
            expiry_boundary: ExpiryBoundary::After,
            deciders_absent: DecidersAbsent::Nobody,
            ..Reading::SPECIFICATION
        };
        let settings = Settings {
            expiry_boundary: real::ExpiryBoundary::After,
            deciders_absent: real::DecidersAbsent::Nobody,
            ..concrete::AT_LEAST_ONCE
        };
        let model = self.model.literal().with(Rules::all(), reading);
        Self::of(model, Environment { settings })
    }
}

impl Host {
    /// An executor to which nobody has proposed anything.
    fn start(settings: Settings) -> Self {
        let mut ledger = Ledger::new(settings);
        let now = concrete::time(0);
        // This only tells the time.
        let _nothing = ledger.handle(now, &mut Ids::FRESH.clone(), Input::Tick);
        Self {
            ledger: Arc::new(ledger),
            ids: Ids::FRESH,
            now,
            journal: Vec::new(),
            carried: 0,
            snapshot: None,
            asked: [const { None }; SLOTS],
            message_ids: [[None; 3]; SLOTS],
        }
    }

    /// The slot of the action of this id.
    fn slot_of(&self, action_id: &str) -> Option<Slot> {
        self.slot_where(|asked| asked.action_id == action_id)
    }

    /// The slot of an action that came out.
    fn known(&self, action_id: ActionId) -> Result<Slot, Unexplained> {
        let slot = self.slot_where(|asked| asked.id == action_id);
        slot.ok_or_else(|| unexplained("PA-1", "no action but those proposed"))
    }

    fn slot_where(&self, is_it: impl Fn(&Asked) -> bool) -> Option<Slot> {
        Slot::ALL.into_iter().find(|slot| {
            let asked = self.asked[slot.index()].as_deref();
            asked.is_some_and(&is_it)
        })
    }

    /// What was proposed in that slot, which was found by it.
    fn asked(&self, slot: Slot) -> &Asked {
        let asked = self.asked[slot.index()].as_deref();
        asked.expect("a slot is found by what was proposed in it")
    }

    /// Whether the session has ended by the journal.
    fn has_ended(&self, session_id: &str) -> bool {
        abstraction::ended(self).any(|ended| ended == session_id)
    }
}

impl Execution for Environment {
    type Protocol = PendingActionProtocol;
    type Host = Host;
    type Call = Input;
    type Output = real::Output;
    type Refusal = real::Refusal;

    const FAR: Bounds = FAR;
    const LITERAL: Bounds = LITERAL;

    fn specified(_: &Bounds) -> Self {
        Self {
            settings: concrete::AT_LEAST_ONCE,
        }
    }

    fn taking(_: &Bounds, reading: &Reading) -> Option<Self> {
        let rest = Reading {
            expiry_boundary: ExpiryBoundary::At,
            deciders_absent: DecidersAbsent::Anyone,
            ..*reading
        };
        let settings = Settings {
            expiry_boundary: match reading.expiry_boundary {
                ExpiryBoundary::At => real::ExpiryBoundary::At,
                ExpiryBoundary::After => real::ExpiryBoundary::After,
            },
            deciders_absent: match reading.deciders_absent {
                DecidersAbsent::Anyone => real::DecidersAbsent::Anyone,
                DecidersAbsent::Nobody => real::DecidersAbsent::Nobody,
            },
            ..concrete::AT_LEAST_ONCE
        };
        (rest == Reading::SPECIFICATION).then_some(Self { settings })
    }

    fn start(&self) -> Host {
        Host::start(self.settings)
    }

    fn call(
        bridge: &PendingActionBridge,
        state: &State,
        host: &mut Host,
        action: Action,
    ) -> Result<Vec<Answer>, Disagreement> {
        if action == Action::Snapshot {
            host.snapshot = Some(Arc::new(host.ledger.snapshot()));
        }
        if !action.is_call() {
            return Ok(Vec::new());
        }
        let call = concrete::input(host, state, action);
        let call = call.ok_or_else(|| not_a_call(CONTRACT, action))?;
        // Over a restart too, the host knows how late it is.
        let comes_back = matches!(action, Action::Restart | Action::Rollback);
        let told = if comes_back { host.now } else { Timestamp::MIN };
        let now = concrete::time(state.clock).max(told);
        if action == Action::Restart {
            come_back(
                host,
                bridge.environment.settings,
                state.outbox.records(),
                now,
            )?;
        } else if action == Action::Rollback {
            load(host, bridge.environment.settings)?;
        }
        host.now = host.now.max(now);
        // PA-11: the model keeps nothing of what is said, and so the walk goes on as though time alone had passed.
        let unsaid = (action == Action::Say).then(|| (unsaid(host, now), host.ids));
        let ledger = Arc::make_mut(&mut host.ledger);
        let Outcome { outputs, refused } = ledger.handle(now, &mut host.ids, call.clone());
        if let Some((ledger, ids)) = unsaid {
            (host.ledger, host.ids) = (Arc::new(ledger), ids);
        }
        Ok(vec![Answered {
            call,
            outputs,
            refused,
        }])
    }

    /// A step is one call at most.
    fn seen(
        _: &PendingActionBridge,
        _: &State,
        host: &mut Host,
        action: Action,
        answers: &[Answer],
    ) -> Result<Vec<Output>, Unexplained> {
        let answer = answers.first();
        answer.map_or(Ok(Vec::new()), |answer| {
            outputs::outputs(host, action, answer)
        })
    }

    fn compare(
        bridge: &PendingActionBridge,
        state: &State,
        host: &mut Host,
        action: Action,
        answers: &[Answer],
    ) -> Result<State, Disagreement> {
        let Some(step) = bridge.model.step(state, action) else {
            return Err(not_a_call(CONTRACT, action));
        };
        let next = bridge.model.reduced(&step.next);
        if !answers.is_empty() {
            let seen = Self::seen(bridge, state, host, action, answers);
            let outputs = answers.iter().flat_map(|answer| &answer.outputs);
            let seen = seen.map_err(|unexplained| on_wire(outputs, unexplained))?;
            compare_outputs(&step, &seen)?;
        }
        if has_come_to_rest(action, &step) {
            host.carried = host.journal.len() as u64;
            Arc::make_mut(&mut host.ledger).carried(host.carried);
        }
        if action.is_call() {
            bridge.compare_states(&step, &next, host)?;
        }
        Ok(next)
    }

    fn identity(host: &Host, hasher: &mut impl Hasher) {
        abstraction::identity(host, hasher);
    }
}

/// The ledger after the same time, had nobody said anything.
fn unsaid(host: &Host, now: Timestamp) -> Ledger {
    let mut ledger = (*host.ledger).clone();
    // What is due is put out by the call that says something, too.
    let _due = ledger.handle(now, &mut host.ids.clone(), Input::Tick);
    ledger
}

/// What is required came, in order, and nothing else.
fn compare_outputs(step: &Step, seen: &[Output]) -> Result<(), Disagreement> {
    let wanted = step.required.as_slice();
    if seen == wanted {
        return Ok(());
    }
    Err(Disagreement::in_outputs(
        CONTRACT,
        in_words(wanted, output_text),
        in_words(seen, output_text),
    )
    .unnamed())
}

impl PendingActionBridge {
    /// What the executor holds is what the model's ledger holds, as far as it can still matter.
    fn compare_states(&self, step: &Step, next: &State, host: &Host) -> Result<(), Disagreement> {
        let is_literal = !self.model.quotient;
        if host.ledger.settings() != self.environment.settings {
            let text = format!("{:?}, as the host has chosen", self.environment.settings);
            return Err(disagree_on_state(host, unexplained(CONTRACT, text)));
        }
        let found = abstraction::ledger(host, &step.next, is_literal)
            .map_err(|unexplained| disagree_on_state(host, unexplained))?;
        let wanted = step.next.ledger();
        let agrees = || self.model.reduced(&step.next.with_ledger(&found)) == *next;
        if found != wanted && !agrees() {
            let (expected, actual) = differences(&wanted, &found);
            return Err(Disagreement::in_state(CONTRACT, expected, actual).unnamed());
        }
        let deadline = abstraction::deadline(host);
        let announced = host.ledger.next_deadline();
        if announced == deadline {
            return Ok(());
        }
        Err(Disagreement::in_state(
            "PA-7",
            format!("next deadline {deadline:?}"),
            format!("next deadline {announced:?}"),
        ))
    }
}

/// Whether the host finds that it has nothing to carry out any more.
fn has_come_to_rest(action: Action, step: &Step) -> bool {
    matches!(action, Action::CarryOut | Action::Restart) && step.next.outbox.is_empty()
}

/// The process dies with all that waits, and comes back with what its journal holds, as it was written down.
fn come_back(
    host: &mut Host,
    chosen: Settings,
    waiting: usize,
    now: Timestamp,
) -> Result<(), Disagreement> {
    host.journal.truncate(host.journal.len() - waiting);
    let records = host.journal.iter().map(|record| Record::clone(record));
    let (_, records): (_, Vec<Record>) = stored_and_read(&records.collect::<Vec<_>>(), JOURNAL)?;
    let rebuilt = |delivery| {
        let settings = Settings { delivery, ..chosen };
        let journal = records.iter().cloned();
        Ledger::rebuild(settings, None, journal, host.carried).map_err(|damaged| damage(&damaged))
    };
    let [repeating, careful] = [Delivery::AtLeastOnce, Delivery::AtMostOnce].map(rebuilt);
    host.ledger = Arc::new(repeating?);
    check_caught_up(host, JOURNAL)?;
    check_at_most_once(host, careful?, now)
}

/// PA-8: by default nothing runs again. What would is in doubt, and all else is the same.
fn check_at_most_once(
    host: &Host,
    mut careful: Ledger,
    now: Timestamp,
) -> Result<(), Disagreement> {
    let mut repeating = Ledger::clone(&host.ledger);
    let [wanted, found] = [&mut repeating, &mut careful].map(|ledger| {
        let mut ids = host.ids;
        ledger.handle(now, &mut ids, Input::Restart).outputs
    });
    let in_doubt = |output| {
        if let real::Output::Perform(ToolCall { action_id, .. }) = output {
            real::Output::InDoubt(Named { action_id })
        } else {
            output
        }
    };
    let wanted: Vec<_> = wanted.into_iter().map(in_doubt).collect();
    if wanted == found {
        return Ok(());
    }
    Err(on_wire(
        &found,
        unexplained(
            "PA-8",
            "the same as at least once, with all that would run in doubt",
        ),
    ))
}

/// PA-8: the snapshot is loaded, as it was written down, and catches up with the journal.
fn load(host: &mut Host, settings: Settings) -> Result<(), Disagreement> {
    let snapshot = host.snapshot.take();
    let snapshot = snapshot.ok_or_else(|| not_a_call(CONTRACT, Action::Rollback))?;
    let (_, snapshot): (_, Snapshot) = stored_and_read(&*snapshot, JOURNAL)?;
    let journal = host.journal.iter().map(|record| Record::clone(record));
    let loaded = Ledger::rebuild(settings, Some(snapshot), journal, host.carried);
    host.ledger = Arc::new(loaded.map_err(|damaged| damage(&damaged))?);
    check_caught_up(host, "PA-8")
}

/// Whether a ledger that was just built knows every record.
fn check_caught_up(host: &Host, clause: &'static str) -> Result<(), Disagreement> {
    let recorded = host.journal.len() as u64;
    if host.ledger.recorded() == recorded {
        return Ok(());
    }
    Err(Disagreement::in_state(
        clause,
        format!("a ledger that knows {recorded} records"),
        format!("one that knows {}", host.ledger.recorded()),
    ))
}

/// An executor that does not take its own journal.
fn damage(damaged: &real::Damaged) -> Disagreement {
    Disagreement::in_state(
        JOURNAL,
        "a ledger that is rebuilt from its own journal".to_owned(),
        damaged.to_string(),
    )
}

/// What two ledgers of the model differ in, each in its own words.
fn differences(wanted: &ModelLedger, found: &ModelLedger) -> (String, String) {
    let pair = |text: &dyn Fn(&ModelLedger) -> String| (text(wanted), text(found));
    let mut pairs = vec![
        pair(&|ledger| format!("greatest time: {}", ledger.latest)),
        pair(&|ledger| format!("ended: {:?}", ledger.ended)),
    ];
    for slot in Slot::ALL {
        pairs.push(pair(&|ledger| {
            let action = ledger.actions[slot.index()];
            format!("{}: {action:?}", slot.name())
        }));
    }
    differing(pairs)
}

/// The clause that stands for the whole contract, where no other is to blame.
const CONTRACT: &str = "PA-2";

/// The clause that has what pends kept.
const JOURNAL: &str = "PA-1";

fn disagree_on_state(host: &Host, unexplained: Unexplained) -> Disagreement {
    let actual = format!("{:?} at {}", host.ledger.actions(), host.ledger.now());
    Disagreement::in_state(unexplained.clause, unexplained.text, actual)
}
