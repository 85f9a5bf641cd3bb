//! What a run that shows a finding leaves out where nothing turns on it: a rating, an entry of the log, the start that is stored.
//!
//! The one thing to know: a detail adds steps, and members to steps, and takes nothing away. Two wordings clash where one calls a run
//! right and the other calls it wrong with whatever details.

use serde_json::{Value, json};

use countersign_findings::run::{Run, Step};

/// The run with one kind of detail.
pub type Detail = fn(&Run) -> Run;

/// The details of AAEP.
pub const AAEP: &[Detail] = &[begun, rated, read, chained, applied, heard];

/// The details of MCP-AQL.
pub const MCP_AQL: &[Detail] = &[agreed, limited, logged];

/// The details of pending actions.
pub const PENDING_ACTION: &[Detail] = &[summed_up, typed, started];

/// The run with each choice of these details, the fewest first.
pub fn completed(details: &[Detail], run: &Run) -> Vec<Run> {
    let mut all = vec![run.clone()];
    for detail in details {
        let with: Vec<Run> = all.iter().map(detail).collect();
        all.extend(with);
    }
    all.remove(0);
    all
}

/// Each step as it becomes, with what comes before and behind it.
fn each(run: &Run, change: impl Fn(usize, &Step) -> Vec<Step>) -> Run {
    let steps = run.steps().flat_map(|(number, step)| change(number, step));
    Run(steps.collect())
}

/// The step with these members besides, where it has none of the name.
fn with(step: &Step, members: &Value) -> Step {
    let mut step = step.clone();
    for (name, value) in members.as_object().into_iter().flatten() {
        let member = step.members.entry(name.clone());
        member.or_insert_with(|| value.clone());
    }
    step
}

/// Each step of which a member says this, with these members besides.
fn each_with(
    run: &Run,
    (name, value): (&str, &str),
    members: impl Fn(usize, &Step) -> Value,
) -> Run {
    each(run, |number, it| {
        let is_it = it.is(name, value).then(|| with(it, &members(number, it)));
        vec![is_it.unwrap_or_else(|| it.clone())]
    })
}

/// A step at the time of another one.
fn beside(step: &Step, members: &Value) -> Step {
    let members = members.as_object().cloned().unwrap_or_default();
    Step {
        at: step.at,
        members,
    }
}

/// The session has started.
fn begun(run: &Run) -> Run {
    let has_started = run.steps().any(|(_, it)| it.is("event", "session.started"));
    each(run, |number, it| {
        let start = beside(it, &json!({ "event": "session.started" }));
        let start = (number == 1 && !has_started).then_some(start);
        start.into_iter().chain([it.clone()]).collect()
    })
}

/// A question has a rating.
fn rated(run: &Run) -> Run {
    each_with(
        run,
        ("event", "awaiting.confirmation"),
        |_, _| json!({ "irreversible": false, "risk_level": "low" }),
    )
}

/// Bytes are the reply that they hold.
fn read(run: &Run) -> Run {
    each(run, |_, it| {
        let held: Option<Value> = serde_json::from_str(it.text("bytes")).ok();
        let read = held.map(|held| with(&with(it, &json!({ "reply": "confirmation" })), &held));
        vec![read.unwrap_or_else(|| it.clone())]
    })
}

/// A change of state leaves the one that was entered last.
fn chained(run: &Run) -> Run {
    each_with(run, ("event", "state.changed"), |number, _| {
        let entered = run.before(number).find_map(|(_, before)| {
            let asks = before.text("event").starts_with("awaiting.");
            let state = if asks {
                "awaiting_input"
            } else {
                before.text("to_state")
            };
            (!state.is_empty()).then(|| state.to_owned())
        });
        let from = entered.unwrap_or_else(|| "idle".to_owned());
        json!({ "from_state": from })
    })
}

/// What runs once a default accept is due applies it.
fn applied(run: &Run) -> Run {
    each(run, |number, it| {
        let question = run.before(number).find(|(_, before)| {
            before.is("default_decision", "accept") && before.get("~asks") == it.get("~runs")
        });
        match question {
            Some((_, question)) if it.is("event", "tool.invoked") => {
                vec![with(
                    it,
                    &json!({ "~applies": question.get("reply_token") }),
                )]
            }
            _ => vec![it.clone()],
        }
    })
}

/// Somebody who can reply has been there from the start.
fn heard(run: &Run) -> Run {
    each(run, |number, it| {
        let opens = beside(it, &json!({ "~subscribes": "sub_user", "~able": true }));
        let first = (number == 1).then_some(opens);
        first.into_iter().chain([it.clone()]).collect()
    })
}

/// Somebody agrees to each call that runs, and that is recorded.
fn agreed(run: &Run) -> Run {
    each(run, |number, it| {
        if it.is("op", "agree") {
            return vec![with(it, &json!({ "recorded": true }))];
        }
        let token = it.get("token");
        let has_agreed = run
            .before(number)
            .any(|(_, it)| it.is("op", "agree") && it.get("token") == token);
        let agrees = it.has("performed") && it.has("token") && !has_agreed;
        let agree = json!({ "op": "agree", "token": token, "by": "ann", "recorded": true });
        let agree = agrees.then(|| beside(it, &agree));
        agree.into_iter().chain([it.clone()]).collect()
    })
}

/// A token expires after five minutes.
fn limited(run: &Run) -> Run {
    each_with(run, ("op", "issue"), |_, it| {
        let mut expiry = it.clone();
        expiry.at += 300_000;
        json!({ "expires_at": expiry.time() })
    })
}

/// The entry of an operation on a token; none where it has none.
fn entry(op: &str) -> Option<&'static str> {
    match op {
        "issue" => Some("TOKEN_ISSUED"),
        "validate" => Some("TOKEN_VALIDATED"),
        "reject" => Some("TOKEN_REJECTED"),
        "revoke" => Some("TOKEN_REVOKED"),
        "redeem" => Some("TOKEN_REDEEMED"),
        "query" => Some("TOKEN_QUERIED"),
        "purge" => Some("TOKEN_PURGED"),
        _ => None,
    }
}

/// Each operation on a token is followed by its entry.
fn logged(run: &Run) -> Run {
    each(run, |number, it| {
        let next = run.steps().nth(number);
        let has_entry = next.is_some_and(|(_, next)| next.is("op", "audit"));
        let event = entry(it.text("op")).filter(|_| !has_entry);
        let entry = event.map(|event| {
            beside(
                it,
                &json!({ "op": "audit", "event": event, "token": it.get("token") }),
            )
        });
        [it.clone()].into_iter().chain(entry).collect()
    })
}

/// The summary states the arguments.
fn summed_up(run: &Run) -> Run {
    each_with(run, ("op", "propose"), |_, it| {
        let text: Option<Value> = serde_json::from_str(it.text("arguments")).ok();
        let stated = text.unwrap_or_else(|| it.get("arguments").clone());
        json!({ "summary": stated })
    })
}

/// Words that are taken for a decision are one, with the id.
fn typed(run: &Run) -> Run {
    each(run, |_, it| {
        let taken = it.text("taken");
        let decides = it.is("op", "say") && ["allow", "deny"].contains(&taken);
        let decision = json!({
            "op": "decide", "action_id": it.get("answers"), "decision": taken, "by": it.get("by"),
        });
        let decision = decides.then(|| beside(it, &decision));
        [it.clone()].into_iter().chain(decision).collect()
    })
}

/// The start is stored before the tool is called.
fn started(run: &Run) -> Run {
    each(run, |number, it| {
        let is_stored = run.before(number).any(|(_, before)| {
            before.is("op", "start") && before.get("action_id") == it.get("action_id")
        });
        let start = json!({ "op": "start", "action_id": it.get("action_id") });
        let start = (it.is("op", "perform") && !is_stored).then(|| beside(it, &start));
        start.into_iter().chain([it.clone()]).collect()
    })
}
