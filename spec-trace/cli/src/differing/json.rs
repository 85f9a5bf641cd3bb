//! What driving an implementation has come to, as a document. Its schema is `countersign schema diff`.

use serde_json::{Value, json};

use super::{Found, Report, Step, Verdict, cut, excuse};

/// The report.
pub fn document(report: &Report) -> Value {
    let clauses = report.clauses.iter().map(|(clause, judged)| {
        let mut json = json!({"clause": clause, "verdict": judged.verdict.name()});
        if let Some(needs) = judged.needs {
            json["needs"] = needs.into();
        }
        if let Some(reason) = excuse(clause).filter(|_| judged.verdict == Verdict::NotExercised) {
            json["reason"] = reason.into();
        }
        json
    });
    let controls = report.controls.iter().map(|control| {
        json!({
            "name": control.name, "caught": control.clause.is_some(), "clause": control.clause, "runs": control.runs,
        })
    });
    let unseen = report.unseen.iter();
    let unseen = unseen.map(|(rule, reason)| json!({"rule": rule, "reason": reason}));
    let (shard, shards) = report.part.shard;
    let mut document = json!({
        "protocol": report.protocol, "texts": countersign_clauses::texts_of(report.protocol),
        "implementation": report.name, "supports": report.supports,
        "seed": report.part.seed, "shard": {"part": shard, "of": shards},
        "runs": report.runs, "calls": report.calls,
        "verdict": report.verdict(), "result": report.status().result(),
        "ended": report.part.ended.map(cut), "seconds": report.part.time.map(|it| it.as_secs_f64()),
        "clauses": clauses.collect::<Vec<_>>(),
        "untried": if report.part.is_whole { report.untried() } else { Vec::new() },
        "readings": report.readings,
        "unsupported": report.unsupported,
        "controls": controls.collect::<Vec<_>>(), "no_control": unseen.collect::<Vec<_>>(),
        "divergences": report.divergences.iter().map(divergence).collect::<Vec<_>>(),
        "vanished": report.vanished.iter().map(|it| {
            json!({"identity": it.fingerprint, "clause": it.clause, "reason": it.reason})
        }).collect::<Vec<_>>(),
    });
    if report.is_live || !report.remarks.is_empty() {
        document["remarks"] = json!(report.remarks);
    }
    document
}

fn divergence(found: &Found) -> Value {
    let last = found.steps.len();
    let steps = (1..).zip(&found.steps);
    let steps = steps.map(|(n, it)| step(n, it, n == last));
    json!({
        "identity": found.identity, "known": found.known,
        "clause": found.clause, "level": found.level(), "gist": found.gist,
        "steps": steps.collect::<Vec<_>>(),
        "expected": found.expected, "actual": found.actual, "also": found.also,
        "consequences": found.consequences, "follows": found.before, "times": found.times,
        "again": {"seen": found.again.0, "of": found.again.1},
        "file": found.file.display().to_string(), "repeat": found.repeat,
    })
}

fn step(n: usize, step: &Step, bad: bool) -> Value {
    json!({
        "n": n, "at": step.at, "actor": "driver", "action": step.asked, "changes": step.answers, "bad": bad,
        "text": format!("{} {}", step.at, step.asked),
    })
}
