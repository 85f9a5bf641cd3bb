//! The command line: arguments in; text or JSON on stdout, progress and errors on stderr, and an exit status.
//!
//! Each command is a module with an `Args` struct and a `run` that returns what to print and how it went. Nothing below
//! this module prints to stdout or ends the process.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::answer::{Answer, FindingsFormat, Status};

mod ablate;
pub mod arguments;
mod check;
pub(crate) mod progress;
mod table;
mod verify;

const EXAMPLES: &str = "\
Examples:
  countersign                                      the main job: check the model, compare every edge
  countersign check aaep --without AAEP-6.3.4-3    what goes wrong when a token may be used twice
  countersign check mcp-aql --without AQL-4.1-6    what goes wrong when a token serves any adapter
  countersign check aaep --reading late-reply=by-claim
                                                   what another reading of the text costs
  countersign ablate mcp-aql                       what each rule is good for
  countersign lint capture.jsonl                   judge a recorded stream
  producer | countersign lint - --format json      the same in a pipe, for a program
  countersign clauses AAEP-6.3.4-4                 a rule, and all that states, executes or tests it

Exit status: 0 all hold, 1 a violation or divergence, 2 usage or unreadable input, 3 inconclusive.";

/// The executable specification of agent confirmation protocols.
#[derive(Parser)]
#[command(
    name = "countersign",
    version,
    about = "The executable specification of agent confirmation protocols",
    after_help = EXAMPLES
)]
struct Cli {
    /// How to print the result
    #[arg(long, global = true, value_enum, default_value_t = FindingsFormat::Text)]
    format: FindingsFormat,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Check the model, then compare model and executor on every edge (the default command)
    Verify(verify::Args),
    /// Check a protocol's model: each property, with counterexamples as numbered steps
    Check(check::Args),
    /// Leave out each rule in turn: what breaks, and the shortest run that shows it
    Ablate(ablate::Args),
    /// Judge recorded AAEP streams
    Lint(crate::lint::command::LintArgs),
    /// List the clauses, or explain one: level, gist, source, and what states, carries out and tests it
    Clauses(crate::clause::command::ClausesArgs),
    /// Print a JSON Schema of the wire format
    Schema(crate::schema::Args),
    /// Run the reference as a live implementation
    Serve(crate::serve::Args),
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let command = cli
        .command
        .unwrap_or_else(|| Command::Verify(verify::Args::default()));
    if !matches!(command, Command::Lint(_)) && cli.format.plain().is_none() {
        let message = "the formats junit and sarif are for lint; other commands have text and json";
        Cli::command()
            .error(ErrorKind::InvalidValue, message)
            .exit();
    }
    let format = cli.format.plain().unwrap_or_default();
    let result = match command {
        Command::Verify(args) => verify::run(&args, format),
        Command::Check(args) => check::run(&args, format),
        Command::Ablate(args) => ablate::run(&args, format),
        Command::Lint(args) => crate::lint::command::run(&args, cli.format),
        Command::Clauses(args) => crate::clause::command::run(&args, format),
        Command::Schema(args) => crate::schema::run(&args, format),
        Command::Serve(args) => crate::serve::run(&args),
    };
    match result {
        Ok(answer) => print(&answer),
        Err(report) => {
            // Not folded to the terminal's width, which would cut clause ids and paths in two.
            let causes: Vec<String> = report.chain().map(ToString::to_string).collect();
            complain(&causes.join(": "));
            ExitCode::from(Status::Unusable.code())
        }
    }
}

/// Writes the answer. A reader that has gone away (`countersign … | head`) is no error.
fn print(answer: &Answer) -> ExitCode {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(answer.text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Ok(()) => ExitCode::from(answer.status.code()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(answer.status.code())
        }
        Err(error) => {
            complain(&format!("cannot write the result: {error}"));
            ExitCode::from(Status::Unusable.code())
        }
    }
}

/// A line on stderr. Where nobody can be told, the exit status still says it.
fn complain(error: &str) {
    let _ = writeln!(io::stderr(), "error: {error}");
}
