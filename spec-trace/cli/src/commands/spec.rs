//! `countersign spec`: the settings of a text as a file, for who would change them and reads no Rust.

use std::fmt::Write as _;

use countersign_model::facade::{Number, Place, Text, Value, Way};
use serde_json::{Value as Json, json};
use textwrap::Options;

use crate::answer::{Answer, Format, Status};
use crate::arguments::{Protocol, Taken, VARIANT};
use crate::spec_file::Changes;
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
    let text = args.protocol.text();
    let changes = args.taken.changes(text)?;
    Ok(match format {
        Format::Text => Answer {
            text: Terminal::of_stdout().settings(&file(text, &changes)),
            status: Status::Holds,
        },
        Format::Json => Answer::json(&document(text, &changes), Status::Holds),
    })
}

/// The names of the rules that are left out.
fn left_out(changes: &Changes) -> Vec<&'static str> {
    changes.left_out.iter().map(|it| it.name).collect()
}

/// The settings as a file.
fn file(text: &Text, changes: &Changes) -> String {
    let protocol = text.name;
    let can_change = format!(
        "What can be changed in the text of {protocol}. What a file leaves out is as the text has it."
    );
    let rules = &text.rules;
    let examples = rules.first().map_or_else(String::new, |it| {
        let clause = it.clauses.first().filter(|clause| **clause != it.name);
        let clause = clause.map_or_else(String::new, |it| format!(" or [\"{it}\"]"));
        format!(", such as [\"{}\"]{clause}", it.name)
    });
    let rules_how = format!(
        "Rules that are left out, by name or by clause{examples}; `countersign check {protocol} --each-rule` lists all {}.",
        rules.len()
    );
    let quoted = left_out(changes).into_iter().map(|it| format!("\"{it}\""));
    let quoted: Vec<_> = quoted.collect();
    let mut said = comment("# ", &can_change);
    let _ = write!(
        said,
        "#   countersign check {protocol} --spec FILE\n\
         #   countersign check {protocol} --vs spec:FILE\n\n\
         protocol = \"{protocol}\"\n\n\
         {}left_out = [{}]\n\n[readings]\n",
        comment("# ", &rules_how),
        quoted.join(", ")
    );
    for place in &text.places {
        said += &place_text(place, &changes.value(place.name));
    }
    let mut table = "";
    for number in &text.numbers {
        let is = changes.value(number.name);
        let Some(can_be) = can_be(number, &is) else {
            continue;
        };
        let (of, key) = number.name.rsplit_once('.').unwrap_or(("", number.name));
        if of != table {
            let _ = write!(said, "\n[numbers.{of}]\n");
            table = of;
        }
        let about = comment("# ", &about(number));
        let _ = write!(
            said,
            "\n{about}{}{key} = {}\n",
            comment("#   ", &can_be),
            shown(number, &is)
        );
    }
    said + &not_modelled(text)
}

fn place_text(place: &Place, is: &str) -> String {
    let clauses = place.clauses.join(", ");
    let question = comment("# ", &format!("{clauses}: {}", place.question));
    let others = comment("#   ", &others(&place.choices, is));
    format!("\n{question}{others}{} = \"{is}\"\n", place.name)
}

/// The numbers that the model does not have, in comments, by the reason: who sets one of them is told the same.
fn not_modelled(text: &Text) -> String {
    let mut by_reason: Vec<(&str, String)> = Vec::new();
    for number in &text.numbers {
        let Value::Fixed { value, reason } = &number.value else {
            continue;
        };
        let entry = format!(
            "#   {} = {value}\n{}",
            number.name,
            comment("#     ", &about(number))
        );
        match by_reason.iter_mut().find(|(known, _)| known == reason) {
            Some((_, texts)) => *texts += &entry,
            None => by_reason.push((reason, entry)),
        }
    }
    let texts = by_reason.iter().map(|(reason, texts)| {
        let head = format!("Not modelled, so that no file can change it: {reason}.");
        format!("\n{}{texts}", comment("# ", &head))
    });
    texts.collect()
}

fn about(number: &Number) -> String {
    format!("{}: {}", number.clauses.join(", "), number.what)
}

/// What a number can be besides; nothing where it cannot be changed.
fn can_be(number: &Number, is: &str) -> Option<String> {
    match &number.value {
        Value::Word(words) => Some(others(words, is)),
        Value::Whole(whole) => Some(whole.to_string()),
        Value::Fixed { .. } => None,
    }
}

/// What a number is, as a file has it.
fn shown(number: &Number, is: &str) -> String {
    match &number.value {
        Value::Word(_) => format!("\"{is}\""),
        Value::Whole(_) | Value::Fixed { .. } => is.to_owned(),
    }
}

/// The other ways.
fn others(choices: &[Way], is: &str) -> String {
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

fn document(text: &Text, changes: &Changes) -> Json {
    let values = |choices: &[Way]| -> Vec<_> { choices.iter().map(|it| it.value).collect() };
    let place = |place: &Place| {
        json!({
            "name": place.name,
            "value": changes.value(place.name),
            "ways": values(&place.choices),
            "question": place.question,
            "clauses": place.clauses,
        })
    };
    let number = |number: &Number| {
        let is = changes.value(number.name);
        let mut json = json!({
            "name": number.name,
            "value": is,
            "what": number.what,
            "clauses": number.clauses,
        });
        match &number.value {
            Value::Word(words) => json["ways"] = values(words).into(),
            Value::Whole(whole) => {
                json["value"] = is.parse::<u16>().unwrap_or(whole.usual).into();
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
        "protocol": text.name,
        "left_out": left_out(changes),
        "readings": text.places.iter().map(place).collect::<Vec<_>>(),
        "numbers": text.numbers.iter().map(number).collect::<Vec<_>>(),
    })
}
