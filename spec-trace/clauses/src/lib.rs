//! The clauses: the statements of the source documents, each with its level, basis, role, gist and source.
//!
//! What a clause is stands in `clauses/*.toml`. What states, judges and tests it is derived ([`links`]): the command sees the
//! model, the monitors and the seeded faults ([`faults`]), and hands in their tables.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub mod faults;
pub mod links;
pub mod nearest;
pub mod passages;

/// The name of one clause: document, section and ordinal, such as `AAEP-6.3.4-4`. It never changes its meaning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(transparent)]
pub struct ClauseId(String);

impl ClauseId {
    /// The id as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its constant in the model, such as `C6_3_4_4`.
    pub fn constant(&self) -> String {
        let texts = [("AAEP-", "C"), ("AQL-", "A")];
        let found = texts
            .iter()
            .find_map(|(text, letter)| Some((self.0.strip_prefix(text)?, *letter)));
        let (rest, letter) = found.unwrap_or((&self.0, ""));
        let is_number = rest.starts_with(|it: char| it.is_ascii_digit());
        let letter = if is_number { letter } else { "" };
        format!("{letter}{}", rest.replace(['.', '-'], "_"))
    }
}

impl Borrow<str> for ClauseId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClauseId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// How binding a clause is, in the words of RFC 2119.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
pub enum Level {
    /// Required.
    #[serde(rename = "MUST")]
    Must,
    /// Forbidden.
    #[serde(rename = "MUST NOT")]
    MustNot,
    /// Recommended.
    #[serde(rename = "SHOULD")]
    Should,
    /// Advised against.
    #[serde(rename = "SHOULD NOT")]
    ShouldNot,
    /// Left to choice.
    #[serde(rename = "MAY")]
    May,
    /// Informative, and yet it can be checked.
    #[serde(rename = "INFO")]
    Info,
}

impl Level {
    /// All of them, from the one that binds most.
    pub const ALL: [Self; 6] = [
        Self::Must,
        Self::MustNot,
        Self::Should,
        Self::ShouldNot,
        Self::May,
        Self::Info,
    ];

    /// Whether it makes a clause a duty: something required or forbidden.
    pub fn binds(self) -> bool {
        matches!(self, Self::Must | Self::MustNot)
    }

    /// The words of the text, as in `MUST NOT`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::MustNot => "MUST NOT",
            Self::Should => "SHOULD",
            Self::ShouldNot => "SHOULD NOT",
            Self::May => "MAY",
            Self::Info => "INFO",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Whom or what a clause binds.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
pub enum Role {
    /// The producer, adapter or host.
    #[serde(rename = "P")]
    Producer,
    /// The subscriber or client.
    #[serde(rename = "S")]
    Subscriber,
    /// The format of what goes over the wire.
    #[serde(rename = "W")]
    Wire,
    /// Conformance tooling.
    #[serde(rename = "T")]
    Tooling,
}

impl Role {
    /// The one letter that tables and JSON show.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Producer => "P",
            Self::Subscriber => "S",
            Self::Wire => "W",
            Self::Tooling => "T",
        }
    }

    /// The role in words.
    pub fn description(self) -> &'static str {
        match self {
            Self::Producer => "producer, adapter or host",
            Self::Subscriber => "subscriber or client",
            Self::Wire => "wire format",
            Self::Tooling => "conformance tooling",
        }
    }
}

/// What the level of a clause rests on.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The text gives the level: a passage has a word of RFC 2119 in capitals, or is a keyword of a JSON Schema.
    Normative,
    /// The text calls the passage informative, or only states a fact there.
    Informative,
    /// The text has no such word for it: the level is our inference.
    Inferred,
    /// Our statement of what other chapters have on the wire.
    WireFact,
}

impl Basis {
    /// The basis in words, as in `wire fact`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normative => "normative",
            Self::Informative => "informative",
            Self::Inferred => "inferred",
            Self::WireFact => "wire fact",
        }
    }

    /// The text with the basis behind it, in brackets, unless that is normative.
    pub fn behind(self, text: &str) -> String {
        match self {
            Self::Normative => text.to_owned(),
            Self::Informative | Self::Inferred | Self::WireFact => format!("{text} ({self})"),
        }
    }

    /// Why a clause has this basis, where its document does not give a reason.
    fn reason(self) -> &'static str {
        match self {
            Self::Normative => "the text gives the level",
            Self::Informative => "the text informs here and requires nothing",
            Self::Inferred => "the text has no MUST, SHOULD or MAY for it",
            Self::WireFact => "this project states what other chapters have on the wire",
        }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// One numbered statement of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Its name.
    pub id: ClauseId,
    /// How binding it is.
    pub level: Level,
    /// What the level rests on.
    pub basis: Basis,
    /// Why it has this basis, as in `Appendix A is informative`.
    pub because: String,
    /// Whom it binds.
    pub role: Role,
    /// What it says, in our words; the rule itself is what the source says.
    pub gist: String,
    /// Title of the document, and the place in it, as in `AAEP chapter 6, §6.3.4 item 4`.
    pub source: String,
    /// Title of the document alone.
    pub document: String,
    /// The protocol's name on the command line, such as `aaep`.
    pub protocol: String,
    /// What the model has of it; nothing of a clause that is no rule for a party of it.
    pub rule: Option<Rule>,
    /// The passages that it was read from.
    passages: Vec<passages::Row>,
}

/// A clause as a rule of the model, which can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it asks for, in a sentence.
    pub asks: String,
    /// The capabilities and kinds of output that it needs: of an implementation without one of them it says nothing.
    pub needs: Vec<String>,
    /// How its level is read, where that is another.
    pub read_as: Option<Level>,
    /// Other names by which the command line takes it where it is left out.
    pub aliases: Vec<String>,
    /// The sections of the text whose own code leaves it out.
    pub in_samples: Option<String>,
    /// Why nobody outside finds anything wrong where it is left out.
    pub free: Option<String>,
    /// It says once more what others say: it names a finding only where none of them does.
    pub last: bool,
}

impl Clause {
    /// The id as messages cite it: with the basis, unless that is normative, as in `AAEP-A.8-4 (informative)`.
    pub fn cited(&self) -> String {
        self.basis.behind(self.id.as_str())
    }
}

/// An id as messages cite it ([`Clause::cited`]). An id that no clause has stays as it is.
pub fn cited(id: &str) -> String {
    known(id).map_or_else(|| id.to_owned(), Clause::cited)
}

/// Ids as messages cite them, with commas between them. Several that share a basis name it once: `PA-7, PA-8 (all inferred)`.
pub fn cited_all(ids: impl IntoIterator<Item: AsRef<str>>) -> String {
    let ids: Vec<_> = ids.into_iter().collect();
    let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
    let basis_of = |id: &&str| known(id).map_or(Basis::Normative, |clause| clause.basis);
    if let [first, _, ..] = ids[..] {
        let basis = basis_of(&first);
        if basis != Basis::Normative && ids.iter().all(|id| basis_of(id) == basis) {
            return format!("{} (all {basis})", ids.join(", "));
        }
    }
    let cited: Vec<String> = ids.into_iter().map(cited).collect();
    cited.join(", ")
}

/// No clause has this id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown clause `{id}`{}", nearest::hint(.nearest))]
pub struct UnknownClause {
    /// The id that was asked for.
    pub id: String,
    /// The ids that look most like it, the likeliest first.
    pub nearest: Vec<ClauseId>,
}

/// Every clause, in the order of the documents.
pub fn all() -> &'static [Clause] {
    &REGISTRY.clauses
}

/// The clause with this id.
///
/// # Errors
///
/// [`UnknownClause`], with the ids that look most like the one asked for.
pub fn get(id: &str) -> Result<&'static Clause, UnknownClause> {
    known(id).ok_or_else(|| UnknownClause {
        id: id.to_owned(),
        nearest: {
            let known = REGISTRY.clauses.iter().map(|clause| clause.id.as_str());
            let nearest = nearest::ids(id, known).into_iter();
            nearest.map(|id| ClauseId(id.to_owned())).collect()
        },
    })
}

/// Where a clause stands among all, in the order of the documents; what is no clause stands last.
pub fn place(id: &str) -> usize {
    REGISTRY.positions.get(id).copied().unwrap_or(usize::MAX)
}

fn known(id: &str) -> Option<&'static Clause> {
    let position = REGISTRY.positions.get(id)?;
    Some(&REGISTRY.clauses[*position])
}

/// The clauses that an id stands for, in the order of the documents: the one with it, or where it is that of a section all clauses of the
/// section and those below it. Small letters will do.
///
/// # Errors
///
/// [`UnknownClause`], with the ids that look most like the one asked for.
pub fn meant(asked: &str) -> Result<Vec<&'static Clause>, UnknownClause> {
    let wanted = asked.to_ascii_uppercase();
    let clauses = all().iter();
    let meant: Vec<_> = clauses
        .filter(|it| covers(&wanted, it.id.as_str()))
        .collect();
    if meant.is_empty() {
        get(asked).map(|clause| vec![clause])
    } else {
        Ok(meant)
    }
}

/// Whether an id is the one asked for, or lies in that section. The id of a section ends where a number does, so that section 6.1 is not also
/// section 6.10.
pub fn covers(asked: &str, id: &str) -> bool {
    id.strip_prefix(asked)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
}

/// Clauses that follow one another and stem from one document.
pub fn by_document<'a>(clauses: &[&'a Clause]) -> Vec<Vec<&'a Clause>> {
    clauses
        .chunk_by(|one, next| one.document == next.document)
        .map(<[&Clause]>::to_vec)
        .collect()
}

/// The names of the protocols, in the order of the documents.
pub fn protocols() -> Vec<&'static str> {
    let mut names: Vec<&str> = all()
        .iter()
        .map(|clause| clause.protocol.as_str())
        .collect();
    names.dedup();
    names
}

/// A text that clauses were read from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// The protocol of its clauses.
    #[serde(skip_deserializing)]
    pub protocol: String,
    /// Its title.
    pub title: String,
    /// Its version, if it states one.
    pub version: Option<String>,
    /// Its date, if it states one.
    pub date: Option<String>,
    /// The first 12 digits of its SHA-256.
    pub sha256: String,
}

impl Text {
    /// Version and date, as the text states them.
    pub fn stated(&self) -> String {
        match (&self.version, &self.date) {
            (None, None) => "none stated".to_owned(),
            (Some(version), None) => format!("{version}, no date"),
            (None, Some(date)) => format!("no version, {date}"),
            (Some(version), Some(date)) => format!("{version}, {date}"),
        }
    }
}

/// The texts that were read, in the order of the protocols.
pub fn texts() -> &'static [Text] {
    &REGISTRY.texts
}

/// Those of one protocol.
pub fn texts_of(protocol: &str) -> Vec<&'static Text> {
    let all = texts().iter();
    all.filter(|it| it.protocol == protocol).collect()
}

/// The documents, as `clauses/` holds them.
const DOCUMENTS: [(&str, &str); 6] = [
    ("aaep-6.toml", include_str!("../aaep-6.toml")),
    ("aaep-reply.toml", include_str!("../aaep-reply.toml")),
    ("aaep-a.toml", include_str!("../aaep-a.toml")),
    ("aaep-ev.toml", include_str!("../aaep-ev.toml")),
    ("mcp-aql.toml", include_str!("../mcp-aql.toml")),
    (
        "pending-action.toml",
        include_str!("../pending-action.toml"),
    ),
];

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    // The files are part of the program, and a test reads them: a fault in them cannot reach a user.
    Registry::parse(&DOCUMENTS).unwrap_or_else(|fault| panic!("{fault}"))
});

/// All clauses, and where each id stands among them.
#[derive(Debug)]
struct Registry {
    texts: Vec<Text>,
    clauses: Vec<Clause>,
    positions: BTreeMap<ClauseId, usize>,
}

/// One file of `clauses/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    title: String,
    protocol: String,
    /// The basis of those of its clauses that do not have their own.
    basis: Basis,
    /// Why they have it.
    because: Option<String>,
    /// The text that they were read from; none of the wire facts.
    text: Option<Text>,
    clause: Vec<Entry>,
}

/// One clause of such a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: ClauseId,
    level: Level,
    basis: Option<Basis>,
    role: Role,
    section: String,
    gist: String,
    /// The passages that it was read from, the rule itself first: how many letters they have, and their hash; with `#2`, at the second place
    /// alone that has these; with `or`, where a document says it again. The facts of the wire are put together from several documents and
    /// have none.
    #[serde(default)]
    passages: Vec<passages::Row>,
    asks: Option<String>,
    #[serde(default)]
    needs: Vec<String>,
    read_as: Option<Level>,
    #[serde(default)]
    aliases: Vec<String>,
    in_samples: Option<String>,
    free: Option<String>,
    #[serde(default)]
    last: bool,
}

impl Entry {
    /// What the model makes of it.
    fn rule(&mut self) -> Option<Rule> {
        Some(Rule {
            asks: self.asks.take()?,
            needs: std::mem::take(&mut self.needs),
            read_as: self.read_as,
            aliases: std::mem::take(&mut self.aliases),
            in_samples: self.in_samples.take(),
            free: self.free.take(),
            last: self.last,
        })
    }
}

impl Registry {
    /// Reads the documents; the error names the file and what is wrong with it.
    fn parse(documents: &[(&str, &str)]) -> Result<Self, String> {
        let mut texts = Vec::new();
        let mut clauses = Vec::new();
        let mut positions = BTreeMap::new();
        for (file, source) in documents {
            let Document {
                title,
                protocol,
                basis,
                because,
                text,
                clause: entries,
            } = toml::from_str(source).map_err(|error| format!("{file}: {error}"))?;
            texts.extend(text.map(|text| Text {
                protocol: protocol.clone(),
                ..text
            }));
            for mut entry in entries {
                if positions.insert(entry.id.clone(), clauses.len()).is_some() {
                    return Err(format!("{file}: the id {} is there twice", entry.id));
                }
                let own = entry.basis.unwrap_or(basis);
                let of_document = because.as_deref().filter(|_| own == basis);
                clauses.push(Clause {
                    rule: entry.rule(),
                    id: entry.id,
                    level: entry.level,
                    basis: own,
                    because: of_document.unwrap_or(own.reason()).to_owned(),
                    role: entry.role,
                    gist: entry.gist,
                    source: format!("{title}, {}", entry.section),
                    document: title.clone(),
                    protocol: protocol.clone(),
                    passages: entry.passages,
                });
            }
        }
        Ok(Self {
            texts,
            clauses,
            positions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(clauses: &str) -> String {
        format!(
            "title = \"A text\"\nprotocol = \"p\"\nbasis = \"informative\"\nbecause = \"it says so\"\n{clauses}"
        )
    }

    fn entry(id: &str, level: &str) -> String {
        format!(
            "[[clause]]\nid = \"{id}\"\nlevel = \"{level}\"\nrole = \"P\"\nsection = \"§1\"\ngist = \"A rule.\"\n"
        )
    }

    fn fault(text: &str) -> String {
        Registry::parse(&[("file.toml", text)]).expect_err("a fault")
    }

    #[test]
    fn a_clause_takes_document_and_protocol_from_its_file() {
        let text = document(&entry("T-1", "MUST NOT"));
        let registry = Registry::parse(&[("file.toml", &text)]).expect("a sound file");
        let clause = &registry.clauses[0];
        assert_eq!(clause.source, "A text, §1");
        assert_eq!(clause.protocol, "p");
        assert_eq!(clause.level, Level::MustNot);
    }

    #[test]
    fn a_clause_has_the_basis_of_its_file_or_its_own_and_the_reason_that_goes_with_it() {
        let own = "[[clause]]\nid = \"T-2\"\nlevel = \"MUST\"\nbasis = \"inferred\"\nrole = \"P\"\nsection = \"§1\"\ngist = \"A rule.\"\n";
        let text = document(&(entry("T-1", "INFO") + own));
        let registry = Registry::parse(&[("file.toml", &text)]).expect("a sound file");
        let bases = registry.clauses.iter();
        let bases: Vec<_> = bases.map(|it| (it.basis, it.because.as_str())).collect();
        assert_eq!(
            bases,
            [
                (Basis::Informative, "it says so"),
                (
                    Basis::Inferred,
                    "the text has no MUST, SHOULD or MAY for it"
                ),
            ]
        );
    }

    #[test]
    fn messages_cite_the_basis_of_a_clause_unless_it_is_normative() {
        assert_eq!(cited("AAEP-6.3.4-4"), "AAEP-6.3.4-4");
        assert_eq!(cited("AAEP-A.8-4"), "AAEP-A.8-4 (informative)");
        assert_eq!(cited("PA-8"), "PA-8 (inferred)");
        assert_eq!(cited("AAEP-EV-5"), "AAEP-EV-5 (wire fact)");
        assert_eq!(cited("no clause"), "no clause");
        for (ids, expected) in [
            (&[][..], ""),
            (&["PA-8"], "PA-8 (inferred)"),
            (&["PA-7", "PA-8"], "PA-7, PA-8 (all inferred)"),
            (&["AAEP-6.1-1", "AAEP-6.1-2"], "AAEP-6.1-1, AAEP-6.1-2"),
            (
                &["AAEP-6.1-1", "AAEP-A.4-4"],
                "AAEP-6.1-1, AAEP-A.4-4 (informative)",
            ),
        ] {
            assert_eq!(cited_all(ids), expected);
        }
    }

    #[test]
    fn the_same_id_twice_is_a_fault_that_names_it() {
        let text = document(&(entry("T-1", "MUST") + &entry("T-1", "MAY")));
        assert_eq!(fault(&text), "file.toml: the id T-1 is there twice");
    }

    #[test]
    fn a_section_covers_whole_numbers_only() {
        assert!(covers("DOC-A.8", "DOC-A.8-4"));
        assert!(covers("DOC-6", "DOC-6.4.1-1"));
        assert!(covers("DOC-A.8-4", "DOC-A.8-4"));
        assert!(!covers("DOC-6.4.1-1", "DOC-6.4.1-10"));
        assert!(!covers("DOC-6.3.4", "DOC-6.3.45-1"));
        assert!(!covers("DOC-A.8-4", "DOC-A.8"));
    }

    #[test]
    fn an_id_stands_for_its_clause_and_that_of_a_section_for_those_in_it() {
        let ids = |asked: &str| -> Vec<&str> {
            let meant = meant(asked).expect("known");
            meant.iter().map(|it| it.id.as_str()).collect()
        };
        assert_eq!(ids("PA-1"), ["PA-1"]);
        // What is no whole id is put together here, since ids are written in full wherever a clause is cited.
        let section = format!("aaep-{}", "6.3.5");
        assert_eq!(ids(&section), ["AAEP-6.3.5-1", "AAEP-6.3.5-2"]);
        for unknown in ["6.3.45", "6.3.4-", ""] {
            let unknown = meant(&format!("AAEP-{unknown}")).expect_err("unknown");
            assert!(!unknown.nearest.is_empty());
        }
        assert!(meant("").is_err());
    }

    #[test]
    fn an_unknown_level_is_a_fault_that_names_file_and_line() {
        let message = fault(&document(&entry("T-1", "OUGHT")));
        assert!(message.starts_with("file.toml: "), "{message}");
        assert!(message.contains("line 7"), "{message}");
        assert!(message.contains("OUGHT"), "{message}");
    }

    #[test]
    fn an_unknown_field_is_a_fault() {
        let text = document(&(entry("T-1", "MUST") + "links = []\n"));
        assert!(fault(&text).contains("links"));
    }
}
