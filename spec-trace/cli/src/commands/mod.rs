//! The command line: arguments in; text or JSON on stdout, progress and errors on stderr, and an exit status.
//!
//! Each command is a module with an `Args` struct and a `run` that returns what to print and how it went. Nothing below
//! this module prints to stdout or ends the process.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use countersign_live::recorder::Url;
use miette::miette;

use crate::answer::{
    Answer, DocumentFormat, FindingsFormat, Format, PageFormat, ReportFormat, Status,
};
use crate::show::Drawing;
use crate::show::words::printable;
use crate::terminal::Terminal;

pub mod ablate;
pub mod check;
pub mod clauses;
pub mod compare;
pub mod completions;
pub mod diff;
pub mod diff_http;
#[cfg(feature = "explore")]
pub mod explore;
pub mod findings;
pub mod init;
pub mod lint;
pub mod readings;
pub mod record;
pub mod replay;
pub mod report;
pub mod schema;
pub mod serve;
pub mod show;
pub mod smoke;
pub mod spec;
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
  countersign spec aaep > aaep.toml                readings, rules and numbers as a file to change
  countersign check aaep --spec aaep.toml          what the changed text breaks
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
    #[command(subcommand)]
    command: Option<Command>,
}

/// What a command takes, and in which of its formats it prints the result.
#[derive(clap::Args)]
struct In<F, A>
where
    F: ValueEnum + Default + Send + Sync + 'static,
    A: clap::Args,
{
    #[command(flatten)]
    args: A,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: F,
}

impl<F, A> In<F, A>
where
    F: ValueEnum + Default + PartialEq + Send + Sync + 'static,
    A: clap::Args,
{
    /// The answer; what is for people is fitted to the terminal.
    fn run(self, run: fn(&A, F) -> miette::Result<Answer>) -> miette::Result<Answer> {
        let is_for_people = self.format == F::default();
        let mut answer = run(&self.args, self.format)?;
        if is_for_people {
            answer.text = Terminal::of_stdout().fitted(&answer.text);
        }
        Ok(answer)
    }
}

#[derive(Subcommand)]
enum Command {
    /// Check the model, then compare model and executor on every edge (the default command)
    Verify(In<FindingsFormat, verify::Args>),
    /// Check a protocol's model: each property, with counterexamples as numbered steps
    Check(In<Format, check::Args>),
    /// Leave out each rule in turn: what breaks, and the shortest run that shows it
    Ablate(In<Format, ablate::Args>),
    /// Draw up what each rule is worth: rule by guarantee, and which rules guarantee what
    Worth(In<PageFormat, worth::Args>),
    /// List the places of a text that can be taken in more than one way, and what each way costs
    Readings(In<Format, readings::Args>),
    /// Print the settings of a text, its readings, rules and numbers, as a file to change
    Spec(In<Format, spec::Args>),
    /// Set two settings of a text beside each other: what only one allows, breaks, or has the suite find
    Compare(In<Format, compare::Args>),
    /// Judge recordings: AAEP streams, and transcripts of the other protocols
    Lint(In<FindingsFormat, lint::Args>),
    /// Drive an implementation in any language: the shortest run for each rule that it breaks
    Diff(Box<In<ReportFormat, diff::Args>>),
    /// Check the plug of an implementation, before anything is said of the implementation
    Smoke(In<Format, smoke::Args>),
    /// Write the suite that `diff` plays first as test vectors for any language
    Vectors(In<Format, vectors::Args>),
    /// Run a vector, or a run that `diff` has kept, again
    Replay(In<ReportFormat, replay::Args>),
    /// Draw a recorded stream, a counterexample or a divergence as a sequence diagram
    Show(In<Drawing, show::Args>),
    /// Walk through a protocol's model in a browser
    #[cfg(feature = "explore")]
    Explore(In<Format, explore::Args>),
    /// List the clauses, or explain one: level, gist, source, and what states and judges it
    Clauses(In<Format, clauses::Args>),
    /// List where the source documents are at odds with themselves, or explain one: witness and a wording that mends it
    Findings(In<DocumentFormat, findings::Args>),
    /// Write all clauses, with what holds them and what is wrong with the text, as pages and as JSON
    Report(In<Format, report::Args>),
    /// Print a JSON Schema of the wire format
    Schema(In<Format, schema::Args>),
    /// Run the reference as a live implementation
    Serve(In<Format, serve::Args>),
    /// Record what passes between a live AAEP producer and its subscribers
    Record(In<Format, record::Args>),
    /// Print what a shell needs to complete commands, options and their values
    Completions(completions::Args),
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let command = Cli::parse_from(format_last(std::env::args_os())).command;
    let result = match command {
        None => verify::run(&verify::Args::default(), FindingsFormat::Text),
        Some(Command::Verify(it)) => it.run(verify::run),
        Some(Command::Check(it)) => it.run(check::run),
        Some(Command::Ablate(it)) => it.run(ablate::run),
        Some(Command::Worth(it)) => it.run(worth::run),
        Some(Command::Compare(it)) => it.run(compare::run),
        Some(Command::Readings(it)) => it.run(readings::run),
        Some(Command::Diff(it)) => it.run(diff::run),
        Some(Command::Smoke(it)) => it.run(smoke::run),
        Some(Command::Vectors(it)) => it.run(vectors::run),
        Some(Command::Replay(it)) => it.run(replay::run),
        Some(Command::Lint(it)) => it.run(lint::run),
        Some(Command::Record(it)) => it.run(record::run),
        Some(Command::Show(it)) => it.run(show::run),
        Some(Command::Clauses(it)) => it.run(clauses::run),
        Some(Command::Findings(it)) => it.run(findings::run),
        Some(Command::Report(it)) => it.run(report::run),
        // What these print is the same in each format, and not for people alone.
        Some(Command::Schema(it)) => schema::run(&it.args, it.format),
        Some(Command::Spec(it)) => spec::run(&it.args, it.format),
        #[cfg(feature = "explore")]
        Some(Command::Explore(it)) => explore::run(&it.args),
        Some(Command::Serve(it)) => serve::run(&it.args),
        Some(Command::Completions(args)) => Ok(completions::run(&args, Cli::command())),
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

/// The command line with the command before its `--format`: behind the name of the program, that may stand first, and alone it is that of
/// the main job.
fn format_last(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = arguments.into_iter().collect();
    let words = match arguments.get(1).and_then(|it| it.to_str()) {
        Some("--format") => 2,
        Some(first) if first.starts_with("--format=") => 1,
        Some(_) | None => return arguments,
    };
    match arguments.get_mut(1..words + 2) {
        Some(first) => first.rotate_right(1),
        None => arguments.insert(1, "verify".into()),
    }
    arguments
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
/// Where it is not of HTTP, or has a query or a fragment, or needs TLS in a build without.
fn is_base(option: &str, url: &Url) -> miette::Result<()> {
    if url.scheme() == "https" && cfg!(not(feature = "tls")) {
        return Err(miette!(
            "{option} {url}: `https` needs TLS, which this build does not have\n  \
             hint: build with `--features tls`, or use the file that is handed out"
        ));
    }
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
    fn a_format_may_stand_before_the_command() {
        let last = |line: &str| {
            let words = format_last(line.split(' ').map(OsString::from)).into_iter();
            let words: Vec<_> = words.filter_map(|it| it.into_string().ok()).collect();
            words.join(" ")
        };
        for (line, expected) in [
            ("c --format json check aaep", "c check --format json aaep"),
            ("c --format=json clauses", "c clauses --format=json"),
            ("c --format json", "c verify --format json"),
            ("c --format=json", "c verify --format=json"),
            ("c --format", "c verify --format"),
            ("c show x --format svg", "c show x --format svg"),
            ("c", "c"),
        ] {
            assert_eq!(last(line), expected);
        }
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
