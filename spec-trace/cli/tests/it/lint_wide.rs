//! Lint against the reference in wide random runs, those that `diff` draws: whatever it is asked and sent, its recorded stream is
//! not accused, however it is recorded, and also where nothing says which replies counted.

use countersign_cli::serve::controls::Referred as _;
use countersign_conform::driven::{Run, Told, play};
use countersign_conform::implementation::Greeted;
use countersign_conform::spoken::{START, judge};
use countersign_lint::judge as judged;
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings;
use countersign_lint::surrogates::without_halves;
use countersign_lint::time::Timestamp;
use countersign_model::aaep::Aaep as Spec;
use countersign_protocol::aaep::{self, Aaep};
use countersign_protocol::{Common, Op, Output};
use serde_json::{Value, json};

/// So many runs, each of so many steps.
const RUNS: u64 = 150;
const STEPS: usize = 80;

/// What a recorder writes down besides the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writes {
    /// Nothing.
    EventsAlone,
    /// The replies as they were sent.
    Replies,
    /// The same with the time at which each message came.
    Times,
    /// The same, and whether the sender of each reply counts.
    Senders,
}

impl Writes {
    const ALL: [Self; 4] = [Self::EventsAlone, Self::Replies, Self::Times, Self::Senders];

    fn line(self, at: &str, direction: &str, sender: Option<&str>, message: &Value) -> String {
        if matches!(self, Self::EventsAlone | Self::Replies) {
            return message.to_string();
        }
        let mut record = json!({"dir": direction, "at": at, "message": message});
        if let Some(sender) = sender.filter(|_| self == Self::Senders) {
            record["sender"] = json!(sender);
        }
        record.to_string()
    }
}

/// The stream of a run, and how many replies it holds.
fn stream(told: &[Told<Aaep>], writes: Writes) -> (Vec<String>, usize) {
    let (mut lines, mut replies, mut last) = (Vec::new(), 0, Vec::new());
    for it in told {
        let epoch = Timestamp::parse("1970-01-01T00:00:00Z").expect("a time");
        let at = epoch.plus_milliseconds(START + it.after).to_string();
        if let Some(Op::Common(Common::Restart { lost })) = it.ask.op() {
            // What was lost was not carried out, so nobody has recorded it.
            let lost = usize::try_from(lost.unwrap_or_default()).expect("few outputs");
            let kept = last.iter().rev().skip(lost).count();
            let events = last[kept..].iter().flatten();
            lines.truncate(lines.len() - events.count());
        }
        if let (Some(Op::Own(aaep::Op::Deliver(delivered))), true) =
            (it.ask.op(), writes != Writes::EventsAlone)
        {
            let text = &*String::from_utf8_lossy(&delivered.message);
            let raw = || json!({"_raw": text});
            // An escaped half of a character is JSON by the RFC, and not to every reader.
            let mended = without_halves(text.as_bytes());
            let bytes = mended.as_deref().unwrap_or(text.as_bytes());
            let message = serde_json::from_slice(bytes).ok().filter(Value::is_object);
            let is_reply = message
                .as_ref()
                .is_some_and(|it: &Value| it["type"].is_string());
            let stranger = is_refused(&it.outputs);
            let sender = if stranger { "stranger" } else { "known" };
            if is_reply || writes != Writes::Replies {
                let message = message.unwrap_or_else(raw);
                lines.push(writes.line(&at, "in", Some(sender), &message));
                replies += 1;
            }
        }
        let events = it.outputs.iter().map(|output| {
            let is_event = matches!(output.what, aaep::Output::Emit(_));
            is_event.then(|| json!(output.what)["emit"].clone())
        });
        last = events.collect();
        for event in last.iter().flatten() {
            lines.push(writes.line(&at, "out", None, event));
        }
    }
    (lines, replies)
}

/// Whether the audits say that the sender of a reply is none that counts.
fn is_refused(outputs: &[Output<Aaep>]) -> bool {
    let audits = outputs.iter().map(|output| &output.what);
    let audits = audits.filter(|it| matches!(it, aaep::Output::Audit(_)));
    let mut audits = audits.map(|audit| json!(audit).to_string());
    audits.any(|audit| audit.contains("AAEP-6.3.4-5"))
}

/// AAEP-6.1-1, AAEP-6.1-3, AAEP-A.4-3, AAEP-A.8-5: whoever keeps the rules is not accused.
#[test]
fn the_reference_in_wide_runs_is_never_accused() {
    let (mut replies, mut events) = (0, 0);
    for seed in 0..RUNS {
        let run = Run::<Spec>::plain(seed, STEPS);
        let mut reference = Greeted::new(Spec::reference(seed)).expect("the reference greets");
        let judge = judge::<Spec>(reference.greeting());
        let played = play::<Spec, _>(&mut reference, &run.steps, &judge);
        for writes in Writes::ALL {
            let (lines, count) = stream(&played.told, writes);
            replies += count;
            events += lines.len() - count;
            // A recording is what it seems where it says whose replies count; the reference says what is withdrawn.
            let settings = if writes == Writes::Senders {
                Settings::default()
            } else {
                Settings::CAUTIOUS
            };
            let text = lines.join("\n");
            let report = judged(text.as_bytes(), "run", settings, &Selection::default());
            let accused: Vec<_> = report
                .violations
                .iter()
                .map(|it| (it.clause, it.line, &it.message))
                .collect();
            assert!(
                accused.is_empty(),
                "seed {seed}, {writes:?}: {accused:?}\n{text}"
            );
        }
    }
    assert!(replies > 3_500 && events > 15_000, "{replies} {events}");
}
