//! What commands need of pending actions: the clauses by which something can be left out, and the bounds by their names.

use crate::facade::engine::{Catalog, Size, sizes};
use crate::facade::run::Step;
use crate::numbers::{Number, Value};
use crate::pending_action::PendingAction;
use crate::pending_action::alphabet::{Call, Output};
use crate::pending_action::describe;
use crate::pending_action::environment::Bounds;
use crate::pending_action::readings::{AMBIGUITIES, Reading};
use crate::readings::Place;

impl Catalog for PendingAction {
    const NAME: &'static str = "pending-action";
    const PLACES: &'static [Place<Reading>] = AMBIGUITIES;
    const NUMBERS: &'static [Number<Reading>] = &[Number {
        name: "decisions.most",
        clauses: &["PA-8"],
        what: "how often an action is decided on",
        value: Value::fixed(
            "1",
            "it is a rule of the model, which can be left out; when an action expires its proposal says",
        ),
    }];
    const WORLDS: &'static [(&'static str, Bounds)] = &Bounds::WORLDS;
    const OTHER_WORLDS: &'static [(&'static str, Bounds)] = &Bounds::OTHER_WORLDS;
    const SIZES: &'static [Size<Bounds>] = SIZES;
    const LONGEST: usize = 7;

    const PARTY: &'static str = "ledger";

    fn at(step: &Step<Self>) -> i64 {
        match step {
            Step::Call { call, .. } => call.now,
            Step::Move(around) => around.clock,
        }
    }

    fn said(call: &Call) -> (String, String) {
        describe::said(call)
    }

    fn time(at: i64) -> String {
        format!("t={at}")
    }

    fn becomes(output: &Output) -> Option<(String, &'static str)> {
        describe::becomes(output)
    }

    fn output_text(output: &Output) -> String {
        describe::output(output)
    }
}

sizes! {
    "actions" actions 1 3;
    "ticks" ticks 0 8;
    "set_back" set_back 0 3;
    "crash" crashes 0 3;
    "rollback" rollbacks 0 3;
    flags
    "proposals" every_proposal;
    "decisions" every_decision;
    "ends" endings;
}
