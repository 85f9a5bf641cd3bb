//! `countersign diff`: the reference passes it over stdio, and whoever does otherwise is told where.

use crate::adapter;

use std::fs;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn countersign() -> Command {
    Command::cargo_bin("countersign").expect("the binary is built")
}

/// The path of the binary, for a shell.
fn binary() -> String {
    countersign().get_program().to_string_lossy().into_owned()
}

/// Drives what a shell does with the reference, which stands for `$serve` in it.
fn diff(protocol: &str, arguments: &[&str], script: &str, kept: &TempDir) -> Command {
    let serve = format!("{} serve {protocol} --stdio", binary());
    let mut command = countersign();
    // On a slow machine a process takes its time to start.
    command.args(["diff", protocol, "--timeout", "60"]);
    command.args(arguments);
    command.arg("--save").arg(kept.path());
    command.args(["--", "sh", "-c", &script.replace("$serve", &serve)]);
    command
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The report on one in whose runs nothing is wrong.
fn unbroken(command: &mut Command) -> Value {
    document(command, 0)
}

fn document(command: &mut Command, status: i32) -> Value {
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{text}{error}");
    serde_json::from_str(&text).expect("a JSON document")
}

/// The clauses that are told of, with the number of steps of the run of each.
fn divergences(document: &Value) -> Vec<(&str, usize)> {
    let list = document["divergences"].as_array().expect("a list");
    let told = list.iter().map(|it| {
        let clause = it["clause"].as_str().expect("a clause");
        (clause, it["steps"].as_array().map_or(0, Vec::len))
    });
    told.collect()
}

fn verdict_on<'a>(document: &'a Value, clause: &str) -> &'a Value {
    let clauses = document["clauses"].as_array().expect("a list");
    let found = clauses.iter().find(|it| it["clause"] == clause);
    &found.unwrap_or(&Value::Null)["verdict"]
}

#[test]
fn the_reference_of_pending_actions_passes() {
    let kept = folder();
    let arguments = ["--runs", "60", "--format", "json"];
    let document = unbroken(&mut diff(
        "pending-action",
        &arguments,
        "exec $serve",
        &kept,
    ));
    assert_eq!(document["runs"], 60);
    for clause in ["PA-1", "PA-2", "PA-3", "PA-5", "PA-7", "PA-8", "PA-10"] {
        assert_eq!(verdict_on(&document, clause), "upholds", "{clause}");
    }
}

#[test]
fn the_reference_of_confirmation_tokens_passes() {
    let kept = folder();
    let arguments = ["--runs", "60", "--format", "json"];
    let document = unbroken(&mut diff("mcp-aql", &arguments, "exec $serve", &kept));
    for clause in [
        "AQL-1.3-1",
        "AQL-4.1-2",
        "AQL-4.1-3",
        "AQL-4.1-6",
        "AQL-6.4-1",
    ] {
        assert_eq!(verdict_on(&document, clause), "upholds", "{clause}");
    }
}

/// AQL-4.1-4 to AQL-4.1-6: a token for another call is refused under another code than the text has.
#[test]
fn another_code_for_a_token_of_another_call_is_found_for_each_check() {
    let kept = folder();
    let script = r#"$serve | sed -u 's/"code":"TOKEN_SCOPE_MISMATCH"/"code":"TOKEN_EXPIRED"/'"#;
    let arguments = ["--runs", "30", "--format", "json"];
    let document = document(&mut diff("mcp-aql", &arguments, script, &kept), 1);
    let found = divergences(&document);
    for clause in ["AQL-4.1-4", "AQL-4.1-5", "AQL-4.1-6"] {
        assert!(found.contains(&(clause, 2)), "{clause}: {found:?}");
    }
}

/// What the text leaves open is nobody's fault, and is told.
#[test]
fn one_that_takes_the_text_in_another_way_passes_and_the_way_is_named() {
    let settings = r#"{"expiry_boundary":"after","read_effect":"runs"}"#;
    let script = format!("exec $serve --settings '{settings}'");
    let arguments = ["--runs", "40", "--format", "json"];
    let document = unbroken(&mut diff("pending-action", &arguments, &script, &folder()));
    let readings = &document["readings"];
    assert_eq!(readings["expiry-boundary"], serde_json::json!(["after"]));
    assert_eq!(readings["read-effect"], serde_json::json!(["runs"]));
    let arguments = ["--runs", "40"];
    let output = diff("pending-action", &arguments, &script, &folder()).output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("UTF-8");
    assert!(text.contains("it takes expiry-boundary: after\n"), "{text}");
}

/// What is named is not open: another way to take that place is a fault then, and every other place is as open as before. That
/// holds for the way of the text, too.
#[test]
fn what_is_taken_in_the_way_that_is_named_is_not_open() {
    let served = |settings: &str, reading: &str, status| {
        let script = format!("exec $serve --settings '{settings}'");
        let arguments = ["--runs", "60", "--format", "json", "--reading", reading];
        let kept = folder();
        document(
            &mut diff("pending-action", &arguments, &script, &kept),
            status,
        )
    };
    let after = r#"{"expiry_boundary":"after","read_effect":"runs"}"#;
    let passes = served(after, "expiry-boundary=after", 0);
    assert!(passes["readings"].get("expiry-boundary").is_none());
    assert_eq!(
        passes["readings"]["read-effect"],
        serde_json::json!(["runs"])
    );
    for (settings, reading) in [
        (after, "expiry-boundary=at"),
        ("{}", "expiry-boundary=after"),
    ] {
        let fails = served(settings, reading, 1);
        assert_eq!(verdict_on(&fails, "PA-7"), "violates", "{fails:#}");
        let again = fails["divergences"][0]["repeat"].as_str().expect("a text");
        let expected = format!("countersign diff pending-action --reading {reading} --run ");
        assert!(again.starts_with(&expected), "{again}");
    }
}

/// What goes against a SHOULD and a MUST at once fails, whichever of the two it is found by.
#[test]
fn a_must_that_is_broken_together_with_a_should_fails() {
    let script = r#"exec $serve --settings '{"deciders_absent":"nobody"}'"#;
    let arguments = ["--runs", "40", "--format", "json", "--reading"];
    let arguments = [&arguments[..], &["deciders-absent=anyone"]].concat();
    let found = document(
        &mut diff("pending-action", &arguments, script, &folder()),
        1,
    );
    let clauses = divergences(&found);
    // The MUST names it.
    assert!(
        clauses.iter().all(|(clause, _)| *clause == "PA-1"),
        "{found:#}"
    );
    assert_eq!(found["divergences"][0]["also"], serde_json::json!(["PA-2"]));
    assert_eq!(found["verdict"], "violates");
}

/// No way to take the text explains a fault, so that the shortest run of it is one that none of them explains.
#[test]
fn a_fault_is_found_beside_another_way_to_take_the_text() {
    let script = LIAR.replace(
        "$serve",
        r#"$serve --settings '{"expiry_boundary":"after"}'"#,
    );
    let arguments = ["--runs", "60", "--format", "json"];
    let document = document(
        &mut diff("pending-action", &arguments, &script, &folder()),
        1,
    );
    assert_eq!(divergences(&document), [("PA-10", 2)]);
}

/// PA-10: an event that tells another decision than was taken.
const LIAR: &str = r#"$serve | sed -u 's/"type":"decided","decision":"deny"/"type":"decided","decision":"allow"/'"#;

#[test]
fn a_lie_about_a_decision_is_found_and_shown_in_the_fewest_steps() {
    let kept = folder();
    let arguments = ["--runs", "30", "--format", "json"];
    let document = document(&mut diff("pending-action", &arguments, LIAR, &kept), 1);
    assert_eq!(document["verdict"], "violates");
    assert_eq!(divergences(&document), [("PA-10", 2)]);
    assert_eq!(verdict_on(&document, "PA-10"), "violates");
    let steps = document["divergences"][0]["steps"].as_array();
    let steps = steps.expect("a list");
    let bad: Vec<&Value> = steps.iter().map(|it| &it["bad"]).collect();
    assert_eq!(bad, [false, true]);
    assert!(
        steps[1]["action"]
            .as_str()
            .is_some_and(|it| it.starts_with("decide "))
    );
}

#[test]
fn what_was_kept_shows_the_same_again() {
    let kept = folder();
    let first = diff("pending-action", &["--runs", "30"], LIAR, &kept).output();
    assert_eq!(first.expect("it runs").status.code(), Some(1));
    let file = kept.path().join("found-PA-10.json");
    let file = file.to_string_lossy();
    let arguments = ["--run", &file, "--format", "json"];
    let document = document(&mut diff("pending-action", &arguments, LIAR, &folder()), 1);
    assert_eq!(document["runs"], 1);
    assert_eq!(divergences(&document), [("PA-10", 2)]);
}

/// A run that is written by hand may name what nothing has named.
#[test]
fn a_step_that_cannot_be_asked_is_told() {
    let kept = folder();
    let file = kept.path().join("run.json");
    let run = r#"{"protocol": "pending-action", "shows": "", "steps": [
        {"op": "tick", "now": "2026-05-28T20:26:40.000Z"},
        {"op": "cancel", "now": "2026-05-28T20:26:40.500Z", "action_id": "${action_id-3}"}]}"#;
    fs::write(&file, run).expect("a file");
    let arguments = ["--run", &file.to_string_lossy()];
    let output = diff("pending-action", &arguments, LIAR, &kept).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(
        told.contains("run.json: 1 of 2 steps were not asked"),
        "{told}"
    );
}

#[test]
fn the_report_marks_the_bad_step_and_says_how_to_see_it_again() {
    let kept = folder();
    let output = diff("pending-action", &["--runs", "30"], LIAR, &kept).output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("UTF-8");
    for line in [
        "\nPA-10 (inferred) violated (MUST): ",
        "\n✗  2 ",
        "\n  expected  ",
        "\n  actual    ",
        "\n  repeat    countersign diff pending-action --run ",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    let last = text.lines().last().expect("a line");
    assert!(text.starts_with(&format!("{last}\n")), "{text}");
    assert!(last.starts_with("FAIL  1 violation, "), "{last}");
    assert!(
        last.contains(" clauses upheld (pending-action, 30 runs, "),
        "{last}"
    );
    assert!(last.ends_with(", seed 1)"), "{last}");
}

#[test]
fn one_that_dies_after_the_handshake_is_a_divergence_with_its_last_words() {
    let kept = folder();
    let script = "{ for n in 1 2 3 4; do read -r line; printf '%s\\n' \"$line\"; done; echo 'out of luck' >&2; } | $serve";
    let arguments = ["--runs", "5", "--format", "json"];
    let document = document(&mut diff("pending-action", &arguments, script, &kept), 1);
    let found = &document["divergences"][0];
    assert_eq!(found["clause"], "driver");
    let actual = found["actual"].as_str().expect("a text");
    assert!(actual.starts_with("the adapter ended"), "{actual}");
    assert!(actual.contains("out of luck"), "{actual}");
}

#[test]
fn one_that_does_not_greet_is_not_usable() {
    for script in [
        "exit 3",
        "echo hello",
        "read -r line; echo '{\"id\":1,\"outputs\":[]}'; cat",
    ] {
        let output = diff("pending-action", &[], script, &folder()).output();
        let output = output.expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{script}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("no `hello` response"), "{error}");
    }
}

#[test]
fn a_command_that_there_is_not_is_not_usable() {
    let output = countersign()
        .args(["diff", "pending-action", "--", "/no/such/program"])
        .output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}

/// It has nothing to say: what is required of everyone is never put out.
#[test]
fn one_that_does_nothing_fails() {
    let script = "n=0; while read -r line; do n=$((n+1)); if [ $n = 1 ]; then echo '{\"id\":1,\"name\":\"null\",\"supports\":[]}'; \
                  else echo \"{\\\"id\\\":$n,\\\"outputs\\\":[]}\"; fi; done";
    let arguments = ["--runs", "5", "--format", "json"];
    let document = document(
        &mut diff("pending-action", &arguments, script, &folder()),
        1,
    );
    assert_eq!(divergences(&document)[0], ("PA-1", 1));
}

/// What it cannot do, nobody can hold against it, and nobody can let it pass for.
#[test]
fn one_that_supports_nothing_is_inconclusive() {
    let script = "n=0; while read -r line; do n=$((n+1)); case $n in 1) echo '{\"id\":1,\"name\":\"null\",\"supports\":[]}';; \
                  *) case $line in *'\"op\":\"reset\"'*|*'\"op\":\"tick\"'*) echo \"{\\\"id\\\":$n,\\\"outputs\\\":[]}\";; \
                  *) echo \"{\\\"id\\\":$n,\\\"unsupported\\\":true}\";; esac;; esac; done";
    let arguments = ["--runs", "5", "--format", "json"];
    let document = document(
        &mut diff("pending-action", &arguments, script, &folder()),
        3,
    );
    let unsupported = document["unsupported"].as_array().expect("a list");
    assert!(
        unsupported.contains(&Value::from("propose")),
        "{unsupported:?}"
    );
}

#[test]
fn a_file_that_is_no_run_is_refused() {
    let kept = folder();
    let file = kept.path().join("run.json");
    fs::write(&file, "{\"protocol\":\"aaep\",\"shows\":\"\",\"steps\":[]}").expect("written");
    let arguments = ["--run", &*file.to_string_lossy()];
    let output = diff("pending-action", &arguments, "exec $serve", &kept).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("a run of aaep, not of pending-action"),
        "{error}"
    );
}

/// What is judged and not shown would be taken for not done.
#[test]
fn who_does_not_show_what_is_judged_is_told_so() {
    let script = r#"$serve | sed -u 's/"perform","append",/"perform",/'"#;
    let output = diff("pending-action", &["--runs", "5"], script, &folder()).output();
    let output = output.expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("does not show \"append\""), "{told}");
}

/// A crash loses the last outputs of a response, those that are not declared among them: nothing else is lost for that.
#[test]
fn what_is_not_shown_counts_in_a_crash() {
    let script = r#"$serve | sed -u 's/"event","audit",/"event",/'"#;
    let arguments = ["--runs", "120", "--format", "json"];
    let document = document(
        &mut diff("pending-action", &arguments, script, &folder()),
        0,
    );
    assert_eq!(document["verdict"], "holds");
}

/// PA-10: who has one id for all messages tells nobody which is which.
#[test]
fn a_message_has_an_id_of_its_own() {
    let script = r#"$serve | sed -u 's/"message_id":"msg_[0-9a-f]*"/"message_id":"msg_1"/g'"#;
    let arguments = ["--runs", "10", "--format", "json"];
    let document = document(
        &mut diff("pending-action", &arguments, script, &folder()),
        1,
    );
    assert_eq!(divergences(&document), [("PA-10", 2)]);
}

/// AAEP-6.1-1: a call to perform names the tool that was confirmed.
#[test]
fn another_tool_than_was_confirmed_is_found() {
    let script = r#"$serve | sed -u 's/\("perform":{[^}]*"tool":"\)/\1x/'"#;
    let arguments = ["--runs", "30", "--format", "json"];
    let document = document(&mut diff("aaep", &arguments, script, &folder()), 1);
    assert!(
        divergences(&document)
            .iter()
            .any(|(clause, _)| *clause == "AAEP-6.1-1")
    );
}

/// The adapter in Python with this fault, after the suite; none, where there is no Python.
fn faulty(fault: &str, arguments: &[&str]) -> Option<Value> {
    let command = adapter::adapter("pending_action", &["--fault", fault])?;
    let kept = folder();
    let mut diff = countersign();
    diff.args(["diff", "pending-action", "--runs", "0", "--format", "json"]);
    diff.args(arguments)
        .arg("--save")
        .arg(kept.path())
        .arg("--");
    let output = diff.args(command).output().expect("it runs");
    Some(serde_json::from_slice(&output.stdout).expect("a JSON document"))
}

/// PA-6 is a SHOULD.
#[test]
fn a_should_counts_where_that_is_asked_for() {
    for (arguments, result) in [(&[][..], "PASS"), (&["--strict"], "FAIL")] {
        let Some(found) = faulty("silent-denial", arguments) else {
            return;
        };
        assert_eq!(divergences(&found)[0].0, "PA-6");
        assert_eq!(found["result"], result, "{found:#}");
    }
}

/// PA-2, PA-1: a call that its own agent allows, or somebody who may not, has not stopped for a decision.
#[test]
fn a_call_that_nobody_allowed_who_may_fails() {
    for fault in ["agent-decides", "stranger-decides", "any-decider"] {
        let Some(found) = faulty(fault, &[]) else {
            return;
        };
        assert_eq!(found["result"], "FAIL", "{fault}");
        assert_eq!(verdict_on(&found, "PA-2"), "violates", "{fault}");
        assert_eq!(verdict_on(&found, "PA-1"), "violates", "{fault}");
        // By its name in the run.
        let expected = found["divergences"][0]["expected"].as_str();
        let expected = expected.unwrap_or_default();
        assert!(
            expected.contains(" pa_") && !expected.contains("action 0"),
            "{expected}"
        );
    }
}

/// What is broken behind the first fault of a run, or beside it, is told with it and does not count.
#[test]
fn what_follows_from_a_fault_is_told_and_does_not_count() {
    let Some(found) = faulty("deny-is-allow", &[]) else {
        return;
    };
    assert_eq!(divergences(&found).len(), 1, "{found:#}");
    let cause = &found["divergences"][0];
    assert_eq!(cause["clause"], "PA-5");
    let follow = cause["consequences"].as_array().expect("a list");
    assert!(follow.contains(&Value::from("PA-10")), "{cause:#}");
    assert_eq!(verdict_on(&found, "PA-10"), "violates");
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_before_the_first_run() {
    let kept = folder();
    let (file, started) = (kept.path().join("file"), kept.path().join("started"));
    fs::write(&file, "").expect("written");
    let script = format!("touch {}; exec $serve", started.display());
    let mut command = countersign();
    let serve = script.replace(
        "$serve",
        &format!("{} serve pending-action --stdio", binary()),
    );
    command
        .args(["diff", "pending-action", "--save"])
        .arg(file.join("below"));
    let output = command
        .args(["--", "sh", "-c", &serve])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("cannot write into the folder of --save"),
        "{error}"
    );
    assert!(!started.exists());
}

/// Only what `diff` has written itself goes.
#[test]
fn what_an_earlier_diff_has_found_does_not_stay() {
    let kept = folder();
    let names = || {
        let files = fs::read_dir(kept.path()).expect("a folder");
        let mut names: Vec<_> = files.map(|it| it.expect("a file").file_name()).collect();
        names.sort();
        names
    };
    let first = diff("pending-action", &["--runs", "0"], LIAR, &kept).output();
    assert_eq!(first.expect("it runs").status.code(), Some(1));
    assert_eq!(names(), ["found-PA-10.json"]);
    fs::write(kept.path().join("found-mine.json"), "{}").expect("written");
    let second = diff("pending-action", &["--runs", "0"], "exec $serve", &kept).output();
    assert_eq!(second.expect("it runs").status.code(), Some(0));
    assert_eq!(names(), ["found-mine.json"]);
}

/// One that hangs at its 30th response, and tells each of its starts.
fn hanging(kept: &TempDir) -> String {
    let starts = kept.path().join("starts");
    format!(
        "echo >> {}; $serve | {{ n=0; while read -r line; do n=$((n+1)); \
         [ $n = 30 ] && exec sleep 20; printf '%s\\n' \"$line\"; done; }}",
        starts.display()
    )
}

#[test]
fn one_that_hangs_costs_one_timeout() {
    let (kept, save) = (folder(), folder());
    let serve = format!("{} serve pending-action --stdio", binary());
    let mut command = countersign();
    command
        .args(["diff", "pending-action", "--format", "json", "--save"])
        .arg(save.path());
    command.args(["--", "sh", "-c", &hanging(&kept).replace("$serve", &serve)]);
    let found = document(&mut command, 1);
    assert_eq!(found["ended"], "stopped at the first hang");
    assert_eq!(divergences(&found)[0].0, "driver");
    assert_eq!(found["divergences"].as_array().map(Vec::len), Some(1));
    let starts = fs::read_to_string(kept.path().join("starts")).expect("a file");
    assert_eq!(starts.lines().count(), 1);
}

#[test]
fn it_stops_at_the_first_violation_where_that_is_asked_for() {
    let arguments = ["--runs", "100000", "--fail-fast", "--format", "json"];
    let found = document(&mut diff("pending-action", &arguments, LIAR, &folder()), 1);
    assert_eq!(found["ended"], "stopped at the first violation");
    assert_eq!(found["runs"], 0);
}

/// What a command prints that gets a signal as soon as a file is there.
fn signalled(
    command: &mut std::process::Command,
    signal: &str,
    begun: &std::path::Path,
) -> std::process::Output {
    let running = command.stdout(std::process::Stdio::piped()).spawn();
    let running = running.expect("it runs");
    while !begun.exists() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let id = running.id().to_string();
    let kill = std::process::Command::new("kill")
        .args(["-s", signal, &id])
        .status();
    assert!(kill.expect("it runs").success());
    running.wait_with_output().expect("it ends")
}

/// The report of nothing, in each format, while the adapter starts; of the preflight what it has checked so far.
#[test]
fn a_signal_before_the_first_run_ends_it_with_a_report() {
    let starts = "touch $begun; exec sleep 600";
    // The second process greets, and answers nothing more.
    let greets = "if [ -e $begun.first ]; then head -n 1 | $serve; touch $begun; exec sleep 600; \
                  else touch $begun.first; exec $serve; fi";
    for (arguments, script, begins) in [
        (&["--format", "text"][..], starts, "INCONCLUSIVE  "),
        (&["--format", "json"], starts, "{"),
        (&["--format", "sarif"], starts, "{"),
        (&["--format", "junit"], starts, "<?xml "),
        (&["--format", "html"], starts, "<!DOCTYPE html>"),
        (&["--preflight"], starts, "INCONCLUSIVE  0 of 0 checks"),
        (&["--preflight", "--format", "json"], greets, "{"),
    ] {
        let kept = folder();
        let begun = kept.path().join("begun");
        let serve = format!("{} serve pending-action --stdio", binary());
        let script = script.replace("$serve", &serve);
        let script = script.replace("$begun", &begun.display().to_string());
        let mut command = std::process::Command::new(binary());
        command.args(["diff", "pending-action", "--timeout", "600"]);
        command.current_dir(kept.path()).args(arguments);
        command.args(["--", "sh", "-c", &script]);
        let output = signalled(&mut command, "INT", &begun);
        let told = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {told}");
        assert!(told.starts_with(begins), "{arguments:?}: {told}");
        if arguments.ends_with(&["json"]) {
            let report: Value = serde_json::from_str(&told).expect("a JSON document");
            assert_eq!(report["ended"], "stopped by a signal");
            assert_eq!(report["result"], "INCONCLUSIVE");
            let checks = report["checks"].as_array().into_iter().flatten();
            assert!(checks.map(|it| &it["passed"]).all(|it| it == true));
        } else if begins == "{" {
            let _valid: Value = serde_json::from_str(&told).expect("a JSON document");
        }
    }
}

/// The report so far: by a violation that was found, or else inconclusive. One that hangs is not waited for.
#[test]
fn a_signal_ends_it_with_the_report_so_far() {
    for (signal, hangs, status) in [("INT", false, 1), ("TERM", false, 1), ("INT", true, 3)] {
        let (kept, save) = (folder(), folder());
        let saved = save.path().join("found-PA-10.json");
        let (script, begun) = if hangs {
            (hanging(&kept), kept.path().join("starts"))
        } else {
            (LIAR.to_owned(), saved.clone())
        };
        let serve = format!("{} serve pending-action --stdio", binary());
        let mut command = std::process::Command::new(binary());
        command.args([
            "diff",
            "pending-action",
            "--seconds",
            "600",
            "--timeout",
            "600",
        ]);
        command
            .args(["--format", "json", "--save"])
            .arg(save.path());
        command.args(["--", "sh", "-c", &script.replace("$serve", &serve)]);
        // What was found stands in its file before the search ends.
        let output = signalled(&mut command, signal, &begun);
        let told = String::from_utf8_lossy(&output.stdout);
        let report: Value = serde_json::from_str(&told).unwrap_or_else(|it| panic!("{it}: {told}"));
        assert_eq!(output.status.code(), Some(status), "{report:#}");
        assert_eq!(report["ended"], "stopped by a signal");
        assert_eq!(saved.exists(), !hangs);
    }
}
