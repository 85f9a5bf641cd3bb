//! What commands need of pending actions: the clauses by which something can be left out, and the bounds by their names.

use crate::checker::StepText;
use crate::facade::Rule;
use crate::facade::engine::{Catalog, Size, Step, rules, sizes};
use crate::numbers::{Number, Value};
use crate::pending_action::PendingAction;
use crate::pending_action::alphabet::Output;
use crate::pending_action::describe;
use crate::pending_action::environment::Bounds;
use crate::pending_action::readings::{AMBIGUITIES, Reading};
use crate::readings::Place;

impl Catalog for PendingAction {
    const NAME: &'static str = "pending-action";
    const RULES: &'static [Rule] = RULES;
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

    fn describe(run: &[Step<Self>]) -> Vec<StepText> {
        describe::run(run)
    }

    fn output_text(output: &Output) -> String {
        describe::output(output)
    }
}

sizes! {
    "actions" actions 1 3;
    "ticks" ticks 0 8;
    "set back" set_back 0 3;
    "crash" crashes 0 3;
    "rollback" rollbacks 0 3;
    flags
    "proposals" every_proposal;
    "decisions" every_decision;
    "ends" endings;
}

rules! {
    "PA-1" "every proposal is recorded with its id, and nothing runs before its decision"
        ["matches-by-position", "honours-unknown", "honours-other-nonce", "runs-unasked", "proposes-malformed", "records-late", "forgets-pending"];
    "PA-2" "only who may decide resolves an action, by a structured decision"
        ["honours-stranger", "spends-on-ignored"];
    "PA-3" "an allow runs the call as it was proposed"
        ["runs-edited", "runs-rewritten", "finishes-unreleased", "drops-idempotent"];
    "PA-4" "the transcript has each call that was allowed, and its result"
        ["allows-silently", "finishes-silently"];
    "PA-5" "what was denied or cancelled, by itself or with its session, does not run"
        ["honours-cancelled", "proposes-after-end", "outlives-session", "begins-after-end", "repeats-after-end"];
    "PA-6" "a deny appends the denied result" ["denies-silently"];
    "PA-7" "an expired action does not run"
        ["honours-expired", "waits-for-timer", "expires-early", "turns-clock-back", "proposes-expired"];
    "PA-8" "an action is decided once and runs once, over restart and rollback"
        ["honours-repeated", "allows-after-deny", "denies-after-allow", "decides-apart", "cancels-resolved", "finishes-twice", "repeats-after-restart", "forgets-since-snapshot"];
    "PA-9" "the visible message shows the summary and a short label" ["exposes-arguments"];
    "PA-10" "what happened is told, in order and once, and nothing else is"
        ["ignores-unaudited", "misnames-ignored", "expires-silently", "expires-as-denied", "cancels-silently", "decides-silently", "forgets-released", "forgets-untold", "settles-before-telling", "takes-withdrawn-for-unrun"];
    "PA-11" "free text is appended, and resolves nothing" ["takes-text-for-decision"];
    "PA-12" "a host can keep, restore and end the ledger without hidden context";
    "PA-13" "the effect of a call is one that the contract knows";
    "PA-14" "a call that only reads may run without being asked about"
        free "It permits, and whoever asks about every call does no wrong.";
}
