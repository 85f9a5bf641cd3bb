//! Every scenario of a test book on clauses of a text, judged call by call. Its author read the text and no code.
//!
//! The table is `mcp_aql/book.txt`; the notation is explained at its head.
//! `ROW="AQL-4.1-2 W7"` plays the scenarios of that name alone.
#![expect(
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "tables, and numbers that are small"
)]
mod engine;

use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::clause::{Clause, ClauseSet, Level};
use countersign_model::engine::protocol::{Protocol, Variant};
use countersign_model::engine::world::{Freedom, World};

use crate::common::rows::Tested;

/// A name as it stands in the table.
pub type Name = &'static str;

/// A protocol whose scenarios are in a table. A reading has a word by which it departs from the default.
pub trait Book: Protocol {
    const TABLE: Name;
    const READINGS: &'static [Name];
    fn reading(word: Name, options: &[Name]) -> Self::Reading;
    /// The account before the first call, and the kinds that are hidden.
    fn start(section: Name, options: &[Name]) -> (Self::Account, u32);
    fn call_of(at: i64, words: Name, options: &[Name]) -> Self::Call;
    fn output_of(words: Name, at: i64, call: Name, options: &[Name]) -> Self::Output;
    /// What follows an output of the setup under these options.
    fn setup_also(_options: &[Name], _output: Name) -> Option<Name> {
        None
    }
}

/// A scenario: its name, what it is known to get wrong, and the steps.
pub struct Row {
    pub name: String,
    pub section: Name,
    pub wrong: Option<Name>,
    pub options: Vec<Name>,
    pub steps: Vec<Stated>,
}

/// A call, what came, and what the book says of it.
#[derive(Clone)]
pub struct Stated {
    pub at: i64,
    pub call: Name,
    pub outputs: Vec<Name>,
    pub verdict: Name,
}

/// Seconds with three decimals at most, in milliseconds.
pub fn millis(seconds: &str) -> i64 {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    whole.parse::<i64>().expect(seconds) * 1000
        + format!("{part:0<3}").parse::<i64>().expect(seconds)
}

fn stated(text: Name, at: &mut i64) -> Vec<Stated> {
    let mut steps = Vec::new();
    for step in text.split(" // ").map(str::trim) {
        let (step, times) = match step.rsplit_once(" *") {
            Some((step, times)) if times.parse::<usize>().is_ok() => (step, times.parse().unwrap()),
            _ => (step, 1),
        };
        let (step, verdict) = step.split_once(" | ").unwrap_or((step, "conforms"));
        let (mut call, outputs) = step
            .split_once(" => ")
            .unwrap_or_else(|| panic!("no outputs: {step}"));
        if let Some((time, rest)) = call.strip_prefix('@').and_then(|call| call.split_once(' ')) {
            (*at, call) = (millis(time), rest);
        }
        let outputs = outputs
            .split(';')
            .map(str::trim)
            .filter(|it| *it != "-")
            .collect();
        steps.extend(std::iter::repeat_n(
            Stated {
                at: *at,
                call,
                outputs,
                verdict,
            },
            times,
        ));
    }
    steps
}

/// The rows of a table.
pub fn rows<P: Book>() -> Vec<Row> {
    let (mut rows, mut section, mut setup) = (Vec::new(), "", "");
    let joined: &'static str = P::TABLE.replace("\n  ", " ").leak();
    for line in joined.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            (section, setup) = (title.split_whitespace().next().unwrap(), "");
        } else if let Some(text) = line.strip_prefix("S: ") {
            setup = text;
        } else if !section.is_empty() && !line.is_empty() && !line.starts_with("# ") {
            let (head, body) = line
                .split_once(" :: ")
                .unwrap_or_else(|| panic!("no steps: {line}"));
            let name = format!("{section} {}", head.split_whitespace().next().unwrap());
            let wrong = head
                .split_once("[wrong: ")
                .map(|(_, why)| why.split(']').next().unwrap());
            let mut body = body.trim();
            let mut options = Vec::new();
            if let Some((inside, rest)) =
                body.strip_prefix('{').and_then(|body| body.split_once('}'))
            {
                (options, body) = (inside.split_whitespace().collect(), rest.trim());
            }
            let (mut at, mut steps) = (0, Vec::new());
            for part in body
                .split(" // ")
                .map(str::trim)
                .filter(|it| !it.is_empty())
            {
                let is_setup = part == "S";
                let mut part = stated(if is_setup { setup } else { part }, &mut at);
                for step in part.iter_mut().filter(|_| is_setup) {
                    let also = |it: &Name| {
                        [Some(*it), P::setup_also(&options, it)]
                            .into_iter()
                            .flatten()
                    };
                    step.outputs = step.outputs.iter().flat_map(also).collect();
                }
                steps.extend(part);
            }
            rows.push(Row {
                name,
                section,
                wrong,
                options,
                steps,
            });
        }
    }
    rows
}

/// The readings that a row speaks of, or only the default.
pub fn readings<P: Book>(row: &Row) -> Vec<Name> {
    let mut all: Vec<Name> = row
        .steps
        .iter()
        .flat_map(|step| cases(step.verdict))
        .map(|(reading, _)| reading)
        .collect();
    all.sort_unstable();
    all.dedup();
    if all.iter().any(|it| !it.is_empty()) {
        all.retain(|it| !it.is_empty());
    }
    for reading in all.iter().filter(|it| !it.is_empty()) {
        assert!(
            P::READINGS.contains(reading),
            "{}: no reading {reading}",
            row.name
        );
    }
    all
}

/// `reading: verdict; reading: verdict`, or one verdict for all.
fn cases(verdict: Name) -> Vec<(Name, Name)> {
    verdict
        .split("; ")
        .map(|case| case.split_once(": ").unwrap_or(("", case)))
        .collect()
}

/// The clauses of each finding that the book has under that reading: of each, any is right.
pub fn expected<P: Book>(step: &Stated, reading: Name) -> Vec<Vec<Clause>> {
    let all = cases(step.verdict);
    let verdict = all
        .iter()
        .find(|(of, _)| of.is_empty() || *of == reading)
        .map_or("conforms", |(_, verdict)| verdict);
    if verdict.starts_with("conforms")
        || verdict.starts_with("open")
        || verdict.starts_with("guard")
    {
        return Vec::new();
    }
    let number = |id: &str| {
        let place = P::CLAUSES
            .iter()
            .position(|it| it.id.ends_with(&format!("-{id}")) || it.id == id);
        Clause(place.unwrap_or_else(|| panic!("no clause {id}")) as u8)
    };
    let one = |finding: &str| {
        finding
            .rsplit(' ')
            .next()
            .unwrap()
            .split('|')
            .map(number)
            .collect()
    };
    verdict.split(" + ").map(one).collect()
}

/// The clauses of every finding that the book has in a row under that reading.
fn stated_in<P: Book>(row: &Row, reading: Name) -> ClauseSet {
    let findings = row.steps.iter().flat_map(|it| expected::<P>(it, reading));
    findings.flatten().fold(ClauseSet::EMPTY, ClauseSet::with)
}

/// Plays a row by one reading; what is not as the book has it, in words. Where clauses are left out, nothing may be found.
pub fn play<P: Book>(row: &Row, reading: Name, left_out: ClauseSet) -> Result<(), String> {
    let (account, hidden) = P::start(row.section, &row.options);
    let mut checker = Checker::<P>::new(account);
    let variant = Variant::<P> {
        reading: P::reading(reading, &row.options),
        hidden,
        left_out,
    };
    for step in &row.steps {
        let outputs: Vec<P::Output> = step
            .outputs
            .iter()
            .map(|it| P::output_of(it, step.at, step.call, &row.options))
            .collect();
        let found = match checker.observe(
            &variant,
            &P::call_of(step.at, step.call, &row.options),
            &outputs,
        ) {
            Judgement::Conforms => Vec::new(),
            Judgement::Found(it) if it.clause.is_none() => {
                return Err(format!("{}: no clause: {it:?}", row.name));
            }
            Judgement::Found(it) => it.clause.into_iter().chain(it.beside).collect(),
            Judgement::TooManyExplanations => {
                return Err(format!(
                    "{} {:?}: too many explanations",
                    row.name, step.call
                ));
            }
        };
        let wanted = if left_out.is_empty() {
            expected::<P>(step, reading)
        } else {
            Vec::new()
        };
        let fits = found.len() == wanted.len()
            && wanted
                .iter()
                .all(|any| found.iter().any(|it| any.contains(it)));
        if !fits {
            let found: Vec<&str> = found
                .iter()
                .map(|it| P::CLAUSES[usize::from(it.0)].id)
                .collect();
            let (at, call, outputs, verdict) = (step.at, step.call, &step.outputs, step.verdict);
            return Err(format!(
                "{} [{reading}] @{at} {call} => {outputs:?}: {verdict}, found {found:?}",
                row.name
            ));
        }
    }
    Ok(())
}

/// Every scenario is judged as the book has it, but for those that are known to be wrong: these are not.
pub fn as_in_the_book<P: Book>() {
    let (rows, mut wrong, mut played) = (rows::<P>(), Vec::new(), 0);
    let only = std::env::var("ROW").unwrap_or_default();
    for row in rows.iter().filter(|row| row.name.starts_with(&only)) {
        let results: Vec<_> = readings::<P>(row)
            .into_iter()
            .map(|reading| play::<P>(row, reading, ClauseSet::EMPTY))
            .collect();
        let failed: Vec<String> = results.into_iter().filter_map(Result::err).collect();
        played += usize::from(failed.is_empty());
        match row.wrong {
            None => wrong.extend(failed),
            Some(why) if failed.is_empty() => {
                wrong.push(format!("{} passes, and was wrong: {why}", row.name));
            }
            Some(_) => {}
        }
    }
    println!("{played} of {} scenarios as in the book", rows.len());
    assert!(
        wrong.is_empty(),
        "{} are not as in the book\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// What a wrong party does is right by the text without the clauses that it breaks. In each section somebody breaks its
/// clause.
pub fn lifted<P: Book>() {
    let rows: Vec<Row> = rows::<P>()
        .into_iter()
        .filter(|row| row.name.contains(" W") && row.wrong.is_none())
        .collect();
    let played = rows.iter().map(|row| (row, readings::<P>(row)[0]));
    let found: Vec<String> = played
        .filter_map(|(row, reading)| play::<P>(row, reading, stated_in::<P>(row, reading)).err())
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    for row in &rows {
        let (_, clause) = row.section.split_once('-').unwrap();
        let breaks_it = |of: &Row| {
            of.section == row.section && of.steps.iter().any(|it| it.verdict.contains(clause))
        };
        assert!(rows.iter().any(breaks_it), "nobody breaks {}", row.section);
    }
}

/// The first scenario of each clause in which nothing is wrong without it.
pub fn tested<P: Book>() -> Tested {
    let mut tested = Tested::default();
    for row in rows::<P>().iter().filter(|row| row.wrong.is_none()) {
        let reading = readings::<P>(row)[0];
        let stated = stated_in::<P>(row, reading);
        for clause in stated.iter() {
            if play::<P>(row, reading, clause.into()).is_ok() {
                tested.add(clause, stated == clause.into(), &row.name);
            }
        }
    }
    tested
}

/// Whatever a conforming party does is explained, in every order that the text allows; at most a SHOULD is found.
pub fn explained<P: Book>(
    start: (P::Account, u32),
    calls: &[(i64, Name)],
    reading: Name,
    options: &[Name],
) -> usize {
    let variant = Variant::<P> {
        reading: P::reading(reading, options),
        hidden: start.1,
        ..Variant::default()
    };
    let mut runs = vec![(World::<P>::new(start.0.clone()), Checker::<P>::new(start.0))];
    let mut played = 0;
    for (at, words) in calls {
        let call = P::call_of(*at, words, options);
        let mut next: Vec<(World<P>, Checker<P>)> = Vec::new();
        for (world, checker) in &runs {
            world.answers(&variant, Freedom::Order, &call, |world, outputs| {
                let mut checker = checker.clone();
                played += 1;
                match checker.observe(&variant, &call, &outputs) {
                    Judgement::Conforms => {}
                    Judgement::Found(it) if is_should::<P>(it.clause) => {}
                    other => panic!("{words} {outputs:?} in {calls:?}: {other:?}"),
                }
                if next.len() < 12 && !next.contains(&(world.clone(), checker.clone())) {
                    next.push((world, checker));
                }
            });
        }
        runs = next;
    }
    played
}

fn is_should<P: Protocol>(clause: Option<Clause>) -> bool {
    clause.is_some_and(|clause| P::CLAUSES[usize::from(clause.0)].level != Level::Must)
}
