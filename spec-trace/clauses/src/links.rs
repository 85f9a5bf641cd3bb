//! What is known of each clause as data: links to what states, judges and tests it.
//!
//! Links are derived. The caller hands in the rows of the tables that it sees ([`Links::derive`]). `exceptions.toml` holds the
//! deliberate gaps, each with its reason: what nothing can check, the duties that no rule of a model stands for
//! ([`without_rule`]), and those that the executor has nothing to do for ([`without_branch`]).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Clause, ClauseId};

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A guard of the model: the rule as something that can be left out.
    Guard,
    /// A property of the model that states the clause, or shows its case.
    Property,
    /// The monitor that judges it in recordings.
    Monitor,
    /// A test that was seen to fail where the clause is broken.
    Test,
    /// The reason why nothing can check it.
    Exception,
    /// A line of a source tree that names it.
    Mention,
}

impl Kind {
    /// Every kind but mentions, in the order in which links are shown.
    pub const ALL: [Self; 5] = [
        Self::Guard,
        Self::Property,
        Self::Monitor,
        Self::Test,
        Self::Exception,
    ];

    /// The one letter that tables show. A mention is in none of them.
    pub fn letter(self) -> char {
        match self {
            Self::Guard => 'g',
            Self::Property => 'p',
            Self::Monitor => 'm',
            Self::Test => 't',
            Self::Exception => 'x',
            Self::Mention => '-',
        }
    }

    /// The heading over links of this kind.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Guard => "guarded in the model by",
            Self::Property => "stated by the property",
            Self::Monitor => "judged in recordings by",
            Self::Test => "fails where it is broken",
            Self::Exception => "not checkable",
            Self::Mention => "named in",
        }
    }
}

/// One link of a clause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Link {
    /// What it leads to.
    pub kind: Kind,
    /// Name of the property, guard, monitor or test; for an exception, the reason; for a mention, the text of the line.
    pub name: String,
    /// Where a mention stands, as `file:line` seen from the folder that was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// What links some clauses to one thing: its kind, its name and the clauses.
pub type Row = (Kind, String, Vec<&'static str>);

/// The links of all clauses.
#[derive(Debug)]
pub struct Links {
    by_clause: BTreeMap<&'static str, Vec<Link>>,
}

impl Links {
    /// The links that follow from these rows and from the exceptions.
    pub fn derive(rows: impl IntoIterator<Item = Row>) -> Self {
        let exceptions = GAPS.exception.iter().map(|gap| {
            let clauses = gap.clauses.iter().map(ClauseId::as_str);
            (Kind::Exception, gap.reason.clone(), clauses.collect())
        });
        let mut by_clause: BTreeMap<&'static str, Vec<Link>> = BTreeMap::new();
        for (kind, name, clauses) in rows.into_iter().chain(exceptions) {
            for id in clauses {
                let links = by_clause.entry(id).or_default();
                if !links.iter().any(|it| it.kind == kind && it.name == name) {
                    let name = name.clone();
                    links.push(Link {
                        kind,
                        name,
                        at: None,
                    });
                }
            }
        }
        for links in by_clause.values_mut() {
            // A stable sort: within a kind, links stay in the order of the rows.
            links.sort_by_key(|link| link.kind);
        }
        Self { by_clause }
    }

    /// The links of a clause, in the order of [`Kind::ALL`]; empty if it has none.
    pub fn of(&self, clause: &Clause) -> &[Link] {
        let links = self.by_clause.get(clause.id.as_str());
        links.map_or(&[], Vec::as_slice)
    }

    /// How many links of a kind a clause has.
    pub fn count(&self, clause: &Clause, kind: Kind) -> usize {
        let links = self.of(clause).iter();
        links.filter(|link| link.kind == kind).count()
    }
}

/// Why nothing can check a clause; `None` where nothing says so.
pub fn not_checkable(clause: &Clause) -> Option<&'static str> {
    reason(&GAPS.exception, clause)
}

/// Why no rule of a model stands for a clause, so that none can be left out; `None` where nothing says so.
pub fn without_rule(clause: &Clause) -> Option<&'static str> {
    reason(&GAPS.without_rule, clause).or_else(|| not_checkable(clause))
}

/// Why no place in the reference executor carries a clause out; `None` where nothing says so.
pub fn without_branch(clause: &Clause) -> Option<&'static str> {
    reason(&GAPS.without_branch, clause).or_else(|| not_checkable(clause))
}

fn reason(gaps: &'static [Gap], clause: &Clause) -> Option<&'static str> {
    let mut of_clause = gaps.iter().filter(|gap| gap.clauses.contains(&clause.id));
    of_clause.next().map(|gap| gap.reason.as_str())
}

/// The clauses that are said to have no rule, apart from those that nothing can check.
pub fn said_to_have_no_rule() -> impl Iterator<Item = &'static ClauseId> {
    GAPS.without_rule.iter().flat_map(|gap| &gap.clauses)
}

/// The clauses that are said to have no place in the executor, apart from those that nothing can check.
pub fn said_to_have_no_branch() -> impl Iterator<Item = &'static ClauseId> {
    GAPS.without_branch.iter().flat_map(|gap| &gap.clauses)
}

/// The deliberate gaps.
static GAPS: LazyLock<Gaps> = LazyLock::new(|| {
    // The file is part of the program, and a test reads it: a fault in it cannot reach a user.
    toml::from_str(include_str!("../exceptions.toml"))
        .unwrap_or_else(|error| panic!("exceptions.toml: {error}"))
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gaps {
    /// What nothing can check.
    exception: Vec<Gap>,
    /// What no rule of a model stands for.
    #[serde(default)]
    without_rule: Vec<Gap>,
    /// What the executor has nothing to do for.
    without_branch: Vec<Gap>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gap {
    clauses: Vec<ClauseId>,
    reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slip would leave a clause without its reason, unseen.
    #[test]
    fn every_gap_is_one_of_a_clause_that_exists() {
        let duties = GAPS.without_rule.iter().chain(&GAPS.without_branch);
        for id in GAPS
            .exception
            .iter()
            .chain(duties)
            .flat_map(|it| &it.clauses)
        {
            assert!(crate::get(id.as_str()).is_ok(), "{id}");
        }
    }

    #[test]
    fn a_thing_that_two_rows_name_is_one_link_and_kinds_stand_in_their_order() {
        let row = |kind, name: &str| (kind, name.to_owned(), vec!["PA-5"]);
        let (test, guard) = (row(Kind::Test, "two"), row(Kind::Guard, "one"));
        let links = Links::derive([test.clone(), guard, test]);
        let clause = crate::get("PA-5").expect("a clause");
        let of_clause = links.of(clause).iter();
        let of_clause: Vec<_> = of_clause.map(|it| (it.kind, it.name.as_str())).collect();
        assert_eq!(of_clause, [(Kind::Guard, "one"), (Kind::Test, "two")]);
    }
}
