//! The pages as different people read them: small, dark, by keyboard, on paper, without motion, without what is private.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::chromium::Chromium;
use super::{countersign, folder, rejected, reported, shown};

/// Text that has to be broken somewhere: one long word, and many participants.
fn unwieldy(folder: &TempDir) -> PathBuf {
    let stream = fs::read_to_string(rejected()).expect("a stream");
    let mut lines = String::new();
    for (index, line) in stream.lines().enumerate() {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        for name in ["tool", "action", "reply_token", "from_state"] {
            if record.get(name).is_some() {
                record[name] = json!("W".repeat(300));
            }
        }
        if record.get("producer").is_some() {
            record["producer"] = json!({ "agent_id": format!("שלום-{index}-{}", "w".repeat(80)) });
        }
        let _ = writeln!(lines, "{record}");
    }
    let file = folder.path().join("unwieldy.jsonl");
    fs::write(&file, lines).expect("a file");
    file
}

/// Whether the chosen step is in the window, from its first line to its last, with nothing over it.
const IN_VIEW: &str = "new Promise((done) => setTimeout(() => {
  const row = document.querySelector('tr[aria-current]');
  const box = row.getBoundingClientRect();
  const seen = (y) => row.contains(document.elementFromPoint(box.x + 40, y));
  done(seen(box.y + 3) && seen(box.bottom - 3));
}, 100))";

/// Whether the heads of the lanes are in the window, with nothing over them.
const HEADS_IN_VIEW: &str = "(() => {
  const head = document.querySelector('.run thead');
  const box = head.getBoundingClientRect();
  return head.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
})()";

/// WCAG 1.4.10: down to 320 pixels, which is also a window of 1280 at 400 %, nothing has to be scrolled sideways.
#[test]
#[ignore = "night: needs Chromium"]
fn the_page_fits_windows_of_every_width() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let (one, other) = (folder(), folder());
    let pages = [
        (shown(&rejected(), &one), "show"),
        (shown(&unwieldy(&other), &other), "unwieldy"),
    ];
    for (width, height, dark) in [
        (1600, 900, true),
        (1000, 900, false),
        (700, 450, false),
        (390, 900, true),
        (320, 256, false),
    ] {
        for (page, name) in &pages {
            browser.look(width, height, dark);
            browser.open(page, "#s7");
            let overflow = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
            assert!(
                overflow.as_i64().is_some_and(|overflow| overflow <= 0),
                "{name} {width}: {overflow}"
            );
            browser.keep(&format!("{name}-{width}"));
            if *name == "show" {
                let seen = browser.evaluate(IN_VIEW);
                assert_eq!(seen, true, "{width}: the step of the address is in view");
                let heads = browser.evaluate(HEADS_IN_VIEW);
                assert!(
                    heads == true || height < 576,
                    "{width}: the heads are in view"
                );
            }
        }
    }
}

/// For every text in view: its colour on the colour behind it. Yields those below WCAG 1.4.3 (4.5 to 1), and how many there
/// are in all.
const CONTRAST: &str = r"(() => {
  const channels = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const opaque = (text) => text !== 'transparent' && (channels(text).length < 4 || channels(text)[3] > 0);
  const luminance = (text) => {
    const [r, g, b] = channels(text).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (opaque(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const low = [];
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility() || element.closest('script, :disabled')) continue;
    texts++;
    const [one, two] = [getComputedStyle(element).color, behind(element)].map(luminance);
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) low.push(element.className + ' ' + element.tagName + ' ' + ratio.toFixed(2) + ': ' + walker.currentNode.textContent.slice(0, 30));
  }
  return [texts, [...new Set(low)]];
})()";

/// WCAG 1.4.3, in light and in dark, with a violation chosen and without.
#[test]
#[ignore = "night: needs Chromium"]
fn every_text_stands_out_from_what_is_behind_it() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let show = shown(&rejected(), &folder);
    let report = reported(&folder);
    for dark in [false, true] {
        for (page, fragment) in [(&show, "#s1"), (&show, "#s7"), (&report, "#clauses")] {
            browser.look(1400, 900, dark);
            browser.open(page, fragment);
            let seen = browser.evaluate(CONTRAST);
            assert!(seen[0].as_u64() > Some(40), "{seen}");
            assert_eq!(seen[1], json!([]), "dark: {dark}, {fragment}");
        }
    }
}

/// WCAG 2.4.7 and 2.4.11: whatever has the focus shows it, and nothing lies over it.
#[test]
#[ignore = "night: needs Chromium"]
fn the_focus_is_seen_wherever_the_tabulator_leads() {
    const SEEN: &str = "(() => {
      const element = document.activeElement;
      if (element === document.body) return 'body';
      const style = getComputedStyle(element);
      const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
      const box = element.getClientRects()[0];
      const [x, y] = [box.x + Math.min(box.width / 2, 20), Math.max(1, box.y + Math.min(box.height / 2, 8))];
      const top = document.elementFromPoint(x, y);
      const free = top && (element.contains(top) || top.contains(element));
      return outlined && free ? '' : (element.id || element.outerHTML.slice(0, 80)) + ' outlined: ' + outlined + ', free: ' + free;
    })()";
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let show = shown(&rejected(), &folder);
    let report = reported(&folder);
    for (page, width, height) in [
        (&show, 1400, 900),
        (&show, 700, 900),
        (&show, 320, 256),
        (&report, 1400, 900),
        (&report, 320, 256),
    ] {
        browser.look(width, height, false);
        browser.open(page, "");
        for stop in 0..24 {
            browser.press("Tab");
            let seen = browser.evaluate(SEEN);
            if seen == "body" {
                break;
            }
            assert_eq!(seen, "", "{}, {width}, stop {stop}", page.display());
        }
    }
}

#[test]
#[ignore = "night: needs Chromium"]
fn a_jump_to_a_step_leads_back_to_its_fault_and_the_skip_link_to_the_steps() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let page = shown(&rejected(), &folder);
    browser.open(&page, "");
    browser.press("Tab");
    browser.press("Enter");
    assert_eq!(browser.evaluate("document.activeElement.id"), "steps");
    browser.press("Tab");
    assert_eq!(browser.evaluate("document.activeElement.id"), "as-table");

    browser.evaluate("document.querySelector('#faults a.jump').focus()");
    browser.press("Enter");
    let row = "document.activeElement.closest('tr')?.id";
    assert_eq!(browser.evaluate(row), "s7");
    browser.press("ArrowDown");
    browser.press("Escape");
    assert_eq!(browser.evaluate("document.activeElement.className"), "jump");
    assert_eq!(
        browser.text("#now"),
        "Step 8 of 10",
        "the reader stays at the step"
    );

    browser.click("#s5 .what");
    assert_eq!(
        browser.text("#said"),
        "subscriber to agent-1: reject rpl_q1. rpl_q1: pending → rejected",
        "what became of the question is heard with the step"
    );
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// On paper nothing can be stepped through: every fault is there with what was seen, and nothing is dark.
#[test]
#[ignore = "night: needs Chromium"]
fn on_paper_the_faults_are_told_and_the_controls_are_not() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let page = shown(&rejected(), &folder);
    browser.look(1000, 900, true);
    browser.open(&page, "#s7");
    let dark = json!([{ "name": "prefers-color-scheme", "value": "dark" }]);
    browser.call(
        "Emulation.setEmulatedMedia",
        &json!({ "media": "print", "features": dark }),
    );
    let shown = "['#panel', '#as-table', '#faults', '#s10', '#clauses'].map((id) => document.querySelector(id).checkVisibility())";
    assert_eq!(
        browser.evaluate(shown),
        json!([false, false, true, true, true])
    );
    assert_eq!(browser.evaluate(CONTRAST)[1], json!([]));
    let behind = browser.evaluate("getComputedStyle(document.body).backgroundColor");
    assert_eq!(
        behind, "rgb(251, 250, 247)",
        "a dark page is no page to print"
    );
    browser.keep("show-print");
}

/// Whoever cannot bear motion sees none.
#[test]
#[ignore = "night: needs Chromium"]
fn nothing_moves_where_motion_is_not_wanted() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let page = shown(&rejected(), &folder);
    let still = json!([{ "name": "prefers-reduced-motion", "value": "reduce" }]);
    browser.call("Emulation.setEmulatedMedia", &json!({ "features": still }));
    browser.open(&page, "");
    let moving = "[...document.querySelectorAll('*')].filter((element) => {
       const style = getComputedStyle(element);
       return style.transitionDuration !== '0s' || style.animationName !== 'none' || style.scrollBehavior === 'smooth';
     }).length";
    assert_eq!(browser.evaluate(moving), 0);
}

/// A redacted page has nothing of the stream in it, also not where the script would find it.
#[test]
#[ignore = "night: needs Chromium"]
fn a_redacted_page_works_without_the_records() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let page = folder.path().join("redacted.html");
    let (file, out) = (rejected().display().to_string(), page.display().to_string());
    countersign(&["show", &file, "--redact", "--format", "html", "--out", &out]);
    browser.open(&page, "");
    browser.click("#fault");
    assert_eq!(browser.text("#now"), "Step 7 of 10");
    assert!(browser.text("#states").contains("question 1"));
    assert_eq!(
        browser.evaluate("document.getElementById('record').hidden"),
        true
    );
    let whole = browser
        .evaluate("document.documentElement.outerHTML.match(/send_email|rpl_q1|sess_a1|agent-1/)");
    assert_eq!(whole, Value::Null);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// Kept runs of every protocol, a divergence, a stream that is cut off and one of which every line is broken.
#[test]
#[ignore = "night: needs Chromium"]
fn whatever_is_drawn_is_stepped_through_without_complaint() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/kept");
    let kept = ["aaep", "mcp-aql"].map(|protocol| {
        let mut files = fs::read_dir(traces.join(protocol)).expect("a folder");
        let file = files.next().expect("a kept run").expect("an entry");
        fs::read(file.path()).expect("a run")
    });
    let step = json!({ "at": "t=0", "actor": "network", "to": "producer", "action": "arrives",
        "changes": ["c1: pending → accepted"] });
    let divergence =
        json!({ "clause": "AAEP-none", "steps": [step], "expected": "nothing", "actual": "</p>" });
    let whole = fs::read(rejected()).expect("a stream");
    let cut = whole[..whole.len() / 2].to_vec();
    let broken = b"{}\n[]\n\xff\xfe\n\n{\"type\":\"aaep:x\"}\n{\"a\":\"\\ud800\"}\n".to_vec();
    let folder = folder();
    for content in kept
        .into_iter()
        .chain([divergence.to_string().into_bytes(), cut, broken])
    {
        let file = folder.path().join("drawn");
        fs::write(&file, content).expect("a file");
        browser.open(&shown(&file, &folder), "#s1");
        let steps = browser.evaluate("document.querySelectorAll('.run tbody tr').length");
        for step in 1..=steps.as_u64().expect("a count") {
            assert_eq!(browser.text("#now"), format!("Step {step} of {steps}"));
            browser.press("ArrowRight");
        }
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
