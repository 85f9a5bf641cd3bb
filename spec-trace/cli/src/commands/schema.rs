//! `countersign schema`: the JSON Schemas of the wire format and of what commands print, ready to hand to a validator in any
//! language.
//!
//! The one thing to know: those of messages and of reports are files under `schemas/`, compiled in; that the one of the reply and the
//! reference's own parser agree is what `tests/it/schema.rs` is for. That of the driver protocol is derived from the types that read it, those
//! of what other commands print from types in [`printed`].

use countersign_conform::suite::vectors;
use miette::IntoDiagnostic;

use crate::answer::{Answer, Format, Status};

mod printed;

const EXAMPLES: &str = "\
Examples:
  countersign schema                      list the names
  countersign schema driver               requests and responses of an adapter
  countersign schema stream               a line of a recording
  countersign schema confirmation.reply   a message
  countersign schema report               report.json, which `report` writes
  countersign schema vectors              the files that `vectors` writes
  countersign schema vectors.printed      what `vectors --format json` prints
  countersign schema diff                 what `diff --format json` prints

The other commands with --format json have schemas too: ablate, check, clauses,
compare, findings, lint, readings, replay, verify and worth.";

/// Arguments of `countersign schema`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Print this schema [default: list the names]
    pub name: Option<String>,
}

/// The JSON Schema (draft 2020-12) of one message, or of several that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Its name on the command line: that of a message is its `type`.
    pub name: &'static str,
    /// The schema itself, as indented JSON with a line's end behind it.
    pub text: fn() -> String,
}

/// Every schema there is, by name.
pub const SCHEMAS: &[Schema] = &[
    Schema {
        name: "ablate",
        text: printed::ablate,
    },
    Schema {
        name: "check",
        text: printed::check,
    },
    Schema {
        name: "check.can",
        text: printed::check_can,
    },
    Schema {
        name: "clauses",
        text: printed::clauses,
    },
    Schema {
        name: "clauses.against",
        text: printed::clauses_against,
    },
    Schema {
        name: "compare",
        text: printed::compare,
    },
    Schema {
        name: "confirmation.reply",
        text: || include_str!("../../schemas/confirmation.reply.schema.json").to_owned(),
    },
    Schema {
        name: "diff",
        text: || include_str!("../../schemas/diff.schema.json").to_owned(),
    },
    Schema {
        name: "diff.baseline",
        text: || include_str!("../../schemas/diff.baseline.schema.json").to_owned(),
    },
    Schema {
        name: "diff.matrix",
        text: || include_str!("../../schemas/diff.matrix.schema.json").to_owned(),
    },
    Schema {
        name: "driver",
        text: || format!("{:#}\n", countersign_protocol::schema()),
    },
    Schema {
        name: "findings",
        text: printed::findings,
    },
    Schema {
        name: "findings.editorial",
        text: printed::findings_editorial,
    },
    Schema {
        name: "findings.refuted",
        text: printed::findings_refuted,
    },
    Schema {
        name: "lint",
        text: printed::lint,
    },
    Schema {
        name: "readings",
        text: printed::readings,
    },
    Schema {
        name: "replay",
        text: printed::replay,
    },
    Schema {
        name: "report",
        text: || include_str!("../../schemas/report.schema.json").to_owned(),
    },
    Schema {
        name: "smoke",
        text: || include_str!("../../schemas/smoke.schema.json").to_owned(),
    },
    Schema {
        name: "stream",
        text: || include_str!("../../schemas/stream.schema.json").to_owned(),
    },
    Schema {
        name: "vectors",
        text: || format!("{:#}\n", vectors::schema()),
    },
    Schema {
        name: "vectors.printed",
        text: printed::vectors,
    },
    Schema {
        name: "verify",
        text: printed::verify,
    },
    Schema {
        name: "worth",
        text: printed::worth,
    },
];

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
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    let Some(name) = &args.name else {
        return Ok(list(format));
    };
    let schema = find(name).ok_or_else(|| UnknownSchema { name: name.clone() });
    let schema = schema.into_diagnostic()?;
    Ok(Answer {
        text: (schema.text)(),
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
