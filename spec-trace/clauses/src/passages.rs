//! Passages: from which words of the documents each clause was read, and whether a copy of them still has these words.
//!
//! The one thing to know: the project holds no sentence of the documents, only how many letters a passage has and their hash
//! (`clauses/passages.toml`). Letters and digits alone count, in lower case, so that neither line breaks nor markup make a difference. Whoever
//! adds a clause writes its row with [`Passage::of`]: a test prints it (`docs/ADDING.md`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::{Clause, all};

/// So many letters with this hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Passage {
    letters: usize,
    hash: u64,
}

impl Passage {
    /// The passage with these words.
    pub fn of(words: &str) -> Passage {
        let letters = letters(words);
        Passage {
            letters: letters.len(),
            hash: letters.iter().fold(0, |hash, it| append(hash, it.0)),
        }
    }
}

impl fmt::Display for Passage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:016x}", self.letters, self.hash)
    }
}

impl From<Passage> for String {
    fn from(passage: Passage) -> String {
        passage.to_string()
    }
}

impl TryFrom<String> for Passage {
    type Error = String;

    fn try_from(text: String) -> Result<Passage, String> {
        let read = text.split_once(' ').and_then(|(letters, hash)| {
            let letters = letters.parse().ok()?;
            let hash = u64::from_str_radix(hash, 16).ok()?;
            Some(Passage { letters, hash })
        });
        read.ok_or_else(|| format!("`{text}` is no number of letters and hash"))
    }
}

/// The letters of a text in lower case, each with where it begins.
fn letters(text: &str) -> Vec<(char, usize)> {
    let places = text.char_indices().filter(|(_, it)| it.is_alphanumeric());
    places
        .flat_map(|(place, it)| it.to_lowercase().map(move |it| (it, place)))
        .collect()
}

/// The hash is the letters as digits of a number to this base, modulo a Mersenne prime: that of the next window follows from the last.
const BASE: u64 = 1_000_003;
const PRIME: u64 = (1 << 61) - 1;

fn times(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other) % u128::from(PRIME);
    u64::try_from(product).unwrap_or_default()
}

fn append(hash: u64, letter: char) -> u64 {
    (times(hash, BASE) + u64::from(u32::from(letter))) % PRIME
}

/// One file of an editor's copy.
pub struct Copy {
    /// Its name.
    pub name: String,
    /// What stands in it.
    pub text: String,
    letters: Vec<(char, usize)>,
}

impl Copy {
    /// A file with this name and text.
    pub fn new(name: String, text: String) -> Copy {
        let letters = letters(&text);
        Copy {
            name,
            text,
            letters,
        }
    }

    /// Where each of these passages stands that does, as bytes of the text.
    fn places(&self, passages: &BTreeSet<Passage>) -> BTreeMap<Passage, Vec<Range<usize>>> {
        let mut places: BTreeMap<Passage, Vec<Range<usize>>> = BTreeMap::new();
        let lengths: BTreeSet<usize> = passages.iter().map(|it| it.letters).collect();
        for letters in lengths.into_iter().filter(|it| *it > 0) {
            let first = (1..letters).fold(1, |power, _| times(power, BASE));
            let mut hash = 0;
            for (end, (letter, at)) in self.letters.iter().enumerate() {
                if let Some(leaving) = end.checked_sub(letters) {
                    let leaving = u64::from(u32::from(self.letters[leaving].0));
                    hash = (hash + PRIME - times(leaving, first)) % PRIME;
                }
                hash = append(hash, *letter);
                let passage = Passage { letters, hash };
                if end + 1 >= letters && passages.contains(&passage) {
                    let width = self.text[*at..].chars().next().map_or(0, char::len_utf8);
                    let place = self.letters[end + 1 - letters].1..at + width;
                    places.entry(passage).or_default().push(place);
                }
            }
        }
        places
    }

    /// The line on which a byte stands, from 1.
    pub fn line(&self, at: usize) -> usize {
        1 + self.text[..at].matches('\n').count()
    }

    /// The line on which a section begins: the first that has its number as a heading has it.
    fn section(&self, number: &str) -> Option<usize> {
        let is_heading = |line: &str| {
            let line = line.trim_start_matches(['#', '*', ' ', '§']);
            let rest = line.strip_prefix(number);
            rest.is_some_and(|rest| {
                let rest = rest.strip_prefix('.').unwrap_or(rest);
                rest.starts_with([' ', '\t', ':', '*']) || rest.is_empty()
            })
        };
        let mut lines = self.text.lines();
        lines.position(is_heading).map(|place| place + 1)
    }
}

/// A copy, and where each passage stands in it that does.
struct Searched<'a> {
    copy: &'a Copy,
    places: BTreeMap<Passage, Vec<Range<usize>>>,
}

/// What has become of the words of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// They stand there.
    Same,
    /// Some of them do not stand there: the clause is to be read again.
    Changed,
    /// Nor is its section there: the clause has lost its ground.
    Lost,
    /// No file holds its document.
    Absent,
}

/// One place in a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The words, on one line.
    pub text: String,
}

/// A clause beside the text.
#[derive(Clone, Debug, Serialize)]
pub struct Beside {
    /// Its id.
    pub id: &'static str,
    /// What has become of its words.
    pub state: State,
    /// Its passages that stand there; of one that has changed, where its section begins.
    pub passages: Vec<Place>,
}

/// The clauses beside an editor's copy of the documents.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Each document, with the file that holds it.
    pub documents: BTreeMap<&'static str, Option<String>>,
    /// The clauses, in the order of the documents.
    pub clauses: Vec<Beside>,
    /// The sentences with a word like MUST that no clause was read from.
    pub uncovered: Vec<Place>,
}

impl Compared {
    /// How many clauses are in this state.
    pub fn count(&self, state: State) -> usize {
        self.clauses.iter().filter(|it| it.state == state).count()
    }

    /// Whether every document is there and nothing is to be read again.
    pub fn is_same(&self) -> bool {
        self.uncovered.is_empty() && self.count(State::Same) == self.clauses.len()
    }
}

/// Which passages belong to which clause.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rows {
    /// By clause, its passages. A clause without any was read from no passage of its own.
    clauses: BTreeMap<String, Vec<Passage>>,
    /// Sentences with a normative word that are no clause of their own, each with the reason.
    #[serde(default)]
    passed_over: BTreeMap<Passage, String>,
}

/// The rows of the documents.
pub fn rows() -> &'static Rows {
    &ROWS
}

static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    // The file is part of the program, and a test reads it: what is wrong with it cannot reach a user.
    let read = Rows::read(include_str!("../passages.toml"));
    read.unwrap_or_else(|error| panic!("passages.toml: {error}"))
});

impl Rows {
    /// Reads rows as `passages.toml` has them.
    ///
    /// # Errors
    ///
    /// What is no such file, in words.
    pub fn read(text: &str) -> Result<Rows, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// The passages from which a clause was read.
    pub fn of(&self, clause: &Clause) -> &[Passage] {
        let rows = self.clauses.get(clause.id.as_str());
        rows.map_or(&[], Vec::as_slice)
    }

    /// Holds these clauses against a copy; those that have no passage are left out.
    pub fn compare(&self, clauses: &[&'static Clause], copies: &[Copy]) -> Compared {
        let clauses = clauses.iter().filter(|it| !self.of(it).is_empty());
        let clauses: Vec<&'static Clause> = clauses.copied().collect();
        let rows = self.clauses.values().flatten();
        let known: BTreeSet<Passage> = rows.chain(self.passed_over.keys()).copied().collect();
        let copies = copies.iter().map(|copy| Searched {
            copy,
            places: copy.places(&known),
        });
        let copies: Vec<Searched<'_>> = copies.collect();
        let mut documents: BTreeMap<&str, Option<&Searched<'_>>> = BTreeMap::new();
        for clause in &clauses {
            let title = clause.document.as_str();
            documents
                .entry(title)
                .or_insert_with(|| self.holder(title, &copies));
        }
        let mut compared = Compared {
            documents: BTreeMap::new(),
            clauses: Vec::new(),
            uncovered: Vec::new(),
        };
        for (title, copy) in &documents {
            compared
                .documents
                .insert(title, copy.map(|it| it.copy.name.clone()));
        }
        for clause in clauses {
            let copy = documents[clause.document.as_str()];
            compared.clauses.push(self.beside(clause, copy));
        }
        let held = documents.into_values().flatten();
        let held: BTreeMap<&str, _> = held.map(|it| (it.copy.name.as_str(), it)).collect();
        compared.uncovered = held.into_values().flat_map(uncovered).collect();
        compared
    }

    /// The file in which most of a document's passages stand.
    fn holder<'a>(&self, title: &str, copies: &'a [Searched<'a>]) -> Option<&'a Searched<'a>> {
        let of_it = all().iter().filter(|it| it.document == title);
        let passages: Vec<&Passage> = of_it.flat_map(|it| self.of(it)).collect();
        let found = copies.iter().map(|copy| {
            let standing = passages.iter().filter(|it| copy.places.contains_key(it));
            (standing.count(), copy)
        });
        let best = found.max_by_key(|(count, _)| *count);
        best.filter(|(count, _)| *count > 0).map(|(_, copy)| copy)
    }

    fn beside(&self, clause: &'static Clause, copy: Option<&Searched<'_>>) -> Beside {
        let id = clause.id.as_str();
        let Some(Searched { copy, places }) = copy else {
            return Beside {
                id,
                state: State::Absent,
                passages: Vec::new(),
            };
        };
        let wanted = self.of(clause);
        let found = wanted.iter().filter_map(|it| places.get(it)?.first());
        let found: Vec<&Range<usize>> = found.collect();
        let mut passages: Vec<Place> = found.iter().map(|it| place(copy, (*it).clone())).collect();
        let number = section_of(clause);
        let section = number.map(|number| copy.section(number));
        let state = match section {
            _ if found.len() == wanted.len() => State::Same,
            Some(None) if found.is_empty() => State::Lost,
            _ => State::Changed,
        };
        if let (State::Changed, Some(Some(line))) = (state, section) {
            passages.push(Place {
                file: copy.name.clone(),
                line,
                text: copy
                    .text
                    .lines()
                    .nth(line - 1)
                    .unwrap_or_default()
                    .to_owned(),
            });
        }
        Beside {
            id,
            state,
            passages,
        }
    }
}

fn place(copy: &Copy, range: Range<usize>) -> Place {
    let words: Vec<&str> = copy.text[range.clone()].split_whitespace().collect();
    Place {
        file: copy.name.clone(),
        line: copy.line(range.start),
        text: words.join(" "),
    }
}

/// The number of the section that an id names, as in `6.3.4`; `None` where a document has no numbers.
fn section_of(clause: &Clause) -> Option<&str> {
    let (_, rest) = clause.id.as_str().split_once('-')?;
    let (section, _) = rest.rsplit_once('-')?;
    let is_number = section.contains(|it: char| it.is_ascii_digit());
    is_number.then_some(section)
}

/// The words that make a sentence normative.
const KEYWORDS: [&str; 7] = [
    "MUST",
    "SHALL",
    "SHOULD",
    "MAY",
    "REQUIRED",
    "RECOMMENDED",
    "OPTIONAL",
];

/// The sentences with a normative word in which no passage stands.
fn uncovered(Searched { copy, places }: &Searched<'_>) -> Vec<Place> {
    let is_covered = |at: &usize| places.values().flatten().any(|it| it.contains(at));
    let mut sentences: Vec<Place> = Vec::new();
    for at in keywords(&copy.text)
        .into_iter()
        .filter(|at| !is_covered(at))
    {
        let sentence = place(copy, sentence(&copy.text, at));
        if sentences.last() != Some(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}

/// Where the normative words begin.
fn keywords(text: &str) -> BTreeSet<usize> {
    let stand = KEYWORDS.iter().flat_map(|word| text.match_indices(word));
    let is_whole = |(at, word): &(usize, &str)| {
        let before = text[..*at].chars().next_back();
        let behind = text[at + word.len()..].chars().next();
        // Where markup is lost, a word may stick to the one before, as in `tool.invokedMUST`.
        !before.is_some_and(|it| it.is_uppercase() || it.is_numeric())
            && !behind.is_some_and(char::is_alphanumeric)
    };
    stand.filter(is_whole).map(|(at, _)| at).collect()
}

/// From the end of the sentence before, or of the paragraph, to its own end.
fn sentence(text: &str, at: usize) -> Range<usize> {
    let ends = [". ", ".\n", "\n\n", "? ", "! "];
    let start = ends
        .iter()
        .filter_map(|end| Some(text[..at].rfind(end)? + end.len()));
    let start = start.max().unwrap_or(0);
    let end = ends
        .iter()
        .filter_map(|end| Some(at + text[at..].find(end)? + 1))
        .min();
    let mut end = end.unwrap_or(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::get;

    /// A document of our own, for ids that exist.
    const TEXT: &str = "\
# 2.1 Shape

A token **MUST** be long.
It may have `letters`.

# 2.2 Syntax

No digit MUST stand first. This
sentence stands here, too.
";

    fn compared(text: &str) -> Compared {
        let rows = format!(
            "[clauses]\n'AQL-2.1-1' = ['{}']\n'AQL-2.2-1' = ['{}', '{}']\n",
            Passage::of("a token must be long"),
            Passage::of("No digit MUST stand first"),
            Passage::of("this sentence stands here"),
        );
        let rows = Rows::read(&rows).expect("rows");
        let clauses = ["AQL-2.1-1", "AQL-2.2-1", "AQL-3.3-1"];
        let clauses = clauses.map(|id| get(id).expect("a clause"));
        let other = Copy::new("other.md".to_owned(), "Nothing.".to_owned());
        let copy = Copy::new("tokens.md".to_owned(), text.to_owned());
        rows.compare(&clauses, &[other, copy])
    }

    fn states(compared: &Compared) -> Vec<State> {
        compared.clauses.iter().map(|it| it.state).collect()
    }

    #[test]
    fn line_breaks_and_markup_make_no_difference() {
        let compared = compared(TEXT);
        assert_eq!(states(&compared), [State::Same; 2]);
        assert!(compared.is_same());
        let first = &compared.clauses[0].passages[0];
        assert_eq!((first.file.as_str(), first.line), ("tokens.md", 3));
        assert_eq!(first.text, "A token **MUST** be long");
        assert_eq!(
            compared.clauses[1].passages[1].text,
            "This sentence stands here"
        );
    }

    #[test]
    fn an_altered_sentence_names_its_clause_and_where_to_read() {
        let compared = compared(&TEXT.replace("first", "last"));
        assert_eq!(states(&compared), [State::Same, State::Changed]);
        let places: Vec<usize> = compared.clauses[1]
            .passages
            .iter()
            .map(|it| it.line)
            .collect();
        assert_eq!(places, [8, 6]);
        // No clause was read from the new sentence.
        assert_eq!(compared.uncovered[0].text, "No digit MUST stand last.");
    }

    #[test]
    fn a_removed_section_names_the_clauses_that_lost_their_ground() {
        let (before, _) = TEXT.split_once("# 2.2").expect("a section");
        assert_eq!(states(&compared(before)), [State::Same, State::Lost]);
        let renamed = before.to_owned() + "# 2.2 Syntax\n\nNothing.\n";
        assert_eq!(states(&compared(&renamed)), [State::Same, State::Changed]);
    }

    #[test]
    fn a_new_normative_sentence_is_told_once_with_its_line() {
        let added = TEXT.to_owned()
            + "\nA host SHALL wait, and MUST NOT sleep. MUSTARD and `tool.invokedMUST` differ.\n";
        let compared = compared(&added);
        let told: Vec<(usize, &str)> = compared
            .uncovered
            .iter()
            .map(|it| (it.line, it.text.as_str()))
            .collect();
        assert_eq!(told[0], (11, "A host SHALL wait, and MUST NOT sleep."));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(!compared.is_same());
    }

    #[test]
    fn no_document_and_no_text_are_no_fault() {
        assert_eq!(states(&compared("")), [State::Absent; 2]);
        assert_eq!(states(&compared("A")), [State::Absent; 2]);
    }

    #[test]
    fn every_clause_of_a_document_has_a_passage() {
        for clause in all() {
            let is_of_the_wire = clause.id.as_str().starts_with("AAEP-EV-");
            assert_eq!(
                rows().of(clause).is_empty(),
                is_of_the_wire,
                "{}",
                clause.id
            );
        }
        for id in rows().clauses.keys() {
            get(id).expect("a clause");
        }
    }

    /// Prints the row of a passage: `COUNTERSIGN_PASSAGE='its words' cargo test -p countersign-clauses the_row -- --ignored --nocapture`
    #[test]
    #[ignore = "prints what a new clause needs"]
    fn the_row_of_a_passage() {
        let words = std::env::var("COUNTERSIGN_PASSAGE").expect("the words of a passage");
        println!("\"{}\"", Passage::of(&words));
    }
}
