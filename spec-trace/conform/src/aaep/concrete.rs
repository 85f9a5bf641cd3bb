//! From the model's words to the wire: real ids, real times, real bytes.
//!
//! The one thing to know: for the executor one tick of the model is one second, so that a timeout of one tick is the
//! shortest that the protocol has; a reply can be late by exactly nothing, and in time or late by a millisecond.

use std::sync::Arc;

use countersign_model::aaep::action::Action;
use countersign_model::aaep::message::{Message, Shape, Token};
use countersign_model::aaep::state::State;
use countersign_model::aaep::words::{
    AllowedReplies, Clarifies, Class, Decision, Piece, Response, Risk, SLOTS, SUBSCRIBERS,
    SessionName, SessionOutcome, Slot, Subscriber, Takes,
};
use countersign_model::time::Scale;
use countersign_reference::aaep as executor;
use countersign_reference::aaep::{
    ActionId, AgentId, Choice, Chunk, Handoff, Identity, Input, OutputId, Reply, ReplyToken,
    ResponseKind, Run, SessionId, Settings, SubscriptionId, TargetKind, ToolCallId, ToolStatus,
    UserResponse,
};
use countersign_reference::time::Timestamp;

use super::account::{Account, capabilities};

/// The start of every run: 2026-05-24T14:22:20Z.
const START: i64 = 1_779_632_540_000;

/// What a reply to a clarification says on the wire, by the place of its [`Response`]. A number is kept as it is written.
const RESPONSES: [&str; 3] = [r#""left""#, r#""neither""#, "-1.50e2"];

/// What there is to choose from; of the responses, one is among it.
const CHOICES: [&str; 2] = ["left", "right"];

/// What is taken for the answer when nobody answers.
pub const DEFAULT_RESPONSE: &str = "as always";

/// What a chunk of output says, but for the last of session B, which says nothing; and how many characters that is, which is not as
/// many as it has bytes.
pub const CHUNK: &str = "ten \u{2713} more";
/// See [`CHUNK`].
pub const CHARACTERS: u64 = 10;

/// What the model's names stand for.
pub struct Environment {
    /// By `SessionName::index`.
    pub sessions: [SessionId; 2],
    /// By `Subscriber::index`.
    pub subscriptions: [SubscriptionId; SUBSCRIBERS],
    /// The actions that there are to ask about, by [`Slot::index`].
    pub actions: [ActionId; SLOTS],
    /// The questions that there are to ask, by [`Slot::index`].
    pub questions: [Arc<str>; SLOTS],
    /// The responses of the model, by their place, as the executor reads them.
    pub responses: [UserResponse; 3],
    /// The action of every tool that nobody is asked about.
    pub unasked: ActionId,
    /// The one output that a run has.
    pub output: OutputId,
    /// A token that no producer ever issued.
    pub guess: ReplyToken,
    /// What the host chose: nothing of it is what an executor has by itself, so that it cannot be lost unseen.
    pub settings: Settings,
    /// How long the model's times are.
    scale: Scale,
}

impl Environment {
    /// The environment in which times are so long.
    ///
    /// # Panics
    ///
    /// Never: the names are well formed.
    pub fn ticking(scale: Scale) -> Self {
        let session = |text| SessionId::parse(text).expect("a well-formed session id");
        let subscription = |text| SubscriptionId::parse(text).expect("a well-formed subscription");
        let action = |text| ActionId::parse(text).expect("a well-formed action id");
        Self {
            sessions: [session("sess_A"), session("sess_B")],
            subscriptions: ["sub_s1", "sub_s2", "sub_s3"].map(subscription),
            actions: [action("a1"), action("a2"), action("a3")],
            questions: ["Which way?", "Which way then?", "Which way at last?"].map(Arc::from),
            responses: RESPONSES.map(read_response),
            unasked: action("w1"),
            output: OutputId::parse("out_1").expect("a well-formed name"),
            guess: ReplyToken::parse("rpl_guessed").expect("a well-formed token"),
            settings: Settings {
                identity: Arc::new(Identity {
                    agent_id: AgentId::parse("agent \u{e9}").expect("a well-formed name"),
                    agent_version: Some("2.1".to_owned()),
                }),
                courtesy_notices: true,
                progress: true,
                modified_action: false,
            },
            scale,
        }
    }

    /// The time of a moment: that of the clock, or one that a sender claims.
    pub fn time(&self, moment: impl Into<i64>) -> Timestamp {
        Timestamp::from_millis(START + self.scale.millis(moment))
    }

    /// The moment that a time is, if it is one.
    pub fn moment(&self, time: Timestamp) -> Option<u8> {
        self.scale.moment(time.millis() - START)
    }

    /// The call into the executor that a step of the model is; nothing for a step of the world around it.
    pub(super) fn input(&self, account: &Account, state: &State, action: Action) -> Option<Input> {
        match action {
            Action::StartSession { session } => Some(Input::StartSession {
                session_id: Some(self.sessions[session.index()].clone()),
            }),
            Action::Open { subscriber } => Some(Input::Subscribe {
                subscription_id: self.subscriptions[subscriber.index()].clone(),
                capabilities: capabilities(subscriber),
            }),
            Action::Ask {
                session,
                class,
                timeout,
                same_action,
            } => Some(Input::Confirm(self.ask(
                account,
                session,
                class,
                timeout,
                same_action,
            ))),
            Action::Clarify {
                session,
                clarifies,
                timeout,
                same_question,
            } => Some(Input::Clarify(self.clarify(
                account,
                session,
                clarifies,
                timeout,
                same_question,
            ))),
            Action::Extend { slot, longer } => Some(Input::Extend {
                reply_token: self.token(account, Token::Of(slot)),
                timeout_seconds: u64::from(account.asked(slot)?.timeout.seconds())
                    + u64::from(longer),
            }),
            Action::Deliver { .. } | Action::Replay => {
                Some(self.deliver(account, action.message(state)?))
            }
            Action::ServeTimer => Some(Input::Tick),
            Action::Cancel { slot } => Some(Input::Cancel {
                reply_token: self.token(account, Token::Of(slot)),
            }),
            Action::EndSession { session, outcome } => Some(Input::EndSession {
                session_id: self.sessions[session.index()].clone(),
                outcome: match outcome {
                    SessionOutcome::Completed => executor::SessionOutcome::Completed,
                    SessionOutcome::Errored => executor::SessionOutcome::Errored,
                    SessionOutcome::Cancelled => executor::SessionOutcome::Cancelled,
                },
            }),
            Action::Close { subscriber } => Some(Input::Unsubscribe {
                subscription_id: self.subscriptions[subscriber.index()].clone(),
            }),
            Action::FinishTool { slot } => finish_tool(account, state, slot),
            Action::Crash => Some(Input::Restart {
                lost: account.lost(state),
            }),
            Action::Work(piece) => Some(self.work(state, piece)),
            // The producer that breaks a rule is the model's own; no call can ask the executor to.
            Action::Transgress(_)
            | Action::Answer { .. }
            | Action::Decide { .. }
            | Action::Duplicate { .. }
            | Action::Lose { .. }
            | Action::Change { .. }
            | Action::Forge(_)
            | Action::Tick
            | Action::CarryOut => None,
        }
    }

    fn ask(
        &self,
        account: &Account,
        session: SessionName,
        class: Class,
        timeout: u8,
        same_action: bool,
    ) -> executor::Ask {
        let slot = account.free_slot().filter(|_| !same_action);
        let action = slot.map_or(0, Slot::index);
        executor::Ask {
            session_id: self.sessions[session.index()].clone(),
            action: executor::Action {
                id: self.actions[action].clone(),
                tool: "transfer_funds".into(),
                description: "Transfer 500 to savings".into(),
                consequence: "The money leaves the account".into(),
                risk_level: match class.risk {
                    Risk::Low => executor::RiskLevel::Low,
                    Risk::Medium => executor::RiskLevel::Medium,
                    Risk::High => executor::RiskLevel::High,
                },
                irreversible: class.irreversible,
            },
            timeout_seconds: u64::from(timeout),
            default_decision: decision(class.default),
            allowed_replies: match class.allowed {
                // The default list, once by leaving it out and once in so many words.
                AllowedReplies::Both if class.irreversible => None,
                AllowedReplies::Both => Some(vec!["accept".to_owned(), "reject".to_owned()]),
                AllowedReplies::AcceptOnly => Some(vec!["accept".to_owned()]),
                AllowedReplies::RejectOnly => Some(vec!["reject".to_owned()]),
                AllowedReplies::RejectOrOwn => Some(vec!["reject".to_owned(), "later".to_owned()]),
            },
        }
    }

    fn clarify(
        &self,
        account: &Account,
        session: SessionName,
        clarifies: Clarifies,
        timeout: u8,
        same_question: bool,
    ) -> executor::Clarify {
        let slot = if same_question {
            account.first_clarification()
        } else {
            account.free_slot()
        };
        let (kinds, choices) = taken(clarifies.takes);
        executor::Clarify {
            session_id: self.sessions[session.index()].clone(),
            question: Arc::clone(&self.questions[slot.map_or(0, Slot::index)]),
            accepted_response_kinds: kinds,
            choices,
            timeout_seconds: u64::from(timeout),
            default_response: clarifies.default.then(|| DEFAULT_RESPONSE.into()),
        }
    }

    /// What the text leaves to the host differs from piece to piece, or from session to session.
    fn work(&self, state: &State, piece: Piece) -> Input {
        let session_id = self.sessions[piece.session().index()].clone();
        let is_in_a = piece.session() == SessionName::A;
        match piece {
            Piece::Run { irreversible, .. } => {
                let begun = state.work.begun;
                let named = ToolCallId::parse(&format!("own_{begun}")).expect("a well-formed id");
                let is_first = begun == 0;
                Input::Tool(Run {
                    session_id,
                    action: self.unasked.clone(),
                    tool: "look_up".into(),
                    args_summary: is_first.then(|| "the balance".into()),
                    risk_level: if is_first {
                        executor::RiskLevel::Medium
                    } else {
                        executor::RiskLevel::Low
                    },
                    irreversible,
                    tool_call_id: (!is_first).then_some(named),
                })
            }
            Piece::Finish { .. } => Input::FinishTool {
                session_id,
                action: self.unasked.clone(),
                tool_call_id: None,
                status: status(state, piece.session().index()),
            },
            Piece::Write { complete, .. } => Input::Output(Chunk {
                session_id,
                output_id: self.output.clone(),
                text: if complete && !is_in_a { "" } else { CHUNK }.into(),
                is_last: complete,
            }),
            Piece::HandOff { .. } => Input::Handoff(Handoff {
                session_id,
                reason: "This is for a person".into(),
                target_kind: if is_in_a {
                    TargetKind::Human
                } else {
                    TargetKind::EscalationQueue
                },
                target_uri: is_in_a.then(|| "tel:+1-555-0100".into()),
            }),
        }
    }

    fn deliver(&self, account: &Account, message: Message) -> Input {
        Input::Deliver {
            sender: executor::Sender {
                subscription_id: Some(self.subscriptions[message.sender.index()].clone()),
                authenticated: message.authenticated,
            },
            message: self.bytes(&self.token(account, message.token), message),
        }
    }

    /// The bytes of a reply with this token.
    pub fn bytes(&self, token: &ReplyToken, message: Message) -> Vec<u8> {
        let named = match message.shape {
            Shape::Plain | Shape::Malformed | Shape::Modified => message.sender,
            Shape::Impostor => other(message.sender),
        };
        let claimed = self.time(message.claimed);
        let (kind, says) = match message.response {
            None => (
                "confirmation",
                format!(r#""decision":"{}""#, message.decision.name()),
            ),
            Some(response) => (
                "clarification",
                format!(r#""response":{}"#, RESPONSES[response as usize]),
            ),
        };
        let reply = format!(
            r#"{{"type":"{kind}.reply","reply_token":"{token}",{says},"subscription_id":"{}","timestamp":"{claimed}""#,
            self.subscriptions[named.index()],
        );
        match message.shape {
            Shape::Plain | Shape::Impostor => format!("{reply}}}"),
            Shape::Modified => format!(r#"{reply},"modified_action":{{"amount":300}}}}"#),
            Shape::Malformed => malform(&reply, &says, message.claimed),
        }
        .into_bytes()
    }

    /// The token of a question that was asked, and the guess for everything else.
    pub(super) fn token(&self, account: &Account, token: Token) -> ReplyToken {
        let issued = match token {
            Token::Of(slot) => account.asked(slot),
            Token::Guessed => None,
        };
        issued.map_or_else(|| self.guess.clone(), |asked| asked.reply_token.clone())
    }

    /// The model's word for a response that was given.
    pub(super) fn response(&self, given: &UserResponse) -> Option<Response> {
        let is_it = |response: &Response| self.responses[*response as usize] == *given;
        Response::ALL.into_iter().find(is_it)
    }
}

/// The kinds of response that a clarification takes, and what there is to choose from.
pub fn taken(takes: Takes) -> (Option<Vec<ResponseKind>>, Option<Vec<Choice>>) {
    let choice = |value: &str| Choice {
        value: value.to_owned(),
        label: format!("To the {value}"),
    };
    let choices = || Some(CHOICES.map(choice).to_vec());
    match takes {
        Takes::Words => (Some(vec![ResponseKind::Freetext]), None),
        Takes::Choice => (Some(vec![ResponseKind::MultipleChoice]), choices()),
        Takes::Several => {
            let kinds = vec![ResponseKind::YesNo, ResponseKind::Numeric];
            (Some(kinds), None)
        }
        Takes::ChoiceOrWords => {
            let kinds = vec![ResponseKind::Freetext, ResponseKind::MultipleChoice];
            (Some(kinds), choices())
        }
        Takes::Unlisted => (None, None),
    }
}

/// The call of this very confirmation comes back, whatever other calls of the same action there are.
fn finish_tool(account: &Account, state: &State, slot: Slot) -> Option<Input> {
    let question = account.question(slot)?;
    Some(Input::FinishTool {
        session_id: question.asked.session_id.clone(),
        action: question.action.id.clone(),
        tool_call_id: Some(question.tool_call_id.clone()),
        status: status(state, slot.index()),
    })
}

/// How a tool comes out.
fn status(state: &State, place: usize) -> ToolStatus {
    [ToolStatus::Success, ToolStatus::Timeout, ToolStatus::Error]
        [(usize::from(state.clock) + place) % 3]
}

/// What the executor reads where a reply says so.
fn read_response(says: &str) -> UserResponse {
    let reply = format!(
        r#"{{"type":"clarification.reply","reply_token":"rpl_any","response":{says},"subscription_id":"sub_any","timestamp":"2026-05-24T14:22:20Z"}}"#
    );
    match Reply::parse(reply.as_bytes()) {
        Ok(Reply::Clarification(reply)) => reply.response,
        other => unreachable!("a well-formed reply: {other:?}"),
    }
}

/// A reply that is not closed yet, made wrong in one of several ways, so that runs of the literal model meet them all; the
/// quotient keeps one. `says` is what it says, with its key.
fn malform(reply: &str, says: &str, which: i8) -> String {
    match which.rem_euclid(4) {
        0 => reply.to_owned(),
        1 => format!(r#"{reply},"session_id":"sess_A"}}"#),
        2 => format!("{reply},{says}}}"),
        _ => format!(r#"{reply},"decided_by":""}}"#),
    }
}

/// What is wrong with a malformed message of so many bytes, as the operator reads it.
pub(super) fn fault(message: Message, bytes: usize) -> String {
    let fault = match message.claimed.rem_euclid(4) {
        0 => format!("not JSON at byte {bytes}"),
        1 => r#"unknown property "session_id""#.to_owned(),
        2 => format!("duplicate key before byte {}", bytes - 1),
        _ => "property decided_by must be a string of 1 to 256 characters".to_owned(),
    };
    format!("malformed: {fault}")
}

fn decision(decision: Decision) -> executor::Decision {
    match decision {
        Decision::Accept => executor::Decision::Accept,
        Decision::Reject => executor::Decision::Reject,
    }
}

fn other(subscriber: Subscriber) -> Subscriber {
    match subscriber {
        Subscriber::Capable => Subscriber::Forwarder,
        Subscriber::Forwarder | Subscriber::SecondCapable => Subscriber::Capable,
    }
}
