//! `countersign lint` from outside: what it takes, what it leaves out, and what it keeps to itself.

use std::fs;
use std::io::{BufRead as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use countersign_cli::answer::FindingsFormat;
use countersign_cli::commands::lint::{Args, run};
use countersign_cli::findings::text::render_one;
use countersign_cli::terminal::Terminal;
use flate2::Compression;
use flate2::write::GzEncoder;
use predicates::prelude::PredicateBooleanExt as _;
use predicates::str::contains;
use serde_json::{Value, json};

const UNASKED: &str = "AAEP-A.8-4_called-then-asked-then-accepted.jsonl";
const TIMEOUT_OF_ZERO: &str = "AAEP-EV-5_timeout-of-zero.jsonl";
const CONFORMING: &str = "AAEP-A.8-4_asked-then-accepted-then-called.jsonl";

fn lint(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("countersign").expect("the command is built");
    command.arg("lint").args(arguments);
    command
}

fn trace(kind: &str, name: &str) -> PathBuf {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    traces.join(kind).join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in UTF-8")
}

/// What the command says as JSON, and its exit status.
fn json_of(arguments: &[&str]) -> (Value, i32) {
    let output = lint(arguments)
        .args(["--format", "json"])
        .output()
        .expect("the command runs");
    let document = serde_json::from_slice(&output.stdout).expect("a JSON document");
    (document, output.status.code().expect("an exit status"))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// A session that keeps to every rule, or calls an irreversible tool that nobody was asked about.
fn session(id: &str, is_irreversible: bool, minute: u32) -> String {
    let event = |second: u32, kind: &str, more: Value| {
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1",
            "type": format!("aaep:agent.{kind}"),
            "event_id": format!("evt_{id}{second}"),
            "session_id": format!("sess_{id}"),
            "timestamp": format!("2026-05-24T14:{minute:02}:{second:02}Z"),
            "producer": {"agent_id": "agent"},
            "summary_normal": "ok",
        });
        let fields = more.as_object().expect("an object").clone();
        event.as_object_mut().expect("an object").extend(fields);
        format!("{event}\n")
    };
    [
        event(1, "session.started", json!({})),
        event(
            2,
            "state.changed",
            json!({"from_state": "idle", "to_state": "calling_tool"}),
        ),
        event(
            3,
            "tool.invoked",
            json!({"tool": "send", "tool_call_id": "call_1", "irreversible": is_irreversible}),
        ),
        event(
            4,
            "tool.completed",
            json!({"tool": "send", "tool_call_id": "call_1", "status": "success"}),
        ),
        event(5, "session.completed", json!({})),
    ]
    .concat()
}

/// AAEP-A.8-4 and those beside it are of an appendix that calls itself informative; AAEP-6.3.4-4 is not.
#[test]
fn a_message_cites_the_basis_of_a_clause_unless_it_is_normative() {
    lint(&[text(&trace("invalid", UNASKED))])
        .assert()
        .stdout(contains("AAEP-A.8-4 (informative) violated (MUST)\n"))
        .stdout(contains(
            "also breaks: AAEP-A.7.4-1, AAEP-A.8-8 (all informative)\n",
        ));
    // What programs read is the bare id.
    let (document, _) = json_of(&[text(&trace("invalid", UNASKED))]);
    assert_eq!(document["violations"][0]["clause"], "AAEP-A.8-4");
}

// Inputs.

#[test]
fn compressed_streams_are_judged_like_plain_ones_from_a_file_and_from_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = fs::read(trace("invalid", UNASKED)).expect("the stream");
    for bytes in [plain.clone(), gzip(&plain)] {
        let file = folder.path().join("named-as-you-like");
        fs::write(&file, &bytes).expect("a file");
        for command in [
            lint(&[text(&file)]).write_stdin(""),
            lint(&["-"]).write_stdin(bytes),
        ] {
            command
                .assert()
                .code(1)
                .stdout(contains("AAEP-A.8-4 (informative) violated (MUST)"))
                .stdout(contains("10 records"));
        }
    }
}

/// A frame of zstd, or one that decoders skip.
#[test]
fn a_stream_that_is_compressed_with_zstd_is_an_input_error_that_says_what_to_do() {
    for start in [b"\x28\xB5\x2F\xFD", b"\x50\x2A\x4D\x18"] {
        lint(&["-"])
            .write_stdin(start.to_vec())
            .assert()
            .code(2)
            .stderr(contains(
                "decompress it: `zstd -dc FILE | countersign lint -`",
            ));
    }
}

#[test]
fn a_folder_is_judged_file_by_file_and_summed_up() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("b")).expect("a folder");
    fs::write(folder.path().join("a.jsonl"), session("a", false, 0)).expect("a file");
    let wrong = gzip(session("b", true, 0).as_bytes());
    fs::write(folder.path().join("b/c.jsonl.gz"), wrong).expect("a file");
    fs::write(folder.path().join("notes.txt"), "no stream").expect("a file");
    lint(&[text(folder.path())])
        .assert()
        .code(1)
        .stdout(contains("FAIL  2 files, 1 violating, 1 conforming"));
    let (document, _) = json_of(&[text(folder.path())]);
    let verdicts: Vec<&Value> = document["files"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| &file["verdict"])
        .collect();
    assert_eq!(verdicts, ["conforming", "violating"]);
}

#[test]
fn a_violation_outweighs_an_unreadable_file_and_that_an_open_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, content: &str| {
        let file = folder.path().join(name);
        fs::write(&file, content).expect("a file");
        text(&file).to_owned()
    };
    let right = write("right", &session("a", false, 0));
    let wrong = write("wrong", &session("a", true, 0));
    let open = write(
        "open",
        session("a", false, 0).lines().next().expect("a line"),
    );
    let none = text(&folder.path().join("none")).to_owned();
    for (files, status) in [
        ([&right, &right], 0),
        ([&right, &open], 3),
        ([&none, &open], 2),
        ([&none, &wrong], 1),
        ([&open, &wrong], 1),
    ] {
        let command = lint(&[files[0], files[1]]).assert().code(status);
        if files.contains(&&none) {
            command.stdout(contains("none: cannot be read: "));
        }
    }
}

#[test]
fn what_comes_before_the_damage_is_judged_and_the_damage_is_told_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cut.jsonl");
    let sessions = |is_irreversible: bool| -> String {
        (0..400)
            .map(|it| session(&format!("n{it}"), is_irreversible && it == 0, it % 60))
            .collect()
    };
    for (is_irreversible, status) in [(true, 1), (false, 2)] {
        let whole = gzip(sessions(is_irreversible).as_bytes());
        fs::write(&file, &whole[..whole.len() / 2]).expect("a file");
        lint(&[text(&file)])
            .assert()
            .code(status)
            .stdout(contains("cannot be read any further, after "));
        let (document, _) = json_of(&[text(&file)]);
        let records = document["records"].as_u64().expect("a count");
        assert!(records > 10, "{records}");
        assert_eq!(document["damage"]["line"], records + 1);
        let violations = document["violations"].as_array().expect("violations").len();
        assert_eq!(violations, usize::from(is_irreversible));
    }
}

// What is still written.

/// AAEP-A.8-4: a finding is there while the stream goes on, and what it ends with is what the whole stream gets.
#[test]
fn a_stream_that_is_written_is_judged_while_it_is() {
    let stream = session("a", true, 0);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("growing.jsonl");
    fs::write(&path, "").expect("a file");
    let mut following = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["lint", "--follow", text(&path)])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut said = std::io::BufReader::new(following.stdout.take().expect("piped"));
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .expect("a file");
    let lines: Vec<&str> = stream.lines().collect();
    let (before, last) = lines.split_at(lines.len() - 1);
    file.write_all((before.join("\n") + "\n").as_bytes())
        .expect("room");
    // Where nothing is said, the end of the file ends the waiting.
    let late = path.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_mins(2));
        fs::remove_file(late)
    });
    let mut first = String::new();
    said.read_line(&mut first).expect("it is said");
    assert!(
        first.contains("AAEP-A.8-4 (informative) violated"),
        "{first}"
    );
    file.write_all((last.join("\n") + "\n").as_bytes())
        .expect("room");
    fs::remove_file(&path).expect("it was said before the file was gone");
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("it is said");
    assert_eq!(following.wait().expect("it ends").code(), Some(1));
    lint(&["-"])
        .write_stdin(stream.clone())
        .assert()
        .stdout(verdict_first(&(first + &rest)).replace(text(&path), "<stdin>"));
    for (input, status) in [(stream, 1), (session("a", false, 0), 0)] {
        let once = lint(&["-"])
            .write_stdin(input.clone())
            .output()
            .expect("it runs");
        let grown = lint(&["--follow", "-"])
            .write_stdin(input)
            .output()
            .expect("it runs");
        assert_eq!(grown.status.code(), Some(status));
        let grown = String::from_utf8_lossy(&grown.stdout);
        assert_eq!(verdict_first(&grown), String::from_utf8_lossy(&once.stdout));
    }
    for wrong in [
        &["--follow", "-", "--format", "json"][..],
        &["--follow", "-", "-"],
        &["--follow", "-", "--baseline", "known.json"],
    ] {
        lint(wrong).write_stdin("").assert().code(2);
    }
}

/// What is said of a stream that is followed, as it is said of one that is whole.
fn verdict_first(said: &str) -> String {
    let lines: Vec<&str> = said.split_inclusive('\n').collect();
    let (verdict, rest) = lines.split_last().expect("a verdict");
    (*verdict).to_owned() + &rest.concat()
}

/// The lines of a stream in envelopes that are read line by line, with what has to be said of each.
fn by_line(stream: &str) -> [(String, &'static [&'static str]); 5] {
    let each = |put: &dyn Fn(&str) -> String| stream.lines().map(put).collect::<String>();
    [
        (
            each(&|line| format!("event: message\ndata: {line}\n\n")),
            &[],
        ),
        (
            each(&|line| {
                format!(
                    "{}\n",
                    json!({"log": format!("{line}\n"), "stream": "stdout", "time": "2030-01-01T00:00:00Z"})
                )
            }),
            &[],
        ),
        (
            each(&|line| format!("2030-01-01T00:00:00.1Z stdout F {line}\n")),
            &[],
        ),
        (
            each(&|line| {
                format!(
                    "{{\"specversion\":\"1.0\",\"type\":\"x\",\"id\":\"1\",\"source\":\"/\",\"data\":{line}}}\n"
                )
            }),
            &[],
        ),
        (
            each(&|line| format!("{{\"m\":{line}}}\n")),
            &["--message", "/m"],
        ),
    ]
}

/// What is judged while it grows gets the same words and status as what is whole, in every envelope that is read by line.
#[test]
fn other_envelopes_are_followed_where_they_are_read_by_line() {
    for (is_irreversible, status) in [(true, 1), (false, 0)] {
        for (input, how) in by_line(&session("a", is_irreversible, 0)) {
            for redact in [&[][..], &["--redact"]] {
                let said = |more: &[&str]| {
                    let mut command = lint(how);
                    let command = command.args(redact).args(more).arg("-");
                    command
                        .write_stdin(input.clone())
                        .output()
                        .expect("it runs")
                };
                let (once, grown) = (said(&[]), said(&["--follow"]));
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                assert_eq!(
                    grown.status.code(),
                    Some(status),
                    "{input}{}",
                    text(&grown.stderr)
                );
                assert_eq!(
                    verdict_first(&text(&grown.stdout)),
                    text(&once.stdout),
                    "{input}"
                );
                assert_eq!(
                    text(&grown.stdout).contains("irreversible call of"),
                    is_irreversible && redact.is_empty()
                );
            }
        }
    }
    let array = format!(
        "[\n{}\n]",
        session("a", true, 0).trim_end().replace('\n', ",\n")
    );
    for (input, told) in [
        (array.as_str(), "JSON that goes over several lines"),
        (
            "{\"log\":{\"version\":\"1.2\",\"creator\":{},\"entries\":[]}}\n",
            "an HTTP archive",
        ),
        ("plain text\n", "something else: it looks like plain text"),
        ("import os\n", "a program in Python"),
    ] {
        let mut command = lint(&["--follow", "-"]);
        let command = command.write_stdin(input);
        command
            .assert()
            .code(2)
            .stderr(contains(told).and(contains("without --follow")));
    }
    let mut command = lint(&["--follow", "-"]);
    let command = command.write_stdin(&b"\x1F\x8B\x08\0\0\0\0\0\0\x03"[..]);
    command
        .assert()
        .code(2)
        .stderr(contains("compressed with gzip"));
}

/// What a producer says on its start is a finding, with `--follow` as without it, and whether it comes at once or not.
#[test]
fn text_before_the_first_object_is_a_finding_while_it_is_followed() {
    let stream = session("a", false, 0);
    for text in [
        "starting up\n",
        "\u{feff}starting up\n\nlistening on 8080\n",
    ] {
        let input = text.to_owned() + &stream;
        let once = lint(&["-", "--all"])
            .write_stdin(input.clone())
            .output()
            .expect("it runs");
        let mut following = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(["lint", "--follow", "-"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut stdin = following.stdin.take().expect("piped");
        for piece in [text, &stream[..1], &stream[1..]] {
            stdin.write_all(piece.as_bytes()).expect("it reads");
            std::thread::sleep(Duration::from_millis(300));
        }
        drop(stdin);
        let grown = following.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&grown.stdout).into_owned();
        assert_eq!(grown.status.code(), Some(1), "{said}");
        assert_eq!(verdict_first(&said), String::from_utf8_lossy(&once.stdout));
        assert!(said.contains("AAEP-EV-1"), "{said}");
    }
    let mut command = lint(&["--follow", "-"]);
    let refused = command
        .write_stdin("starting up\nstopped\n")
        .assert()
        .code(2);
    refused.stderr(contains("with --from jsonl"));
}

/// AAEP-A.8-4: what is counted and not listed is told once, and the sums say that there are more.
#[test]
fn the_end_of_a_list_is_said_and_the_sums_count_what_is_behind_it() {
    let sessions = |count: u32| (0..count).map(|it| session(&format!("a{it}x"), true, 0));
    for (count, told) in [(1_000, 0), (1_005, 1)] {
        let stream: String = sessions(count).collect();
        for (how, told) in [(&[][..], 0), (&["--follow"], told)] {
            let mut command = lint(how);
            let output = command.arg("-").write_stdin(stream.clone()).output();
            let output = output.expect("it runs");
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(1));
            let ends = "no more findings of AAEP-A.8-4 (informative) are listed";
            assert_eq!(said.matches(ends).count(), told, "{count} {how:?}");
            let mut verdicts = said.lines().filter(|it| it.starts_with("FAIL  "));
            let verdict = verdicts.next().unwrap_or_default();
            let all = if count > 1_000 {
                "at least 1005"
            } else {
                "1000"
            };
            assert!(
                verdict.contains(&format!(", {all} violations, 0 warnings")),
                "{verdict}"
            );
        }
    }
    // Of a session, and not where its name may not be quoted.
    let stream = session("a", true, 0);
    let lines: Vec<&str> = stream.lines().collect();
    let call = |it: u32| {
        let call = lines[2].replace("evt_a3", &format!("evt_b{it}"));
        call.replace("call_1", &format!("call_{it}")) + "\n"
    };
    let calls: String = (0..12).map(call).collect();
    let input = lines[..2].join("\n") + "\n" + &calls;
    for (redact, is_named) in [(&[][..], true), (&["--redact"], false)] {
        let mut command = lint(redact);
        let command = command.args(["--follow", "-"]).write_stdin(input.clone());
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let ends = "no more findings of AAEP-A.8-4 (informative) in the session sess_a are listed";
        assert_eq!(said.matches(ends).count(), usize::from(is_named), "{said}");
        assert_eq!(said.contains("sess_a"), is_named, "{said}");
        assert!(said.contains("at least 12 violations"), "{said}");
    }
}

/// Tries with longer and longer pauses: on a slow machine a process needs long to come to where it waits. What goes wrong with the longest
/// is wrong.
#[cfg(unix)]
fn with_patience(attempt: impl Fn(Duration) -> Result<(), String>) {
    let patience = [1, 6, 36].map(Duration::from_secs);
    let wrong: Vec<String> = patience
        .into_iter()
        .map_while(|pause| attempt(pause).err())
        .collect();
    assert!(wrong.len() < patience.len(), "{wrong:#?}");
}

/// A signal ends with the verdict on what was read; the beginning of a line is no fault.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_the_verdict_so_far() {
    let stream = session("a", true, 0);
    let open: Vec<&str> = stream.lines().take(2).collect();
    let torn = &stream.lines().nth(2).expect("a line")[..30];
    let cases = [
        (stream.clone() + "{\"type\":\"aaep:agent.se", 1, "violating"),
        (
            format!("{}\n{torn}", open.join("\n")),
            3,
            "inconclusive: 2 records",
        ),
        (format!("{}{torn}", by_line(&stream)[2].0), 1, "violating"),
        (String::new(), 3, "inconclusive: 0 records"),
    ];
    let ends_so = |(input, status, told): &(String, i32, &str), pause: Duration| {
        let mut following = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(["lint", "--follow", "-"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut stdin = following.stdin.take().expect("piped");
        stdin.write_all(input.as_bytes()).expect("it reads");
        stdin.flush().expect("it reads");
        std::thread::sleep(pause);
        let id = following.id().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-INT", &id])
            .status();
        assert!(sent.expect("a signal").success());
        let output = following.wait_with_output().expect("it ends");
        drop(stdin);
        let said = String::from_utf8_lossy(&output.stdout);
        let is_so = output.status.code() == Some(*status)
            && said.contains(told)
            && !said.contains("AAEP-EV-1");
        is_so
            .then_some(())
            .ok_or_else(|| format!("{}: {said}", output.status))
    };
    std::thread::scope(|scope| {
        for case in &cases {
            scope.spawn(move || with_patience(|pause| ends_so(case, pause)));
        }
    });
}

/// What is written, whether to a pipe, the status, what is said, and how it ends.
#[cfg(unix)]
type End<'a> = (
    &'a str,
    bool,
    i32,
    &'a str,
    &'a (dyn Fn(&Path, Duration) + Sync),
);

/// A file that is followed ends with the verdict on what was read: where it is cut, which is told as damage, where another takes its name,
/// and, of a pipe, where the writer is gone.
#[cfg(unix)]
#[test]
fn what_is_followed_ends_with_a_verdict_however_it_ends() {
    let (bad, good) = (session("a", true, 0), session("a", false, 0));
    let cut = |path: &Path, _: Duration| fs::write(path, "").expect("it is cut");
    let replace = |path: &Path, _: Duration| {
        let other = path.with_file_name("other");
        fs::write(&other, "").expect("a file");
        fs::rename(other, path).expect("it is replaced");
    };
    // The writer goes on in it, under whatever name.
    let move_away = |path: &Path, pause: Duration| {
        let elsewhere = path.with_file_name("elsewhere");
        fs::rename(path, &elsewhere).expect("it is moved");
        std::thread::sleep(pause);
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(&elsewhere)
            .expect("a file");
        file.write_all(session("b", true, 1).as_bytes())
            .expect("room");
        std::thread::sleep(pause);
        fs::remove_file(elsewhere).expect("it is removed");
    };
    let refill = |path: &Path, _: Duration| {
        fs::write(path, session("b", false, 1) + &good).expect("it is cut");
    };
    let same_length =
        |path: &Path, _: Duration| fs::write(path, session("b", false, 0)).expect("it is cut");
    let nothing = |_: &Path, _: Duration| ();
    let told = "cannot be read any further";
    let ends: [End<'_>; 9] = [
        (&good, false, 1, "the file has another name now", &move_away),
        (&good, false, 1, "violating: 10 records", &move_away),
        (&good, false, 2, told, &refill),
        (&good, false, 2, told, &same_length),
        (&bad, false, 1, told, &cut),
        (&good, false, 2, told, &cut),
        (&bad, false, 1, "another file has this name now", &replace),
        (&good, true, 0, "conforming: 5 records", &nothing),
        (&bad, true, 1, "violating: 5 records", &nothing),
    ];
    let ends_so = |(stream, is_pipe, status, told, end): End<'_>, pause: Duration| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("followed");
        if is_pipe {
            let made = std::process::Command::new("mkfifo").arg(&path).status();
            assert!(made.expect("it runs").success());
        } else {
            fs::write(&path, stream).expect("a file");
        }
        let following = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(["lint", "--follow", text(&path)])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("it runs");
        if is_pipe {
            fs::write(&path, stream).expect("it is read");
        }
        std::thread::sleep(pause);
        end(&path, pause);
        // What does not notice its end is ended by this.
        let (gone, late) = (path.clone(), 20 * pause);
        let (sender, ended) = std::sync::mpsc::channel::<()>();
        let guard = std::thread::spawn(move || {
            let is_late = ended.recv_timeout(late).is_err();
            let _gone = fs::remove_file(gone);
            is_late
        });
        let output = following.wait_with_output().expect("it ends");
        let _ended = sender.send(());
        if guard.join().expect("it ends") {
            return Err("it was still followed".to_owned());
        }
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let is_so = output.status.code() == Some(status) && said.contains(told);
        is_so
            .then_some(())
            .ok_or_else(|| format!("{}: {said}", output.status))
    };
    std::thread::scope(|scope| {
        for end in ends {
            scope.spawn(move || with_patience(|pause| ends_so(end, pause)));
        }
    });
}

// What is asked for.

#[test]
fn a_session_is_judged_alone() {
    let both = session("a", true, 0) + &session("b", false, 0);
    for (id, status) in [("sess_a", 1), ("sess_b", 0), ("sess_c", 3)] {
        lint(&["-", "--session", id])
            .write_stdin(both.clone())
            .assert()
            .code(status);
    }
    lint(&["-", "--session", "sess_b"])
        .write_stdin(format!("{both}no record\n"))
        .assert()
        .code(1)
        .stdout(contains(":11:"));
}

/// AAEP-6.3.4-9, AAEP-6.2.2-3: what sessions that nobody asks about did is known all the same: a reply to one of them is no
/// reply with an unknown token, and a token of theirs is not to be given out again.
#[test]
fn a_session_that_is_judged_alone_is_not_judged_by_the_questions_of_others() {
    let conforming = fs::read_to_string(trace(
        "valid",
        "AAEP-6.2.2-3_token-of-another-session.jsonl",
    ));
    let conforming = conforming.expect("a stream");
    let wrapped: Vec<String> = conforming
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).expect("JSON");
            let record = match record["type"].as_str() {
                Some("confirmation.reply") => {
                    json!({"dir": "in", "http_status": 204, "message": record})
                }
                _ => record,
            };
            record.to_string()
        })
        .collect();
    let refused =
        json!({"dir": "in", "http_status": 400, "message": {"type": "confirmation.reply"}});
    let stream = format!("{}\n{refused}\n", wrapped.join("\n"));
    lint(&["-", "--session", "sess_a1", "--strict"])
        .write_stdin(stream)
        .assert()
        .stdout(contains(
            "conforming: 9 records, 1 session, 0 violations, 0 warnings",
        ));
    let reused = fs::read_to_string(trace(
        "invalid",
        "AAEP-6.2.2-3_token-of-another-session.jsonl",
    ));
    let reused = reused.expect("a stream");
    lint(&["-", "--session", "sess_a2"])
        .write_stdin(reused)
        .assert()
        .code(1)
        .stdout(contains(":11:"));
}

#[test]
fn since_hides_what_was_before_and_still_knows_it() {
    let two = session("a", true, 10) + &session("b", true, 20);
    let violations = |time: &str| {
        let output = lint(&["-", "--since", time, "--format", "json"])
            .write_stdin(two.clone())
            .output()
            .expect("the command runs");
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let violations = document["violations"].as_array().expect("violations");
        let lines: Vec<u64> = violations
            .iter()
            .filter_map(|it| it["line"].as_u64())
            .collect();
        (lines, output.status.code())
    };
    assert_eq!(violations("2026-05-24T14:10:03Z"), (vec![3, 8], Some(1)));
    assert_eq!(violations("2026-05-24T14:10:04Z"), (vec![8], Some(1)));
    assert_eq!(violations("2026-05-24T16:20:03+02:00"), (vec![8], Some(1)));
    assert_eq!(violations("2026-05-24T14:20:04Z"), (vec![], Some(0)));
    assert_eq!(violations("2026-05-24T14:20:06Z"), (vec![], Some(3)));
    lint(&["-", "--since", "yesterday"])
        .assert()
        .code(2)
        .stderr(contains("RFC 3339"));
}

/// However often a fault was made before, none after it is lost for want of room on the list.
#[test]
fn since_finds_what_comes_after_very_many_of_the_same() {
    let early: String = (0..1_001)
        .map(|number| session(&format!("e{number}"), true, 10))
        .collect();
    lint(&["-", "--since", "2026-05-24T14:20:00Z"])
        .write_stdin(early + &session("late", true, 20))
        .assert()
        .code(1)
        .stdout(contains("1 violation, 0 warnings"));
}

#[test]
fn one_clause_or_one_section_is_judged_alone() {
    let file = trace("invalid", UNASKED);
    for (clause, status) in [("A.8-4", 1), ("A.8", 1), ("A.7.4", 1), ("6.4.1", 0)] {
        let clause = format!("AAEP-{clause}");
        lint(&[text(&file), "--only", &clause])
            .assert()
            .code(status);
    }
    let [defaults, sequences] = ["6.4.1", "A.8"].map(|section| format!("AAEP-{section}"));
    lint(&[text(&file), "--only", &defaults, "--only", &sequences])
        .assert()
        .code(1);
    lint(&[text(&file), "--only", &format!("AAEP-{}", "6.99")])
        .assert()
        .code(2)
        .stderr(contains("unknown clause"));
}

/// AAEP-6.1-3, AQL-4.1-3, PA-12: what such a recording shows nothing of is no good verdict where it was asked for alone; what is
/// judged in part is one, and so is the rest.
#[test]
fn one_clause_of_which_nothing_shows_leaves_the_verdict_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let stream = fs::read_to_string(trace("valid", CONFORMING)).expect("the stream");
    let events = folder.path().join("events.sse");
    fs::write(&events, events_and_replies(&stream).0).expect("a file");
    let entries = trace(
        "transcripts/mcp-aql-entries/valid",
        "AQL-4.1-4_taken-for-another-operation.jsonl",
    );
    let transcripts = trace("transcripts/pending-action", "valid");
    for (file, unshown, shown) in [
        (&events, "AAEP-6.1-3", "AAEP-A.7.4-1"),
        (&entries, "AQL-4.1-3", "AQL-4.1-4"),
        (&transcripts, "PA-12", "PA-1"),
    ] {
        for (only, status) in [
            (&[][..], 0),
            (&["--only", shown], 0),
            (&["--only", unshown], 3),
            (&["--only", shown, "--only", unshown], 3),
        ] {
            let mut command = lint(&[]);
            let command = command.arg(file).args(only);
            command.assert().code(status);
        }
    }
    let (report, _) = json_of(&[text(&events), "--only", "AAEP-6.1-3"]);
    assert_eq!(report["verdict"], "inconclusive");
}

#[test]
fn strict_makes_violations_of_warnings() {
    let file = trace(
        "invalid",
        "AAEP-6.4.1-3_irreversible-low-defaults-to-accept.jsonl",
    );
    lint(&[text(&file)])
        .assert()
        .code(0)
        .stdout(contains("1 warning"));
    lint(&[text(&file), "--strict"])
        .assert()
        .code(1)
        .stdout(contains("1 violation, 0 warnings"));
}

// Known violations.

#[test]
fn known_violations_pass_new_ones_fail_and_vanished_ones_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (stream, known) = (folder.path().join("s.jsonl"), folder.path().join("known"));
    let write = |content: &str| fs::write(&stream, content).expect("a file");
    let against = || lint(&[text(&stream), "--baseline", text(&known)]).assert();

    write(&session("a", true, 0));
    lint(&[text(&stream), "--write-baseline", text(&known)])
        .assert()
        .code(0);
    against().code(0).stdout(contains("1 known violation"));
    // The same violation on other lines.
    write(&(session("z", false, 0) + "\n" + &session("a", true, 0)));
    against().code(0);
    // The same once more, in another session.
    write(&(session("a", true, 0) + &session("b", true, 0)));
    against()
        .code(1)
        .stdout(contains("1 violation, 0 warnings, 1 known violation"));
    write(&session("a", false, 0));
    against()
        .code(0)
        .stdout(contains("known, and not found any more: AAEP-A.8-4"));
    let (document, _) = json_of(&[text(&stream), "--baseline", text(&known)]);
    assert_eq!(document["vanished"][0]["clause"], "AAEP-A.8-4");
    // Where not everything was judged, nothing can be said to have vanished.
    let (document, _) = json_of(&[
        text(&stream),
        "--baseline",
        text(&known),
        "--session",
        "sess_a",
    ]);
    assert_eq!(document.get("vanished"), None);
}

#[test]
fn a_baseline_counts_how_often_a_violation_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let (stream, known) = (folder.path().join("s.jsonl"), folder.path().join("known"));
    for (times, status) in [(2, 0), (1, 0), (2, 0), (3, 1)] {
        fs::write(
            &stream,
            "no record\n".repeat(times) + &session("a", false, 0),
        )
        .expect("a file");
        if !known.exists() {
            lint(&[text(&stream), "--write-baseline", text(&known)])
                .assert()
                .code(0);
        }
        lint(&[text(&stream), "--baseline", text(&known)])
            .assert()
            .code(status);
    }
}

#[test]
fn a_file_that_is_no_baseline_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let known = folder.path().join("known");
    let stream = trace("valid", CONFORMING);
    for (content, complaint) in [
        ("{}", "is no baseline"),
        (r#"{"countersign_baseline":2,"known":[]}"#, "of version 2"),
    ] {
        fs::write(&known, content).expect("a file");
        lint(&[text(&stream), "--baseline", text(&known)])
            .assert()
            .code(2)
            .stderr(contains(complaint));
    }
}

// What is kept to itself.

/// Every string and every key of every stream, replaced by a secret.
#[test]
fn redacted_output_quotes_nothing_of_a_stream_whatever_the_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let streams = folder.path().join("streams");
    for kind in ["invalid", "valid"] {
        let into = streams.join(kind);
        fs::create_dir_all(&into).expect("a folder");
        for stream in fs::read_dir(trace(kind, "")).expect("streams") {
            let stream = stream.expect("an entry");
            let content = fs::read(stream.path()).expect("a stream");
            fs::write(into.join(stream.file_name()), plant(&content)).expect("a file");
        }
    }
    let secret_of = |told: &str| {
        let place = told.find("Zecret")?;
        Some(
            String::from_utf8_lossy(&told.as_bytes()[place.saturating_sub(300)..place])
                .into_owned(),
        )
    };
    for format in ["text", "json", "junit", "sarif"] {
        let output = lint(&[text(&streams), "--redact", "--strict", "--format", format])
            .output()
            .expect("the command runs");
        let told = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(told.len() > 10_000);
        assert_eq!(secret_of(&told), None, "{format}");
    }
    let known = folder.path().join("known.json");
    lint(&[text(&streams), "--redact", "--write-baseline", text(&known)])
        .output()
        .expect("the command runs");
    let written = fs::read_to_string(&known).expect("a baseline");
    assert!(written.len() > 10_000);
    assert_eq!(secret_of(&written), None);
}

/// Marks all values that a rule does not need as they are, so that the same faults are found and whatever is quoted is
/// marked: ids, tools, prose, unknown states and types. A line that is no record is marked as a whole.
fn plant(stream: &[u8]) -> Vec<u8> {
    let mut planted = Vec::new();
    for line in stream.split_inclusive(|byte| *byte == b'\n') {
        match serde_json::from_slice::<Value>(line) {
            Ok(mut record) => {
                plant_value("", &mut record);
                planted.extend(record.to_string().into_bytes());
                planted.push(b'\n');
            }
            Err(_) => planted.extend([b"Zecret ", line].concat()),
        }
    }
    planted
}

fn plant_value(key: &str, value: &mut Value) {
    const MEANT: [&str; 9] = [
        "@context",
        "timestamp",
        "at",
        "dir",
        "decision",
        "default_decision",
        "risk_level",
        "urgency",
        "status",
    ];
    match value {
        Value::String(text) if key == "type" => {
            let is_known = text.starts_with("aaep:agent.") && !text.ends_with("unknown")
                || text.contains(".reply");
            if !is_known {
                text.push_str("Zecret");
            }
        }
        Value::String(text) if !MEANT.contains(&key) => text.push_str("Zecret"),
        Value::Array(items) => items.iter_mut().for_each(|item| plant_value(key, item)),
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                plant_value(key, value);
            }
            fields.insert("ZecretKey".to_owned(), json!("Zecret"));
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// So that the test above cannot pass because nothing would be quoted anyway.
/// What is said of a file that is no recording, or ends in what is none, may quote it, and does so only where it may.
#[test]
fn what_is_said_of_unfit_files_is_redacted_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let wrapped = |name: &str| {
        let lines = session("a", false, 0);
        let wrapped = lines.lines().map(|it| format!("{{\"{name}\":{it}}}\n"));
        wrapped.collect::<String>()
    };
    let unasked = "{\"id\":\"one\",\"op\":\"hello\",\"driver\":1,\"protocol\":\"mcp-aql\"}\n{\"id\":\"SECRET\",\"name\":\"x\"}\n";
    let answered = fs::read_to_string(trace(
        "transcripts/mcp-aql/valid",
        "AQL-1.2-2_token-without-expiry.jsonl",
    ));
    let answered = answered.expect("the transcript");
    let no_way = wrapped("p").replace("{\"p\"", "{\"d\":\"SECRET\",\"p\"");
    for (number, (content, more)) in [
        (wrapped("SECRET"), &[][..]),
        (no_way, &["--message", "/p", "--direction", "/d"]),
        (unasked.to_owned(), &["--protocol", "mcp-aql"]),
        (
            answered + "{\"id\":\"SECRET\",\"name\":\"x\"}\n",
            &["--protocol", "mcp-aql"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let file = folder.path().join(format!("{number}.jsonl"));
        fs::write(&file, content).expect("a file");
        for format in ["text", "json", "junit", "sarif"] {
            for redact in [&[][..], &["--redact"]] {
                let mut command = lint(more);
                let command = command.arg(&file).args(redact).args(["--format", format]);
                let output = command.output().expect("it runs");
                let said = [output.stdout, output.stderr].concat();
                let is_quoted = String::from_utf8_lossy(&said).contains("SECRET");
                assert_eq!(output.status.code(), Some(2), "{number} {format}");
                assert_eq!(is_quoted, redact.is_empty(), "{number} {format}");
            }
        }
    }
    let wrapped = folder.path().join("0.jsonl");
    let mut command = Command::cargo_bin("countersign").expect("the command is built");
    let command = command.args(["show", "--redact"]).arg(&wrapped);
    command
        .assert()
        .code(2)
        .stderr(contains("SECRET").not().and(contains("withheld")));
}

#[test]
fn output_that_is_not_redacted_quotes_the_stream() {
    let folder = tempfile::tempdir().expect("a folder");
    let planted = folder.path().join("planted.jsonl");
    let content = fs::read(trace("invalid", TIMEOUT_OF_ZERO)).expect("a stream");
    fs::write(&planted, plant(&content)).expect("a file");
    for format in ["text", "json", "sarif"] {
        lint(&[text(&planted), "--format", format])
            .assert()
            .stdout(contains("Zecret"));
    }
}

/// A stream of several batches, where the system is out of threads or of room for their stacks.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn a_stream_is_judged_also_where_no_thread_can_be_started() {
    const STACK_BEYOND_ALL_MEMORY: &str = "1152921504606846976";
    let sessions = 2_000;
    let stream: String = (0..sessions)
        .map(|number| session(&format!("s{number}"), false, 1))
        .collect();
    assert!(stream.len() > 1 << 20);
    lint(&["-"])
        .env("RUST_MIN_STACK", STACK_BEYOND_ALL_MEMORY)
        .write_stdin(stream)
        .assert()
        .code(0)
        .stdout(contains(format!("{sessions} sessions, 0 violations")));
}

#[test]
fn the_text_of_a_report_names_file_line_clause_and_level_and_shows_the_line() {
    let file = trace("invalid", "AAEP-EV-1_not-json.jsonl");
    let bytes = fs::read(file).expect("a readable trace");
    let report =
        countersign_lint::lint(&*bytes, "stream.jsonl").expect("reading from memory cannot fail");
    let text = render_one(&report, false, Terminal::PLAIN);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "FAIL  stream.jsonl: violating: 4 records, 1 session, 1 violation, 0 warnings",
            "stream.jsonl:3:2: AAEP-EV-1 (wire fact) violated (MUST)",
        ]
    );
    assert!(lines.contains(&" 3 │ this is no record"), "{text}");
}

/// So much of a stream is shown as fits on a screen: MUST before SHOULD, one of each clause, in the order of the clauses; the rest is counted.
#[test]
fn a_screen_has_the_verdict_and_one_finding_of_each_clause() {
    let shown = |stream: &str, options: &[&str]| {
        let mut command = lint(options);
        let output = command.arg("-").write_stdin(stream.to_owned()).output();
        String::from_utf8(output.expect("it runs").stdout).expect("UTF-8")
    };
    let several: String = (0..12)
        .map(|it| session(&format!("a{it}x"), true, 0))
        .collect();
    let said = shown(&several, &[]);
    let heads = |said: &str| said.matches(" violated (MUST)").count();
    assert!(
        said.starts_with("FAIL  <stdin>: violating: 60 records"),
        "{said}"
    );
    assert_eq!(heads(&said), 1, "{said}");
    assert!(
        said.contains("AAEP-A.8-4 (informative) violated 11 times more, on lines 8, 13, 18, 23, 28, 33, 38, 43 and 3 more\n"),
        "{said}"
    );
    assert_eq!(heads(&shown(&several, &["--all"])), 12);
    // Many clauses: those of the text come before those of the wire, and what does not fit is counted.
    let mut wrong = String::new();
    for kind in [
        "AAEP-6.1-6_asked-again-while-open",
        "AAEP-EV-10_nested-too-deep",
        "AAEP-6.2.1-1_token-with-a-dash",
        "AAEP-A.6-1_output-never-completes",
        "AAEP-EV-9_unknown-core-type",
        "AAEP-6.4.1-2_irreversible-medium-defaults-to-accept",
    ] {
        let stream =
            fs::read_to_string(trace("invalid", &format!("{kind}.jsonl"))).expect("a stream");
        let number = wrong.lines().count();
        let own = stream
            .replace("sess_a1", &format!("sess_{number}"))
            .replace("evt_", &format!("evt_{number}x"));
        wrong += &own.replace("\"rpl_", &format!("\"rpl_{number}x"));
    }
    let said = shown(&wrong, &[]);
    assert_eq!(said.lines().count(), 41, "{said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("… ") && last.ends_with(" more lines: --all shows them"),
        "{said}"
    );
    let whole = shown(&wrong, &["--all"]);
    let at = |clause: &str| whole.find(&format!(": {clause} ")).expect(clause);
    let order = [
        "AAEP-6.1-6",
        "AAEP-6.2.1-1",
        "AAEP-6.4.1-2",
        "AAEP-A.6-1",
        "AAEP-EV-9",
        "AAEP-EV-10",
    ];
    assert!(order.map(at).is_sorted(), "{whole}");
}

/// A possible violation leaves the verdict open: status 3, and what would excuse it is said.
#[test]
fn what_is_assumed_is_said_and_what_is_not_is_possible() {
    let file = trace("invalid", "AAEP-6.1-3_rejected-and-over.jsonl");
    let assumed = "  assumes: the sender of the reply on line 5 is authenticated";
    lint(&[text(&file)])
        .assert()
        .code(1)
        .stdout(contains(assumed));
    lint(&[text(&file), "--assume", "unknown-senders"])
        .assert()
        .code(3)
        .stdout(contains("INCONCLUSIVE  "))
        .stdout(contains(": AAEP-6.1-3 possibly violated (MUST)\n"))
        .stdout(contains(
            "  unless: the sender of the reply on line 5 was not authenticated",
        ));
    let (document, status) = json_of(&[text(&file), "--assume", "unknown-senders"]);
    assert_eq!((status, &document["result"]), (3, &json!("INCONCLUSIVE")));
    assert_eq!(document["violations"], json!([]));
    assert_eq!(document["possible"][0]["clause"], "AAEP-6.1-3");
    let (document, _) = json_of(&[text(&file)]);
    assert_eq!(
        document["violations"][0]["assumes"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    lint(&[text(&file), "--assume", "partial-replies"])
        .assert()
        .code(3);
    // All that were sent: the old spelling is another for it.
    for all in [["--assume", "all-replies"], ["--replies", "all"]] {
        let mut command = lint(&[text(&file), "--assume", "partial-replies"]);
        let refused = command.args(all).assert().code(2);
        refused.stderr(contains(
            "--assume all-replies contradicts --assume partial-replies",
        ));
    }
}

#[test]
fn of_several_messages_on_one_line_the_accused_is_named() {
    let stream = fs::read_to_string(trace("invalid", UNASKED)).expect("the stream");
    let lines: Vec<&str> = stream.lines().collect();
    let folder = tempfile::tempdir().expect("a folder");
    let array = folder.path().join("array.json");
    fs::write(&array, format!("[{}]", lines.join(","))).expect("it can be written");
    let named = contains(" (message 4): AAEP-A.8-4 (informative) violated (MUST)");
    lint(&[text(&array)]).assert().code(1).stdout(named);
    let (document, _) = json_of(&[text(&array)]);
    let found = &document["violations"][0];
    assert_eq!(
        (&found["line"], &found["message_number"]),
        (&json!(1), &json!(4))
    );
    let (document, _) = json_of(&[text(&trace("invalid", UNASKED))]);
    assert_eq!(document["violations"][0].get("message_number"), None);
}

/// AAEP-EV-15: a finding that rests on a tie says which; one about a call that nobody was asked about has none.
#[test]
fn the_text_says_how_a_question_was_tied_to_its_call() {
    let (rejected, by_order) = (
        "AAEP-A.8-5_called-after-rejection.jsonl",
        "no id ties question and call; their order admits it",
    );
    let stream = trace("invalid", rejected);
    lint(&[text(&stream)]).assert().stdout(contains(by_order));
    let unasked = trace("invalid", UNASKED);
    lint(&[text(&unasked)])
        .assert()
        .stdout(contains(by_order).not());
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_that_names_it() {
    let file = trace("valid", "no-such-stream.jsonl");
    let error = run(&Args::of(&file), FindingsFormat::Text).expect_err("nothing to read");
    let name = file.to_str().expect("plain text");
    assert!(error.to_string().contains(name), "{error}");
}

// Other envelopes; what is read in them is tested where they are read.

/// A stream as server-sent events, and its replies as lines.
fn events_and_replies(stream: &str) -> (String, String) {
    let is_reply = |line: &&str| line.contains("\"confirmation.reply\"");
    let (replies, events): (Vec<&str>, Vec<&str>) = stream.lines().partition(is_reply);
    let events = events.iter().map(|line| ["data: ", line, "\n\n"].concat());
    (events.collect(), replies.join("\n"))
}

#[test]
fn an_envelope_is_told_or_said_and_comes_from_standard_input_or_compressed() {
    let stream = fs::read_to_string(trace("invalid", UNASKED)).expect("the stream");
    let (events, _) = events_and_replies(&stream);
    for from in [&[][..], &["--from", "sse"]] {
        for bytes in [events.clone().into_bytes(), gzip(events.as_bytes())] {
            let mut command = lint(from);
            let command = command.arg("-").write_stdin(bytes);
            command.assert().code(1).stdout(contains("AAEP-A.8-4"));
        }
    }
}

#[test]
fn a_finding_on_a_reply_of_a_second_file_names_that_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let stream = fs::read_to_string(trace("invalid", UNASKED)).expect("the stream");
    let (events, replies) = events_and_replies(&stream);
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.sse"), events).expect("a file");
    fs::write(at("b.jsonl"), replies + "\nno reply\n").expect("a file");
    let (a, b) = (at("a.sse"), at("b.jsonl"));
    let (report, status) = json_of(&[text(&a), "--replies-from", text(&b)]);
    assert_eq!(status, 1);
    let files: Vec<_> = report["violations"]
        .as_array()
        .expect("violations")
        .iter()
        .map(|it| &it["file"])
        .collect();
    assert_eq!(files, [&Value::Null, &json!(text(&b))]);
    // Where no message is in it, it is no recording, and nobody is accused of that.
    fs::write(&b, "{\"x\":{\"type\":\"confirmation.reply\"}}\n").expect("a file");
    for (more, what) in [
        (&[][..], "say --message /x"),
        (&["--message", "/a"], "\"/a\""),
    ] {
        lint(&[text(&a), "--replies-from", text(&b)])
            .args(more)
            .assert()
            .code(2)
            .stderr(contains(format!("cannot read {}", text(&b))))
            .stderr(contains(what));
    }
}

/// Replies come from one file that holds some, and standard input is read once.
#[test]
fn a_second_file_without_replies_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let stream = fs::read_to_string(trace("invalid", UNASKED)).expect("the stream");
    let (events, replies) = events_and_replies(&stream);
    fs::create_dir(at("empty")).expect("a folder");
    fs::create_dir(at("full")).expect("a folder");
    fs::write(at("a.sse"), events).expect("a file");
    fs::write(at("full/b.jsonl"), replies).expect("a file");
    fs::write(at("words.txt"), "hello\n").expect("a file");
    for (wrong, told) in [
        ("empty", "is a folder"),
        ("full", "is a folder"),
        ("words.txt", "it looks like plain text"),
    ] {
        lint(&[text(&at("a.sse")), "--replies-from", text(&at(wrong))])
            .assert()
            .code(2)
            .stderr(contains(told));
    }
    for twice in [&["-", "-"][..], &["-", "--replies-from", "-"]] {
        lint(twice)
            .write_stdin(stream.clone())
            .assert()
            .code(2)
            .stderr(contains("only once"));
    }
}

#[test]
fn pointers_come_as_flags_and_wrong_ones_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let stream = fs::read_to_string(trace("invalid", UNASKED)).expect("the stream");
    let lines = stream.lines().map(|line| ["{\"a\":", line, "}\n"].concat());
    let log = folder.path().join("a.log");
    fs::write(&log, lines.collect::<String>()).expect("a file");
    lint(&[text(&log), "--message", "/a"])
        .assert()
        .code(1)
        .stdout(contains("AAEP-A.8-4"));
    lint(&[text(&log), "--message", "a"])
        .assert()
        .code(2)
        .stderr(contains("JSON pointer"));
    lint(&[text(&log), "--message", "/b"])
        .assert()
        .code(2)
        .stderr(contains("/b"));
    lint(&[text(&log)])
        .assert()
        .code(2)
        .stderr(contains("say --message /a"));
}

#[test]
fn a_file_that_holds_no_message_is_an_input_error_that_says_what_to_do() {
    for (input, told) in [
        ("{\"jsonrpc\":\"2.0\"}\n", "JSON-RPC"),
        ("import os\n", "Python"),
    ] {
        let mut command = lint(&["-"]);
        let command = command.write_stdin(input);
        command
            .assert()
            .code(2)
            .stderr(contains(told).and(contains("--from")));
    }
}

/// No exchange is in what is read as something else: that is no open verdict.
#[test]
fn a_transcript_that_is_read_as_something_else_is_an_input_error() {
    let folder = fs::read_dir(trace("transcripts", "pending-action/valid"));
    let mut transcripts = folder.expect("the transcripts").flatten();
    let transcript = transcripts.next().expect("a transcript").path();
    let advice = "say --from jsonl, or leave --from out";
    lint(&["--from", "har", text(&transcript)])
        .assert()
        .code(2)
        .stderr(contains(advice));
}

// How wide it is.

/// Whatever the terminal is wide, nothing goes beyond it, and the counts are the end of it.
#[test]
fn text_keeps_within_the_columns_of_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = "sess_".to_owned() + &"0123456789".repeat(30);
    let stream = fs::read_to_string(trace("invalid", UNASKED)).expect("the stream");
    let id = stream
        .split("\"session_id\":")
        .nth(1)
        .expect("it has a session");
    let id = id
        .trim_start()
        .trim_start_matches('"')
        .split('"')
        .next()
        .expect("an id");
    let path = folder
        .path()
        .join("stream-with-a-name-that-is-rather-long-for-a-narrow-terminal.jsonl");
    fs::write(&path, stream.replace(id, &long) + "日本語 is no record\n").expect("a file");
    for columns in ["60", "80", "200"] {
        let mut command = lint(&[text(&path)]);
        let output = command.env("COLUMNS", columns).output().expect("it runs");
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        let widest = said.lines().map(countersign_cli::show::words::width).max();
        let columns: usize = columns.parse().expect("a number");
        assert!(widest <= Some(columns), "{widest:?} of {columns}:\n{said}");
        let unfolded = said.replace("\n  ", " ");
        let first = unfolded.lines().next().unwrap_or_default();
        assert!(
            first.contains("violating: ") && first.ends_with("warnings"),
            "{said}"
        );
        assert!(said.contains('│'), "the line is shown: {said}");
    }
    // A file or a pipe has no width: a line is a line.
    let output = lint(&[text(&path)])
        .env_remove("COLUMNS")
        .output()
        .expect("it runs");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        said.lines()
            .next()
            .is_some_and(|it| it.contains(text(&path)) && it.ends_with("warnings")),
        "{said}"
    );
}
