//! What each command says of itself: its formats in its help.

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

/// The commands, as the help lists them.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let own = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<_> = own
        .filter(|it| !it.is_empty() && *it != "help")
        .map(str::to_owned)
        .collect();
    assert!(names.len() > 18, "{names:?}");
    names
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
        let listed = format!("[possible values: {}]", formats(&command).join(", "));
        let help = printed(&[&command, "-h"]);
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, of_format) = help.split_once("--format <FORMAT>").expect("an option");
        let said = of_format.split(']').nth(1).unwrap_or_default();
        assert!(listed.ends_with(&format!("{}]", said.trim_start())), "{command}: {of_format}");
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
    for before in [&["--format", "json", "schema"][..], &["--format=json", "schema"]] {
        assert_eq!(printed(before), behind);
    }
    let refused = countersign(&["--format", "svg", "schema"]).assert().code(2);
    refused.stderr(contains("[possible values: text, json]"));
}
