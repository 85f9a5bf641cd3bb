//! The links from the clauses to the sources, and what the command says about them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use countersign_clauses::evidence::Evidence;
use countersign_clauses::links::{self, Kind};
use countersign_clauses::{Clause, ClauseId, all, coverage, evidence, faults, get};
use countersign_cli::links::{EVIDENCE, LINKS, place_of_test};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A slip in a comment would leave a clause without its link, unseen.
#[test]
fn every_id_that_the_sources_cite_exists() {
    let mistaken: Vec<String> = LINKS.mistaken().iter().map(ToString::to_string).collect();
    assert!(
        mistaken.is_empty(),
        "these citations name no clause:\n{}",
        mistaken.join("\n")
    );
}

#[test]
fn no_exception_stands_for_a_clause_that_something_checks() {
    let stale: Vec<String> = LINKS
        .stale_exceptions()
        .iter()
        .map(|clause| {
            let link = &LINKS.of(clause)[0];
            format!("{} ({:?} {})", clause.id, link.kind, link.name)
        })
        .collect();
    assert!(
        stale.is_empty(),
        "take these out of spec-trace/clauses/exceptions.toml:\n{}",
        stale.join("\n")
    );
}

#[test]
fn no_clause_has_two_exceptions() {
    for clause in all() {
        assert!(LINKS.count(clause, Kind::Exception) <= 1, "{}", clause.id);
    }
}

/// Every duty can be left out of a model, or it is said why it cannot, and `ablate` says it. Of no other clause is that said.
#[test]
fn a_duty_has_a_rule_to_leave_out_or_a_reason_why_not() {
    assert_had_or_explained(
        Kind::Guard,
        links::without_rule,
        links::said_to_have_no_rule(),
    );
}

/// The same of the executor, which carries every duty out.
#[test]
fn a_duty_is_carried_out_or_there_is_a_reason_why_not() {
    assert_had_or_explained(
        Kind::Reference,
        links::without_branch,
        links::said_to_have_no_branch(),
    );
}

/// A test saw every duty at work, or was seen to fail without it. Here only an exception excuses.
#[test]
fn a_duty_is_tested() {
    let excepted = |clause: &Clause| {
        (LINKS.count(clause, Kind::Exception) > 0).then_some("nothing can check it")
    };
    assert_had_or_explained(Kind::Test, excepted, std::iter::empty());
}

fn assert_had_or_explained(
    kind: Kind,
    why_not: impl Fn(&Clause) -> Option<&'static str>,
    said: impl Iterator<Item = &'static ClauseId>,
) {
    let said: Vec<&str> = said.map(ClauseId::as_str).collect();
    for clause in all() {
        let id = clause.id.as_str();
        if clause.level.binds() && LINKS.count(clause, kind) == 0 {
            assert!(why_not(clause).is_some(), "{id}: no {}", kind.heading());
        } else {
            assert!(!said.contains(&id), "{id}: it has one, or is no duty");
        }
    }
    let once: BTreeSet<&str> = said.iter().copied().collect();
    assert_eq!(once.len(), said.len(), "one of them is said twice");
}

/// Only an exception leads nowhere: a guard, a property or a test whose place is unknown would be one that the scan lost, or
/// a test that has another name by now.
#[test]
fn every_link_leads_to_a_line_that_exists() {
    let root = root();
    let mut sources: BTreeMap<String, usize> = BTreeMap::new();
    for clause in all() {
        for link in LINKS.of(clause) {
            let Some(at) = &link.at else {
                assert_eq!(link.kind, Kind::Exception, "{}: {}", clause.id, link.name);
                continue;
            };
            let (file, line) = at.rsplit_once(':').expect("file:line");
            let lines = *sources.entry(file.to_owned()).or_insert_with(|| {
                let source = fs::read_to_string(root.join(file)).expect("a readable source");
                source.lines().count()
            });
            let line: usize = line.parse().expect("a line number");
            assert!((1..=lines).contains(&line), "{}: {at}", clause.id);
        }
    }
}

#[test]
fn every_clause_that_is_evidence_of_a_test_exists() {
    for (test, clauses) in evidence::kept(EVIDENCE) {
        for clause in clauses {
            assert!(get(&clause).is_ok(), "{test}: {clause}");
        }
    }
}

/// `.ci/evidence` runs this after all the tests, and refreshes with it what is committed.
#[test]
#[ignore = "needs the record of a run of all tests: .ci/evidence"]
fn the_committed_evidence_is_what_the_tests_recorded() {
    let folder = env::var_os("COUNTERSIGN_EVIDENCE").expect("the folder of a record");
    let recorded = evidence::recorded(Path::new(&folder)).expect("a record");
    let file = root().join("spec-trace/evidence.txt");
    if env::var_os("UPDATE_COVERAGE").is_some() {
        fs::write(&file, evidence::text(&recorded)).expect("evidence.txt can be written");
    }
    let committed = evidence::kept(&fs::read_to_string(&file).unwrap_or_default());
    let lines = |evidence: &Evidence| -> String {
        let of_test = |(test, clauses): (&String, &BTreeSet<String>)| -> String {
            let lines = clauses.iter().map(|clause| format!("{test} {clause}\n"));
            lines.collect()
        };
        evidence.iter().map(of_test).collect()
    };
    let changed = changed_lines(&lines(&committed), &lines(&recorded));
    assert!(
        changed.is_empty(),
        "evidence.txt is not what the tests recorded (- is committed, + was recorded):\n{changed}refresh it with\n\
         .ci/evidence --update"
    );
}

/// A fault that no longer fits its source would be put in nowhere; `faults.rs` puts in those that do.
#[test]
fn every_fault_fits_its_source_and_names_a_test_and_clauses_that_exist() {
    assert!(faults::all().len() > 20, "the faults are there");
    for fault in faults::all() {
        let source = fs::read_to_string(root().join(&fault.file)).expect("a source");
        assert_eq!(source.matches(&fault.find).count(), 1, "{}", fault.find);
        assert_ne!(fault.find, fault.replace, "{}", fault.file);
        assert!(place_of_test(&fault.test).is_some(), "{}", fault.test);
        for clause in &fault.clauses {
            assert!(get(clause.as_str()).is_ok(), "{clause}");
        }
    }
}

#[test]
fn the_committed_coverage_is_that_of_the_sources() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../coverage.txt");
    let derived = coverage::text(&LINKS);
    if env::var_os("UPDATE_COVERAGE").is_some() {
        fs::write(&file, &derived).expect("coverage.txt can be written");
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    let changed = changed_lines(&committed, &derived);
    assert!(
        changed.is_empty(),
        "coverage.txt is out of date:\n{changed}refresh it with\n\
         UPDATE_COVERAGE=1 cargo test -p countersign-cli --test clauses"
    );
}

/// The lines that only one of the texts has, marked with `-` and `+`.
fn changed_lines(committed: &str, derived: &str) -> String {
    let mut changed = Vec::new();
    for (mark, text, other) in [("-", committed, derived), ("+", derived, committed)] {
        let only_here = |line: &&str| !other.lines().any(|known| known == *line);
        changed.extend(
            text.lines()
                .filter(only_here)
                .map(|line| [mark, " ", line, "\n"].concat()),
        );
    }
    changed.concat()
}

mod the_command {
    use super::*;
    use countersign_cli::answer::{Format, Status};
    use countersign_cli::commands::clauses::{Args, run};
    use countersign_model::aaep::AaepProtocol;
    use countersign_model::mcp_aql::McpAqlProtocol;
    use countersign_model::pending_action::PendingActionProtocol;
    use countersign_model::specification::Modelled as _;

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

    /// The test names the clause to say which runs it looks at, and shows nothing of it.
    #[test]
    fn a_test_that_names_a_clause_and_does_not_see_it_at_work_only_mentions_it() {
        let text = answer(&about("AAEP-6.2.2-2"), Format::Text);
        let test = "no_run_of_two_sessions_is_accused";
        let (evidence, mentions) = text.split_once("\nmentioned in\n").expect("a mention");
        assert!(mentions.contains(test), "{text}");
        assert!(!evidence.contains(test), "{text}");
    }

    #[test]
    fn shows_links_of_every_kind_as_json_with_the_agreed_keys() {
        let clauses = parsed(&answer(&Args::default(), Format::Json));
        assert_eq!(clauses.len(), all().len());
        for (shown, clause) in clauses.iter().zip(all()) {
            let keys: Vec<&String> = shown.as_object().expect("an object").keys().collect();
            assert_eq!(
                keys,
                ["id", "level", "role", "gist", "source", "links", "readings"]
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

    /// Every place of every text, at each of its clauses.
    #[test]
    fn names_the_places_at_which_a_clause_can_be_taken_in_more_than_one_way() {
        let text = answer(&about("PA-10"), Format::Text);
        let (_, places) = text
            .split_once("\ncan be taken in more than one way")
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
        AaepProtocol::PLACES
            .iter()
            .map(|it| (it.name, it.clauses))
            .for_each(named);
        McpAqlProtocol::PLACES
            .iter()
            .map(|it| (it.name, it.clauses))
            .for_each(named);
        PendingActionProtocol::PLACES
            .iter()
            .map(|it| (it.name, it.clauses))
            .for_each(named);
    }

    #[test]
    fn shows_as_gaps_what_nothing_checks_and_why() {
        let args = Args {
            gaps: true,
            ..Args::default()
        };
        let text = answer(&args, Format::Text);
        let shown = parsed(&answer(&args, Format::Json));
        let tally = coverage::Tally::of(&LINKS, all());
        assert_eq!(shown.len(), tally.gaps + tally.not_checkable);
        let last = text.lines().last().expect("a summary");
        assert_eq!(
            last,
            format!("{} open, {} not checkable", tally.gaps, tally.not_checkable)
        );
        assert!(
            text.contains("Whom a subscriber or its user trusts"),
            "{text}"
        );
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
