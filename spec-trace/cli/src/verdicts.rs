//! Verdicts of `check` and `verify` as others rely on them: the JSON shapes, and the same in words.

use countersign_clauses::{Level, cited, cited_all, texts_of};
use countersign_conform::Divergence;
use countersign_conform::edges::Walk;
use countersign_conform::steps::{numbered, steps_json};
use countersign_model::checker::{CheckReport, Kind, PropertyVerdict};
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
        "pairs": report.pairs,
        "edges": report.edges,
        "depth": report.depth,
        "seconds": seconds,
        "properties": report.properties.iter().map(property).collect::<Vec<_>>(),
    })
}

/// One divergence between model and executor.
pub fn divergence_json(divergence: &Divergence) -> Value {
    json!({
        "clause": divergence.disagreement.clause,
        "steps": steps_json(&divergence.steps),
        "expected": divergence.disagreement.expected,
        "actual": divergence.disagreement.actual,
        "required": divergence.disagreement.required,
    })
}

/// One divergence in words.
pub fn divergence_text(divergence: &Divergence) -> String {
    let disagreement = &divergence.disagreement;
    let level = countersign_clauses::get(disagreement.clause)
        .map(|clause| format!(" {}: {}", clause.level, clause.gist))
        .unwrap_or_default();
    let required = disagreement.required.as_ref();
    let required = required.map(|text| format!("   required      {text}\n"));
    format!(
        "divergence of the executor from the model\n{}   goes against  {}{level}\n{}   expected      {}\n   seen          {}\n",
        numbered(&divergence.steps),
        cited(disagreement.clause),
        required.unwrap_or_default(),
        disagreement.expected,
        disagreement.actual,
    )
}

/// Model check and walk of one protocol, as `verify` tells them.
pub struct Verified {
    /// The protocol, by its name on the command line.
    pub protocol: &'static str,
    /// The bounds preset.
    pub bounds: String,
    /// The model check.
    pub check: CheckReport,
    /// How long it took, in seconds.
    pub check_seconds: f64,
    /// Every edge, one executor for each model state.
    pub edges: Walk,
    /// Every edge of the literal model within the bounds of that name, where it was asked for.
    pub literal: Option<(&'static str, Walk)>,
    /// Every edge at the smallest bounds, over pairs of model state and executor; nothing where each state of the search holds
    /// that of the executor.
    pub pairs: Option<Walk>,
    /// Every edge within each of the bounds that the protocol sets aside for what others go without, with their name.
    pub aside: Vec<(&'static str, Walk)>,
    /// Every edge over pairs of model state and judge, where the protocol's streams are recorded and judged: whom the judge
    /// accuses.
    pub judged: Option<Walk>,
}

/// One walk, and what it is to show.
struct Comparison<'a> {
    /// What holds if nothing diverges.
    what: String,
    walk: &'a Walk,
    /// Whether it went everywhere.
    is_whole: bool,
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
    /// Whether all properties hold, model and executor agree, and the walks went everywhere.
    pub fn status(&self) -> Status {
        let agrees = Status::of(self.divergences().next().is_none());
        let whole = Status::if_exercised(self.is_whole());
        check_status(&self.check).over(agrees).over(whole)
    }

    /// Whether the walks went everywhere: over as many states and transitions as the search has found, and over every
    /// state paired with an executor. A walk that ended early shows nothing.
    pub fn is_whole(&self) -> bool {
        self.comparisons().all(|it| it.is_whole)
    }

    /// All divergences found, those of the literal model first: their steps say what was really sent.
    pub fn divergences(&self) -> impl Iterator<Item = &Divergence> {
        self.comparisons().flat_map(|it| &it.walk.divergences)
    }

    /// Every walk.
    fn comparisons(&self) -> impl Iterator<Item = Comparison<'_>> {
        let of_executor = |what: &str, walk, is_whole| Comparison {
            what: what.to_owned(),
            walk,
            is_whole,
        };
        let edges = &self.edges;
        let literal = self.literal.as_ref().map(|(_, walk)| {
            let what = "the executor does as the literal model on every edge";
            of_executor(what, walk, walk.edges > 0)
        });
        let as_searched = edges.nodes == self.check.unique_states as u64
            && edges.edges == self.check.transitions as u64;
        let judged = self.judged.as_ref().map(|walk| Comparison {
            what: "no run that the model allows is accused when it is recorded".to_owned(),
            walk,
            is_whole: walk.edges > 0,
        });
        let aside = self.aside.iter().map(move |(bounds, walk)| {
            let what = format!("the executor does as the model on every edge at {bounds} bounds");
            of_executor(&what, walk, walk.edges > 0)
        });
        let of_states = of_executor(
            "the executor does as the model on every edge",
            edges,
            edges.edges > 0 && as_searched,
        );
        let of_pairs = self.pairs.as_ref().map(|pairs| {
            let what = "the executor does as the model on every edge, in each of its own states";
            of_executor(what, pairs, pairs.edges > 0)
        });
        let usual = [of_states].into_iter().chain(of_pairs);
        let usual = usual.chain(aside).chain(judged);
        literal.into_iter().chain(usual)
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
            "edges": self.edges.edges,
            "pairs": self.pairs.as_ref().unwrap_or(&self.edges).nodes,
            "literal": self.literal.as_ref().map(|(bounds, walk)| {
                json!({ "bounds": bounds, "states": walk.nodes, "edges": walk.edges })
            }),
            "aside": self.aside.iter().map(|(bounds, walk)| {
                json!({ "bounds": bounds, "states": walk.nodes, "edges": walk.edges })
            }).collect::<Vec<_>>(),
            "judged": self.judged.as_ref().map(|judged| {
                json!({ "pairs": judged.nodes, "edges": judged.edges })
            }),
            "divergences": self.divergences().map(divergence_json).collect::<Vec<_>>(),
        })
    }
}
