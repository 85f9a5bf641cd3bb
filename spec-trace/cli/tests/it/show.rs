//! `show` and `report` as their users meet them, and `explore` in a build that has it: what a file is taken for, what each format
//! looks like, and what foreign text can do in it.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use countersign_cli::show::Drawing;
use countersign_cli::show::run::{Run, Weight};
use countersign_cli::show::stream::Selection;
use countersign_cli::show::{finding, load, words};
use countersign_findings::run::in_words;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};
use serde_json::{Value, json};
use tempfile::TempDir;
use uppsala::{Document, Element};

#[cfg(feature = "explore")]
mod explored;
mod foreign;
mod reported;

fn countersign(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("countersign").expect("the binary is built");
    // From the folder of the streams, so that no path of this machine is in what is printed.
    command.current_dir(traces()).args(arguments);
    command
}

fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces")
}

fn printed(arguments: &[&str]) -> String {
    let output = countersign(arguments).output().expect("the command runs");
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A file with this content, by its path.
fn file(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a file");
    path.display().to_string()
}

const REJECTED: &str = "invalid/AAEP-A.8-5_called-after-rejection.jsonl";

/// A counterexample as `check --save` writes it.
fn counterexample(folder: &TempDir) -> String {
    let path = folder.path().join("found.json").display().to_string();
    let check = [
        "check",
        "aaep",
        "--without",
        "AAEP-6.3.4-4",
        "--bounds",
        "small,confirmations=1",
        "--save",
        &path,
    ];
    countersign(&check).assert().code(1);
    path
}

/// The head of a recording is no message: what it says stands in the caption, and the steps begin behind it.
#[test]
fn the_head_of_a_recording_is_said_and_not_drawn() {
    let folder = folder();
    let stream = fs::read_to_string(traces().join(REJECTED)).expect("a stream");
    let bare: Value =
        serde_json::from_str(&printed(&["show", REJECTED, "--format", "json"])).expect("JSON");
    let head = r#"{"type":"countersign.recording","replies":"all","prompt":"a secret"}"#;
    let name = file(&folder, "headed.jsonl", format!("{head}\n{stream}"));
    let run: Value =
        serde_json::from_str(&printed(&["show", &name, "--format", "json"])).expect("JSON");
    assert_eq!(run["participants"], bare["participants"]);
    assert_eq!(run["steps"].as_array().map(Vec::len), Some(10));
    assert_eq!(run["steps"][0]["line"], 2);
    assert!(bare.get("head").is_none(), "{bare}");
    let said = "recording: all replies are recorded, prompt “a secret”";
    assert_eq!(run["head"], said);
    for format in ["text", "html", "svg", "mermaid"] {
        let drawn = printed(&["show", &name, "--format", format]);
        assert!(drawn.contains(said), "{format}: {drawn}");
        assert!(
            !drawn.contains("countersign.recording"),
            "{format}: {drawn}"
        );
    }
    let redacted = printed(&["show", &name, "--redact"]);
    assert!(
        redacted.contains("\nrecording: all replies are recorded\n"),
        "{redacted}"
    );
    let session = printed(&["show", &name, "--session", "sess_a1"]);
    assert!(session.contains(said), "{session}");
    // One that says nothing is a line with a fault, and nobody sent it.
    let wrong = head.replace("all", "some");
    let name = file(&folder, "wrong.jsonl", format!("{wrong}\n{stream}"));
    let text = printed(&["show", &name]);
    assert!(
        text.contains("✗   1 ") && text.contains("unknown") && !text.contains("producer"),
        "{text}"
    );
    let name = file(&folder, "empty.jsonl", head);
    let refused = countersign(&["show", &name]).assert().code(2);
    refused.stderr(contains("no message"));
}

// What each format looks like.

#[test]
fn a_stream_in_the_terminal() {
    insta::assert_snapshot!(printed(&["show", REJECTED]));
}

#[test]
fn a_stream_in_mermaid() {
    insta::assert_snapshot!(printed(&["show", REJECTED, "--format", "mermaid"]));
}

/// AAEP-6.3.4-4: the run that leaving the rule out allows.
#[test]
fn a_counterexample_in_the_terminal() {
    let folder = folder();
    let found = counterexample(&folder);
    insta::assert_snapshot!(printed(&["show", &found, "--run", "1"]));
}

/// What was saved says in what it was searched, what made the run possible, and what is required instead.
#[test]
fn a_counterexample_needs_nothing_but_its_file_to_be_explained() {
    let folder = folder();
    let found = counterexample(&folder);
    let text = printed(&["show", &found]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let version = env!("CARGO_PKG_VERSION");
    for said in [
        "aaep, small,confirmations=1 bounds, without AAEP-6.3.4-4, by countersign ",
        "made possible by the loss of AAEP-6.3.4-4",
        "required instead at step 5: out: respond 204",
        version,
    ] {
        assert!(flat.contains(said), "{said}\n{text}");
    }
    let page = printed(&["show", &found, "--format", "html"]);
    assert!(page.contains("required instead at step 5"));
}

#[test]
fn a_kept_run_in_the_terminal() {
    insta::assert_snapshot!(printed(&[
        "show",
        "kept/aaep/AAEP-6.3.4-3_memory-of-two-tokens.json"
    ]));
}

/// Whatever a run can be drawn as.
const DRAWINGS: [Drawing; 5] = [
    Drawing::Text,
    Drawing::Json,
    Drawing::Mermaid,
    Drawing::Svg,
    Drawing::Html,
];

/// AAEP-A.10-1: also as a picture.
#[test]
fn every_stream_and_kept_run_is_drawn_in_every_format_within_its_columns() {
    let mut drawn = 0;
    for folder in ["invalid", "valid", "kept/aaep"] {
        for entry in fs::read_dir(traces().join(folder)).expect("a folder") {
            let name = entry.expect("an entry").path().display().to_string();
            let bytes = fs::read(&name).expect("a file");
            let runs = load(&bytes, &name);
            for format in DRAWINGS {
                let picture = format.of(&runs[0]);
                assert!(!picture.is_empty());
                if format == Drawing::Text {
                    let widest = picture.lines().map(words::width).max();
                    assert!(widest <= Some(100), "{name}: {widest:?}");
                }
                if format == Drawing::Svg {
                    uppsala::parse(&picture).unwrap_or_else(|error| panic!("{name}: {error}"));
                }
            }
            drawn += 1;
        }
    }
    assert!(drawn > 90, "{drawn}");
}

/// All elements of a picture.
fn elements<'a>(document: &'a Document<'a>) -> impl Iterator<Item = &'a Element<'a>> {
    let nodes = document.descendants(document.root());
    nodes.into_iter().filter_map(|node| document.element(node))
}

fn load(bytes: &[u8], name: &str) -> Vec<Run> {
    load::runs(bytes, name, Selection::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_picture_has_a_title_a_description_and_both_colours() {
    let picture = printed(&["show", REJECTED, "--format", "svg"]);
    let document = uppsala::parse(&picture).expect("well-formed");
    let root = document.document_element().expect("a root");
    assert_eq!(document.get_attribute(root, "role"), Some("img"));
    let child =
        |name| document.first_child_element_by_name_ns(root, "http://www.w3.org/2000/svg", name);
    let title = child("title").and_then(|title| document.element_text(title));
    assert_eq!(title, Some(REJECTED));
    assert!(child("desc").is_some() && picture.contains("prefers-color-scheme:dark"));
    let outside = elements(&document)
        .flat_map(|element| &element.attributes)
        .filter(|attribute| attribute.value.contains("//"));
    assert_eq!(outside.count(), 0, "it loads nothing");
}

/// AAEP-6.3.5-1: what became of each confirmation is said where it changes.
#[test]
fn a_step_says_what_became_of_the_confirmations() {
    let run = &load(
        &fs::read(traces().join(REJECTED)).expect("a stream"),
        REJECTED,
    )[0];
    let changes: Vec<(u64, Vec<String>)> = run
        .steps
        .iter()
        .filter(|step| !step.states.is_empty())
        .map(|step| (step.line.expect("a line"), step.asides(run)))
        .collect();
    let expected = [
        (4, vec!["rpl_q1: pending".to_owned()]),
        (5, vec!["rpl_q1: pending → rejected".to_owned()]),
    ];
    assert_eq!(changes, expected);
    let marked: Vec<_> = run
        .steps
        .iter()
        .filter_map(|step| Some((step.line?, step.weight(run)?)))
        .collect();
    assert_eq!(marked, [(7, Weight::Violation)]);
    assert_eq!(
        run.findings[0].gist,
        "A conformance test notices that an action is performed although it was rejected."
    );
}

/// Each finding is drawn: every case with its steps, and what each passage, guarantee and the mended wording say of it.
#[test]
fn what_shows_a_finding_is_drawn_with_what_each_passage_says() {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for flaw in countersign_findings::all() {
        let runs = finding::runs(flaw).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(runs.len(), flaw.cases.len(), "{}", flaw.id);
        for (run, case) in runs.iter().zip(&flaw.cases) {
            let lines: Vec<&str> = case
                .run
                .lines()
                .filter(|it| !it.trim().is_empty())
                .collect();
            assert_eq!(run.steps.len(), lines.len(), "{}", run.title);
            let said = case.judged.iter().chain(&case.broken);
            let mut said: Vec<_> = said.map(|(name, said)| (name.as_str(), said)).collect();
            said.extend(
                case.repaired
                    .iter()
                    .map(|said| ("the mended wording", said)),
            );
            let text = Drawing::Text.of(run);
            let page = Drawing::Html.of(run);
            let widest = text.lines().map(words::width).max();
            assert!(widest <= Some(100), "{}: {widest:?}", run.title);
            for (name, verdict) in &said {
                let told = format!("{name}: {}", in_words(verdict));
                assert!(
                    flat(&text).contains(&flat(&told)),
                    "{}: {told}\n{text}",
                    run.title
                );
                assert!(
                    page.contains(&told) || told.contains(['<', '"', '\'', '&']),
                    "{told}"
                );
                let Some((_, number)) = verdict.split_once(' ') else {
                    continue;
                };
                let step = &run.steps[number.parse::<usize>().expect("a number") - 1];
                let messages = step.findings.iter().map(|it| &run.findings[*it].message);
                assert!(
                    messages.into_iter().any(|it| it.contains(name)),
                    "{}: {name}",
                    run.title
                );
                // Whoever finds nothing wrong says it beside the step.
                let is_wrong = step.weight(run) == Some(Weight::Violation);
                let right = said.iter().filter(|(_, it)| is_wrong && *it == "right");
                for (other, _) in right {
                    assert!(
                        step.notes.iter().any(|it| it.contains(other)),
                        "{}: {other}",
                        run.title
                    );
                }
            }
            for format in [Drawing::Json, Drawing::Mermaid, Drawing::Svg] {
                assert!(!format.of(run).is_empty());
            }
        }
    }
}

#[test]
fn a_finding_is_drawn_by_its_id_and_needs_no_file() {
    insta::assert_snapshot!(printed(&["show", "--finding", "aaep-f2"]));
    let second = printed(&["show", "--finding", "AAEP-F2", "--run", "2"]);
    assert!(second.contains("AAEP-F2 case 2 of 4"), "{second}");
    for (arguments, complaint) in [
        (
            &["show", "--finding", "AAEP-F222"][..],
            "did you mean AAEP-F22",
        ),
        (
            &["show", "--finding", "AAEP-F2", "x.json"],
            "cannot be used with",
        ),
        (&["show"], "required arguments were not provided"),
    ] {
        let refused = countersign(arguments).assert().code(2);
        refused.stdout("").stderr(contains(complaint));
    }
}

/// The runs that tests of the reference have kept are drawn, each with what its host had chosen, and can be replayed.
#[test]
fn every_run_that_a_test_has_kept_is_drawn_and_replayed() {
    let mut drawn = 0;
    for protocol in ["aaep", "mcp-aql", "pending-action"] {
        for entry in fs::read_dir(traces().join("kept").join(protocol)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let bytes = fs::read(&path).expect("a file");
            let kept: Value = serde_json::from_slice(&bytes).expect("JSON");
            let name = path.display().to_string();
            let run = &load(&bytes, &name)[0];
            assert!(!run.steps.is_empty(), "{name}");
            assert!(!run.verdict.is_empty(), "{name}");
            assert!(run.remarks[1].contains("host had chosen"), "{name}");
            if drawn % 10 == 0 {
                countersign(&["replay", &name]).assert().success();
            }
            assert_eq!(kept["protocol"], protocol);
            drawn += 1;
        }
    }
    assert!(drawn >= 52, "{drawn}");
    // What was chosen changes the answers: a token that is signed reads otherwise than one that is kept.
    let name = "kept/mcp-aql/found-AQL-6.4-1.json";
    let signed = fs::read_to_string(traces().join(name)).expect("a run");
    let kept = signed.replace("\"signs\": true", "\"signs\": false");
    let steps = |run: &str| load(run.as_bytes(), name)[0].steps.clone();
    assert_ne!(steps(&signed), steps(&kept));
}

/// What a person is asked can be read on a terminal of any width: a long token stands behind it and is cut within, no line is wider
/// than the terminal, and a wide one is used.
#[test]
fn a_terminal_of_any_width_shows_what_is_asked() {
    let folder = folder();
    let token = format!("rpl_{}", "0123456789abcdef".repeat(2));
    let stream = fs::read_to_string(traces().join(REJECTED)).expect("a stream");
    let stream = stream.replace("rpl_q1", &token);
    let name = file(&folder, "tokens.jsonl", &stream);
    for (columns, most) in [(60, 60), (80, 80), (100, 100), (200, 160)] {
        let output = countersign(&["show", &name])
            .env("COLUMNS", columns.to_string())
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let widest = text.lines().map(words::width).max().expect("lines");
        assert!(widest <= most && widest > most - 20, "{widest}\n{text}");
        let flat = text.replace('│', " ");
        let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
        let asked =
            "asks (default reject, 60 s, high risk, irreversible): “Send the email” as rpl_01234";
        assert!(flat.contains(asked), "{columns}\n{text}");
        let answered = text.lines().find(|it| it.contains(" 5  ")).expect("line 5");
        assert!(answered.contains("reject"), "{text}");
        assert!(flat.contains("89abcdef: pending → rejected"), "{text}");
    }
}

/// Two producers whose names begin alike have heads that differ, whatever is cut.
#[test]
fn producers_with_the_same_long_beginning_are_told_apart() {
    let folder = folder();
    let stream = fs::read_to_string(traces().join(REJECTED)).expect("a stream");
    let of = |which: &str| {
        let name = format!("internationalisation-of-payments-and-of-all-other-agents-{which}");
        let stream = stream.replace("agent-1", &name);
        stream
            .replace("sess_a1", which)
            .replace("rpl_q1", &format!("rpl_{which}"))
    };
    let name = file(&folder, "two.jsonl", of("eu") + &of("us"));
    for format in ["text", "mermaid", "svg"] {
        let drawn = printed(&["show", &name, "--format", format]);
        let cut = drawn.contains('…') || drawn.contains("#8230;");
        assert!(
            cut && drawn.contains("nts-eu") && drawn.contains("nts-us"),
            "{format}: {drawn}"
        );
    }
}

/// An output that is the last says what it says; on the page nothing is cut without a sign, and the heads of lanes stay in view.
#[test]
fn an_output_that_is_the_last_is_drawn_with_its_text_and_the_page_cuts_nothing_silently() {
    let folder = folder();
    let output = |complete: bool, chunk: &str| {
        let record = json!({ "type": "aaep:agent.output.streaming", "session_id": "s", "chunk": chunk, "complete": complete });
        format!("{record}\n")
    };
    let stream = output(false, "One.") + &output(true, "Two.") + &output(true, "");
    let name = file(&folder, "outputs.jsonl", stream);
    let run = printed(&["show", &name, "--format", "json"]);
    let texts: Vec<_> = steps(&run).iter().map(|it| it["text"].clone()).collect();
    assert_eq!(
        texts,
        ["says: “One.”", "says: “Two.”, and no more", "says no more"]
    );
    let page = printed(&["show", &name, "--format", "html"]);
    assert!(page.contains(".run .badge{white-space:normal}"));
    assert!(page.contains("-webkit-line-clamp:3;line-height:1.3}"));
    assert!(page.contains("{.run thead{top:calc(var(--panel,0px) + .5rem)}}"));
}

// What a file is taken for.

#[test]
fn a_divergence_names_its_clause_and_both_sides() {
    let folder = folder();
    let steps = json!([{ "at": "t=0", "actor": "network", "to": "producer", "action": "accept(c1) arrives",
        "changes": ["c1: pending → accepted", "out: perform(c1)"], "n": 1, "bad": true, "text": "" }]);
    let divergence = json!({ "protocols": [{ "protocol": "aaep", "divergences": [
        { "clause": "AAEP-6.3.5-1", "steps": steps, "expected": "nothing", "actual": "perform(c1)" }] }] });
    let name = file(&folder, "verify.json", divergence.to_string());
    countersign(&["show", &name])
        .assert()
        .success()
        .stdout(contains("divergence, AAEP-6.3.5-1"))
        .stdout(contains("expected nothing; seen perform(c1)"))
        .stdout(contains("c1: pending → accepted"));
}

#[test]
fn one_of_many_runs_is_chosen_by_its_number_and_the_others_are_named() {
    let folder = folder();
    let found = counterexample(&folder);
    let first = printed(&["show", &found]);
    assert!(
        first.contains("--run 2 draws ") && !first.contains("--run 1 draws"),
        "{first}"
    );
    let second = printed(&["show", &found, "--run", "2"]);
    assert!(second.contains("--run 1 draws "), "{second}");
    for number in ["0", "99"] {
        let there_is_none = contains(format!("there is no run {number}"));
        countersign(&["show", &found, "--run", number])
            .assert()
            .code(2)
            .stderr(there_is_none);
    }
}

#[test]
fn one_session_of_a_stream_is_drawn_with_its_replies() {
    let folder = folder();
    let one = fs::read_to_string(traces().join(REJECTED)).expect("a stream");
    let other = one
        .replace("sess_a1", "sess_b2")
        .replace("rpl_q1", "rpl_q2")
        .replace("\"evt_", "\"evt_b");
    let name = file(&folder, "two.jsonl", one + &other);
    let both = printed(&["show", &name, "--format", "json"]);
    assert_eq!(steps(&both).len(), 20);
    assert!(both.contains("[sess_b2] starts the session"), "{both}");
    let alone = printed(&["show", &name, "--session", "sess_b2", "--format", "json"]);
    let lines: Vec<Value> = steps(&alone)
        .iter()
        .map(|step| step["line"].clone())
        .collect();
    assert_eq!(lines, (11..=20).map(Value::from).collect::<Vec<_>>());
    assert!(
        alone.contains("reject rpl_q2") && !alone.contains("rpl_q1"),
        "{alone}"
    );
    let nobody = countersign(&["show", &name, "--session", "sess_c3"]).assert();
    nobody
        .code(2)
        .stderr(contains("no record belongs to session \"sess_c3\""));
}

fn steps(document: &str) -> Vec<Value> {
    let mut document: Value = serde_json::from_str(document).expect("JSON");
    serde_json::from_value(document["steps"].take()).expect("steps")
}

#[test]
fn a_stream_is_drawn_up_to_its_limit_and_refused_beyond_it() {
    const MOST: usize = 100_000;
    for (lines, drawn) in [(MOST - 1, true), (MOST, true), (MOST + 1, false)] {
        let stream = "{\"type\":\"aaep:x\"}\n".repeat(lines);
        match load::runs(stream.as_bytes(), "long", Selection::default()) {
            Ok(runs) => assert!(drawn && runs[0].steps.len() == lines),
            Err(error) => {
                let hint = error.to_string();
                assert!(
                    !drawn && hint.contains("--session ID draws one session"),
                    "{hint}"
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_with_its_place() {
    let folder = folder();
    for (content, complaint) in [
        (&b"hello\nworld\n"[..], ":1:1: neither a run that"),
        (b"[1, 2]", ": neither a run that"),
        (
            b"{\"protocol\": \"aaep\",\n \"properties\": [",
            ":2:16: neither a run that",
        ),
        (
            b"{\"protocol\": \"aaep\", \"properties\": []}",
            "it holds no run",
        ),
        (
            b"{\"steps\": [{\"n\": 1}]}",
            "step 1 of a run: missing field `at`",
        ),
        (
            b"{\"shows\": \"x\", \"protocol\": \"none\", \"steps\": []}",
            "no protocol is called \"none\"",
        ),
    ] {
        let name = file(&folder, "input", content);
        let refused = countersign(&["show", &name]).assert();
        refused
            .code(2)
            .stdout("")
            .stderr(contains(complaint).and(starts_with(format!("error: {name}"))));
    }
    countersign(&["show", "nowhere.jsonl"])
        .assert()
        .code(2)
        .stderr(contains("cannot read nowhere.jsonl"));
}

#[test]
fn a_stream_of_one_record_and_one_with_broken_lines_are_streams() {
    let folder = folder();
    let record = fs::read_to_string(traces().join(REJECTED)).expect("a stream");
    let first = record.lines().next().expect("a record");
    let name = file(&folder, "one.jsonl", first);
    assert_eq!(
        steps(&printed(&["show", &name, "--format", "json"])).len(),
        1
    );
    let broken = [b"\xff\xfe\n{\n", first.as_bytes(), b"\n\n[]"].concat();
    let name = file(&folder, "broken.jsonl", broken);
    let text = printed(&["show", &name]);
    assert!(
        text.contains("✗   1 ") && text.contains("a line that is no record"),
        "{text}"
    );
    assert_eq!(
        steps(&printed(&["show", &name, "--format", "json"])).len(),
        4
    );
}

#[test]
fn a_drawing_goes_to_the_file_that_is_named_and_reads_standard_input() {
    let folder = folder();
    let out = folder.path().join("run.svg").display().to_string();
    let stream = fs::read(traces().join(REJECTED)).expect("a stream");
    countersign(&["show", "-", "--format", "svg", "--out", &out])
        .write_stdin(stream)
        .assert()
        .success()
        .stdout(format!("{out}: recorded stream of 10 steps\n"));
    assert!(
        fs::read_to_string(&out)
            .expect("a picture")
            .starts_with("<svg ")
    );
}

#[test]
fn a_drawing_does_not_take_the_place_of_what_is_drawn() {
    let folder = folder();
    let stream = fs::read(traces().join(REJECTED)).expect("a stream");
    let name = file(&folder, "only.jsonl", &stream);
    let again = folder.path().join("./only.jsonl").display().to_string();
    countersign(&["show", &name, "--out", &again])
        .assert()
        .code(2)
        .stderr(contains("it would be lost"));
    assert_eq!(fs::read(&name).expect("the stream"), stream);
}

#[test]
fn only_show_draws() {
    for format in ["mermaid", "svg", "html"] {
        let refused = countersign(&["clauses", "--format", format]).assert();
        refused
            .code(2)
            .stdout("")
            .stderr(contains("[possible values: text, json]"));
    }
}

/// A consequence stands where it happened, says what it follows from, and is listed with the rest.
#[test]
fn the_consequences_of_a_finding_are_drawn() {
    let stream = traces().join("several/a22-two-calls-and-the-wrong-token.jsonl");
    let stream = stream.to_str().expect("plain text");
    let text = printed(&["show", stream]);
    let line = text
        .lines()
        .find(|it| it.contains("consequence AAEP-6.1-1"));
    assert!(
        line.is_some() && text.contains("it follows from the fault on line"),
        "{text}"
    );
    let run: Value =
        serde_json::from_str(&printed(&["show", stream, "--format", "json"])).expect("JSON");
    let findings = run["findings"].as_array().expect("findings");
    let weights: Vec<&str> = findings
        .iter()
        .filter_map(|it| it["weight"].as_str())
        .collect();
    assert!(
        weights.contains(&"violation") && weights.contains(&"consequence"),
        "{weights:?}"
    );
    let consequence = findings
        .iter()
        .find(|it| it["weight"] == "consequence")
        .expect("one");
    let step = usize::try_from(consequence["step"].as_u64().expect("a step")).expect("small");
    assert_eq!(run["steps"][step]["line"], 9);
    let page = printed(&["show", stream, "--format", "html"]);
    assert!(
        page.contains("li class=\"consequence\""),
        "the page lists it"
    );
}

/// What is empty ends as `lint` ends it; text in UTF-16 is called that; a session that is not there is told with those that are.
#[test]
fn what_cannot_be_drawn_says_what_to_do() {
    let folder = folder();
    for content in ["", "\n\n"] {
        let path = file(&folder, "empty.jsonl", content);
        for command in ["show", "lint"] {
            countersign(&[command, &path]).assert().code(3);
        }
        countersign(&["show", &path, "--format", "svg"])
            .assert()
            .code(3)
            .stdout("")
            .stderr(contains("nothing to draw"));
    }
    let line = "{\"type\":\"aaep:agent.session.started\",\"session_id\":\"a\"}\n";
    let units = |order: fn(u16) -> [u8; 2], mark: &str| {
        let text = format!("{mark}{line}");
        text.encode_utf16().flat_map(order).collect::<Vec<u8>>()
    };
    for bytes in [
        units(u16::to_le_bytes, "\u{FEFF}"),
        units(u16::to_be_bytes, "\u{FEFF}"),
        units(u16::to_le_bytes, ""),
        units(u16::to_be_bytes, ""),
    ] {
        let path = file(&folder, "wide.jsonl", bytes);
        for command in ["show", "lint"] {
            countersign(&[command, &path])
                .assert()
                .code(2)
                .stderr(contains("text in UTF-16").and(contains("iconv -f UTF-16")));
        }
    }
    let event = |session: u32| line.replace("\"a\"", &format!("\"sess_{session}\""));
    let many = file(&folder, "many.jsonl", (0..7).map(event).collect::<String>());
    let refused = |more: &[&str]| {
        let arguments = [&["show", &*many, "--session", "nope"][..], more].concat();
        let output = countersign(&arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let told = refused(&[]);
    assert!(
        told.contains("\"sess_0\", \"sess_1\"") && told.contains("and 2 more"),
        "{told}"
    );
    let redacted = refused(&["--redact"]);
    assert!(
        redacted.contains("it has 7 others") && !redacted.contains("sess_"),
        "{redacted}"
    );
}
