//! What foreign text can do in a drawing, and what of it is not passed on.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use countersign_cli::show::Drawing;
use countersign_cli::show::stream::Selection;
use countersign_cli::show::words;
use predicates::prelude::PredicateBooleanExt as _;
use predicates::str::contains;
use serde_json::{Value, json};

use super::{DRAWINGS, REJECTED, countersign, elements, file, folder, load, printed, traces};

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

/// AAEP-A.6-2: what the linter takes for a record, half a character and all, is drawn as one.
#[test]
fn a_record_with_half_a_character_is_drawn_as_the_record_that_it_is() {
    let stream = fs::read_to_string(traces().join(REJECTED)).expect("a stream");
    let halved = stream.replace("\"action\": \"", "\"action\": \"\\ud83d");
    assert_ne!(halved, stream);
    let [run] = &*load(halved.as_bytes(), "halved") else {
        panic!("one session")
    };
    let asks = run
        .steps
        .iter()
        .filter(|step| step.text.contains('\u{FFFD}'));
    assert_eq!(asks.count(), 1, "{run:#?}");
    assert!(!run.steps.iter().any(|step| step.text.contains("no record")));
    assert_eq!(run.verdict, load(stream.as_bytes(), "halved")[0].verdict);
}

#[test]
fn nothing_invisible_and_nothing_for_the_terminal_is_left_in_any_format() {
    let name = "send\u{200B}_\u{FEFF}e\u{AD}m\u{2028}a\u{E0041}il\u{2066}\u{9B}31m\u{7F}";
    let stream = hostile_stream().replace("</script>", name);
    let runs = load(stream.as_bytes(), name);
    for format in DRAWINGS {
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
    let run = "kept/aaep/AAEP-6.3.4-3_memory-of-two-tokens.json";
    countersign(&["show", run, "--redact"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("only a recorded stream of AAEP can be redacted"));
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

/// AAEP-A.8-5: in whatever envelope a stream comes, each message is a step, and the fault is drawn on the line where it stands.
#[test]
fn a_stream_in_an_envelope_is_drawn_where_its_messages_stand() {
    let text = fs::read_to_string(traces().join(REJECTED)).expect("a stream");
    let lines: Vec<&str> = text.lines().collect();
    let records: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    let each = |wrapped: &dyn Fn(&str) -> String| lines.iter().map(|line| wrapped(line)).collect();
    let docker = |line: &str| {
        let time = "2026-05-24T14:22:21Z";
        let log = json!({ "log": format!("{line}\n"), "stream": "stdout", "time": time });
        format!("{log}\n")
    };
    let pretty = serde_json::to_string_pretty(&records).expect("plain data");
    let begin: Vec<usize> = (1..)
        .zip(pretty.lines())
        .filter_map(|(number, line)| line.starts_with("  {").then_some(number))
        .collect();
    let envelopes: [(String, usize); 4] = [
        (json!(records).to_string(), 1),
        (pretty.clone(), begin[6]),
        (each(&|line| format!("data: {line}\n\n")), 13),
        (each(&docker), 7),
    ];
    for (content, line) in envelopes {
        let run = &load(content.as_bytes(), "envelope")[0];
        assert_eq!(run.steps.len(), 10, "{content}");
        let [finding] = run.findings.as_slice() else {
            panic!("{:?}", run.findings)
        };
        assert_eq!((finding.clause.as_str(), finding.step), ("AAEP-A.8-5", 6));
        assert_eq!(run.steps[6].line, Some(line as u64), "{content}");
    }
}

/// AQL-1.2-1, PA-10: of the other two protocols a transcript is drawn, with what was found on the line of the response.
#[test]
fn a_transcript_is_drawn_with_what_is_wrong_about_it() {
    for name in [
        "transcripts/pending-action/invalid/PA-10_decision-of-another-name-told.jsonl",
        "transcripts/mcp-aql-entries/invalid/AQL-4.1-4_taken-for-another-operation.jsonl",
    ] {
        let run = &load(&fs::read(traces().join(name)).expect("a transcript"), name)[0];
        let clause = name.rsplit('/').next().and_then(|it| it.split('_').next());
        let found: Vec<_> = run.findings.iter().map(|it| it.clause.as_str()).collect();
        assert_eq!(found, [clause.expect("a clause")], "{name}");
        assert!(run.verdict.starts_with("violating"), "{}", run.verdict);
        assert!(printed(&["show", name]).contains('✗'));
    }
    let name = "transcripts/pending-action/invalid/PA-10_decision-of-another-name-told.jsonl";
    let text = printed(&["show", name]);
    for told in ["decide action_id=pa_one", "decision=allow by=bob"] {
        assert!(text.contains(told), "{told}: {text}");
    }
}

#[test]
fn what_is_something_else_is_told_with_what_to_do() {
    let folder = folder();
    let rpc = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    for (name, content, said) in [
        (
            "a.py",
            &b"import json\nprint('aaep:')\n"[..],
            "a program in Python",
        ),
        ("rpc.jsonl", rpc, "JSON-RPC, which is another protocol"),
    ] {
        let name = file(&folder, name, content);
        let refused = countersign(&["show", &name]).assert().code(2).stdout("");
        refused.stderr(contains(said).and(contains("Say --from NAME")));
    }
}
