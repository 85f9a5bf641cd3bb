//! `show`, `explore` and `report` as their users meet them: what a file is taken for, what each format looks like, and what
//! foreign text can do in it.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use assert_cmd::Command;
use countersign_spec_trace::show::command::Drawing;
use countersign_spec_trace::show::run::{Run, Weight};
use countersign_spec_trace::show::stream::Selection;
use countersign_spec_trace::show::{load, words};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};
use serde_json::{Value, json};
use tempfile::TempDir;

fn countersign(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("countersign").expect("the binary is built");
    // From the folder of the streams, so that no path of this machine is in what is printed.
    command.current_dir(traces()).args(arguments);
    command
}

fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("traces")
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
        "--save",
        &path,
    ];
    countersign(&check).assert().code(1);
    path
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
    insta::assert_snapshot!(printed(&["show", &found, "--run", "6"]));
}

#[test]
fn a_kept_run_in_the_terminal() {
    insta::assert_snapshot!(printed(&[
        "show",
        "runs/mcp-aql/two-calls-race-for-one-use.json"
    ]));
}

#[test]
fn every_stream_and_kept_run_is_drawn_in_every_format_within_its_columns() {
    let mut drawn = 0;
    for folder in [
        "invalid",
        "valid",
        "runs/aaep",
        "runs/mcp-aql",
        "runs/pending-action",
    ] {
        for entry in fs::read_dir(traces().join(folder)).expect("a folder") {
            let name = entry.expect("an entry").path().display().to_string();
            let bytes = fs::read(&name).expect("a file");
            let runs = load(&bytes, &name);
            for format in [
                Drawing::Text,
                Drawing::Json,
                Drawing::Mermaid,
                Drawing::Svg,
                Drawing::Html,
            ] {
                let picture = format.of(&runs[0]);
                assert!(!picture.is_empty());
                if format == Drawing::Text {
                    let widest = picture.lines().map(words::width).max();
                    assert!(widest <= Some(100), "{name}: {widest:?}");
                }
                if format == Drawing::Svg {
                    roxmltree::Document::parse(&picture)
                        .unwrap_or_else(|error| panic!("{name}: {error}"));
                }
            }
            drawn += 1;
        }
    }
    assert!(drawn > 90, "{drawn}");
}

fn load(bytes: &[u8], name: &str) -> Vec<Run> {
    load::runs(bytes, name, Selection::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_picture_has_a_title_a_description_and_both_colours() {
    let picture = printed(&["show", REJECTED, "--format", "svg"]);
    let document = roxmltree::Document::parse(&picture).expect("well-formed");
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    let child = |name| {
        root.children()
            .find(|child| child.has_tag_name(("http://www.w3.org/2000/svg", name)))
    };
    assert_eq!(
        child("title").and_then(|title| title.text()),
        Some(REJECTED)
    );
    assert!(child("desc").is_some() && picture.contains("prefers-color-scheme:dark"));
    let outside = document
        .descendants()
        .flat_map(|node| node.attributes())
        .filter(|it| it.value().contains("//"));
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
        let stream = "{\"type\":\"x\"}\n".repeat(lines);
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
        (&b""[..], ":1:0: neither a recorded stream"),
        (b"hello\nworld\n", ":1:1: neither a recorded stream"),
        (b"[1, 2]", ": neither a recorded stream"),
        (b"{\"protocol\": \"aaep\",\n \"properties\": [", ":2:16: neither a recorded stream"),
        (b"{\"protocol\": \"aaep\", \"properties\": []}", "it holds no run"),
        (b"{\"steps\": [{\"n\": 1}]}", "step 1 of a run: missing field `at`"),
        (b"{\"shows\": \"x\", \"protocol\": \"none\", \"bounds\": \"far\", \"steps\": []}", "no protocol is called \"none\""),
        (b"{\"shows\": \"x\", \"protocol\": \"aaep\", \"bounds\": \"far\", \"steps\": [\"Fly\"]}", "step 1 is not possible there: Fly"),
        (b"{\"shows\": \"x\", \"protocol\": \"aaep\", \"bounds\": \"wide\", \"steps\": []}", "wide"),
    ] {
        let name = file(&folder, "input", content);
        let refused = countersign(&["show", &name]).assert();
        refused.code(2).stdout("").stderr(contains(complaint).and(starts_with(format!("error: {name}"))));
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
            .stderr(contains("is not for this command"));
    }
}

// What foreign text can do.

/// Text that means something to each of the formats.
const HOSTILE: &str =
    "</script><img src=x onerror=a()>]]>\u{202E}\u{1b}[2J\0end\nNote over p0: 日本語%%;#<&\"'";

fn hostile_stream() -> String {
    let stream = fs::read_to_string(traces().join(REJECTED)).expect("a stream");
    let mut hostile = String::new();
    for line in stream.lines() {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        for name in ["tool", "from_state", "to_state", "action", "decision"] {
            if record.get(name).is_some() {
                record[name] = json!(HOSTILE);
            }
        }
        record["producer"] = json!({ "agent_id": HOSTILE });
        let _ = writeln!(hostile, "{record}");
    }
    hostile + HOSTILE
}

#[test]
fn hostile_text_stays_text_in_every_format() {
    let runs = load(hostile_stream().as_bytes(), HOSTILE);
    let text = Drawing::Text.of(&runs[0]);
    assert!(!text.contains(['\u{1b}', '\0', '\u{202E}']), "{text:?}");
    assert!(text.lines().all(|line| words::width(line) <= 100), "{text}");

    let picture = Drawing::Svg.of(&runs[0]);
    let document = roxmltree::Document::parse(&picture).expect("well-formed");
    let known = [
        "svg", "title", "desc", "style", "rect", "line", "text", "g", "path", "circle",
    ];
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(
            known.contains(&node.tag_name().name()),
            "{:?}",
            node.tag_name()
        );
    }

    let page = Drawing::Html.of(&runs[0]);
    assert!(!page.contains("<img") && !page.contains(['\u{1b}', '\0', '\u{202E}']));
    assert_eq!(page.matches("</script>").count(), 2, "the data's and ours");

    let mermaid = Drawing::Mermaid.of(&runs[0]);
    for line in mermaid.lines().skip(1) {
        let line = line.trim_start();
        let is_known = line.starts_with("acc")
            || line.starts_with("participant p")
            || line.starts_with("Note over p")
            || line.starts_with('p');
        assert!(is_known, "{line}");
        let said = line.split_once(": ").map_or("", |(_, said)| said);
        let said = said.replace("<br/>", " ");
        assert!(!said.contains(['<', '>', '%', '"', '{']), "{said}");
        assert!(!said.split(' ').any(|word| word == "end"), "{said}");
        let escapes = said.matches('#').count();
        assert_eq!(
            said.matches(';').count(),
            escapes,
            "each number sign begins a number: {said}"
        );
    }
}

#[test]
fn nothing_invisible_and_nothing_for_the_terminal_is_left_in_any_format() {
    let name = "send\u{200B}_\u{FEFF}e\u{AD}m\u{2028}a\u{E0041}il\u{2066}\u{9B}31m\u{7F}";
    let stream = hostile_stream().replace("</script>", name);
    let runs = load(stream.as_bytes(), name);
    for format in [
        Drawing::Text,
        Drawing::Json,
        Drawing::Mermaid,
        Drawing::Svg,
        Drawing::Html,
    ] {
        let drawn = format.of(&runs[0]);
        let hidden: Vec<char> = drawn
            .chars()
            .filter(|character| *character != '\n')
            .filter(|character| {
                character.is_control() || name.contains(*character) && !character.is_ascii()
            })
            .collect();
        assert!(hidden.is_empty(), "{format:?}: {hidden:?}");
    }
}

#[test]
fn what_a_name_of_a_file_or_an_id_says_to_a_terminal_is_not_passed_on() {
    let folder = folder();
    let stream = fs::read(traces().join(REJECTED)).expect("a stream");
    let hostile = file(&folder, "evil\u{1b}[31m.jsonl", &stream);
    let nothing = file(&folder, "empty\u{1b}[31m.jsonl", "");
    let out = folder.path().join("out\u{1b}[31m").display().to_string();
    for arguments in [
        &["show", &hostile][..],
        &["show", &hostile, "--out", &out],
        &["show", &hostile, "--session", "\u{1b}[31m"],
        &["show", &nothing],
        &["show", "no\u{1b}[31m"],
        &["clauses", "no\u{1b}[31m"],
        &["report", "--out", &out],
        &["report", "--out", &format!("{out}s")],
    ] {
        let output = countersign(arguments).output().expect("the command runs");
        for bytes in [&output.stdout, &output.stderr] {
            assert!(
                !bytes.contains(&0x1b),
                "{arguments:?}: {}",
                String::from_utf8_lossy(bytes)
            );
        }
    }
}

#[test]
fn a_producer_cannot_pass_for_the_subscriber_and_a_broken_line_is_nobodys() {
    let stream = fs::read_to_string(traces().join(REJECTED)).expect("a stream");
    for name in ["subscriber", "tools", "unknown", " ", "subscriber\u{200B}"] {
        let stream = stream.replace("\"agent-1\"", &format!("\"{name}\"")) + "{";
        let run = &load(stream.as_bytes(), "posing")[0];
        let who = |step: usize| run.participants[run.steps[step].from].as_str();
        assert!(
            who(0).starts_with("agent “") || who(0).contains('\u{FFFD}'),
            "{name:?}: {}",
            who(0)
        );
        assert_eq!(who(4), "subscriber", "the reply is still the subscriber's");
        assert_eq!(who(7), "tools", "the end of the tool is still the tools'");
        assert_eq!(who(10), "unknown", "a line that is cut off");
    }
}

// What must not be passed on.

/// The text of every field that `stream` has, with something private in it.
fn private_stream() -> String {
    let stream = fs::read_to_string(traces().join(REJECTED)).expect("a stream");
    let told = hidden(
        &[
            "summary_normal",
            "action",
            "consequence",
            "request_text",
            "tool",
            "decided_by",
        ],
        &stream,
    );
    let named = told
        .replace("sess_a1", "sess_PRIVATE")
        .replace("rpl_q1", "rpl_PRIVATE")
        .replace("agent-1", "agent-PRIVATE")
        .replace("\"evt_", "\"evt_PRIVATE");
    let foreign = named.lines().next().expect("a record");
    let foreign = foreign.replace("aaep:agent.session.started", "aaep:agent.PRIVATE");
    let state = named
        .lines()
        .nth(1)
        .expect("a change")
        .replace("thinking", "PRIVATE");
    let odd = r#"{"type":"aaep:agent.tool.invoked","timestamp":"0000-00-00T4111 PRIVATE","session_id":"PRIVATE","tool":["PRIVATE"],"irreversible":"PRIVATE"}"#;
    let unknown = r#"{"type":"confirmation.reply","reply_token":"tok_PRIVATE","decision":"PRIVATE","subscription_id":"PRIVATE"}"#;
    format!("{named}{foreign}\n{state}\n{odd}\n{unknown}\nPRIVATE\n\"PRIVATE\"\n")
}

/// The records with something private in these fields, where they have them, and in a field of their own.
fn hidden(fields: &[&str], stream: &str) -> String {
    let mut told = String::new();
    for line in stream.lines() {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        for name in fields {
            if record.get(name).is_some() {
                record[name] = json!("a PRIVATE matter");
            }
        }
        // To a reply nothing may be added, or it would be ignored.
        if record.get("event_id").is_some() {
            record["x_own"] = json!({ "PRIVATE": ["PRIVATE"] });
        }
        let _ = writeln!(told, "{record}");
    }
    told
}

#[test]
fn a_redacted_stream_quotes_nothing_in_any_format_and_still_shows_what_happened() {
    let folder = folder();
    let name = file(&folder, "private.jsonl", private_stream());
    for format in ["text", "json", "mermaid", "svg", "html"] {
        let plain = printed(&["show", &name, "--format", format]);
        assert!(
            plain.contains("PRIVATE"),
            "{format}: there is something to keep back"
        );
        let redacted = printed(&["show", &name, "--format", format, "--redact"]);
        assert!(
            !redacted.contains("PRIVATE") && !redacted.contains("4111"),
            "{redacted}"
        );
        let session = ["--session", "sess_PRIVATE"];
        let alone = printed(
            &[
                &["show", &name, "--format", format, "--redact"][..],
                &session,
            ]
            .concat(),
        );
        assert!(!alone.contains("PRIVATE"), "{format}: {alone}");
    }
    let text = printed(&["show", &name, "--redact", "--session", "sess_PRIVATE"]);
    for kept in [
        "agent 1",
        "awaiting_input → thinking",
        "calls tool 1, irreversible",
        "question 1: pending → rejected",
        "14:22:21.600",
        "MUST: A conformance test notices",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn what_is_no_stream_cannot_be_redacted() {
    let run = "runs/mcp-aql/two-calls-race-for-one-use.json";
    countersign(&["show", run, "--redact"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("only a recorded stream can be redacted"));
}

#[test]
fn what_holds_too_much_is_refused_before_it_fills_the_memory() {
    let folder = folder();
    let path = folder.path().join("bomb.jsonl.gz");
    let out = fs::File::create(&path).expect("a file");
    let mut bomb = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
    let line = format!("{{\"type\":\"x\"}}{}\n", " ".repeat((1 << 20) - 13));
    for _ in 0..256 {
        bomb.write_all(line.as_bytes()).expect("it is written");
    }
    bomb.write_all(b"\n").expect("it is written");
    bomb.finish().expect("it is written");
    countersign(&["show", &path.display().to_string()])
        .assert()
        .code(2)
        .stderr(contains("holds more than 256 MiB"));
}

#[test]
fn a_document_of_more_steps_than_anyone_looks_at_is_refused() {
    let step = json!({ "at": "t=0", "actor": "a", "action": "x" });
    for (count, drawn) in [(9_999, true), (10_000, true), (10_001, false)] {
        let document = json!({ "name": "long", "steps": vec![step.clone(); count] }).to_string();
        let runs = load::runs(document.as_bytes(), "long", Selection::default());
        assert_eq!(runs.is_ok(), drawn, "{count}");
    }
}

#[test]
fn clause_ids_of_a_foreign_document_are_text() {
    let folder = folder();
    let step = json!({ "at": "t=0", "actor": "a", "action": "x" });
    let clauses = ["NO-1\u{202E}", "NO-2\u{202E}\u{1b}"];
    let document = json!({ "name": "foreign", "clauses": clauses, "steps": [step] });
    let name = file(&folder, "foreign.json", document.to_string());
    for format in ["text", "json", "mermaid", "svg", "html"] {
        let drawn = printed(&["show", &name, "--format", format]);
        assert!(
            !drawn.contains(['\u{202E}', '\u{1b}']),
            "{format}: {drawn:?}"
        );
    }
    let page = printed(&["show", &name, "--format", "html"]);
    assert!(
        !page.contains("href=\"#clause-NO-1"),
        "there is nothing to lead to"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut process = std::process::Command::new(assert_cmd::cargo::cargo_bin!("countersign"))
        .args(["show", "-", "--format", "html"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(process.stdout.take());
    let mut stdin = process.stdin.take().expect("a pipe");
    let stream = fs::read(traces().join(REJECTED)).expect("a stream");
    stdin.write_all(&stream).expect("it reads");
    drop(stdin);
    let output = process.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn kept_runs_of_pending_actions_are_drawn_as_far_as_they_go() {
    let text = printed(&[
        "show",
        "runs/pending-action/runs-again-and-is-withdrawn.json",
    ]);
    for told in [
        "pending-action, far bounds",
        "an idempotent call that had run before a crash",
        "session A",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
}

// The explorer.

/// The Explorer of a protocol on a free port; it ends with this value.
struct Explorer {
    process: Child,
    address: String,
    command: String,
}

impl Explorer {
    fn of(arguments: &[&str]) -> Self {
        let mut process = std::process::Command::new(assert_cmd::cargo::cargo_bin!("countersign"))
            .arg("explore")
            .args(arguments)
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let (command, rest) = line.split_once(" at http://").expect("where it is");
        let address = rest.split('/').next().expect("an address").to_owned();
        let command = command.to_owned();
        Self {
            process,
            address,
            command,
        }
    }

    /// The body of what it answers; it may not listen yet.
    fn get(&self, path: &str) -> String {
        let mut tries = 0;
        let mut stream = loop {
            match TcpStream::connect(&self.address) {
                Ok(stream) => break stream,
                Err(error) if tries == 100 => panic!("{error}"),
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(50)),
            }
            tries += 1;
        };
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        body.to_owned()
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn every_protocol_is_explored_in_words_and_pictures() {
    for (protocol, word) in [
        ("aaep", "asks in session A: c1"),
        ("mcp-aql", "configures a tolerance of 0"),
        ("pending-action", "proposes"),
    ] {
        let explorer = Explorer::of(&[protocol, "--bounds", "small"]);
        assert_eq!(
            explorer.command,
            format!("countersign explore {protocol} --bounds small")
        );
        assert!(explorer.get("/").contains("Stateright Explorer"));
        let start: Value = serde_json::from_str(&explorer.get("/.states/")).expect("JSON");
        assert_eq!(start[0]["state"], "as at the start");
        let index = start[0]["actionIndex"].as_u64().expect("an index");
        let next: Value =
            serde_json::from_str(&explorer.get(&format!("/.states/{index}"))).expect("JSON");
        let next = next.as_array().expect("a list");
        let told = next.iter().find(|step| {
            step["action"]
                .as_str()
                .is_some_and(|action| action.contains(word))
        });
        let told = told.unwrap_or_else(|| panic!("{protocol}: {next:?}"));
        let picture = told["svg"].as_str().expect("a picture");
        roxmltree::Document::parse(picture).expect("well-formed");
        assert!(picture.contains(word), "{picture}");
    }
}

#[test]
fn what_there_is_not_to_explore_is_refused() {
    for (arguments, complaint) in [
        (
            &["explore", "nope"][..],
            "possible values: aaep, mcp-aql, pending-action",
        ),
        (
            &["explore", "aaep", "--bounds", "nope"],
            "unknown bounds `nope`",
        ),
        (
            &["explore", "aaep", "--port", "65536"],
            "65536 is not in 0..=65535",
        ),
        (
            &["explore", "aaep", "--format", "svg"],
            "is not for this command",
        ),
    ] {
        countersign(arguments)
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(complaint));
    }
}

#[test]
fn a_port_that_is_in_use_is_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let refused = countersign(&["explore", "aaep", "--bounds", "small", "--port", &port]).assert();
    refused
        .code(2)
        .stdout("")
        .stderr(contains(format!("cannot listen on port {port}: ")));
}

// The report.

#[test]
fn the_report_has_every_clause_with_its_links_and_is_the_same_again() {
    let (one, other) = (folder(), folder());
    for folder in [&one, &other] {
        let out = folder.path().join("made/for/it").display().to_string();
        countersign(&["report", "--out", &out])
            .assert()
            .success()
            .stdout(contains("257 clauses: "));
    }
    let read = |folder: &TempDir, name: &str| {
        fs::read_to_string(folder.path().join("made/for/it").join(name)).expect("a file")
    };
    for name in ["index.html", "report.json"] {
        assert_eq!(read(&one, name), read(&other, name), "{name}");
    }
    let document: Value = serde_json::from_str(&read(&one, "report.json")).expect("JSON");
    let clauses = document["clauses"].as_array().expect("a list");
    let listed: Value =
        serde_json::from_str(&printed(&["clauses", "--format", "json"])).expect("JSON");
    assert_eq!(&document["clauses"], &listed, "the same as `clauses` lists");
    assert_eq!(document["totals"]["clauses"], clauses.len());
    let of_documents = document["documents"].as_array().expect("a list").iter();
    let sum: u64 = of_documents
        .map(|document| document["totals"]["clauses"].as_u64().expect("a count"))
        .sum();
    assert_eq!(sum, clauses.len() as u64);
    let page = read(&one, "index.html");
    for clause in clauses {
        let id = clause["id"].as_str().expect("an id");
        assert_eq!(
            page.matches(&format!(" id=\"{id}\" data-level=")).count(),
            1,
            "{id}"
        );
    }
    let fuzzed = clauses.iter().filter(|clause| {
        let links = clause["links"].as_array().expect("a list");
        links.iter().any(|link| link["kind"] == "fuzz")
    });
    assert_eq!(document["totals"]["fuzzed"], fuzzed.count());
    assert!(
        document["totals"]["fuzzed"].as_u64() > Some(100),
        "the runs hold whole protocols"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_said() {
    let folder = folder();
    let name = file(&folder, "file", "");
    countersign(&["report", "--out", &name])
        .assert()
        .code(2)
        .stderr(contains(format!("cannot make {name}")));
}
