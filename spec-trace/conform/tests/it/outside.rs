//! Runs of somebody who had read the texts and the pages of the driver protocol, and none of the code: the spec judges them as they do.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use countersign_conform::driven::{Step, play};
use countersign_conform::implementation::{Greeted, Implementation, Lost};
use countersign_conform::spoken::{Spoken, Wire, readings};
use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use countersign_protocol::{Answer, Common, Op, Protocol, Request, Response};
use countersign_reference::time::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A run by its file, and each fault in it: the id of the response, and the clauses that name it.
type Judged = (&'static str, &'static [(u64, &'static [&'static str])]);

const AAEP: [Judged; 10] = [
    ("01-three-questions-open", &[]),
    (
        "02-prefix-tokens-wrong-action",
        &[
            (
                9,
                &["AAEP-6.1-1", "AAEP-A.4-3", "AAEP-6.3.4-2", "AAEP-6.3.1-2"],
            ),
            // What has run against the text is no call that could come back.
            (10, &["AAEP-A.3-2"]),
        ],
    ),
    ("03-half-second-deadlines", &[]),
    (
        "04-dated-at-the-deadline",
        &[(9, &["AAEP-6.3.4-4", "AAEP-6.3.4-7", "AAEP-6.1-1"])],
    ),
    ("05-two-restarts", &[]),
    (
        "06-second-duplicate-runs",
        &[
            (
                11,
                &[
                    "AAEP-6.3.5-1",
                    "AAEP-6.3.4-3",
                    "AAEP-REPLY-12",
                    "AAEP-6.7.1-1",
                    "AAEP-6.9-2",
                ],
            ),
            // Whoever declares notices owes one.
            (11, &["AAEP-6.3.5-2"]),
        ],
    ),
    ("07-three-subscribers-close", &[]),
    // Its author has it wrong in response 9, by AAEP-6.1-1. By the reading `early-default-on-close`: `as-default`, which is AAEP-EV-11
    // to the letter, it is right.
    ("08-default-accept-before-its-time", &[]),
    ("09-two-extensions", &[]),
    (
        "10-cancelled-answer-and-one-for-true",
        &[
            (9, &["AAEP-6.8-4", "AAEP-6.5.5-1", "AAEP-6.3.4-7"]),
            (10, &["AAEP-6.5.5-2", "AAEP-6.5.5-4", "AAEP-6.5.2-1"]),
        ],
    ),
];

const MCP_AQL: [Judged; 10] = [
    ("01-half-second-no-tolerance", &[]),
    (
        "02-one-ms-past-tolerance",
        &[(8, &["AQL-5.1-3", "AQL-4.1-2", "AQL-7.1-1", "AQL-5.1-7"])],
    ),
    ("03-three-tokens-one-call", &[]),
    (
        "04-used-again-after-restart",
        &[(8, &["AQL-4.1-3", "AQL-6.1-1", "AQL-7.1-1", "AQL-5.2-1"])],
    ),
    ("05-case-and-prefix", &[]),
    (
        "06-three-sessions-one-ended",
        &[(10, &["AQL-5.4-2", "AQL-7.1-1"])],
    ),
    ("07-one-is-not-true", &[]),
    (
        "08-last-digit-and-quota-prefix",
        &[
            (5, &["AQL-4.1-5", "AQL-3.2-1", "AQL-1.2-3"]),
            (6, &["AQL-2.1-1"]),
        ],
    ),
    (
        "09-clock-set-back-two-ways",
        &[(8, &["AQL-4.1-2", "AQL-7.1-2"])],
    ),
    ("10-uniform-four-faults", &[]),
];

const PENDING_ACTION: [Judged; 10] = [
    ("01-three-decisions", &[]),
    (
        "02-allow-after-deny-and-restart",
        &[(7, &["PA-8", "PA-5", "PA-10"])],
    ),
    ("03-half-second-expiry", &[]),
    ("04-clock-back-revives", &[(7, &["PA-7", "PA-8"])]),
    ("05-three-restarts", &[]),
    ("06-only-one-is-idempotent", &[(7, &["PA-8"])]),
    ("07-blanks-and-numbers", &[]),
    (
        "08-one-for-true-and-other-nonce",
        &[(6, &["PA-3"]), (8, &["PA-1"])],
    ),
    ("09-three-sessions-alike", &[]),
    (
        "10-almost-ana-and-finished-twice",
        &[(6, &["PA-2", "PA-1"]), (8, &["PA-10", "PA-8"])],
    ),
];

#[test]
fn runs_of_aaep_are_judged_as_by_who_has_read_the_text_alone() {
    assert_judged_so::<Aaep>(&AAEP);
}

#[test]
fn runs_of_mcp_aql_are_judged_as_by_who_has_read_the_text_alone() {
    assert_judged_so::<McpAql>(&MCP_AQL);
}

#[test]
fn runs_of_pending_actions_are_judged_as_by_who_has_read_the_text_alone() {
    assert_judged_so::<PendingAction>(&PENDING_ACTION);
}

fn assert_judged_so<P: Spoken>(runs: &[Judged]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/outside");
    let otherwise = runs.iter().filter_map(|(name, faults)| {
        let file = folder.join(P::NAME).join(name).with_extension("jsonl");
        let text = fs::read_to_string(&file).expect("a readable run");
        let found = least_wrong::<P>(&text);
        let is_it = found.len() == faults.len()
            && found
                .iter()
                .zip(*faults)
                .all(|((id, clause, _), (at, clauses))| id == at && clauses.contains(clause));
        (!is_it).then(|| format!("{name}: {found:#?}"))
    });
    let otherwise: Vec<_> = otherwise.collect();
    assert!(otherwise.is_empty(), "{}", otherwise.join("\n"));
}

/// What is wrong in a run by the reading that leaves least wrong, each by the id of the response.
fn least_wrong<P: Spoken>(text: &str) -> Vec<(u64, &'static str, String)> {
    let (steps, responses) = read::<Wire<P>>(text);
    let greet = || Greeted::new(Recorded(responses.clone())).expect("the recording greets");
    let readings = readings::<P>(greet().greeting(), &[]);
    let found = readings.iter().map(|reading| {
        let played = play::<P, _>(&mut greet(), &steps, &reading.judge);
        let wrong = played.wrong.into_iter();
        let wrong = wrong.map(|it| (it.at as u64 + 3, it.finding.clause, it.finding.text));
        wrong.collect::<Vec<_>>()
    });
    found.min_by_key(Vec::len).unwrap_or_default()
}

/// The requests behind `hello` and `reset`, and all responses.
fn read<P: Protocol>(text: &str) -> (Vec<Step<P>>, VecDeque<Response<P>>) {
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Line {
        Request(Box<RawValue>),
        Response(Box<RawValue>),
    }
    let (mut steps, mut responses) = (Vec::new(), VecDeque::new());
    for line in text.lines() {
        match serde_json::from_str(line).expect("a request or a response") {
            Line::Request(it) => {
                let Request { now, op, .. } = Request::<P>::read(it.get().as_bytes())
                    .unwrap_or_else(|error| panic!("{error}: {it}"));
                if !matches!(op, Op::Common(Common::Hello { .. } | Common::Reset {})) {
                    let now = Timestamp::parse(&now.unwrap_or_default()).expect("a time");
                    let now = now.millis();
                    steps.push(Step::new(now, op));
                }
            }
            Line::Response(it) => responses.push_back(
                Response::read(it.get().as_bytes()).unwrap_or_else(|error| panic!("{error}: {it}")),
            ),
        }
    }
    (steps, responses)
}

/// The responses that stand in a file.
#[derive(Clone)]
struct Recorded<P: Protocol>(VecDeque<Response<P>>);

impl<P: Protocol> Implementation<P> for Recorded<P> {
    fn start(&mut self) -> Result<(), Lost> {
        Ok(())
    }

    fn ask(&mut self, request: Request<P>) -> Result<Response<P>, Lost> {
        // Behind the last request that stands in the file there is one more.
        Ok(self.0.pop_front().unwrap_or(Response {
            id: Some(request.id),
            answer: Answer::Outputs {
                outputs: Vec::new(),
            },
        }))
    }
}
