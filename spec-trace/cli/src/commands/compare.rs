//! `countersign compare`: two settings of a text beside each other, and what changes between them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use countersign_clauses::cited_all;
use countersign_conform::driven::play;
use countersign_conform::implementation::Greeted;
use countersign_conform::spoken::{Producer, Spoken, judge};
use countersign_conform::steps::{marked, numbered, steps_json};
use countersign_conform::suite::committed;
use countersign_model::aaep::Aaep;
use countersign_model::checker::{Broken, Limit, PropertyVerdict};
use countersign_model::compare::{Compared, Difference};
use countersign_model::departures::Departure;
use countersign_model::facade::{Model, Text};
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use miette::miette;
use serde_json::{Value, json};

use super::clauses::hanging;
use crate::answer::{Answer, Format, Status, with_result};
use crate::argued::{by_file, changed_numbers, instead_text, needs_json, needs_text, setting};
use crate::arguments::{Extent, Protocol, Setting};
use crate::progress::Progress;
use crate::table::grouped;
use crate::verdicts::cited_name;
use crate::worth::is_guarantee;

const EXAMPLES: &str = "\
Examples:
  countersign check aaep --vs without:AAEP-6.3.4-1
  countersign check aaep --vs reading:deadline-boundary=inclusive
  countersign check mcp-aql --vs spec:draft.toml
  countersign check mcp-aql --bounds small,crash=1 --vs without:AQL-4.1-6
  countersign compare pending-action --a without:PA-2 --b without:PA-8

A variant is a list with commas: without:RULE, reading:NAME=WAY, spec:FILE and
bounds:BOUNDS. An empty list is the text as it stands.

A run is allowed under one variant only if its requests and outputs are possible
there and impossible under the other. Removing a rule only lifts a requirement:
what is no longer required is allowed by both. The run is the shortest within
the bounds. A vector changes if a model of one variant passes it and a model of
the other fails it.

Exit status: 0";

/// The arguments of `countersign compare`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    pub(super) protocol: Protocol,
    #[command(flatten)]
    pub(super) extent: Extent,
    /// The first variant [default: the text as it stands]
    #[arg(
        long,
        value_name = "VARIANT",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) a: Setting,
    /// The second variant [default: the text as it stands]
    #[arg(
        long,
        value_name = "VARIANT",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) b: Setting,
}

/// Runs the command. It judges no implementation, so an answer always holds.
///
/// # Errors
///
/// Rules, readings or bounds that there are not, or two settings that are the same.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    compare(args, format)
}

/// The most states of both together that are looked at for a run.
pub(super) const STATES: usize = 400_000;

/// What two parties can do that the other cannot, in both directions, several at a time.
pub(super) fn both_ways(a: &dyn Model, b: &dyn Model) -> [Compared; 2] {
    let text = a.text();
    let progress = Progress::counting(&format!("{}: telling apart", text.name), "states");
    at_once([(a, b), (b, a)], |(leader, other)| {
        leader.apart(other, limit(text), &mut |states| progress.at(states as u64))
    })
}

/// How far is looked for them.
const fn limit(text: &Text) -> Limit {
    Limit {
        steps: text.longest,
        pairs: STATES,
    }
}

/// The same work for two things at once.
fn at_once<I: Send, R: Send>([first, second]: [I; 2], work: impl Fn(I) -> R + Sync) -> [R; 2] {
    thread::scope(|scope| {
        let other = scope.spawn(|| work(second));
        let first = work(first);
        match other.join() {
            Ok(second) => [first, second],
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// What a party comes to in a run of the suite, by the text as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Passes,
    /// By these clauses.
    Fails(BTreeSet<&'static str>),
}

/// What a verdict is called.
pub(super) const VERDICTS: [&str; 2] = ["passes", "fails"];

impl Verdict {
    const fn name(&self) -> &'static str {
        let [passes, fails] = VERDICTS;
        match self {
            Self::Passes => passes,
            Self::Fails(_) => fails,
        }
    }
}

/// A vector of which the parties of the two settings do not come to the same.
pub(super) struct Changed {
    pub(super) file: String,
    verdicts: [Verdict; 2],
}

fn compare(args: &Args, format: Format) -> miette::Result<Answer> {
    let text = args.protocol.text();
    let settings = [&args.a, &args.b];
    let [a, b] = models(text, settings)?;
    let (a, b) = (&*a, &*b);
    let name = text.name;
    let compared = both_ways(a, b);
    let each = at_once(
        [(a, b, &compared[0]), (b, a, &compared[1])],
        |(leader, other, found)| leader.apart_by_each(other, found, limit(text)),
    );
    let progress = Progress::counting(&format!("{name}: what breaks"), "settings");
    let broken = at_once([a, b], |model| model.broken_within(text.longest));
    drop(progress);
    let (all, changed) = vectors_of(args.protocol, a, b);
    let status = Status::Holds;
    Ok(match format {
        Format::Json => {
            let settings = |it: &Setting, model: &dyn Model| {
                let mut document = json!({ "setting": it.to_string(), "bounds": model.bounds() });
                if let Value::Object(members) = &mut document {
                    members.extend(setting(model));
                }
                document
            };
            let [only_a, only_b] = &compared;
            let [each_a, each_b] = &each;
            let (only_a, only_b) = (only_json(a, only_a, each_a), only_json(b, only_b, each_b));
            let [of_a, of_b] = &broken;
            let only = |first, second| -> Value {
                let only = only_first(first, second).into_iter();
                only.map(guarantee_json).collect()
            };
            let document = json!({
                "protocol": name,
                "a": settings(&args.a, a),
                "b": settings(&args.b, b),
                "only_a": only_a,
                "only_b": only_b,
                "breaks_only_a": only(of_a, of_b),
                "breaks_only_b": only(of_b, of_a),
                "vectors": all,
                "changed": changed.iter().map(changed_json).collect::<Vec<_>>(),
            });
            Answer::json(&with_result(document, status), status)
        }
        Format::Text => {
            let mut said = String::new();
            for (letter, setting) in ["a", "b"].into_iter().zip(settings) {
                said += &hanging(&format!("  {letter}  "), &setting.to_string());
            }
            said += &guarantees_text(&broken, &[a, b].map(changed_numbers));
            said += &vectors_text(all, &changed);
            let [only_a, only_b] = &compared;
            let [each_a, each_b] = &each;
            said += &only_text(text, ["a", "b"], only_a, each_a);
            said += &only_text(text, ["b", "a"], only_b, each_b);
            let counts = counts(&compared, &broken, (all, changed.len()));
            let counts = format!("{counts} ({name}, {} bounds)", a.bounds());
            Answer::verdict(status, &counts, &said, args.extent.all)
        }
    })
}

/// How many runs, guarantees and vectors tell the two apart.
fn counts(
    compared: &[Compared; 2],
    broken: &[Broken; 2],
    (all, changed): (usize, usize),
) -> String {
    let allowed = match compared.each_ref().map(|it| it.difference.is_some()) {
        [true, true] => "a run only under a, one only under b",
        [true, false] => "a run only under a",
        [false, true] => "a run only under b",
        [false, false] => "no run only under one",
    };
    let [a, b] = broken;
    format!(
        "{allowed}; only a breaks {} guarantees, only b {}; {changed} of {all} vectors change",
        only_first(a, b).len(),
        only_first(b, a).len()
    )
}

/// What only one of two allows, in words: the run that was found, then those by each other thing in which they differ.
fn only_text(
    text: &Text,
    [letter, other]: [&str; 2],
    only: &Compared,
    each: &[(Departure, Compared)],
) -> String {
    let head = format!("\nAllowed under {letter} and not under {other}");
    let mut said = apart_text(&head, other, only);
    said += &by_text(text, other, only);
    said + &each_text(text, &head, other, each)
}

/// The models of the two settings.
fn models(text: &'static Text, settings: [&Setting; 2]) -> miette::Result<[Arc<dyn Model>; 2]> {
    let [a, b] = settings;
    let (a, b) = (a.model(text)?, b.model(text)?);
    if a.departures(&*b).is_empty() && a.bounds() == b.bounds() {
        return Err(miette!(
            "a and b are the same variant\n  hint: --b without:RULE, or reading:NAME=WAY, or spec:FILE"
        ));
    }
    Ok([a, b])
}

/// A run that only one of two can have, in words.
pub(super) fn apart_text(head: &str, other: &str, compared: &Compared) -> String {
    let within = format!(
        "{} steps, {} states",
        compared.steps,
        grouped(compared.states as u64)
    );
    let Some(difference) = &compared.difference else {
        let how = if compared.exhaustive {
            "all runs"
        } else {
            "runs"
        };
        let is_by_rule = compared.told_unless_free().is_some();
        let mut text = if is_by_rule && compared.exhaustive {
            format!("{head}: nothing, since removing a rule only lifts a requirement\n")
        } else {
            let nothing = format!("{head}: nothing that was found, in {how} within {within}\n");
            nothing + &hanging("   why: ", &why_none(compared, other))
        };
        text += &allowed_text("", other, compared);
        return text;
    };
    let count = steps(difference.steps.len());
    let run = numbered(&difference.steps);
    let under = under(other, difference);
    format!("{head}   ({count}, the shortest)\n{run}{under}")
}

/// Why no run was found, and what would have to be looked at to find one.
fn why_none(compared: &Compared, other: &str) -> String {
    let all = format!("each of these runs is one that {other} can have or allows, too");
    let more = "where what tells needs more of what the bounds count, it is in none of them, and wider bounds show it";
    if compared.exhaustive {
        return format!("{all}, and there are no more within these bounds; {more}");
    }
    let steps = compared.steps;
    let cut = if compared.states >= STATES {
        format!(
            "the search ends at {} states, before it has seen all runs of {} steps",
            grouped(STATES as u64),
            steps + 1
        )
    } else {
        format!("runs of more than {steps} steps were not looked at")
    };
    format!("{all}; {cut}, and {more}")
}

/// What both allow and the other does not do of itself, in words, behind what it is told by.
fn allowed_text(by: &str, other: &str, compared: &Compared) -> String {
    let Some(allowed) = &compared.allowed else {
        return String::new();
    };
    let count = steps(allowed.steps.len());
    let [said, under_other] = if allowed.is_no_longer_required() {
        [
            format!("Allowed by both, and no longer required under {other}"),
            match by {
                "" => other.to_owned(),
                _ => format!("{other} with only that left out"),
            },
        ]
    } else {
        [
            format!("Allowed by both, and {other} chooses otherwise"),
            format!("{other} by choice"),
        ]
    };
    let run = marked(&allowed.steps, '·');
    let under = under(&under_other, allowed);
    format!("{said}{by}   ({count}, the shortest)\n{run}{under}")
}

/// What comes of the last step under the other setting.
fn under(other: &str, difference: &Difference) -> String {
    let instead = difference.instead.as_ref();
    let said = instead_text(instead.map(|step| &*step.changes));
    hanging(&format!("   under {other}: "), &said)
}

/// So many steps.
pub(crate) fn steps(count: usize) -> String {
    format!("{count} step{}", if count == 1 { "" } else { "s" })
}

/// A run for each other thing that the two differ in, as far as there is one.
fn each_text(text: &Text, head: &str, other: &str, each: &[(Departure, Compared)]) -> String {
    let mut said = String::new();
    for (departure, compared) in each {
        let name = departure.in_words();
        if compared.difference.is_some() {
            said += &apart_text(&format!("{head}, by {name} alone"), other, compared);
            said += &by_text(text, other, compared);
        } else if compared.allowed.is_some() {
            said.push('\n');
            said += &allowed_text(&format!(", by {name} alone"), other, compared);
            said += &by_text(text, other, compared);
        } else {
            let within = format!(
                "{} steps, {} states",
                compared.steps,
                grouped(compared.states as u64)
            );
            said += &hanging(
                "  ",
                &format!("by {name} alone: nothing that was found, within {within}"),
            );
        }
    }
    said
}

/// By what of all in which it differs from the other the one allows the run, or requires it.
fn by_text(text: &Text, other: &str, compared: &Compared) -> String {
    let told = compared.told_unless_free();
    told.map_or_else(String::new, |it| needs_text(text, &it.needs, Some(other)))
}

/// The guarantees that the first breaks and the second does not.
fn only_first<'a>(first: &'a Broken, second: &Broken) -> Vec<&'a PropertyVerdict> {
    let guarantees = |broken: &'a Broken| broken.properties.iter().filter(|it| is_guarantee(it));
    let is_broken = |name: &str| {
        let mut others = second.properties.iter();
        others.any(|it| it.name == name && is_guarantee(it))
    };
    guarantees(first)
        .filter(|it| !is_broken(&it.name))
        .collect()
}

fn guarantees_text(broken: &[Broken; 2], numbers: &[Vec<Departure>; 2]) -> String {
    let [a, b] = broken;
    let [of_a, of_b] = numbers;
    let mut text = String::from("\nGuarantees\n");
    for (letter, first, second, numbers) in [("a", a, b, of_a), ("b", b, a, of_b)] {
        let only = only_first(first, second);
        let head = format!("  only {letter} breaks  ");
        if only.is_empty() {
            let (steps, states) = (first.steps, grouped(first.states as u64));
            text += &hanging(
                &head,
                &format!("none, within {steps} steps, {states} states"),
            );
        }
        for (place, property) in only.iter().enumerate() {
            let indent = " ".repeat(head.len());
            let head = if place == 0 { &head } else { &indent };
            let by_file = by_file(numbers, &property.clauses);
            let steps = property.steps.len();
            text += &hanging(
                head,
                &format!("{}{by_file} ({steps} steps)", cited_name(property)),
            );
        }
    }
    text
}

/// The first so many vectors that change are named.
const NAMED: usize = 5;

fn vectors_text(all: usize, changed: &[Changed]) -> String {
    let head = format!("\n{} of {all} vectors change\n", changed.len());
    head + &named_text(changed, ["a", "b"])
}

/// The first of them, with what a party of each setting comes to.
pub(super) fn named_text(changed: &[Changed], settings: [&str; 2]) -> String {
    let mut text = String::new();
    for it in changed.iter().take(NAMED) {
        let ([a, b], [one, other]) = (&it.verdicts, settings);
        let mut clauses: Vec<_> = it.clauses().into_iter().collect();
        clauses.sort_by_key(|it| countersign_clauses::place(it));
        let clauses = cited_all(clauses);
        let said = format!(
            "{} under {one}, {} under {other}: {clauses}",
            a.name(),
            b.name()
        );
        text += &hanging(&format!("  {}  ", it.file), &said);
    }
    text + &and_more(changed.len(), NAMED)
}

/// How many vectors are not named, where not all are.
pub(crate) fn and_more(all: usize, named: usize) -> String {
    match all.saturating_sub(named) {
        0 => String::new(),
        more => format!("  and {more} more (--format json names them)\n"),
    }
}

/// The same with the setting whose party can have the run, so that whoever draws it needs nothing else.
fn only_json(model: &dyn Model, compared: &Compared, each: &[(Departure, Compared)]) -> Value {
    let with_needs = |compared: &Compared| {
        let mut document = compared_json(compared);
        if let Some(difference) = &compared.difference {
            document["run"]["made_possible_by"] = needs_json(&difference.needs);
        }
        if let Some(allowed) = &compared.allowed {
            document["allowed_by_both"]["made_possible_by"] = needs_json(&allowed.needs);
            let is_freed = allowed.is_no_longer_required();
            document["allowed_by_both"]["no_longer_required"] = json!(is_freed);
        }
        document
    };
    let mut document = with_needs(compared);
    if !each.is_empty() {
        let each = each.iter().map(|(it, compared)| {
            let mut document = with_needs(compared);
            document["by"] = json!(it.in_words());
            document
        });
        document["by_each_other"] = each.collect();
    }
    if let Value::Object(members) = &mut document {
        members.insert("bounds".to_owned(), json!(model.bounds()));
        members.extend(setting(model));
    }
    document
}

pub(super) fn compared_json(compared: &Compared) -> Value {
    let run = |it: &Difference| {
        let instead = it.instead.as_ref().map(|step| &step.changes);
        json!({ "steps": steps_json(&it.steps), "instead": instead })
    };
    let mut document = json!({
        "run": compared.difference.as_ref().map(run),
        "within": { "steps": compared.steps, "states": compared.states, "exhaustive": compared.exhaustive },
    });
    if let Some(allowed) = &compared.allowed {
        document["allowed_by_both"] = run(allowed);
    }
    if compared.difference.is_none() {
        document["why_none"] = json!(why_none(compared, "the other"));
    }
    document
}

fn guarantee_json(property: &PropertyVerdict) -> Value {
    json!({
        "property": property.name,
        "clauses": property.clauses,
        "steps": steps_json(&property.steps),
    })
}

pub(super) fn changed_json(changed: &Changed) -> Value {
    let [a, b] = &changed.verdicts;
    json!({ "file": changed.file, "a": a.name(), "b": b.name(), "clauses": changed.clauses() })
}

impl Changed {
    /// The clauses by which one of the two fails.
    fn clauses(&self) -> BTreeSet<&'static str> {
        let verdicts = self.verdicts.iter();
        let clauses = verdicts.flat_map(|it| match it {
            Verdict::Fails(clauses) => clauses.iter().copied().collect(),
            Verdict::Passes => Vec::new(),
        });
        clauses.collect()
    }
}

/// How many vectors there are, and those that change between the two.
fn vectors_of(protocol: Protocol, a: &dyn Model, b: &dyn Model) -> (usize, Vec<Changed>) {
    match protocol {
        Protocol::Aaep => vectors::<Aaep>(a, b),
        Protocol::McpAql => vectors::<McpAql>(a, b),
        Protocol::PendingAction => vectors::<PendingAction>(a, b),
    }
}

/// The same of the suite of a protocol.
///
/// # Panics
///
/// Never: the text greets.
pub(super) fn vectors<P: Spoken>(a: &dyn Model, b: &dyn Model) -> (usize, Vec<Changed>) {
    let name = a.text().name;
    let progress = Progress::counting(&format!("{name}: playing the suite"), "runs");
    let [of_a, of_b] = at_once([a, b], |model| {
        let mut party = Greeted::new(Producer::<P>::of(model)).expect("it greets");
        let judge = judge::<P>(party.greeting());
        let runs = committed::<P>().runs.into_iter().enumerate();
        let verdicts = runs.map(|(place, run)| {
            progress.at(place as u64);
            let wrong = play(&mut party, &run.steps, &judge).wrong;
            if wrong.is_empty() {
                return Verdict::Passes;
            }
            Verdict::Fails(wrong.iter().map(|it| it.finding.clause).collect())
        });
        verdicts.collect::<Vec<_>>()
    });
    let all = of_a.len();
    let pairs = of_a.into_iter().zip(of_b).enumerate();
    let changed = pairs.filter(|(_, (a, b))| a != b);
    let changed = changed.map(|(place, (a, b))| Changed {
        file: format!("{:04}.json", place + 1),
        verdicts: [a, b],
    });
    (all, changed.collect())
}
