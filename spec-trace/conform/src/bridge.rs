//! The bridge between the two readings of one protocol.
//!
//! The one thing to know: a protocol moves in by implementing [`Execution`] in the `mod.rs` of its folder, as it does in the
//! model by implementing [`Modelled`]; [`Bridge`] is what the walks then go over.

use std::fmt::Debug;
use std::hash::Hasher;

use countersign_model::bounds::BoundsError;
use countersign_model::checker::StepText;
use countersign_model::judge::Finding;
use countersign_model::judged::{CallTold, Told};
use countersign_model::rules::Rules;
use countersign_model::specification::{Modelled, Specification};
use serde::Serialize;

use super::{Disagreement, Sides, Unexplained, naming};

/// How the executor of one protocol takes the steps of its model. What implements this is the environment of the
/// executor: what the model's names stand for, and what the host has chosen.
pub trait Execution: Sized + Send + Sync {
    /// The protocol, as the model has it.
    type Protocol: Modelled;
    /// An executor together with the part of its environment that holds what it has put out.
    type Host: Clone + Send + Sync;
    /// What of a call is needed to judge what came of it.
    type Call: Clone;
    /// One thing that the executor puts out.
    type Output: Clone + PartialEq + Debug + Serialize;
    /// Why the executor refuses a call.
    type Refusal: Clone + PartialEq + Debug;

    /// Bounds for random runs: as far as the model goes, beyond any exhaustive walk.
    const FAR: <Self::Protocol as Modelled>::Bounds;
    /// Bounds for the walk over the literal model, which shows the executor each message as it was sent.
    const LITERAL: <Self::Protocol as Modelled>::Bounds;
    /// Bounds of further walks, for what the presets that every protocol has go without; none where they have all.
    const ASIDE: &'static [<Self::Protocol as Modelled>::Bounds] = &[];

    /// The environment in which the executor goes by the specification's reading, and by what these bounds limit.
    fn specified(bounds: &<Self::Protocol as Modelled>::Bounds) -> Self;

    /// The environment in which the executor takes the text so; nothing where that is not for its host to choose.
    fn taking(
        bounds: &<Self::Protocol as Modelled>::Bounds,
        reading: &<Self::Protocol as Modelled>::Reading,
    ) -> Option<Self> {
        (*reading == Self::Protocol::reading_within(bounds)).then(|| Self::specified(bounds))
    }

    /// The executor at the start of every run.
    fn start(&self) -> Self::Host;

    /// Makes the calls that the step is; none for a step of the world around the executor.
    ///
    /// # Errors
    ///
    /// A [`Disagreement`] where the executor cannot be called, or does not come back from a crash as it was.
    fn call(
        bridge: &Bridge<Self>,
        state: &State<Self>,
        host: &mut Self::Host,
        action: Action<Self>,
    ) -> Result<Vec<AnsweredBy<Self>>, Disagreement>;

    /// What came of the calls, in the model's words.
    ///
    /// # Errors
    ///
    /// [`Unexplained`] for the first output that the model has no word for.
    fn seen(
        bridge: &Bridge<Self>,
        state: &State<Self>,
        host: &mut Self::Host,
        action: Action<Self>,
        answers: &[AnsweredBy<Self>],
    ) -> Result<Vec<Word<Self>>, Unexplained>;

    /// Holds what came of the calls, and what the executor holds after them, against the model's step; the state that the
    /// model comes to.
    ///
    /// # Errors
    ///
    /// A [`Disagreement`] where the two differ in what came out or in what became of the state.
    fn compare(
        bridge: &Bridge<Self>,
        state: &State<Self>,
        host: &mut Self::Host,
        action: Action<Self>,
        answers: &[AnsweredBy<Self>],
    ) -> Result<State<Self>, Disagreement>;

    /// Feeds all that can make a difference to what this host will do, as for [`Sides::identity`].
    fn identity(host: &Self::Host, hasher: &mut impl Hasher);
}

/// A call that was made, and what came of it.
#[derive(Clone, Debug)]
pub struct Answered<C, O, R> {
    /// The call.
    pub call: C,
    /// What the executor put out, in order.
    pub outputs: Vec<O>,
    /// Why it refused the call, if it did.
    pub refused: Option<R>,
}

/// A call of this protocol's executor.
pub type AnsweredBy<E> =
    Answered<<E as Execution>::Call, <E as Execution>::Output, <E as Execution>::Refusal>;

/// A state of the model that is carried out so.
pub type State<E> = <<E as Execution>::Protocol as Modelled>::State;

/// A step of the model that is carried out so.
pub type Action<E> = <<E as Execution>::Protocol as Modelled>::Action;

/// What can come out of a step of the model that is carried out so.
pub type Word<E> = <Told<<E as Execution>::Protocol> as CallTold>::Output;

/// The model and the executor of one protocol, side by side.
pub struct Bridge<E: Execution> {
    pub(super) model: Specification<E::Protocol>,
    pub(super) environment: E,
    pub(super) start: E::Host,
}

impl<E: Execution> Bridge<E> {
    /// Both sides within these bounds, by the rules and the reading of the specification.
    ///
    /// # Errors
    ///
    /// A bound that is out of its range.
    pub fn new(bounds: <E::Protocol as Modelled>::Bounds) -> Result<Self, BoundsError> {
        let environment = E::specified(&bounds);
        Ok(Self::of(Specification::new(bounds)?, environment))
    }

    /// Both sides within these bounds, by the rules of the specification, taking the text so; nothing where the executor has no choice
    /// of it.
    ///
    /// # Errors
    ///
    /// A bound that is out of its range.
    pub fn taking(
        bounds: <E::Protocol as Modelled>::Bounds,
        reading: <E::Protocol as Modelled>::Reading,
    ) -> Result<Option<Self>, BoundsError> {
        let model = Specification::new(bounds)?.with(Rules::all(), reading);
        let environment = E::taking(&bounds, &reading);
        Ok(environment.map(|environment| Self::of(model, environment)))
    }

    /// This model and an executor in this environment.
    pub(super) fn of(model: Specification<E::Protocol>, environment: E) -> Self {
        let start = environment.start();
        Self {
            model,
            environment,
            start,
        }
    }

    /// Both sides for random runs, literal: as far as the model goes.
    ///
    /// # Panics
    ///
    /// Never: [`Execution::FAR`] is in range.
    pub fn far() -> Self {
        let bridge = Self::new(E::FAR).expect("constant bounds are in range");
        bridge.literal()
    }

    /// The same over the literal model: messages arrive as they were sent, also where the model can no longer tell what they
    /// say, and the executor's state is compared in full.
    #[must_use]
    pub fn literal(self) -> Self {
        Self {
            model: self.model.literal(),
            ..self
        }
    }

    /// The same with a rule left out of the model, so that the executor, which has it, is seen to differ.
    #[must_use]
    pub fn without(self, guard: <E::Protocol as Modelled>::Guard) -> Self {
        let rules = Rules::all().without(guard);
        Self {
            model: self.model.with(rules, self.model.reading),
            ..self
        }
    }

    /// The model side.
    pub fn model(&self) -> &Specification<E::Protocol> {
        &self.model
    }
}

impl<E: Execution> Sides for Bridge<E> {
    type State = State<E>;
    type Action = Action<E>;
    type Host = E::Host;

    fn begin(&self) -> (State<E>, E::Host) {
        (self.model.start(), self.start.clone())
    }

    fn actions(&self, state: &State<E>, actions: &mut Vec<Action<E>>) {
        E::Protocol::enabled(&self.model, state, actions);
    }

    fn step(
        &self,
        state: &State<E>,
        host: &mut E::Host,
        action: Action<E>,
    ) -> Result<State<E>, Disagreement> {
        let answers = E::call(self, state, host, action)?;
        E::compare(self, state, host, action, &answers)
    }

    fn broken_by(&self, run: &[Action<E>], ahead: usize) -> Option<Finding> {
        naming::broken_by(self, run, ahead)
    }

    fn identity(&self, host: &E::Host, hasher: &mut impl Hasher) {
        E::identity(host, hasher);
    }

    fn describe(&self, state: &State<E>, action: Action<E>) -> StepText {
        self.model.in_words(state, action)
    }
}
