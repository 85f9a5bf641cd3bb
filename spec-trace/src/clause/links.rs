//! What states, carries out and tests each clause: links from clauses to the sources.
//!
//! The one thing to know: links are derived. The build script finds every id that the sources cite; the model's tables
//! name its properties and guards; only a deliberate gap is written down, in `clauses/exceptions.toml`, with its reason.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use countersign_model::aaep::AaepText;
use countersign_model::mcp_aql::McpAqlText;
use countersign_model::pending_action::PendingActionText;
use countersign_model::specification::Text;
use countersign_model::table::Tabled;
use serde::{Deserialize, Serialize};

use super::{Clause, ClauseId, UnknownClause};

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    /// A test that cites it.
    Test,
    /// A fuzz target that would see it broken.
    Fuzz,
    /// The test vectors.
    Vector,
    /// The reason why nothing can check it.
    Exception,
}

impl Kind {
    /// Every kind, in the order in which links are shown.
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

    /// The one letter that tables show; an exception is an `x`.
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
        }
    }
}

/// One link of a clause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
        let file = |link: &Self| -> Option<String> {
            let (file, _) = link.at.as_deref()?.rsplit_once(':')?;
            Some(file.to_owned())
        };
        self.kind == other.kind && self.name == other.name && file(self) == file(other)
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

/// The links of a clause, in the order of [`Kind::ALL`] and then of their places; empty if it has none.
pub fn of(clause: &Clause) -> &'static [Link] {
    LINKS.get(clause.id.as_str()).map_or(&[], Vec::as_slice)
}

/// How many links of a kind a clause has.
pub fn count(clause: &Clause, kind: Kind) -> usize {
    of(clause).iter().filter(|link| link.kind == kind).count()
}

/// Every citation in the sources, and every exception, that names no clause.
pub fn mistaken() -> Vec<Mistaken> {
    let cited = CITATIONS
        .iter()
        .map(|citation| (citation.id, citation.at()));
    let excepted = EXCEPTIONS
        .iter()
        .map(|(id, _)| (id.as_str(), "spec-trace/clauses/exceptions.toml".to_owned()));
    cited
        .chain(excepted)
        .filter_map(|(id, at)| {
            let unknown = super::get(id).err()?;
            Some(Mistaken { at, unknown })
        })
        .collect()
}

/// The clauses that have an exception and are checked all the same.
pub fn stale_exceptions() -> Vec<&'static Clause> {
    super::all()
        .iter()
        .filter(|clause| {
            let exceptions = count(clause, Kind::Exception);
            exceptions > 0 && of(clause).len() > exceptions
        })
        .collect()
}

include!(concat!(env!("OUT_DIR"), "/citations.rs"));

/// An id that a source cites, as the build script found it.
struct Citation {
    id: &'static str,
    /// What the citation links the clause to; `None` where it is no evidence, say in the heading of a module.
    kind: Option<Kind>,
    name: &'static str,
    file: &'static str,
    line: usize,
}

impl Citation {
    fn at(&self) -> String {
        place(self.file, self.line)
    }
}

/// A row of one of the model's tables: its kind, its name, its clauses, and where it stands.
type Row = (Kind, &'static str, &'static [&'static str], Option<String>);

/// The rows of the model's tables, protocol by protocol.
fn model_tables() -> Vec<Row> {
    [
        tables::<AaepText>(),
        tables::<McpAqlText>(),
        tables::<PendingActionText>(),
    ]
    .concat()
}

/// The rows of one protocol's tables; its files lie in the folder of its name. What has to be possible is a property like
/// what has to hold.
fn tables<T: Text>() -> Vec<Row> {
    let folder = format!("/{}/", T::NAME.replace('-', "_"));
    let named = |name, file: &str| {
        let suffix = format!("{folder}{file}");
        find(MODEL_NAMES, name, |file| file.ends_with(&suffix))
    };
    let guards = T::Guard::ROWS.iter().map(|row| {
        // Where the model asks for the guard says more than the row of the table.
        let variant = format!("{:?}", row.guard);
        let at = find(GUARD_PLACES, &variant, |file| file.contains(&folder))
            .or_else(|| named(row.name, "rules.rs"));
        (Kind::Guard, row.name, row.clauses, at)
    });
    let invariants = T::Invariant::ROWS.iter().map(|row| {
        let at = named(row.name, "properties.rs");
        (Kind::Property, row.name, row.clauses, at)
    });
    let witnesses = T::Witness::ROWS.iter().map(|row| {
        let at = named(row.name, "witness.rs");
        (Kind::Property, row.name, row.clauses, at)
    });
    guards
        .chain(compared::<T>())
        .chain(invariants)
        .chain(witnesses)
        .collect()
}

/// The guards that the fuzz target of the protocol's runs holds against the executor, step by step. A test leaves each of
/// them out and sees that for every clause the target notices.
fn compared<T: Text>() -> impl Iterator<Item = Row> {
    let schedule = format!("{}_schedule", T::NAME.replace('-', "_"));
    let target = HARNESS.iter().find(|(name, ..)| *name == schedule);
    target.into_iter().flat_map(|&(name, file, line)| {
        let rows = T::Guard::ROWS.iter();
        rows.map(move |row| (Kind::Fuzz, name, row.clauses, Some(place(file, line))))
    })
}

/// Where a text stands, in the first of the files that count.
fn find(
    places: &[(&str, &'static str, usize)],
    wanted: &str,
    counts: impl Fn(&str) -> bool,
) -> Option<String> {
    places
        .iter()
        .find(|&&(text, file, _)| text == wanted && counts(file))
        .map(|&(_, file, line)| place(file, line))
}

fn place(file: &str, line: usize) -> String {
    format!("{file}:{line}")
}

static LINKS: LazyLock<BTreeMap<&'static str, Vec<Link>>> = LazyLock::new(|| {
    let mut links: BTreeMap<&'static str, Vec<Link>> = BTreeMap::new();
    let mut add = |id: &'static str, kind: Kind, name: &str, at: Option<String>| {
        let links = links.entry(id).or_default();
        let name = name.to_owned();
        let link = Link { kind, name, at };
        // An item that cites a clause several times is one link, to the first of the places.
        if !links.iter().any(|known| known.is_same_item(&link)) {
            links.push(link);
        }
    };
    for (kind, name, clauses, at) in model_tables() {
        for id in clauses {
            add(id, kind, name, at.clone());
        }
    }
    for citation in CITATIONS {
        if let Some(kind) = citation.kind {
            add(citation.id, kind, citation.name, Some(citation.at()));
        }
    }
    for (id, reason) in EXCEPTIONS.iter() {
        add(id.as_str(), Kind::Exception, reason, None);
    }
    for links in links.values_mut() {
        // A stable sort: within a kind, links stay in the order of files and lines.
        links.sort_by_key(|link| link.kind);
    }
    links
});

/// The deliberate gaps: each clause with the reason why nothing can check it.
static EXCEPTIONS: LazyLock<Vec<(ClauseId, String)>> = LazyLock::new(|| {
    // The file is part of the program, and a test reads it: a fault in it cannot reach a user.
    let file: ExceptionFile = toml::from_str(include_str!("../../clauses/exceptions.toml"))
        .unwrap_or_else(|error| panic!("exceptions.toml: {error}"));
    file.exception
        .into_iter()
        .flat_map(|Exception { clauses, reason }| {
            clauses.into_iter().map(move |id| (id, reason.clone()))
        })
        .collect()
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExceptionFile {
    exception: Vec<Exception>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    clauses: Vec<ClauseId>,
    reason: String,
}
