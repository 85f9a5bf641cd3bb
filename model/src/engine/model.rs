//! The model: a party in an environment that does its worst, as a `stateright::Model`.
//!
//! The network holds everything that could have been sent. Any of it may arrive in every state, and again: reordering,
//! duplication, loss, delay and forgery need no state and no bound. One answer of a party serves the life in which all
//! of it is carried out, and each death before one of its outputs.

use std::fmt::{self, Debug, Formatter};
use std::hash::Hash;
use std::sync::Arc;

use stateright::{Model as Checkable, Property};

use crate::engine::protocol::{Protocol, Variant};
use crate::engine::world::Freedom;

/// A protocol with the environment of its search.
pub trait Environment:
    Protocol<
        Call: Send + Sync,
        Output: Send + Sync,
        Account: Send + Sync,
        Binding: Send + Sync,
        Closing: Send + Sync,
        Thing: Send + Sync,
        Holes: Send + Sync,
        Reading: Send + Sync,
    >
{
    /// What the environment has done, as far as it decides what it can still do: its clock, what could have been sent.
    type Surroundings: Clone + Debug + Eq + Hash + Send + Sync;
    /// What was seen: the guarantees read nothing else.
    type History: Clone + Debug + Default + Eq + Hash + Send + Sync;
    /// How far a search goes.
    type Bounds: Clone + Debug + Send + Sync;

    /// What must hold of every history.
    const GUARANTEES: &'static [Statement<Self::History>];
    /// What some history must show, or the guarantees hold for want of anything that happens.
    const WITNESSES: &'static [Statement<Self::History>];
    /// Whether time passes while the process is down, too.
    const MOVES_WHILE_DOWN: bool = false;

    /// Before anything has happened.
    fn surroundings(bounds: &Self::Bounds) -> Self::Surroundings;
    /// Everything that can happen to a party that is up.
    fn calls(
        bounds: &Self::Bounds,
        around: &Self::Surroundings,
        history: &Self::History,
        each: &mut dyn FnMut(Self::Call),
    );
    /// Time passes or an operator does something, and no party is called.
    fn moves(
        bounds: &Self::Bounds,
        around: &Self::Surroundings,
        each: &mut dyn FnMut(Self::Surroundings),
    );
    /// A call was answered. The last `lost` of the outputs were not carried out.
    fn happened(
        around: &mut Self::Surroundings,
        history: &mut Self::History,
        call: &Self::Call,
        outputs: &[Self::Output],
        lost: usize,
    );
    /// Whether the process may die now.
    fn may_crash(around: &Self::Surroundings) -> bool;
    /// Whether something is lost with an output that is not carried out.
    fn leaves_trace(output: &Self::Output) -> bool;
    /// The process comes back, and these outputs were not carried out.
    fn restart(around: &Self::Surroundings, lost: &[Self::Output]) -> Self::Call;
    /// Drops what no later call reads, of a party that is up or down.
    fn forget_dead(
        account: &mut Self::Account,
        around: &mut Self::Surroundings,
        history: &mut Self::History,
        is_down: bool,
    );
}

/// A sentence about a history.
#[derive(Debug)]
pub struct Statement<H: 'static> {
    /// What it says.
    pub name: &'static str,
    /// The clauses that it follows from, with commas between.
    pub clauses: &'static str,
    /// Whether it holds.
    pub holds: fn(&H) -> bool,
}

/// The guarantees of a text, each a bit of `broken` in its `History`: an enum `Guarantee`, and `GUARANTEES`.
macro_rules! guarantees {
    ($($name:ident $clause:literal $says:literal;)*) => {
        #[derive(Clone, Copy, Debug)]
        #[repr(u8)]
        enum Guarantee { $(#[doc = $clause] $name),* }

        /// What must hold of every history.
        pub const GUARANTEES: &[$crate::engine::model::Statement<History>] =
            &[$($crate::engine::model::Statement { name: $says, clauses: $clause, holds: |it| it.broken >> Guarantee::$name as u8 & 1 == 0 }),*];
    };
}
pub(crate) use guarantees;

/// The situations that some history must show, as `WITNESSES`: each with the clauses that it is about, if it names any.
macro_rules! witnesses {
    ($($says:literal $(in $clauses:literal)? $holds:expr;)*) => {
        /// What some history must show.
        pub const WITNESSES: &[$crate::engine::model::Statement<History>] = &[$($crate::engine::model::Statement {
            name: $says,
            clauses: concat!($($clauses)?),
            holds: $holds,
        }),*];
    };
}
pub(crate) use witnesses;

/// Who is called in a search, or in a run.
pub trait Party<P: Protocol>: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// Every way in which it may take the call: what becomes of it, and what it puts out.
    fn answers(
        &self,
        variant: &Variant<P>,
        freedom: Freedom,
        call: &P::Call,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    );
    /// It died, and the last so many of its outputs were not carried out.
    fn dies(&mut self, _lost: usize) {}
    /// Whether everything that it did can be explained, where it is held to the text.
    fn conforms(&self) -> bool {
        true
    }
    /// Each account that it goes by or is judged by, where the search may drop dead data of it.
    fn accounts(&mut self, _: &mut dyn FnMut(&mut P::Account)) {}
}

/// A party within bounds.
#[derive(Clone, Debug)]
pub struct Model<P: Environment, Q> {
    /// The text.
    pub variant: Variant<P>,
    /// The party before anything has happened.
    pub party: Q,
    /// How far the search goes.
    pub bounds: P::Bounds,
    /// What a conforming party may choose.
    pub freedom: Freedom,
    /// Whether states that differ in dead data alone are one.
    pub forgets: bool,
}

/// A state of the search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<P: Environment, Q> {
    /// Who is called.
    pub party: Q,
    /// Who calls.
    pub around: P::Surroundings,
    /// What was seen.
    pub history: P::History,
    /// The process is down, and these outputs were not carried out.
    pub down: Option<Arc<[P::Output]>>,
}

/// An edge of the search.
#[derive(Clone)]
pub enum Action<P: Environment, Q> {
    /// The party answers, and dies before the last `lost` outputs are carried out. Where none is lost it lives.
    Call {
        /// What is said.
        call: P::Call,
        /// What becomes of the party, and what it puts out.
        answer: Arc<(Q, Vec<P::Output>)>,
        /// How many outputs are lost.
        lost: usize,
    },
    /// Nobody is called.
    Move(P::Surroundings),
}

impl<P: Environment, Q> Debug for Action<P, Q> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call {
                call,
                answer,
                lost: 0,
            } => write!(to, "{call:?} -> {:?}", answer.1),
            Self::Call { call, answer, lost } => {
                let (done, lost) = answer.1.split_at(answer.1.len() - lost);
                write!(to, "{call:?} -> {done:?}, dies before {lost:?}")
            }
            Self::Move(around) => write!(to, "{around:?}"),
        }
    }
}

impl<P: Environment, Q> PartialEq for Action<P, Q> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Call { call, answer, lost },
                Self::Call {
                    call: other,
                    answer: others,
                    lost: also,
                },
            ) => call == other && lost == also && answer.1 == others.1,
            (Self::Move(around), Self::Move(other)) => around == other,
            (Self::Call { .. }, Self::Move(_)) | (Self::Move(_), Self::Call { .. }) => false,
        }
    }
}

/// The property that the checker states of a party that is held to the text.
pub const CONFORMS: &str = "every output is explained by the text";

impl<P: Environment, Q: Party<P>> Model<P, Q> {
    /// Everything that can be said to the party.
    pub fn calls(&self, state: &State<P, Q>, each: &mut dyn FnMut(P::Call)) {
        match &state.down {
            Some(lost) => each(P::restart(&state.around, lost)),
            None => P::calls(&self.bounds, &state.around, &state.history, each),
        }
    }

    /// Every way in which the party takes the call, alive or dying.
    pub fn answers(&self, state: &State<P, Q>, call: &P::Call, each: &mut dyn FnMut(Action<P, Q>)) {
        let may_crash = state.down.is_none() && P::may_crash(&state.around);
        state
            .party
            .answers(&self.variant, self.freedom, call, &mut |party, outputs| {
                let answer = Arc::new((party, outputs));
                let outputs = &answer.1;
                // To die before an output that leaves no trace is to die after it.
                let is_death = |lost: &usize| {
                    *lost == outputs.len() || P::leaves_trace(&outputs[outputs.len() - lost])
                };
                let deaths = (1..=if may_crash { outputs.len() } else { 0 }).filter(is_death);
                for lost in deaths.chain([0]) {
                    each(Action::Call {
                        call: call.clone(),
                        answer: Arc::clone(&answer),
                        lost,
                    });
                }
            });
    }

    /// Everything that can happen without a call.
    pub fn moves(&self, state: &State<P, Q>, each: &mut dyn FnMut(Action<P, Q>)) {
        if state.down.is_none() || P::MOVES_WHILE_DOWN {
            P::moves(&self.bounds, &state.around, &mut |around| {
                each(Action::Move(around));
            });
        }
    }
}

impl<P: Environment, Q: Party<P>> Checkable for Model<P, Q> {
    type State = State<P, Q>;
    type Action = Action<P, Q>;

    fn init_states(&self) -> Vec<State<P, Q>> {
        let around = P::surroundings(&self.bounds);
        vec![State {
            party: self.party.clone(),
            around,
            history: P::History::default(),
            down: None,
        }]
    }

    fn actions(&self, state: &State<P, Q>, actions: &mut Vec<Action<P, Q>>) {
        if !state.party.conforms() {
            return;
        }
        self.calls(state, &mut |call| {
            self.answers(state, &call, &mut |action| actions.push(action));
        });
        self.moves(state, &mut |action| actions.push(action));
        if state.down.is_none() {
            // Of equally short runs the checker keeps the last, and what is said first is the plainest.
            actions.reverse();
        }
    }

    fn next_state(&self, before: &State<P, Q>, action: Action<P, Q>) -> Option<State<P, Q>> {
        let mut state = match action {
            Action::Move(around) => State {
                around,
                ..before.clone()
            },
            Action::Call { call, answer, lost } => {
                let (mut party, outputs) =
                    Arc::try_unwrap(answer).unwrap_or_else(|shared| (*shared).clone());
                let (mut around, mut history) = (before.around.clone(), before.history.clone());
                P::happened(&mut around, &mut history, &call, &outputs, lost);
                let down = (lost > 0).then(|| outputs[outputs.len() - lost..].into());
                if lost > 0 {
                    party.dies(lost);
                }
                State {
                    party,
                    around,
                    history,
                    down,
                }
            }
        };
        if self.forgets {
            let is_down = state.down.is_some();
            let (around, history) = (&mut state.around, &mut state.history);
            let mut forget = |account: &mut _| P::forget_dead(account, around, history, is_down);
            state.party.accounts(&mut forget);
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // A property is a function and no closure: one for each number.
        macro_rules! numbered {
            ($property:ident $list:ident $($number:literal)*) => {[$(
                P::$list.get($number).map(|it| Property::<Self>::$property(it.name, |_, state: &State<P, Q>| {
                    P::$list.get($number).is_some_and(|it| (it.holds)(&state.history))
                })),
            )*].into_iter().flatten()};
        }
        let mut properties = vec![Property::<Self>::always(
            CONFORMS,
            |_, state: &State<P, Q>| state.party.conforms(),
        )];
        properties.extend(numbered!(always GUARANTEES 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29));
        properties.extend(
            numbered!(sometimes WITNESSES 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23),
        );
        properties
    }
}
