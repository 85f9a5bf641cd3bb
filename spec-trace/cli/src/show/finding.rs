//! The runs of a finding: who acts in each step, what happens, and by whom that is wrong.
//!
//! The one thing to know: the steps of a finding are messages and facts in as few members as its passages need. The first member says
//! what happens, and who acts follows from it.

use countersign_findings::run::{self as findings, Run as Executed};
use countersign_findings::{Case, Finding as OnText};
use serde_json::{Map, Value};

use super::events::{Direction, direction};
use super::run::{Finding, Kind, Names, Run, Step, Weight};
use super::words::printable;
use crate::differing::in_words;

/// Every case of a finding as a run.
///
/// # Errors
///
/// A case that cannot be read; a test sees to it that all can.
pub fn runs(finding: &OnText) -> Result<Vec<Run>, String> {
    let cases = (1..).zip(&finding.cases);
    cases
        .map(|(number, case)| run(finding, number, case))
        .collect()
}

fn run(finding: &OnText, number: usize, case: &Case) -> Result<Run, String> {
    let executed = Executed::read(&case.run)?;
    let mut names = Names::default();
    let lanes = lanes(finding.protocol());
    let steps = executed.0.iter().map(|step| {
        let (from, to) = lanes(step);
        let (text, notes) = said(step);
        Step {
            line: None,
            at: step.time(),
            from: names.position(&from),
            to: to.map(|it| names.position(&it)),
            text,
            notes,
            states: Vec::new(),
            findings: Vec::new(),
            record: String::new(),
        }
    });
    let mut run = Run {
        kind: Kind::Finding,
        title: format!("{} case {number}: {}", finding.id, finding.title),
        verdict: String::new(),
        steps: steps.collect(),
        participants: Vec::new(),
        tracks: Vec::new(),
        findings: wrong(case),
        remarks: Vec::new(),
    };
    run.participants = names.0;
    for (place, finding) in run.findings.iter().enumerate() {
        if let Some(step) = run.steps.get_mut(finding.step) {
            step.findings.push(place);
        }
    }
    run.verdict = match run.findings.len() {
        0 => "nothing is wrong with it".to_owned(),
        1 => "wrong in one way".to_owned(),
        ways => format!("wrong in {ways} ways"),
    };
    Ok(run)
}

/// What is wrong with a run, in the order of its steps: by the guarantees, by the passages and by the mended wording.
fn wrong(case: &Case) -> Vec<Finding> {
    let broken = case.broken.iter();
    let broken = broken.filter_map(|(name, said)| against(Weight::Violation, name, said));
    let judged = case.judged.iter();
    let judged = judged.filter_map(|(name, said)| against(Weight::Warning, name, said));
    let mended = case.repaired.iter();
    let mended = mended.filter_map(|said| against(Weight::Warning, "mended wording", said));
    let mut all: Vec<Finding> = broken.chain(judged).chain(mended).collect();
    all.sort_by_key(|it| it.step);
    all
}

/// What somebody has against a run; nothing where that is nothing.
fn against(weight: Weight, who: &str, said: &str) -> Option<Finding> {
    let (what, step) = said.split_once(' ')?;
    let step: usize = step.parse().ok()?;
    let told = match (what, weight) {
        ("lacks", _) => "it lacks what is wanted",
        (_, Weight::Violation) => "it is broken here",
        _ => "this step is wrong",
    };
    let step = step.checked_sub(1)?;
    Some(Finding::new(step, weight, who, told))
}

/// What happens in a step: its first member and all others, and the facts that no message holds.
fn said(step: &findings::Step) -> (String, Vec<String>) {
    let (facts, members): (Map<_, _>, Map<_, _>) = step
        .members
        .clone()
        .into_iter()
        .partition(|(name, _)| name.starts_with('~'));
    let facts = facts.into_iter();
    let facts: Map<String, Value> = facts.map(|(name, it)| (name[1..].to_owned(), it)).collect();
    let facts = in_words(&Value::Object(facts));
    let mut members = members.into_iter();
    let head = match members.next() {
        None => return (printable(&facts), Vec::new()),
        Some((name, Value::String(text))) => match name.as_str() {
            "event" | "op" => text,
            "reply" | "answer" | "subscription" => format!("{name}: {text}"),
            _ => format!("{name}={text}"),
        },
        Some((name, value)) => format!("{name}={value}"),
    };
    let rest = in_words(&Value::Object(members.collect()));
    let text = format!("{head} {rest}");
    let notes = match facts.as_str() {
        "" => Vec::new(),
        facts => vec![printable(&format!("in no message: {facts}"))],
    };
    (printable(text.trim_end()), notes)
}

/// Who acts in a step, and whom that reaches.
type Lanes = (String, Option<String>);

fn lanes(protocol: &str) -> fn(&findings::Step) -> Lanes {
    match protocol {
        "mcp-aql" => of_gatekeeper,
        "pending-action" => of_ledger,
        _ => of_producer,
    }
}

/// The first of these members that is a text, or else the name.
fn named(step: &findings::Step, members: &[&str], otherwise: &str) -> String {
    let texts = members.iter().map(|name| step.text(name));
    let mut texts = texts.filter(|text| !text.is_empty());
    texts.next().unwrap_or(otherwise).to_owned()
}

fn of_producer(step: &findings::Step) -> Lanes {
    let producer = "producer".to_owned();
    let subscriber = |members: &[&str]| named(step, members, "subscriber");
    let tools = "tools".to_owned();
    if step.has("event") {
        let event = serde_json::json!({ "type": step.text("event") });
        return match direction(&event) {
            Direction::Within => (producer, None),
            Direction::ToSubscriber => (producer, Some(subscriber(&["to", "~sent_to"]))),
            Direction::ToTools => (producer, Some(tools)),
            Direction::FromTools => (tools, Some(producer)),
        };
    }
    if step.has("answer") {
        return (producer, Some(subscriber(&["to"])));
    }
    if step.has("~sends") {
        return (producer, Some(subscriber(&["~to"])));
    }
    if step.has("~runs") {
        return (producer, Some(tools));
    }
    let asks = [
        "reply",
        "type",
        "bytes",
        "subscription",
        "~subscribes",
        "~closes",
    ];
    if asks.into_iter().any(|it| step.has(it)) {
        let who = ["from", "subscription_id", "~subscribes", "~closes"];
        return (subscriber(&who), Some(producer));
    }
    (producer, None)
}

fn of_gatekeeper(step: &findings::Step) -> Lanes {
    let gatekeeper = "gatekeeper".to_owned();
    let client = || named(step, &["client", "caller", "connection"], "client");
    match step.text("op") {
        "call" | "validate" | "query" | "redeem" | "end_session" | "disconnect" => {
            (client(), Some(gatekeeper))
        }
        "issue" => (gatekeeper, Some(client())),
        "agree" => (named(step, &["by"], "person"), Some(gatekeeper)),
        "configure" | "revoke" => ("operator".to_owned(), Some(gatekeeper)),
        "perform" => (gatekeeper, Some("adapter".to_owned())),
        "audit" => (gatekeeper, Some("log".to_owned())),
        _ => (gatekeeper, None),
    }
}

fn of_ledger(step: &findings::Step) -> Lanes {
    let ledger = "ledger".to_owned();
    match step.text("op") {
        "propose" | "change" => (named(step, &["agent_id"], "agent"), Some(ledger)),
        "decide" | "say" | "cancel" => (named(step, &["by"], "person"), Some(ledger)),
        "perform" | "start" => (ledger, Some("tool".to_owned())),
        "finish" => ("tool".to_owned(), Some(ledger)),
        "append" => (ledger, Some("transcript".to_owned())),
        "event" => (ledger, Some("listeners".to_owned())),
        "end_session" => ("host".to_owned(), Some(ledger)),
        _ => (ledger, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_of_every_finding_is_drawn_with_all_that_is_wrong_with_it() {
        for finding in countersign_findings::all() {
            let runs = runs(finding).expect("runs that can be read");
            assert_eq!(runs.len(), finding.cases.len());
            for (run, case) in runs.iter().zip(&finding.cases) {
                let said = case.judged.values().chain(case.broken.values());
                let said = said.chain(&case.repaired);
                let against = said.filter(|it| it.contains(' ')).count();
                let drawn: usize = run.steps.iter().map(|it| it.findings.len()).sum();
                assert_eq!(
                    (run.findings.len(), drawn),
                    (against, against),
                    "{}",
                    run.title
                );
                assert!(
                    run.steps.iter().all(|it| !it.text.is_empty()),
                    "{}",
                    run.title
                );
            }
        }
    }

    #[test]
    fn who_acts_follows_from_what_happens_and_a_fact_is_told_as_one() {
        let run = |id: &str| runs(countersign_findings::get(id).expect("a finding")).expect("runs");
        let first = &run("AAEP-F1")[0];
        assert_eq!(first.participants, ["producer", "subscriber", "tools"]);
        let ways: Vec<_> = first.steps.iter().map(|it| (it.from, it.to)).collect();
        assert_eq!(
            ways,
            [(0, Some(1)), (0, Some(1)), (1, Some(0)), (0, Some(2))]
        );
        assert_eq!(first.steps[3].text, "tool.invoked");
        assert_eq!(
            first.steps[3].notes,
            ["in no message: runs=\"transfer 500\""]
        );
        let told: Vec<String> = first.findings.iter().map(Finding::told).collect();
        let expected = [
            "warning mended wording: it lacks what is wanted",
            "warning 6.1 same action: by what it does: this step is wrong",
        ];
        assert_eq!(told, expected);
        let pending = &run("PA-F1")[0];
        assert_eq!(pending.participants[..2], ["agent", "ledger"]);
    }
}
