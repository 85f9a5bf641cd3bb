//! A text as an implementation: its producer, over the driver protocol.

use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::clause::ClauseSet;
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::facade::engine::Variation;
use countersign_model::facade::{self, Rule, Text};
use countersign_model::wire::Codec as _;
use countersign_protocol::{Answer, Common, Greeting, Op, Request, Response};
use countersign_reference::time::Timestamp;

use super::driver::{declaring_all, judging};
use super::{Spoken, Wire};
use crate::implementation::{Implementation, Lost, Maker};

/// The text of a protocol.
///
/// # Panics
///
/// Never: each protocol has a text.
pub fn text_of<P: Spoken>() -> &'static Text {
    facade::text(P::NAME).expect("the text is registered")
}

/// The rules that are seen to be left out: of each [`Producer::without`] gives who leaves it out.
pub fn ablated<P: Spoken>() -> impl Iterator<Item = &'static Rule> {
    let rules = text_of::<P>().rules.iter();
    let is_unseen = |name| P::UNSEEN.iter().any(|(unseen, _)| *unseen == name);
    rules.filter(move |rule| rule.free.is_none() && !is_unseen(rule.name))
}

/// The other rules, each with the reason why nobody sees that it is left out.
pub fn unseen<P: Spoken>() -> impl Iterator<Item = (&'static str, &'static str)> {
    let free = text_of::<P>().rules.iter();
    let free = free.filter_map(|rule| Some((rule.name, rule.free?)));
    free.chain(P::UNSEEN.iter().copied())
}

/// An implementation that answers as a variant of the text has it. Where a clause is left out it does the gravest that the clause forbids.
#[derive(Clone, Debug)]
pub struct Producer<P: Spoken> {
    variant: Variant<P>,
    codec: P::Codec,
    world: World<P>,
    /// The same text with every clause, as an implementation is judged by it.
    whole: Variant<P>,
    checker: Checker<P>,
}

impl<P: Spoken> Default for Producer<P> {
    /// One that answers as the text stands.
    fn default() -> Self {
        Self::new(Variant::default())
    }
}

impl<P: Spoken> Producer<P> {
    /// One that answers as this text has it.
    ///
    /// # Panics
    ///
    /// Where the text is that of another protocol.
    pub fn of(text: &dyn facade::Model) -> Self {
        let text: Option<&Variation<P>> = text.as_any().downcast_ref();
        Self::new(text.expect("it is of this protocol").variant.clone())
    }

    /// One that leaves a rule out.
    ///
    /// # Panics
    ///
    /// Never: the usual bounds are in range.
    pub fn without(rule: &'static Rule) -> Self {
        let text = text_of::<P>();
        let [_, small] = text.usual_bounds;
        let text = (text.within)(small).expect("the usual bounds are in range");
        Self::of(&*text.with(&[rule], &[]))
    }

    /// What it declares: everything.
    pub fn greeting() -> Greeting<Wire<P>> {
        declaring_all::<P>("model")
    }

    fn new(variant: Variant<P>) -> Self {
        let greeting = Self::greeting();
        let account = P::declared(&greeting);
        Self {
            codec: P::Codec::default(),
            world: World::new(account.clone()),
            whole: judging(&greeting, variant.reading),
            checker: Checker::new(account),
            variant,
        }
    }

    fn answer(&mut self, call: &P::Call) -> Vec<P::Output> {
        let freedoms = if self.variant.left_out == ClauseSet::EMPTY {
            &[Freedom::Default][..]
        } else {
            &[Freedom::Default, Freedom::May]
        };
        // The gravest of what is wrong, or else what is right, the default first.
        let (mut answer, mut gravest) = (None, u8::MAX);
        for freedom in freedoms {
            self.world
                .answers(&self.variant, *freedom, call, |world, outputs| {
                    let mut checker = self.checker.clone();
                    let gravity = match checker.observe(&self.whole, call, &outputs) {
                        Judgement::Found(it) => P::gravity(it.mismatch.output()),
                        Judgement::Conforms | Judgement::TooManyExplanations => u8::MAX,
                    };
                    if gravity < gravest || answer.is_none() {
                        answer = Some((world, checker, outputs));
                        gravest = gravity;
                    }
                });
        }
        let Some((world, checker, outputs)) = answer else {
            return Vec::new();
        };
        (self.world, self.checker) = (world, checker);
        outputs
    }
}

impl<P: Spoken> Implementation<Wire<P>> for Producer<P> {
    fn start(&mut self) -> Result<(), Lost> {
        *self = Self::new(self.variant.clone());
        Ok(())
    }

    fn ask(&mut self, request: Request<Wire<P>>) -> Result<Response<Wire<P>>, Lost> {
        let now = request.now.as_deref().map(Timestamp::parse);
        let answer = match (&request.op, now) {
            (Op::Common(Common::Hello { .. }), _) => Answer::Greeting(Self::greeting()),
            (op, Some(Ok(now))) => {
                if matches!(op, Op::Common(Common::Reset {})) {
                    self.start()?;
                }
                let call = self.codec.call(now.millis(), op);
                let outputs = self.answer(&call);
                let outputs = self.codec.responses(&outputs);
                Answer::Outputs { outputs }
            }
            (_, Some(Err(_)) | None) => Answer::Unsupported,
        };
        Ok(Response {
            id: Some(request.id),
            answer,
        })
    }

    fn maker(&self) -> Option<Maker<Self>> {
        let variant = self.variant.clone();
        Some(Box::new(move || Self::new(variant.clone())))
    }
}
