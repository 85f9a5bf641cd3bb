//! Verdicts of `check` and `verify` as others rely on them: the JSON shapes, and the same in words.

use countersign_clauses::{Level, cited, cited_all, texts_of};
use countersign_conform::steps::{numbered, steps_json};
use countersign_model::checker::{CheckReport, Kind, PropertyVerdict, StepText};
use countersign_model::judge::Finding;
use serde_json::{Value, json};

use crate::answer::Status;

pub mod junit;
pub mod sarif;

/// One property with its verdict, and whether the search that gave it went everywhere.
fn property_json(property: &PropertyVerdict, exhaustive: bool) -> Value {
    let mut json = json!({
        "name": property.name,
        "clauses": property.clauses,
        "kind": match property.kind {
            Kind::Always => "always",
            Kind::Sometimes => "sometimes",
        },
        "holds": property.holds,
        "exhaustive": exhaustive,
        "steps": steps_json(&property.steps),
    });
    if let Some(finding) = &property.finding {
        json["judged"] = finding.kind.name().into();
        json["finding"] = finding.to_string().into();
    }
    json
}

/// Where a property stands in a list: by the level of its first clause, MUST first, and then in the order of the documents.
pub fn place(clauses: &[&str]) -> impl Ord + use<> {
    let clause = clauses.first().copied().unwrap_or_default();
    let level = countersign_clauses::get(clause).map(|it| it.level);
    let rank = match level {
        Ok(Level::Must | Level::MustNot) => 0,
        Ok(Level::Should | Level::ShouldNot) => 1,
        Ok(Level::May | Level::Info) | Err(_) => 2,
    };
    (rank, countersign_clauses::place(clause))
}

/// The level of a clause, as the text words it.
pub fn level(clause: &str) -> &'static str {
    countersign_clauses::get(clause).map_or("", |clause| clause.level.as_str())
}

/// The name of a property with the basis of the clause that it begins with, as messages cite that.
pub fn cited_name(property: &PropertyVerdict) -> String {
    let name = &property.name;
    let clause = property.clauses.first().copied().unwrap_or_default();
    // Within the AAEP a name leaves out which document the clause is of.
    let short = clause.split_once('-').map_or(clause, |(_, short)| short);
    let begun = [clause, short].into_iter().find_map(|id| {
        let rest = name.strip_prefix(id)?;
        rest.starts_with(' ').then_some((id, rest))
    });
    match (begun, cited(clause).strip_prefix(clause)) {
        (Some((id, rest)), Some(basis)) => format!("{id}{basis}{rest}"),
        _ => name.clone(),
    }
}

/// A property that does not hold, in words.
pub fn property_text(property: &PropertyVerdict) -> String {
    match property.kind {
        Kind::Always => {
            let found = property
                .finding
                .as_ref()
                .map_or_else(String::new, |finding| {
                    format!("   {}\n", finding_text(finding))
                });
            format!(
                "counterexample to  {}          ({} steps, the shortest)\n{}{found}",
                cited_name(property),
                property.steps.len(),
                numbered(&property.steps)
            )
        }
        Kind::Sometimes => format!(
            "not reached  {}          (no run within these bounds)\n",
            cited_name(property)
        ),
    }
}

/// What the judge finds wrong, in a line.
fn finding_text(finding: &Finding) -> String {
    let text = format!(
        "{} violated ({}): {}",
        cited(finding.clause),
        finding.kind.name(),
        finding.text
    );
    match finding.also {
        [] => text,
        also => format!("{text} (also {})", cited_all(also)),
    }
}

/// The properties of a kind that do not hold.
pub fn unmet(report: &CheckReport, kind: Kind) -> impl Iterator<Item = &PropertyVerdict> {
    let properties = report.properties.iter();
    properties.filter(move |property| property.kind == kind && !property.holds)
}

/// A broken invariant is a violation; a witness that was not found, or a search that ended early, was not exercised.
pub fn check_status(report: &CheckReport) -> Status {
    let holds = Status::of(unmet(report, Kind::Always).next().is_none());
    let all_seen = unmet(report, Kind::Sometimes).next().is_none();
    holds.over(Status::if_exercised(report.exhaustive && all_seen))
}

/// What `check` found.
pub fn check_json(protocol: &str, bounds: &str, report: &CheckReport, seconds: f64) -> Value {
    let property = |property| property_json(property, report.exhaustive);
    json!({
        "protocol": protocol,
        "texts": texts_of(protocol),
        "bounds": bounds,
        "unique_states": report.unique_states,
        "transitions": report.transitions,
        "depth": report.depth,
        "seconds": seconds,
        "properties": report.properties.iter().map(property).collect::<Vec<_>>(),
    })
}

/// A search, and the runs in which what was searched differs from the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// States.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// The runs.
    pub divergences: Vec<Divergence>,
}

/// A run at whose last step something else is required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The run.
    pub steps: Vec<StepText>,
    /// The clause that it goes against: where none is named, the one that stands for the whole contract.
    pub clause: &'static str,
    /// What is required, in words.
    pub expected: String,
    /// What came, in words.
    pub actual: String,
}

/// One divergence as programs read it.
pub fn divergence_json(divergence: &Divergence) -> Value {
    json!({
        "clause": divergence.clause,
        "steps": steps_json(&divergence.steps),
        "expected": divergence.expected,
        "actual": divergence.actual,
    })
}

/// One divergence in words.
pub fn divergence_text(divergence: &Divergence) -> String {
    let level = countersign_clauses::get(divergence.clause)
        .map(|clause| format!(" {}: {}", clause.level, clause.gist))
        .unwrap_or_default();
    format!(
        "divergence from the text\n{}   goes against  {}{level}\n   expected      {}\n   seen          {}\n",
        numbered(&divergence.steps),
        cited(divergence.clause),
        divergence.expected,
        divergence.actual,
    )
}

/// What `verify` has found of one protocol.
pub struct Verified {
    /// The protocol, by its name on the command line.
    pub protocol: &'static str,
    /// The bounds, by name.
    pub bounds: String,
    /// What was searched, with the reference in every state, and what holds in it.
    pub check: CheckReport,
    /// How long it took, in seconds.
    pub check_seconds: f64,
    /// The worlds of it by name.
    pub worlds: Vec<(&'static str, Walk)>,
    /// Every run of the text in small worlds, recorded, where recordings of the protocol are judged: those that are accused.
    pub recordings: Option<Walk>,
}

/// One search, and what it is to show.
struct Comparison<'a> {
    /// What holds if nothing diverges.
    what: String,
    walk: &'a Walk,
}

impl Comparison<'_> {
    /// Whether it went anywhere.
    fn is_whole(&self) -> bool {
        self.walk.transitions > 0
    }
}

/// How all of them ended together.
pub fn status(verified: &[Verified]) -> Status {
    let statuses = verified.iter().map(Verified::status);
    statuses
        .reduce(Status::over)
        .unwrap_or(Status::Inconclusive)
}

/// All of them as programs read them.
pub fn verified_json(verified: &[Verified]) -> Value {
    let protocols: Vec<_> = verified.iter().map(Verified::json).collect();
    json!({ "protocols": protocols, "result": status(verified).result() })
}

impl Verified {
    /// Whether all properties hold, and the reference keeps to the text.
    pub fn status(&self) -> Status {
        let agrees = Status::of(self.divergences().next().is_none());
        let whole = Status::if_exercised(self.is_whole());
        check_status(&self.check).over(agrees).over(whole)
    }

    /// Whether each search went anywhere: one that did not shows nothing.
    pub fn is_whole(&self) -> bool {
        self.comparisons().all(|it| it.is_whole())
    }

    /// All divergences found.
    pub fn divergences(&self) -> impl Iterator<Item = &Divergence> {
        self.comparisons().flat_map(|it| &it.walk.divergences)
    }

    /// Every search.
    fn comparisons(&self) -> impl Iterator<Item = Comparison<'_>> {
        let worlds = self.worlds.iter().map(|(name, walk)| Comparison {
            what: format!("the reference conforms in every run of the world {name}"),
            walk,
        });
        let recordings = self.recordings.as_ref().map(|walk| Comparison {
            what: "no recording of a run of the text is accused".to_owned(),
            walk,
        });
        worlds.chain(recordings)
    }

    /// As programs read it.
    pub fn json(&self) -> Value {
        json!({
            "protocol": self.protocol,
            "texts": texts_of(self.protocol),
            "bounds": self.bounds,
            "holds": self.status() == Status::Holds,
            "unique_states": self.check.unique_states,
            "transitions": self.check.transitions,
            "worlds": self.worlds.iter().map(|(name, it)| {
                json!({ "bounds": name, "states": it.states, "transitions": it.transitions })
            }).collect::<Vec<_>>(),
            "recordings": self.recordings.as_ref().map(|it| {
                json!({ "states": it.states, "transitions": it.transitions })
            }),
            "divergences": self.divergences().map(divergence_json).collect::<Vec<_>>(),
        })
    }
}
