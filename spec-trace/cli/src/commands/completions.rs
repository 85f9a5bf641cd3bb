//! `countersign completions`: the script with which a shell completes commands, options and their values.

use std::sync::LazyLock;

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::{Shell, generate};
use countersign_model::facade::TEXTS;

use super::schema::SCHEMAS;
use crate::answer::{Answer, Status};

const EXAMPLES: &str = "\
Examples:
  countersign completions bash > countersign.bash    source it in ~/.bashrc
  countersign completions zsh > _countersign         in a folder of $fpath
  countersign completions fish > countersign.fish    in its completions folder
  countersign completions powershell > countersign.ps1";

/// The arguments of `countersign completions`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// The script that completes `command` in the shell.
pub fn run(args: &Args, command: Command) -> Answer {
    let mut command = with_values(command);
    let mut script = Vec::new();
    generate(args.shell, &mut command, "countersign", &mut script);
    Answer {
        text: String::from_utf8_lossy(&script).into_owned(),
        status: Status::Holds,
    }
}

/// The command with all values that an argument can have where there are finitely many: the command itself looks them up when it runs.
fn with_values(command: Command) -> Command {
    let clauses: Vec<&'static str> = countersign_clauses::all()
        .iter()
        .map(|it| it.id.as_str())
        .collect();
    let findings: Vec<&'static str> = countersign_findings::ids().collect();
    command.mut_subcommands(|it| {
        let name = it.get_name().to_owned();
        let arguments: Vec<String> = it
            .get_arguments()
            .map(|it| it.get_id().to_string())
            .collect();
        arguments.iter().fold(it, |it, argument| {
            let values = match (name.as_str(), argument.as_str()) {
                ("clauses", "id") | (_, "without" | "guarantee") => clauses.clone(),
                ("clauses", "protocol") => countersign_clauses::protocols(),
                ("findings", "id") => [findings.as_slice(), &clauses].concat(),
                (_, "finding") => findings.clone(),
                ("schema", "name") => SCHEMAS.iter().map(|it| it.name).collect(),
                (_, "readings") => READINGS.iter().map(String::as_str).collect(),
                _ => return it,
            };
            it.mut_arg(argument, |it| {
                it.value_parser(PossibleValuesParser::new(values))
            })
        })
    })
}

/// The ways to take each text, as `--reading` has them.
static READINGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let places = TEXTS.iter().flat_map(|it| &it.places);
    let choices = places.flat_map(|place| {
        let choices = place.choices.iter();
        choices.map(move |choice| format!("{}={}", place.name, choice.value))
    });
    choices.collect()
});
