//! The registry as a whole: what is in it, how its links are derived, and what the command says about it.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use countersign_spec_trace::clause::links::{self, Kind};
use countersign_spec_trace::clause::{Level, all, command, coverage, get};

#[test]
fn every_document_has_its_pinned_number_of_clauses() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for clause in all() {
        *counts.entry(&clause.document).or_default() += 1;
    }
    let expected = BTreeMap::from([
        ("AAEP chapter 6", 96),
        ("AAEP confirmation.reply schema", 15),
        ("AAEP appendix A", 46),
        ("AAEP wire facts", 16),
        ("MCP-AQL confirmation token specification", 70),
        ("Agents API pending-action contract", 14),
    ]);
    assert_eq!(counts, expected);
    assert_eq!(all().len(), 257);
}

#[test]
fn every_level_has_its_pinned_number_of_clauses() {
    let mut counts: BTreeMap<Level, usize> = BTreeMap::new();
    for clause in all() {
        *counts.entry(clause.level).or_default() += 1;
    }
    let expected = BTreeMap::from([
        (Level::Must, 142),
        (Level::MustNot, 20),
        (Level::Should, 32),
        (Level::ShouldNot, 3),
        (Level::May, 39),
        (Level::Info, 21),
    ]);
    assert_eq!(counts, expected);
}

/// A gist is one thought of our own: a whole sentence, no longer than can be read in one go, and no clause shares it.
#[test]
fn every_gist_is_a_sentence_of_its_own() {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for clause in all() {
        let id = clause.id.as_str();
        let gist = clause.gist.as_str();
        let length = gist.chars().count();
        assert!((30..=190).contains(&length), "{id}: {length} characters");
        assert!(gist.ends_with('.'), "{id}: {gist}");
        assert!(!gist.starts_with(char::is_lowercase), "{id}: {gist}");
        if let Some(other) = seen.insert(gist, id) {
            panic!("{id} and {other} have one gist: {gist}");
        }
    }
}

#[test]
fn every_id_begins_with_the_name_of_its_document() {
    for clause in all() {
        let beginning = match clause.document.as_str() {
            "AAEP chapter 6" => "AAEP-6",
            "AAEP confirmation.reply schema" => "AAEP-REPLY-",
            "AAEP appendix A" => "AAEP-A",
            "AAEP wire facts" => "AAEP-EV-",
            "MCP-AQL confirmation token specification" => "AQL-",
            "Agents API pending-action contract" => "PA-",
            other => panic!("unknown document {other}"),
        };
        let (section, ordinal) = clause.id.as_str().rsplit_once('-').expect("an ordinal");
        assert!(clause.id.as_str().starts_with(beginning), "{}", clause.id);
        assert!(
            ordinal.parse::<u8>().is_ok_and(|number| number > 0),
            "{}",
            clause.id
        );
        assert!(!section.is_empty(), "{}", clause.id);
    }
}

#[test]
fn a_clause_is_found_by_its_id() {
    let clause = get("AAEP-6.3.4-4").expect("check 4");
    assert_eq!(clause.level, Level::Must);
    assert_eq!(clause.source, "AAEP chapter 6, §6.3.4 item 4");
    assert_eq!(clause.protocol, "aaep");
}

#[test]
fn an_unknown_id_is_refused_with_the_nearest_ones() {
    let error = get("AAEP-6.3.4-44").expect_err("there is no such clause");
    assert_eq!(
        error.to_string(),
        "unknown clause `AAEP-6.3.4-44`; did you mean AAEP-6.3.4-4, AAEP-6.3.4-1 or AAEP-6.3.4-2?"
    );
}

/// A slip in a comment would leave a clause without its link, unseen.
#[test]
fn every_id_that_the_sources_cite_exists() {
    let mistaken: Vec<String> = links::mistaken().iter().map(ToString::to_string).collect();
    assert!(
        mistaken.is_empty(),
        "these citations name no clause:\n{}",
        mistaken.join("\n")
    );
}

#[test]
fn no_exception_stands_for_a_clause_that_something_checks() {
    let stale: Vec<String> = links::stale_exceptions()
        .iter()
        .map(|clause| {
            let link = &links::of(clause)[0];
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
        assert!(links::count(clause, Kind::Exception) <= 1, "{}", clause.id);
    }
}

/// Only an exception leads nowhere: a guard or property whose place is unknown would be one that the scan lost.
#[test]
fn every_link_leads_to_a_line_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources: BTreeMap<String, usize> = BTreeMap::new();
    for clause in all() {
        for link in links::of(clause) {
            let Some(at) = &link.at else {
                assert_eq!(link.kind, Kind::Exception, "{}", clause.id);
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
fn the_committed_coverage_is_that_of_the_sources() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("coverage.txt");
    let derived = coverage::text();
    if env::var_os("UPDATE_COVERAGE").is_some() {
        fs::write(&file, &derived).expect("coverage.txt can be written");
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    let changed = changed_lines(&committed, &derived);
    assert!(
        changed.is_empty(),
        "coverage.txt is out of date:\n{changed}refresh it with\n\
         UPDATE_COVERAGE=1 cargo test -p countersign-spec-trace --test clauses"
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
    use command::{ClausesArgs, run};
    use countersign_spec_trace::answer::{Format, Status};

    fn answer(args: &ClausesArgs, format: Format) -> String {
        let answer = run(args, format).expect("an answer");
        assert_eq!(answer.status, Status::Holds);
        answer.text
    }

    fn about(id: &str) -> ClausesArgs {
        ClausesArgs {
            id: Some(id.to_owned()),
            ..ClausesArgs::default()
        }
    }

    fn in_protocol(protocol: &str) -> ClausesArgs {
        ClausesArgs {
            protocol: Some(protocol.to_owned()),
            ..ClausesArgs::default()
        }
    }

    fn parsed(text: &str) -> Vec<serde_json::Value> {
        serde_json::from_str(text).expect("a JSON array")
    }

    #[test]
    fn lists_every_clause_in_lines_of_100_columns() {
        let text = answer(&ClausesArgs::default(), Format::Text);
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

    #[test]
    fn shows_links_of_every_kind_as_json_with_the_agreed_keys() {
        let clauses = parsed(&answer(&ClausesArgs::default(), Format::Json));
        assert_eq!(clauses.len(), all().len());
        for (shown, clause) in clauses.iter().zip(all()) {
            let keys: Vec<&String> = shown.as_object().expect("an object").keys().collect();
            assert_eq!(keys, ["id", "level", "role", "gist", "source", "links"]);
            assert_eq!(shown["id"], clause.id.as_str());
            assert_eq!(shown["level"], clause.level.as_str());
            assert_eq!(shown["role"], clause.role.letter());
            let links = shown["links"].as_array().expect("an array");
            assert_eq!(links.len(), links::of(clause).len());
            for link in links {
                assert!(
                    link["kind"].is_string() && link["name"].is_string(),
                    "{link}"
                );
            }
        }
    }

    #[test]
    fn shows_as_gaps_what_nothing_checks_and_why() {
        let args = ClausesArgs {
            gaps: true,
            ..ClausesArgs::default()
        };
        let text = answer(&args, Format::Text);
        let shown = parsed(&answer(&args, Format::Json));
        let tally = coverage::Tally::of(all());
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
