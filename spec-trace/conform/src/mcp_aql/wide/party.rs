//! What the model of the gatekeeper puts out, as outputs of the driver protocol.

use std::collections::BTreeMap;

use countersign_model::judged::CallTold as _;
use countersign_model::mcp_aql::action::Action;
use countersign_model::mcp_aql::message::Carried;
use countersign_model::mcp_aql::output::{Output, Status};
use countersign_model::mcp_aql::readings::{Reading, RestartedSession};
use countersign_model::mcp_aql::rules::{Code, Guard};
use countersign_model::mcp_aql::state::ETERNAL;
use countersign_model::mcp_aql::told::Asked as Call;
use countersign_model::mcp_aql::words::{Purpose, Slot};
use countersign_model::time;
use countersign_protocol::mcp_aql::{self as driver, Capability, McpAql, Op as Own};
use countersign_protocol::{Greeting, Json, Op, Output as Put, Refused};
use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use super::Driver;
use super::calls::START;
use super::suite::SCALE;
use crate::suite::party::{AnsweringByModel, Asked};

/// Why nobody sees that a limit is not kept.
const CHOSEN: &str =
    "limits and room are chosen where a gatekeeper is started, and no driver knows them";

/// Why nobody sees what is only seen by two answers that differ.
const ALONE: &str = "no run of the suite has another answer that it would have to be like";

impl AnsweringByModel for Driver {
    /// The call that each token was issued for.
    type Said = BTreeMap<Slot, driver::Call>;
    const BESIDES: &'static [Action] = &[];
    const UNSEEN: &'static [(Guard, &'static str)] = &[
        (Guard::KeepsPlaces, CHOSEN),
        (Guard::IgnoresLimit, CHOSEN),
        (Guard::IgnoresLimitOfIssues, CHOSEN),
        (Guard::IgnoresLimitOfRevocations, CHOSEN),
        (Guard::CountsNoStatus, CHOSEN),
        (
            Guard::GrantsLooseMultiUse,
            "by the reading multi-use: anywhere nothing is wrong",
        ),
        (
            Guard::TurnsClockBack,
            "by the reading oracle: uniform nothing is wrong",
        ),
        (
            Guard::RevokesOtherOperations,
            "by the reading token-storage: signed nothing is wrong",
        ),
        (
            Guard::ConfusesCodes,
            "by the reading oracle: uniform nothing is wrong",
        ),
        (Guard::TellsCheck, ALONE),
        (Guard::TellsStatus, ALONE),
    ];

    fn greeting() -> Greeting<McpAql> {
        Greeting {
            name: "model".to_owned(),
            supports: [
                Capability::MultiUse,
                Capability::SessionScope,
                Capability::Quota,
                Capability::Introspect,
                Capability::Restart,
            ]
            .into(),
            shows: None,
        }
    }

    /// Connections end with the process.
    fn reading(reading: Reading) -> Reading {
        Reading {
            restarted_session: RestartedSession::Ends,
            ..reading
        }
    }

    fn outputs(said: &mut Self::Said, asked: &Asked<'_, Self>) -> Option<Vec<Put<McpAql>>> {
        let told = &asked.taken.told;
        for output in told.outputs() {
            if let (Output::ConfirmationRequired(slot), Op::Own(Own::Call(call))) =
                (output, asked.op)
            {
                said.insert(*slot, call.clone());
            }
        }
        let of_part = told.outputs().iter().filter(|it| is_of_part(**it, asked));
        let outputs =
            of_part.flat_map(|it| [log_of_status(*it, said, asked), output(*it, said, asked)]);
        Some(outputs.flatten().map(Put::to_all).collect())
    }
}

/// Whether an output is of this request: both adapters are set up, and one that is configured twice is warned of the second time.
fn is_of_part(output: Output, asked: &Asked<'_, Driver>) -> bool {
    match (asked.taken.told.call, output) {
        (Call::SetUp { .. }, Output::Warned(adapter)) => asked.part == adapter as usize,
        (Call::SetUp { .. }, _) => true,
        (
            Call::Configure {
                adapter, otherwise, ..
            },
            Output::Warned(warned),
        ) => adapter == warned && asked.part == usize::from(otherwise),
        _ => asked.part == 0,
    }
}

/// AQL-6.4-1: that a status was told is logged. The model leaves it out.
fn log_of_status(
    output: Output,
    said: &BTreeMap<Slot, driver::Call>,
    asked: &Asked<'_, Driver>,
) -> Option<driver::Output> {
    let Output::AnswerStatus(status) = output else {
        return None;
    };
    let is_good = matches!(status, Status::Live { .. });
    let (event, failure) = if is_good {
        ("TOKEN_VALIDATED", None)
    } else {
        ("TOKEN_REJECTED", Some(""))
    };
    Some(logged(event, carried(asked), failure, said, asked))
}

/// An entry of the log.
fn logged(
    event: &str,
    token: Carried,
    failure: Option<&str>,
    said: &BTreeMap<Slot, driver::Call>,
    asked: &Asked<'_, Driver>,
) -> driver::Output {
    let called = called(asked);
    let issued = match token {
        Carried::Token(slot) => said.get(&slot),
        Carried::Guessed => None,
    };
    let of = called.or(issued);
    let adapter = of.and_then(|it| it.adapter.as_deref());
    let mut entry = json!({
        "timestamp": text(asked.now), "event": event,
        "token_id": format!("{token:?}"),
        "operation": of.map_or("introspect", |it| &it.operation),
        "adapter_name": adapter.unwrap_or("default"),
        "outcome": if failure.is_some() { "failure" } else { "success" },
    });
    if let Some(reason) = failure.filter(|it| !it.is_empty()) {
        entry["failure_reason"] = reason.into();
    }
    if let Some(session) = called.and_then(|it| it.session_id.as_deref()) {
        entry["client_context"] = json!({"session_id": session});
    }
    driver::Output::Audit(written(&entry))
}

const fn called<'a>(asked: &Asked<'a, Driver>) -> Option<&'a driver::Call> {
    match asked.op {
        Op::Own(Own::Call(call)) => Some(call),
        Op::Common(_) | Op::Own(_) => None,
    }
}

/// Nothing where it is of no call that there was.
fn output(
    output: Output,
    said: &BTreeMap<Slot, driver::Call>,
    asked: &Asked<'_, Driver>,
) -> Option<driver::Output> {
    let called = called(asked);
    let failed = |code: &str, details: Value| {
        let error = json!({"code": code, "message": "It failed.", "details": details});
        Some(responded(&json!({"success": false, "error": error})))
    };
    let logged = |event: &str, token, failure| Some(logged(event, token, failure, said, asked));
    match output {
        Output::Issued(slot) => logged("TOKEN_ISSUED", Carried::Token(slot), None),
        Output::Validated(slot) => logged("TOKEN_VALIDATED", Carried::Token(slot), None),
        Output::Revoked(slot) => logged("TOKEN_REVOKED", Carried::Token(slot), None),
        Output::Rejected(check) => {
            logged("TOKEN_REJECTED", carried(asked), Some(check.code().name()))
        }
        Output::NotRevoked => logged("TOKEN_REVOKED", carried(asked), Some("")),
        Output::Warned(_) => Some(driver::Output::Audit(written(&json!({"event": "WARNING"})))),
        Output::Perform(slot) => Some(performed(called.or_else(|| said.get(&slot))?)),
        Output::PerformUngated => Some(performed(called?)),
        Output::ConfirmationRequired(slot) => {
            let expires = asked.taken.after.token(slot).expires;
            let expires = START + SCALE.millis(time::on(expires));
            let call = called?;
            let prefix = match asked.taken.after.token(slot).scope.purpose {
                Purpose::Confirmation => "conf",
                Purpose::QuotaContinue => "quota_continue",
            };
            let mut details = json!({
                "operation": call.operation, "danger_level": call.danger_level,
                "reasons": ["It has to be confirmed."], "confirmation_message": "Shall it run?",
                "confirmation_token": format!("{prefix}_{:022}", slot.index()),
            });
            if asked.taken.after.token(slot).expires != ETERNAL {
                details["expires_at"] = text(expires).into();
            }
            failed("CONFIRMATION_REQUIRED", details)
        }
        Output::Fail(code) => failed(code.name(), json!({})),
        Output::Expose => failed(
            Code::ScopeMismatch.name(),
            json!({"params": called?.params.text()}),
        ),
        Output::Limited => failed("RATE_LIMITED", json!({})),
        Output::Full => failed("CAPACITY_EXCEEDED", json!({})),
        Output::AnswerRevocation => {
            let is_done = !asked.taken.told.outputs().contains(&Output::NotRevoked);
            Some(succeeded(&json!({"revoked": is_done})))
        }
        Output::AnswerStatus(status) => Some(succeeded(&match status {
            Status::Live { uses_left } => json!({"status": "live", "uses_left": uses_left}),
            Status::Consumed => json!({"status": "consumed"}),
            Status::Expired => json!({"status": "expired"}),
            Status::Revoked => json!({"status": "revoked"}),
            Status::Unknown => json!({"status": "unknown"}),
        })),
        Output::Refused(refusal) => Some(driver::Output::Refused(Refused {
            clause: None,
            reason: format!("{refusal:?}"),
        })),
    }
}

/// The token that came.
fn carried(asked: &Asked<'_, Driver>) -> Carried {
    match asked.taken.told.call {
        Call::Deliver(call) => call.token,
        Call::Introspect(_, carried) => carried,
        Call::SetUp { .. }
        | Call::Request(_)
        | Call::Trigger(_)
        | Call::Configure { .. }
        | Call::Relist { .. }
        | Call::Tick
        | Call::Restart
        | Call::Nothing => Carried::Guessed,
    }
}

fn performed(call: &driver::Call) -> driver::Output {
    driver::Output::Perform(driver::Operation {
        operation: call.operation.clone(),
        params: call.params.clone(),
        adapter: Some(call.adapter.clone().unwrap_or_else(|| "default".to_owned())),
        session_id: call.session_id.clone(),
    })
}

fn succeeded(data: &Value) -> driver::Output {
    responded(&json!({"success": true, "data": data}))
}

fn responded(response: &Value) -> driver::Output {
    driver::Output::Respond(written(response))
}

fn text(millis: i64) -> String {
    Timestamp::from_millis(millis).to_string()
}

fn written(value: &Value) -> Json {
    Json::of(value).expect("plain data")
}
