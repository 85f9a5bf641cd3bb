//! The command line: arguments in; text or JSON on stdout, progress and errors on stderr, and an exit status.
//!
//! Each command is a module with an `Args` struct and a `run` that returns what to print and how it went. Nothing below
//! this module prints to stdout or ends the process.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use countersign_clauses::nearest;
use countersign_live::recorder::Url;
use miette::miette;

use crate::answer::{
    Answer, DocumentFormat, FindingsFormat, Format, PageFormat, ReportFormat, Status,
};
use crate::show::words::printable;
use crate::show::{Drawing, load};
use crate::terminal::Terminal;

pub mod ablate;
mod can;
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

/// The commands that the help lists; the others are old names, and what few people need.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Text", &["check", "spec", "clauses", "findings", "report"]),
    ("Implementation", &["diff", "vectors", "serve"]),
    ("Recording", &["lint", "record", "show"]),
];

const EXAMPLES: &str = "\
Examples:
  countersign check aaep --without AAEP-6.3.4-3   What breaks without it?
  countersign diff mcp-aql -- python3 mine.py     Is my implementation right?
  countersign lint capture.jsonl                  Is my recording right?
  countersign AAEP-6.3.4-3                        What is known of a clause?

Exit status: 0 all hold, 1 violation, 2 usage or bad input, 3 inconclusive";

/// The version, and the texts that were read.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let texts = countersign_clauses::texts().iter().map(|it| {
        let stated = match (&it.version, &it.date) {
            (None, None) => String::new(),
            _ => format!(", {}", it.stated()),
        };
        format!("\n  {}  {}{stated}", it.sha256, it.title)
    });
    let head = concat!(
        env!("CARGO_PKG_VERSION"),
        "\n\nUnofficial. It was made from these texts (first 12 digits of SHA-256):"
    );
    head.to_owned() + &texts.collect::<String>()
});

/// The executable specification of agent confirmation protocols.
#[derive(Parser)]
#[command(
    name = "countersign",
    version,
    long_version = LONG_VERSION.as_str(),
    max_term_width = 80,
    about = "The executable specification of agent confirmation protocols",
    override_usage = "countersign [COMMAND]\n       countersign FILE|ID",
    after_help = EXAMPLES
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// The command line, with its commands in groups.
fn command() -> clap::Command {
    let command = Cli::command();
    let groups = GROUPS.map(|(group, names)| {
        let commands = command.get_subcommands();
        let commands = commands.filter(|it| names.contains(&it.get_name()));
        let lines = commands.map(|it| {
            let about = it.get_about().map(ToString::to_string);
            format!("  {:<10}{}\n", it.get_name(), about.unwrap_or_default())
        });
        format!("\n{group}:\n{}", lines.collect::<String>())
    });
    let template = [
        "{about}\n\n{usage-heading} {usage}\n",
        &groups.concat(),
        "\nWithout a command: search every model, compare the reference on each transition\n\n\
         Options:\n{options}{after-help}",
    ];
    let template = template.concat();
    command.help_template(template)
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
    /// Search a protocol's model: what breaks, by the shortest run
    Check(In<Format, check::Args>),
    /// Print readings, rules and numbers of a text as a file to change
    Spec(In<Format, spec::Args>),
    /// List the clauses, or explain one
    Clauses(In<Format, clauses::Args>),
    /// List where a text contradicts itself or leaves a gap, or explain one
    Findings(In<DocumentFormat, findings::Args>),
    /// Write clauses, findings or test results as pages
    Report(In<Format, report::Args>),
    /// Test an implementation, in any language
    Diff(Box<In<ReportFormat, diff::Args>>),
    /// Write the test suite as vectors for any language
    Vectors(In<Format, vectors::Args>),
    /// Run the reference implementation, over stdio or HTTP
    Serve(In<Format, serve::Args>),
    /// Judge recordings
    Lint(In<FindingsFormat, lint::Args>),
    /// Record a live AAEP producer, as a proxy
    Record(In<Format, record::Args>),
    /// Draw a recording, a counterexample or a divergence
    Show(In<Drawing, show::Args>),
    /// Search every model and compare the reference on each transition
    #[command(hide = true)]
    Verify(In<FindingsFormat, verify::Args>),
    /// Leave out each rule in turn: what breaks, by the shortest run
    #[command(hide = true)]
    Ablate(In<Format, ablate::Args>),
    /// List which guarantees depend on which rule
    #[command(hide = true)]
    Worth(In<PageFormat, worth::Args>),
    /// Check each reading of each ambiguous clause
    #[command(hide = true)]
    Readings(In<Format, readings::Args>),
    /// Compare two variants of a text
    #[command(hide = true)]
    Compare(In<Format, compare::Args>),
    /// Check that an adapter speaks the driver protocol
    #[command(hide = true)]
    Smoke(In<Format, smoke::Args>),
    /// Run a vector, a kept run or a counterexample again
    #[command(hide = true)]
    Replay(In<ReportFormat, replay::Args>),
    /// Walk through a protocol's model in a browser
    #[cfg(feature = "explore")]
    #[command(hide = true)]
    Explore(In<Format, explore::Args>),
    /// Print a JSON Schema
    #[command(hide = true)]
    Schema(In<Format, schema::Args>),
    /// Print the completions of a shell
    #[command(hide = true)]
    Completions(completions::Args),
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let words = match with_command(format_last(std::env::args_os())) {
        Ok(words) => words,
        Err(unknown) => {
            complain(&unknown);
            return ExitCode::from(Status::Unusable.code());
        }
    };
    let cli = matches(&words).and_then(|it| Cli::from_arg_matches(&it));
    let result = match cli.unwrap_or_else(|error| error.exit()).command {
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
        Some(Command::Completions(args)) => Ok(completions::run(&args, command())),
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

/// What the words mean. An argument that is unknown is one of an adapter whose `--` is missing where the words before it end in its name.
fn matches(words: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let error = match command().try_get_matches_from(words) {
        Err(error) if error.kind() == ErrorKind::UnknownArgument => error,
        matches => return matches,
    };
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return Err(error);
    };
    let known = words
        .iter()
        .take_while(|it| !it.to_string_lossy().starts_with(unknown));
    match command().try_get_matches_from(known) {
        Err(earlier) if earlier.kind() == ErrorKind::ValueValidation => Err(earlier),
        Ok(_) | Err(_) => Err(error),
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

/// The command line with the command that a file or an id in its place is for.
///
/// # Errors
///
/// A word that is no command, no file and no id.
fn with_command(mut words: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let Some(word) = words.get(1) else {
        return Ok(words);
    };
    let (path, shown) = (Path::new(word), word.to_string_lossy());
    let commands = command();
    if shown.starts_with('-') || shown == "help" || commands.find_subcommand(word).is_some() {
        return Ok(words);
    }
    let is_finding = || {
        let mut ids = countersign_findings::ids();
        ids.any(|id| id.eq_ignore_ascii_case(&shown))
    };
    let command = if path.is_file() {
        let is_of_ours = fs::read(path).is_ok_and(|bytes| load::is_of_ours(&bytes));
        if is_of_ours { "show" } else { "lint" }
    } else if path.join(vectors::MANIFEST).is_file() {
        "replay"
    } else if path.is_dir() {
        "lint"
    } else if is_finding() {
        "findings"
    } else if countersign_clauses::meant(&shown).is_ok() {
        "clauses"
    } else {
        return Err(unknown(path, &shown, &commands));
    };
    words.insert(1, command.into());
    Ok(words)
}

/// What is said of a word that stands for nothing, with the nearest that does.
fn unknown(path: &Path, word: &str, commands: &clap::Command) -> String {
    let is_path = word.contains('/')
        || path.extension().is_some_and(|it| {
            let it = it.to_string_lossy();
            it.chars().all(|it| it.is_ascii_alphabetic())
        });
    if is_path {
        return format!("no such file, {word}\n  hint: countersign --help lists the commands");
    }
    let visible = commands.get_subcommands().filter(|it| !it.is_hide_set());
    let mut names: Vec<String> = visible
        .map(|it| it.get_name().to_ascii_uppercase())
        .collect();
    let commands = names.len();
    names.extend(
        countersign_clauses::all()
            .iter()
            .map(|it| it.id.to_string()),
    );
    names.extend(countersign_findings::ids().map(str::to_owned));
    let nearest = nearest::ids(word, names.iter().map(String::as_str));
    // Whoever slips on a key seldom does on the first.
    let first = word.chars().next().map(|it| it.to_ascii_uppercase());
    let is_near =
        |it: &&str| first.is_some_and(|first| first.is_ascii_digit() || it.starts_with(first));
    let hint = nearest.first().copied().filter(is_near);
    let hint = hint.unwrap_or("--help lists the commands");
    let hint = if names.iter().take(commands).any(|it| it == hint) {
        hint.to_ascii_lowercase()
    } else {
        hint.to_owned()
    };
    format!("no command, file, clause or finding, {word}\n  hint: countersign {hint}")
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
    remark("error", error);
}

/// The same of that kind. Where nobody can be told, nobody is.
fn remark(kind: &str, text: &str) {
    let lines: Vec<String> = text.lines().map(printable).collect();
    let _ = writeln!(io::stderr(), "{kind}: {}", lines.join("\n"));
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
                let line = words.iter().map(OsString::from).collect();
                let line = with_command(line).expect("a command, a file or an id");
                let taken = Cli::try_parse_from(line);
                assert!(taken.is_ok(), "{words:?}: {:?}", taken.err());
            }
            let widest = help.lines().map(|line| line.chars().count()).max();
            assert!(
                widest <= Some(80),
                "{name}: a help of {widest:?} columns is folded"
            );
        }
    }

    #[test]
    fn the_help_has_each_command_in_one_group_and_fits_on_a_screen() {
        let mut command = command();
        let visible = command.get_subcommands().filter(|it| !it.is_hide_set());
        let mut visible: Vec<_> = visible.map(|it| it.get_name().to_owned()).collect();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).collect();
        visible.sort();
        grouped.sort();
        assert!(visible.iter().eq(grouped), "{visible:?}");
        let help = command.render_long_help().to_string();
        let lines: Vec<_> = help.lines().collect();
        assert!(lines.len() <= 40, "{help}");
        assert!(lines.iter().all(|it| it.chars().count() <= 80), "{help}");
        for name in visible {
            let begins = format!("  {name} ");
            let listed = lines.iter().filter(|line| line.starts_with(&begins));
            assert_eq!(listed.count(), 1, "{name}: {help}");
        }
    }

    /// A word that is none of these has the nearest as its hint.
    #[test]
    fn a_file_or_an_id_stands_for_the_command_that_it_is_for() {
        let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces");
        let command = |word: &str| {
            let words = ["countersign", word, "--format", "json"];
            with_command(words.map(OsString::from).to_vec()).map(|words| {
                let words = words.iter().map(|it| it.to_string_lossy());
                words.collect::<Vec<_>>().join(" ")
            })
        };
        let traces_of = |name: &str| format!("{traces}/{name}");
        for (word, expected) in [
            (traces_of("valid"), "lint"),
            (traces_of("transcripts"), "lint"),
            (a_file_of(&traces_of("valid")), "lint"),
            (a_file_of(&traces_of("kept/aaep")), "show"),
            ("aaep-6.3.4-4".to_owned(), "clauses"),
            (["AQL", "5.1"].join("-"), "clauses"),
            ("aaep-f2".to_owned(), "findings"),
            ("AAEP-E1".to_owned(), "findings"),
        ] {
            let line = format!("countersign {expected} {word} --format json");
            assert_eq!(command(&word), Ok(line));
        }
        for word in ["check", "smoke", "help", "--version"] {
            let line = format!("countersign {word} --format json");
            assert_eq!(command(word), Ok(line));
        }
        for (word, hint) in [
            ("chek", "check"),
            ("aaep-6.3.4-44", "AAEP-6.3.4-4"),
            ("none.jsonl", "--help lists the commands"),
            ("nonsense", "--help lists the commands"),
        ] {
            let error = command(word).expect_err("it stands for nothing");
            let hint = format!("{word}\n  hint: countersign {hint}");
            assert!(error.ends_with(&hint), "{error}");
        }
    }

    /// The first file of a folder.
    fn a_file_of(folder: &str) -> String {
        let entries = fs::read_dir(folder).expect("a folder");
        let files = entries.map(|it| it.expect("an entry").path());
        let first = files.filter(|it| it.is_file()).min();
        first.expect("a file").display().to_string()
    }
}
