//! The suites: each committed one is that which the model gives.

use std::collections::BTreeSet;
use std::path::Path;

use countersign_conform::driven::{exercise, play, unsupported};
use countersign_conform::implementation::{Greeted, Implementation, Lost};
use countersign_conform::spoken::{self, Producer, Spoken, Wire, judge, text_of};
use countersign_conform::suite::{Suite, committed};
use countersign_model::aaep::Aaep;
use countersign_model::engine::clause::Level;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use countersign_protocol::{Answer, Common, Greeting, Op, Request, Response};

/// Where this is set, the committed suites are written anew.
const WRITE: &str = "COUNTERSIGN_WRITE_SUITES";

fn assert_is_of_the_text<P: Spoken>(folder: &str, derived: &Suite<P>) {
    let text = derived.text();
    if std::env::var_os(WRITE).is_some() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        std::fs::write(source.join(folder).join("suite.json"), &text).expect("it can be written");
    } else {
        let is_same = committed::<P>().text() == text;
        assert!(
            is_same,
            "the suite is another; with {WRITE}=1 it is written"
        );
    }
}

#[test]
#[ignore = "night: derives the suite anew"]
fn the_suite_of_pending_actions_is_that_of_the_text() {
    assert_is_of_the_text("pending_action", &spoken::derived::<PendingAction>(|_| {}));
}

#[test]
#[ignore = "night: derives the suite anew"]
fn the_suite_of_confirmation_tokens_is_that_of_the_text() {
    assert_is_of_the_text("mcp_aql", &spoken::derived::<McpAql>(|_| {}));
}

#[test]
#[ignore = "night: derives the suite anew"]
fn the_suite_of_aaep_is_that_of_the_text() {
    assert_is_of_the_text("aaep", &spoken::derived::<Aaep>(|_| {}));
}

/// Each rule that can be left out has a run, or a reason why not, and each situation has a run.
fn assert_whole<P: Spoken>() {
    let suite = committed::<P>();
    let shows = suite.runs.iter().flat_map(|run| &run.shows);
    let shows: Vec<&str> = shows.map(String::as_str).collect();
    for rule in &text_of::<P>().rules {
        let what = format!("without {}", rule.name);
        let is_shown = shows.iter().any(|it| it.starts_with(&format!("{what}: ")));
        let is_left_out = suite.left_out.iter().any(|it| it.what == what);
        assert!(is_shown != is_left_out, "{what}");
    }
    for situation in &text_of::<P>().situations {
        let what = format!("witness: {}", situation.name);
        assert!(shows.contains(&what.as_str()), "{what}");
    }
}

#[test]
fn every_rule_and_every_witness_has_a_run() {
    assert_whole::<Aaep>();
    assert_whole::<McpAql>();
    assert_whole::<PendingAction>();
}

/// The text's own producer, which declares this.
struct Declaring<P: Spoken> {
    text: Producer<P>,
    greeting: Greeting<Wire<P>>,
}

impl<P: Spoken> Implementation<Wire<P>> for Declaring<P> {
    fn start(&mut self) -> Result<(), Lost> {
        self.text.start()
    }

    fn ask(&mut self, request: Request<Wire<P>>) -> Result<Response<Wire<P>>, Lost> {
        let is_hello = matches!(request.op, Op::Common(Common::Hello { .. }));
        let mut response = self.text.ask(request)?;
        if is_hello {
            response.answer = Answer::Greeting(self.greeting.clone());
        }
        Ok(response)
    }
}

/// The clauses that the suite exercises of who declares this.
fn exercised<P: Spoken>(greeting: Greeting<Wire<P>>) -> BTreeSet<&'static str> {
    let text = Producer::default();
    let mut party = Greeted::new(Declaring::<P> { text, greeting }).expect("it greets");
    let judge = judge::<P>(party.greeting());
    let mut exercised = BTreeSet::new();
    for run in committed::<P>().played() {
        let played = play(&mut party, &run.steps, &judge);
        exercise(&mut exercised, &judge, &played);
    }
    exercised
}

/// A MUST that the suite does not exercise without a capability is not asked of who does not declare it.
fn assert_needed<P: Spoken>() {
    let greeting = Producer::<P>::greeting();
    let whole = exercised::<P>(greeting.clone());
    let mut missing = BTreeSet::new();
    for capability in P::SUPPORTS {
        let mut less = greeting.clone();
        less.supports.remove(capability);
        let known = unsupported::<P>(&less);
        let left = exercised::<P>(less);
        let lost = whole.difference(&left);
        let is_known = |id: &str| known.iter().any(|(clause, _)| *clause == id);
        let musts = P::CLAUSES.iter().filter(|it| it.level == Level::Must);
        let musts: BTreeSet<_> = musts.map(|it| it.id).collect();
        let lost = lost.filter(|it| musts.contains(*it) && !is_known(it));
        missing.extend(lost.map(|it| format!("{it} needs {capability:?}")));
    }
    assert_eq!(missing, BTreeSet::new());
}

#[test]
fn what_of_pending_actions_needs_a_capability_is_known() {
    assert_needed::<PendingAction>();
}

#[test]
fn what_of_confirmation_tokens_needs_a_capability_is_known() {
    assert_needed::<McpAql>();
}

#[test]
fn what_of_aaep_needs_a_capability_is_known() {
    assert_needed::<Aaep>();
}
