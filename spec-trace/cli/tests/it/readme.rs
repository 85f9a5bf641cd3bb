//! The README and the pages of `spec-trace/docs`: each console block prints what it shows, each link leads to a file, and each option
//! exists.
//!
//! A console block begins with `$ countersign `, and `…` in it stands for any text. It runs beside links to the folders that it may
//! name. The main job takes minutes and is not among these blocks: `.ci/run` compares its figures.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::adapter;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and every page of `spec-trace/docs`: the path below the root, and the text.
fn pages() -> Vec<(String, String)> {
    let docs = fs::read_dir(root().join("spec-trace/docs")).expect("the pages");
    let names = docs.map(|entry| entry.expect("an entry").file_name());
    let paths = names.map(|name| format!("spec-trace/docs/{}", name.display()));
    let mut paths: Vec<String> = paths.collect();
    paths.push("README.md".to_owned());
    paths.sort();
    let read = |path: String| {
        let text = fs::read_to_string(root().join(&path)).expect("a page");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// The lines of a page that stand in no block, and its blocks without their fences.
fn parts(page: &str) -> (Vec<&str>, Vec<String>) {
    let is_fence = |line: &str| line.trim_start().starts_with("```");
    let (mut prose, mut blocks) = (Vec::new(), Vec::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if is_fence(line) {
            let block = lines.by_ref().take_while(|line| !is_fence(line));
            blocks.push(block.collect::<Vec<_>>().join("\n"));
        } else {
            prose.push(line);
        }
    }
    (prose, blocks)
}

fn blocks(page: &str) -> Vec<String> {
    parts(page).1
}

/// The commands of a console block, each with the output below it; none where the block is another.
fn commands(block: &str) -> Vec<(&str, &str)> {
    if !block.starts_with("$ countersign ") {
        return Vec::new();
    }
    let turns = block.trim_start_matches("$ ").split("\n$ ");
    let turns = turns.map(|turn| turn.split_once('\n').unwrap_or((turn, "")));
    turns.collect()
}

fn countersign(arguments: &str) -> Command {
    let mut command = Command::cargo_bin("countersign").expect("the binary is built");
    command.args(arguments.split_whitespace());
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

/// A folder in which a block runs: what the command writes there is gone afterwards.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["reference", "spec-trace"] {
        let source = fs::canonicalize(root().join(name)).expect("a folder of the workspace");
        symlink(source, folder.path().join(name)).expect("a link");
    }
    folder
}

#[test]
fn every_console_block_prints_what_it_shows() {
    let mut run = 0;
    for (path, page) in pages() {
        for block in blocks(&page) {
            let folder = folder();
            for (command, expected) in commands(&block) {
                // Says itself that it is skipped.
                if command.contains(" -- python3 ") && adapter::adapter("mcp_aql", &[]).is_none() {
                    continue;
                }
                let arguments = command.strip_prefix("countersign ").expect(command);
                let text = printed(countersign(arguments).current_dir(&folder));
                let (text, expected) = (text.trim(), expected.trim());
                assert!(
                    is_as_expected(text, expected),
                    "{path}: {command}\n{text}\ninstead of\n{expected}"
                );
                run += 1;
            }
        }
    }
    assert!(run > 5, "{run} commands");
}

#[test]
fn the_live_reference_answers_as_its_page_says() {
    let page = root().join("spec-trace/docs/LIVE.md");
    let blocks = blocks(&fs::read_to_string(page).expect("the page"));
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

/// What a link may name behind `#`.
fn anchors(page: &str) -> Vec<String> {
    let headings = parts(page).0.into_iter();
    let headings = headings.filter_map(|line| line.strip_prefix('#'));
    let anchor = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter_map(|it| match it {
            ' ' => Some('-'),
            '-' | '_' => Some(it),
            it => it.is_alphanumeric().then_some(it),
        });
        kept.collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_leads_to_a_file_and_to_a_heading() {
    let mut links = 0;
    for (path, page) in pages() {
        let prose = parts(&page).0.join("\n");
        let targets = prose.split("](").skip(1);
        for target in targets.filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let from = root().join(&path);
            let file = match file {
                "" => from,
                file => from.parent().expect("a folder").join(file),
            };
            assert!(file.exists(), "{path}: {target} leads nowhere");
            if !anchor.is_empty() {
                let text = fs::read_to_string(file).expect(target);
                let is_there = anchors(&text).iter().any(|it| it == anchor);
                assert!(is_there, "{path}: {target} has no such heading");
            }
            links += 1;
        }
    }
    assert!(links > 10, "{links} links");
}

/// Each use of the command in a page, in its blocks and between backquotes: the words behind its name, up to those of the shell or of the
/// implementation.
fn uses(page: &str) -> Vec<Vec<String>> {
    let (prose, blocks) = parts(page);
    let prose = prose.join(" ");
    let quoted = prose.split('`').skip(1).step_by(2).map(str::to_owned);
    let lines = blocks.iter().flat_map(|block| {
        let lines = block.replace("\\\n", " ");
        lines.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let mut uses = Vec::new();
    for line in lines.chain(quoted) {
        let name = "countersign ";
        for (at, _) in line.match_indices(name) {
            let is_part = |it: char| it.is_alphanumeric() || it == '-' || it == '_';
            if !line[..at].ends_with(is_part) {
                let words = line[at + name.len()..].split_whitespace();
                let ends = |word: &&str| ["--", "|", ">", "&&", "countersign"].contains(word);
                let words = words.take_while(|word| !ends(word) && !word.starts_with('#'));
                let mut words: Vec<String> = words.map(str::to_owned).collect();
                // What follows is the command of a producer.
                let spawn = words.iter().position(|word| word == "--spawn");
                words.truncate(spawn.map_or(words.len(), |at| at + 1));
                uses.push(words);
            }
        }
    }
    uses
}

/// The options that the help of a command lists, or of the program where there is no command.
fn options(command: Option<&str>) -> Vec<String> {
    let mut help = countersign(command.unwrap_or_default());
    let output = help.arg("--help").output().expect("the command runs");
    assert!(output.status.success(), "there is no command {command:?}");
    let help = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = help.lines().filter(|line| line.trim().starts_with('-'));
    lines.flat_map(flags).collect()
}

/// The words of a line that begin with two dashes.
fn flags(line: &str) -> Vec<String> {
    let words = line.split(|it: char| !it.is_ascii_alphanumeric() && it != '-');
    let words = words.filter(|word| word.len() > 2 && word.starts_with("--"));
    words.map(str::to_owned).collect()
}

#[test]
fn every_option_behind_the_command_exists() {
    let mut known: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
    let mut checked = 0;
    for (path, page) in pages() {
        for words in uses(&page) {
            let first = words.first().filter(|word| !word.starts_with('-'));
            // `COMMAND` stands for any.
            if first.is_some_and(|word| !word.chars().all(|it| it.is_ascii_lowercase())) {
                continue;
            }
            let options = known
                .entry(first.cloned())
                .or_insert_with(|| options(first.map(String::as_str)));
            for flag in words.iter().flat_map(|word| flags(word)) {
                let line = words.join(" ");
                assert!(options.contains(&flag), "{path}: no {flag}: {line}");
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "{checked} options");
}

#[test]
fn the_readme_and_the_version_list_the_texts_that_were_read() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    let version = printed(&mut countersign("--version"));
    let mut before = "";
    let rows = countersign_clauses::texts().iter().map(|text| {
        let name = if text.protocol == before {
            String::new()
        } else {
            format!("`{}` ", text.protocol)
        };
        before = &text.protocol;
        let (title, stated, hash) = (&text.title, text.stated(), &text.sha256);
        assert!(
            version.contains(&format!("  {hash}  {title}")),
            "{title}: {version}"
        );
        format!("| {name}| {title} | {stated} | `{hash}` |\n")
    });
    let rows: String = rows.collect();
    assert!(readme.contains(&rows), "the README has not\n{rows}");
    assert_eq!(printed(&mut countersign("-V")).lines().count(), 1);
}

#[test]
fn the_readme_stays_short() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    let lines = readme.lines().count();
    assert!(lines <= 250, "{lines} lines");
}

#[test]
fn the_way_to_a_first_verdict_stays_short() {
    let page = root().join("spec-trace/docs/DRIVER.md");
    let page = fs::read_to_string(page).expect("the page");
    let (_, behind) = page.split_once("\n## Ten minutes").expect("first steps");
    let (steps, _) = behind.split_once("\n## ").expect("what follows");
    let lines = steps.lines().count();
    assert!(lines <= 60, "{lines} lines");
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
