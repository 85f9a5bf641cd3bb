//! The pages that `show` and `report` write, in a real browser: by mouse, by keyboard, and as a screen reader finds them.
//!
//! Without a Chromium the tests say that they are skipped. `PICTURES=folder` keeps pictures of what they saw.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

use chromium::Chromium;

mod chromium;
mod reading;
mod reporting;

fn countersign(arguments: &[&str]) {
    let mut command = Command::cargo_bin("countersign").expect("the binary is built");
    command.args(arguments).assert().success();
}

/// A page of `show` about this file.
fn shown(file: &Path, folder: &TempDir) -> PathBuf {
    let page = folder.path().join("run.html");
    let (file, out) = (file.display().to_string(), page.display().to_string());
    countersign(&["show", &file, "--format", "html", "--out", &out]);
    page
}

/// The page of `report`.
fn reported(folder: &TempDir) -> PathBuf {
    countersign(&["report", "--out", &folder.path().display().to_string()]);
    folder.path().join("index.html")
}

fn rejected() -> PathBuf {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    traces.join("invalid/AAEP-A.8-5_called-after-rejection.jsonl")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// AAEP-A.8-5: from the list of violations to the line, its clause, and what is known of the confirmation there.
#[test]
#[ignore = "night: needs Chromium"]
fn a_violation_leads_to_its_line_and_its_clause() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let page = shown(&rejected(), &folder);
    browser.look(1400, 900, false);
    browser.open(&page, "");
    browser.keep("show-light");
    assert_eq!(
        browser.text("#now"),
        "Step 7 of 10",
        "it opens at the first fault"
    );
    assert_eq!(browser.text("#faults-head"), "1 violation");
    assert_eq!(browser.evaluate("scrollY"), 0, "what is in view stays");

    browser.click("#faults a.jump");
    assert_eq!(browser.text("#now"), "Step 7 of 10");
    assert_eq!(browser.text("#place"), "line 7, 14:22:21.600");
    assert!(browser.text("#wrong").contains("AAEP-A.8-5"));
    assert!(browser.text("#states").contains("rejected"));
    assert_eq!(browser.text("tr[aria-current] .number"), "7");
    assert_eq!(browser.evaluate("location.hash"), "#s7");
    let record = browser.evaluate("document.querySelector('#record pre').textContent");
    assert!(
        record
            .as_str()
            .expect("text")
            .contains("aaep:agent.tool.invoked")
    );
    browser.keep("show-violation");

    browser.click("#faults a.clause");
    assert_eq!(browser.evaluate("location.hash"), "#clause-AAEP-A.8-5");
    assert!(browser.text("#clause-AAEP-A\\.8-5").contains("MUST"));
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// A file of several runs is one page, in which they are picked.
#[test]
#[ignore = "night: needs Chromium"]
fn the_runs_of_a_file_are_picked_in_its_page() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let file = folder.path().join("found.json");
    let step = |action: &str| json!({ "at": "t=0", "actor": "producer", "action": action });
    let runs = json!([
        { "property": "one", "steps": [step("asks"), step("acts")] },
        { "property": "two", "steps": [step("sleeps"), step("waits"), step("wakes")] },
    ]);
    fs::write(&file, json!({ "properties": runs }).to_string()).expect("a file");
    let page = shown(&file, &folder);
    browser.open(&page, "");
    assert_eq!(browser.text("nav.runs label"), "Run 1 of 2");
    assert_eq!(browser.text("#now"), "Step 2 of 2");
    let pick = "const runs = document.getElementById('runs'); runs.value = 2; runs.dispatchEvent(new Event('change'))";
    browser.evaluate(pick);
    assert_eq!(browser.text("nav.runs label"), "Run 2 of 2");
    assert_eq!(browser.text("h1"), "two");
    assert_eq!(browser.text("#now"), "Step 3 of 3");
    browser.press("ArrowLeft");
    assert_eq!(browser.text("#said"), "producer: waits");
    assert_eq!(browser.evaluate("location.hash"), "#r2s2");
    browser.open(&page, "#r2s1");
    assert_eq!(browser.text("#said"), "producer: sleeps");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
#[ignore = "night: needs Chromium"]
fn a_run_is_stepped_through_by_keyboard_and_heard_as_it_goes() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let page = shown(&rejected(), &folder);
    browser.open(&page, "#s4");
    assert_eq!(
        browser.text("#now"),
        "Step 4 of 10",
        "an address leads to its step"
    );
    for (key, step) in [
        ("ArrowRight", 5),
        ("ArrowLeft", 4),
        ("End", 10),
        ("ArrowRight", 10),
        ("Home", 1),
        ("ArrowLeft", 1),
    ] {
        browser.press(key);
        assert_eq!(browser.text("#now"), format!("Step {step} of 10"), "{key}");
    }
    browser.press("ArrowRight");
    assert_eq!(browser.text("#said"), "agent-1: idle → thinking");
    assert_eq!(
        browser.evaluate("document.getElementById('said').ariaLive"),
        "polite"
    );

    // Everything that can be used is reached by the tabulator, the rows as one stop.
    browser.open(&page, "");
    browser.press("Home");
    browser.press("ArrowRight");
    let mut stops = Vec::new();
    for _ in 0..14 {
        browser.press("Tab");
        let stop = browser.evaluate("document.activeElement.closest('[id]')?.id || document.activeElement.className || 'body'");
        stops.push(stop.as_str().expect("a name").to_owned());
    }
    let expected = ["skip unseen", "first", "back", "next", "last", "fault"];
    assert_eq!(stops[..6], expected, "{stops:?}");
    assert!(
        stops.contains(&"s2".to_owned()),
        "the step where the reader is: {stops:?}"
    );
    assert!(
        !stops.contains(&"s3".to_owned()),
        "no other step: {stops:?}"
    );

    browser.evaluate("document.querySelector('#s2 a').focus()");
    browser.press("ArrowDown");
    assert_eq!(
        browser.evaluate("document.activeElement.closest('tr').id"),
        "s3"
    );
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// The names and roles that the browser hands to a screen reader.
#[test]
#[ignore = "night: needs Chromium"]
fn a_screen_reader_finds_landmarks_headings_and_a_table() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let page = shown(&rejected(), &folder);
    browser.open(&page, "#s1");
    let tree = browser.call("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().expect("a tree");
    let has = |role: &str, name: &str| {
        nodes
            .iter()
            .any(|node| node["role"]["value"] == role && node["name"]["value"] == name)
    };
    for (role, name) in [
        ("main", ""),
        ("banner", ""),
        ("navigation", "1 violation"),
        ("region", "Steps"),
        ("region", "Step 1 of 10"),
        ("heading", "Steps"),
        (
            "table",
            "Every step: when, from whom to whom, and what happens",
        ),
        ("columnheader", "What happens"),
        ("rowheader", "7"),
        ("cell", "agent-1 to tools"),
        ("button", "First step"),
        ("button", "Show as a table"),
    ] {
        assert!(has(role, name), "{role} {name:?}");
    }
    let pictures = nodes.iter().filter(|node| node["role"]["value"] == "image");
    assert_eq!(
        pictures.count(),
        0,
        "the drawing is the table's, not a picture beside it"
    );

    browser.click("#as-table");
    let shown = browser.evaluate("getComputedStyle(document.querySelector('td.lanes')).display");
    assert_eq!(shown, "none");
    assert_eq!(browser.text("#s7 .who"), "agent-1 to tools");
}

/// Text that means to be more than text, in every place that is shown.
#[test]
#[ignore = "night: needs Chromium"]
fn a_hostile_stream_runs_nothing_and_loads_nothing() {
    const HOSTILE: &str = "</script><img src=https://example.invalid/x onerror=\"document.title='taken'\">\u{202E}\u{1}<!--";
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let stream = fs::read_to_string(rejected()).expect("a stream");
    let mut hostile = String::new();
    for line in stream.lines() {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        for name in [
            "tool",
            "from_state",
            "action",
            "reply_token",
            "session_id",
            "decision",
        ] {
            if record.get(name).is_some() {
                record[name] = json!(HOSTILE);
            }
        }
        record["producer"] = json!({ "agent_id": HOSTILE });
        let _ = writeln!(hostile, "{record}");
    }
    let _ = writeln!(hostile, "{HOSTILE}");
    let file = folder.path().join("<b onclick=1>.jsonl");
    fs::write(&file, hostile).expect("a file");
    let page = shown(&file, &folder);
    browser.open(&page, "");
    for _ in 0..12 {
        browser.press("ArrowRight");
    }
    browser.click("#faults a.jump");
    let title = browser.evaluate("document.title");
    assert!(
        title
            .as_str()
            .expect("a title")
            .starts_with("recorded stream: "),
        "{title}"
    );
    assert_eq!(
        browser.evaluate("document.querySelectorAll('img, b, iframe, link').length"),
        0
    );
    assert_eq!(
        browser.evaluate("document.querySelectorAll('script').length"),
        2,
        "the data and ours"
    );
    let bidi = browser
        .evaluate("/[\\u0000-\\u0008\\u202a-\\u202e]/.test(document.documentElement.textContent)");
    assert_eq!(bidi, false);
    let elsewhere: Vec<_> = browser
        .requests
        .iter()
        .filter(|url| url.starts_with("http"))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);

    // Even a text that slipped through would be stopped.
    let slipped = "new Promise((done) => {
       addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
       const script = document.createElement('script');
       script.textContent = 'document.title = \"taken\"';
       document.body.append(script);
     })";
    assert_eq!(browser.evaluate(slipped), "script-src-elem");
}

/// A session of ten thousand events, with a confirmation every tenth.
fn long_stream() -> String {
    let mut stream = String::new();
    for index in 0..10_000_u64 {
        let (second, thousandth) = (index / 100, index % 100 * 10);
        let timestamp = format!(
            "2026-05-24T{:02}:{:02}:{:02}.{thousandth:03}Z",
            14 + second / 3600,
            second / 60 % 60,
            second % 60
        );
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1",
            "event_id": format!("evt_{index}"),
            "session_id": "sess_long",
            "timestamp": timestamp,
            "producer": { "agent_id": "agent-1" },
            "sequence_number": index,
        });
        let (kind, more) = match index {
            0 => (
                "session.started",
                json!({ "summary_normal": "A request came in." }),
            ),
            9_999 => ("session.completed", json!({ "summary_normal": "Done." })),
            _ if index % 10 == 4 => (
                "awaiting.confirmation",
                json!({
                    "urgency": "critical", "action": "Send the next letter", "consequence": "It is sent.",
                    "reply_token": format!("rpl_{index}"), "timeout_seconds": 1, "default_decision": "reject",
                    "risk_level": "low", "irreversible": false,
                }),
            ),
            _ => (
                "output.streaming",
                json!({ "output_id": "out_1", "chunk": "A few words of an answer. ", "position": index * 26, "complete": false }),
            ),
        };
        event["type"] = json!(format!("aaep:agent.{kind}"));
        let more = more.as_object().expect("an object").clone();
        event.as_object_mut().expect("an object").extend(more);
        let _ = writeln!(stream, "{event}");
    }
    stream
}

#[test]
#[ignore = "night: needs Chromium"]
fn ten_thousand_events_open_and_scroll_without_delay() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let file = folder.path().join("long.jsonl");
    fs::write(&file, long_stream()).expect("a file");
    let page = shown(&file, &folder);
    browser.look(1400, 900, false);
    let opened = browser.open(&page, "");
    assert_eq!(browser.text("#now"), "Step 2 of 10000");
    let scrolled = browser.evaluate(
        "(async () => {
           const frame = () => new Promise((done) => requestAnimationFrame(done));
           const length = document.documentElement.scrollHeight;
           let longest = 0;
           for (let at = 0; at < 40; at++) {
             const before = performance.now();
             scrollTo(0, length * at / 40);
             await frame();
             await frame();
             longest = Math.max(longest, (performance.now() - before) / 2);
           }
           return longest;
         })()",
    );
    let scrolled = scrolled.as_f64().expect("a duration");
    let stepped = browser.evaluate(
        "(() => {
           const before = performance.now();
           document.getElementById('last').click();
           document.body.getBoundingClientRect();
           return performance.now() - before;
         })()",
    );
    let stepped = stepped.as_f64().expect("a duration");
    assert_eq!(browser.text("#now"), "Step 10000 of 10000");
    let seen = browser.evaluate(
        "(async () => {
           const row = document.getElementById('s10000');
           const isSeen = () => { const box = row.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; };
           for (let tries = 0; tries < 600 && !isSeen(); tries++) await new Promise((done) => setTimeout(done, 100));
           return isSeen();
         })()",
    );
    assert_eq!(seen, true, "the last step is in view");
    let bytes = fs::metadata(&page).expect("a page").len();
    eprintln!(
        "10,000 events, {bytes} bytes: opened in {opened:.0} ms, longest frame while scrolling {scrolled:.0} ms, \
         from the first step to the last in {stepped:.0} ms"
    );
    // Many times what is seen on an idle machine: this is to notice a page that lays out all of its rows.
    assert!(opened < 10_000.0 && scrolled < 1_000.0 && stepped < 2_000.0);
    browser.keep("show-long");
}

#[test]
#[ignore = "night: needs Chromium"]
fn the_report_is_filtered_by_words_level_and_gap() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let page = reported(&folder);
    browser.look(1400, 1000, false);
    browser.open(&page, "");
    browser.keep("report-light");
    assert_eq!(browser.text("#shown"), "All 257 clauses");
    browser.click("#words");
    browser.write("aaep-6.3.4-4");
    assert_eq!(browser.text("#shown"), "1 of 257 clauses");
    assert_eq!(
        browser.text(".clauses tr:not([hidden]) th a"),
        "AAEP-6.3.4-4"
    );
    browser.click(".clauses tr:not([hidden]) summary");
    assert!(
        browser
            .text(".clauses tr:not([hidden]) dl")
            .contains("guarded in the model by")
    );
    browser.keep("report-filtered");

    browser.click("#filter button");
    browser.evaluate("new Promise((done) => setTimeout(done, 50))");
    assert_eq!(browser.text("#shown"), "All 257 clauses");
    let choose = |browser: &mut Chromium, id: &str, value: &str| {
        browser.evaluate(&format!(
            "(() => {{ const select = document.getElementById('{id}'); select.value = '{value}';
               select.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
        ));
        browser.text("#shown")
    };
    assert_eq!(
        choose(&mut browser, "level", "SHOULD NOT"),
        "3 of 257 clauses"
    );
    choose(&mut browser, "level", "");
    let report = fs::read_to_string(folder.path().join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let excepted = &report["totals"]["not_checkable"];
    assert_eq!(
        choose(&mut browser, "known", "exception"),
        format!("{excepted} of 257 clauses")
    );
    browser.look(1400, 1000, true);
    browser.keep("report-dark");
    browser.look(480, 1000, false);
    browser.keep("report-narrow");
    let tree = browser.call("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().expect("a tree");
    for role in ["table", "rowheader", "cell", "search"] {
        let has = nodes.iter().any(|node| node["role"]["value"] == role);
        assert!(has, "a narrow report has no {role}");
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    assert!(
        browser.requests.iter().all(|url| !url.starts_with("http")),
        "{:?}",
        browser.requests
    );
}
