//! The command line: arguments in; text or JSON on stdout, progress and errors on stderr, and an exit status.
//!
//! Each command is a module with an `Args` struct and a `run` that returns what to print and how it went. Nothing below
//! this module prints to stdout or ends the process.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use countersign_live::recorder::Url;
use miette::miette;

use crate::answer::{
    Answer, DocumentFormat, FindingsFormat, Format, PageFormat, ReportFormat, Status,
};
use crate::show::Drawing;
use crate::show::words::printable;

pub mod ablate;
pub mod check;
pub mod clauses;
pub mod compare;
pub mod diff;
pub mod diff_http;
pub mod explore;
pub mod findings;
pub mod lint;
pub mod readings;
pub mod record;
pub mod replay;
pub mod report;
pub mod schema;
pub mod serve;
pub mod show;
pub mod smoke;
pub mod vectors;
pub mod verify;
pub mod worth;

const EXAMPLES: &str = "\
Examples:
  countersign                                      the main job: check the model, compare every edge
  countersign check aaep --without AAEP-6.3.4-3    what goes wrong when a token may be used twice
  countersign check mcp-aql --without AQL-4.1-6    what goes wrong when a token serves any adapter
  countersign check aaep --reading late-reply=by-claim
                                                   what another reading of the text costs
  countersign readings aaep                        what the text leaves open, and what that costs
  countersign compare aaep --b without:AAEP-6.3.4-1
                                                   what changes without the schema check
  countersign ablate mcp-aql                       what each rule is good for
  countersign worth aaep --guarantee AAEP-6.9-2    which rules guarantee at most once
  countersign lint capture.jsonl                   judge a recorded stream
  producer | countersign lint - --format json      the same in a pipe, for a program
  countersign show capture.jsonl --format html --out run.html
                                                   the same as a page to step through
  countersign diff pending-action -- python3 ledger.py
                                                   an implementation under the rules
  countersign smoke pending-action -- python3 ledger.py
                                                   whether it can be driven at all
  countersign explore aaep                         walk through the model in a browser
  countersign clauses AAEP-6.3.4-4                 a rule, and all that states, executes or tests it
  countersign findings AAEP-F5                     where the text is at odds with itself
  countersign report --out DIR                     all rules, findings and runs, as pages

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
    #[arg(long, global = true, value_enum, default_value_t = Rendering::Text)]
    format: Rendering,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Every value of `--format`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rendering {
    /// For people
    Text,
    /// For programs: one JSON document
    Json,
    /// For build servers: a test report in XML, with a case for each clause or property (lint, verify, diff)
    Junit,
    /// For code hosts: SARIF 2.1.0 (lint, verify, diff)
    Sarif,
    /// For the tracker of a document (findings)
    Markdown,
    /// A sequence diagram for Markdown (show)
    Mermaid,
    /// A picture (show)
    Svg,
    /// A page (show, diff, worth, report --matrix)
    Html,
}

impl Rendering {
    /// The format, for a command that prints a result.
    fn printed(self) -> Format {
        match self {
            Self::Text => Format::Text,
            Self::Json => Format::Json,
            Self::Junit | Self::Sarif | Self::Markdown | Self::Mermaid | Self::Svg | Self::Html => {
                self.refuse("it prints text or json")
            }
        }
    }

    /// The format, for a command that finds faults.
    fn found(self) -> FindingsFormat {
        match self {
            Self::Text => FindingsFormat::Text,
            Self::Json => FindingsFormat::Json,
            Self::Junit => FindingsFormat::Junit,
            Self::Sarif => FindingsFormat::Sarif,
            Self::Markdown | Self::Mermaid | Self::Svg | Self::Html => {
                self.refuse("it prints text, json, junit or sarif")
            }
        }
    }

    /// The format, for a command that drives an implementation.
    fn reported(self) -> ReportFormat {
        match self {
            Self::Text => ReportFormat::Text,
            Self::Json => ReportFormat::Json,
            Self::Junit => ReportFormat::Junit,
            Self::Sarif => ReportFormat::Sarif,
            Self::Html => ReportFormat::Html,
            Self::Markdown | Self::Mermaid | Self::Svg => {
                self.refuse("it prints text, json, junit, sarif or html")
            }
        }
    }

    /// The format, for the command that draws.
    fn drawn(self) -> Drawing {
        match self {
            Self::Text => Drawing::Text,
            Self::Json => Drawing::Json,
            Self::Mermaid => Drawing::Mermaid,
            Self::Svg => Drawing::Svg,
            Self::Html => Drawing::Html,
            Self::Junit | Self::Sarif | Self::Markdown => {
                self.refuse("it draws text, json, mermaid, svg or html")
            }
        }
    }

    /// The format, for a command whose answers are passed on.
    fn documented(self) -> DocumentFormat {
        match self {
            Self::Text => DocumentFormat::Text,
            Self::Json => DocumentFormat::Json,
            Self::Markdown => DocumentFormat::Markdown,
            Self::Junit | Self::Sarif | Self::Mermaid | Self::Svg | Self::Html => {
                self.refuse("it prints text, json or markdown")
            }
        }
    }

    /// The format, for a command whose result can be drawn.
    fn pictured(self) -> PageFormat {
        match self {
            Self::Text => PageFormat::Text,
            Self::Json => PageFormat::Json,
            Self::Html => PageFormat::Html,
            Self::Junit | Self::Sarif | Self::Markdown | Self::Mermaid | Self::Svg => {
                self.refuse("it prints text, json or html")
            }
        }
    }

    /// Ends the process as any wrong usage does.
    fn refuse(self, instead: &str) -> ! {
        let value = self.to_possible_value();
        let name = value.as_ref().map_or("", |value| value.get_name());
        let message = format!("--format {name} is not for this command: {instead}");
        Cli::command()
            .error(ErrorKind::ArgumentConflict, message)
            .exit()
    }
}

#[derive(Subcommand)]
enum Command {
    /// Check the model, then compare model and executor on every edge (the default command)
    Verify(verify::Args),
    /// Check a protocol's model: each property, with counterexamples as numbered steps
    Check(check::Args),
    /// Leave out each rule in turn: what breaks, and the shortest run that shows it
    Ablate(ablate::Args),
    /// Draw up what each rule is worth: rule by guarantee, and which rules guarantee what, alone and in pairs
    Worth(worth::Args),
    /// List the places of a text that can be taken in more than one way, and what each way costs
    Readings(readings::Args),
    /// Set two settings of a text beside each other: what only one allows, breaks, or has the suite find
    Compare(compare::Args),
    /// Judge recordings: AAEP streams, and transcripts of the other protocols
    Lint(lint::Args),
    /// Drive an implementation in any language: the shortest run for each rule that it breaks
    Diff(Box<diff::Args>),
    /// Check the plug of an implementation, before anything is said of the implementation
    Smoke(smoke::Args),
    /// Write the suite that `diff` plays first as test vectors for any language
    Vectors(vectors::Args),
    /// Run a vector, or a run that `diff` has kept, again
    Replay(replay::Args),
    /// Draw a recorded stream, a counterexample or a divergence as a sequence diagram
    Show(show::Args),
    /// Walk through a protocol's model in a browser
    Explore(explore::Args),
    /// List the clauses, or explain one: level, gist, source, and what states, carries out and tests it
    Clauses(clauses::Args),
    /// List where the source documents are at odds with themselves, or explain one: witness and a wording that mends it
    Findings(findings::Args),
    /// Write all clauses, with what holds them and what is wrong with the text, as pages and as JSON
    Report(report::Args),
    /// Print a JSON Schema of the wire format
    Schema(schema::Args),
    /// Run the reference as a live implementation
    Serve(serve::Args),
    /// Record what passes between a live AAEP producer and its subscribers
    Record(record::Args),
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let command = cli
        .command
        .unwrap_or_else(|| Command::Verify(verify::Args::default()));
    let result = match command {
        Command::Verify(args) => verify::run(&args, cli.format.found()),
        Command::Check(args) => check::run(&args, cli.format.printed()),
        Command::Ablate(args) => ablate::run(&args, cli.format.printed()),
        Command::Worth(args) => worth::run(&args, cli.format.pictured()),
        Command::Compare(args) => compare::run(&args, cli.format.printed()),
        Command::Readings(args) => readings::run(&args, cli.format.printed()),
        Command::Diff(args) => diff::run(&args, cli.format.reported()),
        Command::Smoke(args) => smoke::run(&args, cli.format.printed()),
        Command::Vectors(args) => vectors::run(&args, cli.format.printed()),
        Command::Replay(args) => replay::run(&args, cli.format.reported()),
        Command::Lint(args) => lint::run(&args, cli.format.found()),
        Command::Record(args) => record::run(&args, cli.format.printed()),
        Command::Show(args) => show::run(&args, cli.format.drawn()),
        Command::Explore(args) => {
            cli.format.printed();
            explore::run(&args)
        }
        Command::Clauses(args) => clauses::run(&args, cli.format.printed()),
        Command::Findings(args) => findings::run(&args, cli.format.documented()),
        Command::Report(args) => report::run(&args, cli.format.printed()),
        Command::Schema(args) => schema::run(&args, cli.format.printed()),
        Command::Serve(args) => {
            cli.format.printed();
            serve::run(&args)
        }
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

/// A line on stderr, without what a file's name could do to a terminal. Where nobody can be told, the exit status still
/// says it.
fn complain(error: &str) {
    let lines: Vec<String> = error.lines().map(printable).collect();
    let _ = writeln!(io::stderr(), "error: {}", lines.join("\n"));
}

/// Whether all paths of a producer can stand behind this URL, which an option has given.
///
/// # Errors
///
/// Where it is not of HTTP, or has a query or a fragment.
fn is_base(option: &str, url: &Url) -> miette::Result<()> {
    if matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none()
    {
        return Ok(());
    }
    Err(miette!(
        "{option} {url}: expected a URL such as http://127.0.0.1:8080, without ? and #"
    ))
}

/// Where to send what is to be told on stderr, so that nobody waits for whoever reads it; the thread that writes each as `line` has it
/// ends when nothing more can be sent.
fn told_on_stderr<T: Send + 'static>(
    line: impl Fn(T) -> String + Send + 'static,
) -> (SyncSender<T>, JoinHandle<()>) {
    let (sender, told) = sync_channel(LONGEST_LOG);
    let teller = thread::spawn(move || {
        for one in told {
            // Where nobody reads stderr there is nobody to tell.
            let _unread = writeln!(io::stderr(), "{}", line(one));
        }
    });
    (sender, teller)
}

/// How much may wait to be told.
const LONGEST_LOG: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    /// The command lines of a help text, without what is said beside them.
    fn examples(help: &str) -> Vec<Vec<&str>> {
        let lines = help
            .lines()
            .filter_map(|line| line.find("countersign ").map(|at| &line[at..]));
        let alone = lines.filter_map(|line| line.split("   ").next()?.split(" > ").next());
        alone
            .map(|line| line.split_whitespace().collect())
            .collect()
    }

    #[test]
    fn every_command_has_examples_and_takes_them() {
        let mut command = Cli::command();
        let own = command.get_after_help().map(ToString::to_string);
        let helps = command.get_subcommands_mut().map(|command| {
            let help = command.get_after_help().map(ToString::to_string);
            (command.get_name().to_owned(), help)
        });
        let mut helps: Vec<_> = helps.collect();
        helps.push((String::new(), own));
        for (name, help) in helps {
            let help = help.unwrap_or_default();
            let examples = examples(&help);
            assert!(!examples.is_empty(), "{name} has no examples");
            for words in examples {
                let taken = Cli::try_parse_from(&words);
                assert!(taken.is_ok(), "{words:?}: {:?}", taken.err());
            }
            let widest = help.lines().map(str::len).max();
            assert!(
                widest <= Some(100),
                "{name}: a help of {widest:?} columns is folded"
            );
        }
    }
}
