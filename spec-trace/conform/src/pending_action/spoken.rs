//! Pending actions over the driver protocol: what is declared, named, and left open.

use std::sync::Arc;

use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::alphabet::{Call, Decide, Lost, Op as Asked, Output, Value};
use countersign_model::pending_action::environment::Bounds;
use countersign_model::pending_action::readings::{Reading, Rollback};
use countersign_model::pending_action::spec::ARGUMENT_BYTES;
use countersign_model::pending_action::wire::Names;
use countersign_model::wire::Codec as _;
use countersign_protocol::pending_action::{self as driver, Capability, Op as Own};
use countersign_protocol::{Common, Json, Kind, Op};

use super::draw;
use super::executor::Reference;
use crate::checked::Read;
use crate::driven::{Step, placed, placeholder};
use crate::spoken::{Driver, HOUR, START, Spoken};

/// As many snapshots are put out in a run: the checker keeps its account of each.
const MOST_SNAPSHOTS: usize = 8;

/// What an implementation names.
pub(super) const ACTION: usize = 0;
pub(super) const NONCE: usize = 1;
pub(super) const SNAPSHOT: usize = 2;

/// What stands for the thing of that kind and number.
pub(super) fn named(kind: usize, number: usize) -> String {
    placeholder(PendingAction::NAMED[kind], number, None)
}

impl Spoken for PendingAction {
    type Codec = Names;
    type Reference = Reference;
    type Drawn = draw::Drawn;
    const FAR: Bounds = Bounds {
        actions: 3,
        ticks: 8,
        set_back: 3,
        crashes: 3,
        rollbacks: 3,
        ..Bounds::ONE
    };
    const CONTRACT: &'static str = "PA-10";
    const SUITE: &'static str = include_str!("suite.json");
    const BYTES: usize = 24;
    const NEEDED: &'static [Kind] = &[Kind::Event, Kind::Append, Kind::Perform, Kind::Refused];
    const SUPPORTS: &'static [Capability] = &[
        Capability::Cancel,
        Capability::Restart,
        Capability::Snapshot,
        Capability::Say,
        Capability::Idempotent,
    ];
    const OPEN: &'static [(&'static str, &'static [&'static str])] = &[
        ("read-effect", &["pends", "runs"]),
        ("expiry-boundary", &["at", "after"]),
        ("expiry-absent", &["never", "after", "refused"]),
        ("deciders-absent", &["anyone", "nobody"]),
    ];
    const UNSEEN: &'static [(&'static str, &'static str)] = &[(
        "PA-13",
        "every effect that the driver protocol has a word for is one that the contract knows",
    )];
    const TICK: Call = Call {
        now: START,
        op: Asked::Tick,
    };
    const NAMED: &'static [&'static str] = &["action_id", "nonce", "snapshot"];

    fn names(codec: &Names, kind: usize) -> &[String] {
        match kind {
            ACTION => codec.actions(),
            NONCE => codec.nonces(),
            _ => codec.snapshots(),
        }
    }

    fn all_named(
        op: &mut Op<driver::PendingAction>,
        each: &mut dyn FnMut(usize, &mut String) -> bool,
    ) -> bool {
        match op {
            Op::Own(Own::Decide {
                action_id, nonce, ..
            }) => {
                let nonce = nonce.as_mut();
                each(ACTION, action_id) && nonce.is_none_or(|it| each(NONCE, it))
            }
            Op::Own(Own::FinishTool { action_id, .. } | Own::Cancel { action_id }) => {
                each(ACTION, action_id)
            }
            Op::Own(Own::Rollback { snapshot }) => {
                let held = snapshot.text();
                let mut text = match placed(Self::NAMED[SNAPSHOT], &held) {
                    Some(_) => held.into_owned(),
                    None => snapshot.as_str().to_owned(),
                };
                let is_so = each(SNAPSHOT, &mut text);
                *snapshot = serde_json::from_str(&text).unwrap_or_else(|_| Json::holding(&text));
                is_so
            }
            Op::Own(
                Own::Propose(_) | Own::Say { .. } | Own::EndSession { .. } | Own::Snapshot {},
            )
            | Op::Common(_) => true,
        }
    }

    fn can_be_asked(driver: &Driver<Self>, op: &mut Op<driver::PendingAction>) -> bool {
        let codec = &driver.codec;
        match op {
            Op::Own(Own::Cancel { .. }) => driver.supports(Capability::Cancel),
            Op::Own(Own::Snapshot {}) => {
                driver.supports(Capability::Snapshot) && codec.snapshots().len() < MOST_SNAPSHOTS
            }
            Op::Own(Own::Rollback { .. }) => driver.supports(Capability::Snapshot),
            Op::Own(Own::Say { .. }) => driver.supports(Capability::Say),
            // Nobody can tell what became of a call that ran into a crash where it is not shown to be in doubt.
            Op::Common(Common::Restart { .. }) => {
                driver.greeting.shows(Kind::InDoubt) && driver.supports(Capability::Restart)
            }
            Op::Own(Own::Propose(it)) => {
                if !driver.supports(Capability::Idempotent) {
                    it.idempotent = None;
                }
                true
            }
            Op::Own(Own::Decide { nonce, .. }) => {
                // There are implementations without any.
                if codec.nonces().is_empty() {
                    nonce.take_if(|it| placed(Self::NAMED[NONCE], it).is_some());
                }
                true
            }
            Op::Own(Own::FinishTool { .. } | Own::EndSession { .. }) | Op::Common(_) => true,
        }
    }

    /// Where only the host can remember what an older state has forgotten, that is told by itself: "the clause is `host-must-guard`".
    fn settled(reading: Reading) -> Reading {
        Reading {
            rollback: Rollback::TheHosts,
            ..reading
        }
    }

    fn guarded(call: &Call, outputs: &[Read<Output>]) -> Option<Call> {
        let is_taken = outputs.iter().all(|it| it.output != Output::Refused);
        (matches!(call.op, Asked::Rollback(_)) && is_taken).then_some(Call {
            now: call.now,
            op: Asked::Tick,
        })
    }

    fn ends(now: i64) -> Vec<Step<driver::PendingAction>> {
        let now = now + HOUR;
        let ends = [Common::Tick {}, Common::Restart { lost: Some(0) }];
        ends.map(|op| Step::new(now, Op::Common(op))).into()
    }

    /// The search says the same of every action. In a suite each has words and arguments of its own.
    fn in_suite(codec: &mut Names, call: &Call) -> Option<(i64, Op<driver::PendingAction>)> {
        let now = on_the_clock(call.now);
        if let Asked::Restart(Lost::Outputs(lost)) = &call.op {
            let lost = u64::try_from(lost.len()).ok();
            return Some((now, Op::Common(Common::Restart { lost })));
        }
        let mut call = call.clone();
        match &mut call.op {
            Asked::Propose(it) => {
                let it = Arc::make_mut(it);
                let beside = apart(u16::try_from(codec.actions().len()).ok()?);
                for text in [&mut it.tool, &mut it.summary, &mut it.label] {
                    text.name += beside;
                }
                it.arguments.value = moved(it.arguments.value, beside);
                it.expires_at = it.expires_at.map(on_the_clock);
                (it.arguments.size <= ARGUMENT_BYTES).then_some(())?;
            }
            Asked::Decide(Decide {
                action,
                arguments: Some(arguments),
                ..
            }) => *arguments = moved(*arguments, apart(*action)),
            Asked::Decide(_)
            | Asked::Say { .. }
            | Asked::FinishTool { .. }
            | Asked::Cancel(_)
            | Asked::EndSession(_)
            | Asked::Snapshot
            | Asked::Rollback(_)
            | Asked::Tick
            | Asked::Restart(_) => {}
        }
        Some((now, codec.request(&call)?))
    }
}

/// A tick of the search is a minute.
const fn on_the_clock(ticks: i64) -> i64 {
    START + ticks * 60_000
}

/// So far are the numbers of an action from those of the search.
fn apart(action: u16) -> u16 {
    100 * (action % 100)
}

fn moved(value: Value, by: u16) -> Value {
    Value {
        bytes: value.bytes + by,
        meaning: value.meaning.map(|it| it + by),
    }
}
