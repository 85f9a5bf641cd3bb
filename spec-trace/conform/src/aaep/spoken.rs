//! AAEP over the driver protocol: what is declared, named, and left open.

use std::ops::Range;
use std::sync::Arc;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::account::Account;
use countersign_model::aaep::alphabet::{Call, Message, Op as Asked, Outcome, Output, What};
use countersign_model::aaep::clauses::{
    C6_2_1, C6_2_1_1, EV_1, EV_3, EV_4, EV_6, EV_7, EV_8, EV_9, EV_13,
};
use countersign_model::aaep::environment::Bounds;
use countersign_model::aaep::wire::Names;
use countersign_model::engine::clause::Clause;
use countersign_model::engine::fact::Fact;
use countersign_model::wire::Codec as _;
use countersign_protocol::aaep::{self as driver, Capability, Op as Own};
use countersign_protocol::{Common, Greeting, Kind, Op};

use super::draw;
use super::executor::Reference;
use crate::driven::{Step, placeholder};
use crate::spoken::{Driver, HOUR, START, Spoken};

/// What an implementation names: the tokens of its questions, the calls that were to run, and the sessions whose ids it made up.
pub(super) const TOKEN: usize = 0;
pub(super) const CALL: usize = 1;
pub(super) const SESSION: usize = 2;

const NO_TOKEN: &str = "a token without its form is none that was issued either (AAEP-6.3.4-2)";
const NO_DECISION: &str = "a decision that is none is not allowed either (AAEP-6.3.4-6)";

/// What stands for the thing of that kind and number.
pub(super) fn named(kind: usize, number: usize) -> String {
    placeholder(Aaep::NAMED[kind], number, None)
}

impl Spoken for Aaep {
    type Codec = Names;
    type Reference = Reference;
    type Drawn = draw::Drawn;
    const FAR: Bounds = Bounds {
        questions: 3,
        queries: 2,
        two_sessions: true,
        work: 2,
        ticks: 3,
        minutes: true,
        crashes: 3,
        every_query: true,
        ..Bounds::ONE
    };
    const CONTRACT: &'static str = "AAEP-6-1";
    const SUITE: &'static str = include_str!("suite.json");
    const BYTES: usize = draw::BYTES;
    const NEEDED: &'static [Kind] = &[Kind::Emit, Kind::Perform, Kind::Refused];
    const SUPPORTS: &'static [Capability] = &[
        Capability::Clarify,
        Capability::Cancel,
        Capability::Extend,
        Capability::ModifiedAction,
        Capability::CourtesyNotice,
        Capability::Progress,
        Capability::Delivery,
        Capability::Work,
        Capability::Restart,
    ];
    const OPEN: &'static [(&'static str, &'static [&'static str])] = &[
        ("late-reply", &["by-arrival", "by-claim"]),
        ("timeout-uses-token", &["yes", "no"]),
        ("cancellation-releases", &["yes", "no"]),
        ("session-end-cancels", &["all", "cancelled-only"]),
        (
            "early-default-on-close",
            &["reject-only", "as-default", "never"],
        ),
        ("courtesy-notice", &["permitted", "forbidden"]),
        ("incapable-subscriptions", &["asked", "withheld"]),
        (
            "state-while-asked",
            &["leaves-with-each", "leaves-with-last"],
        ),
        ("session-end-tells", &["first", "by-itself"]),
    ];
    const UNSEEN: &'static [(&'static str, &'static str)] = &[
        ("AAEP-6.3.1-2", NO_TOKEN),
        ("AAEP-6.5.1-2", NO_TOKEN),
        ("AAEP-REPLY-3", NO_TOKEN),
        ("AAEP-6.3.1-3", NO_DECISION),
        ("AAEP-REPLY-4", NO_DECISION),
        (
            "AAEP-6.5.1-3",
            "a response that is none is of no kind either (AAEP-6.5.5-2)",
        ),
        (
            "AAEP-EV-11",
            "by the reading early-default-on-close: never nothing is wrong",
        ),
    ];
    const TICK: Call = Call {
        now: START,
        op: Asked::Tick,
    };
    const NAMED: &'static [&'static str] = &["reply_token", "tool_call_id", "session_id"];

    fn form(output: &Output) -> &'static [Clause] {
        let Output::Emit(event) = output else {
            return &[];
        };
        match event.what {
            What::Asked(_) | What::Queried(_) => {
                &[C6_2_1, C6_2_1_1, EV_1, EV_3, EV_4, EV_6, EV_7, EV_9]
            }
            What::Ended(Outcome::Errored) | What::HandedOff { .. } => {
                &[EV_1, EV_3, EV_4, EV_6, EV_7, EV_9]
            }
            What::Changed { .. } => &[EV_1, EV_3, EV_4, EV_7, EV_8, EV_9],
            What::Invoked { .. } => &[EV_1, EV_3, EV_4, EV_7, EV_9, EV_13],
            What::Started
            | What::Ended(_)
            | What::Completed { .. }
            | What::Chunk(_)
            | What::Progress { .. }
            | What::Other(_) => &[EV_1, EV_3, EV_4, EV_7, EV_9],
        }
    }

    fn declared(greeting: &Greeting<driver::Aaep>) -> Account {
        let declares = |it| Fact::from(greeting.supports.contains(&it));
        Account {
            modifies: declares(Capability::ModifiedAction),
            notifies: declares(Capability::CourtesyNotice),
            counts_down: declares(Capability::Progress),
            delivers: declares(Capability::Delivery),
            ..Account::default()
        }
    }

    fn names(codec: &Names, kind: usize) -> &[String] {
        match kind {
            TOKEN => codec.tokens(),
            CALL => codec.performed(),
            _ => codec.made_up(),
        }
    }

    fn all_named(
        op: &mut Op<driver::Aaep>,
        each: &mut dyn FnMut(usize, &mut String) -> bool,
    ) -> bool {
        let Op::Own(own) = op else {
            return true;
        };
        match own {
            Own::StartSession { .. } | Own::Subscribe { .. } | Own::Unsubscribe { .. } => true,
            Own::Confirm { session_id, .. }
            | Own::Clarify { session_id, .. }
            | Own::Output { session_id, .. }
            | Own::Handoff { session_id, .. }
            | Own::Tool { session_id, .. }
            | Own::EndSession { session_id, .. } => each(SESSION, session_id),
            Own::FinishTool {
                session_id,
                tool_call_id,
                ..
            } => {
                let call = tool_call_id.as_mut();
                each(SESSION, session_id) && call.is_none_or(|it| each(CALL, it))
            }
            Own::Cancel { reply_token } | Own::Extend { reply_token, .. } => {
                each(TOKEN, reply_token)
            }
            Own::Deliver(it) => {
                let Some(place) = token_in(&it.message) else {
                    return true;
                };
                let token = it.message.get(place.clone()).unwrap_or_default();
                let mut token = String::from_utf8_lossy(token).into_owned();
                let is_so = each(TOKEN, &mut token);
                it.message.splice(place, token.into_bytes());
                is_so
            }
        }
    }

    fn can_be_asked(driver: &Driver<Self>, op: &mut Op<driver::Aaep>) -> bool {
        let shows = |kind| driver.greeting.shows(kind);
        match op {
            // Nobody can tell what becomes of a question of which no answer is shown.
            Op::Own(Own::Clarify { .. }) => {
                driver.supports(Capability::Clarify) && shows(Kind::Answer)
            }
            Op::Own(Own::Cancel { .. }) => driver.supports(Capability::Cancel),
            Op::Own(Own::Extend { .. }) => driver.supports(Capability::Extend),
            Op::Own(Own::Tool { .. } | Own::Output { .. } | Own::Handoff { .. }) => {
                driver.supports(Capability::Work)
            }
            Op::Common(Common::Restart { .. }) => {
                driver.supports(Capability::Restart) && shows(Kind::InDoubt)
            }
            Op::Own(
                Own::StartSession { .. }
                | Own::Subscribe { .. }
                | Own::Unsubscribe { .. }
                | Own::Confirm { .. }
                | Own::Deliver(_)
                | Own::FinishTool { .. }
                | Own::EndSession { .. },
            )
            | Op::Common(_) => true,
        }
    }

    fn ends(now: i64) -> Vec<Step<driver::Aaep>> {
        let now = now + HOUR;
        let ends = [Common::Tick {}, Common::Restart { lost: Some(0) }];
        ends.map(|op| Step::new(now, Op::Common(op))).into()
    }

    fn in_suite(codec: &mut Names, call: &Call) -> Option<(i64, Op<driver::Aaep>)> {
        let mut call = call.clone();
        call.now += START;
        if let Asked::Deliver(message) = &mut call.op {
            let Message { reply, .. } = Arc::make_mut(message);
            for time in reply.iter_mut().filter_map(|it| it.timestamp.as_mut()) {
                *time += START;
            }
        }
        Some((call.now, codec.request(&call)?))
    }
}

/// Where a token stands in a message: what stands for one, or a text in its member.
fn token_in(message: &[u8]) -> Option<Range<usize>> {
    let find = |part: &[u8], from: usize| {
        let rest = message.get(from..).unwrap_or_default();
        let place = rest.windows(part.len()).position(|it| it == part);
        place.map(|it| from + it)
    };
    if let Some(begin) = find(b"${reply_token-", 0) {
        return Some(begin..find(b"}", begin)? + 1);
    }
    let member = b"\"reply_token\":\"";
    let begin = find(member, 0)? + member.len();
    Some(begin..find(b"\"", begin)?)
}
