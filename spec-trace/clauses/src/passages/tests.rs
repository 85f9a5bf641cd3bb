//! Changes of a document of our own, each beside its twin that is none, and the file of the rows.

use super::*;
use crate::get;

/// A document of our own, for ids that exist.
const TEXT: &str = "\
# 2.1 Shape

Status: Binding

A token **MUST** be `long`, and MAY be longer.
It holds for 300 seconds. It is bound to one adapter.

# 2.2 Syntax

A reader MUST:

- Reject a digit that stands first
- Log *every* failure

| Check | Code |
|---|---|
| Expired | TOKEN_EXPIRED when now > end |

```js
const tolerance = given || 30;
if (kept !== told) { return false; }
const form = /^[a-z]{1,64}$/;
const end = start + given * 2;
```

# 3.3 Trees

Oaks grow slowly. Nobody reads this.

# 4.2 Stone

Granite weighs more.
";

/// Which words belong to which clause.
const READ: [(&str, &str); 10] = [
    ("AQL-2.1-1", "A token MUST be long, and MAY be longer"),
    ("AQL-2.1-2", "It holds for 300 seconds"),
    ("AQL-2.1-2", "It is bound to one adapter"),
    ("AQL-2.2-1", "Reject a digit that stands first"),
    ("AQL-2.2-1", "A reader MUST:"),
    ("AQL-2.2-2", "Log every failure"),
    ("AQL-2.2-3", "Expired | TOKEN_EXPIRED when now > end"),
    (
        "AQL-2.3-1",
        "const tolerance = given || 30; if (kept !== told) { return false; }",
    ),
    ("AQL-3.1-1", "const end = start + given * 2;"),
    ("AQL-4.2-1", "Granite weighs more"),
];

fn read() -> Rows {
    let mut rows = Rows {
        clauses: BTreeMap::new(),
        passed_over: BTreeMap::new(),
        documents: BTreeMap::new(),
    };
    for (id, words) in READ {
        let row = Row(vec![Words {
            passage: Passage::of(words),
            only: None,
        }]);
        rows.clauses.entry(id.to_owned()).or_default().push(row);
    }
    let rows = written::anew(&rows, &[copy("read.md", TEXT)]);
    let read = Rows::read(&written::written(&rows)).expect("what is written can be read");
    Rows {
        clauses: rows.clauses,
        ..read
    }
}

fn copy(name: &str, text: &str) -> Copy {
    Copy::new(name.to_owned(), text.to_owned())
}

fn compared(copies: &[Copy]) -> Compared {
    let rows = read();
    let clauses = all().iter().filter(|it| !rows.of(it).is_empty());
    rows.compare(&clauses.collect::<Vec<_>>(), copies)
}

/// What is told of a text, in few words.
fn told(text: &str) -> Vec<String> {
    let compared = compared(&[copy("tokens.md", text)]);
    let clauses = compared.clauses.iter().filter(|it| it.state != State::Same);
    let clause = |it: &Beside| format!("{} {:?} {:?}", it.id, it.state, it.why);
    let mut told: Vec<String> = clauses.map(clause).collect();
    let at = |it: &Place| format!("{}: {}", it.line, it.text);
    told.extend(
        compared
            .uncovered
            .iter()
            .map(|it| format!("MUST {}", at(it))),
    );
    let near = |it: &Added| format!("new {} ({})", at(&it.place), it.after.unwrap_or("-"));
    told.extend(compared.added.iter().map(near));
    told.extend(compared.moved.iter().map(|it| format!("moved {}", at(it))));
    assert_eq!(
        compared.is_read(),
        told.iter()
            .all(|it| it.ends_with("(-)") || it.starts_with("moved")),
        "{told:?}"
    );
    told
}

fn changed(from: &str, to: &str) -> Vec<String> {
    assert_eq!(TEXT.matches(from).count(), 1, "{from}");
    told(&TEXT.replace(from, to))
}

/// A change of the text, and what is told of it among others.
const CHANGES: &[(&str, &str, &str)] = &[
    // A condition is added before or behind a sentence, a number or a word grows.
    (
        "longer.",
        "longer, unless it is kept.",
        "AQL-2.1-1 Changed {Added}",
    ),
    (
        "A token **MUST",
        "In debug mode, a token **MUST",
        "AQL-2.1-1 Changed {Added}",
    ),
    ("be `long`", "not be `long`", "AQL-2.1-1 Changed {Words}"),
    (
        "one adapter.",
        "one adapter or two.",
        "AQL-2.1-2 Changed {Added}",
    ),
    (
        "one adapter.",
        "one adapter\nunless told.",
        "AQL-2.1-2 Changed {Added}",
    ),
    (
        "stands first",
        "stands first in production",
        "AQL-2.2-1 Changed {Added}",
    ),
    ("300 seconds", "3000 seconds", "AQL-2.1-2 Changed {Words}"),
    (
        "one adapter.",
        "one adapters pool.",
        "AQL-2.1-2 Changed {Words}",
    ),
    // The letters stay, the signs do not.
    (
        "token **MUST**",
        "token **must**",
        "AQL-2.1-1 Changed {Signs}",
    ),
    (
        "TOKEN_EXPIRED",
        "token_expired",
        "AQL-2.2-3 Changed {Signs}",
    ),
    ("now > end", "now >= end", "AQL-2.2-3 Changed {Signs}"),
    ("given || 30", "given ?? 30", "AQL-2.3-1 Changed {Signs}"),
    (
        "kept !== told",
        "kept === told",
        "AQL-2.3-1 Changed {Signs}",
    ),
    (
        "TOKEN_EXPIRED",
        "TOKEN EXPIRED",
        "AQL-2.2-3 Changed {Signs}",
    ),
    ("given || 30", "given | 30", "AQL-2.3-1 Changed {Signs}"),
    ("kept !== told", "kept == told", "AQL-2.3-1 Changed {Signs}"),
    ("start + given", "start given", "AQL-3.1-1 Changed {Signs}"),
    ("given * 2", "given 2", "AQL-3.1-1 Changed {Signs}"),
    (
        "TOKEN_EXPIRED",
        "TOKEN-EXPIRED",
        "AQL-2.2-3 Changed {Signs}",
    ),
    (
        "/^[a-z]{1,64}$/",
        "/[a-z]{1,64}/",
        "new 22: const form = /[a-z]{1,64} (AQL-2.3-1)",
    ),
    // What stands for itself.
    (
        "every* failure",
        "every* failure\n- Tell the user",
        "new 14: Tell the user (AQL-2.2-2)",
    ),
    (
        "now > end |",
        "now > end |\n| Used | TOKEN_USED |",
        "new 18: Used (AQL-2.2-3)",
    ),
    (
        "Binding",
        "Informative",
        "new 3: Status: Informative (AQL-2.1-1)",
    ),
    (
        "Oaks grow",
        "A host SHALL wait. Oaks grow",
        "MUST 28: A host SHALL wait.",
    ),
    (
        "Oaks grow",
        "Elms grow fast. Oaks grow",
        "new 28: Elms grow fast. (-)",
    ),
    // A sentence begins with its item, wherever the last one ended.
    ("- Log", "- It MUST wait\n- Log", "MUST 13: It MUST wait"),
    (
        "Log *every* failure",
        "Log *no* failure",
        "AQL-2.2-2 Changed {Words}",
    ),
    ("- Log *every* failure\n", "", "AQL-2.2-2 Changed {Gone}"),
    (
        "# 4.2 Stone\n\nGranite weighs more.\n",
        "",
        "AQL-4.2-1 Lost {Gone}",
    ),
    ("Granite weighs more.\n", "", "AQL-4.2-1 Changed {Gone}"),
];

#[test]
fn what_changes_a_rule_is_told() {
    for (from, to, expected) in CHANGES {
        let told = changed(from, to);
        assert!(
            told.iter().any(|it| it == expected),
            "{from} → {to}: {told:?}"
        );
    }
}

#[test]
fn a_change_is_told_once() {
    let kept = changed("longer.", "longer, unless it is kept.");
    assert_eq!(kept, ["AQL-2.1-1 Changed {Added}"]);
    let wait = changed("Oaks grow", "A host SHALL wait. Oaks grow");
    assert_eq!(wait, ["MUST 28: A host SHALL wait."]);
    let other = changed("be `long`", "be `strong`");
    assert_eq!(other, ["AQL-2.1-1 Changed {Words}"]);
    // Of two sentences in the place of one, one is told beside the clause, and one as new.
    let two = changed("be `long`, and MAY", "be `strong`. It MAY");
    assert_eq!(
        two,
        ["AQL-2.1-1 Changed {Words}", "MUST 5: It MAY be longer."]
    );
}

/// What has moved is told; the rest stays where it is.
#[test]
fn what_stands_elsewhere_is_told() {
    let (before, stone) = TEXT.split_at(TEXT.find("# 4.2").expect("a section"));
    let expected = ["AQL-4.2-1 Moved {Moved}", "moved 1: 4.2 Stone"];
    let moved = stone.to_owned() + before;
    assert_eq!(told(&moved), expected);
    // What has changed on the way is told as changed.
    let changed = moved.replace("more.", "more, in summer.");
    assert_eq!(
        told(&changed),
        ["AQL-4.2-1 Changed {Added}", "moved 1: 4.2 Stone"]
    );
    // Most of it has to be there; what is written anew is new.
    let anew = moved.replace("Granite weighs more.", "Basalt, of all stones, is heavier.");
    assert_eq!(told(&anew)[0], "AQL-4.2-1 Lost {Gone}");
}

/// A sentence that stands in another section is no new one; a short one may stand there by chance.
#[test]
fn a_sentence_that_stands_elsewhere_is_told_as_moved() {
    let moved = |sentence: &str| {
        let without = TEXT.replace(sentence, "");
        told(&without.replace("Oaks grow", &format!("{sentence} Oaks grow")))
    };
    let long = moved("A token **MUST** be `long`, and MAY be longer.");
    assert_eq!(long, ["AQL-2.1-1 Moved {Moved}"]);
    let short = moved("It holds for 300 seconds.");
    assert_eq!(
        short,
        [
            "AQL-2.1-2 Changed {Gone}",
            "new 28: It holds for 300 seconds. (-)"
        ]
    );
}

/// A section from which no clause was read moves, too, and leaves nothing to read again.
#[test]
fn a_section_without_a_clause_is_told_as_moved() {
    let from = TEXT.find("# 3.3").expect("a section");
    let to = TEXT.find("# 4.2").expect("a section");
    let trees = &TEXT[from..to];
    let moved = trees.to_owned() + &TEXT[..from] + &TEXT[to..];
    assert_eq!(told(&moved), ["moved 1: 3.3 Trees"]);
}

#[test]
fn a_unit_is_a_sentence_an_item_a_cell_a_line_of_code_or_a_heading() {
    let text = "\
# Head
below it, e.g. this,
That and the other
so on. More (yes). `code` too! A line
Another: `a`
b:
c

// a note
let x = {
y, }
2.1 Title
lower
- item
* other | cell | end
}3. Glued
}
\"name\": 1, \"next\": 2,
\"last\": 3
";
    let copy = copy("", text);
    let units = copy.units();
    let units: Vec<String> = units.iter().map(|it| copy.place(it).text).collect();
    let expected = [
        "Head",
        "below it, e.g. this, That and the other so on.",
        "More (yes).",
        "`code` too!",
        "A line",
        "Another: `a` b",
        "c",
        "a note",
        "let x",
        "y",
        "2.1 Title",
        "lower",
        "item",
        "other",
        "cell",
        "end",
        "Glued",
        "\"name\": 1, \"next\": 2",
        "\"last\": 3",
    ];
    assert_eq!(units, expected);
}

#[test]
fn what_changes_no_rule_is_not_told() {
    assert_eq!(told(TEXT), [""; 0]);
    for (from, to) in [
        ("**MUST** be `long`", "MUST be _long_"),
        ("MAY be longer.\nIt holds", "MAY\nbe longer. It\nholds"),
        (
            "- Reject a digit that stands first\n- Log",
            "* Reject a digit\n  that stands first\n* Log",
        ),
        (
            "- Reject a digit that stands first\n- Log",
            "1. Reject a digit that stands first\n2. Log",
        ),
        (
            "- Reject a digit that stands first\n- Log",
            "+ Reject a digit that stands first.\n+ Log",
        ),
        (
            "| Expired | TOKEN_EXPIRED when now > end |",
            "Expired\n`TOKEN_EXPIRED` when now &gt; end",
        ),
        ("|---|---|", "| :-- | --: |"),
        ("```js", "~~~ javascript"),
        ("# 3.3 Trees", "3.3 Trees\n========="),
        ("A token", "> A token"),
        ("*every* failure", "[every](some/where.md#far) failure"),
        ("kept !== told", "kept\n  !== told"),
        ("one adapter.", "one<br>adapter.\u{a0}"),
        ("Nobody reads this.", ""),
    ] {
        assert_eq!(changed(from, to), [""; 0], "{from} → {to}");
    }
    assert_eq!(told(&TEXT.replace('\n', "\r\n")), [""; 0]);
}

#[test]
fn a_clause_stands_beside_its_words_and_a_changed_one_beside_what_stands_there_now() {
    let places = |text: &str, clause: usize| {
        let compared = compared(&[copy("tokens.md", text)]);
        let places = compared.clauses[clause].passages.iter();
        places
            .map(|it| (it.line, it.text.clone()))
            .collect::<Vec<_>>()
    };
    let place = |line, text: &str| (line, text.to_owned());
    assert_eq!(
        places(TEXT, 0),
        [place(5, "A token **MUST** be `long`, and MAY be longer.")]
    );
    let now = TEXT.replace("stands first", "stands last");
    assert_eq!(
        places(&now, 2),
        [
            place(12, "Reject a digit that stands last"),
            place(10, "A reader MUST")
        ]
    );
    let gone = TEXT.replace("Granite weighs more.\n", "");
    assert_eq!(places(&gone, 7), [place(30, "4.2 Stone")]);
}

#[test]
fn of_two_files_with_a_document_the_edited_one_is_taken_and_the_other_named() {
    let edited = TEXT.replace("stands first", "stands last");
    for names in [["a.md", "b.md"], ["b.md", "a.md"]] {
        let compared = compared(&[
            copy(names[0], TEXT),
            copy("other.md", "Nothing."),
            copy(names[1], &edited),
        ]);
        let title = get("AQL-2.1-1").expect("a clause").document.as_str();
        assert_eq!(compared.documents[title].as_deref(), Some(names[1]));
        assert_eq!(compared.others[title], [names[0]]);
        assert!(!compared.is_read());
    }
}

/// A text that is there twice is told where either is changed; it may be there once.
#[test]
fn a_document_that_says_all_twice_is_compared_with_both() {
    let mut rows = read();
    let twice = TEXT.to_owned() + TEXT;
    let title = get("AQL-2.1-1").expect("a clause").document.clone();
    rows.documents
        .insert(title, Document::of(&copy("", &twice)));
    let clauses = [
        get("AQL-2.1-2").expect("a clause"),
        get("AQL-4.2-1").expect("a clause"),
    ];
    let states = |text: &str| {
        let compared = rows.compare(&clauses, &[copy("twice.md", text)]);
        compared
            .clauses
            .iter()
            .map(|it| it.state)
            .collect::<Vec<_>>()
    };
    let same = vec![State::Same; 2];
    let changed = vec![State::Changed, State::Same];
    assert_eq!(states(&twice), same);
    assert_eq!(states(TEXT), same);
    assert_eq!(states(&twice.replacen("300", "400", 1)), changed);
    assert_eq!(
        states(&(TEXT.to_owned() + &TEXT.replace("300", "400"))),
        changed
    );
    assert_eq!(
        states(&twice.replacen("It holds for 300 seconds. ", "", 1)),
        changed
    );
}

#[test]
fn no_document_and_no_text_are_no_fault() {
    for text in ["", "A", "A token"] {
        let compared = compared(&[copy("tokens.md", text)]);
        assert_eq!(compared.count(State::Absent), 8);
    }
}

/// Several documents in a file are no new text to each other.
#[test]
fn a_file_may_hold_more_than_one_document() {
    let mut rows = read();
    let other = "A.9 Rivers\n\nThey run to the sea, every one of them. No river MUST stop.\n";
    let document = Document::of(&copy("", other));
    rows.documents
        .insert("AAEP appendix A".to_owned(), document);
    let clause = get("AQL-2.1-1").expect("a clause");
    let compared = rows.compare(&[clause], &[copy("all.md", &(TEXT.to_owned() + other))]);
    assert!(compared.added.is_empty(), "{compared:?}");
    // No clause was read from a sentence that was there.
    assert_eq!(compared.uncovered.len(), 1, "{compared:?}");
}

#[test]
fn every_clause_has_passages_that_are_units_of_its_document() {
    for clause in all() {
        let is_of_the_wire = clause.id.as_str().starts_with("AAEP-EV-");
        assert_eq!(
            rows().of(clause).is_empty(),
            is_of_the_wire,
            "{}",
            clause.id
        );
        for row in rows().of(clause) {
            let runs = row.runs(&rows().documents[&clause.document]);
            assert!(
                !runs.is_empty(),
                "{}: {row:?}, which `the_rows` makes whole",
                clause.id
            );
        }
    }
    for passage in rows().passed_over.keys() {
        let mut documents = rows().documents.values();
        assert!(
            documents.any(|it| !it.runs(*passage).is_empty()),
            "{passage}"
        );
    }
}
