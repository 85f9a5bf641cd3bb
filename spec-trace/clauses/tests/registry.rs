//! The registry as a whole: what is in it.

use std::collections::BTreeMap;

use countersign_clauses::{Basis, Level, Role, all, cited, get};

/// Whatever asks for nothing cannot be cited as a requirement of the text.
#[test]
fn a_clause_of_level_info_is_never_normative() {
    for clause in all().iter().filter(|it| it.level == Level::Info) {
        assert_ne!(clause.basis, Basis::Normative, "{}", clause.id);
    }
}

/// PA-12: the criterion is about the contract.
#[test]
fn no_host_has_a_duty_to_do_without_hidden_context() {
    let clause = get("PA-12").expect("a clause");
    assert!(!clause.level.binds());
    assert_eq!(clause.role, Role::Wire);
    assert_eq!(cited("PA-12"), "PA-12 (inferred)");
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
