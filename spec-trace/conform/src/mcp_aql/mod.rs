//! The bridge between the two readings of the MCP-AQL confirmation tokens.
//!
//! Where to read: [`concrete`] turns a step of the model into calls with real bytes, in one of the many ways of `spelling`
//! them; `outputs` turns what the executor put out, `issue` the tokens among it, and `abstraction` what it holds, back into
//! the model's words; `signing` has what is different where tokens are signed. This file compares.

mod abstraction;
pub mod concrete;
mod issue;
mod outputs;
mod signing;
mod spelling;
#[cfg(test)]
mod tests;
pub mod text;
pub mod wide;

use std::hash::Hasher;
use std::sync::Arc;

use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::mcp_aql::action::Action;
use countersign_model::mcp_aql::bounds::{Bounds, Budgets, MOST_TICKS};
use countersign_model::mcp_aql::describe::output_text;
use countersign_model::mcp_aql::message::Carried;
use countersign_model::mcp_aql::output::Output;
use countersign_model::mcp_aql::readings::{CheckOrder, Reading};
use countersign_model::mcp_aql::state::{Gatekeeper as ModelGatekeeper, State};
use countersign_model::mcp_aql::step::Step;
use countersign_model::mcp_aql::words::{SLOTS, Slot, Store};
use countersign_model::rules::Rules;
use countersign_model::specification::Modelled as _;
use countersign_reference::mcp_aql as executor;
use countersign_reference::mcp_aql::{
    Call, ConfirmationToken, Gatekeeper, Input, Outcome, ParametersHash, Persistence, Revoker,
    Settings, SigningKey, TokenId,
};
use countersign_reference::time::Timestamp;

use super::bridge::{Answered, AnsweredBy, Bridge, Execution};
use super::comparison::{differing, in_words, not_a_call, not_stored, on_wire, stored_and_read};
use super::concretion::Ids;
use super::{Disagreement, Unexplained};

pub use self::concrete::Environment;

/// Bounds for random runs: as far as the model goes, beyond any exhaustive walk.
pub const FAR: Bounds = Bounds {
    name: "far",
    tokens: 3,
    ticks: MOST_TICKS,
    under_way: 4,
    disturbances: Budgets::new([3; 7], 15),
    ..Bounds::LARGE
};

/// Bounds for the walk over the literal model, which shows the executor each call as it was sent, also with a token that is
/// dead.
pub const LITERAL: Bounds = Bounds::SMALL;

/// The MCP-AQL model and executor, side by side.
pub type McpAqlBridge = Bridge<Environment>;

/// The executor, and what its clients remember of the tokens that it has handed out.
#[derive(Clone, Debug)]
pub struct Host {
    /// The executor; shared until a call comes, for most steps are none.
    pub gatekeeper: Arc<Gatekeeper>,
    /// Where it gets its ids.
    pub ids: Ids,
    /// Each token that was handed out, by [`Slot::index`].
    pub issued: [Option<Arc<Issued>>; SLOTS],
    /// Who took it back, by [`Slot::index`].
    pub revoked: [Option<Revoker>; SLOTS],
    /// Which of them it can tell by a signature, whether it holds them or not, by [`Slot::index`]; none where it signs none.
    pub signed: [bool; SLOTS],
    /// What its host has chosen; of the stores the one that it came back from last.
    pub settings: Arc<Settings>,
}

/// A token that was handed out, and the call that it was handed out for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// As it was made.
    pub call: Call,
    /// What the client got.
    pub token: ConfirmationToken,
    /// What the log calls it.
    pub id: TokenId,
    /// What it is bound to.
    pub bound: ParametersHash,
    /// When it was handed out.
    pub issued_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// Until when it is taken all the same.
    pub valid_until: Timestamp,
}

/// A call of the gatekeeper.
type Answer = AnsweredBy<Environment>;

impl McpAqlBridge {
    /// The same with ticks of six seconds, in which the longest tolerance is the 30 seconds of AQL-5.1-4.
    #[must_use]
    pub fn with_thirty_seconds_of_tolerance(self) -> Self {
        Self::of(self.model, Environment::of_thirty_seconds())
    }

    /// The same, literal too, with the checks made in the order of the sample in section 4.3 by both sides.
    #[must_use]
    pub fn in_the_order_of_the_sample(self) -> Self {
        let reading = Reading {
            check_order: CheckOrder::Sample,
            ..self.model.reading
        };
        let mut environment = self.environment;
        environment.settings.check_order = executor::CheckOrder::Sample;
        Self::of(self.model.with(Rules::all(), reading), environment)
    }
}

impl Host {
    /// An executor that nobody has configured or called.
    fn start(environment: &Environment) -> Self {
        let settings = environment.settings.clone();
        Self {
            gatekeeper: Arc::new(if environment.signs {
                Gatekeeper::signing(settings, SigningKey::from_bits([1, 2]))
            } else {
                Gatekeeper::new(settings)
            }),
            ids: Ids::FRESH,
            issued: [const { None }; SLOTS],
            revoked: [const { None }; SLOTS],
            signed: [false; SLOTS],
            settings: Arc::new(environment.settings.clone()),
        }
    }

    /// The slot of the token for which the condition holds.
    fn slot_where(&self, is_it: impl Fn(&Issued) -> bool) -> Option<Slot> {
        Slot::ALL.into_iter().find(|slot| {
            let issued = self.issued[slot.index()].as_ref();
            issued.is_some_and(|issued| is_it(issued))
        })
    }

    /// What was handed out in that slot, which was found by it.
    fn issued(&self, slot: Slot) -> &Issued {
        let issued = self.issued[slot.index()].as_ref();
        issued.expect("a slot is found by what was handed out in it")
    }

    /// Whether the executor still holds the token in this slot.
    fn holds(&self, slot: Slot) -> bool {
        let id = self.issued[slot.index()].as_ref().map(|issued| issued.id);
        let mut held = self.gatekeeper.tokens();
        held.any(|token| Some(token.id()) == id)
    }

    /// Whether the executor still knows the token in this slot, held or by its signature.
    fn knows(&self, slot: Slot) -> bool {
        self.signed[slot.index()] || self.holds(slot)
    }
}

impl Execution for Environment {
    type Protocol = McpAqlProtocol;
    type Host = Host;
    type Call = Input;
    type Output = executor::Output;
    type Refusal = executor::Refusal;

    const FAR: Bounds = FAR;
    const LITERAL: Bounds = LITERAL;
    const ASIDE: &'static [Bounds] = &[
        Bounds::LISTS,
        Bounds::LIMITED,
        Bounds::CROWDED,
        Bounds::SIGNED,
    ];

    fn specified(bounds: &Bounds) -> Self {
        Self::within(bounds)
    }

    fn taking(bounds: &Bounds, reading: &Reading) -> Option<Self> {
        let usual = McpAqlProtocol::reading_within(bounds);
        let rest = Reading {
            check_order: usual.check_order,
            ..*reading
        };
        let mut environment = Self::specified(bounds);
        environment.settings.check_order = match reading.check_order {
            CheckOrder::Table => executor::CheckOrder::Table,
            CheckOrder::Sample => executor::CheckOrder::Sample,
        };
        (rest == usual).then_some(environment)
    }

    fn start(&self) -> Host {
        Host::start(self)
    }

    /// One after the other, until one is refused.
    fn call(
        bridge: &McpAqlBridge,
        state: &State,
        host: &mut Host,
        action: Action,
    ) -> Result<Vec<Answer>, Disagreement> {
        if !action.is_call() {
            return Ok(Vec::new());
        }
        let inputs = bridge.environment.inputs(host, state, action);
        if let Action::Restart(store) = action {
            let store = match store {
                Store::Persistent => Persistence::Persistent,
                Store::InMemory => Persistence::InMemory,
            };
            Arc::make_mut(&mut host.settings).persistence = store;
            host.gatekeeper = Arc::new(what_lasts(&host.gatekeeper, store)?);
            // The key is lost with what was used.
            if store == Persistence::InMemory {
                host.signed = [false; SLOTS];
            }
        }
        let skew = if let Action::Deliver { skew, .. } = action {
            skew
        } else {
            0
        };
        let now = bridge.environment.time(state.clock, skew);
        let mut answers = Vec::new();
        for call in inputs.ok_or_else(|| not_a_call(CONTRACT, action))? {
            let gatekeeper = Arc::make_mut(&mut host.gatekeeper);
            let Outcome { outputs, refused } = gatekeeper.handle(now, &mut host.ids, call.clone());
            answers.push(Answered {
                call,
                outputs,
                refused,
            });
            if refused.is_some() {
                break;
            }
        }
        Ok(answers)
    }

    fn seen(
        bridge: &McpAqlBridge,
        state: &State,
        host: &mut Host,
        action: Action,
        answers: &[Answer],
    ) -> Result<Vec<Output>, Unexplained> {
        let mut seen = Vec::new();
        for answer in answers {
            seen.extend(outputs::outputs(
                &bridge.environment,
                host,
                (state, action),
                answer,
            )?);
        }
        Ok(seen)
    }

    fn compare(
        bridge: &McpAqlBridge,
        state: &State,
        host: &mut Host,
        action: Action,
        answers: &[Answer],
    ) -> Result<State, Disagreement> {
        let Some(step) = bridge.model.step(state, action) else {
            return Err(not_a_call(CONTRACT, action));
        };
        let next = bridge.model.reduced(&step.next);
        if action.is_call() {
            // What was taken back before tells what may be said of it now.
            let ways = ways(&bridge.environment, host, (state, action), &step);
            let seen = Self::seen(bridge, state, host, action, answers);
            let outputs = answers.iter().flat_map(|answer| &answer.outputs);
            let seen = seen.map_err(|unexplained| on_wire(outputs, unexplained))?;
            compare_outputs(&ways, &seen)?;
            abstraction::check_memory(&bridge.environment, host, action, &step.next)
                .map_err(|unexplained| disagree_on_state(host, unexplained))?;
            bridge.compare_states(&step, &next, host)?;
        }
        Ok(next)
    }

    fn identity(host: &Host, hasher: &mut impl Hasher) {
        abstraction::identity(host, hasher);
    }
}

/// What may come out: what is required, in order, and nothing else. A gatekeeper that has forgotten the token is held to what
/// one says that has; one that has not, to what one says that has not. Who signs may say more than one thing.
fn ways(
    environment: &Environment,
    host: &Host,
    (state, action): (&State, Action),
    step: &Step,
) -> Vec<Vec<Output>> {
    let mut ways = match (step.instead, carried(state, action)) {
        _ if environment.signs => signing::ways(host, (state, action), step),
        (Some(instead), Some(Carried::Token(slot))) if !host.holds(slot) => {
            vec![instead.as_slice().to_vec()]
        }
        (Some(_) | None, _) => vec![step.required.as_slice().to_vec()],
    };
    // AQL-5.1-6: the model's tolerance is one to be warned of, and 30 seconds are not.
    if !environment.is_warned_of(step.next.tolerance()) {
        for wanted in &mut ways {
            wanted.retain(|output| !matches!(output, Output::Warned(_)));
        }
    }
    ways
}

/// Whether what came is one of these.
fn compare_outputs(ways: &[Vec<Output>], seen: &[Output]) -> Result<(), Disagreement> {
    if ways.iter().any(|wanted| seen == wanted) {
        return Ok(());
    }
    let texts = ways.iter().map(|wanted| in_words(wanted, output_text));
    Err(Disagreement::in_outputs(
        CONTRACT,
        texts.collect::<Vec<_>>().join("; or "),
        in_words(seen, output_text),
    )
    .unnamed())
}

impl McpAqlBridge {
    /// What the executor holds is what the model's gatekeeper holds, as far as it can still matter.
    fn compare_states(&self, step: &Step, next: &State, host: &Host) -> Result<(), Disagreement> {
        let found = abstraction::gatekeeper(&self.environment, host, &step.next)
            .map_err(|unexplained| disagree_on_state(host, unexplained))?;
        let wanted = step.next.gatekeeper();
        let agrees = || self.model.reduced(&step.next.with_gatekeeper(&found)) == *next;
        if found != wanted && !agrees() {
            let (expected, actual) = differences(&wanted, &found);
            return Err(Disagreement::in_state(CONTRACT, expected, actual).unnamed());
        }
        let deadline = abstraction::deadline(&self.environment, host);
        let announced = host.gatekeeper.next_deadline();
        if announced == deadline {
            return Ok(());
        }
        Err(Disagreement::in_state(
            "AQL-5.5-2",
            format!("next deadline {deadline:?}"),
            format!("next deadline {announced:?}"),
        ))
    }
}

/// The token that comes with a step.
fn carried(state: &State, action: Action) -> Option<Carried> {
    match action {
        Action::Deliver { index, .. } => {
            let call = state.network.get(usize::from(index));
            call.map(|call| call.token)
        }
        Action::Revoke(carried) | Action::AskStatus(carried) => Some(carried),
        Action::SetUp { .. }
        | Action::Request(_)
        | Action::Send { .. }
        | Action::Guess
        | Action::Redeem { .. }
        | Action::CarryOut { .. }
        | Action::Trigger(_)
        | Action::Reconfigure(_)
        | Action::Relist { .. }
        | Action::Tick
        | Action::Purge { .. }
        | Action::Restart(_) => None,
    }
}

/// What two gatekeepers of the model differ in, each in its own words.
fn differences(wanted: &ModelGatekeeper, found: &ModelGatekeeper) -> (String, String) {
    let mut pairs = vec![
        (
            format!("greatest time: {}", wanted.latest),
            format!("greatest time: {}", found.latest),
        ),
        (format!("{:?}", wanted.tries), format!("{:?}", found.tries)),
    ];
    for slot in Slot::ALL {
        let [wanted, found] = [wanted, found].map(|side| {
            let token = side.tokens[slot.index()];
            format!("{}: {token:?}", slot.name())
        });
        pairs.push((wanted, found));
    }
    differing(pairs)
}

/// The clause that stands for the whole contract, where no other is to blame.
const CONTRACT: &str = "AQL-1.3-2";

/// The clause that has tokens stored.
const STORED: &str = "AQL-5.5-1";

/// What is left of a gatekeeper when its process dies: what it was serialised to after its last call, in a store of the kind
/// that the model has chosen for this restart.
fn what_lasts(gatekeeper: &Gatekeeper, store: Persistence) -> Result<Gatekeeper, Disagreement> {
    let (stored, whole) = stored_and_read(gatekeeper, STORED)?;
    let kinds = [
        r#""persistence":"persistent""#,
        r#""persistence":"in_memory""#,
    ];
    let [new, old] = match store {
        Persistence::Persistent => kinds,
        Persistence::InMemory => [kinds[1], kinds[0]],
    };
    if whole.settings().persistence == store {
        return Ok(whole);
    }
    let elsewhere = serde_json::from_str(&stored.replacen(old, new, 1));
    elsewhere.map_err(|error| not_stored(STORED, &error))
}

fn disagree_on_state(host: &Host, unexplained: Unexplained) -> Disagreement {
    let held: Vec<_> = host.gatekeeper.tokens().collect();
    let actual = format!("{held:?} at {}", host.gatekeeper.now());
    Disagreement::in_state(unexplained.clause, unexplained.text, actual)
}
