//! The runs that show a finding on the source documents, each with what every passage says of it.
//!
//! The one thing to know: who finds something wrong says it at its step, and beside the step stand those who find nothing wrong.

use countersign_findings::run::{self, in_words};
use countersign_findings::{Case, Finding as Flaw};
use serde_json::{Map, Value};

use super::run::{Finding, Kind, Names, Run, Step, Weight};
use super::words::printable;
use crate::differing;

/// What shows the finding: a run for each case.
///
/// # Errors
///
/// Where nothing that is executed shows it.
pub fn runs(flaw: &Flaw) -> Result<Vec<Run>, String> {
    if flaw.cases.is_empty() {
        return Err(format!("nothing that is executed shows {}", flaw.id));
    }
    let cases = (1..).zip(&flaw.cases);
    cases
        .map(|(number, case)| drawn(flaw, number, case))
        .collect()
}

fn drawn(flaw: &Flaw, number: usize, case: &Case) -> Result<Run, String> {
    let (id, count) = (&flaw.id, flaw.cases.len());
    let read = run::Run::read(&case.run).map_err(|error| format!("{id} case {number}: {error}"))?;
    let records = case.run.lines().filter(|line| !line.trim().is_empty());
    let mut names = Names::default();
    let steps = read.steps().zip(records);
    let steps = steps.map(|((_, it), record)| step(it, flaw.protocol(), record, &mut names));
    let mut run = Run {
        kind: Kind::Finding,
        title: printable(&format!("{id} case {number} of {count}: {}", flaw.title)),
        head: String::new(),
        verdict: String::new(),
        steps: steps.collect(),
        participants: names.0,
        tracks: Vec::new(),
        findings: Vec::new(),
        remarks: Vec::new(),
    };
    let guarantees = case.broken.iter();
    let guarantees =
        guarantees.map(|(name, said)| (format!("the guarantee {name}"), said, Weight::Violation));
    let passages = case.judged.iter();
    let passages = passages.map(|(name, said)| (name.clone(), said, Weight::Violation));
    let mended = case.repaired.iter();
    let mended = mended.map(|said| ("the mended wording".to_owned(), said, Weight::Warning));
    let all: Vec<_> = passages.chain(guarantees).chain(mended).collect();
    let told = all
        .iter()
        .map(|(who, said, _)| format!("{who}: {}", in_words(said)));
    run.remarks = told.collect();
    run.verdict = run.remarks.join("; ");
    for (who, said, weight) in &all {
        run.mark(who, said, *weight);
    }
    let right = all.iter().filter(|(_, said, _)| *said == "right");
    let right = right.map(|(who, said, _)| format!("{who}: {}", in_words(said)));
    let right: Vec<_> = right.collect();
    for place in 0..run.steps.len() {
        if run.steps[place].weight(&run) == Some(Weight::Violation) {
            run.steps[place].notes.extend(right.iter().cloned());
        }
    }
    run.remarks
        .push(format!("What goes wrong: {}", flaw.wrong.trim()));
    run.remarks
        .push(format!("A wording that mends it: {}", flaw.repair.trim()));
    Ok(run)
}

impl Run {
    /// Puts what somebody finds wrong at its step: `wrong 3`, `lacks 1`. What is right has none.
    fn mark(&mut self, who: &str, said: &str, weight: Weight) {
        let number = said
            .split_once(' ')
            .and_then(|(_, number)| number.parse().ok());
        let place = number.and_then(|number: usize| number.checked_sub(1));
        let Some(place) = place.filter(|place| *place < self.steps.len()) else {
            return;
        };
        self.steps[place].findings.push(self.findings.len());
        let what = if said.starts_with("wrong") {
            "is wrong"
        } else {
            "lacks what it wants"
        };
        let message = format!("{who}: this step {what}");
        self.findings
            .push(Finding::new(place, weight, "", &message));
    }
}

fn step(it: &run::Step, protocol: &str, record: &str, names: &mut Names) -> Step {
    let (from, to) = between(it, protocol);
    let (facts, members): (Map<String, Value>, Map<String, Value>) = it
        .members
        .clone()
        .into_iter()
        .filter(|(name, _)| name != "~end")
        .partition(|(name, _)| name.starts_with('~'));
    let facts = facts.iter().map(|(name, value)| {
        let fact = Map::from_iter([(name[1..].to_owned(), value.clone())]);
        format!(
            "in no message: {}",
            differing::in_words(&Value::Object(fact))
        )
    });
    Step {
        line: None,
        at: it.time(),
        from: names.position(from),
        to: to.map(|to| names.position(to)),
        text: if *it.get("~end") == Value::Bool(true) {
            "the run ends".to_owned()
        } else {
            printable(&text(members))
        },
        notes: facts.map(|it| printable(&it)).collect(),
        states: Vec::new(),
        findings: Vec::new(),
        record: printable(record),
    }
}

/// What happens: its kind, and what else its members say.
fn text(mut members: Map<String, Value>) -> String {
    const KINDS: [&str; 4] = ["event", "reply", "op", "type"];
    let mut kinds = KINDS.iter().filter_map(|name| {
        let kind = members.get(*name)?.as_str()?.to_owned();
        Some((*name, kind))
    });
    let kind = match kinds.next() {
        Some((name, kind)) => {
            members.shift_remove(name);
            if name == "reply" {
                format!("{kind} reply")
            } else {
                kind
            }
        }
        None if members.is_empty() => "what no message says".to_owned(),
        None => "a message".to_owned(),
    };
    let rest = differing::in_words(&Value::Object(members));
    format!("{kind} {rest}").trim_end().to_owned()
}

/// Who acts, and whom it reaches.
fn between(step: &run::Step, protocol: &str) -> (&'static str, Option<&'static str>) {
    let party = match protocol {
        "mcp-aql" => "gatekeeper",
        "pending-action" => "host",
        _ => "producer",
    };
    let event = step.text("event");
    match step.text("op") {
        "call" => ("client", Some(party)),
        "issue" => (party, Some("client")),
        "agree" | "decide" | "say" => ("person", Some(party)),
        "propose" => ("agent", Some(party)),
        "append" => (party, Some("agent")),
        "perform" => (party, Some("tools")),
        "finish" => ("tools", Some(party)),
        "" if event == "tool.completed" => ("tools", Some(party)),
        "" if event.starts_with("tool.") => (party, Some("tools")),
        "" if !event.is_empty() => (party, Some("subscriber")),
        "" if step.has("reply")
            || step.has("subscription")
            || step.text("type").ends_with("reply") =>
        {
            ("subscriber", Some(party))
        }
        _ => (party, None),
    }
}
