//! A store with a ledger beside it, and what can be made to happen to them.

use std::fmt::Debug;

use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{
    Action, ActionId, Decide, Decision, Effect, Input, Ledger, Output, Propose, Record, Settings,
    Text,
};
use countersign_reference::time::Timestamp;
use countersign_store::Store;

/// When everything happens.
pub fn now() -> Timestamp {
    Timestamp::from_millis(1_779_632_540_000)
}

/// A store and the ledger whose journal it keeps.
pub struct Stage {
    pub store: Store,
    pub ledger: Ledger,
    ids: SequentialIds,
}

impl Stage {
    /// With a ledger that goes on where the store was left.
    pub fn on(store: Store) -> Self {
        let ledger = store.ledger(Settings::default(), None);
        Self {
            store,
            ledger: ledger.expect("a journal"),
            ids: SequentialIds::new(),
        }
    }

    /// What comes out, and is not durable yet.
    pub fn happens(&mut self, input: Input) -> Vec<Output> {
        let outcome = self.ledger.handle(now(), &mut self.ids, input);
        assert_eq!(outcome.refused, None);
        outcome.outputs
    }

    /// Lets something happen, makes it durable and carries it out.
    pub fn does(&mut self, input: Input) -> Vec<Output> {
        let outputs = self.happens(input);
        let appended = self
            .store
            .append(&records(&outputs), self.ledger.watermark());
        appended.expect("a store that works");
        self.ledger.carried(self.ledger.recorded());
        outputs
    }

    /// Proposes so many calls, and allows every second one.
    pub fn fill(&mut self, actions: usize) {
        for number in 0..actions {
            let action_id = action_id(&self.does(proposal(number)));
            if number % 2 == 0 {
                self.does(decision(action_id, Decision::Allow));
            }
        }
    }
}

/// A proposal that differs from every other.
pub fn proposal(number: usize) -> Input {
    Input::Propose(Propose {
        agent_id: "menta".into(),
        session_id: "s1".into(),
        run_id: "run 1".into(),
        tool: "carpeta/delete-potreros".into(),
        arguments: Text::new(format!("{{\"ids\" : [{number}],\t\"confirm\":true}}")),
        effect: Effect::Destructive,
        summary: "¿Borro este potrero?".into(),
        label: "Sí, borrar".into(),
        expires_at: None,
        deciders: None,
        idempotent: false,
    })
}

pub fn decision(action_id: ActionId, decision: Decision) -> Input {
    Input::Decide(Decide {
        action_id: action_id.to_string(),
        nonce: None,
        decision,
        by: "ana".into(),
        arguments: None,
    })
}

/// The action that was just proposed.
pub fn action_id(outputs: &[Output]) -> ActionId {
    let created = outputs.iter().find_map(|output| {
        let Output::Event(event) = output else {
            return None;
        };
        Some(event.action_id)
    });
    created.expect("an event")
}

pub fn records(outputs: &[Output]) -> Vec<Record> {
    outputs.iter().filter_map(Output::record).cloned().collect()
}

/// What a store that was opened again holds.
pub fn actions(store: &Store) -> Vec<Action> {
    let ledger = store.ledger(Settings::default(), None);
    ledger.expect("a journal").actions().to_vec()
}

/// What went wrong, in words.
#[track_caller]
pub fn words<T: Debug, E: ToString>(result: Result<T, E>) -> String {
    result.expect_err("a failure").to_string()
}
