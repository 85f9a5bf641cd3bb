//! The invariants of the house: who may depend on whom, and what `model` and `reference` must not touch.
//!
//! Their agreement is evidence only as long as neither can see the other, so a build that breaks this must fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What a crate of the workspace may see of the others, in any dependency table of its manifest.
struct Room {
    /// The crate, without the `countersign-` that all of them begin with.
    name: &'static str,
    /// What it is built on.
    sees: &'static [&'static str],
    /// What its tests see besides.
    tests_see: &'static [&'static str],
}

const fn room(name: &'static str, sees: &'static [&'static str]) -> Room {
    Room {
        name,
        sees,
        tests_see: &[],
    }
}

/// Every crate. A crate sees nothing that stands below it.
const HOUSE: [Room; 12] = [
    room("protocol", &[]),
    room("clauses", &[]),
    room("model", &["protocol", "clauses"]),
    room("reference", &[]),
    room("findings", &["clauses"]),
    room("lint", &["clauses"]),
    room("store", &["reference"]),
    room("live", &["reference"]),
    room("conform", &["protocol", "model", "reference"]),
    room(
        "cli",
        &[
            "protocol",
            "model",
            "reference",
            "clauses",
            "findings",
            "lint",
            "store",
            "live",
            "conform",
        ],
    ),
    room("fuzz", &["lint", "conform"]),
    Room {
        name: "benches",
        sees: &["model", "reference", "lint", "store", "conform"],
        tests_see: &["protocol", "cli"],
    },
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate lies in the workspace")
        .to_path_buf()
}

/// The packages of the workspace, as cargo tells them.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(workspace())
        .output()
        .expect("cargo metadata runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    list(&metadata["packages"])
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().expect("a list").clone()
}

/// The crates of the workspace, and for each the siblings in its manifest, with whether only its tests see them. The names
/// are without what all of them begin with.
fn siblings_by_crate() -> BTreeMap<String, BTreeSet<(String, bool)>> {
    let packages = packages();
    let short = |value: &Value| {
        let name = value["name"].as_str().expect("a name");
        name.strip_prefix("countersign-").map(str::to_owned)
    };
    let names: BTreeSet<String> = packages.iter().filter_map(short).collect();
    assert_eq!(names.len(), packages.len(), "every crate has the prefix");
    packages
        .iter()
        .map(|package| {
            let name = short(package).unwrap_or_default();
            let siblings = list(&package["dependencies"]).into_iter();
            // A dependency that is renamed keeps its name here. By one on itself a crate has its tests built with a feature.
            let siblings = siblings.filter_map(|it| Some((short(&it)?, it["kind"] == "dev")));
            let siblings = siblings.filter(|(it, _)| *it != name).collect();
            (name, siblings)
        })
        .collect()
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).expect("a readable source folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn every_crate_sees_what_the_table_says_and_nothing_else() {
    let table = HOUSE.iter().map(|room| {
        let seen = |names: &[&str], by_tests: bool| {
            let names = names.iter().map(|name| ((*name).to_owned(), by_tests));
            names.collect::<Vec<_>>()
        };
        let siblings = [seen(room.sees, false), seen(room.tests_see, true)].concat();
        (room.name.to_owned(), siblings.into_iter().collect())
    });
    assert_eq!(siblings_by_crate(), table.collect());
}

/// Whatever stands in the table, an arrow leads upwards in it, to a crate that was there before.
#[test]
fn every_arrow_of_the_table_leads_upwards_in_it() {
    for (place, room) in HOUSE.iter().enumerate() {
        for seen in room.sees.iter().chain(room.tests_see) {
            let is_above = HOUSE[..place].iter().any(|above| above.name == *seen);
            assert!(is_above, "{} sees {seen}", room.name);
        }
    }
}

/// Their agreement is evidence because neither could copy the other. What they share is how a call is spelled. The registry names the clauses
/// of the model where that is built.
#[test]
fn model_and_reference_share_the_host_interface_alone_and_lint_sees_neither() {
    let siblings = siblings_by_crate();
    let seen = ["protocol", "clauses"].map(|it| (it.to_owned(), false));
    assert_eq!(siblings["model"], BTreeSet::from(seen));
    assert_eq!(siblings["reference"], BTreeSet::new());
    let seen: Vec<&str> = siblings["lint"].iter().map(|(name, _)| &**name).collect();
    assert_eq!(seen, ["clauses"]);
}

#[test]
fn model_and_reference_have_no_hash_maps_clocks_threads_or_files() {
    let forbidden = [
        "HashMap",
        "HashSet",
        "SystemTime",
        "Instant::",
        "std::fs",
        "std::io",
        "std::net",
        "std::thread",
        "getrandom",
        "unsafe ",
    ];
    let root = workspace();
    for folder in ["model/src", "reference/src"] {
        let files = rust_files(&root.join(folder));
        assert!(!files.is_empty(), "{folder} holds sources");
        for file in files {
            let text = fs::read_to_string(&file).expect("a readable source");
            for word in forbidden {
                // A search may compute ahead, in as many threads as there are processors.
                let exempt = word == "std::thread" && file.ends_with("model/src/facade/engine.rs");
                assert!(
                    exempt || !text.contains(word),
                    "{} mentions `{word}`",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn each_protocol_is_a_module_of_the_same_name_in_both_readings() {
    let root = workspace();
    let protocols = |folder: &str| -> BTreeSet<String> {
        fs::read_dir(root.join(folder))
            .expect("a readable source folder")
            .map(|entry| entry.expect("a readable entry").path())
            .filter(|path| path.is_dir())
            .map(|path| {
                let name = path.file_name().expect("a folder has a name");
                name.to_string_lossy().into_owned()
            })
            .collect()
    };
    let mut modelled = protocols("model/src");
    assert!(modelled.contains("aaep"));
    for shared in ["engine", "facade", "wire"] {
        assert!(modelled.remove(shared), "all of them share {shared}");
    }
    assert_eq!(modelled, protocols("reference/src"));
}

/// The documents of the project.
fn documents() -> Vec<PathBuf> {
    let root = workspace();
    let folders = ["", "spec-trace/adapters", "spec-trace/cli/tests/schemas"];
    let folders = folders
        .into_iter()
        .chain(["spec-trace/docs", "spec-trace/vectors"]);
    let entries = folders.flat_map(|it| fs::read_dir(root.join(it)).expect("a folder"));
    let files = entries.map(|it| it.expect("a readable entry").path());
    files
        .filter(|it| it.extension().is_some_and(|it| it == "md"))
        .collect()
}

/// A path in a document is there: a link, in code what begins with a folder of the project, and a Rust file by the end of its path.
#[test]
fn the_documents_name_no_path_that_does_not_exist() {
    const FOLDERS: [&str; 6] = [".ci", "benches", "fuzz", "model", "reference", "spec-trace"];
    let root = workspace();
    let sources = FOLDERS[1..]
        .iter()
        .flat_map(|it| rust_files(&root.join(it)));
    let sources: Vec<PathBuf> = sources.collect();
    let (mut named, mut wrong) = (0, Vec::new());
    for page in documents() {
        let text = fs::read_to_string(&page).expect("a document");
        let links = text
            .split("](")
            .skip(1)
            .filter_map(|it| it.split(')').next());
        let links = links.filter(|it| !it.contains("://") && !it.starts_with('#'));
        let links = links.map(|it| {
            let file = it.split('#').next().unwrap_or_default();
            (
                it,
                page.parent()
                    .is_some_and(|folder| folder.join(file).exists()),
            )
        });
        let in_code = text.split('`').skip(1).step_by(2);
        let in_code =
            in_code.filter(|it| !it.contains(|it: char| it.is_whitespace() || "*$<".contains(it)));
        let in_code = in_code.filter(|it| !it.contains("COMMAND") && !it.contains("://"));
        let in_code = in_code.filter_map(|it| {
            let first = it.split('/').next().unwrap_or_default();
            if it.contains('/') && FOLDERS.contains(&first) {
                Some((it, root.join(it).exists()))
            } else if Path::new(it).extension().is_some_and(|it| it == "rs") {
                Some((it, sources.iter().any(|source| source.ends_with(it))))
            } else {
                None
            }
        });
        for (path, is_there) in links.chain(in_code) {
            named += 1;
            if !is_there {
                wrong.push(format!("{}: {path}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "there is no\n{}", wrong.join("\n"));
    assert!(named > 100, "{named} paths");
}

/// Every excerpt of the page on adding things stands in the file that is named over it.
#[test]
fn what_the_page_on_adding_shows_is_so() {
    let root = workspace();
    let page = "spec-trace/docs/ADDING.md";
    let page = fs::read_to_string(root.join(page)).expect("the page");
    let mut excerpts = 0;
    let mut lines = page.lines().peekable();
    let mut named = None;
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start().starts_with("```") {
            let inside = lines.by_ref();
            let excerpt = inside.take_while(|line| line.trim() != "```");
            let excerpt: Vec<&str> = excerpt
                .map(|line| line.get(indent..).unwrap_or(""))
                .collect();
            let file = named.take().expect("a file is named over each excerpt");
            let source = fs::read_to_string(root.join(file)).expect(file);
            let excerpt = excerpt.join("\n");
            assert!(source.contains(&excerpt), "{file} has no\n{excerpt}");
            excerpts += 1;
        }
        for file in line.split('`').skip(1).step_by(2) {
            let is_file = ["model/", "reference/", "spec-trace/"];
            if is_file.iter().any(|folder| file.starts_with(folder)) {
                named = Some(file);
            }
        }
    }
    assert!(excerpts > 8, "{excerpts} excerpts");
}

/// What was cut stays cut.
#[test]
#[expect(clippy::too_many_lines, reason = "a list of paths")]
fn what_was_cut_does_not_come_back() {
    let root = workspace();
    for path in [
        ".ci/evidence",
        ".ci/mutants",
        "model/src/aaep/action.rs",
        "model/src/aaep/asks.rs",
        "model/src/aaep/bounds.rs",
        "model/src/aaep/enabled.rs",
        "model/src/aaep/judge",
        "model/src/aaep/message.rs",
        "model/src/aaep/numbers.rs",
        "model/src/aaep/output.rs",
        "model/src/aaep/quotient.rs",
        "model/src/aaep/resolve.rs",
        "model/src/aaep/rules.rs",
        "model/src/aaep/seen.rs",
        "model/src/aaep/state.rs",
        "model/src/aaep/step.rs",
        "model/src/aaep/text",
        "model/src/aaep/told.rs",
        "model/src/aaep/validate.rs",
        "model/src/aaep/words.rs",
        "model/src/aaep/work.rs",
        "model/src/ablation.rs",
        "model/src/facade/modelled.rs",
        "model/src/graph.rs",
        "model/src/judged.rs",
        "model/src/judgements.rs",
        "model/src/lookup.rs",
        "model/src/mcp_aql/action.rs",
        "model/src/mcp_aql/bounds.rs",
        "model/src/mcp_aql/enabled.rs",
        "model/src/mcp_aql/introspect.rs",
        "model/src/mcp_aql/judge",
        "model/src/mcp_aql/message.rs",
        "model/src/mcp_aql/numbers.rs",
        "model/src/mcp_aql/output.rs",
        "model/src/mcp_aql/quotient.rs",
        "model/src/mcp_aql/rules.rs",
        "model/src/mcp_aql/seen.rs",
        "model/src/mcp_aql/state.rs",
        "model/src/mcp_aql/step.rs",
        "model/src/mcp_aql/text",
        "model/src/mcp_aql/told.rs",
        "model/src/mcp_aql/validate.rs",
        "model/src/mcp_aql/words.rs",
        "model/src/network.rs",
        "model/src/numbered.rs",
        "model/src/outputs.rs",
        "model/src/packed.rs",
        "model/src/pending_action/action.rs",
        "model/src/pending_action/bounds.rs",
        "model/src/pending_action/consequences.rs",
        "model/src/pending_action/enabled.rs",
        "model/src/pending_action/journal.rs",
        "model/src/pending_action/judge",
        "model/src/pending_action/known.rs",
        "model/src/pending_action/message.rs",
        "model/src/pending_action/numbers.rs",
        "model/src/pending_action/outbox.rs",
        "model/src/pending_action/output.rs",
        "model/src/pending_action/quotient.rs",
        "model/src/pending_action/rules.rs",
        "model/src/pending_action/seen.rs",
        "model/src/pending_action/state.rs",
        "model/src/pending_action/step.rs",
        "model/src/pending_action/text",
        "model/src/pending_action/told.rs",
        "model/src/pending_action/validate.rs",
        "model/src/pending_action/words.rs",
        "model/src/properties.rs",
        "model/src/rules.rs",
        "model/src/sequence.rs",
        "model/src/specification.rs",
        "model/src/steps.rs",
        "model/src/successors.rs",
        "model/src/table.rs",
        "model/src/text.rs",
        "model/src/time.rs",
        "model/src/words.rs",
        "model/tests/it/aql",
        "model/tests/it/mcp_aql/judge.rs",
        "model/tests/it/mcp_aql/steps.rs",
        "model/tests/it/pending_action/judge.rs",
        "model/tests/it/pending_action/steps.rs",
        "spec-trace/clauses/src/coverage.rs",
        "spec-trace/clauses/src/evidence.rs",
        "spec-trace/clauses/tests/recording",
        "spec-trace/cli/build",
        "spec-trace/cli/build.rs",
        "spec-trace/cli/src/recorded/ablated.rs",
        "spec-trace/cli/src/recorded/explained.rs",
        "spec-trace/cli/src/report/source.rs",
        "spec-trace/cli/src/show/kept.rs",
        "spec-trace/cli/tests/it/left_out.txt",
        "spec-trace/cli/tests/it/serve/http_kept.rs",
        "spec-trace/cli/tests/left_out.txt",
        "spec-trace/cli/tests/serve",
        "spec-trace/cli/tests/snapshots",
        "spec-trace/conform/src/aaep/abstraction.rs",
        "spec-trace/conform/src/aaep/account.rs",
        "spec-trace/conform/src/aaep/concrete.rs",
        "spec-trace/conform/src/aaep/wanted",
        "spec-trace/conform/src/aaep/wanted.rs",
        "spec-trace/conform/src/aaep/wide",
        "spec-trace/conform/src/bridge.rs",
        "spec-trace/conform/src/comparison.rs",
        "spec-trace/conform/src/concretion.rs",
        "spec-trace/conform/src/edges.rs",
        "spec-trace/conform/src/identity.rs",
        "spec-trace/conform/src/mcp_aql/abstraction.rs",
        "spec-trace/conform/src/mcp_aql/concrete.rs",
        "spec-trace/conform/src/mcp_aql/issue.rs",
        "spec-trace/conform/src/mcp_aql/outputs.rs",
        "spec-trace/conform/src/mcp_aql/signing.rs",
        "spec-trace/conform/src/mcp_aql/spelling.rs",
        "spec-trace/conform/src/mcp_aql/text",
        "spec-trace/conform/src/mcp_aql/wide",
        "spec-trace/conform/src/naming",
        "spec-trace/conform/src/naming.rs",
        "spec-trace/conform/src/not_compared.rs",
        "spec-trace/conform/src/pending_action/abstraction.rs",
        "spec-trace/conform/src/pending_action/concrete.rs",
        "spec-trace/conform/src/pending_action/consequences.rs",
        "spec-trace/conform/src/pending_action/host.rs",
        "spec-trace/conform/src/pending_action/outputs.rs",
        "spec-trace/conform/src/pending_action/records.rs",
        "spec-trace/conform/src/pending_action/spelling.rs",
        "spec-trace/conform/src/pending_action/step.rs",
        "spec-trace/conform/src/pending_action/wide",
        "spec-trace/conform/src/pending_action/world.rs",
        "spec-trace/conform/src/schedule.rs",
        "spec-trace/conform/src/suite/party.rs",
        "spec-trace/conform/src/wide.rs",
        "spec-trace/coverage.txt",
        "spec-trace/evidence.txt",
        "spec-trace/findings/src/details.rs",
        "spec-trace/findings/src/together.rs",
        "spec-trace/lint/src/envelope/mapping.rs",
        "spec-trace/lint/src/envelope/mappings",
        "spec-trace/lint/src/rows",
        "spec-trace/lint/tests/it/rows.rs",
        "spec-trace/lint/tests/rows.rs",
        "spec-trace/live/src/host/tests.rs",
        "spec-trace/live/src/kept.rs",
        "spec-trace/traces/runs",
        "spec-trace/traces/transcripts/pending-action-rows",
    ] {
        assert!(!root.join(path).exists(), "{path} is back");
    }
    let lock = fs::read_to_string(root.join("Cargo.lock")).expect("the lock file");
    for package in ["ruzstd", "tungstenite"] {
        let named = format!("name = \"{package}\"\n");
        assert!(!lock.contains(&named), "{package} is back");
    }
}

/// Each further binary of tests costs a link of all that it tests.
#[test]
fn a_crate_has_one_binary_of_integration_tests() {
    // The crash test is the very program that it kills.
    let is_counted = |target: &Value| target["kind"][0] == "test" && target["name"] != "crash";
    for package in packages() {
        let targets = list(&package["targets"]);
        let names: Vec<_> = targets.iter().filter(|it| is_counted(it)).collect();
        assert!(names.len() <= 1, "{}: {names:#?}", package["name"]);
    }
}

/// What a manifest leaves out of the tests has none: no test, and no example in a comment.
#[test]
fn what_is_left_out_of_the_tests_has_none() {
    let mut left_out = 0;
    for target in packages().iter().flat_map(|it| list(&it["targets"])) {
        let root = PathBuf::from(target["src_path"].as_str().expect("a path"));
        // A program has no examples that could run.
        let (sources, has_examples) = match target["kind"][0].as_str() {
            Some("lib") => (rust_files(root.parent().expect("a folder")), true),
            Some("bin") => (vec![root], false),
            _ => continue,
        };
        let (no_tests, no_examples) = (target["test"] == false, target["doctest"] == false);
        for file in sources {
            let text = fs::read_to_string(&file).expect("a readable source");
            for line in text.lines().map(str::trim) {
                let is_test = line == "#[test]";
                let is_example = line.starts_with("//") && line.contains("```");
                assert!(!(no_tests && is_test), "{}: test = false", file.display());
                assert!(
                    !(no_examples && has_examples && is_example),
                    "{}: doctest = false",
                    file.display()
                );
            }
            left_out += usize::from(no_tests);
        }
    }
    assert!(left_out > 0, "the manifests leave some out");
}

/// A test that only the night runs says so, and `.ci/night` runs all that are ignored but those that are for a person to start.
#[test]
fn every_ignored_test_is_the_nights_or_stands_in_by_hand() {
    let root = workspace();
    let folders = ["model", "reference", "spec-trace"].map(|folder| rust_files(&root.join(folder)));
    let mut nights = 0;
    for file in folders.iter().flatten() {
        let text = fs::read_to_string(file).expect("a readable source");
        for (at, is_night) in ignored(&text) {
            let is_by_hand = by_hand(&text).is_some_and(|it| it.contains(&at));
            assert!(is_night != is_by_hand, "{}, byte {at}", file.display());
            nights += usize::from(is_night);
        }
    }
    assert!(nights > 0, "the night has tests of its own");
    // The night's tests are those of the members that are built unasked.
    for folder in ["benches", "fuzz"] {
        for file in rust_files(&root.join(folder)) {
            let text = fs::read_to_string(&file).expect("a readable source");
            assert_eq!(ignored(&text), [], "{}", file.display());
        }
    }
}

/// Where a source has a test ignored, and whether as one of the night.
fn ignored(text: &str) -> Vec<(usize, bool)> {
    let word = concat!("ign", "ore");
    let attributes = text.match_indices("#[").map(|(at, _)| (at, &text[at..]));
    let attributes = attributes.map(|(at, rest)| (at, &rest[..rest.find(']').unwrap_or(0)]));
    let ignoring = attributes.filter_map(|(at, attribute)| {
        let is_plain = attribute.strip_prefix("#[")?.starts_with(word);
        let is_conditional = attribute.starts_with("#[cfg_attr(") && attribute.contains(word);
        let is_night = attribute.starts_with(&format!("#[{word} = \"night: "));
        (is_plain || is_conditional).then_some((at, is_night))
    });
    ignoring.collect()
}

/// Where in a source the module of what a person starts stands.
fn by_hand(text: &str) -> Option<std::ops::Range<usize>> {
    let head = "mod by_hand {\n";
    let begin = text.find(head)?;
    let indent = text[..begin].rsplit('\n').next().unwrap_or_default();
    let end = text[begin..].find(&format!("\n{indent}}}\n"))?;
    Some(begin..begin + end)
}

#[test]
fn an_ignored_test_is_found_wherever_it_stands() {
    let word = concat!("ign", "ore");
    let night = format!("#[test]\n#[{word} = \"night: long\"]\nfn one() {{}}\n");
    assert_eq!(ignored(&night), [(8, true)]);
    for other in ["", " = \"by hand: writes\"", " = \"slow\""] {
        let text = format!("#[{word}{other}]\nfn one() {{}}\n");
        assert_eq!(ignored(&text), [(0, false)], "{text}");
    }
    let conditional = format!("#[cfg_attr(\n    windows,\n    {word} = \"night: long\"\n)]\n");
    assert_eq!(ignored(&conditional), [(0, false)]);
    let behind = format!("    mod by_hand {{\n        fn one() {{}}\n    }}\n    {night}");
    let module = by_hand(&behind).expect("the module");
    assert!(!module.contains(&ignored(&behind)[0].0));
    assert!(module.contains(&behind.find("fn one").expect("inside")));
}
