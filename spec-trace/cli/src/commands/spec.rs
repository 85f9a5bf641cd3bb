//! `countersign spec`: the settings of a text as a file, for who would change them and reads no Rust.

use std::fmt::Write as _;

use countersign_model::aaep::AaepProtocol;
use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::numbers::{Number, Value, taken};
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::readings::{Choice, Place};
use countersign_model::rules::Rules;
use countersign_model::specification::Modelled;
use countersign_model::table::Tabled;
use serde_json::{Value as Json, json};
use textwrap::Options;

use crate::answer::{Answer, Format, Status};
use crate::arguments::{Protocol, Taken, VARIANT};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  countersign spec aaep > draft.toml               edit it, then:
  countersign check aaep --spec draft.toml         What does the change break?
  countersign check aaep --vs spec:draft.toml      What does it allow or forbid?
  countersign spec mcp-aql --reading check-order=sample
  countersign spec pending-action --format json

The file holds readings, rules that are left out, numbers and tables, each with
its clause. What the file omits stays as in the text. A number that the model
does not have is a comment with the reason. An unknown or fixed entry is an
error with line and column (exit status 2).";

/// The arguments of `countersign spec`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    protocol: Protocol,
    #[command(flatten, next_help_heading = VARIANT)]
    taken: Taken,
}

/// Runs the command. It judges nothing, so an answer always holds.
///
/// # Errors
///
/// Rules or readings that there are not, or a file that cannot be read.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    match args.protocol {
        Protocol::Aaep => spec::<AaepProtocol>(args, format),
        Protocol::McpAql => spec::<McpAqlProtocol>(args, format),
        Protocol::PendingAction => spec::<PendingActionProtocol>(args, format),
    }
}

fn spec<T: Modelled>(args: &Args, format: Format) -> miette::Result<Answer> {
    let changes = args.taken.changes::<T>()?;
    let reading = changes.of_reading(T::Reading::default());
    let rules = changes.rules;
    Ok(match format {
        Format::Text => Answer {
            text: Terminal::of_stdout().settings(&file::<T>(rules, &reading)),
            status: Status::Holds,
        },
        Format::Json => Answer::json(&document::<T>(rules, &reading), Status::Holds),
    })
}

/// The names of the rules that are left out.
fn left_out<T: Modelled>(rules: Rules<T::Guard>) -> Vec<&'static str> {
    rules.left_out().map(|guard| guard.row().name).collect()
}

/// The settings as a file.
fn file<T: Modelled>(rules: Rules<T::Guard>, reading: &T::Reading) -> String {
    let protocol = T::NAME;
    let changes = format!(
        "What can be changed in the text of {protocol}. What a file leaves out is as the text has it."
    );
    let rows = T::Guard::ROWS;
    let examples = rows.first().map_or_else(String::new, |row| {
        format!(", such as [\"{}\"] or [\"{}\"]", row.name, row.clauses[0])
    });
    let rules_how = format!(
        "Rules that are left out, by name or by clause{examples}; `countersign check {protocol} --each-rule` lists all {}.",
        rows.len()
    );
    let quoted = left_out::<T>(rules)
        .into_iter()
        .map(|it| format!("\"{it}\""));
    let quoted: Vec<_> = quoted.collect();
    let mut text = comment("# ", &changes);
    let _ = write!(
        text,
        "#   countersign check {protocol} --spec FILE\n\
         #   countersign check {protocol} --vs spec:FILE\n\n\
         protocol = \"{protocol}\"\n\n\
         {}left_out = [{}]\n\n[readings]\n",
        comment("# ", &rules_how),
        quoted.join(", ")
    );
    for place in T::PLACES {
        text += &place_text(place, reading);
    }
    let mut table = "";
    for number in T::NUMBERS {
        let Some(can_be) = can_be(number, reading) else {
            continue;
        };
        let (of, key) = number.name.rsplit_once('.').unwrap_or(("", number.name));
        if of != table {
            let _ = write!(text, "\n[numbers.{of}]\n");
            table = of;
        }
        let said = comment("# ", &said(number));
        let _ = write!(
            text,
            "\n{said}{}{key} = {}\n",
            comment("#   ", &can_be),
            number.shown(reading)
        );
    }
    text + &not_modelled::<T>()
}

fn place_text<R: Copy + PartialEq>(place: &Place<R>, reading: &R) -> String {
    let is = taken(place.choices, reading);
    let clauses = place.clauses.join(", ");
    let question = comment("# ", &format!("{clauses}: {}", place.question));
    let others = comment("#   ", &others(place.choices, is));
    format!("\n{question}{others}{} = \"{is}\"\n", place.name)
}

/// The numbers that the model does not have, in comments, by the reason: who sets one of them is told the same.
fn not_modelled<T: Modelled>() -> String {
    let mut by_reason: Vec<(&str, String)> = Vec::new();
    for number in T::NUMBERS {
        let Value::Fixed { value, reason } = &number.value else {
            continue;
        };
        let text = format!(
            "#   {} = {value}\n{}",
            number.name,
            comment("#     ", &said(number))
        );
        match by_reason.iter_mut().find(|(known, _)| known == reason) {
            Some((_, texts)) => *texts += &text,
            None => by_reason.push((reason, text)),
        }
    }
    let texts = by_reason.iter().map(|(reason, texts)| {
        let head = format!("Not modelled, so that no file can change it: {reason}.");
        format!("\n{}{texts}", comment("# ", &head))
    });
    texts.collect()
}

fn said<R>(number: &Number<R>) -> String {
    format!("{}: {}", number.clauses.join(", "), number.what)
}

/// What a number can be besides; nothing where it cannot be changed.
fn can_be<R: Copy + PartialEq>(number: &Number<R>, reading: &R) -> Option<String> {
    match &number.value {
        Value::Word(words) => Some(others(words, taken(words, reading))),
        Value::Whole(whole) => Some(whole.to_string()),
        Value::Fixed { .. } => None,
    }
}

/// The other ways.
fn others<R>(choices: &[Choice<R>], is: &str) -> String {
    let others = choices.iter().filter(|choice| choice.value != is);
    let others: Vec<_> = others.map(|it| format!("\"{}\"", it.value)).collect();
    format!("or {}", others.join(", "))
}

/// A comment of lines that are not too wide.
fn comment(indent: &str, text: &str) -> String {
    let options = Options::new(Terminal::of_stdout().at_most(100))
        .initial_indent(indent)
        .subsequent_indent(indent);
    textwrap::fill(text, options.break_words(false)) + "\n"
}

fn document<T: Modelled>(rules: Rules<T::Guard>, reading: &T::Reading) -> Json {
    let values = |choices: &[Choice<T::Reading>]| -> Vec<_> {
        choices.iter().map(|choice| choice.value).collect()
    };
    let place = |place: &Place<T::Reading>| {
        json!({
            "name": place.name,
            "value": taken(place.choices, reading),
            "ways": values(place.choices),
            "question": place.question,
            "clauses": place.clauses,
        })
    };
    let number = |number: &Number<T::Reading>| {
        let mut json = json!({
            "name": number.name,
            "value": number.shown(reading).trim_matches('"'),
            "what": number.what,
            "clauses": number.clauses,
        });
        match &number.value {
            Value::Word(words) => json["ways"] = values(words).into(),
            Value::Whole(whole) => {
                json["value"] = (whole.get)(reading).into();
                json["from"] = whole.from.into();
                json["to"] = whole.to.into();
                json["step"] = whole.step.into();
                json["within"] = whole.within.into();
            }
            Value::Fixed { value, reason } => {
                json["value"] = serde_json::from_str(value).unwrap_or_default();
                json["not_modelled"] = (*reason).into();
            }
        }
        json
    };
    json!({
        "protocol": T::NAME,
        "left_out": left_out::<T>(rules),
        "readings": T::PLACES.iter().map(place).collect::<Vec<_>>(),
        "numbers": T::NUMBERS.iter().map(number).collect::<Vec<_>>(),
    })
}
