//! The reference ledger in a random run.

use std::rc::Rc;

use countersign_model::engine::party::Executor as _;
use countersign_model::pending_action::text::PendingAction as Spec;
use countersign_model::pending_action::text::alphabet::{Lost, Op};
use countersign_model::pending_action::wire::Names;
use countersign_protocol::Greeting;
use countersign_protocol::pending_action::Capability;
use countersign_reference::pending_action::Settings;

use super::Driver;
use super::step::Step;
use crate::checked::Checked;
use crate::driven::Driven as _;
use crate::pending_action::executor::Reference;
use crate::wide::Shown;

/// The ledger, and what it is asked over the driver protocol.
pub struct Host {
    driver: Driver,
    ledger: Reference,
    /// The names of the ledger.
    names: Names,
}

impl Host {
    pub(super) fn new(settings: Settings) -> Self {
        let greeting = Greeting {
            name: "reference".to_owned(),
            supports: [
                Capability::Cancel,
                Capability::Restart,
                Capability::Snapshot,
                Capability::Say,
                Capability::Idempotent,
            ]
            .into(),
            shows: None,
        };
        Self {
            driver: Driver::begin(&Rc::new(greeting)),
            ledger: Reference::new(settings),
            names: Names::default(),
        }
    }

    /// Takes a step; nothing where there is nothing that it could be about.
    pub(super) fn take_step(&mut self, step: Step) -> Option<Shown<Checked<Spec>>> {
        let asked = self.driver.ask(&step)?;
        let call = self.names.call(asked.now, &asked.op);
        if let Op::Restart(Lost::Outputs(lost)) = &call.op {
            self.ledger.dies(lost.len());
        }
        let outputs = self.ledger.call(&call);
        let response = self.names.responses(&outputs);
        let outputs = self.driver.take(&asked.call, &response).ok()?;
        Some(Shown {
            now: asked.now,
            call: asked.call,
            outputs: outputs.into_iter().flatten().collect(),
        })
    }
}
