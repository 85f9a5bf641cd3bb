//! Gatekeepers with many active tokens.

use countersign_reference::ids::SequentialIds;
use countersign_reference::mcp_aql::{
    AdapterName, Call, Capacity, ConfirmationToken, DangerLevel, Gatekeeper, Input, OperationName,
    Output, Parameters, Purpose, Settings,
};
use countersign_reference::time::Timestamp;

/// How long each of the tokens lives, its tolerance, and how long it is remembered after that, in milliseconds.
const LIFE: i64 = (900 + 30 + 900) * 1_000;

/// A gatekeeper with a number of active tokens, each for a call of its own.
pub struct Active {
    /// The gatekeeper.
    pub gatekeeper: Gatekeeper,
    ids: SequentialIds,
    now: i64,
    /// The tokens in the order of issue.
    tokens: Vec<ConfirmationToken>,
}

impl Active {
    /// A gatekeeper that has issued so many tokens.
    ///
    /// # Panics
    ///
    /// If the gatekeeper issues no token, which it has no reason not to.
    pub fn new(tokens: usize) -> Self {
        let settings = Settings {
            capacity: Capacity::new(10_000_000).expect("in bounds"),
            ..Settings::default()
        };
        let mut active = Self {
            gatekeeper: Gatekeeper::new(settings),
            ids: SequentialIds::new(),
            now: 1_779_632_540_000,
            tokens: Vec::with_capacity(tokens),
        };
        for number in 0..tokens {
            let outputs = active.handle(Input::Call(call(number)));
            active.tokens.push(issued(&outputs).expect("a token"));
        }
        active
    }

    /// How many tokens it has issued at first.
    pub fn count(&self) -> usize {
        self.tokens.len()
    }

    /// The call that one of the tokens is for, with it.
    pub fn retry(&self, number: usize) -> Input {
        Input::Call(Call {
            confirmation_token: Some(self.tokens[number].to_string()),
            ..call(number)
        })
    }

    /// A call in, outputs out.
    ///
    /// # Panics
    ///
    /// If the gatekeeper refuses, which it has no reason to.
    pub fn handle(&mut self, input: Input) -> Vec<Output> {
        let now = Timestamp::from_millis(self.now);
        let outcome = self.gatekeeper.handle(now, &mut self.ids, input);
        assert_eq!(outcome.refused, None);
        outcome.outputs
    }

    /// Time passes until every token can be forgotten. Nothing has happened since.
    pub fn let_all_expire(&mut self) {
        self.now += LIFE + 1;
    }
}

/// A call whose parameters differ from those of every other.
///
/// # Panics
///
/// Never: its names are constant and well-formed.
pub fn call(number: usize) -> Call {
    Call {
        adapter: Some(AdapterName::parse("github").expect("a name")),
        operation: OperationName::parse("delete_repo").expect("a name"),
        params: Parameters::new(params(number)),
        danger_level: DangerLevel::Destructive,
        session_id: None,
        session_scope: None,
        max_uses: 1,
        ttl_seconds: Some(900),
        confirmation_token: None,
        purpose: Purpose::Confirmation,
        reasons: None,
        confirmation_message: None,
    }
}

/// Three parameters of the usual size: 61 bytes.
fn params(number: usize) -> String {
    format!(r#"{{"repo": "widgets-{number:08}", "owner": "acme", "force": true}}"#)
}

fn issued(outputs: &[Output]) -> Option<ConfirmationToken> {
    let required = outputs.iter().find_map(Output::confirmation_required);
    required.map(|required| required.confirmation_token.clone())
}
