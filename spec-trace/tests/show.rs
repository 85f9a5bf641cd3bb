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
use countersign_spec_trace::show::{load, words};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};
use serde_json::{Value, json};
use tempfile::TempDir;
use uppsala::{Document, Element};

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
    for folder in ["invalid", "valid", "runs/aaep", "runs/mcp-aql"] {
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
    load::runs(bytes, name, None).unwrap_or_else(|error| panic!("{error}"))
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
        match load::runs(stream.as_bytes(), "long", None) {
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
    let document = uppsala::parse(&picture).expect("well-formed");
    let known = [
        "svg", "title", "desc", "style", "rect", "line", "text", "g", "path", "circle",
    ];
    for element in elements(&document) {
        let name = &*element.name.local_name;
        assert!(known.contains(&name), "{name}");
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
        uppsala::parse(picture).expect("well-formed");
        assert!(picture.contains(word), "{picture}");
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
        assert!(page.contains(&format!("<tr id=\"{id}\"")), "{id}");
    }
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
