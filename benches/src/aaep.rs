//! Producers with many questions outstanding.

use countersign_reference::aaep::{
    Action, ActionId, Ask, Capabilities, Decision, Input, Output, Payload, Producer, ReplyToken,
    RiskLevel, Sender, SessionId, Settings, SubscriptionId,
};
use countersign_reference::ids::SequentialIds;
use countersign_reference::time::Timestamp;

/// A producer with a number of confirmations outstanding, and what is needed to answer them.
#[derive(Clone)]
pub struct Outstanding {
    /// The producer.
    pub producer: Producer,
    /// Its source of ids.
    pub ids: SequentialIds,
    /// The time of the last call.
    pub now: Timestamp,
    /// The tokens of the confirmations, in the order of asking.
    pub tokens: Vec<ReplyToken>,
    subscription: SubscriptionId,
}

impl Outstanding {
    /// Asks so many times, with timeouts far away.
    ///
    /// # Panics
    ///
    /// If the producer refuses, which it has no reason to.
    pub fn new(confirmations: usize) -> Self {
        let subscription = SubscriptionId::parse("sub_bench").expect("a well-formed id");
        let session = SessionId::parse("sess_bench").expect("a well-formed id");
        let mut outstanding = Self {
            producer: Producer::new(Settings::default()),
            ids: SequentialIds::new(),
            now: Timestamp::from_millis(1_779_632_540_000),
            tokens: Vec::with_capacity(confirmations),
            subscription: subscription.clone(),
        };
        outstanding.call(Input::StartSession {
            session_id: Some(session.clone()),
        });
        outstanding.call(Input::Subscribe {
            subscription_id: subscription,
            capabilities: Capabilities {
                supports_confirmation_reply: true,
            },
        });
        for number in 0..confirmations {
            let ask = ask(&session, number);
            for output in outstanding.call(Input::Confirm(ask)) {
                if let Output::Emit(event) = output
                    && let Payload::AwaitingConfirmation { reply_token, .. } = event.payload
                {
                    outstanding.tokens.push(reply_token);
                }
            }
        }
        assert_eq!(outstanding.tokens.len(), confirmations);
        outstanding
    }

    /// The bytes of a reply to one of the confirmations.
    pub fn reply(&self, number: usize, decision: &str) -> Vec<u8> {
        format!(
            r#"{{"type":"confirmation.reply","reply_token":"{}","decision":"{decision}","subscription_id":"{}","timestamp":"{}","decided_by":"user:bench"}}"#,
            self.tokens[number], self.subscription, self.now
        )
        .into_bytes()
    }

    /// Bytes in, outputs out.
    pub fn deliver(&mut self, message: Vec<u8>) -> Vec<Output> {
        let sender = Sender {
            subscription_id: Some(self.subscription.clone()),
            authenticated: true,
        };
        self.call(Input::Deliver { sender, message })
    }

    fn call(&mut self, input: Input) -> Vec<Output> {
        let outcome = self.producer.handle(self.now, &mut self.ids, input);
        assert_eq!(outcome.refused, None);
        outcome.outputs
    }
}

fn ask(session: &SessionId, number: usize) -> Ask {
    Ask {
        session_id: session.clone(),
        action: Action {
            id: ActionId::parse(&format!("action{number}")).expect("a well-formed id"),
            tool: "transfer_funds".into(),
            description: "Transfer 500 to savings".into(),
            consequence: "The money leaves the account".into(),
            risk_level: RiskLevel::High,
            irreversible: true,
        },
        timeout_seconds: 86_400,
        default_decision: Decision::Reject,
        allowed_replies: None,
    }
}
