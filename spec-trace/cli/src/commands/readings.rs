//! `countersign readings`: each place of a text that can be taken in more than one way, and what each way costs.

use std::sync::Arc;

use countersign_clauses::cited_all;
use countersign_conform::steps::steps_json;
use countersign_model::checker::PropertyVerdict;
use countersign_model::compare::Compared;
use countersign_model::facade::{Model, Place, Text, Way as Choice};
use miette::miette;
use serde_json::{Map, Value, json};

use super::clauses::hanging;
use super::compare::{apart_text, both_ways, compared_json};
use crate::answer::{Answer, Format, Status, with_result};
use crate::argued::{explained_json, explained_text, setting, with_setting};
use crate::arguments::{Extent, Protocol, VARIANT, Within, within};
use crate::parallel;
use crate::progress::Progress;
use crate::spec_file::unknown_reading;
use crate::verdicts::{cited_name, property_text};

const EXAMPLES: &str = "\
Examples:
  countersign check pending-action --each-reading    every ambiguous clause
  countersign check aaep --each-reading=late-reply   one, with the shortest runs
  countersign readings mcp-aql --format json > readings.json

Each way to read a passage is searched for the guarantees that it breaks; the
default breaks none.

Exit status: 0";

/// The arguments of `countersign readings`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    pub(super) protocol: Protocol,
    /// Only this passage, with the runs; an unknown name lists all
    pub(super) name: Option<String>,
    #[command(flatten)]
    pub(super) extent: Extent,
    #[command(flatten, next_help_heading = VARIANT)]
    pub(super) within: Within,
}

/// Runs the command. It judges no implementation, so an answer always holds.
///
/// # Errors
///
/// Bounds or a place that there are not.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    let text = args.protocol.text();
    let model = args.within.model(text)?;
    let model = &*model;
    let bounds = args.within.name();
    let places: Vec<_> = match &args.name {
        None => text.places.iter().collect(),
        Some(name) => {
            let place = text.place(name);
            vec![place.ok_or_else(|| miette!("{}", unknown_reading(text, name)))?]
        }
    };
    let ways = ways(model, &places);
    let beside = if args.name.is_some() {
        beside(model, &places)
    } else {
        Vec::new()
    };
    let status = Status::Holds;
    Ok(match format {
        Format::Json => {
            let document = document(model, bounds, &places, &ways, &beside);
            Answer::json(&with_result(document, status), status)
        }
        Format::Text => {
            let mut said = String::new();
            for place in &places {
                said += &place_text(place, &ways, args.name.is_some());
            }
            for it in &beside {
                said += &it.text();
            }
            if args.name.is_some() {
                for way in &ways {
                    for (property, explained) in way.costs.iter().zip(&way.explained) {
                        said += &property_text(property);
                        said += explained;
                        said.push('\n');
                    }
                }
            }
            let counts = totals(text, bounds, &ways);
            Answer::verdict(status, &counts, &said, args.extent.all)
        }
    })
}

/// The places of a text that were asked for, and what each way to take them costs, whatever its protocol is.
#[derive(Clone, Debug)]
pub struct Costs {
    /// The protocol's name on the command line.
    pub protocol: &'static str,
    /// How far the model went.
    pub bounds: String,
    /// The longest runs that were looked at, in steps.
    pub steps: usize,
    /// The places.
    pub places: Vec<PlaceCosts>,
    /// The same, as the command prints it.
    pub json: Value,
}

/// A place, and what each way to take it costs.
#[derive(Clone, Debug)]
pub struct PlaceCosts {
    /// Its name.
    pub name: &'static str,
    /// The clauses that leave it open.
    pub clauses: &'static [&'static str],
    /// What is open.
    pub question: &'static str,
    /// Why the first way is the default.
    pub why: &'static str,
    /// Each way with the guarantees that it breaks and the shortest runs, the default first.
    pub ways: Vec<(&'static str, Vec<PropertyVerdict>)>,
}

impl Costs {
    /// Searches every way to take these places.
    ///
    /// # Errors
    ///
    /// Bounds that there are not.
    pub fn of(
        text: &'static Text,
        bounds: &str,
        places: &[&'static Place],
    ) -> miette::Result<Self> {
        let model = within(text, bounds)?;
        let ways = ways(&*model, places);
        let costs = |place: &&'static Place| PlaceCosts {
            name: place.name,
            clauses: place.clauses,
            question: place.question,
            why: place.why,
            ways: {
                let ways = ways.iter().filter(|way| way.place.name == place.name);
                ways.map(|way| (way.value, way.costs.clone())).collect()
            },
        };
        Ok(Self {
            protocol: text.name,
            bounds: bounds.to_owned(),
            steps: text.longest,
            places: places.iter().map(costs).collect(),
            json: document(&*model, bounds, places, &ways, &[]),
        })
    }
}

/// A way to take a place beside its default: what each of the two allows and the other does not.
struct Beside {
    default: &'static str,
    value: &'static str,
    only_default: Compared,
    only_value: Compared,
}

/// A way to take a place, and the guarantees that it breaks.
struct Way {
    place: &'static Place,
    value: &'static str,
    gloss: &'static str,
    is_default: bool,
    costs: Vec<PropertyVerdict>,
    /// Why each of the costs is possible.
    explained: Vec<String>,
    /// The same for programs.
    explained_json: Vec<Map<String, Value>>,
}

/// Every way to take these places, several searched at a time.
fn ways(model: &dyn Model, places: &[&'static Place]) -> Vec<Way> {
    let text = model.text();
    let all: Vec<_> = places
        .iter()
        .flat_map(|place| place.choices.iter().enumerate().map(move |it| (*place, it)))
        .collect();
    let progress = Progress::of(all.len() as u64, &format!("{}: taking", text.name), "ways");
    let costs = parallel::each(&all, &progress, |(place, (position, choice))| {
        if *position == 0 {
            return (Vec::new(), Vec::new());
        }
        let taken = taking(model, place, choice);
        let mut broken = taken.broken_within(text.longest).properties;
        broken.sort_by_key(|property| property.steps.len());
        let explained = broken.iter().map(|it| taken.explain(&it.steps));
        let explained: Vec<_> = explained.collect();
        (broken, explained)
    });
    all.iter()
        .zip(costs)
        .map(|((place, (position, choice)), (costs, explained))| Way {
            place,
            value: choice.value,
            gloss: choice.gloss,
            is_default: *position == 0,
            costs,
            explained: explained
                .iter()
                .map(|it| explained_text(text, it))
                .collect(),
            explained_json: explained.iter().map(explained_json).collect(),
        })
        .collect()
}

/// The model that reads a place so.
fn taking(model: &dyn Model, place: &Place, choice: &Choice) -> Arc<dyn Model> {
    model.with(&[], &[(place.name, choice.value)])
}

/// Every way to take these places beside the default.
fn beside(model: &dyn Model, places: &[&'static Place]) -> Vec<Beside> {
    let all = places.iter().filter_map(|place| {
        let (default, others) = place.choices.split_first()?;
        Some(others.iter().map(move |choice| (place, default, choice)))
    });
    let beside = all.flatten().map(|(place, default, choice)| {
        let [default_model, value_model] = [default, choice].map(|it| taking(model, place, it));
        let [only_default, only_value] = both_ways(&*default_model, &*value_model);
        Beside {
            default: default.value,
            value: choice.value,
            only_default,
            only_value,
        }
    });
    beside.collect()
}

impl Beside {
    fn text(&self) -> String {
        let Self { default, value, .. } = self;
        let allowed = |by: &str, not: &str| format!("Allowed by {by} and not by {not}");
        let value_first = apart_text(&allowed(value, default), default, &self.only_value);
        let default_first = apart_text(&allowed(default, value), value, &self.only_default);
        format!("{value_first}\n{default_first}\n")
    }
}

fn document(
    model: &dyn Model,
    bounds: &str,
    places: &[&'static Place],
    ways: &[Way],
    beside: &[Beside],
) -> Value {
    let text = model.text();
    let readings = places.iter().map(|place| place_json(place, ways, beside));
    let document = json!({
        "protocol": text.name,
        "bounds": bounds,
        "steps": text.longest,
        "readings": readings.collect::<Vec<_>>(),
    });
    let mut setting = setting(model);
    // Each choice says itself how the text is taken.
    setting.shift_remove("readings");
    setting.shift_remove("numbers");
    with_setting(document, setting)
}

fn place_json(place: &Place, ways: &[Way], beside: &[Beside]) -> Value {
    let ways = ways.iter().filter(|way| way.place.name == place.name);
    let ways: Vec<Value> = ways
        .map(|way| {
            let cost = |(property, explained): (&PropertyVerdict, &Map<String, Value>)| {
                let steps = steps_json(&property.steps);
                let mut cost =
                    json!({ "property": property.name, "clauses": property.clauses, "steps": steps });
                if let Value::Object(members) = &mut cost {
                    members.extend(explained.clone());
                }
                cost
            };
            let costs = way.costs.iter().zip(&way.explained_json);
            let costs: Vec<Value> = costs.map(cost).collect();
            let mut json = json!({
                "name": way.value,
                "value": way.value,
                "default": way.is_default,
                "gloss": way.gloss,
                "keeps_all": costs.is_empty(),
                "breaks": costs,
            });
            if let Some(it) = beside.iter().find(|it| it.value == way.value) {
                json["only_this"] = compared_json(&it.only_value);
                json["only_default"] = compared_json(&it.only_default);
            }
            json
        })
        .collect();
    json!({
        "name": place.name,
        "clauses": place.clauses,
        "question": place.question,
        "why": place.why,
        "choices": ways,
    })
}

/// What is said of a way that breaks nothing.
pub(crate) const KEEPS: &str = "keeps every guarantee";

/// A place and its ways; where one alone is asked for, with what each means.
fn place_text(place: &Place, ways: &[Way], is_explained: bool) -> String {
    let mut text = hanging(&format!("{}  ", place.name), &cited_all(place.clauses));
    text += &hanging("  ", place.question);
    for way in ways.iter().filter(|way| way.place.name == place.name) {
        let head = format!("    {:<18}  ", way.value);
        let below = " ".repeat(head.len());
        let mut heads = std::iter::once(head.as_str()).chain(std::iter::repeat(below.as_str()));
        let mut head = || heads.next().unwrap_or_default();
        if is_explained {
            text += &hanging(head(), way.gloss);
        }
        if way.is_default {
            text += &hanging(head(), &format!("the default: {}", place.why));
        } else if way.costs.is_empty() {
            text += &hanging(head(), KEEPS);
        }
        for property in &way.costs {
            let steps = property.steps.len();
            text += &hanging(
                head(),
                &format!("breaks {} ({steps} steps)", cited_name(property)),
            );
        }
    }
    text.push('\n');
    text
}

fn totals(text: &Text, bounds: &str, ways: &[Way]) -> String {
    let others = ways.iter().filter(|way| !way.is_default);
    let (keep, cost): (Vec<_>, Vec<_>) = others.partition(|way| way.costs.is_empty());
    format!(
        "{} ({}, {bounds} bounds, runs of up to {} steps)",
        kept_and_broken(keep.len(), cost.len()),
        text.name,
        text.longest,
    )
}

/// How many ways beside the defaults keep every guarantee, and how many break some.
pub(crate) fn kept_and_broken(keep: usize, cost: usize) -> String {
    let [way, keeps] = if keep == 1 {
        ["way", "keeps"]
    } else {
        ["ways", "keep"]
    };
    let breaks = if cost == 1 { "breaks" } else { "break" };
    format!("{keep} {way} beside the defaults {keeps} every guarantee, {cost} {breaks} some")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_keeps_and_two_keep() {
        let said = [(1, 2), (2, 1)].map(|(keep, cost)| kept_and_broken(keep, cost));
        assert_eq!(
            said,
            [
                "1 way beside the defaults keeps every guarantee, 2 break some",
                "2 ways beside the defaults keep every guarantee, 1 breaks some",
            ]
        );
    }
}
