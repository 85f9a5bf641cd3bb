//! What is known of the clauses, and what the command says about them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use countersign_clauses::links::{self, Kind};
use countersign_clauses::{ClauseId, all, faults, get};
use countersign_cli::commands::clauses::source::Tree;
use countersign_cli::links::LINKS;
use countersign_lint::judged::JUDGED;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Rust files of the workspace that lie in folders of sources and of tests, each with its text.
fn sources(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).expect("a readable source");
            found.push((path, text));
        }
    }
}

/// What looks like an id in a line: the name of a document that begins a word, and what may belong to it.
fn ids(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|it: char| !it.is_ascii_alphanumeric() && !"-._".contains(it));
    let words = words.filter(|it| ["AAEP-", "AQL-", "PA-"].iter().any(|of| it.starts_with(of)));
    let ids = words.map(|it| {
        let part = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || ".-".contains(it);
        let end = it.find(|it| !part(it)).unwrap_or(it.len());
        it[..end].trim_end_matches(['.', '-'])
    });
    ids.filter(|it| it.contains(|it: char| it.is_ascii_digit()) && !is_finding(it))
}

/// A finding on the text has a number behind an F, or an E where it is editorial.
fn is_finding(id: &str) -> bool {
    let (_, number) = id.split_once('-').expect("the name of a document");
    let number = number.strip_prefix(['F', 'E']).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
}

/// A slip in a comment leads whoever reads it nowhere.
#[test]
fn every_id_that_the_sources_cite_exists() {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    // These name ids that do not exist, as examples.
    let examples = ["spec-trace/clauses/", "commands/clauses/source.rs"];
    files.retain(|(path, _)| {
        let path = path.to_string_lossy().replace('\\', "/");
        let is_this = path.contains("cli/tests/") && path.ends_with("/clauses.rs");
        !is_this && !examples.iter().any(|it| path.contains(it))
    });
    assert!(files.len() > 300, "{} sources", files.len());
    let mut mistaken = Vec::new();
    for (path, text) in &files {
        for (line, text) in (1..).zip(text.lines()) {
            let unknown = ids(text).filter_map(|id| get(id).err());
            mistaken.extend(unknown.map(|it| format!("{}:{line}: {it}", path.display())));
        }
    }
    assert!(
        mistaken.is_empty(),
        "these citations name no clause:\n{}",
        mistaken.join("\n")
    );
}

#[test]
fn no_exception_stands_for_a_clause_that_something_checks() {
    for clause in all() {
        let links = LINKS.of(clause);
        let exceptions = LINKS.count(clause, Kind::Exception);
        assert!(exceptions <= 1, "{}", clause.id);
        assert!(
            exceptions == 0 || links.len() == 1,
            "{}: {links:?}",
            clause.id
        );
    }
}

/// Every duty can be left out of a model, or it is said why it cannot, and `ablate` says it. Of no other clause is that said.
#[test]
fn a_duty_has_a_rule_to_leave_out_or_a_reason_why_not() {
    let said = said(links::said_to_have_no_rule());
    for clause in all() {
        let id = clause.id.as_str();
        if clause.level.binds() && LINKS.count(clause, Kind::Guard) == 0 {
            assert!(links::without_rule(clause).is_some(), "{id}: no rule");
        } else {
            assert!(!said.contains(id), "{id}: it has one, or is no duty");
        }
    }
}

/// The sources of the executor name every duty that it carries out. Of no clause that is no duty is it said that it does not.
#[test]
fn the_executor_names_a_duty_or_there_is_a_reason_why_not() {
    let said = said(links::said_to_have_no_branch());
    let executor = Tree::read(&root().join("reference/src")).expect("the sources");
    for clause in all() {
        let id = clause.id.as_str();
        if !clause.level.binds() {
            assert!(!said.contains(id), "{id}: it is no duty");
        } else if executor.naming(id).is_empty() {
            assert!(links::without_branch(clause).is_some(), "{id}: no branch");
        }
    }
}

/// A clause that no source of `lint` names is judged by none of its monitors.
#[test]
fn the_sources_of_lint_name_each_clause_that_it_judges() {
    let sources = Tree::read(&root().join("spec-trace/lint/src")).expect("the sources");
    for id in JUDGED.iter() {
        assert!(get(id).is_ok(), "{id}");
        let naming = sources.naming(id);
        let is_table = |at: &str| at.starts_with("judged.rs:");
        let is_named = naming
            .iter()
            .any(|it| !it.at.as_deref().is_some_and(is_table));
        assert!(is_named, "{id}");
    }
}

fn said(said: impl Iterator<Item = &'static ClauseId>) -> BTreeSet<&'static str> {
    let mut once = BTreeSet::new();
    for id in said {
        assert!(once.insert(id.as_str()), "{id} is said twice");
    }
    once
}

/// A fault that no longer fits its source would be put in nowhere; `faults.rs` puts in those that do.
#[test]
fn every_fault_fits_its_source_and_names_a_test_and_clauses_that_exist() {
    assert!(!faults::all().is_empty(), "the faults are there");
    for fault in faults::all() {
        let source = fs::read_to_string(root().join(&fault.file)).expect("a source");
        assert_eq!(source.matches(&fault.find).count(), 1, "{}", fault.find);
        assert_ne!(fault.find, fault.replace, "{}", fault.file);
        assert!(is_test(&fault.test), "there is no test {}", fault.test);
        for clause in &fault.clauses {
            assert!(get(clause.as_str()).is_ok(), "{clause}");
        }
    }
}

/// Whether there is such a test, said by its package, its target and its path.
pub fn is_test(test: &str) -> bool {
    let words: Vec<&str> = test.split(' ').collect();
    let &[package, target, path] = words.as_slice() else {
        panic!("package, target, path: {test}");
    };
    let name = package.strip_prefix("countersign-").unwrap_or_default();
    let folders = [root().join(name), root().join("spec-trace").join(name)];
    let folder = folders.into_iter().find(|it| it.is_dir());
    let folder = folder.unwrap_or_else(|| panic!("a package: {test}"));
    let (mut inside, head) = if target == package.replace('-', "_") {
        (folder.join("src"), "lib.rs".to_owned())
    } else if target == "it" {
        (folder.join("tests/it"), "main.rs".to_owned())
    } else {
        (folder.join("tests"), format!("{target}.rs"))
    };
    let Ok(mut text) = fs::read_to_string(inside.join(head)) else {
        return false;
    };
    let mut modules: Vec<&str> = path.split("::").collect();
    let function = modules.pop().unwrap_or_default();
    for module in modules {
        if !text.contains(&format!("mod {module} {{")) {
            let files = [format!("{module}.rs"), format!("{module}/mod.rs")];
            let mut files = files.iter().map(|it| fs::read_to_string(inside.join(it)));
            match files.find_map(Result::ok) {
                Some(found) if text.contains(&format!("mod {module};")) => text = found,
                Some(_) | None => return false,
            }
        }
        inside = inside.join(module);
    }
    text.contains(&format!("fn {function}("))
}

#[test]
fn a_test_is_found_by_its_package_target_and_path() {
    for (test, is_there) in [
        (
            "countersign-model it aaep::facade::bounds_are_worlds_by_their_names",
            true,
        ),
        (
            "countersign-model aaep facade::bounds_are_worlds_by_their_names",
            false,
        ),
        (
            "countersign-model it aaep::teeth::bounds_are_worlds_by_their_names",
            false,
        ),
        (
            "countersign-model it aaep::facade::there_is_no_such_test",
            false,
        ),
        (
            "countersign-lint countersign_lint small_map::tests::there_is_no_such_test",
            false,
        ),
    ] {
        assert_eq!(is_test(test), is_there, "{test}");
    }
}

mod the_command {
    use super::*;
    use countersign_cli::answer::{Format, Status};
    use countersign_cli::commands::clauses::{Args, run};
    use countersign_model::facade::TEXTS;

    fn answer(args: &Args, format: Format) -> String {
        let answer = run(args, format).expect("an answer");
        assert_eq!(answer.status, Status::Holds);
        answer.text
    }

    fn about(id: &str) -> Args {
        Args {
            id: Some(id.to_owned()),
            ..Args::default()
        }
    }

    fn in_protocol(protocol: &str) -> Args {
        Args {
            protocol: Some(protocol.to_owned()),
            ..Args::default()
        }
    }

    fn parsed(text: &str) -> Vec<serde_json::Value> {
        serde_json::from_str(text).expect("a JSON array")
    }

    #[test]
    fn lists_every_clause_in_lines_of_100_columns() {
        let text = answer(&Args::default(), Format::Text);
        for clause in all() {
            let listed = |line: &str| line.split(' ').next() == Some(clause.id.as_str());
            assert_eq!(
                text.lines().filter(|line| listed(line)).count(),
                1,
                "{}",
                clause.id
            );
        }
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }

    #[test]
    fn lists_one_protocol_alone() {
        let clauses = parsed(&answer(&in_protocol("pending-action"), Format::Json));
        assert_eq!(clauses.len(), 14);
        assert_eq!(clauses[0]["id"], "PA-1");
    }

    #[test]
    fn refuses_an_unknown_protocol_and_names_the_known_ones() {
        let error = run(&in_protocol("aeap"), Format::Text).expect_err("no such protocol");
        assert_eq!(
            error.to_string(),
            "unknown protocol `aeap`; the protocols are aaep, mcp-aql, pending-action"
        );
    }

    #[test]
    fn refuses_an_unknown_clause_and_suggests_others() {
        let error = run(&about("AAEP-6.8.4"), Format::Json).expect_err("no such clause");
        let message = error.to_string();
        assert!(message.contains("did you mean AAEP-6.8-4"), "{message}");
    }

    #[test]
    fn explains_a_clause_whatever_the_case_of_its_id() {
        let text = answer(&about("aaep-6.4.3-2"), Format::Text);
        assert!(
            text.starts_with("AAEP-6.4.3-2  MAY  S (subscriber or client)\n"),
            "{text}"
        );
        assert!(
            text.contains("\n  Source: AAEP chapter 6, §6.4.3\n"),
            "{text}"
        );
        assert!(text.contains("\nnot checkable\n  Concerns what"), "{text}");
    }

    /// The places that the command lists of a clause below a folder, from its JSON.
    fn places(id: &str, folder: &Path) -> Vec<(String, String)> {
        let args = Args {
            source: Some(folder.to_owned()),
            ..about(id)
        };
        let shown = parsed(&answer(&args, Format::Json)).remove(0);
        let links = shown["links"].as_array().expect("an array").iter();
        let mentions = links.filter(|it| it["kind"] == "mention");
        let text = |it: &serde_json::Value| it.as_str().expect("a text").to_owned();
        mentions
            .map(|it| (text(&it["at"]), text(&it["name"])))
            .collect()
    }

    #[test]
    fn lists_the_lines_of_a_folder_that_name_the_clause_in_full() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, bytes).expect("a file");
        };
        write("b.rs", b"\n  // AAEP-6.3.4-4: late.  \nAAEP-6.3.4-40\n");
        write("a/c.md", b"See AAEP-6.3.4-4.\nAAEP-6.3.4-4-1");
        write("latin-1.txt", b"\xE4 AAEP-6.3.4-4");
        for left_out in ["binary", "target/x.rs", ".git/x", "a/.hidden"] {
            let zero: &[u8] = if left_out == "binary" { b"\0" } else { b"" };
            write(left_out, &[b"AAEP-6.3.4-4\n", zero].concat());
        }
        let found = places("aaep-6.3.4-4", folder.path());
        let found: Vec<_> = found.iter().map(|(at, text)| (&**at, &**text)).collect();
        let expected = [
            ("a/c.md:1", "See AAEP-6.3.4-4."),
            ("b.rs:2", "// AAEP-6.3.4-4: late."),
            ("latin-1.txt:1", "\u{FFFD} AAEP-6.3.4-4"),
        ];
        assert_eq!(found, expected);
        let args = Args {
            source: Some(folder.path().to_owned()),
            ..about("AAEP-6.3.4-4")
        };
        let text = answer(&args, Format::Text);
        assert!(
            text.contains("\nnamed in\n  a/c.md:1: See AAEP-6.3.4-4.\n  b.rs:2: "),
            "{text}"
        );
        assert_eq!(places("PA-5", folder.path()), []);
        let args = Args {
            id: Some("PA-5".to_owned()),
            ..args
        };
        let text = answer(&args, Format::Text);
        assert!(
            text.ends_with("\nnamed in\n  no line of this folder\n"),
            "{text}"
        );
    }

    #[test]
    fn refuses_a_folder_of_sources_that_is_not_there() {
        let args = Args {
            source: Some(PathBuf::from("no-such-folder")),
            ..about("PA-5")
        };
        let error = run(&args, Format::Text).expect_err("no such folder");
        assert_eq!(error.to_string(), "cannot read no-such-folder");
    }

    #[test]
    fn shows_links_as_json_with_the_agreed_keys() {
        let clauses = parsed(&answer(&Args::default(), Format::Json));
        assert_eq!(clauses.len(), all().len());
        for (shown, clause) in clauses.iter().zip(all()) {
            let keys: Vec<&String> = shown.as_object().expect("an object").keys().collect();
            assert_eq!(
                keys,
                [
                    "id", "level", "basis", "role", "gist", "source", "links", "readings"
                ]
            );
            assert_eq!(shown["id"], clause.id.as_str());
            assert_eq!(shown["level"], clause.level.as_str());
            assert_eq!(shown["role"], clause.role.letter());
            let links = shown["links"].as_array().expect("an array");
            assert_eq!(links.len(), LINKS.of(clause).len());
            for link in links {
                assert!(
                    link["kind"].is_string() && link["name"].is_string(),
                    "{link}"
                );
            }
        }
    }

    #[test]
    fn says_what_the_level_of_a_clause_rests_on() {
        for (id, basis, reason) in [
            ("AAEP-6.3.4-4", "normative", "the text gives the level"),
            ("AAEP-A.8-4", "informative", "Appendix A is informative"),
            (
                "AAEP-6-2",
                "informative",
                "the text informs here and requires nothing",
            ),
            (
                "AAEP-6.3.1-3",
                "inferred",
                "the text has no MUST, SHOULD or MAY for it",
            ),
            (
                "PA-8",
                "inferred",
                "the text is a feature request without MUST, SHOULD or MAY",
            ),
            (
                "AAEP-EV-5",
                "wire fact",
                "this project states what other chapters have on the wire",
            ),
        ] {
            let text = answer(&about(id), Format::Text);
            assert!(
                text.contains(&format!("\n  Basis: {basis}: {reason}\n")),
                "{text}"
            );
            let shown = parsed(&answer(&about(id), Format::Json)).remove(0);
            assert_eq!(shown["basis"], basis.replace(' ', "-"));
        }
        let list = answer(&Args::default(), Format::Text);
        let words = list.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("After its expiry a pending action does not run. (inferred) "),
            "{list}"
        );
    }

    /// Every place of every text, at each of its clauses.
    #[test]
    fn names_the_places_at_which_a_clause_can_be_taken_in_more_than_one_way() {
        let text = answer(&about("PA-10"), Format::Text);
        let (_, places) = text
            .split_once("\ncan be read in more than one way")
            .expect("places");
        assert!(places.contains("\n  in-doubt  "), "{text}");
        let text = answer(&about("PA-9"), Format::Text);
        assert!(!text.contains("more than one way"), "{text}");
        let clauses = parsed(&answer(&Args::default(), Format::Json));
        let named = |(name, ids): (&str, &[&str])| {
            let names = |id: &&str| {
                let shown = clauses
                    .iter()
                    .find(|it| it["id"] == **id)
                    .expect("a clause");
                let mut places = shown["readings"].as_array().expect("an array").iter();
                places.any(|it| it == name)
            };
            assert!(ids.iter().all(names), "{name}");
        };
        let places = TEXTS.iter().flat_map(|it| &it.places);
        places.map(|it| (it.name, it.clauses)).for_each(named);
    }

    #[test]
    fn shows_as_gaps_what_nothing_can_check_and_why() {
        let args = Args {
            gaps: true,
            ..Args::default()
        };
        let text = answer(&args, Format::Text);
        let shown = parsed(&answer(&args, Format::Json));
        assert!(!shown.is_empty());
        for clause in &shown {
            assert_eq!(clause["links"][0]["kind"], "exception", "{clause}");
        }
        let last = text.lines().last().expect("a summary");
        assert_eq!(last, format!("{} not checkable", shown.len()));
        assert!(
            text.contains("Whom a subscriber or its user trusts"),
            "{text}"
        );
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
