//! Any implementation in a run: steps become requests of the driver protocol, and its outputs the words of the spec.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use countersign_model::engine::protocol::Variant;
use countersign_model::pending_action::PendingAction as Spec;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::alphabet::{self, Call};
use countersign_model::pending_action::readings::{Reading, Rollback};
use countersign_model::pending_action::wire::{self, Names};
use countersign_protocol::pending_action::{Capability, Op as Own, PendingAction};
use countersign_protocol::{Common, Greeting, Json, Kind, Op, Output as Put, Protocol as _};

use super::draw;
use crate::checked::{Checked, Read};
use crate::driven::{Asked, Driven, Step, Taken, Unreadable, placed, placeholder};
use crate::suite::Suited as _;

/// When a run begins, in milliseconds since the epoch.
pub(super) const START: i64 = 1_780_000_000_000;

/// As many snapshots are put out in a run: the checker keeps its account of each.
const MOST_SNAPSHOTS: usize = 8;

/// What is kept of an implementation in a run.
#[derive(Clone)]
pub struct Driver {
    pub(super) names: Names,
    greeting: Rc<Greeting<PendingAction>>,
    snapshots: usize,
    /// How many outputs the last response had.
    last: usize,
}

/// What the page of the driver protocol leaves open. Each has these ways among those of the text.
const OPEN: [(&str, &[&str]); 4] = [
    ("read-effect", &["pends", "runs"]),
    ("expiry-boundary", &["at", "after"]),
    ("expiry-absent", &["never", "after", "refused"]),
    ("deciders-absent", &["anyone", "nobody"]),
];

/// What an implementation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Action,
    Nonce,
    Snapshot,
}

impl Named {
    pub(super) const ALL: [Self; 3] = [Self::Action, Self::Nonce, Self::Snapshot];

    const fn member(self) -> &'static str {
        match self {
            Self::Action => "action_id",
            Self::Nonce => "nonce",
            Self::Snapshot => "snapshot",
        }
    }

    /// What stands for the one of that number.
    pub(super) fn placeholder(self, number: usize) -> String {
        placeholder(self.member(), number)
    }

    /// The number that a placeholder stands for.
    pub(super) fn placed(self, text: &str) -> Option<usize> {
        placed(self.member(), text)
    }

    /// The names so far, by number.
    pub(super) fn of(self, names: &Names) -> &[String] {
        match self {
            Self::Action => names.actions(),
            Self::Nonce => names.nonces(),
            Self::Snapshot => names.snapshots(),
        }
    }
}

/// Whether `each` says so of all members of a request that hold what the implementation names. It may change them.
pub(super) fn all_named(
    op: &mut Op<PendingAction>,
    mut each: impl FnMut(Named, &mut String) -> bool,
) -> bool {
    match op {
        Op::Own(Own::Decide {
            action_id, nonce, ..
        }) => {
            let nonce = nonce.as_mut();
            each(Named::Action, action_id) && nonce.is_none_or(|it| each(Named::Nonce, it))
        }
        Op::Own(Own::FinishTool { action_id, .. } | Own::Cancel { action_id }) => {
            each(Named::Action, action_id)
        }
        Op::Own(Own::Rollback { snapshot }) => {
            let mut text = match Named::Snapshot.placed(&snapshot.text()) {
                Some(number) => Named::Snapshot.placeholder(number),
                None => snapshot.as_str().to_owned(),
            };
            let is_so = each(Named::Snapshot, &mut text);
            *snapshot = serde_json::from_str(&text).unwrap_or_else(|_| Json::holding(&text));
            is_so
        }
        Op::Own(Own::Propose(_) | Own::Say { .. } | Own::EndSession { .. } | Own::Snapshot {})
        | Op::Common(_) => true,
    }
}

impl Driver {
    /// At the start of a run of somebody who declares every capability.
    pub(super) fn of_all() -> Self {
        Self::begin(&Rc::new(declaring_all("")))
    }

    /// Those outputs came, in the words of the spec.
    pub(super) fn is_answered(&mut self, outputs: &[alphabet::Output]) {
        self.names.issued(outputs);
        self.last = outputs.len();
    }

    /// Whether the capability is declared that the op needs, if it needs one.
    fn is_declared(&self, op: &Op<PendingAction>) -> bool {
        let needed = match op {
            Op::Own(Own::Cancel { .. }) => Capability::Cancel,
            Op::Own(Own::Snapshot {} | Own::Rollback { .. }) => Capability::Snapshot,
            Op::Own(Own::Say { .. }) => Capability::Say,
            // Nobody can tell what became of a call that ran into a crash where it is not shown to be in doubt.
            Op::Common(Common::Restart { .. }) if self.greeting.shows(Kind::InDoubt) => {
                Capability::Restart
            }
            Op::Common(Common::Restart { .. }) => return false,
            Op::Own(
                Own::Propose(_)
                | Own::Decide { .. }
                | Own::FinishTool { .. }
                | Own::EndSession { .. },
            )
            | Op::Common(_) => return true,
        };
        self.greeting.supports.contains(&needed)
    }
}

impl Driven for Driver {
    type Protocol = PendingAction;
    type Step = Step<PendingAction>;
    type Judge = Checked<Spec>;
    const START: i64 = START;
    const NEEDED: &'static [Kind] = &[Kind::Event, Kind::Append, Kind::Perform, Kind::Refused];
    const TICK: Call = Call {
        now: START,
        op: alphabet::Op::Tick,
    };
    const BYTES: usize = draw::BYTES;

    fn steps(bytes: &[u8]) -> Vec<Self::Step> {
        draw::steps(bytes)
    }

    fn without(steps: &[Self::Step], gone: Range<usize>) -> Vec<Self::Step> {
        draw::without(steps, &gone)
    }

    /// The second happens when the first does.
    fn fold(first: &Self::Step, second: &Self::Step) -> Option<Vec<Self::Step>> {
        let sooner = Step {
            now: first.now,
            ..second.clone()
        };
        (sooner != *second).then(|| vec![first.clone(), sooner])
    }

    fn judge(greeting: &Greeting<PendingAction>) -> Checked<Spec> {
        checked(greeting, Reading::default())
    }

    fn readings(greeting: &Greeting<PendingAction>) -> Vec<Taken<Checked<Spec>>> {
        Self::readings_where(greeting, &[])
    }

    fn guarded(call: &Call, outputs: &[Read<alphabet::Output>]) -> Option<Call> {
        let is_taken = outputs
            .iter()
            .all(|it| it.output != alphabet::Output::Refused);
        (matches!(call.op, alphabet::Op::Rollback(_)) && is_taken).then_some(Call {
            now: call.now,
            op: alphabet::Op::Tick,
        })
    }

    fn names(&self) -> BTreeMap<String, String> {
        self.names.in_run()
    }

    fn begin(greeting: &Rc<Greeting<PendingAction>>) -> Self {
        Self {
            names: Names::default(),
            greeting: Rc::clone(greeting),
            snapshots: 0,
            last: 0,
        }
    }

    fn ask(&mut self, step: &Self::Step) -> Option<Asked<Self>> {
        if !self.is_declared(&step.op) {
            return None;
        }
        let (now, mut op) = (step.now, step.op.clone());
        match &mut op {
            Op::Own(Own::Propose(it))
                if !self.greeting.supports.contains(&Capability::Idempotent) =>
            {
                it.idempotent = None;
            }
            // There are implementations without any.
            Op::Own(Own::Decide { nonce, .. }) if self.names.nonces().is_empty() => {
                nonce.take_if(|it| Named::Nonce.placed(it).is_some());
            }
            Op::Own(Own::Snapshot {}) => {
                self.snapshots += 1;
                if self.snapshots > MOST_SNAPSHOTS {
                    return None;
                }
            }
            Op::Common(Common::Restart { lost }) => {
                let last = u64::try_from(self.last).unwrap_or(u64::MAX);
                *lost = Some(lost.unwrap_or(0).min(last));
            }
            Op::Own(_) | Op::Common(_) => {}
        }
        let is_known = all_named(&mut op, |kind, text| {
            let Some(number) = kind.placed(text) else {
                return true;
            };
            let name = kind.of(&self.names).get(number);
            name.map(|it| it.clone_into(text)).is_some()
        });
        is_known.then(|| {
            let call = self.names.call(now, &op);
            Asked { now, op, call }
        })
    }

    fn take(
        &mut self,
        call: &Call,
        outputs: &[Put<PendingAction>],
    ) -> Result<Vec<Option<Read<alphabet::Output>>>, Unreadable> {
        let (read, flaws) = self.names.outputs(call, outputs);
        self.last = outputs.len();
        let shown = outputs.iter().zip(read).enumerate();
        let shown = shown.map(|(place, (put, output))| {
            let flaw = flaws.iter().find(|it| it.place == place);
            let flaw = flaw.map(|it| (it.clause, it.text.clone()));
            let is_shown = self.greeting.shows(PendingAction::kind(&put.what));
            is_shown.then_some(Read { output, flaw })
        });
        Ok(shown.collect())
    }
}

/// The text by which an implementation is judged. Where only the host can remember what an older state has forgotten, that is told by
/// itself: "the clause is `host-must-guard`".
pub(super) fn judging(greeting: &Greeting<PendingAction>, reading: Reading) -> Variant<Spec> {
    Variant {
        hidden: wire::hidden(|kind| greeting.shows(kind)),
        reading: Reading {
            rollback: Rollback::TheHosts,
            ..reading
        },
        ..Variant::default()
    }
}

fn checked(greeting: &Greeting<PendingAction>, reading: Reading) -> Checked<Spec> {
    Checked::new(judging(greeting, reading), Account::default())
}

/// Every way to take what is open and not settled, the default first, then by how much is otherwise.
pub(super) fn readings(
    greeting: &Greeting<PendingAction>,
    settled: &[(&str, &str)],
) -> Vec<Taken<Checked<Spec>>> {
    let default = settled
        .iter()
        .fold(Reading::default(), |reading, (name, way)| {
            reading.with(name, way).unwrap_or(reading)
        });
    let mut all = vec![(Vec::new(), default, 0)];
    let is_open = |name: &str| settled.iter().all(|(settled, _)| *settled != name);
    for (name, ways) in OPEN.iter().filter(|(name, _)| is_open(name)) {
        let with = |(choices, reading, changed): (Vec<_>, Reading, u8)| {
            let ways = (0..).zip(*ways);
            ways.filter_map(move |(place, way)| {
                let choices = [choices.clone(), vec![(*name, *way)]].concat();
                Some((
                    choices,
                    reading.with(name, way)?,
                    changed + u8::from(place > 0),
                ))
            })
        };
        all = all.into_iter().flat_map(with).collect();
    }
    all.sort_by_key(|(_, _, changed)| *changed);
    let taken = all.into_iter().map(|(choices, reading, _)| Taken {
        choices,
        judge: checked(greeting, reading),
    });
    taken.collect()
}

/// Somebody of that name who declares every capability.
pub(super) fn declaring_all(name: &str) -> Greeting<PendingAction> {
    Greeting {
        name: name.to_owned(),
        supports: [
            Capability::Cancel,
            Capability::Restart,
            Capability::Snapshot,
            Capability::Say,
            Capability::Idempotent,
        ]
        .into(),
        shows: None,
    }
}

#[cfg(test)]
mod tests {
    use countersign_model::pending_action::readings::AMBIGUITIES;

    use super::OPEN;

    #[test]
    fn what_is_open_is_an_ambiguity_of_the_text() {
        for (name, ways) in OPEN {
            let known = AMBIGUITIES.iter().find(|it| it.name == name);
            let known = known.unwrap_or_else(|| panic!("{name}")).choices;
            let known: Vec<_> = known.iter().map(|it| it.value).collect();
            assert!(ways.iter().all(|it| known.contains(it)), "{name}");
            assert_eq!(ways.first(), known.first(), "{name}");
        }
    }
}
