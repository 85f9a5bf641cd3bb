//! Any implementation in a run: steps become requests of the driver protocol, and its outputs the words of the text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use countersign_model::engine::protocol::Variant;
use countersign_model::wire::Codec as _;
use countersign_model::{facade, readings};
use countersign_protocol::{Common, Greeting, Kind, Op, Output as Put, Protocol as _};

use super::{Host as _, START, Spoken, Wire};
use crate::checked::{Checked, Read};
use crate::driven::{Asked, Driven, MOST_READINGS, Step, Taken, Unreadable, placed, placeholder};
use crate::suite::Suited;

/// What is kept of an implementation in a run.
#[derive(Clone)]
pub struct Driver<P: Spoken> {
    /// What has a name in it.
    pub codec: P::Codec,
    /// What the implementation declares.
    pub greeting: Rc<Greeting<Wire<P>>>,
    /// How many outputs the last response had.
    last: usize,
}

impl<P: Spoken> Driver<P> {
    /// At the start of a run of somebody who declares everything.
    pub fn of_all() -> Self {
        Self::begin(&Rc::new(declaring_all::<P>("")))
    }

    /// Whether this is declared.
    pub fn supports(&self, capability: super::Capability<P>) -> bool {
        self.greeting.supports.contains(&capability)
    }

    /// Those outputs came, in the words of the text.
    pub fn is_answered(&mut self, outputs: &[P::Output]) {
        self.codec.issued(outputs);
        self.last = outputs.len();
    }

    /// How many things of each kind are named.
    fn named(&self) -> impl Iterator<Item = usize> {
        let kinds = 0..P::NAMED.len();
        kinds.map(|kind| P::names(&self.codec, kind).len())
    }
}

impl<P: Spoken> Driven for Driver<P> {
    type Protocol = Wire<P>;
    type Step = Step<Wire<P>>;
    type Judge = Checked<P>;
    const START: i64 = START;
    const NEEDED: &'static [Kind] = P::NEEDED;
    const BYTES: usize = P::BYTES;
    const TICK: P::Call = P::TICK;

    fn steps(bytes: &[u8]) -> Vec<Self::Step> {
        P::steps(bytes)
    }

    /// What a step names that goes goes with it, and what is named behind it is counted anew. The reference takes the steps beside.
    fn without(steps: &[Self::Step], gone: Range<usize>) -> Vec<Self::Step> {
        let (mut driver, mut reference) = (Self::of_all(), P::Reference::new(<_>::default()));
        let mut lost = vec![BTreeSet::new(); P::NAMED.len()];
        let mut left = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let mut renumbered = step.clone();
            let stays = P::all_named(&mut renumbered.op, &mut |kind, text| {
                let number = placed(P::NAMED[kind], text);
                let lost: &BTreeSet<usize> = &lost[kind];
                if let Some(number) = number {
                    *text = placeholder(P::NAMED[kind], number - lost.range(..number).count());
                }
                number.is_none_or(|it| !lost.contains(&it))
            });
            let before: Vec<usize> = driver.named().collect();
            if let Some(Asked { call, .. }) = driver.ask(step) {
                driver.is_answered(&reference.answer(&call));
            }
            if !gone.contains(&at) && stays {
                left.push(renumbered);
                continue;
            }
            let new = before.into_iter().zip(driver.named());
            let new = lost.iter_mut().zip(new);
            new.for_each(|(lost, (before, after))| lost.extend(before..after));
        }
        left
    }

    /// The second happens when the first does.
    fn fold(first: &Self::Step, second: &Self::Step) -> Option<Vec<Self::Step>> {
        let sooner = Step {
            now: first.now,
            ..second.clone()
        };
        (sooner != *second).then(|| vec![first.clone(), sooner])
    }

    fn judge(greeting: &Greeting<Wire<P>>) -> Checked<P> {
        checked(greeting, P::Reading::default())
    }

    fn readings(greeting: &Greeting<Wire<P>>) -> Vec<Taken<Checked<P>>> {
        Self::readings_where(greeting, &[])
    }

    fn guarded(call: &P::Call, outputs: &[Read<P::Output>]) -> Option<P::Call> {
        P::guarded(call, outputs)
    }

    fn names(&self) -> BTreeMap<String, String> {
        self.codec.in_run()
    }

    fn begin(greeting: &Rc<Greeting<Wire<P>>>) -> Self {
        Self {
            codec: P::Codec::default(),
            greeting: Rc::clone(greeting),
            last: 0,
        }
    }

    fn ask(&mut self, step: &Self::Step) -> Option<Asked<Self>> {
        let (now, mut op) = (step.now, step.op.clone());
        if !P::can_be_asked(self, &mut op) {
            return None;
        }
        if let Op::Common(Common::Restart { lost }) = &mut op {
            let last = u64::try_from(self.last).unwrap_or(u64::MAX);
            *lost = Some(lost.unwrap_or(0).min(last));
        }
        let is_known = P::all_named(&mut op, &mut |kind, text| {
            let Some(number) = placed(P::NAMED[kind], text) else {
                return true;
            };
            let name = P::names(&self.codec, kind).get(number);
            name.map(|it| it.clone_into(text)).is_some()
        });
        is_known.then(|| {
            let call = self.codec.call(now, &op);
            Asked { now, op, call }
        })
    }

    fn take(
        &mut self,
        call: &P::Call,
        outputs: &[Put<Wire<P>>],
    ) -> Result<Vec<Option<Read<P::Output>>>, Unreadable> {
        let (read, flaws) = self.codec.outputs(call, outputs);
        self.last = outputs.len();
        let shown = outputs.iter().zip(read).enumerate();
        let shown = shown.map(|(place, (put, output))| {
            let flaw = flaws.iter().find(|it| it.place == place);
            let flaw = flaw.map(|it| (it.clause, it.text.clone()));
            let is_shown = self.greeting.shows(Wire::<P>::kind(&put.what));
            is_shown.then_some(Read { output, flaw })
        });
        Ok(shown.collect())
    }
}

impl<P: Spoken> Suited for Driver<P> {
    const COMMITTED: [&'static str; 2] = P::SUITE;

    /// The default first, then by how much is otherwise.
    fn readings_where(
        greeting: &Greeting<Wire<P>>,
        settled: &[(&str, &str)],
    ) -> Vec<Taken<Checked<P>>> {
        let settled = || settled.iter().copied();
        let default = facade::change(P::PLACES, P::NUMBERS, P::Reading::default(), settled());
        let mut all = vec![(Vec::new(), default, 0)];
        let is_open = |name: &str| settled().all(|(settled, _)| settled != name);
        let open = P::OPEN.iter().filter(|(name, _)| is_open(name));
        let count: usize = open.clone().map(|(_, ways)| ways.len()).product();
        let most = if count > MOST_READINGS { 2 } else { u8::MAX };
        for (name, ways) in open {
            let with = |(choices, reading, changed): (Vec<_>, P::Reading, u8)| {
                let ways = (0..).zip(*ways);
                ways.filter_map(move |(place, way)| {
                    let choices = [choices.clone(), vec![(*name, *way)]].concat();
                    let changed = changed + u8::from(place > 0);
                    (changed <= most).then_some(())?;
                    Some((
                        choices,
                        readings::with(P::PLACES, reading, name, way)?,
                        changed,
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

    fn ends(steps: &[Self::Step]) -> Vec<Self::Step> {
        P::ends(steps.last().map_or(START, |it| it.now))
    }
}

/// The text by which an implementation is judged.
pub fn judging<P: Spoken>(greeting: &Greeting<Wire<P>>, reading: P::Reading) -> Variant<P> {
    Variant {
        hidden: P::Codec::hidden(|kind| greeting.shows(kind)),
        reading: P::settled(reading),
        ..Variant::default()
    }
}

fn checked<P: Spoken>(greeting: &Greeting<Wire<P>>, reading: P::Reading) -> Checked<P> {
    Checked::new(judging(greeting, reading), P::Account::default())
}

/// Somebody of that name who declares everything.
pub(super) fn declaring_all<P: Spoken>(name: &str) -> Greeting<Wire<P>> {
    Greeting {
        name: name.to_owned(),
        supports: P::SUPPORTS.iter().copied().collect(),
        shows: None,
    }
}

#[cfg(test)]
mod tests {
    use countersign_model::pending_action::PendingAction;

    use super::Spoken;

    /// What is open is an ambiguity of the text, and read as the text is by default where nobody says otherwise.
    fn assert_open_of_text<P: Spoken>() {
        for (name, ways) in P::OPEN {
            let known = P::PLACES.iter().find(|it| it.name == *name);
            let known = known.unwrap_or_else(|| panic!("{name}")).choices;
            let known: Vec<_> = known.iter().map(|it| it.value).collect();
            assert!(ways.iter().all(|it| known.contains(it)), "{name}");
            assert_eq!(ways.first(), known.first(), "{name}");
        }
    }

    #[test]
    fn what_is_open_is_an_ambiguity_of_the_text() {
        assert_open_of_text::<PendingAction>();
    }
}
