//! The README's tour: each command in it prints what stands below it.
//!
//! The one thing to know: `…` in the README stands for whatever is printed there. The main job is not among these commands,
//! for it takes minutes; its counts are pinned where they come from.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of the README, without their fences.
fn blocks() -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    let blocks = readme.split("```").skip(1).step_by(2);
    blocks.map(|block| block.trim().to_owned()).collect()
}

fn countersign(arguments: &str) -> Command {
    let mut command = Command::cargo_bin("countersign").expect("the binary is built");
    command.current_dir(root()).args(arguments.split(' '));
    command
}

/// Whether the text is as expected, where `…` stands for anything.
fn is_as_expected(text: &str, expected: &str) -> bool {
    let Some((first, rest)) = expected.split_once('…') else {
        return text == expected;
    };
    let (middle, last) = rest.rsplit_once('…').unwrap_or(("", rest));
    let Some(text) = text.strip_prefix(first) else {
        return false;
    };
    let behind = middle.split('…').try_fold(text, |text, piece| {
        text.split_once(piece).map(|(_, behind)| behind)
    });
    behind.is_some_and(|text| text.ends_with(last))
}

fn printed(command: &mut Command) -> String {
    let output = command.output().expect("the command runs");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn every_command_of_the_tour_prints_what_stands_below_it() {
    let blocks = blocks();
    let tour = blocks.iter().filter_map(|block| {
        let (command, expected) = block.strip_prefix("$ countersign ")?.split_once('\n')?;
        Some((command, expected))
    });
    let mut commands = 0;
    for (arguments, expected) in tour {
        let text = printed(&mut countersign(arguments));
        let text = text.trim();
        assert!(is_as_expected(text, expected.trim()), "{arguments}\n{text}");
        commands += 1;
    }
    assert!(commands > 3, "{commands} commands");
}

#[test]
fn the_live_reference_answers_as_the_tour_says() {
    let blocks = blocks();
    let talk = blocks
        .iter()
        .find(|block| block.contains(r#""protocol":"aaep"}"#));
    let lines = |sign| {
        let lines = talk.expect("the talk with the reference").lines();
        lines.filter_map(move |line| line.strip_prefix(sign))
    };
    let requests = lines("→ ").collect::<Vec<_>>().join("\n");
    let answers = printed(countersign("serve aaep --stdio").write_stdin(requests));
    let expected: Vec<&str> = lines("← ").collect();
    assert_eq!(answers.lines().count(), expected.len());
    for (answer, expected) in answers.lines().zip(expected) {
        assert!(is_as_expected(answer, expected), "{answer}");
    }
}

#[test]
fn what_is_left_out_may_be_anything_and_the_rest_may_not() {
    for (expected, fits) in [
        ("one two three", true),
        ("one … three", true),
        ("… two …", true),
        ("…", true),
        ("one", false),
        ("two…", false),
        ("…two", false),
        ("one … four … three", false),
    ] {
        assert_eq!(
            is_as_expected("one two three", expected),
            fits,
            "{expected}"
        );
    }
}
