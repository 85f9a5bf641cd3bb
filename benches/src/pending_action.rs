//! Ledgers with many actions pending.

use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{
    ActionId, Decide, Decision, Effect, Input, Ledger, Output, Propose, Settings, Text,
};
use countersign_reference::time::Timestamp;

/// A ledger with actions pending, and what is needed to decide about them.
#[derive(Clone)]
pub struct Pending {
    /// The ledger.
    pub ledger: Ledger,
    ids: SequentialIds,
    /// The actions in the order of proposing.
    pub action_ids: Vec<ActionId>,
}

impl Pending {
    /// Proposes so many calls. What each leads to goes to `each`.
    ///
    /// # Panics
    ///
    /// If the ledger refuses, which it has no reason to.
    pub fn new(count: usize, mut each: impl FnMut(Vec<Output>)) -> Self {
        let mut pending = Self {
            ledger: Ledger::new(Settings::default()),
            ids: SequentialIds::new(),
            action_ids: Vec::with_capacity(count),
        };
        for number in 0..count {
            let outputs = pending.happens(Input::Propose(proposal(number)));
            each(outputs);
            pending.has_carried();
        }
        let actions = pending.ledger.actions().iter();
        pending.action_ids = actions.map(|action| action.action_id).collect();
        pending
    }

    /// That somebody allows one of them.
    pub fn allow(&self, number: usize) -> Input {
        Input::Decide(Decide {
            action_id: self.action_ids[number].to_string(),
            nonce: None,
            decision: Decision::Allow,
            by: "ana".into(),
            arguments: None,
        })
    }

    /// All that has come out is carried out.
    pub fn has_carried(&mut self) {
        self.ledger.carried(self.ledger.recorded());
    }

    /// Lets something happen that there is no reason to refuse.
    ///
    /// # Panics
    ///
    /// If it is refused all the same.
    pub fn happens(&mut self, input: Input) -> Vec<Output> {
        let now = Timestamp::from_millis(1_779_632_540_000);
        let outcome = self.ledger.handle(now, &mut self.ids, input);
        assert_eq!(outcome.refused, None);
        outcome.outputs
    }
}

fn proposal(number: usize) -> Propose {
    Propose {
        agent_id: "menta".into(),
        session_id: format!("chat {}", number / 10),
        run_id: "run 1".into(),
        tool: "carpeta/delete-potreros".into(),
        arguments: Text::new(format!(r#"{{"ids": [{number}], "confirm": true}}"#)),
        effect: Effect::Destructive,
        summary: "¿Borro este potrero?".into(),
        label: "Sí, borrar".into(),
        expires_at: None,
        deciders: None,
        idempotent: false,
    }
}
