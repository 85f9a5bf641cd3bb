//! What each command says of itself: its formats in its help, and the scripts with which shells complete it.

use std::process::Command as Process;

use assert_cmd::Command;
use predicates::str::contains;

fn countersign(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("countersign").expect("the binary is built");
    command.args(arguments);
    command
}

fn printed(arguments: &[&str]) -> String {
    let output = countersign(arguments).output().expect("the command runs");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Those that the help does not list.
const HIDDEN: [&str; 9] = [
    "verify",
    "ablate",
    "worth",
    "readings",
    "compare",
    "smoke",
    "replay",
    "schema",
    "completions",
];

/// The commands, as the help lists them, and the others.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let lines = help.lines().skip_while(|line| *line != "Text:").skip(1);
    let lines = lines.take_while(|line| *line != "Options:");
    let own = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let own: Vec<_> = own.collect();
    assert_eq!(own.len(), 11, "{own:?}");
    let all = own.into_iter().chain(HIDDEN);
    all.map(str::to_owned).collect()
}

/// Every format of any command.
const FORMATS: [&str; 8] = [
    "text", "json", "junit", "sarif", "markdown", "mermaid", "svg", "html",
];

/// The formats of a command; all others print text or JSON.
fn formats(command: &str) -> &'static [&'static str] {
    match command {
        "verify" | "lint" => &["text", "json", "junit", "sarif"],
        "diff" | "replay" => &["text", "json", "junit", "sarif", "html"],
        "show" => &["text", "json", "mermaid", "svg", "html"],
        "findings" => &["text", "json", "markdown"],
        "worth" => &["text", "json", "html"],
        _ => &["text", "json"],
    }
}

#[test]
fn each_command_lists_its_own_formats_and_takes_no_other() {
    for command in commands() {
        if command == "completions" {
            continue;
        }
        let listed = format!("[possible values: {}]", formats(&command).join(", "));
        let help = printed(&[&command, "-h"]);
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, of_format) = help.split_once("--format <FORMAT>").expect("an option");
        let said = of_format.split(']').nth(1).unwrap_or_default();
        assert!(
            listed.ends_with(&format!("{}]", said.trim_start())),
            "{command}: {of_format}"
        );
        for other in FORMATS.iter().filter(|it| !formats(&command).contains(*it)) {
            countersign(&[&command, "--format", other])
                .assert()
                .code(2)
                .stdout("")
                .stderr(contains(&*listed));
        }
    }
}

/// As it always could.
#[test]
fn a_format_before_the_command_is_taken_as_its_own() {
    let behind = printed(&["schema", "--format", "json"]);
    assert!(behind.starts_with('['));
    for before in [
        &["--format", "json", "schema"][..],
        &["--format=json", "schema"],
    ] {
        assert_eq!(printed(before), behind);
    }
    let refused = countersign(&["--format", "svg", "schema"]).assert().code(2);
    refused.stderr(contains("[possible values: text, json]"));
}

#[test]
fn each_shell_gets_a_script_that_names_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
    }
    let refused = countersign(&["completions", "cmd"]).assert().code(2);
    refused.stderr(contains("bash, elvish, fish, powershell, zsh"));
}

/// The shell takes it, and completes the values of an option.
#[test]
fn bash_completes_commands_and_formats() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("countersign");
    std::fs::write(&script, printed(&["completions", "bash"])).expect("a file");
    let bash = |arguments: &[&str]| {
        let output = Process::new("bash").args(arguments).arg(&script).output();
        let output = output.expect("bash runs");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(bash(&["-n"]), "");
    let complete = |words: &str| {
        let line = format!(
            "source \"$0\"; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _countersign countersign \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        bash(&["-c", &line])
    };
    assert_eq!(
        complete("countersign findings --format ''"),
        "text json markdown\n"
    );
    assert_eq!(complete("countersign abl"), "ablate\n");
    for (words, values) in [
        ("countersign check m", "mcp-aql"),
        ("countersign clauses AAEP-6.3.4-4", "AAEP-6.3.4-4"),
        ("countersign clauses --protocol p", "pending-action"),
        (
            "countersign check pending-action --without PA-1",
            "PA-1 PA-10 PA-11 PA-12 PA-13 PA-14",
        ),
        ("countersign worth aaep --guarantee PA-14", "PA-14"),
        (
            "countersign check mcp-aql --reading check-order",
            "check-order=table check-order=sample",
        ),
        (
            "countersign findings AQL-F2",
            "AQL-F2 AQL-F20 AQL-F21 AQL-F22 AQL-F23 AQL-F24 AQL-F25 AQL-F26",
        ),
        ("countersign findings PA-E", "PA-E1 PA-E2 PA-E3"),
        ("countersign show --finding PA-F16", "PA-F16"),
        ("countersign schema vec", "vectors vectors.printed"),
    ] {
        assert_eq!(complete(words), format!("{values}\n"), "{words}");
    }
}
