//! Any implementation in a random run: steps become requests of the driver protocol, and its outputs the words of the spec.

use std::collections::BTreeMap;
use std::rc::Rc;

use countersign_model::engine::protocol::Variant;
use countersign_model::pending_action::PendingAction as Spec;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::alphabet::{self, Call};
use countersign_model::pending_action::readings::{Reading, Rollback};
use countersign_model::pending_action::wire::{self, Names};
use countersign_protocol::pending_action::{Capability, Op as Own, Output, PendingAction};
use countersign_protocol::{Common, Greeting, Json, Kind, Op, Output as Put, Protocol as _};

use super::step::{Asked as Asks, BYTES, Step};
use super::world::{MOST_SNAPSHOTS, START, World};
use crate::checked::{Checked, Read};
use crate::driven::{Asked, Driven, Taken, Unreadable};
use crate::suite::Suited as _;
use crate::wide::Clock;

/// What is kept of an implementation in a run.
#[derive(Clone)]
pub struct Driver {
    world: World,
    names: Names,
    greeting: Rc<Greeting<PendingAction>>,
    snapshots: Vec<Json>,
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

impl Driven for Driver {
    type Protocol = PendingAction;
    type Step = Step;
    type Judge = Checked<Spec>;
    const START: i64 = START;
    const NEEDED: &'static [Kind] = &[Kind::Event, Kind::Append, Kind::Perform, Kind::Refused];
    const TICK: Call = Call {
        now: START,
        op: alphabet::Op::Tick,
    };
    const BYTES: usize = BYTES;

    fn steps(bytes: &[u8]) -> Vec<Step> {
        let theme = bytes.first().map_or(0, |first| first % THEMES);
        let step = |(place, bytes): (usize, &[u8])| themed(theme, place, Step::of(bytes));
        bytes.chunks(BYTES).enumerate().map(step).collect()
    }

    fn judge(greeting: &Greeting<PendingAction>) -> Checked<Spec> {
        checked(greeting, Reading::default())
    }

    fn readings(greeting: &Greeting<PendingAction>) -> Vec<Taken<Checked<Spec>>> {
        Self::readings_where(greeting, &[])
    }

    fn fold(first: &Step, second: &Step) -> Option<Step> {
        let clock = first.clock.then(second.clock)?;
        Some(Step { clock, ..*second })
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
            world: World::new(),
            names: Names::default(),
            greeting: Rc::clone(greeting),
            snapshots: Vec::new(),
            last: 0,
        }
    }

    fn ask(&mut self, step: &Step) -> Option<Asked<Self>> {
        self.world.pass(step.clock);
        let needed = match step.asked {
            Asks::Cancel { .. } => Some(Capability::Cancel),
            Asks::Snapshot | Asks::Rollback { .. } => Some(Capability::Snapshot),
            Asks::Restart { .. } => Some(Capability::Restart),
            Asks::Say { .. } => Some(Capability::Say),
            Asks::Propose(_)
            | Asks::Decide(_)
            | Asks::Finish { .. }
            | Asks::EndSession { .. }
            | Asks::Tick => None,
        };
        // Nobody can tell what became of a call that ran into a crash where it is not shown to be in doubt.
        let is_unseen = needed == Some(Capability::Restart) && !self.greeting.shows(Kind::InDoubt);
        if is_unseen || needed.is_some_and(|needed| !self.greeting.supports.contains(&needed)) {
            return None;
        }
        let op = match step.asked {
            Asks::Snapshot if self.snapshots.len() == MOST_SNAPSHOTS => return None,
            Asks::Snapshot => Op::Own(Own::Snapshot {}),
            Asks::Rollback { snapshot } => {
                let place = usize::from(snapshot).checked_rem(self.snapshots.len())?;
                let snapshot = self.snapshots.get(place)?.clone();
                Op::Own(Own::Rollback { snapshot })
            }
            Asks::Restart { lost } => {
                let lost = u64::try_from(usize::from(lost).min(self.last)).ok();
                Op::Common(Common::Restart { lost })
            }
            Asks::Tick => Op::Common(Common::Tick {}),
            asked @ (Asks::Propose(_)
            | Asks::Decide(_)
            | Asks::Say { .. }
            | Asks::Finish { .. }
            | Asks::Cancel { .. }
            | Asks::EndSession { .. }) => {
                let mut op = self.world.op(&self.names, asked)?;
                if let Own::Propose(it) = &mut op
                    && !self.greeting.supports.contains(&Capability::Idempotent)
                {
                    it.idempotent = None;
                }
                Op::Own(op)
            }
        };
        let now = self.world.clock;
        let call = self.names.call(now, &op);
        Some(Asked { now, op, call })
    }

    fn take(
        &mut self,
        call: &Call,
        outputs: &[Put<PendingAction>],
    ) -> Result<Vec<Option<Read<alphabet::Output>>>, Unreadable> {
        let (read, flaws) = self.names.outputs(call, outputs);
        self.world.see(&self.names, call, &read);
        self.last = outputs.len();
        for output in outputs {
            if let Output::Snapshot(snapshot) = &output.what {
                self.snapshots.push(snapshot.clone());
            }
        }
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

/// So many kinds of runs there are; the first two have more of what is rare among random steps.
const THEMES: u8 = 8;

/// A step of a run of this kind: a tick becomes what the run has more of.
fn themed(theme: u8, place: usize, mut step: Step) -> Step {
    if matches!(step.asked, Asks::Tick) {
        match theme {
            0 if place.is_multiple_of(2) => step.asked = Asks::Snapshot,
            0 => {
                let snapshot = u8::try_from(place / 2).unwrap_or(0);
                step.asked = Asks::Rollback { snapshot };
            }
            1 => step.clock = Clock::Back(BACK),
            2.. => {}
        }
    }
    step
}

/// So far a clock is set back, in milliseconds.
const BACK: i64 = 60_000;

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
