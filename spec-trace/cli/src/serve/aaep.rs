//! AAEP over the driver protocol: requests as inputs of the producer, its outputs as JSON.

use countersign_reference::aaep::{
    Action, Ask, Capabilities, Input, Outcome, Output, Producer, Sender, Settings, ToolCall,
};
use countersign_reference::ids::IdSource;
use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use super::request::{BadRequest, Field, Fields, unknown_op};
use super::{Failure, Operation, Service, refusal, stored_and_read_back};

/// What [`Aaep`] carries out.
const OPS: &[&str] = &[
    "start_session",
    "subscribe",
    "unsubscribe",
    "confirm",
    "deliver",
    "cancel",
    "finish_tool",
    "end_session",
    "tick",
    "restart",
];

/// What the driver protocol has and the producer has not.
const UNSUPPORTED_OPS: &[&str] = &["clarify", "extend"];

/// The producer, and beside it the host's source of identifiers, which outlives the producer's process.
#[derive(Clone, Debug)]
pub struct Aaep<Ids> {
    producer: Producer,
    ids: Ids,
}

impl<Ids: IdSource> Aaep<Ids> {
    /// A producer to which nothing has happened, drawing its identifiers from `ids`.
    pub fn new(ids: Ids) -> Self {
        Self {
            producer: Producer::new(Settings::default()),
            ids,
        }
    }
}

impl<Ids: IdSource> Service for Aaep<Ids> {
    const PROTOCOL: &'static str = "aaep";
    const SUPPORTS: &'static [&'static str] = &["cancel", "restart", "clock"];
    const VERBATIM: &'static [&'static str] = &[];
    type Input = Input;

    fn reset(&mut self, now: Timestamp) -> Result<(), Failure> {
        self.producer = Producer::new(Settings::default());
        // There is nothing yet that could be due: this only tells the time.
        let _nothing = self.producer.handle(now, &mut self.ids, Input::Tick);
        Ok(())
    }

    fn read(op: &str, fields: &mut Fields) -> Result<Operation<Input>, BadRequest> {
        let input = match op {
            "start_session" => Input::StartSession {
                session_id: fields.optional("session_id").map(Field::word).transpose()?,
            },
            "subscribe" => Input::Subscribe {
                subscription_id: fields.required("subscription_id")?.word()?,
                capabilities: capabilities(fields.optional("capabilities"))?,
            },
            "unsubscribe" => Input::Unsubscribe {
                subscription_id: fields.required("subscription_id")?.word()?,
            },
            "confirm" => Input::Confirm(ask(fields)?),
            "deliver" => Input::Deliver {
                sender: sender(fields.required("sender")?)?,
                message: fields.required("message")?.text()?.into_bytes(),
            },
            "cancel" => Input::Cancel {
                reply_token: fields.required("reply_token")?.word()?,
            },
            "finish_tool" => Input::FinishTool {
                session_id: fields.required("session_id")?.word()?,
                action: fields.required("action")?.word()?,
                tool_call_id: fields
                    .optional("tool_call_id")
                    .map(Field::word)
                    .transpose()?,
                status: fields.required("status")?.word()?,
            },
            "end_session" => Input::EndSession {
                session_id: fields.required("session_id")?.word()?,
                outcome: fields.required("outcome")?.word()?,
            },
            "tick" => Input::Tick,
            "restart" => Input::Restart,
            op if UNSUPPORTED_OPS.contains(&op) => return Ok(Operation::Unsupported),
            op => return Err(unknown_op(op, OPS)),
        };
        Ok(Operation::Do(input))
    }

    fn handle(&mut self, now: Timestamp, input: Input) -> Result<Vec<Value>, Failure> {
        if matches!(input, Input::Restart) {
            self.producer = stored_and_read_back(&self.producer)?;
        }
        let Outcome { outputs, refused } = self.producer.handle(now, &mut self.ids, input);
        let mut values = outputs
            .iter()
            .map(output)
            .collect::<serde_json::Result<Vec<Value>>>()?;
        // What fell due before the call has happened all the same, and so comes first.
        values.extend(refused.map(|refused| refusal(refused.clause(), &refused)));
        Ok(values)
    }
}

fn ask(fields: &mut Fields) -> Result<Ask, BadRequest> {
    Ok(Ask {
        session_id: fields.required("session_id")?.word()?,
        action: action(fields.required("action")?)?,
        timeout_seconds: fields.required("timeout_seconds")?.whole_number()?,
        default_decision: fields.required("default_decision")?.word()?,
        allowed_replies: fields
            .optional("allowed_replies")
            .map(Field::texts)
            .transpose()?,
    })
}

fn action(field: Field) -> Result<Action, BadRequest> {
    let mut fields = field.object()?;
    let action = Action {
        id: fields.required("id")?.word()?,
        tool: fields.required("tool")?.text()?.into(),
        description: fields.required("description")?.text()?.into(),
        consequence: fields.required("consequence")?.text()?.into(),
        risk_level: fields.required("risk_level")?.word()?,
        irreversible: fields.required("irreversible")?.flag()?,
    };
    fields.finish()?;
    Ok(action)
}

fn sender(field: Field) -> Result<Sender, BadRequest> {
    let mut fields = field.object()?;
    let sender = Sender {
        subscription_id: fields
            .optional("subscription_id")
            .map(Field::word)
            .transpose()?,
        authenticated: fields.required("authenticated")?.flag()?,
    };
    fields.finish()?;
    Ok(sender)
}

/// Capabilities that we do not know are let pass: subscribers declare more than this protocol needs.
fn capabilities(field: Option<Field>) -> Result<Capabilities, BadRequest> {
    let Some(field) = field else {
        return Ok(Capabilities::default());
    };
    // AAEP-EV-14: a subscriber cannot reply unless it says so.
    let declared = field.object()?.optional("supports_confirmation_reply");
    Ok(Capabilities {
        supports_confirmation_reply: declared.map_or(Ok(false), Field::flag)?,
    })
}

/// One output, as an object whose one key is its kind.
fn output(output: &Output) -> serde_json::Result<Value> {
    Ok(match output {
        Output::Emit(event) => json!({"emit": serde_json::to_value(event)?}),
        Output::Perform(call) => json!({"perform": tool_call(call)}),
        Output::Withdraw(call) => json!({"audit": too_late_to_withdraw(call)}),
        Output::Notify(notice) => json!({"notify": serde_json::to_value(notice)?}),
        Output::Respond(response) => json!({"respond": serde_json::to_value(response)?}),
        Output::Audit(audit) => json!({"audit": serde_json::to_value(audit)?}),
        Output::InDoubt(call) => json!({"in_doubt": tool_call(call)}),
    })
}

/// The action first: it is what the driver knows the call by.
fn tool_call(call: &ToolCall) -> Value {
    json!({
        "action": call.action.as_str(),
        "session_id": call.session_id.as_str(),
        "tool": &*call.tool,
        "tool_call_id": call.tool_call_id.as_str(),
        "reply_token": call.reply_token.as_str(),
    })
}

/// The driver protocol has no way to take a `perform` back: it counts as carried out once its response was read. So the
/// operator learns of it, and nobody else.
fn too_late_to_withdraw(call: &ToolCall) -> Value {
    // AAEP-6.8-2: the session ended with this call of a tool still in flight.
    json!({
        "clause": "AAEP-6.8-2",
        "reply_token": call.reply_token.as_str(),
        "action": call.action.as_str(),
        "text": "the session ended before this action was reported as done: it should not run if it has not begun",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_reference::aaep::{Notice, ReplyToken, SubscriptionId};

    /// AAEP-6.3.5-2: a courtesy, which the producer that is served here does not pay.
    #[test]
    fn a_notice_names_the_subscription_and_the_token() {
        let notice = Output::Notify(Notice {
            subscription_id: SubscriptionId::parse("sub_1").unwrap(),
            reply_token: ReplyToken::parse("rpl_1").unwrap(),
        });
        let fields = json!({"subscription_id": "sub_1", "reply_token": "rpl_1"});
        assert_eq!(output(&notice).unwrap(), json!({"notify": fields}));
    }
}
