//! The text of the ledger as an implementation: its producer, over the wire.

use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::clause::ClauseSet;
use countersign_model::engine::protocol::{Protocol as _, Variant};
use countersign_model::engine::world::{Freedom, World};
use countersign_model::facade;
use countersign_model::facade::engine::Variation;
use countersign_model::pending_action::PendingAction as Spec;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::alphabet::{Call, Output};
use countersign_model::pending_action::wire::Names;
use countersign_protocol::pending_action::PendingAction;
use countersign_protocol::{Answer, Common, Greeting, Op, Request, Response};
use countersign_reference::time::Timestamp;

use super::Driver;
use super::driven::{declaring_all, judging};
use crate::implementation::{Implementation, Lost, Maker};
use crate::suite::party::Answering;

impl Answering for Driver {
    type Party = Producer;

    fn greeting() -> Greeting<PendingAction> {
        declaring_all("model")
    }

    fn unseen() -> Vec<(&'static str, &'static str)> {
        vec![(
            "PA-13",
            "every effect that the driver protocol has a word for is one that the contract knows",
        )]
    }

    fn party(text: &dyn facade::Model) -> Producer {
        let text: Option<&Variation<Spec>> = text.as_any().downcast_ref();
        Producer::new(text.map_or_else(Variant::default, |it| it.variant.clone()))
    }
}

/// A ledger that answers as a variant of the text has it. Where a clause is left out it does the gravest that the clause forbids.
#[derive(Clone, Debug)]
pub struct Producer {
    variant: Variant<Spec>,
    names: Names,
    world: World<Spec>,
    /// The same text with every clause, as an implementation is judged by it.
    whole: Variant<Spec>,
    checker: Checker<Spec>,
}

impl Producer {
    fn new(variant: Variant<Spec>) -> Self {
        Self {
            names: Names::default(),
            world: World::new(Account::default()),
            whole: judging(&Driver::greeting(), variant.reading),
            checker: Checker::new(Account::default()),
            variant,
        }
    }

    fn answer(&mut self, call: &Call) -> Vec<Output> {
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
                        Judgement::Found(it) => Spec::gravity(it.mismatch.output()),
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

impl Implementation<PendingAction> for Producer {
    fn start(&mut self) -> Result<(), Lost> {
        *self = Self::new(self.variant.clone());
        Ok(())
    }

    fn ask(&mut self, request: Request<PendingAction>) -> Result<Response<PendingAction>, Lost> {
        let now = request.now.as_deref().map(Timestamp::parse);
        let answer = match (&request.op, now) {
            (Op::Common(Common::Hello { .. }), _) => Answer::Greeting(Driver::greeting()),
            (op, Some(Ok(now))) => {
                if matches!(op, Op::Common(Common::Reset {})) {
                    self.start()?;
                }
                let call = self.names.call(now.millis(), op);
                let outputs = self.answer(&call);
                let outputs = self.names.responses(&outputs);
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
