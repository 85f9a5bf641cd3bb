//! `countersign completions`: the script with which a shell completes commands, options and their values.

use clap::Command;
use clap_complete::{Shell, generate};

use crate::answer::{Answer, Status};

const EXAMPLES: &str = "\
Examples:
  countersign completions bash > ~/.local/share/bash-completion/completions/countersign
  countersign completions zsh > ~/.zfunc/_countersign           in a folder of $fpath
  countersign completions fish > ~/.config/fish/completions/countersign.fish
  countersign completions powershell > countersign.ps1          to be named in $PROFILE

The script is for the version that prints it.";

/// The arguments of `countersign completions`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// The script that completes `command` in the shell.
pub fn run(args: &Args, mut command: Command) -> Answer {
    let mut script = Vec::new();
    generate(args.shell, &mut command, "countersign", &mut script);
    Answer {
        text: String::from_utf8_lossy(&script).into_owned(),
        status: Status::Holds,
    }
}
