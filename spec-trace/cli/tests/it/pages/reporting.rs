//! The pages of `report` in a window and on paper: heads that stay, addresses that open what they lead to, texts of others.

use std::fs;
use std::path::Path;

use countersign_cli::report::Report;
use serde_json::json;

use super::chromium::Chromium;
use super::{folder, reported};
use crate::report;

/// Every kind of page, as its file and the address in it.
const PAGES: [(&str, &str); 6] = [
    ("index.html", ""),
    ("index.html", "#AAEP-6.3.4-4"),
    ("findings.html", ""),
    ("findings/AAEP-F2.html", ""),
    ("readings.html", ""),
    ("worth-pending-action.html", ""),
];

/// Writes a report.
fn write(report: &Report, folder: &Path) {
    fs::create_dir_all(folder.join("findings")).expect("a folder");
    for (name, text) in report.files() {
        fs::write(folder.join(name), text).expect("a file");
    }
}

#[test]
#[ignore = "night: needs Chromium"]
fn every_page_of_a_report_fits_its_window_and_loads_nothing() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    write(&report::whole(), folder.path());
    for (width, dark) in [(1280, false), (390, true), (320, false)] {
        browser.look(width, 900, dark);
        for (page, place) in PAGES {
            browser.open(&folder.path().join(page), place);
            // Whatever is folded has to fit, too.
            browser.evaluate(
                "document.querySelectorAll('details').forEach((it) => { it.open = true; })",
            );
            let overflow = browser.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            assert_eq!(overflow, 0, "{page} in {width}");
            let name = page.replace('/', "-").replace(".html", "");
            browser.keep(&format!("{name}-{width}{}", place.replace('#', "-")));
        }
    }
    // What stands in an editor's copy is text.
    assert_eq!(browser.evaluate("document.images.length"), 0);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    let elsewhere = browser.requests.iter().filter(|it| it.starts_with("http"));
    assert_eq!(elsewhere.count(), 0, "{:?}", browser.requests);
}

/// Whether the head of the table that is scrolled through is in view, right below the filter, with nothing over it.
const HEAD: &str = "new Promise((done) => setTimeout(() => {
  const row = [...document.querySelectorAll('.clauses tbody tr:not([hidden])')].find((it) => it.getBoundingClientRect().top > 300);
  const head = row.closest('table').querySelector('thead th:nth-child(2)');
  const box = head.getBoundingClientRect();
  const form = document.getElementById('filter');
  const below = form ? form.getBoundingClientRect().bottom : 0;
  const seen = document.elementFromPoint(box.x + 8, box.y + box.height / 2);
  done([Math.abs(box.top - below) < 2, head.contains(seen)]);
}, 100))";

#[test]
#[ignore = "night: needs Chromium"]
fn the_heads_of_tables_stay_in_view_on_screen_and_not_on_paper() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    write(&report::whole(), folder.path());
    browser.look(1280, 900, false);
    for page in ["index.html", "findings.html"] {
        browser.open(&folder.path().join(page), "");
        browser.evaluate("scrollTo(0, document.querySelector('.clauses').offsetTop + 2000)");
        assert_eq!(browser.evaluate(HEAD), json!([true, true]), "{page}");
        browser.keep(&format!("scrolled-{}", page.replace(".html", "")));
    }
    browser.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    let position = "getComputedStyle(document.querySelector('.clauses thead th')).position";
    assert_eq!(browser.evaluate(position), "static");
    let shown = "document.querySelector('nav.ways').checkVisibility()";
    assert_eq!(browser.evaluate(shown), false);
}

/// What an address names: how many of its details are open, whether all of its head is in view and nothing over it.
const NAMED: &str = "new Promise((done) => setTimeout(() => {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const box = row.querySelector('th a').getBoundingClientRect();
  const seen = document.elementFromPoint(box.x + 4, box.y + box.height / 2);
  done([row.querySelectorAll('details[open]').length > 0, row.contains(seen), box.bottom < innerHeight]);
}, 100))";

#[test]
#[ignore = "night: needs Chromium"]
fn an_address_opens_the_clause_that_it_names_even_where_the_filter_has_hidden_it() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let page = reported(&folder);
    for width in [1280, 390] {
        browser.look(width, 900, false);
        browser.open(&page, "#AAEP-6.3.4-4");
        assert_eq!(
            browser.evaluate(NAMED),
            json!([true, true, true]),
            "{width}"
        );
        browser.evaluate("location.hash = '#AQL-2.1-1'");
        assert_eq!(
            browser.evaluate(NAMED),
            json!([true, true, true]),
            "{width}"
        );
        browser.click("#words");
        browser.write("aaep-6.9");
        let hidden = "document.getElementById('PA-5').hidden";
        assert_eq!(browser.evaluate(hidden), true);
        browser.evaluate("location.hash = '#PA-5'");
        assert_eq!(
            browser.evaluate(NAMED),
            json!([true, true, true]),
            "{width}"
        );
        assert_eq!(browser.evaluate(hidden), false);
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
#[ignore = "night: needs Chromium"]
fn clauses_are_filtered_by_what_was_found_on_them_and_by_their_passage() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    write(&report::whole(), folder.path());
    browser.open(&folder.path().join("index.html"), "");
    let mut shown = |id: &str, value: &str| {
        browser.evaluate(&format!(
            "(() => {{ document.getElementById('filter').reset(); const select = document.getElementById('{id}');
               select.value = '{value}'; select.dispatchEvent(new Event('input', {{ bubbles: true }}));
               return document.querySelectorAll('.clauses tbody tr:not([hidden])').length; }})()"
        ))
    };
    let count = |id: &str| shown("state", id);
    assert_eq!(
        ["changed", "lost", "absent", "same"].map(count),
        [1, 1, 1, 1]
    );
    let [harm, some, none] = ["harm", "some", "none"].map(|it| shown("found", it));
    let [harm, some, none] = [harm, some, none].map(|it| it.as_u64().expect("a count"));
    assert!(0 < harm && harm < some, "{harm} {some}");
    assert_eq!(some + none, 257);
}

/// From a clause to a finding, from there to the step that a passage calls wrong, and back to the clause.
#[test]
#[ignore = "night: needs Chromium"]
fn a_finding_is_reached_from_its_clause_and_leads_back() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let folder = folder();
    let page = reported(&folder);
    browser.look(1280, 900, false);
    browser.open(&page, "#AAEP-6.3.4-2");
    let follow = |browser: &mut Chromium, selector: &str| {
        let address =
            browser.evaluate(&format!("document.querySelector({}).href", json!(selector)));
        let address = address.as_str().expect("an address").to_owned();
        let (file, place) = address.split_once('#').unwrap_or((&address, ""));
        let file = file.strip_prefix("file://").expect("a file").to_owned();
        browser.open(file.as_ref(), &format!("#{place}"));
    };
    follow(
        &mut browser,
        "[id='AAEP-6.3.4-2'] a[href='findings/AAEP-F2.html']",
    );
    assert!(browser.text("h1").starts_with("AAEP-F2: "));
    assert_eq!(browser.text("#run-1 .run thead .lanes span"), "producer");
    assert!(
        browser
            .text("#run-1-s3")
            .contains("nothing-unapproved-runs")
    );
    browser.click("#run-1 .judged .violation a");
    assert_eq!(browser.evaluate("location.hash"), "#run-1-s3");
    follow(&mut browser, "a[href='../index.html#AAEP-6.4.1-1']");
    assert_eq!(browser.evaluate(NAMED), json!([true, true, true]));
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
