//! A stream that is judged while it grows: what is told is final, and the end is what the whole stream gets at once.

use std::fs;
use std::path::Path;

use countersign_lint::finding::Finding;
use countersign_lint::growing::Growing;
use countersign_lint::judge;
use countersign_lint::report::LintReport;
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings;
use proptest::prelude::*;
use proptest::sample::select;

/// All recorded streams, with one that is torn, one without replies and one with lines that are none.
fn streams() -> Vec<Vec<u8>> {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let mut streams = Vec::new();
    for folder in ["invalid", "valid", "several"] {
        for entry in fs::read_dir(traces.join(folder)).expect("the folder is part of the project") {
            let path = entry.expect("readable").path();
            if path.extension().is_some_and(|it| it == "jsonl") {
                streams.push(fs::read(path).expect("a stream"));
            }
        }
    }
    assert!(streams.len() > 100);
    streams.sort();
    let all = streams.concat();
    let torn = all[..all.len() - 100].to_vec();
    let without_replies = all.split_inclusive(|it| *it == b'\n');
    let is_reply = |line: &&[u8]| !String::from_utf8_lossy(line).contains(".reply\"");
    let without_replies = without_replies
        .filter(is_reply)
        .collect::<Vec<_>>()
        .concat();
    let broken = [b"\xEF\xBB\xBF\n\r\nno record\n\xFF\n".to_vec(), all.clone()].concat();
    streams.extend([torn, without_replies, broken]);
    streams
}

/// What tells a finding, without how many more of its kind there are.
type Told = (&'static str, u64, Option<u64>, Option<String>);

fn told(finding: &Finding) -> Told {
    let Finding {
        clause,
        line,
        column,
        session,
        ..
    } = finding;
    (*clause, *line, *column, session.clone())
}

fn at_once(stream: &[u8], selection: &Selection) -> LintReport {
    judge(stream, "a", Settings::default(), selection)
}

fn in_pieces(stream: &[u8], selection: &Selection, sizes: &[usize]) -> (Vec<Finding>, LintReport) {
    let mut growing = Growing::new(Settings::default(), selection.clone());
    let (mut found, mut rest) = (Vec::new(), stream);
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = *sizes.next().expect("it goes round");
        let (piece, more) = rest.split_at(size.min(rest.len()));
        found.extend(growing.push(piece));
        rest = more;
    }
    (found, growing.finish("a"))
}

proptest! {
    #[test]
    fn what_is_told_is_final_and_the_end_is_that_of_the_whole_however_it_is_cut(
        stream in select(streams()),
        sizes in prop::collection::vec(1_usize..5_000, 1..8),
        only in prop::option::of(select(vec!["AAEP-A.8-4", "AAEP-6.1-1", "AAEP-EV-1"])),
    ) {
        let selection = Selection {
            only: only.into_iter().map(str::to_owned).collect(),
            ..Selection::default()
        };
        let whole = at_once(&stream, &selection);
        let (found, report) = in_pieces(&stream, &selection, &sizes);
        prop_assert_eq!(report.to_json(), whole.to_json());
        let mut listed: Vec<&Finding> = whole.violations.iter().chain(&whole.warnings).collect();
        for finding in &found {
            let same = |it: &&Finding| {
                told(it) == told(finding) && it.message.starts_with(&finding.message)
            };
            let at = listed.iter().position(same);
            prop_assert!(at.is_some(), "{:?} was told, and is not in the report", finding);
            listed.swap_remove(at.unwrap_or_default());
        }
        // Byte by byte no more and no less is told.
        if stream.len() < 20_000 {
            let (byte_by_byte, _) = in_pieces(&stream, &selection, &[1]);
            let [mut one, mut other] = [&found, &byte_by_byte]
                .map(|it| it.iter().map(told).collect::<Vec<_>>());
            one.sort();
            other.sort();
            prop_assert_eq!(one, other);
        }
    }
}

/// AAEP-A.8-4: a call that nobody was asked about is told with its line, and not at the end.
#[test]
fn a_fault_is_told_with_the_line_that_shows_it() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/several");
    let stream = fs::read(traces.join("a22-two-calls-and-the-wrong-token.jsonl"));
    let stream = stream.expect("a stream");
    let whole = at_once(&stream, &Selection::default());
    let mut growing = Growing::default();
    let (mut told, mut line) = (Vec::new(), 0);
    for piece in stream.split_inclusive(|it| *it == b'\n') {
        line += 1;
        let found = growing.push(piece);
        assert!(found.iter().all(|it| it.line <= line), "{found:?}");
        let unasked = found.iter().filter(|it| it.clause == "AAEP-A.8-4");
        assert!(unasked.clone().all(|it| it.line == line), "{found:?}");
        assert!(found.iter().all(|it| !it.fingerprint.is_empty()));
        told.extend(found.iter().map(|it| (it.clause, it.line)));
    }
    assert!(!told.is_empty());
    assert!(growing.undecided().next().is_none(), "there are replies");
    let listed = whole.violations.iter().chain(&whole.warnings);
    let listed = listed.map(|it| (it.clause, it.line));
    let listed: Vec<_> = listed.collect();
    assert!(
        told.iter().all(|it| listed.contains(it)),
        "{told:?} {listed:?}"
    );
    // Without its replies the call was asked about by nobody all the same.
    let lines = stream.split_inclusive(|it| *it == b'\n');
    let events = lines.filter(|line| !String::from_utf8_lossy(line).contains(".reply\""));
    let mut growing = Growing::default();
    let found = growing.push(&events.collect::<Vec<_>>().concat());
    assert!(
        found.iter().any(|it| it.clause == "AAEP-A.8-4"),
        "{found:?}"
    );
    let open: Vec<_> = growing.undecided().map(|it| (it.clause, it.line)).collect();
    let report = growing.finish("a");
    let listed = report.violations.iter().chain(&report.warnings);
    let listed: Vec<_> = listed.map(|it| (it.clause, it.line)).collect();
    assert!(
        open.iter().all(|it| listed.contains(it)),
        "{open:?} {listed:?}"
    );
    let twice = found.iter().any(|it| open.contains(&(it.clause, it.line)));
    assert!(!twice, "{found:?} {open:?}");
}

/// A line without an end takes no more memory than the longest that is read.
#[test]
fn a_line_that_is_too_long_is_told_when_it_ends() {
    let mut growing = Growing::default();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..40 {
        assert!(growing.push(&piece).is_empty());
    }
    let found = growing.push(b"\n{}\n");
    assert_eq!(found.iter().map(|it| it.line).collect::<Vec<_>>(), [1, 2]);
    assert!(
        found[0].message.contains("longer than 16 MiB"),
        "{}",
        found[0].message
    );
}
