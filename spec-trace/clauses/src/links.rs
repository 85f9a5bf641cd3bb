//! What states, carries out and tests each clause: links from clauses to the sources.
//!
//! The one thing to know: links are derived. Whoever sees the sources hands in what they cite, what the model states and
//! what the tests were seen to show ([`Links::derive`]); only a deliberate gap is written down, in `exceptions.toml`, with
//! its reason, and so is a duty that no rule of a model stands for ([`without_rule`]), or that the executor has nothing to do
//! for ([`without_branch`]). That a test names a clause is a mention, which is shown and counts for nothing.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Clause, ClauseId, UnknownClause};

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A guard of the model: the rule as something that can be left out.
    Guard,
    /// A property of the model that states the clause, or shows its case.
    Property,
    /// Code of the reference executor that carries it out.
    Reference,
    /// A monitor that judges it in recorded streams.
    Monitor,
    /// A test that saw it at work, or was seen to fail without it.
    Test,
    /// A fuzz target that would see it broken.
    Fuzz,
    /// The test vectors.
    Vector,
    /// The reason why nothing can check it.
    Exception,
    /// A test or fuzz target that names it, which is no evidence.
    Mention,
}

impl Kind {
    /// Every kind that counts, in the order in which links are shown.
    pub const ALL: [Self; 8] = [
        Self::Guard,
        Self::Property,
        Self::Reference,
        Self::Monitor,
        Self::Test,
        Self::Fuzz,
        Self::Vector,
        Self::Exception,
    ];

    /// The one letter that tables show; an exception is an `x`, and a mention is in none of them.
    pub fn letter(self) -> char {
        match self {
            Self::Guard => 'g',
            Self::Property => 'p',
            Self::Reference => 'r',
            Self::Monitor => 'm',
            Self::Test => 't',
            Self::Fuzz => 'f',
            Self::Vector => 'v',
            Self::Exception => 'x',
            Self::Mention => '-',
        }
    }

    /// The heading over links of this kind.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Guard => "guarded in the model by",
            Self::Property => "stated by the property",
            Self::Reference => "carried out by the executor in",
            Self::Monitor => "judged in recorded streams by",
            Self::Test => "tested by",
            Self::Fuzz => "fuzzed by",
            Self::Vector => "in the test vectors",
            Self::Exception => "not checkable",
            Self::Mention => "mentioned in",
        }
    }
}

/// One link of a clause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Link {
    /// What it leads to.
    pub kind: Kind,
    /// Name of the property, guard, item or test; for an exception, the reason.
    pub name: String,
    /// Where that is, as `file:line` seen from the root of the workspace; `None` for an exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl Link {
    /// Whether both lead to one item: tests of the same name in two files are two.
    fn is_same_item(&self, other: &Self) -> bool {
        self.kind == other.kind && self.name == other.name && self.file() == other.file()
    }

    /// Whether a test mentions the clause that is among those which show it.
    fn is_mention_of_one_of(&self, links: &[Self]) -> bool {
        let shows = |link: &Self| {
            link.kind == Kind::Test && link.name == self.name && link.file() == self.file()
        };
        self.kind == Kind::Mention && links.iter().any(shows)
    }

    fn file(&self) -> Option<&str> {
        let (file, _) = self.at.as_deref()?.rsplit_once(':')?;
        Some(file)
    }
}

/// A citation that names no clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {unknown}")]
pub struct Mistaken {
    /// Where it stands, as `file:line`.
    pub at: String,
    /// What stands there, and what may have been meant.
    pub unknown: UnknownClause,
}

/// An id that a source cites.
#[derive(Clone, Copy, Debug)]
pub struct Citation {
    /// The id.
    pub id: &'static str,
    /// What the citation links the clause to; `None` where it is no evidence, say in the heading of a module.
    pub kind: Option<Kind>,
    /// Name of the item or test.
    pub name: &'static str,
    /// The file, seen from the root of the workspace.
    pub file: &'static str,
    /// The line, from 1.
    pub line: usize,
}

impl Citation {
    fn at(&self) -> String {
        place(self.file, self.line)
    }
}

/// What links some clauses to one thing: its kind, its name, the clauses, and where it stands, as `file:line`.
pub type Row = (Kind, String, Vec<&'static str>, Option<String>);

/// A place in the sources, as links tell it.
pub fn place(file: &str, line: usize) -> String {
    format!("{file}:{line}")
}

/// The links of all clauses.
#[derive(Debug)]
pub struct Links {
    citations: &'static [Citation],
    by_clause: BTreeMap<&'static str, Vec<Link>>,
}

impl Links {
    /// The links that follow from the model's tables and what the tests show, from what the sources cite, and from the
    /// exceptions.
    pub fn derive(rows: impl IntoIterator<Item = Row>, citations: &'static [Citation]) -> Self {
        let mut by_clause: BTreeMap<&'static str, Vec<Link>> = BTreeMap::new();
        let mut add = |id: &'static str, kind: Kind, name: &str, at: Option<String>| {
            let links = by_clause.entry(id).or_default();
            let name = name.to_owned();
            let link = Link { kind, name, at };
            // An item that cites a clause several times is one link, to the first of the places.
            if !links.iter().any(|known| known.is_same_item(&link)) {
                links.push(link);
            }
        };
        for (kind, name, clauses, at) in rows {
            for id in clauses {
                add(id, kind, &name, at.clone());
            }
        }
        for citation in citations {
            if let Some(kind) = citation.kind {
                add(citation.id, kind, citation.name, Some(citation.at()));
            }
        }
        for gap in &GAPS.exception {
            for id in &gap.clauses {
                add(id.as_str(), Kind::Exception, &gap.reason, None);
            }
        }
        for links in by_clause.values_mut() {
            let shown = links.clone();
            links.retain(|link| !link.is_mention_of_one_of(&shown));
            // A stable sort: within a kind, links stay in the order of files and lines.
            links.sort_by_key(|link| link.kind);
        }
        Self {
            citations,
            by_clause,
        }
    }

    /// The links of a clause, in the order of [`Kind::ALL`] and then of their places; empty if it has none.
    pub fn of(&self, clause: &Clause) -> &[Link] {
        let links = self.by_clause.get(clause.id.as_str());
        links.map_or(&[], Vec::as_slice)
    }

    /// Whether anything but a mention links the clause.
    pub fn is_covered(&self, clause: &Clause) -> bool {
        let mut links = self.of(clause).iter();
        links.any(|link| link.kind != Kind::Mention)
    }

    /// How many links of a kind a clause has.
    pub fn count(&self, clause: &Clause, kind: Kind) -> usize {
        let links = self.of(clause).iter();
        links.filter(|link| link.kind == kind).count()
    }

    /// Every citation in the sources, and every deliberate gap, that names no clause.
    pub fn mistaken(&self) -> Vec<Mistaken> {
        let cited = self
            .citations
            .iter()
            .map(|citation| (citation.id, citation.at()));
        let duties = GAPS.without_rule.iter().chain(&GAPS.without_branch);
        let gaps = GAPS.exception.iter().chain(duties);
        let gaps = gaps
            .flat_map(|gap| &gap.clauses)
            .map(|id| (id.as_str(), "spec-trace/clauses/exceptions.toml".to_owned()));
        cited
            .chain(gaps)
            .filter_map(|(id, at)| {
                let unknown = crate::get(id).err()?;
                Some(Mistaken { at, unknown })
            })
            .collect()
    }

    /// The clauses that have an exception and are checked all the same.
    pub fn stale_exceptions(&self) -> Vec<&'static Clause> {
        crate::all()
            .iter()
            .filter(|clause| {
                let mut links = self.of(clause).iter();
                let checks = |link: &Link| !matches!(link.kind, Kind::Exception | Kind::Mention);
                self.count(clause, Kind::Exception) > 0 && links.any(checks)
            })
            .collect()
    }
}

/// Why no rule of a model stands for a clause, so that none can be left out; `None` where nothing says so.
pub fn without_rule(clause: &Clause) -> Option<&'static str> {
    reason(&GAPS.without_rule, clause).or_else(|| reason(&GAPS.exception, clause))
}

/// Why no place in the reference executor carries a clause out; `None` where nothing says so.
pub fn without_branch(clause: &Clause) -> Option<&'static str> {
    reason(&GAPS.without_branch, clause).or_else(|| reason(&GAPS.exception, clause))
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

    const TEST: &str = "tests/steps.rs";

    const fn mention(id: &'static str, name: &'static str, line: usize) -> Citation {
        Citation {
            id,
            kind: Some(Kind::Mention),
            name,
            file: TEST,
            line,
        }
    }

    static MENTIONS: [Citation; 2] = [mention("PA-5", "one", 3), mention("PA-5", "two", 9)];

    fn shown(rows: Vec<Row>) -> (Vec<(Kind, String)>, bool) {
        let links = Links::derive(rows, &MENTIONS);
        let clause = crate::get("PA-5").expect("a clause");
        let of_clause = links.of(clause).iter();
        let of_clause = of_clause.map(|link| (link.kind, link.name.clone()));
        (of_clause.collect(), links.is_covered(clause))
    }

    #[test]
    fn a_clause_that_is_mentioned_alone_is_open() {
        let one = (Kind::Mention, "one".to_owned());
        let two = (Kind::Mention, "two".to_owned());
        assert_eq!(shown(vec![]), (vec![one, two], false));
    }

    #[test]
    fn a_test_that_shows_what_it_mentions_is_one_link() {
        let row = |file| {
            (
                Kind::Test,
                "two".to_owned(),
                vec!["PA-5"],
                Some(place(file, 10)),
            )
        };
        let one = (Kind::Mention, "one".to_owned());
        let two = (Kind::Mention, "two".to_owned());
        let test = (Kind::Test, "two".to_owned());
        let shows = (vec![test.clone(), one.clone()], true);
        assert_eq!(shown(vec![row(TEST)]), shows);
        // A test of the same name in another file is another.
        let elsewhere = (vec![test, one, two], true);
        assert_eq!(shown(vec![row("tests/others.rs")]), elsewhere);
    }
}
