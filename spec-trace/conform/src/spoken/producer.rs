//! A text as an implementation: its producer, over the driver protocol.

use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::clause::ClauseSet;
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::facade;
use countersign_model::facade::engine::Variation;
use countersign_model::wire::Codec as _;
use countersign_protocol::{Answer, Common, Greeting, Op, Request, Response};
use countersign_reference::time::Timestamp;

use super::driver::{declaring_all, judging};
use super::{Driver, Spoken, Wire};
use crate::implementation::{Implementation, Lost, Maker};
use crate::suite::party::Answering;

impl<P: Spoken> Answering for Driver<P> {
    type Party = Producer<P>;

    fn greeting() -> Greeting<Wire<P>> {
        declaring_all::<P>("model")
    }

    fn unseen() -> Vec<(&'static str, &'static str)> {
        P::UNSEEN.to_vec()
    }

    fn party(text: &dyn facade::Model) -> Producer<P> {
        let text: Option<&Variation<P>> = text.as_any().downcast_ref();
        Producer::new(text.map_or_else(Variant::default, |it| it.variant.clone()))
    }
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

impl<P: Spoken> Producer<P> {
    fn new(variant: Variant<P>) -> Self {
        Self {
            codec: P::Codec::default(),
            world: World::new(P::Account::default()),
            whole: judging(&Driver::<P>::greeting(), variant.reading),
            checker: Checker::new(P::Account::default()),
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
            (Op::Common(Common::Hello { .. }), _) => Answer::Greeting(Driver::<P>::greeting()),
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
