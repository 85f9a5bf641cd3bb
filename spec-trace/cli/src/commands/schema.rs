//! `countersign schema`: the JSON Schemas of the wire format, ready to hand to a validator in any language.
//!
//! The one thing to know: the schemas are files under `schemas/`, compiled in. That they and the reference's own
//! parsers agree is what `tests/schema.rs` is for.

use miette::IntoDiagnostic;

use crate::answer::{Answer, Format, Status};

const EXAMPLES: &str = "\
Examples:
  countersign schema                                    the names
  countersign schema confirmation.reply > reply.schema.json";

/// Arguments of `countersign schema`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The message to print the schema of; the names are listed where this is absent
    pub name: Option<String>,
}

/// The JSON Schema (draft 2020-12) of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The `type` of the message, which is also the schema's name on the command line.
    pub name: &'static str,
    /// The schema itself, as indented JSON with a line's end behind it.
    pub text: &'static str,
}

/// Every schema there is, by name.
pub const SCHEMAS: &[Schema] = &[Schema {
    name: "confirmation.reply",
    text: include_str!("../../schemas/confirmation.reply.schema.json"),
}];

/// No schema has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown schema `{name}`: expected one of {}", names().join(", "))]
pub struct UnknownSchema {
    /// The name that was asked for.
    pub name: String,
}

/// Prints one schema, which is JSON in either format, or lists the names of all.
///
/// # Errors
///
/// [`UnknownSchema`] where no schema has the name.
pub fn run(arguments: &Args, format: Format) -> miette::Result<Answer> {
    let Some(name) = &arguments.name else {
        return Ok(list(format));
    };
    let schema = find(name).ok_or_else(|| UnknownSchema { name: name.clone() });
    let schema = schema.into_diagnostic()?;
    Ok(Answer {
        text: schema.text.to_owned(),
        status: Status::Holds,
    })
}

/// The schema with that name.
pub fn find(name: &str) -> Option<&'static Schema> {
    SCHEMAS.iter().find(|schema| schema.name == name)
}

fn list(format: Format) -> Answer {
    match format {
        Format::Text => Answer {
            text: names().join("\n") + "\n",
            status: Status::Holds,
        },
        Format::Json => Answer::json(&names().into(), Status::Holds),
    }
}

fn names() -> Vec<&'static str> {
    SCHEMAS.iter().map(|schema| schema.name).collect()
}
